//! A user manager of systemd of a test's own, in namespaces of its own: it sees no cgroup but its own, and no other
//! process sees its folders.

use std::fs::{self, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bailiwick::contract::id::new_id;

use crate::installation::{CommandOutput, Installation};
use crate::patience::{PATIENCE, eventually};

/// Where systemd's program is.
const PROGRAMS: [&str; 2] = ["/usr/lib/systemd/systemd", "/lib/systemd/systemd"];
/// Begins in its cgroup, which then is all that it sees; `/run` says that the computer runs systemd, as its manager asks.
const BEGINS: &str = r#"
echo $$ >"$1/cgroup.procs" || exit 1
exec unshare --mount --cgroup sh -c '
  umount -l /sys/fs/cgroup
  mount -t cgroup2 cgroup2 /sys/fs/cgroup && mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system || exit 1
  exec "$0" --user' "$2"
"#;

/// A running manager. Ended with everything that it started when dropped.
pub struct Manager {
    child: Child,
    cgroup: PathBuf,
    environment: Vec<(&'static str, PathBuf)>,
}

impl Manager {
    /// Starts one for an installation.
    ///
    /// # Errors
    /// Why this computer has none, in words.
    pub fn start(place: &Installation) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("only root can make a cgroup for it".to_owned());
        }
        let program = PROGRAMS
            .into_iter()
            .find(|it| Path::new(it).exists())
            .expect("systemd is installed (on Debian: apt-get install systemd)");
        let cgroup = own_cgroup()?.join(format!("bailiwick-test-{}", new_id()));
        fs::create_dir(&cgroup).map_err(|error| format!("{}: {error}", cgroup.display()))?;
        let folder = place.folder.path();
        let runtime = folder.join("runtime");
        fs::DirBuilder::new().mode(0o700).create(&runtime).expect("made");
        let environment = vec![
            ("HOME", folder.to_owned()),
            ("PATH", std::env::var_os("PATH").expect("set").into()),
            ("XDG_RUNTIME_DIR", runtime),
            ("BAILIWICK_HOME", folder.join("home")),
        ];
        let said = File::create(folder.join("manager.log")).expect("made");
        let mut command = Command::new("sh");
        command.args(["-c", BEGINS, "sh"]).arg(&cgroup).arg(program).current_dir(folder).env_clear();
        command
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .env("SYSTEMD_LOG_TARGET", "console");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
        let mut made = Self { child: command.spawn().expect("sh runs"), cgroup, environment };
        let began = Instant::now();
        loop {
            if made.child.try_wait().expect("waited").is_some() {
                let said = fs::read_to_string(folder.join("manager.log")).unwrap_or_default();
                return Err(format!("it does not start: {}", said.trim()));
            }
            if matches!(made.asked(&["is-system-running"]).out.trim(), "running" | "degraded") {
                return Ok(made);
            }
            assert!(began.elapsed() < *PATIENCE, "the manager does not come up");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Runs a program where the manager is, as the user whose manager it is.
    pub fn run(&self, program: &str, words: &[&str]) -> CommandOutput {
        let mut command = Command::new("nsenter");
        command.args(["--mount", "--cgroup", "--target", &self.child.id().to_string(), "--"]);
        command.arg(program).args(words).env_clear();
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).output().expect("nsenter runs").into()
    }

    /// Asks the manager.
    pub fn asked(&self, words: &[&str]) -> CommandOutput {
        self.run("systemctl", &[&["--user"], words].concat())
    }

    /// Runs the program.
    pub fn bailiwick(&self, words: &[&str]) -> CommandOutput {
        self.run(env!("CARGO_BIN_EXE_bailiwick"), words)
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        // The cgroup is this test's own: whatever is left in it was started by it.
        let _ = fs::write(self.cgroup.join("cgroup.kill"), "1");
        let _ = self.child.kill();
        let _ = self.child.wait();
        if !std::thread::panicking() {
            eventually("the cgroup is removed", || remove(&self.cgroup).is_ok());
        }
    }
}

/// Removes a cgroup and those below it; their files are not removed one by one.
fn remove(cgroup: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(cgroup)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove(&entry.path())?;
        }
    }
    fs::remove_dir(cgroup)
}

/// The folder of this process's own cgroup, of the second kind.
fn own_cgroup() -> Result<PathBuf, String> {
    let mounts = fs::read_to_string("/proc/self/mounts").map_err(|error| error.to_string())?;
    let mut lines = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let mount = lines
        .find(|fields| fields.get(2) == Some(&"cgroup2"))
        .ok_or("there are no cgroups of the second kind")?;
    let own = fs::read_to_string("/proc/self/cgroup").map_err(|error| error.to_string())?;
    let own = own.lines().find_map(|line| line.strip_prefix("0::")).ok_or("this process is in no cgroup")?;
    Ok(Path::new(mount[1]).join(own.trim_start_matches('/')))
}
