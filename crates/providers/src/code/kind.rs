//! What a definition is, in words that serve every language.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a definition is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[repr(u8)]
pub enum Kind {
    /// A function that belongs to no type.
    Function,
    /// A function of a type.
    Method,
    /// What makes a value of a type.
    Constructor,
    /// A class, an actor, or an object of its own class.
    Class,
    /// A struct, a union or a record.
    Struct,
    /// An enumeration.
    Enum,
    /// A member of an enumeration.
    EnumMember,
    /// An interface or a protocol.
    Interface,
    /// A trait.
    Trait,
    /// A block that adds members to a type: `impl` in Rust, `extension` in Swift.
    Implementation,
    /// Another name of a type.
    Type,
    /// A value that does not change.
    Constant,
    /// A variable outside functions.
    Variable,
    /// A data member.
    Field,
    /// A member that is read, and perhaps set, through code.
    Property,
    /// A module or a namespace.
    Module,
    /// A macro.
    Macro,
}

impl Kind {
    /// Every kind, in order of its number.
    pub const ALL: [Self; 17] = [
        Self::Function,
        Self::Method,
        Self::Constructor,
        Self::Class,
        Self::Struct,
        Self::Enum,
        Self::EnumMember,
        Self::Interface,
        Self::Trait,
        Self::Implementation,
        Self::Type,
        Self::Constant,
        Self::Variable,
        Self::Field,
        Self::Property,
        Self::Module,
        Self::Macro,
    ];

    /// Returns the name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Constructor => "constructor",
            Self::Class => "class",
            Self::Struct => "struct",
            Self::Enum => "enum",
            Self::EnumMember => "enumMember",
            Self::Interface => "interface",
            Self::Trait => "trait",
            Self::Implementation => "implementation",
            Self::Type => "type",
            Self::Constant => "constant",
            Self::Variable => "variable",
            Self::Field => "field",
            Self::Property => "property",
            Self::Module => "module",
            Self::Macro => "macro",
        }
    }

    /// Returns the kind of a number, as it is kept in an index.
    pub fn of_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Returns whether functions in it are its methods.
    pub const fn has_methods(self) -> bool {
        matches!(
            self,
            Self::Class
                | Self::Struct
                | Self::Enum
                | Self::EnumMember
                | Self::Interface
                | Self::Trait
                | Self::Implementation
                | Self::Type
        )
    }

    /// Returns whether it is code that runs.
    pub const fn is_callable(self) -> bool {
        matches!(self, Self::Function | Self::Method | Self::Constructor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_number_and_its_name_on_the_wire() {
        for (number, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
            assert_eq!(u8::try_from(number).ok().and_then(Kind::of_number), Some(kind));
            assert_eq!(serde_json::to_value(kind).ok(), Some(kind.as_str().into()));
        }
    }
}
