//! Pointer and keyboard where nothing can be held still: what gets input is checked once more right before each step, and what is
//! down is released when a step cannot be made.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::hand;
use super::mapping::Mapping;
use super::scene::Scene;
use super::servers::{Servers, granted};
use super::window::SystemWindow;
use crate::screen::{
    InputDone, InputJudge, InputMode, InputPlan, InputScene, InputStep, KeySymbol, Point, Receiver, Rect,
    ScreenError, Window,
};

/// How long all of it may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is judged again because windows changed meanwhile.
const ATTEMPTS: usize = 3;
/// At most so many characters are typed at once; the rest comes with a later request.
const MOST_CHARACTERS: usize = 256;
/// After so many characters what has the keyboard is checked again.
const CHARACTERS_BETWEEN: usize = 16;

/// A point in the system's units of length.
pub(super) type UnitPoint = (f64, f64);

/// Something that is down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pressed {
    /// A key, by its code.
    Key(u16),
    /// A button: 1 left, 2 middle, 3 right.
    Button(u8),
}

/// Who uses pointer and keyboard, as the system says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seat {
    pub pointer: UnitPoint,
    /// Whether a button or a modifier of the devices is down.
    pub is_held: bool,
    pub is_caps_lock: bool,
    /// For how long nobody has used them.
    pub idle: Duration,
    /// Whether a menu is open, which gets what is clicked and typed.
    pub has_menu: bool,
}

/// A click that may be the first of several.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Click {
    button: u8,
    at: UnitPoint,
    count: u8,
}

/// What this has down, and when it made input last.
#[derive(Debug, Default)]
struct HandState {
    pressed: Vec<Pressed>,
    last: Option<Instant>,
}

impl HandState {
    fn button(&self) -> Option<u8> {
        self.pressed.iter().find_map(|it| match it {
            Pressed::Button(button) => Some(*button),
            Pressed::Key(_) => None,
        })
    }

    fn keys(&self) -> impl Iterator<Item = u16> + Clone {
        self.pressed.iter().filter_map(|it| match it {
            Pressed::Key(code) => Some(*code),
            Pressed::Button(_) => None,
        })
    }

    fn press_key(&mut self, code: u16) -> Result<(), String> {
        self.pressed.push(Pressed::Key(code));
        hand::key(code, true, self.keys())
    }

    fn release_key(&mut self, code: u16) -> Result<(), String> {
        self.pressed.retain(|it| *it != Pressed::Key(code));
        hand::key(code, false, self.keys())
    }

    /// Releases all that is down, the last first, and continues where one cannot be.
    fn release_all(&mut self) -> Result<(), String> {
        let mut last = Ok(());
        while let Some(pressed) = self.pressed.pop() {
            let released = match pressed {
                Pressed::Key(code) => hand::key(code, false, self.keys()),
                Pressed::Button(button) => {
                    hand::seat().and_then(|seat| hand::button(button, false, seat.pointer, 1, self.keys()))
                }
            };
            self.last = Some(Instant::now());
            last = last.and(released);
        }
        last
    }
}

/// What this process does with pointer and keyboard.
#[derive(Debug, Clone, Default)]
pub(super) struct Hands(Arc<Mutex<HandState>>);

impl Hands {
    fn state(&self) -> MutexGuard<'_, HandState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Servers {
    #[expect(clippy::unused_self, reason = "other systems ask a display")]
    pub(in crate::screen) fn takes_input(&self) -> Result<(), ScreenError> {
        hand::ready().map_err(ScreenError::NoAccess)
    }

    pub(in crate::screen) fn act_if(
        &self,
        display: &str,
        plan: InputPlan,
        judge: InputJudge,
        mode: InputMode,
    ) -> Result<InputDone, ScreenError> {
        let (hands, display) = (self.hands.clone(), display.to_owned());
        let latest = Instant::now() + PATIENCE;
        self.ask(PATIENCE, move || {
            granted()?;
            hand::ready().map_err(ScreenError::NoAccess)?;
            let mut state = hands.state();
            act(&mut state, &display, (&plan, &judge, &mode), latest)
        })
    }

