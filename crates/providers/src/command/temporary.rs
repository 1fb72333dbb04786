//! The folder for temporary files of a command that has none of its own in a sandbox.
//!
//! It is in the home folder of the scope's commands, where these can replace every name by a link. So everything is
//! made and removed by handle, and no link is followed.
//!
//! Each has a lock beside the homes, where no command reaches, for as long as it is this process's to remove. A lock that
//! is free is that of a process which was killed: the next command of the scope, or the next service, removes the folder.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use bailiwick_contract::id;
use bailiwick_platform::fs::{FileError, FileKind, FileLock, RelPath, Root, WritableDir};

/// The folder in the home that holds all of them.
const TEMPORARY: &str = "tmp";

/// How many characters of an id name a folder: sockets in it have little room for their paths.
const NAME_CHARS: usize = 8;

/// The folder beside the homes that has a folder of locks for each.
const LOCKS: &str = ".temporary";

/// A private folder that is removed with everything in it when this is dropped.
#[derive(Debug)]
pub struct TemporaryFolder {
    path: PathBuf,
    /// The folder that holds it, and its name there; none once another process removes it.
    place: Option<(WritableDir, OsString)>,
    /// None once another process removes it, or knows that it is there.
    lock: Option<FolderLock>,
}

impl TemporaryFolder {
    /// Creates a folder in the private home of a scope's commands, and removes what killed processes left there.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn new(home: &Path) -> io::Result<Self> {
        remove_abandoned_of(home);
        let inside = open_or_make(home)?;
        let (id, lock) = FolderLock::new(home)?;
        let name = folder_name(&id).to_owned();
        inside.make_dir(&name).map_err(io::Error::other)?;
        Ok(Self { path: home.join(TEMPORARY).join(&name), place: Some((inside, name)), lock: Some(lock) })
    }

    /// Notes that the folder of a process names it, so that what removes that removes it, too.
    pub fn has_process(&mut self) {
        if let Some(lock) = self.lock.take() {
            lock.remove();
        }
    }

    /// Leaves it to another process to remove it.
    pub fn hand_over(mut self) {
        self.has_process();
        self.place = None;
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let Some((inside, name)) = self.place.take() else { return };
        let lock = self.lock.take();
        let gone = |lock: Option<FolderLock>| lock.into_iter().for_each(FolderLock::remove);
        // Empty as a rule. A full one may take a while, which nobody has to wait for.
        if inside.remove_dir(&name).is_ok() {
            return gone(lock);
        }
        std::thread::spawn(move || {
            // What cannot be removed now keeps its lock file, for the next command.
            if inside.remove_tree(&name).is_ok() {
                gone(lock);
            }
        });
    }
}

/// Says that a temporary folder is somebody's: as long as the process lives, or until it is removed.
#[derive(Debug)]
struct FolderLock {
    file: PathBuf,
    lock: FileLock,
}

impl FolderLock {
    /// Takes a new one for the home of a scope's commands. Returns the id that names the folder.
    fn new(home: &Path) -> io::Result<(String, Self)> {
        let folder = locks_of(home).ok_or(io::ErrorKind::NotFound)?;
        loop {
            let id = id::new_id();
            let Some(lock) = FileLock::try_take(&folder, &id)? else { continue };
            // Between its making and its locking another one could take it for that of a killed process, and remove it.
            if FileLock::try_take(&folder, &id)?.is_none() {
                return Ok((id.clone(), Self { file: folder.join(id), lock }));
            }
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the lock is Bailiwick's own, in its state folder")]
    fn remove(self) {
        let _ = std::fs::remove_file(&self.file);
        drop(self.lock);
    }
}

/// Names a folder: the end of an id is random, its beginning the time.
fn folder_name(id: &str) -> &OsStr {
    OsStr::new(&id[id.len() - NAME_CHARS..])
}

fn locks_of(home: &Path) -> Option<PathBuf> {
    Some(home.parent()?.join(LOCKS).join(home.file_name()?))
}

/// Removes the temporary folders that killed processes left, in the homes of all scopes.
#[expect(clippy::disallowed_methods, reason = "the locks are Bailiwick's own, in its state folder")]
pub fn remove_abandoned(homes: &Path) {
    let scopes = std::fs::read_dir(homes.join(LOCKS)).into_iter().flatten().flatten();
    scopes.for_each(|scope| remove_abandoned_of(&homes.join(scope.file_name())));
}

/// Removes the temporary folders that killed processes left in a home. Nobody waits for it.
#[expect(clippy::disallowed_methods, reason = "the locks are Bailiwick's own, in its state folder")]
fn remove_abandoned_of(home: &Path) {
    let Some(folder) = locks_of(home) else { return };
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().into_string().ok()).filter(|id| id::is_id(id));
    let left: Vec<(String, FolderLock)> = ids
        .filter_map(|id| {
            let lock = FileLock::try_take(&folder, &id).ok()??;
            let file = folder.join(&id);
            Some((id, FolderLock { file, lock }))
        })
        .collect();
    if left.is_empty() {
        return;
    }
    let home = home.to_owned();
    std::thread::spawn(move || {
        for (id, lock) in left {
            if remove_named(&home, folder_name(&id)).is_ok() {
                lock.remove();
            }
        }
    });
}

/// Creates the folder that holds all temporary folders of a home, and returns its path.
///
/// # Errors
/// Those of the file system.
pub fn make_shared(home: &Path) -> io::Result<PathBuf> {
    open_or_make(home)?;
    Ok(home.join(TEMPORARY))
}

/// Removes a temporary folder that nobody holds any more, with everything in it.
pub fn remove_left(folder: &Path) {
    let (Some(name), Some(home)) = (folder.file_name(), folder.parent().and_then(Path::parent)) else {
        return;
    };
    // What is still there is in nobody's way.
    let _ = remove_named(home, name);
}

/// Removes a temporary folder of a home, if it is there.
fn remove_named(home: &Path, name: &OsStr) -> Result<(), FileError> {
    let removed = open_home(home)
        .and_then(|home| home.open_dir(OsStr::new(TEMPORARY)))
        .and_then(|inside| inside.remove_tree(name));
    match removed {
        Err(FileError::NotFound) => Ok(()),
        other => other,
    }
}

fn open_home(home: &Path) -> Result<WritableDir, FileError> {
    Root::open(home)?.open_writable_dir(&RelPath::root())
}

fn open_or_make(home: &Path) -> io::Result<WritableDir> {
    let opened = (|| {
        let (home, name) = (open_home(home)?, OsStr::new(TEMPORARY));
        match home.stat(name) {
            Ok(stat) if stat.kind == FileKind::Dir => {}
            // A command made something else of it; nothing but commands uses it.
            Ok(_) => home.remove_file(name).and_then(|()| home.make_dir(name))?,
            Err(FileError::NotFound) => match home.make_dir(name) {
                Ok(()) | Err(FileError::Exists) => {}
                Err(error) => return Err(error),
            },
            Err(error) => return Err(error),
        }
        home.open_dir(name)
    })();
    opened.map_err(io::Error::other)
}
