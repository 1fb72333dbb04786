//! The banner on a real display: it shows while a client uses pointer and keyboard, and is in the way of nothing.

use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use bailiwick::platform::screen::{Displays, InputMode, InputStep, Point, Rect, Sources};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use x11rb::connection::Connection as _;
use x11rb::protocol::composite::{ConnectionExt as _, Redirect};
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, CreateGCAux, ImageFormat, MapState, SubwindowMode,
};
use x11rb::rust_connection::{DefaultStream, RustConnection};

use super::elements::{element, press};
use super::input::{at, input, received, scope, service};
use super::private;
use super::scope::{image, refusal};
use support::desktop::Desktop;
use support::patience::eventually;
use support::scope::TestScope;
use support::screen::{Client, XServer, assert_pixels, pattern};
use support::service::{Program, TestService, wait_for};

/// The colour of the banner, between its letters.
const AMBER: [u8; 3] = [0xff, 0xd7, 0x5f];

/// Returns the banners that a display shows, each with its place.
fn banners(client: &Client) -> Vec<(u32, Rect)> {
    let (connection, root) = (&client.connection, client.screen().root);
    let tree = connection.query_tree(root).expect("sent").reply().expect("an answer");
    let mut found = Vec::new();
    for window in tree.children {
        let shown = connection.get_window_attributes(window).expect("sent").reply();
        let name = connection.get_property(false, window, AtomEnum::WM_NAME, AtomEnum::ANY, 0, 99);
        let (name, place) =
            (name.expect("sent").reply(), connection.get_geometry(window).expect("sent").reply());
        let (Ok(shown), Ok(name), Ok(place)) = (shown, name, place) else { continue };
        if shown.map_state == MapState::VIEWABLE && name.value == b"Bailiwick" {
            assert!(shown.override_redirect, "a window manager would give it the focus");
            let place = Rect::new(place.x.into(), place.y.into(), place.width.into(), place.height.into());
            found.push((window, place));
        }
    }
    found
}

/// Returns the one banner that a display shows.
fn banner(client: &Client) -> (u32, Rect) {
    let found = banners(client);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0]
}

/// Returns the colours of a place of a display, as a user sees them.
fn colours(client: &Client, place: Rect) -> Vec<[u8; 3]> {
    let number = |value: u32| u16::try_from(value).expect("small");
    let (x, y) = (i16::try_from(place.x).expect("small"), i16::try_from(place.y).expect("small"));
    let (width, height, root) = (number(place.width), number(place.height), client.screen().root);
    let image = client.connection.get_image(ImageFormat::Z_PIXMAP, root, x, y, width, height, !0);
    let image = image.expect("sent").reply().expect("an answer");
    image.data.chunks(4).map(|pixel| [pixel[2], pixel[1], pixel[0]]).collect()
}

fn assert_shown(client: &Client, place: Rect) {
    let colours = colours(client, place);
    let amber = colours.iter().filter(|it| **it == AMBER).count();
    let black = colours.iter().filter(|it| **it == [0, 0, 0]).count();
    assert_eq!(amber + black, colours.len(), "something else is over it");
    assert!(amber > black && black > 100, "it has no letters: {black} of {}", colours.len());
}

/// Starts a service with a scope that uses pointer and keyboard of a display, which nobody has used for a while.
fn plain_service(server: &XServer) -> TestService {
    server.client().rest();
    let capabilities = json!(["input:control", "window:read", "screen:capture", "history:read"]);
    let policy = json!({"allowWindows": true, "allowDisplays": true, "visibleInput": "allow"});
    let scope = json!({"id": "app", "type": "computer", "capabilities": capabilities, "policy": policy});
    TestScope::new().with_scopes(&[scope]).with_sources(server.sources()).host()
}

/// Returns a request for what the scope sees.
fn ask(op: &str, fields: Value) -> Value {
    let mut request = json!({"scope": "app", "op": op});
    request.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
    request
}

