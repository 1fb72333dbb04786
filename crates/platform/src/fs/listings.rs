//! What small folders held when they were last read: a folder that has not changed since is not read again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{DirEntry, FileId, MAX_LISTED, Stat};

/// How many folders are remembered.
const MAX_FOLDERS: usize = 64;
/// A folder that changed later than this before it was read could change once more at what its clock calls the same time.
///
/// # Source
/// The time of a file is that of the last tick of the kernel, which has at least 100 a second.
const SETTLED: Duration = Duration::from_millis(100);

/// The names in some folders of a root.
#[derive(Debug, Default)]
pub(super) struct Listings(Mutex<HashMap<FileId, Listing>>);

#[derive(Debug)]
struct Listing {
    changed: (i128, i128),
    entries: Arc<[DirEntry]>,
}

impl Listings {
    /// Returns the entries of a folder, if it was read and has not changed since.
    pub fn get(&self, folder: &Stat) -> Option<Arc<[DirEntry]>> {
        let listings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let listing = listings.get(&folder.id)?;
        (listing.changed == changed(folder)).then(|| listing.entries.clone())
    }

    /// Remembers the entries of a folder. `before` are its facts from before it was read.
    pub fn insert(&self, before: &Stat, entries: Vec<DirEntry>) {
        let settled =
            SystemTime::now().checked_sub(SETTLED).and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let is_settled = settled.is_some_and(|time| {
            i128::try_from(time.as_nanos()).is_ok_and(|time| before.changed_ns.max(before.modified_ns) < time)
        });
        if entries.len() > MAX_LISTED || !is_settled {
            return;
        }
        let mut listings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if listings.len() >= MAX_FOLDERS && !listings.contains_key(&before.id) {
            listings.clear();
        }
        listings.insert(before.id, Listing { changed: changed(before), entries: entries.into() });
    }
}

fn changed(folder: &Stat) -> (i128, i128) {
    (folder.modified_ns, folder.changed_ns)
}

#[cfg(test)]
mod tests {
    use super::super::FileKind;
    use super::*;

    fn folder(inode: u64, age: Duration) -> Stat {
        let changed = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970") - age;
        let changed_ns = i128::try_from(changed.as_nanos()).expect("it fits");
        Stat {
            kind: FileKind::Dir,
            id: FileId { device: 1, inode },
            size: 0,
            disk_bytes: 0,
            mode: 0o755,
            user: 0,
            group: 0,
            links: 2,
            modified_ns: changed_ns,
            changed_ns,
        }
    }

    fn entries(count: usize) -> Vec<DirEntry> {
        (0..count)
            .map(|number| DirEntry { name: number.to_string().into(), kind: Some(FileKind::File) })
            .collect()
    }

    #[test]
    fn a_folder_is_remembered_until_it_changes() {
        let (listings, old) = (Listings::default(), folder(7, Duration::from_secs(5)));
        listings.insert(&old, entries(3));
        assert_eq!(listings.get(&old).map(|entries| entries.len()), Some(3));
        for changed in [
            Stat { changed_ns: old.changed_ns + 1, ..old },
            Stat { modified_ns: old.modified_ns - 1, ..old },
            folder(8, Duration::from_secs(5)),
        ] {
            assert_eq!(listings.get(&changed), None);
        }
    }

    #[test]
    fn what_changed_a_moment_ago_or_is_large_is_read_each_time() {
        let listings = Listings::default();
        let (young, old) = (folder(7, Duration::ZERO), folder(8, Duration::from_secs(5)));
        listings.insert(&young, entries(3));
        listings.insert(&old, entries(MAX_LISTED + 1));
        assert_eq!((listings.get(&young), listings.get(&old)), (None, None));
    }

    #[test]
    fn only_so_many_folders_are_remembered() {
        let listings = Listings::default();
        for inode in 0..1_000 {
            listings.insert(&folder(inode, Duration::from_secs(5)), entries(1));
        }
        assert!(listings.0.lock().expect("nobody panicked").len() <= MAX_FOLDERS);
    }
}
