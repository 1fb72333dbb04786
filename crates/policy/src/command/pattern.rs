//! One rule over the words of a command, and how it is matched.
//!
//! A rule that allows is narrow: the words stand as the rule has them. A rule that denies or asks is wide: it
//! holds however options are spelled, ordered, bundled or abbreviated, and whatever follows.

use bailiwick_config::{CommandRule, TokenPattern, Words};
use bailiwick_contract::Failure;

use super::profile::find;
use super::reading::{Certainty, ReadOption, Reading, names_of};
use super::text;

/// How many words a rule may have.
const MAX_TOKENS: usize = 64;
/// In how many option words of a rule the next word may be its value.
const MAX_VALUES: usize = 6;

/// One word of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// Any number of words.
    Rest,
    /// One of these, as globs.
    OneOf(Vec<String>),
    /// None of these; one word.
    Not(Vec<String>),
}

impl Token {
    fn is_option(&self) -> bool {
        match self {
            Self::Rest => false,
            Self::OneOf(words) | Self::Not(words) => words.iter().all(|word| is_option(word)),
        }
    }

    /// Returns whether a word is one that the rule means, where words stand as written.
    fn allows(&self, word: &str) -> bool {
        match self {
            Self::Rest => true,
            Self::OneOf(globs) => globs.iter().any(|glob| glob_matches(glob, word)),
            Self::Not(globs) if globs.iter().any(|glob| is_option(glob)) => {
                let name = word.split_once('=').map_or(word, |(name, _)| name);
                let near = |glob: &String| name.len() > 2 && name.starts_with("--") && glob.starts_with(name);
                !globs.iter().any(|glob| glob_matches(glob, word) || glob_matches(glob, name) || near(glob))
            }
            // An option could change which word comes next.
            Self::Not(globs) => !word.starts_with('-') && !globs.iter().any(|glob| glob_matches(glob, word)),
        }
    }
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && word != "--"
}

/// An option that a denying rule looks for.
#[derive(Debug, Clone)]
struct WantedOption {
    /// One of these is enough.
    choices: Vec<Choice>,
    /// It must be there, or must not.
    present: bool,
}

#[derive(Debug, Clone)]
struct Choice {
    /// All must be found; more than one for a bundle such as `-rf`.
    all: Vec<Names>,
    /// What its value must be.
    value: Option<String>,
}

/// The names of one option: as in the rule, and its others.
type Names = Vec<String>;

/// A compiled rule.
#[derive(Debug, Clone)]
pub struct Pattern {
    tokens: Vec<Token>,
    /// How a denying rule reads its own words; one of them is enough.
    wide: Vec<WrapperPattern>,
    text: String,
    spelled: String,
}

#[derive(Debug, Clone)]
struct WrapperPattern {
    program: Token,
    options: Vec<WantedOption>,
    words: Vec<Token>,
}

impl Pattern {
    /// Compiles a rule, without looking at its examples.
    ///
    /// # Errors
    /// `invalid_request` with the rule's place.
    pub fn compile(place: &str, rule: &CommandRule) -> Result<Self, Failure> {
        let wrong = |problem: &str| Failure::invalid(place, format!("the rule {}: {problem}", show(rule)));
        let tokens: Vec<Token> = match rule {
            CommandRule::Line(line) => {
                let words = text::words(line).ok_or_else(|| wrong("a quote is not closed"))?;
                words.into_iter().map(word).collect()
            }
            CommandRule::Tokens(rule) => rule.tokens.iter().map(token).collect(),
        };
        if tokens.len() > MAX_TOKENS {
            return Err(wrong("it has more than 64 words"));
        }
        if let Some(Token::OneOf(empty) | Token::Not(empty)) = tokens
            .iter()
            .find(|token| matches!(token, Token::OneOf(words) | Token::Not(words) if words.is_empty()))
        {
            debug_assert!(empty.is_empty());
            return Err(wrong("a list of words is empty"));
        }
        match tokens.first() {
            None => return Err(wrong("it has no words")),
            Some(Token::Not(_)) => {
                return Err(wrong("its first word must say which programs it is about"));
            }
            Some(Token::OneOf(programs)) => {
                if let Some(program) = programs.iter().find(|it| it.contains(['/', '\\'])) {
                    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
                    return Err(wrong("programs are named without their folder")
                        .hint(format!("Write `{name}`; the scope's search path says where programs are.")));
                }
            }
            Some(Token::Rest) => {}
        }
        let wide = wide(&tokens).ok_or_else(|| wrong("too many of its options are followed by a word"))?;
        Ok(Self { tokens, wide, text: show(rule), spelled: rule.spelled() })
    }

