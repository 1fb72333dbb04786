//! Replacing what differs from run to run, by the key that holds it.

use serde_json::Value;

/// What one run has seen so far: the values behind the placeholders.
#[derive(Debug, Default)]
pub struct SeenValues {
    /// The ids of the calls, in order.
    pub ids: Vec<String>,
    /// The last `version` of an answer.
    pub version: Option<String>,
    /// The tickets of the answers.
    pub tickets: Vec<String>,
    /// The last `undoId` of an answer.
    pub undo: Option<String>,
    /// The `processId`s of the answers, in order.
    pub processes: Vec<String>,
    /// The last `snapshot` of an answer.
    pub snapshot: Option<String>,
    /// The last private display of an answer.
    pub display: Option<String>,
    /// The last `captureId` of an answer.
    pub capture: Option<String>,
    /// The last `nextCursor` of an answer.
    pub cursor: Option<String>,
    /// The last `resume` of an answer.
    pub resume: Option<String>,
    /// The first handle of a secret in an answer.
    pub handle: Option<String>,
    /// The scope's folder, then the folder that holds it; longer first.
    pub folders: Vec<(String, &'static str)>,
}

impl SeenValues {
    /// Notes the values of an answer that later calls may name.
    pub fn note(&mut self, outcome: &Value) {
        if let Some(id) = outcome["operationId"].as_str() {
            self.ids.push(id.to_owned());
        }
        if let Some(id) = outcome["error"]["details"]["approvalId"].as_str() {
            self.tickets.push(id.to_owned());
        }
        self.note_within(&outcome["data"]);
    }

