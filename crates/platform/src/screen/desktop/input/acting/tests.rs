//! Input to a real window of another program, read back by the clipboard.

use super::super::super::notepad::{Notepad, PATIENCE, eventually};
use super::*;
use crate::screen::{Clipping, ClippingLimits, Judge, Sources, WindowChange, WindowState};

const WHOLE: Rect = Rect { x: 30, y: 40, width: 420, height: 310 };

/// Makes input where a judge says that it may, and waits while others have the processors.
fn act(
    servers: &Servers,
    steps: Vec<InputStep>,
    judge: impl Fn(&InputScene) -> bool + Send + 'static,
) -> Result<InputDone, ScreenError> {
    let display = servers.screen_of(None).expect("a display");
    let plan = move |_: &[Window], _: Rect| Some(steps.clone());
    servers.act_if(&display, Box::new(plan), Box::new(judge), InputMode::Act(None))
}

/// Returns whether keys go to a window, and whatever is pointed at is in it.
fn is_of(id: &str) -> impl Fn(&InputScene) -> bool + Send + 'static {
    let id = id.to_owned();
    move |scene: &InputScene| {
        let is_it = |at: Option<usize>| at.is_some_and(|at| scene.windows[at].id == id);
        is_it(scene.focus.window) && scene.at_points.iter().all(|(_, it)| is_it(it.window))
    }
}

fn chord(modifier: u32, letter: char) -> Vec<InputStep> {
    let (modifier, letter) = (KeySymbol(modifier), KeySymbol::of(letter));
    vec![
        InputStep::PressKey(modifier),
        InputStep::PressKey(letter),
        InputStep::ReleaseKey(letter),
        InputStep::ReleaseKey(modifier),
    ]
}

const CTRL: u32 = 0xffe3;
const SHIFT_SYMBOL: KeySymbol = KeySymbol(0xffe1);

/// Returns what the window has, or what of it is selected, once that is what is expected; at once where nothing is.
fn copied(servers: &Servers, id: &str, is_all: bool, expected: &str) -> String {
    let anyone: Judge = Box::new(|_: &[Window]| true);
    let limits = ClippingLimits { text: 10_000, image: 1 };
    let until = Instant::now() + PATIENCE;
    loop {
        if is_all {
            act(servers, chord(CTRL, 'a'), is_of(id)).expect("it is sent");
        }
        act(servers, chord(CTRL, 'c'), is_of(id)).expect("it is sent");
        thread::sleep(Duration::from_millis(100));
        let text = match servers.read_clipboard(None, None, limits, &anyone) {
            Ok(Clipping { content: Some((_, bytes)), .. }) => {
                String::from_utf8_lossy(&bytes).replace("\r\n", "\n")
            }
            other => format!("{other:?}"),
        };
        if text == expected || expected.is_empty() || Instant::now() >= until {
            return text;
        }
    }
}

fn focus(servers: &Servers, id: &str) {
    let anyone: Judge = Box::new(|_: &[Window]| true);
    servers.change_window(id, WindowChange::Focus, anyone, true).expect("it is asked for");
    let is_so = |it: Option<&Window>| it.is_some_and(|it| it.active && it.state == WindowState::Visible);
    eventually(servers, id, "focused", is_so);
}

fn place(servers: &Servers, id: &str, at: Rect) {
    let (x, y, width, height) = (Some(at.x), Some(at.y), Some(at.width), Some(at.height));
    let anyone: Judge = Box::new(|_: &[Window]| true);
    let change = WindowChange::Place { x, y, width, height };
    servers.change_window(id, change, anyone, true).expect("it is asked for");
    eventually(servers, id, "placed", |it| it.is_some_and(|it| it.bounds == at));
}

