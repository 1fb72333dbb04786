//! The state of the folders of each scope as it was last seen, with the contents of files.
//!
//! It is a cache: what is missing or damaged is read again from the folders. What a change needs to be taken back is
//! copied into the store of versions, and is on disk there. Contents are put behind each other into one file, the pack; one
//! that has grown too large is begun again. Who still has the old one open reads it to the end.

#![expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own, in its state folder")]

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bailiwick_contract::{Cancel, Failure, id, time};
use bailiwick_platform::checksum::checksum;
use bailiwick_platform::fs::modes::{FileExt, OpenOptionsExt};
use bailiwick_platform::fs::{
    Dir, FileId, FileLock, RelPath, RetentionClock, Secrecy, create_private_dir, new_private_file,
    read_own_file, remove_tree,
};

use super::codec::{Decoder, Encoder};
use super::node::{Content, RootState};
use super::record::CHANGE_BYTES;
use super::walk::Walk;
use crate::file::sha256_hex;

/// What the state begins with: another form has another number.
const FORM: u64 = 0x6261_696c_0000_0004;
/// How much of contents is covered in the folders of one scope.
const MAX_COVERED_BYTES: u64 = 384 << 20;
/// How much the packs of all scopes take together, before those used longest ago go.
const MAX_PACKS_BYTES: u64 = 1 << 30;
/// How long a state that nobody uses is kept.
const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 3_600);
/// The largest state that is read.
const MAX_STATE_BYTES: u64 = 256 << 20;
/// How long one look at all folders of a scope may take.
const MAX_WALK: Duration = Duration::from_secs(10);
/// How long to wait between two tries to take the lock.
const PAUSE: Duration = Duration::from_millis(1);

const STATE: &str = "state";
const PACK: &str = "pack-";
const LOCK: &str = ".lock";

/// The states of all scopes.
#[derive(Debug, Clone)]
pub struct CoverageStore {
    folder: PathBuf,
    /// How much of contents is covered of one scope. A pack is begun again once a quarter more is in it.
    max_covered: u64,
    /// How much the packs of all scopes take.
    max_packs: u64,
}

/// A root that is read.
pub struct CoveredRoot {
    /// The open folder.
    pub dir: Dir,
    /// Paths beneath it that commands cannot change.
    pub closed: HashSet<RelPath>,
}

/// The folders of a scope at one moment.
#[derive(Debug)]
pub struct Snapshot {
    pub(super) roots: Vec<RootState>,
    pack: Arc<File>,
    pack_name: String,
    /// When it was begun, in milliseconds since the epoch.
    pub began_ms: i64,
}

/// The contents of one scope's files, one behind the other.
pub(super) struct Pack {
    file: Mutex<PackFile>,
    /// How much more of it may belong to the state that is being made.
    room: AtomicU64,
}

struct PackFile {
    file: BufWriter<File>,
    begin: u64,
    end: u64,
    has_failed: bool,
}

impl CoverageStore {
    /// Finds the store in Bailiwick's state folder.
    pub fn below(state: &Path) -> Self {
        Self { folder: state.join("coverage"), max_covered: MAX_COVERED_BYTES, max_packs: MAX_PACKS_BYTES }
    }

