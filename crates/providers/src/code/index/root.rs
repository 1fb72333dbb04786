//! The index of one root: loaded, brought up to date, asked, written.
//!
//! A question never looks at files itself. It finds the index current, or starts a thread that makes it so and
//! waits for that as long as it has patience; then it answers from what is known, says so, and the thread continues.
//! A caller who gives up takes the thread along, unless others wait for it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bailiwick_contract::{Cancel, ErrorCode, Failure};
use bailiwick_platform::fs::{Dir, FileId};
use bailiwick_policy::PermittedPath;

use super::disk::Owner;
use super::entry::Outcome;
use super::file;
use super::hit::Sources;
use super::look::{FileSurvey, Needle, lock, may_define};
use super::question::{self, Page, SymbolQuery};
use super::table::Table;
use super::watched::{Depth, RootWatches};
use crate::parser::ParserPool;

/// How long one look at everything may take.
const MAX_LOOK: Duration = Duration::from_secs(900);
/// After how long everything is checked again although no change was heard of: a program can write by ways that
/// are not told, such as memory that it shares with the file.
const TRUSTED_FOR: Duration = Duration::from_secs(300);
/// How long a question sleeps before it looks at its cancellation flag.
const TURN: Duration = Duration::from_millis(20);
/// How much earlier than its deadline a question gives up waiting, so that it can still answer.
const ANSWERING: Duration = Duration::from_millis(500);
/// How long changes wait until they are written.
const WRITTEN_EVERY: Duration = Duration::from_secs(60);
/// How many folders are checked again one by one; where more have changed, everything is checked.
const MAX_FOLDERS: usize = 256;

/// How it was found out that an index is current.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FreshnessCheck {
    /// The system told of no change, or of changes that were read.
    Watched,
    /// Every file's size, times and identity were compared.
    Compared,
}

/// What an answer rests on.
#[derive(Debug, Clone)]
pub struct IndexStatus {
    /// Whether every file was read that should be.
    pub complete: bool,
    /// Whether, although not, all files were read that have the name of the question.
    pub named: bool,
    /// How that was found out.
    pub checked: FreshnessCheck,
    /// How many files are held.
    pub files: usize,
    /// How many definitions are held.
    pub symbols: usize,
    /// How many files were not read whole, by reason.
    pub partial: BTreeMap<&'static str, usize>,
}

/// The index of one root.
pub(super) struct RootIndex {
    pub key: String,
    id: FileId,
    path: PathBuf,
    table: Mutex<Table>,
    watched: Mutex<RootWatches>,
    pub sources: Sources,
    parsers: Arc<ParserPool>,
    progress: Mutex<Progress>,
    changed: Condvar,
}

struct Progress {
    loaded: bool,
    rules: [u8; 32],
    running: Option<IndexBuild>,
    /// Questions that wait.
    waiting: usize,
    /// Whether a look at everything has ended well, and nothing has failed since.
    complete: bool,
    /// When the last of them began.
    compared: Option<Instant>,
    /// When the last look began that has ended well.
    current: Option<Instant>,
    look: u32,
    failed: Option<Failure>,
    /// How many changes the table had when it was written or read; `None` where that was by other rules.
    on_disk: Option<usize>,
    written: Option<Instant>,
    used: Instant,
}

struct IndexBuild {
    cancel: Cancel,
    began: Instant,
    /// The name that comes first.
    name: Option<String>,
    /// Whether all files that have it were read.
    named: bool,
    /// Whether it does what one before it was cancelled for.
    postponed: bool,
    rules: [u8; 32],
}

/// What must be checked.
enum RequiredCheck {
    Nothing,
    Folders(BTreeMap<Vec<u8>, Depth>),
    Everything,
}

