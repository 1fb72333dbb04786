//! `process.write`: give a process input.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use std::sync::Arc;

use crate::registry::prelude::*;
use bailiwick_contract::ErrorCode;
use bailiwick_platform::launch::kept::{ControlError, MAX_INPUT_BYTES};
use bailiwick_providers::process::Process;
use bailiwick_providers::secret_prompt::Prompts;
use bailiwick_providers::terminal::{CursorKeys, Key, MAX_KEYS, for_pipe, for_terminal, read_key};

use super::secret::{self, SecretInput, SecretState};
use crate::programs::target;

/// The operation.
pub struct Op;

/// What to give. `text`, `keys` and `close` may be together and go in this order; `base64` may stand with `close`;
/// `secret` cannot be combined with other input.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Input {
    /// Text, exactly as it is: no line end is added. At most 65,536 bytes in one call.
    pub text: Option<String>,
    /// Keys of a keyboard, in order: names (`Enter`, `Tab`, `Escape`, `Backspace`, `Up`, `Down`, `Left`, `Right`,
    /// `Home`, `End`, `PageUp`, `PageDown`, `Insert`, `Delete`, `Space`, `F1` to `F12`), with `C-`, `M-` or `S-` for
    /// Control, Alt or Shift (`C-c`, `M-x`, `S-Tab`, `C-Right`), and text, which is typed as it is.
    pub keys: Vec<String>,
    /// Bytes in base64.
    pub base64: Option<String>,
    /// End the input after this: closes the pipe, or types Ctrl-D (on Windows Ctrl-Z and Enter) into the terminal.
    pub close: bool,
    /// A secret that the user types, and you never see.
    pub secret: Option<SecretInput>,
}

/// What was given.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The process.
    pub process_id: String,
    /// How many bytes it was given; of a secret this is not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// Whether its input was ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
    /// Where its output stood before: process.read with this as `options.cursor` gives what came after.
    pub cursor: String,
    /// How far the secret is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<SecretState>,
    /// Names the prompt that still waits: give it as `input.secret.pending` to wait on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<String>,
    /// When the prompt expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "process.write",
        summary: "Give input to a process: text, keys, bytes, or a secret that the user types",
        details: "Input is taken over as a whole or not at all. With a terminal, keys send \
                  what xterm sends; to a pipe, `Enter` sends a line feed. `secret` opens a prompt that the user \
                  answers with `bailiwick approve` in a terminal; what is typed goes to the process and is in no \
                  answer, output, log or history. Tell the user beforehand. The call waits, 45 s unless \
                  `options.timeoutSeconds` says otherwise, and then answers `pending` with an id to wait on; the prompt \
                  waits ten minutes. Meanwhile nothing else can be written to the process.",
        capabilities: &[&[Capability::ProcessManage]],
        effect: Effect::RunsCode,
        target: TargetRule::Id("the processId"),
        scope: ScopeNeed::FOLDER,
        timeout_seconds: 45,
        threads: Threads::Held,
        audited_fields: &["close", "timeoutSeconds"],
        example: r#"{"op":"process.write","target":"01JD0000000000000000000000","input":{"text":"yes","keys":["Enter"]}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<Input> =
        JudgedFields::NONE.with_handles(&[HandleUsage::Input.of("text", &[])]);
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<Output, Failure> {
        let process = target(cx, permit)?;
        let given = WriteInput::of(input)?;
        let status = process.status()?;
        permit.check_sending(status.held.network)?;
        let cursor = status.end.to_string();
        if let WriteInput::Secret(secret) = given {
            return secret::run(cx, permit, &process, secret, cursor).await;
        }
        let prompts = Prompts::new(&cx.service.dirs.state);
        if let Some(prompt) = prompts.of_process(&process.facts.id).map_err(|error| secret::broken(&error))? {
            return Err(secret::is_being_asked(&process, &prompt, &cx.caller));
        }
        let (bytes, close) = given.bytes(cx, &process).await?;
        if bytes.len() > MAX_INPUT_BYTES {
            return Err(Failure::invalid(
                "input",
                format!("{} bytes are more than one call takes ({MAX_INPUT_BYTES})", bytes.len()),
            )
            .hint("Give it in several calls."));
        }
        let mut control = process.control().await?;
        if !bytes.is_empty() {
            control.input(&bytes).await.map_err(|error| refused(&process, &error))?;
        }
        if close {
            control.close_input().await.map_err(|error| refused(&process, &error))?;
        }
        cx.summarize(match close {
            false => format!("{} bytes", bytes.len()),
            true => format!("{} bytes, then the end", bytes.len()),
        });
        Ok(Output {
            process_id: process.facts.id.clone(),
            bytes: Some(bytes.len()),
            closed: close,
            cursor,
            secret: None,
            pending: None,
            expires_at: None,
        })
    }
}

