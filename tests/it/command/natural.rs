//! Commands as agents write them, run for real under the preset's policy; and what the sandbox holds where no rule sees.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};

use bailiwick::contract::{CommandInput, Containment};
use bailiwick::policy::command::{Commands, Decision, Grant};
use serde_json::{Value, json};

use crate::installation::Installation;
use crate::needs::{available, lacks_full_sandbox};
use crate::source::repository;
use support::service::TestService;

/// The policy that `tests/commands/natural.md` judges by.
fn preset() -> Value {
    let text = fs::read_to_string(repository().join("tests/commands/natural.md")).expect("it is there");
    let (_, block) = text.split_once("```policy coding\n").expect("the file has the policy");
    let (block, _) = block.split_once("\n```").expect("the block is closed");
    serde_json::from_str(block).expect("JSON")
}

fn write_script(host: &TestService, path: &str, text: &str) {
    host.write(path, text);
    fs::set_permissions(host.path(path), fs::Permissions::from_mode(0o755)).expect("it is ours");
}

#[test]
fn the_preset_has_the_rules_by_which_natural_commands_are_judged() {
    let place = Installation::new();
    assert_eq!(place.run(&["setup", "project", "--preset", "full", "--yes"]).exit, 0);
    let config: Value =
        serde_json::from_str(&fs::read_to_string(place.config()).expect("there")).expect("JSON");
    let policy = &config["scopes"][0]["policy"];
    for (field, value) in preset().as_object().expect("an object") {
        assert_eq!(&policy[field], value, "{field}");
    }
    assert_eq!(policy["network"], Value::Null, "the network is the loopback of the commands");
}

