//! What a terminal shows after a program has printed: an emulator that is fed with bytes.

use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_platform::emulator::{Emulator, bounded};

use super::CursorKeys;
use super::titles::Titles;

/// What a terminal shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Picture {
    /// How many rows the terminal has.
    pub rows: u16,
    /// How many columns it has.
    pub columns: u16,
    /// The rows from the top, without blanks at their ends; empty ones at the bottom are left out.
    pub lines: Vec<String>,
    /// Where the next character would be written.
    pub cursor: Cursor,
    /// The title that the program has given its window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether it is the second screen, which full-screen programs use and give back at their end.
    pub alternate_screen: bool,
    /// Whether the beginning of the output was no longer kept: what it drew is missing until it is drawn again.
    pub beginning_lost: bool,
    /// Whether rows at the bottom were left out to hold the limit of the answer.
    pub truncated: bool,
}

/// The place of a cursor, both counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cursor {
    /// Its row; 1 is the top.
    pub row: u16,
    /// Its column; 1 is the left.
    pub column: u16,
    /// Whether it is shown.
    pub visible: bool,
}

/// A screen that follows what a program prints.
#[derive(Debug)]
pub struct Screen {
    emulator: Emulator,
    titles: Titles,
    beginning_lost: bool,
}

impl Screen {
    /// Creates an empty screen; a size out of bounds is cut.
    pub fn new(rows: u16, columns: u16) -> Self {
        Self { emulator: Emulator::new(rows, columns), titles: Titles::default(), beginning_lost: false }
    }

