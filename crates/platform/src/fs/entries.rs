//! Reading folders of any size, never more names at a time than the caller states.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::ops::ControlFlow;

use super::{Dir, DirEntry, FileError, FileKind};
use crate::names::OsStrExt;

/// How many entries a folder may have for [`super::Root::keep_listing`] to remember them.
pub const MAX_LISTED: usize = 256;

/// Entries of a folder, in the order of the paths of the files that they are or hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPage {
    /// The entries, each with its kind unless it cannot be told.
    pub entries: Vec<DirEntry>,
    /// Whether there are more: after the last of these.
    pub has_more: bool,
}

impl Dir {
    /// Reads entries but `.` and `..`, in the order of the file system, and stops when there are so many.
    ///
    /// # Errors
    /// The usual ones.
    pub fn entries(&self, at_most: usize) -> Result<Vec<DirEntry>, FileError> {
        let mut entries = Vec::new();
        if at_most > 0 {
            self.for_each_entry(|name, kind| {
                entries.push(DirEntry { name: name.to_owned(), kind });
                if entries.len() < at_most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
        }
        Ok(entries)
    }

    /// Returns all entries but `.` and `..`, in the order of paths; holds twice as many as stated at most.
    pub fn entries_in_order(&self, at_once: usize) -> Entries<'_> {
        Entries { dir: self, at_once, read: Vec::new().into_iter(), last: None, has_more: true }
    }

    /// Reads the first entries in the order of paths, or the first after one of an earlier page. Holds twice as many at most.
    ///
    /// # Errors
    /// The usual ones.
    pub fn entries_after(&self, after: Option<&DirEntry>, at_most: usize) -> Result<EntryPage, FileError> {
        let mut first = FirstInOrder::new(at_most);
        self.for_each_entry(|name, kind| {
            // Some file systems do not tell the kind with the name.
            let kind = kind.or_else(|| self.stat(name).ok().map(|stat| stat.kind));
            let is_after = after.is_none_or(|after| in_path_order(after.as_pair(), (name, kind)).is_lt());
            // Most of a large folder belongs to other pages: nothing is made of it.
            if is_after && first.takes(|last: &InPathOrder| in_path_order((name, kind), last.0.as_pair())) {
                first.push(InPathOrder(DirEntry { name: name.to_owned(), kind }));
            }
            ControlFlow::Continue(())
        })?;
        let (entries, has_more) = first.finish();
        Ok(EntryPage { entries: entries.into_iter().map(|entry| entry.0).collect(), has_more })
    }
}

/// All entries of a folder in the order of paths, read again after so many.
#[derive(Debug)]
pub struct Entries<'a> {
    dir: &'a Dir,
    at_once: usize,
    read: std::vec::IntoIter<DirEntry>,
    last: Option<DirEntry>,
    has_more: bool,
}

impl Iterator for Entries<'_> {
    type Item = Result<DirEntry, FileError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(entry) = self.read.next() {
            return Some(Ok(entry));
        }
        if !std::mem::take(&mut self.has_more) {
            return None;
        }
        match self.dir.entries_after(self.last.as_ref(), self.at_once) {
            Ok(page) => {
                self.has_more = page.has_more;
                self.last = page.entries.last().cloned();
                self.read = page.entries.into_iter();
                self.read.next().map(Ok)
            }
            Err(error) => Some(Err(error)),
        }
    }
}

/// Orders entries so that a walk meets files in the order of the bytes of their paths: a folder's name continues with `/`.
fn in_path_order(left: EntryPair<'_>, right: EntryPair<'_>) -> Ordering {
    let (a, b) = (left.0.as_bytes(), right.0.as_bytes());
    let common = a.len().min(b.len());
    a[..common].cmp(&b[..common]).then_with(|| {
        let next = |name: &[u8], kind: Option<FileKind>| match name.get(common) {
            Some(byte) => Some(*byte),
            None => (kind == Some(FileKind::Dir)).then_some(b'/'),
        };
        next(a, left.1).cmp(&next(b, right.1)).then_with(|| a.len().cmp(&b.len()))
    })
}

