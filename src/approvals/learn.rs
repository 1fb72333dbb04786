//! The smallest rules that would have spared you the approvals that you have given.
//!
//! Each proposal is tried before it is printed: the scope is compiled with it, and the request judged again.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use bailiwick_config::Config;
use bailiwick_contract::Failure;
use bailiwick_contract::command::is_program_name;
use bailiwick_contract::time::now_ms;
use bailiwick_engine::operations::FAMILIES;
use bailiwick_engine::registry::Registry;
use bailiwick_engine::requests::StoredJudge;
use bailiwick_history::{Entry, Filter};
use bailiwick_policy::command::Decision;
use bailiwick_policy::{OwnFolders, Question, Scopes};

use super::ticket::{ApprovedRules, apply_rules};
use crate::installation::home::Home;
use crate::installation::local_time::since;
use crate::past_requests::find::{find_entry, read};
use crate::past_requests::replay::{Rights, about};

/// How many rows are read at a time.
const ROWS: usize = 1_000;
/// How the history calls a decision of the user.
const APPROVAL: &str = "approval";

/// A change of a scope's rules.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProposalOutput {
    /// The scope.
    pub scope: String,
    /// How many approvals it would have spared.
    pub approvals: usize,
    /// What was approved: the command or target of each request.
    pub covers: Vec<String>,
    /// The commands that make the change.
    pub commands: Vec<String>,
}

/// `policy learn`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyLearnOutput {
    /// Always true.
    pub ok: bool,
    /// How many approvals the history has.
    pub approvals: usize,
    /// How many of them the rules of now would not ask for.
    pub not_asked_now: usize,
    /// How many cannot be judged again, or are asked for whatever the rules are.
    pub without_rule: usize,
    /// The proposed changes.
    pub proposals: Vec<ProposalOutput>,
    /// Whether the scopes were changed.
    pub applied: bool,
}

/// What is proposed, and the rules that make it so.
pub struct Proposals {
    /// What a program gets.
    pub output: PolicyLearnOutput,
    /// The changes, each of one scope, in the order of the proposals.
    pub changes: Vec<(String, ApprovedRules)>,
}

/// Proposes rules for what was approved in a scope or in all, from a time on.
///
/// # Errors
/// When config, tokens or history cannot be read.
pub fn propose(home: &Home, only: Option<&str>, when: Option<&str>) -> Result<Proposals, Failure> {
    let config = home.config()?;
    let learner =
        Learner { home, config: &config, registry: Registry::new(FAMILIES), rights: Rights::of(home)? };
    let mut proposals = BTreeMap::new();
    let (mut approvals, mut not_asked_now, mut without_rule) = (0, 0, 0);
    for asked in approved(home, only, when)? {
        approvals += 1;
        // What retention has removed is gone with its rule.
        let Ok(row) = find_entry(home, None, &asked) else {
            without_rule += 1;
            continue;
        };
        match learner.propose(&row)? {
            Lesson::NotAsked => not_asked_now += 1,
            Lesson::Nothing => without_rule += 1,
            Lesson::Rules(rules) => {
                let key = (row.scope.clone(), rules.commands(&row.scope));
                let proposal = proposals.entry(key).or_insert_with(|| (rules, Vec::new(), 0));
                let about = about(&row);
                if !proposal.1.contains(&about) {
                    proposal.1.push(about);
                }
                proposal.2 += 1;
            }
        }
    }
    let (mut listed, mut changes) = (Vec::new(), Vec::new());
    for ((id, commands), (rules, covers, count)) in proposals {
        changes.push((id.clone(), rules));
        listed.push(ProposalOutput { scope: id, approvals: count, covers, commands });
    }
    let output = PolicyLearnOutput {
        ok: true,
        approvals,
        not_asked_now,
        without_rule,
        proposals: listed,
        applied: false,
    };
    Ok(Proposals { output, changes })
}

/// Returns the ids of the requests that were approved.
fn approved(home: &Home, only: Option<&str>, when: Option<&str>) -> Result<Vec<String>, Failure> {
    let mut filter = Filter {
        scope: only.map(str::to_owned),
        op: Some(APPROVAL.to_owned()),
        ok: Some(true),
        since_ms: when.map(|when| since(when, now_ms())).transpose()?,
        limit: ROWS,
        ..Filter::default()
    };
    let mut asked = Vec::new();
    loop {
        let page = read(home, &filter)?;
        let given = page.entries.iter().filter(|row| {
            let words = row.summary.as_deref().and_then(|it| it.split(':').next()).unwrap_or_default();
            words.starts_with("approved") && !words.ends_with("in the client")
        });
        asked.extend(given.filter_map(|row| {
            let kept: Value = serde_json::from_str(row.template.as_deref()?).ok()?;
            kept["asked"].as_str().map(str::to_owned)
        }));
        if page.next.is_none() {
            return Ok(asked);
        }
        filter.cursor = page.next;
    }
}

/// What an approval teaches.
enum Lesson {
    /// The rules of now do not ask for it.
    NotAsked,
    /// No rule spares it, or it cannot be judged again.
    Nothing,
    /// These rules spare it.
    Rules(ApprovedRules),
}

struct Learner<'a> {
    home: &'a Home,
    config: &'a Config,
    registry: Registry,
    rights: Rights,
}

impl Learner<'_> {
    fn propose(&self, row: &Entry) -> Result<Lesson, Failure> {
        let (decision, question) = self.judge(row, self.config)?;
        let question = match (decision, question) {
            (Some(Decision::Allow), _) => return Ok(Lesson::NotAsked),
            (Some(Decision::Ask), Some(question)) => question,
            _ => return Ok(Lesson::Nothing),
        };
        for rules in candidates(&question) {
            let mut config = self.config.clone();
            let Some(scope) = config.scopes.iter_mut().find(|scope| scope.id == row.scope) else { continue };
            apply_rules(scope, &rules);
            if self.judge(row, &config)?.0 == Some(Decision::Allow) {
                return Ok(Lesson::Rules(rules));
            }
        }
        Ok(Lesson::Nothing)
    }

    fn judge(
        &self,
        row: &Entry,
        config: &Config,
    ) -> Result<(Option<Decision>, Option<Box<Question>>), Failure> {
        let scopes = Scopes::compile(config, &OwnFolders::of(&self.home.dirs))?;
        let caller = |name: &str, transport| self.rights.caller(name, transport);
        let judged = StoredJudge::new(&scopes, &self.registry, &caller).judge(row);
        Ok(judged.map_or((None, None), |it| (Some(it.decision), it.question)))
    }
}

/// Returns changes that may spare a question, the smallest first.
fn candidates(question: &Question) -> Vec<ApprovedRules> {
    let Some(change) = &question.change else { return Vec::new() };
    let widest = ApprovedRules {
        capabilities: question.capabilities.clone(),
        removed: change.removed.clone(),
        added: change.added.clone(),
        files: change.files.clone(),
        hosts: Vec::new(),
    };
    let exact: Option<Vec<String>> = question.commands.iter().map(|(_, words)| exact_rule(words)).collect();
    let exact = exact.filter(|rules| !rules.is_empty()).map(|added| ApprovedRules {
        added,
        removed: Vec::new(),
        ..widest.clone()
    });
    exact.into_iter().chain([widest]).collect()
}

/// Returns the rule that matches these words and no others, where a line can say it.
fn exact_rule(words: &[String]) -> Option<String> {
    let is_plain = |word: &String| {
        !word.is_empty() && word.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_./=:@+,%".contains(&it))
    };
    let program = words.first()?;
    (is_program_name(program) && words.iter().all(is_plain)).then(|| words.join(" "))
}
