//! `codex.start`: let Codex do something that keeps running after the call.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::programs::lifetime;
use crate::programs::{PlannedCommand, Sandbox, warn_of_process};
use crate::registry::ConditionalNeeds;
use crate::registry::prelude::*;
use bailiwick_contract::{ErrorCode, time};
use bailiwick_platform::launch::kept::{self, ControlError, MAX_INPUT_BYTES};
use bailiwick_policy::Need;
use bailiwick_providers::codex::{Mode, Record};
use bailiwick_providers::process::{Process, Start};

use super::difference;
use super::job::{CodexJob, CodexSandbox, Input, WorkOptions, make_ready, needs};
use super::report::CodexProcess as StartedCodex;

/// How long the session is waited for.
const SESSION: Duration = Duration::from_secs(8);
/// How long Codex may take to read its prompt.
const READING: Duration = Duration::from_secs(15);
/// How long is waited before a prompt is gone on with that Codex did not read yet.
const RETRY: Duration = Duration::from_millis(20);
/// How Codex is ended where its prompt could not be given: by SIGTERM, with little time.
const ABANDONED: (i32, Duration) = (15, Duration::from_secs(1));

/// The operation.
pub struct Op;

/// How it is to be done, and for how long.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// The model; default that of the user's Codex settings.
    pub model: Option<String>,
    /// `read-only` lets Codex change nothing. Default is what the scope and the caller may do: `workspace-write` with
    /// `fs:write`, else `read-only`.
    pub sandbox: Option<Mode>,
    /// Continue with this session, a `sessionId` of an earlier run in the same scope.
    pub resume: Option<String>,
    /// `true` keeps the prompt out of the history and of everything that is stored; Codex keeps no session then, so
    /// that it cannot be gone on with.
    pub sensitive: bool,
    /// End it after this many seconds; default and most is the scope's `maxProcessSeconds` (a day).
    pub max_run_seconds: Option<u64>,
}

/// The run that was started.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The id by which codex.read and codex.stop name it, and process.wait; `null` in a dry run.
    pub process_id: Option<String>,
    /// The session, if Codex has told it already; codex.read has it later.
    pub session_id: Option<String>,
    /// `running`, as it was when it had started; `planned` in a dry run.
    pub status: &'static str,
    /// When it was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// How long it lives at most: `durable`, `service` or `client`.
    pub lifetime: String,
    /// After how many seconds it is ended.
    pub max_run_seconds: u64,
    /// What holds Codex.
    pub sandbox: Sandbox,
    /// What holds the commands that Codex runs, inside of that.
    pub codex_sandbox: CodexSandbox,
    /// The version of Codex.
    pub codex_version: String,
    /// `true` if nothing was started, since `options.dryRun` was set; `plan` says what would be.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// With `options.dryRun`: the command that would start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Vec<PlannedCommand>>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "codex.start",
        summary: "Let Codex do something that keeps running after the call",
        details: "As codex.run, but it answers as soon as Codex works. codex.read shows what it does and, at its end, \
                  what codex.run would give; process.wait waits for the end. It outlives the client and a restart of \
                  the service, unless the scope's `processLifetime` says otherwise.",
        capabilities: &[&[Capability::CodexRun], &[Capability::ProcessManage]],
        effect: Effect::RunsCode,
        target: TargetRule::PathOrRoot(Access::Write),
        scope: ScopeNeed::FOLDER,
        platforms: &["linux"],
        options: &[CommonOption::DryRun],
        timeout_seconds: 45,
        threads: Threads::Async,
        audited_fields: &[
            "model",
            "sandbox",
            "resume",
            "sensitive",
            "maxRunSeconds",
            "timeoutSeconds",
            "dryRun",
        ],
        example: r#"{"op":"codex.start","input":{"prompt":"Bring the documentation up to date with the code."}}"#,
    };
    type Input = Input;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;

    // The words are Bailiwick's own; `Permit::judge_command` judges them when they are put together.
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, input: &Input, options: &Options) -> Result<Output, Failure> {
        let scope = permit.needed_scope()?;
        let policy = scope.processes();
        let max_time = Duration::from_secs(options.max_run_seconds.unwrap_or(u64::MAX)).min(policy.max_time);
        if max_time.is_zero() {
            return Err(Failure::invalid("options.maxRunSeconds", "Codex needs some time: 1 or more"));
        }
        let (lifetime, connection) = lifetime(cx, policy.lifetime);
        let asked = WorkOptions {
            model: options.model.clone(),
            sandbox: options.sandbox,
            resume: options.resume.clone(),
            sensitive: options.sensitive,
        };
        let work = make_ready(cx, permit, input, &asked).await?;
        let words = work.words();
        let CodexJob { ready, prompt, prompt_preview, codex_sandbox, sandbox, plan, preview } = work;
        let mut output = Output {
            process_id: None,
            session_id: None,
            status: "planned",
            started_at: None,
            lifetime: lifetime.as_str().to_owned(),
            max_run_seconds: max_time.as_secs(),
            sandbox,
            codex_sandbox,
            codex_version: ready.version.to_string(),
            dry_run: permit.common().dry_run,
            plan: None,
        };
        if output.dry_run {
            cx.summarize(format!("would start {words}"));
            output.plan = Some(plan);
            return Ok(output);
        }
        warn_of_process(cx, permit, &ready.prepared);
        let snapshot = difference::before(cx, permit).await?;
        let record = Record {
            version: output.codex_version.clone(),
            mode: codex_sandbox.mode,
            network: codex_sandbox.network,
            folder: ready.folder,
            session_id: None,
            prompt_preview,
            difference: None,
        };
        let start = Start {
            prepared: ready.prepared,
            scope: scope.id().to_owned(),
            caller: cx.caller.name.clone(),
            preview,
            label: None,
            folder: permit.path().shown(),
            input: kept::Input::Pipe,
            terminal: None,
            lifetime,
            connection,
            max_time,
            max_live: policy.max_live,
        };
        let (process, held) = cx.service.processes.start(start).await?;
        let unfinished = StartGuard(Some(Arc::clone(&process)));
        output.sandbox = Sandbox::of(held, false);
        output.process_id = Some(process.facts.id.clone());
        output.status = "running";
        output.started_at = Some(time::rfc3339(process.facts.started_at_ms));
        let session_id = set_to_work(&process, record, prompt).await?;
        difference::note_at_the_end(Arc::clone(&process), snapshot);
        unfinished.finish();
        cx.summarize(format!("started {words} as {}", process.facts.id));
        output.session_id = session_id;
        Ok(output)
    }
}

