//! What only this computer knows, to be named in commands: ids of scopes, processes and requests, names of tokens.

use bailiwick_contract::Failure;
use bailiwick_engine::operations::FAMILIES;
use bailiwick_engine::registry::Registry;
use bailiwick_history::Filter;

use crate::client_settings::record::Records;
use crate::installation::home::Home;
use crate::installation::processes::processes_of;
use crate::past_requests::find::read;

/// No more operations of the history than this are offered, the newest.
const OFFERED: usize = 50;
/// A value, and what it is about.
pub type Value = (String, String);

/// What values there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Ids of scopes.
    Scope,
    /// Names of tokens.
    Token,
    /// Ids of processes.
    Process,
    /// Ids of processes that continue.
    LiveProcess,
    /// Ids of operations in the history.
    Done,
    /// Ids of changes of clients' settings.
    Change,
    /// Names of operations.
    Operation,
}

/// Returns the values of a kind; `None` where what holds them cannot be read.
pub fn known_values(home: &Home, kind: Kind) -> Option<Vec<Value>> {
    Some(match kind {
        Kind::Scope => {
            let scopes = home.config().ok()?.scopes;
            scopes.into_iter().map(|scope| (scope.id, scope.name.unwrap_or_default())).collect()
        }
        Kind::Token => {
            let tokens = home.tokens().ok()?;
            let about = |scopes: &[String]| format!("opens {}", scopes.join(", "));
            tokens.records().iter().map(|token| (token.name.clone(), about(&token.scopes))).collect()
        }
        Kind::Process => processes(home, false),
        Kind::LiveProcess => processes(home, true),
        Kind::Done => {
            let filter = Filter { limit: OFFERED, ..Filter::default() };
            let entries = read(home, &filter).ok()?.entries;
            let about = |op: &str, target: Option<&str>| format!("{op} {}", target.unwrap_or_default());
            entries
                .into_iter()
                .map(|entry| {
                    let about = about(&entry.op, entry.target.as_deref());
                    (entry.operation_id, about.trim_end().to_owned())
                })
                .collect()
        }
        Kind::Change => open_changes(home).ok()?,
        Kind::Operation => {
            let registry = Registry::new(FAMILIES);
            let all = registry
                .operations()
                .map(|entry| (entry.spec.name.to_owned(), entry.spec.summary.to_owned()));
            all.collect()
        }
    })
}

fn processes(home: &Home, is_live: bool) -> Vec<Value> {
    let all = processes_of(home).all();
    let fitting = all
        .iter()
        .filter(|process| !is_live || process.status().is_ok_and(|status| !status.state.is_final()));
    fitting
        .map(|process| {
            let facts = &process.facts;
            let called = facts.label.as_deref().unwrap_or(&facts.preview);
            (facts.id.clone(), format!("{}: {called}", facts.scope))
        })
        .collect()
}

/// Returns the ids of the changes that can be undone, newest first, and what each is about.
///
/// # Errors
/// `provider_unavailable` if the list is there and cannot be read.
fn open_changes(home: &Home) -> Result<Vec<Value>, Failure> {
    let records = Records::load(home)?;
    let open = records.changes().iter().rev().filter(|it| !it.undone);
    Ok(open.map(|it| (it.id.clone(), format!("{} {}", it.client.facts().title, it.file.display()))).collect())
}
