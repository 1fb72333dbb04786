//! Ports of the loopback interface that belong to one test.
//!
//! Binding port 0 and closing the listener frees the port for everyone: another test can take it before it is used.
//! These ports are below the range that systems hand out, and each is locked for as long as the test process runs.

use std::env::temp_dir;
use std::fs::{self, File, OpenOptions};
use std::net::TcpListener;
use std::ops::Range;
use std::process;
use std::sync::{Mutex, PoisonError};

use bailiwick::platform::fs::modes::set_mode;

/// Below 32768, where Linux begins to hand out ports; macOS and Windows begin at 49152.
const RANGE: Range<u32> = 20_000..24_000;

/// The lock of each reserved port. The system releases them when the process ends.
static LOCKS: Mutex<Vec<File>> = Mutex::new(Vec::new());

/// Reserves a port on which nothing listens. No other test gets it while this process runs.
pub fn reserve_port() -> u16 {
    let mut locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = temp_dir().join("bailiwick-test-ports");
    if fs::create_dir(&folder).is_ok() {
        // Other users' tests lock ports too.
        set_mode(&folder, 0o1777).expect("its owner may change it");
    }
    // Processes begin at different ports, so that they rarely try the same ones.
    let count = RANGE.end - RANGE.start;
    let first = process::id().wrapping_mul(61) % count;
    for step in 0..count {
        let port = u16::try_from(RANGE.start + (first + step) % count).expect("the range ends below 65536");
        let path = folder.join(port.to_string());
        // A file that cannot be opened belongs to another user.
        let Ok(file) = OpenOptions::new().create(true).truncate(false).write(true).open(path) else {
            continue;
        };
        // Locks belong to the open file: a second lock in this process fails too.
        if file.try_lock().is_ok() && TcpListener::bind(("127.0.0.1", port)).is_ok() {
            locks.push(file);
            return port;
        }
    }
    panic!("no port from {} to {} can be reserved in {}", RANGE.start, RANGE.end, folder.display())
}
