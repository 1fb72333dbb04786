//! What a terminal answers on its own: programs ask it what it is, and where its cursor stands.
//!
//! A program in a terminal that nobody looks at asks as well, and some wait: shells and line editors for seconds, or
//! with a complaint. Only fixed forms and numbers are answered. Nothing that a program printed is ever given back
//! to it as if it had been typed.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::emulator::Emulator;
use crate::launch::kept::TerminalSize;

/// How much output is kept for the first question about the cursor.
const TAIL_BYTES: usize = 64 << 10;
/// The longest sequence that can be a question.
const MAX_PARAMETERS: usize = 8;
/// The most cells of a terminal that is emulated here, so that a keeper stays small.
const MAX_CELLS: u32 = 20_000;
/// How much work output may be, in cells: so much for each byte, and so many whole screens for each piece.
const WORK_PER_BYTE: u64 = 64;
const SCREENS_PER_PIECE: u64 = 128;
/// How much is taken in before the work is checked.
const SLICE_BYTES: usize = 1 << 10;
/// How many answers one piece of output gets at most.
const MAX_ANSWERS: usize = 64;

/// Finds questions in what programs print to a terminal, and answers them.
#[derive(Debug)]
pub(super) struct Answers {
    state: State,
    size: TerminalSize,
    cursor: Cursor,
}

/// What knows where the cursor is. Most programs never ask: for them nothing is emulated.
#[derive(Debug)]
enum Cursor {
    /// Nobody has asked: the last output, to begin with when somebody does.
    Tail(Vec<u8>),
    /// Somebody has asked.
    Known(Box<Emulator>),
    /// The emulator failed, the terminal is too large, or the output too much work.
    Lost,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Text,
    Escape,
    /// After `ESC [`: what has come of the parameters.
    Sequence(Vec<u8>),
    /// A sequence that is too long for a question.
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Question {
    Identity,
    SecondIdentity,
    Status,
    Cursor,
    ExtendedCursor,
    Size,
}

impl Answers {
    /// Begins with a terminal of a size.
    pub(super) fn new(size: TerminalSize) -> Self {
        Self { state: State::Text, size, cursor: Cursor::Tail(Vec::new()) }
    }

    /// Notes that the terminal has another size now.
    pub(super) fn resize(&mut self, size: TerminalSize) {
        self.size = size;
        if u32::from(size.rows) * u32::from(size.columns) > MAX_CELLS {
            self.cursor = Cursor::Lost;
        }
        if let Cursor::Known(emulator) = &mut self.cursor {
            let resized = catch_unwind(AssertUnwindSafe(|| emulator.resize(size.rows, size.columns)));
            if resized.is_err() {
                self.cursor = Cursor::Lost;
            }
        }
    }

    /// Takes in what was printed, and gives what the terminal types in answer; nothing as a rule.
    pub(super) fn take(&mut self, printed: &[u8]) -> Vec<u8> {
        let mut answers = Vec::new();
        let mut answered = 0;
        let mut noted = 0;
        let mut at = 0;
        while at < printed.len() {
            if self.state == State::Text {
                let Some(escape) = memchr::memchr(0x1b, &printed[at..]) else { break };
                at += escape;
            }
            if let Some(question) = self.step(printed[at])
                && answered < MAX_ANSWERS
            {
                self.note(&printed[noted..=at]);
                noted = at + 1;
                answered += 1;
                answers.extend(self.answer(question));
            }
            at += 1;
        }
        self.note(&printed[noted..]);
        answers
    }

    /// Takes one byte; gives the question that it ends.
    fn step(&mut self, byte: u8) -> Option<Question> {
        let state = std::mem::replace(&mut self.state, State::Text);
        self.state = match (state, byte) {
            (_, 0x1b) => State::Escape,
            (State::Escape, b'[') => State::Sequence(Vec::new()),
            (State::Sequence(mut parameters), 0x20..=0x3f) => {
                parameters.push(byte);
                if parameters.len() > MAX_PARAMETERS { State::Other } else { State::Sequence(parameters) }
            }
            (State::Sequence(parameters), _) => return question(&parameters, byte),
            (State::Other, 0x20..=0x3f) => State::Other,
            (State::Text | State::Escape | State::Other, _) => State::Text,
        };
        None
    }

