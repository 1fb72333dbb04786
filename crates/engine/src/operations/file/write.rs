//! `file.write`: make a file, or replace what is in it.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;

use crate::registry::prelude::*;
use bailiwick_contract::ErrorCode;
use bailiwick_providers::edit::{Text, redaction_marks};
use bailiwick_providers::file::{
    Encoding, FileLocation, IfExists, KnownContent, LineEnding, Locks, MAX_PLAIN_BYTES, ReplacedContent,
    Replacement, Slot, content_version, find_place, line_ending, remove_made_folders, replace_held,
    sha256_hex,
};
use bailiwick_providers::syntax::Side;
use bailiwick_providers::versions::{Before, FileChange, Location, Relocation};

use super::syntax_check::{Check, Subject, Syntax, around, has_grammar};
use crate::changes::{self, Undo};

/// The operation.
pub struct Op;

/// The whole content of a file, for file.write and file.create.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Content {
    /// The content as text, stored as it is in UTF-8. file.write requires this or `contentBase64`.
    #[schemars(length(min = 0))]
    pub content: Option<String>,
    /// The content as bytes in base64, instead of `content`.
    #[schemars(length(min = 0))]
    pub content_base64: Option<String>,
}

impl Content {
    /// What the policy judges of it.
    pub const JUDGED: JudgedFields<Self> =
        JudgedFields::NONE.with_handles(&[HandleUsage::Content.of("content", &[])]);

    /// Returns the bytes; `None` if neither form is given.
    ///
    /// # Errors
    /// `invalid_request` if both are given, or the base64 is none.
    pub fn bytes(&self) -> Result<Option<Cow<'_, [u8]>>, Failure> {
        match (&self.content, &self.content_base64) {
            (None, None) => Ok(None),
            (Some(text), None) => Ok(Some(text.as_bytes().into())),
            (None, Some(base64)) => {
                STANDARD.decode(base64).map(|bytes| Some(bytes.into())).map_err(|error| {
                    let words = format!("`input.contentBase64` is not base64: {error}");
                    Failure::invalid("input.contentBase64", words)
                        .hint("Use the standard alphabet with padding, without line breaks.")
                })
            }
            (Some(_), Some(_)) => {
                let words = "`input.content` and `input.contentBase64` exclude each other";
                Err(Failure::invalid("input.contentBase64", words).hint("Send one of them."))
            }
        }
    }
}

/// How to write.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Make the folders that are missing on the way; default false.
    pub create_parents: bool,
    /// Write only if the file is in this version (of file.read, file.stat or an earlier write).
    pub if_version: Option<String>,
    /// The permission bits in octal, such as `0755`; default those of the file that is replaced.
    pub mode: Option<String>,
    /// What happens with syntax errors that the file did not have before: `report` (default), `refuse`, `off`.
    pub check: Check,
    /// Do it also where it cannot be undone, and keep nothing for undo; default false.
    pub without_undo: bool,
    /// Replace the file also where another client wrote it and you have not read that; default false.
    pub overwrite: bool,
}

/// What happened.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The path that was written, links on the way resolved.
    pub path: String,
    /// The version before; `null` if there was no file.
    pub version_before: Option<String>,
    /// The version now, for `ifVersion`.
    pub version: String,
    /// The size of the content in bytes.
    pub bytes: u64,
    /// Syntax errors that the file has by this change, or has no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syntax: Option<Syntax>,
    /// Takes this change back: send it as `input.undoId` of file.restore.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo_id: Option<String>,
    /// `true` if nothing was done, since `options.dryRun` was set.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "file.write",
        summary: "Write a whole file",
        details: "The content is written beside the file, synced, and renamed over it: readers see the old or \
                  the new content, never a mix. Mode, owner and extended attributes stay. A link inside the \
                  scope is followed and stays; of a file with several names only this one gets the new content. \
                  With `ifVersion`, one of several writers wins and the others get `conflict`; so does who writes over \
                  what another client wrote within the last hour and has not read it.",
        capabilities: &[&[Capability::FsWrite]],
        effect: Effect::Writes,
        target: TargetRule::Path(Access::Write),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::DryRun],
        audited_fields: &["createParents", "ifVersion", "mode", "check", "withoutUndo", "overwrite"],
        example: r#"{"op":"file.write","target":"notes.md","input":{"content":"hello\n"}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Content;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<Content> = Content::JUDGED;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Content, options: &Options) -> Result<Output, Failure> {
        let content = input.bytes()?.ok_or_else(|| {
            Failure::invalid("input.content", "`input.content` is missing")
                .hint("Add `content` (text) or `contentBase64` (bytes); an empty text makes an empty file.")
        })?;
        let request = WriteRequest {
            content: &content,
            create_parents: options.create_parents,
            if_version: options.if_version.as_deref(),
            mode: options.mode.as_deref(),
            if_exists: IfExists::Replace,
            check: options.check,
            without_undo: options.without_undo,
            overwrite: options.overwrite,
        };
        write(cx, permit, &request)
    }
}

