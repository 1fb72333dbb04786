//! Edits: finding where they belong in a text, and putting them there. Pure: no file is touched here.
//!
//! ```text
//! Text           a file's text by lines; knows how to turn itself back into the same bytes
//! parse_patch    patch text, as unified diff or as context patch, into changes of files
//! apply          edits of one of three kinds, placed in a text
//! Tier           how closely an edit had to be read until it fitted
//! ```
//!
//! Nothing is placed by likeness: an edit fits by one of the tiers, in as many places as it expects, or
//! it fails and shows which places are nearest.

mod anchor;
mod anchored;
mod apply;
mod assign;
mod context_patch;
mod diff;
mod evidence;
mod failure;
mod hunk;
mod matching;
mod merge;
mod names;
mod nearest;
mod prefix;
mod replace;
mod section;
mod splice;
mod tabs;
mod text;
mod tier;
mod unified;

pub use anchor::{Anchor, anchor};
pub use anchored::LineEdit;
pub use apply::{ChangedPlace, EditedText, Edits, apply, redaction_marks, unstorable};
pub use diff::{Change, text_diff, unified_diff};
pub use failure::{Failures, anchored as show_lines};
pub use hunk::{FilePatch, Hunk, PatchAction, parse_patch};
pub use merge::merge;
pub use replace::{ALL_PLACES, TextEdit};
pub use text::Text;
pub use tier::{Basis, TieBreak, Tier};
