//! `file.read_many`: the content of several files in one answer.

use serde_json::Value;

use crate::registry::Attempt;
use crate::registry::prelude::*;
use bailiwick_contract::RawPath;
use bailiwick_providers::file::ReadRequest;

use super::read::{self, AskedEncoding, ReadResult};

/// The most paths in one request.
const MAX_PATHS: usize = 500;
/// The least room that a file gets; with less left, it waits for the next answer.
const LEAST_ROOM_BYTES: usize = 1_000;
/// The most files, and bytes of all of them, that are read where others wait: hashing more takes longer than handing it to
/// another thread.
const MAX_CACHED_PATHS: usize = 16;
const MAX_CACHED_BYTES: u64 = 64 << 10;

/// The operation.
pub struct Op;

/// Which files.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The paths, 1 to 500. Each is judged and read for itself.
    #[schemars(length(min = 1, max = 500))]
    pub paths: Vec<RawPath>,
}

/// In which form.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// The first line of each file, counted from 1; default 1.
    #[schemars(range(min = 1))]
    pub start_line: Option<u64>,
    /// The last line of each file, itself included; default the last.
    #[schemars(range(min = 1))]
    pub end_line: Option<u64>,
    /// The most bytes of content of each file.
    #[schemars(range(min = 1))]
    pub max_bytes: Option<u64>,
    /// `utf8` (default) for text, or `base64` for the bytes of any file.
    pub encoding: AskedEncoding,
    /// Put the line's number and a tab before each line; default false.
    pub line_numbers: bool,
    /// Put `LINE:HASH|` before each line, HASH being 4 digits of its SHA-256; default false.
    pub anchors: bool,
}

/// What was read.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// One entry for each path, in the order of the request.
    pub files: Vec<File>,
    /// Whether paths are left for which there was no room; see `nextCursor`.
    pub truncated: bool,
    /// Continues with the paths that are left: send it as `options.cursor` with the same paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// One file: what file.read gives, or why there is nothing.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum File {
    /// It was read.
    Read {
        /// `true`.
        ok: bool,
        /// As the data of file.read. A cut file continues by its own `nextCursor` with file.read.
        #[serde(flatten)]
        file: Box<read::Output>,
    },
    /// It was not.
    Failed {
        /// `false`.
        ok: bool,
        /// The path as asked.
        path: String,
        /// Why: `code`, `message`, `hints`, `details`.
        error: Value,
    },
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "file.read_many",
        summary: "Read several files at once",
        details: "Each path is judged and read for itself: one that fails does not stop the others. The room of \
                  the answer is shared; a file that is cut has its own `nextCursor` for file.read.",
        capabilities: &[&[Capability::FsRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::None,
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::Cursor],
        audited_fields: &["paths", "startLine", "endLine", "maxBytes", "encoding", "lineNumbers", "anchors"],
        example: r#"{"op":"file.read_many","input":{"paths":["README.md","src/main.rs"]}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = Options;
    type Output = Output;
    // Each path is judged for itself when its turn comes.
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, options: &Options) -> Result<Output, Failure> {
        let (request, first) = asked(permit, input, options)?;
        let mut room = permit.limits().max_output_bytes;
        let mut output = Output { files: Vec::new(), truncated: false, next_cursor: None };
        for (index, raw) in input.paths.iter().enumerate().skip(first) {
            cx.cancel.check()?;
            if index > first && room < LEAST_ROOM_BYTES {
                output.cut_before(index);
                break;
            }
            let share = share(room, input.paths.len() - index);
            let file =
                permit.resolve(raw).and_then(|path| read::read_path(cx, permit, &path, &request, share));
            let file = match file {
                Ok(file) => File::Read { ok: true, file: Box::new(file) },
                Err(failure) => File::Failed { ok: false, path: raw.0.clone(), error: failure.to_json() },
            };
            room = room.saturating_sub(json_len(&file));
            output.files.push(file);
        }
        cx.summarize(output.describe());
        Ok(output)
    }
}

impl Attempt for Op {
    fn attempt(cx: &Context, permit: &Permit, input: &Input, options: &Options) -> Option<Output> {
        let (request, first) = asked(permit, input, options).ok()?;
        if input.paths.len() - first > MAX_CACHED_PATHS {
            return None;
        }
        let mut room = permit.limits().max_output_bytes;
        let mut output = Output { files: Vec::new(), truncated: false, next_cursor: None };
        let (mut results, mut bytes) = (Vec::new(), 0);
        for (index, raw) in input.paths.iter().enumerate().skip(first) {
            if index > first && room < LEAST_ROOM_BYTES {
                output.cut_before(index);
                break;
            }
            let share = share(room, input.paths.len() - index);
            let result = ReadResult::attempt(&permit.resolve(raw).ok()?, &request, share)?;
            bytes += result.output.size;
            if bytes > MAX_CACHED_BYTES {
                return None;
            }
            room = room.saturating_sub(json_len(&result.output) + r#""ok":true,"#.len());
            results.push(result);
        }
        // Only now, since a thread would remember and warn once more.
        output.files.extend(
            results
                .into_iter()
                .map(|result| File::Read { ok: true, file: Box::new(result.noted(cx, permit)) }),
        );
        cx.summarize(output.describe());
        Some(output)
    }
}

impl Output {
    fn cut_before(&mut self, index: usize) {
        self.truncated = true;
        self.next_cursor = Some(format!("m1.{index}"));
    }

    fn describe(&self) -> String {
        let failed = self.files.iter().filter(|file| matches!(file, File::Failed { .. })).count();
        format!("{} files, {failed} failed", self.files.len())
    }
}

/// Returns how the files are read, and the first.
fn asked(permit: &Permit, input: &Input, options: &Options) -> Result<(ReadRequest, usize), Failure> {
    if input.paths.is_empty() || input.paths.len() > MAX_PATHS {
        return Err(Failure::invalid(
            "input.paths",
            format!("`input.paths` must hold 1 to {MAX_PATHS} paths"),
        ));
    }
    let request = read::Options {
        start_line: options.start_line,
        end_line: options.end_line,
        max_bytes: options.max_bytes,
        encoding: options.encoding,
        line_numbers: options.line_numbers,
        anchors: options.anchors,
        ..read::Options::default()
    }
    .request(None)?;
    let first = permit.common().cursor.as_deref().map_or(Ok(0), |cursor| position(cursor, input))?;
    Ok((request, first))
}

/// Returns the room of the next file: files to come keep their share, and what a small one leaves over goes to them.
fn share(room: usize, files: usize) -> usize {
    (room / files).max(LEAST_ROOM_BYTES).min(room)
}

/// Returns the room that a file takes in the answer.
fn json_len(file: &impl Serialize) -> usize {
    serde_json::to_string(file).map_or(0, |json| json.len() + 1)
}

fn position(cursor: &str, input: &Input) -> Result<usize, Failure> {
    cursor
        .strip_prefix("m1.")
        .and_then(|index| index.parse().ok())
        .filter(|index| *index < input.paths.len())
        .ok_or_else(|| {
            Failure::invalid("options.cursor", "`options.cursor` is not a cursor of file.read_many")
                .hint("Send the `nextCursor` of an earlier file.read_many with the same paths.")
        })
}
