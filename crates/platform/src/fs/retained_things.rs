//! Things of a retained folder that have names of their own, and are written while they are there: each is a folder.
//!
//! Room for a thing is counted before it is made, by as much as it may take; what it really takes is counted once nobody
//! writes it any more. A thing that is being made is hidden: a dot stands before its name until it is shown.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::create_private_dir;
use super::retained_folder::{
    LOCK, PartUsage, RetainedFolder, bytes_below, read_used, remove_whole, write_used,
};

/// What the name of a thing begins with that is being made.
const HIDDEN: char = '.';
/// What part of the bounds is made free when they are reached, so that not every further thing looks at all others.
const SPARE_PART: u64 = 16;

/// What a retained folder asks about the things in it.
pub trait RetainedThings {
    /// Returns how long nobody has used a thing; `None` while it is in use, and so has to stay.
    fn idle_for(&self, name: &str, path: &Path) -> Option<Duration>;

    /// Takes note that a thing is about to be removed.
    fn forget(&self, name: &str);

    /// Returns the steady time of the retention clock: by it nothing is older than its room.
    fn steady_ms(&self) -> i64;
}

impl RetainedFolder {
    /// Creates a hidden folder for a thing that may take so many bytes, after removing what has to go for it. What is in
    /// use stays even where there is too much of it.
    ///
    /// # Errors
    /// Those of the file system; `FileTooLarge` for a thing that is larger than all that is kept.
    pub fn reserve_thing(&self, name: &str, bytes: u64, things: &dyn RetainedThings) -> io::Result<PathBuf> {
        if bytes > self.limits.max_bytes {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let _lock = self.lock(LOCK)?;
        let mut total = match read_used(&self.path) {
            Some(total) => total,
            None => self.count(things, PartUsage::default())?,
        };
        if !self.has_room(total, PartUsage::new(bytes, 1)) {
            total = self.count(things, PartUsage::new(bytes, 1))?;
        }
        // Counted first: if this is cut off, the number is too large until all is counted again.
        write_used(&self.path, PartUsage::new(total.bytes + bytes, total.things + 1))?;
        let path = self.path.join(format!("{HIDDEN}{name}"));
        let used = PartUsage { made_ms: things.steady_ms(), ..PartUsage::new(bytes, 0) };
        let made = create_private_dir(&path).and_then(|()| write_used(&path, used));
        if let Err(error) = made {
            let _ = super::remove_tree(&path);
            let _ = write_used(&self.path, total);
            return Err(error);
        }
        Ok(path)
    }

    /// Gives a hidden thing its name, and returns the path that it has then.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn show_thing(&self, hidden: &Path) -> io::Result<PathBuf> {
        let name = hidden.file_name().unwrap_or_default().to_string_lossy();
        let path = self.path.join(name.trim_start_matches(HIDDEN));
        fs::rename(hidden, &path)?;
        Ok(path)
    }

    /// Counts what a thing really takes, which nobody writes any more.
    pub fn settle_thing(&self, path: &Path) {
        let Ok(_lock) = self.lock(LOCK) else { return };
        let (before, after) = (read_used(path).unwrap_or_default(), settled(path));
        if let Some(total) = read_used(&self.path) {
            let bytes = total.bytes.saturating_sub(before.bytes) + after.bytes;
            // A number that is too large is only careful.
            let _ = write_used(&self.path, PartUsage { bytes, ..total });
        }
    }

    /// Removes what is old or too much, counts all that stays, and leaves some room where there is little.
    pub fn prune_things(&self, things: &dyn RetainedThings) {
        if fs::symlink_metadata(&self.path).is_err() {
            return;
        }
        if let Ok(_lock) = self.lock(LOCK) {
            // What somebody who was killed has not removed.
            self.remove_gone();
            let more = PartUsage::new(0, u64::from(self.is_nearly_full()));
            // What could not be counted now is counted the next time.
            let _ = self.count(things, more);
        }
    }

    /// Returns whether so little room is left that it is better made now than by who needs it.
    pub fn is_nearly_full(&self) -> bool {
        let little = |bound: u64| bound / SPARE_PART / 2;
        let more = PartUsage::new(little(self.limits.max_bytes), little(self.limits.max_parts as u64));
        read_used(&self.path).is_some_and(|total| !self.has_room(total, more))
    }

    fn has_room(&self, total: PartUsage, more: PartUsage) -> bool {
        total.bytes.saturating_add(more.bytes) <= self.limits.max_bytes
            && total.things.saturating_add(more.things) <= self.limits.max_parts as u64
    }