async fn windows(host: &TestService) -> String {
    host.data(ask("window.list", json!({"options": {"detail": "full"}}))).await.to_string()
        + &host.data(ask("screen.list", json!({"options": {"detail": "full"}}))).await.to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_shows_who_uses_pointer_and_keyboard_and_is_in_the_way_of_nothing() {
    let mut desktop = Desktop::start("pad", "Pad");
    let host = service(&desktop, json!({}));
    let number = desktop.focus();
    let (window, client) = (desktop.window(), desktop.server.client());
    let focus = || client.connection.get_input_focus().expect("sent").reply().expect("an answer").focus;
    let had = focus();
    let before = image(&host.send(ask("screen.capture", json!({}))).await);
    let mut dry = input("click", Some(&window), at(40, 30));
    dry["options"]["dryRun"] = json!(true);
    host.data(dry).await;
    assert_eq!(banners(&client), [], "nothing is done");

    host.data(input("click", Some(&window), at(40, 30))).await;
    received(&mut desktop, &["press 1 40 30", "release 1 40 30"]);
    let (own, place) = banner(&client);
    assert_shown(&client, place);
    assert_eq!((place.y, focus()), (0, had));

    // What is below it gets clicks and is what is read and captured.
    let (x, y) = (place.x + 30, place.y + 9);
    host.data(input("click", Some(&window), at(x, y))).await;
    received(&mut desktop, &[&format!("press 1 {x} {y}"), &format!("release 1 {x} {y}")]);
    assert_eq!((banner(&client), focus()), ((own, place), had));
    let found = host.data(ask("ui.element_at", json!({"input": {"x": x, "y": y}}))).await;
    assert_eq!(found["window"], json!(window), "{found:#}");
    let cursor = host.data(ask("input.cursor", json!({}))).await;
    assert_eq!(cursor["window"], json!(window), "{cursor:#}");
    let after = image(&host.send(ask("screen.capture", json!({}))).await);
    let below = |x: u32, y: u32| before.pixel(place.x.unsigned_abs() + x, y).expect("a pixel");
    assert_pixels(&after, place, below);
    let of_window = host.send(ask("screen.capture_window", json!({"target": window}))).await;
    let of_window = image(&of_window);
    let width = of_window.width() - place.x.unsigned_abs();
    assert_pixels(&of_window, Rect { width: width.min(place.width), ..place }, below);
    assert_shown(&client, place);
    assert_eq!(banner(&client), (own, place));

    // It is no window. One that is made like it is.
    let id = |number: u32| format!("{}/{number:#x}\"", desktop.server.id());
    let copy = client.menu(place, 0xff_d7_5f);
    client.text(copy, "WM_NAME", "STRING", b"Bailiwick");
    let listed = windows(&host).await;
    assert!(listed.contains(&id(copy)) && listed.contains(&id(number)), "{listed}");
    assert!(!listed.contains(&id(own)), "{listed}");
    let picture = image(&host.send(ask("screen.capture", json!({}))).await);
    assert_pixels(&picture, place, |_, _| AMBER);
    let answer = host.send(input("click", Some(&window), at(x, y))).await;
    assert_eq!(refusal(&answer).2, "bailiwick-windows", "it does not let clicks through: {answer:#}");
    client.hide(copy);

    eventually("the banner is gone", || banners(&client).is_empty());
    assert_eq!(focus(), had);
    assert!(desktop.received().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn that_of_another_service_is_a_window_which_is_in_the_way_of_nothing_and_takes_nothing() {
    let mut desktop = Desktop::start("pad", "Pad");
    let (host, other) = (service(&desktop, json!({})), service(&desktop, json!({})));
    desktop.focus();
    let (window, client) = (desktop.window(), desktop.server.client());
    host.data(input("click", Some(&window), at(40, 30))).await;
    received(&mut desktop, &["press 1 40 30", "release 1 40 30"]);
    let (own, place) = banner(&client);
    let id = format!("{}/{own:#x}", desktop.server.id());
    assert!(!windows(&host).await.contains(&id) && windows(&other).await.contains(&id));
    desktop.rest();
    let (x, y) = (place.x + 30, place.y + 9);
    other.data(input("click", Some(&window), at(x, y))).await;
    received(&mut desktop, &[&format!("press 1 {x} {y}"), &format!("release 1 {x} {y}")]);
    // What is below it is not what was named.
    let answer = other.send(input("click", Some(&id), at(3, 3))).await;
    assert_eq!(answer["error"]["code"], "occluded", "{answer:#}");
    assert_eq!(desktop.received(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pictures_have_what_is_below_it_at_that_moment() {
    let server = XServer::start();
    let client = server.client();
    let pattern_place = Rect::new(0, 0, 640, 100);
    let low = client.patterned(pattern_place);
    let high = client.window(Rect::new(300, 5, 40, 200), 0xff);
    let late = client.window(Rect::new(0, 200, 640, 100), 0xff_00_00);
    let host = plain_service(&server);
    let touch = input("move", None, at(10, 400));
    host.data(touch.clone()).await;
    let (_, place) = banner(&client);
    assert_shown(&client, place);
    let capture = |options: Value| host.send(ask("screen.capture", json!({"options": options})));
    let is_high = |x: u32, y: u32| (300..340).contains(&x) && (5..205).contains(&y);
    let left = u32::try_from(place.x).expect("on the screen");
    let expected = |x: u32, y: u32| if is_high(x, y) { [0, 0, 255] } else { pattern(x, y) };
    assert_pixels(&image(&capture(json!({})).await), pattern_place, expected);
    let region = json!({"x": place.x, "y": 0, "width": place.width, "height": place.height});
    let part = image(&capture(json!({"region": region})).await);
    assert_pixels(&part, Rect::new(0, 0, place.width, place.height), |x, y| expected(left + x, y));
    assert_shown(&client, place);

    // What is drawn there meanwhile, and in a window that comes there.
    client.recolour(high, 0x00_ff_00);
    let expected = |x: u32, y: u32| if is_high(x, y) { [0, 255, 0] } else { pattern(x, y) };
    assert_pixels(&image(&capture(json!({})).await), pattern_place, expected);
    client.place(late, Rect::new(0, 0, 640, 100));
    let picture = image(&capture(json!({})).await);
    assert_pixels(&picture, Rect::new(0, 0, 640, 100), |_, _| [255, 0, 0]);
    host.data(touch).await;
    assert_shown(&client, place);
    client.hide(late);
    assert_pixels(&image(&capture(json!({})).await), pattern_place, expected);
    client.hide(low);
    let picture = image(&capture(json!({})).await);
    let expected = |x: u32, y: u32| if is_high(x, y) { [0, 255, 0] } else { [0, 0, 0] };
    assert_pixels(&picture, pattern_place, expected);
    assert_shown(&client, place);

    // A recording has no picture of its coming and going.
    let recorded = host.data(ask("screen.record", json!({"options": {"seconds": 5}}))).await;
    assert_eq!((&recorded["frames"], banners(&client).len()), (&json!(1), 0), "{recorded:#}");
    let shown = colours(&client, pattern_place);
    let left_there = (0..640 * 100).map(|at| expected(at % 640, at / 640));
    assert!(shown.into_iter().eq(left_there), "the display is as it was");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_no_effect_of_what_changes_nothing() {
    let desktop = Desktop::start("form", "Form");
    let host = service(&desktop, json!({}));
    let client = desktop.server.client();
    let seen = host.data(ask("ui.see", json!({"target": desktop.window()}))).await;
    desktop.rest();
    host.data(input("move", None, at(10, 700))).await;
    banner(&client);
    let pressed = host.data(press(&element(&seen, "\"Liar\""))).await;
    assert_eq!(pressed["effect"], "suspected_noop", "{pressed:#}");
    banner(&client);
    let again = host.data(ask("ui.see", json!({"target": desktop.window()}))).await;
    assert_eq!(again["elements"], seen["elements"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_shown_on_the_display_of_the_user_alone_and_where_the_scope_says_so() {
    let desktop = Desktop::start("pad", "Pad");
    let client = desktop.server.client();
    let host = service(&desktop, json!({"inputBanner": "off"}));
    host.data(input("move", None, at(10, 10))).await;
    assert_eq!(banners(&client), []);

    let scope = private::scope();
    let host = scope.host();
    let display = private::create(&host).await;
    let server = private::server_words(&display).expect("the server runs");
    let cookie = server.iter().skip_while(|word| *word != "-auth").nth(1).expect("it has a cookie");
    let cookie = std::fs::read(cookie).expect("a file of this user");
    let socket = UnixStream::connect(format!("/tmp/.X11-unix/X{}", &display[1..])).expect("it listens");
    let (stream, _) = DefaultStream::from_unix_stream(socket).expect("a socket");
    let (method, cookie) = (b"MIT-MAGIC-COOKIE-1".to_vec(), cookie[cookie.len() - 16..].to_vec());
    let connection = RustConnection::connect_to_stream_with_auth_info(stream, 0, method, cookie);
    let client = Client { connection: connection.expect("the server lets us in") };
    client.rest();
    let moved = host.data(input("move", None, at(10, 10))).await;
    assert_eq!((&moved["effect"], banners(&client)), (&json!("confirmed"), vec![]));
}

#[test]
fn it_is_gone_when_the_service_is_killed() {
    let desktop = Desktop::start("pad", "Pad");
    let scope = scope(&desktop, json!({})).save();
    let client = desktop.server.client();
    desktop.focus();
    desktop.rest();
    let sources = desktop.sources();
    let request = input("key_hold", Some(&desktop.server.id()), json!({"keys": "F6", "ms": 10_000}));
    let mut command = scope.command(&["call", &request.to_string()]);
    command.env("DISPLAY", desktop.server.id());
    command.env("XAUTHORITY", sources.authority.as_ref().expect("a cookie"));
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let service = Program(command.spawn().expect("the program starts"));
    eventually("the banner is shown", || !banners(&client).is_empty());
    kill_process(Pid::from_child(&service.0), Signal::KILL).expect("it lives");
    eventually("the banner is gone", || banners(&client).is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_display_that_goes_away_takes_it_along_and_nothing_else() {
    let server = XServer::start();
    let client = server.client();
    let host = plain_service(&server);
    host.data(input("move", None, at(10, 400))).await;
    banner(&client);
    server.signal(Signal::KILL);
    let answer = host.send(input("move", None, at(20, 400))).await;
    assert_eq!(answer["ok"], false, "{answer:#}");
    host.data(ask("history.timeline", json!({}))).await;
}

#[test]
fn what_is_drawn_of_it_is_no_change_and_what_is_drawn_below_it_is() {
    let server = XServer::start();
    let client = server.client();
    let window = client.window(Rect::new(0, 0, 640, 100), 0xff);
    let displays = Displays::new(Sources { guard: Some(support::program()), ..server.sources() });
    client.rest();
    let mut watch = displays.watch(&server.id()).expect("it is watched");
    let moved = displays.act_if(
        &server.id(),
        Box::new(|_, _| Some(vec![InputStep::Move(Point { x: 10, y: 400 })])),
        Box::new(|_| true),
        InputMode::Act(Some("It is used".to_owned())),
    );
    moved.expect("the pointer moves");
    let (_, place) = banner(&client);
    // The pointer is drawn, too.
    while watch.wait(Duration::from_millis(100)).expect("it is there") {}
    for _ in 0..3 {
        displays.capture_display(&server.id(), None).expect("a picture");
        assert!(
            !watch.wait(Duration::from_millis(20)).expect("it is there"),
            "its coming and going is reported"
        );
    }
    client.recolour(window, 0xff_00);
    let mut is_seen = false;
    eventually("what is drawn is reported", || {
        is_seen |= watch.wait(Duration::from_millis(20)).expect("it is there");
        is_seen
    });
    while watch.wait(Duration::from_millis(100)).expect("it is there") {}
    client.inner(window, place, 0xff_ff);
    // Nobody sees it until the banner goes.
    let mut is_seen = false;
    eventually("what was drawn below the banner is reported", || {
        is_seen |= watch.wait(Duration::from_millis(20)).expect("it is there");
        is_seen && banners(&client).is_empty()
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_as_large_as_programs_draw() {
    let server = XServer::with(&["-screen", "0", "2560x1440x24"]);
    let client = server.client();
    let host = plain_service(&server);
    host.data(input("move", None, at(10, 400))).await;
    let (_, small) = banner(&client);
    assert_shown(&client, small);
    eventually("the banner is gone", || banners(&client).is_empty());
    client.text(client.screen().root, "RESOURCE_MANAGER", "STRING", b"Xft.dpi:\t192\n");
    host.data(input("move", None, at(10, 400))).await;
    let (_, large) = banner(&client);
    assert_shown(&client, large);
    assert_eq!((large.width, large.height), (small.width * 2, small.height * 2));
}

/// Ends a compositor, also where a test fails.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Paints a display from the pictures of its windows, as a compositor does, until it is told to stop.
fn compose(server: &XServer, is_over: &AtomicBool, is_ready: &AtomicBool) {
    let client = server.client();
    let (connection, root) = (&client.connection, client.screen().root);
    let number = || connection.generate_id().expect("a number");
    let (own, pen, sheet) = (client.inner(root, Rect::new(0, 479, 1, 1), 0), number(), number());
    connection.set_selection_owner(own, client.atom("_NET_WM_CM_S0"), x11rb::CURRENT_TIME).expect("sent");
    connection.composite_query_version(0, 4).expect("sent").reply().expect("an answer");
    connection.composite_redirect_subwindows(root, Redirect::MANUAL).expect("sent");
    let settings = CreateGCAux::new().subwindow_mode(SubwindowMode::INCLUDE_INFERIORS);
    connection.create_gc(pen, root, &settings.graphics_exposures(0)).expect("sent");
    connection.create_pixmap(24, sheet, root, 640, 480).expect("sent");
    while !is_over.load(Ordering::Relaxed) {
        connection.grab_server().expect("sent");
        let all = x11rb::protocol::xproto::Rectangle { x: 0, y: 0, width: 640, height: 480 };
        connection.poly_fill_rectangle(sheet, pen, &[all]).expect("sent");
        let tree = connection.query_tree(root).expect("sent").reply().expect("an answer");
        for window in tree.children {
            let shown = connection.get_window_attributes(window).expect("sent").reply();
            let place = connection.get_geometry(window).expect("sent").reply();
            let (Ok(shown), Ok(place)) = (shown, place) else { continue };
            if shown.map_state != MapState::VIEWABLE || place.depth != 24 {
                continue;
            }
            let picture = number();
            connection.composite_name_window_pixmap(window, picture).expect("sent");
            let (x, y, width, height) = (place.x, place.y, place.width, place.height);
            connection.copy_area(picture, sheet, pen, 0, 0, x, y, width, height).expect("sent");
            connection.free_pixmap(picture).expect("sent");
        }
        connection.copy_area(sheet, root, pen, 0, 0, 0, 0, 640, 480).expect("sent");
        connection.ungrab_server().expect("sent");
        client.sync();
        is_ready.store(true, Ordering::Relaxed);
        thread::sleep(Duration::from_millis(16));
    }
}

#[test]
fn pictures_of_a_display_with_a_compositor_have_what_is_below_it() {
    let server = XServer::start();
    let client = server.client();
    let pattern_place = Rect::new(0, 0, 640, 100);
    client.patterned(pattern_place);
    let host = plain_service(&server);
    let (is_over, is_ready) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| compose(&server, &is_over, &is_ready));
        let _end = End(&is_over);
        eventually("the compositor paints", || is_ready.load(Ordering::Relaxed));
        let moved = wait_for(host.send(input("move", None, at(10, 400))));
        let (_, place) = banner(&client);
        eventually("the banner is painted", || colours(&client, place).contains(&AMBER));
        let picture = wait_for(host.send(ask("screen.capture", json!({}))));
        eventually("the banner is painted again", || colours(&client, place).contains(&AMBER));
        assert_eq!(moved["ok"], true, "{moved:#}");
        assert_pixels(&image(&picture), pattern_place, pattern);
    });
}
