//! From the words after `call` to an envelope. The flags come from the operation's row.

use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::adapters::chain;
use bailiwick_contract::json::read_unambiguous;
use bailiwick_contract::path::encode_name;
use bailiwick_contract::{CommandInput, Envelope, ErrorCode, Failure, fields as names};
use bailiwick_engine::operations::FAMILIES;
use bailiwick_engine::registry::{Entry, Registry};
use bailiwick_engine::requests;
use bailiwick_engine::requests::fields::{self, Field, Kind, all_fields};
use bailiwick_platform::names::OsStringExt;

/// The largest file that `--input @FILE` or `--FIELD-file FILE` reads.
const LIMIT_BYTES: u64 = 16 << 20;

/// What the words ask for.
#[derive(Debug, Default)]
pub struct Words {
    /// `--help` or `-h`.
    pub help: bool,
    /// `--verbose` or `-v`.
    pub verbose: bool,
    /// `--config PATH`.
    pub config: Option<PathBuf>,
    /// `--token NAME`.
    pub caller: Option<String>,
    /// The first word: an operation's name, or a whole envelope as JSON.
    pub first: Option<String>,
    /// The second word.
    target: Option<String>,
    /// `--scope ID`.
    pub scope: Option<String>,
    input: Option<String>,
    options: Option<String>,
    /// `--then JSON`.
    then: Option<String>,
    flags: Vec<Flag>,
}

#[derive(Debug)]
struct Flag {
    name: String,
    /// What follows a `=`.
    attached: Option<String>,
    /// The next word, if it could be a value; whether it is one depends on the field.
    following: Option<String>,
}

