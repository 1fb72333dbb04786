//! What operations that run programs have in common: making a command ready in its sandbox, running it or starting it, previewing
//! and taking over what it changes, and what is kept of that and of its output.

mod begin;
mod commit;
mod coverage;
mod execute;
mod preview;
mod ready;
mod recording;
mod running;
mod status;
mod terminal;

pub use begin::{Options, ProcessOrder, ProcessStart, Stdin, begin, lifetime};
pub use coverage::{CommandChanges, CommandCoverage, keep_cut_off, warn_of_process};
pub use execute::{CommandOutput, Encoding, Execution, execute, input_bytes};
pub use preview::preview;
pub use ready::{PlannedCommand, Sandbox, StandardStreams, clean_preview, make_ready, plan_of};
pub use running::has_unfinished;
pub use status::{ProcessStatus, of_status, target, warn_of_what_is_left};
pub use terminal::{TerminalInput, TerminalSize};
