//! Input to windows that a scope shows, judged at the very instant in which it is made.
//!
//! The only place that makes input: `tests/it/architecture.rs` holds it to that. Nothing goes to windows that are not shown, to
//! terminals, and to what asks the user for an approval.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bailiwick_platform::screen::{
    Displays, InputDone, InputMode, InputScene, InputStep, Point, Receiver, Rect, ScreenError, Window,
    ancestors,
};
use bailiwick_policy::{Scope, ScreenRules, is_terminal};

use super::shot::withheld;

/// Nobody else may have used pointer and keyboard for so long, in milliseconds.
pub const QUIET_MS: u64 = 1_000;

/// Where the pointer is to go.
#[derive(Debug, Clone, PartialEq)]
pub enum InputPoint {
    /// A point of the display.
    Display(Point),
    /// A point of a window's content, in its pixels.
    Window(String, Point),
    /// A part of a window's content or of the display, from 0 to 1.
    Unit(Option<String>, f64, f64),
}

/// One step, before it is known where windows are.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// The pointer goes somewhere.
    Move(InputPoint),
    /// Any step that needs no place.
    Step(InputStep),
}

/// What is to be done in one instant.
#[derive(Debug, Clone, Default)]
pub struct InputOrder {
    /// The steps.
    pub acts: Vec<Act>,
    /// The window that has to be at every point, or has to have the keyboard.
    pub window: Option<String>,
    /// The window that has to have the keyboard still, since a part was typed into it.
    pub focused: Option<String>,
    /// Whether what is done continues what this began, so that nobody is asked to be quiet.
    pub is_continued: bool,
    /// Whether letters are typed, which Caps Lock changes.
    pub types_letters: bool,
}

/// Why there was no input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputError {
    /// The display did not do it.
    Screen(ScreenError),
    /// The rules close the window.
    Withheld,
    /// The window is a terminal, or has one in it.
    Terminal,
    /// The window is one in which the user answers Bailiwick, or runs it.
    Prompt,
    /// Something that is no window anybody knows is there.
    Unknown,
    /// Another window is at the point; with its name, if the scope shows it.
    Occluded(Option<String>),
    /// No window is at the point, or none has the keyboard.
    Nothing,
    /// Another window has the keyboard; with its name, if the scope shows it.
    NotFocused(Option<String>),
    /// Somebody else uses pointer or keyboard.
    UserActive,
    /// Another program has pointer or keyboard to itself.
    Grabbed,
    /// Caps Lock is on.
    CapsLock,
    /// The point is not within what it is said to be in.
    Outside(String, Rect),
    /// The window is gone.
    Gone(String),
}

impl From<ScreenError> for InputError {
    fn from(error: ScreenError) -> Self {
        Self::Screen(error)
    }
}

/// What was judged, and what was done.
#[derive(Debug, Clone)]
pub struct InputSeen {
    /// What came of it.
    pub done: InputDone,
    /// The display at that instant.
    pub scene: InputScene,
}

impl InputSeen {
    /// Returns a receiver, without its window if the rules do not show that.
    pub fn shown(&self, rules: &ScreenRules, receiver: &Receiver) -> Receiver {
        let is_closed = withheld(rules, &self.scene.windows);
        Receiver { window: receiver.window.filter(|at| !is_closed[*at]), ..receiver.clone() }
    }
}

/// Who must get nothing, beside what the rules of a scope say: the processes that Bailiwick runs in.
#[derive(Debug, Clone)]
pub struct ClosedProcesses(BTreeSet<u32>);

impl ClosedProcesses {
    /// Finds the processes that this one and every other process of the program comes from: the clients and the terminals in
    /// which they run.
    pub fn find(program: &std::path::Path) -> Self {
        let of = |pid: u32| ancestors(pid).into_iter().map(|it| it.pid).chain([pid]);
        let own = std::process::id();
        let others = bailiwick_platform::screen::processes_of(program);
        let above = others.into_iter().chain([own]).flat_map(of);
        // What is above them all is the session, which is not theirs.
        Self(above.collect())
    }

    /// Returns whether a process is one of them.
    pub fn has(&self, pid: Option<u32>) -> bool {
        pid.is_some_and(|pid| self.0.contains(&pid))
    }
}