impl RootIndex {
    /// Creates an index that is not loaded yet.
    pub fn new(key: String, id: FileId, path: PathBuf, parsers: Arc<ParserPool>) -> Self {
        Self {
            key,
            id,
            path,
            table: Mutex::default(),
            watched: Mutex::default(),
            sources: Sources::default(),
            parsers,
            progress: Mutex::new(Progress {
                loaded: false,
                rules: [0; 32],
                running: None,
                waiting: 0,
                complete: false,
                compared: None,
                current: None,
                look: 0,
                failed: None,
                on_disk: Some(0),
                written: None,
                used: Instant::now(),
            }),
            changed: Condvar::new(),
        }
    }

    /// Brings the index up to date, for so long as the caller has patience.
    ///
    /// # Errors
    /// What opening the root gives; `cancelled`.
    pub fn refresh(
        self: &Arc<Self>,
        root: &PermittedPath,
        dir: &Dir,
        name: &str,
        patience: Duration,
        cancel: &Cancel,
    ) -> Result<IndexStatus, Failure> {
        let asked = Instant::now();
        let until = (asked + patience).min(cancel.deadline().checked_sub(ANSWERING).unwrap_or(asked));
        let rules = root.rules().fingerprint();
        let mut checked = FreshnessCheck::Watched;
        let (mut started, mut postpones) = (false, false);
        let mut progress = lock(&self.progress);
        progress.used = asked;
        loop {
            if let Some(failure) = progress.failed.take() {
                return Err(failure);
            }
            match &progress.running {
                None => {
                    self.load(&mut progress, root, rules);
                    match self.due(&progress, dir, asked) {
                        RequiredCheck::Nothing => return Ok(self.standing(true, true, checked)),
                        due => {
                            if matches!(due, RequiredCheck::Everything) {
                                checked = FreshnessCheck::Compared;
                            }
                            started = true;
                            self.start(&mut progress, root, due, name)?;
                            if let Some(running) = &mut progress.running {
                                running.postponed = postpones;
                            }
                        }
                    }
                }
                // What has cancelled it knows what has changed.
                Some(running) if running.cancel.is_raised() => {}
                Some(running) if running.rules != rules => running.cancel.cancel(),
                Some(running) if running.named && running.name.as_deref() == Some(name) => {
                    if started {
                        return Ok(self.standing(false, true, FreshnessCheck::Compared));
                    }
                    if running.began.elapsed() <= TRUSTED_FOR && self.is_unchanged(dir) {
                        return Ok(self.standing(false, true, FreshnessCheck::Watched));
                    }
                    running.cancel.cancel();
                }
                // All the rest is read on when the files of this question were; a second time it goes first, so that
                // it comes to an end however fast questions come. One without a name needs all the rest.
                Some(running) if running.named && !running.postponed && Needle::new(name).is_some() => {
                    running.cancel.cancel();
                    postpones = true;
                }
                Some(_) => {}
            }
            let now = Instant::now();
            if now >= until {
                return Ok(self.standing(false, false, FreshnessCheck::Compared));
            }
            progress.waiting += 1;
            let woken = self.changed.wait_timeout(progress, TURN.min(until - now));
            progress = woken.unwrap_or_else(PoisonError::into_inner).0;
            progress.waiting -= 1;
            if let Err(failure) = cancel.check() {
                if let Some(running) = progress.running.as_ref().filter(|_| progress.waiting == 0) {
                    running.cancel.cancel();
                }
                return Err(failure);
            }
        }
    }

    /// Finds definitions in what is known.
    pub fn find(&self, folder: &[u8], query: &SymbolQuery) -> Page {
        question::find(&lock(&self.table), folder, query)
    }

    /// Returns whether nobody has asked for a while, and nothing runs.
    pub fn is_idle(&self, for_at_least: Duration) -> bool {
        let progress = lock(&self.progress);
        progress.running.is_none() && progress.waiting == 0 && progress.used.elapsed() >= for_at_least
    }

