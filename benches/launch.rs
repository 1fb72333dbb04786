//! Figures of the launcher: `cargo bench --bench measure launch`. Goals, p50, from the request to the end of `["true"]`:
//! none 1.2 ms, partial 2.7 ms, full 5.0 ms. Of processes that last: a start within 1.5 times that, from a line
//! printed to the event 1 ms, 2 MiB of memory for each of 50 keepers.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use bailiwick::contract::command::{Containment, Network};
use bailiwick::contract::id;
use bailiwick::platform::fs::FileId;
use bailiwick::platform::handle::Handle;
use bailiwick::platform::launch::kept::{Control, Event, Input, KeeperRequest, Lifetime, ProcessFiles};
use bailiwick::platform::launch::{
    FolderChanges, InnerSandboxes, LaunchCommand, LaunchRequest, Launcher, PathGrant, ProcessLimits,
    ProtectedPath, ProxyPort, SandboxRequest, SetGroupId, StandIn, Step,
};

use crate::fixture::Folder;

const ROUNDS: usize = 400;

fn request(folder: &Path, level: Containment, network: Network) -> LaunchRequest {
    request_of(folder, level, network, "true")
}

fn request_of(folder: &Path, level: Containment, network: Network, name: &str) -> LaunchRequest {
    let program = Path::new("/bin").join(name);
    let grant = |name: &str| PathGrant::of(&folder.join(name)).expect("it exists");
    let null = || File::options().read(true).write(true).open("/dev/null").expect("opened").into();
    LaunchRequest {
        plan: vec![Step {
            joiner: None,
            commands: vec![LaunchCommand {
                identity: FileId::of(&program).expect("it exists"),
                program,
                argv: vec![name.into()],
                redirects: Vec::new(),
            }],
        }],
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        cwd: File::open(folder.join("root")).expect("opened").into(),
        cwd_path: folder.join("root"),
        port: (network == Network::Hosts).then(proxy),
        hold: SandboxRequest {
            level,
            network,
            network_group: None,
            read_only: Vec::new(),
            read_write: vec![grant("root")],
            protected: ["hooks", "config"]
                .map(|name| ProtectedPath {
                    path: folder.join("root/.git").join(name),
                    stand_in: StandIn::Folder,
                })
                .into(),
            lacks_protected: false,
            closed: Vec::new(),
            lacks_closed: false,
            home: grant("home"),
            inner: InnerSandboxes::Refused,
            set_group_id: SetGroupId::Refused,
            changes: FolderChanges::Lasting,
        },
        limits: ProcessLimits {
            memory_bytes: None,
            job_memory_bytes: None,
            processes: Some(512),
            file_bytes: Some(4 << 30),
            open_files: 1024,
        },
        stdin: None,
        stdout: null(),
        stderr: null(),
    }
}

/// Takes what listens in the network of a plan, as a proxy does, until the plan is gone.
fn proxy() -> Handle {
    let (port, end) = ProxyPort::pair().expect("made");
    tokio::spawn(async move {
        let listener = port.listener().await;
        port.closed().await;
        drop(listener);
    });
    end
}

fn lasting(folder: &Path, level: Containment, network: Network, name: &str) -> KeeperRequest {
    let LaunchRequest { plan, environment, cwd, cwd_path, port: proxy, hold, limits, .. } =
        request_of(folder, level, network, name);
    KeeperRequest {
        plan,
        environment,
        cwd,
        cwd_path,
        hold,
        proxy,
        limits,
        folder: folder.join(id::new_id()),
        input: Input::Pipe,
        terminal: None,
        ring_bytes: 8 << 20,
        lifetime: Lifetime::Service,
        max_time: Duration::from_secs(600),
        temporary: None,
    }
}

/// Measures a process that lasts: to its start, and to its end.
async fn last(launcher: &Launcher, made: KeeperRequest) -> (Duration, Duration) {
    let path = made.folder.clone();
    let began = Instant::now();
    launcher.start_kept(made).await.expect("started");
    let started = began.elapsed();
    let mut watcher = Control::connect(&path).await;
    if let Ok(watcher) = &mut watcher
        && watcher.watch().await.is_ok()
    {
        while !matches!(watcher.next_event().await, Ok(Event::Ended) | Err(_)) {}
    }
    let ended = began.elapsed();
    assert_eq!(
        ProcessFiles::open(&path).and_then(|kept| kept.status()).expect("a status").exit_code,
        Some(0)
    );
    std::fs::remove_dir_all(path).expect("removed");
    (started, ended)
}

