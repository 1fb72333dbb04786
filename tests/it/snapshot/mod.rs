//! Snapshots of folders, on real files; the changes that they tell are held against Git's.

mod against_git;
mod bounds;
mod ground;
mod kinds;
