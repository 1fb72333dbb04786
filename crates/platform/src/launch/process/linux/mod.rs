//! What only Linux has: namespaces, Landlock, seccomp, subreapers, processes held by descriptor.

mod cgroup;
mod closed;
mod descendants;
mod filter;
mod forking;
pub(super) mod hold;
mod job_context;
mod memory;
mod namespaces;
mod network;
mod overlay;
mod probe;
mod rules;
mod signals;
mod terminal;
mod tree;
mod worker;

pub(super) use cgroup::JobGroup;
pub(super) use descendants::{Reach, Trace};
pub(super) use forking::{SharedNetwork, adopt_orphans, fork_supervisor, go_within_if_asked, own_number};
pub(super) use job_context::JobContext;
pub(super) use memory::JobMemory;
pub(super) use network::listening;
pub(in super::super) use probe::probe;
pub(super) use signals::Signals;
pub(super) use terminal::open_terminal;
pub(in super::super) use worker::{enter_sandbox, limit};

pub(super) use crate::launch::sys;
