//! A temporary folder that vanishes with its value.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bailiwick::contract::id::new_id;
use bailiwick::platform::fs::modes::{HAS_BITS, set_mode};
use bailiwick::platform::fs::{FileId, remove_tree};
use bailiwick::platform::paths::real;

use crate::patience::PATIENCE;

/// Folders that could not be removed yet.
static LEFT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A new folder below the system's temporary folder; removed when dropped.
pub struct TemporaryFolder {
    path: PathBuf,
}

impl TemporaryFolder {
    /// Creates a folder of mode 0755, whatever the umask.
    pub fn new() -> Self {
        // Resolved, so that paths in answers can be compared with it.
        Self::below(&std::env::temp_dir())
    }

    /// Creates a folder below another.
    pub fn below(base: &Path) -> Self {
        let base = real(base).expect("the folder exists");
        let path = base.join(format!("bailiwick-test-{}", new_id()));
        fs::create_dir(&path).expect("the temporary folder can be written");
        Self { path }
    }

    /// Creates a folder on another file system than a path is on, where there is one.
    pub fn elsewhere(than: &Path) -> Option<Self> {
        let base = Path::new("/dev/shm");
        let is_other = FileId::of(base)?.device != FileId::of(than)?.device;
        let path = base.join(format!("bailiwick-test-{}", new_id()));
        (is_other && fs::create_dir(&path).is_ok()).then(|| Self { path })
    }

    /// Returns its path, without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // A test may have taken rights away; give them back, so that everything can be removed.
        open_up(&self.path);
        let mut removed = remove_tree(&self.path);
        // A service that has just been dropped may still be making its files. Where what is open cannot be removed, it
        // may as well be this test that holds it.
        let patience = if cfg!(windows) { Duration::from_millis(50) } else { *PATIENCE };
        let began = Instant::now();
        while removed.is_err() && began.elapsed() < patience {
            if std::thread::panicking() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
            removed = remove_tree(&self.path);
        }
        if let Err(error) = removed {
            // Where files that are open cannot be removed, what a test still holds goes with a later folder.
            if !cfg!(windows) {
                panic!("{} cannot be removed: {error}", self.path.display());
            }
            let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
            left.push(self.path.clone());
            left.retain(|path| remove_tree(path).is_err());
        }
    }
}

fn open_up(folder: &Path) {
    let _ = set_mode(folder, 0o700);
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            open_up(&entry.path());
        } else if !HAS_BITS && !kind.is_symlink() {
            // Where there are no bits, a file itself can refuse to be removed.
            let _ = set_mode(&entry.path(), 0o600);
        }
    }
}
