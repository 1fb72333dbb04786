//! `doctor --prove`: everything is done for real, nothing of the person's is touched, and nothing is left.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use bailiwick::contract::ErrorCode;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::installation::Installation;
use support::needs::lacks_full_sandbox;
use support::patience::PATIENCE;
use support::ports::reserve_port;
use support::screen::XServer;
use support::source::repository;

use super::client_faults::{connect, entry, settings};
use super::{assert_of_the_published_form, healthy, home, picture};

/// A temporary folder for the program alone, so that it is seen what it leaves. Its path is short: sockets lie in it.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir()
            .canonicalize()
            .expect("there")
            .join(format!("bw-{name}-{}", std::process::id()));
        fs::create_dir(&path).expect("made");
        Self(path)
    }

    /// Claims that nothing is left in it, and that no process that was started with it lives.
    fn assert_nothing_is_left(&self) {
        let left: Vec<PathBuf> =
            fs::read_dir(&self.0).expect("there").map(|entry| entry.expect("read").path()).collect();
        assert!(left.is_empty(), "{left:?}");
        // What was killed is gone a moment later.
        let began = Instant::now();
        loop {
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            assert!(began.elapsed() < *PATIENCE, "{left:#?}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// The command lines of processes that have it in their environment or in their words.
    fn processes(&self) -> Vec<String> {
        let path = self.0.as_os_str().as_bytes();
        let has_it = |text: &[u8]| text.windows(path.len()).any(|part| part == path);
        let entries = fs::read_dir("/proc").expect("processes").flatten();
        let texts = entries.map(|entry| {
            ["environ", "cmdline"].map(|name| fs::read(entry.path().join(name)).unwrap_or_default())
        });
        texts
            .filter(|texts| texts.iter().any(|text| has_it(text)))
            .map(|[_, line]| String::from_utf8_lossy(&line).into_owned())
            .collect()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn proof(place: &Installation, temporary: &Temporary, words: &[&str]) -> Command {
    let mut command = place.command(words);
    command.env("TMPDIR", &temporary.0).env_remove("DISPLAY").env_remove("XAUTHORITY");
    command
}

/// The answer of a proof: each step's state and what was seen, by group and name.
fn steps(answer: &Value) -> BTreeMap<String, (String, String)> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let steps = answer["steps"].as_array().unwrap_or_else(|| panic!("no steps: {answer}"));
    steps
        .iter()
        .map(|it| {
            (format!("{}: {}", text(&it["group"]), text(&it["step"])), (text(&it["state"]), text(&it["saw"])))
        })
        .collect()
}

fn in_state<'s>(steps: &'s BTreeMap<String, (String, String)>, wanted: &str) -> Vec<(&'s str, &'s str)> {
    let found = steps.iter().filter(|(_, (state, _))| state == wanted);
    found.map(|(name, (_, saw))| (name.as_str(), saw.as_str())).collect()
}

/// What the person has: the installation, the project, the clients' settings.
fn belongings(place: &Installation) -> Vec<(PathBuf, u32, Vec<u8>)> {
    let own = [home(place), place.project(), settings(place).parent().expect("a folder").to_owned()];
    own.iter().flat_map(|folder| picture(folder)).collect()
}

pub fn all_is_done_for_real_and_nothing_of_the_persons_is_touched() {
    if lacks_full_sandbox() {
        return;
    }
    let place = healthy();
    connect(&place, &entry(&place));
    let server = XServer::start();
    let service = place.start();
    let before = belongings(&place);
    let temporary = Temporary::new("all");
    let output = proof(&place, &temporary, &["doctor", "--prove", "--json"])
        .env("DISPLAY", server.id())
        .env("XAUTHORITY", server.sources().authority.expect("cookies"))
        .output()
        .expect("the binary runs");
    let answer: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    assert_of_the_published_form("doctor.prove", &answer);
    let steps = steps(&answer);
    assert_eq!(in_state(&steps, "failed"), [], "{answer:#}");
    assert_eq!(in_state(&steps, "skipped"), [], "{answer:#}");
    assert_eq!((output.status.code(), &answer["ok"]), (Some(0), &json!(true)));
    for name in [
        "MCP over standard input and output: revision 2025-03-26",
        "MCP over standard input and output: revision 2026-07-28",
        "Reading: search",
        "Writing: patch",
        "Writing: take it back",
        "Undo: delete a folder",
        "Undo: write with other permissions",
        "Undo: what it changed",
        "Code: symbols",
        "Git: commit",
        "Refusals: a link outside",
        "Commands: a command",
        "Sandbox: a write outside",
        "Sandbox: a read outside",
        "Sandbox: your home folder",
        "Sandbox: the network",
        "Processes: a terminal",
        "Processes: a tree of processes",
        "Screens: a picture of a display",
        "Desktop: see a window",
        "Desktop: press a button",
        "Desktop: set and type",
        "Desktop: check it",
        "History: history verify",
        "HTTP: a call without a token",
        "HTTP: a strange Host",
        "HTTP: a strange Origin",
        "Your service: at its socket",
        "Your service: over HTTP",
        "Your clients: Cursor",
    ] {
        assert!(steps.contains_key(name), "{name} was not done: {:?}", steps.keys());
    }
    assert!(steps["Screens: a picture of a display"].1.contains("all 256 pixels"));
    assert_eq!(belongings(&place), before);
    temporary.assert_nothing_is_left();
    drop(service);
}

pub fn a_public_url_is_proved_by_a_round_trip_to_this_installation() {
    let (place, other) = (healthy(), healthy());
    let port = reserve_port();
    let url = format!("http://127.0.0.1:{port}");
    for installation in [&place, &other] {
        let ran = installation.run(&["tunnel", "manual", &url, "--yes"]);
        assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    }
    let service = place.start_at(port);
    let trip = |installation: &Installation| {
        let temporary = Temporary::new("trip");
        let output = proof(installation, &temporary, &["doctor", "--prove", "--json"]).output();
        let output = output.expect("the binary runs");
        let answer: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        assert_of_the_published_form("doctor.prove", &answer);
        let found = steps(&answer).remove("Public URL: a round trip");
        (found.unwrap_or_else(|| panic!("it was not tried: {answer:#}")), answer["ok"] == true)
    };
    let ((state, saw), is_proved) = trip(&place);
    assert_eq!((state.as_str(), is_proved), ("ok", true), "{saw}");
    assert!(saw.contains(&url) && saw.ends_with("a round trip came back"), "{saw}");
    // The same service answers there, and it is not the one of this installation.
    let ((state, saw), is_proved) = trip(&other);
    assert_eq!((state.as_str(), is_proved), ("failed", false), "{saw}");
    assert!(saw.contains("it leads to a Bailiwick that is not this one"), "{saw}");
    drop(service);
    let ((state, saw), is_proved) = trip(&place);
    assert_eq!((state.as_str(), is_proved), ("failed", false), "{saw}");
    assert!(saw.contains("not reachable: connect"), "{saw}");
}

pub fn the_end_by_the_person_leaves_nothing() {
    let place = healthy();
    for (name, last_words) in [("early", "Reading"), ("late", "a terminal")] {
        let temporary = Temporary::new(name);
        let mut child = proof(&place, &temporary, &["doctor", "--prove"]).spawn().expect("the binary runs");
        let mut out = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        while !line.contains(last_words) {
            line.clear();
            assert!(out.read_line(&mut line).expect("readable") > 0, "it ended before `{last_words}`");
        }
        kill_process(Pid::from_child(&child), Signal::INT).expect("it runs");
        let mut rest = String::new();
        out.read_to_string(&mut rest).expect("readable");
        let status = child.wait().expect("waited");
        assert_eq!(status.code(), Some(i32::from(ErrorCode::Cancelled.facts().exit_code)), "{name}: {rest}");
        assert!(!rest.contains("FAIL"), "{name}: what was cut off is not told as failed: {rest}");
        temporary.assert_nothing_is_left();
    }
}

pub fn what_is_broken_fails_and_what_is_not_there_is_skipped() {
    let place = Installation::new();
    let temporary = Temporary::new("broken");
    // A client that starts Bailiwick where it is not set up, and one whose settings cannot be read.
    connect(&place, &entry(&place));
    fs::create_dir_all(place.folder.path().join(".gemini")).expect("made");
    fs::write(place.folder.path().join(".gemini/settings.json"), "{").expect("written");
    let empty = temporary.0.with_extension("empty");
    fs::create_dir(&empty).expect("made");
    // By its older name, without Git on the path and without a display.
    let output = proof(&place, &temporary, &["self-test", "--json"])
        .env("PATH", &empty)
        .output()
        .expect("the binary runs");
    fs::remove_dir(&empty).expect("it is empty still");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_of_the_published_form("doctor.prove", &answer);
    let steps = steps(&answer);
    let failed = in_state(&steps, "failed");
    let names: Vec<&str> = failed.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["Your clients: Cursor", "Your clients: Gemini CLI"], "{answer:#}");
    assert!(failed[0].1.contains("not set up"), "{failed:?}");
    assert!(failed[1].1.contains("cannot be parsed"), "{failed:?}");
    assert_eq!((output.status.code(), &answer["ok"]), (Some(1), &json!(false)));
    let skipped = in_state(&steps, "skipped");
    let why = |name: &str| {
        let found = skipped.iter().find(|(step, _)| *step == name);
        found.unwrap_or_else(|| panic!("{name} was not skipped: {skipped:?}")).1
    };
    assert!(why("Git: make a repository").contains("there is no Git"));
    assert!(why("Sandbox: the network").contains("none of bash"));
    assert!(why("Your service: the service").contains("none runs"));
    assert!(!why("Screens: a picture of a display").is_empty());
    temporary.assert_nothing_is_left();
}

/// Somebody else changes the tree while it is proved: then it is not as before, and the proof says so.
pub fn a_tree_that_does_not_come_back_fails() {
    let place = healthy();
    let temporary = Temporary::new("spoilt");
    let mut child = proof(&place, &temporary, &["doctor", "--prove", "--json"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut out = child.stdout.take().expect("piped");
    let reader = thread::spawn(move || {
        let mut text = String::new();
        out.read_to_string(&mut text).expect("readable");
        text
    });
    let mut number = 0_u64;
    while child.try_wait().expect("it can be asked").is_none() {
        for entry in fs::read_dir(&temporary.0).expect("there").flatten() {
            let tree = entry.path().join("scope/tree");
            if tree.is_dir() {
                number += 1;
                // It only grows, so that it is never again as it was. The tree may go this very moment.
                let stranger = fs::File::options().create(true).append(true).open(tree.join("stranger.txt"));
                let _ = stranger.and_then(|mut file| std::io::Write::write_all(&mut file, b"x"));
            }
        }
    }
    let answer: Value = serde_json::from_str(&reader.join().expect("read")).expect("JSON");
    assert!(number > 0, "the tree was never there: {answer:#}");
    let steps = steps(&answer);
    let failed = in_state(&steps, "failed");
    let spoilt = |(name, saw): &(&str, &str)| name.starts_with("Undo: ") && saw.contains("stranger.txt");
    assert!(failed.iter().any(spoilt), "{answer:#}");
    assert_eq!(answer["ok"], false);
}

pub fn a_temporary_folder_that_cannot_be_used_is_said() {
    let place = healthy();
    let output = place
        .command(&["doctor", "--prove"])
        .env("TMPDIR", "/none/at/all")
        .output()
        .expect("the binary runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_ne!(output.status.code(), Some(0));
    assert!(said.contains("the temporary folder cannot be used") && said.contains("TMPDIR"), "{said}");
}

pub fn every_group_is_in_the_guide() {
    let guide = fs::read_to_string(repository().join("docs/guides/doctor.md")).expect("the guide");
    for file in fs::read_dir(repository().join("src/diagnosis/prove")).expect("there").flatten() {
        let text = fs::read_to_string(file.path()).expect("read");
        for part in text.split("steps.group(\"").skip(1) {
            let name = part.split('"').next().expect("a name");
            assert!(guide.contains(&format!("| {name} |")), "{name} ({:?})", Path::new(&file.file_name()));
        }
    }
}
