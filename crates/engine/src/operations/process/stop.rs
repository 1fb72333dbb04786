//! `process.stop`: end a process, or all of a scope.

use std::sync::Arc;
use std::time::Duration;

use crate::registry::prelude::*;
use bailiwick_contract::{ErrorCode, signal};
use bailiwick_providers::process::Process;

use crate::programs::{ProcessStatus, of_status, target, warn_of_what_is_left};

/// How long a process has to end on its own, unless the request says otherwise.
const GRACE: Duration = Duration::from_secs(5);
/// How much of the time of a call is kept for killing what is left, and telling of it.
const TELLING: Duration = Duration::from_secs(2);
/// The number of the signal that cannot be withstood.
const KILL: i32 = 9;
/// The signals that ask a program to end, and those that make it.
const ALLOWED: &[&str] = &["TERM", "INT", "HUP", "QUIT", "KILL", "USR1", "USR2", "ABRT"];

/// The operation.
pub struct Op;

/// How to end it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The signal that asks it to end: `TERM` (default), `INT`, `HUP`, `QUIT`, `USR1`, `USR2`, `ABRT`; or `KILL`,
    /// which does not ask.
    #[serde(default)]
    pub signal: Option<String>,
    /// `true` ends all processes of the scope; leave the target out then.
    #[serde(default)]
    pub all: bool,
}

/// How long it may take.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Kill what is left after this many seconds; default 5.
    pub grace_seconds: Option<u64>,
}

/// What was ended.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Each process, and how it ended.
    pub stopped: Vec<StoppedProcess>,
}

/// One process.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoppedProcess {
    /// Its state now.
    #[serde(flatten)]
    pub process: ProcessStatus,
    /// `asked`: it ended when it was asked to. `killed`: it did not, and was killed. `before`: it had ended before.
    /// `running`: it could not be ended, `problem` says why.
    pub how: &'static str,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "process.stop",
        summary: "End a process and everything that it started",
        details: "Sends the signal to all of it, kills what is left after the grace period, and answers when \
                  nothing is left. A process that has ended already is no error. What it printed stays readable.",
        capabilities: &[&[Capability::ProcessManage]],
        effect: Effect::Destroys,
        target: TargetRule::OptionalId("the processId"),
        scope: ScopeNeed::FOLDER,
        timeout_seconds: 45,
        threads: Threads::Async,
        audited_fields: &["signal", "all", "graceSeconds", "timeoutSeconds"],
        example: r#"{"op":"process.stop","target":"01JD0000000000000000000000"}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, input: &Input, options: &Options) -> Result<Output, Failure> {
        let signal = read_signal(input.signal.as_deref().unwrap_or("TERM"))?;
        let grace = grace(options, permit.limits().timeout)?;
        let scope = permit.needed_scope()?;
        let list = match (permit.id(), input.all) {
            (Some(_), false) => vec![target(cx, permit)?],
            (None, true) => {
                let mut list = cx.service.processes.list(scope.id());
                list.retain(|process| process.status().is_ok_and(|status| !status.state.is_final()));
                list
            }
            (Some(_), true) => {
                return Err(Failure::invalid("input.all", "`target` and `input.all` exclude each other")
                    .hint("Leave one of them out."));
            }
            (None, false) => {
                return Err(Failure::invalid("target", "`process.stop` needs a processId as `target`")
                    .hint("process.list gives the ids; `input.all` = true ends all of the scope."));
            }
        };
        let is_one = !input.all;
        let all = list.into_iter().map(|process| {
            tokio::spawn(async move {
                let stopped = process.stop(signal, grace).await;
                (process, stopped)
            })
        });
        // All are asked at once.
        let all: Vec<_> = all.collect();
        let mut stopped = Vec::with_capacity(all.len());
        for task in all {
            let (process, result) = task.await.map_err(|_| {
                Failure::new(
                    ErrorCode::ExecutionFailed,
                    "the process could not be ended (a bug in Bailiwick)",
                )
            })?;
            match result {
                Ok((status, was_over)) => {
                    warn_of_what_is_left(cx, &process);
                    let killed = signal != KILL && status.signal == Some(KILL);
                    let how = match (was_over, killed) {
                        (true, _) => "before",
                        (false, true) => "killed",
                        (false, false) => "asked",
                    };
                    stopped.push(StoppedProcess { process: of_status(&process, status), how });
                }
                Err(failure) if is_one => return Err(failure),
                Err(failure) => stopped.push(not_stopped(&process, &failure)),
            }
        }
        cx.summarize(match stopped.as_slice() {
            [one] => format!("{}: {}", one.process.process_id, one.how),
            many => format!("{} processes ended", many.len()),
        });
        Ok(Output { stopped })
    }
}

/// Returns the grace, which must leave the call time to tell of the end.
fn grace(options: &Options, timeout: Duration) -> Result<Duration, Failure> {
    let most = timeout.saturating_sub(TELLING);
    let Some(seconds) = options.grace_seconds else { return Ok(GRACE.min(most)) };
    let grace = Duration::from_secs(seconds);
    if grace > most {
        return Err(Failure::invalid(
            "options.graceSeconds",
            format!("a grace of {seconds} s is longer than the time of the call allows"),
        )
        .hint("Raise `options.timeoutSeconds` to a little more than the grace."));
    }
    Ok(grace)
}

fn not_stopped(process: &Arc<Process>, failure: &Failure) -> StoppedProcess {
    let shown = ProcessStatus {
        process_id: process.facts.id.clone(),
        status: "running".to_owned(),
        exit_code: None,
        signal: None,
        timed_out: false,
        ended_at: None,
        problem: Some(failure.message.clone()),
    };
    StoppedProcess { process: shown, how: "running" }
}

fn read_signal(name: &str) -> Result<i32, Failure> {
    let known = |number: &i32| {
        let name = signal::name(*number);
        ALLOWED.iter().any(|allowed| name.strip_prefix("SIG") == Some(allowed))
    };
    signal::number(name).filter(known).ok_or_else(|| {
        let short: String = name.chars().take(20).collect();
        Failure::invalid("input.signal", format!("`{short}` is no signal that ends a process"))
            .hint(format!("Use one of {}.", ALLOWED.join(", ")))
    })
}
