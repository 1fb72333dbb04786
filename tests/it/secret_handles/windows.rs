//! What windows, menus, dialogs and the clipboard show has handles in the place of secrets, too.

use support::desktop::Desktop;

use super::*;

/// A value that a window shows beside its name at first.
const NAMED: &str = "correct-horse-battery-77";
/// Values that only the config names, one with characters that quotes escape.
const CONFIGURED: &str = "zebra-stripes-4711";
const QUOTED: &str = r#"pa"ss\wo rd-4711"#;

/// Starts a service whose scope `app` shows handles, and whose scope `plain` shows what there is.
fn service(desktop: &Desktop) -> TestService {
    let scope = |id: &str, secrets: &str| {
        json!({
            "id": id, "type": "computer",
            "capabilities": [
                "ui:read", "ui:control", "window:read", "window:control", "clipboard:read", "clipboard:write",
                "screen:capture", "history:read",
            ],
            "policy": {
                "allowWindows": true, "allowDisplays": true, "secrets": secrets,
                "environment": {"DEPLOY_TOKEN": CONFIGURED, "OTHER_TOKEN": QUOTED},
            },
        })
    };
    TestScope::new()
        .with_scopes(&[scope("app", "handles"), scope("plain", "off")])
        .with_sources(desktop.sources())
        .host()
}

fn request(op: &str, target: &str, input: Value) -> Value {
    let target = (!target.is_empty()).then_some(target);
    json!({"scope": "app", "op": op, "target": target, "input": input})
}

/// Returns the id of the element whose line contains a text.
async fn element(host: &TestService, window: &str, text: &str) -> String {
    let seen = host.data(request("ui.see", window, json!({}))).await;
    let lines = seen["elements"].as_array().expect("elements");
    let line = lines.iter().filter_map(Value::as_str).find(|line| line.contains(text));
    let line = line.unwrap_or_else(|| panic!("{text}: {seen:#}"));
    format!("{}@{}", line.split(' ').next().expect("an id"), seen["snapshot"].as_str().expect("a snapshot"))
}

/// Sends a request and checks that its answer has a handle and no value, in whatever form.
async fn hides(host: &TestService, request: Value) -> Value {
    let answer = host.send(request.clone()).await;
    assert_eq!(answer["ok"], true, "{request}: {answer:#}");
    let text = answer.to_string();
    let (mut shown, mut rest) = (String::new(), text.as_str());
    // However often quotes are escaped.
    while let Some(at) = rest.find('\\') {
        shown.push_str(&rest[..at]);
        rest = &rest[at + 1..];
    }
    shown.push_str(rest);
    for value in [NAMED, CONFIGURED, &QUOTED.replace('\\', "")] {
        assert!(!shown.contains(value), "{request}: {value}: {answer:#}");
    }
    assert!(text.contains("{{secret:"), "{request}: {answer:#}");
    answer["data"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_title_element_or_value_of_a_window_shows_a_secret() {
    let mut desktop = Desktop::start("form", "Form");
    let host = service(&desktop);
    let window = desktop.window();
    let field = element(&host, &window, "\"Name\"").await;
    for value in [&format!("DB_PASSWORD={NAMED}"), NAMED, &format!("it is {CONFIGURED}"), QUOTED] {
        // Another scope, which shows it, puts it there.
        let seen = host.data(json!({"scope": "plain", "op": "ui.see", "target": &window})).await;
        let target = format!(
            "{}@{}",
            field.split('@').next().expect("an id"),
            seen["snapshot"].as_str().expect("an id")
        );
        host.data(
            json!({"scope": "plain", "op": "ui.set_value", "target": target, "input": {"value": value}}),
        )
        .await;
        desktop.change(&format!("title {value}"));
        let snapshot = element(&host, &window, "\"Name\"").await;
        for (op, target, input) in [
            ("window.list", "", json!({})),
            ("screen.list", "", json!({})),
            ("ui.see", window.as_str(), json!({})),
            ("ui.find", &window, json!({"text": "Name"})),
            ("ui.read", &window, json!({})),
            ("ui.get_value", &snapshot, json!({})),
            ("ui.inspect", &snapshot, json!({})),
            ("ui.verify", &window, json!({"conditions": [{"text": "Name"}]})),
            ("ui.wait", &window, json!({"text": "Name"})),
        ] {
            hides(&host, request(op, target, input)).await;
        }
    }
    // What was there before a value is set is in the answer.
    let field = element(&host, &window, "\"Name\"").await;
    hides(&host, request("ui.set_value", &field, json!({"value": "Ada"}))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_menu_or_dialog_shows_a_secret() {
    let mut desktop = Desktop::start("widgets", "Widgets");
    let host = service(&desktop);
    for value in [&format!("API_KEY={NAMED}"), CONFIGURED, QUOTED] {
        desktop.change(&format!("entry {value}"));
        hides(&host, request("menu.list", &desktop.window(), json!({"path": ["File"]}))).await;
    }
    let desktop = Desktop::start("question", QUOTED);
    let host = service(&desktop);
    hides(&host, request("dialog.list", &desktop.window(), json!({}))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_clipboard_shows_no_secret_that_a_window_or_the_config_named() {
    let desktop = Desktop::start("form", &format!("DB_PASSWORD={NAMED}"));
    let host = service(&desktop);
    hides(&host, request("window.list", "", json!({}))).await;
    for value in [NAMED, CONFIGURED, QUOTED] {
        let put = json!({"scope": "plain", "op": "clipboard.set", "input": {"text": format!("<{value}>")}});
        host.data(put).await;
        hides(&host, request("clipboard.get", "", json!({"type": "text"}))).await;
    }
}
