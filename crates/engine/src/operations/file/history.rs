//! `file.history`: the earlier versions of a file that were kept.

use crate::registry::prelude::*;
use bailiwick_contract::time;
use bailiwick_providers::file::content_version;
use bailiwick_providers::versions::VersionStore;

use crate::changes;

/// The operation.
pub struct Op;

/// What was kept.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The path.
    pub path: String,
    /// The file before each change, the newest change first.
    pub versions: Vec<Version>,
    /// Whether older ones are left; see `nextCursor`.
    pub truncated: bool,
    /// Continues with older ones: send it as `options.cursor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A file as it was before a change.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Version {
    /// The version, for file.restore; `null` if there was no file before the change, or if it was kept whole.
    pub version: Option<String>,
    /// `true` if a folder, a link or a large file was there, which only `undoId` brings back.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
    /// Its size in bytes.
    pub bytes: u64,
    /// When it was changed.
    pub at: String,
    /// The operation that changed it.
    pub op: String,
    /// Takes that change back, with all files that it changed.
    pub undo_id: String,
    /// How many files that change was about.
    pub files: usize,
    /// The path that the file had, where the change gave it this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    /// The path that the file got by the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<String>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "file.history",
        summary: "List the earlier versions of a file that were kept",
        details: "Bailiwick keeps what its own operations replace or remove, for 30 days: contents of files within \
                  512 MiB, and folders, links and files above 16 MiB within another 512 MiB. Of what a command changed, where undo covers it, the first 256 files count. What other programs change is not known here. The file itself need not exist any \
                  more.",
        capabilities: &[&[Capability::FsRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::Path(Access::Read),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::Cursor],
        example: r#"{"op":"file.history","target":"notes.md"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        let path = permit.path().shown();
        let scope = changes::scope_key(permit);
        let mut room = permit.limits().max_output_bytes.saturating_sub(400 + path.len());
        let mut output =
            Output { path: path.clone(), versions: Vec::new(), truncated: false, next_cursor: None };
        let older = permit.common().cursor.as_deref();
        let found = VersionStore::below(&cx.service.dirs.state).changes_of(scope, &path);
        for found in found.map_err(|error| changes::unreadable(&error))? {
            let record = found.record;
            cx.cancel.check()?;
            if older.is_some_and(|older| record.undo_id.as_str() >= older) {
                continue;
            }
            let of_tree = record.tree.as_ref().map(|it| it.created + it.changed + it.removed);
            let files =
                of_tree.map_or(record.files.len(), |count| usize::try_from(count).unwrap_or(usize::MAX));
            let named = |it: &&bailiwick_providers::versions::StoredFile| {
                it.path == path || it.moved_from.as_deref() == Some(&path)
            };
            let Some(file) = record.files.iter().find(named) else { continue };
            let version = Version {
                version: file.sha256.as_deref().map(content_version),
                whole: file.whole,
                bytes: file.bytes,
                at: time::rfc3339(record.at_ms),
                op: record.op.clone(),
                undo_id: record.undo_id.clone(),
                files,
                moved_from: file.moved_from.clone().filter(|from| *from != path),
                moved_to: (file.path != path).then(|| file.path.clone()),
            };
            let size = serde_json::to_string(&version).map_or(0, |json| json.len() + 1);
            if size > room {
                output.truncated = true;
                output.next_cursor = output.versions.last().map(|last| last.undo_id.clone());
                break;
            }
            room -= size;
            output.versions.push(version);
        }
        cx.summarize(format!("{} versions", output.versions.len()));
        Ok(output)
    }
}
