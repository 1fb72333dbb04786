//! The four tools: what clients see of them, and what envelopes their calls become.
//!
//! The whole list costs a client at most 2,800 characters, however many operations exist.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use bailiwick_contract::limits::MAX_TIMEOUT_SECONDS;
use bailiwick_contract::{CommonOption, Effect, Envelope, Failure, Reply, Threads};
use bailiwick_engine::operations::FAMILIES;
use bailiwick_engine::requests;

use crate::scope_setup::offer::Offer;

/// The tool that shows what this computer is.
pub const GET_COMPUTER_INFO: &str = "get_computer_info";
/// The tool for operations without effect.
pub const COMPUTER_QUERY: &str = "computer_query";
/// The tool for every operation.
pub const COMPUTER_OPERATION: &str = "computer_operation";
/// The tool that shows what was done.
pub const GET_OPERATION_HISTORY: &str = "get_operation_history";

static TOOLS: LazyLock<[Tool; 4]> = LazyLock::new(|| {
    [
        tool(
            GET_COMPUTER_INFO,
            "Computer info",
            "include [\"operations\"] lists every operation, program and limit open to you; family (\"file\", \"file.read\") says more of some.",
            hints(true, false, true),
            json!({
                "include": {"type": "array", "items": {"type": "string"}},
                "family": {"type": "string"},
            }),
            &[],
        ),
        tool(
            COMPUTER_QUERY,
            "Query computer",
            "Runs operations that change nothing: file.read target startLine? endLine?, file.read_many {paths}, file.search target? {query} glob?, file.list target?, code.references {name}",
            hints(true, false, true),
            envelope(),
            &["op"],
        ),
        tool(
            COMPUTER_OPERATION,
            "Operate computer",
            "Runs any operations, also those that write or run: file.patch {edits:[{path,old,new}]}, file.write target {content}, command.run target? {command}, process.start {command}",
            hints(false, true, false),
            envelope(),
            &["op"],
        ),
        tool(
            GET_OPERATION_HISTORY,
            "Operation history",
            "What was done, newest first.",
            hints(true, false, true),
            json!({
                "scope": {"type": "string"},
                "view": {"type": "string", "enum": VIEWS},
                "limit": {"type": "integer"},
                "query": {"type": "string"},
                "cursor": {"type": "string"},
            }),
            &[],
        ),
    ]
});

/// The views of the history, each an operation of the family `history`; the first is the default.
const VIEWS: &[&str] = &["timeline", "last", "sessions", "connections", "failed_replay"];

fn envelope() -> Value {
    // Any value. A schema instead of `true`, on which the converter of google-genai fails; `{}` is no schema to
    // LangChain's for Gemini, which makes a string of the object then.
    let any = json!({"description": "*"});
    json!({
        "scope": {"type": "string", "description": "Optional if you have one"},
        "op": {"type": "string"},
        "target": {"type": "string", "description": "Path or id"},
        "input": {"type": "object", "additionalProperties": any, "description": "{…} above"},
        "options": {"type": "object", "additionalProperties": any, "description": "timeoutSeconds, dryRun, cursor, …"},
        "then": {"type": "array", "items": {"type": "object", "additionalProperties": any}, "description": "Next calls, while they succeed"},
    })
}

fn hints(read_only: bool, destructive: bool, idempotent: bool) -> ToolAnnotations {
    ToolAnnotations::new()
        .read_only(read_only)
        .destructive(destructive)
        .idempotent(idempotent)
        // The world is this computer; an operation that reaches beyond it runs code, which is destructive.
        .open_world(destructive)
}

fn tool(
    name: &'static str,
    title: &str,
    description: &'static str,
    annotations: ToolAnnotations,
    properties: Value,
    required: &[&str],
) -> Tool {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), Value::from("object"));
    schema.insert("properties".to_owned(), properties);
    if !required.is_empty() {
        schema.insert("required".to_owned(), Value::from(required));
    }
    Tool::new(name, description, Arc::new(schema)).with_title(title).with_annotations(annotations)
}

/// Returns the tools that a caller can use.
pub fn listed(offer: &Offer) -> Vec<Tool> {
    TOOLS
        .iter()
        .filter(|tool| match tool.name.as_ref() {
            COMPUTER_OPERATION => offer.effects,
            GET_OPERATION_HISTORY => offer.history,
            _ => true,
        })
        .cloned()
        .collect()
}

/// Finds a tool by name.
pub(super) fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// Returns whether a call asks for the whole envelope, even if it cannot be read otherwise.
pub(super) fn asks_for_all(arguments: &Map<String, Value>) -> bool {
    arguments.get("detail").or_else(|| arguments.get("options")?.get("detail")).is_some_and(|it| it == "full")
}

