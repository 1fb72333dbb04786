//! What codex.run and codex.start have in common: the prompt, what Codex may do, and making it ready.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::programs::{PlannedCommand, Sandbox, plan_of};
use crate::registry::Context;
use bailiwick_contract::{Capability, CommandInput, ErrorCode, Failure};
use bailiwick_policy::command::Grant;
use bailiwick_policy::{Need, Permit, Scope};
use bailiwick_providers::codex::{CodexContext, CodexOptions, Mode, PreparedCodex, is_session_id, sessions};

/// The longest prompt, in characters: Codex takes no longer one.
const MAX_PROMPT_CHARS: usize = 1 << 20;
/// How much of a prompt is shown where it is only named.
const PREVIEW_CHARS: usize = 120;
/// The longest name of a model.
const MAX_MODEL_CHARS: usize = 100;

/// The work.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// What Codex is to do. It goes to Codex by standard input: none of its words is read as an option.
    pub prompt: String,
}

/// How it is to be done.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct WorkOptions {
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
}

/// What holds Codex's own commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CodexSandbox {
    /// `read-only` or `workspace-write`: what the commands that Codex runs may do with files.
    pub mode: Mode,
    /// Whether they may reach the network. Codex itself always speaks to its provider.
    pub network: bool,
}

/// A run that is ready, with what is to be told of it.
pub struct CodexJob {
    /// What is started.
    pub ready: PreparedCodex,
    /// What Codex reads.
    pub prompt: Vec<u8>,
    /// The beginning of the prompt without secrets; none where it is sensitive.
    pub prompt_preview: Option<String>,
    /// What holds Codex's commands.
    pub codex_sandbox: CodexSandbox,
    /// What holds Codex.
    pub sandbox: Sandbox,
    /// The commands that start.
    pub plan: Vec<PlannedCommand>,
    /// What is told of its command.
    pub preview: String,
}

/// Reads what is asked, has the policy judge it, and makes it ready.
///
/// # Errors
/// `invalid_request`, `permission_denied`, `not_found` for a session, `provider_unavailable` with the fix.
pub async fn make_ready(
    cx: &Context,
    permit: &Permit,
    input: &Input,
    options: &WorkOptions,
) -> Result<CodexJob, Failure> {
    let scope = permit.needed_scope()?;
    check_prompt(&input.prompt)?;
    let mode = mode(permit, options.sandbox);
    let model = options.model.as_deref().map(check_model).transpose()?;
    if let Some(session) = &options.resume {
        check_session(cx, scope.id(), session).await?;
    }
    let asked = CodexOptions { mode, model, resume: options.resume.clone(), ephemeral: options.sensitive };
    let words = asked.words();
    let preview = words.join(" ");
    let command = permit.judge_command(&CommandInput::Argv(words), Grant::Codex)?;
    let ready = PreparedCodex::make(&around(cx, scope), &command, permit.path(), mode).await?;
    cx.cancel.check()?;
    let prompt_preview = (!options.sensitive).then(|| {
        let words: Vec<&str> = input.prompt.split_whitespace().collect();
        // Redacted whole words first: half a secret would not be known for one.
        let clean = cx.history.redacted_words(&words).join(" ");
        match clean.char_indices().nth(PREVIEW_CHARS) {
            Some((end, _)) => format!("{}…", &clean[..end]),
            None => clean,
        }
    });
    Ok(CodexJob {
        prompt: input.prompt.clone().into_bytes(),
        prompt_preview,
        codex_sandbox: CodexSandbox { mode, network: ready.network },
        sandbox: Sandbox::wanted(&ready.prepared),
        plan: plan_of(&ready.prepared),
        preview,
        ready,
    })
}

impl CodexJob {
    /// Says in a few words what is run, for the history, which redacts it.
    pub fn words(&self) -> String {
        let mode = self.codex_sandbox.mode.as_str();
        match &self.prompt_preview {
            Some(prompt) => format!("Codex {mode}: {prompt}"),
            None => format!("Codex {mode}, sensitive prompt"),
        }
    }
}

/// Returns what surrounds a run.
pub fn around(cx: &Context, scope: &Arc<Scope>) -> CodexContext {
    CodexContext {
        launcher: Arc::clone(&cx.service.launcher),
        dirs: cx.service.dirs.clone(),
        scope: Arc::clone(scope),
        roots: cx.service.roots.clone(),
        repositories: Arc::clone(&cx.service.repositories),
        cancel: cx.cancel.clone(),
    }
}

fn check_prompt(prompt: &str) -> Result<(), Failure> {
    if prompt.trim().is_empty() {
        return Err(Failure::invalid("input.prompt", "`input.prompt` is empty: Codex needs something to do"));
    }
    if prompt.chars().count() > MAX_PROMPT_CHARS {
        return Err(Failure::invalid(
            "input.prompt",
            format!("a prompt has at most {MAX_PROMPT_CHARS} characters"),
        )
        .hint("Write what is long into a file of the scope, and tell Codex to read it."));
    }
    Ok(())
}

/// Finds what Codex may do: no more than the scope and the caller may. What was asked for is judged already.
fn mode(permit: &Permit, asked: Option<Mode>) -> Mode {
    match asked {
        Some(mode) => mode,
        None if permit.allows(Capability::FsWrite) => Mode::WorkspaceWrite,
        None => Mode::ReadOnly,
    }
}

/// Names what a mode needs that is asked for.
pub fn needs(asked: Option<Mode>) -> Vec<Need> {
    let need = Need {
        field: "options.sandbox",
        capability: Capability::FsWrite,
        what: "Codex that writes",
        instead: "Leave `options.sandbox` out, or set it to \"read-only\".",
    };
    if asked == Some(Mode::WorkspaceWrite) { vec![need] } else { Vec::new() }
}

fn check_model(model: &str) -> Result<String, Failure> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:/-@".contains(&byte);
    let is_model = model.len() <= MAX_MODEL_CHARS
        && model.starts_with(|first: char| first.is_ascii_alphanumeric())
        && model.bytes().all(is_plain);
    match is_model {
        true => Ok(model.to_owned()),
        false => Err(Failure::invalid("options.model", "`options.model` is no name of a model")
            .hint("Use a name such as `gpt-5.5-codex`, or leave it out for the user's own choice.")),
    }
}

/// Refuses a session that is none of the scope's.
async fn check_session(cx: &Context, scope: &str, session: &str) -> Result<(), Failure> {
    if !is_session_id(session) {
        return Err(Failure::invalid("options.resume", "`options.resume` is no id of a session")
            .hint("Send the `sessionId` of an earlier codex.run or codex.start; codex.list has them."));
    }
    let (dirs, scope) = (cx.service.dirs.clone(), scope.to_owned());
    let known = tokio::task::spawn_blocking(move || sessions(&dirs, &scope)).await.unwrap_or_default();
    match known.iter().any(|known| known.id.eq_ignore_ascii_case(session)) {
        true => Ok(()),
        false => Err(Failure::new(ErrorCode::NotFound, format!("this scope has no session `{session}`"))
            .detail("rule", "codex-session")
            .hint("codex.list shows the sessions that can be gone on with; a sensitive one is not kept.")),
    }
}
