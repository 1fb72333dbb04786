//! Commands that undo covers, written down while they run: which of them run at the same time, and which a killed
//! service has left.
//!
//! They are beside the journals of batches, so that one look at that folder finds both.

#![expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own, in its state folder")]

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::changes;
use bailiwick_contract::id;
use bailiwick_platform::fs::{FileLock, Secrecy, create_private_dir, new_private_file, read_own_file};

/// The largest file of these that is read, in bytes.
const MAX_BYTES: u64 = 4 << 20;
/// The lock under which the files are changed.
const TURN: &str = "commands.lock";
/// What is known of the command.
const NOTE: &str = "command";
/// The ids of the commands that ran at the same time, one a line.
const TOGETHER: &str = "together";
/// The state of the folders before it.
const BEFORE: &str = "before";
/// What its process holds.
const LOCK: &str = "lock";

/// A command, as the next service finds it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CommandNote {
    /// The scope in which it runs.
    pub scope: String,
    /// The name of the scope in stores.
    pub key: String,
    /// The operation.
    pub op: String,
    /// The id of the request.
    pub operation_id: String,
    /// Whose request it is: a token's id, or `local`.
    pub caller: String,
    /// The id of the batch that the request is a step of, if it is one.
    pub batch: Option<String>,
    /// Paths beneath each root that the command cannot change.
    pub closed: Vec<Vec<Vec<u8>>>,
}

/// A command that is written down. The lock goes with the process.
#[derive(Debug)]
pub struct RunningCommand {
    folder: PathBuf,
    id: String,
    key: String,
    _lock: FileLock,
}

/// A command whose service has gone before it had ended.
#[derive(Debug)]
pub struct CutOffCommand {
    /// What is known of it.
    pub note: CommandNote,
    /// Its files.
    pub running: RunningCommand,
}

impl RunningCommand {
    /// Writes down that a command begins.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn begin(state: &Path, note: &CommandNote) -> io::Result<Self> {
        let folder = changes::folder(state);
        create_private_dir(&folder)?;
        let id = note.operation_id.clone();
        let _turn = FileLock::take(&folder, TURN)?;
        let lock = FileLock::try_take(&folder, &lock_name(&id))?.ok_or(io::ErrorKind::WouldBlock)?;
        let running = Self { folder, id, key: note.key.clone(), _lock: lock };
        let others: Vec<String> =
            running.others().filter(|other| is_running(&running.folder, other)).collect();
        for other in &others {
            let mut file = OpenOptions::new().append(true).open(running.file_of(other, TOGETHER))?;
            writeln!(file, "{}", running.id)?;
        }
        let note = serde_json::to_vec(note).map_err(io::Error::other)?;
        new_private_file(&running.file(NOTE))?.write_all(&note)?;
        let mut together = new_private_file(&running.file(TOGETHER))?;
        others.iter().try_for_each(|other| writeln!(together, "{other}"))?;
        Ok(running)
    }

    /// Returns where the state of the folders before the command is kept.
    pub fn state_before(&self) -> PathBuf {
        self.file(BEFORE)
    }

    /// Returns the ids of the requests whose commands ran in the same scope at the same time.
    pub fn together(&self) -> Vec<String> {
        let read = read_own_file(&self.file(TOGETHER), Secrecy::Secret, MAX_BYTES).ok();
        let text = read.and_then(|(bytes, _)| String::from_utf8(bytes).ok()).unwrap_or_default();
        text.lines().filter(|line| id::is_id(line)).map(str::to_owned).collect()
    }

    /// Writes down that it has ended. Nothing that others see can be of one that has changed nothing.
    pub fn end(self, has_changed: bool) {
        let Ok(_turn) = FileLock::take(&self.folder, TURN) else { return };
        if !has_changed {
            for other in self.others() {
                let path = self.file_of(&other, TOGETHER);
                let Ok(text) = fs::read_to_string(&path) else { continue };
                let kept = text.lines().filter(|line| *line != self.id).map(|line| format!("{line}\n"));
                // As it was, it says too much; that is no loss.
                let _ = fs::write(&path, kept.collect::<String>());
            }
        }
        self.remove_files();
    }

    fn remove_files(&self) {
        for kind in [TOGETHER, BEFORE, NOTE, LOCK] {
            let _ = fs::remove_file(self.file(kind));
        }
    }

    /// Returns the ids of the other commands of the scope that are written down.
    fn others(&self) -> impl Iterator<Item = String> {
        let is_other =
            |id: &String| *id != self.id && read(&self.folder, id).is_some_and(|it| it.key == self.key);
        written_down(&self.folder).filter(is_other).collect::<Vec<_>>().into_iter()
    }

    fn file(&self, kind: &str) -> PathBuf {
        self.file_of(&self.id, kind)
    }

    fn file_of(&self, id: &str, kind: &str) -> PathBuf {
        self.folder.join(format!("{id}.{kind}"))
    }
}

