//! Whether the program at the other end of the local socket was started by Bailiwick.
//!
//! What a client has had started is not the user, also where its sandbox leaves sockets open. Each such program has a
//! launcher above it: the launcher, the supervisors and the keepers all go by the name [`LAUNCHER_NAME`], and what loses
//! its parent becomes a child of one of them.

use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use tokio::net::UnixStream;

use crate::launch::{LAUNCHER_NAME, peer_process};

/// How often the way up is tried again when a process on it has ended.
const RETRIES: usize = 4;

/// The most processes on the way up.
const MAX_DEPTH: usize = 1_000;

/// Returns whether a peer was started by Bailiwick, or by something that was. A peer that is gone counts as such: its
/// number says nothing any more.
pub(super) fn is_started_by_bailiwick(stream: &UnixStream) -> bool {
    // One in a namespace that this process does not see into is nobody whom this program started.
    let Some(pid) = stream.peer_cred().ok().and_then(|peer| peer.pid()).filter(|pid| *pid > 0) else {
        return false;
    };
    // Held open, the number stays this process's as long as it lives. Linux before 6.5 has none.
    let process = peer_process(stream);
    let above = Ancestors::of(pid);
    if process.is_some_and(|process| has_ended(&process)) {
        return true;
    }
    match above {
        Ancestors::All(above) => {
            let launchers: Vec<i32> = above.into_iter().filter(|pid| is_launcher(*pid)).collect();
            // This service may have been started by another Bailiwick itself, as may its clients.
            !launchers.is_empty() && {
                let own = i32::try_from(std::process::id()).map(Ancestors::of);
                match own {
                    Ok(Ancestors::All(own)) => launchers.iter().any(|launcher| !own.contains(launcher)),
                    _ => true,
                }
            }
        }
        // Where `/proc` hides what is above, a sandbox is known by its layers.
        Ancestors::Hidden => is_sandboxed(pid),
        // Without `/proc` nothing is started either.
        Ancestors::Gone => parent(1).is_some(),
    }
}

/// The processes above one, itself included.
enum Ancestors {
    All(Vec<i32>),
    /// One of them cannot be seen.
    Hidden,
    /// The process itself cannot be seen.
    Gone,
}

impl Ancestors {
    fn of(pid: i32) -> Self {
        for _ in 0..=RETRIES {
            let mut above = vec![pid];
            let mut at = pid;
            loop {
                match parent(at) {
                    Some(0) => return Self::All(above),
                    Some(parent) if above.len() < MAX_DEPTH => {
                        above.push(parent);
                        at = parent;
                    }
                    Some(_) => return Self::Hidden,
                    None => break,
                }
            }
        }
        if parent(pid).is_some() { Self::Hidden } else { Self::Gone }
    }
}

/// Returns the number of a process's parent; 0 above the first process of the namespace.
fn parent(pid: i32) -> Option<i32> {
    let text = read(pid, "stat")?;
    // The name of the program is in parentheses, and may have any character in it.
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let mut fields = text.get(end + 1..)?.split(|byte| *byte == b' ').filter(|field| !field.is_empty());
    std::str::from_utf8(fields.nth(1)?).ok()?.parse().ok()
}

fn is_launcher(pid: i32) -> bool {
    read(pid, "cmdline")
        .is_some_and(|words| words.split(|byte| *byte == 0).next() == Some(LAUNCHER_NAME.as_bytes()))
}

fn is_sandboxed(pid: i32) -> bool {
    let Some(status) = read(pid, "status") else { return true };
    let has = |line: &str| status.split(|byte| *byte == b'\n').any(|it| it == line.as_bytes());
    has("Seccomp:\t2") && has("NoNewPrivs:\t1")
}

/// Reads the beginning of a file about a process, which holds all that is asked for here.
fn read(pid: i32, name: &str) -> Option<Vec<u8>> {
    let path = format!("/proc/{pid}/{name}");
    let file = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut text = vec![0; 4096];
    let length = rustix::io::read(&file, &mut text[..]).ok()?;
    text.truncate(length);
    Some(text)
}

fn has_ended(process: &OwnedFd) -> bool {
    let mut polled = [PollFd::from_borrowed_fd(process.as_fd(), PollFlags::IN)];
    !matches!(poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })), Ok(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_up_leads_to_the_first_process() {
        let own = i32::try_from(std::process::id()).expect("a number");
        let Ancestors::All(above) = Ancestors::of(own) else { panic!("all can be seen") };
        assert_eq!(above[0], own);
        assert_eq!(above.get(1).copied(), std::os::unix::process::parent_id().try_into().ok());
        assert!(above.len() < 100 && !above[1..].contains(&own), "{above:?}");
        assert!(!above.iter().any(|pid| is_launcher(*pid)));
        // No process has the largest number that there can be.
        assert!(matches!(Ancestors::of(i32::MAX), Ancestors::Gone));
        assert!(is_sandboxed(i32::MAX), "what cannot be read is refused");
    }
}
