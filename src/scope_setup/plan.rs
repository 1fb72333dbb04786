//! What setting up would change, worked out before anything is, and then written.

use std::path::{Path, PathBuf};

use bailiwick_config::{Config, ScopeConfig};
use bailiwick_contract::{Failure, id};
use bailiwick_platform::machine;
use bailiwick_policy::{OwnFolders, Scopes};

use super::open_folder::{Change, FolderChoice, open_folder};
use crate::installation::home::{Home, IfMissing, changed_meanwhile};

/// The folder that is opened.
#[derive(Debug)]
pub struct SetupFolder {
    /// The folder.
    pub folder: PathBuf,
    /// Its scope.
    pub id: String,
    /// What becomes of the scope.
    pub change: Change,
}

/// Everything that is to be written.
#[derive(Debug)]
pub struct Plan {
    before: Option<Config>,
    /// The config as it is to be.
    pub config: Config,
    /// The folder, if one was named.
    pub opened: Option<SetupFolder>,
}

impl Plan {
    /// Works out what has to change.
    ///
    /// # Errors
    /// When config or tokens are broken, or the folder cannot be a scope.
    pub fn make(home: &Home, folder: Option<&Path>, how: &FolderChoice) -> Result<Self, Failure> {
        let before = home.config_if_there()?;
        let mut config = before.clone().unwrap_or_else(|| Config::new(id::new_id(), machine::host_name()));
        let opened = match folder {
            Some(folder) => {
                let (id, change) = open_folder(&mut config, folder, how)?;
                Some(SetupFolder { folder: folder.to_owned(), id, change })
            }
            None => None,
        };
        if before.as_ref() != Some(&config) {
            // By the judge's own reading, so that no config is written that would start nothing.
            Scopes::compile(&config, &OwnFolders::of(&home.dirs))?;
        }
        // What is wrong with the tokens is better said now than when a client comes.
        home.tokens()?;
        Ok(Self { before, config, opened })
    }

    /// Returns whether everything is as it is to be already.
    pub fn is_nothing(&self) -> bool {
        self.before.as_ref() == Some(&self.config)
    }

    /// Returns whether there was no config before.
    pub fn is_first(&self) -> bool {
        self.before.is_none()
    }

    /// Returns the scope of the folder as it is to be.
    pub fn scope(&self) -> Option<&ScopeConfig> {
        let opened = self.opened.as_ref()?;
        self.config.scopes.iter().find(|scope| scope.id == opened.id)
    }

    /// Returns the scope of the folder as it is now.
    pub fn scope_before(&self) -> Option<&ScopeConfig> {
        let opened = self.opened.as_ref()?;
        self.before.as_ref()?.scopes.iter().find(|scope| scope.id == opened.id)
    }

    /// Writes the config.
    ///
    /// # Errors
    /// `conflict` if the config has changed since it was planned; else those of writing.
    pub fn write(&self, home: &Home) -> Result<(), Failure> {
        if self.is_nothing() {
            return Ok(());
        }
        home.edit(IfMissing::Make, |config| {
            let is_same = match &self.before {
                Some(before) => before == config,
                None => home.config_if_there()?.is_none(),
            };
            if !is_same {
                return Err(changed_meanwhile());
            }
            config.clone_from(&self.config);
            Ok(())
        })
    }
}