#[test]
fn the_preset_asks_about_scripts_that_release_also_through_package_run() {
    let policy = serde_json::from_value(preset()).expect("a policy");
    let commands = Commands::compile("app", &policy).expect("good rules");
    let decide = |line: &str| {
        let argv = line.split(' ').map(str::to_owned).collect();
        commands.verdict(&CommandInput::Argv(argv), Grant::Package).expect("words").decision
    };
    for line in [
        "npm run deploy",
        "pnpm run release:minor",
        "yarn publish",
        "make deploy",
        "just release",
        "npm publish",
    ] {
        assert_eq!(decide(line), Decision::Ask, "{line}");
    }
    for line in ["npm run build", "make all", "just test", "npm run prepublish-check"] {
        assert_eq!(decide(line), Decision::Allow, "{line}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_as_agents_write_them_run_at_the_first_try() {
    if lacks_full_sandbox() {
        return;
    }
    let host = TestService::for_commands(preset());
    write_script(
        &host,
        ".venv/bin/pytest",
        "#!/bin/bash\nfor i in 1 2 3; do echo \"$FOO $i $*\"; done\necho bad >&2\n",
    );
    write_script(&host, "gradlew", "#!/bin/sh\necho \"gradle $1\"\n");
    fs::create_dir_all(host.path("node_modules/.bin")).expect("made");
    symlink("../../gradlew", host.path("node_modules/.bin/tsc")).expect("a link");
    host.write("src/a.py", "import os\nold = 1\n");
    host.write("src/b.py", "old = 2\n");
    for (command, expected) in [
        (json!("cd src && FOO=1 ../.venv/bin/pytest -q 2>&1 | tail -2"), "1 3 -q\nbad\n"),
        (json!([".venv/bin/pytest", "a b"]), " 1 a b\n 2 a b\n 3 a b\n"),
        (json!("./gradlew test"), "gradle test\n"),
        (json!(["./gradlew", "$(test)"]), "gradle $(test)\n"),
        (json!("node_modules/.bin/tsc --noEmit"), "gradle --noEmit\n"),
        (json!(["bash", "-lc", "cd src && ls *.py | wc -l"]), "2\n"),
        (
            json!("grep -rl old src | sort | xargs sed -i 's/old/new/g' && cat src/*.py"),
            "import os\nnew = 1\nnew = 2\n",
        ),
        (json!(["find", "src", "-name", "b.py", "-delete"]), ""),
        (
            json!("cat > notes.md <<'EOF'\ngit push; \"quoted\" $HOME\nEOF\ncat notes.md"),
            "git push; \"quoted\" $HOME\n",
        ),
        (json!("rm -rf src && [ -d src ] || echo gone"), "gone\n"),
        (json!("for f in a b; do touch $f.{c,h}; done; echo *.c *.h"), "a.c b.c a.h b.h\n"),
        (json!("x=$(printf '%s' hi) && echo \"${x}!\""), "hi!\n"),
    ] {
        let data = host.run(command.clone()).await;
        assert_eq!(data["exitCode"], 0, "{command}: {data:#}");
        assert_eq!(data["stdout"], expected, "{command}: {data:#}");
        assert_eq!(data["sandbox"]["level"], "full", "{command}: {data:#}");
    }
    // What a program says of itself is the program's: no second question, and no success.
    let data = host.run(json!(["./missing"])).await;
    assert_eq!(data["exitCode"], 127, "{data:#}");
    // The history shows what was asked for, and not how bash is started for it.
    let history = host.send(json!({"op": "history.last"})).await;
    assert_eq!(history["ok"], true, "{history:#}");
    let history = history.to_string();
    assert!(history.contains("./missing") && !history.contains("--noprofile"), "{history}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_leads_outside_or_is_closed_is_not_reached_by_a_text() {
    if lacks_full_sandbox() {
        return;
    }
    let host = TestService::for_commands(preset());
    let outside = host.path("../outside.txt");
    fs::write(&outside, "outside").expect("written");
    host.write(".env", "TOKEN=1\n");
    for command in [
        json!("cat ../outside.txt || true; true $X"),
        json!(["sh", "-c", "cat ../outside.txt; echo more >> ../outside.txt; rm -f ../outside.txt"]),
        json!("find .. -name 'out*' -exec cat {} +; echo done"),
    ] {
        let data = host.run(command.clone()).await;
        assert!(!data["stdout"].as_str().expect("text").contains("outside"), "{command}: {data:#}");
    }
    assert_eq!(fs::read_to_string(&outside).expect("it is there"), "outside");
    for command in
        [json!("cd . && cat .env"), json!("x=$(<.env)"), json!("sort < .env $X"), json!(["xxd", ".env"])]
    {
        let answer = host.answer(command.clone(), json!({})).await;
        assert_eq!(answer["error"]["code"], "permission_denied", "{command}: {answer:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_no_rule_sees_in_a_text_reaches_neither_the_network_nor_credentials() {
    if lacks_full_sandbox() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.set_nonblocking(true).expect("a socket");
    let port = listener.local_addr().expect("it is bound").port();
    let place = Installation::new();
    assert_eq!(place.run(&["setup", "project", "--preset", "full", "--yes"]).exit, 0);
    for (path, text) in
        [(".netrc", "machine"), (".npmrc", "token"), (".config/gh/hosts.yml", "oauth"), (".ssh/id_x", "key")]
    {
        let path = place.folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, format!("secret-{text}")).expect("written");
    }
    let home = place.folder.path().display().to_string();
    let text = format!(
        "env; ls -a ~; cat ~/.netrc ~/.npmrc ~/.config/gh/hosts.yml {home}/.netrc {home}/.ssh/id_x {home}/.npmrc; \
         git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; \
         sh -c \"$(echo Z2l0IHB1c2g= | base64 -d) http://127.0.0.1:{port}/x.git HEAD\" && echo pushed; \
         exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected; true"
    );
    let input = json!({"command": text}).to_string();
    let ran = place
        .command(&["call", "command.run", "--input", &input, "--json"])
        .envs([
            ("SSH_AUTH_SOCK", "/run/secret-agent"),
            ("GH_TOKEN", "secret-gh"),
            ("NPM_TOKEN", "secret-npm"),
        ])
        .output()
        .expect("the binary runs");
    let answer: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    let data = &answer["data"];
    assert_eq!(data["exitCode"], 0, "{answer:#}");
    assert_eq!(data["sandbox"]["network"], "loopback", "{answer:#}");
    let printed = format!("{}{}", data["stdout"], data["stderr"]);
    assert!(printed.contains("HOME="), "{answer:#}");
    for word in ["secret", "SSH_AUTH_SOCK", "GH_TOKEN", "NPM_TOKEN", "pushed", "connected"] {
        assert!(!data["stdout"].as_str().expect("text").contains(word), "{word}: {answer:#}");
    }
    assert!(listener.accept().is_err(), "somebody connected");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_no_full_sandbox_or_the_network_is_the_strict_rules_apply_and_say_so() {
    for level in available() {
        let mut policy = preset();
        policy["sandbox"] = json!(level);
        if level == Containment::Full {
            policy["network"] = json!("full");
        }
        let host = TestService::for_commands(policy);
        for (command, rule) in [
            (json!("echo $HOME"), "not-literal"),
            (json!("./gradlew test"), "program-word"),
            (json!(["sed", "-n", "1p", "x"]), "not-allowed"),
            (json!("cd src && ls"), "shell-builtin"),
        ] {
            let answer = host.answer(command.clone(), json!({})).await;
            assert_eq!(answer["error"]["details"]["rule"], rule, "{level} {command}: {answer:#}");
        }
        assert_eq!(host.run(json!(["echo", "a"])).await["stdout"], "a\n");
    }
}
