//! The form of each toolkit, by what its program received: GTK 4, Qt, and a page in Chromium; and a real terminal. The files
//! beside this one have GTK 3.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use x11rb::protocol::xproto::{ConnectionExt as _, InputFocus};

use super::elements::{element, lines, press, see};
use super::scope::refusal;
use support::desktop::{Desktop, Toolkit};
use support::needs::require_program;
use support::patience::{eventually, eventually_some};
use support::scope::TestScope;
use support::service::{Program, TestService};
use support::temporary::TemporaryFolder;

/// Starts a service whose scope reads and uses the windows of a desktop, with pointer and keyboard, too.
fn service(desktop: &Desktop) -> TestService {
    let scope = json!({
        "id": "app", "type": "computer",
        "capabilities": ["ui:read", "ui:control", "input:control", "screen:capture"],
        "policy": {"allowWindows": true, "allowDisplays": true, "visibleInput": "allow"},
    });
    TestScope::new().with_scopes(&[scope]).with_sources(desktop.sources()).host()
}

fn with(op: &str, target: &str, input: Value) -> Value {
    json!({"scope": "app", "op": op, "target": target, "input": input})
}

/// Waits until the program has received these lines.
fn receives(desktop: &mut Desktop, expected: &[&str]) {
    let mut received = Vec::new();
    eventually(&format!("the program receives {expected:?}"), || {
        received.extend(desktop.received());
        received.len() >= expected.len()
    });
    assert_eq!(received, expected);
}

/// Waits until the last line that the program has received is this one: some tell of steps on the way.
fn receives_at_last(desktop: &mut Desktop, expected: &str) {
    let mut received = Vec::new();
    eventually(&format!("the program receives {expected:?} at last"), || {
        received.extend(desktop.received());
        received.last().is_some_and(|line| line == expected)
    });
}

/// Has an element set, which programs do at once, and expects it to be read back and received.
async fn sets(host: &TestService, desktop: &mut Desktop, (element, value): (&str, &str), expected: &[&str]) {
    let done = host.data(with("ui.set_value", element, json!({"value": value}))).await;
    assert_eq!((&done["effect"], &done["path"]), (&json!("confirmed"), &json!("value")), "{done:#}");
    receives(desktop, expected);
}

/// Has something pressed or selected, and expects it to be received.
async fn does(host: &TestService, desktop: &mut Desktop, request: Value, expected: &[&str]) {
    let done = host.data(request.clone()).await;
    // Toolkits press with a delay, so that on a busy computer the effect may come later than it is looked for.
    let is_late = done["effect"] == "unverifiable" || done["effect"] == "suspected_noop";
    assert!(done["effect"] == "confirmed" || is_late, "{request}: {done:#}");
    support::system::tell(&format!("{}: {}", expected[0], done["effect"]));
    receives(desktop, expected);
}

/// Waits until the window lists all of these, and returns what it lists.
async fn listed(host: &TestService, desktop: &Desktop, texts: &[&str]) -> Value {
    eventually_some(&format!("the window shows {texts:?}"), async || {
        let seen = host.send(see(desktop)).await["data"].take();
        let all = seen["elements"].as_array()?;
        let has = |text: &&str| all.iter().any(|line| line.as_str().is_some_and(|line| line.contains(text)));
        (seen["complete"] == true && texts.iter().all(has)).then_some(seen)
    })
    .await
}

