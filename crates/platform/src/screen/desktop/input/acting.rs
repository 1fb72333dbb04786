//! Judging input and making it, and releasing what is down.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::super::mapping::Mapping;
use super::super::scene::Scene;
use super::super::servers::{Servers, granted};
use super::super::system;
use super::super::window::SystemWindow;
use super::sending::{
    Event, Foreground, foreground, is_caps_lock, is_down, is_wheel_at_pointer, key_of, last_use, now,
    pointer, send,
};
use super::target::Target;
use crate::screen::virtual_keys::{VirtualKey, character, named_key, shortcut_key, taken_by_system, vk};
use crate::screen::{
    Access, InputDone, InputJudge, InputMode, InputPlan, InputScene, InputStep, KeySymbol, Point, Rect,
    ScreenError, Window,
};
use crate::windows::integrity;

/// How long the pointer may take to get where it was sent.
const ARRIVES_WITHIN: Duration = Duration::from_millis(200);
/// How long is waited between two looks for that.
const PAUSE: Duration = Duration::from_millis(2);
/// The buttons of the pointer and the modifiers, by their numbers.
const HELD: &[u16] = &[1, 2, 4, 5, 6, vk::SHIFT, vk::CONTROL, vk::MENU, vk::LEFT_WINDOWS, vk::RIGHT_WINDOWS];

/// Something that this has down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pressed {
    Button(u8),
    Key(VirtualKey),
}

impl Pressed {
    const fn event(self, is_down: bool) -> Event {
        match self {
            Self::Button(button) => Event::Button(button, is_down),
            Self::Key(key) => Event::Key(key, is_down),
        }
    }
}

#[derive(Debug, Default)]
struct PressedInput {
    pressed: Vec<Pressed>,
    /// The display for which that is down.
    display: String,
    /// When this was last the one that used pointer and keyboard, by the clock of the system.
    last_ms: Option<u32>,
}

/// What this process has down and has to take back.
#[derive(Debug, Clone, Default)]
pub(in crate::screen::desktop) struct InputState(Arc<Mutex<PressedInput>>);

impl InputState {
    fn get(&self) -> MutexGuard<'_, PressedInput> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PressedInput {
    fn drop(&mut self) {
        // What cannot be released any more, nobody waits for.
        let _ = self.release();
    }
}

/// Until when something is done: who has asked for it may have given up.
#[derive(Debug, Clone)]
struct Term {
    until: Instant,
    is_over: Arc<AtomicBool>,
}

impl Term {
    fn check(&self, display: &str) -> Result<(), ScreenError> {
        if self.is_over.load(Ordering::Acquire) || Instant::now() >= self.until {
            return Err(ScreenError::Timeout(display.to_owned()));
        }
        Ok(())
    }
}

impl Servers {
    pub(in crate::screen) fn act_if(
        &self,
        display: &str,
        plan: InputPlan,
        judge: InputJudge,
        mode: InputMode,
    ) -> Result<InputDone, ScreenError> {
        let (state, id) = (self.input.clone(), display.to_owned());
        let term = Term { until: Instant::now() + system::PATIENCE, is_over: Arc::default() };
        let is_over = Arc::clone(&term.is_over);
        let done = self.ask(system::PATIENCE, move || {
            let mut held = state.get();
            let done = Act { display: &id, term: &term }.run(&mut held, &plan, &judge, &mode);
            if done.is_err() && mode != InputMode::Judge {
                // Whatever of it was done, nothing of it stays down.
                held.release().map_err(|why| failed(&id, why))?;
            }
            done
        });
        is_over.store(true, Ordering::Release);
        done
    }

    pub(in crate::screen) fn release_input(&self, display: &str) -> Result<(), ScreenError> {
        let (state, id) = (self.input.clone(), display.to_owned());
        self.ask(system::PATIENCE, move || {
            let mut held = state.get();
            let has_any = !held.pressed.is_empty();
            held.release().map_err(|why| failed(&id, why))?;
            if has_any {
                held.last_ms = Some(now());
            }
            Ok(())
        })
    }
}

impl PressedInput {
    /// Releases what is down. Nobody is asked: what is down is there by this.
    fn release(&mut self) -> Result<(), String> {
        let ups: Vec<Event> = self.pressed.iter().rev().map(|it| it.event(false)).collect();
        if ups.is_empty() {
            return Ok(());
        }
        send(&ups)?;
        self.pressed.clear();
        Ok(())
    }

