//! Finding secrets in a text and replacing them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, LazyLock, OnceLock, PoisonError, RwLock};

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, MatchKind};
use regex::{Regex, RegexBuilder};

use super::command;
use super::handles::{SecretHandles, quoted_lines};
use super::key::Key;
use super::placeholder::Candidate;
use super::random;
use super::rules::{RULES, is_secret_name};

/// What a replaced secret begins with; such a text is not replaced again.
const MARK: &str = "[redacted:";
/// The kind of a value that has a handle.
const HAS_HANDLE: &str = "handle";
/// The rule whose finds end with their line.
const HEADER: &str = "header";
/// The bit of the commands among those of the rules.
const COMMANDS: usize = 63;
/// The shortest value of an environment variable that is looked for.
const MIN_VALUE: usize = 8;

/// The shortest secret of one column that is looked for in the others.
const MIN_AGAIN: usize = 6;
/// How many secrets of one row are looked for in all its columns.
const MAX_AGAIN: usize = 16;
/// How many names without secrets are remembered.
pub(super) const MAX_CLEAN_NAMES: usize = 512;

/// Takes secrets out of texts. One for each installation; made once.
pub struct Redactor {
    key: Key,
    /// The fixed words of the rules, without regard to case.
    words: AhoCorasick,
    /// For each word the number of its rule.
    rule_of_word: Vec<usize>,
    /// The rules' patterns, compiled when one is first needed.
    patterns: Vec<OnceLock<Regex>>,
    /// Exact values that are known to be secret.
    values: Option<AhoCorasick>,
    /// The secrets that have handles, by scope.
    handles: RwLock<HashMap<Arc<str>, Arc<SecretHandles>>>,
    /// Names in which nothing is secret but, perhaps, values with handles: most rows have the same.
    pub(super) clean_names: RwLock<HashSet<String>>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redactor")
    }
}

/// A part of a text to be replaced.
struct Span {
    start: usize,
    end: usize,
    kind: &'static str,
}

impl Redactor {
    /// Creates the redactor with the key of a folder and the secrets of this process's environment.
    pub fn open(folder: &Path) -> Self {
        let environment = std::env::vars_os().filter_map(|(name, value)| {
            let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
            (is_secret_name(&name) && value.len() >= MIN_VALUE && !value.starts_with('/')).then_some(value)
        });
        Self::new(Key::open(folder), environment.collect())
    }

    pub(super) fn new(key: Key, values: Vec<String>) -> Self {
        let mut words = Vec::new();
        let mut rule_of_word = Vec::new();
        for (at, rule) in RULES.iter().enumerate() {
            for word in rule.words {
                words.push(*word);
                rule_of_word.push(at);
            }
        }
        for word in command::words() {
            words.push(word);
            rule_of_word.push(COMMANDS);
        }
        let words = AhoCorasickBuilder::new()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(words)
            .expect("the table's words are few and short");
        let values: Vec<String> =
            values.into_iter().flat_map(|value| [base64(&value), percent(&value), value]).collect();
        let values = (!values.is_empty())
            .then(|| AhoCorasickBuilder::new().match_kind(MatchKind::LeftmostLongest).build(values).ok())
            .flatten();
        let patterns = RULES.iter().map(|_| OnceLock::new()).collect();
        Self {
            key,
            words,
            rule_of_word,
            patterns,
            values,
            handles: RwLock::default(),
            clean_names: RwLock::default(),
        }
    }

