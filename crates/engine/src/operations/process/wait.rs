//! `process.wait`: wait until something happens, in one call.

use std::sync::Arc;
use std::time::Instant;

use crate::registry::ConditionalNeeds;
use crate::registry::prelude::*;
use bailiwick_contract::{Detail, ErrorCode, signal, time};
use bailiwick_platform::launch::kept::Stream;
use bailiwick_policy::{InputPath, Need, PermittedPath};
use bailiwick_providers::approval::{Approvals, Progress};
use bailiwick_providers::digest::Digest;
use bailiwick_providers::wait::{
    ConditionMode, ConditionStatus, Evidence, Outcome, Round, Token, WatchedCondition, hold,
};

use super::digested::digest_of_ended;
use super::wait_conditions::{Finder, MAX_CONDITIONS, RawCondition, Until};
use crate::programs::warn_of_what_is_left;

/// The operation.
pub struct Op;

/// What to wait for: `any` or `all`; with neither, until the target process has ended.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Input {
    /// Wait until one of these holds; up to 32. Each is {`until`, `process`, …}: `exit` (`code`), `text` (`text`,
    /// `from`), `regex` (`pattern`, `from`), `port` (`port`), `http` (`port`, `path`, `status`), `file` (`path`,
    /// `state` exists|absent|changed), `approval` (`approval`), `quiet` (`seconds`), `time` (`seconds`).
    pub any: Option<Vec<RawCondition>>,
    /// Wait until each of these has held, at one time or another; up to 32.
    pub all: Option<Vec<RawCondition>>,
    /// The `resume` of an earlier wait on the same conditions: continue where it stopped.
    pub resume: Option<String>,
}

/// What happened.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// How the wait ended.
    pub outcome: Outcome,
    /// The conditions, in their order, and what was seen of each.
    pub conditions: Vec<Report>,
    /// With `timeOver`: send it as `input.resume` with the same conditions to continue waiting; nothing that happens in
    /// between is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    /// How long this call waited, in milliseconds.
    pub elapsed_ms: u64,
}

