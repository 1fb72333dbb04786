//! Services, launchers and keepers that are killed, in every order, and what another service finds afterwards.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use bailiwick::contract::command::Containment;
use bailiwick::platform::launch::LaunchError;
use bailiwick::platform::launch::kept::{Control, ControlError, KeeperRequest, Lifetime, State};

use super::lasting::{DurableProcess, children, kill, lives, request, start};
use super::place::{LaunchFixture, level_named, shell, wait_for};
use crate::needs::available;
use crate::patience::{PATIENCE, eventually};
use crate::system::tell;

/// How many processes last, and how many of these have keepers that are killed.
const PROCESSES: usize = 10;
const KILLED: usize = 5;

/// The environment variable by which a test in another process becomes the service that is killed.
const SERVICE: &str = "BAILIWICK_TEST_KEEPS_LEVEL";

/// Creates the mark of a process: how long it sleeps.
fn mark(service: u32, number: usize) -> String {
    // Of one length, so that no mark is the beginning of another.
    format!("1000.{service:07}{number:02}")
}

/// Counts the processes that carry a mark.
fn marked(mark: &str) -> usize {
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    let lines = processes.map(|entry| fs::read(entry.path().join("cmdline")).unwrap_or_default());
    lines.filter(|line| String::from_utf8_lossy(line).contains(mark)).count()
}

