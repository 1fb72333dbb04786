//! Secrets of scopes that show something else in their place: every answer is gone through before it is recorded and leaves,
//! and handles in what a client writes become values before the request is judged. Records and tickets keep the handles.
//!
//! What is replaced on the way in, the operations say ([`HandleField`]). Nothing of this happens where no scope has `secrets`.

use std::borrow::Cow;
use std::mem;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::registry::{Entry, HandleField, HandleUsage};
use bailiwick_config::SecretMode;
use bailiwick_contract::{Caller, Effect, Envelope, Failure, Json};
use bailiwick_history::{HANDLE, HandleProblem, HistoryHandle, NotedSecrets, ScopeSecrets};
use bailiwick_policy::Scope;

/// What a mark begins with that cannot be turned back.
const MARK: &str = "[redacted:";
/// The rule that refuses handles and marks.
const HANDLES_RULE: &str = "secret-handles";
/// Fields with names that the service makes, some of which look random.
const MADE_HERE: &[&str] = &[
    "approvalId",
    "captureId",
    "cursor",
    "nextCursor",
    "operationId",
    "pending",
    "processId",
    "resume",
    "sha256",
    "undoId",
    "version",
    "versionBefore",
];
/// How many letters the names of fields of answers have at most.
const LONGEST_FIELD_NAME: usize = 24;
/// How many bytes at each end of a part of a file may belong to a character that was cut.
const CUT_BYTES: usize = 3;

/// The secrets of the scope of one request.
#[derive(Debug, Clone)]
pub(super) struct RequestSecrets {
    secrets: ScopeSecrets,
    mode: SecretMode,
    /// Whether the request asks for bytes in base64.
    is_base64: bool,
}

/// A request with the values of its handles.
pub(super) struct ResolvedRequest {
    /// The request as it is judged.
    pub envelope: Envelope,
    /// The handles that it gives to a command or process.
    pub given: Vec<String>,
}

impl RequestSecrets {
    /// Returns the secrets of a scope; `None` where its answers show them.
    pub fn of(scope: &Scope, caller: &Caller, envelope: &Envelope, history: &HistoryHandle) -> Option<Self> {
        let mode = scope.secrets();
        if mode == SecretMode::Off {
            return None;
        }
        let secrets = history.secrets_of(scope.id(), caller.identity());
        for (name, value) in scope.environment() {
            secrets.configure(name, value);
        }
        Some(Self { secrets, mode, is_base64: asks_for_base64(&envelope.options) })
    }

    /// Refuses what would show parts of values, or values in another form.
    ///
    /// # Errors
    /// `invalid_request` that names the field.
    pub fn check(&self, entry: &Entry, envelope: &Envelope) -> Result<(), Failure> {
        if self.is_base64 && entry.spec.effect != Effect::ReadOnly {
            return Err(not_shown("options.encoding", "bytes in base64 are"));
        }
        if !self.is_base64 && entry.spec.audited_fields.contains(&"offset") {
            let by_bytes = ["offset", "length"]
                .iter()
                .find(|it| envelope.options.get(**it).is_some_and(|value| !value.is_null() && value != ""));
            if let Some(name) = by_bytes {
                return Err(not_shown(&format!("options.{name}"), "parts of text by bytes are")
                    .hint("Use `startLine` and `endLine`."));
            }
        }
        Ok(())
    }

    /// Replaces the handles of a request by their values. `None` if it has none.
    ///
    /// # Errors
    /// `invalid_request` that names the field, for a handle that has no value or no place there, and for marks that would
    /// destroy what they stand for.
    pub fn resolve(&self, entry: &Entry, envelope: &Envelope) -> Result<Option<ResolvedRequest>, Failure> {
        let mut input: Option<Map<String, Value>> = None;
        let mut given = Vec::new();
        for field in entry.handles {
            let Some(value) = envelope.input.get(field.name) else { continue };
            if !has_mark(value) {
                continue;
            }
            let mut value = value.clone();
            let handles = self.resolve_value(field, &format!("input.{}", field.name), None, &mut value);
            let handles = handles.map_err(|failure| failure.detail("rule", HANDLES_RULE))?;
            if matches!(field.usage, HandleUsage::Words | HandleUsage::Input) {
                given.extend(handles);
            }
            input.get_or_insert_with(|| envelope.input.clone()).insert(field.name.to_owned(), value);
        }
        given.sort();
        given.dedup();
        Ok(input.map(|input| ResolvedRequest { envelope: Envelope { input, ..envelope.clone() }, given }))
    }

