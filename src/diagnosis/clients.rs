//! The clients: whether what stands for Bailiwick in their settings leads to this Bailiwick. Reads alone.

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use bailiwick_config::Config;

use super::computer::version;
use super::finding::Findings;
use crate::client_settings::connection::Connection;
use crate::client_settings::look::look as look_at_clients;
use crate::client_settings::output::{ConnectionState, ListedClient};
use crate::installation::home::Home;
use crate::installation::limit::Limit;
use crate::installation::own_program::on_path;
use crate::installation::text::one_line;

/// How long all programs together may take to say their version.
const TIME: Duration = Duration::from_millis(900);

/// Looks into the settings of every client.
pub fn look(home: &Home, config: Option<&Config>, found: &mut Findings) {
    // What is wrong with them is said of the config and the tokens.
    let (Some(config), Ok(listed)) = (config, look_at_clients(home, None)) else { return };
    found.group("Clients");
    let own = OwnEntry::new(home, config, TIME);
    let before = found.list().len();
    for client in &listed.clients {
        match client.state {
            ConnectionState::NotConnected | ConnectionState::Foreign => {}
            ConnectionState::Unreadable => {
                let problem = client.problem.clone().unwrap_or_default();
                let fix = client.fix.clone().unwrap_or_else(|| "Correct that file.".to_owned());
                found.warn("client-settings", format!("{}: {problem}", client.title), fix);
            }
            ConnectionState::Connected | ConnectionState::Stale | ConnectionState::Broken => {
                own.judge(client, found);
            }
        }
    }
    if found.list().len() == before {
        found.ok("clients", "no client has Bailiwick in its settings (`bailiwick client add` puts it there)");
    }
}

/// Which clients have Bailiwick in their settings, by id.
#[derive(Debug, Default)]
pub struct ConfiguredClients {
    /// Those whose settings lead to this Bailiwick.
    pub here: Vec<&'static str>,
    /// Those whose settings are wrong or lead to another one.
    pub wrong: Vec<&'static str>,
    /// What is wrong with them, each with the fix.
    pub problems: Vec<String>,
    /// Those that are on this computer and do not have it.
    pub missing: Vec<&'static str>,
}

/// Judges every client's settings as `doctor` does, but starts no program to ask for its version. Nothing is said of
/// settings that cannot be read.
pub fn configured(home: &Home, config: &Config) -> ConfiguredClients {
    let mut configured = ConfiguredClients::default();
    let own = OwnEntry::new(home, config, Duration::ZERO);
    for client in look_at_clients(home, None).map(|listed| listed.clients).unwrap_or_default() {
        let id = client.client.facts().id;
        match client.state {
            ConnectionState::NotConnected if client.found.is_some() => configured.missing.push(id),
            ConnectionState::NotConnected | ConnectionState::Foreign | ConnectionState::Unreadable => {}
            ConnectionState::Connected | ConnectionState::Stale | ConnectionState::Broken => {
                let mut found = Findings::default();
                own.judge(&client, &mut found);
                let wrong: Vec<String> = found
                    .list()
                    .iter()
                    .filter_map(|it| Some(format!("{}. {}", it.says, it.fix.as_ref()?)))
                    .collect();
                if wrong.is_empty() {
                    configured.here.push(id);
                } else {
                    configured.wrong.push(id);
                    configured.problems.extend(wrong);
                }
            }
        }
    }
    configured
}

/// What an entry is held against.
struct OwnEntry {
    connection: Connection,
    program: Option<PathBuf>,
    limit: Limit,
}

impl OwnEntry {
    fn new(home: &Home, config: &Config, time: Duration) -> Self {
        Self {
            connection: Connection::new(home, config),
            program: env::current_exe().ok().and_then(|program| program.canonicalize().ok()),
            limit: Limit::within(time),
        }
    }