/// Makes input if every receiver of it may get it at that instant; with [`InputMode::Judge`] it is judged only.
///
/// # Errors
/// [`InputError`]. Nothing was done then, unless it is of the display.
pub fn act(
    displays: &Displays,
    scope: &Arc<Scope>,
    closed: &Arc<ClosedProcesses>,
    display: &str,
    order: InputOrder,
    mode: InputMode,
) -> Result<InputSeen, InputError> {
    let order = Arc::new(order);
    let found: Arc<Mutex<Option<Result<InputScene, InputError>>>> = Arc::default();
    let plan = {
        let (order, found, scope) = (Arc::clone(&order), Arc::clone(&found), Arc::clone(scope));
        move |windows: &[Window], bounds: Rect| {
            // A window that is not shown does not even show its size.
            let is_closed = withheld(scope.screen(), windows);
            let steps: Result<Vec<InputStep>, InputError> =
                order.acts.iter().map(|act| step(act, windows, &is_closed, bounds)).collect();
            steps.map_err(|error| *lock(&found) = Some(Err(error))).ok()
        }
    };
    let judge = {
        let (order, found, scope, closed) =
            (Arc::clone(&order), Arc::clone(&found), Arc::clone(scope), Arc::clone(closed));
        move |scene: &InputScene| {
            let judged = judge(&scope, &closed, &order, scene);
            let may = judged.is_ok();
            *lock(&found) = Some(judged.map(|()| scene.clone()));
            may
        }
    };
    let done = displays.act_if(display, Box::new(plan), Box::new(judge), mode);
    let found = lock(&found).take();
    match (done, found) {
        (Ok(done), Some(Ok(scene))) => Ok(InputSeen { done, scene }),
        (Err(ScreenError::Refused(_)), Some(Err(error))) => Err(error),
        (Err(error), _) => Err(error.into()),
        (Ok(_), _) => Err(InputError::Unknown),
    }
}

/// Releases what is down.
///
/// # Errors
/// [`ScreenError`]; then the guard of the display does it.
pub fn release(displays: &Displays, display: &str) -> Result<(), ScreenError> {
    displays.release_input(display)
}

fn step(act: &Act, windows: &[Window], is_closed: &[bool], bounds: Rect) -> Result<InputStep, InputError> {
    match act {
        Act::Step(step) => Ok(step.clone()),
        Act::Move(spot) => place(spot, windows, is_closed, bounds).map(InputStep::Move),
    }
}

/// Returns the point of the display that is meant.
fn place(
    spot: &InputPoint,
    windows: &[Window],
    is_closed: &[bool],
    bounds: Rect,
) -> Result<Point, InputError> {
    let content = |id: &String| {
        let at = windows.iter().position(|window| window.id == *id);
        let at = at.ok_or_else(|| InputError::Gone(id.clone()))?;
        if is_closed[at] { Err(InputError::Withheld) } else { Ok(windows[at].bounds) }
    };
    let (point, within) = match spot {
        InputPoint::Display(point) => (*point, bounds),
        InputPoint::Window(id, at) => {
            let content = content(id)?;
            let size = Rect::new(0, 0, content.width, content.height);
            if !size.contains(&Rect::new(at.x, at.y, 1, 1)) {
                return Err(InputError::Outside(format!("{},{}", at.x, at.y), size));
            }
            (Point { x: content.x.saturating_add(at.x), y: content.y.saturating_add(at.y) }, bounds)
        }
        InputPoint::Unit(id, x, y) => {
            let area = id.as_ref().map_or(Ok(bounds), content)?;
            if !(0.0..=1.0).contains(x) || !(0.0..=1.0).contains(y) {
                return Err(InputError::Outside(format!("{x},{y}"), Rect::new(0, 0, 1, 1)));
            }
            (Point { x: area.x + part(*x, area.width), y: area.y + part(*y, area.height) }, bounds)
        }
    };
    match within.contains(&Rect::new(point.x, point.y, 1, 1)) {
        true => Ok(point),
        false => Err(InputError::Outside(format!("{},{}", point.x, point.y), within)),
    }
}

/// Returns the pixel at a part of a length; the last one for 1.
#[expect(clippy::cast_possible_truncation, reason = "a part of a screen's size, which has sixteen bits")]
fn part(part: f64, length: u32) -> i32 {
    let at = (part * f64::from(length)).floor() as i64;
    i32::try_from(at.clamp(0, i64::from(length.saturating_sub(1)))).unwrap_or(i32::MAX)
}