    /// Ends what runs.
    pub fn stop(&self) {
        if let Some(running) = &lock(&self.progress).running {
            running.cancel.cancel();
        }
    }

    /// Writes changes that have waited.
    pub fn write(&self, now: bool) {
        let rules = {
            let progress = lock(&self.progress);
            let soon = now || progress.written.is_none_or(|at| at.elapsed() >= WRITTEN_EVERY);
            let is_on_disk = progress.on_disk == Some(lock(&self.table).changes());
            if is_on_disk || !progress.complete || progress.running.is_some() || !soon {
                return;
            }
            progress.rules
        };
        self.write_down(rules);
    }

    fn write_down(&self, rules: [u8; 32]) {
        let (content, changes) = {
            let table = lock(&self.table);
            (super::disk::encode(&table, &Owner { root: self.id, rules }), table.changes())
        };
        // What cannot be written is read again by the next service.
        let written = file::write(&self.path, &content);
        let mut progress = lock(&self.progress);
        progress.written = Some(Instant::now());
        if written.is_ok() && progress.rules == rules {
            progress.on_disk = Some(changes);
        }
    }

    /// Loads what an earlier service has written, and lets go of what the rules close.
    fn load(&self, progress: &mut Progress, root: &PermittedPath, rules: [u8; 32]) {
        let mut table = lock(&self.table);
        if !progress.loaded {
            progress.loaded = true;
            progress.rules = rules;
            if let Some((read, of_rules)) = file::read(&self.path, self.id) {
                *table = read;
                progress.on_disk = Some(table.changes());
                progress.rules = of_rules;
            }
        }
        if progress.rules != rules {
            progress.rules = rules;
            progress.complete = false;
            progress.on_disk = None;
            table.judge(root.rules());
            self.sources.clear();
        }
    }

    fn due(&self, progress: &Progress, dir: &Dir, asked: Instant) -> RequiredCheck {
        let Some(compared) = progress.compared.filter(|_| progress.complete) else {
            return RequiredCheck::Everything;
        };
        if progress.current.is_some_and(|current| current >= asked) {
            // What has changed since then is for the next question.
            return RequiredCheck::Nothing;
        }
        let mut watched = lock(&self.watched);
        if !watched.hears() || compared.elapsed() > TRUSTED_FOR {
            return RequiredCheck::Everything;
        }
        let mut changes = watched.changes(dir, may_define);
        let mut table = lock(&self.table);
        for path in &changes.gone {
            table.retain(path, |_, _| false);
        }
        let of_names = table.files.iter().filter(|(_, entry)| entry.several_names);
        for (path, _) in of_names {
            let folder = path.iter().rposition(|byte| *byte == b'/').map_or(&path[..0], |end| &path[..end]);
            if !changes.folders.contains_key(folder) {
                changes.folders.insert(folder.to_vec(), Depth::Entries);
            }
        }
        if changes.everything || changes.folders.len() > MAX_FOLDERS {
            RequiredCheck::Everything
        } else if changes.folders.is_empty() {
            RequiredCheck::Nothing
        } else {
            RequiredCheck::Folders(changes.folders)
        }
    }

    /// Returns whether nothing has changed in the folders that a look which still runs has entered. Where it has, it
    /// has to look again: what was heard is not heard twice.
    fn is_unchanged(&self, dir: &Dir) -> bool {
        let mut watched = lock(&self.watched);
        if !watched.hears() || lock(&self.table).files.values().any(|entry| entry.several_names) {
            return false;
        }
        let changes = watched.changes(dir, may_define);
        !changes.everything && changes.folders.is_empty() && changes.gone.is_empty()
    }

