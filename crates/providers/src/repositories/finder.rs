//! Where the repositories below one root are: looked for once, then kept up to date by what the system tells.
//!
//! Every folder is watched before its entries are read, so that no change falls between. Where not all folders can be
//! watched, every look is a walk.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use bailiwick_platform::fs::{
    Dir, DoorError, Drained, FileKind, FolderWatch, Ownership, RelPath, Root, WatchId,
};
use bailiwick_platform::names::OsStrExt;

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

/// The repositories below a root.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct RepositoryList {
    /// The folders, beneath the root, that have a `.git` or are laid out like a bare repository.
    pub folders: BTreeSet<Vec<u8>>,
    /// Folders of this user that cannot be read: a command could open them again, and what is in them.
    pub closed: BTreeSet<Vec<u8>>,
    /// Whether every folder was looked at.
    pub is_complete: bool,
}

/// Finds the repositories below one root.
#[derive(Debug, Default)]
pub(super) struct Finder {
    watched: Option<Watched>,
    /// Until when it is not tried to watch every folder, since that could not be done.
    gives_up_until: Option<Instant>,
}

impl Finder {
    /// Returns the repositories that are below the root now.
    pub fn find(&mut self, root: &Root) -> RepositoryList {
        if let Some(watched) = &mut self.watched
            && let Some(found) = watched.update(root)
        {
            return found;
        }
        // Never two at a time: each takes watches.
        self.watched = None;
        let now = Instant::now();
        if self.gives_up_until.is_none_or(|until| now > until) {
            if let Some((watched, found)) = Watched::new(root) {
                self.watched = Some(watched);
                return found;
            }
            self.gives_up_until = Some(now + PAUSE);
        }
        walk(root)
    }
}

