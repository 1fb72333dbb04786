//! `input.*` on a real window that prints what it receives: what arrives, what is refused, and what is released.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use bailiwick::platform::screen::Rect;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    ChangeWindowAttributesAux, ConnectionExt as _, EventMask, InputFocus, KEY_PRESS_EVENT, KEY_RELEASE_EVENT,
};
use x11rb::protocol::xtest::ConnectionExt as _;

use super::elements::element;
use super::scope::refusal;
use support::desktop::Desktop;
use support::patience::eventually;
use support::scope::TestScope;
use support::screen::Client;
use support::service::{Program, TestService, data};

/// A scope `app` that uses pointer and keyboard of a desktop; `policy` is added.
pub(super) fn scope(desktop: &Desktop, policy: Value) -> TestScope {
    let mut own = json!({"allowWindows": true, "allowDisplays": true, "visibleInput": "allow"});
    own.as_object_mut().expect("an object").extend(policy.as_object().expect("an object").clone());
    let capabilities =
        json!(["input:control", "ui:read", "ui:control", "window:read", "screen:capture", "history:read"]);
    let scope = json!({"id": "app", "type": "computer", "capabilities": capabilities, "policy": own});
    TestScope::new().with_scopes(&[scope]).with_sources(desktop.sources())
}

/// Starts a service with that scope, at a display that nobody has used for a while.
pub(super) fn service(desktop: &Desktop, policy: Value) -> TestService {
    desktop.rest();
    scope(desktop, policy).host()
}

/// Returns a request that is made in the foreground.
pub(super) fn input(op: &str, target: Option<&str>, input: Value) -> Value {
    let op = format!("input.{op}");
    json!({"scope": "app", "op": op, "target": target, "input": input, "options": {"foreground": true}})
}

pub(super) fn at(x: i32, y: i32) -> Value {
    json!({"point": {"x": x, "y": y}})
}

fn text(text: &str) -> Value {
    input("type", None, json!({"text": text}))
}

/// Waits until the text that was typed into the window is this one.
fn typed(desktop: &mut Desktop, text: &str) {
    let mut last = String::new();
    eventually("the text arrives", || {
        last = desktop.text();
        last.chars().count() >= text.chars().count()
    });
    assert_eq!(last, text);
}

/// Waits until the window has printed these lines, and no others.
pub(super) fn received(desktop: &mut Desktop, lines: &[&str]) {
    let mut all = Vec::new();
    eventually("the window receives it", || {
        all.extend(desktop.received());
        all.len() >= lines.len()
    });
    assert_eq!(all, lines);
}

/// Returns the keys that are down, and the state of buttons and modifiers.
fn down(client: &Client) -> (Vec<u8>, u16) {
    let keys = client.connection.query_keymap().expect("sent").reply().expect("an answer").keys;
    let root = client.screen().root;
    let state = client.connection.query_pointer(root).expect("sent").reply().expect("an answer").mask;
    let is_down = |code: &u8| keys[usize::from(code / 8)] & 1 << (code % 8) != 0;
    ((0..=255).filter(is_down).collect(), u16::from(state))
}

const NOTHING: (Vec<u8>, u16) = (Vec::new(), 0);

