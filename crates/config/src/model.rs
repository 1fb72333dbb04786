//! The shape of `config.json`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use bailiwick_contract::{Capability, Effect, Network, ScopeType};

use super::after_untrusted::AfterUntrusted;
use super::commands::{
    CommandRule, NetworkRule, PreviewMode, ProcessLifetime, SandboxLevel, ShellMode, UndoMode,
};
use super::input_banner::InputBanner;
use super::public_url::PublicUrl;
use super::screens::WindowPattern;
use super::secrets::{SecretCommands, SecretMode};
use super::tls::TlsConfig;
use super::visible_input::VisibleInput;
use super::vision_model::VisionModel;

/// The whole of `config.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Config {
    /// The JSON Schema that editors complete from; not read.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The stable id of this computer, made once by `bailiwick setup`.
    pub machine_id: String,
    /// The name that clients see.
    pub machine_name: String,
    /// The address that `bailiwick serve` listens on; default `127.0.0.1`.
    #[serde(default = "default_host")]
    pub host: String,
    /// The port that `bailiwick serve` listens on; default 3939.
    #[serde(default = "default_port")]
    pub port: u16,
    /// What the HTTP listener accepts.
    #[serde(default)]
    pub http: HttpConfig,
    /// How long and how much history is kept.
    #[serde(default)]
    pub history: HistoryConfig,
    /// Whether the desktop shows what waits for approval, on Linux; default true.
    #[serde(default = "default_notifications", skip_serializing_if = "Clone::clone")]
    pub notifications: bool,
    /// The vision model that `screen.ground` asks: pictures are sent there. Default none: they are sent nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vision_model: Option<VisionModel>,
    /// The permission boundaries.
    #[serde(default)]
    pub scopes: Vec<ScopeConfig>,
}

fn default_host() -> String {
    "127.0.0.1".to_owned()
}

fn default_notifications() -> bool {
    true
}

fn default_port() -> u16 {
    3939
}

/// What the HTTP listener accepts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct HttpConfig {
    /// `Host` values beyond loopback that are accepted, as `name` or `name:port`.
    pub allowed_hosts: Vec<String>,
    /// `Origin` values that are accepted, as `scheme://name[:port]`; loopback origins are accepted anyway, with a token.
    pub allowed_origins: Vec<String>,
    /// Serve callers without a token, on loopback only; default false.
    pub allow_loopback_without_token: bool,
    /// The URL at which clients elsewhere reach the service through a tunnel or proxy, such as `https://bw.example`.
    /// They log in there by OAuth; only `/mcp` and the login are served under it. Default none: nobody can log in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub public_base_url: Option<PublicUrl>,
    /// Encrypts the connections: `{}` with a certificate that Bailiwick makes, or with a given one. Default none: plain HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsConfig>,
}

/// How long and how much history is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct HistoryConfig {
    /// Rows older than this many days are removed; default 90.
    pub max_age_days: u32,
    /// The oldest rows are removed when the store is larger than this; default 1024 MiB.
    pub max_megabytes: u32,
}

impl Default for HistoryConfig {
    fn default() -> Self {
        Self { max_age_days: 90, max_megabytes: 1_024 }
    }
}

/// One named permission boundary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ScopeConfig {
    /// The id that envelopes name: letters, digits, `-`, `_` and `.`, at most 64.
    pub id: String,
    /// The name that people read; default the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `folder` (default) or `computer`.
    #[serde(rename = "type", default = "default_type")]
    pub scope_type: ScopeType,
    /// The folders, absolute; needed for folder scopes. The first is the default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<PathBuf>,
    /// What is granted.
    #[serde(default)]
    pub capabilities: Vec<Capability>,
    /// What needs approval, request by request; it beats `capabilities`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<Capability>,
    /// What is never granted, whatever the other lists say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<Capability>,
    /// Limits and rules.
    #[serde(default)]
    pub policy: ScopePolicy,
}

impl ScopeConfig {
    /// Returns whether a capability is granted or set to `ask`.
    pub fn grants(&self, capability: Capability) -> bool {
        !self.deny.contains(&capability)
            && (self.capabilities.contains(&capability) || self.ask.contains(&capability))
    }

    /// Returns whether one of these is granted or set to `ask`.
    pub fn grants_any(&self, capabilities: &[Capability]) -> bool {
        capabilities.iter().any(|it| self.grants(*it))
    }
}

fn default_type() -> ScopeType {
    ScopeType::Folder
}

