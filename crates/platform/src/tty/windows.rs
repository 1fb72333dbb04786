//! The console of this process: `CONIN$` and `CONOUT$`, wherever the standard streams lead.
//!
//! Keys are read as they are pressed, so that a question can be given up: whether there are any is asked a few times a
//! second, for as long as a person is being asked. The console's mode is given back as it was found.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal};
use std::os::windows::io::{AsHandle, BorrowedHandle};
use std::sync::LazyLock;
use std::time::Duration;

use super::Line;
use super::console;
use super::typing::{Step, Typing};

/// How long keys wait at most until they are checked.
const PAUSE: Duration = Duration::from_millis(15);
/// `ENABLE_PROCESSED_INPUT`, `ENABLE_LINE_INPUT`, `ENABLE_ECHO_INPUT`, `ENABLE_VIRTUAL_TERMINAL_INPUT`: what makes
/// signals, lines and sequences of keys.
const COOKED: u32 = 0x1 | 0x2 | 0x4 | 0x200;
/// `ENABLE_PROCESSED_OUTPUT` and `ENABLE_VIRTUAL_TERMINAL_PROCESSING`: sequences for colours are no text.
const SEQUENCES: u32 = 0x1 | 0x4;

/// Returns the columns of the console that standard output is; `None` where it is none.
pub fn output_columns() -> Option<u16> {
    let columns = console::columns(io::stdout().as_handle()).ok()?;
    u16::try_from(columns).ok().filter(|columns| *columns > 0)
}

/// Returns whether the consoles that the standard streams are take sequences for colours, and has them do so. A stream
/// that is no console takes what it gets.
pub fn shows_colours() -> bool {
    static SHOWS: LazyLock<bool> = LazyLock::new(|| {
        let takes = |stream: BorrowedHandle<'_>| match console::mode(stream) {
            Ok(mode) => mode & SEQUENCES == SEQUENCES || console::set_mode(stream, mode | SEQUENCES).is_ok(),
            Err(_) => true,
        };
        let out = takes(io::stdout().as_handle());
        takes(io::stderr().as_handle()) && out
    });
    *SHOWS
}

/// Forgets what was typed at the console of standard input and not read yet. Elsewhere it does nothing.
pub fn forget_typed() {
    let _ = console::forget(io::stdin().as_handle());
}

/// The console of this process.
#[derive(Debug)]
pub struct Tty {
    keys: File,
    screen: File,
}

