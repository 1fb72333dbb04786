//! Which operations can be taken back, and until when.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_contract::Failure;
use bailiwick_contract::time::{now_ms, rfc3339};
use bailiwick_engine::changes::unreadable;
use bailiwick_history::{Entry, State};
use bailiwick_policy::storage_key;
use bailiwick_providers::versions::VersionStore;

use crate::installation::home::Home;
use crate::installation::local_time::{DAY_MS, day_and_time};

/// Whether an operation can be taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoState {
    /// It can, until a time, unless its room is needed before.
    Possible {
        /// The time, in milliseconds since the epoch.
        until_ms: i64,
    },
    /// It was taken back.
    TakenBack {
        /// The id of the operation that did so.
        by: String,
    },
    /// The time for which changes are kept is over.
    Expired,
    /// The scope is closed, or has other folders now.
    OutOfReach,
    /// It started a process, and what those change is not covered.
    NotCovered,
    /// It changed nothing that is kept.
    NothingKept,
}

/// Whether an operation can be taken back, as `--json` has it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UndoStateOutput {
    /// `possible`, `takenBack`, `expired`, `outOfReach`, `notCovered` or `nothingKept`.
    pub state: &'static str,
    /// Until when, if it is possible (RFC 3339); the oldest changes go before if their room is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The id of the operation that took it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl UndoState {
    /// Describes it for a program.
    pub fn output(&self) -> UndoStateOutput {
        let (state, until, by) = match self {
            Self::Possible { until_ms } => ("possible", Some(rfc3339(*until_ms)), None),
            Self::TakenBack { by } => ("takenBack", None, Some(by.clone())),
            Self::Expired => ("expired", None, None),
            Self::OutOfReach => ("outOfReach", None, None),
            Self::NotCovered => ("notCovered", None, None),
            Self::NothingKept => ("nothingKept", None, None),
        };
        UndoStateOutput { state, until, by }
    }

    /// Describes it in a word or two, for a row.
    pub fn short(&self) -> String {
        match self {
            Self::Possible { until_ms } => match (until_ms - now_ms()) / DAY_MS {
                days @ 1.. => format!("{days} d"),
                _ => "<1 d".to_owned(),
            },
            Self::TakenBack { .. } => "undone".to_owned(),
            Self::Expired => "expired".to_owned(),
            Self::OutOfReach | Self::NotCovered | Self::NothingKept => "-".to_owned(),
        }
    }

    /// Describes it in a sentence.
    pub fn sentence(&self, id: &str, utc: bool) -> String {
        match self {
            Self::Possible { until_ms } => {
                let until = if utc { rfc3339(*until_ms) } else { day_and_time(*until_ms, false) };
                format!("`bailiwick undo {id}`, until {until} unless its room is needed before")
            }
            Self::TakenBack { .. } => self.why(),
            Self::Expired | Self::OutOfReach | Self::NotCovered | Self::NothingKept => {
                format!("not possible: {}", self.why())
            }
        }
    }

    /// Returns why it cannot be taken back.
    pub fn why(&self) -> String {
        match self {
            Self::Possible { .. } => String::new(),
            Self::TakenBack { by } => format!("taken back by {by}"),
            Self::Expired => {
                format!("changes are kept for {} days", VersionStore::max_age().as_secs() / (24 * 3_600))
            }
            Self::OutOfReach => "the scope is closed, or has other folders now".to_owned(),
            Self::NotCovered => "it started a process, and undo covers commands that end".to_owned(),
            Self::NothingKept => {
                "nothing of it is kept: it changed no file or went without undo, what the command changed is not covered, or newer changes needed the room"
                    .to_owned()
            }
        }
    }
}

/// What is kept of the changes of one operation.
#[derive(Default)]
struct OfOperation {
    oldest_ms: i64,
    is_in_reach: bool,
    /// By which operation each was taken back.
    taken_back: Vec<Option<String>>,
}

/// The changes that are kept since a time, by operation.
pub struct KeptChanges {
    by_operation: HashMap<String, OfOperation>,
}

impl KeptChanges {
    /// Reads which changes are kept of operations that began at this time or later.
    ///
    /// # Errors
    /// `provider_unavailable` if what is kept cannot be read.
    pub fn since(home: &Home, since_ms: i64) -> Result<Self, Failure> {
        let keys = Self::keys(home);
        let mut by_operation: HashMap<String, OfOperation> = HashMap::new();
        // Which change was taken back by which operation; an undo that was taken back itself does not count.
        let mut taken_back: HashMap<String, String> = HashMap::new();
        let read = VersionStore::below(&home.dirs.state).all_changes_since(since_ms, |it| {
            let by = taken_back.get(&it.undo_id).cloned();
            if by.is_none() {
                let undone = it.takes_back.iter().map(|undo_id| (undo_id.clone(), it.operation_id.clone()));
                taken_back.extend(undone);
            }
            for operation in std::iter::once(&it.operation_id).chain(&it.batch) {
                let kept = by_operation.entry(operation.clone()).or_default();
                kept.oldest_ms = it.at_ms;
                kept.is_in_reach = keys.contains(&it.scope);
                kept.taken_back.push(by.clone());
            }
            ControlFlow::Continue(false)
        });
        read.map_err(|error| unreadable(&error))?;
        Ok(Self { by_operation })
    }

    /// Returns the keys of the open scopes in the store.
    pub fn keys(home: &Home) -> HashSet<String> {
        let config = home.config_if_there().ok().flatten();
        let scopes = config.into_iter().flat_map(|config| config.scopes);
        scopes.map(|scope| storage_key(&scope)).collect()
    }

    /// Returns whether an operation can be taken back; `None` for one that changes nothing.
    pub fn state(&self, entry: &Entry) -> Option<UndoState> {
        let max_age_ms = i64::try_from(VersionStore::max_age().as_millis()).unwrap_or(i64::MAX);
        let Some(kept) = self.by_operation.get(&entry.operation_id) else {
            let may_have_changed = entry.has_effect && entry.state == State::Finished && entry.code.is_none();
            let is_old = entry.at_ms.saturating_add(max_age_ms) < now_ms();
            return may_have_changed.then_some(match entry.op.ends_with(".start") {
                true => UndoState::NotCovered,
                false if is_old => UndoState::Expired,
                false => UndoState::NothingKept,
            });
        };
        let last = kept.taken_back.iter().cloned().collect::<Option<Vec<String>>>();
        Some(match last.and_then(|by| by.into_iter().next()) {
            Some(by) => UndoState::TakenBack { by },
            None if !kept.is_in_reach => UndoState::OutOfReach,
            None => UndoState::Possible { until_ms: kept.oldest_ms.saturating_add(max_age_ms) },
        })
    }
}

/// Returns the id of the scope that a key of the store names.
pub fn scope_of_key(key: &str) -> &str {
    key.rsplit_once(' ').map_or(key, |(id, _)| id)
}
