//! The stages at which a request can be refused, by name.

use std::fmt;

/// One stage, as denials, documents, `policy explain` and the history name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StageName {
    /// Whether the scope exists and is open to the caller.
    Scope,
    /// Whether the operation exists.
    Operation,
    /// The capabilities that the operation needs.
    Capability,
    /// The type of the scope, and the platform.
    ScopeType,
    /// The form of target, input and options.
    Input,
    /// The capabilities that the given fields need.
    Needs,
    /// Where paths lead.
    Path,
    /// Files that stay closed.
    Sensitive,
    /// The commands that would start.
    Command,
    /// The pictures that a scope takes.
    Screen,
    /// How long and how much.
    Limits,
    /// Whether what needs approval has it.
    Approval,
    /// After the policy: whether the history can be written before an effect.
    History,
}

impl StageName {
    /// Returns the name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scope => "scope",
            Self::Operation => "operation",
            Self::Capability => "capability",
            Self::ScopeType => "scope_type",
            Self::Input => "input",
            Self::Needs => "needs",
            Self::Path => "path",
            Self::Sensitive => "sensitive",
            Self::Command => "command",
            Self::Screen => "screen",
            Self::Limits => "limits",
            Self::Approval => "approval",
            Self::History => "history",
        }
    }
}

impl fmt::Display for StageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
