//! `command.run`: run a program to its end.

use std::collections::BTreeMap;

use crate::registry::prelude::*;
use crate::registry::{Preview, PreviewResult};
use bailiwick_contract::CommandInput;

use crate::programs::{CommandOutput, Encoding, Execution, execute, input_bytes, preview};

/// The operation.
pub struct Op;

/// What to run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// A program and its arguments as an array (nothing needs quoting), or one string. Where the scope runs any
    /// program (`computer.info` says it), the string may be any text for bash and a program may be named by its
    /// path; elsewhere it holds simple commands of literal words joined by `&&`, `||`, `;`, `|` or newlines.
    pub command: CommandInput,
    /// Environment variables by name; any names where any program may run, else those in `allowedEnvironment`.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// What the command reads on standard input, as text; default nothing.
    #[serde(default)]
    #[schemars(length(min = 0))]
    pub stdin: Option<String>,
    /// The same as bytes in base64.
    #[serde(default)]
    #[schemars(length(min = 0))]
    pub stdin_base64: Option<String>,
}

/// How to give what it prints.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Take colours and other control sequences of terminals out of the text; default true.
    pub strip_ansi: bool,
    /// Answer after this many seconds at the latest (default 40): a command that still runs continues as a process. Where
    /// the caller lacks `process:manage` it ends with the request.
    pub answer_within_seconds: Option<u64>,
    /// `text` (default) or `base64`, which gives the first bytes of each stream exactly.
    pub encoding: Encoding,
}

impl Default for Options {
    fn default() -> Self {
        Self { strip_ansi: true, answer_within_seconds: None, encoding: Encoding::Text }
    }
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "command.run",
        summary: "Run a command and give what it prints",
        details: "The target is the working folder. A command that fails is a success of the operation: look at `exitCode`. What \
                  runs longer than `answerWithinSeconds` continues as a process: the result has `running`, what was \
                  printed so far, and `processId` for process.wait, read and stop; it is ended after \
                  `timeoutSeconds` if the request has it, else at the scope's limit. At the time limit everything \
                  it started is ended (`timedOut`); when the client cancels or leaves before the answer, everything \
                  is killed. Long output of \
                  builds and tests comes as a `digest`: what failed, where, and the counts, with the output itself a \
                  process.read away; `options.detail` `full` gives it as it is, the beginning and the end of what is \
                  too long.",
        capabilities: &[&[Capability::CommandRun]],
        effect: Effect::RunsCode,
        target: TargetRule::PathOrRoot(Access::Write),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::DryRun, CommonOption::Detail],
        timeout_seconds: 45,
        threads: Threads::Async,
        audited_fields: &[
            "command",
            "stripAnsi",
            "encoding",
            "answerWithinSeconds",
            "timeoutSeconds",
            "dryRun",
            "detail",
        ],
        example: r#"{"op":"command.run","input":{"command":["git","status","--short"]}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = Options;
    type Output = CommandOutput;
    const JUDGED: JudgedFields<Input> = JudgedFields::command(|input: &Input| Some(input.command.clone()))
        .with_handles(&[
            HandleUsage::Words.of("command", &[]),
            HandleUsage::Input.of("env", &[]),
            HandleUsage::Input.of("stdin", &[]),
        ]);
}

impl RunAsync for Op {
    const WAITS_FOR_ROW: bool = true;

    async fn run(
        cx: &Context,
        permit: &Permit,
        input: &Input,
        options: &Options,
    ) -> Result<CommandOutput, Failure> {
        execute(cx, permit, execution(permit, input, options)?).await
    }
}

impl Preview for Op {
    async fn preview(
        cx: &Context,
        permit: &Permit,
        input: &Input,
        options: &Options,
    ) -> Result<PreviewResult, Failure> {
        preview(cx, permit, execution(permit, input, options)?).await
    }
}

fn execution(permit: &Permit, input: &Input, options: &Options) -> Result<Execution, Failure> {
    Ok(Execution {
        command: permit.command().clone(),
        environment: input.env.clone(),
        stdin: input_bytes(input.stdin.as_deref(), input.stdin_base64.as_deref())?,
        strip_ansi: options.strip_ansi,
        answer_within_seconds: options.answer_within_seconds,
        encoding: options.encoding,
    })
}
