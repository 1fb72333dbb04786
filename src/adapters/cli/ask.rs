//! Questions to the user at the terminal, each answered by a line.
//!
//! The terminal stays in its own mode, in which it lets the line be edited itself: nothing has to be put back,
//! however a question ends, and nothing is needed of a terminal that the simplest one cannot do.

use std::io::{self, BufRead, IsTerminal};

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::tty;

use super::printer::Printer;
use crate::installation::runtime;

/// Returns whether there is a person to ask: a terminal to read from and one to write to.
pub fn is_possible(printer: Printer) -> bool {
    !printer.json && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks for a line, and gives it without blanks around it. What was typed before the question is no answer to it.
///
/// # Errors
/// `cancelled` after Ctrl-C or Ctrl-D, and where the terminal is gone.
pub fn line(printer: Printer, question: &str) -> Result<String, Failure> {
    let runtime = runtime::small()?;
    let answer = runtime.block_on(async {
        let stopped = runtime::asked_to_stop();
        tty::forget_typed();
        printer.prompt(question);
        // Given up by Ctrl-C it reads on, until the process ends, which it does then.
        let read = tokio::task::spawn_blocking(|| {
            let mut line = Vec::new();
            let count = io::stdin().lock().read_until(b'\n', &mut line).unwrap_or(0);
            (count > 0).then(|| String::from_utf8_lossy(&line).trim().to_owned())
        });
        tokio::select! {
            line = read => line.ok().flatten(),
            () = stopped => None,
        }
    });
    runtime.shutdown_background();
    answer.ok_or_else(|| {
        // The cursor is behind the question.
        printer.talk("");
        Failure::new(ErrorCode::Cancelled, "the question was left without an answer")
    })
}

/// Asks for an approval, which an empty line is too.
///
/// # Errors
/// As [`line`].
pub fn yes(printer: Printer, question: &str) -> Result<bool, Failure> {
    loop {
        match line(printer, &format!("{question} [Y/n] "))?.to_lowercase().as_str() {
            "" | "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            _ => printer.talk("Answer y or n; Ctrl-C ends."),
        }
    }
}

/// Something to choose: the word for it, and what it means.
pub type Choice = (&'static str, &'static str);

/// Asks for one of several things, by number or word; an empty line chooses `usual`. Returns its place.
///
/// # Errors
/// As [`line`].
pub fn choice(printer: Printer, question: &str, choices: &[Choice], usual: usize) -> Result<usize, Failure> {
    let width = choices.iter().map(|(word, _)| word.len()).max().unwrap_or(0);
    printer.talk(question);
    for (place, (word, meaning)) in choices.iter().enumerate() {
        printer.talk(&format!("  {}  {word:<width$}  {meaning}", place + 1));
    }
    let count = choices.len();
    loop {
        let answer = line(printer, &format!("A number or a word [{}] ", choices[usual].0))?;
        if answer.is_empty() {
            return Ok(usual);
        }
        let number = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let word = choices.iter().position(|(word, _)| word.eq_ignore_ascii_case(&answer));
        match number.filter(|place| *place < count).or(word) {
            Some(place) => return Ok(place),
            None => printer.talk(&format!("Answer with a number from 1 to {count}, or a word; Ctrl-C ends.")),
        }
    }
}
