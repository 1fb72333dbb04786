//! The outline of a folder: its tree, breadth first, as much of it as an answer can hold.
//!
//! Bounds are used up level by level, so that a large folder deep down never hides what is above it.
//! What is not shown is counted in the folder that holds it.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::sync::Arc;

use bailiwick_contract::path::encode_name;
use bailiwick_contract::{Access, Cancel, Failure};
use bailiwick_platform::fs::{Dir, FileKind, RelPath};
use bailiwick_platform::names::OsStrExt;
use bailiwick_policy::{PathRules, PermittedPath, file_failure};

use super::IgnoreRules;
use super::folder::Folder;
use super::listing::{Filter, Listing, Verdict};
use super::skip::{Skip, SkipCounts};

/// A folder takes at most this part of all entries, so that others have room.
const SHARE: usize = 4;
/// What one folder may always show.
const MIN_SHARE: usize = 25;

/// How much of a tree is wanted.
#[derive(Debug, Clone, Copy)]
pub struct OutlineBounds {
    /// How many levels below the folder.
    pub depth: usize,
    /// How many entries in all.
    pub max_entries: usize,
    /// How many characters of text.
    pub max_characters: usize,
    /// Whether names that start with a dot are shown.
    pub hidden: bool,
    /// Whether ignored names are shown.
    pub ignored: bool,
}

/// An entry of an outline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineEntry {
    /// Its path beneath the root.
    pub path: RelPath,
    /// What it is; links and the like are shown, but not followed.
    pub kind: FileKind,
    /// How many entries of a folder are not shown.
    pub left_out: u64,
    /// Whether a folder could not be read.
    pub unreadable: bool,
    level: usize,
    entries: Vec<usize>,
}

/// The outline of a folder.
#[derive(Debug)]
pub struct Outline {
    /// Every entry that is shown, level by level; the folder itself is the first.
    pub entries: Vec<OutlineEntry>,
    /// What rules left out.
    pub skipped: SkipCounts,
    /// Whether a bound other than the depth cut something.
    pub truncated: bool,
    characters: usize,
}

/// A folder that is shown and waits for its entries to be checked.
struct OutlineFolder {
    entry: usize,
    parent: Arc<Folder>,
    ignore: IgnoreRules,
}

/// Creates the outline of a permitted folder.
///
/// # Errors
/// As [`PermittedPath::open_dir`] for the folder itself; `cancelled`, `timeout`.
pub fn outline(
    path: &PermittedPath,
    dir: Dir,
    bounds: OutlineBounds,
    cancel: &Cancel,
) -> Result<Outline, Failure> {
    let filter = Filter { access: Access::Read, hidden: bounds.hidden, ignored: bounds.ignored };
    let rules = path.rules();
    let ignore = if filter.ignored { IgnoreRules::default() } else { IgnoreRules::for_folder(path, &dir)? };
    let start = Folder::start(path.rel().clone(), dir);
    let listing = start
        .dir()
        .and_then(|dir| Listing::read_start(&dir, start.rel(), rules, ignore, filter))
        .map_err(|error| file_failure(&error, path))?;
    let mut outline = Outline {
        entries: vec![OutlineEntry::new(start.rel().clone(), FileKind::Dir, 0)],
        skipped: SkipCounts::default(),
        truncated: false,
        characters: 0,
    };
    let mut waiting = VecDeque::new();
    let around = (rules, bounds, filter);
    outline.show_all(0, &start, listing, around, cancel, &mut waiting)?;
    while let Some(OutlineFolder { entry, parent, ignore }) = waiting.pop_front() {
        cancel.check()?;
        let name = outline.entries[entry].path.file_name().map(OsStr::to_owned).unwrap_or_default();
        let opened = parent.dir().and_then(|dir| parent.enter(&dir, &name));
        let listed = opened.and_then(|(folder, dir)| {
            let listing = Listing::read(&dir, folder.rel(), rules, &ignore, filter)?;
            Ok((folder, listing))
        });
        match listed {
            Ok((folder, _)) if rules.is_own_folder(folder.id()) => {
                outline.entries[entry].unreadable = true;
                outline.skipped.add(Skip::Closed);
            }
            Ok((folder, listing)) => {
                outline.show_all(entry, &folder, listing, around, cancel, &mut waiting)?;
            }
            Err(_) => {
                outline.entries[entry].unreadable = true;
                outline.skipped.add(Skip::Unreadable);
            }
        }
    }
    Ok(outline)
}

impl OutlineEntry {
    fn new(path: RelPath, kind: FileKind, level: usize) -> Self {
        Self { path, kind, left_out: 0, unreadable: false, level, entries: Vec::new() }
    }

