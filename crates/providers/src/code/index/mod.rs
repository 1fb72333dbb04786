//! An index of the definitions beneath each root of a scope, kept in the state folder.
//!
//! ```text
//! names, entry, table   what an index holds
//! disk, file            an index as a file
//! watched               which folders have changed
//! look                  reading what has changed
//! question              choosing and ranking by name
//! root                  the index of one root, brought up to date
//! shown                 reading a hit from its file, at the time of the answer
//! indexes               all indexes of a service; what is not used goes
//! ```
//!
//! An index holds what a search would: nothing closed, hidden or ignored. It only says where to look: what is
//! answered is read from its file through the scope's door. It is never in a scope, and never trusted: a broken or
//! foreign one is made again.

mod disk;
mod entry;
mod file;
mod indexes;
mod look;
mod names;
mod question;
mod root;
mod hit;
mod table;
mod watched;

pub use hit::SymbolHit;
pub use indexes::{Answer, NameDefinitions, SymbolIndexes};
pub(crate) use look::{below, lock};
pub use question::{Match, SymbolQuery, WantedName};
pub use root::{FreshnessCheck, IndexStatus};
pub(crate) use watched::{Depth, RootWatches};