    fn start(
        self: &Arc<Self>,
        progress: &mut Progress,
        root: &PermittedPath,
        due: RequiredCheck,
        name: &str,
    ) -> Result<(), Failure> {
        let cancel = Cancel::after(MAX_LOOK);
        let everything = matches!(due, RequiredCheck::Everything);
        // Only where much may have to be read does it matter what comes first.
        let needle = if everything { Needle::new(name) } else { None };
        progress.running = Some(IndexBuild {
            cancel: cancel.clone(),
            began: Instant::now(),
            name: needle.is_some().then(|| name.to_owned()),
            named: false,
            postponed: false,
            rules: progress.rules,
        });
        let (index, root) = (Arc::clone(self), root.clone());
        let work = move || {
            let mut ended = LookGuard { index: &index, result: None, began: Instant::now(), everything };
            ended.result = Some(index.work(&root, due, needle.as_ref(), &cancel));
            let now = everything && matches!(ended.result, Some(Ok(())));
            drop(ended);
            index.write(now);
        };
        match std::thread::Builder::new().name("code-index".to_owned()).spawn(work) {
            Ok(_) => Ok(()),
            Err(error) => {
                progress.running = None;
                progress.complete = false;
                Err(Failure::new(ErrorCode::ExecutionFailed, format!("no thread can be started: {error}")))
            }
        }
    }

    /// Looks at what is due.
    fn work(
        &self,
        root: &PermittedPath,
        due: RequiredCheck,
        needle: Option<&Needle>,
        cancel: &Cancel,
    ) -> Result<(), Failure> {
        let number = {
            let mut progress = lock(&self.progress);
            progress.look += 1;
            progress.look
        };
        let look = FileSurvey {
            table: &self.table,
            watched: &self.watched,
            parsers: &self.parsers,
            cancel,
            number,
            needle,
        };
        match due {
            RequiredCheck::Nothing => {}
            RequiredCheck::Folders(folders) => {
                for (folder, depth) in folders {
                    look.folder(root, &folder, depth)?;
                }
            }
            RequiredCheck::Everything => {
                lock(&self.watched).renew();
                let deferred = look.folder(root, b"", Depth::All)?;
                if needle.is_none() || deferred == 0 {
                    return Ok(());
                }
                if let Some(running) = &mut lock(&self.progress).running {
                    running.named = true;
                }
                self.changed.notify_all();
                FileSurvey { needle: None, ..look }.folder(root, b"", Depth::All)?;
            }
        }
        Ok(())
    }

    fn standing(&self, complete: bool, named: bool, checked: FreshnessCheck) -> IndexStatus {
        let table = lock(&self.table);
        let (mut files, mut partial) = (0, BTreeMap::new());
        for entry in table.files.values() {
            files += usize::from(entry.outcome != Outcome::NoSource);
            if let Some(reason) = entry.outcome.as_str() {
                *partial.entry(reason).or_default() += 1;
            }
        }
        IndexStatus { complete, named, checked, files, symbols: table.symbols(), partial }
    }
}

/// Takes note of the end of a look, also when it panics.
struct LookGuard<'a> {
    index: &'a RootIndex,
    result: Option<Result<(), Failure>>,
    began: Instant,
    everything: bool,
}

