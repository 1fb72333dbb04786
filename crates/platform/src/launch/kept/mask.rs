//! Masking of secrets in a stream that comes in pieces.
//!
//! Every byte that belongs to an occurrence of a secret is replaced; adjoining ones by one mark. Bytes at the
//! end of a piece that may be the beginning of an occurrence are held back until more is known: a few of them
//! for a moment only, since prompts often begin like secrets; more of them for as long as it takes.

/// What is in place of a secret.
const MARK: &[u8] = b"[secret]";
/// The most secrets of a process.
const MAX_SECRETS: usize = 64;
/// The most bytes of all of them.
const MAX_SECRET_BYTES: usize = 128 << 10;

/// How many bytes of a secret are never shown because time passes. Fewer are: any text ends in one or two bytes that
/// some secret begins with, and a terminal must show them.
const MIN_HELD_BACK: usize = 4;

/// The secrets of a process, and what is held back of one stream.
#[derive(Debug, Default)]
pub(in super::super) struct Mask {
    secrets: Vec<Vec<u8>>,
    held_back: Vec<u8>,
    /// How many bytes of what is held back belong to an occurrence that was found.
    covered: usize,
    /// How many bytes of what is held back were shown meanwhile: they are kept to know what they begin.
    shown: usize,
    /// Whether the byte before was masked, so that the mark stands already.
    is_marked: bool,
}

impl Mask {
    pub(in super::super) fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Returns whether bytes are held back that are to be shown if no more comes soon.
    pub(in super::super) fn is_waiting(&self) -> bool {
        self.held_back.len() > self.shown && self.held_back.len() < MIN_HELD_BACK
    }

    /// Adds what was typed as a secret, as it is and as a terminal shows it. The line ends around it are no part
    /// of it. Returns whether there is room for it.
    pub(in super::super) fn add(&mut self, typed: &[u8]) -> bool {
        let is_line_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
        let begin = typed.iter().position(|byte| !is_line_end(byte)).unwrap_or(typed.len());
        let end = typed.iter().rposition(|byte| !is_line_end(byte)).map_or(begin, |last| last + 1);
        let secret = &typed[begin..end];
        if secret.is_empty() {
            return true;
        }
        let shown = [secret.to_vec(), with_line_ends(secret), with_carets(secret)];
        let known: usize = self.secrets.iter().map(Vec::len).sum();
        if self.secrets.len() + shown.len() > MAX_SECRETS
            || known + shown.iter().map(Vec::len).sum::<usize>() > MAX_SECRET_BYTES
        {
            return false;
        }
        for secret in shown {
            if !self.secrets.contains(&secret) {
                self.secrets.push(secret);
            }
        }
        true
    }

