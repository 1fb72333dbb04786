//! Where the socket lies.

use std::path::PathBuf;

use bailiwick_platform::dirs::Dirs;

/// Returns the path of the socket of an installation.
pub fn path(dirs: &Dirs) -> PathBuf {
    dirs.runtime.join("bailiwick.sock")
}
