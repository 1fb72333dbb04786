//! A window of a display and its elements, as the rules of a scope show them.

use bailiwick_platform::accessibility::{AccessibilityError, ElementSource, ElementTree, Role, State};
use bailiwick_platform::screen::{Displays, ScreenError, Window};
use bailiwick_policy::{ScreenRules, is_terminal};

use crate::screen::withheld;

/// A window with its elements, which the rules show before and after they were read.
#[derive(Debug, Clone)]
pub struct WindowScene {
    /// The window.
    pub window: Window,
    /// Its elements.
    pub tree: ElementTree,
    /// The ids of the windows of its process that are shown.
    pub siblings: Vec<String>,
}

/// Why a window's elements are not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SceneError {
    /// The display does not answer.
    #[error(transparent)]
    Screen(#[from] ScreenError),
    /// The program does not answer.
    #[error(transparent)]
    Elements(#[from] AccessibilityError),
    /// The rules close the window.
    #[error("the window `{0}` is not shown")]
    Withheld(String),
    /// The window became another while it was read.
    #[error("the window `{0}` changed its title while it was read")]
    Changed(String),
}

/// Reads the elements of a window. The rules judge it before it is read and again with what was read: a window that
/// changes its title meanwhile gains nothing.
///
/// # Errors
/// [`SceneError`] has them.
pub fn scene(
    displays: &Displays,
    source: &dyn ElementSource,
    rules: &ScreenRules,
    id: &str,
) -> Result<WindowScene, SceneError> {
    let (window, _) = judged(displays, rules, id)?;
    let tree = source.tree(&window)?;
    let (window, siblings) = unchanged(displays, rules, &window)?;
    Ok(WindowScene { window, tree, siblings })
}

/// Judges a window once more, after more of it was read than its elements. Returns the ids of the windows of its process that
/// are shown now.
///
/// # Errors
/// [`SceneError`] has them: what was read must not be shown then.
pub fn judge_again(
    displays: &Displays,
    rules: &ScreenRules,
    scene: &WindowScene,
) -> Result<Vec<String>, SceneError> {
    unchanged(displays, rules, &scene.window).map(|(_, siblings)| siblings)
}

/// Returns the ids of the shown windows of the program of a window, with its own.
///
/// # Errors
/// [`SceneError`] has them.
pub fn windows_of_program(
    displays: &Displays,
    rules: &ScreenRules,
    id: &str,
) -> Result<Vec<String>, SceneError> {
    judged(displays, rules, id).map(|(_, siblings)| siblings)
}

fn unchanged(
    displays: &Displays,
    rules: &ScreenRules,
    before: &Window,
) -> Result<(Window, Vec<String>), SceneError> {
    let (after, siblings) = judged(displays, rules, &before.id)?;
    if (&after.title, after.pid) != (&before.title, before.pid) {
        return Err(SceneError::Changed(before.id.clone()));
    }
    Ok((after, siblings))
}

/// Finds a window that the rules show, and the windows of its process.
fn judged(displays: &Displays, rules: &ScreenRules, id: &str) -> Result<(Window, Vec<String>), SceneError> {
    let windows = displays.windows_beside(id)?;
    let closed = withheld(rules, &windows);
    let found = windows.iter().zip(&closed).find(|(window, _)| window.id == id);
    let (window, is_closed) = found.ok_or_else(|| ScreenError::UnknownWindow(id.to_owned()))?;
    if *is_closed {
        return Err(SceneError::Withheld(id.to_owned()));
    }
    let shown = windows.iter().zip(&closed).filter(|(_, closed)| !**closed).map(|(other, _)| other);
    let siblings =
        shown.filter(|other| other.pid == window.pid && other.mapped).map(|it| it.id.clone()).collect();
    Ok((window.clone(), siblings))
}

impl WindowScene {
    /// Returns whether what is typed into the window runs as commands: it is a terminal's, or one is in it.
    pub fn has_terminal(&self) -> bool {
        let window = &self.window;
        let names = [Some(window.app.as_str()), Some(window.instance.as_str()), window.process.as_deref()];
        let shows_one = |it: &bailiwick_platform::accessibility::Element| {
            it.role == Role::Terminal && it.states.has(State::Visible)
        };
        is_terminal(names.into_iter().flatten()) || self.tree.elements.iter().any(shows_one)
    }
}
