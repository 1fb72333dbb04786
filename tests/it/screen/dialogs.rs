//! Dialogs of a real program of GTK, which prints what it receives.

use serde_json::{Value, json};

use super::elements::{element, lines, see, service};
use super::input;
use super::scope::refusal;
use support::desktop::Desktop;
use support::patience::eventually;
use support::scope::TestScope;
use support::service::TestService;

fn ask(op: &str, target: &str, input: Value) -> Value {
    json!({"scope": "app", "op": op, "target": target, "input": input})
}

/// Returns the only dialog that the program of a window shows.
async fn only_dialog(host: &TestService, desktop: &Desktop) -> Value {
    let listed = host.data(ask("dialog.list", &desktop.window(), json!({}))).await;
    let dialogs = listed["dialogs"].as_array().expect("dialogs");
    assert!(dialogs.len() == 1 && listed["complete"] == true, "{listed:#}");
    dialogs[0].clone()
}

fn snapshot(dialog: &Value) -> &str {
    dialog["snapshot"].as_str().expect("a snapshot")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dialog_is_filled_in_answered_and_dismissed() {
    let mut desktop = Desktop::start("question", "Question");
    let host = service(&desktop, json!({}));
    let dialog = only_dialog(&host, &desktop).await;
    let id = snapshot(&dialog);
    for (op, input, code) in [
        ("dialog.press", json!({"button": "Sav"}), "element_not_found"),
        ("dialog.input", json!({"text": "x", "field": "T9"}), "element_not_found"),
        ("dialog.input", json!({"text": "x", "field": "B1"}), "unsupported_action"),
    ] {
        assert_eq!(refusal(&host.send(ask(op, id, input)).await).0, code, "{op}");
    }
    assert_eq!(desktop.received(), Vec::<String>::new());
    let answer = host.data(ask("dialog.input", id, json!({"text": "Report"}))).await;
    assert_eq!(
        (&answer["effect"], &answer["new"]),
        (&json!("confirmed"), &json!("\"Report\"")),
        "{answer:#}"
    );
    let answer = host.data(ask("dialog.press", id, json!({"button": "Save"}))).await;
    assert_eq!(answer["effect"], "confirmed", "{answer:#}");
    let mut dry_run = ask("dialog.dismiss", id, json!({}));
    dry_run["options"] = json!({"dryRun": true});
    assert_eq!(host.data(dry_run).await["dryRun"], true);
    let received = desktop.received();
    assert!(received.ends_with(&["name Report".to_owned(), "response save".to_owned()]), "{received:?}");
    let answer = host.data(ask("dialog.dismiss", id, json!({}))).await;
    assert_eq!(answer["effect"], "confirmed", "{answer:#}");
    assert_eq!(desktop.received(), ["response cancel"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_fields_or_buttons_none_is_used_and_both_are_named() {
    let mut desktop = Desktop::start("twins", "Twins");
    let host = service(&desktop, json!({}));
    let dialog = only_dialog(&host, &desktop).await;
    let id = snapshot(&dialog);
    for (op, input, code, candidates) in [
        ("dialog.input", json!({"text": "x"}), "ambiguous_target", json!(["T1 \"First\"", "T2 \"Second\""])),
        (
            "dialog.press",
            json!({"button": "Apply"}),
            "ambiguous_target",
            json!(["B1 \"Apply\"", "B2 \"Apply\""]),
        ),
        (
            "dialog.press",
            json!({"button": "Save"}),
            "element_not_found",
            json!(["B1 \"Apply\"", "B2 \"Apply\""]),
        ),
    ] {
        let answer = host.send(ask(op, id, input)).await;
        assert_eq!(refusal(&answer).0, code, "{op}");
        assert_eq!(answer["error"]["details"]["candidates"], candidates, "{answer:#}");
    }
    assert_eq!(refusal(&host.send(ask("dialog.dismiss", id, json!({}))).await).0, "ambiguous_target");
    assert_eq!(desktop.received(), Vec::<String>::new());
    // Named by its id, each is used.
    host.data(ask("dialog.input", id, json!({"text": "x", "field": "T2"}))).await;
    assert_eq!(desktop.received(), ["text x"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dialog_of_a_window_is_listed_with_it_and_closed() {
    let mut desktop = Desktop::start("ends", "Ends");
    let host = service(&desktop, json!({}));
    let none = host.data(ask("dialog.list", &desktop.window(), json!({}))).await;
    assert_eq!(none["dialogs"], json!([]), "{none:#}");
    let seen = host.data(see(&desktop)).await;
    assert_eq!(desktop.change("ask"), ["opens"]);
    let dialog = only_dialog(&host, &desktop).await;
    assert_eq!((&dialog["title"], &dialog["owner"]), (&json!("\"Question\""), &json!(desktop.window())));
    // The window behind it is no dialog, so nothing of it is pressed.
    let behind = seen["snapshot"].as_str().expect("a snapshot");
    let refused = host.send(ask("dialog.press", behind, json!({"button": "Quit"}))).await;
    assert_eq!(refusal(&refused).0, "invalid_request");
    let answer = host.data(ask("dialog.dismiss", snapshot(&dialog), json!({}))).await;
    assert_eq!(answer["effect"], "confirmed", "{answer:#}");
    assert_eq!(desktop.received(), Vec::<String>::new());
    assert_eq!(host.data(ask("dialog.list", &desktop.window(), json!({}))).await["dialogs"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_box_that_is_not_called_by_its_title_is_listed_and_answered() {
    let mut desktop = Desktop::start("list", "Rows");
    let host = service(&desktop, json!({}));
    for (button, response) in [("Cancel", "response cancel"), ("OK", "response ok")] {
        desktop.change("message");
        let dialog = only_dialog(&host, &desktop).await;
        let lines = lines(&dialog);
        assert!(lines.iter().any(|line| line.contains("\"Delete all rows?\"")), "{dialog:#}");
        assert_eq!(dialog["owner"], json!(desktop.window()), "{dialog:#}");
        let answer = host.data(ask("dialog.press", snapshot(&dialog), json!({"button": button}))).await;
        assert_eq!(answer["effect"], "confirmed", "{answer:#}");
        assert_eq!(desktop.received(), [response]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn windows_in_one_place_are_not_known_by_it() {
    let mut desktop = Desktop::start("list", "Rows");
    let host = service(&desktop, json!({}));
    desktop.change("message");
    desktop.change("message");
    let windows = desktop.server.displays().list().expect("a listing").windows;
    let boxes: Vec<_> = windows.iter().filter(|it| it.owner == Some(desktop.window())).collect();
    assert!(boxes.len() == 2 && boxes[0].bounds == boxes[1].bounds, "{windows:#?}");
    let listed = host.data(ask("dialog.list", &desktop.window(), json!({}))).await;
    assert_eq!((&listed["dialogs"], &listed["complete"]), (&json!([]), &json!(false)), "{listed:#}");
    let seen = host.send(ask("ui.see", &boxes[0].id, json!({}))).await;
    assert_eq!(refusal(&seen).0, "provider_unavailable", "{seen:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dialog_that_asks_for_a_secret_is_listed_by_its_title_and_not_answered() {
    let mut desktop = Desktop::start("login", "Log in");
    let host = service(&desktop, json!({}));
    let dialog = only_dialog(&host, &desktop).await;
    let expected =
        json!({"window": desktop.window(), "title": "\"Log in\"", "elements": [], "forUser": true});
    assert_eq!(dialog, expected);
    // Its elements can be seen otherwise; it is not answered by that snapshot either.
    let seen = host.data(see(&desktop)).await;
    let id = seen["snapshot"].as_str().expect("a snapshot");
    for (op, input) in [
        ("dialog.press", json!({"button": "OK"})),
        ("dialog.input", json!({"text": "ada", "field": field(&seen, "\"User\"")})),
        ("dialog.dismiss", json!({})),
    ] {
        assert_eq!(refusal(&host.send(ask(op, id, input)).await).0, "secure_field", "{op}");
    }
    assert_eq!(desktop.received(), Vec::<String>::new());
}

/// Returns a request of each operation that could act on the elements of a window, with what would have to be pressed or set.
fn acts(seen: &Value, button: &str, field: &str) -> Vec<Value> {
    let (button, field) = (element(seen, button), element(seen, field));
    let (id, snapshot) = field.split_once('@').expect("an id with its snapshot");
    [
        ("ui.press", button.as_str(), json!({})),
        ("ui.action", &button, json!({"name": "click"})),
        ("ui.focus", &field, json!({})),
        ("ui.scroll_to", &button, json!({})),
        ("ui.set_value", &field, json!({"value": "ada"})),
        ("ui.type", &field, json!({"text": "ada", "submit": true})),
        ("ui.step", &field, json!({"by": 1})),
        ("ui.scroll", &field, json!({"direction": "down"})),
        ("ui.fill", snapshot, json!({"fields": [{"element": id, "value": "ada"}]})),
        ("dialog.press", snapshot, json!({"button": "No such"})),
        ("dialog.input", snapshot, json!({"text": "ada", "field": "T99"})),
        ("dialog.dismiss", snapshot, json!({})),
    ]
    .into_iter()
    .map(|(op, target, input)| ask(op, target, input))
    .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_pressed_set_or_typed_in_a_dialog_that_asks_for_a_secret() {
    let mut desktop = Desktop::start("login", "Log in");
    let host = input::service(&desktop, json!({}));
    let seen = host.data(see(&desktop)).await;
    desktop.focus();
    let window = desktop.window();
    let mut requests = acts(&seen, "\"OK\"", "\"User\"");
    for (op, target, input) in [
        ("input.click", window.as_str(), json!({"point": {"x": 10, "y": 10}})),
        ("input.click", &element(&seen, "\"OK\""), json!({})),
        ("input.scroll", &window, json!({"point": {"x": 10, "y": 10}, "dy": 1})),
        ("input.type", &window, json!({"text": "ada"})),
        ("input.key", &window, json!({"keys": "enter"})),
        ("input.key_hold", &window, json!({"keys": "enter", "ms": 20})),
    ] {
        let mut request = ask(op, target, input);
        request["options"] = json!({"foreground": true});
        requests.push(request);
    }
    for request in requests {
        assert_eq!(refusal(&host.send(request.clone()).await).0, "secure_field", "{request}");
    }
    assert_eq!(desktop.received(), Vec::<String>::new());
}

fn field(seen: &Value, words: &str) -> String {
    let named = element(seen, words);
    named.split('@').next().expect("an id").to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hidden_dialogs_and_those_of_terminals_are_neither_listed_nor_answered() {
    let mut desktop = Desktop::start("question", "Question");
    let host = service(&desktop, json!({"deniedWindows": [{"title": "*vault*"}]}));
    let window = desktop.window();
    let dialog = only_dialog(&host, &desktop).await;
    let id = snapshot(&dialog);
    let answers = [
        ("dialog.press", json!({"button": "Save"})),
        ("dialog.input", json!({"text": "x"})),
        ("dialog.dismiss", json!({})),
    ];
    desktop.change("title My vault");
    for (op, target, input) in answers.iter().map(|(op, input)| (*op, id, input)).chain([(
        "dialog.list",
        window.as_str(),
        &json!({}),
    )]) {
        let answer = host.send(ask(op, target, input.clone())).await;
        assert_eq!(refusal(&answer), ("permission_denied", "screen", "denied-windows"), "{op}");
    }
    desktop.change("title Question");
    let number = u32::from_str_radix(window.rsplit_once("/0x").expect("a window").1, 16).expect("a number");
    desktop.client.text(number, "WM_CLASS", "STRING", b"xterm\0XTerm\0");
    for (op, input) in &answers {
        let answer = host.send(ask(op, id, input.clone())).await;
        assert_eq!(refusal(&answer), ("permission_denied", "screen", "terminal-windows"), "{op}");
    }
    assert_eq!(desktop.received(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dialog_of_what_bailiwick_runs_in_is_the_users() {
    let mut desktop = Desktop::start("question", "Question");
    let host = service(&desktop, json!({}));
    let seen = host.data(see(&desktop)).await;
    // The program is one that Bailiwick was started by, such as a client.
    let program = support::program();
    let program = program.file_name().expect("a name").to_string_lossy().into_owned();
    desktop.change(&format!("child {program}"));
    let listed = only_dialog(&host, &desktop).await;
    assert_eq!((&listed["forUser"], &listed["elements"]), (&json!(true), &json!([])), "{listed:#}");
    for request in acts(&seen, "\"Save\"", "\"File name\"") {
        let answer = host.send(request.clone()).await;
        assert_eq!(refusal(&answer), ("permission_denied", "screen", "bailiwick-windows"), "{request}");
    }
    assert_eq!(desktop.received(), Vec::<String>::new());
}

/// Starts a service whose scope changes windows.
fn service_that_closes(desktop: &Desktop) -> TestService {
    let scope = json!({
        "id": "app", "type": "computer", "capabilities": ["ui:read", "window:read", "window:control"],
        "policy": {"allowWindows": true},
    });
    TestScope::new().with_scopes(&[scope]).with_sources(desktop.sources()).host()
}

/// Asks for a window to be closed, by each operation that could, as a dry run and in earnest. Returns the codes.
async fn codes_of_closing(host: &TestService, window: &str) -> Vec<String> {
    let mut codes = Vec::new();
    for op in ["window.close", "app.quit"] {
        for options in [json!({"dryRun": true}), json!({})] {
            let request = json!({"scope": "app", "op": op, "target": window, "options": options});
            let answer = host.send(request).await;
            let (code, _, rule) = refusal(&answer);
            codes.push(if rule.is_empty() { code.to_owned() } else { rule.to_owned() });
        }
    }
    codes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_that_asks_for_a_secret_is_closed_by_the_user_alone() {
    let mut desktop = Desktop::start("login", "Log in");
    let _manager = desktop.server.manage();
    let host = service_that_closes(&desktop);
    assert_eq!(codes_of_closing(&host, &desktop.window()).await, ["secure_field"; 4]);
    assert_eq!(desktop.received(), Vec::<String>::new());
    // Nor is the window behind such a dialog, which would go with it.
    let mut desktop = Desktop::start("list", "Rows");
    let _manager = desktop.server.manage();
    desktop.change("password");
    eventually("the dialog is there", || {
        let windows = desktop.server.displays().list().expect("a listing").windows;
        windows.iter().any(|it| it.title == "Password" && it.owner == Some(desktop.window()))
    });
    let host = service_that_closes(&desktop);
    assert_eq!(codes_of_closing(&host, &desktop.window()).await, ["secure_field"; 4]);
    assert_eq!(desktop.received(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_in_which_bailiwick_runs_is_closed_by_the_user_alone() {
    let mut desktop = Desktop::start("list", "Rows");
    let _manager = desktop.server.manage();
    let program = support::program();
    let program = program.file_name().expect("a name").to_string_lossy().into_owned();
    desktop.change(&format!("child {program}"));
    let host = service_that_closes(&desktop);
    assert_eq!(codes_of_closing(&host, &desktop.window()).await, ["bailiwick-windows"; 4]);
    assert_eq!(desktop.received(), Vec::<String>::new());
}
