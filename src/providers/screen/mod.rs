//! Pictures: from a display's pixels to what is sent. Pure computation; it neither captures nor judges.

mod encode;
mod picture;
mod scale;

pub use encode::{Format, encode};
pub use picture::{Picture, black_out};
pub use scale::{fitting, scale};
