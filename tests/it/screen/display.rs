//! Displays: several at once, one that dies and comes back, hangs, or lets nobody in, and none at all.

use std::fs;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bailiwick::platform::screen::{Access, Displays, Rect, ScreenError, Sources};
use rustix::process::Signal;
use x11rb::protocol::randr::{ConnectionExt as _, MonitorInfo};
use x11rb::protocol::res::ConnectionExt as _;
use x11rb::protocol::xproto::ConnectionExt as _;

use crate::needs::lacks_root;
use crate::temporary::TemporaryFolder;
use support::screen::{XServer, find, picture, window_id, write_cookie};

#[test]
fn two_displays_are_looked_at_at_once() {
    let (first, second) = (XServer::start(), XServer::with(&["-screen", "0", "800x600x24"]));
    let (one, two) = (first.client(), second.client());
    let window = one.window(Rect::new(0, 0, 640, 480), 0xff_0000);
    two.window(Rect::new(0, 0, 800, 600), 0x00_00ff);
    let mut sources = first.sources();
    second.show_in(&sources.sockets, second.number);
    // The second is the one that the environment names.
    sources.display = Some(format!("{}.0", second.id()));
    let displays = Displays::new(sources);
    let listing = displays.list().expect("a listing");
    assert_eq!(listing.access, Access::Granted);
    let told: Vec<_> =
        listing.displays.iter().map(|it| (it.id.clone(), it.bounds, it.primary, it.scale)).collect();
    let expected = [
        (second.id(), Rect::new(0, 0, 800, 600), true, 1.0),
        (first.id(), Rect::new(0, 0, 640, 480), false, 1.0),
    ];
    assert_eq!(told, expected);
    assert_eq!(find(&listing, &first, window).display, first.id());
    let colour = |id: &str| {
        let frame = displays.capture_display(id, None).expect("a picture");
        (frame.display.clone(), picture(&frame).pixel(300, 300))
    };
    assert_eq!(colour(&first.id()), (first.id(), Some([255, 0, 0])));
    assert_eq!(colour(&second.id()), (second.id(), Some([0, 0, 255])));
    assert_eq!(colour("primary").0, second.id());
}

#[test]
fn every_screen_of_a_server_has_an_id() {
    let server = XServer::with(&["-screen", "0", "640x480x24", "-screen", "1", "320x200x24"]);
    let displays = server.displays();
    let ids: Vec<String> = displays.list().expect("a listing").displays.into_iter().map(|it| it.id).collect();
    let second = format!("{}.1", server.id());
    assert_eq!(ids, [server.id(), second.clone()]);
    let frame = displays.capture_display(&second, None).expect("a picture");
    assert_eq!((frame.width, frame.height, frame.display), (320, 200, second));
    for id in [format!("{}.2", server.id()), format!("{}/HDMI-1", server.id()), ":9999".to_owned()] {
        let error = displays.capture_display(&id, None).expect_err("there is none");
        assert_eq!(error, ScreenError::UnknownDisplay(id));
    }
}

#[test]
fn every_monitor_of_a_display_has_an_id_and_is_captured_where_it_is_now() {
    let server = XServer::start();
    let client = server.client();
    client.window(Rect::new(0, 0, 320, 480), 0xff_0000);
    client.window(Rect::new(320, 0, 320, 480), 0x00_00ff);
    let root = client.screen().root;
    let arrange = |left: &str, right: &str| {
        for name in [left, right] {
            // Refused as long as there is none of this name.
            let _ = client.connection.randr_delete_monitor(root, client.atom(name)).expect("sent").check();
        }
        for (name, x) in [(left, 0), (right, 320)] {
            let info = MonitorInfo {
                name: client.atom(name),
                primary: name == "TWO",
                automatic: false,
                x,
                y: 0,
                width: 320,
                height: 480,
                width_in_millimeters: 100,
                height_in_millimeters: 150,
                outputs: Vec::new(),
            };
            client.connection.randr_set_monitor(root, info).expect("sent");
        }
        client.sync();
    };
    arrange("ONE", "TWO");
    let displays = server.displays();
    let listing = displays.list().expect("a listing");
    let told: Vec<_> = listing.displays.iter().map(|it| (it.id.clone(), it.bounds, it.primary)).collect();
    let [one, two] = ["ONE", "TWO"].map(|name| format!("{}/{name}", server.id()));
    assert!(told.contains(&(server.id(), Rect::new(0, 0, 640, 480), false)), "{told:?}");
    assert!(told.contains(&(one.clone(), Rect::new(0, 0, 320, 480), false)), "{told:?}");
    assert!(told.contains(&(two.clone(), Rect::new(320, 0, 320, 480), true)), "{told:?}");
    let colour = |id: &str| {
        let frame = displays.capture_display(id, None).expect("a picture");
        (frame.origin.x, picture(&frame).pixel(100, 100))
    };
    assert_eq!(colour(&one), (0, Some([255, 0, 0])));
    assert_eq!(colour("primary"), (320, Some([0, 0, 255])));
    arrange("TWO", "ONE");
    assert_eq!(colour(&one), (320, Some([0, 0, 255])));
    assert_eq!(colour(&two), (0, Some([255, 0, 0])));
}