impl Words {
    /// Sorts the words that followed the command.
    ///
    /// # Errors
    /// `invalid_request` for words that are not UTF-8 where text is needed, a missing value, or a
    /// word too many.
    pub fn sort(rest: Vec<OsString>) -> Result<Self, Failure> {
        let mut words = Self::default();
        let mut rest = rest.into_iter().peekable();
        let mut only_words = false;
        while let Some(word) = rest.next() {
            let word = text(word);
            let Some(flag) = word.strip_prefix('-').filter(|rest| !only_words && !rest.is_empty()) else {
                words.take_word(word)?;
                continue;
            };
            if word == "--" {
                only_words = true;
                continue;
            }
            match word.as_str() {
                "-h" => words.help = true,
                "-v" => words.verbose = true,
                _ => {}
            }
            if matches!(word.as_str(), "-h" | "-v") {
                continue;
            }
            let Some(flag) = flag.strip_prefix('-') else {
                return Err(Failure::invalid(&word, format!("there is no flag `{word}`"))
                    .hint("A word that begins with `-` goes after `--`."));
            };
            let (name, attached) = match flag.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (flag.to_owned(), None),
            };
            let mut value = || {
                attached
                    .clone()
                    .or_else(|| rest.next().map(text))
                    .ok_or_else(|| Failure::invalid(&name, format!("`--{name}` needs a value")))
            };
            match name.as_str() {
                "help" => words.help = true,
                "verbose" | "details" => words.verbose = true,
                // It was looked for before, since it counts even when the words are wrong.
                "json" => {}
                "config" => words.config = Some(PathBuf::from(value()?)),
                "token" | "caller" => words.caller = Some(value()?),
                "scope" => words.scope = Some(value()?),
                "target" => words.target = Some(value()?),
                "input" => words.input = Some(value()?),
                "options" => words.options = Some(value()?),
                "then" => words.then = Some(value()?),
                _ => {
                    let following = match attached {
                        Some(_) => None,
                        None => rest.peek().cloned().map(text),
                    };
                    // Whether the next word is the value is known when the operation is.
                    words.flags.push(Flag { name, attached, following });
                    if let Some(flag) = words.flags.last()
                        && flag.following.is_some()
                        && words.takes_value(&flag.name, flag.following.as_deref())
                    {
                        rest.next();
                    } else if let Some(flag) = words.flags.last_mut() {
                        flag.following = None;
                    }
                }
            }
        }
        Ok(words)
    }

    fn take_word(&mut self, word: String) -> Result<(), Failure> {
        if self.first.is_none() {
            self.first = Some(word);
        } else if self.target.is_none() {
            self.target = Some(word);
        } else {
            return Err(Failure::invalid("", format!("`{}` is one word too many", one(&word))).hint(
                "The words are OPERATION and TARGET; everything else has a flag. Quote a target with blanks.",
            ));
        }
        Ok(())
    }

    /// Returns whether a flag of the operation named so far takes the word after it as its value.
    fn takes_value(&self, name: &str, following: Option<&str>) -> bool {
        let known = self.first.as_deref().and_then(|op| Registry::new(FAMILIES).entry(op));
        let Some(entry) = known else { return !following.is_some_and(|it| it.starts_with("--")) };
        match find(&all_fields(entry), name) {
            Some((field, Form::Plain)) if field.kind == Kind::Bool => {
                matches!(following, Some("true" | "false"))
            }
            Some((_, Form::Negated)) => false,
            Some((_, Form::Plain | Form::File)) => true,
            None => !following.is_some_and(|it| it.starts_with('-')),
        }
    }

    /// Returns the command, if the words are one and no operation: `git status`, or `["git","status"]`.
    ///
    /// # Errors
    /// `invalid_request` for a command that is not one quoted word.
    pub fn command(&self) -> Result<Option<CommandInput>, Failure> {
        let Some(first) = self.first.as_deref() else { return Ok(None) };
        let is_name =
            |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_lowercase() || it == b'_');
        let is_operation =
            first.split_once('.').is_some_and(|(family, verb)| is_name(family) && is_name(verb));
        if is_operation || first.trim_start().starts_with('{') {
            return Ok(None);
        }
        if self.target.is_some() || !self.flags.is_empty() {
            return Err(Failure::invalid("", "a command is given as one word")
                .hint("Put the whole command in quotes: bailiwick policy explain 'git status'."));
        }
        if first.trim_start().starts_with('[') {
            let argv = serde_json::from_str(first)
                .map_err(|error| Failure::invalid("", format!("this is no array of words: {error}")))?;
            return Ok(Some(CommandInput::Argv(argv)));
        }
        Ok(Some(CommandInput::Line(first.to_owned())))
    }

    /// Reads the requests of the call: the first, and those of `then`.
    ///
    /// # Errors
    /// As [`Words::envelope`].
    pub fn requests(mut self) -> Result<Vec<Envelope>, Failure> {
        if let Some(first) = self.first.as_deref().filter(|it| it.trim_start().starts_with('{')) {
            return chain::read_json(first.as_bytes());
        }
        let then = self.then.take();
        let first = self.envelope()?;
        let Some(then) = then else { return Ok(vec![first]) };
        let mut fields = Map::from_iter([(chain::THEN.to_owned(), json("--then", &then)?)]);
        if let Some(scope) = &first.scope {
            fields.insert("scope".to_owned(), Value::from(scope.as_str()));
        }
        let rest = chain::take(&mut fields)?;
        chain::read(first, rest)
    }

    /// Creates the envelope.
    ///
    /// # Errors
    /// `unknown_operation` or `invalid_request`, with the nearest names.
    pub fn envelope(self) -> Result<Envelope, Failure> {
        let first = self.first.as_deref().ok_or_else(|| {
            Failure::invalid("op", "no operation is named").hint("`bailiwick call --help` lists them.")
        })?;
        if first.trim_start().starts_with('{') {
            return requests::read_json(first.as_bytes());
        }
        let entry = entry(first)?;
        let fields = all_fields(entry);
        let mut envelope = Envelope {
            scope: self.scope,
            op: entry.spec.name.to_owned(),
            target: self.target,
            input: self.input.map(|text| object("--input", &text)).transpose()?.unwrap_or_default(),
            options: self.options.map(|text| object("--options", &text)).transpose()?.unwrap_or_default(),
        };
        for flag in self.flags {
            let (field, form) =
                find(&fields, &flag.name).ok_or_else(|| unknown_flag(entry, &fields, &flag.name))?;
            let value = match form {
                Form::Negated => Value::Bool(false),
                Form::File => {
                    let path = flag
                        .attached
                        .or(flag.following)
                        .ok_or_else(|| missing(&flag.name, "a file, or `-`"))?;
                    Value::String(read_text(&flag.name, &path)?)
                }
                Form::Plain => match flag.attached.or(flag.following) {
                    Some(text) => fields::value(field, &flag_of(field), &text)?,
                    None if field.kind == Kind::Bool => Value::Bool(true),
                    None => return Err(missing(&flag.name, &placeholder(&field.kind))),
                },
            };
            let part = if field.is_option { &mut envelope.options } else { &mut envelope.input };
            fields::add(part, field, value);
        }
        Ok(envelope)
    }
}

