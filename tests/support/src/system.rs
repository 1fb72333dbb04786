//! What a test needs that not every system has.
//!
//! A test or a case that cannot run here reports which need is missing. On Linux nothing may be missing, so tests do not
//! check there: a test that lacks something fails. On other systems each need is checked once in a process.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use bailiwick::config::Config;
use bailiwick::contract::{Caller, Containment, Envelope, Transport};
use bailiwick::platform::dirs::Dirs;
use bailiwick::platform::fs::modes::{HAS_BITS, PermissionsExt, symlink};
use bailiwick::platform::fs::{Secrecy, read_own_file};
use bailiwick::platform::launch::{Launcher, levels};
use bailiwick::platform::programs::{folders_behind, usual_folders};
use bailiwick::platform::screen::Sources;
use bailiwick::service::{Service, ServiceSettings};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::program;
use crate::temporary::TemporaryFolder;

/// What not every system has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// Symbolic links, which this user may make.
    Links,
    /// Permission bits: `0640` is not `0600`.
    Modes,
    /// Names of files that are any bytes: no text, with line breaks, with `"` or `*`.
    Names,
    /// Named pipes that are files.
    Pipes,
    /// A system that the operation is for, by its own spec.
    Platform,
    /// Programs that the product starts, whichever they are.
    Starting,
    /// Programs of Unix, started by the product.
    Programs,
    /// Git, started by the product.
    Git,
    /// Displays that a test can start.
    Displays,
    /// Files that can be replaced while they are open: renames as POSIX has them.
    Replacing,
    /// Folders whose place can be taken by another while they are open.
    Moves,
    /// The full sandbox, whose namespaces a kernel may forbid.
    Sandbox,
}

