//! What a repair replaced, kept in the state folder, so that `doctor --undo` can put it back.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use bailiwick_contract::{ErrorCode, Failure, id};
use bailiwick_platform::fs::{
    Protection, RetainedFolder, RetainedThings, RetentionClock, RetentionLimits, replace_private_file,
};

use super::repair::Repair;

/// How much can be taken back: 20 runs of `--fix` at least, unless they are large. Nothing goes because it is old.
const LIMITS: RetentionLimits = RetentionLimits {
    max_age: Duration::MAX,
    max_bytes: 64 << 20,
    max_parts: 21,
    part_bytes: 0,
    part_things: 1,
    part_span: Duration::ZERO,
};
const LIST: &str = "changes.json";

/// The changes of one run of `--fix`.
#[derive(Debug)]
pub struct Backups {
    state: PathBuf,
    /// Where this run is kept; none before the first change.
    folder: Option<PathBuf>,
    changes: Vec<Change>,
}

/// One change, as it is written down.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Change {
    path: PathBuf,
    /// How it was protected; none if it was not there.
    protection: Option<String>,
    /// The file beside this one that holds what was there.
    content: Option<String>,
    /// Whether only that was changed.
    protection_only: bool,
}

/// The runs: no other is in use while one is made, and none grows old.
struct Runs(RetentionClock);

impl RetainedThings for Runs {
    fn idle_for(&self, _: &str, _: &Path) -> Option<Duration> {
        Some(Duration::ZERO)
    }

    fn forget(&self, _: &str) {}

    fn steady_ms(&self) -> i64 {
        self.0.steady_ms()
    }
}

fn place(state: &Path) -> PathBuf {
    state.join("repairs")
}

fn retained(state: &Path) -> RetainedFolder {
    RetainedFolder::new(place(state), LIMITS)
}

impl Backups {
    /// Begins a run; nothing is written before the first change.
    pub fn begin(state: &Path) -> Self {
        Self { state: state.to_owned(), folder: None, changes: Vec::new() }
    }

    /// Names the run, for `--undo`; none if it changed nothing.
    pub fn id(&self) -> Option<String> {
        let name = self.folder.as_ref()?.file_name()?.to_string_lossy().into_owned();
        (!self.changes.is_empty()).then_some(name)
    }

    /// Keeps what is there, then makes the change.
    ///
    /// # Errors
    /// When what is there cannot be kept, or the change fails: nothing is changed then.
    pub fn apply(&mut self, repair: &Repair) -> Result<(), Failure> {
        let failed = |error: std::io::Error| {
            Failure::new(ErrorCode::ExecutionFailed, format!("{}: {error}", repair.path().display()))
        };
        let protection_only = matches!(repair, Repair::Narrow { .. });
        let mut change = Change {
            path: repair.path().to_owned(),
            protection: Protection::of_name(repair.path()).ok().map(|it| it.kept()),
            content: None,
            protection_only,
        };
        // A socket or a pipe has no content.
        let facts = fs::metadata(repair.path()).ok().filter(|facts| !protection_only && facts.is_file());
        let folder = self.folder(facts.as_ref().map_or(0, fs::Metadata::len)).map_err(failed)?;
        if facts.is_some() {
            let name = self.changes.len().to_string();
            let content = fs::read(repair.path()).map_err(failed)?;
            replace_private_file(&folder.join(&name), &content).map_err(failed)?;
            change.content = Some(name);
        }
        self.changes.push(change);
        let done = self.write_list(&folder).and_then(|()| repair.apply());
        if let Err(error) = done {
            self.changes.pop();
            // The list then names one change too many at most, which undo finds to be undone.
            let _ = self.write_list(&folder);
            return Err(failed(error));
        }
        Ok(())
    }

    /// Returns the folder of the run; before the first change it is made, and the oldest runs go for it.
    fn folder(&mut self, bytes: u64) -> std::io::Result<PathBuf> {
        if let Some(folder) = &self.folder {
            return Ok(folder.clone());
        }
        let (runs, kept) = (retained(&self.state), Runs(RetentionClock::below(&self.state)));
        // One that is larger than all that is kept is kept alone.
        let hidden = runs.reserve_thing(&id::new_id(), bytes.min(LIMITS.max_bytes), &kept)?;
        let folder = runs.show_thing(&hidden)?;
        self.folder = Some(folder.clone());
        Ok(folder)
    }

