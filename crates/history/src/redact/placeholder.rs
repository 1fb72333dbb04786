//! What is where a secret would be, but is none: variables, templates, calls, types, words of examples.

use std::sync::LazyLock;

use regex::Regex;

/// A text that a rule found, with what surrounds it.
#[derive(Clone, Copy)]
pub struct Candidate<'t> {
    /// The text that may be a secret.
    pub text: &'t str,
    /// What precedes it.
    pub before: &'t str,
    /// What follows it.
    pub after: &'t str,
}

impl<'t> Candidate<'t> {
    /// Returns the part of a text between two positions, with its surroundings.
    pub fn within(text: &'t str, start: usize, end: usize) -> Self {
        Self { text: &text[start..end], before: &text[..start], after: &text[end..] }
    }

    /// Returns a text that has no surroundings.
    pub fn alone(text: &'t str) -> Self {
        Self { text, before: "", after: "" }
    }

    fn is_quoted(self) -> bool {
        self.before.ends_with(['"', '\'', '`']) || self.text.starts_with(['"', '\'', '`'])
    }
}

/// Words that stand for a value, in any letters.
const WORDS: &[&str] = &[
    "true",
    "false",
    "null",
    "none",
    "nil",
    "undefined",
    "string",
    "str",
    "&str",
    "bool",
    "boolean",
    "number",
    "int",
    "integer",
    "any",
    "object",
    "required",
    "optional",
    "option",
    "prompt",
    "...",
    "…",
    "<",
    "secretstring",
    "placeholder",
    "redacted",
    "[redacted]",
    "changeit-here",
];

/// Words of programming languages that precede a value, where nothing quotes them.
const CODE: &[&str] =
    &["await", "new", "async", "function", "return", "typeof", "import", "require", "lambda"];

/// Returns whether a text stands for another: it is no secret itself.
pub fn is_placeholder(found: Candidate<'_>) -> bool {
    let text = found.text.trim().trim_matches(['"', '\'', '`', '\\']);
    let lower = text.to_ascii_lowercase();
    text.is_empty()
        || WORDS.contains(&lower.as_str())
        || text.bytes().all(|byte| matches!(byte, b'*' | b'.' | b'-' | b'x' | b'X'))
        || is_variable(text)
        || is_template(text)
        || is_example(&lower)
        || (!found.is_quoted() && is_code(text, found.after))
}

/// Returns whether a text is a variable of a shell: `$NAME`, `${NAME}`, `$(…`, `$env:NAME`, `%NAME%`.
fn is_variable(text: &str) -> bool {
    static VARIABLE: LazyLock<Regex> = LazyLock::new(|| {
        compile(concat!(
            r"^(?:\$[A-Z_][A-Z0-9_]*|\$\{[A-Za-z_][A-Za-z0-9_]*(?:\[@?\w*\])?(?::?[-?+=][^}]{0,40})?\}?|\$\(.*",
            r"|(?i:\$(?:env|script|global|using):\w+|\$\{env:\w+\}?)|%[A-Z_][A-Z0-9_]+%|!\{\w+\}?)$"
        ))
    });
    if VARIABLE.is_match(text) {
        return true;
    }
    // `$token`, `$db_password`: a variable named for what it holds.
    text.strip_prefix('$').is_some_and(|name| {
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && super::rules::is_secret_name(name)
    })
}

/// Returns whether a text is filled in later: `{{ name }}`, `${{ secrets.X }}`, `<token>`, `#{token}`, `%s`.
fn is_template(text: &str) -> bool {
    static TEMPLATE: LazyLock<Regex> = LazyLock::new(|| {
        compile(concat!(
            r"^(?:\$?\{\{.*|<%=?.*|<[A-Za-z][A-Za-z _.|-]{0,40}>?|\[[A-Za-z][A-Za-z _-]{0,40}\]?",
            r"|[#$]?\{[A-Za-z_][\w.]*(?:\(\))?\}?|%\(?[a-z_]*\)?s|__[A-Z_]+__|@[A-Z_]+@)$"
        ))
    });
    TEMPLATE.is_match(text)
}

/// Returns whether words say that this is an example: `your-api-key-here`, `REPLACE_ME`.
fn is_example(lower: &str) -> bool {
    static EXAMPLE: LazyLock<Regex> = LazyLock::new(|| {
        compile(concat!(
            r"^(?:(?:your|insert|replace|put|enter|paste|add)(?:[-_ ][a-z]+)+|your(?:token|key|password|secret|apikey)",
            r"|[a-z]+(?:[-_ ][a-z]+)*[-_ ](?:goes[-_ ])?here|replaceme|todo|tbd)$"
        ))
    });
    EXAMPLE.is_match(lower)
}

/// Returns whether an unquoted text is code that fetches the value, or its type.
fn is_code(text: &str, after: &str) -> bool {
    static CALL: LazyLock<Regex> = LazyLock::new(|| compile(r"^&?[A-Za-z_][\w.:]*!?\(\w*$"));
    static MEMBER: LazyLock<Regex> = LazyLock::new(|| {
        compile(concat!(
            r"^(?:process\.env|import\.meta\.env|os\.environ|self|this|config|settings|env|secrets|vars?|local|data",
            r"|module|args|opts|options|props|params|state|ctx|context|req|request|response|event|app|cfg)",
            r"(?:[.?!]+[A-Za-z_]\w*)*\[?$"
        ))
    });
    static INDEX: LazyLock<Regex> = LazyLock::new(|| compile(r"^[A-Za-z_][\w.]*\[\w*$"));
    static TYPE: LazyLock<Regex> = LazyLock::new(|| {
        compile(
            r"^&?(?:Option|Vec|Secret|SecretBox|Result|Arc|Rc|Box|Cow|Promise|Optional|List|Annotated|Zeroizing)[<\[].*$",
        )
    });
    let calls = CALL.is_match(text) && after.starts_with([')', '"', '\'', '`', ',']);
    let member = MEMBER.is_match(text) && text.contains(['.', '[', '?']);
    let index = INDEX.is_match(text) && after.starts_with([']', '"', '\'']);
    let precedes = CODE.contains(&text) && after.starts_with([' ', '(']);
    calls || member || index || precedes || TYPE.is_match(text)
}

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a test compiles it")
}
