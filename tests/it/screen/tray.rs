//! Status icons on a real bus: what is listed, and what their programs receive.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::private;
use support::desktop::Desktop;
use support::needs::{lacks_full_sandbox, require_program};
use support::patience::{eventually, eventually_some};
use support::scope::TestScope;
use support::service::TestService;
use support::temporary::TemporaryFolder;
use support::tray::TrayProgram;

fn host(desktop: &Desktop, policy: Value) -> TestService {
    let mut all = json!({"allowWindows": true});
    all.as_object_mut().expect("an object").extend(policy.as_object().expect("an object").clone());
    let scope = json!({
        "id": "app", "type": "computer", "capabilities": ["ui:read", "ui:control"], "policy": all,
    });
    TestScope::new().with_scopes(&[scope]).with_sources(desktop.sources()).host()
}

async fn select(host: &TestService, icon: &str, input: Value) -> Value {
    host.send(json!({"scope": "app", "op": "tray.select", "target": icon, "input": input})).await
}

async fn list(host: &TestService) -> Value {
    host.send(json!({"scope": "app", "op": "tray.list"})).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_icon_receives_what_is_chosen_and_nothing_else() {
    let desktop = Desktop::start("form", "Form");
    let mut tray = TrayProgram::start(&desktop.bus(), ["chat", "Chat", ""]);
    let host = host(&desktop, json!({}));
    let listed = list(&host).await;
    let icons = &listed["data"]["icons"];
    assert_eq!(icons[0]["icon"], tray.icon(), "{listed:#}");
    assert_eq!(
        (&icons[0]["pid"], &icons[0]["status"], icons.as_array().map(Vec::len)),
        (&json!(tray.pid()), &json!("passive"), Some(1)),
        "{listed:#}"
    );
    for (input, effect, changed, received) in [
        (json!({}), "confirmed", json!(["icon"]), "activated"),
        (json!({"path": ["Online"]}), "confirmed", json!(["menu"]), "clicked 1"),
        (json!({"path": ["Online"]}), "confirmed", json!(["menu"]), "clicked 1"),
        // The program fills this menu only when it opens.
        (json!({"path": ["Profiles", "Work"]}), "unverifiable", Value::Null, "clicked 4"),
        (json!({"path": ["Rename"]}), "confirmed", json!(["icon"]), "clicked 6"),
        (json!({"path": ["Stubborn"]}), "suspected_noop", Value::Null, "clicked 7"),
        (json!({"path": ["Silent"]}), "unverifiable", Value::Null, "clicked 8"),
    ] {
        let mut dry_run = json!({"scope": "app", "op": "tray.select", "target": tray.icon(), "input": input});
        dry_run["options"] = json!({"dryRun": true});
        let judged = host.send(dry_run).await;
        assert_eq!(judged["data"], json!({"dryRun": true}), "{judged:#}");
        assert!(tray.is_silent(), "{input}");
        let answer = select(&host, tray.icon(), input.clone()).await;
        assert_eq!(
            (&answer["data"]["effect"], &answer["data"]["changed"]),
            (&json!(effect), &changed),
            "{answer:#}"
        );
        assert_eq!(tray.next(), received, "{input}");
        assert!(tray.is_silent(), "{input}");
    }
    let quit = select(&host, tray.icon(), json!({"path": ["Quit"]})).await;
    assert_eq!(quit["data"]["effect"], "confirmed", "{quit:#}");
    assert_eq!(tray.next(), "clicked 12");
    eventually("the program has ended", || !tray.is_there());
    let gone = select(&host, tray.icon(), json!({})).await;
    assert_eq!(gone["error"]["code"], "provider_unavailable", "it kept the list, too: {gone:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn icons_that_the_scope_does_not_show_and_those_of_bailiwick_s_surroundings_are_not_used() {
    let desktop = Desktop::start("form", "Form");
    let tray = TrayProgram::start(&desktop.bus(), ["keepassxc", "Passwords", ""]);
    let host_of = |policy| host(&desktop, policy);
    for policy in [
        json!({}),
        json!({"openSensitiveWindows": [{"app": "keepassxc"}], "deniedWindows": [{"title": "pass*"}]}),
    ] {
        let host = host_of(policy);
        let listed = list(&host).await;
        assert_eq!(
            (&listed["data"]["icons"], &listed["data"]["withheld"]),
            (&json!([]), &json!(1)),
            "{listed:#}"
        );
        let refused = select(&host, tray.icon(), json!({"path": ["Online"]})).await;
        assert_eq!(refused["error"]["code"], "not_found", "{refused:#}");
    }
    assert!(tray.is_silent());
    let open = host_of(json!({"openSensitiveWindows": [{"app": "keepassxc"}]}));
    assert_eq!(list(&open).await["data"]["icons"][0]["icon"], tray.icon());
    drop(tray);
    // What is typed into a terminal runs, and its menu may type.
    let terminal = TrayProgram::start(&desktop.bus(), ["yakuake", "Yakuake", ""]);
    let refused = select(&host_of(json!({})), terminal.icon(), json!({})).await;
    assert_eq!(refused["error"]["details"]["rule"], "terminal-windows", "{refused:#}");
    assert!(terminal.is_silent());
    drop(terminal);
    // As a client that has started Bailiwick.
    let (folder, program) = (TemporaryFolder::new(), support::program());
    let child = folder.path().join(program.file_name().expect("a name"));
    let client = TrayProgram::with_child(&desktop.bus(), ["chat", "Chat", ""], Some(&child));
    let refused = select(&host_of(json!({})), client.icon(), json!({})).await;
    assert_eq!(refused["error"]["details"]["rule"], "bailiwick-windows", "{refused:#}");
    assert!(client.is_silent());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_icon_of_a_program_that_hangs_is_not_waited_for() {
    let desktop = Desktop::start("form", "Form");
    let watcher = TrayProgram::start(&desktop.bus(), ["chat", "Chat", ""]);
    let host = host(&desktop, json!({}));
    watcher.signal(Signal::STOP);
    let answer = list(&host).await;
    assert_eq!(answer["error"]["code"], "target_unresponsive", "{answer:#}");
    watcher.signal(Signal::CONT);
    assert_eq!(list(&host).await["data"]["icons"][0]["icon"], watcher.icon());
}

/// A status icon as most programs of GTK make it. It connects to the bus before: the library shows no icon where it hears of the list of
/// icons before it has a connection, one time in ten on a busy computer.
const PROGRAM: &str = r#"
import gi
gi.require_version("Gtk", "3.0")
gi.require_version("AyatanaAppIndicator3", "0.1")
from gi.repository import AyatanaAppIndicator3 as Indicator, Gio, Gtk
bus = Gio.bus_get_sync(Gio.BusType.SESSION)
menu = Gtk.Menu()
save = Gtk.MenuItem(label="Save")
save.connect("activate", lambda _: open("saved", "w").write("yes"))
mute = Gtk.CheckMenuItem(label="Mute")
for entry in (save, mute):
    menu.append(entry)
menu.show_all()
icon = Indicator.Indicator.new("notes", "edit", Indicator.IndicatorCategory.APPLICATION_STATUS)
icon.set_title("Notes")
icon.set_status(Indicator.IndicatorStatus.ACTIVE)
icon.set_menu(menu)
Gtk.main()
"#;

/// Waits for the icon of a process, and returns it.
async fn icon(host: &TestService, process: &str) -> Value {
    eventually_some("an icon is listed", async || {
        let listed = list(host).await;
        if let Some(icon) = listed["data"]["icons"].as_array().and_then(|icons| icons.first()) {
            return Some(icon.clone());
        }
        let read = host.read(process, json!({})).await;
        assert_eq!(
            (&read["status"], &listed["ok"]),
            (&json!("running"), &json!(true)),
            "{read:#} {listed:#}"
        );
        None
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_icon_of_a_program_on_a_private_display_is_used_and_is_its_caller_s_alone() {
    require_program("python3");
    if lacks_full_sandbox() {
        return;
    }
    // The bus of the user has an icon, too.
    let desktop = Desktop::start("tray", "Form");
    let host = private::scope().with_sources(desktop.sources()).host();
    let none = list(&host).await;
    assert_eq!(none["error"]["code"], "not_found", "{none:#}");
    host.write("notes.py", PROGRAM);
    let display = private::create(&host).await;
    let none = list(&host).await;
    assert_eq!(none["data"]["icons"], json!([]), "{none:#}");
    let process = private::launch(&host, "notes.py").await;
    let found = icon(&host, &process).await;
    let id = found["icon"].as_str().expect("an id");
    assert!(id.starts_with(&format!("{display}/:")), "{found:#}");
    assert_eq!(
        (&found["name"], &found["title"], &found["menu"]),
        (&json!("notes"), &json!("Notes"), &json!(true))
    );
    let listed = host.data(json!({"op": "tray.list", "target": id})).await;
    assert_eq!(listed["entries"], json!(["\"Save\"", "\"Mute\""]), "{listed:#}");
    // It is a menu alone.
    let refused = select(&host, id, json!({})).await;
    assert_eq!(refused["error"]["code"], "unsupported_action", "{refused:#}");
    let muted = select(&host, id, json!({"path": ["Mute"]})).await;
    assert_eq!(
        (&muted["data"]["effect"], &muted["data"]["changed"]),
        (&json!("confirmed"), &json!(["menu"])),
        "{muted:#}"
    );
    select(&host, id, json!({"path": ["Save"]})).await;
    eventually("the program does what was chosen", || host.path("saved").exists());
    let stolen = select(&host, desktop.icon().expect("an icon"), json!({})).await;
    assert_eq!(stolen["error"]["code"], "not_found", "{stolen:#}");
    host.data(json!({"op": "display.release", "target": display})).await;
    let none = list(&host).await;
    assert_eq!(none["error"]["code"], "not_found", "{none:#}");
}
