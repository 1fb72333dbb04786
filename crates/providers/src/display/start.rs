//! Starting a private display, and ending it.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};

use bailiwick_contract::command::Redirect;
use bailiwick_contract::{Containment, ErrorCode, Failure, Network, time};
use bailiwick_platform::fs::{RelPath, Root, create_private_dir, replace_private_file};
use bailiwick_platform::launch::{
    FolderChanges, InnerSandboxes, Job, LaunchCommand, LaunchRequest, PathGrant, ProcessLimits,
    SandboxRequest, SetGroupId, Step, pipe,
};
use bailiwick_platform::screen::{X11_SOCKETS, new_cookie_file};
use bailiwick_platform::tray::Watcher;
use bailiwick_policy::{AllRoots, Scope};

use super::bus::Bus;
use super::desktop::{Desktop, DisplayOwner, LaunchedProgram, PrivateDisplays};
use super::folder::DisplayFolder;
use super::leftovers::remove_leftovers;
use super::programs::{DisplayPrograms, MissingProgram};
use crate::command::{Program, SearchPath, closed_folders, granted, not_started};

/// The first number of a private display: far from those of sessions.
const FIRST: u16 = 100;
/// How many numbers there are.
const NUMBERS: u32 = 5_000;
/// So many numbers are tried: others may have a server there.
const TRIES: u32 = 20;
/// How long a server may take until it answers.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long the bus of a display may take until it lists status icons; without it there are none.
const WATCHER_PATIENCE: Duration = Duration::from_secs(5);
/// How long the window manager may take until it answers. It may be first to read all fonts.
const MANAGER_PATIENCE: Duration = Duration::from_secs(10);
/// How often the server is asked meanwhile.
const PAUSE: Duration = Duration::from_millis(2);
/// How often the window manager is asked.
const MANAGER_PAUSE: Duration = Duration::from_millis(10);
/// How long the programs of a display have between being asked to end and being killed.
const GRACE: Duration = Duration::from_millis(500);
/// How long their end is waited for after that.
const AFTER_GRACE: Duration = Duration::from_secs(5);
/// The most memory of a program of a display, in bytes.
const MAX_MEMORY: u64 = 512 << 20;

/// Which display is wanted.
#[derive(Debug)]
pub struct DisplayOrder {
    /// The scope that it belongs to.
    pub scope: Arc<Scope>,
    /// The folders of all scopes: no program comes out of them.
    pub roots: AllRoots,
    /// Its width and height, in pixels.
    pub size: (u32, u32),
    /// After what time it is ended.
    pub max_time: Duration,
}

/// A private display.
#[derive(Debug, Clone)]
pub struct PrivateDisplay {
    /// Its id, such as `:107`.
    pub id: String,
    /// Its width and height, in pixels.
    pub size: (u32, u32),
    /// When it was made, in milliseconds since the epoch.
    pub started_at_ms: i64,
    /// When it is ended, in milliseconds since the epoch.
    pub ends_at_ms: i64,
    /// Whether a window manager was started.
    pub has_window_manager: bool,
    /// What it lacks.
    pub missing: Vec<MissingProgram>,
    /// The processes that were started on it.
    pub processes: Vec<String>,
    /// What a program is given so that it shows itself there.
    pub access: DisplayAccess,
    /// The address of its bus, if it has one. Programs of the display can change what the display itself says of it.
    pub bus: Option<String>,
}

/// What a program is given so that it shows itself on one display: a socket and a cookie, and its bus.
#[derive(Debug, Clone)]
pub struct DisplayAccess {
    /// What its sandbox shows.
    pub read_only: Vec<PathGrant>,
    /// The environment variables that it gets.
    pub variables: Vec<(OsString, OsString)>,
}

/// A display that runs. Dropping it kills its programs.
#[derive(Debug)]
pub(super) struct RunningDisplay {
    pub display: PrivateDisplay,
    /// How its processes are started again, by their ids.
    pub programs: HashMap<String, Arc<LaunchedProgram>>,
    stop: Option<oneshot::Sender<()>>,
    life: Option<JoinHandle<()>>,
}

impl Drop for RunningDisplay {
    fn drop(&mut self) {
        // Where nobody waits for the end, the programs are killed with their jobs.
        if let (Some(life), Some(_)) = (&self.life, &self.stop) {
            life.abort();
        }
    }
}

impl RunningDisplay {
    /// Ends it, and waits until nothing is left.
    pub async fn end(mut self) {
        drop(self.stop.take());
        if let Some(life) = self.life.take() {
            let _ = life.await;
        }
    }
}

