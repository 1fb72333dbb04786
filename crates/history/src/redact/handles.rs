//! Handles that stand for the secrets of one scope: `{{secret:db_password#1f0c9a2e}}`.
//!
//! Answers show the handle, and what a client writes with it gets the value back. Values are held in memory alone. The number is
//! keyed with the secret of this installation, and the same for the same value of a scope: a handle of an earlier run never
//! stands for another value, it stands for none until its secret was shown again.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};
use regex::Regex;

use super::super::board::StoreState;
use super::placeholder::{Candidate, is_placeholder};
use super::rules::{is_mixed, is_secret_name};
use super::scan::Redactor;

/// What every handle begins with.
pub const HANDLE: &str = "{{secret:";
/// How many secrets of one scope have handles.
const MAX_SECRETS: usize = 10_000;
/// How many bytes the secrets of one scope have together.
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// How long a value of several lines in quotes may be.
const MAX_LINES_BYTES: usize = 16_384;
/// How many characters the name in a handle has.
const MAX_NAME: usize = 32;
/// The shortest value that is found wherever it is.
const MIN_DISTINCT: usize = 8;
/// The shortest value of letters alone that is found wherever it is.
const MIN_LETTERS: usize = 16;

/// Why a handle gives no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandleProblem {
    /// It begins as one, and is none.
    Malformed,
    /// It stands for nothing that was shown to this caller in this scope; with its text.
    Unknown(String),
    /// Its value is too short to be recognized away from its name.
    NeedsName(String),
}

/// The secrets of one scope, as far as they were shown or configured.
#[derive(Default)]
pub struct SecretHandles(RwLock<KnownSecrets>);

#[derive(Default)]
struct KnownSecrets {
    secrets: Vec<KnownSecret>,
    by_value: HashMap<Arc<str>, usize>,
    by_handle: HashMap<Arc<str>, usize>,
    bytes: usize,
    /// Finds the values that are distinct; the numbers are those of `distinct`.
    matcher: Option<AhoCorasick>,
    distinct: Vec<usize>,
    is_matcher_stale: bool,
}

struct KnownSecret {
    value: Arc<str>,
    handle: Arc<str>,
    /// Who was shown the handle.
    callers: Vec<Arc<str>>,
}

/// The secrets of one text.
#[derive(Debug, Clone, Default)]
pub struct NotedSecrets(Vec<NamedSpan>);

/// A secret in a text.
#[derive(Debug, Clone)]
pub(super) struct NamedSpan {
    pub range: Range<usize>,
    pub name: String,
}

/// A text with its handles replaced by values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedText {
    /// The text.
    pub text: String,
    /// The handles that it had.
    pub handles: Vec<String>,
    /// Whether one of the values has a character that means something to a shell.
    pub has_special: bool,
}

