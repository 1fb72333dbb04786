//! What a command would do: it runs once in a full sandbox without a network, and what it writes is thrown away, or kept apart to be taken
//! over once that is approved.
//!
//! Only the user sees what comes of it, and so it is free of secrets and short.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::registry::{Context, PreviewResult};
use bailiwick_config::PreviewMode;
use bailiwick_contract::{Access, Cancel, ErrorCode, Failure, Network, signal};
use bailiwick_platform::fs::{Dir, FileId, FileKind};
use bailiwick_policy::{Permit, PermittedPath, Scope};
use bailiwick_providers::approval::{EffectPreview, PathChange, PreviewPath, PreviewState};
use bailiwick_providers::command::{Capture, CapturedStream, CommandEnd, Listener, Run};
use bailiwick_providers::coverage::PreviewedChangesDraft;
use bailiwick_providers::edit::{Text, text_diff};
use bailiwick_providers::overlay::{FileContents, OverlayChange, overlay_changes};

use super::commit::PreviewOutcome;
use super::coverage::paths_below;
use super::execute::{Execution, capture, room};
use super::ready::{StandardStreams, make_ready};

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
/// How far the clock of files may be behind that of programs.
const TICK: Duration = Duration::from_millis(20);

/// Runs a command so that nothing of it stays, and returns what it would do.
///
/// # Errors
/// Those of command.run; `provider_unavailable` where this cannot be done here.
pub async fn preview(cx: &Context, permit: &Permit, execution: Execution) -> Result<PreviewResult, Failure> {
    let Execution { command, environment, stdin, strip_ansi, encoding, .. } = execution;
    let prepared = make_ready(cx, permit, command, environment, StandardStreams::Pipes).await?;
    let network = prepared.network;
    let (prepared, port) = prepared.discarding()?;
    let (written, protected) = (prepared.written_folders(), prepared.protected_paths());
    let scope = Arc::clone(permit.needed_scope()?);
    let mut draft = None;
    if scope.preview() == PreviewMode::Commit {
        let roots = scope.root_paths().map(|root| root.open_dir().map(|(dir, _)| dir.id()));
        draft = Some(PreviewedChangesDraft::new(roots.collect::<Result<_, _>>()?));
        // What others change from now on has another time than what is there.
        tokio::time::sleep(TICK).await;
    }
    let room = room(permit);
    let capture = || capture(room, encoding, strip_ansi);
    let run = Run::start(&cx.service.launcher, prepared, stdin, [capture(), capture()]).await?;
    let uppers = port.folders().unwrap_or_default();
    let is_known = uppers.len() == written.len();
    let mut nobody: Listener<'_> = Box::new(|_, _| {});
    let ran = run.finish(cx.cancel.deadline(), &mut nobody).await?;
    let mut shown = ending(cx, &ran, network);
    if !is_known {
        shown.notes.push("What it changes is not known.".to_owned());
    }
    if let Some(draft) = &mut draft {
        let is_cut_off = ran.timed_out || ran.ended.as_ref().is_none_or(|it| it.memory_excess.is_some());
        if is_cut_off {
            draft.refuse("it was ended at a limit");
        } else if !is_known {
            draft.refuse("what it changes is not known");
        }
    }
    let outcome = PreviewOutcome {
        exit_code: shown.exit_code,
        signal: shown.signal.clone(),
        duration_ms: shown.duration_ms,
        streams: [ran.stdout, ran.stderr],
    };
    let (history, cancel) = (cx.history.clone(), Cancel::after(COMPARING));
    let compared = tokio::task::spawn_blocking(move || {
        let redacted = |text: String| history.redacted_words(&[&text]).concat();
        let mut view = View { redacted: &redacted, cancel: &cancel, shown, room: DIFF_BYTES, draft };
        for (at, upper) in uppers {
            let Some(id) = written.get(at) else { continue };
            view.add_changes(&scope, (*id, &upper), &protected);
        }
        let View { shown, draft, .. } = view;
        let outcome = serde_json::to_vec(&outcome).unwrap_or_default();
        let changes = draft.map(|draft| draft.finish(&outcome).map_err(redacted));
        PreviewResult { shown, changes }
    });
    compared.await.map_err(|_| Failure::new(ErrorCode::ExecutionFailed, "it failed (a bug in Bailiwick)"))
}

/// Returns how it ended, and what that does not show.
fn ending(cx: &Context, ran: &CommandEnd, network: Network) -> EffectPreview {
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
        notes.push(format!("It ran without a network{why}; run for real, it has `{network}`."));
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

/// What is gathered of what a command has written.
struct View<'a> {
    redacted: &'a dyn Fn(String) -> String,
    cancel: &'a Cancel,
    /// What the user sees.
    shown: EffectPreview,
    /// How much of the differences has room there.
    room: usize,
    /// What is taken over, where the scope wants that.
    draft: Option<PreviewedChangesDraft>,
}

impl View<'_> {
    /// Adds what has become of one root.
    fn add_changes(&mut self, scope: &Scope, (root, upper): (FileId, &Dir), protected: &[PathBuf]) {
        let Self { redacted, cancel, shown, room, draft } = self;
        let opened = scope.root_paths().find_map(|path| {
            let (dir, _) = path.open_dir().ok()?;
            (dir.id() == root).then_some((path, dir))
        });
        let Some((place, lower)) = opened else {
            shown.notes.push(
                "A folder of the scope was replaced while it ran: what it changes there is not known."
                    .to_owned(),
            );
            draft
                .iter_mut()
                .for_each(|draft| draft.refuse("a folder of the scope was replaced while it ran"));
            return;
        };
        let protected: Vec<_> = place.on_disk().map(|root| paths_below(&root, protected)).unwrap_or_default();
        let found = overlay_changes((upper, &lower), &protected, cancel);
        if let Some(draft) = draft {
            draft.add_root(&place, (upper, &lower), &found, cancel);
        }
        if found.breaks_links {
            let note = "It writes to a file that has several names: the others are shown as they are.";
            shown.notes.push(note.to_owned());
        }
        if found.is_incomplete {
            shown.notes.push("Not all that it changes could be read.".to_owned());
        }
        for change in found.changes {
            let kinds = [change.before, change.after].map(|stat| stat.map(|it| it.kind));
            let (kind, what) = match kinds.into() {
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
    let bytes = match stream.is_whole() {
        true => [&stream.head[..], &stream.tail].concat(),
        // The beginning of a line that was cut may be half a secret.
        false => stream.tail.splitn(2, |byte| *byte == b'\n').nth(1).unwrap_or_default().to_vec(),
    };
    let mut plain = Capture::new(0, bytes.len()).without_ansi();
    plain.push(&bytes);
    let plain = plain.finish();
    let text = &*String::from_utf8_lossy(&plain.tail);
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
