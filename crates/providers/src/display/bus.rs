//! The bus of a private display: that of its session and of assistive technology at once.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use bailiwick_platform::fs::{create_private_dir, replace_private_file};
use bailiwick_platform::names::OsStrExt;

/// So many answers of a connection may be on their way, as on the accessibility buses of desktops: all elements of a window are
/// asked at once.
const MOST_REPLIES: u32 = 50_000;

/// The longest path of a socket that the programs of a bus take, in bytes (libdbus, `_DBUS_MAX_SUN_PATH_LENGTH`).
const LONGEST_PATH: usize = 99;

/// A bus that is about to be started.
#[derive(Debug)]
pub(super) struct Bus {
    /// Where it listens.
    pub socket: PathBuf,
    /// Its address.
    pub address: String,
    /// Its configuration.
    pub config: PathBuf,
}

impl Bus {
    /// Writes the configuration of the bus of a display. It starts the registry of accessible programs, and nothing else.
    ///
    /// # Errors
    /// Those of the file system, and for a folder whose path is too long for the socket of a bus.
    pub fn write(folder: &Path, registry: &Path) -> io::Result<Self> {
        let socket = folder.join("bus");
        let length = socket.as_os_str().len();
        if length > LONGEST_PATH {
            let why = format!(
                "the path of its bus has {length} bytes, of which {LONGEST_PATH} are possible; a shorter BAILIWICK_HOME or \
                 XDG_RUNTIME_DIR helps"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let address = format!("unix:path={}", escape(&socket));
        let services = folder.join("services");
        create_private_dir(&services)?;
        let service = format!("[D-BUS Service]\nName=org.a11y.atspi.Registry\nExec={}\n", registry.display());
        replace_private_file(&services.join("registry.service"), service.as_bytes())?;
        let services = services.display().to_string().replace('&', "&amp;").replace('<', "&lt;");
        let text = format!(
            "<busconfig><type>session</type><listen>{address}</listen><auth>EXTERNAL</auth>\
             <servicedir>{services}</servicedir><policy context=\"default\">\
             <allow send_destination=\"*\" eavesdrop=\"true\"/><allow eavesdrop=\"true\"/><allow own=\"*\"/>\
             </policy><limit name=\"max_replies_per_connection\">{MOST_REPLIES}</limit></busconfig>"
        );
        let config = folder.join("bus.conf");
        replace_private_file(&config, text.as_bytes())?;
        Ok(Self { socket, address, config })
    }
}

/// Writes a path as addresses have it.
fn escape(path: &Path) -> String {
    let mut text = String::new();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'-' | b'_' | b'/' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                text.push(char::from(*byte));
            }
            byte => {
                // Writing to a string cannot fail.
                let _ = write!(text, "%{byte:02x}");
            }
        }
    }
    text
}
