//! Visiting every file beneath a folder, on several threads, each folder opened from its parent's handle.
//!
//! Work is on one stack in the order of paths, so that the threads together go through the tree from
//! its first path to its last. Nothing recurses, nothing waits without a limit, and a folder's handle is
//! kept only while there is room. The order in which two threads report is not fixed: visitors put what
//! they keep in order themselves.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bailiwick_contract::{Cancel, Failure};
use bailiwick_platform::fs::{Dir, DirEntry, FileError};
use bailiwick_platform::names::OsStrExt;
use bailiwick_policy::{PathRules, PermittedPath};

use super::IgnoreRules;
use super::folder::Folder;
use super::listing::{Filter, ListedEntry, Listing, Verdict};
use super::skip::Skip;

/// How many threads one walk uses at most.
const MAX_WORKERS: usize = 8;
/// How many entries one thread takes at a time.
const ENTRIES_PER_RUN: usize = 32;
/// The longest path that is entered, in bytes: what the system takes in one call.
const MAX_PATH_BYTES: usize = 4_000;
/// How long an idle thread sleeps before it looks at the cancellation flag.
const IDLE: Duration = Duration::from_millis(20);

/// A regular file that a walk has come to; it is not opened yet.
#[derive(Debug)]
pub(crate) struct WalkedFile<'a> {
    /// Its path beneath the root.
    pub path: &'a [u8],
    /// Its name in the folder.
    pub name: &'a OsStr,
    /// The folder that holds it.
    pub dir: &'a Dir,
}

/// What is done with the tree. Each thread of a walk has its own.
pub(crate) trait Visitor: Send {
    /// Returns whether a path is still wanted; for a folder it ends with `/` and stands for all beneath.
    fn wants(&self, path: &[u8]) -> bool;
    /// Begins a run of paths that no other run is between, with its first path.
    fn begin(&mut self, first: &[u8]);
    /// Takes a regular file.
    fn file(&mut self, file: &WalkedFile<'_>);
    /// Takes a folder, before what is in it. `parent` holds it under `name`.
    fn folder(&mut self, folder: &WalkedFile<'_>);
    /// Takes a folder that was opened, before its entries are read. The one where the walk starts is the caller's.
    fn entered(&mut self, _path: &[u8], _dir: &Dir) {}
    /// Takes note of a path that is left out.
    fn skipped(&mut self, path: &[u8], reason: Skip);
    /// As `skipped`, for an entry of a folder that is open.
    fn skipped_entry(&mut self, entry: &WalkedFile<'_>, reason: Skip) {
        self.skipped(entry.path, reason);
    }
}

/// Walks what is beneath a folder and gives back the visitors of all threads.
///
/// # Errors
/// As [`PermittedPath::open_dir`] for the folder itself; what prevents it further down is skipped
/// and told. `cancelled` and `timeout`.
pub(crate) fn walk<V: Visitor>(
    path: &PermittedPath,
    dir: Dir,
    filter: Filter,
    cancel: &Cancel,
    visitor: impl Fn() -> V,
) -> Result<Vec<V>, Failure> {
    let ignore = if filter.ignored { IgnoreRules::default() } else { IgnoreRules::for_folder(path, &dir)? };
    let start = Folder::start(path.rel().clone(), dir);
    let first = start
        .dir()
        .and_then(|dir| Listing::read_start(&dir, start.rel(), path.rules(), ignore, filter))
        .map_err(|error| bailiwick_policy::file_failure(&error, path))?;
    let shared = WalkState {
        rules: path.rules(),
        filter,
        cancel,
        stopped: AtomicBool::new(false),
        queue: Mutex::default(),
        changed: Condvar::new(),
    };
    shared.add(&start, first);
    let available = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let workers = available.min(MAX_WORKERS);
    let mut visitors: Vec<V> = (0..workers).map(|_| visitor()).collect();
    std::thread::scope(|scope| {
        let (mine, others) = visitors.split_first_mut().expect("there is at least one worker");
        for visitor in others {
            let shared = &shared;
            scope.spawn(move || shared.work(visitor));
        }
        shared.work(mine);
    });
    cancel.check()?;
    Ok(visitors)
}

/// A piece of work.
enum Task {
    /// A folder to open and list.
    Enter { parent: Arc<Folder>, name: OsString, ignore: IgnoreRules },
    /// Entries of a folder, without folders between them.
    Run { folder: Arc<Folder>, entries: VecDeque<ListedEntry> },
    /// A folder that has more entries than are read at a time, and the last of those that were.
    GoOn { folder: Arc<Folder>, ignore: IgnoreRules, last: DirEntry },
}

#[derive(Default)]
struct Queue {
    /// The next task is the last.
    tasks: Vec<Task>,
    /// Threads that have a task and may add more.
    busy: usize,
    /// Threads that sleep.
    idle: usize,
}

struct WalkState<'a> {
    rules: &'a PathRules,
    filter: Filter,
    cancel: &'a Cancel,
    stopped: AtomicBool,
    queue: Mutex<Queue>,
    changed: Condvar,
}

impl WalkState<'_> {
    fn work<V: Visitor>(&self, visitor: &mut V) {
        let _alarm = Alarm(self);
        let mut path = Vec::new();
        while let Some(task) = self.next() {
            match task {
                Task::Enter { parent, name, ignore } => {
                    self.enter(visitor, &mut path, &parent, &name, &ignore);
                }
                Task::Run { folder, entries } => self.run(visitor, &mut path, &folder, entries),
                Task::GoOn { folder, ignore, last } => self.go_on(visitor, &folder, ignore, &last),
            }
            self.done();
        }
    }

