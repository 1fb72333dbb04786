//! Windows: what is told of them, and pictures of those that are covered, partly outside, framed, moved or hidden.

use bailiwick::platform::screen::{Content, Cover, Rect, ScreenError, WindowState};
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, CreateWindowAux};

use support::screen::{XServer, assert_pixels, find, pattern, picture, window_id};

#[test]
fn a_window_is_told_with_its_program_and_process() {
    let server = XServer::start();
    let client = server.client();
    let lower = client.window(Rect::new(10, 20, 300, 200), 1);
    client.text(lower, "_NET_WM_NAME", "UTF8_STRING", "héllo 世界\nsecond line".as_bytes());
    client.text(lower, "WM_CLASS", "STRING", b"tester\0Tester\0");
    client.numbers(lower, "_NET_WM_PID", AtomEnum::CARDINAL, &[1]);
    let upper = client.window(Rect::new(200, 100, 500, 200), 2);
    client.text(upper, "WM_NAME", "STRING", b"h\xe9llo");
    let menu = client.connection.generate_id().expect("a number");
    let look = CreateWindowAux::new().override_redirect(1).background_pixel(3);
    client.make_in(client.screen().root, menu, Rect::new(0, 0, 50, 50), &look);

    let listing = server.displays().list().expect("a listing");
    let window = find(&listing, &server, lower);
    assert_eq!((window.title.as_str(), window.app.as_str()), ("héllo 世界 second line", "Tester"));
    // The server knows who connected; what the window claims does not count.
    assert_eq!(window.pid, Some(std::process::id()));
    let own = std::env::current_exe().expect("it is known");
    assert_eq!(window.process.as_deref(), own.file_name().and_then(|name| name.to_str()));
    assert_eq!((window.bounds, window.frame), (Rect::new(10, 20, 300, 200), Rect::new(10, 20, 300, 200)));
    assert_eq!((window.state, window.unmanaged), (WindowState::Visible, false));
    assert_eq!(find(&listing, &server, upper).title, "héllo");
    assert_eq!(find(&listing, &server, upper).bounds, Rect::new(200, 100, 500, 200));
    assert!(find(&listing, &server, menu).unmanaged);
    let pile: Vec<u32> = [lower, upper, menu].map(|it| find(&listing, &server, it).stacking).to_vec();
    assert!(pile.is_sorted() && pile[0] < pile[2], "{pile:?}");
}

#[test]
fn a_covered_window_shows_itself_and_says_what_covers_it() {
    let server = XServer::start();
    let client = server.client();
    let place = Rect::new(100, 100, 200, 150);
    let window = client.patterned(place);
    let id = window_id(&server, window);
    let displays = server.displays();
    let frame = displays.capture_window(&id, None).expect("a picture");
    assert_eq!((frame.content, frame.covered_by.len()), (Content::Display, 0));
    assert_pixels(&picture(&frame), Rect::new(0, 0, 200, 150), pattern);

    let cover = client.window(Rect::new(150, 0, 400, 180), 0xff_0000);
    for _ in 0..2 {
        let frame = displays.capture_window(&id, None).expect("a picture");
        assert_eq!(frame.content, Content::Window);
        let part = Rect::new(150, 100, 150, 80);
        assert_eq!(frame.covered_by, [Cover { window: window_id(&server, cover), part }]);
        assert_pixels(&picture(&frame), Rect::new(0, 0, 200, 150), pattern);
    }
    // The display shows the cover as before.
    let frame = displays.capture_display(&server.id(), Some(part_of_display())).expect("a picture");
    assert_pixels(&picture(&frame), Rect::new(0, 0, 100, 50), |_, _| [255, 0, 0]);
    client.raise(window);
    let frame = displays.capture_window(&id, None).expect("a picture");
    assert_eq!(frame.covered_by, []);
    assert_pixels(&picture(&frame), Rect::new(0, 0, 200, 150), pattern);
}

fn part_of_display() -> Rect {
    Rect::new(160, 110, 100, 50)
}

