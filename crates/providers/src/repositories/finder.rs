//! Where the repositories and the closed files below one root are: looked for once, then kept up to date by what the
//! system tells.
//!
//! Every folder is watched before its entries are read, so that no change falls between. Where not all folders can be
//! watched, every look is a walk.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bailiwick_platform::fs::{
    Dir, DrainResult, FileError, FileKind, FolderWatch, Ownership, RelPath, WatchId,
};
use bailiwick_platform::names::OsStrExt;
use bailiwick_policy::PathRules;

/// How many folders of one root are watched at most: each takes about a kilobyte of the system's memory.
const MAX_WATCHED: usize = 65_536;
/// How long it may take to watch every folder, once: some 20 µs for each, and more on a busy computer.
const MAX_START: Duration = Duration::from_secs(10);
/// How long one look at every folder may take that are not watched; it is made before and after each command.
const MAX_WALK: Duration = Duration::from_secs(2);
/// How long every look is a walk where not all folders could be watched.
const PAUSE: Duration = Duration::from_secs(600);
/// How many folders above each other are followed.
const MAX_DEPTH: usize = 512;

/// What commands must leave alone below a root, as paths beneath it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct RootContents {
    /// The folders that have a `.git` or are laid out like a bare repository.
    pub repositories: BTreeSet<Vec<u8>>,
    /// Folders of this user that cannot be read: a command could open them again, and what is in them.
    pub unreadable: BTreeSet<Vec<u8>>,
    /// Files and folders that the rules close to commands; none of them is in another.
    pub closed: BTreeSet<Vec<u8>>,
    /// Whether every folder was checked.
    pub is_complete: bool,
}

/// Finds the repositories and the closed files below one root.
#[derive(Debug)]
pub(super) struct Finder {
    rules: Arc<PathRules>,
    watched: Option<WatchedFolder>,
    /// Until when it is not tried to watch every folder, since that could not be done.
    gives_up_until: Option<Instant>,
}

impl Finder {
    /// Creates a finder of what these rules close.
    pub fn new(rules: Arc<PathRules>) -> Self {
        Self { rules, watched: None, gives_up_until: None }
    }

    /// Returns what is below the root now.
    pub fn find(&mut self, root: &Dir) -> RootContents {
        if let Some(watched) = &mut self.watched
            && let Some(found) = watched.update(root)
        {
            return found;
        }
        // Never two at a time: each takes watches.
        self.watched = None;
        let now = Instant::now();
        if self.gives_up_until.is_none_or(|until| now > until) {
            if let Some((watched, found)) = WatchedFolder::new(root, &self.rules) {
                self.watched = Some(watched);
                return found;
            }
            self.gives_up_until = Some(now + PAUSE);
        }
        walk(root, &self.rules)
    }
}

#[derive(Debug)]
struct WatchedFolder {
    rules: Arc<PathRules>,
    watch: FolderWatch,
    folders: HashMap<WatchId, Folder>,
    /// Those of them that are repositories.
    repositories: BTreeSet<WatchId>,
    /// Folders that could not be read, by their parents and names. They are tried again each time.
    unreadable: BTreeSet<(WatchId, OsString)>,
    /// Names that the rules close, by the folders that they are in. Some may be gone.
    closed: BTreeSet<(WatchId, OsString)>,
    /// How many folders there were after the first walk.
    first_count: usize,
    max_folders: usize,
}

#[derive(Debug)]
struct Folder {
    /// The folder that holds it; `None` for the root.
    parent: Option<WatchId>,
    name: OsString,
}

/// Folders that are to be entered: their parent, open, and their name in it.
type FolderQueue<Id> = Vec<(Rc<Dir>, Id, OsString)>;

/// Whether the rules judge again what is in a folder that is known: its path is another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FolderVisit {
    /// Wherever it was.
    Any,
    /// Another than before, since a folder above it was moved.
    Moved,
}

