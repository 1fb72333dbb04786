//! How a client connects: the commands and snippets that a person copies.

use serde_json::json;

use bailiwick_config::PublicUrl;
use bailiwick_contract::Failure;
use bailiwick_platform::dirs::System;

use crate::client_settings::connection::Connection;

use super::args::{ConnectArgs, RemoteClient};
use super::connect_wait::wait_for_client;
use super::printer::{Printer, Report};
use crate::client_settings::kind::ClientKind;
use crate::installation::home::Home;
use crate::public_urls::exposures::public_url;

/// How a client connects, as it is printed.
impl Connection {
    /// Returns the few lines that fit everyone.
    pub fn short(&self) -> String {
        format!(
            "Connect a client on this computer:\n  automatic     bailiwick client add CLIENT  (see `bailiwick client list`)\n  Claude Code   {}\n  Codex         {}\n  others        {}\nSnippets for more clients, and over HTTP: `bailiwick client connect`\n",
            self.claude_code(),
            self.codex(),
            self.command_line(),
        )
    }

    /// Returns every snippet.
    pub fn long(&self) -> String {
        let indented = |text: &str| text.lines().map(|line| format!("    {line}\n")).collect::<String>();
        format!(
            "\
On this computer, over standard input and output (no token needed):
  Claude Code
    {}
  Codex
    {}
  Codex, in ~/.codex/config.toml
{}  Claude Desktop, Cursor and others, in their JSON file of MCP servers
{}  any other client: this command
    {}

Over HTTP, while `bailiwick serve` runs (BAILIWICK_TOKEN contains a token):
  Claude Code
    {}
  Codex
    {}
  any other client
    URL     {}
    header  Authorization: Bearer TOKEN
  A token of its own for each client: `bailiwick token create NAME`
",
            self.claude_code(),
            self.codex(),
            indented(&self.snippet(ClientKind::Codex)),
            indented(&self.snippet(ClientKind::Generic)),
            self.command_line(),
            in_lines(&self.claude_code_http(), "--header"),
            in_lines(&self.codex_http(), "--bearer-token-env-var"),
            self.url,
        )
    }
}

/// `bailiwick client connect`.
///
/// # Errors
/// When Bailiwick is not set up, or a client elsewhere cannot reach it; those of [`wait_for_client`].
pub fn run(home: &Home, printer: Printer, args: &ConnectArgs) -> Result<Report, Failure> {
    let config = home.config()?;
    let connection = Connection::new(home, &config);
    let Some(client) = args.client else {
        return Ok(Report::new(connection.long(), json!({"ok": true, "connect": connection.to_json()})));
    };
    let url = public_url(home, &connection.url, &config, client.name(), client == RemoteClient::Chatgpt)?;
    let report = elsewhere(client, &url);
    if args.no_wait || printer.json {
        return Ok(report);
    }
    printer.text(&report.text);
    wait_for_client(home, printer, client, &url)
}

/// Returns what to enter in a client that connects from elsewhere.
fn elsewhere(client: RemoteClient, public: &PublicUrl) -> Report {
    let name = client.name();
    let place = match client {
        RemoteClient::Chatgpt => "in its settings, under Apps: turn on developer mode, then create an app",
        RemoteClient::Claude => "in its settings, under Connectors: add a custom connector",
    };
    let url = public.resource();
    let text = format!(
        "{name}, {place}:\n  URL             {url}\n  Authentication  OAuth; no client id and no secret\n\n\
         {name} then opens a page of this computer, which asks for a code: `bailiwick token code`.\n\
         On it you choose what {name} may use. `bailiwick token list` shows it afterwards.\n"
    );
    Report::new(text, json!({"ok": true, "connect": {"url": url, "authentication": "oauth"}}))
}

/// Breaks a command before a flag, so that it can be copied from a terminal of 80 columns.
fn in_lines(command: &str, flag: &str) -> String {
    match System::THIS {
        System::Windows => command.to_owned(),
        System::Linux | System::MacOs => {
            command.replacen(&format!(" {flag}"), &format!(" \\\n      {flag}"), 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::client_settings::connection::url;

    #[test]
    fn urls_name_an_address_that_a_local_client_reaches() {
        assert_eq!(url(false, "127.0.0.1", 3939), "http://127.0.0.1:3939/mcp");
        assert_eq!(url(true, "::1", 80), "https://[::1]:80/mcp");
        assert_eq!(url(false, "0.0.0.0", 80), "http://127.0.0.1:80/mcp");
    }
}
