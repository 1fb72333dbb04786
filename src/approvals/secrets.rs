//! Secrets that programs ask the user for. One goes from here to the keeper of its process, and nowhere else: not through a
//! service, a file or a log.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use bailiwick_contract::time::{now_ms, rfc3339};
use bailiwick_contract::{Cancel, Capability, ErrorCode, Failure, Secret};
use bailiwick_platform::launch::kept::{Control, ControlError};
use bailiwick_policy::{CapabilityStatus, Scopes};
use bailiwick_providers::process::Process;
use bailiwick_providers::secret_prompt::{Claim, Prompt, PromptError};
use bailiwick_providers::terminal::Screens;

use crate::installation::home::Home;
use crate::installation::running::prompts_to_answer;
use crate::installation::text::one_line;

/// How many of the last lines of a process are shown.
const SHOWN_LINES: usize = 4;
/// How much of a line or of a command is shown, in characters.
const SHOWN_CHARS: usize = 300;

/// What waits for the user.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingOutput {
    /// Its id.
    pub id: String,
    /// What is asked for: `secret`.
    pub kind: &'static str,
    /// The scope.
    pub scope: String,
    /// The process that gets the answer.
    pub process_id: String,
    /// The beginning of its command.
    pub command: String,
    /// The caller that asks.
    pub caller: String,
    /// What the client calls itself.
    pub client: Option<String>,
    /// The transport.
    pub transport: String,
    /// The client's words.
    pub text: Value,
    /// Since when it waits (RFC 3339).
    pub opened_at: String,
    /// Until when it waits (RFC 3339).
    pub expires_at: String,
}

/// A prompt with its process, both as they are now.
pub struct PendingPrompt {
    /// The prompt.
    pub prompt: Prompt,
    /// The process that gets the answer.
    pub process: Arc<Process>,
}

/// Returns the secrets that can still be answered: the process lives, and its scope still lets clients write to it.
///
/// # Errors
/// `provider_unavailable` when what waits cannot be read.
pub fn secrets(home: &Home, scopes: &Scopes) -> Result<Vec<PendingPrompt>, Failure> {
    let waiting = prompts_to_answer(home).map_err(|error| unreadable(&error))?;
    let may_be_written = |scope: &str| {
        let standing = scopes.find(scope).map(|scope| scope.standing(Capability::ProcessManage));
        matches!(standing, Some(CapabilityStatus::Granted | CapabilityStatus::Ask))
    };
    let answerable = waiting.into_iter().filter(|(prompt, _)| may_be_written(&prompt.scope));
    Ok(answerable.map(|(prompt, process)| PendingPrompt { prompt, process }).collect())
}

/// Returns who asks for what. Everything that a client or a program chose is in a line of its own, and cannot
/// leave it.
pub fn described(screens: &Screens, it: &PendingPrompt) -> String {
    let PendingPrompt { prompt, process } = it;
    let facts = &process.facts;
    let client = prompt
        .client
        .as_deref()
        .map_or_else(String::new, |client| format!("; it calls itself \u{201c}{}\u{201d}", clipped(client)));
    let age_s = (now_ms() - facts.started_at_ms).max(0) / 1_000;
    let has_terminal = if facts.has_terminal { ", with a terminal" } else { "" };
    let mut text = format!(
        "\nA client asks you for a secret, to give it to a process.\n\n\
         \x20 scope     {}\n\
         \x20 command   {}\n\
         \x20 process   {}, started {age_s} s ago by {}{has_terminal}\n\
         \x20 asked by  {}, over {}{client}\n\
         \x20 its words {}\n",
        clipped(&prompt.scope),
        clipped(&facts.preview),
        facts.id,
        clipped(&facts.caller),
        clipped(&prompt.caller),
        clipped(&prompt.transport),
        prompt.text.quoted(),
    );
    for (at, line) in last_lines(screens, process).iter().enumerate() {
        let label = if at == 0 { "it shows" } else { "" };
        text.push_str(&format!("  {label:<9} | {}\n", clipped(line)));
    }
    text.push_str(
        "\nThe words and the command are the client's. What you type goes to that process\n\
         alone: no client, file or log of Bailiwick gets it. What the process does with\n\
         it is up to the process.\n\n",
    );
    text
}