/// Finds an operation's row.
///
/// # Errors
/// `unknown_operation` with the nearest names.
pub fn entry(op: &str) -> Result<&'static Entry, Failure> {
    requests::operation(op).ok_or_else(|| {
        let registry = Registry::new(FAMILIES);
        let failure =
            Failure::new(ErrorCode::UnknownOperation, format!("there is no operation `{}`", one(op)));
        let nearest = names::nearest(op, registry.operations().map(|entry| entry.spec.name), 3);
        if nearest.is_empty() {
            failure.hint("`bailiwick call --help` lists the operations.")
        } else {
            failure.hint(format!("Did you mean {}?", nearest.join(" or ")))
        }
    })
}

/// Returns the name of a field's flag, such as `max-results`.
pub fn flag_of(field: &Field) -> String {
    kebab(&field.name)
}

/// Names the value of a field in help texts.
pub fn placeholder(kind: &Kind) -> String {
    match kind {
        Kind::Bool => String::new(),
        Kind::Integer | Kind::Number => "N".to_owned(),
        Kind::Text => "TEXT".to_owned(),
        Kind::Choice(values) => values.join("|"),
        Kind::List(inner) => format!("{}…", placeholder(inner)),
        Kind::TextOrJson => "TEXT|JSON".to_owned(),
        Kind::Json => "JSON".to_owned(),
    }
}

enum Form {
    Plain,
    Negated,
    File,
}

/// Finds the field that a flag means: its name in camel or kebab case, `no-NAME`, or `NAME-file`.
fn find<'a>(fields: &'a [Field], flag: &str) -> Option<(&'a Field, Form)> {
    let named = |name: &str| fields.iter().find(|field| field.name == name || flag_of(field) == name);
    if let Some(field) = named(flag) {
        return Some((field, Form::Plain));
    }
    if let Some(field) = flag.strip_prefix("no-").and_then(named)
        && field.kind == Kind::Bool
    {
        return Some((field, Form::Negated));
    }
    let field = flag.strip_suffix("-file").and_then(named)?;
    matches!(field.kind, Kind::Text).then_some((field, Form::File))
}

fn unknown_flag(entry: &Entry, fields: &[Field], name: &str) -> Failure {
    let flags: Vec<String> = fields.iter().map(flag_of).collect();
    let failure = Failure::invalid(name, format!("{} has no field `{}`", entry.spec.name, one(name)))
        .detail("accepted", flags.clone());
    let nearest = names::nearest(&kebab(name), flags.iter().map(String::as_str), 1);
    match nearest.first() {
        Some(near) => failure.hint(format!("Did you mean `--{near}`?")),
        None => failure.hint(format!("`bailiwick call {} --help` lists its fields.", entry.spec.name)),
    }
}

fn missing(name: &str, what: &str) -> Failure {
    Failure::invalid(name, format!("`--{name}` needs a value: {what}"))
}

/// Reads `JSON`, `@FILE` or `-` as a JSON object.
fn object(flag: &str, text: &str) -> Result<Map<String, Value>, Failure> {
    match json(flag, text)? {
        Value::Object(fields) => Ok(fields),
        _ => Err(Failure::invalid(flag, format!("`{flag}` must be a JSON object"))),
    }
}

