//! The first reading of a command string: one pass over its bytes, without recursion, that knows the small
//! language and nothing else.
//!
//! It takes simple commands of literal words, joined by `&&`, `||`, `;`, `|` and newlines, with the few
//! redirections that touch no file. At the first thing that bash would read in another way it stops and
//! names it. Nothing that it takes can nest, so whatever reads the text after it needs no deep stack.

use bailiwick_contract::{CommandPlan, Joiner, Pipeline, Redirect, SimpleCommand};

use super::construct::{Construct, Refusal};

/// The most words that a string may have.
const MAX_WORDS: usize = 2_048;
/// The most commands that a string may have.
const MAX_COMMANDS: usize = 512;
/// The most unquoted opening braces.
const MAX_OPENERS: usize = 64;

/// A string that was read as literal words.
#[derive(Debug)]
pub struct ScannedString {
    /// What would start.
    pub plan: CommandPlan,
    /// Whether there is nothing in it but plain words, blanks and joiners, which leave nothing to misread.
    pub plain: bool,
}

/// Reads a string.
///
/// # Errors
/// The construct that is not literal, or what keeps the text from being a command.
pub fn scan(text: &str) -> Result<ScannedString, Refusal> {
    let mut scanner = Scanner { text, bytes: text.as_bytes(), at: 0, plain: true, words: 0, openers: 0 };
    let plan = scanner.plan()?;
    Ok(ScannedString { plan, plain: scanner.plain })
}

/// A word as it was read.
struct Word {
    /// What the program sees.
    value: String,
    /// Whether it was written without any quoting.
    unquoted: bool,
    /// Where it begins.
    start: usize,
    /// Where it ends.
    end: usize,
}

/// The command that is being read.
#[derive(Default)]
struct OpenCommand {
    argv: Vec<String>,
    redirects: Vec<Redirect>,
    start: usize,
}

impl OpenCommand {
    const fn is_empty(&self) -> bool {
        self.argv.is_empty() && self.redirects.is_empty()
    }
}

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    plain: bool,
    words: usize,
    openers: usize,
}

