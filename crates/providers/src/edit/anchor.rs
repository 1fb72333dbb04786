//! Anchors: a line's number with a few digits of its hash, so that a line is named by what it holds.

use crate::file::sha256_hex;

/// How many hexadecimal digits of a line's SHA-256 an anchor carries.
const DIGITS: usize = 4;

/// A line as a client names it: `LINE:HASH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// The line's number, counted from 1; 0 is before the first line.
    pub line: usize,
    /// The hash, in lower case; empty for line 0.
    pub hash: String,
}

impl Anchor {
    /// Reads `LINE:HASH`; what follows a `|` is the line's copy and is left out.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.split('|').next().unwrap_or_default().trim();
        if text == "0" {
            return Some(Self { line: 0, hash: String::new() });
        }
        let (line, hash) = text.split_once(':')?;
        let good = hash.len() == DIGITS && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let digits = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
        let line = line.parse().ok().filter(|line| *line > 0 && digits)?;
        good.then(|| Self { line, hash: hash.to_ascii_lowercase() })
    }
}

/// Creates the anchor of a line. How the line ends makes no difference.
pub fn anchor(number: u64, line: &str) -> String {
    format!("{number}:{}", line_hash(line))
}

/// Returns the digits of a line's hash.
pub(super) fn line_hash(line: &str) -> String {
    let bare = line.strip_suffix('\n').unwrap_or(line);
    let bare = bare.strip_suffix('\r').unwrap_or(bare);
    let mut hash = sha256_hex(bare.as_bytes());
    hash.truncate(DIGITS);
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anchor_is_a_number_and_four_digits() {
        let read = |text: &str| Anchor::parse(text).map(|it| (it.line, it.hash));
        assert_eq!(read("12:AB3f"), Some((12, "ab3f".to_owned())));
        assert_eq!(read("12:ab3f|the line"), Some((12, "ab3f".to_owned())));
        assert_eq!(read("0"), Some((0, String::new())));
        for wrong in ["", "12", "12:", "12:ab3", "12:ab3fe", "0:ab3f", "+1:ab3f", "x:ab3f", "12:ab3g"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
