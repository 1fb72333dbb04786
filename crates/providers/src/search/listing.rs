//! The entries of one folder: judged by the scope's rules, told apart, in order of path.

use std::cmp::Ordering;
use std::ffi::OsString;

use crate::file::is_temporary;
use bailiwick_contract::Access;
use bailiwick_platform::fs::{Dir, DoorError, FileKind, RelPath};
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
pub(super) struct Listed {
    pub name: OsString,
    pub verdict: Verdict,
}

/// The entries of a folder and the ignore rules for them.
#[derive(Debug)]
pub(super) struct Listing {
    /// In the order of the paths of the files that they are or hold.
    pub entries: Vec<Listed>,
    pub ignore: IgnoreRules,
}

impl Listing {
    /// Reads the folder `rel`, which is open; `above` are the ignore rules of the folder that holds it.
    pub fn read(
        dir: &Dir,
        rel: &RelPath,
        rules: &PathRules,
        above: &IgnoreRules,
        filter: Filter,
    ) -> Result<Self, DoorError> {
        let found = dir.entries()?;
        let ignore = if filter.ignored { IgnoreRules::default() } else { above.enter(rel, dir, &found) };
        Ok(Self { entries: judge(dir, rel, rules, &ignore, filter, found), ignore })
    }

    /// As [`Listing::read`], for the folder where a walk starts: `ignore` are the rules of this very folder.
    pub fn read_start(
        dir: &Dir,
        rel: &RelPath,
        rules: &PathRules,
        ignore: IgnoreRules,
        filter: Filter,
    ) -> Result<Self, DoorError> {
        Ok(Self { entries: judge(dir, rel, rules, &ignore, filter, dir.entries()?), ignore })
    }
}

fn judge(
    dir: &Dir,
    rel: &RelPath,
    rules: &PathRules,
    ignore: &IgnoreRules,
    filter: Filter,
    found: Vec<bailiwick_platform::fs::DirEntry>,
) -> Vec<Listed> {
    let mut path = Vec::with_capacity(rel.as_bytes().len() + 64);
    path.extend_from_slice(rel.as_bytes());
    if !rel.is_root() {
        path.push(b'/');
    }
    let prefix = path.len();
    let mut entries: Vec<Listed> = Vec::with_capacity(found.len());
    for entry in found {
        let name = entry.name.as_bytes();
        if name.eq_ignore_ascii_case(b".git") {
            continue;
        }
        let kind = || entry.kind.or_else(|| dir.stat(&entry.name).ok().map(|stat| stat.kind));
        // A folder of such a name is shown: nothing hides in it.
        if is_temporary(&entry.name) && kind() == Some(FileKind::File) {
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
            // Some file systems do not tell the kind with the name.
            let kind = entry.kind.or_else(|| dir.stat(&entry.name).ok().map(|stat| stat.kind));
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
        entries.push(Listed { name: entry.name, verdict });
    }
    entries.sort_unstable_by(in_path_order);
    entries
}

/// Orders entries so that a walk meets files in the order of the bytes of their paths.
fn in_path_order(left: &Listed, right: &Listed) -> Ordering {
    let (a, b) = (left.name.as_bytes(), right.name.as_bytes());
    let common = a.len().min(b.len());
    a[..common].cmp(&b[..common]).then_with(|| {
        let next = |name: &[u8], listed: &Listed| match name.get(common) {
            Some(byte) => Some(*byte),
            None => (listed.verdict == Verdict::Folder).then_some(b'/'),
        };
        next(a, left).cmp(&next(b, right)).then_with(|| a.len().cmp(&b.len()))
    })
}
