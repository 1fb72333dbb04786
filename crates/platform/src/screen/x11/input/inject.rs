//! Judging input and making it in one instant, and releasing what is down.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::protocol::xfixes::ConnectionExt as _;
use x11rb::protocol::xproto::{
    AutoRepeatMode, BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ChangeKeyboardControlAux, ConnectionExt as _,
    KEY_PRESS_EVENT, KEY_RELEASE_EVENT, MOTION_NOTIFY_EVENT, Window as WindowNumber,
};
use x11rb::protocol::xtest::{self, ConnectionExt as _};

use super::super::banner;
use super::super::error::ServerError;
use super::super::scene;
use super::super::server::{PATIENCE, Server};
use super::guard::{Guard, Record};
use super::keymap::{self, Keymap, Stroke};
use super::seat;
use super::state::Pressed;
use super::target;
use crate::screen::{
    Access, InputDone, InputJudge, InputMode, InputPlan, InputScene, InputStep, KeySymbol, Point, Rect,
    ScreenError, Sources, Window,
};

/// What is to be done, and by whose leave.
pub(in crate::screen::x11) struct Order<'a> {
    pub plan: &'a InputPlan,
    pub judge: &'a InputJudge,
    pub mode: &'a InputMode,
    /// Whether it was begun: it is never begun twice.
    pub has_begun: &'a AtomicBool,
    pub sources: &'a Sources,
}

/// Reads the display, has the plan judged and done, while no other client of the server can do anything.
pub(in crate::screen::x11) fn act(
    server: &mut Server,
    screen: usize,
    order: &Order<'_>,
) -> Result<InputDone, ServerError> {
    if order.has_begun.load(Ordering::Relaxed) {
        return Err(failed(server, "the connection was lost while it was made: a part of it may be done"));
    }
    prepare(server, order)?;
    let root = server.roots()[screen].root;
    // It takes a moment, and cannot be taken back where that is over in the middle of it. What was made ready has taken its time.
    server.begin(Instant::now() + PATIENCE, PATIENCE);
    let hidden = hidden(server)?;
    server.alone(|server| {
        let scene = scene::read(server, screen, scene::ask(server, root)?)?;
        let windows: Vec<Window> = scene.windows.iter().map(|placed| placed.window.clone()).collect();
        let geometry = server.connection.get_geometry(root)?.reply()?;
        let bounds = Rect::new(0, 0, geometry.width.into(), geometry.height.into());
        let seat = seat::read(server, root, hidden)?;
        let refused = || ServerError::from(ScreenError::Refused(String::new()));
        let steps = (order.plan)(&windows, bounds).ok_or_else(refused)?;
        let at = |point: Point| target::at_point(server, root, &scene.windows, point);
        let at_pointer = at(seat.pointer)?;
        let points = steps.iter().filter_map(|step| match step {
            InputStep::Move(point) => Some(*point),
            _ => None,
        });
        let at_points = points.map(|point| Ok((point, at(point)?))).collect::<Result<_, ServerError>>()?;
        let focus = target::focus(server, root, &scene.windows, &at_pointer)?;
        let judged = InputScene {
            windows,
            bounds,
            pointer: seat.pointer,
            at_pointer,
            focus,
            at_points,
            idle_ms: seat.idle_ms,
            is_held: seat.is_held,
            is_caps_lock: seat.is_caps_lock,
            is_pointer_grabbed: seat.is_pointer_grabbed,
            is_keyboard_grabbed: seat.is_keyboard_grabbed,
            shape: if steps.is_empty() { shape(server) } else { None },
        };
        if !(order.judge)(&judged) {
            return Err(refused());
        }
        let banner = match order.mode {
            InputMode::Act(banner) if !steps.is_empty() => banner,
            _ => return Ok(InputDone { typed: 0, held: server.input.pressed.len() }),
        };
        order.has_begun.store(true, Ordering::Relaxed);
        if let Some(text) = banner {
            let at = judged.at_points.last().map_or(judged.pointer, |(point, _)| *point);
            banner::show(server, screen, text, (bounds, at), &scene.pile)?;
        }
        let typed = make(server, root, seat.group, &steps)?;
        seat::note_own(server)?;
        Ok(InputDone { typed, held: server.input.pressed.len() })
    })
}

