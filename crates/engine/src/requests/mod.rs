//! Reading requests as models write them: other tools' names, JSON as text, fields in the wrong place.
//!
//! What comes out is an envelope in canonical names, before the policy sees it: nothing here judges, and the history
//! and the policy know the canonical names only. What can mean two things is refused.

mod blocks;
mod choose;
pub mod fields;
mod fit;
mod names;
mod place;
mod places;
mod read;
mod refusal;
mod rewrite;
mod stored;
mod stored_reads;

pub use names::{fold, operation};
pub use read::{read, read_json};
pub use stored::{StoredJudge, StoredRequestError, StoredVerdict, recorded, was_approved};