    /// Notes output for the sake of the cursor.
    fn note(&mut self, printed: &[u8]) {
        match &mut self.cursor {
            Cursor::Tail(tail) => {
                let kept = &printed[printed.len().saturating_sub(TAIL_BYTES)..];
                let excess = (tail.len() + kept.len()).saturating_sub(TAIL_BYTES);
                tail.drain(..excess);
                tail.extend_from_slice(kept);
            }
            Cursor::Known(emulator) => {
                if !feed(emulator, printed) {
                    self.cursor = Cursor::Lost;
                }
            }
            Cursor::Lost => {}
        }
    }

    fn answer(&mut self, question: Question) -> Vec<u8> {
        match question {
            // A terminal of the VT200 family with colours.
            Question::Identity => b"\x1b[?62;22c".to_vec(),
            // The same, in a version that promises nothing further.
            Question::SecondIdentity => b"\x1b[>1;10;0c".to_vec(),
            Question::Status => b"\x1b[0n".to_vec(),
            Question::Size => format!("\x1b[8;{};{}t", self.size.rows, self.size.columns).into_bytes(),
            Question::Cursor => self
                .place()
                .map_or_else(Vec::new, |(row, column)| format!("\x1b[{row};{column}R").into_bytes()),
            Question::ExtendedCursor => self
                .place()
                .map_or_else(Vec::new, |(row, column)| format!("\x1b[?{row};{column};1R").into_bytes()),
        }
    }

