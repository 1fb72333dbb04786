//! Which installation a command works on: `BAILIWICK_HOME`, `--config`, else the platform's folders.

use std::env;
use std::path::{Path, PathBuf};

use bailiwick_config::{Config, ConfigError, Tokens, edit_lock};
use bailiwick_contract::{Caller, ErrorCode, Failure, Transport, id, time};
use bailiwick_engine::service::{Service, ServiceSettings};
use bailiwick_history::{HistoryHandle, HistorySettings};
use bailiwick_platform::dirs::{self, Dirs};
use bailiwick_platform::fs::FileLock;
use bailiwick_platform::paths;
use bailiwick_platform::{machine, memory};
use bailiwick_policy::{OwnFolders, Scopes};

use super::earlier_configs::KeptConfigs;
use super::known_token::known;

/// What to do where there is no config yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfMissing {
    /// Say that Bailiwick is not set up.
    Fail,
    /// Begin with a config without scopes.
    Make,
}

/// Creates the failure of a change that was shown and then met another one.
pub fn changed_meanwhile() -> Failure {
    Failure::new(
        ErrorCode::Conflict,
        "the config was changed by another command meanwhile; nothing was written",
    )
    .hint("Run it again.")
}

/// One installation.
#[derive(Debug, Clone)]
pub struct Home {
    /// Bailiwick's own folders.
    pub dirs: Dirs,
    /// The config file.
    pub config_path: PathBuf,
    /// Whether `--config` named it.
    pub config_is_named: bool,
    /// Whether changes are only tried: config and tokens are then checked as changed, and not written.
    pub is_dry_run: bool,
}

impl Home {
    /// Finds the installation.
    ///
    /// # Errors
    /// `provider_unavailable` where the user has no home folder; `invalid_request` for a relative
    /// `BAILIWICK_HOME`, which would mean another place in every folder.
    pub fn find(named: Option<&Path>) -> Result<Self, Failure> {
        if env::var_os("BAILIWICK_HOME")
            .is_some_and(|home| !home.is_empty() && !Path::new(&home).is_absolute())
        {
            return Err(Failure::invalid("BAILIWICK_HOME", "BAILIWICK_HOME is not an absolute path")
                .hint(format!("Write the folder's whole path, {}.", paths::EXAMPLE)));
        }
        let dirs = Dirs::find().ok_or_else(|| {
            Failure::new(
                ErrorCode::ProviderUnavailable,
                format!("{} is not set, so there is no place for the config", dirs::BASE),
            )
            .hint(format!("Set {}, or set BAILIWICK_HOME to a folder of your own.", dirs::BASE))
        })?;
        Self::in_dirs(dirs, named)
    }

    /// Takes the installation in these folders, unless `--config` names another one.
    ///
    /// # Errors
    /// `invalid_request` for a name of a config that leads nowhere.
    pub fn in_dirs(mut dirs: Dirs, named: Option<&Path>) -> Result<Self, Failure> {
        let Some(named) = named else {
            return Ok(Self {
                config_path: Config::path(&dirs),
                dirs,
                config_is_named: false,
                is_dry_run: false,
            });
        };
        let config_path = std::path::absolute(named)
            .map_err(|error| Failure::invalid("--config", format!("`{}`: {error}", named.display())))?;
        // Everything of a named config is beside it, so that it meets neither the socket nor the
        // history of another one. No scope may reach any of it.
        if config_path != Config::path(&dirs)
            && let (Some(folder), Some(stem)) = (config_path.parent(), config_path.file_stem())
        {
            let mut state = stem.to_owned();
            state.push(".state");
            let state = folder.join(state);
            dirs = Dirs { config: folder.to_owned(), runtime: state.join("run"), state };
        }
        Ok(Self { dirs, config_path, config_is_named: true, is_dry_run: false })
    }

    /// Returns this installation for changes that are only tried, where that is wanted.
    #[must_use]
    pub fn dry_run(&self, is_dry_run: bool) -> Self {
        Self { is_dry_run, ..self.clone() }
    }

    /// Reads the config.
    ///
    /// # Errors
    /// `provider_unavailable` with the place and the fix.
    pub fn config(&self) -> Result<Config, Failure> {
        Config::load(&self.config_path).map_err(|error| self.config_failure(&error))
    }

    /// Reads the config and compiles its scopes.
    ///
    /// # Errors
    /// As [`Home::config`], and when a scope does not compile.
    pub fn scopes(&self) -> Result<Scopes, Failure> {
        Scopes::compile(&self.config()?, &OwnFolders::of(&self.dirs))
    }

    /// Reads the config, or gives `None` where there is none yet.
    ///
    /// # Errors
    /// As [`Home::config`].
    pub fn config_if_there(&self) -> Result<Option<Config>, Failure> {
        match Config::load(&self.config_path) {
            Ok(config) => Ok(Some(config)),
            Err(error) if error.missing => Ok(None),
            Err(error) => Err(self.config_failure(&error)),
        }
    }