impl ConditionalNeeds for Op {
    fn needs(_: &Input, options: &Options) -> Vec<Need> {
        needs(options.sandbox)
    }
}

/// Writes the record, gives Codex its prompt, and waits a little for the session.
async fn set_to_work(
    process: &Arc<Process>,
    record: Record,
    prompt: Vec<u8>,
) -> Result<Option<String>, Failure> {
    write(process, &record).await?;
    match give(process, &prompt).await {
        // It has ended already: what it said shows why.
        Ok(()) | Err(ControlError::Gone | ControlError::NoInput) => {}
        Err(error) => {
            return Err(Failure::new(
                ErrorCode::ExecutionFailed,
                format!("Codex could not be given its prompt: {error}"),
            ));
        }
    }
    let mut started = StartedCodex { process: Arc::clone(process), record };
    let session_id = wait_for_session(&started).await;
    if session_id.is_some() {
        started.record.session_id.clone_from(&session_id);
        write(process, &started.record).await?;
    }
    Ok(session_id)
}

async fn write(process: &Process, record: &Record) -> Result<(), Failure> {
    let (folder, record) = (process.folder().to_owned(), record.clone());
    let written = tokio::task::spawn_blocking(move || record.write(&folder)).await;
    match written {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(Failure::new(
            ErrorCode::ProviderUnavailable,
            format!("what is known of the run cannot be written down: {}", error.kind()),
        )
        .hint("For the user: `bailiwick doctor` checks the owner of Bailiwick's state folder and the space left there.")),
        Err(_) => {
            Err(Failure::new(ErrorCode::ExecutionFailed, "the run could not be noted (a bug in Bailiwick)"))
        }
    }
}

/// Returns Codex the prompt, as fast as it reads it.
async fn give(process: &Arc<Process>, prompt: &[u8]) -> Result<(), ControlError> {
    let until = Instant::now() + READING;
    let mut control = kept::Control::connect(process.folder()).await?;
    for piece in prompt.chunks(MAX_INPUT_BYTES) {
        loop {
            match control.input(piece).await {
                Err(ControlError::Full) if Instant::now() < until => tokio::time::sleep(RETRY).await,
                other => break other?,
            }
        }
    }
    control.close_input().await
}

/// Waits until Codex shows its session; none if it ends or takes too long.
async fn wait_for_session(started: &StartedCodex) -> Option<String> {
    let mut changes = started.process.changes();
    let waiting = async {
        loop {
            let ended = changes.borrow_and_update().ended;
            let session = started.told().ok().and_then(|told| told.events.session_id);
            if session.is_some() || ended || changes.changed().await.is_err() {
                return session;
            }
        }
    };
    tokio::time::timeout(SESSION, waiting).await.ok().flatten()
}

/// Ends a process whose start is not finished when this is dropped.
struct StartGuard(Option<Arc<Process>>);

impl StartGuard {
    fn finish(mut self) {
        self.0 = None;
    }
}

impl Drop for StartGuard {
    fn drop(&mut self) {
        if let Some(process) = self.0.take() {
            tokio::spawn(async move {
                let _: Result<_, Failure> = process.stop(ABANDONED.0, ABANDONED.1).await;
            });
        }
    }
}
