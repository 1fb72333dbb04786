//! What hangs holds up nobody else: neither an operation nor a config that is read.

use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::boot::{Service, ServiceSettings};
use super::shares::Share;
use crate::registry::prelude::*;
use crate::registry::{Entry, Family};
use bailiwick_config::Config;
use bailiwick_contract::{Caller, Envelope, ErrorCode, Transport, id};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::remove_tree;
use bailiwick_platform::launch::Launcher;
use bailiwick_platform::screen::Sources;

/// How long something may take that takes milliseconds on an idle computer.
const PATIENCE: Duration = Duration::from_secs(60);

/// An operation that hangs until its gate opens, whatever it is asked: as a read of a server that is gone.
struct Op;

/// Whether [`Op`] has begun, and whether it may end.
static GATE: (Mutex<(bool, bool)>, Condvar) = (Mutex::new((false, false)), Condvar::new());

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        // A name that has schemas.
        name: "file.stat",
        summary: "Hang",
        details: "",
        capabilities: &[],
        effect: Effect::ReadOnly,
        target: TargetRule::None,
        scope: ScopeNeed::Optional,
        platforms: &[],
        options: &[],
        timeout_seconds: 30,
        threads: Threads::Blocking,
        audited_fields: &[],
        example: r#"{"op":"file.stat"}"#,
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = NoFields;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(_: &Context, _: &Permit, _: &NoFields, _: &NoFields) -> Result<NoFields, Failure> {
        let (gate, changed) = &GATE;
        let mut state = gate.lock().expect("nobody panics with it");
        state.0 = true;
        changed.notify_all();
        let waited = changed.wait_timeout_while(state, PATIENCE * 2, |state| !state.1);
        assert!(!waited.expect("nobody panics with it").1.timed_out(), "nobody opens the gate");
        Ok(NoFields {})
    }
}

static OPERATIONS: [Entry; 1] = [Entry::blocking::<Op>()];
static FAMILY: Family = Family { name: "file", summary: "Hang.", operations: &OPERATIONS };
static FAMILIES: &[&Family] = &[&FAMILY];

/// A service in a folder of its own.
struct TestService {
    service: Arc<Service>,
    folder: Folder,
}

/// A folder that is removed after all that writes there has been dropped.
struct Folder(PathBuf);

impl TestService {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("bailiwick-service-{}", id::new_id()));
        let config = Config::new("m".repeat(32), "test".to_owned());
        let settings = ServiceSettings { config, dirs: Dirs::below(folder.clone()) };
        let launcher = Launcher::new();
        let booted = Service::boot_of(FAMILIES, settings, launcher, Sources::of_this_process());
        Self { folder: Folder(folder), service: booted.unwrap_or_else(|error| unreachable!("{error}")) }
    }

    /// Returns how many operations may begin now.
    fn free_turns(&self) -> usize {
        let turns = &self.service.turns;
        let taken: Vec<Share> =
            (0..).map_while(|number: usize| turns.try_take(&number.to_string(), 1)).collect();
        taken.len()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = remove_tree(&self.0);
    }
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn work_that_hangs_keeps_its_turn_until_it_ends_though_it_is_answered() {
    let it = TestService::new();
    let all = it.free_turns();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.expect("threads can be started");
    let (service, gone) = (Arc::clone(&it.service), CancellationToken::new());
    let cancelled = gone.clone();
    let answer = runtime.spawn(async move {
        let envelope = Envelope { op: "file.stat".to_owned(), ..Envelope::default() };
        service.handle(&Caller::local(Transport::Stdio), Ok(envelope), &cancelled).await
    });
    let (gate, changed) = &GATE;
    let state = gate.lock().expect("nobody panics with it");
    let began = changed.wait_timeout_while(state, PATIENCE, |state| !state.0);
    drop(began.expect("nobody panics with it"));
    assert_eq!(it.free_turns(), all - 1);
    gone.cancel();
    let outcome = runtime.block_on(answer).expect("no panic");
    assert_eq!(outcome.result.expect_err("it was cancelled").code, ErrorCode::Cancelled);
    assert_eq!(it.free_turns(), all - 1, "it still hangs");
    gate.lock().expect("nobody panics with it").1 = true;
    changed.notify_all();
    eventually("its turn is free again", || it.free_turns() == all);
}

#[test]
fn a_config_is_read_again_beside_the_threads_on_which_requests_wait() {
    let it = TestService::new();
    let path = it.folder.0.join("config/config.json");
    let mut config = it.service.in_force().facts.config.as_ref().clone();
    config.save(&path).expect("it can be written");
    let (_, stamp) = Config::load_stamped(&path).expect("it is valid");
    it.service.watch_config(path.clone(), stamp);
    config.machine_name = "another".to_owned();
    config.save(&path).expect("it can be written");

    // What is in force is being looked at, so that it cannot be replaced.
    let in_force = it.service.state.read().expect("nobody panics with it");
    let (ping, mut pings) = tokio::sync::mpsc::unbounded_channel();
    let (service, (pong, pongs)) = (Arc::clone(&it.service), channel());
    let requests = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime can be made").block_on(async move {
            let reload = tokio::spawn(async move { service.refresh_now().await });
            while pings.recv().await.is_some() {
                let _ = pong.send(());
            }
            reload.await.expect("no panic")
        })
    });
    let watch = it.service.watch.get().expect("it was set");
    eventually("the config is being read", || watch.reloading.try_lock().is_err());
    for _ in 0..3 {
        ping.send(()).expect("it listens");
        pongs.recv_timeout(PATIENCE).expect("the thread of the requests waits for nothing");
    }
    assert!(watch.reloading.try_lock().is_err(), "it is still being read");
    drop((in_force, ping));
    assert!(requests.join().expect("no panic").is_none(), "the config is valid");
    assert_eq!(it.service.in_force().facts.config.machine_name, "another");
}
