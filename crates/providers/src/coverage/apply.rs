//! Doing what a restoring has planned: what is in the way goes, the deepest first; what comes back comes, the uppermost
//! first; folders get their permission bits last.
//!
//! Each name is old or new at every moment, and what is replaced is checked once more when it has lost its name. If
//! something fails, what was kept before says how all of it goes back.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::fs::{ChangeAttributes, FileError, FileId, FileKind, RelPath, Stat, WritableDir};
use bailiwick_platform::names::OsStrExt;
use bailiwick_policy::file_failure;

use super::node::Node;
use super::restore::{ChangeState, FolderCache, Restoration, RestoreStep, look};
use crate::file::{LockGuards, TemporaryName, keep_both, sweep_at_once};

/// What the owner needs to change what is in a folder.
pub(super) const OWNER_BITS: u32 = 0o700;

/// The permission bits that folders get in the end, by root and path.
type FinalModes = BTreeMap<(usize, RelPath), u32>;

impl Restoration<'_> {
    /// Removes what an undo that was killed has left in the folders that the change is about.
    pub fn sweep(&self, held: &LockGuards) {
        let mut folders = FolderCache::default();
        let mut swept = BTreeSet::new();
        for step in &self.steps {
            let Some(above) = step.change.path.parent() else { continue };
            if (step.change.root, &above) == (0, &RelPath::root()) {
                continue;
            }
            if swept.insert((step.change.root, above))
                && let Ok(Some(dir)) =
                    folders.above(step.change.root, &self.roots[step.change.root].dir, &step.change.path)
            {
                sweep_at_once(dir, held.folder());
            }
        }
        // Last: the lock goes with what is left there.
        if let Some(root) = self.roots.first() {
            sweep_at_once(&root.dir, held.folder());
        }
    }

    /// Returns the folder that the lock names of what is put back, wherever that is.
    fn lock_folder(&self) -> FileId {
        self.roots[0].dir.id()
    }

    /// Does what is planned.
    ///
    /// # Errors
    /// `conflict` where something was changed in the same moment, and those of a file. A part may be done then.
    pub fn apply(&self, held: &LockGuards) -> Result<(), Failure> {
        let mut modes = FinalModes::new();
        let opened = self.open_folders(&mut modes);
        // One at a time has it. What a crash leaves is known by its lock, and is removed at once.
        let aside = TemporaryName::new(held.folder(), self.lock_folder(), "what an undo puts back")?;
        let done = opened
            .and_then(|()| self.remove(held, &aside.name))
            .and_then(|()| self.create(&aside.name, &mut modes));
        let set = self.set_modes(&modes);
        done.and(set)?;
        for root in self.roots {
            root.dir.sync_below().map_err(|error| file_failure(&error, &root.path))?;
        }
        Ok(())
    }

    fn failure(&self, step: &RestoreStep, error: &FileError) -> Failure {
        let root = self.roots[step.change.root].path.clone();
        let mut names = step.change.path.components().map(OsStr::from_bytes);
        // A path that is closed to clients is not named.
        let path = names.try_fold(root.clone(), |path, name| path.child(name)).unwrap_or(root);
        file_failure(error, &path)
    }

    fn changed(&self, step: &RestoreStep) -> Failure {
        Failure::new(
            ErrorCode::Conflict,
            format!("`{}` was changed by another program in the same moment", self.shown(step)),
        )
        .detail("rule", "changed-meanwhile")
        .hint("Try again when nothing else changes the folder.")
    }

    /// Returns the folders in which something changes and that this user could not change, as they are.
    pub(super) fn closed_folders(&self) -> Vec<((usize, RelPath), Stat)> {
        let mut found = Vec::new();
        // Below one that cannot be entered nothing is known.
        let _ = self.for_each_closed_folder(|_, key, _, _, stat| {
            found.push((key.clone(), stat));
            Ok(())
        });
        found
    }

    /// Lets this user into every folder in which something changes.
    fn open_folders(&self, modes: &mut FinalModes) -> Result<(), Failure> {
        self.for_each_closed_folder(|step, key, dir, name, stat| {
            let set = dir.set_entry_mode(name, stat.mode | OWNER_BITS);
            set.map_err(|error| self.failure(step, &error))?;
            modes.insert(key.clone(), stat.mode);
            Ok(())
        })
    }

    /// Calls for each folder in which something changes and that this user could not change, the uppermost first.
    fn for_each_closed_folder(
        &self,
        mut visit: impl FnMut(&RestoreStep, &(usize, RelPath), &WritableDir, &OsStr, Stat) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut visited = BTreeSet::new();
        for step in self.pending() {
            let mut folders: Vec<RelPath> = Vec::new();
            let mut folder = step.change.path.parent();
            while let Some(path) = folder.filter(|path| !path.is_root()) {
                folder = path.parent();
                folders.push(path);
            }
            if step.now.as_ref().is_some_and(|now| now.stat.kind == FileKind::Dir) {
                folders.insert(0, step.change.path.clone());
            }
            for path in folders.into_iter().rev() {
                let key = (step.change.root, path);
                if !visited.insert(key.clone()) {
                    continue;
                }
                let root = &self.roots[key.0].dir;
                let (Some(above), Some(name)) = (key.1.parent(), key.1.file_name()) else { continue };
                let Ok(dir) = root.open_dir_beneath(&above) else { break };
                match dir.stat(name) {
                    Ok(stat) if stat.kind == FileKind::Dir && stat.mode & OWNER_BITS != OWNER_BITS => {
                        visit(step, &key, &dir, name, stat)?;
                    }
                    Ok(_) => {}
                    Err(_) => break,
                }
            }
        }
        Ok(())
    }

    /// Removes what is not there in the end, and what is a folder then and not now, or the other way round.
    fn remove(&self, held: &LockGuards, aside: &OsStr) -> Result<(), Failure> {
        let mut folders = FolderCache::default();
        for step in self.steps.iter().rev().filter(|step| step.state == ChangeState::Pending) {
            let Some(now) = &step.now else { continue };
            let is_dir = |node: &Node| node.stat.kind == FileKind::Dir;
            if step.change.before.as_ref().is_some_and(|then| is_dir(then) == is_dir(now)) {
                continue;
            }
            self.cancel.check()?;
            let failed = |error: FileError| self.failure(step, &error);
            let root = &self.roots[step.change.root].dir;
            let name = step.change.path.file_name().unwrap_or_default();
            let Some(dir) = folders.above(step.change.root, root, &step.change.path).map_err(failed)? else {
                return Err(self.changed(step));
            };
            if is_dir(now) {
                if let Ok(folder) = dir.open_dir(name) {
                    sweep_at_once(&folder, held.folder());
                }
                dir.remove_dir(name).map_err(|error| match error {
                    FileError::NotEmpty | FileError::NotFound => self.changed(step),
                    other => failed(other),
                })?;
                folders.clear();
                continue;
            }
            dir.rename_to_free(name, dir, aside).map_err(failed)?;
            self.drop_old(step, dir, aside, || dir.rename_to_free(aside, dir, name))?;
        }
        Ok(())
    }

    /// Removes what has lost its name, if it is what was expected; else, or if that fails, it gets its name again by
    /// `give_back`.
    fn drop_old(
        &self,
        step: &RestoreStep,
        dir: &WritableDir,
        old: &OsStr,
        give_back: impl FnOnce() -> Result<(), FileError>,
    ) -> Result<(), Failure> {
        let facts = |node: &Node| (node.stat.kind, node.stat.id, node.stat.size, node.stat.modified_ns);
        let expected = step.now.as_ref().map(|now| (facts(now), &now.link));
        let dropped = match look(dir, old) {
            Ok(found) if found.as_ref().map(|found| (facts(found), &found.link)) == expected => {
                dir.remove_file(old).map_err(|error| self.failure(step, &error))
            }
            Ok(_) => Err(self.changed(step)),
            Err(error) => Err(self.failure(step, &error)),
        };
        if dropped.is_err() && give_back().is_err() {
            keep_both(dir, old, step.change.path.file_name().unwrap_or_default());
        }
        dropped
    }

    /// Makes what was there before.
    fn create(&self, temporary: &OsStr, modes: &mut FinalModes) -> Result<(), Failure> {
        // The names of each file that has several, the first that has it again.
        let mut made: HashMap<FileId, (usize, RelPath)> = HashMap::new();
        for step in &self.steps {
            if let Some(then) = step.change.before.as_ref().filter(|then| then.is_shared())
                && (step.state == ChangeState::Done
                    || (step.state == ChangeState::Pending && step.has_content))
            {
                made.entry(then.stat.id).or_insert((step.change.root, step.change.path.clone()));
            }
        }
        let mut folders = FolderCache::default();
        for step in self.pending() {
            let Some(then) = &step.change.before else { continue };
            self.cancel.check()?;
            let failed = |error: FileError| self.failure(step, &error);
            let root = &self.roots[step.change.root].dir;
            let name = step.change.path.file_name().unwrap_or_default();
            let dir = folders.above(step.change.root, root, &step.change.path).map_err(failed)?;
            let Some(dir) = dir else { return Err(self.changed(step)) };
            match then.stat.kind {
                FileKind::Dir => {
                    let key = (step.change.root, step.change.path.clone());
                    match dir.make_dir(name) {
                        Ok(()) => folders.clear(),
                        Err(FileError::Exists) if dir.stat(name).is_ok_and(|it| it.kind == FileKind::Dir) => {
                        }
                        Err(error) => return Err(failed(error)),
                    }
                    modes.insert(key, then.stat.mode);
                }
                FileKind::Symlink => {
                    let link = then.link.as_deref().unwrap_or_default();
                    dir.make_link(temporary, link).map_err(failed)?;
                    self.give_name(step, dir, temporary, name)?;
                }
                FileKind::File if step.has_content => set_facts(dir, name, then).map_err(failed)?,
                FileKind::File => {
                    let other = made.get(&then.stat.id).filter(|_| then.is_shared());
                    match other {
                        Some((at, path)) => {
                            let above = path.parent().unwrap_or_default();
                            let from = self.roots[*at].dir.open_dir_beneath(&above).map_err(failed)?;
                            let linked = from.link(path.file_name().unwrap_or_default(), dir, temporary);
                            linked.map_err(failed)?;
                        }
                        None => self.write(step, dir, temporary, then)?,
                    }
                    self.give_name(step, dir, temporary, name)?;
                    if then.is_shared() {
                        made.entry(then.stat.id).or_insert((step.change.root, step.change.path.clone()));
                    }
                }
                FileKind::Fifo | FileKind::Socket | FileKind::Device | FileKind::Other => {}
            }
        }
        Ok(())
    }

    /// Writes a file as it was, under a temporary name.
    fn write(&self, step: &RestoreStep, dir: &WritableDir, name: &OsStr, then: &Node) -> Result<(), Failure> {
        let gone = || {
            Failure::new(
                ErrorCode::NotFound,
                format!("`{}` as it was is not kept, or not any more", self.shown(step)),
            )
        };
        let content = then.content.as_ref().ok_or_else(gone)?;
        let unread = |error: io::Error| Failure::new(ErrorCode::ProviderUnavailable, error.to_string());
        let bytes = self.record.content(content).map_err(unread)?.ok_or_else(gone)?;
        let failed = |error: FileError| self.failure(step, &error);
        let mut file = dir.create_file(name, 0o600).map_err(failed)?;
        let written = file.write_all(&bytes).map_err(|error| failed(into_file_error(error)));
        let written = written.and_then(|()| {
            set_attributes(&file, then).map_err(failed)?;
            file.set_modified_ns(then.stat.modified_ns).map_err(failed)?;
            file.set_mode(then.stat.mode).map_err(failed)
        });
        if written.is_err() {
            let _ = dir.remove_file(name);
        }
        written
    }

    /// Gives what has a temporary name the name of a step.
    fn give_name(
        &self,
        step: &RestoreStep,
        dir: &WritableDir,
        temporary: &OsStr,
        name: &OsStr,
    ) -> Result<(), Failure> {
        let is_dir = |node: &Node| node.stat.kind == FileKind::Dir;
        let has_old = step.now.as_ref().is_some_and(|now| !is_dir(now));
        let named = match has_old {
            true => dir.exchange_at_once(name, dir, temporary),
            false => dir.rename_to_free(temporary, dir, name).map(|()| true),
        };
        match named {
            Ok(true) if has_old => self.drop_old(step, dir, temporary, || {
                dir.exchange_at_once(name, dir, temporary)?;
                // What it has now is our own.
                let _ = dir.remove_file(temporary);
                Ok(())
            }),
            Ok(true) => Ok(()),
            Ok(false) => {
                let _ = dir.remove_file(temporary);
                Err(self.failure(step, &FileError::Io(io::ErrorKind::Unsupported.into())))
            }
            Err(error) => {
                let _ = dir.remove_file(temporary);
                Err(match error {
                    FileError::Exists | FileError::NotFound => self.changed(step),
                    other => self.failure(step, &other),
                })
            }
        }
    }

    /// Sets the permission bits of folders, the deepest first.
    fn set_modes(&self, modes: &FinalModes) -> Result<(), Failure> {
        for ((root, path), mode) in modes.iter().rev() {
            let root = &self.roots[*root];
            let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { continue };
            // One that is gone needs none.
            let Ok(dir) = root.dir.open_dir_beneath(&above) else { continue };
            match dir.set_entry_mode(name, *mode) {
                Ok(()) | Err(FileError::NotFound | FileError::Symlink) => {}
                Err(error) => return Err(file_failure(&error, &root.path)),
            }
        }
        Ok(())
    }
}

/// Gives a file that has its content the facts that it had.
fn set_facts(dir: &WritableDir, name: &OsStr, then: &Node) -> Result<(), FileError> {
    // Who may not read it now, or set its attributes, may do so with other bits.
    dir.set_entry_mode(name, then.stat.mode | 0o600)?;
    let opened = dir.open_file(name)?;
    set_attributes(&opened.file, then)?;
    opened.file.set_modified_ns(then.stat.modified_ns)?;
    dir.set_entry_mode(name, then.stat.mode)
}

/// Gives a file the extended attributes that it had: without them it is not as it was.
fn set_attributes(file: &File, then: &Node) -> Result<(), FileError> {
    match file.set_attributes(&then.attributes) {
        true => Ok(()),
        false => Err(FileError::Io(io::Error::other("its extended attributes cannot be set"))),
    }
}

fn into_file_error(error: io::Error) -> FileError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => FileError::NoSpace,
        io::ErrorKind::ReadOnlyFilesystem => FileError::ReadOnly,
        _ => FileError::Io(error),
    }
}
