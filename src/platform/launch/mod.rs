//! Starting programs, held: a helper process that forks, shuts in, watches and kills.
//!
//! The service never forks itself. At the first command it starts its own binary once more as the
//! *launcher* ([`Launcher`]), which has a single thread and forks a *supervisor* for each job. The
//! supervisor builds the sandbox, runs the whole plan inside it, and leaves nothing behind. Its control
//! socket is the job's life: when the service's end closes, for whatever reason, everything is killed.
//!
//! Nothing here decides whether a command may run. It starts exactly what it is given, as strongly held as
//! it is told, or not at all.

mod error;
mod job;
mod launcher;
mod levels;
mod request;

pub use error::LaunchError;
pub use job::Job;
pub use launcher::Launcher;
pub use levels::{Levels, levels};
pub use request::{Ended, Held, Hold, LaunchCommand, LaunchRequest, ProcessLimits, Step};
