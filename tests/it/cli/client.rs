//! `bailiwick client`: settings of clients, written by hand as people have them, and what becomes of them.

mod bundle;
mod commands;
mod files;
mod settings;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::installation::{CommandOutput, Installation};

/// An installation whose user has clients, and a path without any program of theirs.
struct ClientFixture {
    installation: Installation,
}

impl ClientFixture {
    fn new() -> Self {
        let made = Self { installation: Installation::new() };
        fs::create_dir(made.path("programs")).expect("made");
        let ran = made.run(&["setup", "project", "--preset", "read-only", "--yes"]);
        assert_eq!(ran.exit, 0, "{}", ran.err);
        made
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.installation.command(words);
        command.env("PATH", self.path("programs"));
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"] {
            command.env_remove(name);
        }
        command
    }

    fn run(&self, words: &[&str]) -> CommandOutput {
        self.command(words).output().expect("the binary runs").into()
    }

    /// Runs a command that has to succeed.
    fn well(&self, words: &[&str]) -> CommandOutput {
        let ran = self.run(words);
        assert_eq!(ran.exit, 0, "{words:?}: {}{}", ran.out, ran.err);
        ran
    }

    fn path(&self, path: &str) -> PathBuf {
        self.installation.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let file = self.path(path);
        fs::create_dir_all(file.parent().expect("it is in a folder")).expect("made");
        fs::write(&file, text).expect("written");
        file
    }

    fn read(&self, path: &str) -> String {
        text(&self.path(path))
    }

    /// Puts in this computer's paths: `{BIN}` is the program, `{HOME}` is Bailiwick's own folder.
    fn filled(&self, text: &str) -> String {
        let own = self.path("home").display().to_string();
        text.replace("{BIN}", env!("CARGO_BIN_EXE_bailiwick")).replace("{HOME}", &own)
    }
}

fn text(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