/// What file.write and file.create have in common. By default nothing is replaced, and undo is kept.
#[derive(Default)]
pub struct WriteRequest<'a> {
    /// The content.
    pub content: &'a [u8],
    /// Whether folders that are missing are made.
    pub create_parents: bool,
    /// The version that must be there now.
    pub if_version: Option<&'a str>,
    /// The permission bits in octal.
    pub mode: Option<&'a str>,
    /// What to do about a file that is there.
    pub if_exists: IfExists,
    /// What to do about syntax errors.
    pub check: Check,
    /// Whether nothing is kept for undo.
    pub without_undo: bool,
    /// Whether it does not matter what another caller has written.
    pub overwrite: bool,
}

/// Writes to the permitted target.
///
/// # Errors
/// Those of file.write.
pub fn write(cx: &Context, permit: &Permit, request: &WriteRequest<'_>) -> Result<Output, Failure> {
    let path = permit.writable_path();
    let dry_run = permit.common().dry_run;
    let bytes = request.content.len() as u64;
    let mode = request.mode.map(parse_mode).transpose()?;
    // Nothing is made for a write that cannot succeed, or for none at all.
    let create_parents = request.create_parents && !dry_run && request.if_version.is_none();
    let place = match find_place(path, create_parents) {
        Err(failure) if failure.code == ErrorCode::NotFound && request.if_version.is_some() => {
            return Err(Failure::new(
                ErrorCode::Conflict,
                format!("`{}` is not in the version of `ifVersion`: it does not exist", path.shown()),
            )
            .detail("rule", "if-version")
            .hint("Leave `options.ifVersion` out to make a new file."));
        }
        Err(failure) if failure.code == ErrorCode::NotFound && request.create_parents && dry_run => {
            let version = content_version(&sha256_hex(request.content));
            return Ok(Output {
                path: path.shown(),
                version_before: None,
                version,
                bytes,
                syntax: None,
                undo_id: None,
                dry_run,
            });
        }
        other => other?,
    };
    write_at(cx, permit, request, mode, &place).inspect_err(|_| remove_made_folders(&place))
}

/// Writes to a place, for which folders may have been made.
fn write_at(
    cx: &Context,
    permit: &Permit,
    request: &WriteRequest<'_>,
    mode: Option<u32>,
    place: &FileLocation,
) -> Result<Output, Failure> {
    let dry_run = permit.common().dry_run;
    let bytes = request.content.len() as u64;
    let before = changes::read(place, &cx.cancel);
    let version = content_version(&sha256_hex(request.content));
    let replacement = Replacement {
        content: request.content,
        version: Some(&version),
        if_version: request.if_version,
        known: before.as_ref().map(|(version, before)| KnownContent { version, content: &before.content }),
        mode,
        facts: None,
        if_exists: request.if_exists,
        dry_run,
    };
    let text = |bytes: &[u8]| Text::decode(bytes.to_vec()).ok().filter(|_| has_grammar(&place.path.shown()));
    let (old, new) = (before.as_ref().and_then(|(_, before)| text(&before.content)), text(request.content));
    let subject = new.as_ref().map(|new| Subject {
        path: place.path.shown(),
        before: before
            .as_ref()
            .zip(old.as_ref())
            .map(|((version, _), old)| Side { text: old.content(), version }),
        after: Side { text: new.content(), version: &version },
        regions: Vec::new(),
    });
    refuse_redaction_mark(place, request.content, before.as_ref().map(|(_, before)| &before.content[..]))?;
    let shown = place.path.shown();
    let refuse_unknown = |version: Option<&str>| match version {
        Some(version) if request.if_version.is_none() && !request.overwrite => {
            changes::refuse_unknown(cx, permit, &shown, version)
        }
        Some(_) | None => Ok(()),
    };
    if dry_run {
        refuse_unknown(before.as_ref().map(|(version, _)| &**version))?;
    }
    let mut undo = Undo::new(cx, permit, request.without_undo);
    let done = around(cx, permit, request.check, subject.as_slice(), || {
        let mut keep = |change: &ReplacedContent<'_>| {
            refuse_unknown(change.old_version)?;
            keep(&mut undo, cx, place, before.as_ref(), change)
        };
        let held = Locks::below(&cx.service.dirs.state).take(&[place], &cx.cancel)?;
        let replaced = replace_held(place, &replacement, &mut keep, &held, &cx.cancel)?;
        if !dry_run {
            changes::has_written(cx, permit, shown.clone(), &replaced.version);
        }
        Ok(replaced)
    });
    let ((replaced, mut syntax), undo_id) = undo.settle(done)?;
    for warning in &replaced.warnings {
        cx.warn(warning.clone());
    }
    if let Some((_, before)) = &before {
        form_changes(&before.content, request.content).into_iter().for_each(|warning| cx.warn(warning));
    }
    cx.summarize(match &replaced.version_before {
        None => format!("new file, {bytes} bytes"),
        Some(_) => format!("replaced, {bytes} bytes"),
    });
    Ok(Output {
        path: place.path.shown(),
        version_before: replaced.version_before,
        version: replaced.version,
        bytes,
        syntax: syntax.pop().flatten(),
        undo_id,
        dry_run,
    })
}

