//! Looking into the settings of every client, and changing nothing.

use std::path::{Path, PathBuf};

use serde_json::Value;

use bailiwick_config::{Config, Tokens};
use bailiwick_contract::{ErrorCode, Failure};

use super::connection::Connection;
use super::entry::{Entry, Likeness, Reach, in_fields};
use super::kind::ClientKind;
use super::output::{ConnectionState, ListOutput, ListedClient};
use super::places::{SettingsPlace, evidence};
use super::plan::{is_bailiwicks, problem_failure};
use super::record::Records;
use super::settings;
use super::settings_file::SettingsFile;
use crate::installation::home::Home;

/// The name under which Bailiwick is where nothing else was said.
pub const USUAL_NAME: &str = "bailiwick";

/// Looks into the settings of every client.
///
/// # Errors
/// When Bailiwick's own files cannot be read.
pub fn look(home: &Home, project: Option<&Path>) -> Result<ListOutput, Failure> {
    let config = home.config_if_there()?.unwrap_or_else(|| Config::new(String::new(), String::new()));
    let look = SettingsReader {
        connection: Connection::new(home, &config),
        records: Records::load(home)?,
        tokens: home.tokens()?,
    };
    let mut clients = Vec::new();
    for kind in ClientKind::all().iter().copied().filter(|kind| *kind != ClientKind::Generic) {
        let found = evidence(kind);
        look.add(kind, found.as_deref(), SettingsPlace::of_user(kind)?, &mut clients);
        if let Some(place) = project.map(|folder| SettingsPlace::of_project(kind, folder)) {
            match place {
                Ok(place) if place.file.exists() => look.add(kind, found.as_deref(), place, &mut clients),
                // Most clients have no settings there, and some never have any.
                _ => {}
            }
        }
    }
    Ok(ListOutput { ok: true, clients })
}

/// Returns the token whose rights a client has, by the entry that `client add` has made; `None` for those of the
/// person.
///
/// # Errors
/// `not_found` where Bailiwick was not put into its settings, or is not there any more.
pub fn caller_of(home: &Home, kind: ClientKind) -> Result<Option<String>, Failure> {
    let records = Records::load(home)?;
    for change in records.installed().into_iter().filter(|change| change.client == kind) {
        let file = SettingsFile::read(&change.file)?;
        let servers = settings::servers(kind.facts(), file.text()?)
            .map_err(|problem| problem_failure(kind, &change.file, problem))?;
        if let Some((_, entry)) = servers.iter().find(|(name, _)| *name == change.name) {
            return Ok(caller_in(&in_fields(entry)).map(str::to_owned));
        }
    }
    let facts = kind.facts();
    Err(Failure::new(ErrorCode::NotFound, format!("Bailiwick is not in the settings of {}", facts.title))
        .hint(format!("`bailiwick client add {}` puts it there.", facts.id)))
}

/// The token that an entry names.
fn caller_in(entry: &Value) -> Option<&str> {
    let words: Vec<&str> = entry["args"].as_array()?.iter().filter_map(Value::as_str).collect();
    words.iter().position(|it| *it == "--caller").and_then(|at| words.get(at + 1)).copied()
}

struct SettingsReader {
    connection: Connection,
    records: Records,
    tokens: Tokens,
}

