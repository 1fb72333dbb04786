//! Settings as people have them: one entry comes in, everything else stays, and it goes out again to the byte.

use super::ClientFixture;

/// The settings of a client before and after.
struct Case {
    client: &'static str,
    file: &'static str,
    before: &'static str,
    after: &'static str,
}

const CASES: &[Case] = &[
    Case {
        client: "claude-desktop",
        file: ".config/Claude/claude_desktop_config.json",
        before: "{\n    \"globalShortcut\": \"\",\n    \"mcpServers\": {\n        \"files\": {\"command\": \"npx\", \"args\": [\"-y\", \"x\"]}\n    }\n}",
        after: "{\n    \"globalShortcut\": \"\",\n    \"mcpServers\": {\n        \"files\": {\"command\": \"npx\", \"args\": [\"-y\", \"x\"]},\n        \"bailiwick\": {\n            \"command\": \"{BIN}\",\n            \"args\": [\"mcp\"],\n            \"env\": {\n                \"BAILIWICK_HOME\": \"{HOME}\"\n            }\n        }\n    }\n}",
    },
    Case {
        client: "claude-code",
        file: ".claude.json",
        before: "{\n  \"numStartups\": 7,\n  \"projects\": {\"/p\": {\"mcpServers\": {\"x\": {\"command\": \"x\"}}}}\n}\n",
        after: "{\n  \"numStartups\": 7,\n  \"projects\": {\"/p\": {\"mcpServers\": {\"x\": {\"command\": \"x\"}}}},\n  \"mcpServers\": {\n    \"bailiwick\": {\n      \"type\": \"stdio\",\n      \"command\": \"{BIN}\",\n      \"args\": [\"mcp\"],\n      \"env\": {\n        \"BAILIWICK_HOME\": \"{HOME}\"\n      }\n    }\n  }\n}\n",
    },
    Case {
        client: "codex",
        file: ".codex/config.toml",
        before: "# mine\nmodel = \"x\"   # the best\n\n[mcp_servers.other]\ncommand = 'o' # odd\n\n[profiles.\"a b\"]\nx = 1\n# the end",
        after: "# mine\nmodel = \"x\"   # the best\n\n[mcp_servers.other]\ncommand = 'o' # odd\n\n[profiles.\"a b\"]\nx = 1\n# the end\n\n[mcp_servers.bailiwick]\ncommand = \"{BIN}\"\nargs = [\"mcp\"]\nenv = { BAILIWICK_HOME = \"{HOME}\" }\n",
    },
    // Tabs, CRLF, comments and trailing commas.
    Case {
        client: "vscode",
        file: ".config/Code/User/mcp.json",
        before: "{\r\n\t// all of mine\r\n\t\"servers\": {\r\n\t\t\"a\": { \"type\": \"stdio\", \"command\": \"a\" }, // keep\r\n\t},\r\n}\r\n",
        after: "{\r\n\t// all of mine\r\n\t\"servers\": {\r\n\t\t\"a\": { \"type\": \"stdio\", \"command\": \"a\" }, // keep\r\n\t\t\"bailiwick\": {\r\n\t\t\t\"type\": \"stdio\",\r\n\t\t\t\"command\": \"{BIN}\",\r\n\t\t\t\"args\": [\"mcp\"],\r\n\t\t\t\"env\": {\r\n\t\t\t\t\"BAILIWICK_HOME\": \"{HOME}\",\r\n\t\t\t},\r\n\t\t},\r\n\t},\r\n}\r\n",
    },
    // An empty file.
    Case {
        client: "cursor",
        file: ".cursor/mcp.json",
        before: "",
        after: "{\n  \"mcpServers\": {\n    \"bailiwick\": {\n      \"command\": \"{BIN}\",\n      \"args\": [\"mcp\"],\n      \"env\": {\n        \"BAILIWICK_HOME\": \"{HOME}\"\n      }\n    }\n  }\n}\n",
    },
    // All on one line.
    Case {
        client: "windsurf",
        file: ".codeium/windsurf/mcp_config.json",
        before: "{\"mcpServers\":{}}",
        after: "{\"mcpServers\":{\n    \"bailiwick\": {\n      \"command\": \"{BIN}\",\n      \"args\": [\"mcp\"],\n      \"env\": {\n        \"BAILIWICK_HOME\": \"{HOME}\"\n      }\n    }\n  }}",
    },
    // A byte order mark, and comments at both ends.
    Case {
        client: "zed",
        file: ".config/zed/settings.json",
        before: "\u{feff}// Zed settings\n{\n  \"theme\": \"One\", /* dark */\n  \"context_servers\": {\n    // none yet\n  }\n}\n// end\n",
        after: "\u{feff}// Zed settings\n{\n  \"theme\": \"One\", /* dark */\n  \"context_servers\": {\n    // none yet\n    \"bailiwick\": {\n      \"command\": \"{BIN}\",\n      \"args\": [\"mcp\"],\n      \"env\": {\n        \"BAILIWICK_HOME\": \"{HOME}\"\n      }\n    }\n  }\n}\n// end\n",
    },
    Case {
        client: "gemini",
        file: ".gemini/settings.json",
        before: "{\n\t\"mcpServers\": {\n\t\t\"z\": {\"httpUrl\": \"https://z/mcp\", \"headers\": {\"Authorization\": \"Bearer zzz\"}}\n\t},\n\t\"selectedAuthType\": \"api-key\"\n}\n",
        after: "{\n\t\"mcpServers\": {\n\t\t\"z\": {\"httpUrl\": \"https://z/mcp\", \"headers\": {\"Authorization\": \"Bearer zzz\"}},\n\t\t\"bailiwick\": {\n\t\t\t\"command\": \"{BIN}\",\n\t\t\t\"args\": [\"mcp\"],\n\t\t\t\"env\": {\n\t\t\t\t\"BAILIWICK_HOME\": \"{HOME}\"\n\t\t\t}\n\t\t}\n\t},\n\t\"selectedAuthType\": \"api-key\"\n}\n",
    },
    Case {
        client: "qwen",
        file: ".qwen/settings.json",
        before: "{\n  \"model\": {\"name\": \"x\"}\n}\n",
        after: "{\n  \"model\": {\"name\": \"x\"},\n  \"mcpServers\": {\n    \"bailiwick\": {\n      \"command\": \"{BIN}\",\n      \"args\": [\"mcp\"],\n      \"env\": {\n        \"BAILIWICK_HOME\": \"{HOME}\"\n      }\n    }\n  }\n}\n",
    },
    // The program and its words in one list.
    Case {
        client: "opencode",
        file: ".config/opencode/opencode.json",
        before: "{\n  \"$schema\": \"https://opencode.ai/config.json\", // theirs\n  \"mcp\": {\n    \"a\": {\"type\": \"local\", \"command\": [\"a\"]}\n  }\n}\n",
        after: "{\n  \"$schema\": \"https://opencode.ai/config.json\", // theirs\n  \"mcp\": {\n    \"a\": {\"type\": \"local\", \"command\": [\"a\"]},\n    \"bailiwick\": {\n      \"type\": \"local\",\n      \"command\": [\"{BIN}\", \"mcp\"],\n      \"environment\": {\n        \"BAILIWICK_HOME\": \"{HOME}\"\n      }\n    }\n  }\n}\n",
    },
    Case {
        client: "continue",
        file: ".continue/mcpServers/bailiwick.json",
        before: "{}\n",
        after: "{\n  \"mcpServers\": {\n    \"bailiwick\": {\n      \"command\": \"{BIN}\",\n      \"args\": [\"mcp\"],\n      \"env\": {\n        \"BAILIWICK_HOME\": \"{HOME}\"\n      }\n    }\n  }\n}\n",
    },
    Case {
        client: "cline",
        file: ".cline/data/settings/cline_mcp_settings.json",
        before: "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"a\", \"disabled\": true}\n  }\n}",
        after: "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"a\", \"disabled\": true},\n    \"bailiwick\": {\n      \"command\": \"{BIN}\",\n      \"args\": [\"mcp\"],\n      \"env\": {\n        \"BAILIWICK_HOME\": \"{HOME}\"\n      }\n    }\n  }\n}",
    },
    Case {
        client: "junie",
        file: ".junie/mcp/mcp.json",
        before: "{\n\t\"mcpServers\": {}\n}\n",
        after: "{\n\t\"mcpServers\": {\n\t\t\"bailiwick\": {\n\t\t\t\"command\": \"{BIN}\",\n\t\t\t\"args\": [\"mcp\"],\n\t\t\t\"env\": {\n\t\t\t\t\"BAILIWICK_HOME\": \"{HOME}\"\n\t\t\t}\n\t\t}\n\t}\n}\n",
    },
    Case {
        client: "lm-studio",
        file: ".lmstudio/mcp.json",
        before: "{\n  \"mcpServers\": {\n    \"a\": {\"url\": \"https://a/mcp\"}\n  }\n}\n",
        after: "{\n  \"mcpServers\": {\n    \"a\": {\"url\": \"https://a/mcp\"},\n    \"bailiwick\": {\n      \"command\": \"{BIN}\",\n      \"args\": [\"mcp\"],\n      \"env\": {\n        \"BAILIWICK_HOME\": \"{HOME}\"\n      }\n    }\n  }\n}\n",
    },
    // A mapping between others, with comments.
    Case {
        client: "goose",
        file: ".config/goose/config.yaml",
        before: "# mine\nGOOSE_MODEL: x # the best\nextensions:\n  developer:\n    enabled: true # keep\n    type: builtin\n\n  # second\n  memory: {enabled: false}\n\n# after\nGOOSE_MODE: auto\n",
        after: "# mine\nGOOSE_MODEL: x # the best\nextensions:\n  developer:\n    enabled: true # keep\n    type: builtin\n\n  # second\n  memory: {enabled: false}\n  bailiwick:\n    name: bailiwick\n    type: stdio\n    enabled: true\n    timeout: 300\n    cmd: {BIN}\n    args:\n      - mcp\n    envs:\n      BAILIWICK_HOME: {HOME}\n\n# after\nGOOSE_MODE: auto\n",
    },
    // No servers yet, CRLF, and a comment at the end.
    Case {
        client: "goose",
        file: ".config/goose/config.yaml",
        before: "GOOSE_MODE: auto\r\n# the end\r\n",
        after: "GOOSE_MODE: auto\r\n# the end\r\nextensions:\r\n  bailiwick:\r\n    name: bailiwick\r\n    type: stdio\r\n    enabled: true\r\n    timeout: 300\r\n    cmd: {BIN}\r\n    args:\r\n      - mcp\r\n    envs:\r\n      BAILIWICK_HOME: {HOME}\r\n",
    },
    // A list.
    Case {
        client: "cn",
        file: ".continue/config.yaml",
        before: "name: mine\nmcpServers:\n- name: other # odd\n  command: npx\n\n# models\nmodels: []\n",
        after: "name: mine\nmcpServers:\n- name: other # odd\n  command: npx\n- name: bailiwick\n  command: {BIN}\n  args:\n    - mcp\n  env:\n    BAILIWICK_HOME: {HOME}\n\n# models\nmodels: []\n",
    },
    // JSON is YAML.
    Case {
        client: "cn",
        file: ".continue/config.yaml",
        before: "{\"name\": \"mine\", \"mcpServers\": []}\n",
        after: "{\"name\": \"mine\", \"mcpServers\": [{name: bailiwick, command: {BIN}, args: [mcp], env: {BAILIWICK_HOME: {HOME}}}]}\n",
    },
    // Tables that no header may add to.
    Case {
        client: "codex",
        file: ".codex/config.toml",
        before: "mcp_servers = { a = { command = \"a\" } }\nmodel = \"x\"\n",
        after: "mcp_servers = { a = { command = \"a\" } , bailiwick = { command = \"{BIN}\", args = [\"mcp\"], env = { BAILIWICK_HOME = \"{HOME}\" } } }\nmodel = \"x\"\n",
    },
    Case {
        client: "codex",
        file: ".codex/config.toml",
        before: "# keys with dots\r\nmcp_servers.a.command = \"a\"\r\n[tui]\r\nx = 1\r\n",
        after: "# keys with dots\r\nmcp_servers.a.command = \"a\"\r\nmcp_servers.bailiwick = { command = \"{BIN}\", args = [\"mcp\"], env = { BAILIWICK_HOME = \"{HOME}\" } }\r\n[tui]\r\nx = 1\r\n",
    },
];