/// Returns whether an envelope asks for all there is to say. Where the operation has one form only, that is about the
/// answer alone, and taken out.
pub(super) fn take_detail(envelope: &mut Envelope) -> bool {
    let asks = envelope.options.get("detail").is_some_and(|it| it == "full");
    let has_forms = requests::operation(&envelope.op)
        .is_some_and(|entry| entry.spec.options.contains(&CommonOption::Detail));
    if !has_forms && envelope.options.get("detail").is_some_and(|it| it == "full" || it == "concise") {
        envelope.options.remove("detail");
    }
    asks
}

/// Creates the envelope that a call stands for. `None` if there is no such tool.
pub(super) fn envelope_of(name: &str, arguments: Map<String, Value>) -> Option<Result<Envelope, Failure>> {
    match name {
        GET_COMPUTER_INFO => Some(info(arguments)),
        COMPUTER_QUERY => Some(query(arguments)),
        COMPUTER_OPERATION => Some(requests::read(Value::Object(arguments))),
        GET_OPERATION_HISTORY => Some(history(arguments)),
        _ => None,
    }
}

/// Names the fields of a refused call as the tool has them: two tools have neither `input` nor `options`.
pub(super) fn name_fields(tool: &str, reply: &mut Reply) {
    if !reply.ok && [GET_COMPUTER_INFO, GET_OPERATION_HISTORY].contains(&tool) {
        reply.text = reply.text.replace("`input.", "`").replace("`options.", "`");
    }
}

fn info(mut arguments: Map<String, Value>) -> Result<Envelope, Failure> {
    // An operation that is named here is one to be described.
    if let Some(named) = arguments.remove("op")
        && named != "computer.info"
    {
        arguments.entry("family").or_insert(named);
    }
    arguments.insert("op".to_owned(), json!("computer.info"));
    requests::read(Value::Object(arguments))
}

fn query(arguments: Map<String, Value>) -> Result<Envelope, Failure> {
    let envelope = requests::read(Value::Object(arguments))?;
    match requests::operation(&envelope.op) {
        Some(entry) if !entry.spec.effect.is_read_only() => Err(Failure::invalid(
            "op",
            format!("`{}` changes things; {COMPUTER_QUERY} takes only operations that do not", envelope.op),
        )
        .detail(OTHER_TOOL, COMPUTER_OPERATION)
        .asked(&envelope)),
        _ => Ok(envelope),
    }
}

/// The detail of a refusal that names the tool which takes the operation.
pub(super) const OTHER_TOOL: &str = "tool";

/// Returns how long an operation may take, if it is of those that may take long: they run programs, or hold until
/// something happens.
pub(super) fn may_last(envelope: &Envelope) -> Option<Duration> {
    let mut rows = FAMILIES.iter().flat_map(|family| family.operations);
    let spec = rows.find(|entry| entry.spec.name == envelope.op)?.spec;
    if spec.effect != Effect::RunsCode && spec.threads != Threads::Held {
        return None;
    }
    let asked = envelope.options.get("timeoutSeconds").and_then(Value::as_u64);
    Some(Duration::from_secs(asked.unwrap_or(spec.timeout_seconds).min(MAX_TIMEOUT_SECONDS)))
}

fn history(mut arguments: Map<String, Value>) -> Result<Envelope, Failure> {
    let scope = take_text(&mut arguments, "scope")?;
    let view = take_text(&mut arguments, "view")?;
    history_envelope(scope, view.as_deref(), arguments)
}

/// Creates the envelope of a view of the history; shared with the JSON API.
///
/// # Errors
/// `invalid_request` for a view that there is not.
pub(in super::super) fn history_envelope(
    scope: Option<String>,
    view: Option<&str>,
    mut fields: Map<String, Value>,
) -> Result<Envelope, Failure> {
    let view = view.unwrap_or(VIEWS[0]);
    if !VIEWS.contains(&view) {
        let shown: String = view.chars().take(64).collect();
        return Err(Failure::invalid("view", format!("there is no view `{shown}`"))
            .detail("accepted", VIEWS.to_vec())
            .hint(format!("Use one of {}.", VIEWS.join(", "))));
    }
    fields.insert("op".to_owned(), Value::from(format!("history.{view}")));
    if let Some(scope) = scope {
        fields.insert("scope".to_owned(), Value::from(scope));
    }
    requests::read(Value::Object(fields))
}

