//! What Codex tells while it works: one JSON object a line, read as it comes.
//!
//! What is not understood is counted and passed over. Everything that is kept is bounded.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use bailiwick_platform::paths;

/// The longest line that is read; longer ones are counted.
const MAX_LINE_BYTES: usize = 4 << 20;
/// The most commands, files, calls and errors that are kept.
const MAX_ROWS: usize = 200;
/// How much of a command, and of what it printed at its end, is kept.
const MAX_COMMAND_BYTES: usize = 1_000;
/// How much of a command's output is kept.
const MAX_OUTPUT_BYTES: usize = 2_000;
/// How much of a message is kept.
const MAX_MESSAGE_BYTES: usize = 256 << 10;
/// How much of an error is kept.
const MAX_ERROR_BYTES: usize = 2_000;
/// How much of a step's text is shown while it works.
const MAX_STEP_BYTES: usize = 1_000;

/// A command that Codex ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandRow {
    /// Its words, as Codex tells them; shortened where they are long.
    pub command: String,
    /// How it ended; `null` if it did not.
    pub exit_code: Option<i64>,
    /// `completed`, `failed`, `declined` or `in_progress`, as Codex tells it.
    pub status: String,
    /// The end of what it printed, with `options.detail` `full`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// A file that Codex says it changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileRow {
    /// The path in the scope; its name alone if it is elsewhere.
    pub path: String,
    /// `add`, `update` or `delete`, as Codex tells it.
    pub change: String,
}

/// A call of a tool that is no command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The tool, such as `web_search`, or the server and its tool.
    pub tool: String,
    /// How it ended, as Codex tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

/// What the model used up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Tokens that were read.
    #[serde(alias = "input_tokens")]
    pub input_tokens: u64,
    /// Of these, those that the provider had kept.
    #[serde(alias = "cached_input_tokens")]
    pub cached_input_tokens: u64,
    /// Tokens that were written.
    #[serde(alias = "output_tokens")]
    pub output_tokens: u64,
    /// Of these, those of its reasoning.
    #[serde(alias = "reasoning_output_tokens")]
    pub reasoning_output_tokens: u64,
}

/// One thing that Codex did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// `session`, `message`, `reasoning`, `command`, `files`, `tool`, `plan`, `error` or `turn`.
    pub kind: &'static str,
    /// What was said or run, shortened.
    pub text: String,
    /// Where it stands, as Codex tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// How a command ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
}

/// Where Codex works, so that paths can be told as clients know them.
#[derive(Debug, Clone, Default)]
pub struct WorkFolder {
    /// The working folder on disk.
    pub folder: PathBuf,
    /// The working folder as clients see it.
    pub shown: String,
}

/// Everything that was told so far.
#[derive(Debug, Default)]
pub struct Events {
    place: WorkFolder,
    partial: Vec<u8>,
    is_overlong: bool,
    /// The session.
    pub session_id: Option<String>,
    /// The last message.
    pub final_message: Option<String>,
    /// How many messages there were.
    pub messages: u64,
    commands: BTreeMap<u64, CommandRow>,
    files: BTreeMap<String, String>,
    /// Calls of tools.
    pub tool_calls: Vec<ToolCall>,
    /// What was used up.
    pub usage: Option<Usage>,
    /// What went wrong.
    pub errors: Vec<String>,
    /// How many lines were not understood.
    pub unknown: u64,
    /// How many commands, files, calls and errors had no room.
    pub left_out: u64,
    next_command: u64,
    open_commands: BTreeMap<String, u64>,
}

impl Events {
    /// Begins, for a Codex that works in a place.
    pub fn in_place(folder: PathBuf, shown: String) -> Self {
        Self { place: WorkFolder { folder, shown }, ..Self::default() }
    }

