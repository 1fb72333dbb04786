//! What is known about programs: one table, a file for each family.
//!
//! A row says which option, subcommand or word of a program starts other programs, loads a config, writes
//! elsewhere or acts on something outside, what happens then, and why. Each row carries a sample that its
//! test checks. A program without a profile is judged by the scope's rules alone.

mod archive;
mod cargo;
mod containers;
mod files;
mod git;
mod git_config;
mod interpreters;
mod javascript;
mod python;
mod remote;
mod row;
mod table;
mod tools;
mod wrappers;

#[cfg(test)]
mod tests;

pub use git::as_push;
pub use row::{KnownOption, OptionValue, Position, Profile, Row, RowEffect, RowPattern, Starts, Syntax};
use row::{ask, ask_always, attached, code, flag, held, never, refuse, row, value};
pub use table::{SAME_AS, all, find};
