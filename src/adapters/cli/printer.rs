//! Where text for the user goes. The only place of the crate that writes to the terminal.
//!
//! Standard output carries data, standard error carries talk. A reader that closes its end early is
//! no error. Text from files, clients and the history passes [`printable`] first, so that it cannot
//! steer the terminal.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

use serde::Serialize;
use serde_json::{Value, json};

use bailiwick_contract::Failure;
use bailiwick_platform::tty;

use super::args::ColorWhen;
use crate::text_layout::fold::{folded, folded_to};
use crate::text_layout::table::width;

pub use crate::installation::text::{one_line, printable, to_user, with_nearest};
pub use crate::text_layout::fold::labelled;
pub use crate::text_layout::table::{Fit, Table, table};

/// How wide help is where there is no terminal.
const HELP_COLUMNS: usize = 80;

/// What a command hands back: the same facts for a person and for a program.
#[derive(Debug)]
pub struct Report {
    /// For a person; ends with a line break unless empty.
    pub text: String,
    /// For a program, with `--json`.
    pub json: Value,
    /// Talk that goes to standard error, such as hints; only without `--json`.
    pub notes: Vec<String>,
    /// Whether the text is what was asked for, to be copied or saved: then no line of it is folded.
    pub is_verbatim: bool,
    /// The exit code.
    pub exit: u8,
}

impl Report {
    /// Creates the report of a command that succeeded.
    pub fn new(text: impl Into<String>, json: Value) -> Self {
        Self { text: text.into(), json, notes: Vec::new(), is_verbatim: false, exit: 0 }
    }

    /// Creates the report of a command that succeeded, whose facts have a type and so a schema.
    pub fn of(text: impl Into<String>, output: &impl Serialize) -> Self {
        Self::new(text, serde_json::to_value(output).expect("an output has a JSON form"))
    }

    /// Has the text printed as it is, however wide the terminal is.
    #[must_use]
    pub fn verbatim(mut self) -> Self {
        self.is_verbatim = true;
        self
    }

    /// Adds a line of talk.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

/// Writes to the two standard streams.
#[derive(Debug, Clone, Copy)]
pub struct Printer {
    /// Whether data goes out as JSON.
    pub json: bool,
}

impl Printer {
    /// Writes a whole report and gives its exit code.
    pub fn report(self, report: &Report) -> u8 {
        if self.json {
            self.data(&format!("{}\n", report.json));
        } else {
            self.data(&if report.is_verbatim { report.text.clone() } else { folded(&report.text) });
            for note in &report.notes {
                self.talk(note);
            }
        }
        report.exit
    }

    /// Writes a failure and gives its exit code.
    pub fn failure(self, failure: &Failure) -> u8 {
        if self.json {
            self.data(&format!("{}\n", json!({"ok": false, "error": failure.to_json()})));
        } else {
            self.talk(&failure_text(failure));
        }
        failure.code.facts().exit_code
    }

    /// Writes text for people to standard output, folded to the width of the terminal.
    pub fn text(self, text: &str) {
        self.data(&folded(text));
    }

    /// Writes help to standard output: for a pager it is folded too.
    pub fn help(self, text: &str) {
        self.data(&folded_to(text, width().unwrap_or(HELP_COLUMNS)));
    }

    /// Writes data to standard output as it is.
    pub fn data(self, text: &str) {
        // Nobody is left to be told of a closed pipe; a full disk shows in the reader's own checks.
        let _ = self.try_data(text);
    }

    /// As [`Printer::data`], for commands that continue until nobody reads any more.
    ///
    /// # Errors
    /// When standard output is closed, or full.
    pub fn try_data(self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush())
    }

    /// Writes a question to standard error, behind which the user answers.
    pub fn prompt(self, question: &str) {
        let mut out = io::stderr().lock();
        let _ = out.write_all(folded(question).as_bytes()).and_then(|()| out.flush());
    }

    /// Writes one line of talk to standard error, folded to the width of the terminal.
    pub fn talk(self, line: &str) {
        let _ = writeln!(io::stderr().lock(), "{}", folded(line));
    }
}

/// Writes out a failure: what stood in the way, then what to do.
pub fn failure_text(failure: &Failure) -> String {
    let mut text = format!("{} {}", paint(Paint::Bad, "error:"), printable(&failure.message));
    if let Some(stage) = failure.stage() {
        text.push_str(&format!(" ({}, refused at stage {})", failure.code, printable(stage)));
    }
    for (index, hint) in failure.hints.iter().enumerate() {
        let gap = if index == 0 { "\n\n" } else { "\n" };
        text.push_str(&format!("{gap}{} {}", paint(Paint::Hint, "hint:"), printable(&to_user(hint))));
    }
    text
}

/// The few colours; everything is understandable without them.
#[derive(Debug, Clone, Copy)]
pub enum Paint {
    /// Something is wrong.
    Bad,
    /// Something is valid.
    Good,
    /// Advice.
    Hint,
}

/// When colour is used, by the command line.
static COLOR: OnceLock<ColorWhen> = OnceLock::new();

/// Notes when colour is used, once.
pub fn use_color(when: ColorWhen) {
    let _ = COLOR.set(when);
}

/// Returns whether standard error is a terminal that wants colour.
///
/// # Source
/// <https://no-color.org>: any non-empty `NO_COLOR` turns colour off.
pub fn has_colour() -> bool {
    let by_terminal = || {
        let off = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || env::var_os("TERM").is_some_and(|value| value == "dumb")
            || !io::stderr().is_terminal()
            || !io::stdout().is_terminal()
            || !tty::shows_colours();
        !off
    };
    match COLOR.get().copied().unwrap_or_default() {
        ColorWhen::Auto => by_terminal(),
        ColorWhen::Always => true,
        ColorWhen::Never => false,
    }
}

/// Colours a text if standard error is a terminal that wants colour.
pub fn paint(paint: Paint, text: &str) -> String {
    if !has_colour() {
        return text.to_owned();
    }
    let code = match paint {
        Paint::Bad => 31,
        Paint::Good => 32,
        Paint::Hint => 36,
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}