    /// Takes what was printed. Returns what Codex is doing now in a few words, if that was told.
    pub fn push(&mut self, mut bytes: &[u8]) -> Option<String> {
        let mut said = None;
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end);
            bytes = &rest[1..];
            self.gather(line);
            let line = std::mem::take(&mut self.partial);
            if std::mem::take(&mut self.is_overlong) {
                self.unknown += 1;
            } else if let Some(step) = self.line(&line) {
                said = Some(step.words());
            }
        }
        self.gather(bytes);
        said
    }

    fn gather(&mut self, bytes: &[u8]) {
        if self.partial.len() + bytes.len() > MAX_LINE_BYTES {
            self.partial.clear();
            self.is_overlong = true;
        }
        if !self.is_overlong {
            self.partial.extend_from_slice(bytes);
        }
    }

    /// Takes one line. Returns what it tells, if that is worth showing.
    pub fn line(&mut self, line: &[u8]) -> Option<Step> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        let event: Option<Value> = serde_json::from_slice(line).ok();
        let known = event.as_ref().and_then(|event| Some((event, event["type"].as_str()?)));
        let Some((event, kind)) = known else {
            self.unknown += 1;
            return None;
        };
        match kind {
            "thread.started" => {
                let id = event["thread_id"].as_str()?;
                self.session_id = Some(clip(id, 100));
                Some(Step::of("session", id))
            }
            "turn.started" => Some(Step::of("turn", "started")),
            "turn.completed" => {
                self.usage = serde_json::from_value(event["usage"].clone()).ok().or(self.usage);
                Some(Step::of("turn", "completed"))
            }
            "turn.failed" => self.error(event["error"]["message"].as_str().unwrap_or("the turn failed")),
            "error" => self.error(event["message"].as_str().unwrap_or("an error without a message")),
            "item.started" | "item.updated" => self.item(&event["item"], false),
            "item.completed" => self.item(&event["item"], true),
            _ => {
                self.unknown += 1;
                None
            }
        }
    }

    fn item(&mut self, item: &Value, is_done: bool) -> Option<Step> {
        let text = |name: &str| item[name].as_str().unwrap_or_default();
        let status = item["status"].as_str().map(|status| clip(status, 40));
        match text("type") {
            "agent_message" => {
                if is_done {
                    self.messages += 1;
                    self.final_message = Some(clip(text("text"), MAX_MESSAGE_BYTES));
                }
                Some(Step::of("message", text("text")))
            }
            "reasoning" => Some(Step::of("reasoning", text("text"))),
            "command_execution" => {
                self.command(item, text("id"));
                let exit_code = item["exit_code"].as_i64();
                Some(Step { status, exit_code, ..Step::of("command", text("command")) })
            }
            "file_change" => {
                let names = self.files(item, is_done);
                Some(Step { status, ..Step::of("files", &names) })
            }
            "mcp_tool_call" | "web_search" | "collab_tool_call" | "dynamic_tool_call" => {
                let tool = match (text("server"), text("tool")) {
                    ("", "") => text("type").to_owned(),
                    ("", tool) => tool.to_owned(),
                    (server, tool) => format!("{server}/{tool}"),
                };
                if is_done {
                    let call = ToolCall { tool: clip(&tool, 200), status: status.clone() };
                    if has_room(self.tool_calls.len(), &mut self.left_out) {
                        self.tool_calls.push(call);
                    }
                }
                Some(Step { status, ..Step::of("tool", &tool) })
            }
            "todo_list" => {
                let items = item["items"].as_array().map(Vec::as_slice).unwrap_or_default();
                let lines = items.iter().map(|one| {
                    let mark = if one["completed"].as_bool() == Some(true) { "[x] " } else { "[ ] " };
                    format!("{mark}{}", one["text"].as_str().unwrap_or_default())
                });
                Some(Step::of("plan", &lines.collect::<Vec<_>>().join("\n")))
            }
            "error" => self.error(text("message")),
            _ => {
                self.unknown += 1;
                None
            }
        }
    }

    /// Notes a command, once, however often it is told.
    fn command(&mut self, item: &Value, id: &str) {
        let at = match self.open_commands.get(id) {
            Some(at) => *at,
            None => {
                if !has_room(self.commands.len(), &mut self.left_out) {
                    return;
                }
                self.next_command += 1;
                self.open_commands.insert(id.to_owned(), self.next_command);
                self.next_command
            }
        };
        let output = item["aggregated_output"].as_str().filter(|output| !output.is_empty());
        let row = CommandRow {
            command: clip(item["command"].as_str().unwrap_or_default(), MAX_COMMAND_BYTES),
            exit_code: item["exit_code"].as_i64(),
            status: clip(item["status"].as_str().unwrap_or_default(), 40),
            output: output.map(|output| end_of(output, MAX_OUTPUT_BYTES)),
        };
        self.commands.insert(at, row);
    }

    /// Notes files, and gives their names.
    fn files(&mut self, item: &Value, is_done: bool) -> String {
        let changes = item["changes"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut names = Vec::new();
        for change in changes {
            let path = self.shown(change["path"].as_str().unwrap_or_default());
            let kind = clip(change["kind"].as_str().unwrap_or("update"), 40);
            if is_done && item["status"].as_str() != Some("failed") {
                let is_known = self.files.contains_key(&path);
                if is_known || has_room(self.files.len(), &mut self.left_out) {
                    self.files.insert(path.clone(), kind);
                }
            }
            names.push(path);
        }
        names.join(", ")
    }

    /// Returns a path as clients know it.
    fn shown(&self, path: &str) -> String {
        let within = paths::beneath(&self.place.folder, path);
        let joined = match within.or((!paths::is_absolute(path)).then_some(path)).map(paths::with_slashes) {
            Some(within) => match self.place.shown.as_str() {
                "" | "." => within.into_owned(),
                shown if shown.ends_with([':', '/']) => format!("{shown}{within}"),
                shown => format!("{shown}/{within}"),
            },
            // Where it is outside of the scope is not for clients.
            None => path.rsplit(std::path::is_separator).next().unwrap_or_default().to_owned(),
        };
        clip(&joined, MAX_COMMAND_BYTES)
    }

    fn error(&mut self, message: &str) -> Option<Step> {
        let message = clip(message, MAX_ERROR_BYTES);
        // The same is told for the turn and for the whole.
        if self.errors.last() != Some(&message) && has_room(self.errors.len(), &mut self.left_out) {
            self.errors.push(message.clone());
        }
        Some(Step::of("error", &message))
    }

    /// Returns the commands, in their order.
    pub fn commands(&self) -> impl Iterator<Item = &CommandRow> {
        self.commands.values()
    }

    /// Returns the files, in the order of their paths.
    pub fn file_changes(&self) -> Vec<FileRow> {
        let row = |(path, change): (&String, &String)| FileRow { path: path.clone(), change: change.clone() };
        self.files.iter().map(row).collect()
    }
}

