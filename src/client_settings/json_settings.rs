//! Settings in JSON, with or without comments: edited in their syntax tree, so that all else stays as it is.

use jsonc_parser::cst::{
    CstArray, CstContainerNode, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode,
};
use serde_json::{Value, json};

use super::entry::Entry;
use super::kind::TOKEN_PROMPT;
use super::settings::{FirstEdit, Problem};
use crate::installation::jsonc;

/// The key of VS Code's questions.
const PROMPTS: &str = "inputs";

/// Reads the text as a value; comments and trailing commas are allowed.
pub fn value(text: &str) -> Result<Value, Problem> {
    let root = parse(text)?;
    let Some(value) = root.value() else { return Ok(json!({})) };
    let object =
        value.as_object().ok_or_else(|| Problem::Shape("the file contains no JSON object".to_owned()))?;
    object.to_serde_value().ok_or_else(|| Problem::Shape("the file holds what is no JSON value".to_owned()))
}

/// Returns the comments, in order.
pub fn comments(text: &str) -> Result<Vec<String>, Problem> {
    let mut found = Vec::new();
    collect_comments(&CstContainerNode::Root(parse(text)?), &mut found);
    Ok(found)
}

/// Returns the comments that are inside an entry, and so belong to it.
pub fn comments_within(text: &str, container: &str, name: &str) -> Result<Vec<String>, Problem> {
    let mut found = Vec::new();
    if let Some(top) = parse(text)?.object_value()
        && let Some(servers) = object_at(&top, container)?
        && let Some(entry) = only(&servers, name)?
    {
        collect_comments(&CstContainerNode::ObjectProp(entry), &mut found);
    }
    Ok(found)
}

/// Puts an entry in, or makes the one that is there right.
pub fn put(text: &str, container: &str, name: &str, entry: &Entry) -> Result<String, Problem> {
    // A file without a word in it is a file without settings.
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let root = parse(text)?;
    let top = root
        .object_value_or_create()
        .ok_or_else(|| Problem::Shape("the file contains no JSON object".to_owned()))?;
    let servers = match object_at(&top, container)? {
        Some(servers) => servers,
        None => top
            .append(container, CstInputValue::Object(Vec::new()))
            .object_value()
            .expect("it was made as an object"),
    };
    match only(&servers, name)? {
        Some(there) => update(&there, entry),
        None => {
            let fields = entry.fields.iter().map(|(field, value)| ((*field).to_owned(), input(value)));
            servers.append(name, CstInputValue::Object(fields.collect()));
        }
    }
    if entry.asks_for_token {
        let prompts = match only(&top, PROMPTS)? {
            Some(there) => {
                there.array_value().ok_or_else(|| Problem::Shape(format!("`{PROMPTS}` is no array")))?
            }
            None => top
                .append(PROMPTS, CstInputValue::Array(Vec::new()))
                .array_value()
                .expect("it was made as an array"),
        };
        if prompt(&prompts).is_none() {
            prompts.append(input(&json!({
                "type": "promptString", "id": TOKEN_PROMPT,
                "description": "Token for Bailiwick (bailiwick token create vscode)", "password": true,
            })));
        }
    }
    Ok(root.to_string())
}

/// Takes an entry out, and with it what only it needed.
pub fn take_out(text: &str, container: &str, name: &str, made: &FirstEdit) -> Result<String, Problem> {
    let root = parse(text)?;
    let Some(top) = root.object_value() else { return Ok(text.to_owned()) };
    let Some(servers) = object_at(&top, container)? else { return Ok(text.to_owned()) };
    let Some(there) = only(&servers, name)? else { return Ok(text.to_owned()) };
    there.remove();
    if made.container
        && servers.properties().is_empty()
        && is_bare(&CstContainerNode::Object(servers.clone()))
    {
        only(&top, container)?.expect("it was just read").remove();
    }
    let reference = format!("${{input:{TOKEN_PROMPT}}}");
    if !root.to_string().contains(&reference)
        && let Some(list) = only(&top, PROMPTS)?
        && let Some(prompts) = list.array_value()
        && let Some(ours) = prompt(&prompts)
    {
        ours.remove();
        if made.prompts && prompts.elements().is_empty() && is_bare(&CstContainerNode::Array(prompts)) {
            list.remove();
        }
    }
    Ok(root.to_string())
}