/// A terminal of its own kind, which shows no elements: what is typed there runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_terminal_shows_no_element_and_gets_no_input() {
    require_program("xterm");
    let desktop = Desktop::start("form", "Form");
    let folder = TemporaryFolder::new();
    let received = folder.path().join("received");
    let sources = desktop.sources();
    let terminal = Command::new("xterm")
        .args(["-T", "Shell", "-e", "sh", "-c", "echo ready > received; cat >> received"])
        .current_dir(folder.path())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", folder.path())
        .env("DISPLAY", desktop.server.id())
        .env("XAUTHORITY", sources.authority.as_ref().expect("a cookie"))
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("xterm starts");
    let _terminal = Program(terminal);
    eventually("the terminal runs its program", || {
        fs::read_to_string(&received).is_ok_and(|it| it == "ready\n")
    });
    let window = desktop.window_of("Shell");
    let number = u32::from_str_radix(window.rsplit_once("/0x").expect("a window").1, 16).expect("a number");
    let connection = &desktop.client.connection;
    connection.set_input_focus(InputFocus::PARENT, number, x11rb::CURRENT_TIME).expect("sent");
    desktop.client.sync();
    let host = service(&desktop);
    let seen = host.send(with("ui.see", &window, json!({}))).await;
    assert_eq!(refusal(&seen).0, "provider_unavailable", "{seen:#}");
    desktop.rest();
    for (op, input) in [
        ("input.type", json!({"text": "x"})),
        ("input.key", json!({"keys": "enter"})),
        ("input.click", json!({"point": {"x": 10, "y": 10}, "button": "middle"})),
    ] {
        let request = json!({
            "scope": "app", "op": op, "target": window, "input": input, "options": {"foreground": true},
        });
        let answer = host.send(request).await;
        assert_eq!(refusal(&answer), ("permission_denied", "screen", "terminal-windows"), "{answer:#}");
    }
    assert_eq!(fs::read_to_string(&received).expect("it is there"), "ready\n");
}

/// Looks at what is the same in every toolkit: roles, names and values, and that nothing is read of a secret.
async fn reads_the_form(host: &TestService, desktop: &Desktop) -> Value {
    let seen = listed(host, desktop, &["Name", "Password", "Save", "Not saved"]).await;
    let all = lines(&seen).join("\n");
    for line in [
        "text field \"Name\" = \"\"",
        "password field \"Password\" secure",
        "text field \"Fixed\" = \"cannot change\"",
        "check box \"Agree\" unchecked",
        "slider \"Level\" = 0",
        "button \"Save\"",
        "button \"Off\" disabled",
        "label \"Not saved\"",
    ] {
        assert!(all.contains(line), "{line}: {all}");
    }
    assert!(!all.contains("hunter2") && !all.contains("Gtk"), "{all}");
    let secret = element(&seen, "\"Password\"");
    for op in ["ui.get_value", "ui.inspect"] {
        assert_eq!(refusal(&host.send(with(op, &secret, json!({}))).await).0, "secure_field", "{op}");
    }
    let answer = host.send(with("ui.set_value", &secret, json!({"value": "x"}))).await;
    assert_eq!(refusal(&answer).0, "secure_field");
    let answer = host.send(press(&element(&seen, "button \"Off\""))).await;
    assert_eq!(refusal(&answer).0, "element_disabled");
    seen
}

/// Clicks the middle of an element: it is where the answer of `ui.see` says.
async fn clicks(host: &TestService, desktop: &mut Desktop, element: &str, expected: &[&str]) {
    desktop.rest();
    let request = json!({
        "scope": "app", "op": "input.click", "target": element, "options": {"foreground": true},
    });
    let clicked = host.send(request).await;
    assert_eq!(clicked["ok"], true, "{clicked:#}");
    receives(desktop, expected);
}

/// Types into the fields, goes by steps, and scrolls a text of many lines.
async fn types_steps_and_scrolls(host: &TestService, desktop: &mut Desktop, seen: &Value) {
    let of = |text: &str| element(seen, text);
    let typed = host.data(with("ui.type", &of("\"Name\""), json!({"text": "Bob ", "clear": true}))).await;
    assert_eq!((&typed["effect"], &typed["path"]), (&json!("confirmed"), &json!("value")), "{typed:#}");
    receives_at_last(desktop, "name Bob ");
    for (text, received) in [("世", "name Bob 世"), ("界", "name Bob 世界"), ("😀!", "name Bob 世界😀!")]
    {
        let typed = host.data(with("ui.type", &of("\"Name\""), json!({"text": text}))).await;
        assert_eq!((&typed["effect"], &typed["path"]), (&json!("confirmed"), &json!("text")), "{typed:#}");
        receives_at_last(desktop, received);
    }
    // Qt counts the last but one as two characters: where the next one would go is not the same everywhere.
    let answer = host.send(with("ui.type", &of("\"Name\""), json!({"text": "x"}))).await;
    assert_eq!(refusal(&answer).0, "unsupported_action", "{answer:#}");
    let done = host.data(with("ui.step", &of("\"Level\""), json!({"by": -2}))).await;
    assert_eq!((&done["effect"], &done["new"]), (&json!("confirmed"), &json!("40")), "{done:#}");
    receives(desktop, &["level 40.0"]);
    let text: Vec<String> = (0..100).map(|at| format!("line {at}")).collect();
    let input = json!({"text": text.join("\n"), "clear": true});
    let typed = host.data(with("ui.type", &of("\"Notes\""), input)).await;
    assert_eq!(typed["effect"], "confirmed", "{typed:#}");
    eventually("the text is received", || desktop.received().iter().any(|line| line.contains("line 99")));
    let notes = of("\"Notes\"");
    let scroll = |direction: &str, amount: u32| {
        with("ui.scroll", &notes, json!({"direction": direction, "amount": amount}))
    };
    eventually_some("the scroll bar is there", async || {
        host.send(scroll("up", 1_000)).await["data"]["position"].as_f64()
    })
    .await;
    let line = host.data(scroll("down", 3)).await;
    assert_eq!((&line["effect"], &line["path"]), (&json!("confirmed"), &json!("value")), "{line:#}");
    let end = host.data(scroll("down", 1_000)).await;
    assert_eq!((&end["effect"], &end["position"]), (&json!("confirmed"), &json!(1.0)), "{end:#}");
    let again = host.data(scroll("down", 1)).await;
    assert_eq!((&again["path"], &again["position"]), (&json!("none"), &json!(1.0)), "{again:#}");
}