/// A server begins the picture of a covered window with what covers it, and a program that never paints leaves it.
#[test]
fn a_window_whose_program_does_not_paint_never_shows_what_covers_it() {
    let server = XServer::start();
    let client = server.client();
    let window = client.unpainted(Rect::new(50, 50, 200, 150));
    client.window(Rect::new(100, 0, 100, 300), 0xff_0000);
    let displays = server.displays();
    for _ in 0..2 {
        let frame = displays.capture_window(&window_id(&server, window), None).expect("a picture");
        assert_eq!((frame.content, frame.covered_by.len()), (Content::Window, 1));
        assert_pixels(&picture(&frame), Rect::new(50, 0, 100, 150), |_, _| [0, 0, 0]);
    }
}

#[test]
fn windows_within_a_covered_window_are_painted_too() {
    let server = XServer::start();
    let client = server.client();
    let window = client.window(Rect::new(50, 50, 200, 150), 0x00_00ff);
    let inner = client.connection.generate_id().expect("a number");
    let look = CreateWindowAux::new().background_pixel(0x00_ff00);
    client.make_in(window, inner, Rect::new(20, 30, 100, 80), &look);
    client.window(Rect::new(60, 60, 150, 100), 0xff_0000);
    let frame = server.displays().capture_window(&window_id(&server, window), None).expect("a picture");
    let picture = picture(&frame);
    let inside = Rect::new(20, 30, 100, 80);
    assert_pixels(&picture, inside, |_, _| [0, 255, 0]);
    for rest in Rect::new(0, 0, 200, 150).without(&inside) {
        assert_pixels(&picture, rest, |_, _| [0, 0, 255]);
    }
}

#[test]
fn a_window_partly_outside_the_display_is_captured_whole() {
    let server = XServer::start();
    let client = server.client();
    let window = client.patterned(Rect::new(-70, 400, 200, 150));
    let frame = server.displays().capture_window(&window_id(&server, window), None).expect("a picture");
    assert_eq!((frame.content, frame.bounds()), (Content::Window, Rect::new(-70, 400, 200, 150)));
    assert_pixels(&picture(&frame), Rect::new(0, 0, 200, 150), pattern);
}

#[test]
fn a_window_is_captured_where_and_as_large_as_it_is_now() {
    let server = XServer::start();
    let client = server.client();
    let window = client.patterned(Rect::new(10, 10, 200, 150));
    let displays = server.displays();
    let listing = displays.list().expect("a listing");
    let id = find(&listing, &server, window).id.clone();
    client.place(window, Rect::new(301, 202, 111, 99));
    let frame = displays.capture_window(&id, None).expect("a picture");
    assert_eq!(frame.bounds(), Rect::new(301, 202, 111, 99));
    assert_pixels(&picture(&frame), Rect::new(0, 0, 111, 99), pattern);
    // A region that was within it is not any more: an error with what there is now.
    let region = Rect::new(0, 0, 200, 150);
    let error = displays.capture_window(&id, Some(region)).expect_err("it is smaller");
    assert_eq!(error, ScreenError::Outside { region, bounds: Rect::new(0, 0, 111, 99) });
    client.connection.destroy_window(window).expect("sent");
    client.sync();
    assert_eq!(displays.capture_window(&id, None).expect_err("closed"), ScreenError::UnknownWindow(id));
}

#[test]
fn a_minimised_and_a_hidden_window_say_so() {
    let server = XServer::start();
    let client = server.client();
    let [minimised, hidden, shown] =
        [(0, 1), (100, 2), (200, 3)].map(|(x, colour)| client.window(Rect::new(x, 0, 50, 50), colour));
    client.manage(&[minimised, hidden, shown]);
    for (window, title) in [(minimised, "one"), (hidden, "two"), (shown, "three")] {
        client.text(window, "_NET_WM_NAME", "UTF8_STRING", title.as_bytes());
    }
    let mark = client.atom("_NET_WM_STATE_HIDDEN");
    client.numbers(minimised, "_NET_WM_STATE", AtomEnum::ATOM, &[mark]);
    client.numbers(client.screen().root, "_NET_ACTIVE_WINDOW", AtomEnum::WINDOW, &[shown]);
    for window in [minimised, hidden] {
        client.connection.unmap_window(window).expect("sent");
    }
    client.sync();
    let displays = server.displays();
    let listing = displays.list().expect("a listing");
    let states = [minimised, hidden, shown].map(|it| find(&listing, &server, it).state);
    assert_eq!(states, [WindowState::Minimised, WindowState::Hidden, WindowState::Visible]);
    let active: Vec<&str> =
        listing.windows.iter().filter(|it| it.active).map(|it| it.title.as_str()).collect();
    assert_eq!(active, ["three"]);
    let [first, second] = [minimised, hidden].map(|window| window_id(&server, window));
    assert_eq!(displays.capture_window(&first, None).expect_err("none"), ScreenError::Minimised(first));
    assert_eq!(displays.capture_window(&second, None).expect_err("none"), ScreenError::Hidden(second));
    let none = format!("{}/0x123456", server.id());
    assert_eq!(displays.capture_window(&none, None).expect_err("none"), ScreenError::UnknownWindow(none));
}