impl SecretHandles {
    /// Returns the handle of a value, for a caller to see; makes it where it is new. None where there is no room, or another
    /// value has it.
    pub fn handle(
        &self,
        redactor: &Redactor,
        (scope, caller): (&str, &Arc<str>),
        name: &str,
        value: &str,
    ) -> Option<Arc<str>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = known.by_value.get(value) {
            let secret = &known.secrets[*at];
            if secret.callers.contains(caller) {
                return Some(secret.handle.clone());
            }
        }
        drop(known);
        let mark = redactor.key_mark(&[scope, "\0", value].concat());
        let handle: Arc<str> = format!("{HANDLE}{}#{mark}}}}}", plain_name(name)).into();
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = known.by_value.get(value).copied() {
            let secret = &mut known.secrets[at];
            if !secret.callers.contains(caller) {
                secret.callers.push(caller.clone());
            }
            return Some(secret.handle.clone());
        }
        let has_room = known.secrets.len() < MAX_SECRETS && known.bytes + value.len() <= MAX_BYTES;
        if !has_room || known.by_handle.contains_key(&handle) {
            return None;
        }
        let (at, value) = (known.secrets.len(), Arc::<str>::from(value));
        known.bytes += value.len();
        known.by_value.insert(value.clone(), at);
        known.by_handle.insert(handle.clone(), at);
        if is_distinct(&value) {
            known.distinct.push(at);
            known.is_matcher_stale = true;
        }
        known.secrets.push(KnownSecret { value, handle: handle.clone(), callers: vec![caller.clone()] });
        Some(handle)
    }

    /// Returns the handle of a value that has one.
    pub fn handle_of(&self, value: &str) -> Option<Arc<str>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.by_value.get(value).map(|at| known.secrets[*at].handle.clone())
    }

    /// Finds the values that are distinct, wherever they are.
    pub fn find(&self, text: &str) -> Vec<Range<usize>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if !known.is_matcher_stale {
            return known.matches(text);
        }
        drop(known);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.is_matcher_stale {
            let values = known.distinct.iter().map(|at| &*known.secrets[*at].value);
            let values = values.flat_map(|value| {
                let forms = [escaped(value), in_uri(value, ""), in_uri(value, OF_PATHS)];
                [value.to_owned()].into_iter().chain(forms.into_iter().flatten())
            });
            known.matcher =
                AhoCorasickBuilder::new().match_kind(MatchKind::LeftmostLongest).build(values).ok();
            known.is_matcher_stale = false;
        }
        known.matches(text)
    }

    fn value_of(&self, handle: &str, caller: &Arc<str>) -> Option<Arc<str>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let secret = &known.secrets[*known.by_handle.get(handle)?];
        secret.callers.contains(caller).then(|| secret.value.clone())
    }

    /// Puts the values in the place of handles that a caller was shown.
    ///
    /// `keeps_names` says that the text is stored as it is, so that a short value is recognized by the name before it.
    ///
    /// # Errors
    /// The first handle that gives no value; nothing is replaced then.
    pub fn resolve(
        &self,
        redactor: &Redactor,
        caller: &Arc<str>,
        text: &str,
        keeps_names: bool,
    ) -> Result<Option<ResolvedText>, HandleProblem> {
        if !text.contains(HANDLE) {
            return Ok(None);
        }
        let mut resolved = ResolvedText { text: String::new(), handles: Vec::new(), has_special: false };
        let (mut rest, mut indistinct) = (text, Vec::new());
        while let Some(at) = rest.find(HANDLE) {
            let (before, from) = rest.split_at(at);
            let handle = WHOLE_HANDLE.find(from).filter(|found| found.start() == 0);
            let handle = handle.ok_or(HandleProblem::Malformed)?.as_str();
            let value =
                self.value_of(handle, caller).ok_or_else(|| HandleProblem::Unknown(handle.to_owned()))?;
            resolved.text.push_str(before);
            let start = resolved.text.len();
            resolved.text.push_str(&value);
            if !is_distinct(&value) {
                indistinct.push((start..resolved.text.len(), handle));
            }
            resolved.has_special |= !value.bytes().all(is_plain);
            if !resolved.handles.iter().any(|it| it == handle) {
                resolved.handles.push(handle.to_owned());
            }
            rest = &from[handle.len()..];
        }
        resolved.text.push_str(rest);
        if !indistinct.is_empty() {
            let found = if keeps_names { redactor.secrets_in(&resolved.text) } else { Vec::new() };
            let covers = |range: &Range<usize>| {
                found.iter().any(|it| it.range.start <= range.start && range.end <= it.range.end)
            };
            if let Some((_, handle)) = indistinct.iter().find(|(range, _)| !covers(range)) {
                return Err(HandleProblem::NeedsName((*handle).to_owned()));
            }
        }
        Ok(Some(resolved))
    }
}

impl KnownSecrets {
    fn matches(&self, text: &str) -> Vec<Range<usize>> {
        let Some(matcher) = &self.matcher else { return Vec::new() };
        matcher.find_iter(text).map(|found| found.start()..found.end()).collect()
    }
}

static WHOLE_HANDLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\{\{secret:[a-z0-9_.-]{1,32}#[0-9a-f]{8}\}\}").expect("a test compiles it")
});

/// Takes the handles that a text has already out of parts of it.
pub(super) fn without_handles(text: &str, spans: Vec<NamedSpan>) -> Vec<NamedSpan> {
    if spans.is_empty() || !text.contains(HANDLE) {
        return spans;
    }
    let handles: Vec<Range<usize>> = WHOLE_HANDLE.find_iter(text).map(|found| found.range()).collect();
    let mut kept = Vec::with_capacity(spans.len());
    for NamedSpan { range, name } in spans {
        let mut start = range.start;
        for handle in handles.iter().filter(|it| it.start < range.end && range.start < it.end) {
            if start < handle.start {
                kept.push(NamedSpan { range: start..handle.start, name: name.clone() });
            }
            start = start.max(handle.end);
        }
        if start < range.end {
            kept.push(NamedSpan { range: start..range.end, name });
        }
    }
    kept
}

