//! Asks a vision model that the user configured where something is on a picture.
//!
//! What the model answers is a stranger's word: `answer` reads places out of it and nothing else, and refuses all that is not within the
//! picture; `mapping` finds them on the display. `wire` has the formats of the services, `key` reads the key where the config refers to it.

mod answer;
mod grounder;
mod key;
mod mapping;
mod wire;

pub use answer::{MAX_PLACES, ModelPlace};
pub use grounder::{Grounder, MAX_DESCRIPTION};
pub use mapping::{LONG_EDGE, on_display, sendable};
