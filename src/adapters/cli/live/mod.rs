//! What `start` shows while it serves: requests as they come, and what waits for the user.

mod line;
mod tell;

pub use line::line;
pub use tell::{Form, tell};
