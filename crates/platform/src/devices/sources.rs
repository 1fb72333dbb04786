//! Where devices are looked for.

use std::path::PathBuf;

/// Where devices are looked for. [`DeviceSources::of_this_process`] is what the service uses; others are for tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceSources {
    /// The address of the bus of the system.
    pub system_bus: String,
    /// The folder in which the kernel lists devices by their class.
    pub classes: PathBuf,
    /// The socket of the sound server, which speaks PulseAudio's protocol.
    pub sound: Option<PathBuf>,
}

impl DeviceSources {
    /// Reads this process's environment.
    pub fn of_this_process() -> Self {
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let named = text("PULSE_SERVER");
        let sound = match &named {
            Some(servers) => servers.split_whitespace().find_map(socket_of).map(PathBuf::from),
            None => folder("PULSE_RUNTIME_PATH")
                .or_else(|| Some(folder("XDG_RUNTIME_DIR")?.join("pulse")))
                .map(|folder| folder.join("native")),
        };
        let usual = || "unix:path=/run/dbus/system_bus_socket".to_owned();
        Self {
            system_bus: text("DBUS_SYSTEM_BUS_ADDRESS").unwrap_or_else(usual),
            classes: PathBuf::from("/sys/class"),
            sound,
        }
    }
}

/// Returns the socket of a sound server of this computer, as `PULSE_SERVER` names it: `unix:/run/…`, with the computer's id in
/// braces before it, or a path alone.
fn socket_of(server: &str) -> Option<&str> {
    let server = server.strip_prefix('{').and_then(|rest| rest.split_once('}')).map_or(server, |it| it.1);
    let path = server.strip_prefix("unix:").unwrap_or(server);
    path.starts_with('/').then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sockets_of_this_computer_are_sound_servers() {
        for (server, socket) in [
            ("unix:/run/pulse/native", Some("/run/pulse/native")),
            ("/run/pulse/native", Some("/run/pulse/native")),
            ("{0a1b}unix:/run/pulse/native", Some("/run/pulse/native")),
            ("tcp:example.org:4713", None),
            ("example.org", None),
            ("unix:relative", None),
        ] {
            assert_eq!(socket_of(server), socket, "{server}");
        }
    }
}
