//! `app.launch`: start a program with windows on a private display.

use std::collections::BTreeMap;

use crate::registry::prelude::*;
use bailiwick_contract::{CommandInput, time};
use bailiwick_policy::command::PermittedCommand;
use bailiwick_providers::display::{LaunchedProgram, PrivateDisplay};

use super::super::display::owner;
use crate::programs::{Options, ProcessOrder, ProcessStart, Stdin, begin};

/// The operation.
pub struct Op;

/// What to start.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// A program and its arguments, as for process.start.
    pub command: CommandInput,
    /// The display, from display.list; default your first one.
    #[serde(default)]
    pub display: Option<String>,
    /// Environment variables by name, as for process.start.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// A name for process.list, at most 100 characters.
    #[serde(default)]
    pub label: Option<String>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "app.launch",
        summary: "Start a program with windows on a private display",
        details: "Judged as process.start, and always in a full sandbox, which shows it one display, its clipboard and its bus: \
                  those of the user cannot be reached from there. It shows its elements. It ends with the display; \
                  process.read shows what it prints, process.stop ends it, ui.see and window.list show its windows. The target \
                  is the working folder.",
        capabilities: &[&[Capability::CommandRun], &[Capability::AppControl]],
        effect: Effect::RunsCode,
        target: TargetRule::PathOrRoot(Access::Write),
        scope: ScopeNeed::FOLDER,
        platforms: &["linux"],
        options: &[CommonOption::DryRun],
        threads: Threads::Async,
        audited_fields: &["command", "display", "label", "maxRunSeconds", "timeoutSeconds", "dryRun"],
        example: r#"{"op":"app.launch","input":{"command":["npm","start"]}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = Options;
    type Output = ProcessStart;
    const JUDGED: JudgedFields<Input> = JudgedFields::command(|input| Some(input.command.clone()));
}

impl RunAsync for Op {
    async fn run(
        cx: &Context,
        permit: &Permit,
        input: &Input,
        options: &Options,
    ) -> Result<ProcessStart, Failure> {
        let display = cx.service.private_displays.get(&owner(cx, permit)?, input.display.as_deref())?;
        let program = LaunchedProgram {
            command: input.command.clone(),
            environment: input.env.clone(),
            label: input.label.clone(),
        };
        start(cx, permit, &display, permit.command().clone(), program, options).await
    }
}

/// Starts a permitted command on a private display, which it ends with.
///
/// # Errors
/// Those of process.start.
pub(super) async fn start(
    cx: &Context,
    permit: &Permit,
    display: &PrivateDisplay,
    command: PermittedCommand,
    program: LaunchedProgram,
    options: &Options,
) -> Result<ProcessStart, Failure> {
    let left = u64::try_from((display.ends_at_ms - time::now_ms()) / 1_000).unwrap_or(0).max(1);
    let order = ProcessOrder {
        command,
        environment: program.environment.clone(),
        stdin: Some(Stdin::Null),
        terminal: None,
        label: program.label.clone(),
        max_run_seconds: Some(options.max_run_seconds.unwrap_or(left).min(left)),
        display: Some(display.access.clone()),
    };
    let started = begin(cx, permit, order).await?;
    if let Some(id) = &started.process_id {
        cx.service.private_displays.add_process(&owner(cx, permit)?, &display.id, id, program);
    }
    Ok(started)
}
