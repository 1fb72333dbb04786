//! What the operations that start a process have in common: from a permitted command to its process.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::coverage::warn_of_process;
use super::ready::{PlannedCommand, Sandbox, StandardStreams, clean_preview, make_ready, plan_of};
use crate::registry::Context;
use bailiwick_config::ProcessLifetime;
use bailiwick_contract::{Failure, time};
use bailiwick_platform::launch::kept;
use bailiwick_policy::Permit;
use bailiwick_policy::command::PermittedCommand;
use bailiwick_providers::display::DisplayAccess;
use bailiwick_providers::process::Start;

use super::terminal::{TerminalInput, TerminalSize};

/// The longest label, in characters.
const MAX_LABEL_CHARS: usize = 100;

/// What standard input is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stdin {
    /// A pipe that process.write writes to.
    #[default]
    Pipe,
    /// Nothing: the program finds its input at an end.
    Null,
}

/// How long it lasts.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// End it after this many seconds; default and most is the scope's `maxProcessSeconds` (a day).
    pub max_run_seconds: Option<u64>,
}

/// What is started.
pub struct ProcessOrder {
    /// The command.
    pub command: PermittedCommand,
    /// The variables that the caller asks for.
    pub environment: BTreeMap<String, String>,
    /// What standard input is.
    pub stdin: Option<Stdin>,
    /// The terminal.
    pub terminal: Option<TerminalInput>,
    /// What the caller calls it.
    pub label: Option<String>,
    /// How long it may run, in seconds.
    pub max_run_seconds: Option<u64>,
    /// The private display that it shows itself on.
    pub display: Option<DisplayAccess>,
}

/// The process that was started.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessStart {
    /// The id by which process.read, wait, write and stop name it; `null` in a dry run.
    pub process_id: Option<String>,
    /// `running`, as it was when it had started; `planned` in a dry run.
    pub status: &'static str,
    /// The beginning of its command, without secrets.
    pub command_preview: String,
    /// When it was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// How long it lives at most: `durable`, `service` or `client`.
    pub lifetime: String,
    /// After how many seconds it is ended.
    pub max_run_seconds: u64,
    /// The size of its terminal, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal: Option<TerminalSize>,
    /// What holds it.
    pub sandbox: Sandbox,
    /// `true` if nothing was started, since `options.dryRun` was set; `plan` says what would be.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// With `options.dryRun`: the commands that would start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Vec<PlannedCommand>>,
}

/// Starts a permitted command in the permit's target.
///
/// # Errors
/// Those of process.start.
pub async fn begin(cx: &Context, permit: &Permit, beginning: ProcessOrder) -> Result<ProcessStart, Failure> {
    let ProcessOrder { command, environment, stdin, terminal, label, max_run_seconds, display } = beginning;
    let scope = permit.needed_scope()?;
    let policy = scope.processes();
    let terminal = terminal.map(|terminal| terminal.size("input.terminal")).transpose()?.flatten();
    if terminal.is_some() && stdin.is_some() {
        return Err(Failure::invalid("input.stdin", "a terminal is the standard input already")
            .hint("Leave `stdin` out, or `terminal`."));
    }
    let label = label.map(check_label).transpose()?;
    let max_time = Duration::from_secs(max_run_seconds.unwrap_or(u64::MAX)).min(policy.max_time);
    if max_time.is_zero() {
        return Err(Failure::invalid("options.maxRunSeconds", "a process needs some time: 1 or more"));
    }
    let (lifetime, connection) = lifetime(cx, policy.lifetime);

    let preview = clean_preview(cx, &command);
    let attached = if terminal.is_some() { StandardStreams::Terminal } else { StandardStreams::Pipes };
    let mut prepared = make_ready(cx, permit, command, environment, attached).await?;
    let lifetime = match display {
        Some(access) => {
            prepared.show_on(access)?;
            // It is of no use without its display, which ends with the service.
            ProcessLifetime::Service
        }
        None => lifetime,
    };
    let mut started = ProcessStart {
        process_id: None,
        status: "planned",
        command_preview: preview.clone(),
        started_at: None,
        lifetime: lifetime.as_str().to_owned(),
        max_run_seconds: max_time.as_secs(),
        terminal: terminal.map(TerminalSize::from),
        sandbox: Sandbox::wanted(&prepared),
        dry_run: permit.common().dry_run,
        plan: None,
    };
    if started.dry_run {
        cx.summarize(format!("would start `{preview}`, {}", prepared.level));
        started.plan = Some(plan_of(&prepared));
        return Ok(started);
    }
    warn_of_process(cx, permit, &prepared);
    let (process, held) = cx
        .service
        .processes
        .start(Start {
            prepared,
            scope: scope.id().to_owned(),
            caller: cx.caller.name.clone(),
            preview: preview.clone(),
            label,
            folder: permit.path().shown(),
            input: match stdin.unwrap_or_default() {
                Stdin::Pipe => kept::Input::Pipe,
                Stdin::Null => kept::Input::Null,
            },
            terminal,
            lifetime,
            connection,
            max_time,
            max_live: policy.max_live,
        })
        .await?;
    started.sandbox = Sandbox::of(held, process.facts.is_advisory);
    started.process_id = Some(process.facts.id.clone());
    started.status = "running";
    started.started_at = Some(time::rfc3339(process.facts.started_at_ms));
    cx.summarize(format!("started `{preview}` as {}, {}", process.facts.id, started.sandbox.level));
    Ok(started)
}

/// Returns the lifetime that can be sandboxed to here, and the connection that it hangs on.
pub fn lifetime(cx: &Context, wanted: ProcessLifetime) -> (ProcessLifetime, Option<String>) {
    match (wanted, &cx.caller.connection) {
        (ProcessLifetime::Client, Some(connection)) => (wanted, Some(connection.clone())),
        (ProcessLifetime::Client, None) => {
            cx.warn(
                "this transport has no connection that a process could end with; it ends with the service",
            );
            (ProcessLifetime::Service, None)
        }
        (ProcessLifetime::Durable | ProcessLifetime::Service, _) => (wanted, None),
    }
}

fn check_label(label: String) -> Result<String, Failure> {
    if label.chars().count() > MAX_LABEL_CHARS || label.chars().any(char::is_control) {
        return Err(Failure::invalid(
            "input.label",
            format!("a label has at most {MAX_LABEL_CHARS} characters, in one line"),
        ));
    }
    Ok(label)
}
