//! `package.run`: run a script that the project already defines.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::{
    Access, Capability, CommandInput, CommonOption, Effect, ErrorCode, Failure, OperationSpec, ScopeNeed,
    ScopeType, TargetRule, Threads, fields,
};
use crate::operations::command::{CommandOutput, Encoding, Execution, execute};
use crate::policy::command::Grant;
use crate::policy::{InputPath, Permit};
use crate::providers::package::{Script, Scripts, find_scripts};
use crate::registry::{Context, Operation, no_command, no_paths};

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
    /// Environment variables by name; only names that the scope lists in `allowedEnvironment`.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

/// How to give what it prints.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Take colours and other control sequences of terminals out of the text; default true.
    pub strip_ansi: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { strip_ansi: true }
    }
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "package.run",
        summary: "Run a script that the project defines",
        details: "Runs only what a manifest in the target folder defines, by the runner that belongs to it: \
                  `npm run NAME -- ARGS`, `cargo test -- ARGS`, `make TARGET`. With `package:run` no rule has to \
                  allow the runner; what the scope denies or asks about stays so. Held, bounded and answered as \
                  command.run. Scripts are code: who may change the manifest decides what runs.",
        capabilities: &[&[Capability::PackageRun, Capability::CommandRun]],
        effect: Effect::RunsCode,
        target: TargetRule::PathOrRoot(Access::Write),
        scope: ScopeNeed::In(&[ScopeType::Folder]),
        platforms: &[],
        options: &[CommonOption::DryRun],
        timeout_seconds: 30,
        threads: Threads::Async,
        audited_fields: &["script", "runner", "args", "stripAnsi", "timeoutSeconds", "dryRun"],
        example: r#"{"op":"package.run","input":{"script":"test"}}"#,
    };
    type Input = Input;
    type Options = Options;
    type Output = CommandOutput;

    fn paths(input: &Input) -> Vec<InputPath> {
        no_paths(input)
    }

    // Which command it is comes out of the manifest; `Permit::judge_command` judges it then.
    fn command(input: &Input) -> Option<CommandInput> {
        no_command(input)
    }

    async fn run(
        cx: &Context,
        permit: &Permit,
        input: &Input,
        options: &Options,
    ) -> Result<CommandOutput, Failure> {
        let (folder, cancel) = (permit.path().clone(), cx.cancel.clone());
        let found = tokio::task::spawn_blocking(move || find_scripts(&folder, &cancel)).await.map_err(
            |error| {
                Failure::new(ErrorCode::ExecutionFailed, format!("the manifests could not be read: {error}"))
            },
        )??;
        let script = choose(&found, &input.script, input.runner.as_deref())?;
        let argv = script.with_arguments(&input.args)?;
        let grant = match permit.capability() {
            Some(Capability::PackageRun) => Grant::Package,
            _ => Grant::Rules,
        };
        let execution = Execution {
            command: permit.judge_command(&CommandInput::Argv(argv), grant)?,
            environment: input.env.clone(),
            stdin: None,
            strip_ansi: options.strip_ansi,
            encoding: Encoding::Text,
        };
        execute(cx, permit, execution).await
    }
}

/// Finds the one script that is meant.
fn choose<'a>(found: &'a Scripts, name: &str, runner: Option<&str>) -> Result<&'a Script, Failure> {
    let named: Vec<&Script> = found.list.iter().filter(|script| script.name == name).collect();
    let fitting: Vec<&Script> =
        named.iter().copied().filter(|script| runner.is_none() || script.runner == runner).collect();
    match fitting.as_slice() {
        [] => Err(not_found(found, name, runner, &named)),
        [script] if script.runner.is_none() => Err(Failure::new(
            ErrorCode::NotFound,
            format!("nothing says what runs `{name}` of {}", script.source),
        )
        .hint("A lock file of uv, poetry or pdm says so; else use command.run where the scope allows it.")),
        [script] => Ok(script),
        several => {
            let runners: Vec<&str> = several.iter().filter_map(|script| script.runner).collect();
            Err(Failure::new(ErrorCode::Conflict, format!("several manifests define `{name}`"))
                .detail("runners", runners.clone())
                .hint(format!("Set `input.runner` to one of {}.", runners.join(", "))))
        }
    }
}

fn not_found(found: &Scripts, name: &str, runner: Option<&str>, named: &[&Script]) -> Failure {
    let short: String = name.chars().take(100).collect();
    if let (Some(runner), [first, ..]) = (runner, named) {
        let runners: Vec<&str> = named.iter().filter_map(|script| script.runner).collect();
        return Failure::new(ErrorCode::NotFound, format!("`{short}` is not run by `{runner}`"))
            .detail("runners", runners)
            .hint(format!("It is defined in {}; leave `input.runner` out.", first.source));
    }
    let failure = Failure::new(ErrorCode::NotFound, format!("no manifest in this folder defines `{short}`"));
    let near = fields::nearest(name, found.list.iter().map(|script| script.name.as_str()), 3);
    match near.as_slice() {
        [] if found.list.is_empty() => failure
            .hint("There is no package.json, Cargo.toml, makefile, justfile or pyproject.toml; choose the folder by `target`."),
        [] => failure.hint("package.scripts lists what there is."),
        near => failure.hint(format!("Did you mean {}?", near.join(" or "))),
    }
}
