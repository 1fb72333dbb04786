//! The namespaces of a job: its users, its mounts, its processes, its network, its shared memory.

use std::io;

use nix::libc;
use rustix::fs::{Mode, OFlags};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::launch::sys;
use bailiwick_contract::command::{Containment, Network};

/// The number of a user who is not root.
const FIRST_USER: u32 = 1_000;

/// Returns the flags of the namespaces that a level needs.
pub(in super::super) const fn flags(level: Containment, network: Network) -> i32 {
    match level {
        Containment::None | Containment::Partial => 0,
        Containment::Full => {
            let all = libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC;
            match network {
                Network::None | Network::Loopback | Network::Hosts => all | libc::CLONE_NEWNET,
                Network::Full => all,
            }
        }
    }
}

/// The numbers of user and group outside, which are the same inside.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Owner {
    user: u32,
    group: u32,
}

impl Owner {
    pub(in super::super) fn current() -> Self {
        Self { user: rustix::process::geteuid().as_raw(), group: rustix::process::getegid().as_raw() }
    }

    /// Returns the number of the user.
    pub(super) const fn user(self) -> u32 {
        self.user
    }

    /// Maps user and group into this new namespace, under their own numbers; nobody else exists in it.
    ///
    /// Allocates nothing, so that it can be called after a fork of a process with threads.
    pub(in super::super) fn map(self) -> io::Result<()> {
        self.map_as(self.user, self.group)
    }

    /// Maps user and group as numbers that they can be mapped on from inside: the kernel lets nobody pass root on
    /// who has no capability, so root gets the number of an ordinary user.
    pub(super) fn map_for_inner_sandboxes(self) -> io::Result<()> {
        let ordinary = |number| if number == 0 { FIRST_USER } else { number };
        self.map_as(ordinary(self.user), ordinary(self.group))
    }

    fn map_as(self, user: u32, group: u32) -> io::Result<()> {
        write(c"/proc/self/setgroups", b"deny")?;
        let mut line = Line::default();
        line.map(user, self.user);
        write(c"/proc/self/uid_map", line.bytes())?;
        let mut line = Line::default();
        line.map(group, self.group);
        write(c"/proc/self/gid_map", line.bytes())
    }
}

fn write(path: &std::ffi::CStr, text: &[u8]) -> io::Result<()> {
    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, text)?;
    Ok(())
}

/// A short line that is put together without allocating.
#[derive(Default)]
struct Line {
    bytes: [u8; 32],
    length: usize,
}

impl Line {
    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn map(&mut self, inside: u32, outside: u32) {
        self.number(inside);
        self.push(b' ');
        self.number(outside);
        self.push(b' ');
        self.number(1);
    }

    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    fn number(&mut self, number: u32) {
        if number >= 10 {
            self.number(number / 10);
        }
        self.push(b"0123456789"[(number % 10) as usize]);
    }
}

/// Switches the loopback interface of a new network namespace on.
pub(super) fn raise_loopback() -> io::Result<()> {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    sys::raise_loopback(std::os::fd::AsFd::as_fd(&socket))
}

/// Gives up all capabilities, and every way to get them back by executing a program.
pub(super) fn drop_capabilities() -> io::Result<()> {
    // The highest is learnt from the kernel, which may know more than we do.
    for number in 0..u64::BITS {
        let capability = CapabilitySet::from_bits_retain(1 << number);
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            Ok(()) => {}
            // The kernel knows no more; or this is an ordinary user, for whom "no new privileges" stands.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::PERM) => break,
            Err(error) => return Err(error.into()),
        }
    }
    rustix::thread::clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, sets)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_has_the_numbers_in_decimal() {
        for (inside, outside, expected) in
            [(0, 0, "0 0 1"), (1000, 0, "1000 0 1"), (u32::MAX, u32::MAX, "4294967295 4294967295 1")]
        {
            let mut line = Line::default();
            line.map(inside, outside);
            assert_eq!(line.bytes(), expected.as_bytes());
        }
    }
}