#[test]
fn each_client_gets_its_entry_once_and_gives_it_back_to_the_byte() {
    for case in CASES {
        let desk = ClientFixture::new();
        desk.write(case.file, case.before);
        let first = desk.well(&["client", "install", case.client, "--yes"]);
        assert!(first.out.contains("+"), "{}: a diff is shown: {}", case.client, first.out);
        assert_eq!(desk.read(case.file), desk.filled(case.after), "{}", case.client);

        let second = desk.well(&["client", "install", case.client]);
        assert!(second.out.contains("nothing to change"), "{}", second.out);
        assert_eq!(desk.read(case.file), desk.filled(case.after), "{}", case.client);

        desk.well(&["client", "remove", case.client, "--yes"]);
        assert_eq!(desk.read(case.file), case.before, "{}", case.client);
        let again = desk.well(&["client", "remove", case.client]);
        assert!(again.out.contains("nothing to change"), "{}", again.out);
    }
}

#[test]
fn what_the_person_changed_since_stays_when_the_entry_goes() {
    for case in CASES.iter().filter(|case| !case.before.is_empty()) {
        let desk = ClientFixture::new();
        desk.write(case.file, case.before);
        desk.well(&["client", "install", case.client, "--yes"]);
        let comment =
            if ["codex", "goose", "cn"].contains(&case.client) { "# later\n" } else { "// later\n" };
        let (mark, rest) = desk.read(case.file).strip_prefix('\u{feff}').map_or_else(
            || (String::new(), desk.read(case.file)),
            |rest| ("\u{feff}".to_owned(), rest.to_owned()),
        );
        desk.write(case.file, &format!("{mark}{comment}{rest}"));
        desk.well(&["client", "remove", case.client, "--yes"]);
        let left = desk.read(case.file);
        assert!(left.contains(comment) && !left.contains("bailiwick"), "{}: {left}", case.client);
        let mut expected = case.before.trim_start_matches('\u{feff}').replace([' ', '\n', '\r', '\t'], "");
        let mut shown = left.trim_start_matches('\u{feff}').replacen(comment, "", 1);
        shown = shown.replace([' ', '\n', '\r', '\t'], "");
        // An end without a line break gets one; commas at ends may differ.
        expected = expected.replace(",}", "}");
        shown = shown.replace(",}", "}");
        assert_eq!(shown, expected, "{}", case.client);
    }
}