/// Returns whether a value is looked for wherever it may be: others are common words.
pub(super) fn is_distinct(value: &str) -> bool {
    let is_letters = value.bytes().all(|it| it.is_ascii_alphabetic());
    value.len() >= MIN_LETTERS || (value.len() >= MIN_DISTINCT && (is_mixed(value) || !is_letters))
}

/// Returns a value as it is within quotes, in the texts of windows and in JSON; `None` where that is the value.
fn escaped(value: &str) -> Option<String> {
    const ESCAPED: [char; 3] = ['\\', '"', '\t'];
    value.contains(ESCAPED).then(|| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\t', "\\t"))
}

/// What stays as it is in the paths of URIs, beside letters, digits, `-`, `.`, `_` and `~`.
const OF_PATHS: &str = "!$&'()*+,;=:@/";

/// Returns a value as it is in URIs, such as those of files on the clipboard; `None` where that is the value.
fn in_uri(value: &str, kept: &str) -> Option<String> {
    let stays =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || kept.as_bytes().contains(&byte);
    let form = |byte: u8| if stays(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    (!value.bytes().all(stays)).then(|| value.bytes().map(form).collect())
}

/// Returns whether a byte means nothing to any shell.
const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'-' | b'.' | b'/' | b':' | b'@' | b'+' | b',' | b'%' | b'=')
}

/// Returns a name as it is in handles: small letters, digits, `_`, `.` and `-`.
fn plain_name(name: &str) -> String {
    let plain = name.chars().map(|it| match it.to_ascii_lowercase() {
        it @ ('a'..='z' | '0'..='9' | '_' | '.' | '-') => it,
        _ => '_',
    });
    let plain: String = plain.collect();
    let plain = plain.trim_matches(['-', '.', '_']);
    // The end of a long name says more than its beginning: `NEXT_PUBLIC_…_API_KEY`.
    let plain = &plain[plain.len().saturating_sub(MAX_NAME)..];
    if plain.is_empty() { "value".to_owned() } else { plain.to_owned() }
}