#[test]
fn input_reaches_the_window_that_was_judged_and_what_comes_between_gets_none() {
    let Some((servers, notepad)) = Notepad::start() else { return };
    let window = notepad.window(&servers).id;
    place(&servers, &window, WHOLE);
    focus(&servers, &window);

    // A click, then a text of more than one key.
    let inside = Point { x: 200, y: 200 };
    let click = vec![InputStep::Move(inside), InputStep::Press(1), InputStep::Release(1)];
    let clicked = act(&servers, click.clone(), is_of(&window)).expect("it is made");
    assert_eq!((clicked, pointer()), (InputDone { typed: 0, held: 0 }, Some(inside)));
    let text = "Zoë, 界 😀!\nA+b";
    let typed = act(&servers, vec![InputStep::Type(text.chars().collect())], is_of(&window));
    assert_eq!(typed, Ok(InputDone { typed: text.chars().count(), held: 0 }));
    assert_eq!(copied(&servers, &window, true, text), text);

    // A drag from below the text to its beginning selects all of it.
    let (end, start) = (Point { x: 200, y: 300 }, Point { x: 35, y: 94 });
    let drag = [InputStep::Move(end), InputStep::Press(1), InputStep::Move(start), InputStep::Release(1)];
    act(&servers, drag.to_vec(), is_of(&window)).expect("it is made");
    assert_eq!(copied(&servers, &window, false, text), text);

    // What the judge refuses is not made, and nor is what Windows would do itself.
    let refused = act(&servers, vec![InputStep::Type(vec!['x'])], |_| false);
    assert_eq!(refused, Err(ScreenError::Refused(String::new())));
    for keys in [[0xffeb, 0x72], [CTRL, 0xff1b]] {
        let steps = keys.map(|key| InputStep::PressKey(KeySymbol(key))).to_vec();
        let taken = act(&servers, steps, |_| true);
        assert!(matches!(taken, Err(ScreenError::NoAccess(Access::Unsupported { .. }))), "{taken:?}");
        assert!(!is_down(vk::CONTROL) && !is_down(vk::LEFT_WINDOWS));
    }

    // What is held is known and released, also where what follows fails.
    let held = act(&servers, vec![InputStep::PressKey(SHIFT_SYMBOL)], is_of(&window));
    assert_eq!(held, Ok(InputDone { typed: 0, held: 1 }));
    assert!(is_down(vk::SHIFT));
    servers.release_input("").expect("it is released");
    assert!(!is_down(vk::SHIFT));
    act(&servers, vec![InputStep::PressKey(SHIFT_SYMBOL)], is_of(&window)).expect("it is made");
    act(&servers, vec![InputStep::Type(vec!['x'])], |_| false).expect_err("refused");
    assert!(!is_down(vk::SHIFT));

    // A window that comes to the front while the judge decides gets neither keys nor clicks.
    let second = Notepad::another();
    let other = second.window(&servers).id;
    place(&servers, &other, WHOLE);
    focus(&servers, &window);
    for (steps, expected) in [(vec![InputStep::Type(vec!['x', 'y'])], Ok(0)), (click, Err(()))] {
        focus(&servers, &window);
        let (other, is_it) = (other.clone(), is_of(&window));
        let done = act(&servers, steps, move |scene| {
            let judged = is_it(scene);
            focus(&Servers::new(Sources::default()), &other);
            judged
        });
        assert_eq!(done.map(|done| done.typed).map_err(|_| ()), expected);
    }
    drop(second);
    eventually(&servers, &other, "gone", |it| it.is_none());
    focus(&servers, &window);
    assert_eq!(copied(&servers, &window, true, text), text);

    // The wheel turns what is at the pointer: what shows at the top is not the first line any more.
    let lines = "n\n".repeat(80);
    act(&servers, chord(CTRL, 'a'), is_of(&window)).expect("it is made");
    for part in lines.as_bytes().chunks(20) {
        let part = part.iter().copied().map(char::from).collect();
        act(&servers, vec![InputStep::Type(part)], is_of(&window)).expect("it is made");
    }
    let top: Vec<InputStep> = [KeySymbol(CTRL), KeySymbol(0xff50)].map(InputStep::PressKey).into();
    let up = [KeySymbol(0xff50), KeySymbol(CTRL)].map(InputStep::ReleaseKey);
    act(&servers, top.into_iter().chain(up).collect(), is_of(&window)).expect("it is made");
    let wheel = [InputStep::Move(inside)].into_iter().chain(vec![InputStep::Press(5); 5]);
    act(&servers, wheel.collect(), is_of(&window)).expect("it is made");
    let mark = [InputStep::Press(1), InputStep::Release(1), InputStep::Type(vec!['X'])];
    act(&servers, mark.to_vec(), is_of(&window)).expect("it is made");
    let mut line = 0;
    let until = Instant::now() + PATIENCE;
    // 160 pixels below the top are ten lines or so, and the wheel moves three a notch.
    while line < 15 && Instant::now() < until {
        let text = copied(&servers, &window, true, "");
        line = text.lines().position(|line| line.contains('X')).unwrap_or(0);
    }
    assert!(line >= 15, "{line}");
}
