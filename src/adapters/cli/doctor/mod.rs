//! `doctor`: looks at everything that Bailiwick needs, says what is wrong and how to fix it, and fixes what is safe to fix.
//!
//! A check says `ok` only of what it looked at. A repair never guesses what the user meant, is shown as a diff, and
//! keeps what was there, so that `--undo` can take it back.

mod prove;
mod run;

pub use prove::run as prove;
pub use run::{asked, run};
