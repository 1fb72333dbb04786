//! The secret of `process.write`: opening a prompt, and waiting for what becomes of it.
//!
//! The secret itself is never here: `bailiwick approve` hands it to the keeper of the process.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::registry::Context;
use bailiwick_contract::time::{now_ms, rfc3339};
use bailiwick_contract::{Caller, ErrorCode, Failure, id};
use bailiwick_platform::notifications::{self, Notification};
use bailiwick_policy::Permit;
use bailiwick_providers::process::Process;
use bailiwick_providers::secret_prompt::{Progress, Prompt, PromptError, PromptText, Prompts};

use super::write::{Output, refused};

/// How often is looked what has become of a prompt. A person types no faster.
const LOOK_EVERY: Duration = Duration::from_millis(150);

/// A secret that the user types. Either `prompt` or `pending`.
#[derive(Debug, Default, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct SecretInput {
    /// Ask the user for it with these words, such as `Password for sudo`; at most 200 characters are shown, as yours.
    pub prompt: Option<String>,
    /// Wait on for a prompt that an earlier call left: its `pending`.
    pub pending: Option<String>,
    /// With `pending`: withdraw the prompt instead of waiting.
    pub cancel: bool,
}

/// How far a secret is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SecretState {
    /// The user has typed it, and the process has it.
    Answered,
    /// The user has not answered yet.
    Pending,
    /// It was withdrawn.
    Cancelled,
}

/// Withdraws the prompt of a call that is given up.
struct WithdrawOnDrop<'a> {
    prompts: &'a Prompts,
    prompt: Option<&'a Prompt>,
}

impl Drop for WithdrawOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(prompt) = self.prompt {
            let _ = self.prompts.withdraw(prompt);
        }
    }
}

/// Opens a prompt or finds an open one, and waits for the user.
pub(super) async fn run(
    cx: &Context,
    permit: &Permit,
    process: &Arc<Process>,
    secret: &SecretInput,
    cursor: String,
) -> Result<Output, Failure> {
    let prompts = Prompts::new(&cx.service.dirs.state);
    let output = |state, prompt: &Prompt| Output {
        process_id: process.facts.id.clone(),
        bytes: None,
        closed: false,
        cursor: cursor.clone(),
        secret: Some(state),
        pending: (state == SecretState::Pending).then(|| prompt.id.clone()),
        expires_at: (state == SecretState::Pending).then(|| rfc3339(prompt.expires_at_ms)),
    };
    let prompt = match (&secret.prompt, &secret.pending) {
        (Some(text), None) if !secret.cancel => open(cx, permit, process, &prompts, text).await?,
        (None, Some(pending)) => find(cx, process, &prompts, pending)?,
        _ => {
            return Err(Failure::invalid("input.secret", "`secret` needs either `prompt` or `pending`")
                .hint("Ask with `prompt`; wait on, or `cancel`, with the `pending` of an earlier answer."));
        }
    };
    if secret.cancel {
        if prompts.withdraw(&prompt).map_err(|error| broken(&error))? {
            cx.summarize("secret withdrawn");
            return Ok(output(SecretState::Cancelled, &prompt));
        }
        return ended(cx, process, prompts.progress(&prompt)).map(|state| output(state, &prompt));
    }
    // Giving up the call withdraws the prompt; it outlasts the call only once the caller has its id.
    let mut guard = WithdrawOnDrop { prompts: &prompts, prompt: Some(&prompt) };
    cx.progress.say("waiting for the user to answer with `bailiwick approve`");
    let deadline = tokio::time::Instant::from_std(cx.cancel.deadline());
    let state = loop {
        let progress = prompts.progress(&prompt);
        if !matches!(progress, Progress::Open | Progress::Taken) {
            guard.prompt = None;
            break ended(cx, process, progress)?;
        }
        if process.status()?.state.is_final() {
            // The guard withdraws it.
            return Err(Failure::new(
                ErrorCode::Conflict,
                format!("process {} ended before the user answered", process.facts.id),
            )
            .detail("rule", "ended")
            .hint("process.read still gives what it printed."));
        }
        let now = tokio::time::Instant::now();
        if now >= deadline {
            guard.prompt = None;
            cx.summarize("secret pending");
            break SecretState::Pending;
        }
        tokio::time::sleep_until(deadline.min(now + LOOK_EVERY)).await;
    };
    Ok(output(state, &prompt))
}