    fn judge(&self, client: &ListedClient, found: &mut Findings) {
        let problems = found.list().len();
        match client.entry["command"].as_str() {
            Some(program) => self.started(client, program, found),
            None => self.connected(client, found),
        }
        if found.list().len() == problems {
            let how = if client.entry["command"].is_string() { "starts" } else { "connects to" };
            found.ok("client", format!("{} {how} this Bailiwick", client.title));
        }
    }

    /// A client that starts Bailiwick.
    fn started(&self, client: &ListedClient, program: &str, found: &mut Findings) {
        let (title, fix) = (client.title, fix(client));
        let Some(path) = located(program) else {
            found.fail(
                "client-program",
                format!("{title} starts {}, which is not there", one_line(program)),
                fix,
            );
            return;
        };
        if client.state == ConnectionState::Broken {
            // Its program is there, so it is the token.
            let problem = client.problem.clone().unwrap_or_default();
            let caller = "Or make the token that it names: `bailiwick token create NAME`.";
            found.fail("client-token", format!("{title}: {problem}"), format!("{fix} {caller}"));
        }
        if path.canonicalize().ok() != self.program
            && let Some(version) = version(&path, &self.limit)
            && version != concat!("bailiwick ", env!("CARGO_PKG_VERSION"))
        {
            let own = env!("CARGO_PKG_VERSION");
            found.warn(
                "client-version",
                format!(
                    "{title} starts {}, which is `{}`; this is {own}",
                    path.display(),
                    one_line(&version)
                ),
                fix.clone(),
            );
        }
        if let Some(says) = self.other_home(&client.entry) {
            found.warn("client-home", format!("{title} {says}"), fix);
        }
    }

    /// Returns by what an entry leads to another installation than this one.
    fn other_home(&self, entry: &Value) -> Option<String> {
        let environment = self.connection.environment();
        let own =
            |name: &str| environment.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
        for name in ["BAILIWICK_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
            let theirs = entry["env"][name].as_str();
            if theirs != own(name) {
                let shown = |value: Option<&str>| value.map_or_else(|| "unset".to_owned(), one_line);
                return Some(format!(
                    "starts Bailiwick with {name} {}, here it is {}: another config and history",
                    shown(theirs),
                    shown(own(name))
                ));
            }
        }
        let after_config = |words: Vec<&str>| -> Option<String> {
            let at = words.iter().position(|word| *word == "--config")?;
            words.get(at + 1).map(|path| (*path).to_owned())
        };
        let theirs = after_config(entry["args"].as_array()?.iter().filter_map(Value::as_str).collect());
        let own = after_config(self.connection.arguments().iter().map(String::as_str).collect());
        (theirs != own).then(|| {
            let shown =
                |path: Option<String>| path.map_or_else(|| "the usual one".to_owned(), |it| one_line(&it));
            format!("starts Bailiwick with the config {}, here it is {}", shown(theirs), shown(own))
        })
    }

    /// A client that connects to the service.
    fn connected(&self, client: &ListedClient, found: &mut Findings) {
        let title = client.title;
        let entry = &client.entry;
        let url = ["url", "serverUrl", "httpUrl"].iter().find_map(|name| entry[*name].as_str());
        if url != Some(self.connection.url()) {
            found.warn(
                "client-url",
                format!(
                    "{title} connects to {}, but this config serves {}",
                    url.map_or_else(|| "no address".to_owned(), one_line),
                    self.connection.url()
                ),
                fix(client),
            );
        }
        let tells_a_token = ["headers", "http_headers", "env_http_headers"].iter().any(|name| {
            let headers = entry[*name].as_object().into_iter().flatten();
            headers.into_iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
        }) || entry["bearer_token_env_var"].is_string();
        if !tells_a_token {
            found.warn(
                "client-token",
                format!("{title} connects without a token, and is refused"),
                fix(client),
            );
        }
    }
}

fn fix(client: &ListedClient) -> String {
    match &client.fix {
        Some(command) => format!("Run `{command}`."),
        None => format!("Run `bailiwick client add {}`.", client.client.facts().id),
    }
}

/// Finds a program as a client would.
fn located(program: &str) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return path.is_file().then(|| path.to_owned());
    }
    on_path(program)
}