    /// Returns the rule as the command line names it.
    pub fn spelled(&self) -> &str {
        &self.spelled
    }

    /// Checks the examples of a rule against how it matches.
    ///
    /// # Errors
    /// `invalid_request` that names the rule and the example.
    pub fn check_examples(&self, place: &str, rule: &CommandRule, wide: bool) -> Result<(), Failure> {
        let CommandRule::Tokens(rule) = rule else { return Ok(()) };
        let examples = rule.matches.iter().map(|line| (line, true));
        for (line, expected) in examples.chain(rule.not_match.iter().map(|line| (line, false))) {
            let words = text::words(line).filter(|words| !words.is_empty()).ok_or_else(|| {
                Failure::invalid(
                    place,
                    format!("the example `{line}` of the rule {} is no command", self.text),
                )
            })?;
            let argv: Vec<&str> = words.iter().map(String::as_str).collect();
            let reading = Reading::of(&argv);
            if (if wide { self.covers(&reading) } else { self.allows(&argv, &reading) }) != expected {
                let said = if expected { "should match and does not" } else { "should not match, but does" };
                return Err(Failure::invalid(
                    place,
                    format!("the example `{line}` of the rule {} {said}", self.text),
                )
                .hint("Correct the rule or its example; a config with a wrong example is not used."));
            }
        }
        Ok(())
    }

    /// Returns the rule as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether the rule allows a command, matched word by word: as it is written, or with the options
    /// before the subcommand behind it. A rule with `not` counts only in the second form.
    pub fn allows(&self, argv: &[&str], reading: &Reading<'_>) -> bool {
        let negates = self.tokens.iter().any(|token| matches!(token, Token::Not(_)));
        matches_all(&self.tokens, &reading.hoisted) || (!negates && matches_all(&self.tokens, argv))
    }

    /// Returns whether the rule is a command, word for word, and nothing else.
    pub fn is(&self, argv: &[&str]) -> bool {
        let is_it = |token: &Token, word: &str| match token {
            Token::OneOf(words) => matches!(words.as_slice(), [it] if it == word && !it.contains('*')),
            Token::Rest | Token::Not(_) => false,
        };
        self.tokens.len() == argv.len()
            && self.tokens.iter().zip(argv).all(|(token, word)| is_it(token, word))
    }

    /// Returns whether the rule names a word literally.
    pub fn names(&self, word: &str) -> bool {
        self.tokens.iter().any(|token| match token {
            Token::OneOf(words) => words.iter().any(|it| {
                let name = it.split_once('=').map_or(it.as_str(), |(name, _)| name);
                it == word || (is_option(word) && name == word)
            }),
            Token::Rest | Token::Not(_) => false,
        })
    }

    /// Returns the programs that the rule names literally.
    pub fn programs(&self) -> impl Iterator<Item = &str> {
        let words = match self.tokens.first() {
            Some(Token::OneOf(words)) => words.as_slice(),
            _ => &[],
        };
        words.iter().map(String::as_str).filter(|word| !word.contains('*'))
    }

    /// Returns whether the rule covers a command, in any way to read it.
    pub fn covers(&self, reading: &Reading<'_>) -> bool {
        self.wide.iter().any(|wide| wide.covers(reading))
    }
}

impl WrapperPattern {
    fn covers(&self, reading: &Reading<'_>) -> bool {
        let program = match &self.program {
            Token::Rest => true,
            Token::OneOf(globs) => {
                globs.iter().any(|glob| reading.names.iter().any(|name| glob_matches(glob, name)))
            }
            Token::Not(_) => false,
        };
        program
            && self.options.iter().all(|wanted| wanted.holds(reading))
            && words_begin(&self.words, reading)
    }
}

impl WantedOption {
    fn holds(&self, reading: &Reading<'_>) -> bool {
        let derived = reading.profile.and_then(|profile| profile.derived).map(|derived| derived(reading));
        let derived = derived.unwrap_or_default();
        let found = self.choices.iter().any(|choice| {
            choice.all.iter().all(|names| {
                (choice.value.is_none() && names.iter().any(|name| derived.contains(&name.as_str())))
                    || reading.options.iter().any(|found| is_found(found, names, choice.value.as_deref()))
            })
        });
        found == self.present
    }
}

