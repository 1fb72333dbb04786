//! One process that lasts, on Windows: this program, started again without a console and on its own.
//!
//! It holds the job of the plan, so that nothing of the plan outlives it, and writes and listens as keepers do elsewhere.

mod connection;
mod listener;
mod input;
mod life;
mod listening;
mod start;
mod terminal;

pub(super) use life::keep;
pub(super) use start::start;