/// Releases what is down. Nobody is asked: what is down is there by this.
pub(in crate::screen::x11) fn release(server: &mut Server) -> Result<(), ServerError> {
    let has_any = !server.input.pressed.is_empty();
    let bound = std::mem::take(&mut server.input.bound);
    let released = release_all(server);
    server.input.bound = bound;
    released?;
    if has_any {
        seat::note_own(server)?;
    }
    Ok(())
}

/// Takes the meanings away that key codes were given, once nothing was typed for a while.
pub(in crate::screen::x11) fn tidy(server: &mut Server) -> Result<(), ServerError> {
    if server.input.pressed.is_empty() && server.input.due_in().is_some_and(|due| due.is_zero()) {
        release_all(server)?;
    }
    Ok(())
}

/// Releases what is down, has keys repeat again, and takes away the meanings that key codes were given.
pub(super) fn release_all(server: &mut Server) -> Result<(), ServerError> {
    let root = server.roots().first().map_or(x11rb::NONE, |root| root.root);
    let pressed = std::mem::take(&mut server.input.pressed);
    let quiet = std::mem::take(&mut server.input.quiet);
    let codes: Vec<u8> = std::mem::take(&mut server.input.bound).into_keys().collect();
    for it in pressed.iter().rev() {
        fake(server, root, *it, false)?;
    }
    for code in &quiet {
        set_repeat(server, *code, AutoRepeatMode::ON)?;
    }
    keymap::unbind(server, &codes)?;
    server.connection.flush()?;
    server.connection.get_input_focus()?.reply()?;
    let ups = pressed.into_iter().map(Record::Up).chain(quiet.into_iter().map(Record::Repeats));
    note(server, &ups.chain(codes.into_iter().map(Record::Unbound)).collect::<Vec<_>>())
}

/// Returns whether something is down.
pub(super) fn is_down(server: &Server, pressed: Pressed) -> Result<bool, ServerError> {
    Ok(match pressed {
        Pressed::Key(code) => {
            let keys = server.connection.query_keymap()?.reply()?.keys;
            keys[usize::from(code / 8)] & 1 << (code % 8) != 0
        }
        Pressed::Button(button @ 1..=5) => {
            let root = server.roots().first().map_or(x11rb::NONE, |root| root.root);
            let state = u16::from(server.connection.query_pointer(root)?.reply()?.mask);
            state & 1 << (7 + u16::from(button)) != 0
        }
        // The server does not say of other buttons.
        Pressed::Button(_) => false,
    })
}

/// Makes ready what input needs: the extension, the clocks, and the guard.
fn prepare(server: &mut Server, order: &Order<'_>) -> Result<(), ServerError> {
    let unsupported = |why: &str| -> ServerError {
        ScreenError::NoAccess(Access::Unsupported { why: why.to_owned() }).into()
    };
    if server.connection.extension_information(xtest::X11_EXTENSION_NAME)?.is_none() {
        return Err(unsupported("the display takes no input by programs (it lacks the extension XTEST)"));
    }
    seat::find_counters(server)?;
    if server.input.counters.is_none() {
        return Err(unsupported("the display does not tell when pointer and keyboard were used last"));
    }
    if *order.mode == InputMode::Judge || server.input.guard.as_mut().is_some_and(|it| !it.has_ended()) {
        return Ok(());
    }
    let program = order.sources.guard.as_deref();
    let program = program.ok_or_else(|| unsupported("nothing is there that would release keys"))?;
    server.input.guard = Some(Guard::start(program, &server.id, order.sources)?);
    Ok(())
}