impl WatchedFolder {
    /// Watches every folder of a root; `None` where that cannot be done.
    fn new(root: &Dir, rules: &Arc<PathRules>) -> Option<(Self, RootContents)> {
        let dir = root.open_dir_beneath(&RelPath::root()).ok()?;
        if !FolderWatch::hears(&dir) {
            return None;
        }
        let mut watched = Self {
            rules: Arc::clone(rules),
            watch: FolderWatch::new().ok()?,
            folders: HashMap::new(),
            repositories: BTreeSet::new(),
            unreadable: BTreeSet::new(),
            closed: BTreeSet::new(),
            first_count: 0,
            max_folders: MAX_WATCHED.min(FolderWatch::max_folders() / 4),
        };
        watched.enter(dir, None, OsString::new()).ok()?;
        watched.first_count = watched.folders.len();
        let found = watched.found(root).ok()?;
        Some((watched, found))
    }

    /// Takes what has happened since the last time; `None` if that is not known, or too much to be told.
    fn update(&mut self, root: &Dir) -> Option<RootContents> {
        let (mut to_read, mut to_enter, mut to_judge) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let drained = self.watch.drain(|event| {
            if !event.is_name {
                return;
            }
            if event.is_folder {
                to_enter.insert((event.folder, event.name.to_owned()));
            }
            if Layout::has(event.name) {
                to_read.insert(event.folder);
            }
            to_judge.insert((event.folder, event.name.to_owned()));
        });
        // Folders that are gone are not told of: start over before they add up.
        if drained.ok()? == DrainResult::Lost || self.folders.len() > 2 * self.first_count + 10_000 {
            return None;
        }
        to_enter.append(&mut self.unreadable);
        // A folder that was moved is found only once that is noted: again, as long as more are found.
        let mut left = 0;
        while !to_enter.is_empty() && to_enter.len() != left {
            left = to_enter.len();
            for (parent, name) in std::mem::take(&mut to_enter) {
                let dir = match self.open(parent, root) {
                    Ok(dir) => dir,
                    Err(FolderOpenError::Gone) => {
                        to_enter.insert((parent, name));
                        continue;
                    }
                    Err(FolderOpenError::Closed) => return None,
                };
                match dir.open_dir(&name) {
                    Ok(_) if is_git(&name) => {}
                    Ok(child) => self.enter(child, Some(parent), name).ok()?,
                    Err(error) => self.note_unopened(&dir, parent, name, &error),
                }
            }
        }
        for id in to_read {
            let layout = match self.open(id, root) {
                Ok(dir) => read(&dir, |_| {}, |_, _| {}).ok()?,
                Err(FolderOpenError::Gone) => continue,
                // Begin again: it counts among those that cannot be read then.
                Err(FolderOpenError::Closed) => return None,
            };
            if layout.is_repository() {
                self.repositories.insert(id);
            } else {
                self.repositories.remove(&id);
            }
        }
        let mut paths = HashMap::new();
        for (id, name) in to_judge {
            let path: &Option<RelPath> = paths.entry(id).or_insert_with(|| self.path(id));
            if path.as_ref().is_some_and(|path| self.rules.rule_for_commands(path, &name).is_some()) {
                self.closed.insert((id, name));
            }
        }
        self.found(root).ok()
    }

    /// Opens a folder that is watched, unless another has taken its place.
    fn open(&self, id: WatchId, root: &Dir) -> Result<Dir, FolderOpenError> {
        let path = self.path(id).ok_or(FolderOpenError::Gone)?;
        let dir = root.open_dir_beneath(&path).map_err(|error| match error {
            FileError::Denied => FolderOpenError::Closed,
            _ => FolderOpenError::Gone,
        })?;
        match self.watch.add_names(&dir) {
            Ok(found) if found == id => Ok(dir),
            _ => Err(FolderOpenError::Gone),
        }
    }

