//! One process that lasts: as a job, and beyond the service that started it.
//!
//! One loop serves the program's pipes or terminal, the control socket, signals and deadlines. It waits for
//! them all at once and does nothing while nothing happens. The program cannot reach anything of it.

mod listener;
mod ends;
mod events;
mod life;
mod network;
mod remains;

pub(super) use life::{AdoptedJob, Handover, KeeperDescriptors, keep};
