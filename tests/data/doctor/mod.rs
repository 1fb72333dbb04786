//! `doctor`: faults injected one by one into a healthy installation, each named with its fix; repairs, and their undo.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Trial;
use serde_json::{Value, json};
use support::installation::Installation;
use support::needs::lacks_full_sandbox;
use support::ports::reserve_port;
use support::source::repository;

use crate::trials::{TrialFilter, slug};

mod client_faults;
mod faults;
mod prove;
mod screens;

use faults::faults;

/// The trials: each fault, and what doctor does beside.
pub fn trials(_: &TrialFilter) -> Vec<Trial> {
    let mut trials = trials![
        there_are_faults_of_many_kinds,
        several_faults_are_mended_in_one_run_and_taken_back_as_one,
        a_running_service_is_asked_and_one_that_hangs_is_named,
        a_port_that_another_program_has_is_named_with_a_free_one,
        what_the_environment_does_to_it_is_named,
        clients_that_lead_here_are_told_as_in_order,
        commands_that_would_be_the_local_user_over_http_are_named,
        prove::all_is_done_for_real_and_nothing_of_the_persons_is_touched,
        prove::a_public_url_is_proved_by_a_round_trip_to_this_installation,
        prove::the_end_by_the_person_leaves_nothing,
        prove::what_is_broken_fails_and_what_is_not_there_is_skipped,
        prove::a_tree_that_does_not_come_back_fails,
        prove::a_temporary_folder_that_cannot_be_used_is_said,
        prove::every_group_is_in_the_guide,
        screens::a_display_that_can_be_looked_at_is_in_order,
        screens::a_display_that_is_gone_and_a_cookie_that_cannot_be_read_are_named,
        screens::a_display_that_lets_nobody_in_is_named,
        screens::displays_are_not_looked_at_for_scopes_that_take_no_pictures,
        screens::a_vision_model_that_can_be_asked_is_in_order_and_is_not_asked,
    ];
    trials.extend(each![
        a_fault_is_named_with_its_fix_and_mended_if_that_is_safe;
        faults().map(|fault| (format!("fault::{}", slug(fault.name)), fault))
    ]);
    trials
}

/// Something that goes wrong.
struct Fault {
    name: &'static str,
    /// The check that must tell.
    check: &'static str,
    /// What its fix must say.
    fix: &'static str,
    /// Whether `--fix` mends it.
    is_mended: bool,
    inject: fn(&Installation),
}

/// What a doctor must not touch, and what it must tell, by check.
fn troubles(report: &Value) -> BTreeSet<String> {
    let Some(checks) = report["checks"].as_array() else { panic!("no checks: {report}") };
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    checks.iter().filter(|check| check["standing"] != "ok").map(|check| text(&check["check"])).collect()
}

fn doctor(place: &Installation, words: &[&str]) -> Value {
    let words = [&["doctor", "--json"], words].concat();
    let ran = place.run(&words);
    assert!([0, 1].contains(&ran.exit), "{words:?}: {} {}", ran.exit, ran.err);
    let report = ran.json();
    assert_eq!(ran.exit == 0, report["ok"] == true, "{words:?}");
    assert_of_the_published_form("doctor", &report);
    report
}