    fn note_unopened(&mut self, above: &Dir, parent: WatchId, name: OsString, error: &FileError) {
        if !is_harmless(above, &name, error) {
            self.unreadable.insert((parent, name));
        }
    }

    /// Watches a folder and all beneath it.
    fn enter(&mut self, dir: Dir, parent: Option<WatchId>, name: OsString) -> Result<(), WatchError> {
        let until = Instant::now() + MAX_START;
        let mut pending: FolderQueue<(WatchId, FolderVisit)> = Vec::new();
        self.enter_one(dir, (parent, name), FolderVisit::Any, &mut pending)?;
        while let Some((above, (parent, place), name)) = pending.pop() {
            if Instant::now() > until {
                return Err(WatchError);
            }
            match above.open_dir(&name) {
                Ok(dir) => self.enter_one(dir, (Some(parent), name), place, &mut pending)?,
                Err(error) => self.note_unopened(&above, parent, name, &error),
            }
        }
        Ok(())
    }

    fn enter_one(
        &mut self,
        dir: Dir,
        (parent, name): (Option<WatchId>, OsString),
        mut place: FolderVisit,
        pending: &mut FolderQueue<(WatchId, FolderVisit)>,
    ) -> Result<(), WatchError> {
        let id = self.watch.add_names(&dir).map_err(|_| WatchError)?;
        let is_full = self.folders.len() >= self.max_folders;
        match self.folders.get_mut(&id) {
            Some(known) => {
                if place == FolderVisit::Any && known.parent == parent && known.name == name {
                    return Ok(());
                }
                // It was moved, with all that is beneath it.
                (known.parent, known.name) = (parent, name);
                place = FolderVisit::Moved;
            }
            None if is_full => return Err(WatchError),
            None => drop(self.folders.insert(id, Folder { parent, name })),
        }
        let path = self.path(id).ok_or(WatchError)?;
        let (mut names, mut closed) = (Vec::new(), Vec::new());
        let layout = read(
            &dir,
            |folder| names.push(folder.to_owned()),
            |name, _| {
                if self.rules.rule_for_commands(&path, name).is_some() {
                    closed.push((id, name.to_owned()));
                }
            },
        );
        let Ok(layout) = layout else {
            let Some(Folder { parent: Some(parent), name }) = self.folders.remove(&id) else {
                return Err(WatchError);
            };
            self.unreadable.insert((parent, name));
            return Ok(());
        };
        self.closed.extend(closed);
        if layout.is_repository() {
            self.repositories.insert(id);
        }
        let dir = Rc::new(dir);
        pending.extend(names.into_iter().map(|name| (Rc::clone(&dir), (id, place), name)));
        Ok(())
    }

    /// Returns the path of a folder beneath the root.
    fn path(&self, id: WatchId) -> Option<RelPath> {
        let mut names = Vec::new();
        let mut folder = self.folders.get(&id)?;
        while let Some(parent) = folder.parent {
            if names.len() == MAX_DEPTH {
                return None;
            }
            names.push(folder.name.as_bytes());
            folder = self.folders.get(&parent)?;
        }
        names.reverse();
        RelPath::parse(&names.join(&b'/')).ok()
    }

    /// Returns what is still where it was: that a folder is gone is told, but not of what was beneath it.
    fn found(&mut self, root: &Dir) -> Result<RootContents, FolderOpenError> {
        let mut found = RootContents { is_complete: true, ..RootContents::default() };
        for id in &self.repositories {
            match self.open(*id, root) {
                Ok(_) => found.repositories.extend(self.path(*id).map(into_bytes)),
                Err(FolderOpenError::Gone) => {}
                Err(FolderOpenError::Closed) => return Err(FolderOpenError::Closed),
            }
        }
        for (parent, name) in &self.unreadable {
            found.unreadable.extend(self.path(*parent).map(|path| into_bytes(path.child(name))));
        }
        let mut folder: Option<(WatchId, Option<(Dir, RelPath)>)> = None;
        for (id, name) in std::mem::take(&mut self.closed) {
            if folder.as_ref().is_none_or(|(known, _)| *known != id) {
                let opened = match self.open(id, root) {
                    Ok(dir) => self.path(id).map(|path| (dir, path)),
                    Err(FolderOpenError::Gone) => None,
                    Err(FolderOpenError::Closed) => return Err(FolderOpenError::Closed),
                };
                folder = Some((id, opened));
            }
            if let Some((_, Some((dir, path)))) = &folder
                && self.rules.rule_for_commands(path, &name).is_some()
                && dir.stat(&name).is_ok_and(|stat| holds_content(stat.kind))
            {
                found.closed.insert(into_bytes(path.child(&name)));
                self.closed.insert((id, name));
            }
        }
        found.closed = outermost(found.closed);
        Ok(found)
    }
}