/// Returns which symbols all keys have.
fn keys(client: &Client) -> Vec<u32> {
    let setup = client.connection.setup();
    let count = setup.max_keycode - setup.min_keycode + 1;
    let mapping = client.connection.get_keyboard_mapping(setup.min_keycode, count).expect("sent");
    let mapping = mapping.reply().expect("an answer");
    // The width of the rows may grow.
    let width = usize::from(mapping.keysyms_per_keycode);
    mapping
        .keysyms
        .chunks(width)
        .flat_map(|row| row.iter().copied().chain([0; 4]).take(4).collect::<Vec<_>>())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clicks_and_text_arrive_as_they_were_sent() {
    let mut desktop = Desktop::start("pad", "Pad");
    let host = service(&desktop, json!({}));
    desktop.focus();
    let window = desktop.window();
    let before = keys(&desktop.client);
    let done = host.data(input("click", Some(&window), at(40, 30))).await;
    assert_eq!((&done["path"], &done["effect"]), (&json!("pointer"), &json!("unverifiable")), "{done:#}");
    assert_eq!((&done["window"], &done["released"]), (&json!(window), &json!(true)));
    assert_eq!(done["point"]["window"], json!({"x": 40, "y": 30}));
    received(&mut desktop, &["press 1 40 30", "release 1 40 30"]);
    let cursor = host.data(json!({"scope": "app", "op": "input.cursor"})).await;
    assert_eq!((&cursor["point"], &cursor["window"]), (&done["point"], &json!(window)), "{cursor:#}");

    let written = "Hello, World! äöü ß € Привет 世界 😀 q\nend";
    let done = host.data(text(written)).await;
    assert_eq!((&done["typed"], &done["path"]), (&json!(written.chars().count()), &json!("keyboard")));
    typed(&mut desktop, written);
    eventually("the keys are as they were", || keys(&desktop.client) == before);
    let history =
        host.data(json!({"scope": "app", "op": "history.timeline", "options": {"detail": "full"}})).await;
    let history = history.to_string();
    assert!(history.contains("typed 39 characters") && history.contains("clicked in a window"), "{history}");
    assert!(!history.contains("Hello") && !history.contains("世界"), "what was typed is in the history");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_that_is_asked_for_arrives_and_nothing_stays_down() {
    let mut desktop = Desktop::start("pad", "Pad");
    let host = service(&desktop, json!({}));
    desktop.focus();
    let window = desktop.window();
    let on = |op: &str, fields: Value| input(op, Some(&window), fields);
    let point = json!({"x": 40, "y": 30});
    host.data(on("click", json!({"point": point, "button": "right"}))).await;
    received(&mut desktop, &["press 3 40 30", "release 3 40 30"]);
    host.data(on("click", json!({"point": point, "modifiers": ["shift"]}))).await;
    received(&mut desktop, &["press 1 40 30 shift", "release 1 40 30"]);
    host.data(on("click", json!({"point": {"x": 200, "y": 30}, "count": 2}))).await;
    let double =
        ["press 1 200 30", "release 1 200 30", "press 1 200 30", "double 1 200 30", "release 1 200 30"];
    received(&mut desktop, &double);
    host.data(on("click", json!({"point": point, "holdMs": 30}))).await;
    received(&mut desktop, &["press 1 40 30", "release 1 40 30"]);
    host.data(on("scroll", json!({"point": point, "dy": 2, "dx": -1}))).await;
    received(&mut desktop, &["scroll down", "scroll down", "scroll left"]);
    let done =
        host.data(on("drag", json!({"point": point, "to": {"x": 90, "y": 60}, "durationMs": 20}))).await;
    assert_eq!(done["to"]["window"], json!({"x": 90, "y": 60}));
    let mut lines = Vec::new();
    eventually("the drag arrives", || {
        lines.extend(desktop.received());
        lines.last().is_some_and(|line| line == "release 1 90 60")
    });
    assert_eq!(lines[0], "press 1 40 30");
    assert!(lines.iter().any(|line| line.starts_with("motion ")), "{lines:?}");
    assert_eq!(down(&desktop.client), NOTHING);

    assert_eq!(desktop.change("show keys"), [""; 0]);
    let done = host.data(input("key", None, json!({"keys": "Control+Shift+a"}))).await;
    assert_eq!(done["keys"], "ctrl+shift+a");
    let chord =
        ["down Control_L", "down Shift_L shift", "down A shift", "up A", "up Shift_L", "up Control_L"];
    let mut lines = Vec::new();
    eventually("the chord arrives", || {
        lines.extend(desktop.received());
        lines.len() >= chord.len()
    });
    let bare = |line: &str| line.trim_end_matches(" shift").to_owned();
    let wanted: Vec<String> = chord.iter().map(|line| bare(line)).collect();
    assert_eq!(lines.iter().map(|line| bare(line)).collect::<Vec<_>>(), wanted);
    host.data(input("key", Some(&window), json!({"keys": "x", "repeat": 2}))).await;
    received(&mut desktop, &["down x", "up x", "down x", "up x"]);
    let done = host.data(input("key_hold", None, json!({"keys": "F5", "ms": 900}))).await;
    assert_eq!((&done["keys"], &done["released"]), (&json!("f5"), &json!(true)));
    // Longer than it takes to repeat.
    received(&mut desktop, &["down F5", "up F5"]);
    assert_eq!(down(&desktop.client), NOTHING);

    let seen = host.data(json!({"scope": "app", "op": "input.move", "target": window, "input": at(5, 5), "options": {"foreground": true}})).await;
    assert_eq!(seen["effect"], "confirmed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_element_is_clicked_in_its_middle() {
    let mut desktop = Desktop::start("form", "Form");
    let host = service(&desktop, json!({}));
    desktop.focus();
    let seen = host.data(json!({"scope": "app", "op": "ui.see", "target": desktop.window()})).await;
    let element = element(&seen, "button \"Save\"");
    let done = host.data(input("click", Some(&element), json!({}))).await;
    assert_eq!(done["window"], json!(desktop.window()));
    received(&mut desktop, &["pressed save"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn points_are_named_in_any_space_and_never_moved() {
    let mut desktop = Desktop::start("pad", "Pad");
    let host = service(&desktop, json!({}));
    desktop.focus();
    let window = desktop.window();
    let picture = host.data(json!({"scope": "app", "op": "screen.capture", "options": {"maxWidth": 640, "return": "fileRef"}})).await;
    let capture = &picture["captureId"];
    let same = [
        (None, json!({"x": 40, "y": 30})),
        (None, json!({"x": 40.0 / 1280.0 + 0.0001, "y": 30.0 / 720.0 + 0.0001, "space": "unit"})),
        (None, json!({"x": 20, "y": 15, "capture": capture})),
        (Some(&window), json!({"x": 40, "y": 30})),
        (Some(&window), json!({"x": 40, "y": 30, "space": "screen"})),
    ];
    for (target, point) in same {
        let done = host.data(input("move", target.map(String::as_str), json!({"point": point}))).await;
        let there = &done["point"];
        let near =
            |at: &str, wanted: i64| (there["screen"][at].as_i64().expect("a number") - wanted).abs() <= 1;
        assert!(near("x", 40) && near("y", 30), "{point}: {done:#}");
        assert_eq!(there["image"].is_object(), point["capture"].is_string(), "{done:#}");
    }
    for (target, point) in [
        (None, json!({"x": 1280, "y": 30})),
        (None, json!({"x": -1, "y": 30})),
        (None, json!({"x": 1.1, "y": 0.5, "space": "unit"})),
        (None, json!({"x": 1e30, "y": 0})),
        (None, json!({"x": 640, "y": 15, "capture": capture})),
        (None, json!({"x": 3, "y": 3, "space": "window"})),
        (None, json!({"x": 3, "y": 3, "space": "image"})),
        (Some(&window), json!({"x": 5000, "y": 30})),
        (Some(&window), json!({"x": -3, "y": 30})),
    ] {
        let answer = host.send(input("click", target.map(String::as_str), json!({"point": point}))).await;
        assert_eq!(refusal(&answer).0, "invalid_request", "{point}: {answer:#}");
    }
    assert_eq!(desktop.received(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_sent_that_the_scope_does_not_let_clients_send() {
    let mut desktop = Desktop::start("pad", "Pad");
    desktop.focus();
    let window = desktop.window();
    let click = input("click", Some(&window), at(40, 30));
    let host = scope(&desktop, json!({"visibleInput": "off"})).host();
    let answer = host.send(click.clone()).await;
    assert_eq!(refusal(&answer), ("permission_denied", "screen", "visible-input-off"), "{answer:#}");
    assert!(answer.to_string().contains("bailiwick scope edit app --visible-input ask"), "{answer:#}");
    let host = scope(&desktop, json!({"visibleInput": "ask"})).save().host();
    let mut behind = click.clone();
    behind["options"] = json!({});
    let answer = host.send(click.clone()).await;
    assert_eq!(refusal(&answer), ("approval_required", "approval", "visible-input-ask"), "{answer:#}");
    assert_eq!(desktop.received(), [""; 0]);
    let id = answer["error"]["details"]["approvalId"].as_str().expect("an id").to_owned();
    assert_eq!(host.cli(&["approve", &id, "--once"])["ok"], true);
    data(&host.send(click.clone()).await);
    received(&mut desktop, &["press 1 40 30", "release 1 40 30"]);
    assert_eq!(refusal(&host.send(click.clone()).await).0, "approval_required", "each use is asked about");

    let host = service(&desktop, json!({}));
    let answer = host.send(behind).await;
    assert_eq!(refusal(&answer).0, "unsupported_action", "{answer:#}");
    assert_eq!(answer["error"]["details"]["needs"], json!(["options.foreground"]));
    let mut dry = click;
    dry["options"] = json!({"foreground": true, "dryRun": true});
    let done = host.data(dry).await;
    assert_eq!(
        (&done["dryRun"], &done["effect"], &done["window"]),
        (&json!(true), &Value::Null, &json!(window))
    );
    assert_eq!(desktop.received(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn terminals_hidden_windows_and_prompts_get_no_input() {
    let mut desktop = Desktop::start("pad", "Pad");
    let host = service(&desktop, json!({"deniedWindows": [{"title": "*vault*"}]}));
    let number = desktop.focus();
    let window = desktop.window();
    desktop.change("show keys");
    host.data(input("move", Some(&window), at(40, 30))).await;
    let requests = |target: Option<&str>| {
        [
            input("click", target, at(40, 30)),
            input("move", target, at(40, 30)),
            input("scroll", target, json!({"point": {"x": 40, "y": 30}, "dy": 1})),
            input("drag", target, json!({"point": {"x": 40, "y": 30}, "to": {"x": 60, "y": 30}})),
            input("key", None, json!({"keys": "enter"})),
            input("key_hold", None, json!({"keys": "enter", "ms": 50})),
            text("x"),
        ]
    };
    for (title, class, wanted) in [
        ("My vault", "painter", ("permission_denied", "screen", "denied-windows")),
        ("bailiwick approve", "painter", ("permission_denied", "screen", "denied-windows")),
        ("Log in to Bailiwick - Browser", "painter", ("permission_denied", "screen", "denied-windows")),
        ("Shell", "xterm", ("permission_denied", "screen", "terminal-windows")),
        ("Run", "krunner", ("permission_denied", "screen", "terminal-windows")),
    ] {
        desktop.change(&format!("title {title}"));
        desktop.client.text(number, "WM_CLASS", "STRING", format!("{class}\0{class}\0").as_bytes());
        for target in [Some(window.as_str()), None] {
            for request in requests(target) {
                let answer = host.send(request.clone()).await;
                assert_eq!(refusal(&answer), wanted, "{title}: {request} {answer:#}");
                assert!(!answer["error"].to_string().contains("vault"), "{answer:#}");
            }
        }
        let cursor = host.data(json!({"scope": "app", "op": "input.cursor"})).await;
        assert_eq!(cursor["window"].is_null(), wanted.2 == "denied-windows", "{cursor:#}");
    }
    desktop.change("title Pad");
    desktop.client.text(number, "WM_CLASS", "STRING", b"pad\0Pad\0");
    // A window of the process that runs the service, and one that is put into another program's.
    let own = desktop.client.window(Rect::new(700, 10, 200, 100), 0xff);
    let within = desktop.client.inner(number, Rect::new(0, 0, 100, 100), 0xff);
    for point in [at(710, 20), at(40, 30)] {
        let answer = host.send(input("click", None, point)).await;
        assert_eq!(refusal(&answer), ("permission_denied", "screen", "bailiwick-windows"), "{answer:#}");
    }
    for window in [own, within] {
        desktop
            .client
            .connection
            .set_input_focus(InputFocus::PARENT, window, x11rb::CURRENT_TIME)
            .expect("sent");
        desktop.client.sync();
        assert_eq!(refusal(&host.send(text("x")).await).2, "bailiwick-windows");
    }
    assert_eq!(desktop.received(), [""; 0]);
    assert_eq!(desktop.text(), "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_typed_into_fields_for_secrets() {
    let mut desktop = Desktop::start("pad", "Pad");
    let host = service(&desktop, json!({}));
    desktop.focus();
    host.data(text("a")).await;
    typed(&mut desktop, "a");
    desktop.change("secret");
    for request in [
        text("b"),
        input("key", None, json!({"keys": "b"})),
        input("key_hold", None, json!({"keys": "b", "ms": 20})),
    ] {
        let answer = host.send(request).await;
        assert_eq!(refusal(&answer).0, "secure_field", "{answer:#}");
    }
    assert_eq!(desktop.change("length"), ["0"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_that_comes_up_over_another_gets_none_of_its_clicks() {
    let mut desktop = Desktop::start("pad", "Pad");
    let host = service(&desktop, json!({}));
    desktop.focus();
    let window = desktop.window();
    let cover = desktop.client.window(Rect::new(0, 0, 300, 200), 0xff);
    let answer = host.send(input("click", Some(&window), at(40, 30))).await;
    assert_eq!(refusal(&answer).2, "bailiwick-windows", "{answer:#}");
    // One that comes and goes all the time.
    let listener = desktop.server.client();
    let events = ChangeWindowAttributesAux::new().event_mask(EventMask::BUTTON_PRESS);
    listener.connection.change_window_attributes(cover, &events).expect("sent").check().expect("heard");
    let is_over = AtomicBool::new(false);
    let client = &desktop.client;
    let mut done = 0;
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                for is_up in [false, true] {
                    if is_up {
                        client.connection.map_window(cover)
                    } else {
                        client.connection.unmap_window(cover)
                    }
                    .expect("sent");
                    client.sync();
                }
            }
        });
        for _ in 0..40 {
            let answer = tokio::task::block_in_place(|| {
                tokio::runtime::Handle::current().block_on(host.send(input(
                    "click",
                    Some(&window),
                    at(40, 30),
                )))
            });
            match answer["ok"].as_bool() {
                Some(true) => done += 1,
                _ => assert!(
                    ["bailiwick-windows", "unknown-windows"].contains(&refusal(&answer).2)
                        || refusal(&answer).0 == "occluded",
                    "{answer:#}"
                ),
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    desktop.client.hide(cover);
    let mut lines = Vec::new();
    eventually("every click arrives", || {
        lines.extend(desktop.received());
        lines.iter().filter(|line| line.starts_with("press ")).count() == done
    });
    listener.sync();
    assert!(!matches!(listener.connection.poll_for_event().expect("open"), Some(Event::ButtonPress(_))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn typing_stops_where_the_focus_is_stolen_and_says_how_much_was_typed() {
    let mut desktop = Desktop::start("pad", "Pad");
    let host = service(&desktop, json!({}));
    desktop.focus();
    let thief = desktop.server.client();
    let events = |mask| ChangeWindowAttributesAux::new().event_mask(mask);
    let trap = thief.window(Rect::new(900, 10, 100, 100), 0xff);
    thief.connection.change_window_attributes(trap, &events(EventMask::KEY_PRESS)).expect("sent");
    thief.sync();
    let stolen = thread::spawn(move || {
        // The first part is typed in the instant in which keys are made for it.
        while !matches!(thief.connection.wait_for_event().expect("an event"), Event::MappingNotify(_)) {}
        thief.connection.set_input_focus(InputFocus::PARENT, trap, x11rb::CURRENT_TIME).expect("sent");
        thief.sync();
        (thief, trap)
    });
    // So many that the keys do not suffice, and it takes its time.
    let long: String = (0..6_000_u32).filter_map(|at| char::from_u32(0x4e00 + at % 1_000)).collect();
    let answer = host.send(text(&long)).await;
    assert_eq!(refusal(&answer).2, "bailiwick-windows", "{answer:#}");
    let count = answer["error"]["details"]["typed"].as_u64().expect("a number");
    let count = usize::try_from(count).expect("small");
    assert!(count > 0 && count < 6_000, "{count}");
    typed(&mut desktop, &long.chars().take(count).collect::<String>());
    let (thief, trap) = stolen.join().expect("it stole");
    thief.sync();
    while let Some(event) = thief.connection.poll_for_event().expect("open") {
        assert!(!matches!(event, Event::KeyPress(key) if key.event == trap), "a key went to the thief");
    }
    assert_eq!(down(&desktop.client), NOTHING);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_of_two_clients_never_mix() {
    let mut desktop = Desktop::start("pad", "Pad");
    let host = service(&desktop, json!({}));
    desktop.focus();
    let (one, two) = ("ab".repeat(300), "xy".repeat(300));
    let other = host.caller_with_token("other");
    let (first, second) = tokio::join!(host.send(text(&one)), host.send_as(&other, text(&two)));
    data(&first);
    data(&second);
    let mut all = String::new();
    eventually("both arrive", || {
        all = desktop.text();
        all.len() >= one.len() + two.len()
    });
    assert!(all == format!("{one}{two}") || all == format!("{two}{one}"), "{all}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_sent_while_somebody_else_uses_pointer_or_keyboard() {
    let mut desktop = Desktop::start("pad", "Pad");
    let host = service(&desktop, json!({}));
    desktop.focus();
    desktop.change("show keys");
    host.data(text("a")).await;
    received(&mut desktop, &["down a", "up a"]);
    // `Shift_L` of the usual keyboard, held by somebody else.
    let fake = |kind| {
        let root = desktop.client.screen().root;
        desktop.client.connection.xtest_fake_input(kind, 50, 0, root, 0, 0, 0).expect("sent");
        desktop.client.sync();
    };
    fake(KEY_PRESS_EVENT);
    for request in [text("b"), input("click", None, at(40, 30)), input("key", None, json!({"keys": "b"}))] {
        let answer = host.send(request).await;
        assert_eq!(refusal(&answer).0, "user_active", "{answer:#}");
        assert_eq!(answer["error"]["retryable"], true);
    }
    fake(KEY_RELEASE_EVENT);
    let mut is_taken = false;
    eventually("they have rested", || {
        let answer =
            tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(host.send(text("c"))));
        is_taken |= answer["ok"] == true;
        is_taken
    });
    typed(&mut desktop, "ac");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_is_held_is_released_by_a_timeout_and_when_the_focus_goes() {
    let desktop = Desktop::start("pad", "Pad");
    let host = service(&desktop, json!({}));
    desktop.focus();
    let mut hold = input("key_hold", None, json!({"keys": "shift+F6", "ms": 10_000}));
    hold["options"]["timeoutSeconds"] = json!(1);
    let answer = host.send(hold).await;
    assert_eq!(refusal(&answer).0, "timeout", "{answer:#}");
    eventually("the keys are up", || down(&desktop.client) == NOTHING);

    let thief = desktop.server.client();
    let stolen = thread::spawn(move || {
        let trap = thief.window(Rect::new(900, 10, 100, 100), 0xff);
        eventually("the key is down", || down(&thief) != NOTHING);
        thief.connection.set_input_focus(InputFocus::PARENT, trap, x11rb::CURRENT_TIME).expect("sent");
        thief.sync();
        thief
    });
    let answer = host.send(input("key_hold", None, json!({"keys": "F6", "ms": 10_000}))).await;
    assert_eq!(refusal(&answer).2, "bailiwick-windows", "{answer:#}");
    eventually("the key is up", || down(&desktop.client) == NOTHING);
    drop(stolen.join().expect("it stole"));
}

#[test]
fn keys_and_buttons_are_released_when_the_service_is_killed() {
    let desktop = Desktop::start("pad", "Pad");
    let scope = scope(&desktop, json!({})).save();
    desktop.focus();
    let before = keys(&desktop.client);
    let sources = desktop.sources();
    let start = |request: Value| {
        let mut command = scope.command(&["call", &request.to_string()]);
        command.env("DISPLAY", desktop.server.id());
        command.env("XAUTHORITY", sources.authority.as_ref().expect("a cookie"));
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        Program(command.spawn().expect("the program starts"))
    };
    let display = desktop.server.id();
    for request in [
        // A key that no layout has, so that one is made for it.
        input("key_hold", Some(&display), json!({"keys": "ctrl+世", "ms": 10_000})),
        input("click", Some(&desktop.window()), json!({"point": {"x": 40, "y": 30}, "holdMs": 10_000})),
    ] {
        let mut service = start(request.clone());
        eventually("something is down", || {
            // It is refused while somebody else has used the keyboard a moment ago: the one that was killed.
            if service.0.try_wait().expect("it is our child").is_some() {
                service = start(request.clone());
            }
            down(&desktop.client) != NOTHING
        });
        kill_process(Pid::from_child(&service.0), Signal::KILL).expect("it lives");
        eventually("all is up, and the keys are as they were", || {
            down(&desktop.client) == NOTHING && keys(&desktop.client) == before
        });
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_characters_of_many_scripts_arrive() {
    let mut desktop = Desktop::start("pad", "Pad");
    let host = service(&desktop, json!({}));
    desktop.focus();
    let line = "The quick brown fox; Zwölf Boxkämpfer; Съешь ещё; Γειά σου; 世界你好; 😀€. ";
    let long: String = line.chars().cycle().take(1_000).collect();
    host.data(text("a")).await;
    let began = Instant::now();
    let done = host.data(text(&long)).await;
    println!("1000 characters: {:?}", began.elapsed());
    assert_eq!(done["typed"], 1_000);
    typed(&mut desktop, &format!("a{long}"));
}