async fn open(
    cx: &Context,
    permit: &Permit,
    process: &Arc<Process>,
    prompts: &Prompts,
    text: &str,
) -> Result<Prompt, Failure> {
    let text = PromptText::clean(text)?;
    // What cannot be written to is not asked for: nothing is written, and the keeper shows whether it could be.
    let mut control = process.control().await?;
    control.input(&[]).await.map_err(|error| refused(process, &error))?;
    let opened_at_ms = now_ms();
    let prompt = Prompt {
        version: Prompt::VERSION,
        id: id::new_id(),
        scope: permit.scope().map(|scope| scope.id().to_owned()).unwrap_or_default(),
        process_id: process.facts.id.clone(),
        caller: cx.caller.name.clone(),
        caller_id: cx.caller.identity().to_owned(),
        client: cx.caller.client.clone(),
        transport: cx.caller.transport.as_str().to_owned(),
        text,
        enter: process.facts.has_terminal,
        opened_at_ms,
        expires_at_ms: opened_at_ms + Prompt::LIFE_MS,
    };
    match prompts.open(&prompt) {
        Ok(()) => {
            if cx.service.config.notifications {
                notifications::show(Notification {
                    title: "Bailiwick: a process asks for a secret".to_owned(),
                    lines: vec![
                        format!("in scope {}, asked by {}", prompt.scope, prompt.caller),
                        "bailiwick approve".to_owned(),
                    ],
                });
            }
            Ok(prompt)
        }
        Err(PromptError::AlreadyOpen) => match prompts.of_process(&process.facts.id) {
            Ok(Some(other)) => Err(is_being_asked(process, &other, &cx.caller)),
            Ok(None) | Err(_) => Err(Failure::new(ErrorCode::Conflict, "another prompt was just opened")),
        },
        Err(error @ PromptError::TooMany) => Err(Failure::new(ErrorCode::Conflict, error.to_string())
            .detail("rule", "too-many-prompts")
            .hint("Ask the user to run `bailiwick approve`, or withdraw prompts with `secret.cancel`.")),
        Err(error) => Err(Failure::new(
            ErrorCode::ProviderUnavailable,
            format!("the prompt could not be opened: {error}"),
        )),
    }
}

/// Finds the prompt that an earlier call of the same caller left for the same process.
fn find(cx: &Context, process: &Process, prompts: &Prompts, pending: &str) -> Result<Prompt, Failure> {
    let found = prompts.find(pending).map_err(|error| broken(&error))?;
    let is_own = |prompt: &Prompt| is_of(prompt, process, &cx.caller);
    found.filter(is_own).ok_or_else(|| {
        Failure::new(
            ErrorCode::NotFound,
            "no prompt of yours for this process has that id, or it has expired",
        )
        .hint("Ask again with `secret.prompt`.")
    })
}

fn is_of(prompt: &Prompt, process: &Process, caller: &Caller) -> bool {
    prompt.process_id == process.facts.id
        && prompt.scope == process.facts.scope
        && prompt.caller_id == caller.identity()
}

/// Returns how a prompt has ended.
fn ended(cx: &Context, process: &Process, progress: Progress) -> Result<SecretState, Failure> {
    let id = &process.facts.id;
    match progress {
        Progress::Answered => {
            cx.summarize("secret answered");
            Ok(SecretState::Answered)
        }
        Progress::Open | Progress::Taken => Ok(SecretState::Pending),
        Progress::Refused => {
            Err(Failure::denied("refused-by-person", format!("the user gives process {id} no secret"))
                .hint("Continue without it, or ask the user in words."))
        }
        Progress::Gone => Err(Failure::new(
            ErrorCode::Timeout,
            "the prompt was withdrawn, or expired before it was answered",
        )
        .hint("Ask again with `secret.prompt` when the user is there.")),
    }
}

/// Creates the failure of input to a process while a person is asked for its secret: anyone who else wrote to it then could
/// choose who gets the secret.
pub(super) fn is_being_asked(process: &Process, prompt: &Prompt, caller: &Caller) -> Failure {
    let failure = Failure::new(
        ErrorCode::Conflict,
        format!(
            "the user is being asked for a secret of process {}: nothing else is written",
            process.facts.id
        ),
    )
    .detail("rule", "secret-pending")
    .hint("Wait until the user has answered with `bailiwick approve`.");
    if is_of(prompt, process, caller) {
        failure.detail("pending", prompt.id.clone()).hint("`secret: {pending, cancel: true}` withdraws it.")
    } else {
        failure
    }
}

/// Creates the failure of a folder of prompts that cannot be read.
pub(super) fn broken(error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::ProviderUnavailable, format!("the waiting prompts cannot be read: {error}"))
}
