//! A transcript: commands and what the screen showed of them, compared with the committed one.

use std::fmt::Write;
use std::fs;

use bailiwick::platform::emulator::Emulator;
use regex::{Captures, Regex};

use super::place::{SHOWN_HOME, TranscriptFixture};
use crate::source::repository;
use support::pty::Pty;

/// High enough for all that one command prints.
const ROWS: u16 = 200;

/// Ctrl-C, Ctrl-D and Enter, as bytes.
pub const CTRL_C: &str = "\x03";
pub const CTRL_D: &str = "\x04";
pub const ENTER: &str = "\r";

/// A transcript that grows, and is compared when it is ended.
pub struct Transcript<'p> {
    place: &'p TranscriptFixture,
    name: &'static str,
    columns: u16,
    variables: Vec<(&'static str, &'static str)>,
    folder: &'static str,
    text: String,
}

impl<'p> Transcript<'p> {
    /// Begins one, with what it shows.
    pub fn begin(place: &'p TranscriptFixture, name: &'static str, shows: &str) -> Self {
        let text = format!("# {shows}\n");
        Self { place, name, columns: 80, variables: Vec::new(), folder: "", text }
    }

    /// On a terminal of so many columns, from now on.
    pub fn columns(&mut self, columns: u16) -> &mut Self {
        self.columns = columns;
        writeln!(self.text, "\n## {columns} columns").expect("a string grows");
        self
    }

    /// With a variable, from now on.
    pub fn with(&mut self, name: &'static str, value: &'static str) -> &mut Self {
        self.variables.push((name, value));
        self
    }

    /// In a folder of the home folder, from now on.
    pub fn in_folder(&mut self, folder: &'static str) -> &mut Self {
        self.folder = folder;
        self
    }

    /// Says something between two commands.
    pub fn note(&mut self, text: &str) -> &mut Self {
        writeln!(self.text, "\n## {text}").expect("a string grows");
        self
    }

    /// Starts a command on the terminal.
    pub fn start(&self, words: &[&str]) -> Pty {
        let mut command = self.place.command(words);
        command.current_dir(self.place.path(self.folder)).envs(self.variables.iter().copied());
        Pty::start(&command, ROWS, self.columns)
    }

    /// Runs a command to its end, pressing keys as it asks: for each a part of the question, and the keys.
    pub fn run(&mut self, words: &[&str], answers: &[(&str, &str)]) -> i32 {
        let mut terminal = self.start(words);
        for (question, keys) in answers {
            terminal.answer(question, keys);
        }
        self.ended(words, terminal)
    }

    /// The terminal breaks lines that are too wide for it anywhere: none may be but what is one word.
    fn assert_whole_words(&self, words: &[&str], printed: &[u8]) {
        let text = without_colours(&String::from_utf8_lossy(printed));
        for line in text.lines() {
            let is_wide = line.chars().count() > usize::from(self.columns);
            assert!(!is_wide || !line.trim().contains(' '), "{words:?} at {}: {line}", self.columns);
        }
    }

    /// Takes in a command that was started, when it has ended.
    pub fn ended(&mut self, words: &[&str], terminal: Pty) -> i32 {
        let (exit, printed) = terminal.ended();
        let printed = without_volatile(&printed, self.place);
        let shown = shown(&printed, self.columns);
        if self.columns >= 80 {
            self.assert_whole_words(words, &printed);
        }
        let variables: String =
            self.variables.iter().map(|(name, value)| format!("{name}={value} ")).collect();
        let quote =
            |word: &&str| if word.contains([' ', '*']) { format!("'{word}'") } else { (*word).to_owned() };
        let words = words.iter().map(quote).collect::<Vec<_>>().join(" ");
        write!(self.text, "\n$ {variables}bailiwick {words}\n{shown}").expect("a string grows");
        if exit != 0 {
            writeln!(self.text, "[exit {exit}]").expect("a string grows");
        }
        exit
    }