    /// Counts everything, from the newest to the oldest; what is old goes, and what does not fit beside `more` if there
    /// is to be more.
    fn count(&self, things: &dyn RetainedThings, more: PartUsage) -> io::Result<PartUsage> {
        let spare = |bound: u64| if more.things == 0 { 0 } else { bound / SPARE_PART };
        let wanted = PartUsage::new(
            more.bytes + spare(self.limits.max_bytes),
            more.things + spare(self.limits.max_parts as u64),
        );
        let steady_ms = things.steady_ms();
        let mut total = PartUsage::default();
        for (name, path) in self.newest_first() {
            let Some(idle) = things.idle_for(&name, &path) else {
                // One that was being made may have got its name this very moment.
                let used = read_used(&path).or_else(|| read_used(&self.path.join(&name)));
                total.bytes += used.map_or_else(|| bytes_below(&path), |used| used.bytes);
                total.things += 1;
                continue;
            };
            let used = settled(&path);
            // A clock that was behind has stamped it too early.
            let is_shown = path.ends_with(&name);
            let idle =
                if is_shown && used.made_ms != 0 { idle.min(span(used.made_ms, steady_ms)) } else { idle };
            let with = PartUsage::new(total.bytes + used.bytes, total.things + 1);
            if idle > self.limits.max_age || !self.has_room(with, wanted) {
                things.forget(&name);
                self.remove_thing(&path);
            } else {
                total = with;
            }
        }
        write_used(&self.path, total)?;
        Ok(total)
    }

    /// Removes a thing: at once from its name, so that nobody finds half of it.
    pub(super) fn remove_thing(&self, path: &Path) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let gone = self.gone(&name);
        // A system may rename no folder while something in it is open.
        let is_renamed = fs::rename(path, &gone).is_ok();
        remove_whole(if is_renamed { &gone } else { path });
    }

    fn newest_first(&self) -> Vec<(String, PathBuf)> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut things: Vec<(String, PathBuf)> = names
            .filter_map(|file| {
                let name = file.strip_prefix(HIDDEN).unwrap_or(&file);
                bailiwick_contract::id::is_id(name).then(|| (name.to_owned(), self.path.join(&file)))
            })
            .collect();
        things.sort_unstable_by(|one, next| next.cmp(one));
        things
    }
}

/// Returns what a thing takes that nobody writes any more; counted once.
fn settled(path: &Path) -> PartUsage {
    let before = read_used(path);
    if let Some(used) = before.filter(|used| used.things == 1) {
        return used;
    }
    let made_ms = before.map_or(0, |used| used.made_ms);
    let used = PartUsage { made_ms, ..PartUsage::new(bytes_below(path), 1) };
    // Without it, it is counted again the next time.
    let _ = write_used(path, used);
    used
}