/// Starts the programs of a display.
pub(super) async fn start(
    displays: &Arc<PrivateDisplays>,
    owner: &DisplayOwner,
    desktop: &Desktop,
    folder: &Path,
    count: u32,
    order: DisplayOrder,
) -> Result<RunningDisplay, Failure> {
    let (dirs, cookies) = (displays.dirs.clone(), folder.to_owned());
    let (scope, roots) = (Arc::clone(&order.scope), order.roots.clone());
    let look = move || {
        let closed = closed_folders(&roots, &dirs);
        let programs =
            DisplayPrograms::find(&SearchPath::new(&scope.commands().hold().search_path, &closed))?;
        remove_leftovers(&dirs);
        create_private_dir(&cookies).map_err(no_folder)?;
        let cookie = cookies.join("cookie");
        if bailiwick_platform::fs::FileId::of(&cookie).is_none() {
            replace_private_file(&cookie, &new_cookie_file().map_err(no_folder)?).map_err(no_folder)?;
        }
        Ok::<_, Failure>((programs, cookie))
    };
    let (programs, cookie) = spawn_blocking(look).await.map_err(no_folder)??;
    let first = std::process::id().wrapping_mul(31).wrapping_add(count);
    for at in 0..TRIES {
        let number = FIRST + u16::try_from(first.wrapping_add(at) % NUMBERS).unwrap_or_default();
        let (dirs, folder) = (displays.dirs.clone(), folder.to_owned());
        let create = move || DisplayFolder::create(&dirs, &folder, number);
        let place = spawn_blocking(create).await.map_err(no_folder)?.map_err(no_folder)?;
        // Another service has that number.
        let Some(place) = place else { continue };
        match programs_on(displays, desktop, &programs, &cookie, &place, &order).await {
            Ok(Some(started)) => return Ok(lasting(displays, owner, place, started, &order, &programs)),
            // Another server has it.
            Ok(None) => place.remove().await,
            Err(failure) => {
                place.remove().await;
                return Err(failure);
            }
        }
    }
    Err(Failure::new(ErrorCode::ProviderUnavailable, "no private display can be made: Xvfb does not start")
        .hint("Try again. For the user: `Xvfb :99` at a terminal shows why."))
}

/// The programs of a display that runs.
struct StartedPrograms {
    /// The X server.
    server: Job,
    /// Those that use it.
    others: Vec<Job>,
    access: DisplayAccess,
    bus: Option<String>,
    /// What keeps the list of status icons.
    watcher: Option<Watcher>,
}

/// Starts the programs of a display under its number. Nothing, if another server has that.
async fn programs_on(
    displays: &PrivateDisplays,
    desktop: &Desktop,
    programs: &DisplayPrograms,
    cookie: &Path,
    place: &DisplayFolder,
    order: &DisplayOrder,
) -> Result<Option<StartedPrograms>, Failure> {
    let (id, home) = (format!(":{}", place.number()), place.path());
    let mut variables: Vec<(OsString, OsString)> = vec![
        ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
        ("HOME".into(), home.into()),
        ("XDG_RUNTIME_DIR".into(), home.into()),
        ("LC_ALL".into(), "C.UTF-8".into()),
    ];
    let (registry, of_display) =
        (programs.bus.as_ref().map(|(_, registry)| registry.clone()), home.to_owned());
    let write = move || registry.map(|registry| Bus::write(&of_display, &registry)).transpose();
    let bus = spawn_blocking(write).await.map_err(no_folder)?.map_err(no_folder)?;
    let (width, height) = order.size;
    let screen = format!("{width}x{height}x24");
    // OpenGL would take 50 MiB; programs draw without it.
    let words: [&str; 11] = [
        &id,
        "-screen",
        "0",
        &screen,
        "-noreset",
        "-extension",
        "GLX",
        "-nolisten",
        "tcp",
        "-nolisten",
        "local",
    ];
    let mut words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    words.extend(["-auth".into(), cookie.into()]);
    let starting = launch(displays, &programs.server, &words, &variables, home);
    let bus_job = async {
        let Some(((program, _), bus)) = programs.bus.as_ref().zip(bus.as_ref()) else { return Ok(None) };
        let config = OsString::from(format!("--config-file={}", bus.config.display()));
        let words = [config, "--nofork".into(), "--nopidfile".into()];
        let mut variables = variables.clone();
        variables.push(("AT_SPI_BUS_ADDRESS".into(), bus.address.clone().into()));
        launch(displays, program, &words, &variables, home).await.map(Some)
    };
    let (server, bus_job) = tokio::join!(starting, bus_job);
    let (mut server, bus_job) = (server?, bus_job?);
    let bus_address = bus.as_ref().map(|bus| bus.address.clone());
    // The bus is there before the server is.
    let (is_up, watcher) =
        tokio::join!(answers(&mut server, desktop, &id, bus.as_ref()), watcher(bus_address.as_deref()));
    if !is_up? {
        return Ok(None);
    }
    place.note_server().map_err(no_folder)?;
    let mut others: Vec<Job> = bus_job.into_iter().collect();
    variables.extend([("DISPLAY".into(), id.clone().into()), ("XAUTHORITY".into(), cookie.into())]);
    if let Some(program) = &programs.window_manager {
        let mut job = launch(displays, program, &["--sm-disable".into()], &variables, home).await?;
        manager_answers(&mut job, desktop, &id).await;
        others.push(job);
    }
    let socket = Path::new(X11_SOCKETS).join(format!("X{}", place.number()));
    let access = access(&id, cookie, &socket, bus.as_ref())?;
    Ok(Some(StartedPrograms { server, others, access, bus: bus_address, watcher }))
}

