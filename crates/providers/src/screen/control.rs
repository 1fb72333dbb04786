//! Changes of windows that a scope shows, and what came of them.
//!
//! The only place that changes windows: `tests/it/architecture.rs` holds it to that.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use bailiwick_contract::Cancel;
use bailiwick_platform::screen::{Displays, ScreenError, Window, WindowChange, WindowState};
use bailiwick_policy::Scope;

use super::shot::withheld;

/// How long a change is waited for: a busy computer takes its time, and a program may have to put things away.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long it is until the windows are read again, at first and at most.
const FIRST_LOOK: Duration = Duration::from_millis(2);
const LAST_LOOK: Duration = Duration::from_millis(50);

/// What came of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeEffect {
    /// It was read back as wished.
    Confirmed,
    /// The window changed, but not as wished.
    Partial,
    /// The window is as it was.
    SuspectedNoop,
    /// It was asked for, and how the window is now could not be read.
    Unverifiable,
}

/// A change that was asked for.
#[derive(Debug)]
pub struct WindowChanged {
    /// The window as it was when it was judged.
    pub before: Window,
    /// The window as it is; none if it is closed, or could not be read.
    pub after: Option<Window>,
    /// What came of it; none where nothing was to be done.
    pub effect: Option<ChangeEffect>,
    /// A dialog of the window that came up instead.
    pub dialog: Option<String>,
}

/// Changes a window that a scope shows, and waits until that is seen. With `dry_run` it is judged only.
///
/// # Errors
/// [`ScreenError`], of which [`ScreenError::Refused`] stands for a window that the scope does not show. Nothing was changed
/// then.
pub fn change_window(
    displays: &Displays,
    scope: &Arc<Scope>,
    id: &str,
    change: WindowChange,
    dry_run: bool,
    cancel: &Cancel,
) -> Result<WindowChanged, ScreenError> {
    let (judging, judged) = (Arc::clone(scope), id.to_owned());
    let judge = move |windows: &[Window]| is_shown(&judging, windows, &judged);
    let before = displays.change_window(id, change, Box::new(judge), !dry_run)?;
    if dry_run {
        return Ok(WindowChanged { after: Some(before.clone()), before, effect: None, dialog: None });
    }
    let (until, mut pause) = (Instant::now() + PATIENCE, FIRST_LOOK);
    loop {
        let Ok(windows) = displays.windows_beside(id) else {
            let effect = Some(ChangeEffect::Unverifiable);
            return Ok(WindowChanged { before, after: None, effect, dialog: None });
        };
        let after = windows.iter().find(|window| window.id == id).cloned();
        let is_done = is_done(change, &before, after.as_ref());
        if is_done || Instant::now() >= until || cancel.check().is_err() {
            let effect = match &after {
                _ if is_done => ChangeEffect::Confirmed,
                Some(after) if !is_same(&before, after) => ChangeEffect::Partial,
                _ => ChangeEffect::SuspectedNoop,
            };
            // One that cannot be shown any more says nothing of itself.
            let after = after.filter(|_| is_shown(scope, &windows, id));
            let dialog = if is_done { None } else { dialog_of(scope, &windows, id) };
            return Ok(WindowChanged { before, after, effect: Some(effect), dialog });
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LAST_LOOK);
    }
}

/// Returns whether a window is among those of the instant, and the scope shows it.
pub(super) fn is_shown(scope: &Scope, windows: &[Window], id: &str) -> bool {
    let withheld = withheld(scope.screen(), windows);
    windows.iter().zip(withheld).any(|(window, withheld)| window.id == id && !withheld)
}

fn dialog_of(scope: &Scope, windows: &[Window], id: &str) -> Option<String> {
    let dialog = windows.iter().rev().find(|window| window.owner.as_deref() == Some(id) && window.mapped)?;
    is_shown(scope, windows, &dialog.id).then(|| dialog.id.clone())
}

/// Returns whether a window is as it was wished.
fn is_done(change: WindowChange, before: &Window, after: Option<&Window>) -> bool {
    let Some(after) = after else { return change == WindowChange::Close };
    match change {
        WindowChange::Focus => after.active && after.state == WindowState::Visible,
        // The window manager gives the focus away after it has put the window away.
        WindowChange::Minimise => after.state == WindowState::Minimised && !after.active,
        WindowChange::Maximise => after.maximised,
        WindowChange::Restore => match before.state {
            WindowState::Minimised => after.state == WindowState::Visible && after.active,
            WindowState::Visible | WindowState::Hidden => !after.maximised,
        },
        WindowChange::Close => false,
        WindowChange::Place { .. } => change.place_of(before) == Some(after.bounds),
    }
}

fn is_same(before: &Window, after: &Window) -> bool {
    let facts = |window: &Window| (window.bounds, window.state, window.active, window.maximised);
    facts(before) == facts(after)
}
