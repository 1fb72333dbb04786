//! Judging a case: one function asks the stages one after the other. The first refusal ends it, unless what each stage says
//! is to be shown.

use std::sync::Arc;

use serde_json::{Value, json};

use bailiwick_config::{AfterUntrusted, SecretCommands};
use bailiwick_contract::{Capability, Effect, Failure, StageName};

use super::approval::{ApprovalSubject, RequestKey, SessionKey, target_of};
use super::command::JudgedCommand;
use super::permit::DeferredApproval;

use super::stage::{
    STAGES, approval, capability, command, input, limits, needs, operation, path, scope, scope_type, screen,
    sensitive,
};
use super::untrusted::{UntrustedCause, origin_of};
use super::{Candidate, Case, Grants, Need, PathRules, Permit, Question, Scope};

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
    let mut walk = Walk::default();
    let judgement = judge(case, &mut walk);
    judgement.permit.ok_or_else(|| {
        Box::new(Denial {
            failure: walk.refused.expect("what has no permit was refused"),
            scope: judgement.scope,
            audited_fields: judgement.audited_fields,
            question: judgement.question.map(Box::new),
        })
    })
}

/// Judges a request by the same stages, and shows what each says. It continues after a refusal.
pub fn explain(case: &Case<'_>) -> Vec<StageVerdict> {
    let mut walk = Walk { explains: true, ..Walk::default() };
    judge(case, &mut walk);
    walk.verdicts
}

/// What came of a request.
struct Judgement {
    permit: Option<Permit>,
    /// What the user can approve, where that alone is missing.
    question: Option<Question>,
    scope: Option<String>,
    audited_fields: &'static [&'static str],
}

/// Returns the scope of a request, where it names one that its caller may use.
pub fn scope_of(case: &Case<'_>) -> Option<Arc<Scope>> {
    scope::check(case).ok().flatten()
}