#[test]
fn a_window_that_is_not_shown_yet_is_told_only_where_no_window_manager_will_show_it() {
    let server = XServer::start();
    let client = server.client();
    let window = client.window(Rect::new(10, 10, 200, 100), 1);
    client.text(window, "_NET_WM_NAME", "UTF8_STRING", b"Editor");
    client.connection.unmap_window(window).expect("sent");
    client.sync();
    let displays = server.displays();
    let listing = displays.list().expect("a listing");
    assert_eq!(find(&listing, &server, window).state, WindowState::Hidden);
    let _manager = server.manage();
    let listing = displays.list().expect("a listing");
    assert!(listing.windows.iter().all(|it| it.id != window_id(&server, window)), "{listing:?}");
}

#[test]
fn a_framed_window_is_its_content_and_its_frame_belongs_to_it() {
    let server = XServer::start();
    let manager = server.client();
    let frame = manager.window(Rect::new(100, 80, 220, 190), 0x80_8080);
    let client = server.client();
    let window = client.patterned(Rect::new(0, 0, 200, 150));
    // What a window manager does: the window goes into a frame with a title bar.
    manager.connection.reparent_window(window, frame, 10, 30).expect("sent");
    manager.connection.map_window(window).expect("sent");
    manager.manage(&[window]);
    let displays = server.displays();
    let listing = displays.list().expect("a listing");
    assert_eq!(listing.windows.len(), 1, "the frame is no window of its own: {listing:?}");
    let told = find(&listing, &server, window);
    assert_eq!((told.bounds, told.frame), (Rect::new(110, 110, 200, 150), Rect::new(100, 80, 220, 190)));

    let id = window_id(&server, window);
    let plain = displays.capture_window(&id, None).expect("a picture");
    assert_pixels(&picture(&plain), Rect::new(0, 0, 200, 150), pattern);
    client.window(Rect::new(0, 0, 640, 480), 0xff_0000);
    let covered = displays.capture_window(&id, None).expect("a picture");
    assert_eq!((covered.content, covered.bounds()), (Content::Window, Rect::new(110, 110, 200, 150)));
    assert_pixels(&picture(&covered), Rect::new(0, 0, 200, 150), pattern);
}

/// Some window managers put windows into frames and list none. What a window says must be found all the same.
#[test]
fn a_framed_window_is_found_without_a_list_of_windows() {
    let server = XServer::start();
    let manager = server.client();
    let frame = manager.window(Rect::new(100, 80, 220, 190), 0x80_8080);
    let holder = manager.connection.generate_id().expect("a number");
    manager.make_in(frame, holder, Rect::new(5, 25, 210, 160), &CreateWindowAux::new().background_pixel(7));
    let client = server.client();
    let window = client.patterned(Rect::new(0, 0, 200, 150));
    client.text(window, "WM_CLASS", "STRING", b"vault\0Vault\0");
    manager.connection.reparent_window(window, holder, 5, 5).expect("sent");
    manager.connection.map_window(window).expect("sent");
    manager.sync();
    let displays = server.displays();
    let listing = displays.list().expect("a listing");
    assert_eq!(listing.windows.len(), 1, "{listing:?}");
    let told = find(&listing, &server, window);
    assert_eq!((told.app.as_str(), told.frame), ("Vault", Rect::new(100, 80, 220, 190)));
    assert_eq!(told.bounds, Rect::new(110, 110, 200, 150));
    let shot = displays.capture_window(&window_id(&server, window), None).expect("a picture");
    assert_pixels(&picture(&shot), Rect::new(0, 0, 200, 150), pattern);
}

