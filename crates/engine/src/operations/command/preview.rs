//! What a command would do: it runs once in a full sandbox without a network, and what it writes is thrown away.
//!
//! Only the user sees what comes of it, and so it is free of secrets and short.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::registry::Context;
use bailiwick_contract::{Access, Cancel, ErrorCode, Failure, Network, signal};
use bailiwick_platform::fs::{Dir, FileId, FileKind};
use bailiwick_policy::{Permit, PermittedPath, Scope};
use bailiwick_providers::approval::{EffectPreview, PathChange, PreviewPath, PreviewState};
use bailiwick_providers::command::{Capture, CapturedStream, Listener, Ran, Run};
use bailiwick_providers::edit::{Text, text_diff};
use bailiwick_providers::overlay::{FileContents, OverlayChange, overlay_changes};

use super::coverage::paths_below;
use super::execute::Execution;
use super::ready::{StandardStreams, make_ready};

/// How much of each stream is kept, of which the end is shown.
const KEPT_BYTES: usize = 64 << 10;
/// How much of each stream is shown.
const SHOWN_BYTES: usize = 1_000;
/// How many lines of each stream are shown.
const SHOWN_LINES: usize = 12;
/// How much of the differences is shown.
const DIFF_BYTES: usize = 5_000;
/// How many paths are shown, and how much of each.
const SHOWN_PATHS: usize = 12;
const PATH_CHARS: usize = 200;
/// How long comparing what was written with the folders may take.
const COMPARING: Duration = Duration::from_secs(20);

/// Runs a command so that nothing of it stays, and returns what it would do.
///
/// # Errors
/// Those of command.run; `provider_unavailable` where this cannot be done here.
pub async fn preview(cx: &Context, permit: &Permit, execution: Execution) -> Result<EffectPreview, Failure> {
    let Execution { command, environment, stdin, .. } = execution;
    let prepared = make_ready(cx, permit, command, environment, StandardStreams::Pipes).await?;
    let network = prepared.network;
    let (prepared, port) = prepared.discarding()?;
    let (written, protected) = (prepared.written_folders(), prepared.protected_paths());
    let scope = Arc::clone(permit.needed_scope()?);
    let capture = || Capture::new(0, KEPT_BYTES).without_ansi();
    let run = Run::start(&cx.service.launcher, prepared, stdin, [capture(), capture()]).await?;
    let uppers = port.folders().unwrap_or_default();
    let is_known = uppers.len() == written.len();
    let mut nobody: Listener<'_> = Box::new(|_, _| {});
    let ran = run.finish(cx.cancel.deadline(), &mut nobody).await?;
    let mut shown = ending(cx, &ran, network);
    if !is_known {
        shown.notes.push("What it changes is not known.".to_owned());
    }
    let (history, cancel) = (cx.history.clone(), Cancel::after(COMPARING));
    let compared = tokio::task::spawn_blocking(move || {
        let redacted = |text: String| history.redacted_words(&[&text]).concat();
        let mut room = DIFF_BYTES;
        for (at, upper) in uppers {
            let Some(id) = written.get(at) else { continue };
            add_changes(&scope, (*id, &upper), &protected, &cancel, &redacted, &mut shown, &mut room);
        }
        shown
    });
    compared.await.map_err(|_| Failure::new(ErrorCode::ExecutionFailed, "it failed (a bug in Bailiwick)"))
}

/// Returns how it ended, and what that does not show.
fn ending(cx: &Context, ran: &Ran, network: Network) -> EffectPreview {
    let ended = ran.ended.as_ref();
    let (exit_code, number) = ended.map_or((None, None), |ended| (ended.exit_code, ended.signal));
    let output = [&ran.stdout, &ran.stderr].map(|stream| last_lines(cx, stream));
    let mut notes = Vec::new();
    if ran.timed_out {
        notes.push(format!(
            "It was ended after {} s: what it would do then is not shown.",
            ran.elapsed.as_secs()
        ));
    }
    if ended.is_some_and(|ended| ended.memory_excess.is_some()) {
        notes.push(
            "It was ended since it took more memory than the scope allows, with what it wrote.".to_owned(),
        );
    }
    let has_failed = exit_code != Some(0);
    let says = |words: &str| output.iter().any(|text| text.to_ascii_lowercase().contains(words));
    if has_failed && says("cross-device link") {
        notes.push("A preview cannot rename folders that exist, which may be why it failed.".to_owned());
    }
    if has_failed && says("no space left on device") {
        notes.push("What it writes may not have fitted into memory.".to_owned());
    }
    if network != Network::None {
        let why = if has_failed { ", which may be why it failed" } else { "" };
        notes.push(format!("It ran without a network{why}; once you approve it has `{network}`."));
    }
    EffectPreview {
        state: PreviewState::Done,
        exit_code,
        signal: number.map(signal::name),
        duration_ms: u64::try_from(ran.elapsed.as_millis()).unwrap_or(u64::MAX),
        output: output.concat(),
        notes,
        ..EffectPreview::running()
    }
}

