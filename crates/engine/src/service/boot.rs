//! Making a service out of a config.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use crate::changes;
use crate::operations::FAMILIES;
use crate::registry::{Family, Providers, Registry, ServiceFacts};
use bailiwick_config::{Config, KeyRing};
use bailiwick_contract::{Capability, Failure, time};
use bailiwick_history::{HistoryHandle, HistorySettings};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::remove_half_written;
use bailiwick_platform::launch::Launcher;
use bailiwick_platform::screen::Sources;
use bailiwick_policy::{AllRoots, CapabilityStatus, OwnFolders, Scopes};
use bailiwick_providers::approval::Approvals;
use bailiwick_providers::artifact::CaptureStore;
use bailiwick_providers::code::index::SymbolIndexes;
use bailiwick_providers::command::remove_abandoned;
use bailiwick_providers::display::{Desktop, PrivateDisplays, remove_leftovers, without_private};
use bailiwick_providers::orientation::Surveys;
use bailiwick_providers::parser::ParserPool;
use bailiwick_providers::process::Processes;
use bailiwick_providers::screen::{ClipboardStore, InputLanes};
use bailiwick_providers::untrusted_reads::UntrustedReads;

use super::previews::ALL_SHARES;
use super::shares::Shares;
use super::submit::BatchWatch;
use super::watch::ConfigWatch;

/// How many operations run at the same time; further ones wait for their turn.
const MAX_CONCURRENT: usize = 64;
/// How many operations hold at the same time until something happens; further ones are refused.
pub(super) const MAX_HELD: usize = 256;

/// What a service is made of.
#[derive(Debug, Clone)]
pub struct ServiceSettings {
    /// The config.
    pub config: Config,
    /// Bailiwick's own folders.
    pub dirs: Dirs,
}

/// Why a service does not start.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BootError(pub Failure);

/// What is in force until the config changes.
pub struct ServiceState {
    /// What operations see of it.
    pub facts: ServiceFacts,
    /// Every scope.
    pub scopes: Arc<Scopes>,
}

/// The service: one for each process that judges and runs operations.
pub struct Service {
    pub(super) state: RwLock<Arc<ServiceState>>,
    pub(super) history: HistoryHandle,
    pub(super) turns: Arc<Shares>,
    pub(super) held: Arc<Shares>,
    pub(super) previews: Arc<Shares>,
    pub(super) watch: OnceLock<ConfigWatch>,
    pub(super) keys: Arc<KeyRing>,
    pub(super) batches: BatchWatch,
}

impl Service {
    /// Compiles the scopes, opens their roots and begins the history.
    ///
    /// # Errors
    /// When a scope cannot be compiled: a broken policy starts nothing.
    pub fn boot(settings: ServiceSettings) -> Result<Arc<Self>, BootError> {
        Self::boot_with(settings, Launcher::new())
    }

    /// Creates a service whose commands and parse workers are started by the given program: for programs that are not
    /// `bailiwick`.
    ///
    /// # Errors
    /// As [`Service::boot`].
    pub fn boot_with(settings: ServiceSettings, launcher: Launcher) -> Result<Arc<Self>, BootError> {
        Self::boot_on(settings, launcher, Sources::of_this_process())
    }

    /// Creates a service that looks for displays elsewhere than this process's environment says.
    ///
    /// # Errors
    /// As [`Service::boot`].
    pub fn boot_on(
        settings: ServiceSettings,
        launcher: Launcher,
        displays: Sources,
    ) -> Result<Arc<Self>, BootError> {
        Self::boot_of(FAMILIES, settings, launcher, displays)
    }

