//! From an event to a row: every text is redacted, then shortened.

use serde_json::{Map, Value};

use super::super::event::{EventDraft, Phase};
use super::super::retention::Removal;
use super::super::row::{Kind, Row};
use super::placeholder::{Candidate, is_placeholder};
use super::rules::{is_secret_flag, is_secret_name};
use super::{RedactedValue, Redactor};
use bailiwick_contract::{id, time};

/// How many bytes of a name (of a caller, scope, operation, …) are kept.
const NAME_BYTES: usize = 256;
/// How many bytes of a target are kept: more than the longest path.
const TARGET_BYTES: usize = 4_096;
/// How many bytes of a summary or an error are kept.
const SENTENCE_BYTES: usize = 2_048;
/// How many bytes of a template are kept; a longer one is left out whole.
const TEMPLATE_BYTES: usize = 16_384;
/// How far beyond its end a long text is checked, so that no secret is cut before it is known.
const OVERLAP_BYTES: usize = 8_192;
/// How deep a template may nest.
const MAX_DEPTH: usize = 32;

impl Redactor {
    /// Creates the row of an event.
    pub fn row(&self, event: EventDraft, machine: &str) -> Row {
        // What is secret in the target or the template is secret in the error and the summary too.
        let mut found = Vec::new();
        let template = self.template(event.template, &mut found);
        let mut optional = |text: &Option<String>, limit: usize| -> Option<RedactedValue<String>> {
            let text = text.as_deref().filter(|text| !text.is_empty())?;
            Some(match limit {
                NAME_BYTES => self.name(text, &mut found),
                _ => self.text(text, limit, &mut found),
            })
        };
        let target = optional(&event.target, TARGET_BYTES);
        let name = |text: &str| self.name(text, &mut Vec::new());
        // A scope that the caller may not name must not get rows from it.
        let scope = match (event.stage.as_deref(), event.scope.as_deref()) {
            (Some("scope"), _) | (_, None) => "",
            (_, Some(scope)) => scope,
        };
        Row {
            // It is made here, of random bits; what a client sends is no part of it.
            id: if id::is_id(&event.operation_id) {
                RedactedValue(event.operation_id)
            } else {
                name(&event.operation_id)
            },
            kind: match event.phase {
                Phase::Received => Kind::Received,
                Phase::Finished => Kind::Finished,
            },
            at_ms: event.at_ms,
            duration_us: i64::try_from(event.duration_us).unwrap_or(i64::MAX),
            bytes: i64::try_from(event.bytes).unwrap_or(i64::MAX),
            has_effect: event.has_effect,
            machine: name(machine),
            caller: name(&event.caller),
            client: optional(&event.client, NAME_BYTES),
            session: optional(&event.session, NAME_BYTES),
            transport: event.transport.as_str(),
            scope: name(scope),
            op: name(&event.op),
            target,
            capability: event.capability.map(bailiwick_contract::Capability::as_str),
            stage: optional(&event.stage, NAME_BYTES),
            rule: optional(&event.rule, NAME_BYTES),
            code: event.code.map(bailiwick_contract::ErrorCode::as_str),
            summary: optional(&Some(event.summary), SENTENCE_BYTES),
            error: optional(&event.error, SENTENCE_BYTES),
            template,
        }
    }

    /// Redacts the words of a command, each alone and all as one line.
    pub fn words(&self, words: &[&str]) -> Vec<String> {
        self.clipped_words(words, &mut Vec::new())
    }

    fn clipped_words(&self, words: &[&str], found: &mut Vec<String>) -> Vec<String> {
        let seen: Vec<&str> = words.iter().map(|word| clip(word, TEMPLATE_BYTES + OVERLAP_BYTES)).collect();
        let cleaned = self.clean_words(&seen, found).into_iter();
        cleaned
            .zip(seen.iter().zip(words))
            .map(|(cleaned, (seen, word))| shorten(cleaned, TEMPLATE_BYTES, seen.len() < word.len()))
            .collect()
    }

    /// Redacts every text of a value that is handed to somebody else.
    pub fn json(&self, value: Value) -> Value {
        self.value(value, MAX_DEPTH, &mut Vec::new())
    }

