//! This program, as the user has it on the search path.

use std::env;
use std::path::{Path, PathBuf};

use bailiwick_platform::fs::FileId;
use bailiwick_platform::programs;
/// Returns the program that clients are to start: by the name under which the user has it, which stays the same
/// when a new version replaces it.
pub fn own_program(running: &Path) -> PathBuf {
    let own = FileId::of(running);
    let is_running = |found: &PathBuf| own.is_some() && FileId::of(found) == own;
    let name = running.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    on_path(name).filter(is_running).unwrap_or_else(|| running.to_owned())
}

/// Finds a program as a shell would, but for the folder that it is in.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let names: Vec<String> = programs::candidates(name).chain(programs::read_by_others(name)).collect();
    let folders = env::var_os("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&folders).filter(|it| it.is_absolute()).collect();
    let mut files = folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name)));
    files.find(|file| file.is_file())
}
