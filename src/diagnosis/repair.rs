//! What `--fix` can do: change a mode, replace a text, remove what a crash left.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bailiwick_platform::fs::{Protection, replace_private_file};
use bailiwick_platform::paths;
use bailiwick_providers::edit::{Text, text_diff};

/// One change to one of Bailiwick's own files or folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repair {
    /// Takes everything from others.
    Narrow {
        /// The file or folder.
        path: PathBuf,
        /// How it is protected now.
        from: Protection,
        /// Whether it is a folder.
        is_folder: bool,
    },
    /// Replaces the text of a file, or makes the file.
    Replace {
        /// The file.
        path: PathBuf,
        /// The text that it has; none if there is no such file.
        before: Option<String>,
        /// The text that it gets.
        after: String,
    },
    /// Removes a file or socket that nobody uses.
    Remove {
        /// The file.
        path: PathBuf,
    },
}

impl Repair {
    /// Names what is changed.
    pub fn path(&self) -> &Path {
        match self {
            Self::Narrow { path, .. } | Self::Replace { path, .. } | Self::Remove { path } => path,
        }
    }

    /// Shows the change, as `git diff` would.
    pub fn diff(&self) -> String {
        let path = self.path().display().to_string();
        match self {
            Self::Narrow { from, is_folder, .. } => format!("{path}\n{}", from.narrowing_diff(*is_folder)),
            Self::Remove { .. } => format!("{path}\nremoved\n"),
            Self::Replace { before, after, .. } => {
                let name = path.trim_start_matches('/');
                let text = |text: &str| Text::new(text.to_owned());
                let old = before.as_deref().unwrap_or_default();
                text_diff((before.as_ref().map(|_| name), Some(name)), &text(old), &text(after))
            }
        }
    }

    /// Creates the change, if what it changes is still as it was seen.
    ///
    /// # Errors
    /// Those of the file system, and when something else has changed it since.
    pub fn apply(&self) -> io::Result<()> {
        let changed = || io::Error::other("it has changed since it was checked");
        match self {
            Self::Narrow { path, from, is_folder } => {
                if Protection::of_name(path).ok().as_ref() != Some(from) {
                    return Err(changed());
                }
                Protection::narrow(path, *is_folder)
            }
            Self::Replace { path, before, after } => {
                let now = match fs::read_to_string(path) {
                    Ok(text) => Some(text),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                    Err(error) => return Err(error),
                };
                if now != *before {
                    return Err(changed());
                }
                // A link in the config's place is the user's choice: what it leads to is replaced.
                let target = paths::real(path).unwrap_or_else(|_| path.clone());
                replace_private_file(&target, after.as_bytes())
            }
            Self::Remove { path } => fs::remove_file(path),
        }
    }
}