    fn write_list(&self, folder: &Path) -> std::io::Result<()> {
        let text = serde_json::to_vec_pretty(&self.changes).expect("changes have a JSON form");
        replace_private_file(&folder.join(LIST), &text)
    }

    /// Counts what the run takes, which is over.
    pub fn settle(&self) {
        if let Some(folder) = &self.folder {
            retained(&self.state).settle_thing(folder);
        }
    }
}

/// Lists the runs, oldest first: their names are in the order of time.
fn runs(state: &Path) -> Vec<String> {
    let entries = fs::read_dir(place(state)).into_iter().flatten().flatten();
    let mut runs: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    runs.retain(|name| id::is_id(name));
    runs.sort();
    runs
}

/// Puts back what the newest run of `--fix` changed. Returns the paths, in the order in which they were put back.
///
/// # Errors
/// `not_found` where there is nothing to take back; those of the file system, with what is left kept.
pub fn undo(state: &Path) -> Result<Vec<PathBuf>, Failure> {
    let run = runs(state).pop().ok_or_else(|| {
        Failure::new(ErrorCode::NotFound, "there is no repair to take back")
            .hint("Only what `bailiwick doctor --fix` changed can be taken back.")
    })?;
    let folder = place(state).join(run);
    let failed = |path: &Path, error: std::io::Error| {
        Failure::new(ErrorCode::ExecutionFailed, format!("{}: {error}", path.display()))
            .hint(format!("What was there is kept in {}.", folder.display()))
    };
    let list = folder.join(LIST);
    let text = fs::read(&list).map_err(|error| failed(&list, error))?;
    let changes: Vec<Change> =
        serde_json::from_slice(&text).map_err(|error| failed(&list, std::io::Error::other(error)))?;
    let mut put_back = Vec::new();
    for change in changes.iter().rev() {
        let path = &change.path;
        let done = (|| {
            match (&change.content, &change.protection) {
                (Some(name), protection) => {
                    replace_private_file(path, &fs::read(folder.join(name))?)?;
                    if let Some(protection) = protection {
                        Protection::restore(path, protection)?;
                    }
                }
                (None, Some(protection)) if change.protection_only => Protection::restore(path, protection)?,
                // A socket that nobody served cannot be put back, and need not be.
                (None, Some(_)) => return Ok(false),
                (None, None) => fs::remove_file(path)?,
            }
            Ok(true)
        })();
        if done.map_err(|error| failed(path, error))? {
            put_back.push(path.clone());
        }
    }
    retained(state).release(&folder);
    // What stays would be put back once more.
    match fs::symlink_metadata(&folder) {
        Ok(_) => Err(failed(&folder, std::io::Error::other("it cannot be removed"))),
        Err(_) => Ok(put_back),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_bounded_in_number_and_bytes_and_the_newest_can_be_taken_back() {
        let folder = std::env::temp_dir().join(format!("bailiwick-repairs-{}", id::new_id()));
        let state = folder.join("state");
        fs::create_dir_all(&state).expect("made");
        let path = folder.join("left");
        let repair = |bytes: u64| {
            fs::File::create(&path).and_then(|file| file.set_len(bytes)).expect("made");
            let mut backups = Backups::begin(&state);
            backups.apply(&Repair::Remove { path: path.clone() }).expect("removed");
            backups.settle();
            assert_eq!(runs(&state).last().cloned(), backups.id());
        };
        (0..30).for_each(|_| repair(10));
        assert!((20..=LIMITS.max_parts).contains(&runs(&state).len()), "{}", runs(&state).len());
        // Each takes more than a third of the bound.
        let third = LIMITS.max_bytes / 3;
        (0..4).for_each(|_| repair(third));
        let kept: u64 = runs(&state)
            .iter()
            .filter_map(|run| place(&state).join(run).join("0").metadata().ok())
            .map(|it| it.len())
            .sum();
        assert!(kept <= LIMITS.max_bytes, "{kept}");
        let before = runs(&state).len();
        assert_eq!(undo(&state).expect("taken back"), std::slice::from_ref(&path));
        assert_eq!((fs::metadata(&path).expect("there").len(), runs(&state).len()), (third, before - 1));
        fs::remove_dir_all(&folder).expect("it was made above");
    }
}