/// Starts what keeps the list of status icons of a bus, before any program can look for it.
async fn watcher(bus: Option<&str>) -> Option<Watcher> {
    let (address, until) = (bus?, Instant::now() + WATCHER_PATIENCE);
    loop {
        match Watcher::start(address).await {
            Ok(watcher) => return Some(watcher),
            // Its socket is there a moment before it listens.
            Err(_) if Instant::now() < until => tokio::time::sleep(PAUSE).await,
            Err(_) => return None,
        }
    }
}

/// Has the programs of a display run until their time is over, or nobody wants them any more.
fn lasting(
    displays: &Arc<PrivateDisplays>,
    owner: &DisplayOwner,
    place: DisplayFolder,
    started: StartedPrograms,
    order: &DisplayOrder,
    programs: &DisplayPrograms,
) -> RunningDisplay {
    let StartedPrograms { mut server, others, access, bus, watcher } = started;
    let (id, started_at_ms) = (format!(":{}", place.number()), time::now_ms());
    let max_ms = i64::try_from(order.max_time.as_millis()).unwrap_or(i64::MAX);
    let display = PrivateDisplay {
        id: id.clone(),
        size: order.size,
        started_at_ms,
        ends_at_ms: started_at_ms.saturating_add(max_ms),
        has_window_manager: programs.window_manager.is_some(),
        missing: programs.missing.clone(),
        processes: Vec::new(),
        access,
        bus,
    };
    let (stop, stopped) = oneshot::channel::<()>();
    let (all, owner, max_time) = (Arc::downgrade(displays), owner.clone(), order.max_time);
    let life = tokio::spawn(async move {
        let is_asked = tokio::select! {
            _ = stopped => true,
            _ = server.ended() => false,
            () = tokio::time::sleep(max_time) => false,
        };
        if let Some(watcher) = watcher {
            watcher.stop();
        }
        // First those that use the server.
        for mut job in others.into_iter().rev().chain([server]) {
            job.stop(GRACE);
            let _ = tokio::time::timeout(GRACE + AFTER_GRACE, job.ended()).await;
        }
        place.remove().await;
        if !is_asked && let Some(mut running) = all.upgrade().and_then(|all| all.take(&owner, &id)) {
            // This is its life.
            running.life = None;
        }
    });
    RunningDisplay { display, programs: HashMap::new(), stop: Some(stop), life: Some(life) }
}

/// Waits until the server answers, and the bus listens. Returns whether they do; else the server has ended.
async fn answers(server: &mut Job, desktop: &Desktop, id: &str, bus: Option<&Bus>) -> Result<bool, Failure> {
    let (displays, id, bus) = (
        Arc::clone(&desktop.displays),
        id.to_owned(),
        bus.map(|bus| (bus.socket.clone(), bus.address.clone())),
    );
    let until = Instant::now() + PATIENCE;
    let (gone, is_gone) = std::sync::mpsc::channel::<()>();
    let asking = spawn_blocking(move || {
        let is_up = || displays.list().is_ok_and(|listing| listing.displays.iter().any(|it| it.id == id));
        let listens = || bus.as_ref().is_none_or(|(socket, _)| PathGrant::of(socket).is_some());
        while !(is_up() && listens()) {
            let is_over = matches!(is_gone.try_recv(), Err(std::sync::mpsc::TryRecvError::Disconnected));
            if is_over || Instant::now() >= until {
                return Ok(false);
            }
            std::thread::sleep(PAUSE);
        }
        match bus {
            Some((_, address)) => displays.name_accessibility_bus(&id, &address).map(|()| true),
            None => Ok(true),
        }
    });
    tokio::select! {
        asked = asking => {
            asked.map_err(no_folder)?.map_err(|error| {
                Failure::new(ErrorCode::ProviderUnavailable, format!("no private display can be made: {error}"))
            })
        }
        _ = server.ended() => {
            drop(gone);
            Ok(false)
        }
    }
}

