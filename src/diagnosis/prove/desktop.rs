//! The desktop: a window on a private display is seen, pressed, typed into and checked. The user's own displays are not used.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use bailiwick_contract::{Containment, ErrorCode, Failure};
use bailiwick_platform::launch::levels;

use crate::installation::child::McpChild;
use crate::installation::limit::Limit;
use crate::installation::steps::{StepError, Steps, wrong};
use crate::installation::text::one_line;

use super::installation::ProofInstallation;

/// A window that prints what it receives.
const WINDOW: &str = r#"
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
def received(*words):
    print(*words, flush=True)
window, box = Gtk.Window(title="Proof"), Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
for name in ("Name", "City"):
    entry = Gtk.Entry()
    entry.get_accessible().set_name(name)
    entry.connect("changed", lambda it, name=name: received(name, it.get_text()))
    box.add(entry)
status, save = Gtk.Label(label="Not saved"), Gtk.Button(label="Save")
save.connect("clicked", lambda _: (received("pressed"), status.set_text("Saved")))
box.add(save)
box.add(status)
window.add(box)
window.connect("destroy", Gtk.main_quit)
window.show_all()
Gtk.main()
"#;
/// What is set, and what is typed.
const TEXTS: [&str; 2] = ["Ada 世界", "London"];
/// How long the program may take to show its elements.
const SHOWN_TIME: Duration = Duration::from_secs(10);
/// How long it may take until nobody has used pointer and keyboard, and until what was done has arrived.
const ARRIVAL_TIME: Duration = Duration::from_secs(4);

/// The window, as it was seen.
struct SeenWindow {
    id: String,
    process: String,
    elements: Vec<String>,
    snapshot: String,
}

impl SeenWindow {
    /// Returns the element whose line contains a text, as a target.
    fn element(&self, text: &str) -> String {
        let line = self.elements.iter().find(|line| line.contains(text)).map_or("", String::as_str);
        format!("{}@{}", line.split(' ').next().unwrap_or_default(), self.snapshot)
    }
}

/// Shows a window, and uses it.
pub fn desktop(steps: &mut Steps, child: &mut McpChild, proof: &ProofInstallation) {
    steps.group("Desktop");
    let limit = steps.limit().clone();
    let names = ["a private display", "see a window", "press a button", "set and type", "check it"];
    let Some(display) = steps.step_or_skip(names[0], || create(child)) else {
        names[1..].iter().for_each(|name| steps.skip(name, "there is no private display"));
        return;
    };
    match steps.step_or_skip(names[1], || see(child, proof, &limit)) {
        Some(seen) => {
            steps.step_or_skip(names[2], || press(child, &seen, &limit));
            steps.step_or_skip(names[3], || fill(child, &seen, &limit));
            steps.step_or_skip(names[4], || check(child, &seen));
        }
        None => names[2..].iter().for_each(|name| steps.skip(name, "there is no window")),
    }
    // It ends with this client at the latest.
    let _ = call(child, "display.release", &display, json!({}));
}

fn create(child: &mut McpChild) -> Result<(String, String), StepError> {
    if let Some(why) = levels().missing(Containment::Full) {
        return Err(StepError::Skipped(format!("programs on private displays need a full sandbox: {why}")));
    }
    let made = call(child, "display.create", "", json!({"width": 640, "height": 480}))?;
    if let Some(missing) = made["missing"][0].as_str() {
        return Err(StepError::Skipped(missing.to_owned()));
    }
    let display = made["display"].as_str().ok_or_else(|| wrong("display.create gave no display"))?;
    Ok((display.to_owned(), format!("{display}, of 640 x 480 pixels")))
}

fn see(
    child: &mut McpChild,
    proof: &ProofInstallation,
    limit: &Limit,
) -> Result<(SeenWindow, String), StepError> {
    fs::write(proof.folder.join("window.py"), WINDOW)
        .map_err(|error| StepError::Skipped(format!("no program can be written: {error}")))?;
    let started = call(child, "app.launch", "", json!({"command": ["python3", "window.py"]}))?;
    let process = started["processId"].as_str().unwrap_or_default().to_owned();
    let seen = limit.wait_for(SHOWN_TIME, || look(child, &process).transpose());
    let seen = seen.ok_or_else(|| wrong("the window does not show its elements"))??;
    let saw = format!("its elements: {}", seen.elements.join(", "));
    Ok((seen, saw))
}

