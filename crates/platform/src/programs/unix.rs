//! Programs have no ending, and a bit says that they may run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::fs::Stat;

/// What is between the folders of a search path.
pub const SEARCH_PATH_SEPARATOR: &str = ":";

/// What every program takes for an empty file, where there is such a name.
pub const NOTHING: Option<&str> = Some("/dev/null");

/// Returns where programs are looked for unless a person says otherwise.
pub fn usual_folders() -> Vec<PathBuf> {
    ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"]
        .map(PathBuf::from)
        .to_vec()
}

/// Returns the folders where a program may lie that another one only starts: none is known.
pub fn folders_behind(_: &Path) -> Vec<PathBuf> {
    Vec::new()
}

/// Returns the names of files that a program's name can mean, in their order.
pub fn candidates(name: &str) -> impl Iterator<Item = String> {
    std::iter::once(name.to_owned())
}

/// Returns the names of files that a program's name can mean, and that another program would read: none.
pub fn read_by_others(_: &str) -> impl Iterator<Item = String> {
    std::iter::empty()
}

/// Returns whether a file may run as a program.
pub fn may_run(stat: &Stat) -> bool {
    stat.mode & 0o111 != 0
}

/// Returns what any program needs here beside what it is given anyhow: nothing.
pub fn environment(_: &Path, _: &Path) -> Vec<(&'static str, OsString)> {
    Vec::new()
}

/// Returns what of that a program needs which does its work for Bailiwick alone: nothing.
pub fn bare_environment(_: &Path) -> Vec<(&'static str, OsString)> {
    Vec::new()
}
