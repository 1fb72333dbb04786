//! The entries of one folder: judged by the scope's rules, told apart, in order of path.

use std::ffi::OsString;

use crate::file::is_temporary;
use bailiwick_contract::Access;
use bailiwick_platform::fs::{Dir, DirEntry, EntryPage, FileError, FileKind, RelPath};
use bailiwick_platform::names::OsStrExt;
use bailiwick_policy::PathRules;

use super::IgnoreRules;
use super::skip::Skip;

/// What a walk leaves out.
#[derive(Debug, Clone, Copy)]
pub struct Filter {
    /// What the files are used for.
    pub access: Access,
    /// Whether names that start with a dot are kept.
    pub hidden: bool,
    /// Whether ignored names are kept.
    pub ignored: bool,
}

/// What became of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// It is left out.
    Skipped(Skip),
}

/// An entry of a folder.
#[derive(Debug)]
pub(super) struct ListedEntry {
    pub name: OsString,
    pub verdict: Verdict,
}

/// The entries of a folder and the ignore rules for them.
#[derive(Debug)]
pub(super) struct Listing {
    /// In the order of the paths of the files that they are or hold.
    pub entries: Vec<ListedEntry>,
    pub ignore: IgnoreRules,
    /// The last of these entries, if there are more.
    pub last: Option<DirEntry>,
}

/// How many entries of a folder are read at a time.
const AT_ONCE: usize = 100_000;

impl Listing {
    /// Reads the folder `rel`, which is open; `above` are the ignore rules of the folder that holds it.
    pub fn read(
        dir: &Dir,
        rel: &RelPath,
        rules: &PathRules,
        above: &IgnoreRules,
        filter: Filter,
    ) -> Result<Self, FileError> {
        let found = dir.entries_after(None, AT_ONCE)?;
        let ignore = match (filter.ignored, found.has_more) {
            (true, _) => IgnoreRules::default(),
            (false, true) => above.enter_unlisted(rel, dir),
            (false, false) => above.enter(rel, dir, &found.entries),
        };
        Ok(Self::of_page(rel, rules, ignore, filter, found))
    }

    /// As [`Listing::read`], for the folder where a walk starts: `ignore` are the rules of this very folder.
    pub fn read_start(
        dir: &Dir,
        rel: &RelPath,
        rules: &PathRules,
        ignore: IgnoreRules,
        filter: Filter,
    ) -> Result<Self, FileError> {
        Ok(Self::of_page(rel, rules, ignore, filter, dir.entries_after(None, AT_ONCE)?))
    }

    /// Reads what comes after the last of another listing of the same folder, which had these rules.
    pub fn read_after(
        last: &DirEntry,
        dir: &Dir,
        rel: &RelPath,
        rules: &PathRules,
        ignore: IgnoreRules,
        filter: Filter,
    ) -> Result<Self, FileError> {
        Ok(Self::of_page(rel, rules, ignore, filter, dir.entries_after(Some(last), AT_ONCE)?))
    }

    fn of_page(
        rel: &RelPath,
        rules: &PathRules,
        ignore: IgnoreRules,
        filter: Filter,
        page: EntryPage,
    ) -> Self {
        let last = page.entries.last().filter(|_| page.has_more).cloned();
        Self { entries: judge(rel, rules, &ignore, filter, page.entries), ignore, last }
    }
}

fn judge(
    rel: &RelPath,
    rules: &PathRules,
    ignore: &IgnoreRules,
    filter: Filter,
    found: Vec<DirEntry>,
) -> Vec<ListedEntry> {
    let mut path = Vec::with_capacity(rel.as_bytes().len() + 64);
    path.extend_from_slice(rel.as_bytes());
    if !rel.is_root() {
        path.push(b'/');
    }
    let prefix = path.len();
    let mut entries: Vec<ListedEntry> = Vec::with_capacity(found.len());
    for entry in found {
        let name = entry.name.as_bytes();
        if name.eq_ignore_ascii_case(b".git") {
            continue;
        }
        let kind = entry.kind;
        // A folder of such a name is shown: nothing hides in it.
        if is_temporary(&entry.name) && kind == Some(FileKind::File) {
            continue;
        }
        let mut verdict = || {
            // Judged first, so that what is closed is counted alike whatever else is asked.
            if rules.rule_for_child(rel, &entry.name, filter.access).is_some() {
                return Verdict::Skipped(Skip::Closed);
            }
            if !filter.hidden && name.first() == Some(&b'.') {
                return Verdict::Skipped(Skip::Hidden);
            }
            path.truncate(prefix);
            path.extend_from_slice(name);
            if !filter.ignored && ignore.is_ignored(&path, kind == Some(FileKind::Dir)) {
                return Verdict::Skipped(Skip::Ignored);
            }
            match kind {
                None => Verdict::Skipped(Skip::Unreadable),
                Some(FileKind::File) => Verdict::File,
                Some(FileKind::Dir) => Verdict::Folder,
                Some(FileKind::Symlink) => Verdict::Skipped(Skip::Link),
                Some(FileKind::Fifo | FileKind::Socket | FileKind::Device | FileKind::Other) => {
                    Verdict::Skipped(Skip::Special)
                }
            }
        };
        let verdict = verdict();
        entries.push(ListedEntry { name: entry.name, verdict });
    }
    entries
}