    /// Creates a row by which the history tells of itself.
    pub fn notice(&self, machine: &str, op: &'static str, summary: &str) -> Row {
        Row {
            id: self.text(&id::new_id(), NAME_BYTES, &mut Vec::new()),
            kind: Kind::Notice,
            at_ms: time::now_ms(),
            duration_us: 0,
            bytes: 0,
            has_effect: false,
            machine: self.text(machine, NAME_BYTES, &mut Vec::new()),
            caller: RedactedValue::word("bailiwick"),
            client: None,
            session: None,
            transport: "service",
            scope: RedactedValue::word(""),
            op: RedactedValue::word(op),
            target: None,
            capability: None,
            stage: None,
            rule: None,
            code: None,
            summary: Some(self.text(summary, SENTENCE_BYTES, &mut Vec::new())),
            error: None,
            template: None,
        }
    }

    /// Creates the row that stands for rows which retention removed.
    pub fn retention(&self, machine: &str, rows: i64, removed: &Removal) -> Row {
        // A number and a hash of our own: nothing that could be secret, and it must not be changed.
        let template = serde_json::to_string(removed).expect("a number and a text have a JSON form");
        Row {
            kind: Kind::Retention,
            template: Some(RedactedValue(template)),
            ..self.notice(machine, "history.retention", &format!("{rows} old rows removed"))
        }
    }

    /// As [`Redactor::text`], for a name that other rows have, too.
    fn name(&self, text: &str, found: &mut Vec<String>) -> RedactedValue<String> {
        if text.len() > NAME_BYTES {
            return self.text(text, NAME_BYTES, found);
        }
        RedactedValue(shorten(self.clean_name(text, found).into_owned(), NAME_BYTES, false))
    }

    /// Redacts a text, then shortens it to at most `limit` bytes.
    fn text(&self, text: &str, limit: usize, found: &mut Vec<String>) -> RedactedValue<String> {
        let seen = clip(text, limit + OVERLAP_BYTES);
        let cleaned = self.clean(seen, found).into_owned();
        RedactedValue(shorten(cleaned, limit, seen.len() < text.len()))
    }

    /// Keeps of an envelope's template what the row's own columns do not hold; as JSON text.
    fn template(&self, template: Value, found: &mut Vec<String>) -> Option<RedactedValue<String>> {
        let Value::Object(mut template) = template else { return None };
        for column in ["scope", "op", "target"] {
            template.remove(column);
        }
        if template.is_empty() {
            return None;
        }
        let cleaned = self.value(Value::Object(template), MAX_DEPTH, found).to_string();
        if cleaned.len() > TEMPLATE_BYTES {
            return Some(RedactedValue::word(r#"{"leftOut":["input","options"]}"#));
        }
        Some(RedactedValue(cleaned))
    }

    fn value(&self, value: Value, depth: usize, found: &mut Vec<String>) -> Value {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
            _ if depth == 0 => Value::Null,
            Value::String(text) => Value::String(self.text(&text, TEMPLATE_BYTES, found).0),
            Value::Array(items) => {
                // What is among the texts of a command is judged with them, as they are one line.
                let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                let mut words = self.clipped_words(&words, found).into_iter();
                let mut after_flag = false;
                let items = items.into_iter().map(|item| {
                    let is_flag = item.as_str().is_some_and(is_secret_flag);
                    let is_value = std::mem::replace(&mut after_flag, is_flag);
                    match item {
                        Value::String(_) => words.next().map_or(Value::Null, Value::String),
                        Value::Number(_) if is_value => self.whole(&item, found),
                        item => self.value(item, depth - 1, found),
                    }
                });
                Value::Array(items.collect())
            }
            Value::Object(fields) => {
                let fields = fields.into_iter().map(|(name, item)| {
                    let scalar =
                        !item.is_array() && !item.is_object() && !item.is_null() && !item.is_boolean();
                    let item = if scalar && is_secret_name(&name) {
                        self.whole(&item, found)
                    } else {
                        self.value(item, depth - 1, found)
                    };
                    (self.text(&name, NAME_BYTES, found).0, item)
                });
                Value::Object(fields.collect::<Map<String, Value>>())
            }
        }
    }

    /// Replaces a value as a whole.
    fn whole(&self, value: &Value, found: &mut Vec<String>) -> Value {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if is_placeholder(Candidate::alone(&text)) {
            return self.value(value.clone(), 1, found);
        }
        let mark = self.mark("named", &text);
        if text.len() >= 6 {
            found.push(text);
        }
        Value::String(mark)
    }
}

/// Cuts a redacted text to at most `limit` bytes, and marks what was cut here or before.
fn shorten(mut text: String, limit: usize, cut_before: bool) -> String {
    if text.len() > limit || cut_before {
        text.truncate(clip(&text, limit - '…'.len_utf8()).len());
        text.push('…');
    }
    text
}

/// Returns the first bytes of a text, whole characters only.
fn clip(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}
