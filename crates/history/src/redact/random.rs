//! What looks random: the last net, for keys whose form no rule knows.
//!
//! It must leave alone what people read: paths, names, Git and SHA-256 hashes (one case of letters),
//! ULIDs and UUIDs (too short between their dashes, or one case).

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// The shortest text that is judged.
const MIN_LENGTH: usize = 32;
/// The least entropy, in bits for each character.
const MIN_BITS: f64 = 4.2;

/// Finds the parts of a text that look random, as byte ranges.
pub fn find(text: &str) -> Vec<(usize, usize)> {
    let mut found = find_all(text);
    if !found.is_empty() {
        let public = public(text);
        found.retain(|(start, end)| !public.iter().any(|it| it.start <= *start && *end <= it.end));
    }
    found
}

/// Returns where public keys, certificates and pictures are.
fn public(text: &str) -> Vec<Range<usize>> {
    static PUBLIC: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(concat!(
            r"\b(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-nistp[0-9]{3}|sk-(?:ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com)",
            r"(?:-cert-v01@openssh\.com)?[ \t]+AAAA[A-Za-z0-9+/]+={0,2}",
            r"|-----BEGIN (?:[A-Z0-9]+ )*(?:PUBLIC KEY|CERTIFICATE|CERTIFICATE REQUEST|PUBLIC KEY BLOCK|SIGNATURE)-----[^-]*",
            r"|\bdata:(?:image|font|audio|video)/[a-z0-9.+-]+;base64,[A-Za-z0-9+/]*={0,2}",
        ))
        .expect("a test compiles it")
    });
    PUBLIC.find_iter(text).map(|found| found.range()).collect()
}

fn find_all(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        // A long enough part must have a word byte here; if not, nothing before it can begin one.
        let probe = start + MIN_LENGTH - 1;
        if probe >= bytes.len() {
            break;
        }
        if let Some(at) = bytes[start..=probe].iter().rposition(|byte| !is_word(*byte)) {
            start += at + 1;
            continue;
        }
        let end = bytes[probe..].iter().position(|byte| !is_word(*byte)).map_or(bytes.len(), |at| probe + at);
        if looks_random(&bytes[start..end]) && !is_digest(&text[..start]) {
            found.push((start, end));
        }
        start = end + 1;
    }
    found
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'_' | b'-' | b'=')
}

/// Returns whether what precedes says that this is a digest, or a part of one: `sha512-…`, `SHA256:…`.
fn is_digest(before: &str) -> bool {
    let head =
        before.trim_end_matches(|it: char| it.is_ascii_alphanumeric() || matches!(it, '+' | '/' | '='));
    ["SHA256:", "sha256-", "sha384-", "sha512-", "sha1-", " h1:"].iter().any(|name| head.ends_with(name))
}

fn looks_random(word: &[u8]) -> bool {
    let digest = [&b"sha256-"[..], b"sha384-", b"sha512-", b"sha1-", b"sha256="];
    if digest.iter().any(|prefix| word.starts_with(prefix)) {
        return false;
    }
    let count = |is: fn(&u8) -> bool| word.iter().filter(|byte| is(byte)).count();
    let (upper, lower, digits) =
        (count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase), count(u8::is_ascii_digit));
    if upper < 3 || lower < 3 || digits < 3 {
        return false;
    }
    // Names have their digits together; random text has them everywhere.
    let changes = word.windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count();
    changes >= (word.len() / 8).max(5) && bits_for_each(word) >= MIN_BITS
}

/// Returns Shannon's entropy of the bytes.
fn bits_for_each(word: &[u8]) -> f64 {
    let mut counts = [0_u32; 128];
    for byte in word {
        counts[usize::from(*byte & 0x7f)] += 1;
    }
    let length = word.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / length;
            -share * share.log2()
        })
        .sum()
}
