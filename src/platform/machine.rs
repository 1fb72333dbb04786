//! Facts about this computer and this process.

/// Gives the host name, or `computer` where the system does not tell it.
pub fn host_name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if name.is_empty() { "computer".to_owned() } else { name }
}

/// Gives the numeric id of the user that this process runs as.
pub fn user_id() -> u32 {
    rustix::process::getuid().as_raw()
}
