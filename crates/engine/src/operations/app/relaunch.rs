//! `app.relaunch`: quit a program of a private display, and start it again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::registry::prelude::*;
use bailiwick_contract::ErrorCode;
use bailiwick_platform::screen::{Window, WindowChange};
use bailiwick_policy::command::Grant;
use bailiwick_providers::display::{LaunchedProgram, PrivateDisplay};
use bailiwick_providers::process::Process;
use bailiwick_providers::screen::apps;

use super::super::display::owner;
use super::super::screen::unavailable;
use super::super::window::judge_closing;
use super::changing::{WindowOutput, change};
use super::launch::start;
use crate::programs::{Options, ProcessStart};

/// The operation.
pub struct Op;

/// How much of the time of a call is kept for starting the program again.
const STARTING: Duration = Duration::from_secs(10);
/// How long a program at least has to end.
const SHORTEST: Duration = Duration::from_secs(2);
/// How often it is checked meanwhile whether it asks something.
const LOOK: Duration = Duration::from_millis(500);

/// Which program.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The `processId` that app.launch returned.
    pub process: String,
}

/// What came of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// `relaunched`. `blocked_by_dialog`: it asks something first, such as whether to save. `running`: it did not end in time.
    /// Only the first has started anything. `planned` in a dry run.
    pub state: &'static str,
    /// Its windows that were to be closed, as app.quit lists them.
    pub windows: Vec<WindowOutput>,
    /// The new process, as app.launch returns it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<ProcessStart>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "app.relaunch",
        summary: "Quit a program of a private display, and start it again",
        details: "Closes the windows of the display as app.quit does, waits for the end of the process, and starts the same \
                  command again as app.launch does, judged again; nothing is killed. The program has to be the only one that \
                  runs on its display. The target is its working folder.",
        capabilities: &[&[Capability::CommandRun], &[Capability::AppControl], &[Capability::WindowControl]],
        effect: Effect::RunsCode,
        target: TargetRule::PathOrRoot(Access::Write),
        scope: ScopeNeed::FOLDER,
        platforms: &["linux"],
        options: &[CommonOption::DryRun],
        timeout_seconds: 60,
        audited_fields: &["process", "maxRunSeconds", "timeoutSeconds", "dryRun"],
        example: r#"{"op":"app.relaunch","input":{"process":"01JD0000000000000000000000"}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;

    // Which command it is was known when it was started; `Permit::judge_command` judges it again.
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, options: &Options) -> Result<Output, Failure> {
        let scope = permit.needed_scope()?;
        let process = cx.service.processes.find(scope.id(), &input.process)?;
        let (display, program) = launched(cx, permit, &process)?;
        let command = permit.judge_command(&program.command, Grant::Rules)?;
        let is_live = is_live(&process);
        let windows = if is_live { windows(cx, permit, &display, &process)? } else { Vec::new() };
        let program = LaunchedProgram {
            command: program.command.clone(),
            environment: program.environment.clone(),
            label: program.label.clone(),
        };
        let starting = start(cx, permit, &display, command, program, options);
        let runtime = Handle::current();
        if permit.common().dry_run {
            let started = runtime.block_on(starting)?;
            return Ok(Output { state: "planned", windows: Vec::new(), started: Some(started) });
        }
        let mut closed = Vec::new();
        if is_live {
            judge_closing(cx, permit, &windows.iter().map(|window| window.id.as_str()).collect::<Vec<_>>())?;
            closed = change(cx, permit, &windows.iter().collect::<Vec<_>>(), WindowChange::Close)?.windows;
            let until = Instant::now() + permit.limits().timeout.saturating_sub(STARTING).max(SHORTEST);
            loop {
                if closed.iter().any(|window| window.dialog.is_some()) {
                    cx.summarize("blocked by a dialog");
                    return Ok(Output { state: "blocked_by_dialog", windows: closed, started: None });
                }
                let left = until.saturating_duration_since(Instant::now());
                if runtime.block_on(ends_within(&process, left.min(LOOK))) {
                    break;
                }
                if left.is_zero() {
                    cx.summarize("it has not ended");
                    return Ok(Output { state: "running", windows: closed, started: None });
                }
                cx.cancel.check()?;
                // A program may take its time to ask. A display that cannot be read any more shows no dialog.
                let now = shown_windows(cx, permit, &display).unwrap_or_default();
                for window in &mut closed {
                    window.dialog = new_dialog(&window.window, &now, &windows);
                }
            }
            cx.cancel.check()?;
        }
        let started = runtime.block_on(starting)?;
        Ok(Output { state: "relaunched", windows: closed, started: Some(started) })
    }
}

