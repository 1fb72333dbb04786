//! `process.read`: what a process printed, from a place on.

use std::sync::Arc;

use crate::registry::prelude::*;
use bailiwick_contract::time;
use bailiwick_platform::launch::kept;
use bailiwick_providers::digest::Digest;
use bailiwick_providers::egress::NetworkUse;
use bailiwick_providers::process::text::{Piece, TextPage, TextRange, take};
use bailiwick_providers::process::{Cursor, Process, last_lines, lines, not_found};
use bailiwick_providers::terminal::Picture;

use super::digested;
use crate::programs::{ProcessStatus, of_status, target, warn_of_what_is_left};

/// What the fields around the text take of the result's size.
const FIELD_BYTES: usize = 500;
/// What a line of `merged` takes beside its text.
const LINE_BYTES: usize = 80;
/// The most lines that `tail` asks for.
const MAX_TAIL: u64 = 100_000;

/// The operation.
pub struct Op;

/// From where on, and how.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Begin at this position instead of a cursor; 0 is the beginning of what is kept.
    pub from: Option<u64>,
    /// Give the last so many lines (of each stream, if they are apart) instead.
    pub tail: Option<u64>,
    /// Give what was printed at this time or later instead: RFC 3339 in UTC, such as `2026-11-21T10:26:56Z`. A
    /// cursor is taken too.
    pub since: Option<String>,
    /// `both` (default): the streams apart, as `stdout` and `stderr`. `stdout` or `stderr`: that one alone.
    /// `merged`: lines in the order of their arrival, with stream and time.
    pub stream: StreamOption,
    /// Take colours and other control sequences of terminals out of the text; default true.
    pub strip_ansi: bool,
    /// How it is shown.
    pub view: View,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            from: None,
            tail: None,
            since: None,
            stream: StreamOption::Both,
            strip_ansi: true,
            view: View::Text,
        }
    }
}

/// Which streams are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StreamOption {
    /// Both, apart.
    Both,
    /// Both, line by line.
    Merged,
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// How output is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum View {
    /// As the text that was printed (default).
    Text,
    /// As what a terminal shows now, in `screen`: for full-screen programs, prompts and progress bars.
    Screen,
    /// As what builds and tests say, in `digest`: what failed, where, and the counts. Short output is given as text.
    Digest,
}

/// What was printed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// How the process stands.
    #[serde(flatten)]
    pub process: ProcessStatus,
    /// What it printed to standard output, or on its terminal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    /// What it printed to standard error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// With `stream` = `merged`: the lines of both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<Vec<LineRow>>,
    /// With `view` = `screen`: what the terminal shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screen: Option<Picture>,
    /// With `view` = `digest`: what was printed, in short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// What it reached of the hosts that its scope names, and what was refused, as far as the running service knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkUse>,
    /// Where the next read continues: what was given is not given again.
    pub next_cursor: String,
    /// How many bytes fell out of what is kept before they were read.
    pub skipped_bytes: u64,
    /// `true` if there is more already.
    pub truncated: bool,
    /// How many bytes could not be kept, since the disk was full.
    #[serde(skip_serializing_if = "is_zero")]
    pub lost_bytes: u64,
    /// How many bytes of what is given were not UTF-8; they stand as U+FFFD.
    #[serde(skip_serializing_if = "is_zero")]
    pub not_utf8_bytes: u64,
}