/// Reads and uses the form in Chromium. It lets no field be set: text is typed.
pub(super) async fn a_page_of_chromium_is_read_and_used(scale: u32) {
    let mut desktop = Desktop::form(Toolkit::Web, scale);
    let host = service(&desktop);
    let seen = reads_the_form(&host, &desktop).await;
    let of = |text: &str| element(&seen, text);
    let answer = host.send(with("ui.set_value", &of("\"Name\""), json!({"value": "Ada"}))).await;
    assert_eq!(refusal(&answer).0, "unsupported_action", "{answer:#}");
    let answer = host.send(with("ui.type", &of("\"Name\""), json!({"text": "Ada"}))).await;
    assert_eq!(refusal(&answer).0, "unsupported_action", "{answer:#}");
    let answer = host.send(with("ui.scroll", &of("\"Name\""), json!({"direction": "down"}))).await;
    assert_eq!(refusal(&answer).0, "unsupported_action", "{answer:#}");
    let context = host.data(with("ui.context", &desktop.window(), json!({}))).await;
    let url = context["url"].as_str().unwrap_or_else(|| panic!("{context:#}"));
    assert!(url.starts_with("http://127.0.0.1:"), "{context:#}");
    sets(&host, &mut desktop, (&of("\"Level\""), "42"), &["level 42.0"]).await;
    let done = host.data(with("ui.step", &of("\"Level\""), json!({"by": -2}))).await;
    assert_eq!((&done["effect"], &done["new"]), (&json!("confirmed"), &json!("40")), "{done:#}");
    receives(&mut desktop, &["level 40.0"]);
    does(&host, &mut desktop, press(&of("check box \"Agree\"")), &["agree True"]).await;
    does(&host, &mut desktop, press(&of("button \"Save\"")), &["pressed save"]).await;
    let layout = with("ui.select", &of("combo box \"Layout\""), json!({"item": "Landscape"}));
    does(&host, &mut desktop, layout, &["layout Landscape"]).await;
    clicks(&host, &mut desktop, &of("check box \"Agree\""), &["agree False"]).await;
    let seen = listed(&host, &desktop, &["Saved"]).await;
    assert!(!lines(&seen).iter().any(|line| line.contains("hunter2")), "{seen:#}");
}

