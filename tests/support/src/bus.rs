//! A bus of D-Bus of a test's own, and programs in Python on it that print what they are asked, a line of JSON each.

use std::fs;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::mpsc::Receiver;

use serde_json::Value;

use crate::lines::lines_of;
use crate::needs::require_program;
use crate::patience::{PATIENCE, eventually};
use crate::service::Program;
use crate::temporary::TemporaryFolder;

/// The bus. It ends with its value.
pub struct Bus {
    /// Its address.
    pub address: String,
    _daemon: Program,
    _folder: TemporaryFolder,
}

impl Bus {
    /// Starts one.
    pub fn start() -> Self {
        require_program("dbus-daemon");
        let folder = TemporaryFolder::new();
        let socket = folder.path().join("bus");
        let address = format!("unix:path={}", socket.display());
        let config = format!(
            "<busconfig><type>session</type><listen>{address}</listen><auth>EXTERNAL</auth><policy context=\"default\">\
             <allow send_destination=\"*\" eavesdrop=\"true\"/>\
             <allow eavesdrop=\"true\"/><allow own=\"*\"/></policy></busconfig>"
        );
        let file = folder.path().join("bus.conf");
        fs::write(&file, config).expect("a file of the test");
        let daemon = Command::new("dbus-daemon")
            .arg(format!("--config-file={}", file.display()))
            .args(["--nofork", "--nopidfile"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("dbus-daemon starts");
        let daemon = Program(daemon);
        eventually("the bus listens", || UnixStream::connect(&socket).is_ok());
        Self { address, _daemon: daemon, _folder: folder }
    }

    /// Starts a program on it, with these words, and waits until it has printed `"ready"`.
    pub fn program(&self, text: &str, words: &[&str]) -> BusProgram {
        let mut program = Command::new("/usr/bin/python3")
            .args(["-c", text])
            .args(words)
            .env("DBUS_SESSION_BUS_ADDRESS", &self.address)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python starts (on Debian: apt-get install python3-gi)");
        let lines = lines_of(program.stdout.take().expect("piped"));
        let program = BusProgram { lines, program: Program(program) };
        assert_eq!(program.next(), "ready");
        program
    }
}

/// A program on a bus. It ends with its value.
pub struct BusProgram {
    lines: Receiver<String>,
    program: Program,
}

impl BusProgram {
    /// Returns what it prints next.
    pub fn next(&self) -> Value {
        let line = self.lines.recv_timeout(*PATIENCE).expect("the program prints something");
        serde_json::from_str(&line).unwrap_or(Value::String(line))
    }

    /// Returns whether it has printed nothing more.
    pub fn is_silent(&self) -> bool {
        self.lines.try_recv().is_err()
    }

    /// Ends it.
    pub fn end(&mut self) {
        self.program.0.kill().expect("it runs");
        self.program.0.wait().expect("it ends");
    }
}
