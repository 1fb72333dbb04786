//! A throw-away installation in the temporary folder, removed when its handle goes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bailiwick_config::{Config, ProcessLifetime, ScopeConfig, ScopePolicy};
use bailiwick_contract::{Capability, ErrorCode, Failure, ScopeType, id};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::{create_private_dir, remove_tree};
use bailiwick_platform::machine;
use bailiwick_platform::paths;

use super::home::Home;
use super::limit::Limit;

/// How long it is tried to remove the folder.
const REMOVAL_TIME: Duration = Duration::from_secs(2);

/// The installation.
pub struct Throwaway {
    base: PathBuf,
    /// Its folders and config.
    pub home: Home,
}

impl Throwaway {
    /// Creates the folders; the config comes with [`Throwaway::open`].
    ///
    /// # Errors
    /// When the temporary folder cannot be used.
    pub fn make() -> Result<Self, Failure> {
        let failed = |error: std::io::Error| {
            Failure::new(
                ErrorCode::ProviderUnavailable,
                format!("the temporary folder cannot be used: {error}"),
            )
            .hint("Set TMPDIR to a folder of your own.")
        };
        let base =
            paths::real(&std::env::temp_dir()).map_err(failed)?.join(format!("bailiwick-{}", id::new_id()));
        create_private_dir(&base).map_err(failed)?;
        let dirs = Dirs::below(base.join("home"));
        let home = Home { config_path: Config::path(&dirs), dirs, config_is_named: false, is_dry_run: false };
        Ok(Self { base, home })
    }

    /// Returns the folder that is `BAILIWICK_HOME` for a child.
    pub fn folder(&self) -> PathBuf {
        self.base.join("home")
    }

    /// Returns the folder that holds the installation and what is beside it.
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// Creates a folder beside the installation.
    ///
    /// # Errors
    /// When the temporary folder cannot be used.
    pub fn make_folder(&self, name: &str) -> Result<PathBuf, Failure> {
        let folder = self.base.join(name);
        fs::create_dir(&folder).map_err(|error| {
            Failure::new(
                ErrorCode::ProviderUnavailable,
                format!("a temporary folder cannot be made: {error}"),
            )
        })?;
        Ok(folder)
    }

    /// Writes the config with these scopes.
    ///
    /// # Errors
    /// When the temporary folder cannot be used.
    pub fn open(&self, scopes: Vec<ScopeConfig>) -> Result<(), Failure> {
        let mut config = Config::new(id::new_id(), machine::host_name());
        config.scopes = scopes;
        config.save(&self.home.config_path).map_err(|error| error.for_person())
    }
}

/// Creates a scope over a folder, which runs commands by these rules alone. What it starts ends with its service.
pub fn folder_scope(id: &str, root: &Path, capabilities: Vec<Capability>, commands: &[&str]) -> ScopeConfig {
    ScopeConfig {
        id: id.to_owned(),
        name: None,
        scope_type: ScopeType::Folder,
        roots: vec![root.to_owned()],
        capabilities,
        ask: Vec::new(),
        deny: Vec::new(),
        policy: ScopePolicy {
            allowed_commands: commands.iter().map(|rule| (*rule).into()).collect(),
            process_lifetime: ProcessLifetime::Service,
            ..ScopePolicy::default()
        },
    }
}

impl Drop for Throwaway {
    fn drop(&mut self) {
        // What has just been ended may still be making its files.
        let gone = || match remove_tree(&self.base) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => None,
            Ok(()) | Err(_) => Some(()),
        };
        // What cannot be removed is in the temporary folder, for the system to remove.
        let _ = Limit::default().wait_for(REMOVAL_TIME, gone);
    }
}