/// Returns what a secret is called: by the name before it, by the name at the beginning of its line, or by its kind.
fn name_of(text: &str, start: usize, kind: &str) -> String {
    static BEFORE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"([A-Za-z0-9_.-]{1,80})\\?["'`]?\]?\s*(?:=>|:=|={1,3}|:|\s|,)\s*\\?["'`]?$"#)
            .expect("a test compiles it")
    });
    static LINE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"^[\s+-]*(?:\d+(?:\t|:[0-9a-f]{4}\|))?\s*(?:export\s+)?["']?([A-Za-z_][A-Za-z0-9_.-]{0,80})["']?\s*[=:]"#)
            .expect("a test compiles it")
    });
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    // No name is further away.
    let near = text.floor_char_boundary(start.saturating_sub(160)).max(line);
    let name = match kind {
        "assigned" | "quoted" | "short-name" | "flag" | "lines" => BEFORE.captures(&text[near..start]),
        _ => LINE.captures(&text[line..start.min(text.ceil_char_boundary(line + 160))]),
    };
    name.and_then(|found| found.get(1)).map_or(kind, |name| name.as_str()).to_owned()
}

/// The secrets of one scope, for the answers to one caller and for what it sends. Cheap to clone.
#[derive(Clone)]
pub struct ScopeSecrets {
    state: Arc<StoreState>,
    scope: Arc<str>,
    caller: Arc<str>,
    handles: Arc<SecretHandles>,
}

impl std::fmt::Debug for ScopeSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ScopeSecrets({})", self.scope)
    }
}

impl ScopeSecrets {
    pub(in super::super) fn new(
        state: Arc<StoreState>,
        scope: &str,
        caller: &str,
        handles: Arc<SecretHandles>,
    ) -> Self {
        Self { state, scope: scope.into(), caller: caller.into(), handles }
    }

    fn handle(&self, name: &str, value: &str) -> Option<Arc<str>> {
        self.handles.handle(self.state.redactor(), (&self.scope, &self.caller), name, value)
    }

    /// Notes a value that is secret because its name in the config says so.
    pub fn configure(&self, name: &str, value: &str) {
        if is_secret_name(name) && is_distinct(value) && !is_placeholder(Candidate::alone(value)) {
            self.handle(name, value);
        }
    }

    /// Notes the secrets of a text, so that they are known in every other text of the same answer.
    pub fn note(&self, text: &str) -> NotedSecrets {
        let noted = self.state.redactor().secrets_in(text);
        for span in &noted {
            self.handle(&span.name, &text[span.range.clone()]);
        }
        NotedSecrets(noted)
    }

    /// Returns whether what may be no text has secrets of known forms. None is noted.
    pub fn are_in(&self, text: &str) -> bool {
        !self.handles.find(text).is_empty() || !self.state.redactor().known_in(text).is_empty()
    }

    /// Puts handles in the place of the secrets of a text: of those that were noted, and of known ones.
    pub fn with_handles<'t>(&self, text: &'t str, noted: &NotedSecrets) -> Cow<'t, str> {
        let redactor = self.state.redactor();
        replaced(text, &self.all_in(text, noted), |span, value| match self.handle(&span.name, value) {
            Some(handle) => Cow::Owned(handle.to_string()),
            None => Cow::Owned(redactor.mark("secret", value)),
        })
    }

    /// Puts marks in the place of secrets, which nothing turns back.
    pub fn redacted<'t>(&self, text: &'t str, noted: &NotedSecrets) -> Cow<'t, str> {
        let redactor = self.state.redactor();
        let spans = self.all_in(text, noted);
        replaced(text, &spans, |_, value| Cow::Owned(redactor.mark("secret", value)))
    }

    fn all_in(&self, text: &str, noted: &NotedSecrets) -> Vec<NamedSpan> {
        let known = self.handles.find(text);
        if known.is_empty() && noted.0.is_empty() {
            return Vec::new();
        }
        let known = known.into_iter().map(|range| NamedSpan { range, name: "value".to_owned() });
        let mut spans = without_handles(text, known.collect());
        spans.extend(noted.0.iter().cloned());
        merged_spans(spans)
    }

    /// Puts the values in the place of handles; none where the text has no handles.
    ///
    /// `keeps_names` says that the text is stored as it is, so that a short value is recognized by the name before it.
    ///
    /// # Errors
    /// The first handle that gives no value.
    pub fn resolve(&self, text: &str, keeps_names: bool) -> Result<Option<ResolvedText>, HandleProblem> {
        self.handles.resolve(self.state.redactor(), &self.caller, text, keeps_names)
    }
}

/// Sorts spans, and makes one of those that overlap; the name of the first counts.
fn merged_spans(mut spans: Vec<NamedSpan>) -> Vec<NamedSpan> {
    spans.sort_by_key(|span| (span.range.start, std::cmp::Reverse(span.range.end)));
    let mut merged: Vec<NamedSpan> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.range.start < last.range.end => {
                last.range.end = last.range.end.max(span.range.end);
            }
            _ => merged.push(span),
        }
    }
    merged
}

impl Redactor {
    /// Finds the secrets of a text: each within one line, without what stands before the lines of a listing or a difference.
    pub(super) fn secrets_in(&self, text: &str) -> Vec<NamedSpan> {
        let mut named = Vec::new();
        for (range, kind) in self.kinds_in(text) {
            let range = value_start(text, &range)..value_end(text, &range);
            if range.is_empty() {
                continue;
            }
            let name = name_of(text, range.start, kind);
            if text[range.clone()].contains('\n') {
                let lines = lines_of(text, range).into_iter();
                named.extend(lines.map(|range| NamedSpan { range, name: name.clone() }));
            } else {
                named.push(NamedSpan { range, name });
            }
        }
        merged_spans(without_handles(text, named))
    }

    /// Finds secrets of known forms, but not what only looks random.
    fn known_in(&self, text: &str) -> Vec<Range<usize>> {
        let found = self.kinds_in(text).into_iter().filter(|(_, kind)| *kind != "random");
        found.map(|(range, _)| range).collect()
    }
}

/// Returns where a value begins: not with the name of the next line, where the name before has none.
fn value_start(text: &str, range: &Range<usize>) -> usize {
    static NAMED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(?:export\s+)?[A-Za-z_][A-Za-z0-9_.-]{0,80}[ \t]*=").expect("a test compiles it")
    });
    let line = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let is_first = line > 0 && text[line..range.start].trim().is_empty();
    let named = NAMED.find(&text[range.clone()]).filter(|_| is_first);
    range.start + named.map_or(0, |found| found.end())
}

/// Returns where the value ends that begins a part of a text: without quotes it has all of its line, as in `.env` and YAML.
fn value_end(text: &str, range: &Range<usize>) -> usize {
    static UNQUOTED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m)^[\s+-]*(?:\d+(?:\t|:[0-9a-f]{4}\|))?[\s-]*(?:export\s+)?[A-Za-z_][A-Za-z0-9_.-]{0,80}\s*[=:][ \t]*\z")
            .expect("a test compiles it")
    });
    let line = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let rest = &text[range.end..];
    let before = &text[line..range.start];
    if rest.is_empty() || before.len() > 160 || !UNQUOTED.is_match(before) {
        return range.end;
    }
    // In code a comma follows, or a bracket.
    if before.trim_end().ends_with(':') && !rest.starts_with([' ', '\t']) {
        return range.end;
    }
    let end = rest.find(['\r', '\n']).unwrap_or(rest.len());
    let end = rest[..end].find(" #").unwrap_or(end);
    range.end + rest[..end].trim_end().len()
}

/// Divides a secret of several lines, so that each part stands for itself wherever its line is shown.
fn lines_of(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    static PREFIX: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^(?:\d+\t|\d+:[0-9a-f]{4}\||[+ -])").expect("a test compiles it"));
    static BORDER: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^-----(?:BEGIN|END) [A-Z0-9 ]+-----$").expect("a test compiles it"));
    let first_line = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let prefix = PREFIX.find(&text[first_line..range.start]).map(|found| found.as_str());
    // A listing numbers every line, a difference marks every line.
    let is_like = |other: &str| match prefix {
        Some(prefix) if prefix.len() == 1 => other == prefix,
        Some(prefix) => other.len() > 1 && prefix.ends_with('|') == other.ends_with('|'),
        None => false,
    };
    let mut parts = Vec::new();
    let mut start = range.start;
    for (number, line) in text[range].split_inclusive('\n').enumerate() {
        let end = start + line.len();
        let found = PREFIX.find(line).filter(|found| number > 0 && is_like(found.as_str()));
        let from = start + found.map_or(0, |found| found.end());
        let from = from + (end - from - text[from..end].trim_start().len());
        let to = from + text[from..end].trim_end().len();
        if from < to && !BORDER.is_match(&text[from..to]) {
            parts.push(from..to);
        }
        start = end;
    }
    parts
}

/// Finds values in double quotes that have several lines, as in `.env`.
pub(super) fn quoted_lines(text: &str) -> Vec<Range<usize>> {
    static LINES: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(concat!(
            r"(?im)^[\s+-]*(?:\d+(?:\t|:[0-9a-f]{4}\|))?\s*(?:export\s+)?[a-z0-9_.-]{0,60}",
            r#"(?:passw(?:or)?d|passphrase|pwd|secret|token|credentials?|key)[ \t]*=[ \t]*"([^"\r\n]*\r?\n[^"]*)"#
        ))
        .expect("a test compiles it")
    });
    if !text.contains("=\"") && !text.contains("= \"") {
        return Vec::new();
    }
    // The quote must not be closed on its own line, which the other rules judge.
    let found = LINES.captures_iter(text).filter_map(|found| found.get(1));
    found.map(|found| found.range()).filter(|range| range.len() <= MAX_LINES_BYTES).collect()
}

/// Replaces secrets in a text.
pub(super) fn replaced<'t>(
    text: &'t str,
    spans: &[NamedSpan],
    mut mark: impl FnMut(&NamedSpan, &str) -> Cow<'static, str>,
) -> Cow<'t, str> {
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for span in spans {
        out.push_str(&text[done..span.range.start]);
        out.push_str(&mark(span, &text[span.range.clone()]));
        done = span.range.end;
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}
