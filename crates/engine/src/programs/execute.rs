//! What the operations that run a command have in common: from a permitted command to its result.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::registry::Context;
use bailiwick_contract::limits::MAX_TIMEOUT_SECONDS;
use bailiwick_contract::{Capability, Containment, Detail, Failure, Network, signal};
use bailiwick_platform::launch::Launcher;
use bailiwick_policy::command::PermittedCommand;
use bailiwick_policy::{Permit, Scope};
use bailiwick_providers::command::{
    Capture, CapturedStream, CommandEnd, FailedCommand, HEAD_SHARE, Listener, ReadyCommand, Run, as_base64,
    as_text, describe_memory_excess, hints, need, share,
};
use bailiwick_providers::digest::Digest;
use bailiwick_providers::egress::NetworkUse;
use bailiwick_providers::process::{ContinuationSettings, RunEnd};

use super::begin::lifetime;
use super::commit::{PreviewOutcome, commit};
use super::coverage::{CommandChanges, CommandCoverage};
use super::ready::{PlannedCommand, Sandbox, StandardStreams, make_ready, plan_of, preview};
use super::recording::{CommandContinuation, RawOutput, Recording};

/// What the fields around the two streams take of the result's size.
const FIELD_BYTES: usize = 1_200;

/// When the answer is due of a command that runs longer, unless the request says otherwise: before clients give up,
/// the first of them after 45 seconds, or 60.
const ANSWER_WITHIN: Duration = Duration::from_secs(40);
/// How long before the end of the request's time it is due at the latest.
const BEFORE_DEADLINE: Duration = Duration::from_millis(500);

/// How the streams are given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// As text; bytes that are no UTF-8 stand as U+FFFD and are counted.
    #[default]
    Text,
    /// The first bytes of each stream, in base64.
    Base64,
}

/// What is run.
pub struct Execution {
    /// The command.
    pub command: PermittedCommand,
    /// The variables that the caller asks for.
    pub environment: BTreeMap<String, String>,
    /// What it reads.
    pub stdin: Option<Vec<u8>>,
    /// Whether control sequences of terminals are taken out.
    pub strip_ansi: bool,
    /// How the streams are given.
    pub encoding: Encoding,
    /// After how many seconds the answer comes at the latest, if the command can continue as a process then.
    pub answer_within_seconds: Option<u64>,
}

/// How it ended, and what it printed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandOutput {
    /// The exit code of the last command that ran; `null` if a signal ended it, or nothing was run.
    pub exit_code: Option<i32>,
    /// The signal that ended it, such as `SIGKILL`; `null` if it exited on its own.
    pub signal: Option<String>,
    /// Whether it was ended because its time was over.
    pub timed_out: bool,
    /// Whether it was ended because it took more memory, with all that it started, than the scope allows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub memory_exceeded: bool,
    /// `true` if it still runs, since the answer was due: now it is the process `processId`, which process.wait waits
    /// for, process.read reads and process.stop ends.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub running: bool,
    /// The process that it has become.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_id: Option<String>,
    /// After how many seconds from its start that process is ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_run_seconds: Option<u64>,
    /// What it printed to standard output; empty where `digest` tells it.
    pub stdout: String,
    /// What it printed to standard error; empty where `digest` tells it.
    pub stderr: String,
    /// What it printed, in short, with `options.detail` `concise`: long output of builds and tests, or output that
    /// is longer than the answer may be. `rawOutput` says where all of it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// Where the output is that `digest` tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_output: Option<RawOutput>,
    /// How long it ran, in milliseconds.
    pub duration_ms: u64,
    /// Whether something of what it printed was left out; `leftOut` says how much, or `rawOutput` where all is.
    pub truncated: bool,
    /// How much was left out in the middle, if anything was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<Streams<OmittedOutput>>,
    /// How many bytes of what is shown were not UTF-8, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_utf8_bytes: Option<Streams<u64>>,
    /// `base64` if the streams are given so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
    /// What held it.
    pub sandbox: Sandbox,
    /// What it reached of the hosts that the scope names, and what was refused; with `sandbox.network` `hosts` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkUse>,
    /// `true` if nothing was run, since `options.dryRun` was set; `plan` says what would be.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// `true` if the command did not run again, since the user has approved the changes of its preview: exactly these were taken over, and
    /// all else tells of that run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub committed: bool,
    /// What it changed in the folders of the scope, where `policy.undo` is `commands`, if anything: history.undo takes it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<CommandChanges>,
    /// With `options.dryRun`: the commands that would start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Vec<PlannedCommand>>,
}

/// A fact about each of the two streams.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Streams<T> {
    /// Of standard output.
    pub stdout: T,
    /// Of standard error.
    pub stderr: T,
}

/// How much of a stream was left out.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OmittedOutput {
    /// In bytes.
    pub bytes: u64,
    /// In line feeds.
    pub lines: u64,
}

