//! Operations as one line each: what a call looks like.

use serde_json::Value;

use bailiwick_contract::TargetRule;

use super::{Entry, Schemas};

/// How to read a signature, for those who see one for the first time.
pub const SIGNATURE_LEGEND: &str = "OP target {input} options; `[target]` and `name?` may be left out; `a.b/c` are a.b and a.c. Each takes timeoutSeconds and maxOutputBytes too.";

/// The options that calls have most often, in this order.
const OFTEN: &[&str] = &[
    "startLine",
    "endLine",
    "glob",
    "ignoreCase",
    "ifVersion",
    "createParents",
    "recursive",
    "parents",
    "ifExists",
    "tail",
    "kind",
    "kinds",
    "depth",
    "statOnly",
    "include",
    "sort",
    "roles",
    "maxResults",
    "budget",
    "untracked",
    "maxRunSeconds",
    "return",
    "region",
    "cursor",
    "dryRun",
    "detail",
];
/// The options that are not worth a place among the first: all calls have them, or few need them.
const SELDOM: &[&str] =
    &["timeoutSeconds", "maxOutputBytes", "detail", "withoutUndo", "allowEmpty", "check", "base64"];
/// What results give that later calls take.
const KEPT: &[&str] = &["version", "undoId", "processId"];
/// How many fields of an object in a list are named.
const MAX_NESTED: usize = 4;

/// How much a signature says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureLength {
    /// One of many: the options that calls have most often.
    Short,
    /// One of a family: as many options as continue a line.
    Long,
}

/// What a call of an operation looks like, in each length.
pub struct Signatures {
    short: String,
    long: String,
}

impl Signatures {
    /// Writes them.
    pub fn of(entry: &Entry) -> Self {
        let schemas = entry.schemas();
        Self {
            short: written(entry, &schemas, SignatureLength::Short),
            long: written(entry, &schemas, SignatureLength::Long),
        }
    }
}

/// Returns the signature of an operation.
pub fn signature(entry: &Entry, length: SignatureLength) -> &str {
    match length {
        SignatureLength::Short => &entry.signatures().short,
        SignatureLength::Long => &entry.signatures().long,
    }
}

/// Writes the operations of a family that look alike as one line, at the place of the first.
pub fn grouped<'l>(lines: impl Iterator<Item = &'l str>) -> Vec<String> {
    let mut groups: Vec<(&str, &str, String)> = Vec::new();
    for line in lines {
        let (name, call) = line.split_once(' ').unwrap_or((line, ""));
        let (family, verb) = name.split_once('.').unwrap_or((name, ""));
        match groups.iter_mut().find(|(of, like, _)| (*of, *like) == (family, call) && !call.is_empty()) {
            Some((.., names)) => {
                names.push('/');
                names.push_str(verb);
            }
            None => groups.push((family, call, name.to_owned())),
        }
    }
    groups.into_iter().map(|(_, call, names)| format!("{names} {call}").trim_end().to_owned()).collect()
}

fn written(entry: &Entry, schemas: &Schemas, length: SignatureLength) -> String {
    let mut text = entry.spec.name.to_owned();
    text.push_str(match entry.spec.target {
        TargetRule::None => "",
        TargetRule::Path(_) => " path",
        TargetRule::PathOrRoot(_) => " [path]",
        rule if rule.is_optional() => " [id]",
        _ => " id",
    });
    let input: Vec<String> = named(&schemas.input)
        .into_iter()
        .map(|(name, is_required, field)| {
            let mark = if is_required { "" } else { "?" };
            format!("{name}{mark}{}", nested(&schemas.input, field))
        })
        .collect();
    if !input.is_empty() {
        text.push_str(&format!(" {{{}}}", input.join(",")));
    }
    let own = named(&schemas.options).into_iter().map(|(name, ..)| name);
    let mut options: Vec<&str> = own.chain(entry.spec.options.iter().map(|option| option.as_str())).collect();
    let rank = |name: &str| OFTEN.iter().position(|it| *it == name).unwrap_or(OFTEN.len());
    options.sort_by_key(|name| rank(name));
    let (most, room) = match length {
        SignatureLength::Short => (3, usize::MAX),
        SignatureLength::Long => (usize::MAX, 120),
    };
    let mut shown = 0;
    for name in options.iter().take(most) {
        if length == SignatureLength::Short && SELDOM.contains(name) {
            continue;
        }
        if text.len() + name.len() > room {
            break;
        }
        text.push_str(&format!(" {name}?"));
        shown += 1;
    }
    if shown < options.len() && length == SignatureLength::Long {
        text.push_str(" …");
    }
    // The id of a process that was named is nothing new.
    let is_named = entry.spec.target.id_of().is_some();
    let given = |name: &&&str| {
        schemas.output["properties"].get(**name).is_some() && !(is_named && **name == "processId")
    };
    let given: Vec<&str> = KEPT.iter().filter(given).copied().collect();
    if !entry.spec.effect.is_read_only() && !given.is_empty() {
        text.push_str(" → ");
        text.push_str(&given.join(", "));
    }
    text
}

/// The fields of an object: what must be given first.
fn named(schema: &Value) -> Vec<(&str, bool, &Value)> {
    let is_required =
        |name: &str| schema["required"].as_array().is_some_and(|names| names.iter().any(|it| it == name));
    let Some(properties) = schema["properties"].as_object() else { return Vec::new() };
    let mut fields: Vec<(&str, bool, &Value)> =
        properties.iter().map(|(name, field)| (name.as_str(), is_required(name), field)).collect();
    fields.sort_by_key(|(_, is_required, _)| !is_required);
    fields
}

/// The fields of the objects in a list, and that it is one.
fn nested(root: &Value, field: &Value) -> String {
    let field = resolved(root, field);
    let items = &field["items"];
    if !items.is_object() {
        return String::new();
    }
    let fields = named(resolved(root, items));
    if fields.is_empty() {
        return String::new();
    }
    let required = fields.iter().filter(|(_, is_required, _)| *is_required).count();
    let mut shown: Vec<String> = fields
        .iter()
        .take(MAX_NESTED.max(required))
        .map(|(name, is_required, _)| format!("{name}{}", if *is_required { "" } else { "?" }))
        .collect();
    if shown.len() < fields.len() {
        shown.push("…".to_owned());
    }
    format!(":[{{{}}}]", shown.join(","))
}

fn resolved<'a>(root: &'a Value, field: &'a Value) -> &'a Value {
    if let Some(name) = field["$ref"].as_str().and_then(|it| it.strip_prefix("#/$defs/")) {
        return resolved(root, &root["$defs"][name]);
    }
    match field["anyOf"].as_array().and_then(|several| several.iter().find(|one| one["type"] != "null")) {
        Some(one) if !std::ptr::eq(one, field) => resolved(root, one),
        _ => field,
    }
}