/// Keeps processes until its parent kills it, or ends.
fn keep(level: &str) {
    let level = level_named(level);
    let place = LaunchFixture::new();
    let folders: Vec<_> = (0..PROCESSES + 1)
        .map(|number| {
            // A program that goes its own way beside the one that ends.
            let mark = mark(std::process::id(), number);
            let script = format!(
                "echo begin; setsid sleep {mark} & while [ ! -e go ]; do sleep 0.2; done; echo end; exit {number}"
            );
            let lifetime = if number < PROCESSES { Lifetime::Durable } else { Lifetime::Service };
            let process = start(&place, KeeperRequest { lifetime, ..request(&place, level, shell(&script)) });
            process.shows("begin");
            eventually("it goes its own way", || marked(&mark) >= 2);
            process.folder
        })
        .collect();
    for folder in folders {
        tell(&format!("folder {}", folder.display()));
    }
    tell(&format!("launcher {}", wait_for(place.launcher.process_id()).expect("it runs")));
    tell(&format!("root {}", place.outside().display()));
    std::io::stdin().read_to_end(&mut Vec::new()).expect("its parent has ended");
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Victim {
    Service,
    Launcher,
    Keepers,
}

/// A service that runs, as another sees it.
struct Service {
    process: std::process::Child,
    folders: Vec<PathBuf>,
    launcher: u32,
    root: PathBuf,
}

impl Service {
    /// Starts this test in another process, where it keeps processes.
    fn start(test: &str, level: Containment) -> Self {
        let mut process = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", test, "--nocapture"])
            .env(SERVICE, level.as_str())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let lines = BufReader::new(process.stdout.take().expect("piped")).lines();
        let (mut folders, mut launcher) = (Vec::new(), None);
        for line in lines.map_while(Result::ok) {
            match line.split_once(' ') {
                Some(("folder", folder)) => folders.push(PathBuf::from(folder)),
                Some(("launcher", number)) => launcher = number.parse().ok(),
                Some(("root", root)) => {
                    let launcher = launcher.expect("a launcher");
                    return Self { process, folders, launcher, root: PathBuf::from(root) };
                }
                _ => {}
            }
        }
        panic!("the service said nothing");
    }

    fn marks(&self, numbers: std::ops::Range<usize>) -> usize {
        numbers.map(|number| marked(&mark(self.process.id(), number))).sum()
    }
}

/// Kills service, launcher and keepers, at each level in the order beside it. `test` is the name of the test.
pub(super) fn kill_in_orders(test: &str, cases: impl IntoIterator<Item = (Containment, [Victim; 3])>) {
    if let Ok(level) = std::env::var(SERVICE) {
        return keep(&level);
    }
    for (level, order) in cases {
        kill_in_order(test, level, order);
    }
}

/// Kills service, launcher and keepers in an order, and checks what another service finds.
fn kill_in_order(test: &str, level: Containment, order: [Victim; 3]) {
    use Victim::{Keepers, Launcher, Service as TheService};
    let what = format!("{level} {order:?}");
    let mut service = Service::start(test, level);
    let processes: Vec<_> = service.folders.iter().map(|folder| DurableProcess::found(folder)).collect();
    let keepers: Vec<_> = processes.iter().map(|process| process.status().process_id).collect();
    for victim in order {
        match victim {
            TheService => {
                service.process.kill().expect("killed");
                service.process.wait().expect("waited for");
                eventually("what was bound to it has ended", || {
                    processes[PROCESSES].status().state == State::Ended
                });
                assert_eq!(processes[PROCESSES].status().signal, Some(9), "{what}");
            }
            Launcher => {
                kill(service.launcher);
                eventually("the launcher is gone", || !lives(service.launcher));
            }
            Keepers => {
                keepers[..KILLED].iter().for_each(|keeper| kill(*keeper));
                if level == Containment::Full || lives(service.launcher) {
                    eventually("what they held is killed", || service.marks(0..KILLED) == 0);
                }
            }
        }
    }
    // Another service finds them.
    let found: Vec<_> = service.folders.iter().map(|folder| DurableProcess::found(folder)).collect();
    for process in &found[KILLED..PROCESSES] {
        assert_eq!(process.status().state, State::Running, "{what}");
        wait_for(async { process.control().await.watch().await.expect("watching") });
    }
    fs::write(service.root.join("root/go"), "").expect("written");
    for (number, process) in found.iter().enumerate().take(PROCESSES) {
        let killed = number < KILLED;
        let status = process.ended();
        let expected = if killed { (State::Lost, None) } else { (State::Ended, i32::try_from(number).ok()) };
        assert_eq!((status.state, status.exit_code), expected, "{what} {number}");
        assert_eq!(process.out(), if killed { "begin\n" } else { "begin\nend\n" }, "{what} {number}");
        if killed {
            let gone = wait_for(Control::connect(&process.folder)).map(drop);
            assert_eq!(gone, Err(ControlError::Gone), "{what} {number}");
        }
    }
    eventually("nothing is left of them", || service.marks(KILLED..PROCESSES + 1) == 0);
    eventually("the launcher is gone", || !lives(service.launcher));
    for keeper in keepers {
        eventually("no keeper is left", || !lives(keeper));
    }
    // Without anybody above it, a program that went its own way cannot be found: only at the full level
    // the system itself ends it.
    for number in 0..KILLED {
        for process in numbers_with(&mark(service.process.id(), number)) {
            assert_ne!(level, Containment::Full, "{what}");
            kill(process);
        }
    }
    fs::remove_dir_all(&service.root).expect("removed");
}

/// Every order at every level: `launch::stress`.
#[test]
fn whatever_is_killed_the_rest_is_found_whole_and_nothing_is_left() {
    use Victim::{Keepers, Launcher, Service as TheService};
    const TEST: &str = "launch::deaths::whatever_is_killed_the_rest_is_found_whole_and_nothing_is_left";
    let orders =
        [[TheService, Launcher, Keepers], [Launcher, Keepers, TheService], [Keepers, TheService, Launcher]];
    kill_in_orders(TEST, available().into_iter().cycle().zip(orders));
}

fn numbers_with(mark: &str) -> Vec<u32> {
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter(|number| {
            let line = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(mark)
        })
        .collect()
}

#[test]
fn a_launcher_without_a_service_ends_with_its_last_keeper() {
    let mut place = LaunchFixture::new();
    for level in available() {
        let process = start(&place, request(&place, level, shell("echo on; read a; exit 2")));
        process.shows("on");
        let launcher = wait_for(place.launcher.process_id()).expect("it runs");
        // As when the service ends in good order.
        place.launcher =
            bailiwick::platform::launch::Launcher::with_program(super::place::bailiwick_program());
        std::thread::sleep(Duration::from_millis(200));
        assert!(lives(launcher), "{level}");
        assert_eq!(process.status().state, State::Running, "{level}");
        wait_for(async { process.control().await.input(b"\n").await.expect("taken") });
        assert_eq!(process.ended().exit_code, Some(2), "{level}");
        eventually("the launcher is gone", || !lives(launcher));
    }
}

#[test]
fn a_start_that_is_given_up_leaves_nothing_running() {
    let place = LaunchFixture::new();
    for level in available() {
        for wait in [0, 1, 2, 3, 4, 6, 8, 12] {
            let made = request(&place, level, shell("sleep 1000"));
            let folder = made.folder.clone();
            let started = wait_for(async {
                tokio::time::timeout(Duration::from_millis(wait), place.launcher.start_kept(made)).await
            });
            let Ok(process) = std::panic::catch_unwind(|| DurableProcess::found(&folder)) else { continue };
            if started.is_ok() {
                wait_for(async { process.control().await.stop(9, Duration::ZERO).await.expect("stopped") });
            }
            eventually("it is over", || process.status().state.is_final());
        }
        if let Some(launcher) = wait_for(place.launcher.process_id()) {
            eventually("no keeper is left", || children(launcher).is_empty());
        }
    }
}

#[test]
fn the_end_of_the_users_session_is_an_orderly_end() {
    let place = LaunchFixture::new();
    for level in available() {
        let process = start(
            &place,
            request(
                &place,
                level,
                shell("trap 'echo bye; exit 4' TERM; echo on; while :; do sleep 0.01; done"),
            ),
        );
        process.shows("on");
        let keeper = process.status().process_id.to_string();
        for signal in ["-HUP", "-INT", "-PIPE", "-TERM"] {
            assert!(Command::new("kill").args([signal, &keeper]).status().expect("kill").success());
        }
        assert_eq!(process.ended().exit_code, Some(4), "{level}");
        assert_eq!(process.out(), "on\nbye\n", "{level}");
    }
}

#[test]
fn a_launcher_that_hears_nothing_any_more_is_given_up() {
    let place = LaunchFixture::new();
    place.run(Containment::None, shell("true")).out();
    let deaf = wait_for(place.launcher.process_id()).expect("it runs");
    let signal = |name: &str| {
        let sent = Command::new("kill").args([name, &deaf.to_string()]).status();
        assert!(sent.expect("kill starts").success());
    };
    signal("-STOP");
    let began = std::time::Instant::now();
    let refused = wait_for(place.try_run(Containment::None, shell("true")));
    let took = began.elapsed();
    // The next one gets a launcher that hears.
    let next = wait_for(place.try_run(Containment::None, shell("echo heard")));
    signal("-CONT");
    assert!(matches!(&refused, Err(LaunchError::Launcher(why)) if why.contains("10 seconds")), "{refused:?}");
    assert!(took >= Duration::from_secs(9) && took < *PATIENCE, "{took:?}");
    assert_eq!(next.expect("it runs").out(), "heard\n");
    assert_ne!(wait_for(place.launcher.process_id()), Some(deaf));
    eventually("the old one ends", || !lives(deaf));
}
