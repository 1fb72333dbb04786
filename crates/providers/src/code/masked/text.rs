//! Which text a grammar is given.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::branches::drop_branches;
use super::c::{Edit, Macros};
use super::tokens::{Directive, TokenKind, is_word, tokens};
use crate::syntax::Language;

/// A text for a grammar, and what it leaves out.
#[derive(Debug)]
pub(in crate::code) struct MaskedText<'s> {
    /// The text.
    pub text: Cow<'s, [u8]>,
    /// The same with other branches of `#if`, where some are left out that can define something; without bodies.
    pub other: Option<Vec<u8>>,
    /// Bodies of functions that define no type, where it is known how far they reach.
    pub bodies: Vec<Range<usize>>,
    /// The names of functions of which a grammar sees no type, and where each is over.
    pub functions: Vec<(Range<usize>, usize)>,
    /// The names that `#define` defines, wherever it stands, and where each is over.
    pub macros: Vec<(Range<usize>, usize)>,
}

/// Creates a text that the grammar of a language can read.
pub(in crate::code) fn masked(language: Language, source: &[u8]) -> MaskedText<'_> {
    let text = match language {
        Language::C | Language::Cpp => return of_c(source),
        Language::Kotlin => of_kotlin(source),
        _ => Cow::Borrowed(source),
    };
    MaskedText { text, other: None, bodies: Vec::new(), functions: Vec::new(), macros: Vec::new() }
}

/// Creates the bodies of functions blank.
pub(in crate::code) fn without_bodies(text: &[u8], bodies: &[Range<usize>]) -> Vec<u8> {
    let edits: Vec<Edit> = bodies.iter().cloned().map(Edit::blank).collect();
    edited(text, &edits).into_owned()
}

fn of_c(source: &[u8]) -> MaskedText<'_> {
    let mut tokens = tokens(source);
    let defines = tokens.iter().filter(|token| token.kind == TokenKind::Directive(Directive::Define));
    let macros = defines.filter_map(|token| Some((name_of(source, token.bytes())?, token.end))).collect();
    let mut make = |last: bool| {
        tokens.iter_mut().for_each(|token| token.is_dropped = false);
        let others = drop_branches(source, &mut tokens, last);
        let mut macros = Macros::new(source, &tokens);
        let mut edits = macros.find();
        for token in &tokens {
            match token.kind {
                _ if token.is_dropped => edits.push(Edit::blank(token.bytes())),
                TokenKind::Directive(directive) => edits.extend(plain(source, directive, token.bytes())),
                _ => {}
            }
        }
        if !macros.is_balanced {
            macros.bodies.clear();
        }
        (edits, others, macros)
    };
    let (edits, others, found) = make(false);
    let text = edited(source, &edits);
    let bodies = found.bodies;
    // What another branch has within a body that defines no type is no definition either.
    let other = others.iter().any(|group| !is_within(&bodies, group)).then(|| {
        let (edits, _, others) = make(true);
        without_bodies(&edited(source, &edits), &others.bodies)
    });
    MaskedText { text, other, bodies, functions: found.functions, macros }
}

/// Returns whether a range is within one of some, which are valid and do not overlap.
pub(in crate::code) fn is_within(bodies: &[Range<usize>], range: &Range<usize>) -> bool {
    let before = bodies.partition_point(|body| body.start <= range.start);
    before > 0 && range.end <= bodies[before - 1].end
}

/// Returns whether one of some ranges, which are valid and do not overlap, is within a range.
pub(in crate::code) fn has_within(bodies: &[Range<usize>], range: &Range<usize>) -> bool {
    let first = bodies.partition_point(|body| body.start < range.start);
    bodies.get(first).is_some_and(|body| body.end <= range.end)
}

/// Leaves of a line for the preprocessor what shows its grammar what it is.
fn plain(source: &[u8], directive: Directive, bytes: Range<usize>) -> Option<Edit> {
    let line = &source[bytes.clone()];
    match directive {
        // A condition can be anything.
        Directive::If(_) | Directive::Else if line.contains(&b'(') || line.contains(&b'\n') => {
            let word = [&b"elif"[..], b"if"]
                .into_iter()
                .find_map(|word| Some(memchr::memmem::find(line, word)? + word.len()))?;
            let from =
                bytes.start + word + line[word..].iter().take_while(|byte| b" \t".contains(byte)).count();
            (from < bytes.end && from > bytes.start + word)
                .then_some(Edit { bytes: from..bytes.end, word: b"1" })
        }
        // The value of a macro continues over lines.
        Directive::Define if line.contains(&b'\n') || memchr::memmem::find(line, b"/*").is_some() => {
            let name = name_of(source, bytes.clone())?;
            let from = match source.get(name.end) {
                Some(b'(') => name.end + memchr::memchr(b')', &source[name.end..bytes.end])? + 1,
                _ => name.end,
            };
            let is_one_line = !source[name.end..from].contains(&b'\n');
            // Without a value the grammar takes the next line for one.
            is_one_line.then_some(Edit { bytes: from..bytes.end, word: b" 1" })
        }
        _ => None,
    }
}

/// Finds the name in `#define NAME`.
fn name_of(source: &[u8], bytes: Range<usize>) -> Option<Range<usize>> {
    let line = &source[bytes.clone()];
    let word = memchr::memmem::find(line, b"define")? + b"define".len();
    let name = word + line[word..].iter().take_while(|byte| b" \t".contains(byte)).count();
    let length = line[name..].iter().take_while(|byte| is_word(**byte)).count();
    (length > 0).then_some(bytes.start + name..bytes.start + name + length)
}

/// Leaves out what the grammar reads as an expression: annotations before a class on its line, and `actual` before
/// `constructor`.
fn of_kotlin(source: &[u8]) -> Cow<'_, [u8]> {
    static ANNOTATED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?m)^[ \t]*((?:@[\w.:]+(?:\((?:[^()\n]|\([^()\n]*\))*\))?[ \t]+)+)(?:(?:public|private|internal|protected|annotation|data|sealed|abstract|open|enum|value|inner|fun|actual|expect)[ \t]+)*(?:class|interface|object)[ \t]",
        )
        .ok()
    });
    static ACTUAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\b(actual|expect)[ \t]+(?:(?:public|private|internal|protected)[ \t]+)?constructor\b")
            .ok()
    });
    let mut edits = Vec::new();
    for (word, pattern) in [(&b"@"[..], &ANNOTATED), (b"constructor", &ACTUAL)] {
        let Some(pattern) = pattern.as_ref().filter(|_| memchr::memmem::find(source, word).is_some()) else {
            continue;
        };
        let found = pattern.captures_iter(source).filter_map(|found| found.get(1));
        edits.extend(found.map(|found| Edit::blank(found.range())));
    }
    edited(source, &edits)
}

/// Changes a text; lines stay lines.
fn edited<'s>(source: &'s [u8], edits: &[Edit]) -> Cow<'s, [u8]> {
    if edits.is_empty() {
        return Cow::Borrowed(source);
    }
    let mut text = source.to_vec();
    for Edit { bytes, word } in edits {
        for byte in &mut text[bytes.clone()] {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        if word.len() <= bytes.len() && !text[bytes.start..bytes.start + word.len()].contains(&b'\n') {
            text[bytes.start..bytes.start + word.len()].copy_from_slice(word);
        }
    }
    Cow::Owned(text)
}
