//! The commands as a person types them: what they ask, print and refuse.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use super::{ClientFixture, text};
use crate::source::repository;
use support::pty::Pty;

#[test]
fn without_a_terminal_nothing_is_written_unless_it_is_said() {
    let desk = ClientFixture::new();
    for words in [&["client", "install", "cursor"][..], &["client", "install", "cursor", "--json"]] {
        let ran = desk.run(words);
        assert_eq!(ran.exit, 14, "{}{}", ran.out, ran.err);
        assert!(format!("{}{}", ran.out, ran.err).contains("--yes"));
    }
    let shown = desk.well(&["client", "install", "cursor", "--dry-run"]);
    assert!(
        shown.out.contains("+    \"bailiwick\"") && shown.err.contains("Nothing was written"),
        "{}",
        shown.out
    );
    assert!(!desk.path(".cursor").exists());
    assert_eq!(desk.well(&["client", "list", "--changes"]).out, "No settings were changed.\n");
}

/// Runs a command on a terminal, answers each question in turn, and gives what it said.
fn at_a_terminal(desk: &ClientFixture, words: &[&str], answers: &[(&str, &str)]) -> (i32, String) {
    let mut terminal = Pty::start(&desk.command(words), 100, 200);
    for (question, keys) in answers {
        terminal.answer(question, keys);
    }
    let (exit, printed) = terminal.ended();
    (exit, String::from_utf8_lossy(&printed).into_owned())
}

#[test]
fn at_a_terminal_the_change_is_shown_and_asked_for() {
    let desk = ClientFixture::new();
    let (exit, said) = at_a_terminal(&desk, &["client", "install", "cursor"], &[("[Y/n]", "n\r")]);
    assert_eq!(exit, 0, "{said}");
    assert!(said.contains("Write this? [Y/n]") && said.contains("left as it is"), "{said}");
    assert!(!desk.path(".cursor").exists());
    let (exit, said) = at_a_terminal(&desk, &["client", "install", "cursor"], &[("[Y/n]", "\r")]);
    assert!(exit == 0 && said.contains("wrote"), "{said}");
    assert!(desk.read(".cursor/mcp.json").contains("bailiwick"));
}

#[test]
fn setup_offers_the_clients_that_are_there() {
    let desk = ClientFixture::new();
    fs::create_dir(desk.path(".cursor")).expect("made");
    fs::create_dir(desk.path(".gemini")).expect("made");
    // Without a terminal they are told of.
    let told = desk.well(&["setup", "project"]);
    assert!(told.err.contains("bailiwick client add cursor gemini"), "{}", told.err);
    let silent = desk.well(&["setup", "project", "--no-clients"]);
    assert!(!silent.err.contains("client add"), "{}", silent.err);
    let words = ["setup", "project", "--preset", "coding"];
    let (exit, said) = at_a_terminal(&desk, &words, &[("Change it? [Y/n]", "\r"), ("Connect which?", "2\r")]);
    assert_eq!(exit, 0, "{said}");
    assert!(!desk.path(".cursor/mcp.json").exists() && desk.path(".gemini/settings.json").exists(), "{said}");
    // One that is named is connected without a question.
    let named = desk.well(&["setup", "project", "--client", "zed", "--yes", "--json"]).json();
    assert_eq!(named["clients"]["edits"][0]["result"], "written", "{named}");
    assert!(desk.read(".config/zed/settings.json").contains("context_servers"));
}

