//! A program with a window, for tests: Notepad, which Windows and wine have.

use std::io::Write as _;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use super::servers::Servers;
use crate::screen::{Access, ScreenError, Sources, Window};

/// How long a busy computer may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// Notepad, which ends with this.
pub(super) struct Notepad(Child);

impl Drop for Notepad {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Notepad {
    /// Starts it; without a display it says that the test is left out.
    pub(super) fn start() -> Option<(Servers, Self)> {
        let servers = Servers::new(Sources::default());
        let access = servers.list().expect("an answer").access;
        if access != Access::Granted {
            writeln!(std::io::stdout(), "left out: it needs a display: {access:?}").expect("it can be said");
            return None;
        }
        Some((servers, Self::another()))
    }

    /// Starts one more.
    pub(super) fn another() -> Self {
        Self(Command::new("notepad.exe").spawn().expect("it starts"))
    }

    pub(super) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Waits for its window.
    pub(super) fn window(&self, servers: &Servers) -> Window {
        let until = Instant::now() + PATIENCE;
        loop {
            let found = windows(servers).into_iter().find(|it| it.pid == Some(self.pid()) && !it.unmanaged);
            if let Some(window) = found {
                return window;
            }
            assert!(Instant::now() < until, "it shows no window");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn windows(servers: &Servers) -> Vec<Window> {
    let until = Instant::now() + PATIENCE;
    loop {
        match servers.windows_beside("") {
            // Other programs have the processors.
            Err(ScreenError::Timeout(_)) if Instant::now() < until => {}
            windows => return windows.expect("windows"),
        }
    }
}

/// Waits until something is so of a window.
pub(super) fn eventually(servers: &Servers, id: &str, what: &str, is_so: impl Fn(Option<&Window>) -> bool) {
    let until = Instant::now() + PATIENCE;
    loop {
        let windows = windows(servers);
        let window = windows.iter().find(|window| window.id == id);
        if is_so(window) {
            return;
        }
        assert!(Instant::now() < until, "not {what}: {window:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
