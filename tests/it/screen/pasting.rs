//! Pasting into real windows, and giving back what was on the clipboard: to the program that copied it, all is as before.

use bailiwick::contract::{Caller, Transport};
use bailiwick::platform::screen::Rect;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::clipboard::{contents, copy};
use super::scope::refusal;
use support::desktop::Desktop;
use support::patience::{eventually, eventually_some};
use support::scope::TestScope;
use support::screen::XServer;
use support::service::{TestService, data};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

fn service(server: &XServer) -> TestService {
    let capabilities = [
        "input:control",
        "ui:read",
        "window:read",
        "clipboard:read",
        "clipboard:write",
        "screen:capture",
        "history:read",
    ];
    let policy = json!({
        "allowWindows": true, "allowDisplays": true, "visibleInput": "allow", "secrets": "handles",
        "deniedWindows": [{"title": "*vault*"}],
    });
    let scope = json!({"id": "app", "type": "computer", "capabilities": capabilities, "policy": policy});
    TestScope::new().with_scopes(&[scope]).with_sources(server.sources()).host()
}

fn clipboard(op: &str, input: Value) -> Value {
    json!({"scope": "app", "op": format!("clipboard.{op}"), "input": input})
}

fn paste(input: Value) -> Value {
    json!({"scope": "app", "op": "clipboard.paste", "input": input, "options": {"foreground": true}})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_pasted_arrives_and_what_the_user_copied_is_given_back() {
    let mut desktop = Desktop::start("pad", "Pad");
    let host = service(&desktop.server);
    let pasted = async |desktop: &mut Desktop, text: &str, left: &str| {
        let before = desktop.text();
        desktop.rest();
        let done = host.data(paste(json!({"text": text}))).await;
        assert_eq!((&done["fetched"], &done["effect"]), (&json!(true), &json!("unverifiable")), "{done:#}");
        assert_eq!((&done["clipboard"], &done["size"]), (&json!(left), &json!(text.len())), "{done:#}");
        assert_eq!(done["window"], json!(desktop.window()));
        let wanted = before + text;
        eventually("the text arrives", || desktop.text() == wanted);
    };
    pasted(&mut desktop, "once", "empty").await;
    assert_eq!(host.data(clipboard("get", json!({}))).await["size"], 0);
    copy(&desktop.server, &[("UTF8_STRING", b"the user's".as_slice()), ("text/html", b"<b>the user's</b>")]);
    // The last one goes in parts, and keeps its program busy with laying it out: no paste comes after it.
    for text in ["héllo 世界\n", &"long ".repeat(40_000)] {
        pasted(&mut desktop, text, "restored").await;
        let has = host.data(clipboard("get", json!({"type": "text"}))).await;
        assert_eq!(has["text"], "the user's");
        let saved = host.data(clipboard("save", json!({}))).await;
        assert_eq!(saved["types"], json!(["UTF8_STRING", "text/html"]), "every form is there again: {saved}");
    }
    let kept = contents(&host.dirs.state);
    assert!(
        !["héllo", "long long", "the user's"]
            .iter()
            .any(|it| { kept.windows(it.len()).any(|part| part == it.as_bytes()) })
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn content_that_no_program_fetches_is_taken_back_and_said_so() {
    // Its window pastes nothing.
    let desktop = Desktop::start("canvas", "Canvas");
    let host = service(&desktop.server);
    desktop.focus();
    copy(&desktop.server, &[("UTF8_STRING", b"the user's")]);
    desktop.rest();
    let pasting = host.data(paste(json!({"text": "ours"})));
    // Somebody else who reads the clipboard at once, as clipboard managers do, is not the program.
    let reading = eventually_some("another program reads it", async || {
        let has = host.send(clipboard("get", json!({}))).await;
        (has["data"]["text"] == "ours").then_some(())
    });
    let (done, ()) = tokio::join!(pasting, reading);
    assert_eq!((&done["fetched"], &done["effect"]), (&Value::Null, &json!("suspected_noop")), "{done:#}");
    assert_eq!(done["clipboard"], "restored");
    assert_eq!(host.data(clipboard("get", json!({}))).await["text"], "the user's");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_user_copies_while_something_is_pasted_stays() {
    let desktop = Desktop::start("canvas", "Canvas");
    let host = service(&desktop.server);
    desktop.focus();
    copy(&desktop.server, &[("UTF8_STRING", b"the user's")]);
    desktop.rest();
    let pasting = host.data(paste(json!({"text": "ours"})));
    let copying = async {
        eventually_some("ours is there", async || {
            let has = host.send(clipboard("get", json!({}))).await;
            (has["data"]["text"] == "ours").then_some(())
        })
        .await;
        copy(&desktop.server, &[("UTF8_STRING", b"newer")]);
    };
    let (done, ()) = tokio::join!(pasting, copying);
    assert_eq!(done["clipboard"], "replaced", "{done:#}");
    assert_eq!(host.data(clipboard("get", json!({}))).await["text"], "newer");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_the_clipboard_has_a_secret_nothing_is_saved_and_nothing_pasted() {
    let mut desktop = Desktop::start("pad", "Pad");
    let host = service(&desktop.server);
    let refuse_all = async || {
        for request in [clipboard("save", json!({})), paste(json!({"text": "ours"}))] {
            let answer = host.send(request).await;
            assert_eq!(refusal(&answer), ("permission_denied", "screen", "denied-windows"), "{answer}");
        }
    };
    let hint = ("x-kde-passwordManagerHint", b"secret".as_slice());
    copy(&desktop.server, &[("UTF8_STRING", b"swordfish"), hint]);
    refuse_all().await;
    // Nor is it where a program that is not shown has copied.
    copy(&desktop.server, &[("UTF8_STRING", b"swordfish")]);
    let hidden = desktop.client.window(Rect::new(700, 10, 50, 50), 1);
    desktop.client.text(hidden, "_NET_WM_NAME", "UTF8_STRING", b"My vault");
    desktop.client.sync();
    refuse_all().await;
    let missing = host.send(clipboard("restore", json!({}))).await;
    assert_eq!(missing["error"]["code"], "not_found", "{missing}");
    assert_eq!(desktop.text(), "", "no key was pressed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_saved_is_restored_once_by_the_caller_that_saved_it() {
    let server = XServer::start();
    let host = service(&server);
    let large: Vec<u8> = PNG.iter().copied().cycle().take(300_000).collect();
    copy(&server, &[("image/png", &large), ("image/bmp", b"no"), ("text/uri-list", b"file:///a\r\n")]);
    let saved = host.data(clipboard("save", json!({}))).await;
    assert_eq!((&saved["types"], &saved["size"]), (&json!(["image/png", "text/uri-list"]), &json!(300_011)));
    let files = json!({"files": ["file:///home/me/a%20b.txt", "file:///c"]});
    host.data(clipboard("set", files.clone())).await;
    assert_eq!(host.data(clipboard("get", json!({}))).await["files"], files["files"]);
    let image = json!({"image": STANDARD.encode(PNG)});
    host.data(clipboard("set", image)).await;
    let answer = host.send(clipboard("get", json!({}))).await;
    assert_eq!(answer["images"][0]["base64"], STANDARD.encode(PNG), "{answer}");
    let other = Caller { name: "other".to_owned(), ..Caller::local(Transport::Http) };
    let answer = host.send_as(&other, clipboard("restore", json!({}))).await;
    assert_eq!(answer["error"]["code"], "not_found", "{answer}");
    let done = host.data(clipboard("restore", json!({}))).await;
    assert_eq!((&done["effect"], &done["size"]), (&json!("confirmed"), &json!(300_011)));
    let answer = host.send(clipboard("get", json!({"type": "image"}))).await;
    assert_eq!((&data(&answer)["size"], &data(&answer)["types"][2]), (&json!(300_000), &json!("image/png")));
    let answer = host.send(clipboard("restore", json!({}))).await;
    assert_eq!(answer["error"]["code"], "not_found", "{answer}");
    for wrong in [
        json!({}),
        json!({"text": "a", "files": ["file:///a"]}),
        json!({"files": ["/a"]}),
        json!({"files": ["file:///a\nfile:///b"]}),
        json!({"image": "bm8="}),
    ] {
        let answer = host.send(clipboard("set", wrong)).await;
        assert_eq!(answer["error"]["code"], "invalid_request", "{answer}");
    }
}
