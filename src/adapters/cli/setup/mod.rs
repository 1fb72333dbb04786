//! `setup` and `here`: the config, one open folder, and the clients that are to use it.
//!
//! Everything is asked and shown before anything is written; a question that is not answered leaves nothing behind.

mod questions;
mod run;
mod shown;

use crate::scope_setup::{plan, setup_output};

pub use run::run;
pub use setup_output::SetupOutput;
