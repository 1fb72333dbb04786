//! A line while it is typed: what each key does to it, and what is shown of it.

use super::Echo;
use bailiwick_contract::Secret;

/// Takes the last character away from what is shown.
const BACK: &str = "\x08 \x08";

/// A line that is not finished.
#[derive(Debug)]
pub(super) struct Typing {
    echo: Echo,
    line: Secret,
}

/// What a byte of a key has come to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The line goes on; this is shown.
    Show(String),
    /// The line is finished.
    Finished,
    /// The person wants no more.
    Interrupted,
}

impl Typing {
    pub(super) fn new(echo: Echo) -> Self {
        Self { echo, line: Secret::default() }
    }

    /// Takes the next byte.
    pub(super) fn take(&mut self, byte: u8) -> Step {
        match byte {
            b'\r' | b'\n' => return Step::Finished,
            0x03 | 0x1c => return Step::Interrupted,
            0x04 if self.line.bytes().is_empty() => return Step::Interrupted,
            0x08 | 0x7f if !self.line.bytes().is_empty() => {
                let was_shown = last_character(self.line.bytes()).is_some();
                self.line.erase_character();
                return self.show(if was_shown { BACK } else { "" });
            }
            0x15 => {
                let shown = self.line.bytes().utf8_chunks().map(|chunk| chunk.valid().chars().count());
                let back = BACK.repeat(shown.sum());
                self.line.clear();
                return self.show(&back);
            }
            // Other control characters are no part of a line.
            0x00..=0x1f | 0x7f => {}
            _ if !self.line.push(byte) => return Step::Show("\x07".to_owned()),
            _ => {
                if self.echo == Echo::Shown
                    && let Some(character) = last_character(self.line.bytes())
                {
                    return Step::Show(character.to_owned());
                }
            }
        }
        Step::Show(String::new())
    }

    /// Gives the line.
    pub(super) fn into_line(self) -> Secret {
        self.line
    }

    fn show(&self, text: &str) -> Step {
        Step::Show(if self.echo == Echo::Shown { text.to_owned() } else { String::new() })
    }
}

/// Gives the character that the bytes end with; `None` while it is not complete.
fn last_character(bytes: &[u8]) -> Option<&str> {
    let begins = bytes.iter().rposition(|byte| byte & 0xc0 != 0x80)?;
    str::from_utf8(&bytes[begins..]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(echo: Echo, keys: &str) -> (String, Typing, Option<Step>) {
        let mut typing = Typing::new(echo);
        let mut shown = String::new();
        for byte in keys.bytes() {
            match typing.take(byte) {
                Step::Show(text) => shown += &text,
                ended => return (shown, typing, Some(ended)),
            }
        }
        (shown, typing, None)
    }

    #[test]
    fn keys_make_edit_and_end_a_line() {
        let (shown, typing, ended) = typed(Echo::Shown, "a\u{fc}x\x7f\u{4f60}\x1bb\x04\rc");
        assert_eq!(shown, "a\u{fc}x\x08 \x08\u{4f60}b");
        assert_eq!(ended, Some(Step::Finished));
        assert_eq!(typing.into_line().bytes(), "a\u{fc}\u{4f60}b".as_bytes());
        let (shown, typing, _) = typed(Echo::Shown, "\x08\u{fc}\u{4f60}\x15z");
        assert_eq!(shown, format!("\u{fc}\u{4f60}{BACK}{BACK}z"));
        assert_eq!(typing.into_line().bytes(), b"z");
        for keys in ["\x03", "ab\x03", "a\x1c", "\x04"] {
            assert_eq!(typed(Echo::Shown, keys).2, Some(Step::Interrupted), "{keys:?}");
        }
    }

    #[test]
    fn nothing_of_a_hidden_line_is_shown() {
        let (shown, typing, _) = typed(Echo::Hidden, "s\u{fc}x\x7fe\x15secret");
        assert_eq!(shown, "");
        assert_eq!(typing.into_line().bytes(), b"secret");
    }
}