/// Reads what a command gets on standard input out of its two forms.
///
/// # Errors
/// `invalid_request` if both are given, or the base64 is none.
pub fn input_bytes(text: Option<&str>, base64: Option<&str>) -> Result<Option<Vec<u8>>, Failure> {
    match (text, base64) {
        (None, None) => Ok(None),
        (Some(text), None) => Ok(Some(text.as_bytes().to_vec())),
        (None, Some(base64)) => STANDARD.decode(base64).map(Some).map_err(|error| {
            Failure::invalid("input.stdinBase64", format!("`input.stdinBase64` is not base64: {error}"))
                .hint("Use the standard alphabet with padding, without line breaks.")
        }),
        (Some(_), Some(_)) => Err(Failure::invalid(
            "input.stdinBase64",
            "`input.stdin` and `input.stdinBase64` exclude each other",
        )
        .hint("Send one of them.")),
    }
}

/// Runs a permitted command in the permit's target.
///
/// # Errors
/// Those of command.run.
pub async fn execute(cx: &Context, permit: &Permit, execution: Execution) -> Result<CommandOutput, Failure> {
    let Execution { command, environment, stdin, strip_ansi, encoding, answer_within_seconds } = execution;
    let answer_at = answer_at(cx, permit, answer_within_seconds)?;
    let preview = preview(&command);
    let prepared = make_ready(cx, permit, command.clone(), environment, StandardStreams::Pipes).await?;
    if permit.common().dry_run {
        cx.summarize(format!("would run `{preview}`, {}", prepared.level));
        return Ok(planned(&prepared));
    }

    let room = room(permit);
    if let Some(approved) = permit.approved_changes() {
        let (outcome, changes) = commit(cx, permit, &prepared, approved).await?;
        let output = committed(outcome, changes, room, encoding, prepared.advisory);
        let changes = output.changes.as_ref().and_then(CommandChanges::summary);
        let changes = changes.unwrap_or_else(|| "no changes".to_owned());
        cx.summarize(format!("`{preview}`, taken over from its preview, {}; {changes}", ending(&output)));
        return Ok(output);
    }
    let advisory = prepared.advisory;
    let is_concise = permit.common().detail == Detail::Concise && encoding == Encoding::Text;
    let mut recording = if is_concise || answer_at.is_some() {
        Recording::begin(cx, permit, &command, advisory, is_concise.then_some(room))
    } else {
        None
    };
    let scope = permit.scope().map(|scope| scope.id().to_owned()).unwrap_or_default();
    let (level, network, writes) = (prepared.level, prepared.network, prepared.writes);
    let capture = || capture(room, encoding, strip_ansi);
    let coverage = CommandCoverage::begin(cx, permit, &prepared).await?;
    let mut run = Run::start(&cx.service.launcher, prepared, stdin, [capture(), capture()]).await?;
    if let Some(at) = answer_at
        && !run.wait(at, &mut listener(recording.as_mut())).await
        && let Some(recorded) = recording.take()
    {
        let (held, elapsed) = (run.held().clone(), run.elapsed());
        let (leaving, max_run) = leaving(cx, permit, elapsed)?;
        match recorded.leave(run, leaving).await? {
            CommandContinuation::Process(process, kept) => {
                let id = process.facts.id.clone();
                cx.summarize(format!("`{preview}`, {}, still running as {id}", held.level));
                let mut output = printed(room, encoding, &kept);
                output.changes = finish(cx, coverage).await;
                if output.changes.is_some() {
                    cx.warn("What the command changes from now on, as a process, cannot be taken back.");
                }
                (output.running, output.process_id) = (true, Some(id));
                output.max_run_seconds = Some(max_run.as_secs());
                output.duration_ms = millis(elapsed);
                output.sandbox = Sandbox::of(held, advisory);
                output.network = process.network();
                return Ok(output);
            }
            CommandContinuation::Command(command) => {
                let (recorded, unfinished) = *command;
                (recording, run) = (Some(recorded), unfinished);
            }
        }
    }
    let ran = run.finish(cx.cancel.deadline(), &mut listener(recording.as_mut())).await?;
    let end = RunEnd { ended: ran.ended.clone(), timed_out: ran.timed_out };
    for warning in ran.warnings.iter() {
        cx.warn(warning);
    }
    if ran.timed_out {
        cx.warn(cx.cancel.limit_words("the command was ended"));
    }
    let mut output = report(cx, ran, room, encoding, (level, network, advisory, writes), &scope);
    output.changes = finish(cx, coverage).await;
    if let Some(recording) = recording
        && let Some((digest, raw_output)) = recording.finish(end, !output.truncated).await
    {
        (output.digest, output.raw_output) = (Some(digest), Some(raw_output));
        (output.stdout, output.stderr) = (String::new(), String::new());
        (output.truncated, output.left_out, output.not_utf8_bytes) = (true, None, None);
    }
    let network = output.network.as_ref().and_then(NetworkUse::summary);
    let network = network.map(|words| format!("; {words}")).unwrap_or_default();
    let changes = output.changes.as_ref().and_then(CommandChanges::summary);
    let changes = changes.map(|words| format!("; {words}")).unwrap_or_default();
    cx.summarize(format!("`{preview}`, {}, {}{network}{changes}", output.sandbox.level, ending(&output)));
    Ok(output)
}