    pub(in crate::screen) fn release_input(&self, display: &str) -> Result<(), ScreenError> {
        let (hands, display) = (self.hands.clone(), display.to_owned());
        self.ask(PATIENCE, move || hands.state().release_all().map_err(|why| failed(&display, why)))
    }
}

/// What was judged, by which each step is checked again.
struct JudgedScene<'a> {
    told: &'a [SystemWindow],
    mapping: &'a Mapping,
    scene: &'a InputScene,
    latest: Instant,
}

fn act(
    state: &mut HandState,
    display: &str,
    (plan, judge, mode): (&InputPlan, &InputJudge, &InputMode),
    latest: Instant,
) -> Result<InputDone, ScreenError> {
    let refused = || ScreenError::Refused(String::new());
    for _ in 0..ATTEMPTS {
        let scene = Scene::read()?;
        let monitor =
            scene.monitor(display).ok_or_else(|| ScreenError::UnknownDisplay(display.to_owned()))?;
        let mapping = monitor.mapping();
        let told = scene.windows.as_deref().unwrap_or_default();
        let id = monitor.id(None);
        // Those of other displays are outside of this one.
        let described = told.iter().enumerate().map(|(at, told)| told.window(&id, &mapping, at));
        let windows: Vec<Window> = described.collect();
        let bounds = Rect::new(0, 0, mapping.width, mapping.height);
        let steps = plan(&windows, bounds).ok_or_else(refused)?;
        let seat = hand::seat().map_err(|why| failed(display, why))?;
        let at = |place| hand::receiver_at(told, place);
        let points = steps.iter().filter_map(|step| match step {
            InputStep::Move(point) => Some((*point, at(mapping.place_of(*point)))),
            _ => None,
        });
        let judged = InputScene {
            bounds,
            pointer: mapping.pixel_of(seat.pointer),
            at_pointer: at(seat.pointer),
            focus: hand::receiver_of_keys(told),
            at_points: points.collect(),
            idle_ms: idle_ms(&seat, state.last),
            is_held: seat.is_held && state.pressed.is_empty(),
            is_caps_lock: seat.is_caps_lock,
            is_pointer_grabbed: seat.has_menu,
            is_keyboard_grabbed: seat.has_menu,
            shape: None,
            windows,
        };
        if !judge(&judged) {
            return Err(refused());
        }
        let done = |typed, state: &HandState| InputDone { typed, held: state.pressed.len() };
        if *mode == InputMode::Judge || steps.is_empty() {
            return Ok(done(0, state));
        }
        if Scene::read()? != scene {
            continue;
        }
        let judged = JudgedScene { told, mapping: &mapping, scene: &judged, latest };
        let made = make(state, &steps, &judged, seat.pointer);
        state.last = Some(Instant::now());
        return match made {
            Ok(typed) => Ok(done(typed, state)),
            Err(why) => {
                let why = match state.release_all() {
                    Ok(()) => why,
                    Err(more) => format!("{why}; {more}"),
                };
                Err(failed(display, why))
            }
        };
    }
    Err(failed(display, "windows changed again and again while it was judged".to_owned()))
}

/// Returns for how long nobody but this has used pointer and keyboard; nothing if nobody has since.
fn idle_ms(seat: &Seat, last: Option<Instant>) -> Option<u64> {
    let used = Instant::now().checked_sub(seat.idle);
    let is_own = used.zip(last).is_some_and(|(used, last)| used <= last);
    (!is_own).then(|| u64::try_from(seat.idle.as_millis()).unwrap_or(u64::MAX))
}