impl Tty {
    /// Opens the console.
    ///
    /// # Errors
    /// When there is none, and in windows that are no console (those of MSYS2): nobody would see the question.
    pub fn open() -> io::Result<Self> {
        let stdin = io::stdin();
        if stdin.is_terminal() && console::mode(stdin.as_handle()).is_err() {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "this window is no console of Windows; use Windows Terminal, or start it by `winpty`",
            ));
        }
        let open = |name: &str| OpenOptions::new().read(true).write(true).open(name);
        let (keys, screen) = (open("CONIN$")?, open("CONOUT$")?);
        console::mode(keys.as_handle())?;
        let mode = console::mode(screen.as_handle())?;
        // An old console shows the sequences; the text can be read all the same.
        let _ = console::set_mode(screen.as_handle(), mode | SEQUENCES);
        Ok(Self { keys, screen })
    }

    /// Writes a text.
    ///
    /// # Errors
    /// When the console is gone.
    #[expect(clippy::unused_async, reason = "it is the same call on every system")]
    pub async fn write(&self, text: &str) -> io::Result<()> {
        let units: Vec<u16> = text.encode_utf16().collect();
        let mut rest = units.as_slice();
        while !rest.is_empty() {
            match console::write(self.screen.as_handle(), rest)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                written => rest = rest.get(written..).unwrap_or_default(),
            }
        }
        Ok(())
    }

    /// Writes a question and reads a line, which is not shown. What was typed before the question is not taken for an answer.
    ///
    /// # Errors
    /// When the console is gone.
    pub async fn ask(&self, question: &str) -> io::Result<Line> {
        let _quiet = RawTerminal::begin(self.keys.as_handle())?;
        self.write(question).await?;
        let mut typing = Typing::default();
        let mut text = Text::default();
        let line = 'line: loop {
            let Some(key) = self.key().await? else { break Line::Interrupted };
            for _ in 0..key.times {
                let Some(character) = text.take(key.unit) else { continue };
                let mut bytes = [0; 4];
                for byte in character.encode_utf8(&mut bytes).bytes() {
                    match typing.take(end_of_file(byte)) {
                        Step::More => {}
                        Step::Full => self.write("\x07").await?,
                        Step::Ended(line) => break 'line line,
                    }
                }
            }
        };
        self.write("\r\n").await?;
        Ok(line)
    }

    /// Waits for a key that stands for a character; `None` when the console is gone.
    async fn key(&self) -> io::Result<Option<console::Key>> {
        loop {
            match console::has_input(self.keys.as_handle()) {
                Ok(false) => tokio::time::sleep(PAUSE).await,
                Ok(true) => {
                    if let Some(key) = console::read(self.keys.as_handle())? {
                        return Ok(Some(key));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }
}

/// Ctrl-Z is to this system what Ctrl-D is elsewhere.
const fn end_of_file(byte: u8) -> u8 {
    if byte == 0x1a { 0x04 } else { byte }
}

/// Units of UTF-16 on their way to characters.
#[derive(Debug, Default)]
struct Text {
    /// The first half of a character.
    high: Option<u16>,
}

impl Text {
    fn take(&mut self, unit: u16) -> Option<char> {
        let high = self.high.take();
        if (0xd800..0xdc00).contains(&unit) {
            self.high = Some(unit);
            return None;
        }
        let units = high.into_iter().chain([unit]);
        // Half a character is none.
        char::decode_utf16(units).last().and_then(Result::ok)
    }
}

/// A console that hands every key on as it is pressed, shows none, and makes no signals of them.
struct RawTerminal<'a> {
    keys: BorrowedHandle<'a>,
    before: u32,
}

impl<'a> RawTerminal<'a> {
    fn begin(keys: BorrowedHandle<'a>) -> io::Result<Self> {
        let before = console::mode(keys)?;
        // From here on it is given back, whatever happens.
        let guard = Self { keys, before };
        console::set_mode(keys, before & !COOKED)?;
        console::forget(keys)?;
        Ok(guard)
    }
}

impl Drop for RawTerminal<'_> {
    fn drop(&mut self) {
        // Forgotten, so that what was typed behind Enter or Ctrl-C is not run by a shell.
        let _ = console::forget(self.keys);
        let _ = console::set_mode(self.keys, self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_characters_are_put_together_and_stray_ones_left_out() {
        let mut text = Text::default();
        let read: Vec<Option<char>> =
            [0x61, 0xd83d, 0xde00, 0xdc00, 0xd800, 0x62].into_iter().map(|unit| text.take(unit)).collect();
        assert_eq!(read, [Some('a'), None, Some('\u{1f600}'), None, None, Some('b')]);
        assert_eq!((end_of_file(0x1a), end_of_file(b'a')), (0x04, b'a'));
    }

    /// Asks at a console, and presses keys as soon as the question is shown. Returns the answer, and the screen then.
    async fn answered(tty: &Tty, question: &str, keys: &str) -> (Line, String) {
        let press = async {
            while !console::staged::shown(tty.screen.as_handle()).expect("it can be read").contains(question)
            {
                tokio::time::sleep(PAUSE).await;
            }
            console::staged::press(tty.keys.as_handle(), keys).expect("it takes keys");
        };
        let (line, ()) = tokio::join!(tty.ask(question), press);
        let shown = console::staged::shown(tty.screen.as_handle()).expect("it can be read");
        (line.expect("the console is there"), shown)
    }

    #[test]
    fn a_console_is_asked_shows_what_it_should_and_is_given_back() {
        // A process has one console at most: there is one already where this is run at one. Wine makes none without a
        // display; there it is tested where the tests are run at a terminal.
        let made = console::staged::make();
        let tty = match Tty::open() {
            Ok(tty) => tty,
            Err(error) => {
                let by_hand = io::stdin().is_terminal();
                assert!(made.is_err() || by_hand, "a console was made, but does not open: {error}");
                return;
            }
        };
        let before = console::mode(tty.keys.as_handle()).expect("it is a console");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let (line, shown) = answered(&tty, "Name? ", "Annx\x08e\r").await;
            assert!(matches!(&line, Line::Typed(line) if line.bytes() == b"Anne"), "{line:?}");
            assert!(shown.contains("Name? ") && !shown.contains("Ann"), "{shown:?}");
            let (line, shown) = answered(&tty, "Secret? ", "h\u{fc}sh\r").await;
            assert!(matches!(&line, Line::Typed(line) if line.bytes() == "h\u{fc}sh".as_bytes()), "{line:?}");
            assert!(!shown.contains("h\u{fc}"), "{shown:?}");
            for (question, keys) in [("First? ", "ab\x03"), ("Second? ", "\x1a"), ("Third? ", "\x04")] {
                let (line, _) = answered(&tty, question, keys).await;
                assert!(matches!(line, Line::Interrupted), "{question} {line:?}");
            }
        });
        assert_eq!(console::mode(tty.keys.as_handle()).expect("it is a console"), before);
    }
}
