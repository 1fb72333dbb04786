//! What a scope does not show is in no picture: by its name, its title of the instant, and whose it is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use bailiwick::platform::screen::Rect;
use serde_json::{Value, json};
use x11rb::protocol::xproto::AtomEnum;

use super::scope::{ScreenScope, count, image, read, refusal};
use crate::patience::PATIENCE;
use support::screen::{Client, XServer, window_id};
use support::service::data;

const SECRET: [u8; 3] = [250, 20, 30];
const SECRET_COLOUR: u32 = 0xfa_14_1e;

fn title(client: &Client, window: u32, title: &str) {
    client.text(window, "_NET_WM_NAME", "UTF8_STRING", title.as_bytes());
}

fn deny_vaults() -> Value {
    json!({"deniedWindows": [{"title": "*vault*"}]})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_under_a_denied_title_is_black_in_displays_and_has_no_picture() {
    let server = XServer::start();
    let client = server.client();
    client.window(Rect::new(0, 0, 640, 480), 0x10_80_10);
    let vault = client.window(Rect::new(100, 100, 200, 150), SECRET_COLOUR);
    title(&client, vault, "My VAULT - Browser");
    let cover = client.window(Rect::new(150, 120, 50, 50), 0xff_ff_ff);
    let desk = ScreenScope::on(&server, deny_vaults());
    let id = window_id(&server, vault);

    let listed = desk.ask("screen.list", None, json!({"detail": "full"})).await;
    assert_eq!(data(&listed)["withheld"], 1);
    assert!(!listed.to_string().contains("VAULT") && !listed.to_string().contains(&id), "{listed}");

    let answer = desk.ask("screen.capture", None, json!({})).await;
    let picture = image(&answer);
    assert_eq!(data(&answer)["blackedOut"], 1);
    assert_eq!(count(&picture, SECRET), 0);
    assert_eq!(count(&picture, [0; 3]), 200 * 150, "the whole window, and what covers it");
    assert!(!answer.to_string().contains("VAULT"));

    let answer = desk.ask("screen.capture_window", Some(&id), json!({})).await;
    assert_eq!(refusal(&answer), ("permission_denied", "screen", "denied-windows"));
    assert!(!answer.to_string().contains("VAULT"));
    let answer = desk.ask("screen.capture_window", Some(&window_id(&server, cover)), json!({})).await;
    assert_eq!(count(&image(&answer), SECRET), 0);

    // A part that holds some of it, and one that holds none.
    let region = json!({"x": 90, "y": 90, "width": 20, "height": 20});
    let answer = desk.ask("screen.capture", None, json!({"region": region})).await;
    assert_eq!((count(&image(&answer), [0; 3]), &data(&answer)["blackedOut"]), (100, &json!(1)));
    let region = json!({"x": 400, "y": 300, "width": 20, "height": 20});
    let answer = desk.ask("screen.capture", None, json!({"region": region})).await;
    assert_eq!((count(&image(&answer), [0; 3]), &data(&answer)["blackedOut"]), (0, &json!(0)));

    // The other scope has no such rule.
    let answer = desk.ask_in("other", "screen.capture", None, json!({})).await;
    assert!(count(&image(&answer), SECRET) > 10_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn password_managers_are_closed_without_a_word_in_the_config_and_so_is_all_of_their_process() {
    let server = XServer::start();
    let client = server.client();
    let manager = client.window(Rect::new(10, 10, 100, 100), SECRET_COLOUR);
    client.text(manager, "WM_CLASS", "STRING", b"keepassxc\0KeePassXC\0");
    // A dialog of the same process that calls itself something else.
    let dialog = client.window(Rect::new(300, 10, 100, 100), SECRET_COLOUR);
    client.text(dialog, "WM_CLASS", "STRING", b"dialog\0Dialog\0");
    client.manage(&[manager, dialog]);
    let desk = ScreenScope::on(&server, json!({}));
    let listed = desk.ask("screen.list", None, json!({})).await;
    assert_eq!((&data(&listed)["withheld"], &data(&listed)["windows"]), (&json!(2), &json!([])), "{listed}");
    let answer = desk.ask("screen.capture", None, json!({})).await;
    assert_eq!((count(&image(&answer), SECRET), &data(&answer)["blackedOut"]), (0, &json!(2)));
    for (op, target) in [
        ("screen.capture_window", window_id(&server, dialog)),
        ("screen.capture_process", "keepassxc".to_owned()),
        ("screen.capture_process", std::process::id().to_string()),
    ] {
        let answer = desk.ask(op, Some(&target), json!({})).await;
        assert_eq!(refusal(&answer), ("permission_denied", "screen", "denied-windows"), "{op} {target}");
    }
    desk.change(json!({"openSensitiveWindows": [{"app": "keepassxc"}]}));
    let answer = desk.ask("screen.capture", None, json!({})).await;
    assert_eq!(count(&image(&answer), SECRET), 20_000, "the user can open it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn menus_of_a_denied_window_are_black_too() {
    let server = XServer::start();
    let client = server.client();
    let vault = client.window(Rect::new(10, 10, 100, 100), SECRET_COLOUR);
    title(&client, vault, "vault");
    let news = client.window(Rect::new(300, 10, 100, 100), 0x00_00_ff);
    title(&client, news, "news");
    client.manage(&[vault, news]);
    client.menu(Rect::new(60, 105, 80, 200), SECRET_COLOUR);
    let desk = ScreenScope::on(&server, deny_vaults());
    let answer = desk.ask("screen.capture", None, json!({})).await;
    let picture = image(&answer);
    assert_eq!((count(&picture, SECRET), &data(&answer)["blackedOut"]), (0, &json!(2)));
    assert_eq!(count(&picture, [0, 0, 255]), 10_000, "the other window of the process is shown");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_denied_window_that_says_it_is_minimised_or_somebodys_dialog_is_black_all_the_same() {
    let server = XServer::start();
    let client = server.client();
    let vault = client.window(Rect::new(10, 10, 100, 100), SECRET_COLOUR);
    title(&client, vault, "vault");
    // Any program can say so of any window.
    let hidden = client.atom("_NET_WM_STATE_HIDDEN");
    client.numbers(vault, "_NET_WM_STATE", AtomEnum::ATOM, &[hidden]);
    let dialog = client.window(Rect::new(200, 10, 100, 100), SECRET_COLOUR);
    client.text(dialog, "_NET_WM_NAME", "UTF8_STRING", b"Confirm");
    client.numbers(dialog, "WM_TRANSIENT_FOR", AtomEnum::WINDOW, &[vault]);
    client.manage(&[vault, dialog]);
    let desk = ScreenScope::on(&server, deny_vaults());
    let answer = desk.ask("screen.capture", None, json!({})).await;
    assert_eq!((count(&image(&answer), SECRET), &data(&answer)["blackedOut"]), (0, &json!(2)));
}

/// The window shows its secret only while its title is a denied one; both change all the time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn titles_are_judged_at_the_instant_of_the_picture() {
    pictures_while_a_title_changes(8).await;
}

/// Takes so many pictures at least, and continues until the window was both shown and hidden.
pub(super) async fn pictures_while_a_title_changes(at_least: usize) {
    let server = XServer::start();
    let client = server.client();
    let window = client.window(Rect::new(0, 0, 640, 480), 0x00_00_ff);
    client.manage(&[window]);
    title(&client, window, "news");
    let desk = ScreenScope::on(&server, deny_vaults());
    let id = window_id(&server, window);
    let stop = AtomicBool::new(false);
    let (mut shown, mut hidden) = (0, 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                title(&client, window, "vault");
                client.recolour(window, SECRET_COLOUR);
                client.recolour(window, 0x00_00_ff);
                title(&client, window, "news");
            }
        });
        let handle = tokio::runtime::Handle::current();
        tokio::task::block_in_place(|| {
            handle.block_on(async {
                let began = Instant::now();
                let is_met =
                    |shown: usize, hidden: usize| shown + hidden >= 2 * at_least && shown > 0 && hidden > 0;
                while !is_met(shown, hidden) && began.elapsed() < *PATIENCE {
                    let answer = desk.ask("screen.capture", None, json!({})).await;
                    assert_eq!(count(&image(&answer), SECRET), 0);
                    if data(&answer)["blackedOut"] == 0 {
                        shown += 1;
                    } else {
                        hidden += 1;
                    }
                    let answer = desk.ask("screen.capture_window", Some(&id), json!({})).await;
                    if answer["ok"] == true {
                        assert_eq!(count(&image(&answer), SECRET), 0);
                        shown += 1;
                    } else {
                        assert_eq!(refusal(&answer).2, "denied-windows");
                        hidden += 1;
                    }
                }
            });
        });
        stop.store(true, Ordering::Relaxed);
    });
    assert!(shown > 0 && hidden > 0, "both were met: {shown}, {hidden}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_kept_is_black_before_it_is_on_the_disk() {
    let server = XServer::start();
    let client = server.client();
    let vault = client.window(Rect::new(10, 10, 300, 300), SECRET_COLOUR);
    title(&client, vault, "vault");
    let desk = ScreenScope::on(&server, deny_vaults());
    let kept = desk.ask("screen.capture", None, json!({"return": "fileRef"})).await;
    let id = data(&kept)["captureId"].as_str().expect("an id");
    let parts = std::fs::read_dir(desk.state("captures/pictures")).expect("it is there").flatten();
    let file = parts.filter_map(|part| std::fs::read(part.path().join(id)).ok()).next().expect("it is there");
    let picture = bailiwick::providers::screen::decode(&file).expect("a picture");
    assert_eq!(count(&picture, SECRET), 0);
    let base64 =
        desk.ask("screen.capture", None, json!({"return": "base64", "maxOutputBytes": 500_000})).await;
    assert_eq!(count(&read(&data(&base64)["base64"]), SECRET), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ids_that_are_not_of_the_list_open_nothing() {
    let server = XServer::start();
    let client = server.client();
    let vault = client.window(Rect::new(10, 10, 300, 300), SECRET_COLOUR);
    title(&client, vault, "vault");
    let desk = ScreenScope::on(&server, deny_vaults());
    let root = client.screen().root;
    let inner = client.inner(vault, Rect::new(0, 0, 200, 200), SECRET_COLOUR);
    for number in [root, inner, vault] {
        let id = window_id(&server, number);
        for spelt in [id.clone(), id.replace("0x", "0x0"), id.to_uppercase(), format!(" {id}")] {
            let answer = desk.ask("screen.capture_window", Some(&spelt), json!({})).await;
            let (code, ..) = refusal(&answer);
            assert!(["not_found", "permission_denied"].contains(&code), "{spelt}: {answer}");
        }
    }
}
