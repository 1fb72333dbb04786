//! Changes of windows under a real window manager: what they do, what is read back, and whom they spare.

use bailiwick::platform::screen::Rect;
use rustix::process::Signal;
use serde_json::{Value, json};
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;

use super::scope::{ScreenScope, refusal};
use support::patience::eventually;
use support::screen::{Client, XServer, window_id};
use support::service::data;

/// Returns what the list says of a window.
async fn listed(desk: &ScreenScope, id: &str) -> Value {
    let answer = desk.act("window.list", None, json!({}), json!({"detail": "full"})).await;
    let windows = data(&answer)["windows"].as_array().expect("a list").clone();
    windows.into_iter().find(|window| window["window"] == id).unwrap_or(Value::Null)
}

async fn change(desk: &ScreenScope, op: &str, id: &str, input: Value) -> Value {
    data(&desk.act(op, Some(id), input, json!({})).await).clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn windows_are_focused_placed_put_away_and_closed_and_that_is_read_back() {
    let server = XServer::start();
    let _manager = server.manage();
    let (client, other) = (server.client(), server.client());
    let editor = client.managed(Rect::new(20, 30, 200, 150), "Editor", true);
    let notes = other.managed(Rect::new(100, 60, 300, 200), "Notes", false);
    let desk = ScreenScope::controlling(&server, json!({}));
    let (editor, notes) = (window_id(&server, editor), window_id(&server, notes));

    for id in [&editor, &notes, &editor] {
        let done = change(&desk, "window.focus", id, json!({})).await;
        assert_eq!((&done["effect"], &done["active"]), (&json!("confirmed"), &json!(true)), "{done}");
    }
    let told = listed(&desk, &editor).await;
    assert_eq!((&told["title"], &told["app"]), (&json!("Editor"), &json!("Painter")));
    assert_eq!(
        (&told["topmost"], &told["active"], &told["workspace"]),
        (&json!(true), &json!(true), &json!(0))
    );
    assert_eq!(told["pid"], std::process::id());
    let own = json!({"x": 20, "y": 30, "width": 200, "height": 150});
    assert_eq!(told["bounds"], own);
    assert_eq!(listed(&desk, &notes).await["topmost"], Value::Null);

    let done = change(&desk, "window.minimize", &editor, json!({})).await;
    assert_eq!((&done["effect"], &done["state"]), (&json!("confirmed"), &json!("minimized")));
    let done = change(&desk, "window.restore", &editor, json!({})).await;
    assert_eq!((&done["effect"], &done["state"]), (&json!("confirmed"), &json!("visible")));
    let done = change(&desk, "window.maximize", &editor, json!({})).await;
    assert_eq!((&done["effect"], &done["maximized"]), (&json!("confirmed"), &json!(true)));
    eventually("it fills the display", || {
        let listing = server.displays().list().expect("a listing");
        listing.windows.iter().any(|it| it.id == editor && it.bounds == Rect::new(0, 0, 640, 480))
    });
    let done = change(&desk, "window.restore", &editor, json!({})).await;
    assert_eq!((&done["effect"], &done["maximized"]), (&json!("confirmed"), &Value::Null));
    eventually("it has its size again", || {
        let listing = server.displays().list().expect("a listing");
        listing.windows.iter().any(|it| it.id == editor && it.bounds == Rect::new(20, 30, 200, 150))
    });

    let wished = json!({"x": 40, "y": 50, "width": 220, "height": 160});
    let done = change(&desk, "window.set_bounds", &editor, wished.clone()).await;
    assert_eq!((&done["effect"], &done["bounds"]), (&json!("confirmed"), &wished));
    let done = change(&desk, "window.set_bounds", &editor, json!({"x": 0})).await;
    assert_eq!(done["bounds"], json!({"x": 0, "y": 50, "width": 220, "height": 160}));
    for wrong in
        [json!({"x": 600}), json!({"y": -1}), json!({"width": 0}), json!({"width": 100_000}), json!({})]
    {
        let answer = desk.act("window.set_bounds", Some(&editor), wrong, json!({})).await;
        assert_eq!(refusal(&answer).0, "invalid_request", "{answer}");
    }
    assert_eq!(listed(&desk, &editor).await["bounds"], done["bounds"], "nothing is cut to fit");

    let done = change(&desk, "window.close", &notes, json!({})).await;
    assert_eq!((&done["effect"], &done["state"]), (&json!("confirmed"), &json!("closed")));
    assert_eq!(listed(&desk, &notes).await, Value::Null);
    let answer = desk.act("window.focus", Some(&notes), json!({}), json!({})).await;
    assert_eq!(refusal(&answer).0, "not_found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_does_not_happen_is_not_called_done() {
    let server = XServer::start();
    let manager = server.manage();
    let client = server.client();
    let window = client.managed(Rect::new(20, 30, 200, 150), "Editor", true);
    let desk = ScreenScope::controlling(&server, json!({}));
    let id = window_id(&server, window);
    let open = move |client: &Client, place: Rect| {
        let dialog = client.window(place, 1);
        client.numbers(dialog, "WM_TRANSIENT_FOR", x11rb::protocol::xproto::AtomEnum::WINDOW, &[window]);
        dialog
    };
    // Its program is asked to close it, and puts up a dialog instead, above one that was there.
    open(&client, Rect::new(250, 250, 50, 40));
    let asked = std::thread::spawn(move || {
        while !matches!(client.connection.wait_for_event().expect("an event"), Event::ClientMessage(_)) {}
        (open(&client, Rect::new(200, 200, 50, 40)), client)
    });
    let done = change(&desk, "window.close", &id, json!({})).await;
    let (dialog, _client) = asked.join().expect("it was asked");
    assert_ne!(done["effect"], "confirmed");
    assert_eq!((&done["state"], &done["dialog"]), (&json!("visible"), &json!(window_id(&server, dialog))));
    // The dialogs that are there already are none that came up by this.
    let done = change(&desk, "window.close", &id, json!({})).await;
    assert_eq!((&done["state"], &done["dialog"]), (&json!("visible"), &Value::Null));
    // Nothing at all is done by a window manager that hangs.
    manager.signal(Signal::STOP);
    let done = change(&desk, "window.minimize", &id, json!({})).await;
    assert_eq!((&done["effect"], &done["state"]), (&json!("suspected_noop"), &json!("visible")));
    manager.signal(Signal::CONT);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_window_manager_nothing_is_changed_and_that_is_said() {
    let server = XServer::start();
    let client = server.client();
    let window = client.window(Rect::new(20, 30, 200, 150), 1);
    let desk = ScreenScope::controlling(&server, json!({}));
    let id = window_id(&server, window);
    assert_eq!(listed(&desk, &id).await["state"], "visible", "it is listed all the same");
    for op in ["focus", "minimize", "maximize", "restore", "close"] {
        let answer = desk.act(&format!("window.{op}"), Some(&id), json!({}), json!({})).await;
        assert_eq!(refusal(&answer).0, "provider_unavailable", "{answer}");
        assert!(answer.to_string().contains("no window manager"), "{answer}");
    }
    let answer = desk.act("window.set_bounds", Some(&id), json!({"x": 1}), json!({})).await;
    assert_eq!(refusal(&answer).0, "provider_unavailable");
    // One that has ended leaves its word behind.
    drop(server.manage());
    let answer = desk.act("window.minimize", Some(&id), json!({}), json!({})).await;
    assert_eq!(refusal(&answer).0, "provider_unavailable");
    assert_eq!(listed(&desk, &id).await["state"], "visible");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn windows_that_the_scope_does_not_show_are_neither_listed_nor_changed() {
    let server = XServer::start();
    let _manager = server.manage();
    let client = server.client();
    let vault = client.managed(Rect::new(20, 30, 200, 150), "My vault", true);
    let notes = client.managed(Rect::new(100, 60, 300, 200), "Notes", true);
    let desk = ScreenScope::controlling(&server, json!({"deniedWindows": [{"title": "*vault*"}]}));
    let (vault, notes) = (window_id(&server, vault), window_id(&server, notes));
    let answer = desk.act("window.list", None, json!({}), json!({"detail": "full"})).await;
    assert_eq!(data(&answer)["withheld"], 1);
    assert!(!answer.to_string().contains("vault") && !answer.to_string().contains(&vault), "{answer}");
    for op in ["focus", "minimize", "maximize", "restore", "close"] {
        let answer = desk.act(&format!("window.{op}"), Some(&vault), json!({}), json!({})).await;
        assert_eq!(refusal(&answer), ("permission_denied", "screen", "denied-windows"), "{answer}");
    }
    let answer = desk.act("window.set_bounds", Some(&vault), json!({"x": 0}), json!({})).await;
    assert_eq!(refusal(&answer), ("permission_denied", "screen", "denied-windows"));
    let state = |id: &str| {
        let listing = server.displays().list().expect("a listing");
        listing.windows.iter().find(|it| it.id == id).map(|it| (it.bounds, it.state, it.maximised))
    };
    let before = (state(&vault), state(&notes));
    assert_eq!(before.0.map(|it| it.0), Some(Rect::new(20, 30, 200, 150)));
    // Judged, and not done.
    for op in ["minimize", "maximize", "close"] {
        let answer =
            desk.act(&format!("window.{op}"), Some(&notes), json!({}), json!({"dryRun": true})).await;
        assert_eq!((&data(&answer)["dryRun"], &data(&answer)["effect"]), (&json!(true), &Value::Null));
        let answer =
            desk.act(&format!("window.{op}"), Some(&vault), json!({}), json!({"dryRun": true})).await;
        assert_eq!(refusal(&answer), ("permission_denied", "screen", "denied-windows"));
    }
    settle(&client);
    assert_eq!((state(&vault), state(&notes)), before);
}

/// Waits until the window manager has done what it was asked before: it answers in order.
fn settle(client: &Client) {
    let window = client.managed(Rect::new(0, 0, 20, 20), "Last", true);
    client.hide(window);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_display_that_goes_away_is_an_error_and_the_service_lives_on() {
    let server = XServer::start();
    let manager = server.manage();
    let client = server.client();
    let window = client.managed(Rect::new(20, 30, 200, 150), "Editor", true);
    let desk = ScreenScope::controlling(&server, json!({}));
    let id = window_id(&server, window);
    assert_eq!(change(&desk, "window.focus", &id, json!({})).await["effect"], "confirmed");
    server.signal(Signal::KILL);
    let answer = desk.act("window.minimize", Some(&id), json!({}), json!({})).await;
    assert_eq!(refusal(&answer).0, "provider_unavailable", "{answer}");
    let answer = desk.act("window.list", None, json!({}), json!({})).await;
    assert_ne!(data(&answer)["access"]["state"], "granted");
    drop(manager);
}
