//! `completions`: made from the command line's own definition; and what only this computer knows, asked at each TAB.
//!
//! The scripts for bash, zsh and fish ask `--values -- WORDS` of `completions`, which is hidden, which values fit behind these words: the
//! ids of scopes, processes and operations, the names of tokens. It is quick, says nothing of what is wrong, and
//! knows no secret. In other shells completions are what the definition says.

mod script;
mod values;
mod wanted;

pub use script::{CompletionsOutput, run};
pub use values::{asked, values};
