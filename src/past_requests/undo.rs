//! Which changes are meant: the newest, those of one request, or all since a time.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use serde_json::{Map, Value, json};

use bailiwick_contract::time::{now_ms, rfc3339};
use bailiwick_contract::{ErrorCode, Failure, id};
use bailiwick_engine::changes::unreadable;
use bailiwick_providers::versions::VersionStore;

use super::find::{find_entry, short_id};
use super::undo_state::{KeptChanges, UndoState, scope_of_key};
use crate::installation::home::Home;
use crate::installation::local_time::since;
use crate::scope_setup::scope_words::place_of;

/// Which changes the user means.
#[derive(Debug, Clone, Default)]
pub struct UndoChoice {
    /// Those of this request.
    pub operation: Option<String>,
    /// Those since this time.
    pub since: Option<String>,
    /// Those of this scope.
    pub scope: Option<String>,
}

/// What `history.undo` is asked for.
pub struct UndoRequest {
    /// The scope.
    pub scope: String,
    /// Its input.
    pub input: Map<String, Value>,
}

/// Finds what the words mean.
///
/// # Errors
/// `not_found` if nothing of it is kept; `invalid_request` if it is in several scopes; `conflict` if it was taken back
/// before.
pub fn find(home: &Home, args: &UndoChoice) -> Result<UndoRequest, Failure> {
    let config = home.config()?;
    if let Some(scope) = &args.scope {
        place_of(&config, scope)?;
    }
    match (&args.operation, &args.since) {
        (Some(id), _) => of_operation(home, args, id),
        (None, Some(when)) => since_time(home, args, when),
        (None, None) => newest(home, args),
    }
}

fn request(scope: &str, input: Value) -> UndoRequest {
    let Value::Object(mut input) = input else { unreachable!("an input is an object") };
    // A warning says it; the user decides.
    input.insert("shared".to_owned(), Value::Bool(true));
    UndoRequest { scope: scope.to_owned(), input }
}

fn of_operation(home: &Home, args: &UndoChoice, id: &str) -> Result<UndoRequest, Failure> {
    let entry = find_entry(home, args.scope.as_deref(), id)?;
    let id = entry.operation_id.as_str();
    let kept = KeptChanges::since(home, id::began_ms(id).unwrap_or(entry.at_ms))?;
    let named = format!("`{}` ({})", short_id(id), entry.op);
    match kept.state(&entry) {
        Some(UndoState::Possible { .. }) => Ok(request(&entry.scope, json!({"operation": id}))),
        Some(UndoState::TakenBack { by }) => {
            Err(Failure::new(ErrorCode::Conflict, format!("{named} was taken back already"))
                .hint(format!("`bailiwick undo {}` reverts that undo.", short_id(&by))))
        }
        Some(
            state @ (UndoState::Expired
            | UndoState::OutOfReach
            | UndoState::NotCovered
            | UndoState::NothingKept),
        ) => Err(Failure::new(ErrorCode::NotFound, format!("{named} cannot be taken back: {}", state.why()))
            .hint("`bailiwick log` shows what can be.")),
        None => Err(Failure::new(ErrorCode::NotFound, format!("{named} changed nothing"))
            .hint("`bailiwick log` shows what can be taken back.")),
    }
}

fn since_time(home: &Home, args: &UndoChoice, when: &str) -> Result<UndoRequest, Failure> {
    let (now, since_ms) = (now_ms(), since(when, now_ms())?);
    let keys = KeptChanges::keys(home);
    let mut scopes = BTreeSet::new();
    let read = VersionStore::below(&home.dirs.state).all_changes_since(since_ms, |it| {
        if keys.contains(&it.scope) {
            scopes.insert(scope_of_key(&it.scope).to_owned());
        }
        ControlFlow::Continue(false)
    });
    read.map_err(|error| unreadable(&error))?;
    if let Some(scope) = &args.scope {
        scopes.retain(|it| it == scope);
    }
    let mut found = scopes.iter();
    match (found.next(), found.next()) {
        (None, _) => Err(nothing("nothing that was changed since then is kept")),
        (Some(scope), None) => {
            // What comes while it is shown and asked about is not part of it.
            let input = json!({"since": rfc3339(since_ms), "until": rfc3339(now), "callers": "all"});
            Ok(request(scope, input))
        }
        (Some(_), Some(_)) => {
            let failure = Failure::invalid("--scope", "files of several scopes were changed since then");
            Err(scopes.iter().fold(failure, |failure, scope| {
                failure.hint(format!("`bailiwick undo --since {when} --scope {scope}` takes those back."))
            }))
        }
    }
}

fn newest(home: &Home, args: &UndoChoice) -> Result<UndoRequest, Failure> {
    let keys = KeptChanges::keys(home);
    let mut taken_back = BTreeSet::new();
    let mut found = None;
    let read = VersionStore::below(&home.dirs.state).all_changes_since(0, |it| {
        let is_asked_for = args.scope.as_deref().is_none_or(|scope| scope_of_key(&it.scope) == scope);
        if taken_back.contains(&it.undo_id) || !keys.contains(&it.scope) || !is_asked_for {
            return ControlFlow::Continue(false);
        }
        if !it.takes_back.is_empty() {
            taken_back.extend(it.takes_back.iter().cloned());
            return ControlFlow::Continue(false);
        }
        let operation = it.batch.as_ref().unwrap_or(&it.operation_id);
        found = Some(request(scope_of_key(&it.scope), json!({"operation": operation})));
        ControlFlow::Break(())
    });
    read.map_err(|error| unreadable(&error))?;
    found.ok_or_else(|| nothing("nothing is kept that could be taken back"))
}

fn nothing(message: &str) -> Failure {
    let days = VersionStore::max_age().as_secs() / (24 * 3_600);
    Failure::new(ErrorCode::NotFound, message).hint(format!(
        "What operations change is kept for {days} days; `bailiwick log` shows what can be taken back."
    ))
}
