//! A folder of Bailiwick's own whose content is bounded by age and by size at every moment.
//!
//! It is made of *parts*: a part takes things until it is full, and goes as a whole, the oldest first. So nothing walks
//! the folder: how much it holds is a number in a file, and what has to go is one part. Which parts there are is known in
//! memory; the same file says whether that is still so.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use super::modes::{OpenOptionsExt, sync_folder};
use super::{ChangeAttributes, FileKind, FileLock, RelPath, RetentionClock, Root, create_private_dir};

/// How long someone who has to wait for the folder sleeps between two tries.
const PAUSE: Duration = Duration::from_millis(1);
/// The file that says how much a part, or the folder, holds.
const USED: &str = "used";
/// The lock under which room is taken and given back.
pub(super) const LOCK: &str = ".lock";
/// What a part is renamed to before it is removed.
const GONE: &str = ".gone-";
/// The lock under which parts are removed: one at a time, so that no more than one is there beside what is kept.
const REMOVING: &str = ".removing";

/// How much is kept.
#[derive(Debug, Clone, Copy)]
pub struct RetentionLimits {
    /// How long a thing is kept, at least; as long again as a part is open, at most.
    pub max_age: Duration,
    /// How many bytes are kept in all.
    pub max_bytes: u64,
    /// How many parts there are at most.
    pub max_parts: usize,
    /// How many bytes go into a part, unless it is one thing that is larger.
    pub part_bytes: u64,
    /// How many things go into a part.
    pub part_things: u64,
    /// How long things are put into a part.
    pub part_span: Duration,
}

/// The folder.
#[derive(Debug, Clone)]
pub struct RetainedFolder {
    pub(super) path: PathBuf,
    pub(super) limits: RetentionLimits,
}

/// The parts of a folder at a moment that has a name of its own.
type KnownParts = (u64, Arc<[Part]>);

/// The parts of folders as they were listed last.
static KNOWN: LazyLock<Mutex<HashMap<PathBuf, KnownParts>>> = LazyLock::new(Mutex::default);
/// How many folders are known at most.
const MAX_KNOWN: usize = 64;

/// A part of the folder.
#[derive(Debug, Clone)]
struct Part {
    number: u64,
    born_ms: i64,
    path: PathBuf,
}

/// How much there is in a part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PartUsage {
    pub(super) bytes: u64,
    pub(super) things: u64,
    /// When a thing got its room, by the retention clock; 0 where that is not known.
    pub(super) made_ms: i64,
}

/// How much there is in a folder of parts. It is written as that of a part is.
#[derive(Debug, Clone, Copy, Default)]
struct FolderUsage {
    bytes: u64,
    /// Names the list of parts: another list has another name. 0 where the list is being changed, or may have been.
    list: u64,
    /// What parts took that were taken away, and may not be removed yet.
    leaving: u64,
}

impl PartUsage {
    pub(super) const fn new(bytes: u64, things: u64) -> Self {
        Self { bytes, things, made_ms: 0 }
    }
}

impl RetainedFolder {
    /// Names a folder, which is made when the first thing is put into it.
    pub const fn new(path: PathBuf, limits: RetentionLimits) -> Self {
        Self { path, limits }
    }

    /// Lists the parts, the newest first. What cannot be listed is left out.
    pub fn parts(&self) -> Vec<PathBuf> {
        self.all_parts().unwrap_or_default()
    }

    /// Lists the parts, the newest first.
    ///
    /// # Errors
    /// Those of the file system; without a folder there is no part.
    pub fn all_parts(&self) -> io::Result<Vec<PathBuf>> {
        Ok(self.known_parts()?.iter().rev().map(|part| part.path.clone()).collect())
    }

    /// Returns how long a part is there: nothing in it is older.
    pub fn age(part: &Path, clock: &RetentionClock) -> Duration {
        let part = Part::named(part.to_owned());
        let age_ms = part.map_or(0, |part| clock.steady_ms().saturating_sub(part.born_ms));
        Duration::from_millis(u64::try_from(age_ms).unwrap_or(0))
    }

    /// Returns the part into which a thing of so many bytes may be put now, after removing what has to go for it.
    ///
    /// # Errors
    /// Those of the file system; `FileTooLarge` for a thing that is larger than all that is kept.
    pub fn reserve(&self, bytes: u64, clock: &RetentionClock) -> io::Result<PathBuf> {
        self.reserve_at(bytes, clock.steady_ms())
    }

