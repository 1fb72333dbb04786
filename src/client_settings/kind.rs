//! The clients that Bailiwick knows: their names, and how their settings are made.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClientKind {
    /// Claude Desktop
    ClaudeDesktop,
    /// Claude Code
    ClaudeCode,
    /// Codex
    Codex,
    /// Visual Studio Code
    #[serde(rename = "vscode")]
    VsCode,
    /// Cursor
    Cursor,
    /// Windsurf
    Windsurf,
    /// Zed
    Zed,
    /// Gemini CLI
    Gemini,
    /// Qwen Code
    Qwen,
    /// opencode
    #[serde(rename = "opencode")]
    OpenCode,
    /// Continue, in an editor
    Continue,
    /// Continue's program `cn`
    #[serde(rename = "cn")]
    ContinueCli,
    /// goose
    Goose,
    /// Cline, in editors and as a program
    Cline,
    /// Junie, in JetBrains editors
    Junie,
    /// LM Studio
    LmStudio,
    /// Any other client that reads a JSON file with `mcpServers`
    Generic,
}

/// The language of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON; comments and trailing commas are read and kept.
    Json,
    /// TOML.
    Toml,
    /// YAML; the servers are a mapping, or a list of mappings with a `name`.
    Yaml,
}

/// How a client takes the bearer token of an HTTP server, so that it is not written into the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenForm {
    /// A header in which the client replaces this text by the variable's value.
    Header(&'static str),
    /// The name of the variable, in a field of its own.
    VariableName(&'static str),
    /// The client asks the user once and keeps it in the system's keyring.
    Prompt,
    /// It cannot, or it does not connect over HTTP at all; with the reason.
    None(&'static str),
}

/// How the entry of a server that the client starts names the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandForm {
    /// `command`, `args` and `env`.
    Fields,
    /// One list `command`, and `environment`.
    List,
    /// `cmd`, `args` and `envs`.
    Short,
}

/// What is fixed about a client.
#[derive(Debug)]
pub struct ClientFacts {
    /// Its name on the command line.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The programs by which it is started.
    pub programs: &'static [&'static str],
    /// The language of its settings.
    pub format: Format,
    /// The key below which its servers stand.
    pub container: &'static str,
    /// What the field `type` says for (stdio, HTTP), where it has one.
    pub type_words: Option<(&'static str, &'static str)>,
    /// How it names the program that it starts.
    pub command: CommandForm,
    /// The field that holds the URL of an HTTP server.
    pub url_field: &'static str,
    /// How it takes a token.
    pub token: TokenForm,
    /// What the user has to do after a change.
    pub afterwards: &'static str,
}

/// The variable in which clients find the token.
pub const TOKEN_VARIABLE: &str = "BAILIWICK_TOKEN";

/// The id of VS Code's question for the token.
pub const TOKEN_PROMPT: &str = "bailiwick-token";

/// Why a client is not connected over HTTP.
const PLAIN_TOKEN: &str = "it takes a token only as plain text in its settings";

/// What most clients have in common.
const USUAL: ClientFacts = ClientFacts {
    id: "",
    title: "",
    programs: &[],
    format: Format::Json,
    container: "mcpServers",
    type_words: None,
    command: CommandForm::Fields,
    url_field: "url",
    token: TokenForm::None(PLAIN_TOKEN),
    afterwards: "",
};