    fn place(&mut self) -> Option<(u16, u16)> {
        if u32::from(self.size.rows) * u32::from(self.size.columns) > MAX_CELLS {
            self.cursor = Cursor::Lost;
        }
        if let Cursor::Tail(tail) = &self.cursor {
            let mut emulator = Box::new(Emulator::new(self.size.rows, self.size.columns));
            let is_known = feed(&mut emulator, tail);
            self.cursor = if is_known { Cursor::Known(emulator) } else { Cursor::Lost };
        }
        match &self.cursor {
            Cursor::Known(emulator) => {
                let place = emulator.cursor();
                Some((place.row, place.column))
            }
            Cursor::Tail(_) | Cursor::Lost => None,
        }
    }
}

/// Takes output in. Returns whether that went well: a program must not keep its keeper busy by drawing.
fn feed(emulator: &mut Emulator, printed: &[u8]) -> bool {
    let (rows, columns) = emulator.size();
    let cells = u64::from(rows) * u64::from(columns);
    let mut room = WORK_PER_BYTE * printed.len() as u64 + SCREENS_PER_PIECE * cells;
    printed.chunks(SLICE_BYTES).all(|slice| {
        let worked = catch_unwind(AssertUnwindSafe(|| emulator.feed(slice)));
        match worked.ok().and_then(|work| room.checked_sub(work)) {
            Some(left) => {
                room = left;
                true
            }
            None => false,
        }
    })
}

/// Returns what a control sequence asks.
///
/// # Source
/// XTerm Control Sequences: DA1 (`CSI c`), DA2 (`CSI > c`), DSR (`CSI 5 n`, `CSI 6 n`), DECXCPR (`CSI ? 6 n`), and the
/// text area's size (`CSI 18 t`).
fn question(parameters: &[u8], end: u8) -> Option<Question> {
    match (parameters, end) {
        (b"" | b"0", b'c') => Some(Question::Identity),
        (b">" | b">0", b'c') => Some(Question::SecondIdentity),
        (b"5", b'n') => Some(Question::Status),
        (b"6", b'n') => Some(Question::Cursor),
        (b"?6", b'n') => Some(Question::ExtendedCursor),
        (b"18", b't') => Some(Question::Size),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: TerminalSize = TerminalSize { rows: 24, columns: 80 };

    #[test]
    fn questions_are_answered_as_a_terminal_does() {
        for (printed, answer) in [
            (&b"\x1b[c"[..], &b"\x1b[?62;22c"[..]),
            (b"\x1b[0c", b"\x1b[?62;22c"),
            (b"\x1b[>c", b"\x1b[>1;10;0c"),
            (b"\x1b[5n", b"\x1b[0n"),
            (b"\x1b[18t", b"\x1b[8;24;80t"),
            (b"\x1b[6n", b"\x1b[1;1R"),
            (b"a\r\nbc\x1b[6n", b"\x1b[2;3R"),
            (b"\x1b[10;20H\x1b[?6n", b"\x1b[?10;20;1R"),
            (b"\x1b[6nxy\x1b[6n", b"\x1b[1;1R\x1b[1;3R"),
            (b"\x1b\x1b[5n", b"\x1b[0n"),
        ] {
            for cut in 0..printed.len() {
                let mut answers = Answers::new(SIZE);
                let mut typed = answers.take(&printed[..cut]);
                typed.extend(answers.take(&printed[cut..]));
                assert_eq!(typed, answer, "{printed:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn nothing_that_was_printed_is_given_back() {
        for printed in [
            // Titles, settings, colours, terminfo, status strings, the answers themselves, and plain text.
            &b"\x1b[21t\x1b[20t\x1b]0;rm -rf\x07\x1b[21t"[..],
            b"\x1bP$qm\x1b\\\x1bP+q544e\x1b\\\x1b]11;?\x07\x1b]52;c;?\x07\x1b[?u\x1b[>q\x1b[=c\x05\x1bZ",
            b"\x1b[?62;22c\x1b[0n\x1b[1;1R\x1b[8;24;80t",
            b"\x1b[666666666n\x1b[6\nn[6n 6n \x1b[06n\x1b[6;6n\x1b[?5n",
        ] {
            assert_eq!(Answers::new(SIZE).take(printed), b"", "{printed:?}");
        }
    }

    #[test]
    fn the_cursor_is_known_after_much_output_and_another_size() {
        let mut answers = Answers::new(SIZE);
        for line in 0..100_000 {
            assert_eq!(answers.take(format!("line {line}\r\n").as_bytes()), b"");
        }
        assert_eq!(answers.take(b"> \x1b[6n"), b"\x1b[24;3R");
        answers.resize(TerminalSize { rows: 10, columns: 40 });
        assert_eq!(answers.take(b"\x1b[999;999H\x1b[6n"), b"\x1b[10;40R");
        assert_eq!(answers.take(b"\x1b[18t"), b"\x1b[8;10;40t");
        answers.resize(TerminalSize { rows: 500, columns: 1_000 });
        assert_eq!(answers.take(b"\x1b[6n\x1b[5n"), b"\x1b[0n", "not in one that takes much memory");
    }

    #[test]
    fn what_is_too_much_work_to_draw_is_given_up() {
        for flood in ["\x1b[2J", "x\x1b[65535b", "\x1b#8", "\x1b[999L", "\x1bc", "\x1b[?1049h"] {
            let mut answers = Answers::new(SIZE);
            assert_eq!(answers.take(b"\x1b[6n"), b"\x1b[1;1R");
            let typed = answers.take(flood.repeat(20_000).as_bytes());
            assert_eq!((typed.len(), answers.take(b"\x1b[5n\x1b[6n")), (0, b"\x1b[0n".to_vec()), "{flood:?}");
        }
        let mut answers = Answers::new(SIZE);
        answers.take(b"\x1b[6n");
        for honest in [
            "\n",
            "text of a line\r\n",
            "\x1b[2J\x1b[H\x1b[32mframe of a picture\x1b[0m",
            "\x1b[?25l\x1b[K\r\x1b[32m#####\x1b[?25h",
        ] {
            answers.take(honest.repeat((64 << 10) / honest.len()).as_bytes());
        }
        assert_eq!(answers.take(b"\x1b[H\x1b[6n"), b"\x1b[1;1R");
    }

    #[test]
    fn a_flood_of_questions_gets_few_answers() {
        let typed = Answers::new(SIZE).take(&b"\x1b[5n".repeat(10_000));
        assert_eq!(typed, b"\x1b[0n".repeat(MAX_ANSWERS));
    }
}
