//! `package.run`: run a script that the project already defines.

use std::collections::BTreeMap;

use crate::programs::{CommandOutput, Encoding, Execution, execute, preview};
use crate::registry::prelude::*;
use crate::registry::{Preview, PreviewResult};

use super::choice::permitted_script;

/// The operation.
pub struct Op;

/// Which script to run.
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
}

impl Default for Options {
    fn default() -> Self {
        Self { strip_ansi: true, answer_within_seconds: None }
    }
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "package.run",
        summary: "Run a script that the project defines",
        details: "Runs only what a manifest in the target folder defines, by the runner that belongs to it: \
                  `npm run NAME -- ARGS`, `cargo test -- ARGS`, `make TARGET`. With `package:run` no rule has to \
                  allow the runner; what the scope denies or asks about stays so. ActiveSandbox, bounded and answered as \
                  command.run. Scripts are code: who may change the manifest decides what runs.",
        capabilities: &[&[Capability::PackageRun, Capability::CommandRun]],
        effect: Effect::RunsCode,
        target: TargetRule::PathOrRoot(Access::Write),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::DryRun, CommonOption::Detail],
        timeout_seconds: 45,
        threads: Threads::Async,
        audited_fields: &[
            "script",
            "runner",
            "args",
            "stripAnsi",
            "answerWithinSeconds",
            "timeoutSeconds",
            "dryRun",
            "detail",
        ],
        example: r#"{"op":"package.run","input":{"script":"test"}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = Options;
    type Output = CommandOutput;
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
    ) -> Result<CommandOutput, Failure> {
        execute(cx, permit, execution(cx, permit, input, options).await?).await
    }
}

impl Preview for Op {
    async fn preview(
        cx: &Context,
        permit: &Permit,
        input: &Input,
        options: &Options,
    ) -> Result<PreviewResult, Failure> {
        preview(cx, permit, execution(cx, permit, input, options).await?).await
    }
}

async fn execution(
    cx: &Context,
    permit: &Permit,
    input: &Input,
    options: &Options,
) -> Result<Execution, Failure> {
    let command = permitted_script(cx, permit, &input.script, input.runner.as_deref(), &input.args).await?;
    Ok(Execution {
        command,
        environment: input.env.clone(),
        stdin: None,
        strip_ansi: options.strip_ansi,
        answer_within_seconds: options.answer_within_seconds,
        encoding: Encoding::Text,
    })
}
