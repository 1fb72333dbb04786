//! The service's end of the way on which it gets what a plan writes whose changes are discarded.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::RecvFlags;

use crate::fs::{Dir, Stat};
use crate::handle::Handle;
use crate::launch::handing;
use crate::launch::protect::MARK;

/// The attribute of a folder in an upper part that hides the one below it.
const OPAQUE: &str = "user.overlay.opaque";
/// How many roots a plan can have.
const MAX_ROOTS: usize = 256;

/// A way on which a plan's supervisor hands out what the plan writes, before it starts.
#[derive(Debug)]
pub struct OverlayPort(OwnedFd);

impl OverlayPort {
    /// Creates both ends: one for the service, one for a [`LaunchRequest`](crate::launch::LaunchRequest).
    ///
    /// # Errors
    /// Those of the system, such as too many open files.
    pub fn pair() -> io::Result<(Self, Handle)> {
        let (ours, theirs) = handing::pair()?;
        Ok((Self(ours), theirs))
    }

    /// Returns the upper part of each root of a plan that runs, with its position among
    /// [`SandboxRequest::read_write`](crate::launch::Hold::read_write): what was written, a device without a number for what was
    /// removed, and nothing else. It lasts as long as these are open.
    ///
    /// # Errors
    /// Where the plan does not run.
    pub fn folders(self) -> io::Result<Vec<(usize, Dir)>> {
        let mut roots = [0; MAX_ROOTS];
        let (length, uppers) = handing::receive(self.0.as_fd(), &mut roots, RecvFlags::DONTWAIT)?;
        if length != uppers.len() + 1 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let opened = roots[1..length].iter().zip(uppers);
        opened.map(|(at, upper)| Ok((usize::from(*at), Dir::of_handle(upper)?))).collect()
    }
}

/// Returns whether an entry of an upper part has the mark of a stand-in for a protected name that does not exist.
pub fn is_stand_in(stat: &Stat) -> bool {
    stat.modified_ns == i128::from(MARK.tv_sec) * 1_000_000_000
}

/// Returns whether a folder of an upper part hides all that is in the one below it.
pub fn is_opaque(folder: &Dir) -> bool {
    folder.has_attribute(OPAQUE, b"y")
}