impl ClientKind {
    /// Returns every client, in the order in which lists show them.
    pub const fn all() -> &'static [Self] {
        &[
            Self::ClaudeDesktop,
            Self::ClaudeCode,
            Self::Codex,
            Self::VsCode,
            Self::Cursor,
            Self::Windsurf,
            Self::Zed,
            Self::Gemini,
            Self::Qwen,
            Self::OpenCode,
            Self::Continue,
            Self::ContinueCli,
            Self::Goose,
            Self::Cline,
            Self::Junie,
            Self::LmStudio,
            Self::Generic,
        ]
    }

    /// Returns what is fixed about the client.
    ///
    /// # Source
    /// The clients' own documents as of November 2026: modelcontextprotocol.io/docs/develop/connect-local-servers,
    /// code.claude.com/docs/en/mcp, developers.openai.com/codex/mcp, code.visualstudio.com/docs/copilot/reference/mcp-configuration,
    /// cursor.com/docs/context/mcp, docs.windsurf.com/windsurf/cascade/mcp, zed.dev/docs/ai/mcp, geminicli.com/docs/tools/mcp-server,
    /// qwenlm.github.io/qwen-code-docs, opencode.ai/docs/mcp-servers, docs.continue.dev/customize/deep-dives/mcp,
    /// block.github.io/goose/docs/guides/config-files,
    /// docs.cline.bot/mcp/mcp-overview, junie.jetbrains.com/docs, lmstudio.ai/docs/app/mcp.
    pub fn facts(self) -> &'static ClientFacts {
        match self {
            Self::ClaudeDesktop => &ClientFacts {
                id: "claude-desktop",
                title: "Claude Desktop",
                programs: &["claude-desktop"],
                token: TokenForm::None(
                    "it starts the servers of its settings file itself, and reaches none over HTTP",
                ),
                afterwards: "Quit Claude Desktop and start it again.",
                ..USUAL
            },
            Self::ClaudeCode => &ClientFacts {
                id: "claude-code",
                title: "Claude Code",
                programs: &["claude"],
                type_words: Some(("stdio", "http")),
                token: TokenForm::Header("${BAILIWICK_TOKEN}"),
                afterwards: "Start `claude` again; `/mcp` shows the connection.",
                ..USUAL
            },
            Self::Codex => &ClientFacts {
                id: "codex",
                title: "Codex",
                programs: &["codex"],
                format: Format::Toml,
                container: "mcp_servers",
                token: TokenForm::VariableName("bearer_token_env_var"),
                afterwards: "Start Codex again; `/mcp` shows the connection. `codex exec` asks nobody and refuses what changes \
                             something, unless `default_tools_approval_mode = \"approve\"` is in that table.",
                ..USUAL
            },
            Self::VsCode => &ClientFacts {
                id: "vscode",
                title: "VS Code",
                programs: &["code"],
                container: "servers",
                type_words: Some(("stdio", "http")),
                token: TokenForm::Prompt,
                afterwards: "Run `MCP: List Servers` in VS Code and start it there.",
                ..USUAL
            },
            Self::Cursor => &ClientFacts {
                id: "cursor",
                title: "Cursor",
                programs: &["cursor", "cursor-agent"],
                token: TokenForm::Header("${env:BAILIWICK_TOKEN}"),
                afterwards: "Turn it on in Cursor, under Customize, MCPs.",
                ..USUAL
            },
            Self::Windsurf => &ClientFacts {
                id: "windsurf",
                title: "Windsurf",
                programs: &["windsurf"],
                url_field: "serverUrl",
                token: TokenForm::Header("${env:BAILIWICK_TOKEN}"),
                afterwards: "Refresh the MCP servers in Windsurf's Cascade panel.",
                ..USUAL
            },
            Self::Zed => &ClientFacts {
                id: "zed",
                title: "Zed",
                programs: &["zed", "zeditor"],
                container: "context_servers",
                afterwards: "Zed reads its settings at once; the agent panel shows the connection.",
                ..USUAL
            },
            Self::Gemini => &ClientFacts {
                id: "gemini",
                title: "Gemini CLI",
                programs: &["gemini"],
                url_field: "httpUrl",
                token: TokenForm::Header("${BAILIWICK_TOKEN}"),
                afterwards: "Start `gemini` again; `/mcp` shows the connection.",
                ..USUAL
            },
            Self::Qwen => &ClientFacts {
                id: "qwen",
                title: "Qwen Code",
                programs: &["qwen"],
                url_field: "httpUrl",
                token: TokenForm::Header("${BAILIWICK_TOKEN}"),
                afterwards: "Start `qwen` again; `/mcp` shows the connection.",
                ..USUAL
            },
            Self::OpenCode => &ClientFacts {
                id: "opencode",
                title: "opencode",
                programs: &["opencode"],
                container: "mcp",
                type_words: Some(("local", "remote")),
                command: CommandForm::List,
                token: TokenForm::Header("{env:BAILIWICK_TOKEN}"),
                afterwards: "Start `opencode` again; `opencode mcp list` shows the connection.",
                ..USUAL
            },
            Self::Continue => &ClientFacts {
                id: "continue",
                title: "Continue",
                afterwards: "Reload Continue in the editor.",
                ..USUAL
            },
            Self::ContinueCli => &ClientFacts {
                id: "cn",
                title: "Continue CLI",
                programs: &["cn"],
                format: Format::Yaml,
                afterwards: "Start `cn` again; `/mcp` shows the connection.",
                ..USUAL
            },
            Self::Goose => &ClientFacts {
                id: "goose",
                title: "goose",
                programs: &["goose"],
                format: Format::Yaml,
                container: "extensions",
                type_words: Some(("stdio", "streamable_http")),
                command: CommandForm::Short,
                url_field: "uri",
                afterwards: "Start goose again; `goose info -v` shows the extension.",
                ..USUAL
            },
            Self::Cline => &ClientFacts {
                id: "cline",
                title: "Cline",
                programs: &["cline"],
                afterwards: "Cline reads its settings at once; its list of MCP servers shows the connection.",
                ..USUAL
            },
            Self::Junie => &ClientFacts {
                id: "junie",
                title: "Junie",
                programs: &["junie"],
                afterwards: "The editor's settings show the connection, under Tools, Junie, MCP Settings.",
                ..USUAL
            },
            Self::LmStudio => &ClientFacts {
                id: "lm-studio",
                title: "LM Studio",
                programs: &["lms"],
                afterwards: "Turn it on in LM Studio, in the tab Program.",
                ..USUAL
            },
            Self::Generic => &ClientFacts {
                id: "generic",
                title: "any other client",
                token: TokenForm::Header("${BAILIWICK_TOKEN}"),
                afterwards: "Start the client again.",
                ..USUAL
            },
        }
    }
}
