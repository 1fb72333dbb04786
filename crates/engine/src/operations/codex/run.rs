//! `codex.run`: let Codex do something, and wait for it.

use std::sync::Arc;
use std::time::Duration;

use crate::programs::{CommandCoverage, Sandbox};
use crate::registry::ConditionalNeeds;
use crate::registry::prelude::*;
use bailiwick_contract::signal;
use bailiwick_platform::launch::kept::Stream;
use bailiwick_policy::Need;
use bailiwick_providers::codex::Events;
use bailiwick_providers::command::{Capture, CommandEnd, Listener, RunOptions, describe_memory_excess, run};

use super::difference::{self, COMPARING};
use super::job::{CodexJob, Input, WorkOptions, make_ready, needs};
use super::outcome::{Outcome, STDERR_BYTES};

/// How much of the time of a call is kept for telling of the end.
const TELLING: Duration = Duration::from_secs(4);

/// The operation.
pub struct Op;

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "codex.run",
        summary: "Let Codex do something in the scope's folder, and give what came of it",
        details: "Runs the user's Codex (`codex exec`) in the target folder and waits for its end, at most 10 \
                  minutes unless `timeoutSeconds` says otherwise; for longer work there is codex.start. Codex may do \
                  what the scope may: without `fs:write` it only reads, and its commands reach the network only where \
                  the scope's do. Codex itself speaks to its provider. A Codex that fails is a success of the \
                  operation: look at `exitCode` and `errors`. `diffSummary` is what changed on disk. At the time \
                  limit Codex is ended and the result has `timedOut`; when the client cancels or leaves, everything \
                  is killed. Where `policy.undo` is `commands`, history.undo takes back what changed.",
        capabilities: &[&[Capability::CodexRun]],
        effect: Effect::RunsCode,
        target: TargetRule::PathOrRoot(Access::Write),
        scope: ScopeNeed::FOLDER,
        platforms: &["linux"],
        options: &[CommonOption::DryRun, CommonOption::Detail],
        timeout_seconds: 600,
        threads: Threads::Async,
        audited_fields: &["model", "sandbox", "resume", "sensitive", "timeoutSeconds", "dryRun", "detail"],
        example: r#"{"op":"codex.run","input":{"prompt":"Find out why the test `parses` fails, and fix it."}}"#,
    };
    type Input = Input;
    type Options = WorkOptions;
    type Output = Outcome;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;

    // The words are Bailiwick's own; `Permit::judge_command` judges them when they are put together.
}

impl RunAsync for Op {
    async fn run(
        cx: &Context,
        permit: &Permit,
        input: &Input,
        options: &WorkOptions,
    ) -> Result<Outcome, Failure> {
        let work = make_ready(cx, permit, input, options).await?;
        if permit.common().dry_run {
            cx.summarize(format!("would run {}", work.words()));
            let CodexJob { ready, codex_sandbox, sandbox, plan, .. } = work;
            let mut outcome = Outcome::begun(sandbox, codex_sandbox, ready.version.to_string());
            (outcome.dry_run, outcome.plan) = (true, Some(plan));
            return Ok(outcome);
        }
        let snapshot = Arc::new(difference::before(cx, permit).await?);
        let words = work.words();
        let coverage = CommandCoverage::begin(cx, permit, &work.ready.prepared).await?;
        let (mut outcome, events) = work_through(cx, permit, work).await?;
        if let Some(coverage) = coverage {
            outcome.changes = coverage.finish(cx).await;
        }
        match difference::since(snapshot, COMPARING).await {
            Ok(difference) => outcome.diff_summary = serde_json::to_value(difference).ok(),
            Err(failure) => cx.warn(format!("what changed could not be found out: {}", failure.message)),
        }
        outcome.told(events, permit.common().detail);
        cx.summarize(format!("{words}; {}", outcome.ending()));
        outcome.fit(permit.limits().max_output_bytes);
        Ok(outcome)
    }
}

impl ConditionalNeeds for Op {
    fn needs(_: &Input, options: &WorkOptions) -> Vec<Need> {
        needs(options.sandbox)
    }
}

/// Runs Codex to its end, or until its time is over.
async fn work_through(cx: &Context, permit: &Permit, work: CodexJob) -> Result<(Outcome, Events), Failure> {
    let CodexJob { ready, prompt, codex_sandbox, sandbox, .. } = work;
    let mut events = Events::in_place(ready.folder.clone(), permit.path().shown());
    let mut outcome = Outcome::begun(sandbox, codex_sandbox, ready.version.to_string());
    cx.progress.say("Codex is being started");
    let timeout = permit.limits().timeout;
    let ran = {
        let progress = cx.progress.clone();
        let listener: Listener<'_> = Box::new(|stream, bytes| {
            if stream == Stream::Stdout
                && let Some(said) = events.push(bytes)
            {
                progress.say(said);
            }
        });
        let running = RunOptions {
            stdin: Some(prompt),
            deadline: cx.cancel.deadline() - TELLING.min(timeout / 4),
            stdout: Capture::new(0, 0),
            stderr: Capture::new(0, STDERR_BYTES).without_ansi(),
            listener: Some(listener),
        };
        run(&cx.service.launcher, ready.prepared, running).await?
    };
    let CommandEnd { ended, timed_out, stderr, elapsed, warnings, .. } = ran;
    warnings.into_iter().for_each(|warning| cx.warn(warning));
    outcome.timed_out = timed_out;
    outcome.duration_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    outcome.stderr = String::from_utf8_lossy(&stderr.tail).into_owned();
    match ended {
        Some(ended) => {
            outcome.exit_code = ended.exit_code;
            outcome.signal = ended.signal.map(signal::name);
            if let Some((excess, scope)) = ended.memory_excess.zip(permit.scope()) {
                cx.warn(describe_memory_excess(excess, scope.id()));
            }
            outcome.sandbox = Sandbox::of(ended.held, false);
        }
        None => cx.warn("Codex did not end in time after it was asked to; it is being killed"),
    }
    if timed_out {
        let limit = cx.cancel.limit_words("Codex was ended");
        cx.warn(format!("{limit}; codex.start lets it work for longer, and `options.resume` continues"));
    }
    Ok((outcome, events))
}