    fn enter<V: Visitor>(
        &self,
        visitor: &mut V,
        path: &mut Vec<u8>,
        parent: &Arc<Folder>,
        name: &OsStr,
        ignore: &IgnoreRules,
    ) {
        set_path(path, parent, name);
        path.push(b'/');
        if !visitor.wants(path) {
            return;
        }
        visitor.begin(path);
        path.pop();
        if path.len() > MAX_PATH_BYTES {
            return visitor.skipped(path, Skip::TooDeep);
        }
        let opened = parent.dir().and_then(|dir| {
            visitor.folder(&WalkedFile { path, name, dir: &dir });
            parent.enter(&dir, name)
        });
        let (folder, dir) = match opened {
            Ok(opened) => opened,
            Err(error) => return visitor.skipped(path, reason(&error)),
        };
        if self.rules.is_own_folder(folder.id()) {
            return visitor.skipped(path, Skip::Closed);
        }
        visitor.entered(path, &dir);
        let listing = Listing::read(&dir, folder.rel(), self.rules, ignore, self.filter);
        match listing {
            Ok(listing) => self.add(&folder, listing),
            Err(error) => visitor.skipped(path, reason(&error)),
        }
    }

    fn go_on<V: Visitor>(&self, visitor: &mut V, folder: &Arc<Folder>, ignore: IgnoreRules, last: &DirEntry) {
        let listing = folder
            .dir()
            .and_then(|dir| Listing::read_after(last, &dir, folder.rel(), self.rules, ignore, self.filter));
        match listing {
            Ok(listing) => self.add(folder, listing),
            Err(error) => visitor.skipped(folder.rel().as_bytes(), reason(&error)),
        }
    }

    fn run<V: Visitor>(
        &self,
        visitor: &mut V,
        path: &mut Vec<u8>,
        folder: &Arc<Folder>,
        entries: VecDeque<ListedEntry>,
    ) {
        let dir = folder.dir();
        let mut begun = false;
        for entry in entries {
            if self.is_stopped() {
                return;
            }
            set_path(path, folder, &entry.name);
            if !visitor.wants(path) {
                continue;
            }
            if !begun {
                visitor.begin(path);
                begun = true;
            }
            match (entry.verdict, &dir) {
                (Verdict::Skipped(reason), Ok(dir)) => {
                    visitor.skipped_entry(&WalkedFile { path, name: &entry.name, dir }, reason);
                }
                (Verdict::Skipped(reason), Err(_)) => visitor.skipped(path, reason),
                (Verdict::File, Ok(dir)) => visitor.file(&WalkedFile { path, name: &entry.name, dir }),
                (Verdict::File, Err(error)) => visitor.skipped(path, reason(error)),
                (Verdict::Folder, _) => unreachable!("a run has no folders"),
            }
        }
    }

    /// Puts the entries of a folder on the stack, the first on top.
    fn add(&self, folder: &Arc<Folder>, listing: Listing) {
        let Listing { entries, ignore, last } = listing;
        let mut tasks = Vec::new();
        tasks.extend(last.map(|last| {
            let (folder, ignore) = (Arc::clone(folder), ignore.clone());
            Task::GoOn { folder, ignore, last }
        }));
        let mut run = VecDeque::new();
        for entry in entries.into_iter().rev() {
            let is_folder = entry.verdict == Verdict::Folder;
            if !run.is_empty() && (is_folder || run.len() == ENTRIES_PER_RUN) {
                tasks.push(Task::Run { folder: Arc::clone(folder), entries: std::mem::take(&mut run) });
            }
            if is_folder {
                let (parent, ignore) = (Arc::clone(folder), ignore.clone());
                tasks.push(Task::Enter { parent, name: entry.name, ignore });
            } else {
                run.push_front(entry);
            }
        }
        if !run.is_empty() {
            tasks.push(Task::Run { folder: Arc::clone(folder), entries: run });
        }
        let added = tasks.len();
        let mut queue = self.lock();
        queue.tasks.append(&mut tasks);
        // The thread that adds takes one itself.
        if queue.idle > 0 && added > 1 {
            self.changed.notify_all();
        }
    }

    fn next(&self) -> Option<Task> {
        let mut queue = self.lock();
        loop {
            if self.is_stopped() {
                return None;
            }
            if let Some(task) = queue.tasks.pop() {
                queue.busy += 1;
                return Some(task);
            }
            if queue.busy == 0 {
                return None;
            }
            queue.idle += 1;
            let woken = self.changed.wait_timeout(queue, IDLE);
            queue = woken.unwrap_or_else(PoisonError::into_inner).0;
            queue.idle -= 1;
        }
    }

    fn done(&self) {
        let mut queue = self.lock();
        queue.busy -= 1;
        if queue.idle > 0 && (queue.busy == 0 || !queue.tasks.is_empty()) {
            self.changed.notify_all();
        }
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || self.cancel.is_raised()
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops the other threads when one panics, so that the panic is seen and nobody waits for its task.
struct Alarm<'a, 'b>(&'a WalkState<'b>);

impl Drop for Alarm<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stopped.store(true, Ordering::Relaxed);
        }
    }
}

/// Writes the path of an entry into a buffer that is used again and again.
fn set_path(path: &mut Vec<u8>, folder: &Folder, name: &OsStr) {
    path.clear();
    path.extend_from_slice(folder.rel().as_bytes());
    if !folder.rel().is_root() {
        path.push(b'/');
    }
    path.extend_from_slice(name.as_bytes());
}

/// Returns why something that a listing named could not be opened.
pub(super) fn reason(error: &FileError) -> Skip {
    match error {
        // Something else took the name after the listing.
        FileError::Symlink | FileError::NotADirectory => Skip::Link,
        FileError::NotRegular(_) | FileError::IsADirectory | FileError::SystemFiles => Skip::Special,
        _ => Skip::Unreadable,
    }
}