#[test]
fn programs_that_are_told_to_draw_larger_show_in_the_scale() {
    let server = XServer::start();
    let client = server.client();
    client.text(client.screen().root, "RESOURCE_MANAGER", "STRING", b"Xft.antialias:\t1\nXft.dpi:\t144\n");
    let listing = server.displays().list().expect("a listing");
    assert_eq!(listing.displays.first().map(|display| display.scale), Some(1.5));
}

#[test]
fn a_display_that_dies_and_comes_back_is_looked_at_again() {
    let folder = TemporaryFolder::new();
    let cookies = write_cookie(&folder.path().join("cookies"), b"sixteen bytes ok");
    let sockets = folder.path().to_owned();
    let displays = Displays::new(Sources { sockets, authority: Some(cookies), ..Sources::default() });
    let server = XServer::start();
    server.show_in(folder.path(), 77);
    assert_eq!(displays.capture_display(":77", None).expect("a picture").width, 640);
    drop(server);
    let error = displays.capture_display(":77", None).expect_err("it is dead");
    assert!(matches!(error, ScreenError::NoAccess(Access::NoDisplay { .. })), "{error:?}");
    let listing = displays.list().expect("a listing");
    assert!(matches!(listing.access, Access::NoDisplay { .. }), "{listing:?}");

    // Others in its place; the second time, while the connection to the one before is still held.
    for width in [320, 400] {
        let server = XServer::with(&["-screen", "0", &format!("{width}x240x24")]);
        server.show_in(folder.path(), 77);
        assert_eq!(displays.capture_display(":77", None).expect("a picture").width, width);
    }
}

#[test]
fn without_any_display_that_is_what_is_said() {
    let folder = TemporaryFolder::new();
    let sources = Sources { sockets: folder.path().to_owned(), ..Sources::default() };
    let displays = Displays::new(sources.clone());
    let listing = displays.list().expect("a listing");
    assert!(
        matches!(&listing.access, Access::NoDisplay { why } if why.contains("no X server")),
        "{listing:?}"
    );
    assert!(listing.displays.is_empty() && listing.windows.is_empty() && listing.unreachable.is_empty());
    for id in ["primary", ":0"] {
        let error = displays.capture_display(id, None).expect_err("there is none");
        assert_eq!(error, ScreenError::NoAccess(listing.access.clone()));
    }
    for id in [":0/0x1", "no window"] {
        let error = displays.capture_window(id, None).expect_err("there is none");
        assert_eq!(error, ScreenError::NoAccess(listing.access.clone()));
    }
    // What the environment names is not there.
    let named = Displays::new(Sources { display: Some(":7".to_owned()), ..sources.clone() });
    let listing = named.list().expect("a listing");
    assert!(matches!(&listing.access, Access::NoDisplay { why } if why.contains(":7")), "{listing:?}");
    // A session that this build cannot look at is called by its name.
    let wayland = Displays::new(Sources { wayland: Some("wayland-0".to_owned()), ..sources });
    let listing = wayland.list().expect("a listing");
    assert!(matches!(&listing.access, Access::Unsupported { why } if why.contains("Wayland")), "{listing:?}");
}