impl SettingsReader {
    fn add(&self, kind: ClientKind, found: Option<&Path>, place: SettingsPlace, to: &mut Vec<ListedClient>) {
        let id = kind.facts().id;
        let listed =
            |name: &str, entry: &Value, state, problem: Option<String>, fix: Option<String>| ListedClient {
                client: kind,
                title: kind.facts().title,
                found: found.map(Path::to_owned),
                settings: place.file.clone(),
                of_project: place.is_projects,
                name: name.to_owned(),
                state,
                problem,
                fix,
                entry: in_fields(entry),
            };
        let servers = SettingsFile::read(&place.file).and_then(|file| {
            settings::servers(kind.facts(), file.text()?)
                .map_err(|problem| problem_failure(kind, &place.file, problem))
        });
        let servers = match servers {
            Ok(servers) => servers,
            Err(failure) => {
                let fix = failure.hints.first().cloned();
                let state = ConnectionState::Unreadable;
                to.push(listed(USUAL_NAME, &Value::Null, state, Some(failure.message), fix));
                return;
            }
        };
        let before = to.len();
        for (name, there) in &servers {
            let ours = is_bailiwicks(kind, &self.connection, &self.records, &place.file, name, there);
            if !ours && name != USUAL_NAME {
                continue;
            }
            let (state, problem) = if ours {
                self.judge(kind, there)
            } else {
                (ConnectionState::Foreign, Some(format!("the server `{name}` there is not Bailiwick")))
            };
            let place = if place.is_projects { " --project FOLDER" } else { "" };
            let named = if name == USUAL_NAME { String::new() } else { format!(" --name {name}") };
            let fix = match state {
                ConnectionState::Connected => None,
                ConnectionState::Foreign => Some(format!("bailiwick client add {id} --name {name}-2{place}")),
                _ => Some(format!("bailiwick client add {id}{named}{place}")),
            };
            to.push(listed(name, there, state, problem, fix));
        }
        if to.len() == before {
            let fix = found.map(|_| format!("bailiwick client add {id}"));
            to.push(listed(USUAL_NAME, &Value::Null, ConnectionState::NotConnected, None, fix));
        }
    }

    /// Holds an entry against the one that would be written now, with the rights that it names.
    fn judge(&self, kind: ClientKind, there: &Value) -> (ConnectionState, Option<String>) {
        let fields = in_fields(there);
        let Some(command) = fields["command"].as_str() else {
            let is_right = Entry::new(kind, &self.connection, &Reach::Http)
                .is_ok_and(|entry| entry.compare(there) == Likeness::Right);
            return if is_right {
                (ConnectionState::Connected, None)
            } else {
                let problem = format!("it is not as it would be written now, for {}", self.connection.url());
                (ConnectionState::Stale, Some(problem))
            };
        };
        let program = PathBuf::from(command);
        if program.is_absolute() && !program.is_file() {
            return (
                ConnectionState::Broken,
                Some(format!("the program that it starts is not there: {command}")),
            );
        }
        let words: Vec<&str> =
            fields["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let caller = words.iter().position(|it| *it == "--caller").and_then(|at| words.get(at + 1));
        if let Some(caller) = caller
            && self.tokens.find(caller).is_none()
        {
            let problem = format!("it names the token `{caller}`, which does not exist");
            return (ConnectionState::Broken, Some(problem));
        }
        let reach = Reach::Stdio { caller: caller.map(|it| (*it).to_owned()) };
        match Entry::new(kind, &self.connection, &reach) {
            Ok(entry) if entry.compare(there) == Likeness::Right => (ConnectionState::Connected, None),
            _ => {
                let started = std::iter::once(command).chain(words).collect::<Vec<_>>().join(" ");
                let problem = format!("it starts `{started}`, which is not as it would be written now");
                (ConnectionState::Stale, Some(problem))
            }
        }
    }
}

/// Returns the settings files that have an entry which `client add` wrote.
///
/// # Errors
/// `provider_unavailable` if the list of changes is there and cannot be read.
pub fn added_settings(home: &Home) -> Result<Vec<PathBuf>, Failure> {
    let records = Records::load(home)?;
    Ok(records.installed().iter().map(|it| it.file.clone()).filter(|file| file.exists()).collect())
}

/// Finds every entry that is Bailiwick's: by what was written down, and by looking.
///
/// # Errors
/// When Bailiwick's own files cannot be read.
pub fn everywhere(
    home: &Home,
    records: &Records,
    project: Option<&Path>,
) -> Result<Vec<(ClientKind, SettingsPlace, String)>, Failure> {
    let mut found: Vec<(ClientKind, SettingsPlace, String)> = Vec::new();
    for listed in look(home, project)?.clients {
        use ConnectionState::{Broken, Connected, Stale};
        if matches!(listed.state, Connected | Stale | Broken) && (project.is_none() || listed.of_project) {
            let place = SettingsPlace { file: listed.settings, is_projects: listed.of_project };
            found.push((listed.client, place, listed.name));
        }
    }
    if project.is_none() {
        for change in records.installed() {
            let is_known =
                found.iter().any(|(_, place, name)| place.file == change.file && *name == change.name);
            if !is_known && change.file.exists() {
                let place = SettingsPlace { file: change.file.clone(), is_projects: false };
                found.push((change.client, place, change.name.clone()));
            }
        }
    }
    Ok(found)
}
