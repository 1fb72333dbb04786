//! Judging a case: stage after stage, the first refusal ends it; `explain` asks the same stages and shows what each says.

use serde_json::{Value, json};

use bailiwick_contract::{Capability, Effect, Failure, OperationSpec, StageName};

use super::approval::{ApprovalSubject, RequestKey, target_of};
use super::command::JudgedCommand;
use super::permit::Later;

use super::stage::{
    STAGES, approval, capability, command, input, limits, needs, operation, path, scope, scope_type, screen,
    sensitive,
};
use super::{Case, Grants, Permit, Question, Scope};

/// A refusal, with what is known about the request for the audit.
#[derive(Debug)]
pub struct Denial {
    /// Why; it names its stage.
    pub failure: Failure,
    /// The scope that was resolved, if that stage was passed.
    pub scope: Option<String>,
    /// The fields that the history may keep, if the operation is known.
    pub audited_fields: &'static [&'static str],
    /// What the user can approve, if that is all that is missing.
    pub question: Option<Box<Question>>,
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
    pub stage: StageName,
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
                json!({"stage": self.stage.as_str(), "asks": self.asks, "verdict": "passed", "note": note})
            }
            Verdict::Refused(failure) => {
                json!({"stage": self.stage.as_str(), "asks": self.asks, "verdict": "refused", "error": failure.to_json()})
            }
            Verdict::NotAsked => {
                json!({"stage": self.stage.as_str(), "asks": self.asks, "verdict": "not_asked"})
            }
        }
    }
}

/// Judges a request.
///
/// # Errors
/// The first stage's refusal.
pub fn decide(case: &Case<'_>) -> Result<Permit, Box<Denial>> {
    judge(case).map_err(|Refusal { failure, question }| {
        let scope = scope::check(case);
        let candidate = scope.as_ref().ok().and_then(|_| operation::check(case).ok());
        Box::new(Denial {
            failure,
            scope: scope.ok().flatten().map(|scope| scope.id().to_owned()),
            audited_fields: candidate.map_or(&[], |candidate| candidate.spec().audited_fields),
            question,
        })
    })
}

/// Why there is no permit.
struct Refusal {
    failure: Failure,
    question: Option<Box<Question>>,
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self { failure, question: None }
    }
}

fn judge(case: &Case<'_>) -> Result<Permit, Refusal> {
    let found = at(StageName::Scope, scope::check(case))?;
    let scope = found.as_deref();
    let candidate = at(StageName::Operation, operation::check(case))?;
    let spec = candidate.spec();
    let mut grants = Grants::of(case.caller, scope);
    let needed = at(StageName::Capability, capability::check(scope, spec, &grants))?;
    at(StageName::ScopeType, scope_type::check(scope, spec))?;
    let parsed = at(StageName::Input, input::check(case.envelope, candidate))?;
    let further = at(StageName::Needs, needs::check(scope, &parsed, &grants))?;
    let targets = at(StageName::Path, path::check(scope, spec, case.envelope, &parsed))?;
    let permitted = at(StageName::Sensitive, sensitive::check(&targets))?;
    let judged = at(StageName::Command, command::check(scope, &parsed, targets.path.as_ref()))?;
    at(StageName::Screen, screen::check(scope, spec))?;
    let limits = at(StageName::Limits, limits::check(scope, spec, &parsed.common))?;
    let ask = [needed.ask, further].concat();
    let question = question(case, scope, spec, &ask, judged.as_ref(), &targets);
    if let Err(failure) = at(StageName::Approval, approval::check(question.as_ref(), case.approval)) {
        return Err(Refusal { failure, question: question.map(Box::new) });
    }
    grants.approve(&ask);
    // Which command it runs is known only when it looks: what it then asks about is bound to this request.
    let asks_later = spec.effect == Effect::RunsCode && judged.is_none();
    let later = scope.filter(|_| asks_later).map(|scope| Later::new(request_key(case, scope, &targets)));
    Ok(Permit {
        spec,
        approved: question.map(|question| question.key),
        later,
        capability: needed.capability,
        grants,
        target: permitted.target,
        paths: permitted.paths,
        writable_paths: permitted.writable_paths,
        command: judged.map(|judged| judged.permitted),
        limits,
        parsed,
        scope: found,
    })
}

/// Puts together what has to be approved, if anything has.
fn question(
    case: &Case<'_>,
    scope: Option<&Scope>,
    spec: &'static OperationSpec,
    ask: &[Capability],
    judged: Option<&JudgedCommand>,
    targets: &path::Targets,
) -> Option<Question> {
    let scope = scope.filter(|_| !ask.is_empty() || judged.is_some_and(JudgedCommand::is_asked))?;
    let target = target_of(targets.path.as_ref(), targets.id.as_deref());
    let asked = ApprovalSubject { scope, spec, target, capabilities: ask, command: judged };
    Some(Question::new(&asked, request_key(case, scope, targets)))
}

