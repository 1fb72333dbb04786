//! With what `call` exits that runs a command: a shell must be able to continue by it.

use crate::installation::Installation;
use crate::needs::lacks_full_sandbox;
use crate::system::{Need, lacks};

#[test]
fn a_call_of_a_command_exits_as_the_command_did() {
    if lacks_full_sandbox() {
        return;
    }
    if lacks(Need::Programs) {
        return;
    }
    let place = Installation::new();
    assert_eq!(place.run(&["setup", "project", "--preset", "full", "--yes"]).exit, 0);
    for rule in ["sh -c 'exit 14'", "sh -c 'kill -9 $$'", "sleep *"] {
        assert_eq!(place.run(&["scope", "allow", "project", "--command", rule]).exit, 0, "{rule}");
    }
    let call = |command: &str, flags: &[&str]| {
        place.run(&[&["call", "command.run", "--command", command], flags].concat())
    };
    for (command, flags, exit) in [
        (r#"["true"]"#, &[][..], 0),
        (r#"["ls", "nope"]"#, &[], 2),
        // Its own code, which is also the code of a refusal elsewhere.
        (r#"["sh", "-c", "exit 14"]"#, &[], 14),
        (r#"["sh", "-c", "kill -9 $$"]"#, &[], 137),
        (r#"["sleep", "1000"]"#, &["--timeout-seconds", "1"], 124),
        // Refused, not found, no command, and no scope.
        (r#"["sudo", "ls"]"#, &[], 125),
        (r#"["sleep", "1"]"#, &["--scope", "nothing"], 125),
        (r#"["echo", 1]"#, &[], 125),
    ] {
        let ran = call(command, flags);
        assert_eq!(ran.exit, exit, "{command}: {}{}", ran.out, ran.err);
    }
    // Programs have the envelope, and the codes of the errors.
    let failed = call(r#"["ls", "nope"]"#, &["--json"]);
    let failed = (failed.exit, failed.json()["data"]["exitCode"].clone());
    assert_eq!(failed, (0, 2.into()));
    assert_eq!(call(r#"["sudo", "ls"]"#, &["--json"]).exit, 12);
}

#[test]
fn requests_that_follow_are_run_in_order_and_the_call_exits_as_the_last() {
    if lacks(Need::Programs) {
        return;
    }
    let place = Installation::new();
    assert_eq!(place.run(&["setup", "project", "--preset", "full", "--yes"]).exit, 0);
    let write = |then: &str, flags: &[&str]| {
        let words = ["call", "file.write", "made.txt", "--content", "x\n", "--then", then];
        place.run(&[&words, flags].concat())
    };
    let read = r#"{"op": "file.read", "target": "made.txt"}"#;
    let both = write(read, &[]);
    assert!(both.exit == 0 && both.out.ends_with("x\n"), "{}{}", both.out, both.err);
    let fails = r#"[{"op": "command.run", "input": {"command": ["ls", "nope"]}}, {"op": "file.read", "target": "made.txt"}]"#;
    let stopped = write(fails, &[]);
    assert!(
        stopped.exit == 2 && stopped.err.contains("not run: file.read"),
        "{}{}",
        stopped.out,
        stopped.err
    );
    let whole = write(fails, &["--json"]).json();
    assert_eq!((&whole["ok"], &whole["notRun"]), (&true.into(), &serde_json::json!(["file.read"])));
    assert_eq!(whole["answers"][1]["data"]["exitCode"], 2);
    // Each is judged on its own, and none is run where one cannot be read.
    let outside = r#"{"op": "file.read", "target": "/etc/passwd"}"#;
    let refused = write(outside, &["--json"]);
    assert_eq!(refused.json()["ok"], false);
    assert_eq!(refused.json()["answers"][0]["ok"], true);
    assert_ne!(refused.exit, 0);
    let unread =
        place.run(&["call", "file.write", "never.txt", "--content", "x", "--then", r#"[{"op": "no.such"}]"#]);
    assert!(unread.exit != 0 && unread.err.contains("`no.such`"), "{}", unread.err);
    assert_eq!(place.run(&["call", "file.read", "never.txt"]).exit, 15);
    let envelope =
        r#"{"op": "file.read", "target": "made.txt", "then": [{"op": "file.stat", "target": "made.txt"}]}"#;
    let answers = place.run(&["call", envelope, "--json"]).json();
    assert_eq!(answers["answers"].as_array().map(Vec::len), Some(2), "{answers}");
}