    /// Looks at the roots of a scope. `before` is the state before a command that has ended now; `keep_as` is where the
    /// state is kept, too, for [`CoverageStore::kept`].
    ///
    /// # Errors
    /// `cancelled`, `timeout`; those of the file system in words.
    pub fn look(
        &self,
        scope: &str,
        roots: Vec<CoveredRoot>,
        is_own_folder: &(dyn Fn(FileId) -> bool + Sync),
        before: Option<&Snapshot>,
        keep_as: Option<&Path>,
        cancel: &Cancel,
    ) -> Result<Snapshot, LookError> {
        let began_ms = time::now_ms();
        let folder = self.folder_of(scope);
        let _lock = lock(&folder, cancel)?;
        // After a command, the state before it is as good as what was written, and need not be read.
        let of_before = before
            .and_then(|it| Some((it, Pack::open(&folder.join(&it.pack_name), None, self.max_covered)?)));
        let mut read = ScopeState::default();
        let (known, known_pack) = match &of_before {
            Some((before, _)) => (&before.roots, &before.pack_name),
            None => {
                read = ScopeState::read(&folder.join(STATE)).unwrap_or_default();
                (&read.roots, &read.pack)
            }
        };
        let opened = match of_before {
            Some((_, pack)) => Some(pack),
            None => read.open_pack(&folder, self.max_covered),
        };
        let (pack, pack_name) = match opened {
            Some(pack) => (pack, known_pack.clone()),
            None => {
                Self::clear(&folder);
                let name = format!("{PACK}{}", id::new_id());
                (Pack::new(new_private_file(&folder.join(&name))?, 0, self.max_covered), name)
            }
        };
        let has_pack = pack_name == *known_pack;
        let ids: Vec<FileId> = roots.iter().map(|root| root.dir.id()).collect();
        let until = Instant::now() + MAX_WALK;
        let mut states = Vec::with_capacity(roots.len());
        for (at, root) in roots.iter().enumerate() {
            let id = root.dir.id();
            let blank = RootState::new(id);
            let find = |states: &[RootState]| states.iter().position(|state| state.id == id);
            // Contents of another pack are none here.
            let known = find(known).filter(|_| has_pack).map_or(&blank, |at| &known[at]);
            let before = before.and_then(|before| Some(&before.roots[find(&before.roots)?]));
            let is_other_root =
                |id: FileId| ids.iter().enumerate().any(|(it, other)| it != at && *other == id);
            let not_entered = |id: FileId| is_other_root(id) || is_own_folder(id);
            let walk = Walk { known, before, closed: &root.closed, not_entered: &not_entered, cancel, until };
            states.push(walk.run(&root.dir, &pack));
        }
        cancel.check()?;
        let (file, end, has_grown) = pack.finish()?;
        if has_grown {
            self.bound_others(&folder, end);
        }
        let state = ScopeState { pack: pack_name, end, roots: states };
        if !has_pack || state.roots != *known {
            state.write(&folder)?;
        }
        if let Some(path) = keep_as {
            fs::hard_link(folder.join(STATE), path)?;
        }
        Ok(Snapshot { roots: state.roots, pack: Arc::new(file), pack_name: state.pack, began_ms })
    }

    /// Reads a state that was kept; `None` if it is damaged, or its contents are gone. `began_ms` is when it was begun.
    pub fn kept(&self, scope: &str, path: &Path, began_ms: i64) -> Option<Snapshot> {
        let state = ScopeState::read(path).filter(|state| state.pack.starts_with(PACK))?;
        let pack = File::open(self.folder_of(scope).join(&state.pack)).ok()?;
        Some(Snapshot { roots: state.roots, pack: Arc::new(pack), pack_name: state.pack, began_ms })
    }

    fn folder_of(&self, scope: &str) -> PathBuf {
        self.folder.join(&sha256_hex(scope.as_bytes())[..24])
    }

    /// Removes what is in the folder of a scope: it begins again.
    fn clear(own: &Path) {
        for entry in entries(own) {
            if entry.file_name() != LOCK {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Removes the states of other scopes that were not used for long, and the oldest where all take too much together.
    fn bound_others(&self, own: &Path, own_bytes: u64) {
        let now_ms = RetentionClock::below(self.folder.parent().unwrap_or(&self.folder)).now_ms();
        let mut scopes: Vec<(Duration, u64, PathBuf)> = entries(&self.folder)
            .into_iter()
            .filter(|entry| entry.path() != own)
            .map(|entry| {
                let used = fs::metadata(entry.path().join(STATE)).and_then(|facts| facts.modified());
                let idle_ms = used.map_or(0, |used| now_ms.saturating_sub(time::to_ms(used)));
                let idle = Duration::from_millis(u64::try_from(idle_ms).unwrap_or(0));
                let sizes =
                    entries(&entry.path()).into_iter().filter_map(|it| Some(it.metadata().ok()?.len()));
                (idle, sizes.sum(), entry.path())
            })
            .collect();
        // The longest unused last.
        scopes.sort();
        let mut total = own_bytes;
        for (idle, bytes, path) in scopes {
            total += bytes;
            if (total > self.max_packs || idle > MAX_AGE)
                && let Ok(Some(_lock)) = FileLock::try_take(&path, LOCK)
            {
                let _ = remove_tree(&path);
            }
        }
    }
}

/// Why the folders of a scope could not be read.
#[derive(Debug)]
pub enum LookError {
    /// The request was stopped.
    Stopped(Failure),
    /// The store cannot be read or written.
    Io(io::Error),
}

impl From<io::Error> for LookError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Failure> for LookError {
    fn from(failure: Failure) -> Self {
        Self::Stopped(failure)
    }
}

impl Snapshot {
    /// Reads a kept content; `None` if it is damaged.
    pub(super) fn read(&self, content: &Content) -> Option<Vec<u8>> {
        read_content(&self.pack, content)
    }

    /// Returns how much is kept at most of what changes: all contents, and what the list of changes takes.
    pub fn most_kept_bytes(&self) -> u64 {
        let nodes = self.roots.iter().flat_map(RootState::nodes);
        nodes.map(|(_, _, node)| node.content.as_ref().map_or(0, |it| it.bytes) + CHANGE_BYTES).sum()
    }

    /// Returns whether every root was seen whole.
    pub fn is_complete(&self) -> bool {
        self.roots.iter().all(|root| root.is_complete)
    }
}

/// Reads a content out of a file with many; `None` if it is damaged.
fn read_content(file: &File, content: &Content) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(content.bytes).ok()?];
    file.read_exact_at(&mut bytes, content.at?).ok()?;
    content.is(&bytes).then_some(bytes)
}

impl Pack {
    fn new(file: File, end: u64, room: u64) -> Self {
        let file =
            PackFile { file: BufWriter::with_capacity(1 << 20, file), begin: end, end, has_failed: false };
        Self { file: Mutex::new(file), room: AtomicU64::new(room) }
    }

