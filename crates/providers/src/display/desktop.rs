//! Whose private displays there are.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bailiwick_contract::{Caller, CommandInput, ErrorCode, FOR_USER, Failure, StageName};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::launch::Launcher;
use bailiwick_platform::screen::{DisplaySelection, Displays, Sources, X11_SOCKETS};
use bailiwick_policy::Scope;

use super::start::{DisplayOrder, PrivateDisplay, RunningDisplay};
use crate::elements::Elements;

/// How many displays a caller may have in a scope at a time.
const MOST_OF_CALLER: usize = 2;
/// How many displays a scope may have at a time.
const MOST_OF_SCOPE: usize = 4;

/// Displays and the elements of their windows.
#[derive(Debug, Clone)]
pub struct Desktop {
    /// The displays.
    pub displays: Arc<Displays>,
    /// The elements of their windows.
    pub elements: Arc<Elements>,
}

impl Desktop {
    /// Makes it ready, without asking anything.
    pub fn new(sources: Sources) -> Self {
        let displays = Arc::new(Displays::new(sources));
        Self { elements: Arc::new(Elements::new(Arc::clone(&displays))), displays }
    }
}

/// Whom private displays belong to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DisplayOwner {
    /// The scope, by its name in stores.
    pub scope: String,
    /// The caller, by its identity.
    pub caller: String,
}

impl DisplayOwner {
    /// Returns the owner of what a caller makes in a scope.
    pub fn new(scope: &Scope, caller: &Caller) -> Self {
        Self { scope: scope.storage_key().to_owned(), caller: caller.identity().to_owned() }
    }
}

/// How a program was started. In memory alone, as its command may hold secrets.
pub struct LaunchedProgram {
    /// Its command, as it was asked for.
    pub command: CommandInput,
    /// The variables that were asked for.
    pub environment: BTreeMap<String, String>,
    /// What its starter calls it.
    pub label: Option<String>,
}

impl std::fmt::Debug for LaunchedProgram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LaunchedProgram").finish_non_exhaustive()
    }
}

/// What one owner has.
#[derive(Debug)]
struct OwnedDisplays {
    desktop: Desktop,
    folder: PathBuf,
    running: Vec<RunningDisplay>,
    /// How many are being started.
    starting: usize,
}

/// All private displays of a service.
#[derive(Debug)]
pub struct PrivateDisplays {
    pub(super) dirs: Dirs,
    pub(super) launcher: Arc<Launcher>,
    owners: Mutex<HashMap<DisplayOwner, OwnedDisplays>>,
    /// The desktop of those who have no display.
    none: Desktop,
    count: AtomicU32,
}

/// Returns the folder that names the private displays of an installation.
pub(super) fn private_folder(dirs: &Dirs) -> PathBuf {
    dirs.runtime.join("displays")
}

/// Returns where the displays of this computer are found: all but the private ones of an installation.
pub fn without_private(sources: Sources, dirs: &Dirs) -> Sources {
    Sources { selection: DisplaySelection::AllBut(private_folder(dirs)), ..sources }
}

impl PrivateDisplays {
    /// Makes it ready, without starting anything.
    pub fn new(dirs: &Dirs, launcher: Arc<Launcher>) -> Self {
        let none = Desktop::new(sources(&private_folder(dirs).join("none"), &launcher));
        let (owners, count) = (Mutex::default(), AtomicU32::new(0));
        Self { dirs: dirs.clone(), launcher, owners, none, count }
    }

    /// Returns the desktop of an owner: their displays alone, and none where they have none.
    pub fn desktop_of(&self, owner: &DisplayOwner) -> Desktop {
        self.owners().get(owner).map_or_else(|| self.none.clone(), |owned| owned.desktop.clone())
    }

    /// Lists the displays of an owner.
    pub fn list(&self, owner: &DisplayOwner) -> Vec<PrivateDisplay> {
        let owners = self.owners();
        owners.get(owner).into_iter().flat_map(|owned| &owned.running).map(|it| it.display.clone()).collect()
    }

    /// Returns a display of an owner; the first one where none is named.
    ///
    /// # Errors
    /// `not_found`, also for a display of somebody else.
    pub fn get(&self, owner: &DisplayOwner, id: Option<&str>) -> Result<PrivateDisplay, Failure> {
        let found = self.list(owner).into_iter().find(|display| id.is_none_or(|id| display.id == id));
        found.ok_or_else(|| not_found(id))
    }

    /// Starts a display.
    ///
    /// # Errors
    /// `permission_denied` where there are as many as may be, `provider_unavailable` without an X server, or where it does
    /// not start. Nothing is left then.
    pub async fn create(
        self: &Arc<Self>,
        owner: &DisplayOwner,
        order: DisplayOrder,
    ) -> Result<PrivateDisplay, Failure> {
        let place = self.reserve(owner)?;
        let desktop = self.desktop_of(owner);
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let folder = place.folder.clone();
        let running = super::start::start(self, owner, &desktop, &folder, number, order).await?;
        let display = running.display.clone();
        if let Some(owned) = self.owners().get_mut(owner) {
            owned.running.push(running);
        }
        Ok(display)
    }

