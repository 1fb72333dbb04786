//! With what `call` exits that runs a command: a shell must be able to go on by it.

use crate::installation::Installation;
use crate::system::{Need, lacks};

#[test]
fn a_call_of_a_command_exits_as_the_command_did() {
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