fn judge(
    scope: &Scope,
    closed: &ClosedProcesses,
    order: &InputOrder,
    scene: &InputScene,
) -> Result<(), InputError> {
    let is_closed = withheld(scope.screen(), &scene.windows);
    let named =
        |receiver: &Receiver| receiver.window.filter(|at| !is_closed[*at]).map(|at| &scene.windows[at]);
    let makes_any = !order.acts.is_empty();
    let is_typed = order.acts.iter().any(|act| matches!(act, Act::Step(step) if step.is_of_keyboard()));
    for (_, receiver) in &scene.at_points {
        open(&is_closed, closed, scene, receiver)?;
        if let Some(wanted) = &order.window
            && named(receiver).is_none_or(|window| window.id != *wanted)
        {
            return Err(InputError::Occluded(named(receiver).map(name)));
        }
    }
    // Buttons go to where the pointer is, if it is not moved.
    if makes_any && scene.at_points.is_empty() && !is_typed {
        open(&is_closed, closed, scene, &scene.at_pointer)?;
    }
    if is_typed {
        if scene.focus.is_desktop {
            return Err(InputError::Nothing);
        }
        open(&is_closed, closed, scene, &scene.focus)?;
        let wanted = order.focused.as_ref().or(order.window.as_ref().filter(|_| scene.at_points.is_empty()));
        if let Some(wanted) = wanted
            && named(&scene.focus).is_none_or(|window| window.id != *wanted)
        {
            return Err(InputError::NotFocused(named(&scene.focus).map(name)));
        }
        if order.types_letters && scene.is_caps_lock {
            return Err(InputError::CapsLock);
        }
    }
    if !makes_any {
        return Ok(());
    }
    if scene.is_held
        || scene.idle_ms.is_some_and(|idle| idle < QUIET_MS && !order.is_continued)
        || (order.is_continued && scene.idle_ms.is_some())
    {
        return Err(InputError::UserActive);
    }
    let is_grabbed = if is_typed { scene.is_keyboard_grabbed } else { scene.is_pointer_grabbed };
    if is_grabbed && !is_own_menu(&is_closed, closed, scene) {
        return Err(InputError::Grabbed);
    }
    Ok(())
}

/// Returns whether a grab can only be that of a menu of the program that has the focus: its menu shows, and no window shows that
/// must get nothing.
fn is_own_menu(is_closed: &[bool], closed: &ClosedProcesses, scene: &InputScene) -> bool {
    let Some(active) = scene.windows.iter().find(|window| window.active && window.mapped) else {
        return false;
    };
    let is_menu = |window: &Window| window.unmanaged && window.mapped && window.pid == active.pid;
    let all_open = scene.windows.iter().zip(is_closed).all(|(window, is_closed)| {
        !window.mapped || (!is_closed && !closed.has(window.pid) && !is_terminal(names(window)))
    });
    active.pid.is_some() && scene.windows.iter().any(is_menu) && all_open
}

/// Judges whether something may get input.
fn open(
    is_closed: &[bool],
    closed: &ClosedProcesses,
    scene: &InputScene,
    receiver: &Receiver,
) -> Result<(), InputError> {
    if receiver.is_desktop {
        return Ok(());
    }
    let at = receiver.window.ok_or(InputError::Unknown)?;
    if is_closed[at] {
        return Err(InputError::Withheld);
    }
    let window = &scene.windows[at];
    let within = receiver.inner.iter();
    let inner_names = within.flat_map(|it| it.name.as_deref().into_iter().chain(it.app.as_deref()));
    if is_terminal(names(window).chain(inner_names)) {
        return Err(InputError::Terminal);
    }
    let pids = std::iter::once(window.pid).chain(receiver.inner.iter().map(|it| it.pid));
    for pid in pids {
        if closed.has(pid) {
            return Err(InputError::Prompt);
        }
    }
    // What is in the window belongs to another program, whose windows the rules may close.
    let of_closed = |pid: Option<u32>| {
        let mut all = scene.windows.iter().zip(is_closed);
        pid.is_some() && all.any(|(window, is_closed)| *is_closed && window.pid == pid)
    };
    if receiver.inner.iter().any(|it| of_closed(it.pid)) {
        return Err(InputError::Withheld);
    }
    Ok(())
}

fn names(window: &Window) -> impl Iterator<Item = &str> {
    [window.app.as_str(), window.instance.as_str()].into_iter().chain(window.process.as_deref())
}

/// Returns what a window is called in answers.
pub fn name(window: &Window) -> String {
    if window.app.is_empty() { window.id.clone() } else { format!("{} ({})", window.app, window.id) }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
