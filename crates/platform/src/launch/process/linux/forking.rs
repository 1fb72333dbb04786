//! Forking supervisors, and what their orphans come to.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;

use nix::libc;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, WaitOptions, waitpid};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::namespaces::{self, Owner};
use crate::launch::sys;
use bailiwick_contract::command::{Containment, Network};

/// Makes what a killed supervisor leaves behind come to this process.
pub(in super::super) fn adopt_orphans() {
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// The loopback interface that several jobs have: namespaces of users and of the network, kept by descriptors.
#[derive(Debug)]
pub(in super::super) struct SharedNetwork {
    user: OwnedFd,
    network: OwnedFd,
}

impl SharedNetwork {
    /// Creates one, whose loopback interface is up. No process is left in it.
    pub(in super::super) fn new() -> io::Result<Self> {
        let owner = Owner::current();
        let (made, says_made) = pipe_with(PipeFlags::CLOEXEC)?;
        let (is_open, says_open) = pipe_with(PipeFlags::CLOEXEC)?;
        match sys::fork_into(libc::CLONE_NEWUSER | libc::CLONE_NEWNET)? {
            sys::ForkSide::Child => {
                drop((made, says_open));
                if owner.map().and_then(|()| namespaces::raise_loopback()).is_ok() {
                    let _ = rustix::io::write(&says_made, &[1]);
                    // Until the launcher has opened the namespaces, or is gone.
                    let _ = read_once(&is_open, &mut [0]);
                }
                sys::exit_now(0)
            }
            sys::ForkSide::Parent(child) => {
                drop((says_made, is_open));
                let is_made = read_once(&made, &mut [0]).is_ok_and(|length| length == 1);
                let open = |name: &str| {
                    let path = format!("/proc/{child}/ns/{name}");
                    rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
                };
                let opened = is_made.then(|| Ok(Self { user: open("user")?, network: open("net")? }));
                drop(says_open);
                wait_for(child);
                opened.unwrap_or_else(|| Err(io::Error::other("a shared network cannot be made")))
            }
        }
    }

    /// Goes into it. Nothing is left by which this process could come back.
    fn enter(&self) -> io::Result<()> {
        move_into_link_name_space(self.user.as_fd(), Some(LinkNameSpaceType::User))?;
        move_into_link_name_space(self.network.as_fd(), Some(LinkNameSpaceType::Network))?;
        Ok(())
    }
}

/// Forks the supervisor of a job, into the namespaces of its level.
pub(in super::super) fn fork_supervisor(
    level: Containment,
    network: Network,
    shared: Option<&SharedNetwork>,
) -> io::Result<sys::ForkSide> {
    let flags = namespaces::flags(level, network);
    let Some(shared) = shared else { return sys::fork_into(flags) };
    // The way into a namespace of users is one way, so another process goes, makes the supervisor inside, and ends: its
    // child comes to this process, as all orphans do.
    let (number, says_number) = pipe_with(PipeFlags::CLOEXEC)?;
    match sys::fork()? {
        sys::ForkSide::Child => {
            drop(number);
            match shared.enter().and_then(|()| sys::fork_into(flags & !libc::CLONE_NEWNET)) {
                Ok(sys::ForkSide::Child) => Ok(sys::ForkSide::Child),
                Ok(sys::ForkSide::Parent(supervisor)) => {
                    let _ = rustix::io::write(&says_number, &supervisor.to_ne_bytes());
                    sys::exit_now(0)
                }
                Err(_) => sys::exit_now(1),
            }
        }
        sys::ForkSide::Parent(between) => {
            drop(says_number);
            let mut bytes = [0; 4];
            let length = read_once(&number, &mut bytes);
            wait_for(between);
            match length {
                Ok(4) => Ok(sys::ForkSide::Parent(i32::from_ne_bytes(bytes))),
                Ok(_) => Err(io::Error::other("the shared network cannot be entered")),
                Err(error) => Err(error),
            }
        }
    }
}

fn read_once(from: &OwnedFd, bytes: &mut [u8]) -> io::Result<usize> {
    loop {
        match rustix::io::read(from, &mut *bytes) {
            Err(Errno::INTR) => {}
            done => return Ok(done?),
        }
    }
}

/// Waits for the end of a child, which has nothing more to do.
fn wait_for(child: i32) {
    while let Err(Errno::INTR) = waitpid(Pid::from_raw(child), WaitOptions::empty()) {}
}

/// Is for systems on which a program is shut in by another one.
pub(in super::super) const fn go_within_if_asked() -> Option<ExitCode> {
    None
}

/// Returns the number of this process outside of its namespace, as long as the old `/proc` is there.
pub(in super::super) fn own_number() -> u32 {
    let link = rustix::fs::readlink("/proc/self", Vec::new()).ok();
    link.and_then(|link| link.to_str().ok()?.parse().ok()).unwrap_or(0)
}
