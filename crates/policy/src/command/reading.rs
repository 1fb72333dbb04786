//! Reading the words of a command as its program would: options, their values, and the other words.
//!
//! What the profile does not say is left open: a word after an unknown option may be its value or not. Rules
//! that deny look at every way to read it, so nothing passes by being unclear.

use super::profile::{OptionValue, Position, Profile, Starts, Syntax, find};

/// One option as it was found.
#[derive(Debug, Clone)]
pub struct ReadOption<'a> {
    /// The name: `-x`, `--long`, or the whole of a word such as `-exec`.
    pub name: &'a str,
    /// For one letter of a bundle: the letter.
    pub letter: Option<char>,
    /// What is attached to it.
    pub value: Option<&'a str>,
    /// The word after it.
    pub next: Option<&'a str>,
    /// It may belong to the program itself.
    pub global: bool,
    /// It may belong to the subcommand.
    pub local: bool,
    /// It is after `--`.
    pub after_dashes: bool,
    /// The program takes one dash for two, and abbreviates even then.
    pub any_dashes: bool,
}

impl ReadOption<'_> {
    /// Returns whether this is the option of that full name: the same, or an abbreviation of it.
    pub fn is(&self, name: &str) -> bool {
        if let Some(letter) = self.letter {
            let mut chars = name.chars();
            return (chars.next(), chars.next(), chars.next()) == (Some('-'), Some(letter), None);
        }
        if self.any_dashes && self.name.len() > 2 && name.starts_with("--") {
            return name.trim_start_matches('-').starts_with(self.name.trim_start_matches('-'));
        }
        self.name == name
            || (self.name.len() > 2 && self.name.starts_with("--") && name.starts_with(self.name))
    }
}

/// How sure it is that a word is no option's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// It is a word of its own.
    Word,
    /// It may be the value of the option before it.
    Maybe,
    /// It is the value of the option before it.
    Value,
}

/// A word that does not look like an option.
#[derive(Debug, Clone, Copy)]
pub struct Word<'a> {
    /// The word.
    pub text: &'a str,
    /// Whether it may be a value.
    pub sure: Certainty,
}

/// A command, read.
#[derive(Debug)]
pub struct Reading<'a> {
    /// The program word without folders.
    pub program: &'a str,
    /// The names by which rules know the program, in lower case.
    pub names: Vec<String>,
    /// What is known about it.
    pub profile: Option<&'static Profile>,
    /// Its options.
    pub options: Vec<ReadOption<'a>>,
    /// Its other words.
    pub words: Vec<Word<'a>>,
    /// What the subcommand may be, in full; the likeliest first.
    pub subs: Vec<&'a str>,
    /// The words as they were, but with the options before the subcommand behind everything else.
    pub hoisted: Vec<&'a str>,
}

impl<'a> Reading<'a> {
    /// Reads a command; `argv` has at least one word.
    pub fn of(argv: &[&'a str]) -> Self {
        let program = argv.first().copied().unwrap_or_default();
        let program = program.rsplit(['/', '\\']).next().unwrap_or(program);
        let names = names_of(program);
        let profile = names.iter().find_map(|name| find(name));
        let mut reading = Self {
            program,
            names,
            profile,
            options: Vec::new(),
            words: Vec::new(),
            subs: Vec::new(),
            hoisted: Vec::new(),
        };
        if let Some(profile) = profile {
            let synonyms = profile.names.iter().filter(|it| !reading.names.iter().any(|name| name == *it));
            let synonyms: Vec<String> = synonyms.map(|name| (*name).to_owned()).collect();
            reading.names.extend(synonyms);
        }
        let sub_at = reading.read(argv.get(1..).unwrap_or_default());
        reading.hoist(argv, sub_at);
        reading
    }

    /// Returns whether a subcommand may be one of these.
    pub fn has_sub(&self, names: &[&str]) -> bool {
        self.subs.iter().any(|sub| names.contains(sub))
    }

    /// Returns whether an option counts at a place.
    pub fn counts(&self, option: &ReadOption<'_>, at: Position) -> bool {
        match at {
            Position::Any => true,
            Position::Global => option.global,
            Position::Sub(names) => option.local && self.has_sub(names),
        }
    }

    /// Returns whether its words can be a command of their own.
    pub fn starts(&self) -> Starts {
        self.profile.map_or(Starts::Nothing, |profile| profile.starts)
    }

    /// Returns the words that are no values, after the subcommand if the program has some.
    pub fn arguments(&self) -> impl Iterator<Item = &'a str> {
        let skip = usize::from(self.profile.is_some_and(|profile| !profile.subcommands.is_empty()));
        self.words.iter().filter(|word| word.sure != Certainty::Value).skip(skip).map(|word| word.text)
    }

