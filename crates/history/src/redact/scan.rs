//! Finding secrets in a text and replacing them.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, MatchKind};
use regex::{Regex, RegexBuilder};

use super::key::Key;
use super::random;
use super::rules::{RULES, is_secret_name};

/// What a replaced secret begins with; such a text is not replaced again.
const MARK: &str = "[redacted:";
/// The shortest value of an environment variable that is looked for.
const MIN_VALUE: usize = 8;

/// The shortest secret of one column that is looked for in the others.
const MIN_AGAIN: usize = 6;
/// How many secrets of one row are looked for in all its columns.
const MAX_AGAIN: usize = 16;

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
    /// Makes the redactor with the key of a folder and the secrets of this process's environment.
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
        Self { key, words, rule_of_word, patterns, values }
    }

    /// Replaces the secrets in a text.
    ///
    /// `also` are secrets that were found in texts that belong to this one; those found here are added.
    pub(super) fn clean<'t>(&self, text: &'t str, also: &mut Vec<String>) -> Cow<'t, str> {
        let mut spans = self.known(text);
        for secret in also.iter() {
            let again = text.match_indices(secret.as_str());
            spans.extend(again.map(|(start, it)| Span { start, end: start + it.len(), kind: "same" }));
        }
        self.by_rules(text, &mut spans);
        let random = random::find(text).into_iter();
        spans.extend(random.map(|(start, end)| Span { start, end, kind: "random" }));
        if !spans.is_empty() && text.contains(MARK) {
            leave_marks(text, &mut spans);
        }
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
        let mut cleaned = String::with_capacity(text.len());
        let mut done = 0;
        let mut spans = spans.into_iter().peekable();
        while let Some(mut span) = spans.next() {
            // Overlapping finds are one: nothing between them may stay.
            while let Some(next) = spans.next_if(|next| next.start < span.end) {
                span.end = span.end.max(next.end);
            }
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

    /// Gives what stands for a secret.
    pub(super) fn mark(&self, kind: &str, secret: &str) -> String {
        format!("{MARK}{kind}:{}]", self.key.mark(secret.as_bytes()))
    }

    fn known(&self, text: &str) -> Vec<Span> {
        let Some(values) = &self.values else { return Vec::new() };
        values
            .find_iter(text)
            .map(|found| Span { start: found.start(), end: found.end(), kind: "environment" })
            .collect()
    }

    fn by_rules(&self, text: &str, spans: &mut Vec<Span>) {
        let mut due = 0_u64;
        for found in self.words.find_overlapping_iter(text) {
            due |= 1 << self.rule_of_word[found.pattern().as_usize()];
        }
        for (at, rule) in RULES.iter().enumerate().filter(|(at, _)| due >> at & 1 == 1) {
            let pattern = self.patterns[at].get_or_init(|| compile(rule.pattern));
            for captures in pattern.captures_iter(text) {
                // The secret is the group that took part, or all of it.
                let secret = captures.iter().skip(1).flatten().next().or_else(|| captures.get(0));
                let Some(secret) = secret.filter(|secret| !secret.is_empty()) else { continue };
                if (rule.holds)(secret.as_str()) {
                    spans.push(Span { start: secret.start(), end: secret.end(), kind: rule.name });
                }
            }
        }
    }
}

/// Drops finds that lie within marks of an earlier redaction, and what others have of marks at their start.
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