/// Finds how a process was started, and the display that it is on.
///
/// # Errors
/// `not_found` for one that app.launch has not started, or of a display that is gone; `invalid_request` for another folder.
fn launched(
    cx: &Context,
    permit: &Permit,
    process: &Process,
) -> Result<(PrivateDisplay, Arc<LaunchedProgram>), Failure> {
    let found = cx.service.private_displays.program(&owner(cx, permit)?, &process.facts.id);
    let found = found.ok_or_else(|| {
        Failure::new(ErrorCode::NotFound, "the process was not started on one of your private displays")
            .detail("field", "input.process")
            .hint("display.list has the processes of each display; app.launch starts one.")
    })?;
    let folder = &process.facts.folder;
    if permit.path().shown() != *folder {
        return Err(Failure::invalid("target", format!("the process was started in `{folder}`"))
            .hint("Give that folder as `target`."));
    }
    Ok(found)
}

/// Finds the windows of the only program that runs on a display.
///
/// # Errors
/// `conflict` where another runs there, `unsupported_action` where it has no window.
fn windows(
    cx: &Context,
    permit: &Permit,
    display: &PrivateDisplay,
    process: &Process,
) -> Result<Vec<Window>, Failure> {
    let scope = permit.needed_scope()?;
    let others = display.processes.iter().filter(|id| **id != process.facts.id);
    let mut others = others.filter_map(|id| cx.service.processes.find(scope.id(), id).ok());
    if others.any(|other| is_live(&other)) {
        return Err(Failure::new(ErrorCode::Conflict, "another program runs on the display, too")
            .hint("Close its windows by app.quit and start it again by app.launch."));
    }
    let windows = shown_windows(cx, permit, display)?;
    if windows.is_empty() {
        return Err(Failure::new(ErrorCode::UnsupportedAction, "it has no window that this scope shows")
            .hint("process.stop ends it; app.launch starts it again."));
    }
    Ok(windows)
}

/// Lists the windows on a display that the scope shows.
fn shown_windows(cx: &Context, permit: &Permit, display: &PrivateDisplay) -> Result<Vec<Window>, Failure> {
    let mut listing = cx.service.displays.list().map_err(unavailable)?;
    listing.windows.retain(|window| window.display == display.id);
    let apps = apps(permit.screen()?, &listing.windows).apps;
    Ok(apps.into_iter().flat_map(|app| app.windows).collect())
}

/// Returns a dialog of a window that was not there before.
fn new_dialog(owner: &str, now: &[Window], before: &[Window]) -> Option<String> {
    let is_new = |window: &Window| before.iter().all(|known| known.id != window.id);
    let dialog = now.iter().find(|it| it.mapped && it.owner.as_deref() == Some(owner) && is_new(it))?;
    Some(dialog.id.clone())
}

fn is_live(process: &Process) -> bool {
    process.status().is_ok_and(|status| !status.state.is_final())
}

/// Waits until a process has ended, or for a while. Returns whether it has.
async fn ends_within(process: &Arc<Process>, time: Duration) -> bool {
    let mut changes = process.changes();
    let ended = changes.wait_for(|change| change.ended);
    matches!(timeout(time, ended).await, Ok(Ok(_))) || !is_live(process)
}
