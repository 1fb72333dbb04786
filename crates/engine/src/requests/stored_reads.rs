//! What callers had read that anybody may have written, before a stored request came.
//!
//! The history is gone through once for it, newest rows first; reads of one scope that follow each other within the time that one
//! counts are one period, so that a long history needs little memory and a question to it little time.

use std::collections::HashMap;

use bailiwick_contract::Caller;
use bailiwick_history::Entry as Row;
use bailiwick_policy::{Scopes, UntrustedRead, shows_untrusted};

use super::stored::{recorded, was_approved};
use crate::registry::Registry;
use bailiwick_policy::command::Decision;

/// The untrusted reads of a history.
#[derive(Debug, Default)]
pub struct StoredReads(HashMap<String, HashMap<String, Vec<ReadPeriod>>>);

/// Reads of one scope that follow each other.
#[derive(Debug)]
struct ReadPeriod {
    first: UntrustedRead,
    until_ms: i64,
}

impl StoredReads {
    /// Takes note of a row. Rows come newest first.
    pub(super) fn add(&mut self, row: &Row, caller: &Caller, scopes: &Scopes, registry: &Registry) {
        let Some(entry) = registry.entry(&row.op) else { return };
        let scope = scopes.find(&row.scope).map(AsRef::as_ref);
        if !shows_untrusted(entry.spec, scope, row.target.as_deref()) {
            return;
        }
        let has_run = recorded(row).is_some_and(|it| it.decision == Decision::Allow || was_approved(row));
        if !has_run {
            return;
        }
        let first = UntrustedRead {
            scope: Some(row.scope.clone()),
            operation_id: row.operation_id.clone(),
            op: row.op.clone(),
            target: row.target.clone(),
            at_ms: row.at_ms,
        };
        let until_ms = row.at_ms.saturating_add(UntrustedRead::LIFE_MS);
        let of_caller = self.0.entry(caller.identity().to_owned()).or_default();
        let periods = of_caller.entry(row.scope.clone()).or_default();
        match periods.last_mut() {
            Some(last) if until_ms >= last.first.at_ms => last.first = first,
            _ => periods.push(ReadPeriod { first, until_ms }),
        }
    }

    /// Returns what a caller had read when a request came, oldest first; one for each scope.
    pub(super) fn before(&self, row: &Row, caller: &Caller) -> Vec<UntrustedRead> {
        let moment = (row.at_ms, row.operation_id.as_str());
        let of_caller = self.0.get(caller.identity()).into_iter().flat_map(HashMap::values);
        let mut reads: Vec<UntrustedRead> = of_caller
            .filter_map(|periods| {
                // The newest period is the first.
                let at =
                    periods.partition_point(|it| (it.first.at_ms, it.first.operation_id.as_str()) >= moment);
                periods.get(at).filter(|it| row.at_ms < it.until_ms)
            })
            .map(|period| period.first.clone())
            .collect();
        reads.sort_by(|one, other| (one.at_ms, &one.operation_id).cmp(&(other.at_ms, &other.operation_id)));
        reads
    }
}