#[derive(Debug)]
struct Watched {
    watch: FolderWatch,
    folders: HashMap<WatchId, Folder>,
    /// Those of them that are repositories.
    repositories: BTreeSet<WatchId>,
    /// Folders that could not be read, by their parents and names. They are tried again each time.
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
type Pending<Id> = Vec<(Rc<Dir>, Id, OsString)>;

impl Watched {
    /// Watches every folder of a root; `None` where that cannot be done.
    fn new(root: &Root) -> Option<(Self, RepositoryList)> {
        let dir = root.open_dir(&RelPath::root()).ok()?;
        if !FolderWatch::hears(&dir) {
            return None;
        }
        let mut watched = Self {
            watch: FolderWatch::new().ok()?,
            folders: HashMap::new(),
            repositories: BTreeSet::new(),
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
    fn update(&mut self, root: &Root) -> Option<RepositoryList> {
        let (mut to_read, mut to_enter) = (BTreeSet::new(), BTreeSet::new());
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
        });
        // Folders that are gone are not told of: begin anew before they add up.
        if drained.ok()? == Drained::Lost || self.folders.len() > 2 * self.first_count + 10_000 {
            return None;
        }
        to_enter.append(&mut self.closed);
        // A folder that was moved is found only once that is noted: again, as long as more are found.
        let mut left = 0;
        while !to_enter.is_empty() && to_enter.len() != left {
            left = to_enter.len();
            for (parent, name) in std::mem::take(&mut to_enter) {
                let dir = match self.open(parent, root) {
                    Ok(dir) => dir,
                    Err(Unopened::Gone) => {
                        to_enter.insert((parent, name));
                        continue;
                    }
                    Err(Unopened::Closed) => return None,
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
                Ok(dir) => read(&dir, &mut Vec::new()).ok()?,
                Err(Unopened::Gone) => continue,
                // Begin anew: it counts among those that cannot be read then.
                Err(Unopened::Closed) => return None,
            };
            if layout.is_repository() {
                self.repositories.insert(id);
            } else {
                self.repositories.remove(&id);
            }
        }
        self.found(root).ok()
    }

    /// Opens a folder that is watched, unless another has taken its place.
    fn open(&self, id: WatchId, root: &Root) -> Result<Dir, Unopened> {
        let path = self.path(id).and_then(|path| RelPath::parse(&path).ok()).ok_or(Unopened::Gone)?;
        let dir = root.open_dir(&path).map_err(|error| match error {
            DoorError::Denied => Unopened::Closed,
            _ => Unopened::Gone,
        })?;
        match self.watch.add_names(&dir) {
            Ok(found) if found == id => Ok(dir),
            _ => Err(Unopened::Gone),
        }
    }

    fn note_unopened(&mut self, above: &Dir, parent: WatchId, name: OsString, error: &DoorError) {
        if !is_harmless(above, &name, error) {
            self.closed.insert((parent, name));
        }
    }

    /// Watches a folder and all beneath it.
    fn enter(&mut self, dir: Dir, parent: Option<WatchId>, name: OsString) -> Result<(), Unwatched> {
        let until = Instant::now() + MAX_START;
        let mut pending: Pending<WatchId> = Vec::new();
        self.enter_one(dir, parent, name, &mut pending)?;
        while let Some((above, parent, name)) = pending.pop() {
            if Instant::now() > until {
                return Err(Unwatched);
            }
            match above.open_dir(&name) {
                Ok(dir) => self.enter_one(dir, Some(parent), name, &mut pending)?,
                Err(error) => self.note_unopened(&above, parent, name, &error),
            }
        }
        Ok(())
    }

    fn enter_one(
        &mut self,
        dir: Dir,
        parent: Option<WatchId>,
        name: OsString,
        pending: &mut Pending<WatchId>,
    ) -> Result<(), Unwatched> {
        let id = self.watch.add_names(&dir).map_err(|_| Unwatched)?;
        if let Some(known) = self.folders.get_mut(&id) {
            // It was moved, with all that is beneath it.
            (known.parent, known.name) = (parent, name);
            return Ok(());
        }
        if self.folders.len() >= self.max_folders {
            return Err(Unwatched);
        }
        let mut names = Vec::new();
        let layout = match (read(&dir, &mut names), parent) {
            (Ok(layout), _) => layout,
            (Err(_), Some(parent)) => {
                self.closed.insert((parent, name));
                return Ok(());
            }
            (Err(_), None) => return Err(Unwatched),
        };
        self.folders.insert(id, Folder { parent, name });
        if layout.is_repository() {
            self.repositories.insert(id);
        }
        let dir = Rc::new(dir);
        pending.extend(names.into_iter().map(|name| (Rc::clone(&dir), id, name)));
        Ok(())
    }

    /// Returns the path of a folder beneath the root.
    fn path(&self, id: WatchId) -> Option<Vec<u8>> {
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
        Some(names.join(&b'/'))
    }

    /// Returns the repositories that are still where they were: that a folder is gone is told, but not of what was
    /// beneath it.
    fn found(&self, root: &Root) -> Result<RepositoryList, Unopened> {
        let mut found = RepositoryList { is_complete: true, ..RepositoryList::default() };
        for id in &self.repositories {
            match self.open(*id, root) {
                Ok(_) => found.folders.extend(self.path(*id)),
                Err(Unopened::Gone) => {}
                Err(Unopened::Closed) => return Err(Unopened::Closed),
            }
        }
        for (parent, name) in &self.closed {
            found.closed.extend(self.path(*parent).map(|path| beneath(path, name)));
        }
        Ok(found)
    }
}

/// Why a watched folder could not be opened.
enum Unopened {
    /// It is gone, or lies elsewhere.
    Gone,
    /// This user may not read it, or a folder above it.
    Closed,
}

/// Returns the path of an entry of a folder.
fn beneath(mut folder: Vec<u8>, name: &OsStr) -> Vec<u8> {
    if !folder.is_empty() {
        folder.push(b'/');
    }
    folder.extend_from_slice(name.as_bytes());
    folder
}

/// Not every folder can be watched.
struct Unwatched;

/// Looks at every folder, without watching any.
fn walk(root: &Root) -> RepositoryList {
    let until = Instant::now() + MAX_WALK;
    let mut found = RepositoryList { is_complete: true, ..RepositoryList::default() };
    let Ok(top) = root.open_dir(&RelPath::root()) else { return RepositoryList::default() };
    let mut pending: Pending<Vec<u8>> = Vec::new();
    let enter = |dir: Dir, path: Vec<u8>, found: &mut RepositoryList, pending: &mut Pending<Vec<u8>>| {
        let mut names = Vec::new();
        match read(&dir, &mut names) {
            Ok(layout) if layout.is_repository() => drop(found.folders.insert(path.clone())),
            Ok(_) => {}
            Err(_) if path.is_empty() => found.is_complete = false,
            Err(_) => drop(found.closed.insert(path.clone())),
        }
        let dir = Rc::new(dir);
        pending.extend(names.into_iter().map(|name| (Rc::clone(&dir), path.clone(), name)));
    };
    enter(top, Vec::new(), &mut found, &mut pending);
    while let Some((above, path, name)) = pending.pop() {
        if Instant::now() > until {
            found.is_complete = false;
            break;
        }
        match above.open_dir(&name) {
            Ok(dir) => enter(dir, beneath(path, &name), &mut found, &mut pending),
            Err(error) if is_harmless(&above, &name, &error) => {}
            Err(_) => drop(found.closed.insert(beneath(path, &name))),
        }
    }
    found
}

/// Returns whether a folder that could not be opened holds nothing that a command could change.
fn is_harmless(above: &Dir, name: &OsStr, error: &DoorError) -> bool {
    match error {
        DoorError::SystemFiles | DoorError::Symlink | DoorError::NotADirectory => true,
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

/// Reads a folder, and adds the names of those in it.
fn read(dir: &Dir, folders: &mut Vec<OsString>) -> Result<Layout, DoorError> {
    let mut layout = Layout::default();
    dir.for_each_entry(|name, kind| {
        let is_folder = match kind {
            Some(kind) => kind == FileKind::Dir,
            None => dir.stat(name).is_ok_and(|stat| stat.kind == FileKind::Dir),
        };
        layout.note(name, is_folder);
        // What is in Git's own folder is looked at by its layout.
        if is_folder && !is_git(name) {
            folders.push(name.to_owned());
        }
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
            let root = Root::open(&folder.0).expect("it is there");
            let at = |path: &[u8]| path.iter().fold(folder.0.clone(), |path, name| path.join(name.to_string()));
            let mut finder = Finder::default();
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
                    Step::Remove(path) => drop(fs::remove_dir_all(at(&path))),
                    Step::Move(from, to) => drop(fs::rename(at(&from), at(&to))),
                    Step::Look => prop_assert_eq!(finder.find(&root), walk(&root)),
                }
            }
            prop_assert_eq!(finder.find(&root), walk(&root));
        }
    }

    #[test]
    fn a_look_at_what_has_not_changed_costs_little() {
        let folder = Folder::new();
        for number in 0..2_000 {
            fs::create_dir_all(folder.0.join(format!("{}/{number}", number % 40))).expect("made");
        }
        fs::create_dir(folder.0.join("1/41/.git")).expect("made");
        let root = Root::open(&folder.0).expect("it is there");
        let mut finder = Finder::default();
        let began = Instant::now();
        let first = finder.find(&root);
        let whole = began.elapsed();
        assert_eq!(first.folders, BTreeSet::from([b"1/41".to_vec()]));
        let began = Instant::now();
        assert_eq!(finder.find(&root), first);
        let again = began.elapsed();
        assert!(finder.watched.is_none() || again < whole / 4, "{again:?} of {whole:?}");
    }
}
