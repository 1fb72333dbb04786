//! Started processes that last: what they leave on disk, and how they are spoken to.
//!
//! Each has a *keeper*, which the launcher forked ([`super::Launcher::start_kept`]). It owns the program's
//! pipes or terminal, writes what is printed into a *ring* on disk and how things stand into a *status block*,
//! and listens at a *control* socket. All of it is in the folder of the process, so that a service finds
//! again what another one started. Here is what both sides share, and the service's side; nothing here starts
//! or judges anything.
//!
//! A held program reaches nothing of this. At the full level the folder is not in its tree. At the partial level
//! it cannot open the files; where `pathSockets` stay open it could connect to a control socket, but a keeper
//! hears only who says the key, which is in the status file. A program that is not held can do all that its
//! user can: forge a status, read a ring, speak to keepers and kill them; `files`, `signals` and `pathSockets`
//! are told to be open then. Other users are refused by the mode of the folder and by the keeper itself.
//!
//! A keeper that is killed leaves nothing running at the full level. At the others the launcher kills what it
//! left; where the launcher was killed before, what had detached itself from its parents stays.

mod control;
#[cfg_attr(unix, path = "files/unix.rs")]
#[cfg_attr(windows, path = "files/windows.rs")]
pub(super) mod files;
#[cfg_attr(unix, path = "line/unix.rs")]
#[cfg_attr(windows, path = "line/windows.rs")]
pub(super) mod line;
mod mask;
pub(super) mod message;
pub(super) mod record;
pub(super) mod ring;
#[cfg(unix)]
pub(super) mod start;
pub(super) mod status;
#[cfg(test)]
mod tests;
mod values;
mod view;

pub use control::Control;
pub use ring::RingWriter;
pub use status::StatusWriter;
pub use values::{
    AdoptRequest, AdoptionOutcome, ControlError, Event, Frame, Input, KeeperRequest, Lifetime,
    MAX_INPUT_BYTES, RingRead, State, Status, Stream, TerminalSize,
};
pub use view::ProcessFiles;
