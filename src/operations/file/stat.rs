//! `file.stat`: facts about one path.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::time::rfc3339;
use crate::contract::{
    Access, Capability, Effect, Failure, OperationSpec, ScopeNeed, ScopeType, TargetRule, Threads,
};
use crate::platform::fs::FileKind;
use crate::policy::{InputPath, Permit};
use crate::registry::{Context, NoFields, Operation, no_paths};

/// The operation.
pub struct Op;

/// How much to find out.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Read the whole file and give its SHA-256; default false.
    pub hash: bool,
}

/// What is known about the path.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The path, relative to the scope's folder.
    pub path: String,
    /// What it is. A link is described itself; see `leadsTo`.
    pub kind: FileKind,
    /// Its size in bytes.
    pub size: u64,
    /// Its last change, RFC 3339 in UTC.
    pub modified: String,
    /// Its permission bits in octal, such as `0644`.
    pub mode: String,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "file.stat",
        summary: "Tell what a path is",
        details: "Kind, size, time of the last change and permission bits. A symbolic link is described itself.",
        capabilities: &[&[Capability::FsRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::PathOrRoot(Access::Read),
        scope: ScopeNeed::In(&[ScopeType::Folder]),
        platforms: &[],
        options: &[],
        timeout_seconds: 30,
        threads: Threads::Blocking,
        audited_fields: &["hash"],
        example: r#"{"op":"file.stat","target":"README.md"}"#,
    };
    type Input = NoFields;
    type Options = Options;
    type Output = Output;

    fn paths(input: &NoFields) -> Vec<InputPath> {
        no_paths(input)
    }

    async fn run(_: &Context, permit: &Permit, _: &NoFields, _: &Options) -> Result<Output, Failure> {
        let path = permit.path();
        let stat = path.stat()?;
        Ok(Output {
            path: path.shown(),
            kind: stat.kind,
            size: stat.size,
            modified: rfc3339(stat.modified_ms()),
            mode: format!("{:04o}", stat.mode),
        })
    }
}