/// Claims that an answer is of the form that the committed schema of a command says.
fn assert_of_the_published_form(name: &str, answer: &Value) {
    let path = repository().join(format!("schemas/cli/{name}.json"));
    let schema: Value = serde_json::from_str(&fs::read_to_string(path).expect("a schema")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let problems: Vec<String> = validator.iter_errors(answer).map(|error| error.to_string()).collect();
    assert!(problems.is_empty(), "{problems:?}: {answer:#}");
}

fn commands_that_would_be_the_local_user_over_http_are_named() {
    let place = healthy();
    let without_token = json!({"allowLoopbackWithoutToken": true});
    let none = json!({});
    for (http, capabilities, policy, is_named) in [
        (&without_token, json!(["command:run"]), json!({"network": "full"}), true),
        (&without_token, json!(["package:run"]), json!({"sandbox": "none"}), true),
        (&without_token, json!(["command:run"]), json!({"network": "loopback"}), false),
        (&without_token, json!(["fs:read"]), json!({"network": "full"}), false),
        (&none, json!(["command:run"]), json!({"network": "full"}), false),
    ] {
        change(&place, |config| {
            config["http"] = http.clone();
            config["scopes"][0]["capabilities"] = capabilities.clone();
            config["scopes"][0]["policy"] = policy.clone();
        });
        let report = doctor(&place, &[]);
        assert_eq!(troubles(&report).contains("commands-no-token"), is_named, "{http} {policy}: {report:#}");
        assert!(!is_named || report["ok"] == false, "{report:#}");
    }
}

/// An installation without faults, with a history and a port that no other test takes.
fn healthy() -> Installation {
    let place = Installation::set_up();
    place.make_token("owner");
    change(&place, |config| config["port"] = json!(reserve_port()));
    assert_eq!(place.run(&["call", "file.list", ".", "--json"]).exit, 0);
    place
}

fn home(place: &Installation) -> PathBuf {
    place.folder.path().join("home")
}

fn change(place: &Installation, change: impl FnOnce(&mut Value)) {
    let mut config: Value =
        serde_json::from_str(&fs::read_to_string(place.config()).expect("the config")).expect("JSON");
    change(&mut config);
    // In place, so that its mode stays.
    fs::write(place.config(), serde_json::to_string_pretty(&config).expect("JSON")).expect("written");
}

fn replace(place: &Installation, from: &str, to: &str) {
    let text = fs::read_to_string(place.config()).expect("the config");
    assert!(text.contains(from), "{text}");
    fs::write(place.config(), text.replacen(from, to, 1)).expect("written");
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("own file");
}

fn tokens(place: &Installation) -> PathBuf {
    home(place).join("config/tokens.json")
}

fn change_tokens(place: &Installation, change: impl FnOnce(&mut Value)) {
    let mut file: Value =
        serde_json::from_str(&fs::read_to_string(tokens(place)).expect("the tokens")).expect("JSON");
    change(&mut file["tokens"][0]);
    fs::write(tokens(place), file.to_string()).expect("written");
}

fn in_days(days: i64) -> String {
    let output =
        Command::new("date").args(["-u", "-d", &format!("{days} days"), "+%Y-%m-%dT%H:%M:%SZ"]).output();
    String::from_utf8(output.expect("date runs").stdout).expect("UTF-8").trim().to_owned()
}

/// Everything below a folder: kind, mode and content, but not times.
fn picture(folder: &Path) -> BTreeSet<(PathBuf, u32, Vec<u8>)> {
    let mut seen = BTreeSet::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, facts) = (entry.path(), entry.metadata().expect("facts"));
        // SQLite's own files come and go with readers.
        if path.to_string_lossy().contains("history.db-") {
            continue;
        }
        let content = if facts.is_file() { fs::read(&path).expect("read") } else { Vec::new() };
        if facts.is_dir() {
            seen.extend(picture(&path));
        }
        seen.insert((path, facts.permissions().mode(), content));
    }
    seen
}

fn there_are_faults_of_many_kinds() {
    let (all, mended) = (faults().count(), faults().filter(|fault| fault.is_mended).count());
    assert!(all >= 40 && mended >= 12, "{all} faults, {mended} mended");
}

