//! A command on a terminal: what it prints, and the keys that are pressed.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::patience::PATIENCE;

/// What gives a program a session of its own, with a terminal that controls it.
const SESSION: &str = "/usr/bin/setsid";

/// A terminal with a command on it.
pub struct Pty {
    main: File,
    other: OwnedFd,
    child: Child,
    before: Termios,
    printed: Vec<u8>,
    /// How much was printed when a key was last pressed.
    answered: usize,
}

impl Pty {
    /// Starts a command on a new terminal.
    pub fn start(command: &Command, rows: u16, columns: u16) -> Self {
        let main = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&main).expect("granted");
        unlockpt(&main).expect("unlocked");
        let name = ptsname(&main, Vec::new()).expect("named");
        let other =
            OpenOptions::new().read(true).write(true).open(name.to_str().expect("UTF-8")).expect("opened");
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&other, size).expect("its size is set");
        let before = tcgetattr(&other).expect("its mode");
        let mut session = Command::new(SESSION);
        session.arg("--ctty").arg(command.get_program()).args(command.get_args());
        // Exactly the environment that the command is to have.
        session.env_clear();
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                session.env(name, value);
            }
        }
        if let Some(folder) = command.get_current_dir() {
            session.current_dir(folder);
        }
        let side = || Stdio::from(other.try_clone().expect("cloned"));
        let child = session.stdin(side()).stdout(side()).stderr(side()).spawn().expect("it runs");
        Self { main: File::from(main), other: other.into(), child, before, printed: Vec::new(), answered: 0 }
    }

    /// Waits until this was printed since the last key, presses keys, and continues.
    pub fn answer(&mut self, question: &str, keys: &str) {
        self.until(question);
        self.press(keys);
    }

    /// Waits until this was printed since the last key.
    pub fn until(&mut self, text: &str) {
        let began = Instant::now();
        loop {
            let new = String::from_utf8_lossy(&self.printed[self.answered..]).into_owned();
            if new.contains(text) {
                return;
            }
            let is_over = self.child.try_wait().expect("waited").is_some();
            let has_read = self.read();
            assert!(has_read || !is_over, "it has ended without {text:?}: {}", self.text());
            assert!(began.elapsed() < *PATIENCE, "no {text:?}: {}", self.text());
        }
    }

    /// Presses keys, as bytes.
    pub fn press(&mut self, keys: &str) {
        self.answered = self.printed.len();
        self.main.write_all(keys.as_bytes()).expect("typed");
    }

    /// Waits for the end; gives the exit code, and all that was printed. The terminal has its mode again.
    pub fn ended(mut self) -> (i32, Vec<u8>) {
        let began = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("waited") {
                break status;
            }
            self.read();
            assert!(began.elapsed() < *PATIENCE, "it continues: {}", self.text());
        };
        while self.read() {}
        let after = tcgetattr(&self.other).expect("its mode");
        assert_eq!(format!("{after:?}"), format!("{:?}", self.before), "the terminal's mode");
        (status.code().expect("no signal ended it"), std::mem::take(&mut self.printed))
    }

    /// Returns all that was printed so far, as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.printed).into_owned()
    }

    /// Waits a moment for something, and takes it in. Returns whether there was something.
    fn read(&mut self) -> bool {
        let mut ready = [PollFd::from_borrowed_fd(self.main.as_fd(), PollFlags::IN)];
        let moment = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
        if poll(&mut ready, Some(&moment)).unwrap_or(0) == 0 {
            return false;
        }
        let mut bytes = [0; 4_096];
        let count = self.main.read(&mut bytes).unwrap_or(0);
        self.printed.extend_from_slice(&bytes[..count]);
        count > 0
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // It has ended as a rule; then this has no effect.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
