//! Paths as people and clients write them in this system's form, and as they are written back.
//!
//! What a client wrote is parted into a root and what lies beneath it as text: nothing is opened for it. Only what the user
//! named is checked.

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod system;

pub use system::{
    EXAMPLE, HAS_DRIVES, beneath, client_bytes, for_programs, is_absolute, is_system_folder, may_be_remote,
    not_served, of_programs, real, rooted, with_slashes,
};