fn a_fault_is_named_with_its_fix_and_mended_if_that_is_safe(fault: &&'static Fault) {
    // Where commands may run, a weaker sandbox is a fault of its own.
    let runs_commands = ["commands-none", "commands-secrets", "commands-network"].contains(&fault.check);
    if runs_commands && lacks_full_sandbox() {
        return;
    }
    let place = healthy();
    let usual = troubles(&doctor(&place, &[]));
    // What is reported about the computer that runs this test.
    assert!(usual.iter().all(|check| ["user", "disk", "temporary"].contains(&check.as_str())), "{usual:?}");
    (fault.inject)(&place);
    let broken = picture(&home(&place));
    is_named(fault, &usual, &doctor(&place, &[]));
    assert_eq!(picture(&home(&place)), broken, "the report changed something");
    let shown = doctor(&place, &["--fix", "--dry-run"]);
    assert_eq!(picture(&home(&place)), broken, "a dry run changed something");
    let mended = doctor(&place, &["--fix"]);
    if fault.is_mended {
        is_mended(fault, &usual, &shown, &mended, &place);
        is_taken_back(fault, &place, broken);
    } else {
        assert_eq!(mended["repaired"], json!([]));
        assert_eq!(picture(&home(&place)), broken, "something was changed that is not safe to fix");
    }
}

/// Claims that a report names a fault with its fix, and nothing else that is unusual.
fn is_named(fault: &Fault, usual: &BTreeSet<String>, report: &Value) {
    let mut expected = usual.clone();
    expected.insert(fault.check.to_owned());
    assert_eq!(troubles(report), expected, "{report:#}");
    let checks = report["checks"].as_array().expect("checks");
    let finding =
        checks.iter().find(|it| it["check"] == fault.check && it["standing"] != "ok").expect("named");
    let fix = finding["fix"].as_str().expect("a fix");
    assert!(!fix.is_empty() && fix.contains(fault.fix), "{fix}");
    assert_eq!(finding["repair"].is_object(), fault.is_mended, "{finding}");
}

/// Claims that a fault was mended as it was shown before.
fn is_mended(fault: &Fault, usual: &BTreeSet<String>, shown: &Value, mended: &Value, place: &Installation) {
    let checks = shown["checks"].as_array().expect("checks");
    let diff = checks.iter().find_map(|it| it["repair"]["diff"].as_str());
    assert!(diff.is_some_and(|diff| diff.lines().count() >= 2), "{shown:#}");
    assert_eq!(troubles(mended), *usual, "{mended:#}");
    assert!(mended["undo"].is_string(), "{}", fault.name);
    assert_eq!(place.run(&["status"]).exit, 0, "it does not work after the repair");
}

/// Takes a repair back, and claims that the fault is there again.
fn is_taken_back(fault: &Fault, place: &Installation, broken: BTreeSet<(PathBuf, u32, Vec<u8>)>) {
    let undone = place.run(&["doctor", "--undo", "--json"]);
    assert_eq!(undone.exit, 0, "{}", undone.err);
    assert_of_the_published_form("doctor.undo", &undone.json());
    // A socket that nobody serves stays away; a file that was put back is new.
    let stays_well = ["a stale socket", "a file that a crash left"].contains(&fault.name);
    let gone = |(path, ..): &(PathBuf, u32, Vec<u8>)| !path.ends_with("bailiwick.sock");
    let kept = |picture: BTreeSet<(PathBuf, u32, Vec<u8>)>| -> Vec<PathBuf> {
        let own = ["repairs", "history.db", "history.anchor", "state/configs", "state/clock"];
        let is_same = |path: &Path| !own.iter().any(|name| path.to_string_lossy().contains(name));
        picture.into_iter().filter(gone).filter(|(path, ..)| is_same(path)).map(|(path, ..)| path).collect()
    };
    assert_eq!(kept(picture(&home(place))), kept(broken), "it was not taken back");
    assert_eq!(troubles(&doctor(place, &[])).contains(fault.check), !stays_well);
}

