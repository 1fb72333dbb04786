//! Whole jobs on private displays, by a client that speaks MCP to the program: a form in a browser, a file manager, an editor
//! and its file dialog, a window of settings, and a program of which only the picture can be read.

use serde_json::{Value, json};

use super::private::CAPABILITIES;
use support::elements::lines;
use support::needs::{lacks_full_sandbox, require_program};
use support::patience::eventually_some;
use support::scope::TestScope;
use support::service::{Program, TestService, data};
use support::stdio_client::{StdioClient, outcome};

/// A client with a display of its own.
pub(super) struct Session {
    client: StdioClient,
    host: TestService,
    display: String,
    scale: u32,
    _program: Program,
}

impl Session {
    /// Starts one whose display has a size, and whose programs draw so many times larger than usual.
    pub(super) async fn start((width, height): (u32, u32), scale: u32) -> Self {
        for program in ["Xvfb", "openbox", "dbus-daemon"] {
            require_program(program);
        }
        let commands = ["python3 *", "l3afpad *", "obconf *", "thunar *", "chromium *"];
        let policy = json!({
            "allowedCommands": commands, "allowDisplays": true, "allowWindows": true, "visibleInput": "allow",
            "allowedEnvironment": ["GDK_SCALE", "NO_AT_BRIDGE"],
        });
        let host = TestScope::new().with_capabilities(CAPABILITIES).with_policy(policy).host();
        let mut program = host.mcp();
        let mut client = StdioClient::of(&mut program.0);
        client.initialize("2025-06-18").await;
        let mut session = Self { client, host, display: String::new(), scale, _program: program };
        let made = session.does("display.create", None, json!({"width": width, "height": height})).await;
        session.display = made["display"].as_str().expect("a display").to_owned();
        session
    }

    /// Ends the display, with its programs.
    async fn end(mut self) {
        let display = self.display.clone();
        self.does("display.release", Some(&display), json!({})).await;
    }

    /// Sends a request, and returns the whole answer.
    async fn ask(&mut self, op: &str, target: Option<&str>, input: Value) -> Value {
        let options = match op.starts_with("input.") {
            true => json!({"foreground": true}),
            false => json!({}),
        };
        let request = json!({"scope": "app", "op": op, "target": target, "input": input, "options": options});
        outcome(&self.client.call("computer_operation", request).await)
    }

    /// Sends a request that must succeed, and returns its `data`. Where pointer and keyboard were used just now, as those of a new
    /// display are, it asks again, as the answer says.
    async fn does(&mut self, op: &str, target: Option<&str>, input: Value) -> Value {
        let answer = eventually_some("pointer and keyboard rest", async || {
            let answer = self.ask(op, target, input.clone()).await;
            (answer["error"]["code"] != "user_active").then_some(answer)
        })
        .await;
        assert_eq!(answer["ok"], true, "{op} {target:?} {input}: {answer:#}");
        data(&answer).clone()
    }

    /// Starts a program, and returns its process.
    async fn launch(&mut self, command: Value, variables: Value) -> String {
        let mut env = json!({"GDK_SCALE": self.scale.to_string()});
        env.as_object_mut().expect("an object").extend(variables.as_object().expect("an object").clone());
        let launched = self.does("app.launch", None, json!({"command": command, "env": env})).await;
        launched["processId"].as_str().expect("a process").to_owned()
    }

    /// Waits for a window whose title contains a text, and returns its id.
    async fn window(&mut self, title: &str) -> String {
        eventually_some(&format!("a window is called {title}"), async || {
            let listed = self.does("window.list", None, json!({})).await;
            let windows = listed["windows"].as_array().expect("windows");
            let found =
                windows.iter().find(|it| it["title"].as_str().is_some_and(|it| it.contains(title)))?;
            Some(found["window"].as_str().expect("an id").to_owned())
        })
        .await
    }

    /// Waits until a window lists an element whose line contains a text, and returns it with its snapshot.
    async fn element(&mut self, window: &str, text: &str) -> String {
        eventually_some(&format!("the window shows {text}"), async || {
            let seen = self.ask("ui.see", Some(window), json!({})).await;
            let seen = &seen["data"];
            seen["elements"].as_array()?;
            let found = lines(seen).into_iter().find(|it| it.contains(text))?;
            let id = found.split(' ').next().expect("an id");
            Some(format!("{id}@{}", seen["snapshot"].as_str().expect("a snapshot")))
        })
        .await
    }