/// Returns a line of the list.
pub fn listed(it: &PendingPrompt) -> String {
    let PendingPrompt { prompt, process } = it;
    let minutes = (prompt.expires_at_ms - now_ms()).max(0) / 60_000;
    format!(
        "{}  secret {} for `{}` in scope {}, asked by {}; {minutes} min left\n",
        prompt.id,
        prompt.text.quoted(),
        clipped(&process.facts.preview),
        clipped(&prompt.scope),
        clipped(&prompt.caller),
    )
}

/// Shows text from elsewhere: on one line, not longer than a person reads.
fn clipped(text: &str) -> String {
    let shown = one_line(text);
    match shown.char_indices().nth(SHOWN_CHARS) {
        Some((at, _)) => format!("{}\u{2026}", &shown[..at]),
        None => shown,
    }
}

/// Returns the last lines that a process has printed: what it asks for, as a rule.
fn last_lines(screens: &Screens, process: &Arc<Process>) -> Vec<String> {
    let lines = if process.facts.has_terminal {
        let cancel = Cancel::after(Duration::from_secs(5));
        let shown = screens.look(process, &cancel, |screen, _| screen.picture(100_000).lines);
        shown.unwrap_or_default()
    } else {
        let tail = process.open().ok().and_then(|kept| kept.tail(4_096).ok());
        let bytes: Vec<u8> = tail.into_iter().flat_map(|read| read.frames).flat_map(|it| it.bytes).collect();
        String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
    };
    let lines: Vec<String> = lines.into_iter().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(SHOWN_LINES)..].to_vec()
}

/// Hands the secret to the keeper. Where that fails the prompt waits again, unless the process is gone.
///
/// # Errors
/// `execution_failed` when the keeper does not take it; when the prompt cannot be marked as answered.
pub async fn deliver(it: &PendingPrompt, secret: &Secret, claim: Claim) -> Result<(), Failure> {
    let given = match Control::connect(it.process.folder()).await {
        Ok(mut control) => control.secret(secret.bytes()).await,
        Err(error) => Err(error),
    };
    match given {
        Ok(()) => claim.answered().map_err(|error| unreadable(&error)),
        Err(error) => {
            let _ = match error {
                ControlError::Gone => claim.refused(),
                _ => claim.put_back(),
            };
            Err(Failure::new(ErrorCode::ExecutionFailed, format!("nothing was sent: {error}")))
        }
    }
}

/// Returns the facts of a secret that waits.
pub fn facts(it: &PendingPrompt) -> WaitingOutput {
    let PendingPrompt { prompt, process } = it;
    WaitingOutput {
        id: prompt.id.clone(),
        kind: "secret",
        scope: prompt.scope.clone(),
        process_id: prompt.process_id.clone(),
        command: process.facts.preview.clone(),
        caller: prompt.caller.clone(),
        client: prompt.client.clone(),
        transport: prompt.transport.clone(),
        text: serde_json::to_value(&prompt.text).expect("a text has a JSON form"),
        opened_at: rfc3339(prompt.opened_at_ms),
        expires_at: rfc3339(prompt.expires_at_ms),
    }
}

/// Creates the failure of a prompt that cannot be answered.
pub fn not_claimed(error: &PromptError) -> Failure {
    let code = match error {
        PromptError::Io(_) => ErrorCode::ProviderUnavailable,
        _ => ErrorCode::Conflict,
    };
    Failure::new(code, format!("{error}; nothing was sent"))
}

/// Creates the failure for files of prompts that cannot be used.
pub fn unreadable(error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::ProviderUnavailable, format!("what waits for you cannot be read: {error}"))
        .hint("Check the owner, the permissions and the free space of the state folder.")
}
