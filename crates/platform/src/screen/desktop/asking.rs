//! What is read of the clipboards of macOS and Windows only by leave of a judge, who belongs to another thread.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::scene::Scene;
use super::servers::{Servers, granted};
use crate::screen::{CLIPBOARD_OWNER, Judge, Rect, ScreenError, Window, WindowState};

/// How long all of it may take: an owner may make its content only when it is asked for.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// How long a judge may take while no other program can use the clipboard.
const JUDGED_WITHIN: Duration = Duration::from_secs(1);

/// Has the caller's thread judge, who has the judge.
pub(super) struct Asker {
    windows: SyncSender<Vec<Window>>,
    verdict: Receiver<bool>,
}

impl Asker {
    pub(super) fn ask(&self, windows: Vec<Window>) -> bool {
        self.windows.send(windows).is_ok() && self.verdict.recv_timeout(JUDGED_WITHIN) == Ok(true)
    }
}

impl Servers {
    /// Reads something of the clipboard of a display, which asks the judge at most once.
    pub(super) fn read_judged<T: Send + 'static>(
        &self,
        display: Option<&str>,
        judge: &Judge,
        read: impl FnOnce(&Asker) -> Result<T, ScreenError> + Send + 'static,
    ) -> Result<T, ScreenError> {
        let display = display.map(str::to_owned);
        let (windows, to_judge) = sync_channel(1);
        let (judged, verdict) = sync_channel(1);
        let asker = Asker { windows, verdict };
        thread::scope(|scope| {
            let asked = scope.spawn(move || {
                self.ask(PATIENCE, move || {
                    granted()?;
                    require_display(&Scene::read()?, display.as_deref())?;
                    read(&asker)
                })
            });
            // Without windows there is nothing to judge: it was refused before, or nothing is there.
            if let Ok(windows) = to_judge.recv_timeout(PATIENCE) {
                let _ = judged.send(judge(&windows));
            }
            asked.join().unwrap_or_else(|_| Err(failed("it was not read to the end".to_owned())))
        })
    }
}

/// Returns the owner of the clipboard as a window, since it has none of its own.
pub(super) fn owner(pid: Option<u32>, process: Option<String>) -> Window {
    Window {
        pid,
        process,
        state: WindowState::Hidden,
        mapped: false,
        unmanaged: true,
        ..Window::new(CLIPBOARD_OWNER, "the desktop", Rect::new(0, 0, 0, 0))
    }
}

/// All displays share the clipboard; one that is not there has none.
pub(super) fn require_display(scene: &Scene, display: Option<&str>) -> Result<(), ScreenError> {
    match display {
        Some(id) if scene.monitor(id).is_none() => Err(ScreenError::UnknownDisplay(id.to_owned())),
        _ => Ok(()),
    }
}

pub(super) fn failed(why: String) -> ScreenError {
    ScreenError::Failed { display: "the desktop".to_owned(), step: "the clipboard", why }
}