/// Asks the stages one after the other, for all: live requests, explanations and stored requests.
fn judge(case: &Case<'_>, walk: &mut Walk) -> Judgement {
    let found = walk.ask(Some(()), |()| scope::check(case), |found| scope::note(found.as_deref()));
    let candidate =
        walk.ask(Some(()), |()| operation::check(case), |candidate| format!("`{}`", candidate.spec().name));
    let spec = candidate.map(Candidate::spec);
    let case_of = found.as_ref().map(Option::as_deref).zip(candidate);
    let mut grants = found.as_ref().map(|found| Grants::of(case.caller, found.as_deref()));
    let needed = walk.ask(
        case_of.zip(grants.as_ref()),
        |((scope, candidate), grants)| capability::check(scope, candidate.spec(), grants),
        capability::CapabilityChoice::note,
    );
    let fits = walk.ask(
        case_of,
        |(scope, candidate)| scope_type::check(scope, candidate.spec()).map(|()| scope),
        |scope| scope_type::note(*scope),
    );
    let parsed = walk.ask(
        candidate,
        |candidate| input::check(case.envelope, candidate),
        |_| "of the operation's form".to_owned(),
    );
    // The scope and the operation, where the one supports the other and what is asked for could be read.
    let readable = case_of.filter(|_| fits.is_some()).zip(parsed.as_ref());
    let further = walk.ask(
        case_of.zip(parsed.as_ref()).zip(grants.as_ref()),
        |(((scope, _), parsed), grants)| needs::check(scope, parsed, grants),
        |further| match further.as_slice() {
            [] => "nothing further is needed, or it is granted".to_owned(),
            _ => "what the fields need, needs approval".to_owned(),
        },
    );
    let targets = walk.ask(
        readable,
        |((scope, candidate), parsed)| {
            path::check(scope, candidate.spec(), case.envelope, parsed, rules_after(case, scope))
        },
        path::Targets::note,
    );
    let permitted = walk.ask(targets.as_ref(), sensitive::check, |_| {
        "nothing closed is touched; links are judged again when they are followed".to_owned()
    });
    let folder = targets.as_ref().and_then(|targets| targets.path.as_ref());
    let judged = walk.ask(
        readable,
        |((scope, _), parsed)| command::check(scope, parsed, folder),
        |judged| command::note(judged.as_ref()),
    );
    walk.ask(
        readable,
        |((scope, candidate), _)| screen::check(scope, candidate.spec()).map(|()| candidate.spec()),
        |spec| screen::note(spec),
    );
    let limits = walk.ask(
        case_of.zip(parsed.as_ref()),
        |((scope, candidate), parsed)| limits::check(scope, candidate.spec(), &parsed.common),
        limits::note,
    );
    let ask = needed
        .as_ref()
        .map(|needed| [needed.ask.as_slice(), further.as_deref().unwrap_or_default()].concat());
    let mut questions = Vec::new();
    let approved = walk.ask(
        case_of.zip(ask.as_ref()),
        |((scope, candidate), ask)| {
            let nowhere = path::Targets::default();
            let subject = Subject {
                candidate,
                ask,
                judged: judged.as_ref().and_then(Option::as_ref),
                targets: targets.as_ref().unwrap_or(&nowhere),
                needs: parsed.as_ref().map_or(&[], |parsed| &parsed.needs),
                is_dry_run: parsed.as_ref().is_some_and(|parsed| parsed.common.dry_run),
            };
            questions = subject.questions(case, scope, grants.as_ref());
            approval::check(&questions, case.approvals)
                .map(|()| questions.iter().find(|it| !it.is_first_use).map(|it| it.key.clone()))
        },
        |_| approval::note(!case.approvals.is_empty()),
    );
    let mut judgement = Judgement {
        permit: None,
        question: None,
        scope: case_of_scope(found.as_ref()),
        audited_fields: found.as_ref().and(spec).map_or(&[], |spec| spec.audited_fields),
    };
    let parts = (found, spec, needed, parsed, targets, permitted, judged, limits, approved);
    // Where a stage has refused, the request is refused, whatever the others have found out.
    let (
        None,
        (
            Some(scope),
            Some(spec),
            Some(needed),
            Some(parsed),
            Some(targets),
            Some(permitted),
            Some(judged),
            Some(limits),
            Some(approved),
        ),
    ) = (&walk.refused, parts)
    else {
        judgement.question = match walk.refused_at {
            Some(StageName::Approval) => approval::unanswered(&questions, case.approvals).cloned(),
            _ => None,
        };
        return judgement;
    };
    let mut grants = grants.take().expect("a scope was found, or none is needed");
    grants.approve(&ask.unwrap_or_default());
    // Which command it runs is known only when it looks: what it then asks about is bound to this request.
    let asks_later = spec.effect == Effect::RunsCode && judged.is_none();
    let later = scope.as_deref().filter(|_| asks_later).map(|scope| {
        DeferredApproval::new(
            request_key(case, scope, &targets),
            SessionKey::new(case.caller, scope.id()),
            case.secret_handles,
        )
    });
    let rules = match scope.as_deref() {
        Some(scope) if case.is_rollback => Some(Arc::new(scope.path_rules().without_questions())),
        scope => rules_after(case, scope).map(Arc::clone),
    };
    let asks = scope.as_deref().is_some_and(|scope| scope.after_untrusted() == AfterUntrusted::Ask);
    let untrusted = case.untrusted.first().filter(|_| asks && approved.is_none()).cloned();
    judgement.permit = Some(Permit {
        spec,
        rules,
        approved,
        was_asked: !questions.is_empty(),
        changes: case.approvals.iter().filter_map(|it| it.changes.as_ref()).max().cloned(),
        later,
        origin: origin_of(spec, scope.as_deref(), &targets),
        untrusted,
        capability: needed.capability,
        grants,
        target: permitted.target,
        paths: permitted.paths,
        writable_paths: permitted.writable_paths,
        command: judged.map(|judged| judged.permitted),
        limits,
        parsed,
        scope,
    });
    judgement
}

/// Returns the rules for paths of a request after untrusted content was read, where they are others.
fn rules_after<'a>(case: &Case<'_>, scope: Option<&'a Scope>) -> Option<&'a Arc<PathRules>> {
    scope.filter(|_| !case.untrusted.is_empty() && !case.is_rollback)?.rules_after_untrusted()
}

fn case_of_scope(found: Option<&Option<Arc<Scope>>>) -> Option<String> {
    found?.as_ref().map(|scope| scope.id().to_owned())
}

/// A request as far as the stages have come with it, for what needs approval in it.
struct Subject<'a> {
    candidate: &'a dyn Candidate,
    ask: &'a [Capability],
    judged: Option<&'a JudgedCommand>,
    targets: &'a path::Targets,
    needs: &'a [Need],
    is_dry_run: bool,
}