#[test]
fn over_http_no_token_is_ever_written() {
    for (client, file, reference) in [
        ("claude-code", ".claude.json", "Bearer ${BAILIWICK_TOKEN}"),
        ("codex", ".codex/config.toml", "bearer_token_env_var = \"BAILIWICK_TOKEN\""),
        ("vscode", ".config/Code/User/mcp.json", "Bearer ${input:bailiwick-token}"),
        ("cursor", ".cursor/mcp.json", "Bearer ${env:BAILIWICK_TOKEN}"),
        ("windsurf", ".codeium/windsurf/mcp_config.json", "\"serverUrl\": \"http://127.0.0.1:3939/mcp\""),
        ("gemini", ".gemini/settings.json", "\"httpUrl\": \"http://127.0.0.1:3939/mcp\""),
        ("qwen", ".qwen/settings.json", "\"httpUrl\": \"http://127.0.0.1:3939/mcp\""),
        ("opencode", ".config/opencode/opencode.json", "Bearer {env:BAILIWICK_TOKEN}"),
    ] {
        let desk = ClientFixture::new();
        let ran =
            desk.well(&["client", "install", client, "--http", "--scope", "project", "--yes", "--json"]);
        let secret = ran.json()["tokens"][0]["secret"].as_str().expect("shown once").to_owned();
        let written = desk.read(file);
        assert!(written.contains(reference), "{client}: {written}");
        assert!(!written.contains("bwl_"), "{client}: {written}");
        let stored = text(&desk.path("home/state/clients/changes.json"));
        assert!(!stored.contains(&secret), "{stored}");
        let listed = desk.well(&["client", "list", "--json"]).json();
        let found = listed["clients"].as_array().expect("a list").iter().find(|it| it["client"] == client);
        assert_eq!(found.expect("listed")["state"], "connected", "{listed}");
        // From there to standard input, and out.
        desk.well(&["client", "install", client, "--yes"]);
        assert!(!desk.read(file).contains("127.0.0.1"), "{client}: {}", desk.read(file));
        desk.well(&["client", "remove", client, "--yes"]);
        assert!(!desk.path(file).exists(), "{client}: {}", desk.read(file));
    }
    let desk = ClientFixture::new();
    for client in ["claude-desktop", "zed", "continue", "cn", "goose", "cline", "junie", "lm-studio"] {
        let ran = desk.run(&["client", "install", client, "--http", "--yes"]);
        assert!(ran.exit == 17 && ran.err.contains("Leave out --http"), "{}", ran.err);
    }
}

#[test]
fn a_projects_settings_hold_no_secret_and_are_found_again() {
    let desk = ClientFixture::new();
    for (client, file) in [
        ("claude-code", "project/.mcp.json"),
        ("codex", "project/.codex/config.toml"),
        ("vscode", "project/.vscode/mcp.json"),
        ("cursor", "project/.cursor/mcp.json"),
        ("gemini", "project/.gemini/settings.json"),
        ("qwen", "project/.qwen/settings.json"),
        ("opencode", "project/opencode.json"),
    ] {
        desk.well(&["client", "install", client, "--http", "--project", "project", "--yes"]);
        let written = desk.read(file);
        assert!(written.contains("http://127.0.0.1:3939/mcp") && !written.contains("bwl_"), "{written}");
    }
    let listed = desk.well(&["client", "list", "--project", "project", "--json"]).json();
    let of_project: Vec<&Value> =
        listed["clients"].as_array().expect("a list").iter().filter(|it| it["ofProject"] == true).collect();
    assert_eq!(of_project.len(), 7, "{listed}");
    assert!(of_project.iter().all(|it| it["state"] == "connected"), "{listed}");
    desk.well(&["client", "remove", "--all", "--yes"]);
    let left: Vec<_> =
        fs::read_dir(desk.path("project")).expect("a folder").flatten().map(|it| it.file_name()).collect();
    assert_eq!(left, ["hello.txt"]);
    let none = desk.run(&["client", "install", "windsurf", "--project", "project", "--yes"]);
    assert!(none.exit == 17 && none.err.contains("no settings of a project"), "{}", none.err);
}

#[test]
fn questions_of_vs_code_are_shared_and_kept_apart() {
    let desk = ClientFixture::new();
    let file = ".config/Code/User/mcp.json";
    let before = "{\n\t\"inputs\": [\n\t\t{ \"id\": \"mine\", \"type\": \"promptString\" }\n\t],\n\t\"servers\": {}\n}\n";
    desk.write(file, before);
    desk.well(&["client", "install", "vscode", "--http", "--yes"]);
    desk.well(&["client", "install", "vscode", "--http", "--name", "second", "--yes"]);
    let value: Value = serde_json::from_str(&desk.read(file)).expect("JSON");
    let ids: Vec<&Value> = value["inputs"].as_array().expect("a list").iter().map(|it| &it["id"]).collect();
    assert_eq!(ids, ["mine", "bailiwick-token"]);
    assert_eq!(value["inputs"][1]["password"], true);
    desk.well(&["client", "remove", "vscode", "--yes"]);
    assert!(desk.read(file).contains("bailiwick-token"), "the second still asks");
    desk.well(&["client", "remove", "vscode", "--name", "second", "--yes"]);
    let value: Value = serde_json::from_str(&desk.read(file)).expect("JSON");
    assert_eq!(value, json!({"inputs": [{"id": "mine", "type": "promptString"}], "servers": {}}));
}