/// Returns whether a name of this kind gives something to read. What a link leads to is judged by its own name.
fn holds_content(kind: FileKind) -> bool {
    matches!(kind, FileKind::File | FileKind::Dir)
}

/// Returns the paths of which none is in another one of them.
fn outermost(paths: BTreeSet<Vec<u8>>) -> BTreeSet<Vec<u8>> {
    let is_inside = |path: &[u8]| {
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        ends.into_iter().any(|end| paths.contains(&path[..end]))
    };
    paths.iter().filter(|path| !is_inside(path)).cloned().collect()
}

fn into_bytes(path: RelPath) -> Vec<u8> {
    path.as_bytes().to_vec()
}

/// Why a watched folder could not be opened.
enum FolderOpenError {
    /// It is gone, or is elsewhere.
    Gone,
    /// This user may not read it, or a folder above it.
    Closed,
}

/// Not every folder can be watched.
struct WatchError;

/// Looks at every folder, without watching any.
fn walk(root: &Dir, rules: &PathRules) -> RootContents {
    let until = Instant::now() + MAX_WALK;
    let mut found = RootContents { is_complete: true, ..RootContents::default() };
    let Ok(top) = root.open_dir_beneath(&RelPath::root()) else { return RootContents::default() };
    let mut pending: FolderQueue<RelPath> = Vec::new();
    let enter = |dir: Dir, path: RelPath, found: &mut RootContents, pending: &mut FolderQueue<RelPath>| {
        let mut names = Vec::new();
        let layout = read(
            &dir,
            |folder| names.push(folder.to_owned()),
            |name, kind| {
                if rules.rule_for_commands(&path, name).is_some() && kind.is_some_and(holds_content) {
                    found.closed.insert(into_bytes(path.child(name)));
                }
            },
        );
        match layout {
            Ok(layout) if layout.is_repository() => drop(found.repositories.insert(into_bytes(path.clone()))),
            Ok(_) => {}
            Err(_) if path.is_root() => found.is_complete = false,
            Err(_) => drop(found.unreadable.insert(into_bytes(path.clone()))),
        }
        let dir = Rc::new(dir);
        pending.extend(names.into_iter().map(|name| (Rc::clone(&dir), path.clone(), name)));
    };
    enter(top, RelPath::root(), &mut found, &mut pending);
    while let Some((above, path, name)) = pending.pop() {
        if Instant::now() > until {
            found.is_complete = false;
            break;
        }
        let child = path.child(&name);
        match above.open_dir(&name) {
            Ok(dir) => enter(dir, child, &mut found, &mut pending),
            Err(error) if is_harmless(&above, &name, &error) => {}
            Err(_) => drop(found.unreadable.insert(into_bytes(child))),
        }
    }
    found.closed = outermost(found.closed);
    found
}

/// Returns whether a folder that could not be opened holds nothing that a command could change.
fn is_harmless(above: &Dir, name: &OsStr, error: &FileError) -> bool {
    match error {
        FileError::SystemFiles | FileError::Symlink | FileError::NotADirectory => true,
        _ => match above.stat(name) {
            Ok(stat) => stat.kind != FileKind::Dir || !Ownership::of_known(Path::new(""), &stat).is_mine(),
            Err(_) => true,
        },
    }
}