#[test]
fn settings_that_cannot_be_parsed_stay_and_the_place_is_told() {
    for (client, file, broken, place) in [
        ("cursor", ".cursor/mcp.json", "{\n  \"mcpServers\": {\n    \"a\": }\n}\n", "line 3, column 10"),
        ("zed", ".config/zed/settings.json", "{\"a\": 1 \"b\": 2}", "line 1, column"),
        ("gemini", ".gemini/settings.json", "{\"mcpServers\": {\"a\": {}", "line 1, column"),
        ("codex", ".codex/config.toml", "model = \"x\"\n[mcp_servers.a\n", "line 2, column"),
        ("codex", ".codex/config.toml", "a = 1\na = 2\n", "line 2, column"),
        ("cursor", ".cursor/mcp.json", "[]", "no JSON object"),
        ("cursor", ".cursor/mcp.json", "{\"mcpServers\": []}", "`mcpServers`"),
        ("cursor", ".cursor/mcp.json", "{\"mcpServers\": {}, \"mcpServers\": {}}", "twice"),
        ("codex", ".codex/config.toml", "mcp_servers = 1\n", "`mcp_servers`"),
    ] {
        let desk = ClientFixture::new();
        desk.write(file, broken);
        let ran = desk.run(&["client", "install", client, "--yes"]);
        assert_eq!(ran.exit, 16, "{broken}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(place) && ran.err.contains("stays as it is"), "{broken}: {}", ran.err);
        assert!(ran.err.contains("hint:"), "{}", ran.err);
        assert_eq!(desk.read(file), broken);
        let listed = desk.well(&["client", "list", "--json"]).json();
        let state = listed["clients"].as_array().expect("a list").iter().find(|it| it["client"] == client);
        let state = &state.expect("it is listed")["state"];
        assert!(state == "unreadable" || state == "not-connected", "{broken}: {state}");
    }
    let desk = ClientFixture::new();
    std::fs::create_dir(desk.path(".cursor")).expect("made");
    std::fs::write(desk.path(".cursor/mcp.json"), b"{\"a\": \"\xff\"}").expect("written");
    let ran = desk.run(&["client", "install", "cursor", "--yes"]);
    assert!(ran.exit == 16 && ran.err.contains("byte 7"), "{}", ran.err);
}

#[test]
fn an_entry_of_another_server_is_a_conflict_and_another_name_is_none() {
    let taken =
        "{\"mcpServers\": {\"bailiwick\": {\"command\": \"npx\", \"args\": [\"bailiwick-of-another\"]}}}";
    let desk = ClientFixture::new();
    desk.write(".cursor/mcp.json", taken);
    for words in [&["client", "install", "cursor", "--yes"][..], &["client", "remove", "cursor", "--yes"]] {
        let ran = desk.run(words);
        assert_eq!(ran.exit, 16, "{}", ran.err);
        assert!(ran.err.contains("not Bailiwick") && ran.err.contains("--name bailiwick-2"), "{}", ran.err);
        assert_eq!(desk.read(".cursor/mcp.json"), taken);
    }
    desk.well(&["client", "install", "cursor", "--name", "bailiwick-2", "--yes"]);
    assert!(desk.read(".cursor/mcp.json").contains("bailiwick-of-another"));
    let listed = desk.well(&["client", "list", "--json"]).json();
    let states: Vec<_> = listed["clients"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|it| it["client"] == "cursor")
        .map(|it| (it["name"].clone(), it["state"].clone()))
        .collect();
    assert_eq!(states, [("bailiwick".into(), "foreign".into()), ("bailiwick-2".into(), "connected".into())]);
    desk.well(&["client", "remove", "cursor", "--name", "bailiwick-2", "--yes"]);
    assert_eq!(desk.read(".cursor/mcp.json"), taken);
}

#[test]
fn an_entry_that_is_out_of_date_is_made_right_and_keeps_the_persons_fields() {
    let desk = ClientFixture::new();
    let old = "{\n  \"mcpServers\": {\n    \"bailiwick\": {\n      // mine\n      \"command\": \"/gone/bailiwick\", // moved\n      \"args\": [\"mcp\"],\n      \"disabled\": false,\n      \"env\": {\"RUST_LOG\": \"x\"}\n    }\n  }\n}\n";
    desk.write(".cursor/mcp.json", old);
    let listed = desk.well(&["client", "list"]);
    assert!(
        listed.out.contains("broken") && listed.err.contains("/gone/bailiwick"),
        "{}{}",
        listed.out,
        listed.err
    );
    desk.well(&["client", "install", "cursor", "--yes"]);
    let new = desk.read(".cursor/mcp.json");
    for part in [
        "// mine",
        "// moved",
        "\"disabled\": false",
        "\"RUST_LOG\": \"x\"",
        &desk.filled("\"command\": \"{BIN}\""),
    ] {
        assert!(new.contains(part), "{part}: {new}");
    }
    assert!(desk.well(&["client", "list"]).out.contains("connected"));

    desk.write(".codex/config.toml", "[mcp_servers.bailiwick]\nurl = \"http://127.0.0.1:3939/mcp\" # over HTTP\ntool_timeout_sec = 9\n\n[mcp_servers.bailiwick.env]\nX = \"1\"\n");
    desk.well(&["client", "install", "codex", "--yes"]);
    let new = desk.read(".codex/config.toml");
    assert!(
        new.contains("tool_timeout_sec = 9") && new.contains("X = \"1\"") && !new.contains("url"),
        "{new}"
    );
    assert!(new.contains(&desk.filled("command = \"{BIN}\"")), "{new}");
}
