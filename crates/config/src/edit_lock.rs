//! The lock under which the config and the tokens are changed, by commands and by the service.

use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::FileLock;

use super::ConfigError;

const NAME: &str = ".lock";

/// Waits until no other process changes the config or the tokens.
///
/// # Errors
/// Where Bailiwick's own folder cannot be written.
pub fn edit_lock(dirs: &Dirs) -> Result<FileLock, ConfigError> {
    FileLock::take(&dirs.config, NAME).map_err(|error| {
        let fix = "Check the folder's owner, permissions and free space.";
        ConfigError::new(&dirs.config.join(NAME), "", error.to_string(), fix)
    })
}