fn span(from_ms: i64, to_ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(to_ms.saturating_sub(from_ms)).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicI64, Ordering};

    use bailiwick_contract::id::new_id;

    use super::super::RetentionLimits;
    use super::*;

    const LIMITS: RetentionLimits = RetentionLimits {
        max_age: Duration::from_secs(60),
        max_bytes: 100_000,
        max_parts: 20,
        part_bytes: 0,
        part_things: 1,
        part_span: Duration::ZERO,
    };

    /// Some are in use, all others have been over for a time.
    struct InUseThings(Mutex<HashSet<String>>, Duration, AtomicI64);

    const MADE_MS: i64 = 1_000_000;

    impl RetainedThings for InUseThings {
        fn idle_for(&self, name: &str, _: &Path) -> Option<Duration> {
            (!self.0.lock().expect("no panic").contains(name)).then_some(self.1)
        }

        fn forget(&self, name: &str) {
            assert!(!self.0.lock().expect("no panic").contains(name), "{name} is in use");
        }

        fn steady_ms(&self) -> i64 {
            MADE_MS + self.2.load(Ordering::Relaxed)
        }
    }

    fn folder() -> RetainedFolder {
        RetainedFolder::new(std::env::temp_dir().join(format!("bailiwick-things-{}", new_id())), LIMITS)
    }

    /// Makes a thing that takes less than was reserved for it.
    fn put(folder: &RetainedFolder, things: &InUseThings, reserved: u64, bytes: usize) -> String {
        let name = new_id();
        let hidden = folder.reserve_thing(&name, reserved, things).expect("there is room");
        fs::write(hidden.join("text"), vec![0; bytes]).expect("written");
        let path = folder.show_thing(&hidden).expect("shown");
        folder.settle_thing(&path);
        name
    }

    /// Each gets its name at the very moment when it is counted.
    struct NamedMeanwhile;

    impl RetainedThings for NamedMeanwhile {
        fn idle_for(&self, name: &str, path: &Path) -> Option<Duration> {
            fs::rename(path, path.with_file_name(name)).expect("it is hidden");
            None
        }

        fn forget(&self, name: &str) {
            panic!("{name} is in use");
        }

        fn steady_ms(&self) -> i64 {
            MADE_MS
        }
    }

    #[test]
    fn what_gets_its_name_while_all_is_counted_is_counted() {
        let folder = folder();
        folder.reserve_thing(&new_id(), 60_000, &NamedMeanwhile).expect("there is room");
        // There is not enough room, so that all is counted; what is in use stays.
        folder.reserve_thing(&new_id(), 60_000, &NamedMeanwhile).expect("what is in use stays");
        let total = read_used(&folder.path).expect("counted");
        assert_eq!(total, PartUsage::new(120_000, 2));
        let _ = crate::fs::remove_tree(&folder.path);
    }

    #[test]
    fn what_is_reserved_counts_until_it_is_known_what_it_takes_and_the_oldest_go() {
        let (folder, things) = (folder(), InUseThings(Mutex::default(), Duration::ZERO, AtomicI64::new(0)));
        let names: Vec<String> = (0..10).map(|_| put(&folder, &things, 60_000, 8_000)).collect();
        let there = || folder.newest_first().into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        // Each needs 60,000 and some spare beside what is kept: of 8,000 each.
        let kept = there();
        assert!(kept.len() < 10 && kept.iter().eq(names.iter().rev().take(kept.len())), "{kept:?}");
        let total = read_used(&folder.path).expect("counted");
        assert_eq!(total.things, kept.len() as u64);
        assert_eq!(
            total.bytes,
            folder.newest_first().iter().map(|(_, path)| settled(path).bytes).sum::<u64>()
        );
        // One in use stays, however much there is.
        let name = new_id();
        things.0.lock().expect("no panic").insert(name.clone());
        folder.reserve_thing(&name, 90_000, &things).expect("there is room");
        put(&folder, &things, 80_000, 1);
        assert!(there().contains(&name) && there().len() == 2, "{:?}", there());
        // A lost number is found again, one that is too large is corrected.
        for number in ["", "00000000000000099999 00000000000000000019\n"] {
            fs::write(folder.path.join("used"), number).expect("written");
            folder.prune_things(&things);
            assert!((90_000..92_000).contains(&read_used(&folder.path).expect("counted").bytes));
        }
        super::super::remove_tree(&folder.path).expect("it was made above");
    }

    #[test]
    fn room_is_made_before_it_is_needed() {
        let (folder, things) = (folder(), InUseThings(Mutex::default(), Duration::ZERO, AtomicI64::new(0)));
        while !folder.is_nearly_full() {
            put(&folder, &things, 9_000, 9_000);
        }
        let before = folder.newest_first().len();
        folder.prune_things(&things);
        assert!(!folder.is_nearly_full() && folder.newest_first().len() == before - 1);
        super::super::remove_tree(&folder.path).expect("it was made above");
    }

    #[test]
    fn number_and_age_bound_what_is_kept_and_what_is_given_up_leaves_its_room() {
        let (folder, mut things) =
            (folder(), InUseThings(Mutex::default(), Duration::ZERO, AtomicI64::new(0)));
        for _ in 0..50 {
            put(&folder, &things, 10, 10);
            assert!(folder.newest_first().len() <= LIMITS.max_parts);
        }
        let given_up = || {
            let hidden = folder.reserve_thing(&new_id(), 5_000, &things).expect("there is room");
            folder.release(&hidden);
            assert!(!hidden.exists());
            read_used(&folder.path).expect("counted")
        };
        assert_eq!(given_up(), given_up());
        let (kept, max_age) = (folder.newest_first().len(), LIMITS.max_age + Duration::from_millis(1));
        things.1 = max_age;
        folder.prune_things(&things);
        assert_eq!(folder.newest_first().len(), kept, "stamps of a clock that was behind make nothing old");
        things.2 = AtomicI64::new(i64::try_from(max_age.as_millis()).expect("a minute"));
        folder.prune_things(&things);
        assert!(folder.newest_first().is_empty());
        assert_eq!(read_used(&folder.path).expect("counted"), PartUsage::default());
        super::super::remove_tree(&folder.path).expect("it was made above");
    }
}
