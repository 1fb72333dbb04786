//! The icons that programs have in status areas, and their menus.
//!
//! Mechanism without opinion: it does not know who may look at what. What programs say of their icons is a stranger's word:
//! every call has a deadline, and text is cut.

#[cfg(target_os = "linux")]
mod dbus;
#[cfg(target_os = "linux")]
mod layout;
#[cfg(not(target_os = "linux"))]
mod none;
#[cfg(target_os = "linux")]
mod watcher;

#[cfg(target_os = "linux")]
pub use dbus::Tray;
#[cfg(not(target_os = "linux"))]
pub use none::{Tray, Watcher};
#[cfg(target_os = "linux")]
pub use watcher::Watcher;

use crate::program_error::ProgramError;

/// An icon of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrayItem {
    /// The connection of its program, which no other program ever has, and its path there.
    pub id: String,
    /// What its program calls it.
    pub name: String,
    /// Its title, for users.
    pub title: String,
    /// `active`, `passive`, `attention`, or what else the program says, in lower case.
    pub status: String,
    /// The name of its picture.
    pub icon: String,
    /// Its process, as the bus has it from the kernel.
    pub pid: Option<u32>,
    /// The name of that process's program file.
    pub process: Option<String>,
    /// Where its menu is among the paths of its program, if it has one.
    pub menu: Option<String>,
}

/// An entry of a menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrayMenuEntry {
    /// Its number in its menu.
    pub number: i32,
    /// Its label, without the mark of its letter.
    pub label: String,
    /// Whether it can be chosen.
    pub enabled: bool,
    /// Whether it is checked; `None` where it cannot be.
    pub checked: Option<bool>,
    /// Whether it opens a menu.
    pub is_submenu: bool,
    /// The entries of that menu.
    pub entries: Vec<TrayMenuEntry>,
}

/// Why icons could not be read or used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrayError {
    /// This system's icons cannot be read yet.
    #[error("the icons of status areas cannot be read on this system")]
    Unsupported,
    /// There is no bus.
    #[error("there is no session bus, on which programs show their icons: {0}")]
    NoBus(String),
    /// Nothing keeps a list of the icons.
    #[error(
        "nothing here shows status icons: no program has the name `org.kde.StatusNotifierWatcher` on the session bus"
    )]
    NoWatcher,
    /// The program of the icon did not do what it was asked.
    #[error(transparent)]
    Program(#[from] ProgramError),
}
