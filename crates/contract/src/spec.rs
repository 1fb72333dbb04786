//! The description of an operation, from which everything readable about it is derived.

use serde::{Deserialize, Serialize};

use super::{Capability, CommonOption, Effect};

/// Whether a path is read or changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Its content, its facts or its entries are read.
    Read,
    /// It is created, changed, moved or removed.
    Write,
    /// Its text is searched; sensitive files stay closed, whole files are not shown.
    Search,
}

/// What an operation's `target` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetRule {
    /// There is none; a given one is an error.
    None,
    /// A path that must be given.
    Path(Access),
    /// A path; left out it is the root of the scope.
    PathOrRoot(Access),
    /// An identifier that must be given, such as an operation id; the text says of what.
    Id(&'static str),
    /// An identifier that may be left out.
    OptionalId(&'static str),
    /// The id of a display, or `primary`; left out it is the primary one.
    Display,
    /// The id of a window that must be given.
    Window,
    /// The id of a window; left out it is the one that the user works in.
    ActiveWindow,
    /// The id of an element of a window that was seen; it must be given.
    Element,
    /// The id of a window or of an element that was seen; left out it is the window that the user works in.
    WindowOrElement,
    /// The id of a snapshot of a window's elements; it must be given.
    Snapshot,
    /// The process whose window is meant, by id or name; it must be given.
    ProcessWindow,
}

impl TargetRule {
    /// Returns what an identifier stands for; `None` where the target is none.
    pub const fn id_of(self) -> Option<&'static str> {
        match self {
            Self::None | Self::Path(_) | Self::PathOrRoot(_) => None,
            Self::Id(what) | Self::OptionalId(what) => Some(what),
            Self::Display => Some("the id of a display, or `primary`"),
            Self::Window => Some("the id of a window, from screen.list"),
            Self::ActiveWindow => Some("the id of a window; default the one that the user works in"),
            Self::Element => Some("an element with its snapshot, such as `B3@s_0a1b2c3d4e`, from ui.see"),
            Self::WindowOrElement => Some(
                "the id of a window, or an element with its snapshot; default the window that the user works in",
            ),
            Self::Snapshot => Some("a snapshot, such as `s_0a1b2c3d4e`, from ui.see"),
            Self::ProcessWindow => Some("the id or the name of a process"),
        }
    }

    /// Returns whether the target may be left out.
    pub const fn is_optional(self) -> bool {
        match self {
            Self::None
            | Self::PathOrRoot(_)
            | Self::OptionalId(_)
            | Self::Display
            | Self::ActiveWindow
            | Self::WindowOrElement => true,
            Self::Path(_)
            | Self::Id(_)
            | Self::Window
            | Self::Element
            | Self::Snapshot
            | Self::ProcessWindow => false,
        }
    }
}

/// The kinds of scope.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ScopeType {
    /// Folders on disk.
    Folder,
    /// The computer itself: screens, windows, facts.
    Computer,
}

/// Whether an operation acts inside a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeNeed {
    /// It does; the types of scope that support it.
    In(&'static [ScopeType]),
    /// It tells facts about the service that the caller may know anyway; a scope can be named.
    Optional,
}

impl ScopeNeed {
    /// It acts in the folders of a scope.
    pub const FOLDER: Self = Self::In(&[ScopeType::Folder]);
    /// It acts on the computer itself.
    pub const COMPUTER: Self = Self::In(&[ScopeType::Computer]);
    /// It acts on the desktop of the computer, or on the private displays of a folder scope.
    pub const DESKTOP: Self = Self::In(&[ScopeType::Computer, ScopeType::Folder]);
}

/// On which threads an operation runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// It calls the disk or works hard: it runs on a thread of its own.
    Blocking,
    /// It waits: it runs on the asynchronous threads.
    Async,
    /// It holds until something happens elsewhere: as [`Threads::Async`], but it takes no turn from others,
    /// and when its time is over it answers on its own.
    Held,
}

/// Everything that is fixed about one operation. What decides who may do it, and to what, has no default: see [`OperationSpec::USUAL`].
#[derive(Debug, Clone, Copy)]
pub struct OperationSpec {
    /// The stable dotted name, `family.verb`.
    pub name: &'static str,
    /// One line, imperative, without a full stop.
    pub summary: &'static str,
    /// What a user should know beyond the summary; full sentences, may be empty.
    pub details: &'static str,
    /// All groups must be satisfied; a group is satisfied by any one of its capabilities.
    pub capabilities: &'static [&'static [Capability]],
    /// What it does to the computer.
    pub effect: Effect,
    /// What its target is.
    pub target: TargetRule,
    /// Where it acts.
    pub scope: ScopeNeed,
    /// The platforms that support it, as in `std::env::consts::OS`; empty means all.
    pub platforms: &'static [&'static str],
    /// The shared options that it honours, beyond `timeoutSeconds` and `maxOutputBytes`.
    pub options: &'static [CommonOption],
    /// The time limit when the request names none, in seconds.
    pub timeout_seconds: u64,
    /// Where it runs.
    pub threads: Threads,
    /// The fields of `input` and `options` that the history may keep (never payloads).
    pub audited_fields: &'static [&'static str],
    /// A whole envelope, as JSON, that works in a scope with the files the case files make.
    pub example: &'static str,
}

impl OperationSpec {
    /// What most operations have in common: they run on every platform, honour no further option, and end within 30 seconds on a
    /// thread of their own; the history keeps none of their fields. All else has to be said: as it is here nobody may
    /// do it, and it is not compiled into the registry.
    pub const USUAL: Self = Self {
        name: "",
        summary: "",
        details: "",
        capabilities: &[&[]],
        effect: Effect::RunsCode,
        target: TargetRule::None,
        scope: ScopeNeed::In(&[]),
        platforms: &[],
        options: &[],
        timeout_seconds: 30,
        threads: Threads::Blocking,
        audited_fields: &[],
        example: "",
    };

    /// Returns whether everything is said that [`OperationSpec::USUAL`] leaves out. A target of none is said by leaving it out.
    pub const fn is_whole(&self) -> bool {
        let mut at = 0;
        while at < self.capabilities.len() {
            if self.capabilities[at].is_empty() {
                return false;
            }
            at += 1;
        }
        let has_scope = match self.scope {
            ScopeNeed::In(types) => !types.is_empty(),
            ScopeNeed::Optional => true,
        };
        has_scope && !self.name.is_empty() && !self.summary.is_empty() && !self.example.is_empty()
    }

    /// Returns the family: the part of the name before the dot.
    pub fn family(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(family, _)| family)
    }

    /// Returns whether a platform (a value of `std::env::consts::OS`) supports the operation.
    pub fn supports_platform(&self, os: &str) -> bool {
        self.platforms.is_empty() || self.platforms.contains(&os)
    }
}