    fn config_failure(&self, error: &ConfigError) -> Failure {
        if error.missing {
            return Failure::new(
                ErrorCode::ProviderUnavailable,
                format!("Bailiwick is not set up: there is no {}", self.config_path.display()),
            )
            .hint("Run `bailiwick setup FOLDER` to open a folder, or `bailiwick setup .` for this one.");
        }
        error.for_person()
    }

    /// Changes the config: reads it (or makes a new one), lets `change` work on it, and saves it.
    ///
    /// A lock keeps two commands from undoing each other's change.
    ///
    /// # Errors
    /// Those of reading and writing, and those of `change`; nothing is saved then.
    pub fn edit<T>(
        &self,
        if_missing: IfMissing,
        change: impl FnOnce(&mut Config) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let _lock = self.lock()?;
        let before = match if_missing {
            IfMissing::Fail => Some(self.config()?),
            IfMissing::Make => self.config_if_there()?,
        };
        let mut config = before.clone().unwrap_or_else(|| Config::new(id::new_id(), machine::host_name()));
        let made = change(&mut config)?;
        if before.as_ref() != Some(&config) && !self.is_dry_run {
            self.keep_config()?;
            config.save(&self.config_path).map_err(|error| error.for_person())?;
        }
        Ok(made)
    }

    /// Keeps the config as it is, so that `undo` can put it back.
    ///
    /// # Errors
    /// As those of `doctor`'s repairs: what cannot be kept is not changed.
    pub fn keep_config(&self) -> Result<(), Failure> {
        KeptConfigs::of(&self.dirs).keep(&self.config_path)
    }

    /// Changes the tokens, under the same lock.
    ///
    /// # Errors
    /// As [`Home::edit`].
    pub fn edit_tokens<T>(
        &self,
        change: impl FnOnce(&mut Tokens) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let _lock = self.lock()?;
        let mut tokens = self.tokens()?;
        let before = tokens.records().to_vec();
        let made = change(&mut tokens)?;
        if before != tokens.records() && !self.is_dry_run {
            tokens.save().map_err(|error| error.for_person())?;
        }
        Ok(made)
    }

    /// Waits for the lock that keeps two commands apart; it lasts as long as what is returned.
    ///
    /// # Errors
    /// `provider_unavailable` where Bailiwick's own folder cannot be written.
    pub fn lock(&self) -> Result<FileLock, Failure> {
        edit_lock(&self.dirs).map_err(|error| error.for_person())
    }

    /// Reads the tokens.
    ///
    /// # Errors
    /// `provider_unavailable` with the place and the fix.
    pub fn tokens(&self) -> Result<Tokens, Failure> {
        Tokens::load(&self.dirs).map_err(|error| error.for_person())
    }

    /// Opens the history, to write what the user has decided.
    pub fn history(&self, config: &Config) -> HistoryHandle {
        HistoryHandle::start(HistorySettings {
            folder: self.dirs.state.clone(),
            machine_id: config.machine_id.clone(),
            max_age_days: config.history.max_age_days,
            max_megabytes: config.history.max_megabytes,
        })
    }

    /// Starts a service in this process, which notices changes of the config.
    ///
    /// # Errors
    /// When the config is broken: nothing is started.
    pub fn boot(&self) -> Result<std::sync::Arc<Service>, Failure> {
        memory::bound_allocator();
        // Each root and each connection takes one.
        machine::raise_open_files();
        let (config, stamp) =
            Config::load_stamped(&self.config_path).map_err(|error| self.config_failure(&error))?;
        let settings = ServiceSettings { config, dirs: self.dirs.clone() };
        let service = Service::boot(settings).map_err(|error| {
            // What the loader cannot see, such as a glob that does not compile, is a broken config too.
            let message = format!("{}: {}", self.config_path.display(), error.0.message);
            Failure { code: ErrorCode::ProviderUnavailable, message, ..error.0 }
        })?;
        service.watch_config(self.config_path.clone(), stamp);
        Ok(service)
    }

    /// Finds the caller that a local process speaks for: the local user, or a named token's rights.
    ///
    /// # Errors
    /// `not_found` for a name that no token has; `permission_denied` for one that has expired.
    pub fn caller(&self, name: Option<&str>, transport: Transport) -> Result<Caller, Failure> {
        let Some(name) = name else { return Ok(Caller::local(transport)) };
        let tokens = self.tokens()?;
        let record = known(tokens.records(), name)?;
        if record.is_expired(time::now_ms()) {
            return Err(Failure::denied("expired-token", format!("the token `{name}` has expired"))
                .hint(format!("Run `bailiwick token rotate {name} --expires 30d`.")));
        }
        Ok(record.caller(transport))
    }
}
