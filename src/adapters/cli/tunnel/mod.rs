//! `tunnel …`: the public URL under which clients elsewhere reach this computer, and the programs that forward it.

mod manual;
mod open;
mod run;

pub use run::run;