fn json(flag: &str, text: &str) -> Result<Value, Failure> {
    let text = match text.strip_prefix('@') {
        Some(path) => read_text(flag, path)?,
        None if text == "-" => read_text(flag, "-")?,
        None => text.to_owned(),
    };
    read_unambiguous(text.as_bytes()).map_err(|error| {
        Failure::invalid(flag, format!("`{flag}` is not valid JSON: {error}"))
            .hint("Give an object such as '{\"maxResults\": 10}', `@FILE`, or `-` for standard input.")
    })
}

fn read_text(flag: &str, path: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = if path == "-" {
        std::io::stdin().lock().take(LIMIT_BYTES + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(LIMIT_BYTES + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::invalid(flag, format!("`{}`: {error}", one(path))))?;
    if bytes.len() as u64 > LIMIT_BYTES {
        return Err(Failure::invalid(flag, format!("`{}` is larger than {LIMIT_BYTES} bytes", one(path))));
    }
    String::from_utf8(bytes).map_err(|_| Failure::invalid(flag, format!("`{}` is not UTF-8 text", one(path))))
}

/// Turns a word into text; bytes that are not UTF-8 take the form that paths have on the wire.
fn text(word: OsString) -> String {
    word.into_string().unwrap_or_else(|word| encode_name(&word.into_vec()))
}

fn one(text: &str) -> String {
    text.chars().take(80).collect()
}

/// `maxResults` to `max-results`.
fn kebab(name: &str) -> String {
    let mut flag = String::with_capacity(name.len() + 4);
    for it in name.chars() {
        if it.is_ascii_uppercase() {
            flag.push('-');
            flag.push(it.to_ascii_lowercase());
        } else {
            flag.push(if it == '_' { '-' } else { it });
        }
    }
    flag
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn envelope(words: &[&str]) -> Result<Envelope, Failure> {
        Words::sort(words.iter().map(OsString::from).collect())?.envelope()
    }

    #[test]
    fn flags_become_typed_fields_of_input_and_options() {
        let made = envelope(&["file.stat", "a b", "--scope", "app", "--hash", "--timeout-seconds", "5"]);
        let made = serde_json::to_value(made.expect("well-formed")).expect("JSON");
        assert_eq!(
            made,
            json!({"scope":"app","op":"file.stat","target":"a b","options":{"hash":true,"timeoutSeconds":5}})
        );
        let made = envelope(&["computer.info", "--include", "identity", "--include=scopes", "--family=file"]);
        assert_eq!(
            Value::from(made.expect("well-formed").input),
            json!({"include":["identity","scopes"],"family":"file"})
        );
        let made = envelope(&["file.stat", "--no-hash", "--", "-odd"]).expect("well-formed");
        assert_eq!(
            (made.target.as_deref(), Value::from(made.options)),
            (Some("-odd"), json!({"hash":false}))
        );
    }

    #[test]
    fn a_text_that_is_json_too_is_a_text_where_one_may_stand() {
        for text in ["true", "false", "null", "123", "\"a\"", "[ -f x ] && true"] {
            let made = envelope(&["command.run", "--command", text]).expect("well-formed");
            assert_eq!(made.input["command"], text, "{text}");
        }
        let made = envelope(&["command.run", "--command", r#"["git","status"]"#]).expect("well-formed");
        assert_eq!(made.input["command"], serde_json::json!(["git", "status"]));
    }

    #[test]
    fn mistakes_name_the_flag_and_the_nearest_one() {
        for (words, part) in [
            (&["file.stat", "--hsah"][..], "--hash"),
            (&["file.stat", "--timeout-seconds", "soon"], "whole number"),
            (&["file.stat", "--timeout-seconds"], "needs a value"),
            (&["file.stta"], "file.stat"),
            (&["file.stat", "a", "b"], "too many"),
            (&["file.stat", "--input", "[1]"], "JSON object"),
            (&["computer.info", "--include", "nothing"], "one of"),
            (&[], "no operation"),
        ] {
            let failure = envelope(words).expect_err("refused");
            let said = format!("{} {}", failure.message, failure.hints.join(" "));
            assert!(said.contains(part), "{words:?}: {said}");
        }
    }
}
