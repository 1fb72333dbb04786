//! What a program's file is on this system, where programs lie, and what any program needs of its environment.

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod system;

#[cfg(windows)]
pub use system::is_program_name;
pub use system::{
    NOTHING, SEARCH_PATH_SEPARATOR, bare_environment, candidates, environment, folders_behind, may_run,
    read_by_others, usual_folders,
};