fn is_found(found: &ReadOption<'_>, names: &Names, value: Option<&str>) -> bool {
    let named = names.iter().any(|name| match name.split_once('*') {
        Some(_) => found.letter.is_none() && glob_matches(name, found.name),
        None => found.is(name),
    });
    let valued = value.is_none_or(|glob| {
        [found.value, found.next].into_iter().flatten().any(|value| {
            glob_matches(glob, value) || glob_matches(glob, value.strip_prefix('=').unwrap_or(value))
        })
    });
    named && valued
}

/// Returns whether the words of a command begin with those of a rule; what may be a value can be left out.
fn words_begin(tokens: &[Token], reading: &Reading<'_>) -> bool {
    // Every place that the words read so far can end at.
    let mut places = vec![0];
    for (at, token) in tokens.iter().enumerate() {
        let mut next = Vec::new();
        for &place in &places {
            if *token == Token::Rest {
                next.extend(place..=reading.words.len());
                break;
            }
            for (index, word) in reading.words.iter().enumerate().skip(place) {
                let full = match reading.profile {
                    Some(profile) if at == 0 => profile.subcommand(word.text),
                    _ => word.text,
                };
                let is = match token {
                    Token::Rest => true,
                    Token::OneOf(globs) => {
                        globs.iter().any(|glob| glob_matches(glob, word.text) || glob_matches(glob, full))
                    }
                    Token::Not(globs) => {
                        !globs.iter().any(|glob| glob_matches(glob, word.text) || glob_matches(glob, full))
                    }
                };
                if is && !next.contains(&(index + 1)) {
                    next.push(index + 1);
                }
                if word.sure == Certainty::Word {
                    break;
                }
            }
        }
        next.sort_unstable();
        places = next;
        if places.is_empty() {
            return false;
        }
    }
    true
}

/// Returns whether words are, one after the other, those of the tokens.
fn matches_all(tokens: &[Token], words: &[&str]) -> bool {
    let (mut token, mut word) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while word < words.len() {
        match tokens.get(token) {
            Some(Token::Rest) => {
                back = Some((token, word));
                token += 1;
            }
            Some(one) if one.allows(words[word]) => {
                token += 1;
                word += 1;
            }
            _ => match &mut back {
                Some((star, from)) => {
                    *from += 1;
                    (token, word) = (*star + 1, *from);
                }
                None => return false,
            },
        }
    }
    tokens[token..].iter().all(|it| *it == Token::Rest)
}

/// Returns whether a text is what a glob means: `*` is any characters, the rest itself.
fn glob_matches(glob: &str, text: &str) -> bool {
    if !glob.contains('*') {
        return glob == text;
    }
    let (glob, text) = (glob.as_bytes(), text.as_bytes());
    let (mut at, mut pos) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while pos < text.len() {
        if glob.get(at) == Some(&b'*') {
            back = Some((at, pos));
            at += 1;
        } else if glob.get(at) == Some(&text[pos]) {
            at += 1;
            pos += 1;
        } else if let Some((star, from)) = &mut back {
            *from += 1;
            (at, pos) = (*star + 1, *from);
        } else {
            return false;
        }
    }
    glob[at..].iter().all(|it| *it == b'*')
}

fn word(word: String) -> Token {
    if word == "*" { Token::Rest } else { Token::OneOf(vec![word]) }
}

fn token(pattern: &TokenPattern) -> Token {
    match pattern {
        TokenPattern::Word(text) => word(text.clone()),
        TokenPattern::OneOf(words) => Token::OneOf(words.clone()),
        TokenPattern::Not(not) => Token::Not(not.not.as_slice().to_vec()),
    }
}