    /// Takes the next piece. Returns what can be shown.
    pub(in super::super) fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.held_back);
        bytes.extend_from_slice(piece);
        let (mut shown, mut at) = (Vec::with_capacity(bytes.len()), 0);
        let mut covered = self.covered;
        while at < bytes.len() {
            match self.look(&bytes[at..]) {
                MatchStart::Unknown => break,
                MatchStart::Secret(length) => covered = covered.max(at + length),
                MatchStart::Nothing => {}
            }
            if at >= self.shown {
                self.show(bytes[at], at < covered, &mut shown);
            }
            at += 1;
        }
        self.covered = covered.saturating_sub(at);
        self.shown = self.shown.saturating_sub(at);
        bytes.drain(..at);
        self.held_back = bytes;
        shown
    }

    /// Returns what is held back, as no more has come for a moment: nothing, if it is so much of a secret that the
    /// rest may still come. What is returned still counts as the beginning of a secret.
    pub(in super::super) fn release(&mut self) -> Vec<u8> {
        if !self.is_waiting() {
            return Vec::new();
        }
        let bytes = self.held_back.clone();
        let shown = self.shown_of(&bytes);
        self.shown = bytes.len();
        shown
    }

    /// Returns all that is held back, as nothing follows it.
    pub(in super::super) fn finish(&mut self) -> Vec<u8> {
        let bytes = std::mem::take(&mut self.held_back);
        let shown = self.shown_of(&bytes);
        (self.covered, self.shown) = (0, 0);
        shown
    }

    fn shown_of(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut shown = Vec::with_capacity(bytes.len());
        for (at, byte) in bytes.iter().enumerate() {
            // An occurrence that is whole may be in what looked like the beginning of a longer one.
            for secret in &self.secrets {
                if bytes[at..].starts_with(secret) {
                    self.covered = self.covered.max(at + secret.len());
                }
            }
            if at >= self.shown {
                self.show(*byte, at < self.covered, &mut shown);
            }
        }
        shown
    }

    fn show(&mut self, byte: u8, is_masked: bool, shown: &mut Vec<u8>) {
        if !is_masked {
            shown.push(byte);
        } else if !self.is_marked {
            shown.extend_from_slice(MARK);
        }
        self.is_marked = is_masked;
    }

    /// Looks for the longest secret that bytes begin with.
    fn look(&self, bytes: &[u8]) -> MatchStart {
        let mut found = MatchStart::Nothing;
        for secret in &self.secrets {
            if bytes.len() < secret.len() {
                if secret.starts_with(bytes) {
                    return MatchStart::Unknown;
                }
            } else if bytes.starts_with(secret) {
                found = match found {
                    MatchStart::Secret(length) => MatchStart::Secret(length.max(secret.len())),
                    MatchStart::Nothing | MatchStart::Unknown => MatchStart::Secret(secret.len()),
                };
            }
        }
        found
    }
}

/// What begins at a place.
enum MatchStart {
    Nothing,
    /// A secret of this length.
    Secret(usize),
    /// Perhaps a secret: more bytes must come.
    Unknown,
}

/// Returns bytes as a terminal shows their line ends.
fn with_line_ends(secret: &[u8]) -> Vec<u8> {
    let mut shown = Vec::with_capacity(secret.len());
    for byte in secret {
        if matches!(byte, b'\r' | b'\n') {
            shown.extend_from_slice(b"\r\n");
        } else {
            shown.push(*byte);
        }
    }
    shown
}