    /// Waits until a file of the scope holds a text.
    async fn file(&self, name: &str, text: &str) {
        eventually_some(&format!("{name} holds {text}"), async || {
            std::fs::read_to_string(self.host.path(name)).ok().filter(|it| it.contains(text))
        })
        .await;
    }
}

/// A program that shows no elements: only its picture has its text.
const DRAWN: &str = r#"
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
window, box = Gtk.Window(title="Drawn"), Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=30)
for text in ("Open the folder", "Export as picture", "Delete everything"):
    label, button = Gtk.Label(), Gtk.Button()
    label.set_markup(f"<span font='DejaVu Sans 14' foreground='black'>{text}</span>")
    button.add(label)
    button.connect("clicked", lambda _, text=text: open("received", "a").write(text + "\n"))
    box.add(button)
window.add(box)
window.show_all()
Gtk.main()
"#;

/// Finds a text by its picture, and clicks it.
async fn clicks_what_only_its_picture_shows(session: &mut Session) {
    session.host.write("drawn.py", DRAWN);
    session.launch(json!(["python3", "drawn.py"]), json!({"NO_AT_BRIDGE": "1"})).await;
    let window = session.window("Drawn").await;
    let seen = session.ask("ui.see", Some(&window), json!({})).await;
    assert_eq!(seen["error"]["code"], "provider_unavailable", "{seen:#}");
    let at: Vec<i64> = eventually_some("the text is read", async || {
        let read = session.does("screen.ocr", Some(&window), json!({"find": "Export as picture"})).await;
        serde_json::from_value(read["lines"][0]["at"].clone()).ok()
    })
    .await;
    let point = json!({"x": at[0] + at[2] / 2, "y": at[1] + at[3] / 2});
    session.does("input.click", None, json!({"point": point})).await;
    session.file("received", "Export as picture\n").await;
}

/// Writes a text in an editor, and saves it under another name by the dialog for that.
async fn exports_from_an_editor(session: &mut Session) {
    require_program("l3afpad");
    session.host.write("notes.txt", "first\n");
    session.launch(json!(["l3afpad", "notes.txt"]), json!({})).await;
    let window = session.window("notes.txt").await;
    let text = session.element(&window, "text field = \"first").await;
    let set = session.does("ui.set_value", Some(&text), json!({"value": "first\nsecond 世界\n"})).await;
    assert_eq!(set["effect"], "confirmed", "{set:#}");
    // By its menu the dialog would keep the program from showing elements until it is answered.
    session.does("window.focus", Some(&window), json!({})).await;
    session.does("input.key", Some(&window), json!({"keys": "ctrl+shift+s"})).await;
    let dialog = eventually_some("the dialog is there", async || {
        let listed = session.ask("dialog.list", Some(&window), json!({})).await;
        let snapshot = listed["data"]["dialogs"][0]["snapshot"].as_str()?;
        Some(snapshot.to_owned())
    })
    .await;
    session.does("dialog.file", Some(&dialog), json!({"path": "exported.txt", "mode": "save"})).await;
    session.file("exported.txt", "first\nsecond 世界\n").await;
}

/// Changes a setting in a window of settings, and finds it in the file that the program keeps.
async fn changes_a_setting(session: &mut Session) {
    require_program("obconf");
    session.host.write(
        "rc.xml",
        "<?xml version=\"1.0\"?>\n<openbox_config xmlns=\"http://openbox.org/3.4/rc\"><focus><followMouse>no</followMouse></focus>\
         </openbox_config>\n",
    );
    session.launch(json!(["obconf", "--config-file", "rc.xml"]), json!({})).await;
    let window = session.window("Openbox Configuration Manager").await;
    let tab = session.element(&window, "tab \"Mouse\"").await;
    session.does("ui.select", Some(&tab), json!({})).await;
    let setting =
        session.element(&window, "\"Focus windows when the mouse pointer moves over them\" unchecked").await;
    session.does("ui.press", Some(&setting), json!({})).await;
    session.file("rc.xml", "<followMouse>yes</followMouse>").await;
}

