//! A terminal without a window: fed with what programs print, it knows what one would show.

use avt::parser::{DecMode, Function};
use avt::{Parser, ScreenKind, Terminal};

/// The most rows that a terminal may have.
pub const MAX_ROWS: u16 = 500;
/// The most columns that a terminal may have.
pub const MAX_COLUMNS: u16 = 1_000;

/// An emulated terminal. Keeps what is on its two screens, and nothing that scrolled away.
pub struct Emulator {
    terminal: Terminal,
    parser: Parser,
    /// The beginning of a character whose rest has not arrived.
    unfinished: Vec<u8>,
}

/// Where the next character would be written, both counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CursorPlace {
    /// Its row; 1 is the top.
    pub row: u16,
    /// Its column; 1 is the left. Behind the last column it waits on it.
    pub column: u16,
    /// Whether it is shown.
    pub visible: bool,
}

impl std::fmt::Debug for Emulator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Emulator").field("size", &self.terminal.size()).finish_non_exhaustive()
    }
}

impl Emulator {
    /// Creates an empty terminal; a size out of bounds is cut to [`MAX_ROWS`] and [`MAX_COLUMNS`].
    pub fn new(rows: u16, columns: u16) -> Self {
        let (rows, columns) = bounded(rows, columns);
        let terminal = Terminal::new(columns.into(), rows.into()).expect("both are at least 1");
        Self { terminal, parser: Parser::new(), unfinished: Vec::new() }
    }

    /// Takes in what a program printed. Characters and sequences may be cut anywhere between two calls.
    ///
    /// Returns how much work it was, in cells that may have been written: a few bytes can be a whole screen of them,
    /// so that anyone who feeds what it does not trust looks at this.
    pub fn feed(&mut self, bytes: &[u8]) -> u64 {
        if self.unfinished.is_empty() {
            self.feed_text(bytes)
        } else {
            let mut joined = std::mem::take(&mut self.unfinished);
            joined.extend_from_slice(bytes);
            self.feed_text(&joined)
        }
    }

    fn feed_text(&mut self, bytes: &[u8]) -> u64 {
        let mut work = 0;
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            for character in chunk.valid().chars() {
                work += self.feed_character(character);
            }
            let invalid = chunk.invalid();
            if invalid.is_empty() {
                continue;
            }
            let may_go_on = std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if chunks.peek().is_none() && may_go_on {
                self.unfinished = invalid.to_vec();
            } else {
                work += self.feed_character('\u{fffd}');
            }
        }
        work
    }

    fn feed_character(&mut self, character: char) -> u64 {
        let Some(function) = self.parser.feed(character) else { return 0 };
        let (columns, rows) = self.terminal.size();
        let cells = columns * rows;
        let (function, work) = match function {
            Function::Print(_) => (function, 1),
            // What is repeated beyond a full screen only moves the cursor within its row.
            Function::Rep(count) if usize::from(count) > cells => {
                let shorter = cells + (usize::from(count) - cells) % columns;
                (Function::Rep(short(shorter)), shorter)
            }
            Function::Rep(count) => (function, usize::from(count)),
            Function::Lf | Function::Nel | Function::Ri | Function::Sgr(_) => (function, 8),
            Function::El(_) | Function::Ech(_) | Function::Ich(_) | Function::Dch(_) => (function, columns),
            Function::Decset(ref modes) | Function::Decrst(ref modes)
                if !modes.as_slice().iter().copied().any(exchanges_screens) =>
            {
                (function, 2)
            }
            Function::Ed(_)
            | Function::Decaln
            | Function::Decset(_)
            | Function::Decrst(_)
            | Function::Decstr
            | Function::Dl(_)
            | Function::Il(_)
            | Function::Ris
            | Function::Sd(_)
            | Function::Su(_) => (function, cells),
            // Whatever else there is moves the cursor or sets a mode.
            _ => (function, 2),
        };
        self.terminal.execute(function);
        work as u64
    }

    /// Forgets the beginning of a character whose rest will not come.
    pub fn forget_unfinished(&mut self) {
        self.unfinished.clear();
    }

    /// Changes the size, as a terminal's window does.
    pub fn resize(&mut self, rows: u16, columns: u16) {
        let (rows, columns) = bounded(rows, columns);
        self.terminal.resize(columns.into(), rows.into());
    }

    /// Returns the size: rows and columns.
    pub fn size(&self) -> (u16, u16) {
        let (columns, rows) = self.terminal.size();
        (short(rows), short(columns))
    }

    /// Returns the rows that are shown, from the top, each without blanks at its end.
    pub fn lines(&self) -> Vec<String> {
        // A character that steers has no place in a cell; if there is one, it must not get out of it.
        let visible = |it: char| if it.is_control() { ' ' } else { it };
        let lines = self.terminal.screen().visible_lines();
        lines.map(|line| line.chars().map(visible).collect::<String>().trim_end().to_owned()).collect()
    }

    /// Returns where the cursor is.
    pub fn cursor(&self) -> CursorPlace {
        let (columns, rows) = self.terminal.size();
        let cursor = self.terminal.cursor();
        let from_one = |at: usize, count: usize| short(at.min(count.saturating_sub(1)) + 1);
        CursorPlace {
            row: from_one(cursor.row, rows),
            column: from_one(cursor.col, columns),
            visible: cursor.visible,
        }
    }

    /// Returns whether the second screen is shown, which full-screen programs use.
    pub fn is_alternate(&self) -> bool {
        self.terminal.active_screen_kind() == ScreenKind::Alternate
    }

    /// Returns whether a program has switched on application cursor keys (DECCKM).
    pub fn has_application_cursor_keys(&self) -> bool {
        self.terminal.cursor_key_app_mode()
    }

    /// Returns about how much memory it takes, in bytes.
    pub fn cost_bytes(&self) -> usize {
        let (columns, rows) = self.terminal.size();
        // Two screens of cells.
        columns * rows * 2 * size_of::<avt::Cell>() + 4_096
    }
}

const fn exchanges_screens(mode: DecMode) -> bool {
    matches!(mode, DecMode::AltScreenBuffer | DecMode::SaveCursorAltScreenBuffer)
}

/// Cuts a size to what a terminal may have.
pub fn bounded(rows: u16, columns: u16) -> (u16, u16) {
    (rows.clamp(1, MAX_ROWS), columns.clamp(1, MAX_COLUMNS))
}

fn short(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}
