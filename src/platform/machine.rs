//! Facts about this computer and this process.

use std::path::{Path, PathBuf};

/// Gives the host name, or `computer` where the system does not tell it.
pub fn host_name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if name.is_empty() { "computer".to_owned() } else { name }
}

/// Gives the numeric id of the user that this process runs as.
pub fn user_id() -> u32 {
    rustix::process::getuid().as_raw()
}

/// Gives the home folder of the person, where the environment tells it.
pub fn home_folder() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute() && home != Path::new("/"))
}

/// Gives the name of the user that this process runs as, or `user` where the environment does not tell it.
pub fn user_name() -> String {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let named = ["USER", "LOGNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
    let mut fitting = named.filter(|name| (1..=64).contains(&name.len()) && name.bytes().all(word));
    fitting.next().unwrap_or_else(|| if user_id() == 0 { "root" } else { "user" }.to_owned())
}

/// The flag with which opening a named pipe does not wait for its other end.
pub const NO_WAITING: i32 = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
