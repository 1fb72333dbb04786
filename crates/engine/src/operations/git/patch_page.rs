//! A part of a difference that fits into one answer: files with their counts, and their patch.

use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::registry::Context;
use bailiwick_contract::{ErrorCode, Failure, hex};
use bailiwick_policy::Permit;
use bailiwick_providers::git::{Change, ChangedFile, Counts, DiffRange, Git, changed_files, patch, sections};

/// What the fields around list and patch take of the result's size.
const REST_BYTES: usize = 1_200;
/// How many lines around each change a patch can be shown with.
const MAX_CONTEXT_LINES: u32 = 100;
/// How many files' patches are asked for at once.
const MAX_BATCH: usize = 300;

/// One file that differs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileEntry {
    /// The path.
    pub path: String,
    /// Its earlier path, if it was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// How it differs.
    pub change: Change,
    /// Lines added; left out for binary files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insertions: Option<u64>,
    /// Lines removed; left out for binary files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletions: Option<u64>,
    /// The mode before, if it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_mode: Option<String>,
    /// The mode now, if it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_mode: Option<String>,
    /// Whether it is another repository in this one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub submodule: bool,
    /// Whether its content is closed: it is shown by name only, its hunks are left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
}

impl FileEntry {
    /// Describes a file.
    pub fn of(file: &ChangedFile) -> Self {
        Self {
            path: file.seen.shown.clone(),
            from: file.from.as_ref().map(|(from, _)| from.shown.clone()),
            change: file.change,
            insertions: file.insertions,
            deletions: file.deletions,
            old_mode: file.old_mode.clone().filter(|_| file.change != Change::Deleted),
            new_mode: file.new_mode.clone().filter(|_| file.change != Change::Added),
            submodule: file.submodule,
            closed: file.closed().is_some(),
        }
    }
}

/// How a patch is shown.
#[derive(Debug, Clone, Copy)]
pub struct PatchStyle {
    /// Lines around each change; none shows no patch.
    pub context: Option<u32>,
    /// How large the answer may be.
    pub room: usize,
}

/// A part of a difference.
#[derive(Debug)]
pub struct Page {
    /// How many files and lines differ in all.
    pub counts: Counts,
    /// The files of this page.
    pub files: Vec<FileEntry>,
    /// Their patch.
    pub patch: String,
    /// How many bytes of it were no UTF-8.
    pub not_utf8: usize,
    /// Continues.
    pub next_cursor: Option<String>,
}

/// A place in a difference: a file of the list, and a byte of its patch.
#[derive(Debug, Clone, Copy, Default)]
struct PagePosition {
    file: usize,
    offset: usize,
}

/// Refuses more lines around a change than a patch is shown with.
///
/// # Errors
/// `invalid_request`.
pub fn check_context(lines: u32) -> Result<(), Failure> {
    if lines > MAX_CONTEXT_LINES {
        let message = format!("`options.context` must be {MAX_CONTEXT_LINES} or less");
        return Err(Failure::invalid("options.context", message));
    }
    Ok(())
}

/// Creates the page that a request asks for, of what differs in the scope, and says how much differs in all.
///
/// # Errors
/// `conflict` if the difference is no longer that of the cursor; those of a call.
pub async fn show(
    cx: &Context,
    permit: &Permit,
    git: &Git,
    between: &DiffRange,
    showing: PatchStyle,
) -> Result<Page, Failure> {
    let paths: Vec<_> = git.repository.pathspec().into_iter().collect();
    let list = changed_files(git, between, &paths).await?;
    let page = page(git, between, &list, permit.common().cursor.as_deref(), showing).await?;
    if page.not_utf8 > 0 {
        cx.warn(format!("{} bytes of the patch are no UTF-8 and are shown as U+FFFD", page.not_utf8));
    }
    let Counts { files, insertions, deletions } = page.counts;
    cx.summarize(format!("{files} files, +{insertions} -{deletions}"));
    Ok(page)
}

/// Creates the page at a cursor.
async fn page(
    git: &Git,
    between: &DiffRange,
    list: &[ChangedFile],
    cursor: Option<&str>,
    showing: PatchStyle,
) -> Result<Page, Failure> {
    let mark = mark(between, list);
    let mut place = cursor.map_or(Ok(PagePosition::default()), |cursor| read_cursor(cursor, &mark))?;
    let mut page = Page {
        counts: Counts::of(list),
        files: Vec::new(),
        patch: String::new(),
        not_utf8: 0,
        next_cursor: None,
    };
    let mut left = showing.room.saturating_sub(REST_BYTES).max(showing.room / 4);
    let mut full = false;
    while place.file < list.len() && !full {
        git.cancel().check()?;
        let batch = batch(&list[place.file..], place.offset, left, showing.context.is_some());
        let texts = texts(git, between, batch, place.offset, left, showing).await?;
        for (file, text) in batch.iter().zip(texts) {
            let entry = FileEntry::of(file);
            let entry_bytes = json_bytes(&entry) + 1;
            let (text, bytes) = as_text(&text);
            let is_first = page.files.is_empty();
            let needs = entry_bytes + json_bytes(&text);
            if needs <= left {
                left -= needs;
                page.patch.push_str(&text);
            } else if is_first && showing.context.is_some() {
                // Larger than a whole page: as much as fits, up to the end of a line.
                let fitting = cut(&text, left.saturating_sub(entry_bytes));
                page.patch.push_str(&text[..fitting]);
                page.not_utf8 += bytes;
                page.files.push(entry);
                // Bytes of the patch as Git prints it; what is no UTF-8 takes more room than it has.
                place.offset += raw_length(&text[..fitting]);
                full = true;
                break;
            } else if !is_first {
                full = true;
                break;
            }
            page.not_utf8 += bytes;
            page.files.push(entry);
            place = PagePosition { file: place.file + 1, offset: 0 };
        }
    }
    if place.file < list.len() {
        page.next_cursor = Some(format!("gd1.{mark}.{}.{}", place.file, place.offset));
    }
    Ok(page)
}