#[test]
fn a_client_can_be_held_to_a_scope_by_a_token_of_its_own() {
    let desk = ClientFixture::new();
    let unknown = desk.run(&["client", "install", "cursor", "--scope", "none", "--yes"]);
    assert_eq!(unknown.exit, 10, "{}", unknown.err);
    let ran = desk.well(&["client", "install", "cursor", "--scope", "project", "--yes", "--json"]);
    assert_eq!(ran.json()["tokens"], json!([{"name": "cursor", "secret": null}]));
    let entry: Value = serde_json::from_str(&desk.read(".cursor/mcp.json")).expect("JSON");
    assert_eq!(entry["mcpServers"]["bailiwick"]["args"], json!(["mcp", "--caller", "cursor"]));
    let tokens = desk.well(&["token", "list", "--json"]).json();
    let made = tokens["tokens"].as_array().expect("a list").iter().find(|it| it["name"] == "cursor");
    assert_eq!(made.expect("made")["scopes"], json!(["project"]));
    assert!(
        desk.well(&["client", "install", "cursor", "--scope", "project"]).out.contains("nothing to change")
    );

    // A token that is gone is told of.
    let missing = desk.run(&["client", "install", "gemini", "--caller", "nobody", "--yes"]);
    assert_eq!(missing.exit, 15, "{}", missing.err);
    let removed = desk.well(&["client", "remove", "cursor", "--yes"]);
    assert!(removed.out.contains("`cursor`, which was made for it, was revoked"), "{}", removed.out);
    assert!(!desk.well(&["token", "list"]).out.contains("cursor"));
}

#[test]
fn what_is_printed_is_what_is_written() {
    let desk = ClientFixture::new();
    for (client, file) in [
        ("claude-desktop", ".config/Claude/claude_desktop_config.json"),
        ("claude-code", ".claude.json"),
        ("codex", ".codex/config.toml"),
        ("vscode", ".config/Code/User/mcp.json"),
        ("cursor", ".cursor/mcp.json"),
        ("windsurf", ".codeium/windsurf/mcp_config.json"),
        ("zed", ".config/zed/settings.json"),
        ("gemini", ".gemini/settings.json"),
        ("qwen", ".qwen/settings.json"),
        ("opencode", ".config/opencode/opencode.json"),
        ("continue", ".continue/mcpServers/bailiwick.json"),
        ("cn", ".continue/config.yaml"),
        ("goose", ".config/goose/config.yaml"),
        ("junie", ".junie/mcp/mcp.json"),
        ("lm-studio", ".lmstudio/mcp.json"),
    ] {
        let printed = desk.well(&["client", "print", client]).out;
        desk.well(&["client", "install", client, "--yes"]);
        assert_eq!(desk.read(file), printed, "{client}");
    }
    let generic = desk.well(&["client", "print", "generic"]);
    desk.well(&["client", "install", "generic", "--settings", "some/where.json", "--yes"]);
    assert_eq!(desk.read("some/where.json"), generic.out);
    let where_to = desk.run(&["client", "install", "generic", "--yes"]);
    assert!(where_to.exit == 2 && where_to.err.contains("--settings"), "{}", where_to.err);
}

