//! Judging a case: stage after stage, the first refusal ends it; `explain` continues and tells all.

use serde_json::{Value, json};

use bailiwick_contract::Failure;

use super::stage::{Draft, STAGES, Verdicts};
use super::{Case, Permit};

/// A refusal, with what is known about the request for the audit.
#[derive(Debug)]
pub struct Denial {
    /// Why; it names its stage.
    pub failure: Failure,
    /// The scope that was resolved, if that stage was passed.
    pub scope: Option<String>,
    /// The fields that the history may keep, if the operation is known.
    pub audited_fields: &'static [&'static str],
}

/// What one stage says.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It has no objection; with what it decided, in words.
    Passed(String),
    /// It refuses.
    Refused(Failure),
    /// It cannot be asked, since an earlier stage refused what it builds on.
    NotAsked,
}

/// One stage's verdict, as `policy explain` shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct StageVerdict {
    /// The stage's name.
    pub stage: &'static str,
    /// The question that it asks.
    pub asks: &'static str,
    /// Its answer.
    pub verdict: Verdict,
}

impl StageVerdict {
    /// Returns the verdict as a JSON object: `stage`, `asks`, `verdict`, and `note` or `error`.
    pub fn to_json(&self) -> Value {
        match &self.verdict {
            Verdict::Passed(note) => {
                json!({"stage": self.stage, "asks": self.asks, "verdict": "passed", "note": note})
            }
            Verdict::Refused(failure) => {
                json!({"stage": self.stage, "asks": self.asks, "verdict": "refused", "error": failure.to_json()})
            }
            Verdict::NotAsked => json!({"stage": self.stage, "asks": self.asks, "verdict": "not_asked"}),
        }
    }
}

/// Judges a request.
///
/// # Errors
/// The first stage's refusal.
pub fn decide(case: &Case<'_>) -> Result<Permit, Box<Denial>> {
    let mut draft = Draft::default();
    for stage in STAGES {
        if let Err(failure) = (stage.check)(case, &mut draft) {
            return Err(Box::new(Denial {
                failure: failure.at_stage(stage.name),
                scope: draft.scope.as_ref().map(|scope| scope.id().to_owned()),
                audited_fields: draft.candidate.map_or(&[], |candidate| candidate.spec().audited_fields),
            }));
        }
    }
    Ok(draft.into_permit())
}

/// Judges a request by the same stages, and shows what each says.
pub fn explain(case: &Case<'_>) -> Vec<StageVerdict> {
    let mut draft = Draft::default();
    let mut so_far = Verdicts::default();
    STAGES
        .iter()
        .map(|stage| {
            let verdict = if so_far.can_ask(stage) {
                match (stage.check)(case, &mut draft) {
                    Ok(()) => Verdict::Passed((stage.note)(case, &draft)),
                    Err(failure) => {
                        so_far.refused(stage);
                        Verdict::Refused(failure.at_stage(stage.name))
                    }
                }
            } else {
                so_far.refused(stage);
                Verdict::NotAsked
            };
            StageVerdict { stage: stage.name, asks: stage.asks, verdict }
        })
        .collect()
}