/// Returns how much of what a command prints has room in its answer.
pub fn room(permit: &Permit) -> usize {
    permit.limits().max_output_bytes.saturating_sub(FIELD_BYTES)
}

/// Creates what keeps of a stream as much as an answer has room for.
pub fn capture(room: usize, encoding: Encoding, strip_ansi: bool) -> Capture {
    match encoding {
        // The end is for previews.
        Encoding::Base64 => Capture::new(room, 4_096),
        Encoding::Text => {
            let capture = Capture::new(room / HEAD_SHARE, room - room / HEAD_SHARE);
            if strip_ansi { capture.without_ansi() } else { capture }
        }
    }
}

/// Creates the result of a command whose changes were taken over from its preview.
fn committed(
    outcome: PreviewOutcome,
    changes: Option<CommandChanges>,
    room: usize,
    encoding: Encoding,
    advisory: bool,
) -> CommandOutput {
    let PreviewOutcome { exit_code, signal, duration_ms, streams } = outcome;
    let sandbox = Sandbox {
        level: Containment::Full,
        network: Network::None,
        degraded: false,
        advisory,
        ..Sandbox::unknown()
    };
    CommandOutput {
        exit_code,
        signal,
        duration_ms,
        sandbox,
        committed: true,
        changes,
        ..printed(room, encoding, &streams)
    }
}

/// Finds out what a command changed that has ended, and keeps what it replaced.
async fn finish(cx: &Context, coverage: Option<CommandCoverage>) -> Option<CommandChanges> {
    coverage?.finish(cx).await
}

fn listener(recording: Option<&mut Recording>) -> Listener<'_> {
    match recording {
        Some(recording) => Box::new(|stream, bytes| recording.push(stream, bytes)),
        None => Box::new(|_, _| {}),
    }
}

/// Returns when the answer is due although the command runs; none where it ends with the request.
///
/// Who may not manage processes could do nothing with one.
fn answer_at(cx: &Context, permit: &Permit, wanted: Option<u64>) -> Result<Option<Instant>, Failure> {
    const FIELD: &str = "options.answerWithinSeconds";
    if wanted.is_some_and(|seconds| !(1..=MAX_TIMEOUT_SECONDS).contains(&seconds)) {
        let expected = format!("a whole number from 1 to {MAX_TIMEOUT_SECONDS}");
        return Err(Failure::invalid(FIELD, format!("`{FIELD}` must be {expected}"))
            .hint(format!("Set `{FIELD}` to {expected}, or leave it out.")));
    }
    let may_manage = permit.allows(Capability::ProcessManage);
    if !may_manage || !Launcher::CAN_ADOPT {
        return Ok(None);
    }
    let at = Instant::now() + wanted.map_or(ANSWER_WITHIN, Duration::from_secs);
    let deadline = cx.cancel.deadline();
    let may_go_on = permit.scope().is_some_and(|scope| max_run(permit, scope) > permit.limits().timeout);
    Ok((at < deadline || may_go_on).then(|| at.min(deadline - BEFORE_DEADLINE)))
}

/// Returns how long a command runs at most, counted from its start: as long as the request says, or as the scope lets
/// commands run.
fn max_run(permit: &Permit, scope: &Scope) -> Duration {
    match permit.common().timeout_seconds {
        Some(_) => permit.limits().timeout,
        None => scope.max_runtime(),
    }
}

/// Returns how a command continues as a process, and how long it runs at most, counted from its start.
fn leaving(
    cx: &Context,
    permit: &Permit,
    elapsed: Duration,
) -> Result<(ContinuationSettings, Duration), Failure> {
    let scope = permit.needed_scope()?;
    let max_run = max_run(permit, scope);
    let policy = scope.processes();
    let (lifetime, connection) = lifetime(cx, policy.lifetime);
    let max_time = max_run.saturating_sub(elapsed);
    Ok((ContinuationSettings { lifetime, connection, max_time, max_live: policy.max_live }, max_run))
}

