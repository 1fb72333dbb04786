//! The unit that is written, checked by systemd's own tool and by running what it says.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::cli::answers::holds;
use crate::installation::{CommandOutput, Installation};

/// Runs a command with a configuration folder of its own and no way to a manager.
fn run(place: &Installation, words: &[&str]) -> CommandOutput {
    let folder = place.folder.path();
    let mut command = place.command(words);
    command.env("XDG_CONFIG_HOME", folder.join("settings")).env("XDG_RUNTIME_DIR", folder.join("no-session"));
    command.env_remove("DBUS_SESSION_BUS_ADDRESS").output().expect("the binary runs").into()
}

fn unit(place: &Installation) -> std::path::PathBuf {
    place.folder.path().join("settings/systemd/user/bailiwick.service")
}

#[test]
fn the_unit_is_in_order_for_systemd_and_its_command_serves() {
    let place = super::systemd::world();
    let text = fs::read_to_string(place.config()).expect("the config");
    let port = serde_json::from_str::<Value>(&text).expect("JSON")["port"].clone();
    let shown = run(&place, &["service", "install", "--dry-run"]);
    assert_eq!(shown.exit, 0, "{}", shown.err);
    assert!(shown.out.contains("+ExecStart=") && !unit(&place).exists(), "{}", shown.out);

    let made = run(&place, &["service", "install", "--json"]);
    assert_eq!(made.exit, 0, "{} {}", made.out, made.err);
    holds("service.install", &made.json());
    assert_eq!((&made.json()["changed"], &made.json()["manager"]), (&json!(true), &json!("systemd")));
    // Nobody can be asked here, and that is said instead of a service that runs.
    assert_eq!(made.json()["started"], false);
    assert!(made.json()["unreachable"].is_string(), "{}", made.out);
    let checked = Command::new("systemd-analyze")
        .args(["--user", "verify"])
        .arg(unit(&place))
        .env("XDG_RUNTIME_DIR", place.folder.path())
        .output()
        .expect("it runs");
    assert!(
        checked.status.success() && checked.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&checked.stderr)
    );
    let text = fs::read_to_string(unit(&place)).expect("the unit");
    assert!(text.contains("KillMode=process\n"), "{text}");

    // What systemd would run, in the environment that it would give.
    let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).expect("a line").to_owned();
    let environment = line("Environment=");
    let (name, value) = environment.trim_matches('"').split_once('=').expect("a name and a value");
    assert_eq!(name, "BAILIWICK_HOME");
    let mut served = Command::new("sh")
        .args(["-c", &format!("exec {}", line("ExecStart="))])
        .env_clear()
        .env(name, value)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut said = String::new();
    let mut out = std::io::BufReader::new(served.stdout.take().expect("piped"));
    std::io::BufRead::read_line(&mut out, &mut said).expect("readable");
    let status = place.run(&["status", "--json"]).json();
    served.kill().expect("it runs");
    served.wait().expect("it ends");
    assert!(said.contains(&format!(":{port}/mcp")), "{said}");
    assert_eq!(status["running"], true);

    let again = run(&place, &["service", "install", "--json"]).json();
    assert_eq!(again["changed"], false);
    let status = run(&place, &["service", "status", "--json"]);
    holds("service.status", &status.json());
    assert_eq!(status.exit, 18, "a service that nobody could ask is not said to run: {}", status.out);
    for words in [&["service", "start"][..], &["service", "stop"]] {
        let ran = run(&place, &[words, &["--json"]].concat());
        assert_eq!(ran.exit, 18, "{words:?}: {}", ran.out);
        holds("failure", &ran.json());
    }
    let removed = run(&place, &["service", "remove", "--json"]);
    assert_eq!(removed.exit, 0, "{}", removed.err);
    holds("service.remove", &removed.json());
    assert!(!unit(&place).exists());
    assert_eq!(run(&place, &["service", "remove"]).exit, 15);
}

#[test]
fn a_path_with_signs_of_systemd_is_taken_as_it_is() {
    let place = Installation::set_up();
    let odd = place.folder.path().join("%h $HOME x");
    fs::create_dir(&odd).expect("made");
    let program = odd.join("bailiwick");
    // By another process: what this one has open to write, another test could hand on to what it starts just then.
    let copied =
        Command::new("cp").arg(env!("CARGO_BIN_EXE_bailiwick")).arg(&program).status().expect("it runs");
    assert!(copied.success());
    let folder = place.folder.path();
    let ran = Command::new(&program)
        .args(["service", "install", "--json"])
        .env("BAILIWICK_HOME", folder.join("home"))
        .env("HOME", folder)
        .env("XDG_CONFIG_HOME", folder.join("settings"))
        .env("XDG_RUNTIME_DIR", folder.join("no-session"))
        .env_remove("DBUS_SESSION_BUS_ADDRESS")
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    // The tool looks for the program by the path that it reads in the unit.
    assert!(
        ran.status.success(),
        "{} {}",
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr)
    );
}

#[test]
fn a_unit_of_somebody_else_is_left_alone_and_nothing_is_installed_that_would_fail() {
    let place = Installation::set_up();
    fs::create_dir_all(unit(&place).parent().expect("a folder")).expect("made");
    fs::write(unit(&place), "[Service]\nExecStart=/bin/true\n").expect("written");
    for words in [&["service", "install"][..], &["service", "remove"]] {
        let ran = run(&place, words);
        assert_eq!(ran.exit, 16, "{words:?}: {}", ran.err);
        assert!(ran.err.contains("hint:"), "{}", ran.err);
    }
    assert_eq!(fs::read_to_string(unit(&place)).expect("there"), "[Service]\nExecStart=/bin/true\n");
    let bare = Installation::new();
    assert_eq!(run(&bare, &["service", "install"]).exit, 18);
    assert!(!unit(&bare).exists());
}
