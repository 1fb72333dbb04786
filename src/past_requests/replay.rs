//! The requests of the history, judged by another config.
//!
//! Judged by the function that judges real requests; nothing is run, and no file of a scope is opened.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use bailiwick_config::{Config, Tokens};
use bailiwick_contract::time::now_ms;
use bailiwick_contract::{Caller, Failure, Transport};
use bailiwick_engine::operations::FAMILIES;
use bailiwick_engine::registry::Registry;
use bailiwick_engine::requests::{StoredJudge, StoredRequestError, StoredVerdict, recorded};
use bailiwick_history::{Entry, Filter};
use bailiwick_platform::quoting::quote_command;
use bailiwick_policy::command::Decision;
use bailiwick_policy::{OwnFolders, Scopes, UntrustedRead};

use super::find::read;
use crate::installation::home::Home;
use crate::installation::known_token::known;
use crate::installation::local_time::since;
use crate::scope_setup::scope_words::place_of;

/// How many rows are read at a time.
const ROWS: usize = 1_000;

/// What was decided.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct DecisionOutput {
    /// `allow`, `ask` or `deny`.
    pub verdict: &'static str,
    /// The stage that asks or refuses.
    pub stage: Option<String>,
    /// The rule that asks or refuses.
    pub rule: Option<String>,
}

impl DecisionOutput {
    /// Returns the facts of a verdict.
    pub fn of(verdict: &StoredVerdict) -> Self {
        Self { verdict: verdict.decision.as_str(), stage: verdict.stage.clone(), rule: verdict.rule.clone() }
    }
}

/// Requests that are judged alike.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplayGroupOutput {
    /// How many they are.
    pub requests: usize,
    /// The scope.
    pub scope: String,
    /// The operation.
    pub op: String,
    /// How they were judged when they came.
    pub before: DecisionOutput,
    /// How the new config judges them.
    pub now: DecisionOutput,
    /// The target or command of the newest.
    pub example: String,
    /// The id of the newest in the history.
    pub operation_id: String,
}

/// Requests that cannot be judged.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UnjudgedOutput {
    /// How many they are.
    pub requests: usize,
    /// Why.
    pub why: &'static str,
}

/// `policy test --against-history`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyReplayOutput {
    /// Whether the new config judges every request as it was judged, as far as it can be judged.
    pub ok: bool,
    /// How many requests were judged.
    pub judged: usize,
    /// How many are judged as before.
    pub unchanged: usize,
    /// Requests that the new config permits.
    pub newly_allowed: Vec<ReplayGroupOutput>,
    /// Requests that the new config refuses.
    pub newly_denied: Vec<ReplayGroupOutput>,
    /// Requests that the new config has need approval.
    pub newly_asked: Vec<ReplayGroupOutput>,
    /// Requests that cannot be judged, by reason.
    pub not_judged: Vec<UnjudgedOutput>,
}

/// The requests of one kind of change: by scope, operation, and both verdicts.
type Groups = BTreeMap<(String, String, DecisionOutput, DecisionOutput), (usize, String, String)>;

/// Judges what the history holds.
///
/// # Errors
/// When the config cannot be read or would be refused, or the history cannot be read.
pub fn replay(
    home: &Home,
    file: &Path,
    scope: Option<&str>,
    when: Option<&str>,
) -> Result<PolicyReplayOutput, Failure> {
    let config = Config::load(file).map_err(|error| error.for_person())?;
    let scopes = Scopes::compile(&config, &OwnFolders::of(&home.dirs))?;
    let filter = Filter {
        scope: scope.map(str::to_owned),
        since_ms: when.map(|when| since(when, now_ms())).transpose()?,
        limit: ROWS,
        ..Filter::default()
    };
    let registry = Registry::new(FAMILIES);
    scopes.all().try_for_each(|scope| registry.check_asked_operations(scope))?;
    if let Some(id) = scope {
        place_of(&config, id)?;
    }
    let rights = Rights::of(home)?;
    let caller = |name: &str, transport| rights.caller(name, transport);
    let mut judge = StoredJudge::new(&scopes, &registry, &caller);
    note_reads(home, &scopes, &mut judge, &filter)?;
    let mut found = ReplayCounts::default();
    for_each_row(home, filter, |row| found.add(row, &judge))?;
    Ok(found.output())
}