/// Creates the result of a command that has ended.
fn report(
    cx: &Context,
    ran: CommandEnd,
    room: usize,
    encoding: Encoding,
    (level, network, advisory, writes): (Containment, Network, bool, bool),
    scope: &str,
) -> CommandOutput {
    let ended = ran.ended;
    let (exit_code, signal) = ended.as_ref().map_or((None, None), |ended| (ended.exit_code, ended.signal));
    let left = ended.as_ref().map_or(0, |ended| ended.left_killed);
    let excess = ended.as_ref().and_then(|ended| ended.memory_excess);
    let failed = exit_code != Some(0) && !ran.timed_out && excess.is_none();
    if ended.is_none() {
        cx.warn("the command did not end in time after it was asked to; it is being killed");
    } else if let Some(excess) = excess {
        cx.warn(describe_memory_excess(excess, scope));
    } else if left > 0 && !ran.timed_out {
        let processes = if left == 1 { "process" } else { "processes" };
        cx.warn(format!("the command left {left} {processes} behind, ended with it"));
    }
    if failed {
        let network = ended.as_ref().map_or(network, |ended| ended.held.network);
        let printed = [end_of(&ran.stderr), end_of(&ran.stdout)];
        for hint in hints(&FailedCommand { printed, level, network, writes, signal }) {
            cx.warn(hint);
        }
    }
    for warning in ran.network.iter().flat_map(NetworkUse::warnings) {
        cx.warn(warning);
    }
    let sandbox = match ended {
        Some(ended) => Sandbox::of(ended.held, advisory),
        None => Sandbox { level, network, advisory, ..Sandbox::unknown() },
    };
    let mut output = printed(room, encoding, &[ran.stdout, ran.stderr]);
    (output.exit_code, output.signal) = (exit_code, signal.map(signal::name));
    output.timed_out = ran.timed_out;
    output.memory_exceeded = excess.is_some();
    output.duration_ms = millis(ran.elapsed);
    output.sandbox = sandbox;
    output.network = ran.network;
    output
}

/// Makes a result of what was printed.
fn printed(room: usize, encoding: Encoding, [stdout, stderr]: &[CapturedStream; 2]) -> CommandOutput {
    let (stdout, stderr) = match encoding {
        Encoding::Text => {
            let (first, second) = share(room, need(stdout), need(stderr));
            (as_text(stdout.clone(), first), as_text(stderr.clone(), second))
        }
        Encoding::Base64 => {
            let needs = |kept: &CapturedStream| {
                usize::try_from(kept.total_bytes / 3 * 4 + 8).unwrap_or(usize::MAX / 4)
            };
            let (first, second) = share(room, needs(stdout), needs(stderr));
            (as_base64(stdout, first), as_base64(stderr, second))
        }
    };
    let truncated = stdout.left_out_bytes + stderr.left_out_bytes > 0;
    let not_utf8 = stdout.not_utf8_bytes + stderr.not_utf8_bytes > 0;
    CommandOutput {
        truncated,
        left_out: truncated.then_some(Streams {
            stdout: OmittedOutput { bytes: stdout.left_out_bytes, lines: stdout.left_out_lines },
            stderr: OmittedOutput { bytes: stderr.left_out_bytes, lines: stderr.left_out_lines },
        }),
        not_utf8_bytes: not_utf8
            .then_some(Streams { stdout: stdout.not_utf8_bytes, stderr: stderr.not_utf8_bytes }),
        stdout: stdout.text,
        stderr: stderr.text,
        encoding: (encoding != Encoding::Text).then_some(encoding),
        ..CommandOutput::empty()
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Creates the result of a dry run.
fn planned(prepared: &ReadyCommand) -> CommandOutput {
    CommandOutput {
        sandbox: Sandbox::wanted(prepared),
        dry_run: true,
        plan: Some(plan_of(prepared)),
        ..CommandOutput::empty()
    }
}

impl CommandOutput {
    /// Creates one of a command that printed nothing.
    const fn empty() -> Self {
        Self {
            exit_code: None,
            signal: None,
            timed_out: false,
            memory_exceeded: false,
            running: false,
            process_id: None,
            max_run_seconds: None,
            stdout: String::new(),
            stderr: String::new(),
            digest: None,
            raw_output: None,
            duration_ms: 0,
            truncated: false,
            left_out: None,
            not_utf8_bytes: None,
            encoding: None,
            sandbox: Sandbox::unknown(),
            network: None,
            dry_run: false,
            committed: false,
            changes: None,
            plan: None,
        }
    }
}

/// Returns what was printed last.
fn end_of(kept: &CapturedStream) -> &[u8] {
    if kept.tail.is_empty() { &kept.head } else { &kept.tail }
}

/// Says in a few words how it ended, for the history.
fn ending(output: &CommandOutput) -> String {
    match (&output.signal, output.exit_code) {
        _ if output.timed_out => "time over".to_owned(),
        _ if output.memory_exceeded => "memory limit".to_owned(),
        (Some(signal), _) => signal.clone(),
        (None, Some(code)) => format!("exit {code}"),
        (None, None) => "end unknown".to_owned(),
    }
}