    /// Creates a service that has these operations.
    pub(super) fn boot_of(
        families: &'static [&'static Family],
        settings: ServiceSettings,
        launcher: Launcher,
        displays: Sources,
    ) -> Result<Arc<Self>, BootError> {
        let ServiceSettings { config, dirs } = settings;
        let guard = Some(launcher.program().to_owned());
        let displays = without_private(Sources { guard, ..displays }, &dirs);
        let history = HistoryHandle::start(HistorySettings {
            folder: dirs.state.clone(),
            machine_id: config.machine_id.clone(),
            max_age_days: config.history.max_age_days,
            max_megabytes: config.history.max_megabytes,
        });
        let launcher = Arc::new(launcher);
        let parsers = Arc::new(ParserPool::new(launcher.program()));
        [&dirs.config, &dirs.state, &dirs.runtime].into_iter().for_each(|folder| remove_half_written(folder));
        remove_half_written(&changes::folder(&dirs.state));
        // Pictures whose time was over while no service ran; where none were kept there is nothing to look at.
        CaptureStore::below(&dirs.state).expire();
        remove_abandoned(&dirs.state.join("homes"));
        remove_leftovers(&dirs);
        UntrustedReads::below(&dirs.state).sweep_aside();
        Approvals::below(&dirs.state).sweep_aside();
        let batches = BatchWatch::below(&dirs.state);
        let providers = Providers {
            registry: Registry::new(families),
            processes: Arc::new(Processes::new(&dirs, Arc::clone(&launcher))),
            private_displays: Arc::new(PrivateDisplays::new(&dirs, Arc::clone(&launcher))),
            launcher,
            screens: Arc::default(),
            lanes: InputLanes::default(),
            clipboards: ClipboardStore::default(),
            desktop: Desktop::new(displays),
            seen: Arc::default(),
            symbols: Arc::new(SymbolIndexes::below(&dirs.state, Arc::clone(&parsers))),
            surveys: Surveys::default(),
            repositories: Arc::default(),
            parsers,
            dirs,
            started_at_ms: time::now_ms(),
        };
        let state = ServiceState::of(config, Arc::new(providers), &Scopes::default())?;
        let keys = Arc::new(KeyRing::open(state.facts.dirs.clone()));
        Ok(Arc::new(Self {
            state: RwLock::new(Arc::new(state)),
            history,
            turns: Shares::new(MAX_CONCURRENT),
            held: Shares::new(MAX_HELD),
            previews: Shares::new(ALL_SHARES),
            watch: OnceLock::new(),
            keys,
            batches,
        }))
    }

    /// Returns the facts in force, after a look at whether the watched config has changed. For threads that may block.
    pub fn facts(&self) -> ServiceFacts {
        self.state().facts.clone()
    }

    /// Returns what is in force, as [`Service::facts`]. Asynchronous threads have [`Service::state_now`].
    pub fn state(&self) -> Arc<ServiceState> {
        let _ = self.refresh();
        self.in_force()
    }

    /// As [`Service::state`]; what has changed is read by another thread.
    pub async fn state_now(self: &Arc<Self>) -> Arc<ServiceState> {
        let _ = self.refresh_now().await;
        self.in_force()
    }

    /// Returns what is in force.
    pub(super) fn in_force(&self) -> Arc<ServiceState> {
        Arc::clone(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the history.
    pub fn history(&self) -> &HistoryHandle {
        &self.history
    }

    /// Takes note of a connection that processes may end with; the adapter tells of its end.
    pub fn connection_began(&self, connection: &str) {
        self.in_force().facts.processes.connection_began(connection);
    }

    /// Ends the processes that were to live no longer than a connection.
    pub fn connection_ended(&self, connection: &str) {
        self.in_force().facts.processes.connection_ended(connection);
    }

    /// Puts another config in force; requests that run keep the old one.
    ///
    /// # Errors
    /// As [`Service::boot`]; the old config then stays in force.
    pub fn reload(&self, config: Config) -> Result<(), BootError> {
        let old = self.in_force();
        let new = ServiceState::of(config, Arc::clone(&old.facts.providers), &old.scopes)?;
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(new);
        Ok(())
    }
}

impl ServiceState {
    fn of(config: Config, providers: Arc<Providers>, before: &Scopes) -> Result<Self, BootError> {
        let own = OwnFolders::of(&providers.dirs);
        let scopes = Arc::new(Scopes::compile_after(&config, &own, before).map_err(BootError)?);
        for scope in scopes.all() {
            providers.registry.check_asked_operations(scope).map_err(BootError)?;
        }
        let roots = AllRoots::of(Arc::clone(&scopes));
        // A private display ends with the right to have it.
        providers.private_displays.end_where(|scope| {
            !scopes.all().any(|it| {
                it.storage_key() == scope
                    && it.standing(Capability::DisplayManage) != CapabilityStatus::Denied
            })
        });
        let Desktop { displays, elements } = providers.desktop.clone();
        let config = Arc::new(config);
        Ok(Self { facts: ServiceFacts { config, roots, displays, elements, providers }, scopes })
    }
}
