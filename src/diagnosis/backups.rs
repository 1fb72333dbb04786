//! What a repair replaced, kept in the state folder, so that `doctor --undo` can put it back.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use bailiwick_contract::{ErrorCode, Failure, id};
use bailiwick_platform::fs::{Protection, create_private_dir, remove_tree, replace_private_file};

use super::repair::Repair;

/// How many runs of `--fix` can be taken back.
const KEPT: usize = 20;
const LIST: &str = "changes.json";

/// The changes of one run of `--fix`.
#[derive(Debug)]
pub struct Backups {
    folder: PathBuf,
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

fn place(state: &Path) -> PathBuf {
    state.join("repairs")
}

impl Backups {
    /// Begins a run; nothing is written before the first change.
    pub fn begin(state: &Path) -> Self {
        Self { folder: place(state).join(id::new_id()), changes: Vec::new() }
    }

    /// Names the run, for `--undo`; none if it changed nothing.
    pub fn id(&self) -> Option<String> {
        let name = self.folder.file_name()?.to_string_lossy().into_owned();
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
        create_private_dir(&self.folder).map_err(failed)?;
        // A socket or a pipe has no content.
        if !protection_only && fs::metadata(repair.path()).is_ok_and(|facts| facts.is_file()) {
            let name = self.changes.len().to_string();
            let content = fs::read(repair.path()).map_err(failed)?;
            replace_private_file(&self.folder.join(&name), &content).map_err(failed)?;
            change.content = Some(name);
        }
        self.changes.push(change);
        let done = self.write_list().and_then(|()| repair.apply());
        if let Err(error) = done {
            self.changes.pop();
            // The list then names one change too many at most, which undo finds to be undone.
            let _ = self.write_list();
            return Err(failed(error));
        }
        Ok(())
    }

    fn write_list(&self) -> std::io::Result<()> {
        let text = serde_json::to_vec_pretty(&self.changes).expect("changes have a JSON form");
        replace_private_file(&self.folder.join(LIST), &text)
    }

    /// Removes the oldest runs beyond those that are kept.
    pub fn prune(state: &Path) {
        let runs = runs(state);
        for run in runs.iter().rev().skip(KEPT) {
            // What cannot be removed is tried again with the next run.
            let _ = remove_tree(&place(state).join(run));
        }
    }
}

/// Lists the runs, oldest first: their names are in the order of time.
fn runs(state: &Path) -> Vec<String> {
    let entries = fs::read_dir(place(state)).into_iter().flatten().flatten();
    let mut runs: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
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
    remove_tree(&folder).map_err(|error| failed(&folder, error))?;
    Ok(put_back)
}
