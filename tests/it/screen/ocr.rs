//! Text that only its picture has: read by tesseract on real windows, found and clicked.

use serde_json::{Value, json};

use super::scope::refusal;
use support::desktop::Desktop;
use support::patience::eventually;
use support::scope::TestScope;
use support::service::TestService;

/// Starts a service with a scope `app` that takes pictures and clicks; `policy` is added.
fn service(desktop: &Desktop, policy: Value) -> TestService {
    desktop.rest();
    let mut own = json!({"allowWindows": true, "allowDisplays": true, "visibleInput": "allow"});
    own.as_object_mut().expect("an object").extend(policy.as_object().expect("an object").clone());
    let capabilities = ["screen:capture", "input:control", "window:read", "history:read"];
    let scope = json!({"id": "app", "type": "computer", "capabilities": capabilities, "policy": own});
    TestScope::new().with_scopes(&[scope]).with_sources(desktop.sources()).host()
}

fn ocr(target: Option<&str>, input: Value, options: Value) -> Value {
    json!({"scope": "app", "op": "screen.ocr", "target": target, "input": input, "options": options})
}

fn texts(read: &Value) -> Vec<&str> {
    read["lines"].as_array().expect("lines").iter().map(|it| it["text"].as_str().expect("text")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_only_drawn_is_read_found_and_clicked() {
    let mut desktop = Desktop::start("canvas", "Canvas");
    let host = service(&desktop, json!({}));
    let window = desktop.window();
    let all = ["Open the folder", "Export as picture", "Delete everything"];
    let read = host.data(ocr(Some(&window), json!({}), json!({"words": true}))).await;
    assert_eq!(texts(&read), all, "{read:#}");
    assert_eq!((&read["window"], &read["truncated"]), (&json!(window), &json!(false)));
    assert_eq!(read["lines"][1]["words"].as_array().map(Vec::len), Some(3), "{read:#}");
    let of_display = host.data(ocr(None, json!({}), json!({}))).await;
    for text in all {
        let lines = of_display["lines"].as_array().expect("lines");
        let line = lines.iter().find(|it| it["text"] == text).unwrap_or_else(|| panic!("{of_display:#}"));
        assert!(line["confidence"].as_f64().expect("a number") > 50.0, "{line}");
    }
    let part = json!({"region": {"x": 0, "y": 120, "width": 400, "height": 80}});
    let read = host.data(ocr(Some(&window), json!({}), part)).await;
    assert_eq!(texts(&read), [all[1]], "{read:#}");

    let found = host.data(ocr(Some(&window), json!({"find": "export  AS"}), json!({}))).await;
    assert_eq!(texts(&found), ["Export as"], "{found:#}");
    let at: Vec<i64> = serde_json::from_value(found["lines"][0]["at"].clone()).expect("a place");
    let middle = json!({"x": at[0] + at[2] / 2, "y": at[1] + at[3] / 2});
    host.data(json!({
        "scope": "app", "op": "input.click", "input": {"point": middle}, "options": {"foreground": true},
    }))
    .await;
    let mut pressed = Vec::new();
    eventually("the canvas is clicked", || {
        pressed.extend(desktop.received());
        !pressed.is_empty()
    });
    let place: Vec<i64> = pressed[0].split(' ').skip(1).map(|it| it.parse().expect("a number")).collect();
    assert!((50..200).contains(&place[0]) && (140..166).contains(&place[1]), "in the text: {pressed:?}");
    let none = host.data(ocr(Some(&window), json!({"find": "no such text"}), json!({}))).await;
    assert_eq!(texts(&none), Vec::<&str>::new());
    let history =
        host.data(json!({"scope": "app", "op": "history.timeline", "options": {"detail": "full"}})).await;
    assert!(!history.to_string().contains("Export"), "what was read is in the history");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_scope_does_not_show_gives_no_text() {
    let desktop = Desktop::start("canvas", "Canvas");
    let host = service(&desktop, json!({"deniedWindows": [{"title": "Canvas"}]}));
    let window = desktop.window();
    let answer = host.send(ocr(Some(&window), json!({}), json!({}))).await;
    assert_eq!(refusal(&answer), ("permission_denied", "screen", "denied-windows"));
    let read = host.data(ocr(None, json!({}), json!({}))).await;
    assert_eq!((texts(&read), &read["blackedOut"]), (Vec::new(), &json!(1)), "{read:#}");
    let host = service(&desktop, json!({"allowDisplays": false, "allowWindows": false}));
    for target in [None, Some(window.as_str())] {
        let answer = host.send(ocr(target, json!({}), json!({}))).await;
        assert_eq!(refusal(&answer).0, "permission_denied", "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_tesseract_or_a_language_the_command_that_installs_it_is_shown() {
    let desktop = Desktop::start("canvas", "Canvas");
    let host = service(&desktop, json!({}));
    let answer = host.send(ocr(None, json!({}), json!({"language": "tlh"}))).await;
    assert_eq!(answer["error"]["code"], "invalid_request", "{answer}");
    assert!(answer.to_string().contains("apt-get install tesseract-ocr-tlh"), "{answer}");
    for language in ["../eng", "-c", "eng+"] {
        let answer = host.send(ocr(None, json!({}), json!({"language": language}))).await;
        assert_eq!(answer["error"]["code"], "invalid_request", "{answer}");
    }
    let host = service(&desktop, json!({"searchPath": [host.dirs.state]}));
    let answer = host.send(ocr(None, json!({}), json!({}))).await;
    assert_eq!(answer["error"]["code"], "provider_unavailable", "{answer}");
    assert!(answer.to_string().contains("apt-get install tesseract-ocr`"), "{answer}");
}
