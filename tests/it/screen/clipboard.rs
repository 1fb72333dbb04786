//! The clipboard of real X servers: what is put there, what is read, and what is not.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use bailiwick::platform::screen::Rect;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustix::process::Signal;
use serde_json::{Value, json};
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, EventMask, PropMode, SELECTION_NOTIFY_EVENT, SelectionNotifyEvent,
};
use x11rb::wrapper::ConnectionExt as _;

use super::scope::{ScreenScope, refusal};
use support::patience::eventually_some;
use support::screen::XServer;
use support::service::data;

async fn get(desk: &ScreenScope, input: Value) -> Value {
    desk.act("clipboard.get", None, input, json!({"maxOutputBytes": 1_000_000})).await
}

async fn set(desk: &ScreenScope, text: &str) -> Value {
    data(&desk.act("clipboard.set", None, json!({"text": text}), json!({})).await).clone()
}

/// A program that has copied something, in some forms. It answers as long as the display lives.
pub(super) fn copy(server: &XServer, forms: &[(&'static str, &[u8])]) {
    let client = server.client();
    let forms: Vec<(u32, Vec<u8>)> =
        forms.iter().map(|(name, bytes)| (client.atom(name), bytes.to_vec())).collect();
    let (owns, owned) = mpsc::channel();
    thread::spawn(move || {
        let window = client.menu(Rect::new(0, 0, 1, 1), 0);
        client.hide(window);
        let (clipboard, targets) = (client.atom("CLIPBOARD"), client.atom("TARGETS"));
        let connection = &client.connection;
        connection.set_selection_owner(window, clipboard, x11rb::CURRENT_TIME).expect("sent");
        client.sync();
        owns.send(()).expect("the test waits");
        while let Ok(event) = connection.wait_for_event() {
            let Event::SelectionRequest(request) = event else { continue };
            let (to, place, mode) = (request.requestor, request.property, PropMode::REPLACE);
            let form = forms.iter().find(|(form, _)| *form == request.target);
            let mut property = place;
            if request.target == targets {
                let all: Vec<u32> = forms.iter().map(|(form, _)| *form).collect();
                connection.change_property32(mode, to, place, AtomEnum::ATOM, &all).expect("sent");
            } else if let Some((form, bytes)) = form {
                connection.change_property8(mode, to, place, *form, bytes).expect("sent");
            } else {
                property = x11rb::NONE;
            }
            let notice = SelectionNotifyEvent {
                response_type: SELECTION_NOTIFY_EVENT,
                sequence: 0,
                time: request.time,
                requestor: to,
                selection: request.selection,
                target: request.target,
                property,
            };
            connection.send_event(false, to, EventMask::NO_EVENT, notice).expect("sent");
            connection.flush().expect("sent");
        }
    });
    owned.recv().expect("it owns the clipboard");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_on_the_clipboard_is_shown_as_its_handle_and_a_handle_is_put_there_as_it_is() {
    let server = XServer::start();
    let (desk, other) = (
        ScreenScope::controlling(&server, json!({"secrets": "handles"})),
        ScreenScope::controlling(&server, json!({})),
    );
    set(&other, "DB_PASSWORD=correct-horse-battery-77").await;
    let shown = data(&get(&desk, json!({"type": "text"})).await)["text"].clone();
    let shown = shown.as_str().expect("text");
    assert!(shown.starts_with("DB_PASSWORD={{secret:db_password#"), "{shown}");
    set(&desk, shown).await;
    assert_eq!(data(&get(&other, json!({"type": "text"})).await)["text"], shown);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_of_any_size_is_put_on_the_clipboard_and_read_by_others_and_taken_off_it() {
    let server = XServer::start();
    let (desk, other) =
        (ScreenScope::controlling(&server, json!({})), ScreenScope::controlling(&server, json!({})));
    let empty = get(&desk, json!({})).await;
    assert_eq!((&data(&empty)["size"], &data(&empty)["types"]), (&json!(0), &json!([])));
    // The last ones go in parts.
    for text in
        ["héllo 世界 😀 שלום\n\ttab", &"x".repeat(128 * 1024), &"世".repeat(128 * 1024), &"é".repeat(450_000)]
    {
        let done = set(&desk, text).await;
        assert_eq!((&done["effect"], &done["size"]), (&json!("confirmed"), &json!(text.len())));
        for reader in [&desk, &other] {
            let answer = get(reader, json!({"type": "text"})).await;
            assert!(data(&answer)["text"] == text, "{} bytes", text.len());
        }
    }
    set(&desk, &"x".repeat(3_000_000)).await;
    let answer = get(&other, json!({})).await;
    assert_eq!(refusal(&answer).0, "conflict");
    assert!(answer.to_string().contains("3000000 bytes"), "{answer}");
    // Whoever copies last has it.
    set(&other, "mine").await;
    assert_eq!(data(&get(&desk, json!({})).await)["text"], "mine");
    let judged = desk.act("clipboard.clear", None, json!({}), json!({"dryRun": true})).await;
    assert_eq!((&data(&judged)["dryRun"], &data(&judged)["effect"]), (&json!(true), &Value::Null));
    let judged = desk.act("clipboard.set", None, json!({"text": "no"}), json!({"dryRun": true})).await;
    assert_eq!(data(&judged)["dryRun"], true);
    assert_eq!(data(&get(&desk, json!({})).await)["text"], "mine");
    let done = desk.act("clipboard.clear", None, json!({}), json!({})).await;
    assert_eq!(data(&done)["effect"], "confirmed");
    for reader in [&desk, &other] {
        assert_eq!(data(&get(reader, json!({})).await)["text"], Value::Null);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pictures_and_files_are_read_and_what_is_not_there_is_nothing() {
    let server = XServer::start();
    let desk = ScreenScope::controlling(&server, json!({}));
    let files = b"# copied\r\nfile:///home/a%20b.txt\r\nfile:///c\r\n".as_slice();
    copy(&server, &[("text/uri-list", files), ("image/png", b"\x89PNG"), ("STRING", b"h\xe9llo")]);
    let answer = get(&desk, json!({})).await;
    assert_eq!(data(&answer)["files"], json!(["file:///home/a%20b.txt", "file:///c"]));
    assert_eq!(data(&answer)["types"], json!(["text/uri-list", "image/png", "STRING"]));
    let answer = get(&desk, json!({"type": "image"})).await;
    assert_eq!((&data(&answer)["mimeType"], &data(&answer)["size"]), (&json!("image/png"), &json!(4)));
    assert_eq!(answer["images"][0]["base64"], STANDARD.encode(b"\x89PNG"));
    assert_eq!(data(&get(&desk, json!({"type": "text"})).await)["text"], "héllo");
    // A picture goes beside the answer's text, and is no part of its limit.
    let large: Vec<u8> = b"\x89PNG".iter().copied().cycle().take(100_000).collect();
    copy(&server, &[("image/png", &large)]);
    let answer = desk.act("clipboard.get", None, json!({}), json!({})).await;
    assert_eq!((&data(&answer)["mimeType"], &data(&answer)["size"]), (&json!("image/png"), &json!(100_000)));
    assert_eq!(answer["images"][0]["base64"], STANDARD.encode(&large));
    copy(&server, &[("UTF8_STRING", &large)]);
    let answer = desk.act("clipboard.get", None, json!({}), json!({"maxOutputBytes": 50_000})).await;
    assert_eq!(refusal(&answer).0, "conflict", "{answer}");
    copy(&server, &[("text/html", b"<b>")]);
    let answer = get(&desk, json!({})).await;
    assert_eq!((&data(&answer)["types"], &data(&answer)["size"]), (&json!(["text/html"]), &json!(0)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_and_what_hidden_programs_have_copied_are_not_read() {
    let server = XServer::start();
    let desk = ScreenScope::controlling(&server, json!({"deniedWindows": [{"title": "*vault*"}]}));
    copy(&server, &[("UTF8_STRING", b"swordfish"), ("x-kde-passwordManagerHint", b"secret")]);
    let answer = get(&desk, json!({})).await;
    assert_eq!(refusal(&answer), ("permission_denied", "screen", "denied-windows"));
    assert!(!answer.to_string().contains("swordfish"));
    copy(&server, &[("UTF8_STRING", b"swordfish")]);
    assert_eq!(data(&get(&desk, json!({})).await)["text"], "swordfish", "no window of the program is hidden");
    // The same program shows a window that the scope does not show.
    let client = server.client();
    let window = client.window(Rect::new(10, 10, 50, 50), 1);
    client.text(window, "_NET_WM_NAME", "UTF8_STRING", b"My vault");
    let answer = get(&desk, json!({})).await;
    assert_eq!(refusal(&answer), ("permission_denied", "screen", "denied-windows"));
    assert!(!answer.to_string().contains("swordfish"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_that_hangs_is_a_timeout_and_holds_up_nobody_else() {
    let server = XServer::start();
    let client = server.client();
    let window = client.window(Rect::new(10, 10, 50, 50), 1);
    let clipboard = client.atom("CLIPBOARD");
    client.connection.set_selection_owner(window, clipboard, x11rb::CURRENT_TIME).expect("sent");
    client.sync();
    let desk = ScreenScope::controlling(&server, json!({}));
    let reading = get(&desk, json!({}));
    let listing = async {
        // Answered while the other waits: it takes five seconds at least.
        let began = std::time::Instant::now();
        for _ in 0..3 {
            data(&desk.act("window.list", None, json!({}), json!({})).await);
        }
        began.elapsed()
    };
    let (answer, took) = tokio::join!(reading, listing);
    assert_eq!(refusal(&answer).0, "timeout", "{answer}");
    assert!(answer.to_string().contains("owns the clipboard"), "{answer}");
    assert!(took.as_secs() < 5, "{took:?}");
    set(&desk, "mine now").await;
    assert_eq!(data(&get(&desk, json!({})).await)["text"], "mine now");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_whose_events_never_end_is_a_timeout_too() {
    let server = XServer::start();
    let client = server.client();
    let window = client.window(Rect::new(10, 10, 50, 50), 1);
    let (clipboard, place) = (client.atom("CLIPBOARD"), client.atom("NOT_WHAT_WAS_ASKED_FOR"));
    client.connection.set_selection_owner(window, clipboard, x11rb::CURRENT_TIME).expect("sent");
    client.sync();
    let is_over = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&is_over);
    let owner = thread::spawn(move || {
        let to = loop {
            if let Event::SelectionRequest(request) = client.connection.wait_for_event().expect("an event") {
                break request.requestor;
            }
        };
        while !told.load(Ordering::Relaxed) {
            for _ in 0..100 {
                let (mode, kind) = (PropMode::REPLACE, AtomEnum::STRING);
                client.connection.change_property8(mode, to, place, kind, b"x").expect("sent");
            }
            client.sync();
        }
    });
    let desk = ScreenScope::controlling(&server, json!({}));
    let answer = get(&desk, json!({})).await;
    is_over.store(true, Ordering::Relaxed);
    assert_eq!(refusal(&answer).0, "timeout", "{answer}");
    owner.join().expect("it ends");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_outlives_a_display_that_is_late() {
    let server = XServer::start();
    let desk = ScreenScope::controlling(&server, json!({}));
    set(&desk, "kept").await;
    server.signal(Signal::STOP);
    let late = desk.act("window.list", None, json!({}), json!({})).await;
    assert_ne!(data(&late)["access"]["state"], "granted", "{late}");
    server.signal(Signal::CONT);
    eventually_some("the text is there again", async || {
        let answer = get(&desk, json!({})).await;
        (answer["data"]["text"] == "kept").then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_history_never_has_what_was_on_the_clipboard() {
    let server = XServer::start();
    let desk = ScreenScope::controlling(&server, json!({}));
    set(&desk, "marker-of-the-clipboard").await;
    assert_eq!(data(&get(&desk, json!({})).await)["text"], "marker-of-the-clipboard");
    let wrong = json!({"text": "marker-of-the-clipboard", "more": "marker-of-the-clipboard"});
    assert_eq!(refusal(&desk.act("clipboard.set", None, wrong, json!({})).await).0, "invalid_request");
    let kept = contents(&desk.state(""));
    assert!(kept.len() > 1_000, "the history is there");
    let marker = b"marker-of-the-clipboard";
    assert!(!kept.windows(marker.len()).any(|part| part == marker));
}

/// Returns the bytes of all files below a folder.
pub(super) fn contents(folder: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        let kind = entry.file_type().expect("it is there");
        if kind.is_dir() {
            all.extend(contents(&path));
        } else if path.is_file() {
            all.extend(std::fs::read(path).unwrap_or_default());
        }
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_display_that_dies_takes_its_clipboard_with_it_and_nothing_else() {
    let server = XServer::start();
    let desk = ScreenScope::controlling(&server, json!({}));
    set(&desk, "mine").await;
    server.signal(Signal::KILL);
    for (op, input) in [("get", json!({})), ("set", json!({"text": "x"})), ("clear", json!({}))] {
        let answer = desk.act(&format!("clipboard.{op}"), None, input, json!({})).await;
        assert_eq!(refusal(&answer).0, "provider_unavailable", "{answer}");
    }
    data(&desk.act("computer.info", None, json!({}), json!({})).await);
}