/// How one condition stands.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The kind of condition.
    pub until: Until,
    /// The process that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_id: Option<String>,
    /// `held`, `waiting` or `impossible`.
    pub standing: &'static str,
    /// For `exit`: the exit code; left out if a signal ended the process, or its end is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// For `exit`: the signal that ended the process, such as `SIGTERM`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// For `exit`, with `options.detail` `concise`: what the process printed, in short, if that is long and of a known
    /// form; process.read gives the output itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// For `text` and `regex`: the line, without control sequences; of a long one the part around the match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// The stream that it was printed to: `stdout` or `stderr`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<&'static str>,
    /// The position at which the line begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    /// For `text` and `regex`: the position behind what was checked; as `from` of another wait it finds what
    /// comes after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
    /// How many bytes were printed faster than they could be checked, and are not kept, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped_bytes: Option<u64>,
    /// For `approval`: `approved`, `refused` or `expired`. Send an approved request again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<&'static str>,
    /// For `http`: the status of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// For `http`: the beginning of the answer's body, at most 8 KiB, where that is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// `true` where the body continues.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub body_truncated: bool,
    /// With `impossible`: why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "process.wait",
        summary: "Wait until a process ends, prints, listens or rests, a file comes or changes, or time passes",
        details: "One call in place of many looks. The target is the process of the conditions that name none. \
                  `text` and `regex` are looked for in each line, without the control sequences of terminals; output \
                  that was printed before the wait counts, unless `from` says from where. A line that is not \
                  finished, such as a prompt, counts too: where a pattern depends on the end of the line, as soon as \
                  nothing has come for 100 ms. `quiet` is counted from the beginning of the wait at the earliest, \
                  and holds too when the process has ended. With `all`, a condition that has held once stays so. The \
                  outcome is `held`, `timeOver` with a token to continue with, or `impossible` as soon as processes have \
                  ended and what is waited for cannot happen any more. `file` needs fs:read too. `approval` holds as soon as the user has answered.",
        capabilities: &[&[Capability::ProcessManage]],
        effect: Effect::ReadOnly,
        target: TargetRule::OptionalId("the processId of the conditions that name none"),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::Detail],
        timeout_seconds: 45,
        threads: Threads::Held,
        audited_fields: &["any", "all", "timeoutSeconds", "detail"],
        example: r#"{"op":"process.wait","input":{"any":[{"until":"time","seconds":0.1}]}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::paths(paths);
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<Output, Failure> {
        let began = Instant::now();
        let end = [RawCondition::end()];
        let (wanted, list, raw) = wanted(input, permit.id().is_some(), &end)?;
        let scope = permit.needed_scope()?;
        let target = permit.id().map(str::to_owned);
        let fingerprint = Token::fingerprint(&(scope.id(), &target, list, raw));
        let now_ms = time::now_ms();
        let (began_ms, saved) = match &input.resume {
            Some(text) => {
                let token = Token::decode(text, &fingerprint, raw.len(), now_ms)?;
                (token.began_ms, token.saved)
            }
            None => (now_ms, Vec::new()),
        };
        let (processes, scope) = (Arc::clone(&cx.service.processes), scope.id().to_owned());
        let approvals = Approvals::below(&cx.service.dirs.state);
        let caller = cx.caller.identity().to_owned();
        let (raw_conditions, paths) = (raw.to_vec(), permit.input_paths().to_vec());
        // Finding processes and looking at files reads the disk.
        let round = tokio::task::spawn_blocking(move || {
            let finder = Finder {
                processes: &processes,
                scope: &scope,
                target: target.as_deref(),
                approvals: &approvals,
                caller: &caller,
            };
            let conditions = conditions(&raw_conditions, list, &finder, paths)?;
            Round::begin(wanted, conditions, began_ms, &saved)
        });
        let round = round.await.map_err(|error| {
            Failure::new(ErrorCode::ExecutionFailed, format!("the wait could not begin: {error}"))
        })??;
        let (round, outcome) = hold(round, &cx.cancel, &cx.progress, |round| in_words(round, raw)).await?;
        cx.summarize(format!("{}: {}", spoken(outcome), in_words(&round, raw)));
        let resume = (outcome == Outcome::TimeOver).then(|| {
            let (began_ms, saved) = round.save();
            Token::new(fingerprint, began_ms, saved).encode()
        });
        for process in round.watched().iter().filter_map(|watched| watched.condition.process()) {
            warn_of_what_is_left(cx, process);
        }
        let mut conditions: Vec<Report> =
            raw.iter().zip(round.watched()).map(|(raw, watched)| report(raw, watched)).collect();
        if permit.common().detail == Detail::Concise {
            let room = permit.limits().max_output_bytes / 2 / conditions.len().max(1);
            for (report, watched) in conditions.iter_mut().zip(round.watched()) {
                if let (ConditionStatus::Held(Evidence::Ended(_)), Some(process)) =
                    (&watched.standing, watched.condition.process())
                {
                    report.digest = digest_of_ended(process, room).await;
                }
            }
        }
        Ok(Output {
            outcome,
            conditions,
            resume,
            elapsed_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        })
    }
}

/// Returns the paths that conditions look at.
fn paths(input: &Input) -> Vec<InputPath> {
    let paths = |list: &Option<Vec<RawCondition>>, field| {
        let of = list.iter().flatten().filter_map(move |condition| condition.path(field));
        of.collect::<Vec<_>>()
    };
    [paths(&input.any, "input.any[].path"), paths(&input.all, "input.all[].path")].concat()
}

impl ConditionalNeeds for Op {
    fn needs(input: &Input, _: &NoFields) -> Vec<Need> {
        // Whether a file is there is for those alone who may read.
        let need = Need {
            field: "until",
            capability: Capability::FsRead,
            what: "a wait for a file",
            instead: "Wait for something else, or ask the user for fs:read.",
        };
        if paths(input).is_empty() { Vec::new() } else { vec![need] }
    }
}

