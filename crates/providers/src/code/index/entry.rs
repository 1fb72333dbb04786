//! What an index holds of a file.

use crate::syntax::Language;
use bailiwick_platform::fs::Stat;

use super::super::Kind;

/// How old the last change of a file must be, in nanoseconds, for the next one to leave another time.
const CLOCK_STEP_NS: i128 = 50_000_000;

/// What tells one state of a file from another without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub size: u64,
    pub modified_ns: i64,
    pub changed_ns: i64,
    /// 0, which no file has, where another change could leave the same times: it is then read again.
    pub inode: u64,
}

impl Stamp {
    /// Creates the stamp of a file whose facts were asked at this moment.
    pub fn of(stat: &Stat) -> Self {
        let narrow = |time: i128| i64::try_from(time).unwrap_or(0);
        Self {
            size: stat.size,
            modified_ns: narrow(stat.modified_ns),
            changed_ns: narrow(stat.changed_ns),
            inode: stat.id.inode,
        }
    }

    /// Returns the stamp to keep for a content that is read now.
    pub fn to_keep(self, now_ns: i128) -> Self {
        let young = now_ns - i128::from(self.changed_ns.max(self.modified_ns)) < CLOCK_STEP_NS;
        Self { inode: if young { 0 } else { self.inode }, ..self }
    }
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Outcome {
    /// All of it was read.
    Whole,
    /// It has syntax errors; what was found is held.
    WithErrors,
    /// It is too large.
    TooLarge,
    /// Its lines are too long to have been written by a person.
    Minified,
    /// Reading it took too long.
    TooSlow,
    /// It is no source text after all.
    NoSource,
    /// There was no room for its definitions.
    NoRoom,
    /// The parser failed on it.
    Failed,
}

impl Outcome {
    /// Every outcome, by its number.
    pub const ALL: [Self; 8] = [
        Self::Whole,
        Self::WithErrors,
        Self::TooLarge,
        Self::Minified,
        Self::TooSlow,
        Self::NoSource,
        Self::NoRoom,
        Self::Failed,
    ];

    /// Returns the name on the wire of what an answer tells; `None` for what needs no word.
    pub const fn as_str(self) -> Option<&'static str> {
        match self {
            Self::Whole | Self::NoSource => None,
            Self::WithErrors => Some("withErrors"),
            Self::TooLarge => Some("tooLarge"),
            Self::Minified => Some("minified"),
            Self::TooSlow => Some("tooSlow"),
            Self::NoRoom => Some("noRoom"),
            Self::Failed => Some("failed"),
        }
    }
}

/// A definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Symbol {
    /// The number of its name.
    pub name: u32,
    /// The line where its name stands.
    pub line: u32,
    /// What it is in.
    pub within: Container,
    pub kind: Kind,
    /// Whether it is only declared.
    pub declared_only: bool,
}

/// What a definition is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Container {
    /// The file.
    File,
    /// Another definition of the file, by its place.
    Definition(u32),
    /// A type of this name, which it names itself.
    Named(u32),
}

/// A file.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub stamp: Stamp,
    pub language: Option<Language>,
    pub outcome: Outcome,
    /// Whether it had several names: then changes are made that nobody hears of.
    pub several_names: bool,
    /// The last look in which it was met.
    pub seen: u32,
    pub symbols: Box<[Symbol]>,
}
