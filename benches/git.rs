//! Figures of git.*: `cargo bench --bench measure git`. Goal: git.status takes at most 1.0 times what `git status` takes,
//! on a repository of 20,000 files that was read before, both in turns in the same run. A snapshot of those files, with
//! their contents, takes at most 300 ms.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bailiwick::config::Config;
use bailiwick::contract::{Cancel, RawPath};
use bailiwick::platform::dirs::Dirs;
use bailiwick::policy::{OwnFolders, Scopes};
use bailiwick::providers::snapshot::{Snapshot, SnapshotLimits};
use serde_json::{Value, json};

use crate::fixture::{Folder, ask, commit, config, git, median, milliseconds, service};

const FILES: usize = 20_000;
const ROUNDS: usize = 40;

/// Measures it.
pub fn run(_: &[String]) -> ExitCode {
    let folder = Folder::make();
    let repository = folder.join("repository");
    make(&repository);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(measure(&folder, &repository));
    ExitCode::SUCCESS
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
    commit(repository);
    fs::write(repository.join("src/m000/p0/f0.rs"), "changed\n").expect("a file is written");
    fs::write(repository.join("new.rs"), "new\n").expect("a file is written");
    // Younger than the index, files would have to be read each time.
    std::thread::sleep(Duration::from_millis(1_100));
    git(repository, &["status"]);
}

async fn measure(folder: &Path, repository: &Path) {
    let scopes = json!([{"id": "app", "roots": [repository], "capabilities": ["git:read"]}]);
    snapshots(&config(scopes.clone()), &Dirs::below(folder.join("home")), repository);
    let service = service(folder.join("home"), scopes);
    let ask = async |envelope: Value| ask(&service, envelope).await.0;
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
        println!("snapshot of {FILES} files, {name}: {:.1} ms", milliseconds(median(times)));
    }
    git(repository, &["checkout", "-q", "--", "."]);
    fs::write(repository.join("src/m000/p0/f0.rs"), "changed\n").expect("a file is written");
    std::thread::sleep(Duration::from_millis(1_100));
    git(repository, &["status"]);
}

fn print(name: &str, ours: &mut [Duration], theirs: &mut [Duration]) {
    let (ours, theirs) = (milliseconds(median(ours)), milliseconds(median(theirs)));
    println!("git.{name:<8} {ours:7.1} ms   git {name:<8} {theirs:7.1} ms   {:.2} times", ours / theirs);
}
