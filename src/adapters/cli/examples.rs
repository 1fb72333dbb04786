//! The examples in the help of commands. A test runs each of them.
//!
//! Words in capitals stand for ids that a command before prints.

/// The commands with their examples.
const EXAMPLES: &[(&str, &[&str])] = &[
    ("try", &["bailiwick try", "bailiwick try app"]),
    ("setup", &["bailiwick setup app --yes", "bailiwick setup app --preset read-only --yes"]),
    ("here", &["bailiwick here --yes"]),
    ("serve", &["bailiwick serve", "bailiwick serve --port 4040"]),
    ("mcp", &["bailiwick mcp", "bailiwick mcp --token laptop"]),
    ("status", &["bailiwick status", "bailiwick status -v"]),
    (
        "doctor",
        &[
            "bailiwick doctor",
            "bailiwick doctor --fix --dry-run",
            "bailiwick doctor --prove",
            "bailiwick doctor --report report.zip",
        ],
    ),
    ("watch", &["bailiwick watch", "bailiwick watch --scope app"]),
    ("bundle", &["bailiwick bundle --out bailiwick.zip", "bailiwick bundle --inspect bailiwick.zip"]),
    ("approve", &["bailiwick approve --list"]),
    (
        "log",
        &[
            "bailiwick log --since 2h --failed",
            "bailiwick log --op git --client claude-code",
            "bailiwick log show OPERATION",
            "bailiwick log replay",
            "bailiwick log verify",
        ],
    ),
    ("ps", &["bailiwick ps"]),
    ("ps list", &["bailiwick ps list --json"]),
    ("ps logs", &["bailiwick ps logs PROCESS -n 20", "bailiwick ps logs PROCESS --follow"]),
    ("ps stop", &["bailiwick ps stop PROCESS", "bailiwick ps stop --all"]),
    ("service install", &["bailiwick service install --dry-run"]),
    ("service start", &["bailiwick service start"]),
    ("service stop", &["bailiwick service stop"]),
    ("service status", &["bailiwick service status"]),
    ("service logs", &["bailiwick service logs -n 20"]),
    ("service remove", &["bailiwick service remove --dry-run"]),
    ("scope list", &["bailiwick scope list"]),
    ("scope show", &["bailiwick scope show app"]),
    ("scope add", &["bailiwick scope add lib --preset read-only", "bailiwick scope add lib --dry-run"]),
    ("scope add-screen", &["bailiwick scope add-screen screen"]),
    ("scope add-display", &["bailiwick scope add-display play --for app"]),
    ("scope edit", &["bailiwick scope edit app --network loopback --limit runtime-seconds=600"]),
    ("scope remove", &["bailiwick scope remove lib --dry-run", "bailiwick scope remove lib --yes"]),
    (
        "scope allow",
        &[
            "bailiwick scope allow app fs:write",
            "bailiwick scope allow app git:write --ask",
            "bailiwick scope allow app --files .env.example",
            "bailiwick scope allow app command:run --command 'npm run *'",
            "bailiwick scope allow app --host github.com --package-registries",
        ],
    ),
    (
        "scope deny",
        &[
            "bailiwick scope deny app fs:write",
            "bailiwick scope deny app --files '*.sqlite'",
            "bailiwick scope deny app --command 'git push *'",
        ],
    ),
    ("screen status", &["bailiwick screen status"]),
    ("tunnel cloudflare", &["bailiwick tunnel cloudflare --dry-run"]),
    ("tunnel tailscale", &["bailiwick tunnel tailscale --dry-run"]),
    ("tunnel openai", &["bailiwick tunnel openai tunnel_0123456789abcdef0123456789abcdef --dry-run"]),
    ("tunnel manual", &["bailiwick tunnel manual https://bw.example --dry-run"]),
    ("tunnel off", &["bailiwick tunnel off"]),
    ("token code", &["bailiwick token code"]),
    (
        "token create",
        &[
            "bailiwick token create phone --expires 30d",
            "bailiwick token create ci --scope app --capability fs:read --capability search:read",
        ],
    ),
    ("token list", &["bailiwick token list"]),
    (
        "token rotate",
        &["bailiwick token rotate laptop --yes", "bailiwick token rotate laptop --expires 90d --yes"],
    ),
    ("token revoke", &["bailiwick token revoke laptop --yes"]),
    ("policy untrusted", &["bailiwick policy untrusted"]),
    ("policy learn", &["bailiwick policy learn", "bailiwick policy learn --since 7d --apply"]),
    (
        "policy test",
        &[
            "bailiwick policy test commands.tsv --scope app",
            "bailiwick policy test --against-history --since 7d new.json",
        ],
    ),
    ("policy why", &["bailiwick policy why OPERATION"]),
    ("connect", &["bailiwick connect"]),
    ("self-test", &["bailiwick self-test"]),
    ("completions", &["bailiwick completions bash", "bailiwick completions powershell"]),
    ("man", &["bailiwick man man1"]),
    ("config path", &["bailiwick config path"]),
    ("config show", &["bailiwick config show", "bailiwick config show --defaults"]),
    ("config validate", &["bailiwick config validate", "bailiwick config validate draft.json"]),
    ("config edit", &["bailiwick config edit"]),
    ("undo", &["bailiwick undo --dry-run", "bailiwick undo --since 10m", "bailiwick undo OPERATION --yes"]),
    ("uninstall", &["bailiwick uninstall --dry-run"]),
    ("config undo", &["bailiwick config undo --dry-run", "bailiwick config undo --yes"]),
    ("tools", &["bailiwick tools", "bailiwick tools --token laptop"]),
];

/// Returns the examples of a command, which is named without the program.
pub fn examples(command: &str) -> Option<&'static [&'static str]> {
    EXAMPLES.iter().find(|(name, _)| *name == command).map(|(_, lines)| *lines)
}