/// Looks for commands whose services have gone. Returns also whether others run.
pub fn find_cut_off(state: &Path) -> (Vec<CutOffCommand>, bool) {
    let folder = changes::folder(state);
    let (mut found, mut are_some_running) = (Vec::new(), false);
    if written_down(&folder).next().is_none() {
        return (found, false);
    }
    let Ok(_turn) = FileLock::take(&folder, TURN) else { return (found, true) };
    for id in written_down(&folder) {
        let Ok(Some(lock)) = FileLock::try_take(&folder, &lock_name(&id)) else {
            are_some_running = true;
            continue;
        };
        let note = read(&folder, &id);
        let key = note.as_ref().map(|note| note.key.clone()).unwrap_or_default();
        let running = RunningCommand { folder: folder.clone(), id, key, _lock: lock };
        match note {
            Some(note) => found.push(CutOffCommand { note, running }),
            // It was cut off before it was written, and so before the command began.
            None => running.remove_files(),
        }
    }
    (found, are_some_running)
}

/// Returns whether a command or a batch is written down: it runs, or a killed service has left it.
pub fn has_unfinished(state: &Path) -> bool {
    let names = fs::read_dir(changes::folder(state)).into_iter().flatten().flatten();
    let is_of_one = |name: &str| id::is_id(name.split('.').next().unwrap_or_default());
    names.filter_map(|entry| entry.file_name().into_string().ok()).any(|name| is_of_one(&name))
}

/// Returns the ids of the commands that are written down.
fn written_down(folder: &Path) -> impl Iterator<Item = String> + use<> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    names.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let (id, kind) = name.split_once('.')?;
        (kind == NOTE && id::is_id(id)).then(|| id.to_owned())
    })
}

fn is_running(folder: &Path, id: &str) -> bool {
    !matches!(FileLock::try_take(folder, &lock_name(id)), Ok(Some(_)))
}

fn read(folder: &Path, id: &str) -> Option<CommandNote> {
    let (bytes, _) = read_own_file(&folder.join(format!("{id}.{NOTE}")), Secrecy::Secret, MAX_BYTES).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn lock_name(id: &str) -> String {
    format!("{id}.{LOCK}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use bailiwick_platform::fs::remove_tree;

    fn note(key: &str) -> CommandNote {
        CommandNote {
            scope: "app".to_owned(),
            key: key.to_owned(),
            op: "command.run".to_owned(),
            operation_id: id::new_id(),
            caller: "local".to_owned(),
            batch: None,
            closed: vec![vec![b"\xff".to_vec()]],
        }
    }

    #[test]
    fn commands_of_a_scope_know_which_others_ran_at_the_same_time() {
        let state = std::env::temp_dir().join(format!("bailiwick-running-{}", id::new_id()));
        let begin = |key| {
            let note = note(key);
            (RunningCommand::begin(&state, &note).expect("written down"), note.operation_id)
        };
        let ((first, one), (second, two), (elsewhere, _)) = (begin("app"), begin("app"), begin("docs"));
        assert_eq!((first.together(), second.together()), (vec![two.clone()], vec![one.clone()]));
        assert!(elsewhere.together().is_empty());
        second.end(false);
        assert!(first.together().is_empty(), "it has changed nothing");
        let (third, three) = begin("app");
        third.end(true);
        assert!(has_unfinished(&state));
        assert_eq!(first.together(), [three]);
        assert!(find_cut_off(&state).0.is_empty() && find_cut_off(&state).1, "two run");
        drop(first);
        let (mut left, _) = find_cut_off(&state);
        assert_eq!(left.len(), 1);
        let left = left.remove(0);
        assert_eq!((left.note.operation_id, left.note.closed), (one, vec![vec![b"\xff".to_vec()]]));
        left.running.end(true);
        elsewhere.end(true);
        assert!(find_cut_off(&state).0.is_empty() && !find_cut_off(&state).1 && !has_unfinished(&state));
        let names: Vec<_> = fs::read_dir(changes::folder(&state)).expect("it is there").flatten().collect();
        assert_eq!(names.len(), 1, "the lock alone: {names:?}");
        remove_tree(&state).expect("it was made above");
    }
}
