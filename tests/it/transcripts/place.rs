//! A person's computer: a home folder of their own, and nothing of this machine's.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bailiwick::contract::id::new_id;

use crate::installation::CommandOutput;
use crate::source::repository;

/// How the home folder is shown: as long as it is, so that lines break where they really do.
pub const SHOWN_HOME: &str = "/home/lovelace";

/// A home folder with a project and a path on which there is nothing but this program. Removed when dropped.
pub struct TranscriptFixture {
    home: PathBuf,
    /// What starts the program, where the computer is to have less of a sandbox than it has.
    starter: Vec<PathBuf>,
}

impl TranscriptFixture {
    pub fn new() -> Self {
        let id = new_id();
        let home = PathBuf::from(format!("/tmp/bw-{}", &id[id.len() - 6..]));
        assert_eq!(home.as_os_str().len(), SHOWN_HOME.len());
        fs::create_dir(&home).expect("the temporary folder can be written");
        fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).expect("own folder");
        let made = Self { home, starter: Vec::new() };
        for folder in ["bin", "run", "project"] {
            fs::create_dir(made.path(folder)).expect("made");
        }
        fs::set_permissions(made.path("run"), fs::Permissions::from_mode(0o700)).expect("own folder");
        fs::write(made.path("project/hello.txt"), "hello\n").expect("written");
        symlink(env!("CARGO_BIN_EXE_bailiwick"), made.path("bin/bailiwick")).expect("a link");
        made
    }

    /// On a computer whose strongest sandbox is of this level.
    pub fn at_level(level: &str) -> Self {
        let script = repository().join("tests/it/transcripts/at_level.py");
        let python = ["/usr/bin/python3", "/usr/local/bin/python3", "/bin/python3"].map(PathBuf::from);
        let python = python.into_iter().find(|path| path.is_file()).expect("python3 was asked for");
        let mut made = Self::new();
        made.starter = vec![python, script, level.into()];
        made
    }

    /// Already set up, with the project open as scope `project` with the usual preset.
    pub fn set_up() -> Self {
        let made = Self::new();
        made.well(&["setup", "project", "--yes"]);
        made
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.home.join(path)
    }

    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Creates a command of the user's.
    pub fn command(&self, words: &[&str]) -> Command {
        let program = self.path("bin/bailiwick");
        let mut whole = self.starter.iter().chain([&program]);
        let mut command = Command::new(whole.next().expect("the program at least"));
        command
            .args(whole)
            .args(words)
            .current_dir(&self.home)
            .env_clear()
            .env("PATH", self.path("bin"))
            .env("HOME", &self.home)
            .env("USER", "lovelace")
            .env("XDG_RUNTIME_DIR", self.path("run"))
            .env("LANG", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a command without a terminal.
    pub fn run(&self, words: &[&str]) -> CommandOutput {
        self.command(words).output().expect("the binary runs").into()
    }

    /// Runs a command without a terminal that has to succeed.
    pub fn well(&self, words: &[&str]) -> CommandOutput {
        let ran = self.run(words);
        assert_eq!(ran.exit, 0, "{words:?}: {}{}", ran.out, ran.err);
        ran
    }

    pub fn config(&self) -> PathBuf {
        self.path(".config/bailiwick/config.json")
    }

    /// Returns every file below the home folder with its content: what a command must not have touched.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut folders = vec![self.home.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("readable").flatten() {
                let kind = entry.file_type().expect("a kind");
                if kind.is_dir() {
                    folders.push(entry.path());
                } else if kind.is_symlink() {
                    files.push((entry.path(), Vec::new()));
                } else if entry.metadata().is_ok_and(|facts| facts.is_file()) {
                    files.push((entry.path(), fs::read(entry.path()).unwrap_or_default()));
                }
            }
        }
        files.sort();
        files
    }
}

impl Drop for TranscriptFixture {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.home);
    }
}
