//! The parse worker as a process: what holds it, and how it ends.

use std::fs;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use bailiwick::contract::Cancel;
use bailiwick::providers::code::{SourceProblem, language_of};
use bailiwick::providers::parser::ParserPool;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::{Host, sources_that_fail, still_parses};
use crate::patience::{PATIENCE, eventually};

/// How long a file has to be read, all tries together.
const FILE_TIME: Duration = Duration::from_secs(2);

/// Returns the most memory that a process ever had, in kilobytes.
pub(super) fn peak_kb(process: u32) -> u64 {
    field(process, "VmHWM").trim_end_matches(" kB").parse().expect("a number")
}

/// Returns for how long a process and its children have computed, those that have ended included.
pub(super) fn computed(process: u32) -> Duration {
    /// Of every Linux.
    const TICKS_A_SECOND: u64 = 100;
    /// The children that were found last: all processes are checked only when one of them is gone.
    static CHILDREN: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    let of_it = |child: u32| stat(child).filter(|child| child.parent == process);
    let mut children = CHILDREN.lock().expect("no panic");
    loop {
        let before = stat(process).expect("it runs");
        if children.is_empty() || !children.iter().all(|child| of_it(*child).is_some()) {
            let entries = fs::read_dir("/proc").expect("there are processes").flatten();
            let others = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
            *children = others.filter(|other| of_it(*other).is_some()).collect();
        }
        let theirs: u64 = children.iter().filter_map(|child| of_it(*child)).map(|child| child.own).sum();
        let now = stat(process).expect("it runs");
        // One that ended meanwhile would count twice, or not at all.
        if now.ended_children == before.ended_children {
            return Duration::from_millis((now.own + now.ended_children + theirs) * 1000 / TICKS_A_SECOND);
        }
    }
}

/// A process as the system describes it; its time is counted in ticks.
struct Stat {
    parent: u32,
    own: u64,
    ended_children: u64,
}

fn stat(process: u32) -> Option<Stat> {
    let line = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields: Vec<&str> = line.rsplit_once(") ")?.1.split(' ').collect();
    let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let parent = fields.get(1)?.parse().ok()?;
    Some(Stat { parent, own: ticks(11)? + ticks(12)?, ended_children: ticks(13)? + ticks(14)? })
}

fn field(process: u32, name: &str) -> String {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.unwrap_or_else(|| panic!("{name}: {status}")).trim().to_owned()
}

/// Returns the parse workers of a service.
pub(super) fn workers(service: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("there are processes").flatten();
    let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    processes
        .filter(|process: &u32| {
            let words = fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
            let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
            words.starts_with("bailiwick-parser\0")
                && status.lines().any(|line| *line == format!("PPid:\t{service}"))
        })
        .collect()
}

/// Returns whether a thread of a process computes.
fn is_busy(process: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let mut states = threads.filter_map(|thread| fs::read_to_string(thread.path().join("status")).ok());
    states.any(|status| status.contains("State:\tR"))
}

fn kill(process: u32) {
    let process = Pid::from_raw(i32::try_from(process).expect("a process id")).expect("not 0");
    kill_process(process, Signal::KILL).expect("it runs");
}

fn is_running(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/status")).is_ok_and(|status| !status.contains("State:\tZ"))
}

#[test]
fn a_parse_worker_has_no_files_no_network_and_little_memory() {
    let host = Host::new();
    assert!(workers(host.service.child.id()).is_empty(), "none before it is needed");
    host.is_well();
    let workers = workers(host.service.child.id());
    let [worker] = workers[..] else { panic!("{workers:?}") };
    assert_eq!((field(worker, "Seccomp").as_str(), field(worker, "NoNewPrivs").as_str()), ("2", "1"));
    for thread in fs::read_dir(format!("/proc/{worker}/task")).expect("it runs").flatten() {
        let status = fs::read_to_string(thread.path().join("status")).expect("it runs");
        assert!(status.contains("Seccomp:\t2"), "{status}");
    }
    let open = fs::read_dir(format!("/proc/{worker}/fd")).expect("it runs").count();
    assert_eq!(open, 3, "its three standard streams");
    let environment = fs::read(format!("/proc/{worker}/environ")).expect("it runs");
    assert_eq!(environment, b"", "no variable");
    let limits = fs::read_to_string(format!("/proc/{worker}/limits")).expect("it runs");
    let limit = |name: &str| {
        let line = limits.lines().find(|line| line.starts_with(name)).expect("a limit of this name");
        line[name.len()..].split_whitespace().next().expect("a value").parse::<u64>().expect("a number")
    };
    assert_eq!((limit("Max open files"), limit("Max file size"), limit("Max core file size")), (3, 0, 0));
    assert!(limit("Max data size") <= 320 << 20 && limit("Max address space") <= 1 << 30, "{limits}");
    assert!(limit("Max cpu time") <= 600, "{limits}");
}

#[test]
fn a_parse_worker_that_was_killed_is_replaced() {
    let host = Host::new();
    for _ in 0..3 {
        host.is_well();
        let running = workers(host.service.child.id());
        assert!(!running.is_empty());
        running.into_iter().for_each(kill);
    }
    host.is_well();
}

/// Another worker tries the text again, since the first may not have died of it.
#[test]
fn a_parse_worker_that_dies_late_leaves_its_successor_what_is_left_of_the_time() {
    let pool = ParserPool::new(&support::program());
    still_parses(&pool, "nothing");
    let workers = workers(std::process::id());
    let [worker] = workers[..] else { panic!("{workers:?}") };
    let (name, content) = sources_that_fail().swap_remove(0);
    let language = language_of(name.as_bytes(), b"").expect("a grammar");
    let cancel = Cancel::after(*PATIENCE);
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| pool.definitions(language, content.as_bytes(), &cancel));
        // Late in its time: little is left, and it has not been killed.
        std::thread::sleep(Duration::from_millis(1_400));
        kill(worker);
        let killed = Instant::now();
        assert_eq!(asked.join().expect("no panic").err(), Some(SourceProblem::Stopped));
        assert!(killed.elapsed() < FILE_TIME, "{:?}", killed.elapsed());
    });
}

#[test]
fn no_parse_worker_stays_busy_after_the_answer() {
    let host = Host::new();
    for number in 0..3 {
        host.write(&format!("{number}.swift"), &format!("{}\"\"\"", "#".repeat(900_000 + number)));
    }
    let service = host.service.child.id();
    eventually("the workers are at rest", || !workers(service).into_iter().any(is_busy));
}

#[test]
fn a_busy_parse_worker_ends_with_its_service() {
    let host = Host::new();
    let (name, content) = sources_that_fail().swap_remove(0);
    fs::write(host.place.project().join(name), content).expect("written");
    let service = host.service.child.id();
    host.is_well();
    let mut running = Vec::new();
    let envelope = json!({"op": "code.outline", "target": name});
    std::thread::scope(|scope| {
        // Nobody answers it: the service is killed.
        let asking = scope.spawn(|| host.service.ask(&host.token, &envelope));
        eventually("a worker is busy", || {
            running = workers(service);
            running.iter().any(|worker| is_busy(*worker))
        });
        kill(service);
        let _ = asking.join();
    });
    for worker in running {
        eventually("the worker ends", || !is_running(worker));
    }
}