/// Chooses the files whose patches are asked for together: those that can fit, and of which each surely has one part.
fn batch(list: &[ChangedFile], offset: usize, room: usize, with_patch: bool) -> &[ChangedFile] {
    if offset > 0 {
        return &list[..1];
    }
    let simple = |file: &ChangedFile| !matches!(file.change, Change::TypeChanged | Change::Unmerged);
    let mut bytes = 0_u64;
    let room = room as u64;
    let fitting = list.iter().take(MAX_BATCH).take_while(|file| {
        bytes += 200;
        if with_patch && file.closed().is_none() {
            bytes += 40 * (file.insertions.unwrap_or(0) + file.deletions.unwrap_or(0));
        }
        bytes < room * 2 && simple(file)
    });
    &list[..fitting.count().max(1)]
}

/// Returns the patch of each file of a batch; nothing for closed ones.
async fn texts(
    git: &Git,
    between: &DiffRange,
    batch: &[ChangedFile],
    offset: usize,
    left: usize,
    showing: PatchStyle,
) -> Result<Vec<Vec<u8>>, Failure> {
    let mut texts = vec![Vec::new(); batch.len()];
    let Some(context) = showing.context else { return Ok(texts) };
    let open: Vec<usize> = (0..batch.len()).filter(|at| batch[*at].closed().is_none()).collect();
    if open.is_empty() {
        return Ok(texts);
    }
    if let [only] = open.as_slice() {
        let files = &batch[*only..=*only];
        let printed = patch(git, between, files, context, offset + left + 4_096).await?;
        texts[*only] = printed.text.get(offset..).unwrap_or_default().to_vec();
        return Ok(texts);
    }
    let files: Vec<ChangedFile> = open.iter().map(|at| batch[*at].clone()).collect();
    let printed = patch(git, between, &files, context, left * 4 + 65_536).await?;
    let mut starts = sections(&printed.text);
    if starts.len() == files.len() && printed.is_whole {
        starts.push(printed.text.len());
        for (at, part) in open.iter().zip(starts.windows(2)) {
            texts[*at] = printed.text[part[0]..part[1]].to_vec();
        }
        return Ok(texts);
    }
    // Not one part for each: one file after the other, as many as fit.
    let mut used = 0;
    for (count, at) in open.iter().enumerate() {
        if used > left {
            texts.truncate(open[count]);
            break;
        }
        let printed = patch(git, between, &batch[*at..=*at], context, left + 4_096).await?;
        used += printed.text.len();
        texts[*at] = printed.text;
    }
    Ok(texts)
}

/// Shows bytes as text; what is no UTF-8 stands as U+FFFD, one for each byte, and is counted.
fn as_text(bytes: &[u8]) -> (String, usize) {
    let (mut text, mut count) = (String::with_capacity(bytes.len()), 0);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for _ in chunk.invalid() {
            text.push('\u{fffd}');
            count += 1;
        }
    }
    (text, count)
}

/// Returns how many bytes a shown text has as Git prints it. A U+FFFD that was really there counts as one byte too
/// few twice; the next page then shows the end of the line again, never less.
fn raw_length(text: &str) -> usize {
    text.len() - 2 * text.matches('\u{fffd}').count()
}

/// Returns the end of the last line that fits.
fn cut(text: &str, room: usize) -> usize {
    let (mut used, mut end) = (0, 0);
    for line in text.split_inclusive('\n') {
        let bytes = json_bytes(&line);
        if used + bytes > room {
            break;
        }
        used += bytes;
        end += line.len();
    }
    if end > 0 {
        return end;
    }
    // A line that is larger than a page.
    let mut end = (room / 2).clamp(1, text.len().max(1)).min(text.len());
    while end < text.len() && !text.is_char_boundary(end) {
        end += 1;
    }
    end
}

fn json_bytes(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(usize::MAX / 8, |text| text.len())
}

/// Marks a difference, so that a cursor is known to belong to it.
fn mark(between: &DiffRange, list: &[ChangedFile]) -> String {
    let mut hash = Sha256::new();
    hash.update(format!("{between:?}"));
    for file in list {
        hash.update(file.seen.rel.as_bytes());
        hash.update(format!("\0{:?}{:?}{:?}\0", file.change, file.insertions, file.deletions));
    }
    hex(&hash.finalize()[..6])
}

fn read_cursor(cursor: &str, mark: &str) -> Result<PagePosition, Failure> {
    let wrong = || {
        Failure::invalid("options.cursor", "`options.cursor` is not a cursor of this operation")
            .hint("Send the `nextCursor` of an earlier result of the same request.")
    };
    let mut parts = cursor.strip_prefix("gd1.").ok_or_else(wrong)?.split('.');
    let (Some(known), Some(file), Some(offset), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(wrong());
    };
    let number = |text: &str| text.parse::<usize>().ok().filter(|number| *number < 1 << 30).ok_or_else(wrong);
    let place = PagePosition { file: number(file)?, offset: number(offset)? };
    if known != mark {
        return Err(Failure::new(
            ErrorCode::Conflict,
            "the difference has changed since that cursor was given",
        )
        .hint("Leave `options.cursor` out to begin again."));
    }
    Ok(place)
}