    /// Returns what it shows so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Compares it with the committed one, or writes that one.
    pub fn end(&self) {
        let path = repository().join(format!("tests/transcripts/{}.txt", self.name));
        if std::env::var("UPDATE").is_ok_and(|value| value == "1") {
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(&path, &self.text).expect("written");
            return;
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        if committed == self.text {
            return;
        }
        let (mut was, mut is) = (committed.lines(), self.text.lines());
        let differs = loop {
            match (was.next(), is.next()) {
                (None, None) => break String::from("at the end"),
                (one, other) if one != other => break format!("\n- {one:?}\n+ {other:?}"),
                _ => {}
            }
        };
        panic!(
            "tests/transcripts/{}.txt: {differs}\n\nUPDATE=1 writes it; read what it wrote. All of it:\n{}",
            self.name, self.text
        );
    }
}

/// Removes the sequences for colours.
fn without_colours(text: &str) -> String {
    Regex::new("\x1b\\[[0-9;]*m").expect("the pattern is fixed").replace_all(text, "").into_owned()
}

/// Returns what a terminal of so many columns shows in the end.
fn shown(printed: &[u8], columns: u16) -> String {
    let mut emulator = Emulator::new(ROWS, columns);
    emulator.feed(printed);
    let lines = emulator.lines();
    let count = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    assert!(count < usize::from(ROWS), "more was printed than the terminal shows");
    lines[..count].iter().map(|line| format!("{line}\n")).collect()
}

/// Replaces what differs from run to run by something of the same length.
fn without_volatile(printed: &[u8], place: &TranscriptFixture) -> Vec<u8> {
    let home = place.home().to_str().expect("UTF-8");
    let mut text = String::from_utf8_lossy(printed).into_owned();
    let mut replace = |pattern: &str, by: &dyn Fn(&Captures<'_>) -> String| {
        text = Regex::new(pattern).expect("the pattern is fixed").replace_all(&text, by).into_owned();
    };
    // Where there is little room, only the beginning of it is shown.
    let cut = home[.."/tmp/bw-".len()].to_owned() + "[0-9A-Z]{0,6}";
    replace(&cut, &|found| SHOWN_HOME[..found[0].len()].to_owned());
    replace(r"bwl_[A-Za-z0-9_-]{64}", &|_| format!("bwl_{}", "x".repeat(64)));
    let id = "01ABCDEFGHJKMNPQRSTVWXYZ00";
    replace(r"\b[0-9A-HJKMNP-TV-Z]{26}\b", &|_| id.to_owned());
    replace(r"\b01[0-9A-HJKMNP-TV-Z]{4,23}…", &|found| format!("{}…", &id[..found[0].len() - "…".len()]));
    replace(r"\b[0-9a-f]{64}\b", &|_| "0".repeat(64));
    replace(r"\b20\d\d-\d\d-\d\d", &|_| "2026-01-01".to_owned());
    replace(r"\b\d\d:\d\d:\d\d\b", &|_| "12:00:00".to_owned());
    // The short id of a row, behind its time.
    replace(r"(12:00:00  )[0-9A-HJKMNP-TV-Z]{6}  ", &|found| format!("{}{}  ", &found[1], &id[20..]));
    replace(r"\.\d{3}Z", &|_| ".000Z".to_owned());
    // Each of these is at the end of a line, or in a column that is wide enough for all of them.
    replace(r"[ \d.]{5} ms", &|_| "  1.0 ms".to_owned());
    // A narrow terminal has the number on the next line.
    replace(r"process(\s+)\d+", &|found| format!("process{}4242", &found[1]));
    replace(r"127\.0\.0\.1:\d+", &|_| "127.0.0.1:3939".to_owned());
    // What `doctor` says of this computer.
    replace(r"\d+ MiB are free", &|_| "4242 MiB are free".to_owned());
    replace(r"computer {9}\S+ \(", &|_| "computer         desk (".to_owned());
    let mark = r"  (?:\x1b\[\d+m)?(?:ok  |warn)(?:\x1b\[0m)?  ";
    let user = r"(?:it runs as |Bailiwick runs as root)(?s:.*?)\r?\n(  \S|  \x1b)";
    replace(&format!("{mark}{user}"), &|found| format!("  ok    it runs as lovelace\r\n{}", &found[1]));
    let git = r"(?:git version |scope `project` grants what needs git)(?s:.*?)(\r?\n\r?\n)";
    replace(&format!("{mark}{git}"), &|found| {
        format!("  ok    git version 2.0.0 (/usr/bin/git){}", &found[1])
    });
    // It warns where root runs it.
    replace(r"No problems:(\S*) \d+ checks", &|found| format!("10 ok, 1 warning, 0 failed{}", &found[1]));
    replace(r"\d+ ok, \d+ warnings?", &|_| "10 ok, 1 warning".to_owned());
    replace(&regex::escape(env!("CARGO_PKG_VERSION")), &|_| "0.0.0".to_owned());
    text.into_bytes()
}
