//! Changes beneath folders, as Windows tells them: one open folder for each tree that is watched, all beneath included.
//!
//! No folder within a tree is kept open, since that would keep those above it from being renamed. Watched folders are
//! known by their paths in the tree. A file that is written is told of when the file system notes it, which may be
//! only when its writer closes it.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::windows::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::notify::Listener;
use super::sys::{disk, whole_path};
use super::{Dir, DrainResult, FolderEvent, WatchId};

/// How many trees are watched at most. A root is one; what a junction or a mounted volume leads to is another.
const MAX_TREES: usize = 16;
/// How many times a tree is asked in one go, while changes come faster than they are read.
const MAX_ROUNDS: usize = 64;
/// What changes are called: a name is new, gone, was another, is another; the entry itself has changed.
const ADDED: u32 = 1;
const MODIFIED: u32 = 3;
const RENAMED_TO: u32 = 5;

const SEPARATOR: u16 = b'\\' as u16;

/// A path as units of UTF-16.
type WidePath = Vec<u16>;

/// The watches of one caller; they end with it.
#[derive(Default)]
pub struct FolderWatch {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    trees: BTreeMap<usize, Tree>,
    /// Whether a tree is heard of no more: what changes in it is then never known.
    is_deaf: bool,
    next_tree: usize,
    next_id: i32,
    /// The tree and folded path of each watched folder.
    places: HashMap<WatchId, (usize, WidePath)>,
}

/// What is watched beneath one open folder; something always is.
struct Tree {
    listener: Listener,
    /// By folded path.
    folders: HashMap<WidePath, WatchedFolder>,
}

struct WatchedFolder {
    id: WatchId,
    /// Its path in the tree, as it is spelt.
    path: WidePath,
}

impl std::fmt::Debug for FolderWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FolderWatch")
    }
}

impl FolderWatch {
    /// Begins to listen, to nothing yet.
    ///
    /// # Errors
    /// None on this system.
    pub fn new() -> io::Result<Self> {
        Ok(Self::default())
    }

    /// Returns whether changes of this folder's entries are heard of, no matter who makes them: on disks of this computer.
    pub fn hears(dir: &Dir) -> bool {
        const LOCAL: [&str; 5] = ["NTFS", "ReFS", "exFAT", "FAT32", "FAT"];
        const SHARE: &str = r"\\?\UNC\";
        let is_share = |path: WidePath| String::from_utf16_lossy(&path).starts_with(SHARE);
        whole_path(dir.as_handle()).is_ok_and(|path| !is_share(path))
            && disk(dir.as_handle()).is_ok_and(|disk| LOCAL.contains(&disk.file_system.as_str()))
    }

    /// Listens to the entries of a folder. The same folder gives the same id.
    ///
    /// # Errors
    /// Those of the system; `Unsupported` for two folders whose paths differ in case alone.
    pub fn add(&self, dir: &Dir) -> io::Result<WatchId> {
        let whole = whole_path(dir.as_handle())?;
        let mut inner = self.lock();
        let (tree, path) = match inner.find(&whole) {
            Some(found) => found,
            None => (inner.plant(dir)?, WidePath::new()),
        };
        let place = folded(&path);
        let Inner { trees, places, next_id, .. } = &mut *inner;
        let folders = &mut trees.get_mut(&tree).expect("it was found or planted just now").folders;
        if let Some(known) = folders.get(&place) {
            return if known.path == path { Ok(known.id) } else { Err(io::ErrorKind::Unsupported.into()) };
        }
        *next_id += 1;
        let id = WatchId(*next_id);
        places.insert(id, (tree, place.clone()));
        folders.insert(place, WatchedFolder { id, path });
        Ok(id)
    }

    /// As [`FolderWatch::add`]: what a change is about is told with it.
    ///
    /// # Errors
    /// As [`FolderWatch::add`].
    pub fn add_names(&self, dir: &Dir) -> io::Result<WatchId> {
        self.add(dir)
    }

