//! What is in a client's settings for Bailiwick: the fields of one entry, in order, and which of them are the
//! person's own.

use serde_json::{Map, Value, json};

use bailiwick_contract::{ErrorCode, Failure};

use super::connection::Connection;
use super::kind::{ClientKind, CommandForm, TOKEN_PROMPT, TOKEN_VARIABLE, TokenForm};

/// How the client reaches Bailiwick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// It starts `bailiwick mcp`, with the rights of a token if one is named.
    Stdio {
        /// The token's name.
        caller: Option<String>,
    },
    /// It connects to `bailiwick serve`.
    Http,
}

/// The entry of a client.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The fields in the order in which they are written.
    pub fields: Vec<(&'static str, Value)>,
    /// Whether the client has to be told to ask the user for the token.
    pub asks_for_token: bool,
}

/// How an entry that is in a file compares with the one that belongs there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    /// All fields are right; further ones are the user's.
    Right,
    /// It is Bailiwick's, and some field is not as it would be written now.
    Stale,
    /// It is another server's.
    Foreign,
}

/// The field in which Cline puts those of an entry that it took over from its older settings.
const TRANSPORT: &str = "transport";
/// Fields of a server that the client starts; they mean nothing, or are refused, for one that it connects to.
const OF_STARTING: &[&str] =
    &["command", "cmd", "args", "env", "environment", "env_vars", "envs", "envFile", "cwd"];
/// Fields of a server that the client connects to.
const OF_CONNECTING: &[&str] = &[
    "url",
    "serverUrl",
    "httpUrl",
    "uri",
    "headers",
    "http_headers",
    "env_http_headers",
    "bearer_token_env_var",
    "oauth",
];
/// Of them, those that say where to.
const ADDRESSES: &[&str] = &["url", "serverUrl", "httpUrl", "uri"];
/// Fields that are the user's once they are there.
const OF_PERSON: &[&str] = &["enabled", "timeout"];
/// What is written as the time limit of a call for goose, in seconds: its own default.
const GOOSE_TIMEOUT: u64 = 300;

impl Entry {
    /// Creates the entry.
    ///
    /// # Errors
    /// `unsupported_platform` for a client that does not connect that way.
    pub fn new(kind: ClientKind, connection: &Connection, reach: &Reach) -> Result<Self, Failure> {
        let facts = kind.facts();
        let mut fields = Vec::new();
        let mut asks_for_token = false;
        match reach {
            Reach::Stdio { caller } => {
                fields.extend(facts.type_words.map(|(stdio, _)| ("type", json!(stdio))));
                let mut arguments = connection.arguments().to_vec();
                if let Some(caller) = caller {
                    arguments.extend(["--caller".to_owned(), caller.clone()]);
                }
                if facts.command == CommandForm::Short {
                    fields.push(("enabled", json!(true)));
                    fields.push(("timeout", json!(GOOSE_TIMEOUT)));
                }
                match facts.command {
                    CommandForm::Fields | CommandForm::Short => {
                        let is_short = facts.command == CommandForm::Short;
                        fields.push((if is_short { "cmd" } else { "command" }, json!(connection.command())));
                        fields.push(("args", json!(arguments)));
                    }
                    CommandForm::List => {
                        let mut words = vec![json!(connection.command())];
                        words.extend(arguments.into_iter().map(Value::from));
                        fields.push(("command", Value::Array(words)));
                    }
                }
                let environment: Map<String, Value> = connection
                    .environment()
                    .iter()
                    .map(|(name, value)| (name.clone(), json!(value)))
                    .collect();
                if !environment.is_empty() {
                    let name = match facts.command {
                        CommandForm::Fields => "env",
                        CommandForm::List => "environment",
                        CommandForm::Short => "envs",
                    };
                    fields.push((name, Value::Object(environment)));
                }
            }
            Reach::Http => {
                fields.extend(facts.type_words.map(|(_, http)| ("type", json!(http))));
                fields.push((facts.url_field, json!(connection.url())));
                match facts.token {
                    TokenForm::Header(reference) => {
                        fields.push(("headers", json!({"Authorization": format!("Bearer {reference}")})));
                    }
                    TokenForm::VariableName(field) => fields.push((field, json!(TOKEN_VARIABLE))),
                    TokenForm::Prompt => {
                        asks_for_token = true;
                        let value = format!("Bearer ${{input:{TOKEN_PROMPT}}}");
                        fields.push(("headers", json!({"Authorization": value})));
                    }
                    TokenForm::None(why) => {
                        return Err(Failure::new(
                            ErrorCode::UnsupportedPlatform,
                            format!("{} cannot be connected over HTTP: {why}", facts.title),
                        )
                        .hint("Leave out --http: it then starts Bailiwick itself, and needs no token."));
                    }
                }
            }
        }
        Ok(Self { fields, asks_for_token })
    }