fn take_text(arguments: &mut Map<String, Value>, name: &str) -> Result<Option<String>, Failure> {
    match arguments.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok((!text.is_empty()).then_some(text)),
        Some(_) => Err(Failure::invalid(name, format!("`{name}` must be a string"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Tool> {
        listed(&Offer { effects: true, history: true, ..Offer::default() })
    }

    #[test]
    fn the_whole_list_has_at_most_2800_characters() {
        let text = serde_json::to_string(&json!({"tools": all()})).expect("tools have a JSON form");
        assert!(text.chars().count() <= 2_800, "{} characters", text.chars().count());
    }

    /// Converters of clients drop what has no type, and refuse tools for it.
    #[test]
    fn every_part_of_a_schema_has_a_type_and_every_object_says_what_it_takes() {
        fn check(schema: &Value, path: &str) {
            assert!(schema["type"].is_string(), "{path} has no type");
            if schema["type"] == "object" {
                let fields = schema["properties"].as_object();
                assert!(
                    fields.is_some_and(|it| !it.is_empty())
                        || schema["additionalProperties"].as_object().is_some_and(|it| !it.is_empty()),
                    "{path}"
                );
                for (name, field) in fields.into_iter().flatten() {
                    check(field, &format!("{path}.{name}"));
                }
            }
            if schema["type"] == "array" {
                check(&schema["items"], &format!("{path}[]"));
            }
        }
        for tool in all() {
            check(&Value::Object((*tool.input_schema).clone()), &tool.name);
        }
    }

    #[test]
    fn every_tool_has_a_title_and_all_four_hints() {
        for tool in all() {
            let hints = tool.annotations.expect("annotations");
            assert!(tool.title.is_some(), "{}", tool.name);
            for hint in
                [hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint]
            {
                assert!(hint.is_some(), "{}", tool.name);
            }
        }
    }

    #[test]
    fn errors_name_the_fields_that_a_tool_has() {
        let refused = |tool: &str| {
            let text = "{\"error\":{\"message\":\"`input.include[0]` must be one of `a`, `options.limit`\"}}"
                .to_owned();
            let mut reply = Reply { ok: false, text, images: Vec::new() };
            name_fields(tool, &mut reply);
            reply.text
        };
        let own = "{\"error\":{\"message\":\"`include[0]` must be one of `a`, `limit`\"}}";
        assert_eq!(refused(GET_COMPUTER_INFO), own);
        assert_eq!(refused(GET_OPERATION_HISTORY), own);
        assert!(refused(COMPUTER_QUERY).contains("`input.include[0]`"));
        let mut answer = Reply { ok: true, text: "`input.a`".to_owned(), images: Vec::new() };
        name_fields(GET_COMPUTER_INFO, &mut answer);
        assert_eq!(answer.text, "`input.a`");
    }

    #[test]
    fn tools_that_the_caller_cannot_use_are_not_listed() {
        let names = |offer: Offer| -> Vec<String> {
            listed(&offer).into_iter().map(|tool| tool.name.into_owned()).collect()
        };
        assert_eq!(names(Offer::default()), [GET_COMPUTER_INFO, COMPUTER_QUERY]);
        let reader = Offer { history: true, ..Offer::default() };
        assert_eq!(names(reader), [GET_COMPUTER_INFO, COMPUTER_QUERY, GET_OPERATION_HISTORY]);
    }

    #[test]
    fn no_name_of_what_changes_things_passes_the_tool_that_only_looks() {
        let rows = || FAMILIES.iter().flat_map(|family| family.operations);
        let own = rows().filter(|entry| !entry.spec.effect.is_read_only()).map(|entry| entry.spec.name);
        let others = [
            "bash",
            "Bash",
            "shell.run",
            "write_file",
            "Edit",
            "rm",
            "git_add",
            "mcp__x__bash",
            "file-write",
        ];
        for name in own.chain(others) {
            for arguments in [
                json!({"op": name}),
                json!({"operation": name, "target": "a"}),
                json!({"input": {"op": name}}),
                json!({"arguments": json!({"op": name}).to_string()}),
            ] {
                let arguments = arguments.as_object().expect("an object").clone();
                let read = envelope_of(COMPUTER_QUERY, arguments.clone()).expect("there is the tool");
                let failure = read.expect_err(name);
                assert_eq!(failure.details[OTHER_TOOL], COMPUTER_OPERATION, "{arguments:?}");
                assert!(envelope_of(COMPUTER_OPERATION, arguments).expect("there is the tool").is_ok());
            }
        }
    }

    #[test]
    fn every_view_of_the_history_is_an_operation() {
        let rows = || FAMILIES.iter().flat_map(|family| family.operations);
        if rows().any(|entry| entry.spec.family() == "history") {
            for view in VIEWS {
                let name = format!("history.{view}");
                assert!(rows().any(|entry| entry.spec.name == name), "{name}");
            }
        }
    }
}