/// Returns whether a text has the key of VS Code's questions.
pub fn has_prompts(value: &Value) -> bool {
    value.get(PROMPTS).is_some()
}

/// Takes out of a value what [`put`] may have put in, so that the rest can be compared.
pub fn without(mut value: Value, container: &str, name: &str) -> Value {
    let Some(top) = value.as_object_mut() else { return value };
    if let Some(servers) = top.get_mut(container).and_then(Value::as_object_mut) {
        servers.remove(name);
        if servers.is_empty() {
            top.remove(container);
        }
    }
    if let Some(prompts) = top.get_mut(PROMPTS).and_then(Value::as_array_mut) {
        prompts.retain(|it| it["id"] != TOKEN_PROMPT);
        if prompts.is_empty() {
            top.remove(PROMPTS);
        }
    }
    value
}

fn parse(text: &str) -> Result<CstRootNode, Problem> {
    jsonc::parse(text).map_err(|error| Problem::Syntax {
        line: error.line_display(),
        column: error.column_display(),
        message: error.kind().to_string(),
    })
}

/// Makes an entry right, field by field, so that what is right already keeps its form.
fn update(there: &CstObjectProp, entry: &Entry) {
    let before = there.value().and_then(|it| it.to_serde_value()).unwrap_or_default();
    let fields = there.object_value_or_set();
    for name in entry.superfluous(&before) {
        if let Some(field) = fields.get(&name) {
            field.remove();
        }
    }
    for (name, wanted) in &entry.fields {
        set(&fields, name, wanted);
    }
}

fn set(fields: &CstObject, name: &str, wanted: &Value) {
    let Some(field) = fields.get(name) else {
        fields.append(name, input(wanted));
        return;
    };
    let there = field.value().and_then(|it| it.to_serde_value());
    match (&there, wanted) {
        (Some(Value::Object(_)), Value::Object(wanted)) => {
            let inner = field.object_value_or_set();
            wanted.iter().for_each(|(name, wanted)| set(&inner, name, wanted));
        }
        (there, wanted) if there.as_ref() == Some(wanted) => {}
        _ => field.set_value(input(wanted)),
    }
}

/// Returns the property of that name; two of them would mean something else to every reader.
fn only(object: &CstObject, name: &str) -> Result<Option<CstObjectProp>, Problem> {
    let mut found = object.properties().into_iter().filter(|it| it.decoded_name().as_deref() == Some(name));
    let first = found.next();
    if found.next().is_some() {
        return Err(Problem::Shape(format!("`{name}` is there twice")));
    }
    Ok(first)
}

fn object_at(top: &CstObject, name: &str) -> Result<Option<CstObject>, Problem> {
    only(top, name)?
        .map(|it| it.object_value().ok_or_else(|| Problem::Shape(format!("`{name}` is no object"))))
        .transpose()
}

fn prompt(prompts: &CstArray) -> Option<CstNode> {
    let is_ours = |it: &CstNode| it.to_serde_value().is_some_and(|it| it["id"] == TOKEN_PROMPT);
    prompts.elements().into_iter().find(is_ours)
}

fn is_bare(container: &CstContainerNode) -> bool {
    let mut comments = Vec::new();
    collect_comments(container, &mut comments);
    comments.is_empty()
}

fn collect_comments(container: &CstContainerNode, found: &mut Vec<String>) {
    for child in container.children() {
        if let Some(comment) = child.as_comment() {
            found.push(comment.raw_value());
        } else if let CstNode::Container(inner) = child {
            collect_comments(&inner, found);
        }
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(it) => CstInputValue::Bool(*it),
        Value::Number(it) => CstInputValue::Number(it.to_string()),
        Value::String(it) => CstInputValue::String(it.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(name, it)| (name.clone(), input(it))).collect())
        }
    }
}
