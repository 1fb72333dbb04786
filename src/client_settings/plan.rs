//! What would be written into a settings file, before anything is.

use std::path::{Path, PathBuf};

use serde_json::Value;

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_providers::file::sha256_hex;

use super::choice::EntryOptions;
use super::connection::Connection;
use super::entry::{Entry, Likeness, Reach, is_ours};
use super::kind::{ClientKind, TokenForm};
use super::places::{SettingsPlace, evidence};
use super::record::{Action, Change, Records};
use super::settings::{self, FirstEdit, Problem};
use super::settings_file::SettingsFile;

/// An edit of a settings file that can be shown, and then made.
#[derive(Debug)]
pub struct SettingsEdit {
    /// The client.
    pub client: ClientKind,
    /// The entry's name.
    pub name: String,
    /// What is done.
    pub action: Action,
    /// The file as it is.
    pub file: SettingsFile,
    /// Whether it is a project's file.
    pub is_projects: bool,
    /// Its bytes afterwards; `None` if it is to be gone.
    pub after: Option<Vec<u8>>,
    /// Folders that go with it, if they are empty then.
    pub folders_to_remove: Vec<PathBuf>,
    /// What is worth knowing.
    pub notes: Vec<String>,
    /// The token that was made for the client, and goes with the entry.
    pub token_to_revoke: Option<String>,
    /// The change that this one undoes.
    pub undoes: Option<String>,
}

impl SettingsEdit {
    /// Returns whether there is nothing to do.
    pub fn is_nothing(&self) -> bool {
        self.after == self.file.content
    }
}

/// Plans putting an entry in.
///
/// # Errors
/// `conflict` where another server has the name, or the settings cannot be edited.
pub fn install(
    kind: ClientKind,
    connection: &Connection,
    records: &Records,
    reach: &Reach,
    how: &EntryOptions,
) -> Result<SettingsEdit, Failure> {
    let facts = kind.facts();
    let place = SettingsPlace::find(kind, &how.place)?;
    let name = &how.place.name;
    let entry = Entry::new(kind, connection, reach)?;
    let file = SettingsFile::read(&place.file)?;
    let text = file.text()?;
    let wrong = |problem: Problem| problem_failure(kind, &place.file, problem);
    let there = settings::servers(facts, text).map_err(wrong)?.into_iter().find(|(it, _)| it == name);
    let is_foreign = |there: &Value| !is_bailiwicks(kind, connection, records, &place.file, name, there);
    let after = match there.as_ref().map(|(_, there)| (entry.compare(there), there)) {
        Some((Likeness::Foreign, there)) if is_foreign(there) => {
            return Err(foreign(kind, &place.file, name));
        }
        Some((Likeness::Right, _)) => file.content.clone(),
        Some((Likeness::Stale | Likeness::Foreign, _)) | None => {
            file.check_writable()?;
            Some(settings::put(facts, text, name, &entry).map_err(wrong)?.into_bytes())
        }
    };
    let mut notes = Vec::new();
    if after != file.content {
        notes.push(facts.afterwards.to_owned());
        if *reach == Reach::Http {
            let makes = match (&how.caller, how.scope.is_empty()) {
                (Some(name), _) => format!("; it is that of the token `{name}`"),
                (None, true) => format!("; `bailiwick token create {}` makes one", facts.id),
                (None, false) => String::new(),
            };
            notes.push(match facts.token {
                TokenForm::Prompt => {
                    format!("{} asks for the token when it first connects{makes}.", facts.title)
                }
                _ => format!("{} takes the token from the variable BAILIWICK_TOKEN{makes}.", facts.title),
            });
        }
        if place.is_projects && *reach != Reach::Http {
            notes.push(
                "A project's settings go to everyone who has it; the program's path is this computer's."
                    .to_owned(),
            );
        }
        if kind != ClientKind::Generic && evidence(kind).is_none() {
            notes.push(format!("{} was not found on this computer.", facts.title));
        }
    }
    Ok(SettingsEdit {
        client: kind,
        name: name.clone(),
        action: Action::Install,
        file,
        is_projects: place.is_projects,
        after,
        folders_to_remove: Vec::new(),
        notes,
        token_to_revoke: None,
        undoes: None,
    })
}

/// Plans taking an entry out.
///
/// # Errors
/// `conflict` where another server has the name, or the settings cannot be edited.
pub fn remove(
    kind: ClientKind,
    connection: &Connection,
    records: &Records,
    place: SettingsPlace,
    name: &str,
) -> Result<SettingsEdit, Failure> {
    let facts = kind.facts();
    let file = SettingsFile::read(&place.file)?;
    let mut planned = SettingsEdit {
        client: kind,
        name: name.to_owned(),
        action: Action::Remove,
        after: file.content.clone(),
        file,
        is_projects: place.is_projects,
        folders_to_remove: Vec::new(),
        notes: Vec::new(),
        token_to_revoke: None,
        undoes: None,
    };
    let text = planned.file.text()?;
    let wrong = |problem: Problem| problem_failure(kind, &place.file, problem);
    let there = settings::servers(facts, text).map_err(wrong)?.into_iter().find(|(it, _)| it == name);
    let Some((_, there)) = there else { return Ok(planned) };
    if !is_bailiwicks(kind, connection, records, &place.file, name, &there) {
        return Err(foreign(kind, &place.file, name));
    }
    planned.file.check_writable()?;
    let chain = chain(records, &planned.file, name);
    let first_before = chain.last().map(|first| records.before(first)).transpose().ok().flatten();
    let is_without = |before: &Option<Vec<u8>>| {
        let text = before.as_deref().and_then(|it| std::str::from_utf8(it).ok()).unwrap_or_default();
        settings::servers(facts, text).is_ok_and(|servers| servers.iter().all(|(it, _)| it != name))
    };
    if let (Some(first), Some(before)) = (chain.last(), first_before.filter(is_without)) {
        // Nobody has touched it since: it becomes what it was, to the byte.
        planned.folders_to_remove = if before.is_none() { first.folders.clone() } else { Vec::new() };
        planned.after = before;
    } else {
        let made = earliest(records, &place.file)
            .and_then(|first| records.before(first).ok())
            .map(|before| String::from_utf8(before.unwrap_or_default()).unwrap_or_default())
            .map_or_else(FirstEdit::default, |before| FirstEdit::by_editing(facts, &before));
        planned.after = Some(settings::take_out(facts, text, name, &made).map_err(wrong)?.into_bytes());
    }
    planned.token_to_revoke = records
        .changes()
        .iter()
        .filter(|it| it.file == place.file && it.name == name && !it.undone)
        .find_map(|it| it.token.clone());
    let others_use_it = records
        .installed()
        .iter()
        .any(|it| it.client == kind && (&it.file, it.name.as_str()) != (&place.file, name));
    if others_use_it {
        planned.token_to_revoke = None;
    }
    Ok(planned)
}

