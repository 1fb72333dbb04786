//! `file.stat`: facts about one path.

use crate::registry::Attempt;
use crate::registry::prelude::*;
use bailiwick_contract::ErrorCode;
use bailiwick_contract::time::rfc3339;
use bailiwick_platform::fs::{FileKind, Stat};
use bailiwick_policy::PermittedPath;
use bailiwick_providers::file::{content_version, facts_version, hash_file};

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
    /// How many names (hard links) a file has, if more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<u64>,
    /// The SHA-256 of a file, with `options.hash`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The version of a file, for `ifVersion`; that of its content with `options.hash`, else of its facts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Where a link leads, if that is inside the scope and open; it need not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leads_to: Option<String>,
    /// `true` for a link that leads out of the scope, and is not followed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub leads_outside: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "file.stat",
        summary: "Tell what a path is",
        details: "Kind, size, time of the last change, permission bits and version. A symbolic link is described \
                  itself, with the place inside the scope that it leads to.",
        capabilities: &[&[Capability::FsRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::PathOrRoot(Access::Read),
        scope: ScopeNeed::FOLDER,
        audited_fields: &["hash"],
        example: r#"{"op":"file.stat","target":"README.md"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, options: &Options) -> Result<Output, Failure> {
        let path = permit.path();
        let mut stat = path.stat()?;
        let (mut sha256, mut version) = (None, None);
        if stat.kind == FileKind::File {
            version = Some(facts_version(&stat));
            if options.hash {
                let mut opened = path.open_file()?;
                let hash = hash_file(&mut opened.file, &cx.cancel)?;
                stat = opened.stat;
                version = Some(content_version(&hash));
                sha256 = Some(hash);
            }
        }
        let (leads_to, leads_outside) = match stat.kind {
            FileKind::Symlink => destination(path)?,
            _ => (None, false),
        };
        Ok(Output { sha256, version, leads_to, leads_outside, ..Output::of(path, &stat) })
    }
}

impl Attempt for Op {
    fn attempt(_: &Context, permit: &Permit, _: &NoFields, options: &Options) -> Option<Output> {
        if options.hash {
            return None;
        }
        let stat = permit.path().stat_cached()?;
        Some(Output::of(permit.path(), &stat))
    }
}

impl Output {
    /// Says what the facts of a path say.
    fn of(path: &PermittedPath, stat: &Stat) -> Self {
        Self {
            path: path.shown(),
            kind: stat.kind,
            size: stat.size,
            modified: rfc3339(stat.modified_ms()),
            mode: format!("{:04o}", stat.mode),
            names: (stat.kind == FileKind::File && stat.links > 1).then_some(stat.links),
            sha256: None,
            version: (stat.kind == FileKind::File).then(|| facts_version(stat)),
            leads_to: None,
            leads_outside: false,
        }
    }
}

/// Returns where a link leads: the place inside the scope, or that it leads out.
fn destination(path: &PermittedPath) -> Result<(Option<String>, bool), Failure> {
    match path.follow() {
        Ok(place) => Ok((Some(place.shown()), false)),
        Err(failure) => match failure.code {
            ErrorCode::PathOutOfScope => Ok((None, true)),
            // A closed file, a circle, a file where a folder is needed: it leads nowhere that can be opened.
            ErrorCode::PermissionDenied | ErrorCode::InvalidRequest | ErrorCode::NotFound => {
                Ok((None, false))
            }
            _ => Err(failure),
        },
    }
}
