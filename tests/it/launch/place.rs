//! A temporary root with a launcher, and a short way to run plans in it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use bailiwick::contract::command::{Containment, Joiner, Network, Redirect};
use bailiwick::platform::fs::FileId;
use bailiwick::platform::launch::{
    FolderChanges, HiddenPath, InnerSandboxes, Job, LaunchCommand, LaunchError, LaunchRequest, Launcher,
    PathGrant, PlanEnd, ProcessLimits, ProtectedPath, SandboxRequest, SetGroupId, StandIn, Step,
};

use crate::temporary::TemporaryFolder;

static RUNTIME: LazyLock<tokio::runtime::Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
});

/// Runs a future on the tests' runtime.
pub fn wait_for<F: Future>(future: F) -> F::Output {
    RUNTIME.block_on(future)
}

/// Returns the level that has this name.
pub fn level_named(name: &str) -> Containment {
    let all = [Containment::None, Containment::Partial, Containment::Full];
    all.into_iter().find(|level| level.as_str() == name).expect("a level")
}

/// A root, a private home, and a launcher.
pub struct LaunchFixture {
    folder: TemporaryFolder,
    pub launcher: Launcher,
    pub limits: ProcessLimits,
    pub environment: Vec<(OsString, OsString)>,
    pub read_only: Vec<PathBuf>,
    pub protected: Vec<PathBuf>,
    pub closed: Vec<PathBuf>,
    pub network: Network,
    pub inner: InnerSandboxes,
}

/// How a plan ended, and what it wrote.
#[derive(Debug)]
pub struct JobOutput {
    pub ended: PlanEnd,
    pub out: String,
    pub err: String,
}

impl JobOutput {
    /// Returns what was written to standard output, after a success.
    pub fn out(&self) -> &str {
        assert_eq!(self.ended.exit_code, Some(0), "{self:?}");
        &self.out
    }
}

/// A running plan with the ends of its pipes.
pub struct RunningJob {
    pub job: Job,
    out: File,
    err: File,
}

impl RunningJob {
    /// Waits for the end, reading what is written.
    pub async fn end(self) -> Result<JobOutput, LaunchError> {
        let Self { mut job, out, err } = self;
        let read = |file: File| {
            tokio::task::spawn_blocking(move || {
                let bytes: Result<Vec<u8>, _> = BufReader::new(file).bytes().collect();
                String::from_utf8_lossy(&bytes.expect("a pipe can be read")).into_owned()
            })
        };
        let (out, err) = (read(out), read(err));
        let ended = job.ended().await?;
        Ok(JobOutput { ended, out: out.await.expect("read"), err: err.await.expect("read") })
    }
}

fn pipe() -> (File, OwnedFd) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    (File::from(OwnedFd::from(reader)), OwnedFd::from(writer))
}

/// Returns the path of a system program.
pub fn program(name: &str) -> PathBuf {
    ["/usr/bin", "/bin", "/usr/sbin", "/sbin"]
        .iter()
        .map(|folder| Path::new(folder).join(name))
        .find(|path| path.exists())
        .unwrap_or_else(|| panic!("{name} is not on this system"))
}

/// Grants a folder as it is now.
pub fn grant(path: &Path) -> PathGrant {
    PathGrant::of(path).expect("the folder exists")
}

/// Creates a command of a system program, or of one with an absolute path.
pub fn command(argv: &[&str]) -> LaunchCommand {
    let path = if argv[0].starts_with('/') { PathBuf::from(argv[0]) } else { program(argv[0]) };
    LaunchCommand {
        identity: FileId::of(&path).expect("the program exists"),
        program: path,
        argv: argv.iter().map(Into::into).collect(),
        redirects: Vec::new(),
    }
}

/// Creates a pipeline.
pub fn step(joiner: Option<Joiner>, commands: &[&[&str]]) -> Step {
    Step { joiner, commands: commands.iter().map(|argv| command(argv)).collect() }
}

/// Creates a plan of one command.
pub fn single(argv: &[&str]) -> Vec<Step> {
    vec![step(None, &[argv])]
}

/// Creates a plan of one script for the shell.
pub fn shell(script: &str) -> Vec<Step> {
    single(&["sh", "-c", script])
}

/// Creates a plan of one command with redirections.
pub fn redirected(argv: &[&str], redirects: &[Redirect]) -> Vec<Step> {
    let mut plan = single(argv);
    plan[0].commands[0].redirects = redirects.to_vec();
    plan
}

