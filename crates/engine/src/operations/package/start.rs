//! `package.start`: start a script that the project already defines, which keeps running after the call.

use std::collections::BTreeMap;

use crate::programs::{Options, ProcessOrder, ProcessStart, Stdin, TerminalInput, begin};
use crate::registry::prelude::*;

use super::choice::permitted_script;

/// The operation.
pub struct Op;

/// Which script to start.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The name of the script, as package.scripts lists it.
    pub script: String,
    /// Where several manifests define the name: the runner to use, such as `npm`, `cargo` or `make`.
    #[serde(default)]
    pub runner: Option<String>,
    /// Arguments for the script, each taken literally; package.scripts says what each script takes.
    #[serde(default)]
    pub args: Vec<String>,
    /// Environment variables by name; any names where any program may run, else those in `allowedEnvironment`.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// `pipe` (default): process.write writes to it. `null`: it is at its end.
    #[serde(default)]
    pub stdin: Option<Stdin>,
    /// `true` gives it a terminal of 24 rows and 80 columns, an object one of another size; default none.
    #[serde(default)]
    pub terminal: Option<TerminalInput>,
    /// A name for process.list, at most 100 characters.
    #[serde(default)]
    pub label: Option<String>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "package.start",
        summary: "Start a script that the project defines, such as its dev server",
        details: "Finds and judges the script as package.run does, and starts it as process.start does: it continues \
                  after the call, process.read gives what it prints, process.wait waits for its port, process.stop \
                  ends it with everything that it started.",
        capabilities: &[&[Capability::PackageRun, Capability::CommandRun], &[Capability::ProcessManage]],
        effect: Effect::RunsCode,
        target: TargetRule::PathOrRoot(Access::Write),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::DryRun],
        threads: Threads::Async,
        audited_fields: &[
            "script",
            "runner",
            "args",
            "stdin",
            "terminal",
            "label",
            "maxRunSeconds",
            "timeoutSeconds",
            "dryRun",
        ],
        example: r#"{"op":"package.start","input":{"script":"dev"}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = Options;
    type Output = ProcessStart;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE
        .with_handles(&[HandleUsage::Words.of("args", &[]), HandleUsage::Input.of("env", &[])]);

    // Which command it is comes out of the manifest; `Permit::judge_command` judges it then.
}

impl RunAsync for Op {
    async fn run(
        cx: &Context,
        permit: &Permit,
        input: &Input,
        options: &Options,
    ) -> Result<ProcessStart, Failure> {
        let command =
            permitted_script(cx, permit, &input.script, input.runner.as_deref(), &input.args).await?;
        let beginning = ProcessOrder {
            command,
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