    /// Opens one to add to it, behind a place or at its end; `None` where it has to be begun again.
    fn open(path: &Path, end: Option<u64>, max_covered: u64) -> Option<Self> {
        use std::io::{Seek, SeekFrom};

        let mut file = fs::OpenOptions::new().read(true).write(true).mode(0o600).open(path).ok()?;
        let bytes = file.metadata().ok()?.len();
        let end = end.unwrap_or(bytes);
        if bytes < end || end > max_covered + max_covered / 4 {
            return None;
        }
        file.seek(SeekFrom::Start(end)).ok()?;
        Some(Self::new(file, end, max_covered))
    }

    /// Returns whether one more content of this size is covered, and counts it if it is.
    pub fn take_room(&self, bytes: u64) -> bool {
        let taken = |room: u64| room.checked_sub(bytes);
        self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).is_ok()
    }

    /// Adds a content for which room was taken, and returns where it is; `None` where it cannot be written.
    pub fn add(&self, bytes: &[u8]) -> Option<u64> {
        let mut pack = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let at = pack.end;
        if pack.has_failed {
            return None;
        }
        if pack.file.write_all(bytes).is_err() {
            pack.has_failed = true;
            return None;
        }
        pack.end += bytes.len() as u64;
        Some(at)
    }

    /// Returns the file, its end, and whether anything was added.
    fn finish(self) -> io::Result<(File, u64, bool)> {
        let PackFile { file, begin, end, has_failed } =
            self.file.into_inner().unwrap_or_else(PoisonError::into_inner);
        if has_failed {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok((file.into_inner().map_err(io::IntoInnerError::into_error)?, end, end > begin))
    }
}

/// The state of a scope, as it is written.
#[derive(Debug, Default)]
struct ScopeState {
    pack: String,
    end: u64,
    roots: Vec<RootState>,
}

impl ScopeState {
    fn read(path: &Path) -> Option<Self> {
        let (bytes, _) = read_own_file(path, Secrecy::Secret, MAX_STATE_BYTES).ok()?;
        let (state, sum) = bytes.split_last_chunk()?;
        if checksum(&[state]).to_le_bytes() != *sum {
            return None;
        }
        let mut decoder = Decoder(state);
        if decoder.number()? != FORM {
            return None;
        }
        let pack = String::from_utf8(decoder.bytes()?.to_vec()).ok()?;
        let (end, count) = (decoder.number()?, decoder.count()?);
        let roots = (0..count).map(|_| decoder.root()).collect::<Option<_>>()?;
        Some(Self { pack, end, roots })
    }

    fn write(&self, folder: &Path) -> io::Result<()> {
        let mut encoder = Encoder::default();
        encoder.number(FORM);
        encoder.bytes(self.pack.as_bytes());
        encoder.number(self.end);
        encoder.count(self.roots.len());
        self.roots.iter().for_each(|root| encoder.root(root));
        // Damage that can be read would refuse commands, or be put back.
        encoder.number(checksum(&[&encoder.0]));
        let path = folder.join("state.new");
        let _ = fs::remove_file(&path);
        new_private_file(&path)?.write_all(&encoder.0)?;
        fs::rename(&path, folder.join(STATE))
    }

