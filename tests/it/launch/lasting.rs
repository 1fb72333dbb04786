//! A way to start processes that last, and to look at what becomes of them.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bailiwick::contract::command::Containment;
use bailiwick::platform::launch::kept::{
    Control, Event, Input, KeeperRequest, Lifetime, ProcessFiles, State, Status, Stream, TerminalSize,
};
use bailiwick::platform::launch::{ActiveSandbox, LaunchError, LaunchRequest, Step};

use super::place::{LaunchFixture, wait_for};
use crate::patience::{PATIENCE, eventually};
pub use support::service::lives;

/// A process that lasts, seen from a service.
pub struct DurableProcess {
    pub folder: PathBuf,
    pub kept: ProcessFiles,
    pub held: ActiveSandbox,
}

/// Creates a request for a plan with pipes, in a folder of its own.
pub fn request(place: &LaunchFixture, level: Containment, plan: Vec<Step>) -> KeeperRequest {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let (LaunchRequest { plan, environment, cwd, cwd_path, hold, limits, .. }, _out, _err) =
        place.request(level, plan);
    let folder = place.outside().join(format!("process-{}", NEXT.fetch_add(1, Ordering::Relaxed)));
    KeeperRequest {
        plan,
        environment,
        cwd,
        cwd_path,
        hold,
        proxy: None,
        limits,
        folder,
        input: Input::Pipe,
        terminal: None,
        ring_bytes: 8 << 20,
        lifetime: Lifetime::Durable,
        // Nothing ends by this while a test waits for it.
        max_time: *PATIENCE * 4,
        temporary: None,
    }
}

/// Creates a request for a plan with a terminal.
pub fn at_terminal(place: &LaunchFixture, level: Containment, plan: Vec<Step>) -> KeeperRequest {
    let terminal = Some(TerminalSize { rows: 24, columns: 80 });
    KeeperRequest { terminal, ..request(place, level, plan) }
}

/// Starts a process that lasts.
pub fn try_start(place: &LaunchFixture, request: KeeperRequest) -> Result<DurableProcess, LaunchError> {
    let folder = request.folder.clone();
    let held = wait_for(place.launcher.start_kept(request))?;
    let kept = ProcessFiles::open(&folder).expect("opened");
    Ok(DurableProcess { folder, kept, held })
}

/// Starts a process that lasts.
pub fn start(place: &LaunchFixture, request: KeeperRequest) -> DurableProcess {
    try_start(place, request).expect("started")
}

impl DurableProcess {
    /// Opens what a process left that another service started.
    pub fn found(folder: &Path) -> Self {
        let kept = ProcessFiles::open(folder).expect("opened");
        let held = kept.status().expect("a status").held;
        Self { folder: folder.to_owned(), kept, held }
    }

    pub fn status(&self) -> Status {
        self.kept.status().expect("a status")
    }

    pub async fn control(&self) -> Control {
        Control::connect(&self.folder).await.expect("connected")
    }

    /// Waits for the end, by watching.
    pub fn ended(&self) -> Status {
        if let Ok(mut control) = wait_for(Control::connect(&self.folder)) {
            wait_for(async {
                if control.watch().await.is_ok() {
                    while !matches!(control.next_event().await, Ok(Event::Ended) | Err(_)) {}
                }
            });
        }
        eventually("it has ended", || self.status().state.is_final());
        let status = self.status();
        assert_ne!(status.state, State::Running);
        status
    }

    /// Returns everything that is kept of a stream.
    pub fn printed(&self, stream: Stream) -> String {
        let (mut bytes, mut from) = (Vec::new(), 0);
        loop {
            let read = self.kept.read(from, 1 << 20).expect("read");
            for frame in read.frames.iter().filter(|frame| frame.stream == stream) {
                bytes.extend_from_slice(&frame.bytes);
            }
            if read.next == from {
                return String::from_utf8_lossy(&bytes).into_owned();
            }
            from = read.next;
        }
    }

    pub fn out(&self) -> String {
        self.printed(Stream::Stdout)
    }

    /// Waits until standard output or the terminal shows a text.
    pub fn shows(&self, text: &str) {
        let began = Instant::now();
        while !self.out().contains(text) {
            assert!(began.elapsed() < *PATIENCE, "no {text:?} in {:?} ({:?})", self.out(), self.status());
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Returns the numbers of the processes below another, by level.
pub fn children(process: u32) -> Vec<u32> {
    let list =
        std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    list.split_ascii_whitespace().filter_map(|child| child.parse().ok()).collect()
}

/// Kills a process by its number, at once.
pub fn kill(process: u32) {
    let status = std::process::Command::new("kill").args(["-9", &process.to_string()]).status();
    assert!(status.expect("kill").success());
}
