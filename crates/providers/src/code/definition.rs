//! A definition, as the text tells it.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Kind;

/// What is between the names of an owner.
const SEPARATORS: [char; 3] = [':', '.', '\\'];

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    /// The line, counted from 1.
    pub line: u32,
    /// The column in characters, counted from 1.
    pub column: u32,
}

/// A definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// Its name, without those of what it is in.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// The definition that it is in, as an index of the same list; it comes before.
    pub container: Option<u32>,
    /// The type that it belongs to by its own words, where it is not in it: `A` of `void A::b()` in C++,
    /// `T` of `func (t *T) b()` in Go.
    pub owner: Option<String>,
    /// One line: the header without its body, blanks collapsed, at most 200 characters.
    pub signature: String,
    /// The whole definition, with its doc comment and its attributes or decorators.
    pub bytes: Range<u32>,
    /// Where its name stands.
    pub name_at: Position,
    /// The first byte of its name.
    pub name_byte: u32,
    /// The first line of `bytes`, counted from 1.
    pub first_line: u32,
    /// The last line of `bytes`.
    pub last_line: u32,
    /// Whether it is only declared: a prototype, a forward declaration, an overload, an abstract method.
    pub declared_only: bool,
}

/// What a text defines, in its order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definitions {
    /// The definitions.
    pub list: Vec<Definition>,
    /// False for a text with syntax errors, or with more than is checked: what was found is there all the same.
    pub parsed_whole: bool,
}

impl Definitions {
    /// Returns the names by which a definition is reached, the outermost first: its containers', its owner's, its own.
    pub fn path(&self, index: usize) -> Vec<&str> {
        let mut names = Vec::new();
        let mut next = self.list.get(index);
        while let Some(definition) = next {
            names.push(definition.name.as_str());
            let owner = definition.owner.as_deref();
            names.extend(
                owner.into_iter().flat_map(|owner| owner.rsplit(SEPARATORS)).filter(|it| !it.is_empty()),
            );
            next = definition.container.and_then(|container| self.list.get(container as usize));
        }
        names.reverse();
        names
    }
}