    fn press(&mut self, pressed: Pressed, before: &[Event]) -> Result<(), String> {
        // It is noted first: what was sent may be down, whatever is said of it.
        self.pressed.push(pressed);
        let events: Vec<Event> = before.iter().copied().chain([pressed.event(true)]).collect();
        send(&events)
    }

    fn lift(&mut self, pressed: Pressed) -> Result<(), String> {
        send(&[pressed.event(false)])?;
        self.pressed.retain(|it| *it != pressed);
        Ok(())
    }

    fn holds_button(&self) -> bool {
        self.pressed.iter().any(|it| matches!(it, Pressed::Button(_)))
    }
}

/// One use of pointer and keyboard.
struct Act<'a> {
    display: &'a str,
    term: &'a Term,
}

/// What was judged, by the numbers of windows.
struct JudgedTargets {
    windows: Vec<SystemWindow>,
    /// The corner of the display among all.
    corner: Point,
    at_pointer: Target,
    at_points: Vec<(Point, Target)>,
    focus: Target,
}

impl Act<'_> {
    fn run(
        &self,
        held: &mut PressedInput,
        plan: &InputPlan,
        judge: &InputJudge,
        mode: &InputMode,
    ) -> Result<InputDone, ScreenError> {
        self.term.check(self.display)?;
        granted()?;
        let scene = Scene::read()?;
        let monitor = scene
            .monitor(self.display)
            .ok_or_else(|| ScreenError::UnknownDisplay(self.display.to_owned()))?;
        let (id, mapping) = (monitor.id(None), monitor.mapping());
        let told = scene.windows.unwrap_or_default();
        let windows: Vec<Window> =
            told.iter().enumerate().map(|(at, it)| it.window(&id, &mapping, at)).collect();
        let bounds = Rect::new(0, 0, mapping.width, mapping.height);
        let refused = || ScreenError::Refused(String::new());
        let steps = plan(&windows, bounds).ok_or_else(refused)?;
        let (scene, judged) = self.look(held, (told, windows), (&mapping, bounds), &steps)?;
        if !judge(&scene) {
            return Err(refused());
        }
        self.check_steps(held, &judged, &steps)?;
        if *mode == InputMode::Judge || steps.is_empty() {
            return Ok(InputDone { typed: 0, held: held.pressed.len() });
        }
        self.display.clone_into(&mut held.display);
        let typed = self.make(held, &judged, &steps)?;
        held.last_ms = Some(now());
        Ok(InputDone { typed, held: held.pressed.len() })
    }

    /// Finds out what is at each point, what has the keyboard, and who uses them.
    fn look(
        &self,
        held: &PressedInput,
        (told, windows): (Vec<SystemWindow>, Vec<Window>),
        (mapping, bounds): (&Mapping, Rect),
        steps: &[InputStep],
    ) -> Result<(InputScene, JudgedTargets), ScreenError> {
        let corner = mapping.place.origin();
        let at = pointer().ok_or_else(|| self.failed("Windows does not say where the pointer is"))?;
        let points = steps.iter().filter_map(|step| match step {
            InputStep::Move(point) => Some(*point),
            _ => None,
        });
        let at_points: Vec<(Point, Target)> =
            points.map(|point| (point, Target::at(moved(point, corner)))).collect();
        let (front, at_pointer) = (foreground(), Target::at(at));
        let focus = Target::of_keyboard(front);
        let is_own = held.display == self.display || held.pressed.is_empty();
        let scene = InputScene {
            bounds,
            pointer: Point { x: at.x.saturating_sub(corner.x), y: at.y.saturating_sub(corner.y) },
            at_pointer: at_pointer.receiver(&told),
            focus: focus.receiver(&told),
            at_points: at_points.iter().map(|(point, target)| (*point, target.receiver(&told))).collect(),
            idle_ms: self.idle(held)?,
            // What this holds itself, for another display, is somebody else's too.
            is_held: !is_own || (held.pressed.is_empty() && HELD.iter().any(|it| is_down(*it))),
            is_caps_lock: is_caps_lock(),
            is_pointer_grabbed: is_pointer_taken(front, held),
            is_keyboard_grabbed: front.is_in_menu,
            shape: None,
            windows,
        };
        Ok((scene, JudgedTargets { windows: told, corner, at_pointer, at_points, focus }))
    }

    /// Returns for how long nobody but this has used pointer and keyboard; `None` if nobody has since.
    fn idle(&self, held: &PressedInput) -> Result<Option<u64>, ScreenError> {
        let used = last_use().ok_or_else(|| self.failed("Windows does not say when it was used last"))?;
        // The clock begins again at 0 after seven weeks.
        let is_own = held.last_ms.is_some_and(|own| own.wrapping_sub(used) < u32::MAX / 2);
        Ok((!is_own).then(|| u64::from(now().wrapping_sub(used))))
    }

    /// Refuses what Windows cannot be told, or would do elsewhere, before anything is done.
    fn check_steps(
        &self,
        held: &PressedInput,
        judged: &JudgedTargets,
        steps: &[InputStep],
    ) -> Result<(), ScreenError> {
        let unsupported =
            |why: &str| Err(ScreenError::NoAccess(Access::Unsupported { why: format!("on Windows {why}") }));
        let mut down: Vec<u16> = held.pressed.iter().filter_map(|it| key_number(*it)).collect();
        for step in steps {
            match step {
                InputStep::PressKey(symbol) => {
                    let (key, _) = self.key(*symbol)?;
                    if let Some(why) = taken_by_system(&down, key.number) {
                        return unsupported(why);
                    }
                    down.push(key.number);
                }
                InputStep::ReleaseKey(symbol) => {
                    let (key, _) = self.key(*symbol)?;
                    down.retain(|it| *it != key.number);
                }
                InputStep::Press(4..=7) if !is_wheel_at_pointer() && judged.pointed() != &judged.focus => {
                    return unsupported(
                        "the wheel turns what has the keyboard, as its settings say: give the window the keyboard first",
                    );
                }
                InputStep::Press(1..=7) | InputStep::Release(_) => {}
                InputStep::Press(_) => return unsupported("no such button is known"),
                InputStep::Move(_) | InputStep::Type(_) | InputStep::Prepare(_) => {}
            }
        }
        let is_typed = steps.iter().any(InputStep::is_of_keyboard);
        let points = judged.at_points.iter().map(|(_, target)| target);
        let targets = points.chain([&judged.at_pointer]).chain(is_typed.then_some(&judged.focus));
        let pids: BTreeSet<u32> = targets.flat_map(|target| target.pids().iter().copied()).collect();
        self.check_rights(&pids)
    }

    /// Refuses programs with more rights than this: Windows drops what is sent to them, and does not say so.
    fn check_rights(&self, pids: &BTreeSet<u32>) -> Result<(), ScreenError> {
        // One that does not say its own has none to compare with.
        let Some(own) = integrity(std::process::id()) else { return Ok(()) };
        if pids.iter().all(|pid| integrity(*pid).is_some_and(|it| it <= own)) {
            return Ok(());
        }
        Err(self.failed(
            "the program runs with more rights than Bailiwick, as an administrator or another user: Windows lets nothing reach it",
        ))
    }

    /// Makes the steps. Returns how many characters were typed.
    fn make(
        &self,
        held: &mut PressedInput,
        judged: &JudgedTargets,
        steps: &[InputStep],
    ) -> Result<usize, ScreenError> {
        let (mut typed, mut moves) = (0, judged.at_points.iter());
        let mut spot: Option<(Point, &Target)> = None;
        for step in steps {
            self.term.check(self.display)?;
            let done = match step {
                InputStep::Move(_) => {
                    let Some((point, target)) = moves.next() else { continue };
                    let point = moved(*point, judged.corner);
                    send(&[Event::Move(point)]).map_err(|why| self.failed(why))?;
                    self.await_pointer(point)?;
                    spot = Some((point, target));
                    Ok(())
                }
                InputStep::Press(button) => {
                    let at = self.at_pointer(judged, spot)?;
                    match button {
                        4..=7 => send(&[Event::Move(at), Event::Wheel(*button)]),
                        // With the place, so that a hand on the pointer cannot lead it elsewhere between.
                        _ => held.press(Pressed::Button(*button), &[Event::Move(at)]),
                    }
                }
                InputStep::Release(4..=7) | InputStep::Prepare(_) => Ok(()),
                InputStep::Release(button) => held.lift(Pressed::Button(*button)),
                InputStep::PressKey(symbol) => {
                    let (key, needs_shift) = self.key(*symbol)?;
                    if !is_focused(judged) {
                        return Err(self.failed("another window has got the keyboard meanwhile"));
                    }
                    let shift = needs_shift.then_some(SHIFT);
                    shift.into_iter().chain([key]).try_for_each(|key| held.press(Pressed::Key(key), &[]))
                }
                InputStep::ReleaseKey(symbol) => {
                    let (key, needs_shift) = self.key(*symbol)?;
                    let shift = needs_shift.then_some(SHIFT);
                    [key].into_iter().chain(shift).try_for_each(|key| held.lift(Pressed::Key(key)))
                }
                InputStep::Type(text) => {
                    let mut left = text.iter().take_while(|_| is_focused(judged));
                    left.try_for_each(|it| type_one(*it).map(|()| typed += 1))
                }
            };
            done.map_err(|why| self.failed(why))?;
        }
        Ok(typed)
    }

    /// Waits until the pointer is where it was sent. Some programs keep it where they are.
    fn await_pointer(&self, wanted: Point) -> Result<(), ScreenError> {
        let until = Instant::now() + ARRIVES_WITHIN;
        while pointer() != Some(wanted) {
            if Instant::now() >= until {
                return Err(self.failed(format!(
                    "the pointer did not get to {},{}: the user moves it, or a program keeps it",
                    wanted.x, wanted.y
                )));
            }
            thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Returns where the pointer is, if there is at this moment what was judged.
    fn at_pointer(
        &self,
        judged: &JudgedTargets,
        spot: Option<(Point, &Target)>,
    ) -> Result<Point, ScreenError> {
        let here = || pointer().map(|point| (point, &judged.at_pointer));
        let (point, target) = spot.or_else(here).ok_or_else(|| self.failed("the pointer is nowhere"))?;
        if Target::at(point) != *target || !target.is_as_judged(&judged.windows) {
            return Err(self.failed("another window has come to the point meanwhile"));
        }
        Ok(point)
    }

    /// Returns the key of a symbol, and whether it needs Shift.
    fn key(&self, symbol: KeySymbol) -> Result<(VirtualKey, bool), ScreenError> {
        if let Some(key) = named_key(symbol) {
            return Ok((key, false));
        }
        let of_layout =
            character(symbol).and_then(|it| key_of(it).or(shortcut_key(it).map(|key| (key, false))));
        let (number, needs_shift) = of_layout.ok_or_else(|| self.failed("no key makes this symbol"))?;
        Ok((VirtualKey { number, is_extended: false }, needs_shift))
    }

    fn failed(&self, why: impl Into<String>) -> ScreenError {
        failed(self.display, why.into())
    }
}

const SHIFT: VirtualKey = VirtualKey { number: vk::SHIFT, is_extended: false };

impl JudgedTargets {
    /// Returns what is at the pointer once it has been moved.
    fn pointed(&self) -> &Target {
        self.at_points.last().map_or(&self.at_pointer, |(_, target)| target)
    }
}

/// Returns whether what was judged has the keyboard at this moment.
fn is_focused(judged: &JudgedTargets) -> bool {
    Target::of_keyboard(foreground()) == judged.focus && judged.focus.is_as_judged(&judged.windows)
}

/// Returns whether another program has the pointer to itself. A button that is down gives it to the window in which it was pressed.
fn is_pointer_taken(front: Foreground, held: &PressedInput) -> bool {
    (front.is_in_menu || front.has_pointer) && !held.holds_button()
}

/// Types a character, whatever keys there are.
fn type_one(character: char) -> Result<(), String> {
    if let Some(key) = matches!(character, '\n' | '\t').then(|| named_key(KeySymbol::of(character))).flatten()
    {
        return send(&[Event::Key(key, true), Event::Key(key, false)]);
    }
    let mut units = [0; 2];
    let units = character.encode_utf16(&mut units).iter();
    let events: Vec<Event> =
        units.flat_map(|unit| [Event::Unit(*unit, true), Event::Unit(*unit, false)]).collect();
    send(&events)
}

const fn key_number(pressed: Pressed) -> Option<u16> {
    match pressed {
        Pressed::Key(key) => Some(key.number),
        Pressed::Button(_) => None,
    }
}

/// Returns a point of a display among all displays.
const fn moved(point: Point, corner: Point) -> Point {
    Point { x: point.x.saturating_add(corner.x), y: point.y.saturating_add(corner.y) }
}

fn failed(display: &str, why: String) -> ScreenError {
    ScreenError::Failed { display: display.to_owned(), step: "the input", why }
}

#[cfg(test)]
mod tests;