/// One line of both streams.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LineRow {
    /// `stdout` or `stderr`.
    pub stream: &'static str,
    /// When it began to arrive.
    pub at: String,
    /// The text, without its line feed.
    pub text: String,
    /// `true` if its line feed has not arrived, so that it may continue.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "process.read",
        summary: "Read what a process printed, while it runs or after its end",
        details: "Without a place it begins with the oldest that is kept; with the `nextCursor` of an earlier read it \
                  gives exactly what came since. Characters and control sequences that arrived in part are given \
                  when they are whole. It does not wait: process.wait does. With `command:run` or `package:run` alone it \
                  gives what command.run and package.run left here, the `rawOutput` of a digest.",
        capabilities: &[&[Capability::ProcessManage, Capability::CommandRun, Capability::PackageRun]],
        effect: Effect::ReadOnly,
        target: TargetRule::Id("the processId"),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::Cursor],
        audited_fields: &["from", "tail", "since", "stream", "stripAnsi", "view", "cursor", "maxOutputBytes"],
        example: r#"{"op":"process.read","target":"01JD0000000000000000000000","options":{"tail":20}}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, options: &Options) -> Result<Output, Failure> {
        let place = ReadPosition::of(options, permit.common().cursor.as_deref())?;
        let process = target(cx, permit)?;
        // Who may run commands may read what theirs printed; processes need more.
        if permit.capability() != Some(Capability::ProcessManage) && !process.facts.is_run {
            let scope = permit.scope().map_or("", |scope| scope.id());
            return Err(not_found(scope, &process.facts.id));
        }
        let room = permit.limits().max_output_bytes.saturating_sub(FIELD_BYTES);
        let output = match options.view {
            View::Text => text(&process, place, options, room)?,
            View::Digest => digest(&process, place, options, room)?,
            View::Screen => screen(cx, &process, options, permit.common().cursor.as_deref(), room)?,
        };
        warn_of_what_is_left(cx, &process);
        cx.summarize(format!("{}: to {}", process.facts.id, output.next_cursor));
        Ok(output)
    }
}

/// From where on is read.
enum ReadPosition {
    Cursor(Cursor),
    Since(i64),
    Tail(usize),
}

impl ReadPosition {
    fn of(options: &Options, cursor: Option<&str>) -> Result<Self, Failure> {
        let given =
            [cursor.is_some(), options.from.is_some(), options.tail.is_some(), options.since.is_some()];
        if given.iter().filter(|it| **it).count() > 1 {
            return Err(Failure::invalid(
                "options",
                "`cursor`, `from`, `tail` and `since` exclude each other",
            )
            .hint("Send one of them, or none for all that is kept."));
        }
        if let Some(cursor) = cursor {
            return Cursor::parse("options.cursor", cursor).map(Self::Cursor);
        }
        if let Some(text) = &options.since {
            let since = time::parse_rfc3339(text).map(Self::Since);
            let since = since.or_else(|| Cursor::parse("options.since", text).ok().map(Self::Cursor));
            return since.ok_or_else(|| {
                Failure::invalid(
                    "options.since",
                    "`options.since` is neither a time in RFC 3339, in UTC, nor a cursor",
                )
                .hint("Write a time as 2026-11-21T10:26:56Z.")
            });
        }
        if let Some(lines) = options.tail {
            return Ok(Self::Tail(usize::try_from(lines.min(MAX_TAIL)).unwrap_or(usize::MAX)));
        }
        Ok(Self::Cursor(Cursor::at(options.from.unwrap_or(0))))
    }
}

/// What the terminal shows now. There is no place to begin: a screen is the sum of all output.
fn screen(
    cx: &Context,
    process: &Arc<Process>,
    options: &Options,
    cursor: Option<&str>,
    room: usize,
) -> Result<Output, Failure> {
    let places = [
        ("cursor", cursor.is_some()),
        ("from", options.from.is_some()),
        ("tail", options.tail.is_some()),
        ("since", options.since.is_some()),
    ];
    if let Some((name, _)) = places.iter().find(|(_, is_given)| *is_given) {
        let field = format!("options.{name}");
        return Err(Failure::invalid(&field, format!("`{field}` does not go with `view` = `screen`"))
            .hint("Leave it out: the screen is what is shown now."));
    }
    let (picture, position) = cx.service.screens.look(process, &cx.cancel, |screen, position| {
        // Blanks and quotes of JSON take room too.
        (screen.picture(room), position)
    })?;
    let status = process.status()?;
    let (truncated, lost_bytes) = (picture.truncated, status.lost_bytes);
    Ok(Output {
        process: of_status(process, status),
        stdout: None,
        stderr: None,
        lines: None,
        screen: Some(picture),
        digest: None,
        network: process.network(),
        next_cursor: Cursor::at(position).to_string(),
        skipped_bytes: 0,
        truncated,
        lost_bytes,
        not_utf8_bytes: 0,
    })
}