/// A name and its kind.
type EntryPair<'a> = (&'a OsStr, Option<FileKind>);

impl DirEntry {
    fn as_pair(&self) -> EntryPair<'_> {
        (&self.name, self.kind)
    }
}

#[derive(Debug, PartialEq, Eq)]
struct InPathOrder(DirEntry);

impl Ord for InPathOrder {
    fn cmp(&self, other: &Self) -> Ordering {
        in_path_order(self.0.as_pair(), other.0.as_pair())
    }
}

impl PartialOrd for InPathOrder {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Keeps the first of any number of items in their order, and holds twice as many at most.
#[derive(Debug)]
pub struct FirstInOrder<T> {
    kept: Vec<T>,
    at_most: usize,
    /// Whether some were left out: the last of the first `at_most` is then the greatest of them.
    is_cut: bool,
}

impl<T: Ord> FirstInOrder<T> {
    /// Keeps so many, and at least one.
    pub fn new(at_most: usize) -> Self {
        Self { kept: Vec::new(), at_most: at_most.max(1), is_cut: false }
    }

    /// Returns whether an item may be among the first that compares so with one that is kept.
    pub fn takes(&self, compare: impl FnOnce(&T) -> Ordering) -> bool {
        !self.is_cut || compare(&self.kept[self.at_most - 1]).is_lt()
    }

    /// Takes an item.
    pub fn push(&mut self, item: T) {
        if !self.takes(|last| item.cmp(last)) {
            return;
        }
        self.kept.push(item);
        if self.kept.len() >= self.at_most.saturating_mul(2) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.kept.len() > self.at_most {
            self.kept.select_nth_unstable(self.at_most - 1);
            self.kept.truncate(self.at_most);
            self.is_cut = true;
        }
    }

    /// Returns what was kept, in order, and whether something was left out.
    pub fn finish(mut self) -> (Vec<T>, bool) {
        self.cut();
        self.kept.sort_unstable();
        (self.kept, self.is_cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::{RelPath, Root, remove_tree};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_are_those_of_the_sorted_list(items in proptest::collection::vec(0..500_u32, 0..300), at_most in 1..40_usize) {
            let mut first = FirstInOrder::new(at_most);
            items.iter().for_each(|item| first.push(*item));
            let (kept, is_cut) = first.finish();
            let mut sorted = items.clone();
            sorted.sort_unstable();
            prop_assert_eq!(is_cut, items.len() > at_most);
            sorted.truncate(at_most);
            prop_assert_eq!(kept, sorted);
        }
    }

    #[test]
    fn a_folder_is_read_in_pages_without_gaps_and_doubles() {
        let folder =
            std::env::temp_dir().join(format!("bailiwick-pages-{}", bailiwick_contract::id::new_id()));
        std::fs::create_dir_all(folder.join("a")).expect("made");
        std::fs::create_dir(folder.join("f5")).expect("made");
        for name in
            ["a.txt", "a-b", "ab"].map(str::to_owned).into_iter().chain((0..50).map(|at| format!("f{at}x")))
        {
            std::fs::write(folder.join(name), "").expect("written");
        }
        let dir = Root::open(&folder).and_then(|root| root.open_dir(&RelPath::root())).expect("opened");
        let all = dir.entries_after(None, usize::MAX).expect("read");
        assert_eq!((all.entries.len(), all.has_more), (55, false));
        let names: Vec<_> = all.entries[..4].iter().map(|entry| entry.name.to_str()).collect();
        assert_eq!(names, [Some("a-b"), Some("a.txt"), Some("a"), Some("ab")]);
        for at_most in [1, 7, 54, 55, 56] {
            let read: Vec<_> = dir.entries_in_order(at_most).map(|entry| entry.expect("read")).collect();
            assert_eq!(read, all.entries, "{at_most}");
            assert_eq!(dir.entries_after(None, at_most).expect("read").entries.len(), at_most.min(55));
        }
        for at_most in [0, 1, 10, 55, 100] {
            assert_eq!(dir.entries(at_most).expect("read").len(), at_most.min(55));
        }
        remove_tree(&folder).expect("it was made above");
    }
}