    /// Replaces the secrets in a text.
    ///
    /// `also` are secrets that were found in texts that belong to this one; those found here are added.
    pub(super) fn clean<'t>(&self, text: &'t str, also: &mut Vec<String>) -> Cow<'t, str> {
        let mut spans = self.spans(text, also);
        spans.extend(self.randoms(text));
        spans.extend(self.with_handles(text));
        self.replace(text, spans, also)
    }

    /// As [`Redactor::clean`], for a name that other rows have, too.
    pub(super) fn clean_name<'t>(&self, name: &'t str, also: &mut Vec<String>) -> Cow<'t, str> {
        if !also.is_empty() {
            return self.clean(name, also);
        }
        let is_clean = self.clean_names.read().unwrap_or_else(PoisonError::into_inner).contains(name);
        if is_clean {
            return self.replace(name, self.with_handles(name), also);
        }
        let cleaned = self.clean(name, also);
        if matches!(cleaned, Cow::Borrowed(_)) {
            let mut names = self.clean_names.write().unwrap_or_else(PoisonError::into_inner);
            if names.len() >= MAX_CLEAN_NAMES {
                names.clear();
            }
            names.insert(name.to_owned());
        }
        cleaned
    }

    /// Returns the secrets of a scope.
    pub(in super::super) fn scope_handles(&self, scope: &str) -> Arc<SecretHandles> {
        let known = self.handles.read().unwrap_or_else(PoisonError::into_inner).get(scope).cloned();
        known.unwrap_or_else(|| {
            let mut all = self.handles.write().unwrap_or_else(PoisonError::into_inner);
            all.entry(scope.into()).or_default().clone()
        })
    }

    /// Finds the values that have handles, of whichever scope.
    fn with_handles(&self, text: &str) -> Vec<Span> {
        let all = self.handles.read().unwrap_or_else(PoisonError::into_inner);
        let found = all.values().flat_map(|handles| handles.find(text));
        found.map(|range| Span { start: range.start, end: range.end, kind: HAS_HANDLE }).collect()
    }

    /// Finds the parts of a text that are secret, in order, and of which kind they are.
    pub(super) fn kinds_in(&self, text: &str) -> Vec<(Range<usize>, &'static str)> {
        let mut spans = self.spans(text, &[]);
        spans.extend(self.randoms(text));
        let lines = quoted_lines(text).into_iter();
        spans.extend(lines.map(|range| Span { start: range.start, end: range.end, kind: "lines" }));
        if !spans.is_empty() && text.contains(MARK) {
            leave_marks(text, &mut spans);
        }
        merged(spans).into_iter().map(|span| (span.start..span.end, span.kind)).collect()
    }

    /// Returns a digest of a text that nobody can compute without the key of this installation.
    pub(in super::super) fn digest(&self, text: &str) -> String {
        self.key.digest(text.as_bytes())
    }

    /// Returns the number by which a text is known.
    pub(super) fn key_mark(&self, text: &str) -> String {
        self.key.mark(text.as_bytes())
    }

    /// Replaces the secrets in words of a command: judged each alone, and together as one line.
    pub(super) fn clean_words(&self, words: &[&str], also: &mut Vec<String>) -> Vec<String> {
        let line = words.join(" ");
        let mut starts = Vec::with_capacity(words.len());
        let mut at = 0;
        for word in words {
            starts.push(at);
            at += word.len() + 1;
        }
        let mut spans = self.spans(&line, also);
        for span in &mut spans {
            // A header ends with its line, and a word is a line of its own. Its name may be a word, too.
            let word = starts.partition_point(|start| *start <= span.start) - 1;
            let end = starts[word] + words[word].len();
            let named_here = line[starts[word]..span.start].contains([':', '=']);
            if span.kind == HEADER && named_here && span.end > end {
                span.end = end;
            }
        }
        spans.extend(self.randoms(&line));
        spans.extend(self.with_handles(&line));
        // What no rule finds in the line, none finds in a word.
        if self.due(&line) != 0 {
            let found = command::find(words).into_iter().map(|secret| (secret, command::KIND));
            let named = command::find_named(words).into_iter().map(|secret| (secret, "named"));
            spans.extend(found.chain(named).map(|(secret, kind)| {
                let start = starts[secret.word];
                Span { start: start + secret.bytes.start, end: start + secret.bytes.end, kind }
            }));
            for (word, start) in words.iter().zip(&starts) {
                let alone = self.spans(word, also).into_iter();
                spans.extend(alone.map(|it| Span {
                    start: it.start + start,
                    end: it.end + start,
                    kind: it.kind,
                }));
            }
        }
        let mut spans = merged(spans).into_iter().peekable();
        words
            .iter()
            .zip(starts)
            .map(|(word, start)| {
                let end = start + word.len();
                let mut within = Vec::new();
                while let Some(span) = spans.peek().filter(|span| span.start < end) {
                    let part = span.start.max(start)..span.end.min(end);
                    if part.start < part.end {
                        within.push(Span {
                            start: part.start - start,
                            end: part.end - start,
                            kind: span.kind,
                        });
                    }
                    // What reaches into the next word is checked again there.
                    if span.end > end {
                        break;
                    }
                    spans.next();
                }
                self.replace(word, within, also).into_owned()
            })
            .collect()
    }

    /// Finds all but what only looks random.
    fn spans(&self, text: &str, also: &[String]) -> Vec<Span> {
        let mut spans = self.find(text, also);
        if let Some(unwrapped) = JoinedText::of(text) {
            let found = self.find(&unwrapped.text, also).into_iter();
            spans.extend(found.map(|span| unwrapped.back(&span)));
        }
        spans
    }

    fn randoms(&self, text: &str) -> Vec<Span> {
        let random = |(start, end)| Span { start, end, kind: "random" };
        let mut spans: Vec<Span> = random::find(text).into_iter().map(random).collect();
        if let Some(unwrapped) = JoinedText::of(text) {
            let found = random::find(&unwrapped.text).into_iter();
            spans.extend(found.map(|found| unwrapped.back(&random(found))));
        }
        spans
    }

    fn find(&self, text: &str, also: &[String]) -> Vec<Span> {
        let mut spans = self.known(text);
        for secret in also {
            let again = text.match_indices(secret.as_str());
            spans.extend(again.map(|(start, it)| Span { start, end: start + it.len(), kind: "same" }));
        }
        self.by_rules(text, &mut spans);
        spans
    }

    /// Replaces parts of a text by marks, and adds them to those that are looked for elsewhere.
    fn replace<'t>(&self, text: &'t str, mut spans: Vec<Span>, also: &mut Vec<String>) -> Cow<'t, str> {
        if !spans.is_empty() && text.contains(MARK) {
            leave_marks(text, &mut spans);
        }
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut cleaned = String::with_capacity(text.len());
        let mut done = 0;
        for span in merged(spans) {
            let secret = &text[span.start..span.end];
            cleaned.push_str(&text[done..span.start]);
            cleaned.push_str(&self.mark(span.kind, secret));
            done = span.end;
            if secret.len() >= MIN_AGAIN && also.len() < MAX_AGAIN && !also.iter().any(|it| it == secret) {
                also.push(secret.to_owned());
            }
        }
        cleaned.push_str(&text[done..]);
        Cow::Owned(cleaned)
    }

    /// Returns what stands for a secret.
    pub(super) fn mark(&self, kind: &str, secret: &str) -> String {
        if kind == HAS_HANDLE {
            let all = self.handles.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(handle) = all.values().find_map(|handles| handles.handle_of(secret)) {
                return handle.to_string();
            }
        }
        format!("{MARK}{kind}:{}]", self.key.mark(secret.as_bytes()))
    }

    fn known(&self, text: &str) -> Vec<Span> {
        let Some(values) = &self.values else { return Vec::new() };
        values
            .find_iter(text)
            .map(|found| Span { start: found.start(), end: found.end(), kind: "environment" })
            .collect()
    }

    /// Returns the rules whose words occur, as bits.
    fn due(&self, text: &str) -> u64 {
        let found = self.words.find_overlapping_iter(text);
        found.fold(0, |due, found| due | 1 << self.rule_of_word[found.pattern().as_usize()])
    }

    fn by_rules(&self, text: &str, spans: &mut Vec<Span>) {
        let due = self.due(text);
        for (at, rule) in RULES.iter().enumerate().filter(|(at, _)| due >> at & 1 == 1) {
            let pattern = self.patterns[at].get_or_init(|| compile(rule.pattern));
            let mut at = 0;
            while at < text.len()
                && let Some(captures) = pattern.captures_at(text, at)
            {
                let whole = captures.get(0).expect("a match has a range");
                // The secret is the group that took part, or all of it.
                let secret = captures.iter().skip(1).flatten().next().unwrap_or(whole);
                // Where a name has nothing behind it, the next line is judged for itself, too: `TOKEN=`, `PASSWORD="a b"`.
                let is_below = text[whole.start()..secret.start()].contains('\n');
                at = if is_below { secret.start() } else { whole.end().max(at + 1) };
                at = text.ceil_char_boundary(at.min(text.len()));
                if secret.is_empty() {
                    continue;
                }
                let (start, mut end) = (secret.start(), secret.end());
                if rule.name == HEADER {
                    end = header_end(text, whole.start(), start);
                }
                if start < end && (rule.holds)(Candidate::within(text, start, end)) {
                    spans.push(Span { start, end, kind: rule.name });
                }
            }
        }
        if due >> COMMANDS & 1 == 1 {
            let found = command::find_in_text(text).into_iter();
            spans.extend(found.map(|it| Span { start: it.start, end: it.end, kind: command::KIND }));
        }
    }
}

