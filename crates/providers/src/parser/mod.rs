//! Parsing in a process of its own. Grammars are C code that a text can crash, hold for ever or have swallow all memory:
//! then a worker dies, and the service says so of that text.
//!
//! ```text
//! ParserPool   what the rest of the service asks: at most two workers, started when needed, killed at their deadlines
//! lane         the pipes of one worker
//! message      what goes through them
//! work         what a worker does with a message: `syntax::check`, `code::definitions`, `code::references`
//! serve        the worker itself
//! ```
//!
//! A worker is this program again, without files and network, with limited memory (`platform::launch::worker`). What
//! it answers is checked as the text it has read would be: it may be the text that speaks.

mod failed_texts;
mod lane;
mod message;
mod pool;
mod serve;
mod work;

pub use pool::ParserPool;
pub use serve::serve_if_asked;
