//! Facts about this computer and this process.

use std::path::{Path, PathBuf};

#[cfg(unix)]
pub use unix::{host_name, user_id};
#[cfg(windows)]
pub use windows::{host_name, user_id};

/// The variables that name the user, and the home folder.
#[cfg(unix)]
const NAMES: [&str; 3] = ["USER", "LOGNAME", "HOME"];
#[cfg(windows)]
const NAMES: [&str; 3] = ["USERNAME", "USER", "USERPROFILE"];

#[cfg(unix)]
mod unix {
    /// Gives the host name, or `computer` where the system does not tell it.
    pub fn host_name() -> String {
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        if name.is_empty() { "computer".to_owned() } else { name }
    }

    /// Gives the numeric id of the user that this process runs as.
    pub fn user_id() -> u32 {
        rustix::process::getuid().as_raw()
    }
}

#[cfg(windows)]
mod windows {
    /// Gives the computer's name, or `computer` where the environment does not tell it.
    pub fn host_name() -> String {
        std::env::var("COMPUTERNAME")
            .ok()
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| "computer".to_owned())
    }

    /// Gives 1: users have no numbers on this system, and this one stands for whoever runs this process.
    pub const fn user_id() -> u32 {
        1
    }
}

/// Gives the home folder of the person, where the environment tells it.
pub fn home_folder() -> Option<PathBuf> {
    std::env::var_os(NAMES[2]).map(PathBuf::from).filter(|home| home.is_absolute() && home != Path::new("/"))
}

/// Gives the name of the user that this process runs as, or `user` where the environment does not tell it.
pub fn user_name() -> String {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let named = NAMES[..2].iter().filter_map(|name| std::env::var(name).ok());
    let mut fitting = named.filter(|name| (1..=64).contains(&name.len()) && name.bytes().all(word));
    fitting.next().unwrap_or_else(|| if user_id() == 0 { "root" } else { "user" }.to_owned())
}