    /// Ends a display, and waits until nothing is left of it. Returns what it was, with its processes.
    ///
    /// # Errors
    /// `not_found`, also for a display of somebody else.
    pub async fn release(&self, owner: &DisplayOwner, id: &str) -> Result<PrivateDisplay, Failure> {
        let running = self.take(owner, id).ok_or_else(|| not_found(Some(id)))?;
        let display = running.display.clone();
        running.end().await;
        Ok(display)
    }

    /// Notes a process that shows itself on a display, and is to end with it, and how it is started again.
    pub fn add_process(&self, owner: &DisplayOwner, id: &str, process: &str, program: LaunchedProgram) {
        let mut owners = self.owners();
        let running =
            owners.get_mut(owner).and_then(|owned| owned.running.iter_mut().find(|it| it.display.id == id));
        if let Some(running) = running {
            running.display.processes.push(process.to_owned());
            running.programs.insert(process.to_owned(), Arc::new(program));
        }
    }

    /// Returns the display that a process was started on, and how it is started again.
    pub fn program(
        &self,
        owner: &DisplayOwner,
        process: &str,
    ) -> Option<(PrivateDisplay, Arc<LaunchedProgram>)> {
        let owners = self.owners();
        let mut running = owners.get(owner)?.running.iter();
        running.find_map(|it| Some((it.display.clone(), Arc::clone(it.programs.get(process)?))))
    }

    /// Ends the displays of scopes.
    pub fn end_where(&self, is_over: impl Fn(&str) -> bool) {
        // What is dropped is killed.
        self.owners().retain(|owner, _| !is_over(&owner.scope));
    }

    /// Forgets a display, which has ended or is about to.
    pub(super) fn take(&self, owner: &DisplayOwner, id: &str) -> Option<RunningDisplay> {
        let mut owners = self.owners();
        let running = &mut owners.get_mut(owner)?.running;
        let at = running.iter().position(|it| it.display.id == id)?;
        Some(running.remove(at))
    }

    fn reserve<'a>(&'a self, owner: &DisplayOwner) -> Result<DisplaySlot<'a>, Failure> {
        let mut owners = self.owners();
        let count = |owned: &OwnedDisplays| owned.running.len() + owned.starting;
        let of_scope: usize =
            owners.iter().filter(|(it, _)| it.scope == owner.scope).map(|(_, owned)| count(owned)).sum();
        let of_caller = owners.get(owner).map_or(0, count);
        if of_caller >= MOST_OF_CALLER || of_scope >= MOST_OF_SCOPE {
            return Err(too_many());
        }
        let folder = match owners.get(owner) {
            Some(owned) => owned.folder.clone(),
            None => {
                let name = format!("{}-{}", std::process::id(), self.count.fetch_add(1, Ordering::Relaxed));
                private_folder(&self.dirs).join(name)
            }
        };
        let owned = owners.entry(owner.clone()).or_insert_with(|| OwnedDisplays {
            desktop: Desktop::new(sources(&folder, &self.launcher)),
            folder: folder.clone(),
            running: Vec::new(),
            starting: 0,
        });
        owned.starting += 1;
        Ok(DisplaySlot { displays: self, owner: owner.clone(), folder })
    }

    fn owners(&self) -> MutexGuard<'_, HashMap<DisplayOwner, OwnedDisplays>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of a display that is being started.
struct DisplaySlot<'a> {
    displays: &'a PrivateDisplays,
    owner: DisplayOwner,
    folder: PathBuf,
}

impl Drop for DisplaySlot<'_> {
    fn drop(&mut self) {
        if let Some(owned) = self.displays.owners().get_mut(&self.owner) {
            owned.starting -= 1;
        }
    }
}

/// Returns where an owner's displays are found, and no other.
fn sources(folder: &Path, launcher: &Launcher) -> Sources {
    Sources {
        sockets: PathBuf::from(X11_SOCKETS),
        selection: DisplaySelection::Only(folder.to_owned()),
        authority: Some(folder.join("cookie")),
        guard: Some(launcher.program().to_owned()),
        ..Sources::default()
    }
}

fn not_found(id: Option<&str>) -> Failure {
    let what = match id {
        Some(id) => {
            format!("you have no private display `{}` in this scope", id.chars().take(40).collect::<String>())
        }
        None => "you have no private display in this scope".to_owned(),
    };
    Failure::new(ErrorCode::NotFound, what).hint("display.list shows yours; display.create makes one.")
}

fn too_many() -> Failure {
    Failure::denied(
        "max-displays",
        format!(
            "there are as many private displays as may be: {MOST_OF_CALLER} of a caller and {MOST_OF_SCOPE} of a scope"
        ),
    )
    .at_stage(StageName::Limits)
    .hint("display.release ends one; display.list shows yours.")
    .hint(format!("{FOR_USER}a display also ends with its time limit, and with the service."))
}