    /// Takes in what a program printed. Characters and sequences may be cut anywhere between two calls.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.titles.feed(bytes);
        self.emulator.feed(bytes);
    }

    /// Changes the size, as a terminal's window does.
    pub fn resize(&mut self, rows: u16, columns: u16) {
        self.emulator.resize(rows, columns);
    }

    /// Changes the size if it is another one.
    pub fn resize_if_other(&mut self, rows: u16, columns: u16) {
        if self.emulator.size() != bounded(rows, columns) {
            self.resize(rows, columns);
        }
    }

    /// Returns the size: rows and columns.
    pub fn size(&self) -> (u16, u16) {
        self.emulator.size()
    }

    /// Notes that output before what comes next is not known.
    pub fn lose_beginning(&mut self) {
        self.beginning_lost = true;
        self.emulator.forget_unfinished();
    }

    /// Returns what cursor keys send now.
    pub fn cursor_keys(&self) -> CursorKeys {
        match self.emulator.has_application_cursor_keys() {
            true => CursorKeys::Application,
            false => CursorKeys::Normal,
        }
    }

    /// Returns about how much memory it takes, in bytes.
    pub fn cost_bytes(&self) -> usize {
        self.emulator.cost_bytes()
    }

    /// Returns what it shows, the lines in at most `max_bytes`.
    pub fn picture(&self, max_bytes: usize) -> Picture {
        let (rows, columns) = self.emulator.size();
        let mut lines = self.emulator.lines();
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        let mut room = max_bytes;
        let fitting = lines.iter().take_while(|line| {
            let fits = line.len() + 3 <= room;
            room = room.saturating_sub(line.len() + 3);
            fits
        });
        let fitting = fitting.count();
        let truncated = fitting < lines.len();
        lines.truncate(fitting);
        let cursor = self.emulator.cursor();
        Picture {
            rows,
            columns,
            lines,
            cursor: Cursor { row: cursor.row, column: cursor.column, visible: cursor.visible },
            title: self.titles.title().map(str::to_owned),
            alternate_screen: self.emulator.is_alternate(),
            beginning_lost: self.beginning_lost,
            truncated,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use bailiwick_platform::emulator::{MAX_COLUMNS, MAX_ROWS};

    fn shown(bytes: &[u8]) -> Picture {
        let mut screen = Screen::new(5, 20);
        screen.feed(bytes);
        screen.picture(10_000)
    }

    #[test]
    fn shows_lines_cursor_title_and_which_screen() {
        let picture = shown(b"\x1b]0;prog\x07one  \r\n\x1b[31mtwo\x1b[0m > ");
        assert_eq!(picture.lines, ["one", "two >"]);
        assert_eq!((picture.cursor.row, picture.cursor.column, picture.cursor.visible), (2, 7, true));
        assert_eq!(picture.title.as_deref(), Some("prog"));
        assert!(!picture.alternate_screen);

        let picture = shown(b"shell$ \x1b[?1049h\x1b[H\x1b[2J\x1b[?25l~ editor \x1b[5;20Hx");
        assert_eq!(picture.lines, ["~ editor", "", "", "", "                   x"]);
        assert!(picture.alternate_screen && !picture.cursor.visible);
        // The cursor waits behind the last column: it is shown on it.
        assert_eq!((picture.cursor.row, picture.cursor.column), (5, 20));
        assert_eq!(shown(b"shell$ \x1b[?1049heditor\x1b[?1049l").lines, ["shell$"]);
    }

    #[test]
    fn draws_what_old_programs_draw() {
        assert_eq!(shown(b"\x1b(0lqk\x1b(B\r\na\x1b[3bb").lines, ["\u{250c}\u{2500}\u{2510}", "aaaab"]);
        assert_eq!(shown(b"a\tb\x1b[4hX\x08\x1b[4l").lines, ["a       bX"]);
    }

    /// It asks what it draws into, switches ways of input on, shows a size, and draws by places and by what it leaves out.
    #[test]
    fn draws_what_a_console_of_windows_draws() {
        let begins =
            "\x1b[1t\x1b[c\x1b[?1004h\x1b[?9001h\x1b[?25l\x1b[2J\x1b[m\x1b[H\x1b]0;C:\\cmd.exe\x07\x1b[?25h";
        let draws =
            "Microsoft\r\n(c)\x1b[4;1HC:\\>\x1b[?25l\x1b[2;1H\x1b[5X\x1b[1;7H\x1b[K\x1b[4;5Hdir\x1b[?25h";
        let picture = shown(format!("{begins}{draws}").as_bytes());
        assert_eq!(picture.lines, ["Micros", "", "", "C:\\>dir"]);
        assert_eq!((picture.cursor.row, picture.cursor.column, picture.cursor.visible), (4, 8, true));
        assert_eq!(picture.title.as_deref(), Some("C:\\cmd.exe"));
        let resized =
            "\x1b[8;3;10t\x1b[?25l\x1b[HC:\\>\x1b[K\r\n\x1b[K\r\n\x1b[K\r\n\x1b[K\x1b[1;5H\x1b[?25h";
        let picture = shown(format!("{begins}{draws}{resized}").as_bytes());
        assert_eq!((picture.lines, picture.cursor.column), (vec!["C:\\>".to_owned()], 5));
    }

    #[test]
    fn characters_may_be_cut_anywhere() {
        let output = "gr\u{fc}\u{df} \u{4f60}\u{597d} \u{1f600}!".as_bytes();
        let whole = shown(output);
        assert_eq!(whole.lines, ["gr\u{fc}\u{df} \u{4f60}\u{597d} \u{1f600}!"]);
        for cut in 0..output.len() {
            let mut screen = Screen::new(5, 20);
            screen.feed(&output[..cut]);
            screen.feed(&output[cut..]);
            assert_eq!(screen.picture(10_000), whole, "{cut}");
        }
        assert_eq!(shown(b"a\xffb\xc3").lines, ["a\u{fffd}b"]);
    }

    #[test]
    fn repeating_beyond_the_screen_ends_where_it_would() {
        for count in [1, 19, 99, 100, 101, 1_234, 65_535] {
            let repeated = format!("ab\x1b[{count}b");
            let written = format!("ab{}", "b".repeat(count));
            assert_eq!(shown(repeated.as_bytes()), shown(written.as_bytes()), "{count}");
        }
    }

    #[test]
    fn tells_what_cursor_keys_send() {
        let mut screen = Screen::new(5, 20);
        assert_eq!(screen.cursor_keys(), CursorKeys::Normal);
        screen.feed(b"\x1b[?1h\x1b=");
        assert_eq!(screen.cursor_keys(), CursorKeys::Application);
        screen.feed(b"\x1b[?1l\x1b>");
        assert_eq!(screen.cursor_keys(), CursorKeys::Normal);
    }

    #[test]
    fn the_answer_is_bounded_and_says_so() {
        let mut screen = Screen::new(5, 20);
        screen.feed(b"0123456789\r\n0123456789\r\n0123456789");
        let picture = screen.picture(30);
        assert_eq!((picture.lines.len(), picture.truncated), (2, true));
        screen.lose_beginning();
        assert!(screen.picture(10_000).beginning_lost);
        let huge = Screen::new(u16::MAX, u16::MAX);
        let picture = huge.picture(10);
        assert_eq!((picture.rows, picture.columns, picture.truncated), (MAX_ROWS, MAX_COLUMNS, false));
        assert!(huge.cost_bytes() < 32 << 20, "{}", huge.cost_bytes());
    }

    proptest! {
        #[test]
        fn no_output_and_no_size_makes_it_fail(
            pieces in proptest::collection::vec(
                prop_oneof![
                    proptest::collection::vec(any::<u8>(), 0..40),
                    "\\x1b\\[[?!>]?[0-9]{0,5}(;[0-9]{0,5}){0,3}[@-~]".prop_map(String::into_bytes),
                    "(\\x1b[78DEHMc=>]|\\x1b[()][0AB]|\\x1b#8|\u{4f60}|\u{301}|\u{1f600}|[a-z ]|\r\n|\t|\x08){0,8}"
                        .prop_map(String::into_bytes),
                ],
                0..40,
            ),
            sizes in proptest::collection::vec((0_u16..12, 0_u16..30), 1..6),
        ) {
            let mut screen = Screen::new(sizes[0].0, sizes[0].1);
            for (at, piece) in pieces.iter().enumerate() {
                screen.feed(piece);
                if at % 7 == 6 {
                    let (rows, columns) = sizes[at / 7 % sizes.len()];
                    screen.resize(rows, columns);
                }
            }
            let picture = screen.picture(usize::MAX);
            prop_assert!(picture.lines.len() <= usize::from(picture.rows));
            prop_assert!(picture.lines.iter().all(|line| !line.contains(|it: char| it.is_control())));
            prop_assert!((1..=picture.rows).contains(&picture.cursor.row));
            prop_assert!((1..=picture.columns).contains(&picture.cursor.column));
        }
    }
}
