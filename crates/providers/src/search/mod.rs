//! Walking, finding and searching beneath a permitted folder.
//!
//! Everything is reached by handle, from the folder that the policy permitted: no path is joined and
//! opened, no link is followed, and each name is judged by the scope's rules before it is used.
//!
//! ```text
//! IgnoreRules   which entries of a folder are ignored
//! Globs         which paths a client chose
//! Folder        a folder of a walk, and its handle while there is room for it
//! Listing       the judged entries of one folder, in order
//! walk          every file beneath a folder, on several threads, in order of path
//! find          paths by glob or likeness
//! search        lines by regular expression
//! outline       a folder's tree, breadth first
//! ```

mod best;
mod finder;
mod folder;
mod globs;
mod ignored;
mod listing;
mod matches;
mod outline;
mod query;
mod room;
mod searcher;
mod skip;
mod tally;
mod walk;

pub use best::MatchedFile;
pub use finder::{FindAnswer, FindKind, FindOrder, FindQuery, FindTarget, FoundPath, find};
pub use globs::Globs;
pub use ignored::IgnoreRules;
pub(crate) use listing::Filter;
pub use matches::{MatchMode, MatchedLine};
pub use outline::{Outline, OutlineBounds, OutlineEntry, outline};
pub use query::{ContentQuery, FileTypes, QuerySettings};
pub use room::OutputBudget;
pub use searcher::{ResultPosition, Search, SearchAnswer, search, search_file};
pub use skip::{Skip, SkipCounts};
pub use tally::Tally;
pub(crate) use walk::{Visitor, WalkedFile, walk};
