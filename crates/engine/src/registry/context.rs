//! What an operation can see of the service while it runs.

use std::ops::Deref;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use bailiwick_config::Config;
use bailiwick_contract::{
    Caller, Cancel, Capability, Envelope, ErrorCode, Failure, Image, Outcome, Progress, ScopeType, StageName,
};
use bailiwick_history::{HistoryError, HistoryHandle, RowSync};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::launch::Launcher;
use bailiwick_platform::screen::Displays;
use bailiwick_policy::{AllRoots, CapabilityStatus, Grants, Scope};
use bailiwick_providers::code::index::SymbolIndexes;
use bailiwick_providers::command::FolderAccess;
use bailiwick_providers::display::{Desktop, DisplayOwner, PrivateDisplays};
use bailiwick_providers::elements::Elements;
use bailiwick_providers::orientation::Surveys;
use bailiwick_providers::parser::ParserPool;
use bailiwick_providers::process::Processes;
use bailiwick_providers::repositories::Repositories;
use bailiwick_providers::screen::{ClipboardStore, InputLanes};
use bailiwick_providers::terminal::Screens;
use bailiwick_providers::versions::ReadContents;

use super::Registry;

/// Facts about the running service. No scope is among them: an operation has that of its permit.
#[derive(Clone)]
pub struct ServiceFacts {
    /// The config in force.
    pub config: Arc<Config>,
    /// Where the roots of all scopes are.
    pub roots: AllRoots,
    /// The displays that the request is about: this computer's, or the private ones of its caller in a folder scope.
    pub displays: Arc<Displays>,
    /// The elements of their windows.
    pub elements: Arc<Elements>,
    /// What stays while the config changes.
    pub providers: Arc<Providers>,
}

impl ServiceFacts {
    /// Returns the facts for a request in a scope. A folder scope never gets at the computer's own desktop.
    #[must_use]
    pub fn within(mut self, scope: Option<&Scope>, caller: &Caller) -> Self {
        if let Some(scope) = scope.filter(|scope| scope.scope_type() == ScopeType::Folder) {
            let own = self.providers.private_displays.desktop_of(&DisplayOwner::new(scope, caller));
            (self.displays, self.elements) = (own.displays, own.elements);
        }
        self
    }
}

/// What a service is made of, as long as it runs.
pub struct Providers {
    /// The operations of this build.
    pub registry: Registry,
    /// Bailiwick's own folders.
    pub dirs: Dirs,
    /// The helper that starts commands.
    pub launcher: Arc<Launcher>,
    /// The started processes of this computer.
    pub processes: Arc<Processes>,
    /// The screens of processes that were checked.
    pub screens: Arc<Screens>,
    /// The private displays of callers.
    pub private_displays: Arc<PrivateDisplays>,
    /// The desktop of this computer.
    pub desktop: Desktop,
    /// The turns at pointers and keyboards.
    pub lanes: InputLanes,
    /// What callers have saved of clipboards.
    pub clipboards: ClipboardStore,
    /// What was read a while ago, for edits that are made for it.
    pub seen: Arc<ReadContents>,
    /// What the files of scopes define, once somebody has asked.
    pub symbols: Arc<SymbolIndexes>,
    /// What the folders of scopes hold, once somebody has asked.
    pub surveys: Surveys,
    /// The repositories in which commands must not change what Git runs later.
    pub repositories: Arc<Repositories>,
    /// The workers that parse source text.
    pub parsers: Arc<ParserPool>,
    /// When the service began, in milliseconds since the epoch.
    pub started_at_ms: i64,
}

impl Deref for ServiceFacts {
    type Target = Providers;

    fn deref(&self) -> &Providers {
        &self.providers
    }
}

/// The way in for requests that an operation makes: each is judged, run and recorded as if its caller had sent it.
pub trait Submit: Send + Sync {
    /// Reads a request as clients write it.
    ///
    /// # Errors
    /// `invalid_request` that names the field.
    fn read(&self, request: Value) -> Result<Envelope, Failure>;

