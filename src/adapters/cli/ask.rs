//! Questions to the person at the terminal.

use std::io::{self, BufRead, IsTerminal};

use super::printer::Printer;

/// Tells whether there is a person to ask: a terminal to read from and one to write to.
pub fn is_possible(printer: Printer) -> bool {
    !printer.json && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks; an empty answer is a yes, no answer is a no.
pub fn yes(printer: Printer, question: &str) -> bool {
    printer.talk(&format!("{question} [Y/n]"));
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer).unwrap_or(0);
    read > 0 && matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes")
}