/// Notes what was read that anybody may have written, in a day before the requests that a filter finds, where a scope asks
/// after that.
///
/// # Errors
/// When the history cannot be read.
pub fn note_reads(
    home: &Home,
    scopes: &Scopes,
    judge: &mut StoredJudge<'_>,
    filter: &Filter,
) -> Result<(), Failure> {
    if !scopes.ask_after_untrusted() {
        return Ok(());
    }
    // A read in one scope counts in the others.
    let since_ms = filter.since_ms.map(|since_ms| since_ms.saturating_sub(UntrustedRead::LIFE_MS));
    let filter = Filter { scope: None, since_ms, ..filter.clone() };
    for_each_row(home, filter, |row| judge.note_read(row))
}

fn for_each_row(home: &Home, mut filter: Filter, mut each: impl FnMut(&Entry)) -> Result<(), Failure> {
    loop {
        let page = read(home, &filter)?;
        page.entries.iter().for_each(&mut each);
        if page.next.is_none() {
            return Ok(());
        }
        filter.cursor = page.next;
    }
}

/// The rights that callers have now.
pub struct Rights(Tokens);

impl Rights {
    /// Reads them.
    ///
    /// # Errors
    /// When the tokens cannot be read.
    pub fn of(home: &Home) -> Result<Self, Failure> {
        home.tokens().map(Self)
    }

    /// Returns the caller of a row, with the rights of now.
    pub fn caller(&self, name: &str, transport: Transport) -> Option<Caller> {
        let local = Caller::local(transport);
        if name == local.name {
            return Some(local);
        }
        known(self.0.records(), name).ok().map(|record| record.caller(transport))
    }
}

/// Returns what a request was about: its command or its target.
pub fn about(row: &Entry) -> String {
    let kept: Value =
        row.template.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let command = match &kept["input"]["command"] {
        Value::String(line) => Some(line.clone()),
        Value::Array(words) => Some(quote_command(words.iter().filter_map(Value::as_str))),
        _ => None,
    };
    command.or_else(|| row.target.clone()).unwrap_or_default()
}

#[derive(Default)]
struct ReplayCounts {
    judged: usize,
    unchanged: usize,
    allowed: Groups,
    denied: Groups,
    asked: Groups,
    unjudged: BTreeMap<StoredRequestError, usize>,
}

impl ReplayCounts {
    fn add(&mut self, row: &Entry, judge: &StoredJudge<'_>) {
        let Some(before) = recorded(row) else { return };
        let now = match judge.judge(row) {
            Ok(now) => now,
            Err(why) => {
                *self.unjudged.entry(why).or_default() += 1;
                return;
            }
        };
        self.judged += 1;
        let groups = match (before.decision, now.decision) {
            (before, now) if before == now => {
                self.unchanged += 1;
                return;
            }
            (_, Decision::Allow) => &mut self.allowed,
            (_, Decision::Deny) => &mut self.denied,
            (_, Decision::Ask) => &mut self.asked,
        };
        let (before, now) = (DecisionOutput::of(&before), DecisionOutput::of(&now));
        let group = groups
            .entry((row.scope.clone(), row.op.clone(), before, now))
            .or_insert_with(|| (0, about(row), row.operation_id.clone()));
        group.0 += 1;
    }

    fn output(self) -> PolicyReplayOutput {
        let (newly_allowed, newly_denied, newly_asked) =
            (listed(self.allowed), listed(self.denied), listed(self.asked));
        let unjudged = self.unjudged.into_iter();
        PolicyReplayOutput {
            ok: newly_allowed.is_empty() && newly_denied.is_empty() && newly_asked.is_empty(),
            judged: self.judged,
            unchanged: self.unchanged,
            newly_allowed,
            newly_denied,
            newly_asked,
            not_judged: unjudged.map(|(why, requests)| UnjudgedOutput { requests, why: why.why() }).collect(),
        }
    }
}

/// Puts the largest groups first.
fn listed(groups: Groups) -> Vec<ReplayGroupOutput> {
    let mut all: Vec<ReplayGroupOutput> = groups
        .into_iter()
        .map(|((scope, op, before, now), (requests, example, operation_id))| ReplayGroupOutput {
            requests,
            scope,
            op,
            before,
            now,
            example,
            operation_id,
        })
        .collect();
    all.sort_by_key(|group| std::cmp::Reverse(group.requests));
    all
}