/// Says in which way a text is stored otherwise than the one that it replaces: encoding, byte order mark, line ends.
fn form_changes(before: &[u8], after: &[u8]) -> Vec<String> {
    let text = |bytes: &[u8]| Text::decode(bytes.to_vec()).ok().filter(|text| !text.content().is_empty());
    let (Some(old), Some(new)) = (text(before), text(after)) else { return Vec::new() };
    let mut changes = Vec::new();
    let (from, to) = (old.encoding(), new.encoding());
    // Plain ASCII is the same in all encodings but UTF-16.
    let is_same = from == to || (after.is_ascii() && !matches!(from, Encoding::Utf16Le | Encoding::Utf16Be));
    if !is_same {
        changes.push(format!("the file was {} and is {} now", from.describe(), to.describe()));
    } else if old.has_mark() != new.has_mark() {
        let (was, is) = if old.has_mark() { ("had a", "has none") } else { ("had no", "has one") };
        changes.push(format!("the file {was} byte order mark and {is} now"));
    }
    let ends = |text: &Text| line_ending(text.content());
    match (ends(&old), ends(&new)) {
        (LineEnding::Crlf, LineEnding::Lf) => {
            changes.push("the lines ended with CRLF and end with LF now".to_owned());
        }
        (LineEnding::Lf, LineEnding::Crlf) => {
            changes.push("the lines ended with LF and end with CRLF now".to_owned());
        }
        (LineEnding::Lf | LineEnding::Crlf, LineEnding::Mixed) => {
            changes.push("all lines ended alike; some end with LF and some with CRLF now".to_owned());
        }
        _ => {}
    }
    changes
}

/// Refuses a text with a mark that stands for a secret, unless the file has that mark already.
fn refuse_redaction_mark(place: &FileLocation, content: &[u8], before: Option<&[u8]>) -> Result<(), Failure> {
    let Ok(text) = str::from_utf8(content) else { return Ok(()) };
    let known = |mark: &str| before.is_some_and(|before| memmem::find(before, mark.as_bytes()).is_some());
    match redaction_marks(text).find(|mark| !known(mark)) {
        None => Ok(()),
        Some(mark) => Err(Failure::invalid(
            "input.content",
            format!(
                "`{mark}` means a secret and is not the secret, so `{}` is not written",
                place.path.shown()
            ),
        )
        .detail("rule", "redaction-mark")
        .hint("Change the lines around the secret by file.patch, and leave its line as it is.")),
    }
}

/// Keeps what is replaced. `before` is what was read a moment ago.
fn keep(
    undo: &mut Undo<'_>,
    cx: &Context,
    place: &FileLocation,
    before: Option<&(String, Before)>,
    change: &ReplacedContent<'_>,
) -> Result<Option<Slot>, Failure> {
    let path = place.path.shown();
    let version_after = change.new_version.map(str::to_owned);
    let before = match change.old {
        None => None,
        Some(old) if old.stat.size <= MAX_PLAIN_BYTES => match before {
            Some((version, before)) if Some(&**version) == change.old_version => Some(before.clone()),
            // It was changed since.
            Some(_) | None => changes::read(place, &cx.cancel).map(|(_, before)| before),
        },
        Some(_) => None,
    };
    let (None, Some(old), Some(new)) = (&before, change.old, change.new) else {
        let made_folders = place.made_folders;
        let change = FileChange { path, moved_from: None, before, version_after, made_folders };
        return undo.contents(&[change]).map(|()| None);
    };
    let at = Location::Path(path.clone());
    let away = Relocation { from: at.clone(), to: Location::Kept(0), version: new.version.clone() };
    let back = Relocation { from: Location::Kept(0), to: at, version: old.version.clone() };
    undo.whole(old.disk_bytes(), vec![changes::whole_file(path, Some(old), version_after)], vec![away, back])
}

fn parse_mode(text: &str) -> Result<u32, Failure> {
    let octal = (3..=4).contains(&text.len()) && text.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
    u32::from_str_radix(text, 8).ok().filter(|mode| octal && *mode <= 0o777).ok_or_else(|| {
        Failure::invalid("options.mode", "`options.mode` must be permission bits in octal, 000 to 0777")
            .hint("For example \"0644\", or \"0755\" for a script.")
    })
}