impl Step {
    fn of(kind: &'static str, text: &str) -> Self {
        Self { kind, text: clip(text, MAX_STEP_BYTES), status: None, exit_code: None }
    }

    /// Says it in a few words.
    fn words(&self) -> String {
        let line = self.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let short = clip(line, 160);
        match (self.kind, self.exit_code) {
            ("command", None) => format!("Codex runs `{short}`"),
            ("command", Some(code)) => format!("Codex ran `{short}`: exit {code}"),
            ("files", _) => format!("Codex changes {short}"),
            ("message", _) => format!("Codex says: {short}"),
            ("reasoning", _) => format!("Codex thinks: {short}"),
            ("tool", _) => format!("Codex uses {short}"),
            ("plan", _) => "Codex plans".to_owned(),
            ("error", _) => format!("Codex has a problem: {short}"),
            ("session", _) => "Codex has started".to_owned(),
            _ => "Codex works".to_owned(),
        }
    }
}

/// Returns whether a list takes one more, and counts what it does not.
fn has_room(rows: usize, left_out: &mut u64) -> bool {
    let has_room = rows < MAX_ROWS;
    *left_out += u64::from(!has_room);
    has_room
}

/// Returns the beginning of a text, cut at a character.
fn clip(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(bytes)])
}

/// Returns the end of a text, cut at a character.
fn end_of(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    format!("…{}", &text[text.ceil_char_boundary(text.len() - bytes)..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLD: &str = r#"{"type":"thread.started","thread_id":"01a1ffb5-5a6d-7530-a949-c9dfe0be7d07"}
{"type":"turn.started"}
{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"ls","aggregated_output":"","exit_code":null,"status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"ls","aggregated_output":"a\n","exit_code":0,"status":"completed"}}
{"type":"item.completed","item":{"id":"item_2","type":"file_change","changes":[{"path":"/srv/app/src/a.rs","kind":"add"},{"path":"/etc/b","kind":"update"}],"status":"completed"}}
{"type":"item.completed","item":{"id":"item_3","type":"mcp_tool_call","server":"s","tool":"t","status":"completed"}}
{"type":"item.completed","item":{"id":"item_4","type":"agent_message","text":"first"}}
{"type":"item.completed","item":{"id":"item_5","type":"agent_message","text":"last"}}
{"type":"brand.new","what":1}
no json
{"type":"turn.completed","usage":{"input_tokens":200,"cached_input_tokens":80,"output_tokens":14,"reasoning_output_tokens":6}}
"#;

    fn told(chunk: usize) -> Events {
        let mut events = Events::in_place("/srv/app".into(), "sub".to_owned());
        for piece in TOLD.as_bytes().chunks(chunk) {
            events.push(piece);
        }
        events
    }

    #[test]
    fn everything_is_read_however_it_arrives() {
        for chunk in [1, 7, 4096] {
            let events = told(chunk);
            assert_eq!(events.session_id.as_deref(), Some("01a1ffb5-5a6d-7530-a949-c9dfe0be7d07"));
            assert_eq!(events.final_message.as_deref(), Some("last"));
            assert_eq!(events.messages, 2);
            let commands: Vec<_> = events.commands().collect();
            assert_eq!(commands.len(), 1, "a command is told twice and is one");
            assert_eq!((commands[0].exit_code, commands[0].output.as_deref()), (Some(0), Some("a\n")));
            let files: Vec<String> = events.file_changes().into_iter().map(|file| file.path).collect();
            assert_eq!(files, ["b", "sub/src/a.rs"], "no place outside of the scope is told");
            assert_eq!(events.tool_calls[0].tool, "s/t");
            assert_eq!(events.usage.map(|usage| usage.cached_input_tokens), Some(80));
            assert_eq!(events.unknown, 2);
        }
    }

    #[test]
    fn what_codex_is_doing_is_said_in_a_few_words() {
        let mut events = Events::default();
        let said: Vec<String> =
            TOLD.lines().filter_map(|line| events.push(format!("{line}\n").as_bytes())).collect();
        assert_eq!(said[2..4], ["Codex runs `ls`", "Codex ran `ls`: exit 0"]);
        assert!(said.contains(&"Codex says: last".to_owned()), "{said:?}");
    }

    #[test]
    fn an_error_that_is_told_twice_is_one() {
        let mut events = Events::default();
        events.push(b"{\"type\":\"error\",\"message\":\"no\"}\n{\"type\":\"turn.failed\",\"error\":{\"message\":\"no\"}}\n");
        assert_eq!(events.errors, ["no"]);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut events = Events::default();
        for number in 0..1_000 {
            let line = format!(
                "{{\"type\":\"item.completed\",\"item\":{{\"id\":\"i{number}\",\"type\":\"command_execution\",\"command\":\"{}\"}}}}\n",
                "é".repeat(2_000)
            );
            events.push(line.as_bytes());
        }
        assert_eq!(events.commands().count(), MAX_ROWS);
        assert_eq!(events.left_out, 800);
        assert!(events.commands().all(|row| row.command.len() <= MAX_COMMAND_BYTES + 4));
        events.push(&vec![b'x'; MAX_LINE_BYTES + 1]);
        events.push(b"\n{\"type\":\"turn.started\"}\n");
        assert_eq!(events.unknown, 1, "a line that is too long is passed over, and the next is read");
    }
}