#[test]
fn all_takes_what_is_there_and_one_broken_file_stops_no_other() {
    let desk = ClientFixture::new();
    let none = desk.run(&["client", "install", "--all", "--yes"]);
    assert_eq!(none.exit, 15, "{}", none.err);
    desk.write(".cursor/mcp.json", "{broken");
    fs::create_dir(desk.path(".gemini")).expect("made");
    let ran = desk.run(&["client", "install", "--all", "--yes"]);
    assert_eq!(ran.exit, 16, "{}", ran.out);
    assert!(ran.out.contains("Cursor: ") && ran.out.contains("Gemini CLI: wrote"), "{}", ran.out);
    assert_eq!(desk.read(".cursor/mcp.json"), "{broken");
    // Named, it stops all: nothing is half done.
    let ran = desk.run(&["client", "install", "zed", "cursor", "--yes"]);
    assert_eq!(ran.exit, 16, "{}", ran.out);
    assert!(!desk.path(".config/zed").exists());
}

#[test]
fn entries_in_yaml_are_made_right_and_what_cannot_be_edited_stays() {
    let desk = ClientFixture::new();
    let file = ".config/goose/config.yaml";
    let own = "extensions:\n  bailiwick:\n    name: Mine # a name\n    enabled: false\n    timeout: 20\n    type: stdio\n    cmd: /old/bailiwick\n    args: [mcp]\n    uri: http://x\n";
    desk.write(file, own);
    desk.well(&["client", "install", "goose", "--yes"]);
    let written = desk.read(file);
    for kept in ["name: Mine # a name", "enabled: false", "timeout: 20", "args: [mcp]", "BAILIWICK_HOME"] {
        assert!(written.contains(kept), "{written}");
    }
    assert!(!written.contains("/old/bailiwick") && !written.contains("uri:"), "{written}");
    assert!(desk.well(&["client", "install", "goose", "--yes"]).out.contains("nothing to change"));
    desk.well(&["client", "undo", "--yes"]);
    assert_eq!(desk.read(file), own);
    for (text, problem) in [
        ("a: [1\n", "cannot be parsed"),
        ("- a\n- b\n", "no mapping"),
        ("a: 1\n---\nb: 2\n", "several documents"),
        ("extensions: all\n", "no servers"),
        ("a: 1\na: 2\n", "stays as it is"),
        ("extensions:\n  bailiwick:\n    type: stdio\n    cmd: other\n    args: []\n", "is not Bailiwick"),
    ] {
        desk.write(file, text);
        let ran = desk.run(&["client", "install", "goose", "--yes"]);
        assert!(ran.exit == 16 && ran.err.contains(problem), "{text}: {} {}", ran.exit, ran.err);
        assert_eq!(desk.read(file), text);
    }
}

#[test]
fn a_misspelt_client_is_answered_by_the_right_one() {
    let desk = ClientFixture::new();
    for (typed, meant) in
        [("cursr", "cursor"), ("claudecode", "claude-code"), ("vs-code", ""), ("windsurff", "windsurf")]
    {
        let ran = desk.run(&["client", "print", typed]);
        if meant.is_empty() {
            assert_eq!(ran.exit, 0, "{}", ran.err);
        } else {
            assert!(ran.exit == 2 && ran.err.contains(&format!("'{meant}'")), "{typed}: {}", ran.err);
        }
    }
    let ran = desk.run(&["client", "install", "cursor", "--name", "a.b", "--yes"]);
    assert!(ran.exit == 2 && ran.err.contains("letters, digits"), "{}", ran.err);
    let script = desk.well(&["completions", "bash"]).out;
    assert!(script.contains("claude-desktop claude-code codex vscode cursor windsurf zed gemini qwen opencode continue cn goose cline junie lm-studio generic"));
}

#[test]
fn every_example_of_the_help_can_be_typed() {
    let mut tried = 0;
    for command in ["list", "install", "print", "remove", "undo", "mcpb"] {
        let desk = ClientFixture::new();
        fs::create_dir(desk.path("app")).expect("made");
        desk.well(&["scope", "add", "app"]);
        let help = desk.well(&["client", command, "--help"]).out;
        let examples =
            help.split("Examples:").nth(1).unwrap_or_else(|| panic!("{command} has examples: {help}"));
        let joined = examples.replace("\\\n", " ");
        for line in joined.lines().filter_map(|line| line.trim().strip_prefix("bailiwick ")) {
            let mut words: Vec<&str> = line.split_whitespace().collect();
            if command == "mcpb" {
                // A program of a few bytes packs faster than this one.
                words.extend(["--binary", "project/hello.txt", "--platform", "linux"]);
            }
            let ran = desk.run(&words);
            // Some would ask a person, and have nothing to undo or remove here.
            assert!([0, 14, 15].contains(&ran.exit), "{line}: {} {}{}", ran.exit, ran.out, ran.err);
            tried += 1;
        }
    }
    assert!(tried >= 12, "{tried}");
}