impl Scanner<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    const fn refuse<T>(&self, construct: Construct) -> Result<T, Refusal> {
        Err(Refusal::construct(construct, self.at))
    }

    fn plan(&mut self) -> Result<CommandPlan, Refusal> {
        let mut pipelines: Vec<(Joiner, Pipeline)> = Vec::new();
        let mut joiner = Joiner::Then;
        let mut before_pipe: Vec<SimpleCommand> = Vec::new();
        let mut open = OpenCommand::default();
        // The operator that still wants a command after it.
        let mut wanting: Option<&str> = None;
        let mut commands = 0;
        loop {
            self.skip_blanks();
            let at = self.at;
            let operator = match self.peek(0) {
                None => "",
                Some(b'\n') => "\n",
                Some(b';') => match self.peek(1) {
                    Some(b';' | b'&') => return Err(Refusal::malformed("`;;` is outside of a `case`")),
                    _ => ";",
                },
                Some(b'&') => match self.peek(1) {
                    Some(b'&') => "&&",
                    Some(b'>') => {
                        wanting = None;
                        self.redirect(&mut open, None)?;
                        continue;
                    }
                    _ => return self.refuse(Construct::Background),
                },
                Some(b'|') => match self.peek(1) {
                    Some(b'|') => "||",
                    Some(b'&') => return self.refuse(Construct::PipeBoth),
                    _ => "|",
                },
                Some(b'<' | b'>') => {
                    wanting = None;
                    self.redirect(&mut open, None)?;
                    continue;
                }
                Some(b'(') => return self.refuse(self.parenthesis(&open)),
                Some(b')') => return Err(Refusal::malformed("a `)` has no `(` before it")),
                Some(_) => {
                    if open.is_empty() {
                        open.start = at;
                    }
                    wanting = None;
                    self.word_of(&mut open)?;
                    continue;
                }
            };
            if open.is_empty() {
                match (operator, wanting) {
                    ("", None) => break,
                    ("", Some(wanting)) => {
                        return Err(Refusal::malformed(format!("a command is missing after `{wanting}`")));
                    }
                    ("\n", _) => {
                        self.at += 1;
                        continue;
                    }
                    (operator, _) => {
                        return Err(Refusal::malformed(format!("a command is missing before `{operator}`")));
                    }
                }
            }
            if open.argv.is_empty() {
                return Err(Refusal::construct(Construct::BareRedirection, open.start));
            }
            commands += 1;
            if commands > MAX_COMMANDS {
                return Err(Refusal::malformed(format!("the string has more than {MAX_COMMANDS} commands")));
            }
            self.at += operator.len();
            let OpenCommand { argv, redirects, .. } = std::mem::take(&mut open);
            before_pipe.push(SimpleCommand { argv, redirects });
            if operator == "|" {
                wanting = Some("|");
                continue;
            }
            pipelines.push((joiner, Pipeline { commands: std::mem::take(&mut before_pipe) }));
            (joiner, wanting) = match operator {
                "&&" => (Joiner::And, Some("&&")),
                "||" => (Joiner::Or, Some("||")),
                _ => (Joiner::Then, None),
            };
            if operator.is_empty() {
                break;
            }
        }
        let mut pipelines = pipelines.into_iter();
        let (_, first) = pipelines.next().ok_or_else(|| Refusal::malformed("the command is empty"))?;
        Ok(CommandPlan { first, rest: pipelines.collect() })
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(0), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Returns which construct a `(` begins here.
    fn parenthesis(&self, open: &OpenCommand) -> Construct {
        let inner = self.bytes[self.at + 1..].iter().find(|byte| !matches!(byte, b' ' | b'\t'));
        match (open.argv.len(), inner) {
            (0, _) if self.peek(1) == Some(b'(') => Construct::ArithmeticCommand,
            (0, _) => Construct::Subshell,
            (1, Some(b')')) => Construct::Function,
            _ => Construct::Parenthesis,
        }
    }

    /// Reads a word of the command, or the redirection that its digits belong to.
    fn word_of(&mut self, open: &mut OpenCommand) -> Result<(), Refusal> {
        let is_program = open.argv.is_empty();
        if is_program && self.peek(0) == Some(b'[') {
            match (self.peek(1), self.peek(2)) {
                (Some(b'['), None | Some(b' ' | b'\t' | b'\n')) => return self.refuse(Construct::Compound),
                (None | Some(b' ' | b'\t' | b'\n'), _) => return self.refuse(Construct::Bracket),
                _ => {}
            }
        }
        let word = self.word()?;
        let raw = &self.text[word.start..word.end];
        if matches!(self.peek(0), Some(b'<' | b'>')) && word.unquoted {
            if raw.bytes().all(|byte| byte.is_ascii_digit()) {
                return match raw {
                    "0" | "1" | "2" => self.redirect(open, Some((raw.as_bytes()[0], word.start))),
                    _ => Err(Refusal::construct(Construct::Descriptor, word.start)),
                };
            }
            if raw.starts_with('{') && raw.ends_with('}') {
                return Err(Refusal::construct(Construct::Descriptor, word.start));
            }
        }
        if is_program && let Some(construct) = reserved(raw) {
            return Err(Refusal::construct(construct, word.start));
        }
        self.words += 1;
        if self.words > MAX_WORDS {
            return Err(Refusal::malformed(format!("the string has more than {MAX_WORDS} words")));
        }
        open.argv.push(word.value);
        Ok(())
    }

    /// Reads one word; refuses whatever in it is not literal.
    fn word(&mut self) -> Result<Word, Refusal> {
        let start = self.at;
        let mut word = Word { value: String::new(), unquoted: true, start, end: start };
        let mut brace = None;
        loop {
            let from = self.at;
            while self.peek(0).is_some_and(is_plain) {
                self.at += 1;
            }
            word.value.push_str(&self.text[from..self.at]);
            let Some(byte) = self.peek(0) else { break };
            match byte {
                b' ' | b'\t' | b'\n' | b'&' | b'|' | b';' | b'<' | b'>' | b'(' | b')' => break,
                _ => self.plain = false,
            }
            match byte {
                b'\'' => {
                    word.unquoted = false;
                    self.single_quotes(&mut word.value)?;
                    continue;
                }
                b'"' => {
                    word.unquoted = false;
                    self.double_quotes(&mut word.value)?;
                    continue;
                }
                b'\\' => {
                    word.unquoted = false;
                    self.at += 1;
                    if self.peek(0).is_none() {
                        return Err(Refusal::malformed("the string ends with a backslash"));
                    }
                }
                b'$' => return self.refuse(dollar(self.peek(1), self.peek(2))),
                b'`' => return self.refuse(Construct::Backquote),
                b'*' | b'?' | b'[' => return self.refuse(Construct::Glob),
                b'#' if self.at == start => return self.refuse(Construct::Comment),
                b'~' if self.at == start || matches!(self.bytes[self.at - 1], b'=' | b':' | b'\'' | b'"') => {
                    return self.refuse(Construct::Tilde);
                }
                b'{' => {
                    brace = brace.or(Some(self.at));
                    self.openers += 1;
                    if self.openers > MAX_OPENERS {
                        return self.refuse(Construct::TooManyOpeners);
                    }
                }
                _ => {}
            }
            self.literal_character(&mut word)?;
        }
        word.end = self.at;
        let raw = &self.text[start..self.at];
        match brace {
            Some(at) if raw.contains(',') || raw.contains("..") => {
                Err(Refusal::construct(Construct::BraceExpansion, at))
            }
            _ => Ok(word),
        }
    }

    /// Takes one character as it is, after a backslash or because it means nothing to a shell.
    fn literal_character(&mut self, word: &mut Word) -> Result<(), Refusal> {
        let Some(character) = self.text[self.at..].chars().next() else { return Ok(()) };
        if is_unusual(character) {
            return self.refuse(Construct::UnusualCharacter);
        }
        word.value.push(character);
        self.at += character.len_utf8();
        Ok(())
    }

    fn single_quotes(&mut self, value: &mut String) -> Result<(), Refusal> {
        let inner = &self.text[self.at + 1..];
        let Some(length) = memchr::memchr(b'\'', inner.as_bytes()) else {
            return Err(Refusal::malformed("a single quote is not closed"));
        };
        value.push_str(&inner[..length]);
        self.at += length + 2;
        Ok(())
    }

    fn double_quotes(&mut self, value: &mut String) -> Result<(), Refusal> {
        self.at += 1;
        loop {
            let from = self.at;
            while !matches!(self.peek(0), None | Some(b'"' | b'\\' | b'$' | b'`')) {
                self.at += 1;
            }
            value.push_str(&self.text[from..self.at]);
            match self.peek(0) {
                None => return Err(Refusal::malformed("a double quote is not closed")),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'`') => return self.refuse(Construct::Backquote),
                Some(b'$') => {
                    // A dollar sign that begins nothing stays one; the usual case is the end of a pattern.
                    if !matches!(self.peek(1), Some(b'"' | b' ' | b'|' | b')')) {
                        return self.refuse(dollar_in_quotes(self.peek(1), self.peek(2)));
                    }
                    value.push('$');
                    self.at += 1;
                }
                // Before any other character the backslash itself is literal.
                Some(_) => {
                    if matches!(self.peek(1), Some(b'"' | b'\\' | b'$' | b'`')) {
                        self.at += 1;
                    }
                    value.push(char::from(self.bytes[self.at]));
                    self.at += 1;
                }
            }
        }
    }

    /// Reads a redirection; `descriptor` is the digit before it and where that stands.
    fn redirect(&mut self, open: &mut OpenCommand, descriptor: Option<(u8, usize)>) -> Result<(), Refusal> {
        self.plain = false;
        let start = descriptor.map_or(self.at, |(_, at)| at);
        let refuse = |construct| Err(Refusal::construct(construct, start));
        if open.is_empty() {
            open.start = start;
        }
        let rest = &self.text[self.at..];
        let operator =
            OPERATORS.iter().copied().find(|operator| rest.starts_with(operator)).unwrap_or_default();
        if matches!(operator, "<(" | ">(") {
            return refuse(Construct::ProcessSubstitution);
        }
        if operator == "<<<" {
            return refuse(Construct::HereString);
        }
        if operator.starts_with("<<") {
            return refuse(Construct::HereDocument);
        }
        self.at += operator.len();
        self.skip_blanks();
        match self.peek(0) {
            None | Some(b'\n' | b'&' | b'|' | b';' | b')') => {
                return Err(Refusal::malformed(format!("a word is missing after `{operator}`")));
            }
            Some(b'<' | b'>') if self.peek(1) == Some(b'(') => return refuse(Construct::ProcessSubstitution),
            Some(b'<' | b'>' | b'(') => {
                return Err(Refusal::malformed(format!("a word is missing after `{operator}`")));
            }
            Some(_) => {}
        }
        let target = self.word()?;
        let raw = &self.text[target.start..target.end];
        let to_null = raw == "/dev/null";
        let redirects: &[Redirect] = match (operator, descriptor.map(|(digit, _)| digit)) {
            ("<", None | Some(b'0')) if to_null => &[Redirect::StdinFromNull],
            (">", None | Some(b'1')) if to_null => &[Redirect::StdoutToNull],
            (">", Some(b'2')) if to_null => &[Redirect::StderrToNull],
            ("&>", None) if to_null => &[Redirect::StdoutToNull, Redirect::StderrToStdout],
            (">&", Some(b'2')) if raw == "1" => &[Redirect::StderrToStdout],
            (">&", None | Some(b'1')) if raw == "2" => &[Redirect::StdoutToStderr],
            (">&" | "<&", _) if raw.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => {
                return refuse(Construct::Descriptor);
            }
            ("<" | "<>" | "<&", _) => return refuse(Construct::InputFromFile),
            _ => return refuse(Construct::OutputToFile),
        };
        open.redirects.extend_from_slice(redirects);
        Ok(())
    }
}