/// Plans putting a file back as it was before a change.
///
/// # Errors
/// `conflict` if it was changed since; `not_found` if the file as it was is not there any more.
pub fn undo(records: &Records, change: &Change) -> Result<SettingsEdit, Failure> {
    let file = SettingsFile::read(&change.file)?;
    if file.content.as_deref().map(sha256_hex) != change.after {
        let failure = Failure::new(
            ErrorCode::Conflict,
            format!("{} was changed after this, so it is not put back", change.file.display()),
        );
        return Err(match (change.action, &change.before) {
            (Action::Install, _) => failure.hint(format!(
                "`bailiwick client remove {} --settings {} --name {}` takes out only Bailiwick's entry.",
                change.client.facts().id,
                change.file.display(),
                change.name
            )),
            (Action::Remove, Some(_)) => failure
                .hint(format!("The file as it was before is {}.", records.backup_path(&change.id).display())),
            (Action::Remove, None) => failure,
        });
    }
    file.check_writable()?;
    let after = records.before(change)?;
    Ok(SettingsEdit {
        client: change.client,
        name: change.name.clone(),
        action: match change.action {
            Action::Install => Action::Remove,
            Action::Remove => Action::Install,
        },
        file,
        is_projects: false,
        folders_to_remove: if after.is_none() { change.folders.clone() } else { Vec::new() },
        after,
        notes: vec![change.client.facts().afterwards.to_owned()],
        token_to_revoke: change.token.clone().filter(|_| change.action == Action::Install),
        undoes: Some(change.id.clone()),
    })
}

/// Returns whether an entry is Bailiwick's: it starts it, leads to its address, or was written by it.
pub fn is_bailiwicks(
    kind: ClientKind,
    connection: &Connection,
    records: &Records,
    file: &Path,
    name: &str,
    there: &Value,
) -> bool {
    let has_its_address = || {
        Entry::new(kind, connection, &Reach::Http)
            .is_ok_and(|entry| entry.compare(there) != Likeness::Foreign)
    };
    is_ours(there)
        || has_its_address()
        || records.installed().iter().any(|it| it.file == file && it.name == name)
}

/// Returns why settings are not edited, and what to do.
pub fn problem_failure(kind: ClientKind, file: &Path, problem: Problem) -> Failure {
    let shown = file.display();
    let by_hand = format!("`bailiwick client print {}` shows what to add by hand.", kind.facts().id);
    match problem {
        Problem::Syntax { line, column, message } => Failure::new(
            ErrorCode::Conflict,
            format!("{shown} cannot be parsed, and stays as it is: line {line}, column {column}: {message}"),
        )
        .detail("line", line)
        .detail("column", column)
        .hint(format!("Correct line {line}, then run this again."))
        .hint(by_hand),
        Problem::Shape(problem) => {
            Failure::new(ErrorCode::Conflict, format!("{shown} stays as it is: {problem}"))
                .hint(format!("It is not as {} has it: correct it, then run this again.", kind.facts().title))
                .hint(by_hand)
        }
        Problem::Loss => Failure::new(
            ErrorCode::Conflict,
            format!("{shown} stays as it is: the edit would have changed more than Bailiwick's entry"),
        )
        .hint(by_hand),
    }
}

fn foreign(kind: ClientKind, file: &Path, name: &str) -> Failure {
    Failure::new(
        ErrorCode::Conflict,
        format!("{} has a server `{name}` that is not Bailiwick, and it stays as it is", file.display()),
    )
    .hint(format!("Choose another name: `bailiwick client add {} --name {name}-2`.", kind.facts().id))
}

/// Returns the changes that led from a file without the entry to the file as it is, newest first: only if nothing else
/// has changed it.
fn chain<'r>(records: &'r Records, file: &SettingsFile, name: &str) -> Vec<&'r Change> {
    let mut expected = file.content.as_deref().map(sha256_hex);
    let mut chain = Vec::new();
    for change in records.changes().iter().rev().filter(|it| it.file == file.path && !it.undone) {
        if change.name != name || change.action != Action::Install || change.after != expected {
            break;
        }
        expected.clone_from(&change.before);
        chain.push(change);
    }
    chain
}

/// Returns the oldest change of a file since Bailiwick was last not in it.
fn earliest<'r>(records: &'r Records, file: &Path) -> Option<&'r Change> {
    let changes = records.changes().iter().rev().filter(|it| it.file == file && !it.undone);
    changes.take_while(|it| it.action == Action::Install).last()
}
