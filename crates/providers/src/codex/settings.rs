//! The settings that Codex runs by: which model is asked, from the user's own; everything else is Bailiwick's.
//!
//! Nothing is taken over that runs programs outside of Codex's sandbox: no MCP servers, hooks or plugins, which would
//! act for a client with the user's rights. Nor is anything that widens what Codex may do.

use std::path::{Path, PathBuf};

use toml_edit::{Array, DocumentMut, Item, Table, value};

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::fs::{OwnFileError, Secrecy, read_own_file};

use super::login::LOGIN_VARIABLES;
use super::ready::Mode;

/// The file of the settings in Codex's home.
pub(super) const FILE: &str = "config.toml";
/// The largest such file that is read.
const LIMIT_BYTES: u64 = 1 << 20;
/// What is taken over from the user's settings: which model is asked, and how.
const TAKEN_OVER: &[&str] = &[
    "model",
    "model_provider",
    "model_providers",
    "model_reasoning_effort",
    "model_reasoning_summary",
    "model_supports_reasoning_summaries",
    "model_verbosity",
    "model_context_window",
    "model_auto_compact_token_limit",
    "tool_output_token_limit",
    "service_tier",
    "personality",
    "chatgpt_base_url",
    "openai_base_url",
    "forced_login_method",
    "forced_chatgpt_workspace_id",
];
/// Parts of Codex that reach further than its sandbox.
const SWITCHED_OFF: &[&str] =
    &["apps", "plugins", "remote_plugin", "browser_use", "computer_use", "daemon_auto_start", "hooks"];

/// What the user has set about where models are asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Provider {
    /// The variable that holds its key, if it takes one.
    pub key_variable: Option<String>,
    /// Whether it takes the login of Codex.
    pub needs_login: bool,
}

/// The user's settings, as far as they are taken over.
#[derive(Debug, Clone)]
pub(super) struct UserSettings {
    document: DocumentMut,
    pub provider: Provider,
}

/// What Codex's commands may reach.
#[derive(Debug)]
pub(super) struct CommandAccess<'a> {
    /// What they may read, beside the system and the working folder.
    pub readable: &'a [PathBuf],
    /// What they may write too when they may write.
    pub writable: &'a [PathBuf],
    /// What they may not read although it is in what they may.
    pub denied: &'a [PathBuf],
    /// Whether they may reach the network.
    pub network: bool,
    /// The home folder that they are told.
    pub home: &'a Path,
}

impl UserSettings {
    /// Reads the settings of the user, if there are any.
    ///
    /// # Errors
    /// `provider_unavailable` with the rule `codex-settings` where they cannot be read.
    pub fn read(person: &Path) -> Result<Self, Failure> {
        match read_own_file(&person.join(FILE), Secrecy::Guarded, LIMIT_BYTES) {
            Ok((content, _)) => Self::of_text(&String::from_utf8_lossy(&content)),
            Err(OwnFileError::NotFound) => Self::of_text(""),
            Err(error) => Err(unreadable(&error.to_string())),
        }
    }

    fn of_text(text: &str) -> Result<Self, Failure> {
        // The message of the parser shows a line of the file, which may hold a secret.
        let person: DocumentMut = text.parse().map_err(|_| unreadable("it is not TOML"))?;
        let mut document = DocumentMut::new();
        for name in TAKEN_OVER {
            if let Some(item) = person.get(name) {
                document.insert(name, item.clone());
            }
        }
        let name = document.get("model_provider").and_then(Item::as_str).unwrap_or("openai").to_owned();
        let own = document.get("model_providers").and_then(|all| all.get(&name));
        let provider = Provider {
            key_variable: own.and_then(|own| own.get("env_key")?.as_str()).map(str::to_owned),
            needs_login: match own {
                None => name == "openai",
                Some(own) => own.get("requires_openai_auth").and_then(Item::as_bool).unwrap_or(false),
            },
        };
        Ok(Self { document, provider })
    }

    /// Creates the settings for a scope.
    pub fn confined(&self, confines: &CommandAccess<'_>) -> String {
        let mut document = self.document.clone();
        for (name, setting) in [
            ("approval_policy", "never"),
            ("cli_auth_credentials_store", "file"),
            ("web_search", if confines.network { "live" } else { "disabled" }),
        ] {
            document.insert(name, value(setting));
        }
        document.insert("default_permissions", value(Mode::ReadOnly.profile()));
        document.insert("check_for_update_on_startup", value(false));
        document.insert("history", table([("persistence", value("none"))]));
        document.insert("analytics", table([("enabled", value(false))]));
        document.insert("features", table(SWITCHED_OFF.iter().map(|name| (*name, value(false)))));
        document.insert("shell_environment_policy", self.environment(confines));
        let profiles =
            [Mode::ReadOnly, Mode::WorkspaceWrite].map(|mode| (mode.profile(), profile(mode, confines)));
        document.insert("permissions", table(profiles));
        document.to_string()
    }

