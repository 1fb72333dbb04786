//! Typing into fields, steps, scrolling and what has the keyboard, on a real window of GTK, which prints what it receives.

use serde_json::{Value, json};

use super::element_actions::{ask, found};
use super::elements::{element, see, service};
use super::scope::refusal;
use support::desktop::Desktop;
use support::service::TestService;

async fn types(host: &TestService, target: &str, input: Value) -> Value {
    host.data(ask("ui.type", target, input)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_is_typed_at_the_caret_replaces_all_and_is_submitted_only_where_it_is_what_was_typed() {
    let mut desktop = Desktop::start("widgets", "Widgets");
    let host = service(&desktop, json!({}));
    let mail = found(&host, &desktop, json!({"roles": ["text field"], "near": "Mail"})).await;
    for (input, new) in [
        (json!({"text": "ada"}), "\"ada\""),
        // The caret is behind what was typed, as by the keyboard.
        (json!({"text": "@世界"}), "\"ada@世界\""),
        (json!({"text": "eve", "clear": true}), "\"eve\""),
    ] {
        let typed = types(&host, &mail, input.clone()).await;
        assert_eq!(
            (&typed["effect"], &typed["new"]),
            (&json!("confirmed"), &json!(new)),
            "{input}: {typed:#}"
        );
        assert_eq!(typed["path"], if input["clear"] == true { "value" } else { "text" });
    }
    assert_eq!(desktop.received(), Vec::<String>::new());
    let sent = types(&host, &mail, json!({"text": "bob", "clear": true, "submit": true})).await;
    assert_eq!(sent["effect"], "confirmed", "{sent:#}");
    assert!(sent["submitted"].is_string() && sent["submitted"] != "not_done", "{sent:#}");
    assert_eq!(desktop.received(), ["sent"]);
    // A text of several lines has no action that sends it: nothing is typed.
    let notes = found(&host, &desktop, json!({"text": "Notes"})).await;
    let refused = host.send(ask("ui.type", &notes, json!({"text": "x", "submit": true}))).await;
    assert_eq!(refusal(&refused).0, "unsupported_action", "{refused:#}");
    let text = host.data(ask("ui.get_value", &notes, json!({}))).await;
    assert!(text["text"].as_str().is_some_and(|text| text.ends_with("line 399")), "{text:#}");
    let typed = types(&host, &notes, json!({"text": "\nthe end"})).await;
    assert_eq!((&typed["effect"], &typed["path"]), (&json!("confirmed"), &json!("text")), "{typed:#}");
    let mut dry = ask("ui.type", &mail, json!({"text": "x", "submit": true}));
    dry["options"] = json!({"dryRun": true});
    let dry = host.data(dry).await;
    assert_eq!(
        (&dry["dryRun"], &dry["old"], &dry["effect"]),
        (&json!(true), &json!("\"bob\""), &Value::Null)
    );
    assert_eq!(desktop.received(), Vec::<String>::new());

    let mut form = Desktop::start("form", "Form");
    let host = service(&form, json!({}));
    let seen = host.data(see(&form)).await;
    // It takes three characters: what is another text is not sent.
    let short = types(&host, &element(&seen, "\"Short\""), json!({"text": "abcdef", "submit": true})).await;
    assert_eq!((&short["effect"], &short["submitted"]), (&json!("partial"), &json!("not_done")), "{short:#}");
    for (target, input, code) in [
        ("\"Fixed\"", json!({"text": "x"}), "unsupported_action"),
        ("\"Password\"", json!({"text": "x"}), "secure_field"),
        ("\"Level\"", json!({"text": "1"}), "unsupported_action"),
        ("\"Name\"", json!({"text": ""}), "invalid_request"),
        ("\"Name\"", json!({"text": "x".repeat(100_001)}), "invalid_request"),
    ] {
        let answer = host.send(ask("ui.type", &element(&seen, target), input)).await;
        assert_eq!(refusal(&answer).0, code, "{target}: {answer:#}");
    }
    assert_eq!(form.received(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slider_goes_by_steps_of_its_own_and_not_beyond_its_range() {
    let mut desktop = Desktop::start("form", "Form");
    let host = service(&desktop, json!({}));
    let seen = host.data(see(&desktop)).await;
    let level = element(&seen, "\"Level\"");
    let step = |by: i32| ask("ui.step", &level, json!({"by": by}));
    for (by, old, new) in [(42, "0", "42"), (-2, "42", "40"), (60, "40", "100")] {
        let done = host.data(step(by)).await;
        let told = (&done["effect"], &done["old"], &done["new"]);
        assert_eq!(told, (&json!("confirmed"), &json!(old), &json!(new)), "{done:#}");
    }
    assert_eq!(desktop.received(), ["level 42.0", "level 40.0", "level 100.0"]);
    let beyond = host.send(step(1)).await;
    assert_eq!(refusal(&beyond).0, "invalid_request", "{beyond:#}");
    let beyond = host.send(step(-101)).await;
    assert_eq!(beyond["error"]["details"]["steps"], 100.0, "{beyond:#}");
    assert!(beyond["error"]["message"].as_str().is_some_and(|it| it.contains("0 to 100")), "{beyond:#}");
    assert_eq!(refusal(&host.send(step(0)).await).0, "invalid_request");
    let name = host.send(ask("ui.step", &element(&seen, "\"Name\""), json!({"by": 1}))).await;
    assert_eq!(refusal(&name).0, "unsupported_action");
    assert_eq!(desktop.received(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_around_an_element_is_scrolled_to_its_ends_and_no_further() {
    let mut desktop = Desktop::start("widgets", "Widgets");
    let host = service(&desktop, json!({}));
    let notes = found(&host, &desktop, json!({"text": "Notes"})).await;
    let scroll = |target: &str, input: Value| ask("ui.scroll", target, input);
    let position = |answer: &Value| answer["position"].as_f64().unwrap_or_else(|| panic!("{answer:#}"));
    let line = host.data(scroll(&notes, json!({"direction": "down", "amount": 1}))).await;
    assert_eq!((&line["effect"], &line["path"]), (&json!("confirmed"), &json!("value")), "{line:#}");
    let page = host.data(scroll(&notes, json!({"direction": "down", "amount": 1, "unit": "page"}))).await;
    // A page is nine lines of a tenth of what shows.
    assert!(position(&page) > 5.0 * position(&line), "{line:#} {page:#}");
    let end = host.data(scroll(&notes, json!({"direction": "down", "amount": 1000}))).await;
    assert_eq!((&end["effect"], position(&end)), (&json!("confirmed"), 1.0), "{end:#}");
    let again = host.data(scroll(&notes, json!({"direction": "down"}))).await;
    assert_eq!((&again["path"], position(&again)), (&json!("none"), 1.0), "{again:#}");
    let up = host.data(scroll(&notes, json!({"direction": "up", "amount": 1000, "unit": "page"}))).await;
    assert_eq!(position(&up), 0.0, "{up:#}");
    // What is around a button is another than what is around the text.
    let far = found(&host, &desktop, json!({"text": "Far 0", "roles": ["button"]})).await;
    let down = host.data(scroll(&far, json!({"direction": "down", "amount": 1000}))).await;
    assert_eq!(position(&down), 1.0, "{down:#}");
    let seen = host.data(json!({"scope": "app", "op": "ui.find", "target": desktop.window(),
        "input": {"text": "Far 39", "roles": ["button"]}}));
    assert!(!seen.await["candidates"][0].as_str().expect("it").contains("out-of-view"));
    for (target, input, code) in [
        (desktop.window().as_str(), json!({"direction": "down"}), "ambiguous_target"),
        (&notes, json!({"direction": "left"}), "unsupported_action"),
        (&notes, json!({"direction": "down", "amount": 0}), "invalid_request"),
        (&notes, json!({"direction": "around"}), "invalid_request"),
    ] {
        let answer = host.send(scroll(target, input.clone())).await;
        assert_eq!(refusal(&answer).0, code, "{input}: {answer:#}");
    }
    assert_eq!(desktop.received(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_the_keyboard_is_named_and_a_secret_and_a_hidden_window_are_not_read() {
    let mut desktop = Desktop::start("pad", "Pad");
    let host = service(&desktop, json!({"deniedWindows": [{"title": "*vault*"}]}));
    let context = |target: Option<String>| json!({"scope": "app", "op": "ui.context", "target": target});
    desktop.activate();
    let there = host.data(context(None)).await;
    assert!(there["focused"].as_str().is_some_and(|it| it.starts_with("T")), "{there:#}");
    assert_eq!(
        (&there["window"], &there["title"]),
        (&json!(desktop.window()), &json!("\"Pad\"")),
        "{there:#}"
    );
    assert_eq!(there["url"], Value::Null);
    // What is named can be used.
    let id = there["focused"].as_str().and_then(|line| line.split(' ').next()).expect("an id");
    let named = format!("{id}@{}", there["snapshot"].as_str().expect("a snapshot"));
    assert_eq!(types(&host, &named, json!({"text": "hello"})).await["effect"], "confirmed");
    desktop.change("secret");
    let typed = types(&host, &named, json!({"text": "!"})).await;
    assert_eq!(typed["effect"], "confirmed", "it needs no keyboard");
    let secret = host.data(context(None)).await;
    let line = secret["focused"].as_str().expect("it is named");
    assert!(line.contains("password field") && !line.contains(" = "), "{secret:#}");
    // In a window that the user does not work in, nothing has the keyboard.
    let window = desktop.window();
    let other = desktop.client.window(bailiwick::platform::screen::Rect::new(700, 10, 200, 100), 0xff);
    let root = desktop.client.screen().root;
    desktop.client.numbers(root, "_NET_ACTIVE_WINDOW", x11rb::protocol::xproto::AtomEnum::WINDOW, &[other]);
    desktop.client.sync();
    let idle = host.data(context(Some(window.clone()))).await;
    assert_eq!((&idle["window"], &idle["focused"]), (&json!(window), &Value::Null), "{idle:#}");
    desktop.activate();
    desktop.change("title My vault");
    let hidden = host.data(context(None)).await;
    assert_eq!(hidden, json!({"app": null, "window": null, "focused": null}));
    let refused = host.send(context(Some(window))).await;
    assert_eq!(refusal(&refused), ("permission_denied", "screen", "denied-windows"));
}
