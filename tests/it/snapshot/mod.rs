//! Snapshots of folders, on real files; the changes that they tell are held against Git's.

// Git is asked for the same.
#[cfg(target_os = "linux")]
mod against_git;
mod bounds;
mod scope;
mod kinds;