/// Returns where the value of a header ends: with its quote, with the quote before its name, or with its line.
fn header_end(text: &str, name: usize, value: usize) -> usize {
    let rest = &text[value..];
    let line = rest.find(['\r', '\n']).unwrap_or(rest.len());
    let quote = |before: &str| before.chars().next_back().filter(|it| matches!(it, '\'' | '"'));
    let quote = quote(&text[..value]).or_else(|| quote(&text[..name]));
    value + quote.and_then(|quote| rest[..line].find(quote)).unwrap_or(line)
}

/// Sorts finds, and makes one of those that overlap: nothing between them may stay.
fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

/// A text whose lines, where they end in a backslash, are joined with the next.
struct JoinedText {
    text: String,
    /// Where lines were joined, in `text`, with the bytes that were left out up to there.
    joints: Vec<(usize, usize)>,
}

impl JoinedText {
    /// Returns the text without what wraps its lines; none if nothing does.
    fn of(text: &str) -> Option<Self> {
        if !text.contains("\\\n") && !text.contains("\\\r\n") {
            return None;
        }
        let mut joined = String::with_capacity(text.len());
        let mut joints = Vec::new();
        let mut left_out = 0;
        let mut rest = text;
        while let Some(at) = rest.find('\\') {
            let (before, wrap) = rest.split_at(at);
            joined.push_str(before);
            let length = if wrap.starts_with("\\\n") {
                2
            } else if wrap.starts_with("\\\r\n") {
                3
            } else {
                joined.push('\\');
                rest = &wrap[1..];
                continue;
            };
            left_out += length;
            joints.push((joined.len(), left_out));
            rest = &wrap[length..];
        }
        joined.push_str(rest);
        Some(Self { text: joined, joints })
    }