    /// Returns how many folders can be watched: a tree is one, whatever is in it.
    pub const fn max_folders() -> usize {
        usize::MAX
    }

    /// Listens to a folder no more.
    pub fn remove(&self, folder: WatchId) {
        let mut inner = self.lock();
        let Some((tree, place)) = inner.places.remove(&folder) else { return };
        let Some(found) = inner.trees.get_mut(&tree) else { return };
        found.folders.remove(&place);
        if found.folders.is_empty() {
            inner.trees.remove(&tree);
        }
    }

    /// Tells every change since the last time, oldest first. Does not wait.
    ///
    /// # Errors
    /// Those of the system; from then on always.
    pub fn drain(&self, mut take: impl FnMut(FolderEvent<'_>)) -> io::Result<DrainResult> {
        let mut inner = self.lock();
        let Inner { trees, is_deaf, .. } = &mut *inner;
        if *is_deaf {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let mut drained = DrainResult::All;
        for tree in trees.values_mut() {
            for round in 0.. {
                let Some(told) = tree.listener.poll().inspect_err(|_| *is_deaf = true)? else { break };
                let changes = read(&told);
                if changes.is_empty() || round == MAX_ROUNDS {
                    drained = DrainResult::Lost;
                }
                if round == MAX_ROUNDS {
                    break;
                }
                for change in changes {
                    if change.path.split(|unit| *unit == SEPARATOR).any(may_be_short) {
                        drained = DrainResult::Lost;
                    }
                    tell(tree, &change, &mut take);
                }
            }
        }
        Ok(drained)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Finds the tree that a folder is in, and its path there.
    fn find(&self, whole: &[u16]) -> Option<(usize, WidePath)> {
        self.trees.iter().find_map(|(tree, Tree { listener, .. })| {
            let top = whole_path(listener.folder()).ok()?;
            let rest = whole.strip_prefix(top.as_slice())?;
            match rest.split_first() {
                None => Some((*tree, WidePath::new())),
                // The top of a disk ends with one already.
                _ if top.last() == Some(&SEPARATOR) => Some((*tree, rest.to_vec())),
                Some((&SEPARATOR, path)) => Some((*tree, path.to_vec())),
                Some(_) => None,
            }
        })
    }

    fn plant(&mut self, dir: &Dir) -> io::Result<usize> {
        if self.trees.len() == MAX_TREES {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let listener = Listener::new(dir.as_handle())?;
        self.next_tree += 1;
        self.trees.insert(self.next_tree, Tree { listener, folders: HashMap::new() });
        Ok(self.next_tree)
    }
}

/// Hands a change on, if it is one of a watched folder.
fn tell(tree: &Tree, change: &Change, take: &mut impl FnMut(FolderEvent<'_>)) {
    let Tree { listener, folders } = tree;
    let cut = change.path.iter().rposition(|unit| *unit == SEPARATOR);
    let (folder, name) = match cut {
        Some(at) => (&change.path[..at], &change.path[at + 1..]),
        None => (&[][..], &change.path[..]),
    };
    let Some(folder) = folders.get(&folded(folder)) else { return };
    let is_known = || folders.contains_key(&folded(&change.path));
    let is_there = || matches!(change.action, ADDED | RENAMED_TO) && is_folder(listener, &change.path);
    let name = OsString::from_wide(name);
    take(FolderEvent {
        folder: folder.id,
        name: OsStr::new(&name),
        is_folder: is_known() || is_there(),
        is_name: change.action != MODIFIED,
    });
}

/// Returns whether there is a folder at a path of a tree by now. Nothing is opened by it.
fn is_folder(listener: &Listener, path: &[u16]) -> bool {
    let Ok(top) = whole_path(listener.folder()) else { return false };
    let whole = PathBuf::from(OsString::from_wide(&top)).join(OsString::from_wide(path));
    std::fs::symlink_metadata(whole).is_ok_and(|facts| facts.is_dir())
}

/// One change.
#[derive(Debug, PartialEq, Eq)]
struct Change {
    action: u32,
    path: WidePath,
}

/// Reads a list of `FILE_NOTIFY_INFORMATION`; what is cut off is left out.
fn read(bytes: &[u8]) -> Vec<Change> {
    const HEAD: usize = 12;
    let mut changes = Vec::new();
    let mut at = 0;
    loop {
        let number = |place: usize| {
            let found = bytes.get(at + place..).and_then(|rest| rest.first_chunk());
            found.map(|four| u32::from_ne_bytes(*four))
        };
        let (Some(next), Some(action), Some(length)) = (number(0), number(4), number(8)) else { break };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let name = bytes.get(at + HEAD..).and_then(|rest| rest.get(..length));
        let Some(name) = name else { break };
        let path = name.as_chunks().0.iter().map(|unit| u16::from_ne_bytes(*unit)).collect();
        changes.push(Change { action, path });
        match usize::try_from(next) {
            Ok(next) if next > 0 => at += next,
            _ => break,
        }
    }
    changes
}

/// Creates one of paths that the file system takes for the same.
fn folded(path: &[u16]) -> WidePath {
    let fold = |unit: &u16| {
        let upper = char::from_u32((*unit).into()).map(char::to_uppercase).filter(|upper| upper.len() == 1);
        upper.and_then(|mut upper| upper.next()).and_then(|upper| u16::try_from(u32::from(upper)).ok())
    };
    path.iter().map(|unit| fold(unit).unwrap_or(*unit)).collect()
}

/// Returns whether a name may be the short one that the system makes up for a long one (`PROGRA~1`): which of the two is
/// told is not known.
fn may_be_short(name: &[u16]) -> bool {
    let is_digit = |unit: u16| (0x30..0x3a).contains(&unit);
    name.len() <= 12 && name.windows(2).any(|two| two[0] == u16::from(b'~') && is_digit(two[1]))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::{Duration, Instant};

    use super::super::{RelPath, Root, create_private_dir, remove_tree};
    use super::*;

    fn wide(text: &str) -> WidePath {
        text.encode_utf16().collect()
    }

    #[test]
    fn lists_of_changes_are_read_and_what_is_cut_off_is_left_out() {
        let entry = |next: u32, action: u32, name: &str| {
            let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_ne_bytes).collect();
            let length = u32::try_from(name.len()).expect("short");
            [next.to_ne_bytes(), action.to_ne_bytes(), length.to_ne_bytes()].concat().into_iter().chain(name)
        };
        let list: Vec<u8> = entry(16, 1, "ab").chain(entry(0, 3, r"sub\c")).collect();
        let change = |action, path| Change { action, path: wide(path) };
        assert_eq!(read(&list), [change(1, "ab"), change(3, r"sub\c")]);
        assert_eq!(read(&list[..list.len() - 1]), [change(1, "ab")]);
        assert_eq!(read(&[]), []);
    }

    #[test]
    fn short_names_are_suspected_and_case_makes_no_difference() {
        for (name, is_short) in
            [("PROGRA~1", true), ("A~12.TXT", true), ("notes~", false), ("~$a.docx", false)]
        {
            assert_eq!(may_be_short(&wide(name)), is_short, "{name}");
        }
        assert_eq!(folded(&wide("Stra\u{df}e\\\u{fc}")), wide("STRA\u{df}E\\\u{dc}"));
    }

    /// Asks until it is told what is wanted: the system takes its time.
    fn until(watch: &FolderWatch, wanted: impl Fn(&EventLog) -> bool) -> EventLog {
        let (mut heard, began) = (EventLog::default(), Instant::now());
        while !wanted(&heard) && began.elapsed() < Duration::from_secs(20) {
            let drained = watch.drain(|event| {
                let name = event.name.to_string_lossy().into_owned();
                heard.events.push((event.folder, name, event.is_folder, event.is_name));
            });
            heard.is_lost |= drained.expect("it listens") == DrainResult::Lost;
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(wanted(&heard), "{:?}", heard.events);
        heard
    }

    #[derive(Default)]
    struct EventLog {
        events: Vec<(WatchId, String, bool, bool)>,
        is_lost: bool,
    }

    impl EventLog {
        fn has(&self, folder: WatchId, name: &str, is_folder: bool, is_name: bool) -> bool {
            self.events.iter().any(|event| *event == (folder, name.to_owned(), is_folder, is_name))
        }
    }

    struct Folder(PathBuf);

    impl Folder {
        fn new() -> (Self, Dir) {
            let path =
                std::env::temp_dir().join(format!("bailiwick-watch-{}", bailiwick_contract::id::new_id()));
            create_private_dir(&path).expect("a folder can be made");
            let dir = Root::open(&path).and_then(|root| root.open_dir(&RelPath::root()));
            (Self(path), dir.expect("it is a folder"))
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = remove_tree(&self.0);
        }
    }

    #[test]
    fn changes_in_watched_folders_are_told() {
        let (folder, dir) = Folder::new();
        fs::create_dir(folder.0.join("sub")).expect("a folder can be made");
        assert!(FolderWatch::hears(&dir), "a disk of this computer");
        let watch = FolderWatch::new().expect("nothing is asked of the system yet");
        let top = watch.add(&dir).expect("it can be watched");
        assert_eq!(watch.add(&dir).expect("again"), top);
        let sub = dir.open_dir(OsStr::new("sub")).expect("it is there");
        let sub = watch.add(&sub).expect("it can be watched");
        assert_ne!(sub, top);
        fs::write(folder.0.join("a"), "one").expect("written");
        until(&watch, |heard| heard.has(top, "a", false, true));
        fs::write(folder.0.join("sub").join("b"), "deeper").expect("written");
        until(&watch, |heard| heard.has(sub, "b", false, true));
        fs::write(folder.0.join("a"), "another").expect("written");
        until(&watch, |heard| heard.has(top, "a", false, false));
        fs::create_dir(folder.0.join("new")).expect("a folder can be made");
        until(&watch, |heard| heard.has(top, "new", true, true));
        fs::rename(folder.0.join("a"), folder.0.join("c")).expect("renamed");
        until(&watch, |heard| heard.has(top, "a", false, true) && heard.has(top, "c", false, true));
        fs::rename(folder.0.join("sub"), folder.0.join("other")).expect("renamed");
        until(&watch, |heard| heard.has(top, "sub", true, true) && heard.has(top, "other", true, true));
        fs::remove_file(folder.0.join("c")).expect("removed");
        until(&watch, |heard| heard.has(top, "c", false, true));
        // A folder that is not watched is not told of.
        watch.remove(sub);
        fs::write(folder.0.join("other").join("d"), "unheard").expect("written");
        fs::write(folder.0.join("last"), "heard").expect("written");
        let heard = until(&watch, |heard| heard.has(top, "last", false, true));
        assert!(!heard.events.iter().any(|(_, name, ..)| name == "d"), "{:?}", heard.events);
    }

    #[test]
    fn more_changes_than_there_is_room_for_are_told_to_be_lost() {
        let (folder, dir) = Folder::new();
        let watch = FolderWatch::new().expect("nothing is asked of the system yet");
        let top = watch.add(&dir).expect("it can be watched");
        // Two names of 200 characters each, and their heads, for every file.
        let long = "n".repeat(195);
        for number in 0..1_500 {
            fs::write(folder.0.join(format!("{long}{number:05}")), "x").expect("written");
        }
        until(&watch, |heard| heard.is_lost);
        fs::write(folder.0.join("afterwards"), "x").expect("written");
        until(&watch, |heard| heard.has(top, "afterwards", false, true));
    }
}
