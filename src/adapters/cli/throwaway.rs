//! A throw-away installation in the temporary folder, removed when its handle goes.

use std::fs;
use std::path::PathBuf;

use crate::config::{Config, ScopeConfig, ScopePolicy};
use crate::contract::{Capability, ErrorCode, Failure, ScopeType, id};
use crate::platform::dirs::Dirs;
use crate::platform::fs::create_private_dir;
use crate::platform::machine;

use super::command_steps::ALLOWED;
use super::home::Home;

/// The installation.
pub struct Throwaway {
    base: PathBuf,
    /// Its folders and config.
    pub home: Home,
}

impl Throwaway {
    /// Makes the folders; the config comes with [`Throwaway::open`].
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
            std::env::temp_dir().canonicalize().map_err(failed)?.join(format!("bailiwick-{}", id::new_id()));
        create_private_dir(&base).map_err(failed)?;
        let dirs = Dirs::below(base.join("home"));
        let home = Home { config_path: Config::path(&dirs), dirs, config_is_named: false };
        Ok(Self { base, home })
    }

    /// Gives the folder that is `BAILIWICK_HOME` for a child.
    pub fn folder(&self) -> PathBuf {
        self.base.join("home")
    }

    /// Makes a folder beside the installation.
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
    pub fn open(&self, scopes: &[(&str, PathBuf, Vec<Capability>)]) -> Result<(), Failure> {
        let mut config = Config::new(id::new_id(), machine::host_name());
        for (id, root, capabilities) in scopes {
            config.scopes.push(ScopeConfig {
                id: (*id).to_owned(),
                name: None,
                scope_type: ScopeType::Folder,
                roots: vec![root.clone()],
                capabilities: capabilities.clone(),
                ask: Vec::new(),
                deny: Vec::new(),
                policy: policy(capabilities),
            });
        }
        config.save(&self.home.config_path).map_err(|error| error.for_person())
    }
}

/// Lets a scope that may run commands run those of the steps.
fn policy(capabilities: &[Capability]) -> ScopePolicy {
    let commands: &[&str] = if capabilities.contains(&Capability::CommandRun) { ALLOWED } else { &[] };
    ScopePolicy {
        allowed_commands: commands.iter().map(|rule| (*rule).into()).collect(),
        ..ScopePolicy::default()
    }
}

impl Drop for Throwaway {
    fn drop(&mut self) {
        // What cannot be removed lies in the temporary folder, for the system to remove.
        let _ = fs::remove_dir_all(&self.base);
    }
}