/// What was printed from a place on as a digest, or as text where it is short.
fn digest(process: &Process, place: ReadPosition, options: &Options, room: usize) -> Result<Output, Failure> {
    let from = match &place {
        ReadPosition::Cursor(cursor) => cursor.of(kept::Stream::Stdout).min(cursor.of(kept::Stream::Stderr)),
        ReadPosition::Since(at_ms) => process.since(*at_ms)?,
        ReadPosition::Tail(_) => {
            return Err(Failure::invalid(
                "options.tail",
                "`options.tail` does not go with `view` = `digest`",
            )
            .hint("Leave it out: a digest is of all output, or of what came since a place."));
        }
    };
    let digested = digested::digest(process, from, room)?;
    let Some(digest) = digested.digest else {
        return text(process, place, options, room);
    };
    let lost_bytes = digested.status.lost_bytes;
    Ok(Output {
        process: of_status(process, digested.status),
        stdout: None,
        stderr: None,
        lines: None,
        screen: None,
        digest: Some(digest),
        network: process.network(),
        next_cursor: Cursor::at(digested.next).to_string(),
        skipped_bytes: digested.skipped_bytes,
        truncated: false,
        lost_bytes,
        not_utf8_bytes: 0,
    })
}

fn text(process: &Process, place: ReadPosition, options: &Options, room: usize) -> Result<Output, Failure> {
    // First its state, then what it printed: of what is over nothing is missed.
    let status = process.status()?;
    let is_merged = options.stream == StreamOption::Merged;
    let wanted = TextRange {
        stream: match options.stream {
            StreamOption::Both | StreamOption::Merged => None,
            StreamOption::Stdout => Some(kept::Stream::Stdout),
            StreamOption::Stderr => Some(kept::Stream::Stderr),
        },
        strip_ansi: options.strip_ansi,
        room,
        line_bytes: if is_merged { LINE_BYTES } else { 0 },
        is_over: status.state.is_final(),
    };
    let read = |from, max_bytes| process.read(from, max_bytes);
    let taken = match place {
        ReadPosition::Cursor(cursor) => take(cursor, wanted, read)?,
        ReadPosition::Since(at_ms) => take(Cursor::at(process.since(at_ms)?), wanted, read)?,
        ReadPosition::Tail(count) => last_lines(count, !is_merged, status.end, wanted, read)?,
    };
    let TextPage { pieces, cursor, skipped_bytes, is_cut, not_utf8_bytes } = taken;
    let lost_bytes = status.lost_bytes;
    let mut output = Output {
        process: of_status(process, status),
        stdout: None,
        stderr: None,
        lines: None,
        screen: None,
        digest: None,
        network: process.network(),
        next_cursor: cursor.to_string(),
        skipped_bytes,
        truncated: is_cut,
        lost_bytes,
        not_utf8_bytes,
    };
    let of = |stream: kept::Stream| -> String {
        pieces.iter().filter(|piece| piece.stream == stream).map(|piece| piece.text.as_str()).collect()
    };
    match options.stream {
        StreamOption::Merged => output.lines = Some(rows(pieces)),
        StreamOption::Stdout => output.stdout = Some(of(kept::Stream::Stdout)),
        StreamOption::Stderr => output.stderr = Some(of(kept::Stream::Stderr)),
        StreamOption::Both => {
            output.stdout = Some(of(kept::Stream::Stdout));
            // A terminal has one stream only.
            output.stderr = (!process.facts.has_terminal).then(|| of(kept::Stream::Stderr));
        }
    }
    Ok(output)
}

fn rows(pieces: Vec<Piece>) -> Vec<LineRow> {
    let rows = lines(pieces).into_iter().map(|line| {
        let text = line.text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text));
        LineRow {
            stream: match line.stream {
                kept::Stream::Stdout => "stdout",
                kept::Stream::Stderr => "stderr",
            },
            at: time::rfc3339(line.at_ms),
            open: text.is_none(),
            text: text.map(str::to_owned).unwrap_or(line.text),
        }
    });
    rows.collect()
}