fn hidden(server: &mut Server) -> Result<WindowNumber, ServerError> {
    if let Some(hidden) = server.input.hidden {
        return Ok(hidden);
    }
    let hidden = server.create_hidden_window()?;
    server.input.hidden = Some(hidden);
    Ok(hidden)
}

/// Makes the steps. Returns how many characters were typed.
fn make(
    server: &mut Server,
    root: WindowNumber,
    group: u8,
    steps: &[InputStep],
) -> Result<usize, ServerError> {
    let mut keymap = match steps.iter().any(InputStep::is_of_keyboard) {
        true => Some(Keymap::read(server, group)?),
        false => None,
    };
    if let Some(keymap) = &mut keymap {
        let wanted: Vec<KeySymbol> = steps.iter().flat_map(symbols).collect();
        keymap::bind(server, keymap, &wanted)?;
    }
    let mut typed = 0;
    for step in steps {
        match step {
            InputStep::Move(point) => {
                let coordinate = |value: i32| i16::try_from(value).unwrap_or(i16::MAX);
                let (x, y) = (coordinate(point.x), coordinate(point.y));
                server.connection.xtest_fake_input(MOTION_NOTIFY_EVENT, 0, 0, root, x, y, 0)?;
            }
            InputStep::Press(button) => press(server, root, Pressed::Button(*button))?,
            InputStep::Release(button) => lift(server, root, Pressed::Button(*button))?,
            InputStep::PressKey(symbol) => {
                let stroke = key(server, keymap.as_ref(), *symbol)?;
                if repeats(server, stroke.code)? {
                    note(server, &[Record::Quiet(stroke.code)])?;
                    server.input.quiet.push(stroke.code);
                    set_repeat(server, stroke.code, AutoRepeatMode::OFF)?;
                }
                if let Some(shift) = keymap.as_ref().and_then(|it| it.shift).filter(|_| stroke.is_shifted) {
                    press(server, root, Pressed::Key(shift))?;
                }
                press(server, root, Pressed::Key(stroke.code))?;
            }
            InputStep::ReleaseKey(symbol) => {
                let stroke = key(server, keymap.as_ref(), *symbol)?;
                lift(server, root, Pressed::Key(stroke.code))?;
                if let Some(shift) = keymap.as_ref().and_then(|it| it.shift).filter(|_| stroke.is_shifted) {
                    lift(server, root, Pressed::Key(shift))?;
                }
                if server.input.quiet.contains(&stroke.code) {
                    set_repeat(server, stroke.code, AutoRepeatMode::ON)?;
                    server.input.quiet.retain(|code| *code != stroke.code);
                    note(server, &[Record::Repeats(stroke.code)])?;
                }
            }
            InputStep::Prepare(_) => {}
            InputStep::Type(text) => {
                let known = keymap.as_ref();
                let stroke =
                    |it: &char| known.and_then(|all| keymap::stroke(server, all, KeySymbol::of(*it)));
                // What there was no room for comes with a later request.
                let strokes: Vec<Stroke> = text.iter().map_while(stroke).collect();
                type_strokes(server, root, &strokes, known.and_then(|it| it.shift))?;
                typed += strokes.len();
            }
        }
    }
    server.connection.flush()?;
    Ok(typed)
}

fn symbols(step: &InputStep) -> Vec<KeySymbol> {
    match step {
        InputStep::PressKey(symbol) => vec![*symbol],
        InputStep::Type(text) | InputStep::Prepare(text) => {
            text.iter().map(|it| KeySymbol::of(*it)).collect()
        }
        InputStep::Move(_) | InputStep::Press(_) | InputStep::Release(_) | InputStep::ReleaseKey(_) => {
            Vec::new()
        }
    }
}

fn key(server: &mut Server, keymap: Option<&Keymap>, symbol: KeySymbol) -> Result<Stroke, ServerError> {
    let stroke = keymap.and_then(|keymap| keymap::stroke(server, keymap, symbol));
    stroke.ok_or_else(|| failed(server, "no key makes this symbol"))
}