impl LaunchFixture {
    pub fn new() -> Self {
        let folder = TemporaryFolder::new();
        fs::create_dir(folder.path().join("root")).expect("made");
        fs::create_dir(folder.path().join("home")).expect("made");
        Self {
            folder,
            launcher: Launcher::with_program(bailiwick_program()),
            limits: ProcessLimits {
                memory_bytes: None,
                job_memory_bytes: Some(16 << 30),
                processes: None,
                file_bytes: None,
                open_files: 1024,
            },
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            read_only: Vec::new(),
            protected: Vec::new(),
            closed: Vec::new(),
            network: Network::Loopback,
            inner: InnerSandboxes::Refused,
        }
    }

    /// Returns the folder around root and home.
    pub fn outside(&self) -> &Path {
        self.folder.path()
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    pub fn request(&self, level: Containment, plan: Vec<Step>) -> (LaunchRequest, File, File) {
        let (out, stdout) = pipe();
        let (err, stderr) = pipe();
        let hold = SandboxRequest {
            level,
            network: self.network,
            network_group: None,
            read_only: self.read_only.iter().filter_map(|path| PathGrant::of(path)).collect(),
            read_write: vec![grant(&self.root())],
            protected: self
                .protected
                .iter()
                .map(|path| ProtectedPath { path: path.clone(), stand_in: StandIn::Folder })
                .collect(),
            lacks_protected: false,
            closed: self
                .closed
                .iter()
                .map(|path| HiddenPath { path: path.clone(), reads_blank: false })
                .collect(),
            lacks_closed: false,
            home: grant(&self.folder.path().join("home")),
            inner: self.inner,
            set_group_id: SetGroupId::Refused,
            changes: FolderChanges::Lasting,
        };
        let request = LaunchRequest {
            plan,
            environment: self.environment.clone(),
            cwd: File::open(self.root()).expect("opened").into(),
            cwd_path: self.root(),
            hold,
            port: None,
            limits: self.limits,
            stdin: None,
            stdout,
            stderr,
        };
        (request, out, err)
    }

    pub async fn start(&self, level: Containment, plan: Vec<Step>) -> Result<RunningJob, LaunchError> {
        let (request, out, err) = self.request(level, plan);
        Ok(RunningJob { job: self.launcher.launch(request).await?, out, err })
    }

    pub async fn try_run(&self, level: Containment, plan: Vec<Step>) -> Result<JobOutput, LaunchError> {
        self.start(level, plan).await?.end().await
    }

    /// Runs a plan to its end.
    pub fn run(&self, level: Containment, plan: Vec<Step>) -> JobOutput {
        wait_for(self.try_run(level, plan)).unwrap_or_else(|error| panic!("{level}: {error}"))
    }
}

/// The environment variable that names a folder with copies of the programs and tables, for another user.
pub const COPIES: &str = "BAILIWICK_TEST_COPIES";

/// Returns a file of the tests: itself, or its copy.
pub fn file_or_copy(file: &Path) -> PathBuf {
    match std::env::var_os(COPIES) {
        Some(folder) => Path::new(&folder).join(file.file_name().expect("it has a name")),
        None => file.to_owned(),
    }
}

/// Returns the path of `bailiwick`.
pub fn bailiwick_program() -> PathBuf {
    file_or_copy(Path::new(env!("CARGO_BIN_EXE_bailiwick")))
}

#[cfg(not(feature = "portable-launch"))]
/// Returns the path of the program in `examples/probe.rs`, built where it is missing or old.
pub fn probe_program() -> PathBuf {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
        if std::env::var_os(COPIES).is_some() {
            return file_or_copy(Path::new("probe"));
        }
        let bailiwick = Path::new(env!("CARGO_BIN_EXE_bailiwick"));
        let built = bailiwick.parent().expect("it is in a folder").join("examples/probe");
        let source = crate::source::repository().join("examples/probe.rs");
        let changed = |path: &Path| fs::metadata(path).and_then(|facts| facts.modified());
        let is_fresh = match (changed(&built), changed(&source)) {
            (Ok(built), Ok(source)) => built >= source,
            _ => false,
        };
        // `cargo test --test it` alone does not build examples; `cargo test` does.
        if !is_fresh {
            let status = std::process::Command::new(env!("CARGO"))
                .args(["build", "--quiet", "--offline", "--example", "probe"])
                .current_dir(crate::source::repository())
                .status()
                .expect("cargo starts");
            assert!(status.success(), "examples/probe.rs does not build");
        }
        built
    });
    BUILT.clone()
}