#[test]
fn every_answer_with_json_follows_its_schema() {
    let desk = ClientFixture::new();
    fs::create_dir(desk.path(".cursor")).expect("made");
    let calls: [(&str, &[&str]); 8] = [
        ("client.list", &["client", "list", "--json"]),
        ("client.add", &["client", "add", "cursor", "--dry-run", "--json"]),
        ("client.add", &["client", "add", "--all", "--scope", "project", "--yes", "--json"]),
        ("client.list.changes", &["client", "list", "--changes", "--json"]),
        ("client.print", &["client", "print", "codex", "--json"]),
        ("client.undo", &["client", "undo", "--dry-run", "--json"]),
        ("client.remove", &["client", "remove", "--all", "--yes", "--json"]),
        (
            "client.mcpb",
            &["client", "mcpb", "--binary", "project/hello.txt", "--platform", "linux", "--json"],
        ),
    ];
    for (name, words) in calls {
        let schema: Value =
            serde_json::from_str(&text(&repository().join(format!("schemas/cli/{name}.json"))))
                .expect("JSON");
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        let answer = desk.well(words).json();
        let problems: Vec<String> = validator.iter_errors(&answer).map(|error| error.to_string()).collect();
        assert!(problems.is_empty(), "{words:?}: {problems:?} {answer}");
    }
}

#[test]
fn a_connected_client_starts_a_server_that_answers() {
    let desk = ClientFixture::new();
    desk.well(&["client", "install", "cursor", "--scope", "project", "--yes"]);
    let settings: Value = serde_json::from_str(&desk.read(".cursor/mcp.json")).expect("JSON");
    let entry = &settings["mcpServers"]["bailiwick"];
    let words = entry["args"].as_array().expect("a list").iter().filter_map(Value::as_str);
    let mut child = std::process::Command::new(entry["command"].as_str().expect("a program"))
        .args(words)
        .env_clear()
        .envs(
            entry["env"]
                .as_object()
                .expect("a table")
                .iter()
                .map(|(name, it)| (name, it.as_str().expect("text"))),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let mut input = child.stdin.take().expect("piped");
    writeln!(input, "{hello}").expect("sent");
    let mut answer = String::new();
    BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut answer).expect("answered");
    drop(input);
    let mut rest = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut rest).expect("it ends");
    assert!(child.wait().expect("it ends").success());
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!(answer["result"]["serverInfo"]["name"], "bailiwick", "{answer}");
}

#[test]
fn setup_needs_no_clients_and_no_home_folder() {
    let desk = ClientFixture::new();
    let ran = desk.command(&["setup", "project"]).env_remove("HOME").output().expect("the binary runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let listed = desk.command(&["client", "list"]).env_remove("HOME").output().expect("the binary runs");
    let said = String::from_utf8_lossy(&listed.stderr).into_owned();
    assert!(listed.status.code() == Some(18) && said.contains("HOME is not set"), "{said}");
}

#[test]
fn an_entry_over_http_has_the_port_of_the_service_that_runs() {
    let desk = ClientFixture::new();
    let entry = || desk.well(&["client", "print", "cursor", "--http", "--scope", "project"]).out;
    assert!(entry().contains("http://127.0.0.1:3939/mcp"), "{}", entry());
    let mut service = desk.installation.start();
    let address = service.started["address"].as_str().expect("an address").to_owned();
    assert!(entry().contains(&format!("http://{address}/mcp")), "{}", entry());
    // What a service that was killed has left behind is not believed.
    service.child.kill().expect("killed");
    service.end();
    assert!(entry().contains("http://127.0.0.1:3939/mcp"), "{}", entry());
}