/// Reads a page of 1,900 buttons 40 times, and returns how long that took at half and at 95 of 100 times.
pub(super) async fn a_large_page_of_chromium_is_read_in() -> (Duration, Duration) {
    let desktop = Desktop::large_page();
    let host = service(&desktop);
    listed(&host, &desktop, &["Button 0"]).await;
    let mut times = Vec::new();
    for _ in 0..40 {
        let began = Instant::now();
        let seen = host.data(see(&desktop)).await;
        times.push(began.elapsed());
        assert_eq!(lines(&seen).len(), 120);
    }
    times.sort();
    (times[20], times[38])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_of_gtk_4_is_read_and_used_and_is_where_it_says() {
    let mut desktop = Desktop::form(Toolkit::Gtk4, 1);
    let host = service(&desktop);
    let seen = reads_the_form(&host, &desktop).await;
    assert!(lines(&seen).join("\n").contains("text field \"Notes\" = \"first line\""), "{seen:#}");
    // It is called a text field, and gives the text that it hides.
    let pin = element(&seen, "password field \"Pin\" secure");
    assert_eq!(refusal(&host.send(with("ui.get_value", &pin, json!({}))).await).0, "secure_field");
    let of = |text: &str| element(&seen, text);
    sets(&host, &mut desktop, (&of("\"Name\""), "Ada 世界"), &["name Ada 世界"]).await;
    sets(&host, &mut desktop, (&of("\"Level\""), "42"), &["level 42.0"]).await;
    types_steps_and_scrolls(&host, &mut desktop, &seen).await;
    does(&host, &mut desktop, press(&of("\"Loud\"")), &["loud True"]).await;
    does(&host, &mut desktop, press(&of("button \"Save\"")), &["pressed save"]).await;
    // It tells no action of a check box: that is for the pointer.
    let answer = host.send(press(&of("check box \"Agree\""))).await;
    assert_eq!(refusal(&answer).0, "unsupported_action", "{answer:#}");
    clicks(&host, &mut desktop, &of("check box \"Agree\""), &["agree True"]).await;
    let seen = listed(&host, &desktop, &["Saved"]).await;
    assert!(lines(&seen).iter().any(|line| line.contains("check box \"Agree\" checked")), "{seen:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_of_qt_is_read_and_used_and_is_where_it_says() {
    let mut desktop = Desktop::form(Toolkit::Qt, 1);
    let host = service(&desktop);
    let seen = reads_the_form(&host, &desktop).await;
    let of = |text: &str| element(&seen, text);
    sets(&host, &mut desktop, (&of("\"Name\""), "Ada 世界"), &["name Ada 世界"]).await;
    sets(&host, &mut desktop, (&of("\"Level\""), "42"), &["level 42.0"]).await;
    types_steps_and_scrolls(&host, &mut desktop, &seen).await;
    let stepped = host.data(with("ui.step", &of("\"Count\""), json!({"by": 3}))).await;
    assert_eq!((&stepped["effect"], &stepped["new"]), (&json!("confirmed"), &json!("3")), "{stepped:#}");
    receives(&mut desktop, &["count 3"]);
    does(&host, &mut desktop, press(&of("check box \"Agree\"")), &["agree True"]).await;
    does(&host, &mut desktop, press(&of("button \"Save\"")), &["pressed save"]).await;
    let row = with("ui.select", &of("list item \"Two\""), json!({}));
    does(&host, &mut desktop, row, &["row Two"]).await;
    let page = with("ui.select", &of("tab \"Colors\""), json!({}));
    does(&host, &mut desktop, page, &["page 1"]).await;
    let menus = host.data(with("menu.list", &desktop.window(), json!({}))).await.to_string();
    assert!(menus.contains("Save as…") && menus.contains("Print"), "{menus}");
    let seen = host.data(see(&desktop)).await;
    let snapshot = seen["snapshot"].as_str().expect("a snapshot");
    let chosen = host.data(with("menu.select", snapshot, json!({"path": ["File", "Save as"]}))).await;
    assert!(chosen["effect"].is_string(), "{chosen:#}");
    receives(&mut desktop, &["menu Save as…"]);
    // What a list shows that is closed is nowhere.
    assert!(!lines(&seen).iter().any(|line| line.contains("list item \"Landscape\"")), "{seen:#}");
    clicks(&host, &mut desktop, &element(&seen, "check box \"Agree\""), &["agree False"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forms_that_are_drawn_twice_as_large_are_where_they_say() {
    for toolkit in [Toolkit::Gtk3, Toolkit::Gtk4, Toolkit::Qt] {
        let mut desktop = Desktop::form(toolkit, 2);
        let host = service(&desktop);
        let seen = listed(&host, &desktop, &["Agree", "Save"]).await;
        clicks(&host, &mut desktop, &element(&seen, "check box \"Agree\""), &["agree True"]).await;
        clicks(&host, &mut desktop, &element(&seen, "button \"Save\""), &["pressed save"]).await;
    }
}