fn several_faults_are_mended_in_one_run_and_taken_back_as_one() {
    let place = healthy();
    replace(&place, "{", "{ // my own");
    let text = fs::read_to_string(place.config()).expect("the config");
    mode(&tokens(&place), 0o644);
    mode(&home(&place).join("config"), 0o755);
    let mended = doctor(&place, &["--fix"]);
    assert_eq!(mended["repaired"].as_array().map(Vec::len), Some(3), "{mended:#}");
    assert_eq!(mended["ok"], true);
    let said = place.run(&["doctor", "--undo"]);
    assert!(said.out.contains("tokens.json") && said.out.contains("config.json"), "{}", said.out);
    assert_eq!(fs::read_to_string(place.config()).expect("the config"), text);
    let nothing = place.run(&["doctor", "--undo"]);
    assert_eq!(nothing.exit, 15, "{}", nothing.err);
    assert!(nothing.err.contains("no repair"), "{}", nothing.err);
}

fn a_running_service_is_asked_and_one_that_hangs_is_named() {
    let place = healthy();
    let service = place.start();
    let report = doctor(&place, &[]);
    let says = |check: &str| -> Vec<String> {
        let checks = report["checks"].as_array().expect("checks").iter();
        checks.filter(|it| it["check"] == check).map(|it| it["says"].to_string()).collect()
    };
    assert!(says("service-answers")[0].contains(env!("CARGO_PKG_VERSION")), "{report:#}");
    assert!(says("http")[0].contains("/mcp answers"), "{report:#}");
    service.signal(rustix::process::Signal::STOP);
    let stopped = troubles(&doctor(&place, &[]));
    service.signal(rustix::process::Signal::CONT);
    assert!(stopped.contains("service-answers") && stopped.contains("http"), "{stopped:?}");
}

fn a_port_that_another_program_has_is_named_with_a_free_one() {
    let place = healthy();
    let other = TcpListener::bind("127.0.0.1:0").expect("a port");
    change(&place, |config| config["port"] = json!(other.local_addr().expect("bound").port()));
    let report = doctor(&place, &[]);
    let finding =
        report["checks"].as_array().expect("checks").iter().find(|it| it["check"] == "port").expect("named");
    assert!(finding["fix"].as_str().expect("a fix").contains("which is free"), "{finding}");
}

fn what_the_environment_does_to_it_is_named() {
    let place = healthy();
    let other = place.folder.path().join("bin");
    fs::create_dir(&other).expect("made");
    fs::write(other.join("bailiwick"), "#!/bin/sh\n").expect("written");
    mode(&other.join("bailiwick"), 0o755);
    for (variable, value, check) in [
        ("TMPDIR", place.folder.path().join("none"), "temporary"),
        ("PATH", other, "binary"),
        ("HOME", place.project(), "scope-home"),
    ] {
        let output =
            place.command(&["doctor", "--json"]).env(variable, value).output().expect("the binary runs");
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert!(troubles(&report).contains(check), "{variable}: {report:#}");
    }
}

fn clients_that_lead_here_are_told_as_in_order() {
    let place = healthy();
    let usual = troubles(&doctor(&place, &[]));
    let made = place.run(&["token", "create", "narrow", "--scope", "project"]);
    assert_eq!(made.exit, 0, "{}", made.err);
    for words in [
        &["cursor"][..],
        &["claude-desktop", "--caller", "narrow"],
        &["codex", "--http"],
        &["gemini", "--http"],
    ] {
        let installed = place.run(&[&["client", "install", "--yes"], words].concat());
        assert_eq!(installed.exit, 0, "{words:?}: {}", installed.err);
    }
    let report = doctor(&place, &[]);
    assert_eq!(troubles(&report), usual, "{report:#}");
    let checks = report["checks"].as_array().expect("checks");
    let told: Vec<&str> =
        checks.iter().filter(|it| it["check"] == "client").filter_map(|it| it["says"].as_str()).collect();
    assert_eq!(
        told,
        [
            "Claude Desktop starts this Bailiwick",
            "Codex connects to this Bailiwick",
            "Cursor starts this Bailiwick",
            "Gemini CLI connects to this Bailiwick"
        ]
    );
}
