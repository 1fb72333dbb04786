//! Earlier configs, kept in the state folder so that `config undo` can put them back: a file for each, named by when it
//! was replaced.

use std::fs;
use std::path::{Path, PathBuf};

use bailiwick_contract::{ErrorCode, Failure, id};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::{create_private_dir, replace_private_file};

use super::text::one_line;

/// How many are kept.
const KEPT: usize = 20;

/// The earlier configs of an installation.
#[derive(Debug)]
pub struct KeptConfigs {
    folder: PathBuf,
}

impl KeptConfigs {
    /// Those of an installation.
    pub fn of(dirs: &Dirs) -> Self {
        Self { folder: dirs.state.join("configs") }
    }

    /// Keeps a config as it is, and removes the oldest. Where there is none nothing is kept.
    ///
    /// # Errors
    /// `provider_unavailable`; the config is not to be changed then.
    pub fn keep(&self, config: &Path) -> Result<(), Failure> {
        let kept = (|| {
            let text = match fs::read(config) {
                Ok(text) => text,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(error),
            };
            create_private_dir(&self.folder)?;
            replace_private_file(&self.folder.join(format!("{}.json", id::new_id())), &text)
        })();
        kept.map_err(|error| self.failed(&error))?;
        for old in self.list().iter().rev().skip(KEPT) {
            // What cannot be removed is tried again with the next one.
            let _ = fs::remove_file(old);
        }
        Ok(())
    }

    /// Returns the files of all that are kept, the oldest first: their names are in the order of time.
    pub fn list(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.retain(|file| file.extension().is_some_and(|it| it == "json"));
        files.sort();
        files
    }

    fn failed(&self, error: &std::io::Error) -> Failure {
        let folder = one_line(&self.folder.display().to_string());
        Failure::new(
            ErrorCode::ProviderUnavailable,
            format!("the config as it was cannot be kept in {folder}: {error}"),
        )
        .hint("Check the folder's owner, permissions and free space. The config was not changed.")
    }
}