impl Drop for LookGuard<'_> {
    fn drop(&mut self) {
        let mut progress = lock(&self.index.progress);
        progress.running = None;
        match self.result.take() {
            Some(Ok(())) => {
                progress.current = Some(self.began);
                if self.everything {
                    progress.complete = true;
                    progress.compared = Some(self.began);
                }
            }
            // What was read until then stays; the next question continues from there.
            Some(Err(failure)) if failure.code == ErrorCode::Cancelled => progress.complete = false,
            Some(Err(failure)) => {
                progress.complete = false;
                progress.failed = Some(failure);
            }
            None => {
                progress.complete = false;
                progress.failed =
                    Some(Failure::new(ErrorCode::ExecutionFailed, "reading definitions failed"));
            }
        }
        drop(progress);
        self.index.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::search::Globs;
    use bailiwick_contract::{RawPath, id};
    use bailiwick_policy::{OwnFolders, RootPaths, Scope};

    use super::super::question::{Match, WantedName};
    use super::*;

    struct TestFolder {
        folder: PathBuf,
        index: Arc<RootIndex>,
        root: PermittedPath,
    }

    impl TestFolder {
        fn new() -> Self {
            let folder = std::env::temp_dir().join(format!("bailiwick-index-{}", id::new_id()));
            fs::create_dir_all(folder.join("root/a")).expect("made");
            let config = serde_json::json!({"id": "app", "roots": [folder.join("root")]});
            let config = serde_json::from_value(config).expect("a good scope");
            let scope =
                Scope::compile(&config, &RootPaths::default(), &OwnFolders::default()).expect("a good scope");
            let root = scope.readable(&RawPath(".".to_owned())).expect("the root");
            let id = root.open_dir_itself().expect("it is there").id();
            let index = Arc::new(RootIndex::new(
                "key".to_owned(),
                id,
                folder.join("code/key"),
                Arc::new(ParserPool::in_this_process()),
            ));
            Self { folder, index, root }
        }

        fn write(&self, path: &str, content: &str) {
            fs::write(self.folder.join("root").join(path), content).expect("written");
        }

        fn names(&self) -> (Vec<String>, FreshnessCheck) {
            let dir = self.root.open_dir_itself().expect("it is there");
            let cancel = Cancel::after(Duration::from_secs(60));
            let standing = self
                .index
                .refresh(&self.root, &dir, "", Duration::from_secs(60), &cancel)
                .expect("it can be read");
            assert!(standing.complete);
            let query = SymbolQuery {
                name: WantedName::parse("it").expect("a name"),
                matching: Match::Prefix,
                kinds: Vec::new(),
                languages: Vec::new(),
                globs: Globs::compile("glob", &[], false, b"").expect("no globs"),
                offset: 0,
                keep: 100,
            };
            let mut names: Vec<String> =
                self.index.find(b"", &query).candidates.into_iter().map(|it| it.name).collect();
            names.sort_unstable();
            (names, standing.checked)
        }
    }

    impl Drop for TestFolder {
        fn drop(&mut self) {
            // What still runs may be writing.
            while !self.index.is_idle(Duration::ZERO) {
                std::thread::sleep(TURN);
            }
            let _ = bailiwick_platform::fs::remove_tree(&self.folder);
        }
    }

    #[test]
    fn where_no_change_is_heard_of_every_file_is_compared() {
        let temporary = TestFolder::new();
        lock(&temporary.index.watched).stop();
        temporary.write("a/one.rs", "fn it_one() {}");
        assert_eq!(temporary.names(), (vec!["it_one".to_owned()], FreshnessCheck::Compared));
        temporary.write("a/two.rs", "fn it_two() {}");
        temporary.write("a/one.rs", "fn it_three() {}");
        assert_eq!(
            temporary.names(),
            (vec!["it_three".to_owned(), "it_two".to_owned()], FreshnessCheck::Compared)
        );
        fs::remove_file(temporary.folder.join("root/a/two.rs")).expect("removed");
        assert_eq!(temporary.names(), (vec!["it_three".to_owned()], FreshnessCheck::Compared));
    }

    #[test]
    fn a_file_that_changes_in_the_same_instant_and_size_is_read_again() {
        let temporary = TestFolder::new();
        lock(&temporary.index.watched).stop();
        for round in 0..50 {
            temporary.write("a/one.rs", &format!("fn it_{}() {{}}", round % 10));
            assert_eq!(temporary.names().0, [format!("it_{}", round % 10)]);
        }
    }

    #[test]
    fn what_a_look_has_read_before_it_was_cancelled_is_written() {
        let temporary = TestFolder::new();
        let index = &temporary.index;
        temporary.write("a/one.rs", "fn it_one() {}");
        let cancel = Cancel::after(Duration::from_secs(60));
        index.load(&mut lock(&index.progress), &temporary.root, temporary.root.rules().fingerprint());
        index.work(&temporary.root, RequiredCheck::Everything, None, &cancel).expect("it can be read");
        let result = Some(Err(Failure::new(ErrorCode::Cancelled, "for another question")));
        drop(LookGuard { index, result, began: Instant::now(), everything: true });
        // The next look finds all of it read.
        assert_eq!(temporary.names(), (vec!["it_one".to_owned()], FreshnessCheck::Compared));
        index.write(true);
        assert!(index.path.exists());
    }

    impl TestFolder {
        /// Makes it look as if a look at everything had read the files that have a name, and still read the rest.
        fn reads_the_rest(&self, name: &str) -> Cancel {
            let cancel = Cancel::after(Duration::from_secs(60));
            let mut progress = lock(&self.index.progress);
            progress.complete = false;
            progress.running = Some(IndexBuild {
                cancel: cancel.clone(),
                began: Instant::now(),
                name: Some(name.to_owned()),
                named: true,
                postponed: false,
                rules: progress.rules,
            });
            cancel
        }

        /// Asks without patience for more than what is known.
        fn ask(&self, name: &str) -> IndexStatus {
            let dir = self.root.open_dir_itself().expect("it is there");
            let cancel = Cancel::after(Duration::from_secs(60));
            self.index.refresh(&self.root, &dir, name, Duration::ZERO, &cancel).expect("it can be read")
        }

        /// Ends what [`Self::reads_the_rest`] made.
        fn rest_is_read(&self) {
            lock(&self.index.progress).running = None;
        }
    }

    #[test]
    fn a_question_that_comes_again_while_the_rest_is_read_leaves_it_running() {
        let temporary = TestFolder::new();
        temporary.write("a/one.rs", "fn it_one() {}");
        assert_eq!(temporary.names().1, FreshnessCheck::Compared);
        let rest = temporary.reads_the_rest("it_one");
        for _ in 0..3 {
            let answer = temporary.ask("it_one");
            assert_eq!(
                (answer.named, answer.complete, answer.checked),
                (true, false, FreshnessCheck::Watched)
            );
        }
        assert!(!rest.is_raised(), "it continues");
        // One that is about all names waits for the rest.
        assert!(!temporary.ask("").named);
        assert!(!rest.is_raised(), "it continues");
        temporary.write("a/one.rs", "fn it_two() {}");
        assert!(!temporary.ask("it_one").named, "what has changed is not answered for");
        assert!(rest.is_raised(), "everything is checked again");
        temporary.rest_is_read();
        assert_eq!(temporary.names().0, ["it_two"]);
    }

    #[test]
    fn a_question_about_another_name_goes_before_the_rest_once() {
        let temporary = TestFolder::new();
        temporary.write("a/one.rs", "fn it_one() {}");
        temporary.names();
        let rest = temporary.reads_the_rest("it_one");
        assert!(!temporary.ask("it_two").named);
        assert!(rest.is_raised());
        let rest = temporary.reads_the_rest("it_two");
        if let Some(running) = &mut lock(&temporary.index.progress).running {
            running.postponed = true;
        }
        assert!(!temporary.ask("it_three").named);
        assert!(!rest.is_raised(), "it has waited once");
        temporary.rest_is_read();
    }

    #[test]
    fn a_look_that_was_cut_short_is_not_taken_for_a_whole_one() {
        let temporary = TestFolder::new();
        temporary.write("a/one.rs", "fn it_one() {}");
        let dir = temporary.root.open_dir_itself().expect("it is there");
        let gone = Cancel::after(Duration::from_secs(60));
        gone.cancel();
        let ended = temporary.index.refresh(&temporary.root, &dir, "", Duration::from_secs(60), &gone);
        assert_eq!(ended.expect_err("it was given up").code, ErrorCode::Cancelled);
        assert_eq!(temporary.names().0, ["it_one"]);
    }
}
