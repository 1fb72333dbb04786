//! The title that a program gives its terminal window.

/// The longest title, in characters.
const MAX_CHARS: usize = 200;
/// The most bytes of a sequence that are kept.
const MAX_BYTES: usize = 1_024;

/// Watches output for titles; the terminal emulator has no use for them.
///
/// # Source
/// XTerm Control Sequences, "Operating System Commands": 0 and 2 set the window's title.
#[derive(Debug, Default)]
pub(super) struct Titles {
    state: State,
    title: Option<String>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Text,
    Escape,
    Command(Vec<u8>),
    CommandEscape(Vec<u8>),
}

impl Titles {
    /// Takes in what a program printed.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            self.state = match (std::mem::take(&mut self.state), byte) {
                (State::Text, 0x1b) => State::Escape,
                (State::Text, _) => {
                    let Some(at) = memchr::memchr(0x1b, rest) else { return };
                    rest = &rest[at..];
                    continue;
                }
                (State::Escape, b']') => State::Command(Vec::new()),
                (State::Escape | State::CommandEscape(_), 0x1b) => State::Escape,
                (State::Escape, _) => State::Text,
                (State::Command(command), 0x07) => self.done(&command),
                (State::Command(command), 0x1b) => State::CommandEscape(command),
                (State::Command(_), 0x18 | 0x1a) => State::Text,
                (State::Command(mut command), _) => {
                    if command.len() < MAX_BYTES {
                        command.push(byte);
                    }
                    State::Command(command)
                }
                (State::CommandEscape(command), b'\\') => self.done(&command),
                (State::CommandEscape(_), b']') => State::Command(Vec::new()),
                (State::CommandEscape(_), _) => State::Text,
            };
            rest = after;
        }
    }

    /// Returns the last title; none where a program has set none, or an empty one.
    pub(super) fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    fn done(&mut self, command: &[u8]) -> State {
        if let Some(text) = command.strip_prefix(b"0;").or_else(|| command.strip_prefix(b"2;")) {
            let text = String::from_utf8_lossy(text);
            let text: String = text.chars().filter(|it| !it.is_control()).take(MAX_CHARS).collect();
            self.title = (!text.trim().is_empty()).then_some(text);
        }
        State::Text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_found_however_the_output_is_cut() {
        let output = b"a\x1b[1m\x1b]0;one\x07b\x1b]2;tw\xc3\xb6\x1b\\c\x1b]52;c;eA==\x07";
        for cut in 0..output.len() {
            let mut titles = Titles::default();
            titles.feed(&output[..cut]);
            titles.feed(&output[cut..]);
            assert_eq!(titles.title(), Some("tw\u{f6}"), "{cut}");
        }
    }

    #[test]
    fn a_title_without_end_takes_no_memory_and_cancels() {
        let mut titles = Titles::default();
        titles.feed(b"\x1b]0;");
        titles.feed(&vec![b'x'; 1 << 20]);
        let State::Command(command) = &titles.state else { panic!("{:?}", titles.state) };
        assert_eq!(command.len(), MAX_BYTES);
        titles.feed(b"\x18\x1b]0;short\x07");
        assert_eq!(titles.title(), Some("short"));
        titles.feed(b"\x1b]0;\x07");
        assert_eq!(titles.title(), None);
    }
}