/// Measures the way of a line, and memory.
async fn keep(launcher: &Launcher, folder: &Path, level: Containment, network: Network) {
    let (mut paths, mut lines) = (Vec::new(), Vec::new());
    for _ in 0..50 {
        let made = lasting(folder, level, network, "cat");
        paths.push(made.folder.clone());
        launcher.start_kept(made).await.expect("started");
    }
    let mut control = Control::connect(&paths[0]).await.expect("connected");
    let mut watcher = Control::connect(&paths[0]).await.expect("connected");
    watcher.watch().await.expect("watching");
    watcher.next_event().await.expect("told");
    for _ in 0..ROUNDS {
        tokio::time::sleep(Duration::from_millis(2)).await;
        let began = Instant::now();
        control.input(b"line\n").await.expect("taken");
        watcher.next_event().await.expect("told");
        lines.push(began.elapsed());
    }
    show(&format!("a line in and out, {level}"), lines);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let most = |name: &str| {
        let figures = paths.iter().map(|path| {
            let keeper =
                ProcessFiles::open(path).and_then(|kept| kept.status()).expect("a status").process_id;
            let text = std::fs::read_to_string(format!("/proc/{keeper}/smaps_rollup")).unwrap_or_default();
            let line = text.lines().find(|line| line.starts_with(name)).map(str::to_owned);
            line.and_then(|line| line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()).unwrap_or(0)
        });
        figures.max().unwrap_or(0)
    };
    println!("memory of a keeper, {level:<8} Rss {} KiB, Pss {} KiB", most("Rss:"), most("Pss:"));
    for path in paths {
        let mut control = Control::connect(&path).await.expect("connected");
        control.stop(15, Duration::ZERO).await.expect("stopped");
    }
}

fn show(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100];
    println!("{name:<28} p50 {:>9.1?}   p90 {:>9.1?}   p99 {:>9.1?}", at(50), at(90), at(99));
}

/// Measures it.
pub fn run(_: &[String]) -> ExitCode {
    let folder = Folder::make();
    for path in ["root/.git/hooks", "home"] {
        std::fs::create_dir_all(folder.join(path)).expect("made");
    }
    std::fs::write(folder.join("root/.git/config"), "").expect("written");
    let program = std::env::var_os("BAILIWICK_LAUNCHER")
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_bailiwick")), PathBuf::from);
    let launcher = Launcher::with_program(program);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let began = Instant::now();
    let levels = bailiwick::platform::launch::levels();
    println!("finding out the levels       {:>9.1?}   {:?}", began.elapsed(), levels.strongest);
    runtime.block_on(async {
        let run = async |level, network| {
            let request = request(&folder, level, network);
            let began = Instant::now();
            let mut job = launcher.launch(request).await.expect("started");
            let ended = job.ended().await.expect("ended");
            assert_eq!(ended.exit_code, Some(0));
            began.elapsed()
        };
        println!("first command, none          {:>9.1?}", run(Containment::None, Network::Full).await);
        // The levels take turns, so that a busy moment meets all of them.
        let holds = [
            (Containment::None, Network::Full),
            (Containment::Partial, Network::None),
            (Containment::Full, Network::None),
            (Containment::Full, Network::Loopback),
            (Containment::Full, Network::Hosts),
            (Containment::Full, Network::Full),
        ];
        let mut times = vec![Vec::new(); holds.len()];
        let (mut starts, mut ends) = (times.clone(), times.clone());
        let mut plain = Vec::new();
        for _ in 0..ROUNDS {
            for (at, (level, network)) in holds.into_iter().enumerate() {
                times[at].push(run(level, network).await);
                let (started, ended) = last(&launcher, lasting(&folder, level, network, "true")).await;
                starts[at].push(started);
                ends[at].push(ended);
            }
            let began = Instant::now();
            assert!(Command::new("/bin/true").status().expect("started").success());
            plain.push(began.elapsed());
        }
        show("plain spawn, for comparison", plain);
        for (at, (level, network)) in holds.into_iter().enumerate() {
            show(&format!("{level}, network {network}"), std::mem::take(&mut times[at]));
            show("  that lasts, to its start", std::mem::take(&mut starts[at]));
            show("  that lasts, to its end", std::mem::take(&mut ends[at]));
        }
        let has_own_loopback = |network: Network| network.has_own_loopback();
        for (level, network) in holds.into_iter().filter(|(_, network)| !has_own_loopback(*network)) {
            keep(&launcher, &folder, level, network).await;
        }
    });
    ExitCode::SUCCESS
}