    /// Opens the pack to add to it; `None` where it has to be begun again.
    fn open_pack(&self, folder: &Path, max_covered: u64) -> Option<Pack> {
        let path = folder.join(Some(&self.pack).filter(|pack| pack.starts_with(PACK))?);
        Pack::open(&path, Some(self.end), max_covered)
    }
}

fn entries(folder: &Path) -> Vec<fs::DirEntry> {
    fs::read_dir(folder).into_iter().flatten().flatten().collect()
}

fn lock(folder: &Path, cancel: &Cancel) -> Result<FileLock, LookError> {
    create_private_dir(folder)?;
    loop {
        if let Some(lock) = FileLock::try_take(folder, LOCK)? {
            return Ok(lock);
        }
        cancel.check()?;
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bailiwick_platform::fs::Root;

    fn look(store: &CoverageStore, folder: &Path) -> Snapshot {
        look_in(store, "app", folder)
    }

    fn look_in(store: &CoverageStore, scope: &str, folder: &Path) -> Snapshot {
        let dir = Root::open(folder).and_then(|root| root.open_dir(&RelPath::root())).expect("opened");
        let roots = vec![CoveredRoot { dir, closed: HashSet::new() }];
        store.look(scope, roots, &|_| false, None, None, &Cancel::after(MAX_WALK)).expect("looked at")
    }

    #[test]
    fn no_damage_of_a_state_is_read() {
        let folder = std::env::temp_dir().join(format!("bailiwick-coverage-{}", id::new_id()));
        let (store, root) = (CoverageStore::below(&folder.join("state")), folder.join("root"));
        fs::create_dir_all(&root).expect("made");
        fs::write(root.join("a"), "a").expect("written");
        look(&store, &root);
        let path = store.folder_of("app").join(STATE);
        let whole = fs::read(&path).expect("it is there");
        assert!(ScopeState::read(&path).is_some());
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x80;
            fs::write(&path, &damaged).expect("written");
            assert!(ScopeState::read(&path).is_none(), "{at}");
        }
        look(&store, &root);
        assert!(ScopeState::read(&path).is_some(), "it is made again");
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn what_all_scopes_take_together_is_bounded_while_each_grows() {
        const FILE: u64 = 1 << 16;
        let folder = std::env::temp_dir().join(format!("bailiwick-coverage-{}", id::new_id()));
        let store = CoverageStore { max_packs: 10 * FILE, ..CoverageStore::below(&folder.join("state")) };
        // All begin small.
        for round in 0..4_u8 {
            for scope in ["one", "two", "three", "four"] {
                let root = folder.join(scope);
                fs::create_dir_all(&root).expect("made");
                let size = usize::try_from(FILE).expect("small");
                fs::write(root.join(round.to_string()), vec![round; size]).expect("written");
                let seen = look_in(&store, scope, &root);
                assert_eq!(
                    seen.roots[0].nodes().filter(|(_, _, node)| node.content.is_some()).count(),
                    usize::from(round) + 1
                );
                let scopes = entries(&store.folder);
                let files = scopes.iter().flat_map(|it| entries(&it.path()));
                let packs = files.filter(|it| it.file_name().to_string_lossy().starts_with(PACK));
                let bytes: u64 = packs.filter_map(|it| Some(it.metadata().ok()?.len())).sum();
                assert!(bytes <= 10 * FILE, "{bytes}");
            }
        }
        remove_tree(&folder).expect("it was made above");
    }

    #[test]
    fn what_is_covered_is_bounded() {
        const FILE: usize = 1 << 20;
        let folder = std::env::temp_dir().join(format!("bailiwick-coverage-{}", id::new_id()));
        let (root, state) = (folder.join("root"), folder.join("state"));
        fs::create_dir_all(&root).expect("made");
        let store = CoverageStore { max_covered: 8 * FILE as u64, ..CoverageStore::below(&state) };
        for at in 0..11_u8 {
            fs::write(root.join(at.to_string()), vec![at; FILE]).expect("written");
        }
        let large = File::create(root.join("large")).expect("made");
        large.set_len(super::super::walk::MAX_FILE_BYTES + 1).expect("own file");
        let kept = |snapshot: &Snapshot| {
            let nodes = snapshot.roots[0].nodes();
            nodes.filter_map(|(_, _, node)| node.content.clone()).collect::<Vec<_>>()
        };
        assert_eq!(kept(&look(&store, &root)).len(), 8, "as many as there is room for");
        // Rewritten again and again: the pack is begun again before it goes far beyond its bound.
        for round in 100..140_u8 {
            fs::write(root.join("0"), vec![round; FILE]).expect("written");
            let again = look(&store, &root);
            let kept = kept(&again);
            assert!((7..=8).contains(&kept.len()), "{}", kept.len());
            assert!(kept.iter().all(|content| again.read(content).is_some()), "all of it can be read");
            let files = fs::read_dir(store.folder.join(&sha256_hex(b"app")[..24])).expect("it is there");
            let bytes: u64 = files.flatten().filter_map(|it| Some(it.metadata().ok()?.len())).sum();
            assert!(bytes <= 19 * FILE as u64, "{bytes}");
        }
        remove_tree(&folder).expect("it was made above");
    }
}
