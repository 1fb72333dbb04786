//! Every command on a real terminal, as the screen shows it: `tests/transcripts/*.txt`, written by `UPDATE=1`.
//!
//! A command runs as a person runs it: in a session of its own, on a terminal that controls it, with keys pressed
//! when it asks. What it prints goes through the product's own emulator; what differs from run to run is replaced by
//! something of the same length before, so that lines break where they really do.

mod errors;
mod levels;
mod lists;
mod place;
mod setup;
mod start;
mod status;
mod transcript;