    /// As [`RetainedFolder::reserve`], at a time of the retention clock.
    ///
    /// # Errors
    /// As [`RetainedFolder::reserve`].
    pub fn reserve_at(&self, bytes: u64, now_ms: i64) -> io::Result<PathBuf> {
        self.reserve_where(bytes, now_ms, None)?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// As [`RetainedFolder::reserve`], in one part, and returns whether things are still put there. What a thing shares with
    /// others in the part makes room for it: the part may be larger by so many bytes.
    ///
    /// # Errors
    /// As [`RetainedFolder::reserve`].
    pub fn reserve_within(
        &self,
        part: &Path,
        bytes: u64,
        shared_bytes: u64,
        clock: &RetentionClock,
    ) -> io::Result<bool> {
        Ok(self.reserve_where(bytes, clock.steady_ms(), Some((part, shared_bytes)))?.is_some())
    }

    fn reserve_where(
        &self,
        bytes: u64,
        now_ms: i64,
        within: Option<(&Path, u64)>,
    ) -> io::Result<Option<PathBuf>> {
        if bytes > self.limits.max_bytes {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let _lock = self.lock(LOCK)?;
        let parts = self.known_parts()?;
        let mut folder = self.usage_or_count(&parts);
        // No part is so large that hardly another one is kept beside it.
        let most_of_part = self.limits.part_bytes.saturating_add(within.map_or(0, |(_, shared)| shared));
        let most_of_part = most_of_part.min(self.limits.part_bytes.max(self.limits.max_bytes / 4));
        let open = parts.last().map(|part| (part.clone(), part.used())).filter(|(part, used)| {
            let fits =
                used.things < self.limits.part_things && used.bytes.saturating_add(bytes) <= most_of_part;
            fits && now_ms.saturating_sub(part.born_ms) < millis(self.limits.part_span)
        });
        if within.is_some_and(|(part, _)| open.as_ref().is_none_or(|(open, _)| open.path != part)) {
            return Ok(None);
        }
        let more = if open.is_none() { 1 } else { 0 };
        let mut oldest = 0;
        if folder.bytes.saturating_add(bytes) > self.limits.max_bytes {
            // Somebody may have removed parts by hand.
            folder.bytes = parts.iter().map(|part| part.used().bytes).sum();
        }
        while let Some(part) = parts.get(oldest) {
            let is_open = more == 0 && oldest + 1 == parts.len();
            // All that is in a part is older than the next part.
            let newest_ms = parts.get(oldest + 1).map(|next| next.born_ms);
            let is_old = newest_ms.is_some_and(|at| now_ms.saturating_sub(at) > millis(self.limits.max_age));
            let is_much = folder.bytes.saturating_add(bytes) > self.limits.max_bytes
                || parts.len() - oldest + more > self.limits.max_parts;
            if is_open || !(is_old || is_much) {
                break;
            }
            self.change_list(&mut folder)?;
            let used = part.used().bytes;
            folder.bytes = folder.bytes.saturating_sub(used);
            folder.leaving = folder.leaving.saturating_add(used);
            self.remove(part)?;
            oldest += 1;
        }
        // What is being removed counts until it is gone: one part may be there beside what is kept.
        let most = self.limits.max_bytes.saturating_add(self.limits.part_bytes);
        if folder.bytes.saturating_add(bytes).saturating_add(folder.leaving) > most {
            let _removing = self.lock(REMOVING)?;
            self.remove_gone();
            folder.leaving = 0;
        }
        let mut made = None;
        let part = match open {
            Some((part, used)) => {
                write_used(&part.path, PartUsage::new(used.bytes + bytes, used.things + 1))?;
                part.path
            }
            None => {
                self.change_list(&mut folder)?;
                if parts.is_empty() {
                    // The folder may be new, and the one that it is in.
                    self.path.ancestors().skip(1).take(2).try_for_each(sync_folder)?;
                }
                let number = parts.last().map_or(1, |last| last.number + 1);
                let path = self.path.join(format!("{number:010}.{now_ms}"));
                create_private_dir(&path)?;
                write_used(&path, PartUsage::new(bytes, 1))?;
                sync_folder(&self.path)?;
                made = Some(Part { number, born_ms: now_ms, path: path.clone() });
                path
            }
        };
        folder.bytes += bytes;
        let is_changed = folder.list == 0;
        let list = self.write_usage(folder)?;
        if is_changed {
            self.remember(list, parts[oldest..].iter().cloned().chain(made).collect());
        }
        Ok(Some(part))
    }

    /// Gives back what was reserved for a thing that was not put into a part of its own, or under its name, after all.
    pub fn release(&self, part: &Path) {
        let Ok(_lock) = self.lock(LOCK) else { return };
        let used = read_used(part).unwrap_or_default();
        self.remove_thing(part);
        if let Some(total) = read_used(&self.path) {
            let bytes = total.bytes.saturating_sub(used.bytes);
            // A number that is too large is only careful. Without one of its parts, a folder has another list.
            let things =
                if Part::named(part.to_owned()).is_some() { 0 } else { total.things.saturating_sub(1) };
            let _ = write_used(&self.path, PartUsage { bytes, things, ..total });
        }
    }

    /// Gives room of a part back that a thing in it does not need after all.
    pub fn give_back(&self, part: &Path, bytes: u64) {
        let Ok(_lock) = self.lock(LOCK) else { return };
        for folder in [part, &self.path] {
            if let Some(used) = read_used(folder) {
                // A number that is too large is only careful.
                let _ = write_used(folder, PartUsage { bytes: used.bytes.saturating_sub(bytes), ..used });
            }
        }
    }

    /// Removes the parts in which everything is too old, also where nothing is put any more.
    pub fn expire(&self, clock: &RetentionClock) {
        let is_there = fs::symlink_metadata(&self.path).is_ok();
        let Some(_lock) = is_there.then(|| self.lock(LOCK).ok()).flatten() else { return };
        let Ok(parts) = self.oldest_first() else { return };
        let now_ms = clock.steady_ms();
        let mut folder = self.usage_or_count(&parts);
        for (at, part) in parts.iter().enumerate() {
            let filled_ms = part.born_ms.saturating_add(millis(self.limits.part_span));
            let newest_ms = parts.get(at + 1).map_or(filled_ms, |next| next.born_ms.min(filled_ms));
            if now_ms.saturating_sub(newest_ms) <= millis(self.limits.max_age) {
                break;
            }
            let used = part.used();
            if self.change_list(&mut folder).is_err() || self.remove(part).is_err() {
                break;
            }
            folder.bytes = folder.bytes.saturating_sub(used.bytes);
            folder.leaving = folder.leaving.saturating_add(used.bytes);
        }
        if !parts.is_empty() {
            // A number that is too large is only careful.
            let _ = self.write_usage(folder);
        }
    }

    /// Waits until what was taken away is removed.
    pub fn wait_for_removals(&self) {
        // Without the folder nothing is.
        if let Ok(_removing) = self.lock(REMOVING) {
            self.remove_gone();
        }
    }

    pub(super) fn lock(&self, name: &str) -> io::Result<FileLock> {
        loop {
            if let Some(lock) = FileLock::try_take(&self.path, name)? {
                return Ok(lock);
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn usage(&self) -> Option<FolderUsage> {
        let PartUsage { bytes, things, made_ms } = read_used(&self.path)?;
        Some(FolderUsage { bytes, list: things, leaving: u64::try_from(made_ms).unwrap_or(0) })
    }

    /// Returns how much the folder holds as it says, or as its parts say.
    fn usage_or_count(&self, parts: &[Part]) -> FolderUsage {
        self.usage().unwrap_or_else(|| FolderUsage {
            bytes: parts.iter().map(|part| part.used().bytes).sum(),
            list: 0,
            leaving: u64::MAX >> 1,
        })
    }

    /// Writes how much the folder holds, and returns the name of its list of parts: a new one if the list was changed.
    fn write_usage(&self, folder: FolderUsage) -> io::Result<u64> {
        let FolderUsage { bytes, list, leaving } = folder;
        let list = if list == 0 { new_list_name() } else { list };
        let made_ms = i64::try_from(leaving).unwrap_or(i64::MAX);
        write_used(&self.path, PartUsage { bytes, things: list, made_ms })?;
        Ok(list)
    }

    /// Takes note that the list of parts is about to be changed: until it has a name, everyone lists the folder.
    fn change_list(&self, folder: &mut FolderUsage) -> io::Result<()> {
        if std::mem::take(&mut folder.list) == 0 {
            return Ok(());
        }
        let made_ms = i64::try_from(folder.leaving).unwrap_or(i64::MAX);
        write_used(&self.path, PartUsage { bytes: folder.bytes, things: 0, made_ms })
    }

    /// Returns the parts, the oldest first, without listing the folder where they are known.
    fn known_parts(&self) -> io::Result<Arc<[Part]>> {
        let name = || self.usage().map_or(0, |folder| folder.list);
        let before = name();
        let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(&self.path).cloned();
        if let Some((list, parts)) = known.filter(|_| before != 0)
            && list == before
        {
            return Ok(parts);
        }
        let parts: Arc<[Part]> = self.oldest_first()?.into();
        // Listed without the lock, it may be neither of two lists.
        if before != 0 && name() == before {
            self.remember(before, Arc::clone(&parts));
        }
        Ok(parts)
    }

    fn remember(&self, list: u64, parts: Arc<[Part]>) {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert(self.path.clone(), (list, parts));
    }

    fn oldest_first(&self) -> io::Result<Vec<Part>> {
        let entries = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?.collect::<io::Result<Vec<_>>>()?,
        };
        let mut parts: Vec<Part> = entries.iter().filter_map(|entry| Part::named(entry.path())).collect();
        parts.sort_unstable_by_key(|part| part.number);
        Ok(parts)
    }

    /// Takes a part away at once. What is in one that many things share is removed while the caller continues. One that somebody
    /// has removed by hand is away already.
    fn remove(&self, part: &Part) -> io::Result<()> {
        let is_shared = part.used().bytes <= self.limits.part_bytes;
        match fs::rename(&part.path, self.gone(&format!("{:010}", part.number))) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        }
        if is_shared {
            // If another part is being removed just now, this one may go with it; else it goes with the next, or when its room is
            // needed.
            let Some(removing) = FileLock::try_take(&self.path, REMOVING)? else { return Ok(()) };
            let folder = self.clone();
            let remove = move || {
                folder.remove_gone();
                drop(removing);
            };
            // Without a thread the next removal does it.
            let _ = std::thread::Builder::new().name("retention".to_owned()).spawn(remove);
        } else {
            let _removing = self.lock(REMOVING)?;
            self.remove_gone();
        }
        Ok(())
    }

    /// Returns the path that something gets before it is removed.
    pub(super) fn gone(&self, name: &str) -> PathBuf {
        self.path.join(format!("{GONE}{name}"))
    }

    pub(super) fn remove_gone(&self) {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(GONE)) {
            remove_whole(&entry.path());
        }
    }
}

/// Removes a folder, also one in which folders may not be written: they were put there as they were.
pub(super) fn remove_whole(path: &Path) {
    if super::remove_tree(path).is_err() {
        let _ = make_writable(path).and_then(|()| super::remove_tree(path));
    }
}

/// Returns a name that no other list has.
fn new_list_name() -> u64 {
    static LAST: Mutex<u64> = Mutex::new(0);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let now = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
    *last = now.max(*last + 1);
    // Of two processes in the same microsecond each has its own.
    (*last << 12) ^ u64::from(std::process::id() & 0xfff) | 1 << 63
}

impl Part {
    /// Returns the part that a path is of, by its name.
    fn named(path: PathBuf) -> Option<Self> {
        let (number, born_ms) = path.file_name()?.to_str()?.split_once('.')?;
        Some(Self { number: number.parse().ok()?, born_ms: born_ms.parse().ok()?, path })
    }

    /// What it says of itself, or what is found in it after a crash.
    fn used(&self) -> PartUsage {
        read_used(&self.path).unwrap_or_else(|| PartUsage::new(bytes_below(&self.path), u64::MAX >> 1))
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

pub(super) fn read_used(folder: &Path) -> Option<PartUsage> {
    let text = fs::read_to_string(folder.join(USED)).ok()?;
    let mut numbers = text.split_whitespace();
    let (bytes, things) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
    // Earlier versions did not write when.
    let made_ms = numbers.next().and_then(|at| at.parse().ok()).unwrap_or(0);
    let used = PartUsage { bytes, things, made_ms };
    text.ends_with('\n').then_some(used)
}

/// Writes in place, always as many bytes: anyone who is killed meanwhile leaves the old numbers or the new ones.
pub(super) fn write_used(folder: &Path, used: PartUsage) -> io::Result<()> {
    let text = format!("{:020} {:020} {:020}\n", used.bytes, used.things, used.made_ms);
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(folder.join(USED))?;
    file.write_all(text.as_bytes())
}

pub(super) fn bytes_below(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(facts) if facts.is_dir() => bytes_below(&entry.path()),
            Ok(facts) => facts.len(),
            Err(_) => 0,
        })
        .sum()
}

/// Gives this user the right to change all folders below one.
fn make_writable(folder: &Path) -> io::Result<()> {
    let top = Root::open(folder)
        .and_then(|root| root.open_writable_dir(&RelPath::root()))
        .map_err(io::Error::other)?;
    let mut todo = vec![top];
    while let Some(dir) = todo.pop() {
        dir.set_mode(0o700).map_err(io::Error::other)?;
        let mut opened = Ok(());
        let read = dir.for_each_entry(|name, kind| {
            let kind = kind.or_else(|| dir.stat(name).ok().map(|stat| stat.kind));
            if kind == Some(FileKind::Dir) {
                opened = dir.open_dir(name).map(|folder| todo.push(folder));
            }
            if opened.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        read.and(opened).map_err(io::Error::other)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 3_600);
    const LIMITS: RetentionLimits = RetentionLimits {
        max_age: Duration::from_secs(30 * 24 * 3_600),
        max_bytes: 1_000,
        max_parts: 5,
        part_bytes: 100,
        part_things: 4,
        part_span: DAY,
    };

    fn folder(limits: RetentionLimits) -> RetainedFolder {
        let name = format!("bailiwick-retained-{}", bailiwick_contract::id::new_id());
        RetainedFolder::new(std::env::temp_dir().join(name), limits)
    }

    fn put(folder: &RetainedFolder, name: &str, bytes: usize, now_ms: i64) -> PathBuf {
        let part = folder.reserve_at(bytes as u64, now_ms).expect("it is kept");
        fs::write(part.join(name), vec![0; bytes]).expect("written");
        part
    }

    fn names(folder: &RetainedFolder) -> Vec<String> {
        let mut names: Vec<String> = folder
            .parts()
            .iter()
            .flat_map(|part| fs::read_dir(part).expect("it is there").flatten())
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| name != USED)
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_bound_of_size_applies_after_every_single_thing() {
        let folder = folder(LIMITS);
        for at in 0..20 {
            put(&folder, &format!("{at:03}"), 90, 0);
            assert!(names(&folder).len() <= 5, "five parts of one thing each");
            let used = read_used(&folder.path).expect("it is written");
            assert_eq!(used.bytes, 90 * names(&folder).len() as u64);
        }
        assert_eq!(names(&folder), ["015", "016", "017", "018", "019"], "the newest stay");
        // One that needs nearly all there is.
        put(&folder, "large", 950, 0);
        assert_eq!(names(&folder), ["large"]);
        assert!(folder.reserve_at(1_001, 0).is_err());
        assert_eq!(names(&folder), ["large"]);
        folder.wait_for_removals();
        assert!(fs::read_dir(&folder.path).expect("there").count() <= 4, "no part is left half removed");
        folder.wait_for_removals();
        super::super::remove_tree(&folder.path).expect("it was made above");
    }

    #[test]
    fn parts_are_shared_until_they_are_full_or_a_day_old_and_go_when_all_in_them_is_old() {
        let folder = folder(LIMITS);
        let day = millis(DAY);
        let first = put(&folder, "a", 10, 0);
        assert_eq!(put(&folder, "b", 10, day - 1), first);
        let second = put(&folder, "c", 10, day);
        assert_ne!(second, first);
        put(&folder, "d", 10, 31 * day);
        assert_eq!(
            names(&folder),
            ["a", "b", "c", "d"],
            "all that is in the first part is at most 30 days old"
        );
        put(&folder, "e", 10, 31 * day + 1);
        assert_eq!(names(&folder), ["c", "d", "e"]);
        // A clock that was set back removes nothing.
        put(&folder, "f", 10, -200 * day);
        assert_eq!(names(&folder), ["c", "d", "e", "f"]);
        folder.wait_for_removals();
        super::super::remove_tree(&folder.path).expect("it was made above");
    }

    #[test]
    fn the_parts_are_known_without_listing_them_and_what_another_process_changes_is_noticed() {
        let folder = folder(RetentionLimits { max_parts: 100, max_bytes: 100_000, ..LIMITS });
        for at in 0..6 {
            put(&folder, &format!("{at}"), 90, 0);
        }
        // What the folder does not speak of is not looked for.
        let stray = folder.path.join("0000000099.0");
        fs::create_dir(&stray).expect("made");
        assert_eq!(folder.parts().len(), 6);
        put(&folder, "6", 90, 0);
        assert_eq!(folder.parts().len(), 7);
        fs::remove_dir(&stray).expect("removed");
        // Another process knows the list under another name, or lists the folder.
        KNOWN.lock().expect("no panic").remove(&folder.path);
        let first = folder.parts().pop().expect("there are some");
        folder.release(&first);
        put(&folder, "7", 90, 0);
        assert_eq!(folder.parts().len(), 7);
        assert!(!folder.parts().contains(&first));
        // One that was killed while it changed the list has left no name of it.
        let folder_usage = folder.usage().expect("it is written");
        folder.change_list(&mut FolderUsage { ..folder_usage }).expect("written");
        fs::create_dir(&stray).expect("made");
        assert_eq!(folder.parts().len(), 8, "it is listed");
        super::super::remove_tree(&folder.path).expect("it was made above");
    }

    #[test]
    fn what_was_released_or_lost_its_numbers_is_counted_again() {
        let folder = folder(RetentionLimits { part_things: 1, ..LIMITS });
        let part = put(&folder, "a", 90, 0);
        put(&folder, "b", 80, 0);
        folder.release(&part);
        assert_eq!(
            (names(&folder), read_used(&folder.path).expect("there").bytes),
            (vec!["b".to_owned()], 80)
        );
        for path in folder.parts().into_iter().chain([folder.path.clone()]) {
            fs::write(path.join(USED), "").expect("written");
        }
        put(&folder, "c", 10, 0);
        assert_eq!(read_used(&folder.path).expect("there").bytes, 90);
        folder.wait_for_removals();
        super::super::remove_tree(&folder.path).expect("it was made above");
    }

    #[test]
    fn a_part_that_was_removed_by_hand_keeps_nothing_from_being_put_or_removed() {
        let folder = folder(RetentionLimits { max_parts: 3, max_bytes: 300, ..LIMITS });
        let by_hand = |at: usize| {
            let parts = folder.parts();
            fs::remove_dir_all(&parts[parts.len() - 1 - at]).expect("it is there");
        };
        for name in ["a", "b", "c"] {
            put(&folder, name, 90, 0);
        }
        // The oldest, which has to go for the next one.
        by_hand(0);
        put(&folder, "d", 90, 0);
        assert_eq!(names(&folder), ["b", "c", "d"]);
        // The newest, into which the next one might be put.
        by_hand(2);
        put(&folder, "e", 90, 0);
        // What another process finds then: one that does not know of those that are gone.
        KNOWN.lock().expect("no panic").remove(&folder.path);
        let forget = |bytes| write_used(&folder.path, PartUsage::new(bytes, 0)).expect("written");
        forget(290);
        put(&folder, "f", 90, 0);
        assert_eq!(names(&folder), ["c", "e", "f"], "what is gone leaves its room");
        for part in folder.parts() {
            fs::remove_dir_all(part).expect("it is there");
        }
        forget(270);
        put(&folder, "g", 90, 0);
        assert_eq!((names(&folder), folder.usage().expect("there").bytes), (vec!["g".to_owned()], 90));
        folder.wait_for_removals();
        super::super::remove_tree(&folder.path).expect("it was made above");
    }

    #[cfg(unix)]
    #[test]
    fn folders_that_may_not_be_written_go_too() {
        let folder = folder(RetentionLimits { max_parts: 1, part_things: 1, ..LIMITS });
        let part = put(&folder, "a", 1, 0);
        fs::create_dir_all(part.join("closed/inner")).expect("made");
        super::super::modes::set_mode(&part.join("closed"), 0o500).expect("own folder");
        put(&folder, "b", 1, 0);
        assert_eq!(names(&folder), ["b"]);
        folder.wait_for_removals();
        assert!(
            !fs::read_dir(&folder.path)
                .expect("there")
                .flatten()
                .any(|entry| entry.file_name().to_string_lossy().starts_with(GONE))
        );
        folder.wait_for_removals();
        super::super::remove_tree(&folder.path).expect("it was made above");
    }
}
