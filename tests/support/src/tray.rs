//! A program with a status icon that prints what it receives.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::Receiver;

use rustix::process::{Pid, Signal, kill_process};

use crate::lines::lines_of;
use crate::patience::PATIENCE;
use crate::service::Program;

/// The program, which also keeps the list of icons. It ends with its value.
pub struct TrayProgram {
    program: Program,
    lines: Receiver<String>,
    icon: String,
}

impl TrayProgram {
    /// Starts it on a bus, with what it calls its icon, the icon's title, and what is behind the label of one entry.
    pub fn start(bus: &str, names: [&str; 3]) -> Self {
        Self::with_child(bus, names, None)
    }

    /// As [`TrayProgram::start`], with a child whose program has this path.
    pub fn with_child(bus: &str, [name, title, mark]: [&str; 3], child: Option<&Path>) -> Self {
        let mut program = Command::new("/usr/bin/python3")
            .args(["-c", include_str!("tray.py"), name, title, mark])
            .args(child)
            .env_clear()
            .env("LC_ALL", "C.UTF-8")
            .env("DBUS_SESSION_BUS_ADDRESS", bus)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("Python starts (on Debian: apt-get install python3-gi)");
        let lines = lines_of(program.stdout.take().expect("piped"));
        let mut tray = Self { program: Program(program), lines, icon: String::new() };
        tray.icon = format!("session/{}/StatusNotifierItem", tray.next());
        tray
    }

    /// Returns the id of its icon.
    pub fn icon(&self) -> &str {
        &self.icon
    }

    /// Returns its process.
    pub fn pid(&self) -> u32 {
        self.program.0.id()
    }

    /// Waits for the next line that it prints.
    pub fn next(&self) -> String {
        self.lines.recv_timeout(*PATIENCE).expect("the program prints a line")
    }

    /// Returns whether it has printed nothing more.
    pub fn is_silent(&self) -> bool {
        self.lines.try_recv().is_err()
    }

    /// Returns whether it runs.
    pub fn is_there(&mut self) -> bool {
        self.program.0.try_wait().is_ok_and(|ended| ended.is_none())
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.program.0), signal).expect("it lives");
    }
}
