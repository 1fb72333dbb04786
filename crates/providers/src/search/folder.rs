//! A folder of a walk, and its handle, of which only so many stay open.

use std::ffi::OsStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bailiwick_platform::fs::{Dir, FileError, FileId, RelPath};

/// How many handles all walks together keep open beyond those in use at the moment.
const MAX_KEPT_HANDLES: usize = 192;

/// Handles that folders keep.
static KEPT_HANDLES: AtomicUsize = AtomicUsize::new(0);

/// A folder that a walk has opened.
#[derive(Debug)]
pub(super) struct Folder {
    start: Arc<Start>,
    rel: RelPath,
    id: FileId,
    kept: Option<Arc<Dir>>,
}

/// The folder where the walk started; its handle stays open to the end.
#[derive(Debug)]
struct Start {
    dir: Arc<Dir>,
    rel: RelPath,
}

impl Folder {
    /// Creates the folder where a walk starts.
    pub fn start(rel: RelPath, dir: Dir) -> Arc<Self> {
        let (id, dir) = (dir.id(), Arc::new(dir));
        let start = Arc::new(Start { dir, rel: rel.clone() });
        Arc::new(Self { start, rel, id, kept: None })
    }

    /// Opens a folder in this one, whose handle is `dir`; gives the new handle too.
    pub fn enter(&self, dir: &Dir, name: &OsStr) -> Result<(Arc<Self>, Arc<Dir>), FileError> {
        let opened = Arc::new(dir.open_dir(name)?);
        let room = KEPT_HANDLES.fetch_add(1, Ordering::Relaxed) < MAX_KEPT_HANDLES;
        if !room {
            KEPT_HANDLES.fetch_sub(1, Ordering::Relaxed);
        }
        let folder = Self {
            start: Arc::clone(&self.start),
            rel: self.rel.child(name),
            id: opened.id(),
            kept: room.then(|| Arc::clone(&opened)),
        };
        Ok((Arc::new(folder), opened))
    }

    /// Returns the path beneath the root.
    pub fn rel(&self) -> &RelPath {
        &self.rel
    }

    /// Returns the identity of the folder.
    pub fn id(&self) -> FileId {
        self.id
    }

    /// Returns the handle; one that was not kept is opened again, from the folder where the walk started.
    ///
    /// # Errors
    /// What opening gives; [`FileError::NotFound`] if another folder has taken the place since.
    pub fn dir(&self) -> Result<Arc<Dir>, FileError> {
        if let Some(dir) = &self.kept {
            return Ok(Arc::clone(dir));
        }
        if self.id == self.start.dir.id() {
            return Ok(Arc::clone(&self.start.dir));
        }
        let below = self.rel.as_bytes().get(self.start.rel.as_bytes().len()..).unwrap_or_default();
        let below = RelPath::parse(below.strip_prefix(b"/").unwrap_or(below))?;
        let dir = self.start.dir.open_dir_beneath(&below)?;
        if dir.id() == self.id { Ok(Arc::new(dir)) } else { Err(FileError::NotFound) }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.kept.is_some() {
            KEPT_HANDLES.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
