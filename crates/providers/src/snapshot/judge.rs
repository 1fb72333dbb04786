//! Judging one file against what it was: whether it changed, and by how many lines.

use std::io::Read;

use crate::file::sha256_hex;
use bailiwick_platform::fs::{Dir, FileKind, Stat};
use bailiwick_policy::PathRules;

use super::changes::ChangeKind;
use super::lines::{HEAD_BYTES, count, difference, is_binary};
use super::take::{Entry, Snapshot, is_closed, read_whole};

/// How coarse the clock of a file system may be: a file that changed so shortly before the snapshot may have changed
/// again in the same tick.
const COARSE_NS: i128 = 2_000_000_000;

/// A change of one path; what was renamed is found later.
#[derive(Debug)]
pub(super) struct PathChange {
    pub change: ChangeKind,
    pub insertions: Option<u64>,
    pub deletions: Option<u64>,
    pub binary: bool,
    pub closed: bool,
    pub mode_changed: bool,
    /// The facts: as they are now, or as they were of what is gone.
    pub stat: Stat,
    /// The hash of a content that was added.
    pub sha256: Option<String>,
}

/// What there is to see of a content.
enum VisibleContent<'a> {
    Whole(&'a [u8]),
    /// Only its beginning.
    Head(&'a [u8]),
    Nothing,
}

/// Judges files; each thread has its own.
pub(super) struct Judge<'a> {
    pub snapshot: &'a Snapshot,
    pub rules: &'a PathRules,
    pub buffer: Vec<u8>,
}

impl Judge<'_> {
    /// Judges a path that is there, against what it was; `None` if nothing changed.
    ///
    /// `closed` tells that the scope's rules close it.
    pub fn present(
        &mut self,
        dir: &Dir,
        name: &std::ffi::OsStr,
        stat: Stat,
        before: Option<&Entry>,
        closed: bool,
    ) -> Option<PathChange> {
        let closed = closed || is_closed(&stat, self.rules) || before.is_some_and(|before| before.closed);
        let same = before.is_some_and(|before| is_same(&before.stat, &stat));
        if same && (closed || stat.changed_ns < self.snapshot.begun_ns - COARSE_NS) {
            return None;
        }
        let (change, mode_changed) = match before {
            None => (ChangeKind::Added, false),
            Some(before) => (ChangeKind::Modified, before.stat.mode != stat.mode),
        };
        let mut judged = PathChange {
            change,
            insertions: None,
            deletions: None,
            binary: false,
            closed,
            mode_changed,
            stat,
            sha256: None,
        };
        if closed {
            return Some(judged);
        }
        let old = before.and_then(|before| self.snapshot.content_of(before));
        if same && old.is_none() {
            return None;
        }
        let most = self.snapshot.limits.file_bytes;
        match (before, old, see(dir, name, &stat, most, &mut self.buffer)) {
            (None, _, VisibleContent::Whole(new)) => {
                judged.sha256 = Some(sha256_hex(new));
                judged.binary = is_binary(new);
                if !judged.binary {
                    (judged.insertions, judged.deletions) = (Some(count(new)), Some(0));
                }
            }
            (Some(before), Some(old), VisibleContent::Whole(new)) => {
                let same_content = old == new && before.stat.kind == stat.kind;
                if same_content && !mode_changed {
                    return None;
                }
                judged.binary = is_binary(&old) || is_binary(new);
                if !judged.binary {
                    let (added, removed) = difference(&old, new);
                    (judged.insertions, judged.deletions) = (Some(added), Some(removed));
                }
            }
            (_, old, VisibleContent::Whole(head) | VisibleContent::Head(head)) => {
                judged.binary = is_binary(head) || old.is_some_and(|old| is_binary(&old));
            }
            (_, old, VisibleContent::Nothing) => judged.binary = old.is_some_and(|old| is_binary(&old)),
        }
        Some(judged)
    }

    /// Judges a path that is gone.
    pub fn gone(&self, before: &Entry) -> PathChange {
        let old = self.snapshot.content_of(before);
        let binary = old.as_ref().is_some_and(|old| is_binary(old));
        let deletions = old.filter(|_| !binary).map(|old| count(&old));
        PathChange {
            change: ChangeKind::Deleted,
            insertions: deletions.map(|_| 0),
            deletions,
            binary,
            closed: before.closed,
            mode_changed: false,
            stat: before.stat,
            sha256: None,
        }
    }
}

/// Returns whether the facts say that nothing was done to a file.
fn is_same(before: &Stat, now: &Stat) -> bool {
    let facts = |stat: &Stat| (stat.kind, stat.id, stat.size, stat.mode, stat.modified_ns, stat.changed_ns);
    facts(before) == facts(now)
}

fn see<'a>(
    dir: &Dir,
    name: &std::ffi::OsStr,
    stat: &Stat,
    most: u64,
    buffer: &'a mut Vec<u8>,
) -> VisibleContent<'a> {
    match stat.kind {
        FileKind::Symlink => match dir.read_link(name) {
            Ok(leads_to) => {
                *buffer = leads_to;
                VisibleContent::Whole(buffer)
            }
            Err(_) => VisibleContent::Nothing,
        },
        FileKind::File => {
            let Ok(opened) = dir.open_file(name) else { return VisibleContent::Nothing };
            if opened.stat.size <= most {
                return read_whole(&opened.file, &opened.stat, most, buffer)
                    .map_or(VisibleContent::Nothing, VisibleContent::Whole);
            }
            let head = Stat { size: opened.stat.size.min(HEAD_BYTES as u64), ..opened.stat };
            let file = (&opened.file).take(head.size);
            read_whole(file, &head, head.size, buffer).map_or(VisibleContent::Nothing, VisibleContent::Head)
        }
        FileKind::Dir | FileKind::Fifo | FileKind::Socket | FileKind::Device | FileKind::Other => {
            VisibleContent::Nothing
        }
    }
}
