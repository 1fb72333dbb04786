//! `service` with a manager that really runs it.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::manager::Manager;
use crate::cli::answers::holds;
use crate::installation::Installation;
use crate::needs::report_left_out;
use crate::patience::PATIENCE;
use crate::ports::reserve_port;

/// An installation at a port of its own.
pub fn world() -> Installation {
    let place = Installation::new();
    for words in [
        &["setup", "project", "--preset", "full", "--yes"][..],
        &["scope", "allow", "project", "--command", "sleep *"],
    ] {
        assert_eq!(place.run(words).exit, 0, "{words:?}");
    }
    let text = fs::read_to_string(place.config()).expect("the config");
    let mut config: Value = serde_json::from_str(&text).expect("JSON");
    config["port"] = reserve_port().into();
    fs::write(place.config(), config.to_string()).expect("written");
    place
}

/// The answer of a command that succeeds, which follows its schema.
fn well(manager: &Manager, name: &str, words: &[&str]) -> Value {
    let ran = manager.bailiwick(&[words, &["--json"]].concat());
    assert_eq!(ran.exit, 0, "{words:?}: {}{}", ran.out, ran.err);
    holds(name, &ran.json());
    ran.json()
}

/// Waits until the service runs and serves, as another process than before.
fn serving(manager: &Manager, before: u64) -> u64 {
    let began = Instant::now();
    loop {
        let ran = manager.bailiwick(&["service", "status", "--json"]);
        let status = ran.json();
        holds("service.status", &status);
        let process = status["service"]["processId"].as_u64().unwrap_or(0);
        if ran.exit == 0 && process != before {
            assert_eq!((&status["running"], &status["state"]), (&json!(true), &json!("active")));
            assert_eq!(status["current"], true);
            return process;
        }
        assert!(began.elapsed() < *PATIENCE, "it does not serve: {status}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn is_alive(process: u64) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}

#[test]
fn a_service_is_installed_killed_stopped_started_and_removed_by_a_real_user_manager() {
    let place = world();
    let manager = match Manager::start(&place) {
        Ok(manager) => manager,
        Err(why) => return report_left_out(&format!("a user manager of systemd: {why}")),
    };
    let made = well(&manager, "service.install", &["service", "install"]);
    assert_eq!(
        (&made["changed"], &made["started"], &made["unreachable"]),
        (&json!(true), &json!(true), &Value::Null)
    );
    let first = serving(&manager, 0);
    let main = manager.asked(&["show", "--property=MainPID", "--value", "bailiwick.service"]).out;
    assert_eq!(main.trim(), first.to_string(), "what systemd runs is what serves");
    assert_eq!(manager.asked(&["is-enabled", "bailiwick.service"]).out.trim(), "enabled");
    let again = well(&manager, "service.install", &["service", "install"]);
    assert_eq!((&again["changed"], serving(&manager, 0)), (&json!(false), first), "it is left alone");

    let start = json!({"scope": "project", "op": "process.start", "input": {"command": ["sleep", "600"]}});
    let started = manager.bailiwick(&["call", &start.to_string(), "--json"]).json();
    assert_eq!(started["ok"], true, "{started}");
    let keeper = || {
        let all = manager.bailiwick(&["processes", "list", "--json"]).json();
        let one = &all["processes"][0];
        assert_eq!(
            (&one["status"], &one["processId"]),
            (&json!("running"), &started["data"]["processId"]),
            "{all}"
        );
        one["keeperProcessId"].as_u64().expect("a number")
    };
    let kept = keeper();

    let victim = Pid::from_raw(i32::try_from(first).expect("small")).expect("a process");
    kill_process(victim, Signal::KILL).expect("it runs");
    let second = serving(&manager, first);
    assert_eq!(keeper(), kept, "what clients started keeps running without the service");

    well(&manager, "service.stop", &["service", "stop"]);
    assert!(!is_alive(second));
    let status = manager.bailiwick(&["service", "status", "--json"]);
    holds("service.status", &status.json());
    assert_eq!(status.exit, 18, "{}", status.out);
    assert_eq!((&status.json()["running"], &status.json()["state"]), (&json!(false), &json!("inactive")));
    assert_eq!(keeper(), kept);
    well(&manager, "service.start", &["service", "start"]);
    let third = serving(&manager, second);

    // There is no journal for this manager: what is shown is the journal's own answer, either way.
    let logs = manager.bailiwick(&["service", "logs", "--lines", "5"]);
    assert!([0, 20].contains(&logs.exit), "{} {}{}", logs.exit, logs.out, logs.err);

    manager.bailiwick(&["processes", "stop", "--all"]);
    let would = well(&manager, "service.remove", &["service", "remove", "--dry-run"]);
    assert!(would["removed"] == false && is_alive(third), "{would}");
    let removed = well(&manager, "service.remove", &["service", "remove"]);
    assert_eq!((&removed["removed"], &removed["unreachable"]), (&json!(true), &Value::Null));
    assert!(!is_alive(third));
    assert!(!Path::new(removed["unit"].as_str().expect("a path")).exists());
    assert_eq!(manager.asked(&["is-enabled", "bailiwick.service"]).exit, 1);
    assert_eq!(manager.bailiwick(&["service", "start"]).exit, 15);
}
