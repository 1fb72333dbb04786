//! `policy test --against-history`: the requests of the history, judged by another config.
//!
//! Judged by the function that judges real requests; nothing is run, and no file of a scope is opened.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use bailiwick_config::{Config, Tokens};
use bailiwick_contract::{Caller, Failure, Transport};
use bailiwick_engine::operations::FAMILIES;
use bailiwick_engine::registry::Registry;
use bailiwick_engine::requests::{StoredJudge, StoredVerdict, Unjudged, recorded};
use bailiwick_history::{Entry, Filter};
use bailiwick_platform::quoting::quote_command;
use bailiwick_policy::command::Decision;
use bailiwick_policy::{OwnFolders, Scopes, UntrustedRead};

use super::args::PolicyTestArgs;
use super::columns::cut;
use super::home::Home;
use super::known_token::known;
use super::local_time::since;
use super::printer::{Paint, Report, one_line, paint};
use super::{history, scope};

/// How many groups of one kind are printed; JSON has all.
const SHOWN_GROUPS: usize = 20;
/// How much of a command or target is shown, in characters.
const SHOWN_CHARS: usize = 72;
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

    fn words(&self) -> String {
        match self.rule.as_ref().or(self.stage.as_ref()) {
            Some(rule) => format!("{} by {}", self.verdict, one_line(rule)),
            None => self.verdict.to_owned(),
        }
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
pub fn run(home: &Home, args: &PolicyTestArgs) -> Result<Report, Failure> {
    let config = Config::load(&args.file).map_err(|error| error.for_person())?;
    let scopes = Scopes::compile(&config, &OwnFolders::of(&home.dirs))?;
    let now = bailiwick_contract::time::now_ms();
    let filter = Filter {
        scope: args.scope.clone(),
        since_ms: args.since.as_deref().map(|when| since(when, now)).transpose()?,
        limit: ROWS,
        ..Filter::default()
    };
    let registry = Registry::new(FAMILIES);
    scopes.all().try_for_each(|scope| registry.check_asked_operations(scope))?;
    if let Some(id) = &args.scope {
        scope::place_of(&config, id)?;
    }
    let rights = Rights::of(home)?;
    let caller = |name: &str, transport| rights.caller(name, transport);
    let mut judge = StoredJudge::new(&scopes, &registry, &caller);
    note_reads(home, &scopes, &mut judge, &filter)?;
    let mut found = ReplayCounts::default();
    for_each_row(home, filter, |row| found.add(row, &judge))?;
    Ok(found.report())
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
        let page = history::read(home, &filter)?;
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
    unjudged: BTreeMap<Unjudged, usize>,
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

    fn report(self) -> Report {
        let mut text = String::new();
        let mut listed = |words: &str, colour: Paint, groups: Groups| -> Vec<ReplayGroupOutput> {
            let groups = listed(groups);
            let all: usize = groups.iter().map(|group| group.requests).sum();
            text.push_str(&format!("{} {all}\n", paint(colour, &format!("{words:<13}"))));
            for group in groups.iter().take(SHOWN_GROUPS) {
                text.push_str(&line(group));
            }
            if groups.len() > SHOWN_GROUPS {
                text.push_str(&format!(
                    "  and {} more kinds; --json lists them\n",
                    groups.len() - SHOWN_GROUPS
                ));
            }
            groups
        };
        let newly_allowed = listed("newly allowed", Paint::Bad, self.allowed);
        let newly_denied = listed("newly denied", Paint::Hint, self.denied);
        let newly_asked = listed("newly asked", Paint::Hint, self.asked);
        text.push_str(&format!("{} {}\n", paint(Paint::Good, "unchanged    "), self.unchanged));
        let left: usize = self.unjudged.values().sum();
        text.push_str(&format!("not judged    {left}\n"));
        for (why, requests) in &self.unjudged {
            text.push_str(&format!("  {requests}, because {}\n", why.why()));
        }
        let output = PolicyReplayOutput {
            ok: newly_allowed.is_empty() && newly_denied.is_empty() && newly_asked.is_empty(),
            judged: self.judged,
            unchanged: self.unchanged,
            newly_allowed,
            newly_denied,
            newly_asked,
            not_judged: self
                .unjudged
                .into_iter()
                .map(|(why, requests)| UnjudgedOutput { requests, why: why.why() })
                .collect(),
        };
        let exit = u8::from(!output.ok);
        Report { exit, ..Report::of(text, &output) }
            .note("\nnote: files and links are not checked, and callers are judged by their current rights.")
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

fn line(group: &ReplayGroupOutput) -> String {
    let scope =
        if group.scope.is_empty() { String::new() } else { format!(" in {}", one_line(&group.scope)) };
    format!(
        "  {} × {}{scope}: {}, was {}; such as {} ({})\n",
        group.requests,
        one_line(&group.op),
        group.now.words(),
        group.before.words(),
        cut(&one_line(&group.example), SHOWN_CHARS),
        group.operation_id,
    )
}