    /// Judges, runs and records a request, of the batch `batch` if it is a step of one. `gone` ends it.
    fn submit<'a>(
        self: Arc<Self>,
        caller: &'a Caller,
        batch: Option<&'a str>,
        request: Envelope,
        gone: &'a CancellationToken,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

    /// Takes back what the steps of a batch have changed, which were permitted: the user is asked about nothing again.
    /// Everything else is judged as in any request.
    fn take_back<'a>(
        self: Arc<Self>,
        caller: &'a Caller,
        scope: &'a str,
        batch: &'a str,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;
}

/// The request that an operation runs for.
pub struct Request {
    /// Its id, as in its answer and in the history.
    pub id: String,
    /// The id of the batch that it is a step of.
    pub batch: Option<String>,
    /// Whether it takes back what a batch, or an undo, has left unfinished.
    pub is_rollback: bool,
    /// The way in for requests that the operation makes.
    pub submit: Arc<dyn Submit>,
    /// The row that says that an effect begins, while the disk is waited for.
    pub row: tokio::sync::Mutex<Option<RowSync>>,
}

impl Request {
    /// Creates the failure for an effect that the history cannot record.
    pub fn unrecorded(error: &HistoryError) -> Failure {
        Failure::new(ErrorCode::ProviderUnavailable, format!("nothing was done: {error}"))
            .at_stage(StageName::History)
            .detail("rule", "no-audit-no-effect")
            .hint("For the user: `bailiwick status` says what is wrong with the history.")
    }
}

/// The surroundings of one request.
pub struct Context {
    /// The request.
    pub request: Request,
    /// Who asked.
    pub caller: Arc<Caller>,
    /// When to stop.
    pub cancel: Cancel,
    /// Where to say how far it is, if it may take long.
    pub progress: Progress,
    /// Facts about the service.
    pub service: ServiceFacts,
    /// The scopes that the caller may name, for an operation that describes them; else none.
    pub scopes: Vec<Arc<Scope>>,
    /// The history.
    pub history: HistoryHandle,
    notes: Mutex<Notes>,
}

#[derive(Default)]
struct Notes {
    warnings: Vec<String>,
    images: Vec<Image>,
    summary: Option<String>,
}

impl Context {
    /// Creates the surroundings of a request.
    pub fn new(
        request: Request,
        caller: Arc<Caller>,
        cancel: Cancel,
        progress: Progress,
        service: ServiceFacts,
        scopes: Vec<Arc<Scope>>,
        history: HistoryHandle,
    ) -> Self {
        Self { request, caller, cancel, progress, service, scopes, history, notes: Mutex::default() }
    }

    /// Waits until the row that says that the effect begins is on the disk.
    ///
    /// # Errors
    /// `provider_unavailable` with the rule `no-audit-no-effect` where it cannot get there.
    pub async fn received(&self) -> Result<(), Failure> {
        match self.request.row.lock().await.as_mut() {
            Some(row) => row.wait().await.map_err(|error| Request::unrecorded(&error)),
            None => Ok(()),
        }
    }

    /// Returns what commands may do in the folders of a scope: programs write no more than `file.*` may.
    pub fn folder_access(grants: &Grants) -> FolderAccess {
        if grants.allows(Capability::FsWrite) {
            FolderAccess::Write
        } else if grants.of_scope(Capability::FsWrite) == CapabilityStatus::Granted {
            FolderAccess::ReadByCaller
        } else {
            FolderAccess::ReadByScope
        }
    }

    /// Tells the client something although the operation succeeds.
    pub fn warn(&self, warning: impl Into<String>) {
        self.notes().warnings.push(warning.into());
    }

    /// Sends an image along with the result.
    pub fn attach(&self, image: Image) {
        self.notes().images.push(image);
    }

    /// Says the result in a few words for the history, such as `12 matches in 3 files`.
    pub fn summarize(&self, summary: impl Into<String>) {
        self.notes().summary = Some(summary.into());
    }

    /// Takes out warnings, images and the summary, when the operation has ended.
    pub fn take_notes(&self) -> (Vec<String>, Vec<Image>, Option<String>) {
        let notes = std::mem::take(&mut *self.notes());
        (notes.warnings, notes.images, notes.summary)
    }

    fn notes(&self) -> std::sync::MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
