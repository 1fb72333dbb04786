//! What a content search looks for: a bounded regular expression, and types of files by name.

use std::ffi::OsStr;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use ignore::types::{Types, TypesBuilder};

use bailiwick_contract::Failure;
use bailiwick_contract::fields::nearest;
use bailiwick_platform::names::OsStrExt;

/// How long a query may be, in bytes.
const MAX_QUERY_BYTES: usize = 10_000;
/// How large a compiled query may get, in bytes.
const MAX_REGEX_BYTES: usize = 8 << 20;
/// How much each thread may spend on making a query fast, in bytes.
const MAX_CACHE_BYTES: usize = 8 << 20;
/// How deep groups may nest.
const MAX_NESTING: u32 = 100;
/// How many types of files one request may name.
const MAX_TYPES: usize = 50;

/// How a query is meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QuerySettings {
    /// As plain text instead of a regular expression.
    pub literal: bool,
    /// Upper and lower case are one.
    pub ignore_case: bool,
    /// Only between the borders of words.
    pub word: bool,
    /// A match may span lines.
    pub multiline: bool,
}

/// A compiled query.
#[derive(Debug, Clone)]
pub struct ContentQuery {
    pub(super) matcher: RegexMatcher,
    pub(super) multiline: bool,
}

impl ContentQuery {
    /// Compiles a query.
    ///
    /// # Errors
    /// `invalid_request` that names `input.query` and says what is wrong with it.
    pub fn compile(text: &str, settings: QuerySettings) -> Result<Self, Failure> {
        const FIELD: &str = "input.query";
        if text.is_empty() {
            return Err(Failure::invalid(FIELD, "`input.query` is empty")
                .hint("Give a regular expression, or plain text with `options.literal`."));
        }
        if text.len() > MAX_QUERY_BYTES {
            return Err(Failure::invalid(
                FIELD,
                format!("`input.query` is longer than {MAX_QUERY_BYTES} bytes"),
            ));
        }
        let mut builder = RegexMatcherBuilder::new();
        builder
            .multi_line(true)
            .unicode(true)
            .octal(false)
            .case_insensitive(settings.ignore_case)
            .word(settings.word)
            .fixed_strings(settings.literal)
            .size_limit(MAX_REGEX_BYTES)
            .dfa_size_limit(MAX_CACHE_BYTES)
            .nest_limit(MAX_NESTING);
        if !settings.multiline {
            builder.line_terminator(Some(b'\n'));
        }
        let matcher = builder.build(text).map_err(|error| {
            let failure = Failure::invalid(FIELD, format!("`input.query`: {error}"));
            match error.kind() {
                grep_regex::ErrorKind::NotAllowed(_) => {
                    failure.hint("Set `options.multiline` to true to look for more than one line.")
                }
                _ if settings.literal => failure,
                // A pattern of names is no expression: `*` has nothing before it to repeat.
                _ if text.starts_with('*') => {
                    failure.hint(format!("Names of files: file.find {{\"pattern\":\"{text}\"}}."))
                }
                _ => failure.hint("Correct the expression, or set `options.literal` to look for plain text."),
            }
        })?;
        Ok(Self { matcher, multiline: settings.multiline })
    }
}

/// Types of files by the names that they usually have, as ripgrep knows them.
#[derive(Debug, Clone)]
pub struct FileTypes(Types);

impl FileTypes {
    /// Compiles names of types such as `rust` or `py`; `!` in front excludes a type. `None` for no names.
    ///
    /// # Errors
    /// `invalid_request` for a type that is not known, with the nearest ones.
    pub fn compile(names: &[String]) -> Result<Option<Self>, Failure> {
        const FIELD: &str = "options.types";
        if names.is_empty() {
            return Ok(None);
        }
        if names.len() > MAX_TYPES {
            return Err(Failure::invalid(FIELD, format!("`{FIELD}` has more than {MAX_TYPES} types")));
        }
        let mut builder = TypesBuilder::new();
        builder.add_defaults();
        let known = builder.definitions();
        for text in names {
            let (name, excludes) = match text.strip_prefix('!') {
                Some(name) => (name, true),
                None => (text.as_str(), false),
            };
            // Clients name types by their extension as well.
            let name = name.trim_start_matches('.');
            let by_extension = || {
                let glob = format!("*.{name}");
                known.iter().find(|known| known.globs().contains(&glob)).map(|known| known.name())
            };
            let exact = known.iter().map(|known| known.name()).find(|known| *known == name);
            let Some(name) = exact.or_else(by_extension) else {
                let near = nearest(name, known.iter().map(|known| known.name()), 3);
                let shown: String = name.chars().take(40).collect();
                let failure = Failure::invalid(FIELD, format!("`{FIELD}`: no type is called `{shown}`"));
                return Err(match near.is_empty() {
                    true => failure.hint("Examples: rust, py, ts, js, go, java, cpp, md, json, yaml."),
                    false => failure.hint(format!("Did you mean {}?", near.join(", "))),
                });
            };
            if excludes {
                builder.negate(name);
            } else {
                builder.select(name);
            }
        }
        match builder.build() {
            Ok(types) => Ok(Some(Self(types))),
            Err(error) => Err(Failure::invalid(FIELD, format!("`{FIELD}`: {error}"))),
        }
    }

    /// Returns whether a file of this name is of a wanted type.
    pub(super) fn choose(&self, name: &OsStr) -> bool {
        !self.0.matched(OsStr::from_bytes(name.as_bytes()), false).is_ignore()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str, settings: QuerySettings) -> Failure {
        ContentQuery::compile(text, settings).expect_err("not a query")
    }

    #[test]
    fn a_broken_query_is_answered_with_what_is_wrong() {
        let failure = refusal("a(b", QuerySettings::default());
        assert!(failure.message.contains("unclosed group"), "{failure}");
        assert!(refusal("a\\nb", QuerySettings::default()).hints[0].contains("multiline"));
        refusal("", QuerySettings::default());
    }

    #[test]
    fn no_query_takes_memory_without_bound() {
        refusal(r"(\pL{1000}){1000}", QuerySettings::default());
        refusal(&"(".repeat(5_000), QuerySettings::default());
        refusal(&format!("{}a{}", "(".repeat(2_000), ")".repeat(2_000)), QuerySettings::default());
        refusal(&"a".repeat(MAX_QUERY_BYTES + 1), QuerySettings { literal: true, ..Default::default() });
    }

    #[test]
    fn types_are_known_by_name_and_by_extension() {
        let types = |names: &[&str]| {
            FileTypes::compile(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        };
        let rust = types(&["rs"]).expect("known").expect("some");
        assert!(rust.choose(OsStr::new("main.rs")) && !rust.choose(OsStr::new("main.py")));
        let others = types(&["!rust"]).expect("known").expect("some");
        assert!(!others.choose(OsStr::new("main.rs")) && others.choose(OsStr::new("main.py")));
        assert!(types(&["rsut"]).expect_err("unknown").hints[0].contains("rust"));
    }
}