/// Renames a file in a file manager: its rows are seen in its view of details.
async fn renames_a_file(session: &mut Session) {
    require_program("thunar");
    session.host.write("papers/draft.txt", "draft");
    session.launch(json!(["thunar", "papers"]), json!({})).await;
    let window = session.window("papers - Thunar").await;
    session.does("window.focus", Some(&window), json!({})).await;
    session.does("input.key", Some(&window), json!({"keys": "ctrl+2"})).await;
    let row = session.element(&window, "\"draft.txt\"").await;
    session.does("input.click", Some(&row), json!({})).await;
    session.does("input.key", Some(&window), json!({"keys": "f2"})).await;
    let dialog = session.window("Rename \"draft.txt\"").await;
    let name = session.element(&dialog, "text field").await;
    session.does("ui.set_value", Some(&name), json!({"value": "final.txt"})).await;
    let rename = session.element(&dialog, "button \"Rename\"").await;
    session.does("ui.press", Some(&rename), json!({})).await;
    session.file("papers/final.txt", "draft").await;
}

/// A page that logs what it was sent.
const PAGE: &str = r#"<!doctype html><meta charset="utf-8"><title>Order</title>
<form><p><label>Name <input name="name"></label>
<p><label>Password <input type="password" name="secret" value="hunter2-secret"></label>
<p><label>Layout <select name="layout"><option>Portrait<option>Landscape</select></label>
<p><label><input type="checkbox" name="agree"> Agree</label>
<p><button>Send</button></form><p id="status">Not sent
<script>
document.forms[0].onsubmit = event => {
  event.preventDefault();
  const sent = new FormData(event.target);
  sent.delete("secret");
  console.log("received " + JSON.stringify([...sent]));
  document.getElementById("status").textContent = "Sent";
};
</script>"#;

/// Fills and sends the form of a page in Chromium.
async fn sends_a_form_in_a_browser(session: &mut Session) {
    require_program("chromium");
    session.host.write("form.html", PAGE);
    let page = format!("--app=file://{}", session.host.path("form.html").display());
    let profile = format!("--user-data-dir={}", session.host.path("profile").display());
    let scale = format!("--force-device-scale-factor={}", session.scale);
    let mut command = vec![
        "chromium",
        "--no-first-run",
        "--disable-gpu",
        "--force-renderer-accessibility",
        "--enable-logging=stderr",
        &scale,
        &profile,
        &page,
    ];
    // It refuses its own sandbox to root, and within that of Bailiwick.
    command.insert(1, "--no-sandbox");
    let process = session.launch(json!(command), json!({})).await;
    let window = session.window("Order").await;
    let name = session.element(&window, "text field \"Name\"").await;
    // Chromium lets no field be set: the keyboard types.
    session.does("window.focus", Some(&window), json!({})).await;
    session.does("ui.focus", Some(&name), json!({})).await;
    session.does("input.type", Some(&window), json!({"text": "Ada 世界"})).await;
    session.element(&window, "text field \"Name\" = \"Ada 世界\"").await;
    let layout = session.element(&window, "combo box \"Layout\"").await;
    session.does("ui.select", Some(&layout), json!({"item": "Landscape"})).await;
    let agree = session.element(&window, "check box \"Agree\" unchecked").await;
    session.does("input.click", Some(&agree), json!({})).await;
    session.element(&window, "check box \"Agree\" checked").await;
    let send = session.element(&window, "button \"Send\"").await;
    session.does("ui.press", Some(&send), json!({})).await;
    session.element(&window, "\"Sent\"").await;
    eventually_some("the page has received it", async || {
        let read = session.does("process.read", Some(&process), json!({})).await.to_string();
        let expected = ["name", "Ada 世界", "layout", "Landscape", "agree"];
        (read.contains("received") && expected.iter().all(|it| read.contains(it))).then_some(())
    })
    .await;
}

/// Does all five jobs on a display of a size, whose programs draw so many times larger than usual.
pub(super) async fn does_all(size: (u32, u32), scale: u32) {
    if lacks_full_sandbox() {
        return;
    }
    let mut session = Session::start(size, scale).await;
    clicks_what_only_its_picture_shows(&mut session).await;
    exports_from_an_editor(&mut session).await;
    changes_a_setting(&mut session).await;
    renames_a_file(&mut session).await;
    sends_a_form_in_a_browser(&mut session).await;
    session.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_clicks_what_only_its_picture_shows_exports_a_text_and_changes_a_setting() {
    if lacks_full_sandbox() {
        return;
    }
    let mut session = Session::start((1280, 720), 1).await;
    clicks_what_only_its_picture_shows(&mut session).await;
    exports_from_an_editor(&mut session).await;
    changes_a_setting(&mut session).await;
    session.end().await;
}