/// Adds what has become of one root.
fn add_changes(
    scope: &Scope,
    (root, upper): (FileId, &Dir),
    protected: &[PathBuf],
    cancel: &Cancel,
    redacted: &dyn Fn(String) -> String,
    shown: &mut EffectPreview,
    room: &mut usize,
) {
    let opened = scope.root_paths().find_map(|path| {
        let (dir, _) = path.open_dir().ok()?;
        (dir.id() == root).then_some((path, dir))
    });
    let Some((place, lower)) = opened else {
        shown.notes.push(
            "A folder of the scope was replaced while it ran: what it changes there is not known.".to_owned(),
        );
        return;
    };
    let protected: Vec<_> = place.on_disk().map(|root| paths_below(&root, protected)).unwrap_or_default();
    let found = overlay_changes((upper, &lower), &protected, cancel);
    if found.breaks_links {
        let note = "It writes to a file that has several names: the others are shown as they are.";
        shown.notes.push(note.to_owned());
    }
    if found.is_incomplete {
        shown.notes.push("Not all that it changes could be read.".to_owned());
    }
    for change in found.changes {
        let (kind, what) = match (change.before, change.after) {
            (None, after) => (after, PathChange::Created),
            (before, None) => (before, PathChange::Removed),
            (_, after) => (after, PathChange::Changed),
        };
        match what {
            PathChange::Created => shown.created += 1,
            PathChange::Changed => shown.changed += 1,
            PathChange::Removed => shown.removed += 1,
        }
        let slash = if kind == Some(FileKind::Dir) { "/" } else { "" };
        let name = place.show(&change.path);
        if shown.paths.len() < SHOWN_PATHS {
            let path = format!("{}{slash}", name.chars().take(PATH_CHARS).collect::<String>());
            shown.paths.push(PreviewPath { path: redacted(path), change: what });
        }
        if let Some(diff) = diff(&place, &name, change, redacted).filter(|_| *room > 0) {
            let piece = first_lines(&diff, *room);
            if piece.len() < diff.len() {
                *room = 0;
                shown.notes.push("The difference is longer than what is shown.".to_owned());
            }
            *room = room.saturating_sub(piece.len());
            shown.diff.push_str(piece);
        }
    }
}

/// Shows what becomes of a text that is not closed to clients, without secrets.
fn diff(
    place: &PermittedPath,
    name: &str,
    change: OverlayChange,
    redacted: &dyn Fn(String) -> String,
) -> Option<String> {
    let FileContents { before, after } = change.contents?;
    if place.rules().rule_for_path(&change.path, Access::Read).is_some() {
        return None;
    }
    // Taken out of the whole: a piece of a key would not be known for one.
    let text = |bytes: &Option<Vec<u8>>| {
        let text = String::from_utf8(bytes.clone().unwrap_or_default()).ok()?;
        (!text.contains('\0')).then(|| Text::new(redacted(text)))
    };
    let names = (before.as_ref().map(|_| name), after.as_ref().map(|_| name));
    Some(text_diff(names, &text(&before)?, &text(&after)?))
}

/// Returns the last lines of a stream, without secrets.
fn last_lines(cx: &Context, stream: &CapturedStream) -> String {
    let text = String::from_utf8_lossy(&stream.tail);
    // The beginning of a line that was cut may be half a secret.
    let text = match stream.is_whole() {
        true => &*text,
        false => text.split_once('\n').map_or("", |(_, rest)| rest),
    };
    let text = cx.history.redacted_words(&[text]).concat();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut first = lines.len().saturating_sub(SHOWN_LINES);
    while lines[first..].iter().map(|line| line.len()).sum::<usize>() > SHOWN_BYTES && first + 1 < lines.len()
    {
        first += 1;
    }
    let mut shown = lines[first..].concat();
    shown.truncate(shown.floor_char_boundary(SHOWN_BYTES));
    if !shown.is_empty() && !shown.ends_with('\n') {
        shown.push('\n');
    }
    shown
}

/// Returns as many of the first lines as there is room for.
fn first_lines(text: &str, room: usize) -> &str {
    if text.len() <= room {
        return text;
    }
    let cut = text.floor_char_boundary(room);
    text[..cut].rfind('\n').map_or("", |end| &text[..=end])
}
