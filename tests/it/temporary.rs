//! A temporary folder that vanishes with its value.

use std::fs;
use std::path::{Path, PathBuf};

use bailiwick::contract::id::new_id;

/// A new folder below the system's temporary folder; removed when dropped.
pub struct TemporaryFolder {
    path: PathBuf,
}

impl TemporaryFolder {
    /// Makes a folder of mode 0755, whatever the umask.
    pub fn new() -> Self {
        // Resolved, so that paths in answers can be compared with it.
        let base = std::env::temp_dir().canonicalize().expect("the temporary folder exists");
        let path = base.join(format!("bailiwick-test-{}", new_id()));
        fs::create_dir(&path).expect("the temporary folder can be written");
        Self { path }
    }

    /// Gives its path, without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // A test may have taken rights away; give them back, so that everything can be removed.
        open_up(&self.path);
        let mut removed = fs::remove_dir_all(&self.path);
        // A service that has just been dropped may still be making its files.
        for _ in 0..100 {
            if removed.is_ok() || std::thread::panicking() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
            removed = fs::remove_dir_all(&self.path);
        }
        if let Err(error) = removed {
            panic!("{} cannot be removed: {error}", self.path.display());
        }
    }
}

fn open_up(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;

    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}
