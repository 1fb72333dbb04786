//! Earlier configs, kept in the state folder so that `config undo` can put them back: a file for each, bounded in number and
//! in bytes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::{RetainedFolder, RetentionClock, RetentionLimits, replace_private_file};

use super::text::one_line;

/// How much is kept; nothing goes because it is old.
const LIMITS: RetentionLimits = RetentionLimits {
    max_age: Duration::MAX,
    max_bytes: 64 << 20,
    max_parts: 20,
    part_bytes: 0,
    part_things: 1,
    part_span: Duration::ZERO,
};
/// The name of each in its part.
const NAME: &str = "config.json";

/// The earlier configs of an installation.
#[derive(Debug)]
pub struct KeptConfigs {
    folder: PathBuf,
    clock: RetentionClock,
}

impl KeptConfigs {
    /// Those of an installation.
    pub fn of(dirs: &Dirs) -> Self {
        Self { folder: dirs.state.join("configs"), clock: RetentionClock::below(&dirs.state) }
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
            for old in self.left_by_earlier_versions() {
                self.put(&fs::read(&old)?)?;
                fs::remove_file(old)?;
            }
            self.put(&text)
        })();
        kept.map_err(|error| self.failed(&error))
    }

    /// Returns the files of all that are kept, the oldest first.
    pub fn list(&self) -> Vec<PathBuf> {
        let parts = self.retained().parts().into_iter().rev().map(|part| part.join(NAME));
        self.left_by_earlier_versions().into_iter().chain(parts.filter(|file| file.exists())).collect()
    }

    /// Removes one that was put back.
    pub fn remove(&self, kept: &Path) {
        match kept.parent() {
            Some(part) if part != self.folder => self.retained().release(part),
            // One that stays would be put back once more, which changes nothing.
            _ => drop(fs::remove_file(kept)),
        }
    }

    fn retained(&self) -> RetainedFolder {
        RetainedFolder::new(self.folder.clone(), LIMITS)
    }

    fn put(&self, text: &[u8]) -> std::io::Result<()> {
        // One that is larger than all that is kept is kept alone.
        let part = self.retained().reserve((text.len() as u64).min(LIMITS.max_bytes), &self.clock)?;
        replace_private_file(&part.join(NAME), text).inspect_err(|_| self.retained().release(&part))
    }

    /// Returns those that earlier versions kept, the oldest first: each is a file of its own.
    fn left_by_earlier_versions(&self) -> Vec<PathBuf> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configs_are_bounded_in_bytes_and_those_of_earlier_versions_are_kept_with_them() {
        let folder =
            std::env::temp_dir().join(format!("bailiwick-configs-{}", bailiwick_contract::id::new_id()));
        let dirs = Dirs::below(folder.clone());
        let kept = KeptConfigs::of(&dirs);
        fs::create_dir_all(&kept.folder).expect("made");
        for at in 0..3 {
            let name = format!("{at}.json");
            fs::write(kept.folder.join(name), at.to_string()).expect("written");
        }
        let config = folder.join("config.json");
        let keep = |text: &str| {
            fs::write(&config, text).expect("written");
            kept.keep(&config).expect("kept");
        };
        let texts = || -> Vec<usize> {
            kept.list()
                .iter()
                .map(|it| fs::read_to_string(it).expect("readable").trim().parse())
                .map(|it| it.expect("a number"))
                .collect()
        };
        assert_eq!(texts(), [0, 1, 2]);
        keep("3");
        assert_eq!((texts(), kept.left_by_earlier_versions().len()), (vec![0, 1, 2, 3], 0));
        let newest = kept.list().pop().expect("one");
        kept.remove(&newest);
        assert_eq!(texts(), [0, 1, 2]);
        // Each is a third of the bound and more.
        let large = |number: &str| format!("{}{number}", " ".repeat((LIMITS.max_bytes / 3) as usize));
        for at in 4..8 {
            keep(&large(&at.to_string()));
        }
        assert_eq!(texts(), [6, 7]);
        fs::remove_dir_all(&folder).expect("it was made above");
    }
}
