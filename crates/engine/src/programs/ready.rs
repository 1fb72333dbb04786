//! Making a permitted command ready, and what every operation that starts one tells of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::registry::Context;
use bailiwick_contract::{CommandPlan, Containment, ErrorCode, Failure, Network};
use bailiwick_platform::launch::{ActiveSandbox, Step};
use bailiwick_policy::Permit;
use bailiwick_policy::command::PermittedCommand;
use bailiwick_providers::approval::{Approvals, HostApprovals};
use bailiwick_providers::command::{CommandRequest, ReadyCommand};
use bailiwick_providers::egress::AskAboutHosts;

/// How much of a command is shown where it is only named.
const PREVIEW_BYTES: usize = 240;

/// What held a command.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sandbox {
    /// `full`, `partial` or `none`.
    pub level: Containment,
    /// What it could reach: `none`, `loopback` (one of its own), `hosts` (that, and the hosts that the scope names) or `full`.
    pub network: Network,
    /// `true` where ending everything it started relies on following each process.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub degraded: bool,
    /// `true` where no rule allowed the command, and a full sandbox alone holds it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub advisory: bool,
    /// What was in force, as the processes themselves found it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<&'static str>,
    /// What stayed open that a full sandbox shuts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<&'static str>,
}

/// A command that would start.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlannedCommand {
    /// What joins it to the one before: `&&`, `||`, `;` or `|`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joined_by: Option<&'static str>,
    /// The file of the program.
    pub program: String,
    /// Its words.
    pub argv: Vec<String>,
    /// What is done with its streams.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redirects: Vec<&'static str>,
}

impl Sandbox {
    /// Returns what is in force.
    pub fn of(held: ActiveSandbox, advisory: bool) -> Self {
        let ActiveSandbox { level, network, degraded, layers, open } = held;
        Self { level, network, degraded, advisory, layers, open }
    }

    /// What is not known, until it is.
    pub const fn unknown() -> Self {
        Self {
            level: Containment::None,
            network: Network::Full,
            degraded: true,
            advisory: false,
            layers: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Returns what would be in force.
    pub fn wanted(prepared: &ReadyCommand) -> Self {
        Self {
            level: prepared.level,
            network: prepared.network,
            degraded: false,
            advisory: prepared.advisory,
            layers: Vec::new(),
            open: Vec::new(),
        }
    }
}

/// What a command's standard streams are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandardStreams {
    /// Pipes.
    Pipes,
    /// A terminal.
    Terminal,
}

/// Creates a command ready in the permit's target, while the row that says so gets to the disk. Starts nothing.
///
/// # Errors
/// Those of [`CommandRequest::prepare`] and of [`Context::received`].
pub async fn make_ready(
    cx: &Context,
    permit: &Permit,
    command: PermittedCommand,
    environment: BTreeMap<String, String>,
    attached: StandardStreams,
) -> Result<ReadyCommand, Failure> {
    let scope = permit.needed_scope()?;
    let asks = command.hold().asks_about_hosts.then(|| host_approvals(cx, permit, scope.id(), &command));
    let request = CommandRequest {
        command,
        folder: permit.path().clone(),
        scope: Arc::clone(scope),
        access: Context::folder_access(permit.grants()),
        roots: cx.service.roots.clone(),
        repositories: Arc::clone(&cx.service.repositories),
        dirs: cx.service.dirs.clone(),
        network_group: network_group(cx, scope.id()),
        client: format!("{} {}", cx.caller.identity(), cx.caller.client_session().unwrap_or_default()),
        asks,
        environment,
        has_terminal: attached == StandardStreams::Terminal,
    };
    let preparing = tokio::task::spawn_blocking(move || request.prepare());
    cx.received().await?;
    let prepared = preparing.await.map_err(|error| {
        Failure::new(ErrorCode::ExecutionFailed, format!("the command could not be made ready: {error}"))
    })??;
    cx.cancel.check()?;
    Ok(prepared)
}

/// Creates what asks the user about hosts that a command wants to reach.
fn host_approvals(
    cx: &Context,
    permit: &Permit,
    scope: &str,
    command: &PermittedCommand,
) -> Arc<dyn AskAboutHosts> {
    let effect = serde_json::to_value(permit.spec().effect).expect("an effect has a JSON form");
    let words: Vec<&str> = command.commands().flatten().map(String::as_str).collect();
    let command_line = clipped(&cx.history.redacted_words(&words).join(" "));
    Arc::new(HostApprovals {
        store: Approvals::below(&cx.service.dirs.state).with_notifications(cx.service.config.notifications),
        caller: (*cx.caller).clone(),
        scope: scope.to_owned(),
        op: permit.spec().name,
        effect: effect.as_str().unwrap_or_default().to_owned(),
        operation_id: cx.request.id.clone(),
        command: command_line,
        containment: "sandbox full, network hosts".to_owned(),
    })
}

/// Shortens a line to what is shown of a command.
fn clipped(line: &str) -> String {
    line[..line.floor_char_boundary(PREVIEW_BYTES)].to_owned()
}

/// Returns whose commands share a loopback interface: those of one caller in one scope.
fn network_group(cx: &Context, scope: &str) -> String {
    // No scope's id and no token's has a blank.
    format!("{scope} {}", cx.caller.token.as_deref().unwrap_or("local user"))
}

/// Returns which commands would start.
pub fn plan_of(prepared: &ReadyCommand) -> Vec<PlannedCommand> {
    prepared.plan.iter().flat_map(planned_step).collect()
}

fn planned_step(step: &Step) -> Vec<PlannedCommand> {
    let commands = step.commands.iter().enumerate();
    commands
        .map(|(at, command)| PlannedCommand {
            joined_by: if at > 0 { Some("|") } else { step.joiner.map(|joiner| joiner.as_str()) },
            program: command.program.to_string_lossy().into_owned(),
            argv: command.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            redirects: command.redirects.iter().map(|redirect| redirect.as_str()).collect(),
        })
        .collect()
}

/// Returns the beginning of a command's words for the history, which redacts it. No word is cut: half a secret
/// would not be known for one.
pub fn preview(command: &PermittedCommand) -> String {
    shortened(words(command.plan()).skip(command.own_words()))
}

/// Returns the beginning of a command's words without secrets, for what is kept or shown to others.
pub fn clean_preview(cx: &Context, command: &PermittedCommand) -> String {
    let words: Vec<&str> = words(command.plan()).skip(command.own_words()).collect();
    shortened(cx.history.redacted_words(&words).iter().map(String::as_str))
}

fn shortened<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for word in words {
        if text.len() + word.len() > PREVIEW_BYTES {
            text.push_str(" …");
            break;
        }
        text.push_str(if text.is_empty() { "" } else { " " });
        text.extend(word.chars().map(|c| if c.is_control() { ' ' } else { c }));
    }
    text
}

/// Returns the words of a plan with what joins its commands.
fn words(plan: &CommandPlan) -> impl Iterator<Item = &str> {
    let rest = plan.rest.iter().map(|(joiner, pipeline)| (joiner.as_str(), pipeline));
    std::iter::once(("", &plan.first)).chain(rest).flat_map(|(joiner, pipeline)| {
        pipeline.commands.iter().enumerate().flat_map(move |(at, command)| {
            let join = if at > 0 { "|" } else { joiner };
            std::iter::once(join).filter(|it| !it.is_empty()).chain(command.argv.iter().map(String::as_str))
        })
    })
}
