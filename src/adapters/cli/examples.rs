//! The examples in the help of commands. A test runs each of them.
//!
//! Words in capitals stand for ids that a command before prints.

/// The commands with their examples.
const EXAMPLES: &[(&str, &[&str])] = &[
    ("try", &["bailiwick try", "bailiwick try app"]),
    ("setup", &["bailiwick setup app --yes", "bailiwick setup app --preset read-only --yes"]),
    ("here", &["bailiwick here --yes"]),
    ("start", &["bailiwick start", "bailiwick start --port 4040"]),
    ("mcp", &["bailiwick mcp", "bailiwick mcp --caller laptop"]),
    ("status", &["bailiwick status", "bailiwick status --details"]),
    ("doctor", &["bailiwick doctor", "bailiwick doctor --fix --dry-run", "bailiwick doctor --prove"]),
    ("bundle", &["bailiwick bundle --out bailiwick.zip", "bailiwick bundle --inspect bailiwick.zip"]),
    ("approve", &["bailiwick approve --list"]),
    (
        "history",
        &[
            "bailiwick history --limit 5",
            "bailiwick history --follow --scope app",
            "bailiwick history get OPERATION",
            "bailiwick history failed-replay",
            "bailiwick history verify",
        ],
    ),
    ("processes", &["bailiwick processes"]),
    ("processes list", &["bailiwick processes list --json"]),
    (
        "processes read",
        &["bailiwick processes read PROCESS --tail 20", "bailiwick processes read PROCESS --follow"],
    ),
    ("processes stop", &["bailiwick processes stop PROCESS", "bailiwick processes stop --all"]),
    ("service install", &["bailiwick service install --dry-run"]),
    ("service start", &["bailiwick service start"]),
    ("service stop", &["bailiwick service stop"]),
    ("service status", &["bailiwick service status"]),
    ("service logs", &["bailiwick service logs --lines 20"]),
    ("service remove", &["bailiwick service remove --dry-run"]),
    ("scope list", &["bailiwick scope list"]),
    ("scope show", &["bailiwick scope show app"]),
    (
        "scope add",
        &[
            "bailiwick scope add lib --preset read-only",
            "bailiwick scope add screen --type computer --screen",
        ],
    ),
    (
        "scope edit",
        &[
            "bailiwick scope edit app --preset full --dry-run",
            "bailiwick scope edit app --network full --limit runtime-seconds=600",
            "bailiwick scope edit app --add-root lib --read-path /opt",
        ],
    ),
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
    ("connect", &["bailiwick connect"]),
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
    ("token rotate", &["bailiwick token rotate laptop", "bailiwick token rotate laptop --expires 90d"]),
    ("token revoke", &["bailiwick token revoke laptop"]),
    ("policy test", &["bailiwick policy test commands.tsv --scope app"]),
    ("connect", &["bailiwick connect"]),
    ("self-test", &["bailiwick self-test"]),
    ("completions", &["bailiwick completions bash", "bailiwick completions powershell"]),
    ("man", &["bailiwick man man1"]),
    ("config path", &["bailiwick config path"]),
    ("config show", &["bailiwick config show", "bailiwick config show --defaults"]),
    ("config validate", &["bailiwick config validate", "bailiwick config validate draft.json"]),
    ("config edit", &["bailiwick config edit"]),
    ("config undo", &["bailiwick config undo --dry-run", "bailiwick config undo --yes"]),
    ("tools", &["bailiwick tools", "bailiwick tools --token laptop"]),
];

/// Returns the examples of a command, which is named without the program.
pub fn examples(command: &str) -> Option<&'static [&'static str]> {
    EXAMPLES.iter().find(|(name, _)| *name == command).map(|(_, lines)| *lines)
}