    /// Replaces the handles in a value of a field. Returns them.
    fn resolve_value(
        &self,
        field: &HandleField,
        name: &str,
        part: Option<&str>,
        value: &mut Value,
    ) -> Result<Vec<String>, Failure> {
        let mut handles = Vec::new();
        match value {
            Value::String(text) => {
                let counts = field.parts.is_empty() || part.is_some_and(|it| field.parts.contains(&it));
                if counts && let Some(resolved) = self.resolve_text(field.usage, name, text)? {
                    handles = resolved.1;
                    *text = resolved.0;
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter_mut().enumerate() {
                    // A word of a list is one, whatever the list is of.
                    let usage = match field.usage {
                        HandleUsage::Words => HandleField { parts: &[], ..*field },
                        _ => *field,
                    };
                    handles.extend(self.resolve_value(&usage, &format!("{name}[{at}]"), Some(""), item)?);
                }
            }
            Value::Object(fields) => {
                for (part, item) in fields.iter_mut() {
                    handles.extend(self.resolve_value(field, &format!("{name}.{part}"), Some(part), item)?);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        Ok(handles)
    }

    fn resolve_text(
        &self,
        usage: HandleUsage,
        name: &str,
        text: &str,
    ) -> Result<Option<(String, Vec<String>)>, Failure> {
        if has_redaction(text) {
            return Err(Failure::invalid(
                name,
                format!("`{name}` has marks `{MARK}…]`, which stand for secrets: written back they would destroy them"),
            )
            .hint("Change the other lines with file.patch."));
        }
        if self.mode != SecretMode::Handles || !text.contains(HANDLE) {
            return Ok(None);
        }
        let no_place = |why: &str| Failure::invalid(name, format!("`{name}` has a handle of a secret {why}"));
        let is_words = usage == HandleUsage::Words;
        // The field `command` as one text, and not a list of words.
        if is_words && !name.ends_with(']') {
            return Err(no_place("in a text that is read as commands").hint(
                "Give the command as an array of words, or the handle in `input.env` or `input.stdin`.",
            ));
        }
        let names_file = |line: &str| {
            line.contains(HANDLE)
                && ["--- ", "+++ ", "*** ", "diff ", "rename "].iter().any(|it| line.starts_with(it))
        };
        if usage == HandleUsage::Patch && text.lines().any(names_file) {
            return Err(no_place("in a line that names a file"));
        }
        let keeps_names = matches!(usage, HandleUsage::Content | HandleUsage::Patch);
        let resolved = self.secrets.resolve(text, keeps_names).map_err(|problem| match problem {
            HandleProblem::Malformed => {
                Failure::invalid(name, format!("`{name}` has a handle of a secret that is cut off or altered"))
                    .hint("Use the handle that is in the answer, letter by letter.")
            }
            HandleProblem::Unknown(handle) => Failure::invalid(
                name,
                format!("`{handle}` in `{name}` stands for no secret that this client was shown in this scope since the service started"),
            )
            .hint("Read the file again, and use the handle that is in the answer, letter by letter."),
            HandleProblem::NeedsName(handle) => Failure::invalid(
                name,
                format!(
                    "`{handle}` in `{name}` stands for a short value, which is written back to files only, together with its name"
                ),
            )
            .hint("Write the whole line as it was read, such as `DB_PASSWORD={{secret:…}}`."),
        })?;
        let Some(resolved) = resolved else { return Ok(None) };
        // Beside other text, a value could be read by a shell as more than itself.
        if is_words && resolved.has_special && !text.trim().eq(&resolved.handles[0]) {
            return Err(no_place("beside other text, and its value has characters that shells read")
                .hint("Make the handle a word of its own, or give it in `input.env` or `input.stdin`."));
        }
        Ok(Some((resolved.text, resolved.handles)))
    }

    /// Puts handles or marks in the place of secrets, in all that a client is answered.
    pub fn hide(&self, result: &mut Result<Json, Failure>, warnings: &mut [String]) {
        match result {
            Ok(data) => match self.hidden(data) {
                Ok(Some(hidden)) => *data = hidden,
                Ok(None) => {}
                Err(failure) => *result = Err(failure),
            },
            Err(failure) => {
                let texts = [&mut failure.message].into_iter().chain(&mut failure.hints);
                texts.for_each(|text| *text = self.text(text));
                let mut details = Value::Object(mem::take(&mut failure.details));
                self.hide_value("", &mut details);
                if let Value::Object(details) = details {
                    failure.details = details;
                }
            }
        }
        warnings.iter_mut().for_each(|text| *text = self.text(text));
    }

    /// Returns a text that stands alone, without secrets.
    pub fn text(&self, text: &str) -> String {
        let noted = self.secrets.note(text);
        self.shown(text, &noted).into_owned()
    }

    fn shown<'t>(&self, text: &'t str, noted: &NotedSecrets) -> Cow<'t, str> {
        match self.mode {
            SecretMode::Off => Cow::Borrowed(text),
            SecretMode::Redact => self.secrets.redacted(text, noted),
            SecretMode::Handles => self.secrets.with_handles(text, noted),
        }
    }

    /// # Errors
    /// `invalid_request` for bytes in base64 that are text or hold secrets.
    fn hidden(&self, data: &Json) -> Result<Option<Json>, Failure> {
        let (mut noted, mut is_shown) = (Vec::new(), true);
        data.visit_texts(|field, text| {
            let is_ours = field.map_or_else(|| is_field_name(text), |field| MADE_HERE.contains(&field));
            let found = if is_ours { Default::default() } else { self.secrets.note(text) };
            is_shown &= !self.is_base64 || field != Some("content") || self.may_show_bytes(text);
            noted.push(found);
        });
        if !is_shown {
            return Err(not_shown(
                "options.encoding",
                "the bytes of text, or of files that hold secrets, are",
            )
            .hint("Read it as text, without `encoding`."));
        }
        let mut noted = noted.into_iter();
        Ok(data.replace_texts(|field, text| {
            let found = noted.next().unwrap_or_default();
            if field.is_none() && is_field_name(text) {
                return None;
            }
            match self.shown(text, &found) {
                Cow::Borrowed(_) => None,
                Cow::Owned(shown) => Some(shown),
            }
        }))
    }

    fn hide_value(&self, name: &str, value: &mut Value) {
        match value {
            Value::String(text) if !MADE_HERE.contains(&name) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_value(name, item)),
            Value::Object(fields) => {
                fields.iter_mut().for_each(|(name, item)| self.hide_value(name, item));
                let shown = |name: String| if is_field_name(&name) { name } else { self.text(&name) };
                *fields = mem::take(fields).into_iter().map(|(name, item)| (shown(name), item)).collect();
            }
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Returns whether bytes in base64 are neither text nor hold secrets.
    fn may_show_bytes(&self, base64: &str) -> bool {
        let Ok(bytes) = STANDARD.decode(base64) else { return true };
        let is_text = |bytes: &[u8]| {
            let inner = bytes.get(CUT_BYTES..bytes.len().saturating_sub(CUT_BYTES)).unwrap_or_default();
            !bytes.contains(&0) && std::str::from_utf8(inner).is_ok()
        };
        if is_text(&bytes) {
            return bytes.is_empty();
        }
        // Texts in UTF-16 have a zero beside every letter.
        let letters: Vec<u8> = bytes.into_iter().filter(|byte| *byte != 0).collect();
        !self.secrets.are_in(&String::from_utf8_lossy(&letters))
    }
}

/// Returns whether a request asks for bytes in base64, however it is written: options are read as kindly as they can be.
fn asks_for_base64(options: &Map<String, Value>) -> bool {
    let has = |name: &str, of: fn(&str) -> bool| {
        options.get(name).is_some_and(|value| match value {
            Value::String(text) => of(&text.to_ascii_lowercase()),
            other => of(&other.to_string()),
        })
    };
    has("encoding", |text| text.contains("base64")) || has("base64", |text| !matches!(text, "false" | "null"))
}

/// Returns whether a name may be that of a field of an answer, which has letters alone.
fn is_field_name(name: &str) -> bool {
    name.len() <= LONGEST_FIELD_NAME && name.bytes().all(|it| it.is_ascii_alphabetic())
}

/// Returns whether a value has anything that stands for a secret.
fn has_mark(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(HANDLE) || text.contains(MARK),
        Value::Array(items) => items.iter().any(has_mark),
        Value::Object(fields) => fields.values().any(has_mark),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns whether a text has a mark that cannot be turned back: `[redacted:kind:12345678]`.
fn has_redaction(text: &str) -> bool {
    text.split(MARK).skip(1).any(|rest| {
        let mark = rest.split(']').next().unwrap_or_default();
        let number = mark.rsplit(':').next().unwrap_or_default();
        mark.len() < rest.len() && number.len() == 8 && number.bytes().all(|it| it.is_ascii_hexdigit())
    })
}

fn not_shown(field: &str, what: &str) -> Failure {
    Failure::invalid(field, format!("{what} not shown in this scope, as it hides secrets"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bailiwick_contract::{ErrorCode, id};
    use bailiwick_history::{HistoryHandle, HistorySettings};
    use bailiwick_platform::fs::remove_tree;
    use serde_json::json;

    #[test]
    fn names_of_fields_show_no_secret_and_those_of_the_service_stay() {
        let folder = std::env::temp_dir().join(format!("bailiwick-secrets-{}", id::new_id()));
        let history = HistoryHandle::start(HistorySettings {
            folder: folder.clone(),
            machine_id: "01JD0000000000000000000000".to_owned(),
            max_age_days: 90,
            max_megabytes: 64,
        });
        let secrets = history.secrets_of("app", "local");
        let request = RequestSecrets { secrets, mode: SecretMode::Handles, is_base64: false };
        let (known, of_a_field) = ("correct-horse-77", "instructionsBelow");
        let data = json!({
            "text": format!("A_PASSWORD={known}\nB_PASSWORD={of_a_field}"),
            "instructionsBelow": {known: [{format!("<{known}>"): 1}], "C_PASSWORD=swordfish-99": null, "sha256": ""},
        });
        let hidden = request.hidden(&Json::of(&data).expect("JSON")).expect("shown").expect("with handles");
        let mut failure = Failure::new(ErrorCode::NotFound, "x");
        failure.details.insert("instructionsBelow".to_owned(), data["instructionsBelow"].clone());
        failure.details.insert(format!("{known} is there"), Value::Null);
        let mut result = Err(failure);
        request.hide(&mut result, &mut []);
        let failure = result.expect_err("as before");
        for shown in [hidden.to_value(), Value::Object(failure.details)] {
            let text = shown.to_string();
            assert!(!text.contains(known) && !text.contains("swordfish-99"), "{text}");
            let inner = shown["instructionsBelow"].as_object().expect("the name of the service");
            assert!(inner.len() == 3 && inner.contains_key("sha256"), "{text}");
            assert!(inner.keys().any(|name| name.starts_with("C_PASSWORD={{secret:c_password#")), "{text}");
        }
        drop((request, history));
        remove_tree(&folder).expect("removed");
    }
}
