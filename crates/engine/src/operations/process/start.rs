//! `process.start`, which is `command.start` too: start a program that keeps running after the call.

use std::collections::BTreeMap;

use crate::registry::prelude::*;
use bailiwick_contract::CommandInput;

use crate::programs::TerminalInput;
use crate::programs::{Options, ProcessOrder, ProcessStart, Stdin, begin};

/// The operation.
pub struct Op;

/// What to start.
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
    /// `pipe` (default): process.write writes to it. `null`: it is at its end.
    #[serde(default)]
    pub stdin: Option<Stdin>,
    /// `true` gives it a terminal of 24 rows and 80 columns, an object one of another size; default none. For
    /// programs that ask questions or draw.
    #[serde(default)]
    pub terminal: Option<TerminalInput>,
    /// A name for process.list, at most 100 characters.
    #[serde(default)]
    pub label: Option<String>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "process.start",
        summary: "Start a program that keeps running after the call",
        details: "Judged and held exactly as command.run; the target is the working folder. It answers as soon as \
                  the program runs. What the program prints is kept (8 MiB, the newest) and can be read while it \
                  runs and for 24 hours after its end; it outlives the client and a restart of the service, unless \
                  the scope's `processLifetime` says otherwise. process.wait waits for a line, a port or the end. \
                  `timeoutSeconds` bounds the starting only.",
        capabilities: &[&[Capability::CommandRun], &[Capability::ProcessManage]],
        effect: Effect::RunsCode,
        target: TargetRule::PathOrRoot(Access::Write),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::DryRun],
        threads: Threads::Async,
        audited_fields: &[
            "command",
            "stdin",
            "terminal",
            "label",
            "maxRunSeconds",
            "timeoutSeconds",
            "dryRun",
        ],
        example: r#"{"op":"process.start","input":{"command":["npm","run","dev"],"label":"dev server"}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = Options;
    type Output = ProcessStart;
    const JUDGED: JudgedFields<Input> = JudgedFields::command(|input: &Input| Some(input.command.clone()))
        .with_handles(&[HandleUsage::Words.of("command", &[]), HandleUsage::Input.of("env", &[])]);
}

impl RunAsync for Op {
    const WAITS_FOR_ROW: bool = true;

    async fn run(
        cx: &Context,
        permit: &Permit,
        input: &Input,
        options: &Options,
    ) -> Result<ProcessStart, Failure> {
        let beginning = ProcessOrder {
            command: permit.command().clone(),
            environment: input.env.clone(),
            stdin: input.stdin,
            terminal: input.terminal,
            label: input.label.clone(),
            max_run_seconds: options.max_run_seconds,
            display: None,
        };
        begin(cx, permit, beginning).await
    }
}
