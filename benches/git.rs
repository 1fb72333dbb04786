//! Figures of git.*: `cargo bench --bench git`. Goal: git.status takes at most 1.0 times what `git status` takes, on a
//! repository of 20,000 files that was read before, both in turns in the same run. A snapshot of those files, with their
//! contents, takes at most 300 ms.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a bench makes a folder of its own and prints what it measures"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bailiwick::config::Config;
use bailiwick::contract::{Caller, Cancel, Envelope, RawPath, Transport, id};
use bailiwick::platform::dirs::Dirs;
use bailiwick::platform::launch::Launcher;
use bailiwick::policy::{OwnFolders, Scopes};
use bailiwick::providers::snapshot::{Snapshot, SnapshotLimits};
use bailiwick::service::{Service, ServiceSettings};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

const FILES: usize = 20_000;
const ROUNDS: usize = 40;

fn main() {
    let folder = std::env::temp_dir().join(format!("bailiwick-bench-{}", id::new_id()));
    let repository = folder.join("repository");
    make(&repository);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(measure(&folder, &repository));
    fs::remove_dir_all(&folder).expect("the folder is removed");
}

fn make(repository: &Path) {
    for file in 0..FILES {
        let below = repository.join(format!("src/m{:03}/p{}", file % 200, file / 200 % 10));
        fs::create_dir_all(&below).expect("a folder is made");
        fs::write(below.join(format!("f{file}.rs")), format!("// file {file}\n")).expect("a file is written");
    }
    fs::write(repository.join(".gitignore"), "target\n*.log\n").expect("a file is written");
    git(repository, &["init", "-q"]);
    git(repository, &["add", "-A"]);
    git(repository, &["-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "-m", "one"]);
    fs::write(repository.join("src/m000/p0/f0.rs"), "changed\n").expect("a file is written");
    fs::write(repository.join("new.rs"), "new\n").expect("a file is written");
    // Younger than the index, files would have to be read each time.
    std::thread::sleep(Duration::from_millis(1_100));
    git(repository, &["status"]);
}

fn git(repository: &Path, words: &[&str]) {
    let status = Command::new("git").args(words).current_dir(repository).stdout(Stdio::null()).status();
    assert!(status.expect("git starts").success(), "{words:?}");
}

async fn measure(folder: &Path, repository: &Path) {
    let config: Config = serde_json::from_value(json!({
        "machineId": "01JD0000000000000000000000",
        "machineName": "bench",
        "scopes": [{ "id": "app", "roots": [repository], "capabilities": ["git:read"] }],
    }))
    .expect("a valid config");
    snapshots(&config, &Dirs::below(folder.join("home")), repository);
    let launcher = Launcher::with_program(env!("CARGO_BIN_EXE_bailiwick").into());
    let settings = ServiceSettings { config, dirs: Dirs::below(folder.join("home")) };
    let service = Service::boot_with(settings, launcher).expect("the service starts");
    let caller = Caller::local(Transport::Stdio);
    let ask = async |envelope: Value| -> Duration {
        let began = Instant::now();
        let envelope = Envelope::from_value(envelope);
        let outcome = service.handle(&caller, envelope, &CancellationToken::new()).await;
        let took = began.elapsed();
        let answer = outcome.into_reply().into_value();
        assert_eq!(answer["ok"], true, "{answer:#}");
        took
    };
    let own = |words: &[&str]| {
        let began = Instant::now();
        git(repository, words);
        began.elapsed()
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let (mut diff, mut their_diff, mut log, mut their_log) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(ask(json!({"op": "git.status", "scope": "app"})).await);
        theirs.push(own(&["status"]));
        diff.push(ask(json!({"op": "git.diff", "scope": "app"})).await);
        their_diff.push(own(&["--no-pager", "diff"]));
        log.push(ask(json!({"op": "git.log", "scope": "app"})).await);
        their_log.push(own(&["--no-pager", "log", "-20"]));
    }
    print("status", &mut ours, &mut theirs);
    print("diff", &mut diff, &mut their_diff);
    print("log", &mut log, &mut their_log);
}

fn snapshots(config: &Config, dirs: &Dirs, repository: &Path) {
    let scopes = Scopes::compile(config, &OwnFolders::of(dirs)).expect("valid scopes");
    let scope = scopes.find("app").expect("it is configured");
    let folder = scope.readable(&RawPath(".".to_owned())).expect("it is permitted");
    let cancel = Cancel::after(Duration::from_secs(600));
    let (mut take, mut same, mut changed) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let began = Instant::now();
        let before =
            Snapshot::take(&folder, &dirs.state, SnapshotLimits::default(), &cancel).expect("it is taken");
        take.push(began.elapsed());
        let began = Instant::now();
        before.compare(&cancel).expect("it is compared");
        same.push(began.elapsed());
        for file in 0..100 {
            let path = repository.join(format!("src/m{file:03}/p0/f{file}.rs"));
            fs::write(path, format!("// file {file}\nround {round}\n")).expect("a file is written");
        }
        let began = Instant::now();
        let changes = before.compare(&cancel).expect("it is compared");
        changed.push(began.elapsed());
        assert_eq!(changes.files.len(), 100);
    }
    for (name, times) in [("take", &mut take), ("same", &mut same), ("100 of them changed", &mut changed)] {
        println!("snapshot of {FILES} files, {name}: {:.1} ms", median(times));
    }
    git(repository, &["checkout", "-q", "--", "."]);
    fs::write(repository.join("src/m000/p0/f0.rs"), "changed\n").expect("a file is written");
    std::thread::sleep(Duration::from_millis(1_100));
    git(repository, &["status"]);
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1_000.0
}

fn print(name: &str, ours: &mut [Duration], theirs: &mut [Duration]) {
    let (ours, theirs) = (median(ours), median(theirs));
    println!("git.{name:<8} {ours:7.1} ms   git {name:<8} {theirs:7.1} ms   {:.2} times", ours / theirs);
}