    /// Compares with what is in the file.
    pub fn compare(&self, there: &Value) -> Likeness {
        let is_right = |(name, wanted): &(&str, Value)| match (there.get(*name), wanted) {
            (Some(_), _) if OF_PERSON.contains(name) => true,
            // The user may set further variables and headers.
            (Some(Value::Object(there)), Value::Object(wanted)) => {
                wanted.iter().all(|(name, wanted)| there.get(name) == Some(wanted))
            }
            (there, wanted) => there == Some(wanted),
        };
        if self.fields.iter().all(is_right) && self.superfluous(there).is_empty() {
            Likeness::Right
        } else if is_ours(there) || self.has_same_url(there) {
            Likeness::Stale
        } else {
            Likeness::Foreign
        }
    }

    /// Returns the fields that an entry in a file lacks, or has otherwise.
    pub fn wrong<'e>(&'e self, there: &'e Value) -> impl Iterator<Item = &'e (&'static str, Value)> {
        self.fields.iter().filter(|(name, _)| !OF_PERSON.contains(name) || there.get(name).is_none())
    }

    /// Returns the fields of what is in the file that have to go: those of another way to be reached.
    pub fn superfluous(&self, there: &Value) -> Vec<String> {
        let is_wanted = |name: &str| self.fields.iter().any(|(field, _)| *field == name);
        let starts = is_wanted("args") || is_wanted("command");
        let is_of_the_other_way = |name: &str, value: &Value| match name {
            TRANSPORT => value.is_object(),
            "type" => (value == "stdio" || value == "local") != starts,
            name if starts => OF_CONNECTING.contains(&name),
            name => OF_STARTING.contains(&name) || ADDRESSES.contains(&name),
        };
        let there = there.as_object().into_iter().flatten();
        there
            .filter(|(name, value)| !is_wanted(name) && is_of_the_other_way(name, value))
            .map(|(name, _)| name.clone())
            .collect()
    }

    fn has_same_url(&self, there: &Value) -> bool {
        ADDRESSES.iter().any(|name| {
            there.get(name).is_some_and(|url| self.fields.iter().any(|(_, wanted)| wanted == url))
        })
    }
}

/// Returns an entry with `command`, `args` and `env`, in whatever form it names them.
pub fn in_fields(there: &Value) -> Value {
    let mut there = there.clone();
    if let Some(fields) = there.as_object_mut() {
        if let Some(Value::Object(inner)) = fields.get(TRANSPORT).cloned() {
            fields.extend(inner);
        }
        for (own, usual) in [("cmd", "command"), ("envs", "env")] {
            if let Some(value) = fields.remove(own) {
                fields.insert(usual.to_owned(), value);
            }
        }
    }
    if let Some(fields) = there.as_object_mut()
        && let Some(Value::Array(words)) = fields.get("command")
    {
        let mut words = words.clone().into_iter();
        fields.insert("command".to_owned(), words.next().unwrap_or_default());
        fields.insert("args".to_owned(), words.collect());
        if let Some(environment) = fields.remove("environment") {
            fields.insert("env".to_owned(), environment);
        }
    }
    there
}

/// Returns whether an entry starts a program named `bailiwick` to serve MCP.
pub fn is_ours(there: &Value) -> bool {
    let there = in_fields(there);
    let program = there["command"].as_str().and_then(|it| it.rsplit(['/', '\\']).next()).unwrap_or_default();
    let program = program.strip_suffix(".exe").unwrap_or(program);
    program == "bailiwick" && there["args"].as_array().is_some_and(|args| args.first() == Some(&json!("mcp")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stdio() -> Entry {
        Entry {
            fields: vec![
                ("command", json!("/opt/bailiwick")),
                ("args", json!(["mcp"])),
                ("env", json!({"BAILIWICK_HOME": "/h"})),
            ],
            asks_for_token: false,
        }
    }

    #[test]
    fn an_entry_is_right_with_fields_of_the_persons_own() {
        let there = json!({"command": "/opt/bailiwick", "args": ["mcp"], "disabled": true,
            "env": {"BAILIWICK_HOME": "/h", "RUST_LOG": "x"}});
        assert_eq!(stdio().compare(&there), Likeness::Right);
    }

    #[test]
    fn an_entry_of_another_program_is_foreign_whatever_its_name() {
        for there in [
            json!({"command": "npx", "args": ["mcp"]}),
            json!({"command": "/opt/bailiwick", "args": ["start"]}),
            json!({"url": "https://example.org/mcp"}),
            json!("bailiwick"),
        ] {
            assert_eq!(stdio().compare(&there), Likeness::Foreign, "{there}");
        }
    }

    #[test]
    fn an_entry_with_an_old_path_or_another_way_is_stale() {
        for there in [
            json!({"command": "/old/bailiwick", "args": ["mcp"]}),
            json!({"command": "/opt/bailiwick", "args": ["mcp"], "env": {"BAILIWICK_HOME": "/h"}, "url": "http://x"}),
            json!({"transport": {"type": "stdio", "command": "/opt/bailiwick", "args": ["mcp"]}, "disabled": false}),
        ] {
            assert_eq!(stdio().compare(&there), Likeness::Stale, "{there}");
        }
    }
}