#[test]
fn windows_are_told_among_many_that_do_not_show() {
    let server = XServer::start();
    let (manager, client) = (server.client(), server.client());
    for at in 0..100 {
        let other = client.window(Rect::new(at, at, 30, 30), 1);
        client.connection.unmap_window(other).expect("sent");
    }
    let frame = manager.window(Rect::new(100, 80, 220, 190), 0x80_8080);
    let [framed, minimised, plain] =
        [(1, "framed"), (2, "minimised"), (3, "plain")].map(|(colour, title)| {
            let window = client.window(Rect::new(0, 0, 200, 150), colour);
            client.text(window, "_NET_WM_NAME", "UTF8_STRING", title.as_bytes());
            window
        });
    manager.connection.reparent_window(framed, frame, 10, 30).expect("sent");
    manager.connection.map_window(framed).expect("sent");
    manager.numbers(minimised, "WM_STATE", AtomEnum::ANY, &[3, 0]);
    let mark = client.atom("_NET_WM_STATE_HIDDEN");
    manager.numbers(minimised, "_NET_WM_STATE", AtomEnum::ATOM, &[mark]);
    manager.connection.unmap_window(minimised).expect("sent");
    manager.manage(&[framed, minimised]);
    let listing = server.displays().list().expect("a listing");
    let told: Vec<_> = listing.windows.iter().map(|it| (it.title.as_str(), it.state, it.frame)).collect();
    let whole = Rect::new(0, 0, 200, 150);
    let expected = [
        ("framed", WindowState::Visible, Rect::new(100, 80, 220, 190)),
        ("minimised", WindowState::Minimised, whole),
        ("plain", WindowState::Visible, whole),
    ];
    assert_eq!(told, expected);
    assert_eq!(find(&listing, &server, plain).pid, Some(std::process::id()));
}

/// A connection asks early about what it saw the last time. What it tells is what a new one tells, whatever changed.
#[test]
fn a_display_that_was_looked_at_before_is_told_as_it_is_now() {
    let server = XServer::start();
    let (manager, client) = (server.client(), server.client());
    let known = server.displays();
    let assert_same = |what: &str| {
        let told = |displays: &bailiwick::platform::screen::Displays| {
            displays.capture_display(&server.id(), None).expect("a picture").windows
        };
        let (now, fresh) = (told(&known), told(&server.displays()));
        assert!(now == fresh, "{what}: {now:#?} {fresh:#?}");
        now.len()
    };
    assert_eq!(assert_same("nothing"), 0);
    let mut windows: Vec<u32> =
        (0..5).map(|at| client.window(Rect::new(at * 20, 10, 100, 80), 0x10_10_10)).collect();
    assert_eq!(assert_same("opened"), 5);
    client.text(windows[1], "_NET_WM_NAME", "UTF8_STRING", b"renamed");
    client.text(windows[2], "WM_CLASS", "STRING", b"vault\0Vault\0");
    client.raise(windows[0]);
    client.place(windows[3], Rect::new(300, 200, 50, 60));
    assert_eq!(assert_same("renamed, raised, moved"), 5);
    client.connection.destroy_window(windows.remove(4)).expect("sent");
    client.sync();
    assert_eq!(assert_same("closed"), 4);
    let frame = manager.window(Rect::new(100, 80, 220, 190), 0x80_8080);
    manager.connection.reparent_window(windows[2], frame, 10, 30).expect("sent");
    manager.connection.map_window(windows[2]).expect("sent");
    manager.sync();
    assert_eq!(assert_same("framed, without a list"), 4);
    manager.manage(&windows);
    assert_eq!(assert_same("framed, with a list"), 4);
    // A program that ends takes its windows along, and its connection.
    let other = server.client();
    other.window(Rect::new(400, 300, 30, 30), 0x20_20_20);
    assert_eq!(assert_same("another program"), 5);
    drop(other);
    while client
        .connection
        .query_tree(client.screen().root)
        .expect("sent")
        .reply()
        .expect("it")
        .children
        .len()
        > 4
    {
        std::thread::yield_now();
    }
    assert_eq!(assert_same("it has ended"), 4);
    drop(client);
    manager.manage(&[]);
    let root = manager.screen().root;
    while manager.connection.query_tree(root).expect("sent").reply().expect("it").children.len() > 1 {
        std::thread::yield_now();
    }
    assert_eq!(assert_same("only a frame is left"), 1);
}