    /// Writes the entry's line. The text has no control characters but the ends of lines.
    fn write(&self, text: &mut String) {
        text.extend(std::iter::repeat_n("  ", self.level.saturating_sub(1)));
        let name = encode_name(self.path.file_name().map(OsStrExt::as_bytes).unwrap_or_default());
        for character in name.chars() {
            if character.is_control() {
                text.extend(character.escape_default());
            } else {
                text.push(character);
            }
        }
        text.push_str(match self.kind {
            FileKind::File => "",
            FileKind::Dir => "/",
            FileKind::Symlink => " (link)",
            FileKind::Fifo | FileKind::Socket | FileKind::Device | FileKind::Other => " (special)",
        });
        if self.unreadable {
            text.push_str(" (cannot be read)");
        } else if self.entries.is_empty() && self.left_out > 0 {
            text.push_str(&format!(" …{}", self.left_out));
        }
        text.push('\n');
    }
}

impl Outline {
    /// Shows the entries of a folder as far as there is room, and counts the rest, however many they are.
    fn show_all(
        &mut self,
        at: usize,
        folder: &Arc<Folder>,
        first: Listing,
        (rules, bounds, filter): (&PathRules, OutlineBounds, Filter),
        cancel: &Cancel,
        waiting: &mut VecDeque<OutlineFolder>,
    ) -> Result<(), Failure> {
        let mut listing = first;
        loop {
            let (last, ignore) = (listing.last.take(), listing.ignore.clone());
            self.show(at, folder, listing, bounds, waiting);
            let Some(last) = last else { return Ok(()) };
            cancel.check()?;
            let read = folder
                .dir()
                .and_then(|dir| Listing::read_after(&last, &dir, folder.rel(), rules, ignore, filter));
            let Ok(next) = read else {
                self.entries[at].unreadable = true;
                self.skipped.add(Skip::Unreadable);
                return Ok(());
            };
            listing = next;
        }
    }

    /// Shows entries of a folder as far as there is room, and counts the rest.
    fn show(
        &mut self,
        at: usize,
        folder: &Arc<Folder>,
        listing: Listing,
        bounds: OutlineBounds,
        waiting: &mut VecDeque<OutlineFolder>,
    ) {
        let level = self.entries[at].level + 1;
        let share = (bounds.max_entries / SHARE).max(MIN_SHARE);
        // What came before had no room.
        let mut is_full = level <= bounds.depth && self.entries[at].left_out > 0;
        for listed in listing.entries {
            let kind = match listed.verdict {
                Verdict::File => FileKind::File,
                Verdict::Folder => FileKind::Dir,
                Verdict::Skipped(Skip::Link) => FileKind::Symlink,
                Verdict::Skipped(Skip::Special) => FileKind::Other,
                Verdict::Skipped(reason) => {
                    self.skipped.add(reason);
                    continue;
                }
            };
            let entry = OutlineEntry::new(folder.rel().child(&listed.name), kind, level);
            if level <= bounds.depth && !is_full {
                // The name, the indentation, and a number that may come behind a folder.
                let characters = listed.name.len() + 2 * level + 8;
                is_full = self.entries.len() > bounds.max_entries
                    || self.entries[at].entries.len() >= share
                    || self.characters + characters > bounds.max_characters;
                if !is_full {
                    self.characters += characters;
                    let place = self.entries.len();
                    self.entries[at].entries.push(place);
                    self.entries.push(entry);
                    if kind == FileKind::Dir {
                        let (parent, ignore) = (Arc::clone(folder), listing.ignore.clone());
                        waiting.push_back(OutlineFolder { entry: place, parent, ignore });
                    }
                    continue;
                }
                self.truncated = true;
            }
            self.entries[at].left_out += 1;
        }
    }

    /// Returns the outline as text: one line for each entry, indented by two spaces a level, folders with
    /// `/`; `…3` behind a folder, or `… 3 more` below its last entry, for entries that are not shown.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut open = vec![(0, 0)];
        while let Some((entry, next)) = open.pop() {
            let folder = &self.entries[entry];
            if let Some(&child) = folder.entries.get(next) {
                self.entries[child].write(&mut text);
                open.push((entry, next + 1));
                open.push((child, 0));
            } else if folder.left_out > 0 && (entry == 0 || !folder.entries.is_empty()) {
                text.extend(std::iter::repeat_n("  ", folder.level));
                text.push_str(&format!("… {} more\n", folder.left_out));
            }
        }
        text
    }
}
