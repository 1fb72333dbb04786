//! `undo`: takes back what clients changed in files, for the user at this computer.
//!
//! Finds the changes in the store, and has `history.undo` take them back: in the running service, or without one.

mod args;
mod run;

pub use args::UndoArgs;
pub use run::run;