/// Returns the window once it shows all that it has.
fn look(child: &mut McpChild, process: &str) -> Result<Option<SeenWindow>, StepError> {
    let listed = call(child, "window.list", "", json!({}))?;
    let mut windows = listed["windows"].as_array().into_iter().flatten();
    let Some(id) = windows.find(|it| it["title"] == "Proof").and_then(|it| it["window"].as_str()) else {
        let read = call(child, "process.read", process, json!({}))?;
        let said = read["stderr"].as_str().unwrap_or_default().trim();
        return match read["status"] == "running" {
            true => Ok(None),
            false if said.contains("gi") => Err(StepError::Skipped(
                "the window is made with Python and GTK 3 (on Debian: python3-gi gir1.2-gtk-3.0)".to_owned(),
            )),
            false => Err(wrong(format!("its program ended: {}", one_line(said))).into()),
        };
    };
    // Programs show their elements a moment later than their windows.
    let Ok(seen) = call(child, "ui.see", id, json!({})) else { return Ok(None) };
    let lines = seen["elements"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let elements: Vec<String> = lines.map(str::to_owned).collect();
    let is_whole = ["\"Name\"", "\"City\"", "\"Save\"", "\"Not saved\""]
        .iter()
        .all(|text| elements.iter().any(|line| line.contains(text)));
    let snapshot = seen["snapshot"].as_str().unwrap_or_default().to_owned();
    let (id, process) = (id.to_owned(), process.to_owned());
    Ok(is_whole.then_some(SeenWindow { id, process, elements, snapshot }))
}

fn press(child: &mut McpChild, seen: &SeenWindow, limit: &Limit) -> Result<((), String), StepError> {
    let pressed = call(child, "ui.press", &seen.element("\"Save\""), json!({}))?;
    arrives(child, seen, limit, "pressed")?;
    Ok(((), format!("the program received it; effect {}", text(&pressed["effect"]))))
}

fn fill(child: &mut McpChild, seen: &SeenWindow, limit: &Limit) -> Result<((), String), StepError> {
    let [value, typed] = TEXTS;
    let set = call(child, "ui.set_value", &seen.element("\"Name\""), json!({"value": value}))?;
    arrives(child, seen, limit, &format!("Name {value}"))?;
    call(child, "window.focus", &seen.id, json!({}))?;
    call(child, "ui.focus", &seen.element("\"City\""), json!({}))?;
    // The start of a display counts as use of its keyboard.
    let answered =
        limit.wait_for(ARRIVAL_TIME, || match call(child, "input.type", &seen.id, json!({"text": typed})) {
            Err(StepError::Wrong(failure)) if failure.code == ErrorCode::UserActive => None,
            answered => Some(answered),
        });
    answered.ok_or_else(|| wrong("the keyboard of the new display is in use"))??;
    arrives(child, seen, limit, &format!("City {typed}"))?;
    Ok((
        (),
        format!(
            "{value:?} set (effect {}), {typed:?} typed; the program received both",
            text(&set["effect"])
        ),
    ))
}

fn check(child: &mut McpChild, seen: &SeenWindow) -> Result<((), String), StepError> {
    let [value, typed] = TEXTS;
    let conditions = json!([
        {"text": "Name", "value": value}, {"text": "City", "value": typed},
        {"text": "Not saved", "absent": true}, {"text": "Saved"},
    ]);
    let checked = call(child, "ui.verify", &seen.id, json!({"conditions": conditions}))?;
    match checked["verdict"] == "met" {
        true => Ok(((), "the window shows what was set, typed and pressed".to_owned())),
        false => Err(wrong(format!("ui.verify gave {}", checked["each"])).into()),
    }
}

/// Waits until the program has printed a line.
fn arrives(child: &mut McpChild, seen: &SeenWindow, limit: &Limit, line: &str) -> Result<(), StepError> {
    let arrived =
        limit.wait_for(ARRIVAL_TIME, || match call(child, "process.read", &seen.process, json!({})) {
            Ok(read) => text(&read["stdout"]).lines().any(|it| it == line).then_some(Ok(())),
            Err(error) => Some(Err(error)),
        });
    arrived.ok_or_else(|| wrong(format!("the program did not receive `{line}`")))?
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("unknown")
}

/// Calls an operation. What this computer lacks is no fault.
fn call(child: &mut McpChild, op: &str, target: &str, input: Value) -> Result<Value, StepError> {
    let options = if op.starts_with("input.") { json!({"foreground": true}) } else { json!({}) };
    let mut envelope = json!({"scope": "desk", "op": op, "input": input, "options": options});
    if !target.is_empty() {
        envelope["target"] = json!(target);
    }
    let mut outcome = child.call("computer_operation", envelope)?;
    if outcome["ok"] == true {
        return Ok(outcome["data"].take());
    }
    let (code, message) = (&outcome["error"]["code"], text(&outcome["error"]["message"]));
    Err(match code.as_str() {
        Some("provider_unavailable" | "unsupported_platform") => StepError::Skipped(message.to_owned()),
        Some("user_active") => StepError::Wrong(Failure::new(ErrorCode::UserActive, message)),
        _ => StepError::Wrong(wrong(format!("{op} failed: {message}"))),
    })
}
