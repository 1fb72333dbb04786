//! `setup` and `here`: the config, one open folder, and the clients that are to use it.
//!
//! Everything is asked and shown before anything is written; a question that is not answered leaves nothing behind.

mod questions;
mod run;
mod plan_text;

pub use run::run;
