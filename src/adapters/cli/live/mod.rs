//! What `start` shows while it serves: requests as they come, and what waits for the user.
//!
//! Reads the history from time to time, as any other reader does, on a thread of its own: no request knows of it or
//! waits for it, and it shows nothing that the history does not hold. Not started, it costs nothing.

mod line;
mod view;

use crate::past_requests::event;

pub use event::Event;
pub use line::line;
pub use view::{Form, LiveView};
