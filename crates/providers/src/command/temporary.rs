//! The folder for temporary files of a command that has none of its own in a sandbox.
//!
//! It is in the home folder of the scope's commands, where these can replace every name by a link. So everything is
//! made and removed by handle, and no link is followed.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use bailiwick_contract::id;
use bailiwick_platform::fs::{DoorError, FileKind, RelPath, Root, WritableDir};

/// The folder in the home that holds all of them.
const TEMPORARY: &str = "tmp";

/// How many characters of an id name a folder: sockets in it have little room for their paths.
const NAME_CHARS: usize = 8;

/// A private folder that is removed with everything in it when this is dropped.
#[derive(Debug)]
pub struct TemporaryFolder {
    path: PathBuf,
    /// The folder that holds it, and its name there; none once another process removes it.
    place: Option<(WritableDir, OsString)>,
}

impl TemporaryFolder {
    /// Creates a folder in the private home of a scope's commands.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn new(home: &Path) -> io::Result<Self> {
        let inside = open_or_make(home)?;
        let id = id::new_id();
        // The end of an id is random, its beginning the time.
        let name = OsString::from(&id[id.len() - NAME_CHARS..]);
        inside.make_dir(&name).map_err(io::Error::other)?;
        Ok(Self { path: home.join(TEMPORARY).join(&name), place: Some((inside, name)) })
    }

    /// Leaves it to another process to remove it.
    pub fn hand_over(mut self) {
        self.place = None;
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // Empty as a rule. A full one may take a while, which nobody has to wait for.
        if let Some((inside, name)) = self.place.take()
            && inside.remove_dir(&name).is_err()
        {
            std::thread::spawn(move || inside.remove_tree(&name));
        }
    }
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
    let inside = open_home(home).and_then(|home| home.open_dir(OsStr::new(TEMPORARY)));
    // What is still there is in nobody's way.
    let _ = inside.and_then(|inside| inside.remove_tree(name));
}

fn open_home(home: &Path) -> Result<WritableDir, DoorError> {
    Root::open(home)?.open_writable_dir(&RelPath::root())
}

fn open_or_make(home: &Path) -> io::Result<WritableDir> {
    let opened = (|| {
        let (home, name) = (open_home(home)?, OsStr::new(TEMPORARY));
        match home.stat(name) {
            Ok(stat) if stat.kind == FileKind::Dir => {}
            // A command made something else of it; nothing but commands uses it.
            Ok(_) => home.remove_file(name).and_then(|()| home.make_dir(name))?,
            Err(DoorError::NotFound) => match home.make_dir(name) {
                Ok(()) | Err(DoorError::Exists) => {}
                Err(error) => return Err(error),
            },
            Err(error) => return Err(error),
        }
        home.open_dir(name)
    })();
    opened.map_err(io::Error::other)
}
