//! Where displays are looked for.

use std::path::PathBuf;

use crate::devices::DeviceSources;

/// The folder of the X servers' sockets.
pub const X11_SOCKETS: &str = "/tmp/.X11-unix";

/// Which of the displays that are found are meant, by folders that hold the name `X5` for the display 5.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum DisplaySelection {
    /// All of them.
    #[default]
    All,
    /// Those that the folder does not name: private ones are nobody else's.
    AllBut(PathBuf),
    /// Those that the folder names.
    Only(PathBuf),
}

#[cfg(target_os = "linux")]
impl DisplaySelection {
    /// Returns whether a display is meant.
    pub(super) fn includes(&self, number: u16) -> bool {
        let is_named = |folder: &PathBuf| folder.join(format!("X{number}")).exists();
        match self {
            Self::All => true,
            Self::AllBut(folder) => !is_named(folder),
            Self::Only(folder) => is_named(folder),
        }
    }
}

/// Where displays are looked for. [`Sources::of_this_process`] is what the service uses; others are for tests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sources {
    /// The folder of the X servers' sockets.
    pub sockets: PathBuf,
    /// Which of them are meant.
    pub selection: DisplaySelection,
    /// What the environment says of a display: `DISPLAY`.
    pub display: Option<String>,
    /// The file of cookies: `XAUTHORITY`, or `.Xauthority` in the home folder.
    pub authority: Option<PathBuf>,
    /// The Wayland session that the environment names. Only a build with the feature `wayland` can look at it.
    pub wayland: Option<String>,
    /// The address of the bus of the user's session, by which status icons are found.
    pub session_bus: Option<String>,
    /// Where the devices of the computer are found, if the displays are those of its user.
    pub devices: Option<DeviceSources>,
    /// This program, which is started again to release keys and buttons when nothing else can. Without it there is no input.
    pub guard: Option<PathBuf>,
}

impl Sources {
    /// Reads this process's environment.
    pub fn of_this_process() -> Self {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let text = |name: &str| variable(name).and_then(|value| value.into_string().ok());
        Self {
            sockets: PathBuf::from(X11_SOCKETS),
            selection: DisplaySelection::All,
            display: text("DISPLAY"),
            authority: variable("XAUTHORITY")
                .map(PathBuf::from)
                .or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".Xauthority"))),
            wayland: text("WAYLAND_DISPLAY"),
            #[cfg(target_os = "linux")]
            session_bus: crate::bus::session_address(),
            #[cfg(not(target_os = "linux"))]
            session_bus: None,
            devices: Some(DeviceSources::of_this_process()),
            guard: None,
        }
    }
}