/// Returns what is waited for, and the name of the list.
fn wanted<'a>(
    input: &'a Input,
    has_target: bool,
    end: &'a [RawCondition],
) -> Result<(ConditionMode, &'static str, &'a [RawCondition]), Failure> {
    let (wanted, list, conditions): (_, _, &[RawCondition]) = match (&input.any, &input.all) {
        (Some(any), None) => (ConditionMode::Any, "any", any),
        (None, Some(all)) => (ConditionMode::All, "all", all),
        (Some(_), Some(_)) => {
            return Err(Failure::invalid("input.all", "`input.any` and `input.all` exclude each other")
                .hint("Send one of them."));
        }
        // Of a process alone its end is waited for.
        (None, None) if has_target => (ConditionMode::Any, "any", end),
        (None, None) => {
            return Err(Failure::invalid("input.any", "there is nothing to wait for")
                .hint(r#"Send `any` or `all`, such as {"any":[{"until":"exit","process":"…"}]}."#));
        }
    };
    if conditions.is_empty() || conditions.len() > MAX_CONDITIONS {
        let message =
            format!("`input.{list}` must have 1 to {MAX_CONDITIONS} conditions, not {}", conditions.len());
        return Err(Failure::invalid(&format!("input.{list}"), message));
    }
    Ok((wanted, list, conditions))
}

fn conditions(
    raw: &[RawCondition],
    list: &str,
    finder: &Finder<'_>,
    paths: Vec<PermittedPath>,
) -> Result<Vec<bailiwick_providers::wait::Condition>, Failure> {
    let mut paths = paths.into_iter();
    let patterns = raw.iter().filter(|condition| condition.until == Until::Regex).count();
    let read = |(at, condition): (usize, &RawCondition)| {
        let judged = condition.path("").and_then(|_| paths.next());
        condition.read(&format!("input.{list}[{at}]"), finder, patterns, judged)
    };
    raw.iter().enumerate().map(read).collect()
}

fn report(raw: &RawCondition, watched: &WatchedCondition) -> Report {
    let process_id = watched.condition.process().map(|process| process.facts.id.clone());
    let mut report = Report {
        until: raw.until,
        process_id,
        standing: "waiting",
        exit_code: None,
        signal: None,
        digest: None,
        line: None,
        stream: None,
        position: None,
        next: watched.looked_at(),
        answer: None,
        skipped_bytes: Some(watched.skipped_bytes()).filter(|bytes| *bytes > 0),
        status: None,
        body: None,
        body_truncated: false,
        why: None,
    };
    match &watched.standing {
        ConditionStatus::Waiting => {}
        ConditionStatus::Impossible(why) => {
            report.standing = "impossible";
            report.why = Some(why.clone());
        }
        ConditionStatus::Held(evidence) => {
            report.standing = "held";
            match evidence {
                Evidence::Bare => {}
                Evidence::Ended(status) => {
                    report.exit_code = status.exit_code;
                    report.signal = status.signal.map(signal::name);
                }
                Evidence::Line(seen) => {
                    report.line = Some(seen.line.clone());
                    report.stream = Some(stream_name(seen.stream));
                    report.position = Some(seen.position);
                    report.next = Some(seen.next);
                }
                Evidence::Decided(progress) => {
                    report.answer = Some(match progress {
                        Progress::Approved | Progress::Used => "approved",
                        Progress::Refused => "refused",
                        Progress::Open | Progress::Gone => "expired",
                    });
                }
                Evidence::Answered(answer) => {
                    report.status = Some(answer.status);
                    report.body.clone_from(&answer.body);
                    report.body_truncated = answer.is_cut && answer.body.is_some();
                }
            }
        }
    }
    report
}

/// Returns how far a wait is, such as `1 of 2 conditions: port 5173 has held, exit has not`.
fn in_words(round: &Round, raw: &[RawCondition]) -> String {
    let standing = raw.iter().zip(round.watched()).map(|(raw, watched)| {
        let name = match (raw.until, raw.port) {
            (Until::Port, Some(port)) => format!("port {port}"),
            (until, _) => until.as_str().to_owned(),
        };
        match watched.standing {
            ConditionStatus::Held(_) => format!("{name} has held"),
            ConditionStatus::Waiting => format!("{name} not yet"),
            ConditionStatus::Impossible(_) => format!("{name} impossible"),
        }
    });
    let standing: Vec<String> = standing.collect();
    let of = if raw.len() == 1 { "condition" } else { "conditions" };
    format!("{} of {} {of}: {}", round.held(), raw.len(), standing.join(", "))
}

fn stream_name(stream: Stream) -> &'static str {
    match stream {
        Stream::Stdout => "stdout",
        Stream::Stderr => "stderr",
    }
}

fn spoken(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Held => "held",
        Outcome::TimeOver => "time over",
        Outcome::Impossible => "impossible",
    }
}