/// Which of the names that make a repository a folder has.
#[derive(Debug, Clone, Copy, Default)]
struct Layout {
    git: bool,
    head: bool,
    common: bool,
    objects: bool,
    refs: bool,
    config: bool,
    hooks: bool,
}

impl Layout {
    /// Returns whether a name counts. In any case: a file system may not tell them apart.
    fn has(name: &OsStr) -> bool {
        Self::default().note(name, true) || Self::default().note(name, false)
    }

    fn note(&mut self, name: &OsStr, is_folder: bool) -> bool {
        // A folder `config` beside one of `hooks` is in many a project.
        let (config, hooks): (&[u8], &[u8]) = if is_folder { (b"", b"hooks") } else { (b"config", b"") };
        let parts: [(&[u8], &mut bool); 7] = [
            (config, &mut self.config),
            (hooks, &mut self.hooks),
            (b".git", &mut self.git),
            (b"HEAD", &mut self.head),
            (b"commondir", &mut self.common),
            (b"objects", &mut self.objects),
            (b"refs", &mut self.refs),
        ];
        let part = parts.into_iter().find(|(part, _)| part.eq_ignore_ascii_case(name.as_bytes()));
        part.map(|(_, is_there)| *is_there = true).is_some()
    }

    /// Returns whether Git may take the folder for a working tree, or for a bare repository; also for one of which a
    /// command has taken away what it can.
    ///
    /// # Source
    /// gitrepository-layout(5): `HEAD`, and `objects` and `refs` here or in what `commondir` names.
    fn is_repository(self) -> bool {
        let is_bare = self.head && (self.common || self.objects && self.refs) || self.config && self.hooks;
        self.git || is_bare
    }
}

fn is_git(name: &OsStr) -> bool {
    name.as_bytes().eq_ignore_ascii_case(b".git")
}