    /// Keeps what lets Codex in from the programs that it starts.
    fn environment(&self, confines: &CommandAccess<'_>) -> Item {
        let key = self.provider.key_variable.as_deref();
        let hidden: Array =
            LOGIN_VARIABLES.iter().copied().chain(["OPENAI_API_KEY", "CODEX_HOME"]).chain(key).collect();
        let home = confines.home.to_string_lossy().into_owned();
        table([
            ("inherit", value("all")),
            // Its own list would take `GIT_CONFIG_KEY_0` for a key.
            ("ignore_default_excludes", value(true)),
            ("exclude", value(hidden)),
            ("set", table([("HOME", value(home))])),
        ])
    }
}

/// Creates the profile by which Codex holds what it starts: the system's minimum, the working folder, and what is named.
fn profile(mode: Mode, confines: &CommandAccess<'_>) -> Item {
    let access = if mode == Mode::WorkspaceWrite { "write" } else { "read" };
    let mut files = Table::new();
    files.insert(":minimal", value("read"));
    // There is always a place for temporary files: without one, shells have no here-documents.
    files.insert(":tmpdir", value("write"));
    for path in confines.readable {
        files.insert(&path.to_string_lossy(), value("read"));
    }
    for path in confines.writable {
        files.insert(&path.to_string_lossy(), value(access));
    }
    for path in confines.denied {
        files.insert(&path.to_string_lossy(), value("deny"));
    }
    files.insert(":workspace_roots", table([(".", value(access))]));
    table([("filesystem", Item::Table(files)), ("network", table([("enabled", value(confines.network))]))])
}

fn table<'a>(entries: impl IntoIterator<Item = (&'a str, Item)>) -> Item {
    let mut table = Table::new();
    for (name, item) in entries {
        table.insert(name, item);
    }
    Item::Table(table)
}

fn unreadable(why: &str) -> Failure {
    Failure::new(
        ErrorCode::ProviderUnavailable,
        format!("the user's settings of Codex cannot be read: {why}"),
    )
    .detail("rule", "codex-settings")
    .hint("For the user: look at config.toml in Codex's home with `codex doctor`.")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERSON: &str = r#"
        model = "m-1"
        model_provider = "own"
        sandbox_mode = "danger-full-access"
        approval_policy = "on-request"
        notify = ["/bin/evil"]
        [features]
        hooks = true
        [mcp_servers.evil]
        command = "/bin/evil"
        [model_providers.own]
        base_url = "http://127.0.0.1:1/v1"
        env_key = "OWN_KEY"
        [permissions.bailiwick-write.filesystem]
        "/" = "write"
        [shell_environment_policy.set]
        EVIL = "1"
        [projects."/"]
        trust_level = "trusted"
    "#;

    fn confined(network: bool) -> String {
        let confines = CommandAccess {
            readable: &["/srv/tools".into()],
            writable: &["/srv/home".into()],
            denied: &[],
            network,
            home: Path::new("/srv/home"),
        };
        UserSettings::of_text(PERSON).expect("it is TOML").confined(&confines)
    }

    #[test]
    fn of_the_persons_settings_only_the_model_is_taken_over() {
        let text = confined(false);
        for taken in ["m-1", "OWN_KEY", "http://127.0.0.1:1/v1"] {
            assert!(text.contains(taken), "{taken}: {text}");
        }
        for left in ["evil", "EVIL", "danger", "on-request", "trusted", "\"/\"", "mcp_servers", "notify"] {
            assert!(!text.contains(left), "{left}: {text}");
        }
    }

    #[test]
    fn commands_are_held_by_profiles_that_differ_in_writing_alone() {
        let document: DocumentMut = confined(false).parse().expect("TOML");
        let of = |mode: Mode| &document["permissions"][mode.profile()];
        for (mode, access) in [(Mode::ReadOnly, "read"), (Mode::WorkspaceWrite, "write")] {
            let files = &of(mode)["filesystem"];
            assert_eq!(files[":minimal"].as_str(), Some("read"));
            assert_eq!(files["/srv/tools"].as_str(), Some("read"));
            assert_eq!(files["/srv/home"].as_str(), Some(access));
            assert_eq!(files[":workspace_roots"]["."].as_str(), Some(access));
            assert_eq!(of(mode)["network"]["enabled"].as_bool(), Some(false));
            assert!(files.get(":root").is_none());
        }
        assert_eq!(document["approval_policy"].as_str(), Some("never"));
        assert_eq!(document["web_search"].as_str(), Some("disabled"));
        assert!(document.get("sandbox_mode").is_none(), "it would put the profiles out of force");
        let open: DocumentMut = confined(true).parse().expect("TOML");
        assert_eq!(open["permissions"]["bailiwick-write"]["network"]["enabled"].as_bool(), Some(true));
    }

    #[test]
    fn what_lets_codex_in_is_kept_from_its_commands() {
        let document: DocumentMut = confined(false).parse().expect("TOML");
        let hidden = document["shell_environment_policy"]["exclude"].as_array().expect("a list");
        let hidden: Vec<&str> = hidden.iter().filter_map(|name| name.as_str()).collect();
        for name in ["CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "OPENAI_API_KEY", "OWN_KEY"] {
            assert!(hidden.contains(&name), "{name}");
        }
    }

    #[test]
    fn a_broken_file_is_told_without_its_content() {
        let failure = UserSettings::of_text("key = \"sk-secret").expect_err("broken");
        assert_eq!(failure.rule(), Some("codex-settings"));
        assert!(!failure.message.contains("sk-secret"));
    }
}