    /// Reads options and words; gives where the subcommand surely is, as an index of the arguments.
    fn read(&mut self, arguments: &[&'a str]) -> Option<usize> {
        let has_subs = self.profile.is_some_and(|profile| !profile.subcommands.is_empty());
        // Where the first candidate is, and where a word that surely is none's value.
        let (mut first_sub, mut sure_sub) = (None, None);
        let mut sure = Certainty::Word;
        let mut after_dashes = false;
        let mut at = 0;
        while let Some(word) = arguments.get(at).copied() {
            let next = arguments.get(at + 1).copied();
            let looks_like_option = word.len() > 1 && word.starts_with('-');
            if word == "--" && !after_dashes && sure != Certainty::Maybe {
                after_dashes = true;
                sure = Certainty::Word;
            } else if looks_like_option {
                let place = (sure_sub.is_none(), first_sub.is_some() || !has_subs, after_dashes);
                let takes = self.option(word, next, place);
                if after_dashes {
                    self.words.push(Word { text: word, sure: Certainty::Maybe });
                    sure = Certainty::Word;
                } else {
                    sure = match takes {
                        Some(OptionValue::Value) => Certainty::Value,
                        Some(OptionValue::Nothing | OptionValue::Attached) => Certainty::Word,
                        None => Certainty::Maybe,
                    };
                    if sure == Certainty::Value
                        && let Some(value) = next
                    {
                        self.words.push(Word { text: value, sure });
                        at += 1;
                        sure = Certainty::Word;
                    }
                }
            } else {
                self.words.push(Word { text: word, sure });
                if sure_sub.is_none() {
                    let sub = self.profile.map_or(word, |profile| profile.subcommand(word));
                    self.subs.push(sub);
                    first_sub = first_sub.or(Some(at));
                    if sure == Certainty::Word {
                        sure_sub = Some(at);
                    }
                }
                sure = Certainty::Word;
            }
            at += 1;
        }
        sure_sub.or(first_sub)
    }

    /// Notes an option word; gives whether it takes the next word, if that is known.
    fn option(
        &mut self,
        word: &'a str,
        next: Option<&'a str>,
        (global, local, after_dashes): (bool, bool, bool),
    ) -> Option<OptionValue> {
        let any_dashes = self.profile.is_some_and(|profile| profile.syntax == Syntax::Abbreviates);
        let found = ReadOption {
            name: word,
            letter: None,
            value: None,
            next,
            global,
            local,
            after_dashes,
            any_dashes,
        };
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let single = self.profile.is_some_and(|profile| profile.syntax == Syntax::SingleDash);
        if word.starts_with("--") || single {
            let takes = self.takes(|known| known == name, global, local);
            // A program that knows `-name` knows `--name` as well.
            let short = if single && name.starts_with("--") { Some(&name[1..]) } else { None };
            let takes = takes.or_else(|| short.and_then(|name| self.takes(|it| it == name, global, local)));
            self.options.push(ReadOption { name, value, ..found.clone() });
            if let Some(name) = short {
                self.options.push(ReadOption { name, value, ..found });
            }
            return if value.is_some() { Some(OptionValue::Attached) } else { takes };
        }
        // The whole word, for options such as `-exec` of programs without a profile.
        if word.chars().count() > 2 {
            self.options.push(ReadOption { name, value, ..found.clone() });
        }
        let mut takes = None;
        for (at, letter) in word.char_indices().skip(1) {
            let rest = &word[at + letter.len_utf8()..];
            let value = Some(rest).filter(|rest| !rest.is_empty());
            let mut text = [0; 8];
            let option = short_name(letter, &mut text);
            takes = self.takes(|known| known == option, global, local);
            self.options.push(ReadOption { letter: Some(letter), value, ..found.clone() });
            match takes {
                Some(OptionValue::Value) if value.is_some() => return Some(OptionValue::Attached),
                Some(OptionValue::Value | OptionValue::Attached) => return takes,
                Some(OptionValue::Nothing) | None => {}
            }
        }
        takes
    }

    fn takes(&self, is: impl Fn(&str) -> bool, global: bool, local: bool) -> Option<OptionValue> {
        let known = self.profile?.options.iter().find(|known| {
            let here = match known.at {
                Position::Any => true,
                Position::Global => global,
                Position::Sub(names) => local && self.has_sub(names),
            };
            here && known.names.iter().any(|name| is(name))
        });
        known.map(|known| known.takes)
    }

    fn hoist(&mut self, argv: &[&'a str], sub_at: Option<usize>) {
        let (Some(profile), Some(sub_at)) = (self.profile, sub_at) else {
            self.hoisted = argv.to_vec();
            return;
        };
        // Where it is not sure which word is the subcommand, the words stay as they are.
        if profile.subcommands.is_empty() || self.subs.len() != 1 {
            self.hoisted = argv.to_vec();
            return;
        }
        let (before, after) = argv[1..].split_at(sub_at);
        self.hoisted.push(argv[0]);
        self.hoisted.push(after.first().map_or("", |sub| profile.subcommand(sub)));
        self.hoisted.extend_from_slice(&after[1..]);
        self.hoisted.extend_from_slice(before);
    }
}

fn short_name(letter: char, text: &mut [u8; 8]) -> &str {
    text[0] = b'-';
    let end = 1 + letter.encode_utf8(&mut text[1..]).len();
    std::str::from_utf8(&text[..end]).unwrap_or("-")
}

/// Returns the names by which a program word is known: in lower case, without the endings of Windows, and
/// without a version, as `python3.12` is `python3` and `python`.
pub fn names_of(program: &str) -> Vec<String> {
    let mut name = program.to_ascii_lowercase();
    for ending in [".exe", ".cmd", ".bat", ".com", ".ps1"] {
        if let Some(plain) = name.strip_suffix(ending) {
            name = plain.to_owned();
            break;
        }
    }
    let mut names = vec![name.clone()];
    while let Some(shorter) = without_version(&name) {
        name = shorter.to_owned();
        names.push(name.clone());
    }
    names
}

fn without_version(name: &str) -> Option<&str> {
    let end = name.trim_end_matches(|it: char| it.is_ascii_digit());
    let end = end.trim_end_matches(['.', '-']);
    (end.len() < name.len() && !end.is_empty() && name.ends_with(|it: char| it.is_ascii_digit()))
        .then_some(end)
}
