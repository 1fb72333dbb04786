//! Processes that last: starting them, finding them again, reading what they print, ending them.
//!
//! Each is in a folder of its own, and its keeper needs no service. So nothing here is the memory of a service:
//! what is cached can be thrown away. Whether something may be started or seen is the policy's to say.

mod changes;
mod control;
mod cursor;
mod facts;
mod folders;
mod instance;
mod processes;
mod prune;
mod recorder;
mod start;
mod tail;
pub mod text;
mod unit;

pub use cursor::Cursor;
pub use facts::Facts;
pub use instance::{Change, Process};
pub use processes::{Processes, not_found};
pub use recorder::{ContinuationResult, ContinuationSettings, RunEnd, RunFacts, RunRecorder};
pub use start::Start;
pub use tail::{Line, last_lines, lines};