/// Every redirection operator of bash, a longer one before its beginning.
const OPERATORS: &[&str] =
    &["<<<", "<<-", "<<", "<(", "<&", "<>", "<", "&>>", "&>", ">(", ">>", ">&", ">|", ">"];

/// Returns whether a byte is a plain part of a word wherever it stands.
const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'.' | b'/' | b':' | b'=' | b'@' | b',' | b'+' | b'%' | b'-')
}

/// Returns what a `$` begins outside quotes.
const fn dollar(next: Option<u8>, after: Option<u8>) -> Construct {
    match next {
        Some(b'\'') => Construct::AnsiQuotes,
        Some(b'"') => Construct::TranslatedQuotes,
        _ => dollar_in_quotes(next, after),
    }
}

/// Returns what a `$` begins inside double quotes.
const fn dollar_in_quotes(next: Option<u8>, after: Option<u8>) -> Construct {
    match (next, after) {
        (Some(b'('), Some(b'(')) | (Some(b'['), _) => Construct::ArithmeticExpansion,
        (Some(b'('), _) => Construct::CommandSubstitution,
        _ => Construct::ParameterExpansion,
    }
}

/// Returns what a first word, as it was written, begins, if it is no program.
fn reserved(raw: &str) -> Option<Construct> {
    match raw {
        "if" | "then" | "else" | "elif" | "fi" | "for" | "while" | "until" | "select" | "in" | "do"
        | "done" | "case" | "esac" | "{" | "}" | "]]" => Some(Construct::Compound),
        "function" => Some(Construct::Function),
        "!" => Some(Construct::Negation),
        "time" => Some(Construct::Time),
        "coproc" => Some(Construct::Coprocess),
        _ if is_assignment(raw) => Some(Construct::Assignment),
        _ => None,
    }
}

/// Returns whether a first word sets a variable: `name=…`, `name+=…`.
fn is_assignment(raw: &str) -> bool {
    let name = raw.len() - raw.trim_start_matches(|at: char| at == '_' || at.is_ascii_alphanumeric()).len();
    let rest = &raw[name..];
    name > 0 && !raw.as_bytes()[0].is_ascii_digit() && (rest.starts_with('=') || rest.starts_with("+="))
}

/// Returns whether a character looks like nothing or like a blank without being one: it has no place outside quotes.
const fn is_unusual(character: char) -> bool {
    matches!(
        character,
        '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{1680}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}'
            | '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
    )
}
