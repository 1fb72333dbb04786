//! Changes of windows that a scope shows, and what came of them.
//!
//! The only place that changes windows: `tests/it/architecture.rs` holds it to that.

use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use bailiwick_contract::Cancel;
use bailiwick_platform::screen::{Displays, ScreenError, Window, WindowChange, WindowState};
use bailiwick_policy::Scope;

use super::shot::withheld;
use crate::elements::ActionEffect;

/// How long a change is waited for: a busy computer takes its time, and a program may have to put things away.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// How long it is until the windows are read again, at first and at most.
pub(super) const FIRST_LOOK: Duration = Duration::from_millis(2);
pub(super) const LAST_LOOK: Duration = Duration::from_millis(50);
/// How long the new size of a window is waited for that counts as maximized, or as not: it may have that size already.
const RESIZED_WITHIN: Duration = Duration::from_secs(1);

/// A change that was asked for.
#[derive(Debug)]
pub struct WindowChanged {
    /// The window as it was when it was judged.
    pub before: Window,
    /// The window as it is; none if it is closed, or could not be read.
    pub after: Option<Window>,
    /// What came of it; none where nothing was to be done.
    pub effect: Option<ActionEffect>,
    /// A dialog of the window that came up since it was judged, where the change is not done.
    pub dialog: Option<String>,
}

/// Changes a window that a scope shows, and waits until that is seen. With `dry_run` it is judged only.
///
/// # Errors
/// [`ScreenError`], of which [`ScreenError::Refused`] is for a window that the scope does not show. Nothing was changed
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
    let dialogs = Arc::new(OnceLock::new());
    let known = Arc::clone(&dialogs);
    let judge = move |windows: &[Window]| {
        let _ = known.set(dialogs_of(windows, &judged));
        is_shown(&judging, windows, &judged)
    };
    let before = displays.change_window(id, change, Box::new(judge), !dry_run)?;
    if dry_run {
        return Ok(WindowChanged { after: Some(before.clone()), before, effect: None, dialog: None });
    }
    let (until, mut pause) = (Instant::now() + PATIENCE, FIRST_LOOK);
    let (mut last, mut done_at) = (None, None);
    loop {
        let Ok(windows) = displays.windows_beside(id) else {
            let effect = Some(ActionEffect::Unverifiable);
            return Ok(WindowChanged { before, after: None, effect, dialog: None });
        };
        let after = windows.iter().find(|window| window.id == id).cloned();
        let is_done = is_done(change, &before, after.as_ref());
        // A window manager sets the state first, then the size of frame and content.
        let is_resizing = is_done
            && after.as_ref().is_some_and(|after| {
                let is_new_size = after.bounds != before.bounds && last == Some(after.bounds);
                after.maximised != before.maximised && !is_new_size
            })
            && done_at.get_or_insert_with(Instant::now).elapsed() < RESIZED_WITHIN;
        last = after.as_ref().map(|after| after.bounds);
        if is_done && !is_resizing || Instant::now() >= until || cancel.check().is_err() {
            let effect = match &after {
                _ if is_done => ActionEffect::Confirmed,
                Some(after) if !is_same(&before, after) => ActionEffect::Partial,
                _ => ActionEffect::SuspectedNoop,
            };
            // One that cannot be shown any more says nothing of itself.
            let after = after.filter(|_| is_shown(scope, &windows, id));
            let dialog = if is_done { None } else { new_dialog(scope, &windows, id, dialogs.get()) };
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

/// Lists the dialogs of a window that show, from the bottom of the pile to its top.
fn dialogs_of(windows: &[Window], id: &str) -> Vec<String> {
    let of_it = windows.iter().filter(|window| window.owner.as_deref() == Some(id) && window.mapped);
    of_it.map(|window| window.id.clone()).collect()
}

/// Returns the highest dialog of a window that was not there before, if the scope shows it.
fn new_dialog(scope: &Scope, windows: &[Window], id: &str, before: Option<&Vec<String>>) -> Option<String> {
    let is_new = |dialog: &String| before.is_none_or(|before| !before.contains(dialog));
    let dialog = dialogs_of(windows, id).into_iter().rev().find(is_new)?;
    is_shown(scope, windows, &dialog).then_some(dialog)
}

/// Returns whether a window is as it was requested.
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
        WindowChange::Workspace(number) => after.workspace == Some(number),
        WindowChange::Place { .. } => change.place_of(before) == Some(after.bounds),
    }
}

fn is_same(before: &Window, after: &Window) -> bool {
    let facts =
        |window: &Window| (window.bounds, window.state, window.active, window.maximised, window.workspace);
    facts(before) == facts(after)
}
