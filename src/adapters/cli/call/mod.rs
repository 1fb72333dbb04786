//! `call`: any operation from the command line, through the same door as every client.

mod fields;
mod help;
mod render;
mod submit;

pub use fields::Words;
pub use submit::{run, wants_json};