/// Reads a folder: hands over the names of the folders in it that are to be entered, and every name with its kind.
fn read(
    dir: &Dir,
    mut take_folder: impl FnMut(&OsStr),
    mut take: impl FnMut(&OsStr, Option<FileKind>),
) -> Result<Layout, FileError> {
    let mut layout = Layout::default();
    dir.for_each_entry(|name, kind| {
        let kind = kind.or_else(|| dir.stat(name).ok().map(|stat| stat.kind));
        let is_folder = kind == Some(FileKind::Dir);
        layout.note(name, is_folder);
        take(name, kind);
        // What is in Git's own folder is checked by its layout.
        if is_folder && !is_git(name) {
            take_folder(name);
        }
        ControlFlow::Continue(())
    })?;
    Ok(layout)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Self {
            let path =
                std::env::temp_dir().join(format!("bailiwick-found-{}", bailiwick_contract::id::new_id()));
            fs::create_dir_all(&path).expect("a folder is made");
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[derive(Debug, Clone)]
    enum Step {
        Make(Vec<u8>),
        Git(Vec<u8>),
        Bare(Vec<u8>),
        /// Makes a file of a name that is closed anywhere, and one of a name that is closed in the folder `2` alone.
        Write(Vec<u8>),
        /// Makes a folder that is closed with all that is in it.
        Close(Vec<u8>),
        Link(Vec<u8>),
        Remove(Vec<u8>),
        Move(Vec<u8>, Vec<u8>),
        Look,
    }

    fn path() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(0..3_u8, 1..4)
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            path().prop_map(Step::Make),
            path().prop_map(Step::Git),
            path().prop_map(Step::Bare),
            path().prop_map(Step::Write),
            path().prop_map(Step::Close),
            path().prop_map(Step::Link),
            path().prop_map(Step::Remove),
            (path(), path()).prop_map(|(from, to)| Step::Move(from, to)),
            Just(Step::Look),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn what_is_found_by_watching_is_what_a_walk_finds(steps in proptest::collection::vec(step(), 1..25)) {
            let folder = Folder::new();
            let scope = scope(&folder.0);
            let (root, rules) = (&root_of(&scope), scope.path_rules());
            let at = |path: &[u8]| path.iter().fold(folder.0.clone(), |path, name| path.join(name.to_string()));
            let mut finder = Finder::new(Arc::clone(rules));
            for step in steps {
                // Not every step can be done; those that cannot change nothing.
                match step {
                    Step::Make(path) => drop(fs::create_dir_all(at(&path))),
                    Step::Git(path) => drop(fs::create_dir_all(at(&path).join(".git"))),
                    Step::Bare(path) => {
                        for name in ["HEAD", "objects", "refs"] {
                            let _ = fs::create_dir_all(at(&path).join(name));
                        }
                    }
                    Step::Write(path) => {
                        let _ = fs::write(at(&path).join(".env"), "").and_then(|()| fs::write(at(&path).join("x"), ""));
                    }
                    Step::Close(path) => drop(fs::create_dir_all(at(&path).join(".ssh/1"))),
                    Step::Link(path) => {
                        let _ = fs::remove_file(at(&path).join(".env"));
                        let _ = bailiwick_platform::fs::modes::symlink("x", at(&path).join(".env"));
                    }
                    Step::Remove(path) => drop(fs::remove_dir_all(at(&path))),
                    Step::Move(from, to) => drop(fs::rename(at(&from), at(&to))),
                    Step::Look => prop_assert_eq!(finder.find(root), walk(root, rules)),
                }
            }
            prop_assert_eq!(finder.find(root), walk(root, rules));
        }
    }

    fn root_of(scope: &bailiwick_policy::Scope) -> Dir {
        scope.root_paths().next().expect("a root").open_dir().expect("it is open").0
    }

    /// A scope that closes files `x` in folders `2`, and opens `.env` in folders `0`.
    fn scope(folder: &Path) -> bailiwick_policy::Scope {
        let config = serde_json::from_value(serde_json::json!({
            "id": "app",
            "roots": [folder],
            "policy": {"closedFiles": ["**/2/x"], "openSensitive": ["**/0/.env"]},
        }))
        .expect("a config");
        let own = bailiwick_policy::OwnFolders::default();
        bailiwick_policy::Scope::compile(
            &config,
            &bailiwick_policy::RootPaths::new(std::slice::from_ref(&config)),
            &own,
        )
        .expect("a scope")
    }

    #[test]
    fn what_is_in_a_closed_folder_is_closed_with_it() {
        let paths = ["a/.ssh", "a/.ssh-x", "a/.ssh/b", "a/.ssh/c/d", "a/.sshd"];
        let paths = paths.into_iter().map(|path| path.as_bytes().to_vec()).collect();
        let found: Vec<Vec<u8>> = outermost(paths).into_iter().collect();
        assert_eq!(found, [&b"a/.ssh"[..], b"a/.ssh-x", b"a/.sshd"]);
    }

    #[test]
    fn a_look_at_what_has_not_changed_costs_little() {
        let folder = Folder::new();
        for number in 0..2_000 {
            fs::create_dir_all(folder.0.join(format!("{}/{number}", number % 40))).expect("made");
        }
        fs::create_dir(folder.0.join("1/41/.git")).expect("made");
        let scope = scope(&folder.0);
        let root = &root_of(&scope);
        let mut finder = Finder::new(Arc::clone(scope.path_rules()));
        let began = Instant::now();
        let first = finder.find(root);
        let whole = began.elapsed();
        assert_eq!(first.repositories, BTreeSet::from([b"1/41".to_vec()]));
        let began = Instant::now();
        assert_eq!(finder.find(root), first);
        let again = began.elapsed();
        assert!(finder.watched.is_none() || again < whole / 4, "{again:?} of {whole:?}");
    }
}