impl Subject<'_> {
    /// Puts together what has to be approved: the request, or else what it uses the first time.
    fn questions(&self, case: &Case<'_>, scope: Option<&Scope>, grants: Option<&Grants>) -> Vec<Question> {
        let Some(scope) = scope.filter(|_| !case.is_rollback) else { return Vec::new() };
        let spec = self.candidate.spec();
        let asked = ApprovalSubject {
            scope,
            spec,
            target: None,
            capabilities: self.ask,
            operations: self.asked_operations(case, scope),
            files: &self.targets.asked,
            command: self.judged,
            is_input: scope.screen().asks_about_input(spec),
            handles: case.secret_handles,
            asks_handles: !case.secret_handles.is_empty() && scope.secret_commands() == SecretCommands::Ask,
            untrusted: UntrustedCause::of(
                case.untrusted,
                scope,
                spec,
                self.judged,
                self.targets,
                !spec.effect.is_read_only() && !self.is_dry_run,
            ),
        };
        let target = || target_of(self.targets.path.as_ref(), self.targets.id.as_deref());
        if asked.is_asked() {
            let asked = ApprovalSubject { target: target(), ..asked };
            return vec![Question::new(&asked, request_key(case, scope, self.targets))];
        }
        if scope.first_uses().is_empty() {
            return Vec::new();
        }
        let granted = spec.capabilities.iter().filter_map(|group| Some(grants?.best_of(group)?.0));
        // What a command starts can write where the client could.
        let writes =
            spec.effect == Effect::RunsCode && grants.is_some_and(|it| it.allows(Capability::FsWrite));
        let needed = self.needs.iter().map(|need| need.capability);
        let used: Vec<Capability> =
            granted.chain(needed).chain(writes.then_some(Capability::FsWrite)).collect();
        let asked = ApprovalSubject { target: target(), ..asked };
        let session = SessionKey::new(case.caller, scope.id());
        let uses = scope.first_uses().of_request(&used, self.judged.map(|judged| &judged.permitted));
        uses.into_iter().map(|it| Question::first_use(&asked, &session, &[it])).collect()
    }

    /// Returns the entries of `askOperations` that name the operation, by whichever of its names.
    fn asked_operations<'a>(&self, case: &Case<'_>, scope: &'a Scope) -> Vec<&'a str> {
        if scope.ask_operations().is_empty() {
            return Vec::new();
        }
        let names = case.catalogue.names(self.candidate.canonical_name());
        let is_named = |entry: &&str| match entry.strip_suffix('*') {
            Some(family) => names.iter().any(|name| name.starts_with(family)),
            None => names.contains(entry),
        };
        scope.ask_operations().iter().map(String::as_str).filter(is_named).collect()
    }
}

fn request_key(case: &Case<'_>, scope: &Scope, targets: &path::Targets) -> RequestKey {
    RequestKey::new(
        case.caller,
        scope.id(),
        target_of(targets.path.as_ref(), targets.id.as_deref()).as_deref(),
        case.envelope,
    )
}

/// The stages as they are asked, in the order of [`STAGES`].
#[derive(Default)]
struct Walk {
    /// Whether it continues after a refusal, and keeps what each stage says.
    explains: bool,
    asked: usize,
    verdicts: Vec<StageVerdict>,
    /// The first refusal.
    refused: Option<Failure>,
    refused_at: Option<StageName>,
}

impl Walk {
    /// Asks the next stage, unless what it builds on is missing or the request is refused already. Returns what it found out.
    fn ask<I, T>(
        &mut self,
        builds_on: Option<I>,
        check: impl FnOnce(I) -> Result<T, Failure>,
        note: impl FnOnce(&T) -> String,
    ) -> Option<T> {
        let stage = &STAGES[self.asked];
        self.asked += 1;
        if self.refused.is_some() && !self.explains {
            return None;
        }
        let result = builds_on.map(check).map(|it| it.map_err(|failure| failure.at_stage(stage.name)));
        if self.explains {
            let verdict = match &result {
                None => Verdict::NotAsked,
                Some(Ok(found)) => Verdict::Passed(note(found)),
                Some(Err(failure)) => Verdict::Refused(failure.clone()),
            };
            self.verdicts.push(StageVerdict { stage: stage.name, asks: stage.asks, verdict });
        }
        match result? {
            Ok(found) => Some(found),
            Err(failure) => {
                if self.refused.is_none() {
                    self.refused_at = Some(stage.name);
                    self.refused = Some(failure);
                }
                None
            }
        }
    }
}
