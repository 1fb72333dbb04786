//! Kept pictures: full size, in parts, in their scope, for a day; and nothing of them in the history.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use bailiwick::platform::screen::Rect;
use serde_json::json;

use super::scope::{ScreenScope, bytes, image, refusal};
use support::screen::{XServer, assert_pixels, pattern};
use support::service::data;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kept_picture_has_every_pixel_and_is_read_in_parts() {
    let server = XServer::with(&["-screen", "0", "2000x1000x24"]);
    let client = server.client();
    client.patterned(Rect::new(100, 100, 400, 300));
    let desk = ScreenScope::on(&server, json!({}));
    let kept = desk.ask("screen.capture", None, json!({"return": "fileRef"})).await;
    assert_eq!(kept["images"], json!(null), "it is kept, not sent");
    let told = data(&kept);
    assert_eq!((&told["width"], &told["scale"]), (&json!(2000), &json!(1.0)));
    let id = told["captureId"].as_str().expect("an id").to_owned();
    assert_eq!(told["file"]["sha256"].as_str().expect("a hash").len(), 64);

    // The screen continues; the kept picture does not.
    client.window(Rect::new(0, 0, 2000, 1000), 0xff_ff_ff);
    let region = json!({"x": 110, "y": 120, "width": 50, "height": 40});
    let part = desk.ask("screen.read_capture", Some(&id), json!({"region": region})).await;
    assert_pixels(&image(&part), Rect::new(0, 0, 50, 40), |x, y| pattern(x + 10, y + 20));
    assert_eq!(data(&part)["given"]["region"], region);
    assert_eq!(data(&part)["area"], json!({"x": 0, "y": 0, "width": 2000, "height": 1000}));
    let small = desk.ask("screen.read_capture", Some(&id), json!({"maxWidth": 200})).await;
    assert_eq!((image(&small).width(), &data(&small)["given"]["scale"]), (200, &json!(0.1)));
    let jpeg =
        desk.ask("screen.read_capture", Some(&id), json!({"format": "jpeg", "return": "base64"})).await;
    assert_eq!(bytes(&data(&jpeg)["given"]["base64"])[..3], [0xff, 0xd8, 0xff]);
    let outside = json!({"x": 1990, "y": 0, "width": 20, "height": 10});
    let answer = desk.ask("screen.read_capture", Some(&id), json!({"region": outside})).await;
    assert_eq!(answer["error"]["details"]["field"], "options.region", "{answer}");

    let parts = fs::read_dir(desk.state("captures/pictures")).expect("pictures are kept").flatten();
    let file = parts.map(|part| part.path().join(&id)).find(|file| file.exists()).expect("it is there");
    assert_eq!(fs::metadata(&file).expect("it is there").permissions().mode() & 0o777, 0o600);
    let listed = desk.ask("screen.captures", None, json!({})).await;
    assert_eq!(data(&listed)["captures"][0]["file"]["captureId"], id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_picture_is_known_in_its_scope_alone_and_by_the_rules_it_was_taken_by() {
    let server = XServer::start();
    let client = server.client();
    client.window(Rect::new(0, 0, 640, 480), 0x10_20_30);
    let desk = ScreenScope::on(&server, json!({}));
    let kept = desk.ask("screen.capture", None, json!({"return": "fileRef"})).await;
    let id = data(&kept)["captureId"].as_str().expect("an id").to_owned();
    let answer = desk.ask_in("other", "screen.read_capture", Some(&id), json!({})).await;
    assert_eq!(refusal(&answer).0, "not_found");
    let listed = desk.ask_in("other", "screen.captures", None, json!({})).await;
    assert_eq!(data(&listed)["captures"], json!([]));

    for (policy, rule) in [
        (json!({"deniedWindows": [{"title": "*bank*"}]}), "rules-changed"),
        (json!({"allowDisplays": false}), "displays-off"),
    ] {
        desk.change(policy);
        let answer = desk.ask("screen.read_capture", Some(&id), json!({})).await;
        assert_eq!(refusal(&answer), ("permission_denied", "screen", rule));
        let listed = desk.ask("screen.captures", None, json!({})).await;
        assert_eq!(data(&listed)["captures"], json!([]));
    }
    desk.change(json!({}));
    data(&desk.ask("screen.read_capture", Some(&id), json!({})).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_facts_of_a_picture_that_was_only_sent_are_known_without_its_pixels() {
    let server = XServer::start();
    let client = server.client();
    client.window(Rect::new(0, 0, 640, 480), 0x10_20_30);
    let desk = ScreenScope::on(&server, json!({}));
    let region = json!({"x": 100, "y": 50, "width": 400, "height": 200});
    let sent = desk.ask("screen.capture", None, json!({"region": region, "maxWidth": 200})).await;
    let id = data(&sent)["captureId"].as_str().expect("an id").to_owned();
    let facts = desk.ask("screen.read_capture", Some(&id), json!({"return": "facts"})).await;
    let told = data(&facts);
    assert_eq!((&told["area"], &told["scale"], &told["width"]), (&region, &json!(0.5), &json!(200)));
    assert_eq!(told["file"], json!(null));
    let answer = desk.ask("screen.read_capture", Some(&id), json!({})).await;
    assert_eq!(refusal(&answer).0, "not_found");
    assert!(answer["error"]["hints"][0].as_str().expect("a hint").contains("fileRef"));
    let kept: Vec<_> = fs::read_dir(desk.state("captures")).expect("a folder").flatten().collect();
    assert_eq!(kept.len(), 1, "facts, and no pixels");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_history_has_every_capture_and_no_pixel_and_no_title_of_any() {
    let server = XServer::start();
    let client = server.client();
    let window = client.patterned(Rect::new(0, 0, 640, 480));
    client.text(window, "_NET_WM_NAME", "UTF8_STRING", b"Quarterly figures of Example Corp");
    let desk = ScreenScope::on(&server, json!({}));
    let mut secrets = vec!["Quarterly figures".to_owned()];
    for options in [json!({}), json!({"return": "base64", "maxOutputBytes": 200_000})] {
        let answer = desk.ask("screen.capture", None, options).await;
        let base64 = answer["images"][0]["base64"].as_str().or(answer["data"]["base64"].as_str());
        let base64 = base64.unwrap_or_else(|| panic!("{answer}"));
        secrets.push(base64[base64.len() / 2..][..60].to_owned());
    }
    data(&desk.ask("screen.list", None, json!({"detail": "full"})).await);
    let failed = desk.ask("screen.capture", Some(":999"), json!({"maxWidth": 100})).await;
    assert_eq!(refusal(&failed).0, "not_found");
    let timeline = desk.ask("history.timeline", None, json!({})).await;
    let text = timeline.to_string();
    assert_eq!(text.matches("\"screen.capture\"").count(), 3, "{text}");
    let replay = desk.ask("history.failed_replay", None, json!({})).await;
    let template = &data(&replay)["failed"][0];
    assert_eq!(template["replayable"], false, "{template}");
    assert!(template["reasons"].to_string().contains("capture"), "{template}");
    assert_eq!(template["envelope"]["options"]["maxWidth"], 100);
    for entry in fs::read_dir(desk.state(".")).expect("a folder").flatten() {
        if !entry.file_type().expect("a kind").is_dir() {
            let bytes = fs::read(entry.path()).expect("it can be read");
            for secret in &secrets {
                let found = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
                assert!(!found, "{secret} is in {}", entry.path().display());
            }
        }
    }
}