#[test]
fn a_server_that_is_stopped_ends_in_a_timeout() {
    let (stopped, alive) = (XServer::start(), XServer::start());
    let sources = alive.sources();
    stopped.show_in(&sources.sockets, stopped.number);
    let client = stopped.client();
    let window = window_id(&stopped, client.window(Rect::new(0, 0, 50, 50), 1));
    // Once by a connection that is open already, once by one that has to be opened.
    let (connected, fresh) = (Displays::new(sources.clone()), Displays::new(sources));
    connected.capture_display(&stopped.id(), None).expect("a picture");
    stopped.signal(Signal::STOP);
    let error = connected.capture_display(&stopped.id(), None).expect_err("it does not answer");
    assert_eq!(error, ScreenError::Timeout(stopped.id()));
    let listing = fresh.list().expect("a listing");
    assert_eq!(listing.access, Access::Granted);
    assert_eq!(listing.displays.iter().map(|it| it.id.clone()).collect::<Vec<_>>(), [alive.id()]);
    let [unreachable] = listing.unreachable.as_slice() else { panic!("{listing:?}") };
    assert_eq!(unreachable.display, stopped.id());
    assert!(format!("{unreachable:?}").contains("did not answer in time"), "{unreachable:?}");
    stopped.signal(Signal::CONT);
    assert_eq!(connected.capture_window(&window, None).expect("a picture").width, 50);
}

#[test]
fn a_program_that_has_a_display_to_itself_holds_nobody_who_looks_at_it() {
    let server = XServer::start();
    let client = server.client();
    let window = window_id(&server, client.window(Rect::new(0, 0, 50, 50), 1));
    let displays = server.displays();
    displays.capture_display(&server.id(), None).expect("a picture");
    client.connection.grab_server().expect("sent");
    client.sync();
    let began = Instant::now();
    thread::scope(|scope| {
        for at in 0..8 {
            let (displays, server, window) = (&displays, &server, &window);
            scope.spawn(move || {
                let answer = match at % 2 {
                    0 => displays.capture_display(&server.id(), None),
                    _ => displays.capture_window(window, None),
                };
                let error = answer.expect_err("another program has it");
                assert_eq!(error, ScreenError::Timeout(server.id()));
                assert!(error.to_string().contains("another program has it to itself"), "{error}");
            });
        }
    });
    // They had three seconds each; one after the other they would have taken 24.
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    let [unreachable] = &displays.list().expect("a listing").unreachable[..] else { panic!("it is held") };
    assert!(format!("{unreachable:?}").contains("did not answer in time"), "{unreachable:?}");
    client.connection.ungrab_server().expect("sent");
    client.sync();
    assert_eq!(displays.capture_window(&window, None).expect("a picture").width, 50);
    assert_eq!(displays.capture_display(&server.id(), None).expect("a picture").width, 640);
}

/// Listens as a display that passes everything on to a real one, and of which nothing is heard any more as soon as a
/// client has it to itself. Counts how often one had.
fn silent_for_one(path: &Path, server: &XServer) -> Arc<AtomicUsize> {
    // `GrabServer`, and the question whose answer says that it was done.
    const ALONE: [u8; 8] = [36, 0, 1, 0, 43, 0, 1, 0];
    let listener = UnixListener::bind(path).expect("a socket");
    let (real, count) = (server.socket(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&count);
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let server = UnixStream::connect(&real).expect("the server listens");
            let is_alone = Arc::new(AtomicBool::new(false));
            let (mut from, mut to) =
                (client.try_clone().expect("a copy"), server.try_clone().expect("a copy"));
            let (told, counted) = (Arc::clone(&is_alone), Arc::clone(&counted));
            thread::spawn(move || {
                let (mut chunk, mut was_asked) = (vec![0; 1 << 16], false);
                while let Ok(length @ 1..) = from.read(&mut chunk) {
                    // The client asks on, so it has the answer that it waited for.
                    told.store(was_asked, Ordering::SeqCst);
                    if chunk[..length].windows(ALONE.len()).any(|bytes| bytes == ALONE) {
                        was_asked = true;
                        counted.fetch_add(1, Ordering::SeqCst);
                    }
                    if to.write_all(&chunk[..length]).is_err() {
                        break;
                    }
                }
                let _ = to.shutdown(Shutdown::Both);
            });
            let (mut from, mut to) = (server, client);
            thread::spawn(move || {
                let mut chunk = vec![0; 1 << 16];
                while let Ok(length @ 1..) = from.read(&mut chunk) {
                    let is_silent = is_alone.load(Ordering::SeqCst);
                    if !is_silent && to.write_all(&chunk[..length]).is_err() {
                        break;
                    }
                }
            });
        }
    });
    count
}