impl Need {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Links,
        Self::Modes,
        Self::Names,
        Self::Pipes,
        Self::Platform,
        Self::Starting,
        Self::Programs,
        Self::Git,
        Self::Displays,
        Self::Replacing,
        Self::Moves,
        Self::Sandbox,
    ];

    /// Returns the word by which case files name it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Links => "links",
            Self::Modes => "modes",
            Self::Names => "names",
            Self::Pipes => "pipes",
            Self::Platform => "platform",
            Self::Starting => "starting",
            Self::Programs => "programs",
            Self::Git => "git",
            Self::Displays => "displays",
            Self::Replacing => "replacing",
            Self::Moves => "moves",
            Self::Sandbox => "sandbox",
        }
    }

    /// Returns whether this system has it. Linux has to have all of them but the full sandbox.
    pub fn is_there(self) -> bool {
        if cfg!(target_os = "linux") && self != Self::Sandbox {
            return true;
        }
        static FOUND: [OnceLock<bool>; Need::ALL.len()] = [const { OnceLock::new() }; Need::ALL.len()];
        *FOUND[self as usize].get_or_init(|| {
            // In a thread of its own: the caller may be in a runtime already.
            std::thread::spawn(move || self.look()).join().expect("looking ends without a panic")
        })
    }

    fn look(self) -> bool {
        let folder = TemporaryFolder::new();
        let path = |name: &str| folder.path().join(name);
        match self {
            Self::Links => symlink("target", path("link")).is_ok() && path("link").read_link().is_ok(),
            Self::Modes => HAS_BITS,
            Self::Names => std::fs::write(path("a\nb\"c"), "").is_ok(),
            Self::Pipes => cfg!(unix),
            // It is asked of each operation.
            Self::Platform => true,
            // It is in the folders of every system.
            Self::Starting => starts(&folder, &["whoami"]),
            Self::Programs => runs("true", &[]) && starts(&folder, &["true"]),
            Self::Git => {
                git_of_the_person().arg("--version").output().is_ok_and(|output| output.status.success())
                    && starts(&folder, &["git", "--version"])
            }
            // Only for the X server is there a harness.
            Self::Displays => cfg!(target_os = "linux"),
            Self::Replacing => {
                for name in ["old", "new"] {
                    std::fs::write(path(name), name).expect("the temporary folder can be written");
                }
                let open = std::fs::File::open(path("old")).expect("it opens");
                let replaced = std::fs::rename(path("new"), path("old")).is_ok();
                drop(open);
                replaced
            }
            Self::Sandbox => levels().missing(Containment::Full).is_none(),
            Self::Moves => {
                std::fs::create_dir(path("open")).expect("the temporary folder can be written");
                let root = bailiwick::platform::fs::Root::open(&path("open")).expect("it opens");
                let moved = std::fs::rename(path("open"), path("moved")).is_ok()
                    && std::fs::remove_dir(path("moved")).is_ok()
                    && !path("moved").exists();
                drop(root);
                moved
            }
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// Returns how many random cases a property is tried with: fewer where folders are made slowly, as under wine.
pub const fn tries(all: u32) -> u32 {
    if cfg!(target_os = "linux") { all } else { all / 8 }
}

/// Returns whether this system lacks what a test needs, and says so where the runner's lines are: the test then ends.
pub fn lacks(need: Need) -> bool {
    if need.is_there() {
        return false;
    }
    let thread = std::thread::current();
    tell(&format!("left out: {} needs {need}", thread.name().unwrap_or("a test")));
    true
}

/// Fails if others can get at one of Bailiwick's own files or folders: by its mode, or where there are no bits by its
/// list of rights.
pub fn assert_private(path: &Path, mode: u32) {
    let facts = std::fs::metadata(path).expect("it is there");
    if HAS_BITS {
        assert_eq!(facts.permissions().mode() & 0o777, mode, "{}", path.display());
    } else if facts.is_file() {
        read_own_file(path, Secrecy::Secret, 64 << 20)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

/// Writes a line that the runner does not capture.
pub fn tell(line: &str) {
    // One write, so that lines of other threads do not come between.
    let _ = io::stdout().write_all(format!("\n{line}\n").as_bytes());
}

/// Returns whether this system can hold a program at all: where it cannot, the user has to say that it runs so.
pub fn has_sandbox() -> bool {
    levels().missing(Containment::Partial).is_none()
}

/// Returns Git as a person starts it: the one in a folder where the product looks too, else whichever is found.
pub fn git_of_the_person() -> Command {
    let starters = usual_folders().into_iter().filter(|_| cfg!(windows)).map(|folder| folder.join("git.exe"));
    let mut places = starters.flat_map(|starter| {
        let behind = folders_behind(&starter).into_iter().map(|folder| folder.join("git.exe"));
        behind.chain([starter]).collect::<Vec<_>>()
    });
    Command::new(places.find(|path| path.is_file()).unwrap_or_else(|| "git".into()))
}

/// Creates a named pipe, by the program for it: not every system's call is known to the crates that are here.
///
/// # Errors
/// What the program says; [`io::ErrorKind::NotFound`] where there is none.
pub fn make_pipe(path: &Path) -> io::Result<()> {
    let made = Command::new("mkfifo").args(["-m", "644"]).arg(path).output()?;
    let said = String::from_utf8_lossy(&made.stderr);
    if made.status.success() { Ok(()) } else { Err(io::Error::other(said.trim().to_owned())) }
}

/// Returns whether a program is installed.
fn runs(program: &str, words: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Returns whether the product starts a program, without any sandbox.
fn starts(folder: &TemporaryFolder, argv: &[&str]) -> bool {
    let config: Config = serde_json::from_value(json!({
        "machineId": "01JD0000000000000000000000",
        "machineName": "test",
        "scopes": [{
            "id": "app",
            "roots": [folder.path()],
            "capabilities": ["command:run"],
            "policy": {"sandbox": "none", "allowedCommands": ["*"]},
        }],
    }))
    .expect("a valid config");
    let home = TemporaryFolder::new();
    let settings = ServiceSettings { config, dirs: Dirs::below(home.path().join("home")) };
    let launcher = Launcher::with_program(program());
    let displays = Sources { sockets: home.path().join("no-display"), ..Sources::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let service = Service::boot_on(settings, launcher, displays).expect("the service starts");
        let envelope = Envelope::from_value(json!({"op": "command.run", "input": {"command": argv}}));
        let (caller, gone) = (Caller::local(Transport::Stdio), CancellationToken::new());
        let outcome = service.handle(&caller, envelope, &gone).await.into_reply().into_value();
        outcome["data"]["exitCode"] == 0
    })
}