/// Returns bytes as a terminal echoes control characters, such as `^A`.
fn with_carets(secret: &[u8]) -> Vec<u8> {
    let mut shown = Vec::with_capacity(secret.len());
    for byte in secret {
        match byte {
            b'\r' | b'\n' => shown.extend_from_slice(b"\r\n"),
            b'\t' => shown.push(*byte),
            0..32 | 127 => shown.extend_from_slice(&[b'^', byte ^ 0x40]),
            _ => shown.push(*byte),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Masks a text that comes as a whole: the plain meaning of what the mask does.
    fn expected(text: &[u8], secrets: &[Vec<u8>]) -> Vec<u8> {
        let mut masked = vec![false; text.len()];
        for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
            for at in 0..text.len() {
                if text[at..].starts_with(secret) {
                    masked[at..at + secret.len()].fill(true);
                }
            }
        }
        let mut shown = Vec::new();
        for (at, byte) in text.iter().enumerate() {
            if !masked[at] {
                shown.push(*byte);
            } else if at == 0 || !masked[at - 1] {
                shown.extend_from_slice(MARK);
            }
        }
        shown
    }

    fn of_letters(longest: usize) -> impl Strategy<Value = Vec<u8>> {
        // Few letters, so that there are many occurrences, repeated and overlapping.
        proptest::collection::vec(prop_oneof![Just(b'a'), Just(b'b'), Just(b'c')], 1..longest)
    }

    proptest! {
        #[test]
        fn wherever_a_stream_is_cut_every_secret_in_it_is_masked(
            secrets in proptest::collection::vec(of_letters(6), 1..4),
            pieces in proptest::collection::vec(of_letters(9), 0..12),
        ) {
            let mut mask = Mask::default();
            for secret in &secrets {
                prop_assert!(mask.add(secret));
            }
            let mut shown = Vec::new();
            for piece in &pieces {
                shown.extend(mask.push(piece));
                prop_assert!(mask.held_back.len() < 6);
            }
            shown.extend(mask.finish());
            prop_assert_eq!(shown, expected(&pieces.concat(), &secrets));
        }

        #[test]
        fn however_long_it_pauses_no_secret_is_shown(
            secrets in proptest::collection::vec(of_letters(9), 1..4),
            pieces in proptest::collection::vec((of_letters(9), any::<bool>()), 0..16),
        ) {
            let mut mask = Mask::default();
            for secret in &secrets {
                prop_assert!(mask.add(secret));
            }
            let mut shown = Vec::new();
            for (piece, pauses) in &pieces {
                shown.extend(mask.push(piece));
                if *pauses {
                    shown.extend(mask.release());
                    prop_assert!(!mask.is_waiting());
                    prop_assert!(mask.release().is_empty());
                }
            }
            shown.extend(mask.finish());
            for secret in secrets.iter().filter(|secret| secret.len() >= MIN_HELD_BACK) {
                prop_assert!(!shown.windows(secret.len()).any(|it| it == secret), "{:?}", shown);
            }
            // Nothing is lost or shown twice, but for what the mark stands for.
            let text: Vec<u8> = pieces.iter().flat_map(|(piece, _)| piece.clone()).collect();
            if expected(&text, &secrets) == text {
                prop_assert_eq!(shown, text);
            }
        }

        #[test]
        fn what_holds_no_secret_is_shown_as_it_is(
            pieces in proptest::collection::vec(of_letters(9), 0..12),
        ) {
            let mut mask = Mask::default();
            prop_assert!(mask.add(b"abcd\r\n"));
            let mut shown: Vec<u8> = pieces.iter().flat_map(|piece| mask.push(piece)).collect();
            shown.extend(mask.finish());
            prop_assert_eq!(shown, pieces.concat());
        }
    }

    #[test]
    fn what_a_terminal_makes_of_a_secret_is_masked_too() {
        let mut mask = Mask::default();
        assert!(mask.add(b"one\ntwo\x01\r"));
        assert_eq!(
            mask.push(b"<one\r\ntwo\x01><one\ntwo\x01><one\r\ntwo^A>"),
            b"<[secret]><[secret]><[secret]>"
        );
    }

    #[test]
    fn a_secret_in_parts_shows_at_most_its_first_bytes() {
        let mut mask = Mask::default();
        assert!(mask.add(b"correct-horse"));
        assert_eq!(mask.push(b"> cor"), b"> ");
        assert!(mask.is_waiting());
        assert_eq!(mask.release(), b"cor");
        assert_eq!(mask.push(b"rect-"), b"");
        assert_eq!(mask.release(), b"", "the rest may come at any time");
        assert_eq!(mask.push(b"horse <"), b"[secret] <");
        assert_eq!(mask.push(b"correct"), b"");
        assert_eq!(mask.push(b"ly"), b"correctly");
        assert_eq!(mask.push(b"correct"), b"");
        assert_eq!(mask.finish(), b"correct", "nothing follows it");
    }

    #[test]
    fn line_ends_alone_are_no_secret() {
        let mut mask = Mask::default();
        assert!(mask.add(b"\r\n"));
        assert!(mask.is_empty());
    }

    #[test]
    fn there_is_an_end_to_how_much_is_masked() {
        let mut mask = Mask::default();
        assert!(!mask.add(&vec![b'x'; MAX_SECRET_BYTES]));
        let taken = (0..1000).take_while(|number| mask.add(format!("secret {number}").as_bytes())).count();
        assert!((10..=MAX_SECRETS).contains(&taken), "{taken}");
    }
}
