//! `client list`: looking into the settings of every client, and changing nothing.

use std::path::{Path, PathBuf};

use serde_json::Value;

use bailiwick_config::{Config, Tokens};
use bailiwick_contract::{ErrorCode, Failure};

use super::super::connect::Connection;
use super::super::home::Home;
use super::super::printer::{Fit, Report, Table, one_line};
use super::args::ListArgs;
use super::entry::{Entry, Likeness, Reach, in_fields};
use super::kind::ClientKind;
use super::output::{ChangesOutput, ConnectionState, ListOutput, ListedChange, ListedClient};
use super::places::{SettingsPlace, evidence};
use super::plan::{is_bailiwicks, problem_failure};
use super::record::Records;
use super::settings;
use super::settings_file::SettingsFile;

/// The name under which Bailiwick is where nothing else was said.
const USUAL_NAME: &str = "bailiwick";

/// Lists the clients, or the changes.
///
/// # Errors
/// When Bailiwick's own files cannot be read.
pub fn run(home: &Home, args: &ListArgs) -> Result<Report, Failure> {
    if args.changes {
        return changes(home);
    }
    let output = look(home, args.project.as_deref())?;
    let mut table = Table::new(&[
        ("CLIENT", Fit::Whole),
        ("FOUND", Fit::Whole),
        ("BAILIWICK", Fit::Whole),
        ("SETTINGS", Fit::Cut),
    ]);
    for it in &output.clients {
        let title = if it.of_project { format!("{} (project)", it.title) } else { it.title.to_owned() };
        let name = if it.name == USUAL_NAME { String::new() } else { format!(" as {}", it.name) };
        table.row([
            title,
            if it.found.is_some() { "yes" } else { "no" }.to_owned(),
            format!("{}{name}", words(it.state)),
            one_line(&it.settings.display().to_string()),
        ]);
    }
    let mut report = Report::of(table.text(), &output);
    for it in &output.clients {
        if let Some(problem) = &it.problem {
            report = report.note(format!("\n{}: {}", it.title, one_line(problem)));
            if let Some(fix) = &it.fix {
                report = report.note(format!("hint: {}", one_line(fix)));
            }
        }
    }
    let waiting: Vec<&str> = output
        .clients
        .iter()
        .filter(|it| it.found.is_some() && it.state == ConnectionState::NotConnected && !it.of_project)
        .map(|it| it.client.facts().id)
        .collect();
    if !waiting.is_empty() {
        report = report.note(format!("\nTo connect them: bailiwick client add {}", waiting.join(" ")));
    }
    Ok(report)
}

/// Looks into the settings of every client.
///
/// # Errors
/// When Bailiwick's own files cannot be read.
pub fn look(home: &Home, project: Option<&Path>) -> Result<ListOutput, Failure> {
    let config = home.config_if_there()?.unwrap_or_else(|| Config::new(String::new(), String::new()));
    let look = Look {
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

struct Look {
    connection: Connection,
    records: Records,
    tokens: Tokens,
}

impl Look {
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

fn words(state: ConnectionState) -> &'static str {
    match state {
        ConnectionState::Connected => "connected",
        ConnectionState::Stale => "out of date",
        ConnectionState::Broken => "broken",
        ConnectionState::NotConnected => "not connected",
        ConnectionState::Foreign => "name taken",
        ConnectionState::Unreadable => "unreadable",
    }
}

fn changes(home: &Home) -> Result<Report, Failure> {
    let records = Records::load(home)?;
    let mut table = Table::new(&[
        ("CHANGE", Fit::Whole),
        ("WHEN", Fit::WholeOrGone),
        ("WHAT", Fit::Whole),
        ("CLIENT", Fit::Cut),
        ("FILE", Fit::Cut),
    ]);
    let mut listed = Vec::new();
    for change in records.changes().iter().rev() {
        let what = if change.undone {
            format!("{} (undone)", change.action.as_str())
        } else {
            change.action.as_str().to_owned()
        };
        table.row([
            change.id.clone(),
            change.at.get(..19).unwrap_or(&change.at).replace('T', " "),
            what,
            change.client.facts().title.to_owned(),
            one_line(&change.file.display().to_string()),
        ]);
        let backup = change.before.as_ref().map(|_| records.backup_path(&change.id));
        listed.push(ListedChange { change: change.clone(), backup });
    }
    let text = if table.is_empty() { "No settings were changed.\n".to_owned() } else { table.text() };
    Ok(Report::of(text, &ChangesOutput { ok: true, changes: listed }))
}