    fn note_within(&mut self, value: &Value) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    match (key.as_str(), value.as_str()) {
                        ("version", Some(text)) => self.version = Some(text.to_owned()),
                        ("processId", Some(text)) => {
                            if !self.processes.iter().any(|known| known == text) {
                                self.processes.push(text.to_owned());
                            }
                        }
                        ("snapshot", Some(text)) => self.snapshot = Some(text.to_owned()),
                        ("display", Some(text)) => self.display = Some(text.to_owned()),
                        ("captureId", Some(text)) => self.capture = Some(text.to_owned()),
                        ("undoId", Some(text)) => self.undo = Some(text.to_owned()),
                        ("nextCursor", Some(text)) => self.cursor = Some(text.to_owned()),
                        ("resume", Some(text)) => self.resume = Some(text.to_owned()),
                        _ => self.note_within(value),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.note_within(item)),
            Value::String(text) if self.handle.is_none() => {
                let handle =
                    text.find("{{secret:").and_then(|at| Some(&text[at..at + text[at..].find("}}")? + 2]));
                self.handle = handle.map(str::to_owned);
            }
            _ => {}
        }
    }

    /// Puts values for the placeholders of a call: `<id>` (the last call's), `<id 1>` (the first
    /// call's), `<version>`, `<cursor>`, `<undo>`, `<root>`, `<handle>` (the first one), `<process>` (the first
    /// one's id), `<process 2>`.
    pub fn fill(&self, call: &str) -> String {
        let mut text = call.to_owned();
        for (at, id) in self.ids.iter().enumerate() {
            text = text.replace(&format!("<id {}>", at + 1), id);
        }
        for (at, id) in self.processes.iter().enumerate() {
            text = text.replace(&format!("<process {}>", at + 1), id);
        }
        let last = [
            ("<process>", self.processes.first()),
            ("<id>", self.ids.last()),
            ("<version>", self.version.as_ref()),
            ("<cursor>", self.cursor.as_ref()),
            ("<resume>", self.resume.as_ref()),
            ("<undo>", self.undo.as_ref()),
            ("<handle>", self.handle.as_ref()),
            ("<capture>", self.capture.as_ref()),
            ("<display>", self.display.as_ref()),
            ("<snapshot>", self.snapshot.as_ref()),
        ];
        for (placeholder, value) in last {
            if let Some(value) = value {
                text = text.replace(placeholder, value);
            }
        }
        for (folder, placeholder) in &self.folders {
            // The call is JSON.
            text = text.replace(placeholder, &folder.replace('\\', r"\\"));
        }
        text
    }

    /// Replaces what is volatile in an answer.
    pub fn mask(&self, value: &mut Value) {
        match value {
            Value::Object(map) => {
                // Which programs a computer has is its own affair.
                let is_program = map.get("missing").is_some_and(|it| *it != "permission");
                if map.contains_key("run") && is_program {
                    map.remove("missing");
                }
                let is_icon = map.contains_key("icon");
                for (key, value) in map {
                    let of_icon = match key.as_str() {
                        "pid" if is_icon => Some("<pid>"),
                        "process" if is_icon => Some("<program>"),
                        _ => None,
                    };
                    match of_icon.or_else(|| placeholder(key, value)) {
                        Some(placeholder) => *value = Value::from(placeholder),
                        None => self.mask(value),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask(item)),
            Value::String(text) => {
                for (folder, placeholder) in &self.folders {
                    if text.contains(folder) {
                        *text = text.replace(folder, placeholder);
                        if cfg!(windows) {
                            // As the folder's path is the system's own, so are its separators.
                            *text = text.replace(r"\\?\<", "<").replace('\\', "/");
                        }
                    }
                }
                mask_marks(text);
                if let Some(handle) = &self.handle {
                    *text = text.replace(handle, "<handle>");
                }
                // The name of the temporary folder is random, and may be left out as a secret would be.
                let temporary = format!("{}/[redacted:random:<mark>]/app", std::env::temp_dir().display());
                *text = text.replace(&temporary, "<root>");
                for (at, id) in self.processes.iter().enumerate() {
                    *text = text.replace(id, &process_name(at));
                }
                if let Some(id) = &self.snapshot {
                    *text = text.replace(id, "<snapshot>");
                    mask_place(text);
                }
                if self.display.as_ref().is_some_and(|id| id == text) {
                    "<display>".clone_into(text);
                }
                if let Some(id) = &self.capture {
                    *text = text.replace(id, "<capture>");
                }
                for id in &self.tickets {
                    *text = text.replace(id, "<ticket>");
                }
                for id in &self.ids {
                    if text.contains(id) {
                        *text = text.replace(id, "<id>");
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns the placeholder of a process: the first has no number.
fn process_name(at: usize) -> String {
    if at == 0 { "<process>".to_owned() } else { format!("<process {}>", at + 1) }
}

/// Masks where an element is, which depends on the fonts of the computer.
fn mask_place(text: &mut String) {
    if let Some(at) = text.rfind(" [").filter(|_| text.ends_with(']')) {
        text.replace_range(at.., " [<place>]");
    }
}

/// Masks the keyed part of what stands for a secret, which differs between installations.
fn mask_marks(text: &mut String) {
    let mut from = 0;
    while let Some(start) = text[from..].find("[redacted:").map(|at| from + at)
        && let Some(end) = text[start..].find(']').map(|at| start + at)
    {
        if let Some(colon) = text[start..end].rfind(':').map(|at| start + at)
            && text[colon + 1..end].len() == 8
        {
            text.replace_range(colon + 1..end, "<mark>");
        }
        from = start + 1;
    }
}

/// Returns whether a text is the whole name of one of Git's objects.
fn is_object(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the name of the program that these tests are.
fn program_name() -> Option<String> {
    let program = std::env::current_exe().ok()?;
    Some(program.file_name()?.to_string_lossy().into_owned())
}

fn placeholder(key: &str, value: &Value) -> Option<&'static str> {
    let text = value.as_str();
    match key {
        "operationId" | "approvalId" if text.is_some() => Some("<id>"),
        "undoId" if text.is_some() => Some("<undo>"),
        "pid" if value.as_u64() == Some(std::process::id().into()) => Some("<pid>"),
        "id" if text.is_some_and(|it| it.ends_with(&format!(":{}", std::process::id()))) => Some("<app>"),
        "process" if text == program_name().as_deref() => Some("<program>"),
        "startedAt" | "endedAt" | "endsAt" | "modified" | "at" | "firstAt" | "lastAt" | "takenAt"
        | "expiresAt" | "localTime"
            if text.is_some() =>
        {
            Some("<time>")
        }
        "commit" if text.is_some_and(is_object) => Some("<commit>"),
        "timeZone" if text.is_some() => Some("<zone>"),
        "headHash" if text.is_some() => Some("<hash>"),
        "durationMs" | "elapsedMs" if value.is_number() => Some("<ms>"),
        "layers" if value.is_array() => Some("<layers>"),
        "open" if value.is_array() => Some("<open>"),
        "nextCursor" if text.is_some() => Some("<cursor>"),
        "resume" if text.is_some() => Some("<resume>"),
        "version" if text?.starts_with("m-") => Some("<version>"),
        "version" if text? == env!("CARGO_PKG_VERSION") => Some("<release>"),
        "os" if text? == std::env::consts::OS => Some("<os>"),
        "system" if text? == bailiwick::platform::system::system().unwrap_or_default() => Some("<system>"),
        "architecture" if text? == std::env::consts::ARCH => Some("<architecture>"),
        _ => None,
    }
}
