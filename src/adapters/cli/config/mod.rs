//! `config …`: which files are in force, what they say, what is wrong in them, and changing them by hand.
//!
//! Nothing here is repaired: that is `doctor --fix`. What is written was checked as the service would check it.

mod edit;
mod path;
mod run;
mod show;
mod undo;
mod validate;

pub use run::run;
