//! What `start` shows while it serves: requests as they come, and what waits for the user.

mod line;
mod tell;

use crate::past_requests::event;

pub use crate::past_requests::live::LiveView;
pub use event::Event;
pub use line::line;
pub use tell::{Form, tell};
