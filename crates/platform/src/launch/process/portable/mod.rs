//! Starting and killing programs with what POSIX has, and holding them by `sandbox-exec` where there is one: macOS.
//!
//! On Linux it is compiled with the feature `portable-launch` only, so that tests run it; it holds nothing there.

mod cgroup;
mod descendants;
mod forking;
pub(super) mod hold;
mod job_context;
mod memory;
mod network;
mod probe;
mod processes;
mod signals;
pub(super) mod sys;
mod terminal;
mod within;
mod worker;

pub(super) use cgroup::JobGroup;
pub(super) use descendants::{Reach, Trace};
pub(super) use forking::{SharedNetwork, adopt_orphans, fork_supervisor, own_number};
pub(super) use job_context::JobContext;
pub(super) use memory::JobMemory;
pub(super) use network::listening;
pub(in super::super) use probe::probe;
pub(super) use signals::Signals;
pub(super) use terminal::open_terminal;
pub(super) use within::go_within_if_asked;
pub(in super::super) use worker::{enter_sandbox, limit};
