//! What an X server leaves that was killed: the name of its socket, and its lock.

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use crate::machine;
use crate::screen::X11_SOCKETS;

/// Reads the lock of the X server that has the number of a display: it names the server's process.
pub fn server_lock(number: u16) -> Option<Vec<u8>> {
    fs::read(lock_path(Path::new(LOCKS), number)).ok()
}

/// Removes what the X server of a lock has left under its number. Returns whether nothing of it is left; else it still runs.
pub fn remove_server_leftovers(number: u16, lock: &[u8]) -> bool {
    remove_from(Path::new(LOCKS), Path::new(X11_SOCKETS), number, lock)
}

/// The folder of the locks of X servers.
const LOCKS: &str = "/tmp";

fn lock_path(locks: &Path, number: u16) -> PathBuf {
    locks.join(format!(".X{number}-lock"))
}

fn remove_from(locks: &Path, sockets: &Path, number: u16, lock: &[u8]) -> bool {
    let path = lock_path(locks, number);
    // Any other lock is that of another server, to which the number and the socket belong by now.
    if fs::read(&path).ok().as_deref() != Some(lock) {
        return true;
    }
    if lives(lock) {
        return false;
    }
    let beside = |what: &str| locks.join(format!(".X{number}-{what}-{}", std::process::id()));
    let (aside, own) = (beside("old"), beside("new"));
    // As a server takes a lock: under the name there is always one alone, and it is its owner's.
    if fs::rename(&path, &aside).is_ok() {
        if fs::read(&aside).ok().as_deref() != Some(lock) {
            // A server has begun since.
            let _ = fs::hard_link(&aside, &path);
        } else if write_new(&own, &format!("{:>10}\n", std::process::id())).is_ok()
            && fs::hard_link(&own, &path).is_ok()
        {
            remove_socket(&sockets.join(format!("X{number}")));
            let _ = fs::remove_file(&path);
        }
    }
    for file in [aside, own] {
        let _ = fs::remove_file(file);
    }
    true
}

/// Writes a file that is not there: anybody may put something under its name, such as a link.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    fs::File::create_new(path)?.write_all(text.as_bytes())
}

/// Removes the name of a socket of this user at which nobody listens.
fn remove_socket(path: &Path) {
    let is_own = fs::symlink_metadata(path).is_ok_and(|facts| facts.uid() == machine::user_id());
    let connected = UnixStream::connect(path);
    if is_own && connected.is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused) {
        let _ = fs::remove_file(path);
    }
}

/// Returns whether the process lives that a lock names. One that cannot be read names none.
fn lives(lock: &[u8]) -> bool {
    let id = std::str::from_utf8(lock).ok().and_then(|text| text.trim().parse::<u32>().ok());
    let stat = id.and_then(|id| fs::read(format!("/proc/{id}/stat")).ok());
    // The state is behind the name, which may hold anything. One that has ended may wait for its parent to notice.
    let state = stat.and_then(|stat| stat.rsplit(|byte| *byte == b')').next()?.get(1).copied());
    state.is_some_and(|state| !matches!(state, b'Z' | b'X'))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    use super::*;

    /// Returns the lock of a process that has ended.
    fn lock_of_the_dead() -> Vec<u8> {
        #[expect(clippy::disallowed_methods, reason = "a process of the test, which only has to end")]
        let mut child = Command::new("true").spawn().expect("it starts");
        child.wait().expect("it ends");
        format!("{:>10}\n", child.id()).into_bytes()
    }

    #[test]
    fn only_what_a_dead_server_left_is_removed() {
        let id = bailiwick_contract::id::new_id();
        let folder = std::env::temp_dir().join(format!("bailiwick-x-{id}"));
        fs::create_dir(&folder).expect("a folder of the test");
        let (lock, socket) = (lock_path(&folder, 7), folder.join("X7"));
        let remove = |of: &[u8]| remove_from(&folder, &folder, 7, of);
        let names = || {
            let entries = fs::read_dir(&folder).expect("it is there");
            let mut names: Vec<_> = entries.map(|it| it.expect("an entry").file_name()).collect();
            names.sort();
            names
        };
        let dead = lock_of_the_dead();
        fs::write(&lock, &dead).expect("a file of the test");
        drop(UnixListener::bind(&socket).expect("a socket of the test"));
        assert!(remove(&dead) && names().is_empty(), "{:?}", names());

        // A server that lives, another one's lock, and a socket at which somebody listens.
        let living = format!("{:>10}\n", std::process::id()).into_bytes();
        fs::write(&lock, &living).expect("a file of the test");
        let listener = UnixListener::bind(&socket).expect("a socket of the test");
        assert!(!remove(&living));
        assert!(remove(&dead));
        assert_eq!(names(), [".X7-lock", "X7"]);
        fs::write(&lock, &dead).expect("a file of the test");
        assert!(remove(&dead));
        assert_eq!(names(), ["X7"]);
        drop(listener);
        crate::fs::remove_tree(&folder).expect("it was made above");
    }
}
