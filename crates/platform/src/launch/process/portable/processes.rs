//! The processes of this user.

use rustix::process::{Pid, Signal};

use crate::launch::process::family::Row;

pub(super) use system::{carries, look, of_user};

/// Sends a signal to a process, if it is still the same. Returns whether it was sent.
pub(super) fn send(row: Row, signal: Signal) -> bool {
    // Without a handle for processes another one could take the number between the two calls.
    look(row.pid).is_some_and(|now| now.started == row.started)
        && Pid::from_raw(row.pid).is_some_and(|pid| rustix::process::kill_process(pid, signal).is_ok())
}

#[cfg(target_os = "macos")]
mod system {
    use rustix::process::Pid;

    use super::Row;
    use crate::libproc;

    /// Returns all that runs; what has ended and is not waited for is left out.
    pub(in super::super) fn of_user() -> Vec<Row> {
        let user = rustix::process::geteuid().as_raw();
        let all = libproc::process_ids().into_iter();
        all.filter_map(|pid| row(pid, Some(user))).collect()
    }

    /// Returns one process, if it runs.
    pub(in super::super) fn look(pid: i32) -> Option<Row> {
        row(pid, None)
    }

    fn row(pid: i32, of_user: Option<u32>) -> Option<Row> {
        let facts = libproc::facts(pid)?;
        if facts.has_ended || of_user.is_some_and(|user| user != facts.user) {
            return None;
        }
        let session = Pid::from_raw(pid).and_then(|pid| rustix::process::getsid(Some(pid)).ok());
        Some(Row {
            pid,
            parent: facts.parent,
            session: session.map_or(0, |session| session.as_raw_nonzero().get()),
            started: facts.started_us,
            birth: libproc::birth(pid),
        })
    }

    /// Returns whether a process has a line in its environment. Of some of the system's own programs it is not told.
    pub(in super::super) fn carries(pid: i32, line: &[u8]) -> bool {
        libproc::start(pid).is_some_and(|start| start.split(|byte| *byte == 0).any(|it| it == line))
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::os::unix::fs::MetadataExt;

    use super::Row;

    /// Returns all that runs; what has ended and is not waited for is left out.
    pub(in super::super) fn of_user() -> Vec<Row> {
        let user = rustix::process::geteuid().as_raw();
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        entries
            .filter(|entry| entry.metadata().is_ok_and(|facts| facts.uid() == user))
            .filter_map(|entry| look(entry.file_name().to_str()?.parse().ok()?))
            .collect()
    }

    /// Returns one process, if it runs.
    pub(in super::super) fn look(pid: i32) -> Option<Row> {
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        // The name before it may hold anything.
        let after_name = stat.rsplit(|byte| *byte == b')').next()?;
        let fields: Vec<&str> = std::str::from_utf8(after_name).ok()?.split_ascii_whitespace().collect();
        let (state, parent, session, started) =
            (fields[..].first()?, fields.get(1)?, fields.get(3)?, fields.get(19)?);
        if matches!(*state, "Z" | "X") {
            return None;
        }
        let (parent, session) = (parent.parse().ok()?, session.parse().ok()?);
        Some(Row { pid, parent, session, started: started.parse().ok()?, birth: None })
    }

    /// Returns whether a process has a line in its environment.
    pub(in super::super) fn carries(pid: i32, line: &[u8]) -> bool {
        std::fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|lines| lines.split(|byte| *byte == 0).any(|it| it == line))
    }
}