/// Presses and releases keys, with Shift where that is needed.
fn type_strokes(
    server: &mut Server,
    root: WindowNumber,
    strokes: &[Stroke],
    shift: Option<u8>,
) -> Result<(), ServerError> {
    let shift = |stroke: &Stroke| shift.filter(|_| stroke.is_shifted).map(Pressed::Key);
    let all = strokes.iter().flat_map(|it| shift(it).into_iter().chain([Pressed::Key(it.code)]));
    let all: BTreeSet<Pressed> = all.collect();
    note(server, &all.iter().copied().map(Record::Down).collect::<Vec<_>>())?;
    for stroke in strokes {
        let (shift, key) = (shift(stroke), Pressed::Key(stroke.code));
        if let Some(shift) = shift {
            fake(server, root, shift, true)?;
        }
        fake(server, root, key, true)?;
        fake(server, root, key, false)?;
        if let Some(shift) = shift {
            fake(server, root, shift, false)?;
        }
    }
    server.connection.get_input_focus()?.reply()?;
    note(server, &all.into_iter().map(Record::Up).collect::<Vec<_>>())
}

fn press(server: &mut Server, root: WindowNumber, pressed: Pressed) -> Result<(), ServerError> {
    note(server, &[Record::Down(pressed)])?;
    server.input.pressed.push(pressed);
    fake(server, root, pressed, true)
}

fn lift(server: &mut Server, root: WindowNumber, pressed: Pressed) -> Result<(), ServerError> {
    fake(server, root, pressed, false)?;
    server.input.pressed.retain(|it| *it != pressed);
    // Only what the server has done is taken off the list.
    server.connection.get_input_focus()?.reply()?;
    note(server, &[Record::Up(pressed)])
}

fn fake(server: &Server, root: WindowNumber, pressed: Pressed, is_down: bool) -> Result<(), ServerError> {
    let (kind, detail) = match (pressed, is_down) {
        (Pressed::Key(code), true) => (KEY_PRESS_EVENT, code),
        (Pressed::Key(code), false) => (KEY_RELEASE_EVENT, code),
        (Pressed::Button(button), true) => (BUTTON_PRESS_EVENT, button),
        (Pressed::Button(button), false) => (BUTTON_RELEASE_EVENT, button),
    };
    server.connection.xtest_fake_input(kind, detail, 0, root, 0, 0, 0)?;
    Ok(())
}

/// Returns whether a key repeats while it is down: most modifiers do not.
fn repeats(server: &Server, code: u8) -> Result<bool, ServerError> {
    let repeats = server.connection.get_keyboard_control()?.reply()?.auto_repeats;
    Ok(repeats[usize::from(code / 8)] & 1 << (code % 8) != 0)
}

fn set_repeat(server: &Server, code: u8, mode: AutoRepeatMode) -> Result<(), ServerError> {
    let change = ChangeKeyboardControlAux::new().key(u32::from(code)).auto_repeat_mode(mode);
    server.connection.change_keyboard_control(&change)?;
    Ok(())
}

/// Returns what the pointer looks like, by the name that its program gave it.
fn shape(server: &Server) -> Option<String> {
    server.connection.xfixes_query_version(4, 0).ok()?.reply().ok()?;
    let image = server.connection.xfixes_get_cursor_image_and_name().ok()?.reply().ok()?;
    let name = crate::screen::plain::plain(&String::from_utf8_lossy(&image.name));
    (!name.is_empty()).then_some(name)
}

fn note(server: &mut Server, records: &[Record]) -> Result<(), ServerError> {
    match &mut server.input.guard {
        Some(guard) if !records.is_empty() => guard.note(records),
        _ => Ok(()),
    }
}

fn failed(server: &Server, why: &str) -> ServerError {
    ScreenError::Failed { display: server.id.clone(), step: "the input", why: why.to_owned() }.into()
}
