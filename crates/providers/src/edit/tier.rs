//! How closely an edit had to be read until it fitted.

use schemars::JsonSchema;
use serde::Serialize;

/// The readings of an edit's old text, the closest first. Each allows what those before it allow, but that `Tabs` takes no other depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Byte for byte.
    Exact,
    /// Lines may end differently.
    LineEndings,
    /// Whole lines, whose trailing spaces and tabs may differ.
    TrailingSpace,
    /// Whole lines, all indented further, or less far, by the same spaces or tabs.
    Indentation,
    /// Whole lines, with tabs where the text has spaces, or the other way round.
    Tabs,
    /// Whole lines, in which quotes, dashes and spaces may be other characters of their kind.
    Unicode,
    /// By the anchors of lines.
    Anchor,
}

impl Tier {
    /// The tiers that read text, the closest first.
    pub(super) const OF_TEXT: [Self; 6] =
        [Self::Exact, Self::LineEndings, Self::TrailingSpace, Self::Indentation, Self::Tabs, Self::Unicode];
}

/// What decided between several places that an edit fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TieBreak {
    /// Only this place is in the order of the patch's hunks.
    Order,
    /// The line after `@@` names it.
    Header,
    /// The patch says that it is at the end of the file.
    EndOfFile,
    /// The line numbers of the patch, which hold for this file.
    LineNumber,
}

/// What is known of the version that edits were made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// It is this one.
    Current,
    /// It may be: this one was read or made here.
    Read,
    /// Nothing.
    Unknown,
    /// It is another one: this one was never read.
    Outdated,
}
