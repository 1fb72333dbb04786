//! The documents are true: their links lead somewhere, their commands are understood, and what they show was printed.

mod book;
mod command_lines;
mod links;
// The pages are read by the programs of Unix that show manuals.
#[cfg(target_os = "linux")]
mod manual;
mod markdown;
// Guides show the terminal of a computer with Linux.
#[cfg(target_os = "linux")]
mod shown;
// It is a terminal of Linux.
#[cfg(target_os = "linux")]
mod terminal;