    /// Returns where a part of the joined text is in the text as it was.
    fn back(&self, span: &Span) -> Span {
        let before = |count: usize| count.checked_sub(1).map_or(0, |at| self.joints[at].1);
        let start = self.joints.partition_point(|(at, _)| *at <= span.start);
        let end = self.joints.partition_point(|(at, _)| *at < span.end);
        Span { start: span.start + before(start), end: span.end + before(end), kind: span.kind }
    }
}

/// Drops finds that are within marks of an earlier redaction, and what others have of marks at their start.
fn leave_marks(text: &str, spans: &mut Vec<Span>) {
    static WHOLE_MARK: LazyLock<Regex> = LazyLock::new(|| compile(r"\[redacted:[a-z-]{1,24}:[0-9a-f]{8}\]"));
    for mark in WHOLE_MARK.find_iter(text) {
        for span in spans.iter_mut().filter(|span| (mark.start()..mark.end()).contains(&span.start)) {
            span.start = mark.end().min(span.end);
        }
    }
    spans.retain(|span| span.start < span.end);
}

/// Compiles a pattern of the table, with little room for its automaton.
fn compile(pattern: &str) -> Regex {
    RegexBuilder::new(pattern)
        .dfa_size_limit(512 * 1024)
        .build()
        .expect("a test compiles every pattern of the table")
}

/// Writes bytes in base 64 without the last incomplete group, so that it is found whatever follows.
fn base64(text: &str) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in text.as_bytes().chunks_exact(3) {
        let bits = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
        for shift in [18, 12, 6, 0] {
            out.push(char::from(ALPHABET[(bits >> shift & 63) as usize]));
        }
    }
    out
}

/// Writes a text percent-encoded, as in a URL.
fn percent(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}
