//! What a profile and its rows are made of.

use super::super::reading::Reading;

/// What is known about one program.
#[derive(Debug)]
pub struct Profile {
    /// Its names; the first is the one that messages use.
    pub names: &'static [&'static str],
    /// Why it can run any code whatever its arguments, if so.
    pub code: Option<&'static str>,
    /// How its arguments are read.
    pub syntax: Syntax,
    /// The options that must be known to read the others: those with a value, and those with two names.
    pub options: &'static [KnownOption],
    /// Whether its arguments can be a command of their own.
    pub starts: Starts,
    /// Its subcommands; empty if it has none.
    pub subcommands: &'static [&'static str],
    /// Other names of subcommands.
    pub aliases: &'static [(&'static str, &'static str)],
    /// Words that mean the same as an option, such as `+main` for `--force`.
    pub derived: Option<fn(&Reading<'_>) -> Vec<&'static str>>,
    /// What needs care.
    pub rows: &'static [Row],
    /// Ordinary commands that no row may catch.
    pub ordinary: &'static [&'static str],
}

impl Profile {
    /// The profile of a program without peculiarities.
    pub const PLAIN: Self = Self {
        names: &[],
        code: None,
        syntax: Syntax::Usual,
        options: &[],
        starts: Starts::Nothing,
        subcommands: &[],
        aliases: &[],
        derived: None,
        rows: &[],
        ordinary: &[],
    };

    /// Returns the name that messages use.
    pub fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }

    /// Returns the full name of a subcommand that may be an alias or an abbreviation.
    pub fn subcommand<'a>(&self, word: &'a str) -> &'a str
    where
        'static: 'a,
    {
        if let Some((_, full)) = self.aliases.iter().find(|(alias, _)| *alias == word) {
            return full;
        }
        if self.syntax != Syntax::Abbreviates || self.subcommands.contains(&word) || word.is_empty() {
            return word;
        }
        let aliases = self.aliases.iter().map(|(alias, full)| (*alias, *full));
        let own = self.subcommands.iter().map(|name| (*name, *name));
        let mut found = own.chain(aliases).filter(|(name, _)| name.starts_with(word)).map(|(_, full)| full);
        match (found.next(), found.next()) {
            (Some(only), None) => only,
            (Some(first), Some(_)) if found.all(|other| other == first) => first,
            _ => word,
        }
    }

    /// Returns why the program can run any code, with any arguments or with some.
    pub fn why_code(&self) -> Option<&'static str> {
        self.code.or_else(|| self.rows.iter().find(|row| row.then == RowEffect::Code).map(|row| row.why))
    }
}

/// How a program reads its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// `-abc` is three options, `--long` one.
    Usual,
    /// The same, and subcommands may be abbreviated.
    Abbreviates,
    /// `-name` is one option.
    SingleDash,
}

/// An option that must be known to read the words around it.
#[derive(Debug)]
pub struct KnownOption {
    /// Its names, all of one meaning.
    pub names: &'static [&'static str],
    /// Whether it takes a value.
    pub takes: OptionValue,
    /// Where it has this meaning.
    pub at: Position,
}

/// Whether an option takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionValue {
    /// No.
    Nothing,
    /// Yes: attached, or the next word.
    Value,
    /// Only attached to it.
    Attached,
}

/// Where an option or a word counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// Anywhere.
    Any,
    /// Before the subcommand.
    Global,
    /// After one of these subcommands.
    Sub(&'static [&'static str]),
}

/// Whether the arguments of a program can be a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Starts {
    /// No.
    Nothing,
    /// Some of its words can be one.
    Words,
    /// Some of its words can be one, and a word can be the text of one.
    Texts,
}

/// One thing that needs care.
#[derive(Debug)]
pub struct Row {
    /// What is looked for.
    pub what: RowPattern,
    /// What happens when it is found.
    pub then: RowEffect,
    /// Why.
    pub why: &'static str,
    /// A command that the row catches.
    pub sample: &'static str,
}

/// What a row looks for.
#[derive(Debug)]
pub enum RowPattern {
    /// One of these options, whatever its spelling.
    Option(Position, &'static [&'static str]),
    /// An option whose value does not stay inside the working folder as text.
    OptionOutside(Position, &'static [&'static str]),
    /// One of these subcommands.
    Sub(&'static [&'static str]),
    /// Words one after the other, the first a subcommand.
    Words(&'static [&'static str]),
    /// A subcommand that the program does not have itself.
    UnknownSub,
    /// A word for which this holds.
    Word(Position, fn(&str) -> bool),
    /// The program, whatever its words.
    Program,
    /// A command for which this holds.
    Check(fn(&Reading<'_>) -> bool),
}

/// What happens to a command that a row catches. A rule that names the words literally lifts
/// [`RowEffect::Refuse`], [`RowEffect::Ask`], [`RowEffect::AskAlways`] and [`RowEffect::Held`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowEffect {
    /// It does not run, in a sandbox neither: no rule lifts this.
    Never,
    /// It does not run.
    Refuse,
    /// It needs approval.
    Ask,
    /// The same, and a full sandbox alone makes no difference: others would get something, or see it changed.
    AskAlways,
    /// It runs in a full sandbox, or needs approval.
    Held,
    /// It runs where a scope lets a shell run, in a full sandbox; no rule lifts this.
    Shell,
    /// As [`RowEffect::Shell`], but lifted by a rule that is the whole command, word for word: then the text for the shell is
    /// the user's own.
    ShellText,
    /// It runs, and can run any code.
    Code,
}

pub(super) const fn row(then: RowEffect, what: RowPattern, why: &'static str, sample: &'static str) -> Row {
    Row { what, then, why, sample }
}

pub(super) const fn never(what: RowPattern, why: &'static str, sample: &'static str) -> Row {
    row(RowEffect::Never, what, why, sample)
}

pub(super) const fn refuse(what: RowPattern, why: &'static str, sample: &'static str) -> Row {
    row(RowEffect::Refuse, what, why, sample)
}

pub(super) const fn ask(what: RowPattern, why: &'static str, sample: &'static str) -> Row {
    row(RowEffect::Ask, what, why, sample)
}

pub(super) const fn ask_always(what: RowPattern, why: &'static str, sample: &'static str) -> Row {
    row(RowEffect::AskAlways, what, why, sample)
}

pub(super) const fn held(what: RowPattern, why: &'static str, sample: &'static str) -> Row {
    row(RowEffect::Held, what, why, sample)
}

pub(super) const fn code(what: RowPattern, why: &'static str, sample: &'static str) -> Row {
    row(RowEffect::Code, what, why, sample)
}

pub(super) const fn value(at: Position, names: &'static [&'static str]) -> KnownOption {
    KnownOption { names, takes: OptionValue::Value, at }
}

pub(super) const fn attached(at: Position, names: &'static [&'static str]) -> KnownOption {
    KnownOption { names, takes: OptionValue::Attached, at }
}

pub(super) const fn flag(at: Position, names: &'static [&'static str]) -> KnownOption {
    KnownOption { names, takes: OptionValue::Nothing, at }
}
