//! The operations on real displays: what comes, in which form, of what size, and what is told of it.

use bailiwick::platform::screen::{Rect, Sources};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use x11rb::protocol::xproto::ConnectionExt as _;

use super::scope::{ScreenScope, bytes, image, read, refusal};
use crate::temporary::TemporaryFolder;
use support::screen::{XServer, assert_pixels, pattern, window_id};
use support::service::data;
use support::stdio_client::{in_memory, meta};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_display_comes_as_an_image_with_its_very_pixels() {
    let server = XServer::start();
    let client = server.client();
    client.patterned(Rect::new(40, 30, 200, 100));
    let desk = ScreenScope::on(&server, json!({}));
    let answer = desk.ask("screen.capture", None, json!({})).await;
    let picture = image(&answer);
    assert_eq!((picture.width(), picture.height()), (640, 480));
    assert_pixels(&picture, Rect::new(40, 30, 200, 100), pattern);
    let told = data(&answer);
    assert_eq!(told["area"], json!({"x": 0, "y": 0, "width": 640, "height": 480}));
    assert_eq!((&told["scale"], &told["display"]), (&json!(1.0), &json!(server.id())));
    assert_eq!((&told["mimeType"], &told["blackedOut"]), (&json!("image/png"), &json!(0)));
    assert_eq!(answer["images"][0]["mimeType"], "image/png");

    let region = json!({"x": 50, "y": 40, "width": 60, "height": 20});
    let answer =
        desk.ask("screen.capture", Some(&server.id()), json!({"region": region, "format": "webp"})).await;
    assert_pixels(&image(&answer), Rect::new(0, 0, 60, 20), |x, y| pattern(x + 10, y + 10));
    assert_eq!(data(&answer)["area"], region);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_picture_is_made_to_fit_and_says_its_scale_and_points_lead_back() {
    let server = XServer::with(&["-screen", "0", "2000x1000x24"]);
    let client = server.client();
    client.window(Rect::new(0, 0, 2000, 1000), 0x20_40_60);
    let desk = ScreenScope::on(&server, json!({}));
    for (options, size, scale) in [
        (json!({}), (1568, 784), 0.784),
        (json!({"maxWidth": 500}), (500, 250), 0.25),
        (json!({"maxHeight": 100}), (200, 100), 0.1),
        (json!({"maxWidth": 5000, "maxHeight": 5000}), (2000, 1000), 1.0),
    ] {
        let answer = desk.ask("screen.capture", None, options.clone()).await;
        let picture = image(&answer);
        let told = data(&answer);
        assert_eq!((picture.width(), picture.height()), size, "{options}");
        assert_eq!((&told["width"], &told["height"]), (&json!(size.0), &json!(size.1)));
        assert_eq!(told["scale"], json!(scale));
        assert_eq!(answer["warnings"], json!([]), "what was asked for is no warning");
    }
    let answer = desk.ask("screen.capture", None, json!({"format": "jpeg", "quality": 60})).await;
    let file = bytes(&answer["images"][0]["base64"]);
    assert_eq!(file[..3], [0xff, 0xd8, 0xff]);
    assert_eq!(data(&answer)["size"], file.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_picture_that_is_too_large_is_made_smaller_whole_and_says_so() {
    let server = XServer::start();
    let client = server.client();
    client.noisy(Rect::new(0, 0, 640, 480));
    let desk = ScreenScope::on(&server, json!({"maxOutputBytes": 300_000}));
    let answer = desk.ask("screen.capture", None, json!({})).await;
    data(&answer);
    let sent = answer["images"][0]["base64"].as_str().expect("an image").len();
    assert!(answer.to_string().len() <= 300_000 && sent > 90_000, "{sent}");
    let warning = answer["warnings"][0].as_str().expect("a warning");
    assert!(warning.contains("640x480") && warning.contains("more than"), "{warning}");

    // In the data it is bound by what the request says of the data.
    let answer =
        desk.ask("screen.capture", None, json!({"return": "base64", "maxOutputBytes": 20_000})).await;
    assert!(data(&answer).to_string().len() <= 20_000);
    assert!(bytes(&data(&answer)["base64"]).len() > 500);
    assert_eq!(answer["images"], Value::Null);
    let desk = ScreenScope::on(&server, json!({"maxOutputBytes": 100_000}));
    let answer = desk.ask("screen.capture", None, json!({})).await;
    assert!(answer.to_string().len() <= 100_000, "the scope's limit holds for images");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_shows_itself_also_where_others_cover_it() {
    let server = XServer::start();
    let client = server.client();
    let window = client.patterned(Rect::new(10, 10, 300, 200));
    client.text(window, "_NET_WM_NAME", "UTF8_STRING", "Größe ✓".as_bytes());
    let cover = client.window(Rect::new(0, 0, 100, 300), 0xff_ff_ff);
    let desk = ScreenScope::on(&server, json!({}));
    let listed = desk.ask("screen.list", None, json!({"detail": "full"})).await;
    let windows = data(&listed)["windows"].as_array().expect("windows");
    let id = window_id(&server, window);
    let entry = windows.iter().find(|it| it["window"] == id).unwrap_or_else(|| panic!("{listed}"));
    assert_eq!(entry["title"], "Größe ✓");
    assert_eq!(entry["bounds"], json!({"x": 10, "y": 10, "width": 300, "height": 200}));
    assert_eq!(entry["pid"], std::process::id());
    assert_eq!(data(&listed)["access"], json!({"state": "granted"}));
    assert_eq!(data(&listed)["displays"][0]["primary"], true);

    let answer = desk.ask("screen.capture_window", Some(&id), json!({})).await;
    let told = data(&answer);
    assert_eq!((&told["covered"], &told["window"]), (&json!("partly"), &json!(id)));
    assert_eq!(told["coveredBy"], json!([window_id(&server, cover)]));
    assert_eq!(told["area"], json!({"x": 10, "y": 10, "width": 300, "height": 200}));
    // The server paints what has a pattern for its background.
    assert_pixels(&image(&answer), Rect::new(0, 0, 300, 200), pattern);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_is_found_by_its_id_and_by_its_name_and_the_other_windows_are_told() {
    let server = XServer::start();
    let client = server.client();
    let small = client.window(Rect::new(0, 0, 50, 50), 0x11_11_11);
    let large = client.window(Rect::new(60, 60, 200, 100), 0x22_22_22);
    for window in [small, large] {
        client.text(window, "WM_CLASS", "STRING", b"testing\0Testing\0");
    }
    client.manage(&[small, large]);
    let desk = ScreenScope::on(&server, json!({}));
    for target in [std::process::id().to_string(), "testing".to_owned(), "TESTING".to_owned()] {
        let answer = desk.ask("screen.capture_process", Some(&target), json!({})).await;
        let told = data(&answer);
        assert_eq!(told["window"], window_id(&server, large), "{target}");
        assert_eq!(told["otherWindows"][0]["window"], window_id(&server, small));
        assert_pixels(&image(&answer), Rect::new(0, 0, 200, 100), |_, _| [0x22; 3]);
    }
    let answer = desk.ask("screen.capture_process", Some("no-such-program"), json!({})).await;
    assert_eq!(refusal(&answer).0, "not_found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_without_windows_stands_for_those_that_it_has_started() {
    let server = XServer::start();
    let client = server.client();
    let window = client.window(Rect::new(10, 10, 50, 40), 0x33_33_33);
    client.manage(&[window]);
    let vault = json!({"deniedWindows": [{"title": "vault"}]});
    let desk = ScreenScope::on(&server, vault);
    // The window is of this process, so its parent has none.
    let parent = std::os::unix::process::parent_id().to_string();
    let answer = desk.ask("screen.capture_process", Some(&parent), json!({})).await;
    assert_eq!(data(&answer)["window"], window_id(&server, window), "{answer}");
    assert_pixels(&image(&answer), Rect::new(0, 0, 50, 40), |_, _| [0x33; 3]);
    // What everything comes from stands for nothing.
    let answer = desk.ask("screen.capture_process", Some("1"), json!({})).await;
    assert_eq!(refusal(&answer).0, "not_found", "{answer}");
    client.text(window, "_NET_WM_NAME", "UTF8_STRING", b"vault");
    let answer = desk.ask("screen.capture_process", Some(&parent), json!({})).await;
    assert_eq!(refusal(&answer), ("permission_denied", "screen", "denied-windows"), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_captured_says_why_and_what_to_do() {
    let server = XServer::start();
    let client = server.client();
    let window = client.window(Rect::new(0, 0, 50, 50), 0x11_11_11);
    let desk = ScreenScope::on(&server, json!({}));
    let far = json!({"x": 600, "y": 0, "width": 100, "height": 100});
    let inner = json!({"x": 0, "y": 0, "width": 51, "height": 10});
    let id = window_id(&server, window);
    for (op, target, options, code, field) in [
        ("screen.capture", Some(":999"), json!({}), "not_found", "target"),
        ("screen.capture", None, json!({"region": far}), "invalid_request", "options.region"),
        ("screen.capture_window", Some("x"), json!({}), "not_found", "target"),
        ("screen.capture_window", Some(&*format!("{}/0x1", server.id())), json!({}), "not_found", "target"),
        ("screen.capture_window", Some(&*id), json!({"region": inner}), "invalid_request", "options.region"),
        ("screen.capture", None, json!({"quality": 50}), "invalid_request", "options.quality"),
        ("screen.capture", None, json!({"maxWidth": 0}), "invalid_request", "options.maxWidth"),
        (
            "screen.capture",
            None,
            json!({"format": "jpeg", "return": "fileRef"}),
            "invalid_request",
            "options.format",
        ),
    ] {
        let answer = desk.ask(op, target, options.clone()).await;
        assert_eq!(refusal(&answer).0, code, "{op} {target:?} {options}: {answer}");
        assert_eq!(answer["error"]["details"]["field"], field, "{answer}");
    }
    client.text(window, "_NET_WM_NAME", "UTF8_STRING", b"Notes");
    client.hide(window);
    let answer = desk.ask("screen.capture_window", Some(&id), json!({})).await;
    assert_eq!(refusal(&answer).0, "conflict", "{answer}");
    assert!(!answer["error"]["hints"].as_array().expect("hints").is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_computer_without_a_display_says_so_and_nothing_was_opened_for_it() {
    let folder = TemporaryFolder::new();
    let sources = Sources { sockets: folder.path().to_owned(), ..Sources::default() };
    let desk = ScreenScope::with(sources, json!({}));
    let listed = desk.ask("screen.list", None, json!({})).await;
    assert_eq!(data(&listed)["access"]["state"], "no_display");
    assert!(data(&listed)["access"]["setting"].as_str().expect("a setting").contains("DISPLAY"));
    for (op, target) in [
        ("screen.capture", None),
        ("screen.capture_window", Some(":0/0x1")),
        ("screen.capture_process", Some("1")),
    ] {
        let answer = desk.ask(op, target, json!({})).await;
        assert!(["provider_unavailable", "not_found"].contains(&refusal(&answer).0), "{op}: {answer}");
        assert!(!answer["error"]["hints"].as_array().expect("hints").is_empty());
    }
    assert!(!desk.state("captures").exists(), "a folder is made by the first picture");
    let info = bailiwick::contract::Envelope::from_value(
        json!({"op": "computer.info", "input": {"include": ["screen"]}}),
    );
    let outcome =
        desk.service.handle(&desk.caller, info, &CancellationToken::new()).await.into_reply().into_value();
    assert_eq!(outcome["data"]["screen"]["access"]["state"], "no_display", "{outcome}");
    assert_eq!(outcome["data"]["screen"]["scopes"][0]["displays"], true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mcp_gives_an_image_and_no_structured_content_in_both_eras() {
    let server = XServer::start();
    let painter = server.client();
    painter.patterned(Rect::new(0, 0, 640, 480));
    let desk = ScreenScope::on(&server, json!({}));
    let (mut client, _) = in_memory(desk.backend(), CancellationToken::new());
    let call = json!({"scope": "screen", "op": "screen.capture"});
    let check = |answer: &Value| {
        let result = &answer["result"];
        assert_eq!(result.get("structuredContent"), None, "{answer}");
        assert_eq!(result["content"][0]["type"], "image", "{answer}");
        assert_eq!(result["content"][0]["mimeType"], "image/png");
        assert_pixels(&read(&result["content"][0]["data"]), Rect::new(0, 0, 640, 480), pattern);
        let text = result["content"][1]["text"].as_str().expect("a text");
        assert!(text.contains("captureId") && text.len() < 2_000, "{text}");
    };
    check(&client.call_modern("computer_operation", call.clone()).await);
    let (mut old, _) = in_memory(desk.backend(), CancellationToken::new());
    old.initialize("2025-11-25").await;
    check(&old.call("computer_operation", call.clone()).await);
    let refused = old.call("computer_query", call).await;
    assert_eq!(refused["result"]["isError"], true, "clients ask their person before a picture: {refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kept_pictures_are_mcp_resources_of_the_callers_scopes_in_both_eras() {
    let server = XServer::start();
    let painter = server.client();
    painter.patterned(Rect::new(0, 0, 640, 480));
    let mut desk = ScreenScope::on(&server, json!({}));
    let kept = desk.ask("screen.capture", None, json!({"return": "fileRef"})).await;
    let elsewhere = desk.ask_in("other", "screen.capture", None, json!({"return": "fileRef"})).await;
    let uri = data(&kept)["file"]["uri"].as_str().expect("a name").to_owned();
    let other = data(&elsewhere)["file"]["uri"].as_str().expect("a name").to_owned();
    desk.caller.scopes = bailiwick::contract::ScopeGrant::Only(["screen".to_owned()].into());
    let (mut client, _) = in_memory(desk.backend(), CancellationToken::new());
    let (mut old, _) = in_memory(desk.backend(), CancellationToken::new());
    let hello = old.initialize("2025-11-25").await;
    assert!(hello["result"]["capabilities"]["resources"].is_object(), "{hello}");
    for modern in [true, false] {
        let with = |mut params: Value| {
            if modern {
                params["_meta"] = meta();
            }
            params
        };
        let client = if modern { &mut client } else { &mut old };
        let list = client.ask("resources/list", with(json!({}))).await;
        let resources = list["result"]["resources"].as_array().unwrap_or_else(|| panic!("{list}"));
        assert_eq!(resources.len(), 1, "{list}");
        assert_eq!(resources[0]["uri"], uri);
        assert_eq!(resources[0]["mimeType"], "image/png");
        assert_eq!(list["result"].get("cacheScope").is_some(), modern, "{list}");
        let content = client.ask("resources/read", with(json!({"uri": uri}))).await;
        let content = &content["result"]["contents"][0];
        assert_eq!((&content["uri"], &content["mimeType"]), (&json!(uri), &json!("image/png")));
        assert_pixels(&read(&content["blob"]), Rect::new(0, 0, 640, 480), pattern);
        for unknown in [other.as_str(), "bailiwick://captures/screen/x", "file:///etc/passwd"] {
            let answer = client.ask("resources/read", with(json!({"uri": unknown}))).await;
            let code = if modern { -32602 } else { -32002 };
            assert_eq!(answer["error"]["code"], code, "{unknown}: {answer}");
        }
        let templates = client.ask("resources/templates/list", with(json!({}))).await;
        assert!(templates["result"]["resourceTemplates"][0]["uriTemplate"].is_string(), "{templates}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_display_that_another_program_has_to_itself_is_a_timeout_that_says_so() {
    let server = XServer::start();
    let client = server.client();
    let desk = ScreenScope::on(&server, json!({}));
    client.connection.grab_server().expect("sent");
    client.sync();
    let answer = desk.ask("screen.capture", Some(&server.id()), json!({})).await;
    let (code, ..) = refusal(&answer);
    assert_eq!(code, "timeout", "{answer}");
    let message = answer["error"]["message"].as_str().expect("a message");
    assert!(message.contains("another program has it to itself"), "{answer}");
    client.connection.ungrab_server().expect("sent");
    client.sync();
    image(&desk.ask("screen.capture", Some(&server.id()), json!({})).await);
}
