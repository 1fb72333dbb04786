//! `package.scripts`: what a project's manifests define.

use crate::registry::prelude::*;
use bailiwick_providers::package::{Arguments, Script, find_scripts};

/// The operation.
pub struct Op;

/// What the folder's manifests define.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The folder.
    pub path: String,
    /// The scripts, by manifest.
    pub scripts: Vec<Row>,
    /// `true` if not all are listed, for the size of the result.
    pub truncated: bool,
}

/// One script.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// The name that package.run takes.
    pub name: String,
    /// The program that runs it; `null` where nothing says which, then package.run cannot.
    pub runner: Option<&'static str>,
    /// The manifest that defines it.
    pub source: String,
    /// What it runs, or what the manifest says about it, shortened.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub runs: String,
    /// What `input.args` of package.run may hold: `none`, `words` or `plain_words`.
    pub arguments: Arguments,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "package.scripts",
        summary: "List the scripts that a project defines",
        details: "Reads package.json, Cargo.toml, a makefile, a justfile and pyproject.toml in the target folder. \
                  Runs nothing: what only make or just could find out by evaluating is not listed. The package \
                  manager is the one that package.json or the nearest lock file names.",
        capabilities: &[&[Capability::FsRead, Capability::PackageRun, Capability::CommandRun]],
        effect: Effect::ReadOnly,
        target: TargetRule::PathOrRoot(Access::Read),
        scope: ScopeNeed::FOLDER,
        example: r#"{"op":"package.scripts"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        let found = find_scripts(permit.path(), &cx.cancel)?;
        for warning in found.warnings {
            cx.warn(warning);
        }
        let all = found.list.len();
        let mut room = permit.limits().max_output_bytes.saturating_sub(200);
        let mut scripts = Vec::new();
        for script in found.list {
            let Script { name, runner, source, runs, arguments, .. } = script;
            let row = Row { name, runner, source, runs, arguments };
            let bytes = serde_json::to_string(&row).map_or(usize::MAX, |text| text.len() + 1);
            if bytes > room {
                break;
            }
            room -= bytes;
            scripts.push(row);
        }
        cx.summarize(format!("{all} scripts"));
        Ok(Output { path: permit.path().shown(), truncated: scripts.len() < all, scripts })
    }
}
