//! Commands and snippets by which a client is connected by hand.

use std::path::Path;

use serde_json::{Value, json};

use bailiwick_contract::Failure;
use bailiwick_platform::dirs::System;
use bailiwick_platform::quoting::{quote, quote_command};

use super::connection::Connection;
use super::entry::{Entry, Reach};
use super::kind::{ClientKind, Format};
use super::output::SnippetFormat;
use super::plan::problem_failure;
use super::{settings, toml_settings};

impl Connection {
    /// Returns the snippets as one JSON object.
    pub fn to_json(&self) -> Value {
        json!({
            "stdio": {
                "command": self.command,
                "arguments": self.arguments,
                "environment": self.environment.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
                "claudeCode": self.claude_code(),
                "codex": self.codex(),
                "claudeDesktop": self.servers(),
                "codexToml": self.snippet(ClientKind::Codex),
            },
            "http": {
                "url": self.url,
                "header": "Authorization: Bearer TOKEN",
                "claudeCode": self.claude_code_http(),
                "codex": self.codex_http(),
            },
        })
    }

    fn words(&self) -> String {
        let words = std::iter::once(&self.command).chain(&self.arguments);
        words.map(|word| quote(word)).collect::<Vec<_>>().join(" ")
    }

    /// Returns the command by which any client starts Bailiwick.
    pub fn command_line(&self) -> String {
        let set = |(name, value): &(String, String)| match System::THIS {
            System::Windows => format!("$env:{name}={}; ", quote(value)),
            System::Linux | System::MacOs => format!("{name}={} ", quote(value)),
        };
        let environment: String = self.environment.iter().map(set).collect();
        let words = std::iter::once(&self.command).chain(&self.arguments);
        format!("{environment}{}", quote_command(words.map(String::as_str)))
    }

    fn flags(&self, flag: &str) -> String {
        self.environment
            .iter()
            .map(|(name, value)| format!(" {flag} {}", quote(&format!("{name}={value}"))))
            .collect()
    }

    /// Returns the command that adds Bailiwick to Claude Code.
    pub fn claude_code(&self) -> String {
        format!("claude mcp add bailiwick{} -- {}", self.flags("-e"), self.words())
    }

    /// Returns the command that adds Bailiwick to Codex.
    pub fn codex(&self) -> String {
        format!("codex mcp add bailiwick{} -- {}", self.flags("--env"), self.words())
    }

    /// Returns the command that adds Bailiwick to Claude Code, over HTTP.
    pub fn claude_code_http(&self) -> String {
        let variable =
            if System::THIS == System::Windows { "$env:BAILIWICK_TOKEN" } else { "$BAILIWICK_TOKEN" };
        format!(
            "claude mcp add --transport http bailiwick {} --header \"Authorization: Bearer {variable}\"",
            self.url
        )
    }

    /// Returns the command that adds Bailiwick to Codex, over HTTP.
    pub fn codex_http(&self) -> String {
        format!("codex mcp add bailiwick --url {} --bearer-token-env-var BAILIWICK_TOKEN", self.url)
    }

    /// Returns the text of a client's settings.
    pub fn snippet(&self, kind: ClientKind) -> String {
        let stdio = Reach::Stdio { caller: None };
        snippet(kind, self, &stdio, "bailiwick").expect("every client starts servers").1
    }

    fn servers(&self) -> Value {
        serde_json::from_str(&self.snippet(ClientKind::Generic)).expect("the snippet is JSON")
    }
}

/// Returns the text of an entry, as it would be in a file of its own.
///
/// # Errors
/// `unsupported_platform` for a client that does not connect that way.
pub fn snippet(
    kind: ClientKind,
    connection: &Connection,
    reach: &Reach,
    name: &str,
) -> Result<(SnippetFormat, String), Failure> {
    let facts = kind.facts();
    let entry = Entry::new(kind, connection, reach)?;
    Ok(match facts.format {
        Format::Toml => (SnippetFormat::Toml, toml_settings::table(facts.container, name, &entry)),
        Format::Json | Format::Yaml => {
            let text = settings::put(facts, "", name, &entry)
                .map_err(|problem| problem_failure(kind, Path::new(""), problem))?;
            (if facts.format == Format::Json { SnippetFormat::Json } else { SnippetFormat::Yaml }, text)
        }
    })
}