/// The input, once it is known to make sense.
enum WriteInput<'a> {
    /// Text, then keys, then perhaps the end.
    Typed {
        text: &'a str,
        keys: Vec<Key>,
        close: bool,
    },
    /// Bytes, then perhaps the end.
    Bytes {
        bytes: Vec<u8>,
        close: bool,
    },
    Secret(&'a SecretInput),
}

impl<'a> WriteInput<'a> {
    fn of(input: &'a Input) -> Result<Self, Failure> {
        let Input { text, keys, base64, close, secret } = input;
        let has_typed = text.is_some() || !keys.is_empty();
        match (has_typed, base64, secret) {
            (false, None, None) if !close => Err(Failure::invalid("input", "nothing was given to write")
                .hint("Set `input.text`, `input.keys`, `input.base64`, `input.close` or `input.secret`.")),
            (false, None, Some(secret)) if !close => Ok(Self::Secret(secret)),
            (_, _, Some(_)) => {
                Err(Failure::invalid("input.secret", "`secret` cannot be combined with other input")
                    .hint("Send other input in a call of its own."))
            }
            (true, Some(_), None) => {
                Err(Failure::invalid("input.base64", "`base64` does not go with `text` or `keys`")
                    .hint("Send it in a call of its own."))
            }
            (false, Some(base64), None) => {
                let bytes = STANDARD.decode(base64.trim()).map_err(|_| {
                    Failure::invalid("input.base64", "`base64` is not base64")
                        .hint("Use the standard alphabet, with padding.")
                })?;
                Ok(Self::Bytes { bytes, close: *close })
            }
            (_, None, None) => {
                if keys.len() > MAX_KEYS {
                    return Err(Failure::invalid(
                        "input.keys",
                        format!("there are more than {MAX_KEYS} keys"),
                    )
                    .hint("Type long text with `input.text`."));
                }
                let keys = keys.iter().map(|key| read_key(key)).collect::<Result<_, _>>()?;
                Ok(Self::Typed { text: text.as_deref().unwrap_or_default(), keys, close: *close })
            }
        }
    }

    async fn bytes(self, cx: &Context, process: &Arc<Process>) -> Result<(Vec<u8>, bool), Failure> {
        match self {
            Self::Secret(_) => Ok((Vec::new(), false)),
            Self::Bytes { bytes, close } => Ok((bytes, close)),
            Self::Typed { text, keys, close } => {
                let mut bytes = text.as_bytes().to_vec();
                if process.facts.has_terminal {
                    bytes.extend(for_terminal(&keys, cursor_keys(cx, process, &keys).await?)?);
                } else {
                    if keys.iter().any(Key::is_signal) {
                        cx.warn(
                            "the process has no terminal: C-c and the like reach it as bytes and interrupt nothing; \
                             process.stop with `signal` does",
                        );
                    }
                    bytes.extend(for_pipe(&keys)?);
                }
                Ok((bytes, close))
            }
        }
    }
}

/// Looks which cursor keys the program wants now, if that matters.
async fn cursor_keys(cx: &Context, process: &Arc<Process>, keys: &[Key]) -> Result<CursorKeys, Failure> {
    if !keys.iter().any(Key::depends_on_state) {
        return Ok(CursorKeys::Normal);
    }
    let (screens, process, cancel) =
        (Arc::clone(&cx.service.screens), Arc::clone(process), cx.cancel.clone());
    tokio::task::spawn_blocking(move || screens.look(&process, &cancel, |screen, _| screen.cursor_keys()))
        .await
        .unwrap_or_else(|_| Err(Failure::new(ErrorCode::ExecutionFailed, "the screen could not be drawn")))
}

/// Creates the failure of input that the keeper did not take.
pub(super) fn refused(process: &Process, error: &ControlError) -> Failure {
    let id = &process.facts.id;
    match error {
        ControlError::Full => Failure::new(
            ErrorCode::Conflict,
            format!(
                "process {id} does not read its input, and as much waits for it as may: nothing was added"
            ),
        )
        .detail("rule", "input-full")
        .hint("Look with process.read what it does; try again when it reads, or end it with process.stop."),
        ControlError::NoInput => {
            Failure::new(ErrorCode::Conflict, format!("process {id} has no input, or it was closed"))
                .detail("rule", "no-input")
                .hint("Start it with `input.stdin: \"pipe\"` or `input.terminal: true` to write to it.")
        }
        ControlError::Gone => {
            Failure::new(ErrorCode::Conflict, format!("process {id} has ended: nothing was written"))
                .detail("rule", "ended")
                .hint("process.read still gives what it printed.")
        }
        other => Failure::new(
            ErrorCode::ExecutionFailed,
            format!("process {id} could not be given its input: {other}"),
        ),
    }
}
