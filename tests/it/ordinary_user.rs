//! A user who is not root: root may read and write everything.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::temporary::TemporaryFolder;

/// A folder in which the program is run by an ordinary user: by nobody (65534) where the tests run as root.
pub struct OrdinaryUser {
    folder: TemporaryFolder,
}

impl OrdinaryUser {
    /// Creates the folder, with a copy of the program that everybody may run.
    pub fn new() -> Self {
        let folder = TemporaryFolder::new();
        fs::copy(env!("CARGO_BIN_EXE_bailiwick"), folder.path().join("bailiwick")).expect("copied");
        if Self::is_another() {
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).expect("set");
        }
        Self { folder }
    }

    fn is_another() -> bool {
        bailiwick::platform::machine::user_id() == 0
    }

    /// Returns a path in the folder.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Creates a command that the user starts in the folder. `./bailiwick` is the program; its settings are in `home`.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(if Self::is_another() { "setpriv" } else { "env" });
        if Self::is_another() {
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "env"]);
        }
        command.arg(format!("BAILIWICK_HOME={}", self.path("home").display())).arg("HOME=/nonexistent");
        command.args(words).current_dir(self.folder.path());
        command
    }

    /// Runs a command to its end, and returns what it writes.
    pub fn run(&self, words: &[&str]) -> String {
        let output = self.command(words).output().expect("it starts");
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    }
}
