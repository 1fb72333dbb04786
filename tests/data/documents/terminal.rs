//! A computer as the documents show it: a home folder with a project, a shell, and Bailiwick on its path.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use regex::Regex;
use serde_json::Value;
use support::ports::reserve_port;
use support::temporary::TemporaryFolder;

/// The home folder that documents show.
const SHOWN_HOME: &str = "/home/me";
/// The port that documents show.
const SHOWN_PORT: &str = "3939";

/// One computer; everything on it ends with the value.
pub struct Terminal {
    folder: TemporaryFolder,
    /// The port that stands for the one that is shown.
    port: u16,
    service: Option<Child>,
}

impl Terminal {
    /// Creates a home folder with the project `~/code/app`, which holds a few files and a repository of Git.
    pub fn new() -> Self {
        let terminal = Self { folder: TemporaryFolder::new(), port: reserve_port(), service: None };
        let home = terminal.home();
        let app = home.join("code/app");
        for folder in [&home.join(".local/bin"), &app.join("src"), &home.join("state")] {
            fs::create_dir_all(folder).expect("a folder is made");
        }
        fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).expect("own folder");
        symlink(env!("CARGO_BIN_EXE_bailiwick"), home.join(".local/bin/bailiwick")).expect("a link is made");
        for (path, text) in [
            ("README.md", "# App\n\nSays hello.\n"),
            ("src/main.py", "def greet(name):\n    return f\"hello {name}\"\n\n\nprint(greet(\"world\"))\n"),
            (".env", "API_KEY=not-for-clients\n"),
            ("notes.sql", "select 1;\n"),
        ] {
            fs::write(app.join(path), text).expect("a file is written");
        }
        fs::write(terminal.memory("folder"), app.display().to_string()).expect("written");
        fs::write(terminal.memory("variables"), "").expect("written");
        terminal.do_it("git init -q -b main . && git add README.md src");
        terminal.do_it("git -c user.name=me -c user.email=me@example.org commit -qm 'Say hello'");
        terminal
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("me")
    }

    /// What is kept between two commands: the working folder, and variables.
    fn memory(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, program: &str) -> Command {
        let home = self.home();
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", &home)
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", home.join(".local/bin").display()))
            .env("LANG", "C.UTF-8")
            .env("USER", "me")
            .current_dir(&home)
            .stdin(Stdio::null());
        command
    }

    /// Runs a line in a shell that goes on from the last one, and gives what it printed; it must succeed.
    pub fn do_it(&self, line: &str) -> String {
        let (printed, succeeded) = self.run(line);
        assert!(succeeded, "`{line}` fails: {printed}");
        printed
    }

    /// Runs a line, and gives what it printed, both streams in their order, and whether it succeeded.
    pub fn run(&self, line: &str) -> (String, bool) {
        let (folder, variables) = (self.memory("folder"), self.memory("variables"));
        let script = "cd \"$(cat \"$1\")\" && . \"$2\"; eval \"$3\"; ended=$?; export -p >\"$2\"; pwd >\"$1\"; exit $ended";
        let line = line.replace(SHOWN_PORT, &self.port.to_string());
        let out = self.memory("out");
        let file = fs::File::create(&out).expect("a file is made");
        let status = self
            .command("bash")
            .args(["-c", script, "bash"])
            .args([folder.as_path(), variables.as_path(), Path::new(&line)])
            .stdout(file.try_clone().expect("a second handle"))
            .stderr(file)
            .status()
            .expect("bash runs");
        (self.shown(&fs::read_to_string(&out).expect("it printed text")), status.success())
    }

    /// Starts the service, and waits until it reports that it listens.
    pub fn serve(&mut self) {
        let child = self
            .command("bailiwick")
            .args(["start", "--port", &self.port.to_string(), "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let child = self.service.insert(child.expect("the binary runs"));
        let mut line = String::new();
        // It prints one line; nothing is lost in the buffer.
        let mut out = BufReader::new(child.stdout.as_mut().expect("piped"));
        out.read_line(&mut line).expect("readable");
        let started: Value =
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("the service did not start: {line}"));
        let address = started["address"].as_str().unwrap_or_else(|| panic!("no address: {line}"));
        assert!(address.ends_with(&format!(":{}", self.port)), "{address}");
    }

    /// Puts what documents show in the place of what only this run has.
    fn shown(&self, text: &str) -> String {
        let mut text = text
            .replace("\r\n", "\n")
            .replace(env!("CARGO_BIN_EXE_bailiwick"), &format!("{SHOWN_HOME}/.local/bin/bailiwick"))
            .replace(&self.home().display().to_string(), SHOWN_HOME)
            .replace(&self.port.to_string(), SHOWN_PORT);
        for (pattern, shown) in [
            ("bwl_[0-9a-f]{64}", "bwl_…"),
            (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "2026-11-21 12:00:00"),
            (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "2026-11-21T12:00:00.000Z"),
            ("01[0-9A-HJKMNP-TV-Z]{24}", "01JD5Z3Y7T9Q0V2M4N6P8R1S3W"),
        ] {
            text = Regex::new(pattern).expect("a good pattern").replace_all(&text, shown).into_owned();
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(child) = &mut self.service {
            // It may have ended by itself; then this has no effect.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
