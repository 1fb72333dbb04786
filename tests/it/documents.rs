//! The documents are true: their links lead somewhere, their commands are understood, and what they show was printed.

mod book;
mod command_lines;
mod links;
mod manual;
mod markdown;
mod shown;
mod terminal;