/// Reads the words of a rule as a command is read. `None` if there are too many ways.
fn wide(tokens: &[Token]) -> Option<Vec<WrapperPattern>> {
    let (program, tokens) = tokens.split_first()?;
    let profile = match program {
        Token::OneOf(names) => {
            names.iter().find_map(|name| names_of(name).iter().find_map(|name| find(name)))
        }
        Token::Rest | Token::Not(_) => None,
    };
    // Where an option is followed by a word, the word may be its value.
    let single =
        |token: &Token| matches!(token, Token::OneOf(words) if words.iter().all(|it| !it.contains('=')));
    let pairs: Vec<usize> = (1..tokens.len())
        .filter(|at| {
            let before = &tokens[at - 1];
            before.is_option()
                && single(before)
                && matches!(tokens[*at], Token::OneOf(_))
                && !tokens[*at].is_option()
        })
        .collect();
    if pairs.len() > MAX_VALUES {
        return None;
    }
    let ways = 0..(1_usize << pairs.len());
    Some(
        ways.map(|way| {
            let is_value =
                |at: usize| pairs.iter().position(|pair| *pair == at).is_some_and(|bit| way >> bit & 1 == 1);
            let mut wide = WrapperPattern { program: lower(program), options: Vec::new(), words: Vec::new() };
            for (at, token) in tokens.iter().enumerate() {
                match token {
                    _ if is_value(at) => {}
                    Token::OneOf(words) if token.is_option() => {
                        let value = match tokens.get(at + 1) {
                            Some(Token::OneOf(values)) if is_value(at + 1) => values.clone(),
                            _ => Vec::new(),
                        };
                        let choices = words.iter().flat_map(|word| choices(word, &value, profile)).collect();
                        wide.options.push(WantedOption { choices, present: true });
                    }
                    Token::Not(words) if token.is_option() => {
                        let choices = words.iter().flat_map(|word| choices(word, &[], profile)).collect();
                        wide.options.push(WantedOption { choices, present: false });
                    }
                    Token::OneOf(words) if wide.words.is_empty() => {
                        let full = |word: &String| {
                            profile.map_or(word.as_str(), |profile| profile.subcommand(word)).to_owned()
                        };
                        wide.words.push(Token::OneOf(words.iter().map(full).collect()));
                    }
                    Token::OneOf(words) if words.iter().any(|word| word == "--") => {}
                    Token::OneOf(_) | Token::Not(_) | Token::Rest => wide.words.push(token.clone()),
                }
            }
            wide
        })
        .collect(),
    )
}

/// Programs are compared in lower case.
fn lower(program: &Token) -> Token {
    match program {
        Token::OneOf(names) => Token::OneOf(names.iter().map(|name| name.to_ascii_lowercase()).collect()),
        other => other.clone(),
    }
}

/// Returns the ways to fulfil an option word of a rule.
fn choices(word: &str, values: &[String], profile: Option<&super::profile::Profile>) -> Vec<Choice> {
    let (name, attached) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (word, None),
    };
    let synonyms = |name: &str| -> Names {
        let mut names = vec![name.to_owned()];
        let known = profile.map_or(&[][..], |profile| profile.options);
        for other in known.iter().filter(|known| known.names.contains(&name)) {
            names.extend(other.names.iter().map(|it| (*it).to_owned()));
        }
        names
    };
    let mut all = vec![vec![synonyms(name)]];
    let single_dash = profile.is_some_and(|it| it.syntax == super::profile::Syntax::SingleDash);
    if !name.starts_with("--") && !name.contains('*') && !single_dash && name.chars().count() > 2 {
        all.push(name.chars().skip(1).map(|letter| synonyms(&format!("-{letter}"))).collect());
    }
    let values: Vec<Option<String>> = match attached {
        Some(value) => vec![Some(value)],
        None if values.is_empty() => vec![None],
        None => values.iter().cloned().map(Some).collect(),
    };
    all.into_iter()
        .flat_map(|all| values.iter().map(move |value| Choice { all: all.clone(), value: value.clone() }))
        .collect()
}

/// Returns a rule as text, between backquotes.
pub fn show(rule: &CommandRule) -> String {
    match rule {
        CommandRule::Line(line) => format!("`{line}`"),
        CommandRule::Tokens(rule) => {
            let words: Vec<String> = rule
                .tokens
                .iter()
                .map(|token| match token {
                    TokenPattern::Word(word) => word.clone(),
                    TokenPattern::OneOf(words) => format!("({})", words.join("|")),
                    TokenPattern::Not(not) => match &not.not {
                        Words::One(word) => format!("not({word})"),
                        Words::Many(words) => format!("not({})", words.join("|")),
                    },
                })
                .collect();
            format!("`{}`", words.join(" "))
        }
    }
}
