//! What several benches use: a folder, a service, a repository, and figures.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bailiwick::config::Config;
use bailiwick::contract::{Caller, Containment, Envelope, Transport, id};
use bailiwick::platform::dirs::Dirs;
use bailiwick::platform::launch::{self, Launcher};
use bailiwick::service::{Service, ServiceSettings};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

/// A folder below the temporary one, which is removed at the end with all that is in it.
pub struct Folder(PathBuf);

impl Folder {
    /// Makes an empty one.
    pub fn make() -> Self {
        let path = std::env::temp_dir().join(format!("bailiwick-bench-{}", id::new_id()));
        fs::create_dir(&path).expect("a folder is made");
        Self(path)
    }
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("{} stays: {error}", self.0.display());
        }
    }
}

/// Returns a config with these scopes.
pub fn config(scopes: Value) -> Config {
    let mut config = Config::new(id::new_id(), "bench".to_owned());
    config.scopes = serde_json::from_value(scopes).expect("valid scopes");
    config
}

/// Starts a service with these scopes in this process, audited, which keeps its files in a folder.
pub fn service(home: PathBuf, scopes: Value) -> Arc<Service> {
    let settings = ServiceSettings { config: config(scopes), dirs: Dirs::below(home) };
    let launcher = Launcher::with_program(env!("CARGO_BIN_EXE_bailiwick").into());
    Service::boot_with(settings, launcher).expect("the service starts")
}

/// Sends an envelope as a client over stdio does; gives the time until its answer, and the answer.
pub async fn ask(service: &Arc<Service>, envelope: Value) -> (Duration, Value) {
    let (caller, gone) = (Caller::local(Transport::Stdio), CancellationToken::new());
    let began = Instant::now();
    let outcome = service.handle(&caller, Envelope::from_value(envelope), &gone).await;
    let took = began.elapsed();
    let answer = outcome.into_reply().into_value();
    assert_eq!(answer["ok"], true, "{answer:#}");
    (took, answer)
}

/// Returns a runtime with two threads.
pub fn two_threads() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

/// Returns the levels that this computer has, the weakest first.
pub fn levels() -> Vec<Containment> {
    let all = [Containment::None, Containment::Partial, Containment::Full];
    all.into_iter().filter(|level| launch::levels().missing(*level).is_none()).collect()
}

/// Runs Git in a repository.
pub fn git(repository: &Path, words: &[&str]) {
    let status = Command::new("git").args(words).current_dir(repository).stdout(Stdio::null()).status();
    assert!(status.expect("git starts").success(), "{words:?}");
}

/// Commits what was added.
pub fn commit(repository: &Path) {
    git(repository, &["-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "-m", "one"]);
}

/// Returns a number of the status of a process, in KiB.
pub fn kib(process: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// Sorts figures, and returns the one in the middle.
pub fn median<T: Copy + PartialOrd>(figures: &mut [T]) -> T {
    figures.sort_by(|one, other| one.partial_cmp(other).expect("they are numbers"));
    figures[figures.len() / 2]
}

/// Returns a time as a number.
pub fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
