//! `bundle`: one file for anyone who helps when something is wrong, without secrets and without the content of files.
//!
//! Everything in it passes the redaction of the history once more, and the manifest says what it holds and what was
//! left out. It goes nowhere on its own: the user looks at it and sends it.

mod inspect;
mod parts;
mod run;

pub use inspect::BundleInspectOutput;
pub use run::{BundleOutput, run};