/// Makes the steps. Returns how many characters were typed.
fn make(
    state: &mut HandState,
    steps: &[InputStep],
    judged: &JudgedScene<'_>,
    pointer: UnitPoint,
) -> Result<usize, String> {
    let (mut pointer, mut receiver) = (pointer, &judged.scene.at_pointer);
    let mut points = judged.scene.at_points.iter();
    let (mut typed, mut click): (usize, Option<Click>) = (0, None);
    for step in steps {
        if Instant::now() >= judged.latest {
            return Err("it took too long: a part of it may be done".to_owned());
        }
        match step {
            InputStep::Move(_) => {
                let (point, there) = points.next().ok_or("a point was not judged")?;
                (pointer, receiver) = (judged.mapping.place_of(*point), there);
                same(&hand::receiver_at(judged.told, pointer), receiver)?;
                hand::move_to(pointer, state.button(), state.keys())?;
            }
            InputStep::Press(wheel @ 4..=7) => {
                same(&hand::receiver_at(judged.told, pointer), receiver)?;
                hand::turn_wheel(*wheel, state.keys())?;
            }
            InputStep::Press(button) => {
                same(&hand::receiver_at(judged.told, pointer), receiver)?;
                let before = click.filter(|it| it.button == *button && it.at == pointer);
                let count = before.map_or(1, |it| it.count.saturating_add(1));
                click = Some(Click { button: *button, at: pointer, count });
                state.pressed.push(Pressed::Button(*button));
                hand::button(*button, true, pointer, count, state.keys())?;
            }
            InputStep::Release(4..=7) | InputStep::Prepare(_) => {}
            InputStep::Release(button) => {
                let count = click.filter(|it| it.button == *button).map_or(1, |it| it.count);
                hand::button(*button, false, pointer, count, state.keys())?;
                state.pressed.retain(|it| *it != Pressed::Button(*button));
            }
            InputStep::PressKey(symbol) => {
                same_focus(judged)?;
                for code in codes(*symbol)? {
                    state.press_key(code)?;
                }
            }
            InputStep::ReleaseKey(symbol) => {
                for code in codes(*symbol)?.into_iter().rev() {
                    state.release_key(code)?;
                }
            }
            InputStep::Type(text) => {
                for part in text[..text.len().min(MOST_CHARACTERS)].chunks(CHARACTERS_BETWEEN) {
                    match same_focus(judged) {
                        Ok(()) => {}
                        // The rest is judged once more with a later request.
                        Err(_) if typed > 0 => return Ok(typed),
                        Err(why) => return Err(why),
                    }
                    for character in part {
                        hand::type_character(*character)?;
                        typed += 1;
                    }
                }
            }
        }
    }
    Ok(typed)
}

/// Returns the codes of the keys that make a symbol, in the order in which they go down.
fn codes(symbol: KeySymbol) -> Result<Vec<u16>, String> {
    hand::codes(symbol).ok_or_else(|| "no key makes this symbol".to_owned())
}

fn same(now: &Receiver, judged: &Receiver) -> Result<(), String> {
    match now.window.is_some() && now == judged {
        true => Ok(()),
        false => Err("another window came to where the pointer is".to_owned()),
    }
}

fn same_focus(judged: &JudgedScene<'_>) -> Result<(), String> {
    if hand::is_secure() {
        return Err("a program reads the keyboard for a secret: only the user types then".to_owned());
    }
    let now = hand::receiver_of_keys(judged.told);
    match now.window.is_some() && now == judged.scene.focus {
        true => Ok(()),
        false => Err("another window got the keyboard".to_owned()),
    }
}

impl Mapping {
    /// Returns the middle of a pixel in the system's units.
    fn place_of(&self, point: Point) -> UnitPoint {
        let unit = |at: i32, from: i32, units: u32, pixels: u32| {
            f64::from(from) + (f64::from(at) + 0.5) * f64::from(units) / f64::from(pixels.max(1))
        };
        (
            unit(point.x, self.place.x, self.place.width, self.width),
            unit(point.y, self.place.y, self.place.height, self.height),
        )
    }

    /// Returns the pixel of a point in the system's units.
    fn pixel_of(&self, (x, y): UnitPoint) -> Point {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "such a cast goes to the nearest number there is"
        )]
        let pixel = |at: f64, from: i32, units: u32, pixels: u32| {
            ((at - f64::from(from)) * f64::from(pixels) / f64::from(units.max(1))).floor() as i32
        };
        Point {
            x: pixel(x, self.place.x, self.place.width, self.width),
            y: pixel(y, self.place.y, self.place.height, self.height),
        }
    }
}

fn failed(display: &str, why: String) -> ScreenError {
    ScreenError::Failed { display: display.to_owned(), step: "the input", why }
}