/// The limits and rules of a scope.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct ScopePolicy {
    /// The longest time for one operation, in seconds; default 3600.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_runtime_seconds: Option<u64>,
    /// The largest result, in bytes; default 1,000,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_bytes: Option<u64>,
    /// Globs (relative to a root) of sensitive files that are opened all the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open_sensitive: Vec<String>,
    /// Globs (relative to a root) of further files that stay closed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub closed_files: Vec<String>,
    /// Refuse to read files that have more than one name (hard links); default false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub refuse_hard_links: bool,
    /// Commands that may run. A rule is a line of words such as `npm *`, or `{"tokens": [...]}`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_commands: Vec<CommandRule>,
    /// Commands that need approval; they beat the allowed ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ask_commands: Vec<CommandRule>,
    /// Commands that never run; they beat the other two. Each covers whatever follows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denied_commands: Vec<CommandRule>,
    /// Operations that need approval each time, by name (`git.commit`) or family (`git.*`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ask_operations: Vec<String>,
    /// Globs (relative to a root) of files that only a request which names them may touch, once it is approved. For everything
    /// else they are closed: searches, lists and commands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ask_files: Vec<String>,
    /// Capabilities (`fs:write`) and programs (`npm`) whose first use in a session of a client needs approval.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ask_first_use: Vec<String>,
    /// What happens after a client has read what anybody may have written: `off` (default), or `ask`: for a day, what can send,
    /// opens sensitive files or changes something in another scope needs approval.
    #[serde(skip_serializing_if = "AfterUntrusted::is_off")]
    pub after_untrusted: AfterUntrusted,
    /// Globs (relative to a root) of files that anybody may have written, for `afterUntrusted`; other files of the scope are
    /// trusted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub untrusted_files: Vec<String>,
    /// What answers show in the place of secrets in files, output and differences: `off` (default) the secrets, `redact` marks,
    /// `handles` handles, which stand for the values in what a client writes.
    #[serde(skip_serializing_if = "SecretMode::is_off")]
    pub secrets: SecretMode,
    /// Whether commands and processes may be given secrets by their handles: `ask` (default) with your approval each time,
    /// `allow` as their rules say.
    #[serde(skip_serializing_if = "SecretCommands::is_ask")]
    pub secret_commands: SecretCommands,
    /// Kinds of operations whose approval counts when it is given in the client that asks, where that can ask its user:
    /// `read_only`, `writes`, `destroys`, `runs_code`, `captures`, `controls_desktop`. Default none: a client can be set to answer on its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub client_approvals: Vec<Effect>,
    /// What happens to a command that no rule allows, or that is more than literal words: `off` (default) refuses
    /// it, `sandboxed` runs it in a full sandbox, unless `network` is `full` or names hosts. The presets with commands set it.
    #[serde(skip_serializing_if = "ShellMode::is_off")]
    pub shell: ShellMode,
    /// The folders in which programs are looked up, absolute, in this order; default `/usr/local/bin`,
    /// `/usr/bin`, `/bin`, `/usr/local/sbin`, `/usr/sbin` and `/sbin`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub search_path: Vec<PathBuf>,
    /// Further folders that a held command may read, absolute; for toolchains outside the system's folders.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read_paths: Vec<PathBuf>,
    /// Environment variables that every command gets, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Names of environment variables that a caller may set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_environment: Vec<String>,
    /// What commands may reach: `none`, `loopback` (default: a loopback of their own), `full`, or by a proxy the hosts
    /// that `{"hosts": ["github.com", "*.example.org:443"], "otherwise": "deny"}` names; `"otherwise": "ask"` asks about others. `true` is read as `full`,
    /// `false` as `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<super::commands::NetworkForm>")]
    pub network: Option<NetworkRule>,
    /// How strongly commands are held; default `auto`. Where the computer cannot hold them so, they do not run.
    #[serde(skip_serializing_if = "SandboxLevel::is_auto")]
    pub sandbox: SandboxLevel,
    /// Whose changes `history.undo` takes back: `files` (default) those of operations on files; `commands` also those of
    /// `command.run` and `package.run`, on Linux. The presets with commands set it there.
    #[serde(skip_serializing_if = "UndoMode::is_files")]
    pub undo: UndoMode,
    /// Whether `bailiwick approve` shows what a command would do: `show` (default) runs it once before you answer, in a full
    /// sandbox without a network, and throws away what it writes; `commit` does the same, and an approval of the request takes over
    /// exactly the changes that were shown, without running the command again; `off` does not. On Linux, at the sandbox level `full`.
    #[serde(skip_serializing_if = "PreviewMode::is_show")]
    pub preview: PreviewMode,
    /// The most memory for each process of a command. Default no bound of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_memory_megabytes: Option<u64>,
    /// The most memory for a command or started process with all that it starts; what takes more is ended. Default an eighth
    /// of the computer's memory, or 2048 if that is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_job_memory_megabytes: Option<u64>,
    /// The most processes that one command may have at a time; default 512.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_processes: Option<u64>,
    /// The largest file that a command may write; default 4096.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_file_megabytes: Option<u64>,
    /// How long a started process lives; default `durable`.
    #[serde(skip_serializing_if = "ProcessLifetime::is_durable")]
    pub process_lifetime: ProcessLifetime,
    /// The most started processes that may run at a time; default 32.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_live_processes: Option<u32>,
    /// The longest time that a started process may run, in seconds; default 86,400 (a day).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_process_seconds: Option<u64>,
    /// Whether displays may be captured; default false. For computer scopes that grant `screen:capture`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_displays: Option<bool>,
    /// Whether windows may be listed and captured; default false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_windows: Option<bool>,
    /// Whether windows may be found by their process, and be listed with it; default false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_processes: Option<bool>,
    /// Whether clients may use pointer and keyboard, where the scope grants `input:control`: `off` (default), `allow`, or `ask`:
    /// each request needs approval.
    #[serde(skip_serializing_if = "VisibleInput::is_off")]
    pub visible_input: VisibleInput,
    /// Whether your display shows which client uses pointer and keyboard, meanwhile and for three seconds after: `show` (default), a line
    /// at its top, or `off`. Where the display is one of X11; on private displays there is none.
    #[serde(skip_serializing_if = "InputBanner::is_show")]
    pub input_banner: InputBanner,
    /// Further windows that are never shown, and are black in pictures of displays. Password managers and
    /// prompts for secrets are so anyway.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denied_windows: Vec<WindowPattern>,
    /// Windows of password managers and of prompts for secrets that are shown all the same; `deniedWindows`
    /// beats them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open_sensitive_windows: Vec<WindowPattern>,
}

impl ScopePolicy {
    /// Returns what commands may reach, without the names of hosts.
    pub fn network(&self) -> Network {
        self.network.as_ref().map_or(Network::Loopback, NetworkRule::network)
    }
}