fn request_key(case: &Case<'_>, scope: &Scope, targets: &path::Targets) -> RequestKey {
    RequestKey::new(
        case.caller,
        scope.id(),
        target_of(targets.path.as_ref(), targets.id.as_deref()).as_deref(),
        case.envelope,
    )
}

/// Names the stage in its refusal.
fn at<T>(stage: StageName, result: Result<T, Failure>) -> Result<T, Failure> {
    result.map_err(|failure| failure.at_stage(stage))
}

/// Judges a request by the same stages, and shows what each says.
pub fn explain(case: &Case<'_>) -> Vec<StageVerdict> {
    let mut all = Explanation::default();
    let found = all.ask(Some(()), |()| scope::check(case), |found| scope::note(found.as_deref()));
    let candidate =
        all.ask(Some(()), |()| operation::check(case), |candidate| format!("`{}`", candidate.spec().name));
    let case_of = found.as_ref().map(Option::as_deref).zip(candidate);
    let grants = found.as_ref().map(|found| Grants::of(case.caller, found.as_deref()));
    let needed = all.ask(
        case_of.zip(grants.as_ref()),
        |((scope, candidate), grants)| capability::check(scope, candidate.spec(), grants),
        capability::Needed::note,
    );
    let fits = all.ask(
        case_of,
        |(scope, candidate)| scope_type::check(scope, candidate.spec()).map(|()| scope),
        |scope| scope_type::note(*scope),
    );
    let parsed = all.ask(
        candidate,
        |candidate| input::check(case.envelope, candidate),
        |_| "of the operation's form".to_owned(),
    );
    // The scope and the operation, where the one supports the other and what is asked for could be read.
    let readable = case_of.filter(|_| fits.is_some()).zip(parsed.as_ref());
    let further = all.ask(
        case_of.zip(parsed.as_ref()).zip(grants.as_ref()),
        |(((scope, _), parsed), grants)| needs::check(scope, parsed, grants),
        |further| match further.as_slice() {
            [] => "nothing further is needed, or it is granted".to_owned(),
            _ => "what the fields need, needs approval".to_owned(),
        },
    );
    let targets = all.ask(
        readable,
        |((scope, candidate), parsed)| path::check(scope, candidate.spec(), case.envelope, parsed),
        path::Targets::note,
    );
    all.ask(targets.as_ref(), sensitive::check, |_| {
        "nothing closed is touched; links are judged again when they are followed".to_owned()
    });
    let folder = targets.as_ref().and_then(|targets| targets.path.as_ref());
    let judged = all.ask(
        readable,
        |((scope, _), parsed)| command::check(scope, parsed, folder),
        |judged| command::note(judged.as_ref()),
    );
    all.ask(
        readable,
        |((scope, candidate), _)| screen::check(scope, candidate.spec()).map(|()| candidate.spec()),
        |spec| screen::note(spec),
    );
    all.ask(
        case_of.zip(parsed.as_ref()),
        |((scope, candidate), parsed)| limits::check(scope, candidate.spec(), &parsed.common),
        limits::note,
    );
    all.ask(
        case_of.zip(needed.as_ref()),
        |((scope, candidate), needed)| {
            let ask = [needed.ask.as_slice(), further.as_deref().unwrap_or_default()].concat();
            let judged = judged.as_ref().and_then(Option::as_ref);
            let nowhere = path::Targets::default();
            let targets = targets.as_ref().unwrap_or(&nowhere);
            let question = question(case, scope, candidate.spec(), &ask, judged, targets);
            approval::check(question.as_ref(), case.approval).map(|()| question)
        },
        |question| approval::note(question.as_ref()),
    );
    all.verdicts
}

/// What the stages have said so far, in the order of [`STAGES`].
#[derive(Default)]
struct Explanation {
    verdicts: Vec<StageVerdict>,
}

impl Explanation {
    /// Asks the next stage, unless what it builds on is missing. Returns what it found out.
    fn ask<I, T>(
        &mut self,
        builds_on: Option<I>,
        check: impl FnOnce(I) -> Result<T, Failure>,
        note: impl FnOnce(&T) -> String,
    ) -> Option<T> {
        let stage = &STAGES[self.verdicts.len()];
        let (found, verdict) = match builds_on.map(check) {
            None => (None, Verdict::NotAsked),
            Some(Ok(found)) => {
                let note = note(&found);
                (Some(found), Verdict::Passed(note))
            }
            Some(Err(failure)) => (None, Verdict::Refused(failure.at_stage(stage.name))),
        };
        self.verdicts.push(StageVerdict { stage: stage.name, asks: stage.asks, verdict });
        found
    }
}
