//! The parts of a stream that are never torn: characters, and control sequences of terminals.

use super::super::command::Stripper;

/// What a stream continues with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit<'a> {
    /// Characters, each of which may be the last that is taken.
    Text(&'a str),
    /// Bytes that are no character, shown as one U+FFFD.
    Invalid(&'a [u8]),
    /// A control sequence of a terminal, or what looked like one.
    Sequence(&'a [u8]),
}

/// Finds the next unit. None if there is but the beginning of one.
pub fn next(bytes: &[u8]) -> Option<Unit<'_>> {
    if bytes.first() == Some(&0x1b) {
        return sequence_bytes(bytes).map(|length| Unit::Sequence(&bytes[..length]));
    }
    let end = memchr::memchr(0x1b, bytes).unwrap_or(bytes.len());
    match std::str::from_utf8(&bytes[..end]) {
        Ok("") => None,
        Ok(text) => Some(Unit::Text(text)),
        Err(error) if error.valid_up_to() > 0 => {
            let text = std::str::from_utf8(&bytes[..error.valid_up_to()]);
            Some(Unit::Text(text.expect("it is valid up to here")))
        }
        Err(error) => match error.error_len() {
            Some(length) => Some(Unit::Invalid(&bytes[..length])),
            // A sequence breaks it off, or it may continue with the next bytes.
            None => (end < bytes.len()).then(|| Unit::Invalid(&bytes[..end])),
        },
    }
}

/// Counts the bytes of the sequence that these begin with; none if it continues after them.
fn sequence_bytes(bytes: &[u8]) -> Option<usize> {
    let mut stripper = Stripper::default();
    for (at, byte) in bytes.iter().enumerate() {
        let mut is_text = false;
        stripper.strip(&[*byte], |_| is_text = true);
        if is_text {
            return Some(at);
        }
        if stripper.is_between() {
            return Some(at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_not_there_as_a_whole_is_waited_for() {
        for part in ["\x1b", "\x1b[", "\x1b[1;3", "\x1b]0;title", "\x1b]0;title\x1b"] {
            assert_eq!(next(part.as_bytes()), None, "{part:?}");
        }
        for part in [&b"\xe2"[..], b"\xe2\x82", b"\xf0\x9f\x98", b""] {
            assert_eq!(next(part), None, "{part:?}");
        }
        assert_eq!(next(b"a\xe2\x82"), Some(Unit::Text("a")));
        assert_eq!(next(b"\xe2\x82\x1b[m"), Some(Unit::Invalid(b"\xe2\x82")));
        assert_eq!(next(b"\xe2\x82A"), Some(Unit::Invalid(b"\xe2\x82")));
        assert_eq!(next(b"\xff\xff"), Some(Unit::Invalid(b"\xff")));
        assert_eq!(next(b"\x1b[31mred"), Some(Unit::Sequence(b"\x1b[31m")));
        assert_eq!(next("\x1b[3ö".as_bytes()), Some(Unit::Sequence(b"\x1b[3")));
    }

    proptest! {
        #[test]
        fn the_units_of_a_stream_are_the_stream_and_its_text_is_what_stripping_leaves(
            stream in r"(\x1b|\[|\]|\\|\x07|\n|[0-9;mKPa-c]|ö|€){0,60}",
        ) {
            let (mut rest, mut text) = (stream.as_bytes(), Vec::new());
            while let Some(unit) = next(rest) {
                let length = match unit {
                    Unit::Text(part) => { text.extend_from_slice(part.as_bytes()); part.len() }
                    Unit::Invalid(part) | Unit::Sequence(part) => part.len(),
                };
                prop_assert!(length > 0);
                rest = &rest[length..];
            }
            let mut stripped = Vec::new();
            Stripper::default().strip(stream.as_bytes(), |part| stripped.extend_from_slice(part));
            prop_assert_eq!(text, stripped);
            prop_assert!(rest.is_empty() || rest[0] == 0x1b, "only a sequence is waited for");
        }
    }
}