#[test]
fn a_display_stands_still_for_a_moment_at_most_and_never_until_the_time_is_over() {
    let (server, folder) = (XServer::start(), TemporaryFolder::new());
    let client = server.client();
    client.window(Rect::new(0, 0, 50, 50), 1);
    let count = silent_for_one(&folder.path().join("X78"), &server);
    let displays = Displays::new(Sources { sockets: folder.path().to_owned(), ..server.sources() });
    let error = displays.capture_display(":78", None).expect_err("nothing is heard of it");
    assert!(matches!(error, ScreenError::Failed { step: "the request", .. }), "{error:?}");
    assert!(error.to_string().contains("stand still for too long"), "{error}");
    // For a moment, and once for a longer one.
    assert_eq!(count.load(Ordering::SeqCst), 2);
    // Others continue.
    client.sync();
    assert_eq!(server.displays().capture_display(&server.id(), None).expect("a picture").width, 640);
}

#[test]
fn a_wrong_cookie_is_a_denial_with_the_setting() {
    let server = XServer::start();
    let folder = TemporaryFolder::new();
    let wrong = write_cookie(&folder.path().join("cookies"), b"something else..");
    for authority in [Some(wrong), None] {
        let displays = Displays::new(Sources { authority, ..server.sources() });
        let listing = displays.list().expect("a listing");
        let Access::Denied { why, setting } = &listing.access else { panic!("{listing:?}") };
        assert!(why.starts_with(&server.id()) && setting.contains("XAUTHORITY"), "{listing:?}");
        assert_eq!(listing.unreachable.len(), 1);
        let error = displays.capture_display(&server.id(), None).expect_err("denied");
        assert_eq!(error, ScreenError::NoAccess(listing.access.clone()));
    }
}

#[test]
fn nothing_is_opened_before_the_first_question_and_all_is_closed_with_the_last() {
    let server = XServer::start();
    let client = server.client();
    let clients =
        || client.connection.res_query_clients().expect("sent").reply().expect("it tells").clients.len();
    let alone = clients();
    let displays = server.displays();
    assert_eq!(clients(), alone);
    for _ in 0..3 {
        displays.list().expect("a listing");
        displays.capture_display(&server.id(), None).expect("a picture");
    }
    assert_eq!(clients(), alone + 1, "one connection serves all questions");
    drop(displays);
    while clients() > alone {
        thread::yield_now();
    }
}

/// Anybody may put a socket where displays are looked for. The cookie is for a server of this user or of root.
#[test]
fn a_server_of_another_user_gets_no_cookie() {
    // Only root can be somebody else for a moment.
    if lacks_root() {
        return;
    }
    let folder = TemporaryFolder::new();
    let path = folder.path().join("X5");
    fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).expect("ours");
    let listener = thread::spawn(move || {
        // Of this thread alone.
        let nobody = rustix::process::Uid::from_raw(65_534);
        rustix::thread::set_thread_res_uid(nobody, nobody, nobody).expect("root may");
        UnixListener::bind(path).expect("a socket of the test")
    });
    let listener = listener.join().expect("it listens");
    listener.set_nonblocking(true).expect("a socket");
    let cookies = write_cookie(&folder.path().join("cookies"), b"sixteen bytes ok");
    let sockets = folder.path().to_owned();
    let displays = Displays::new(Sources { sockets, authority: Some(cookies), ..Sources::default() });
    let listing = displays.list().expect("a listing");
    assert!(matches!(&listing.access, Access::Denied { why, .. } if why.contains("65534")), "{listing:?}");
    // It was connected to, and told nothing.
    let (mut connection, _) = listener.accept().expect("a connection");
    let mut said = Vec::new();
    Read::read_to_end(&mut connection, &mut said).expect("it is closed");
    assert_eq!(said, b"");
}