/// Waits until the window manager answers, or for a while: what programs show before that could stay hidden.
async fn manager_answers(manager: &mut Job, desktop: &Desktop, id: &str) {
    let answered = async {
        loop {
            let (displays, id) = (Arc::clone(&desktop.displays), id.to_owned());
            let asked = spawn_blocking(move || displays.window_manager_answers(&id)).await;
            if matches!(asked, Ok(Ok(true))) {
                return;
            }
            tokio::time::sleep(MANAGER_PAUSE).await;
        }
    };
    tokio::select! {
        _ = tokio::time::timeout(MANAGER_PATIENCE, answered) => {}
        _ = manager.ended() => {}
    }
}

/// Starts one program of a display. It is Bailiwick's own choice, and ends with the job.
async fn launch(
    displays: &PrivateDisplays,
    program: &Program,
    words: &[OsString],
    environment: &[(OsString, OsString)],
    folder: &Path,
) -> Result<Job, Failure> {
    let (_, output) = pipe::from_program().map_err(no_folder)?;
    let (_, errors) = pipe::from_program().map_err(no_folder)?;
    let name = program.path.file_name().unwrap_or_default().to_owned();
    let opened = Root::open(folder).and_then(|root| root.open_dir(&RelPath::root()));
    let request = LaunchRequest {
        plan: vec![Step {
            joiner: None,
            commands: vec![LaunchCommand {
                program: program.path.clone(),
                identity: program.identity,
                argv: [name].into_iter().chain(words.iter().cloned()).collect(),
                redirects: vec![Redirect::StdoutToNull, Redirect::StderrToNull],
            }],
        }],
        environment: environment.to_vec(),
        cwd: opened.map_err(no_folder)?.into_handle(),
        cwd_path: folder.to_owned(),
        hold: SandboxRequest {
            // It is found by programs of other sandboxes, and knows their processes.
            level: Containment::None,
            network: Network::Full,
            network_group: None,
            read_only: Vec::new(),
            read_write: Vec::new(),
            protected: Vec::new(),
            lacks_protected: false,
            closed: Vec::new(),
            lacks_closed: false,
            home: granted(folder)?,
            inner: InnerSandboxes::Refused,
            set_group_id: SetGroupId::Refused,
            changes: FolderChanges::Lasting,
        },
        port: None,
        limits: ProcessLimits {
            memory_bytes: None,
            job_memory_bytes: Some(MAX_MEMORY),
            processes: None,
            file_bytes: None,
            open_files: 1_024,
        },
        stdin: None,
        stdout: output,
        stderr: errors,
    };
    displays.launcher.launch(request).await.map_err(|error| not_started(&error))
}

/// Collects what programs on a display are given.
fn access(id: &str, cookie: &Path, socket: &Path, bus: Option<&Bus>) -> Result<DisplayAccess, Failure> {
    let paths = [cookie, socket].into_iter().chain(bus.map(|bus| bus.socket.as_path()));
    let read_only: Option<Vec<PathGrant>> = paths.map(PathGrant::of).collect();
    let read_only = read_only.ok_or_else(|| {
        Failure::new(ErrorCode::ProviderUnavailable, "no private display can be made: its socket is gone")
    })?;
    let set = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
    let address = bus.map_or("disabled:", |bus| bus.address.as_str());
    let mut variables = vec![
        set("DISPLAY", id),
        (OsString::from("XAUTHORITY"), cookie.as_os_str().to_owned()),
        set("DBUS_SESSION_BUS_ADDRESS", address),
        // Toolkits choose this display, and show their elements without being asked first.
        set("GDK_BACKEND", "x11"),
        set("QT_QPA_PLATFORM", "xcb"),
        set("QT_LINUX_ACCESSIBILITY_ALWAYS_ON", "1"),
        set("QT_ACCESSIBILITY", "1"),
        set("ACCESSIBILITY_ENABLED", "1"),
        set("GNOME_ACCESSIBILITY", "1"),
        set("GSETTINGS_BACKEND", "memory"),
    ];
    if let Some(bus) = bus {
        variables.push(set("AT_SPI_BUS_ADDRESS", &bus.address));
    }
    Ok(DisplayAccess { read_only, variables })
}

fn no_folder(error: impl std::fmt::Display) -> Failure {
    Failure::new(ErrorCode::ProviderUnavailable, format!("no private display can be made: {error}"))
}
