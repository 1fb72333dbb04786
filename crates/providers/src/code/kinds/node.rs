//! What the rules of a language say of a node, and what they know of its place.

use tree_sitter::Node;

use crate::code::Kind;
use crate::code::signature::header_end_with_value;

/// What to do with a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::code) enum Step {
    /// Nothing in it is of interest.
    Past,
    /// It holds definitions, and is none itself.
    Into,
    /// It is the outer part of the one definition in it: `export …`, `template <…> …`.
    Wrap,
    /// It defines what was added to the list.
    Found,
}

/// Where a node stands.
#[derive(Debug, Clone, Copy)]
pub(in crate::code) struct NodeContext<'a> {
    /// The text.
    pub source: &'a [u8],
    /// What the definition is that it is in.
    pub inside: Option<Kind>,
    /// Its name.
    pub inside_name: &'a str,
}

impl NodeContext<'_> {
    /// Returns a node's text.
    pub fn text(&self, node: Node<'_>) -> String {
        let bytes = self.source.get(node.byte_range()).unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// Returns whether a node has this text.
    pub fn is_text(&self, node: Node<'_>, text: &str) -> bool {
        self.source.get(node.byte_range()) == Some(text.as_bytes())
    }

    /// Returns whether functions here are methods.
    pub fn has_methods(&self) -> bool {
        self.inside.is_some_and(Kind::has_methods)
    }

    /// Returns the kind of a function here.
    pub fn function(&self) -> Kind {
        if self.has_methods() { Kind::Method } else { Kind::Function }
    }

    /// Returns whether it is in no function.
    pub fn is_outside_functions(&self) -> bool {
        !self.inside.is_some_and(Kind::is_callable)
    }
}

/// A definition that the rules of a language have found.
#[derive(Debug)]
pub(in crate::code) struct Candidate<'t> {
    /// The whole of it.
    pub whole: Node<'t>,
    /// Where its header begins, if not with the whole.
    pub head: Node<'t>,
    /// What it is.
    pub kind: Kind,
    /// The node of its name.
    pub name: Node<'t>,
    /// Its name, where that is not the node's text.
    pub text: Option<String>,
    /// The type that it names as its own.
    pub owner: Option<String>,
    /// Where its header ends.
    pub header_end: usize,
    /// What holds its members.
    pub members: Vec<Node<'t>>,
    /// Whether it is only declared.
    pub declared_only: bool,
    /// Whether only the first of its name counts: assignments.
    pub first_only: bool,
}

impl<'t> Candidate<'t> {
    /// Creates one of a node and the node of its name.
    pub fn new(kind: Kind, whole: Node<'t>, name: Node<'t>) -> Self {
        Self {
            whole,
            head: whole,
            kind,
            name,
            text: None,
            owner: None,
            header_end: whole.end_byte(),
            members: Vec::new(),
            declared_only: false,
            first_only: false,
        }
    }

    /// Sets the body: the header ends there. Nothing in it is checked.
    pub fn body(mut self, body: Option<Node<'t>>) -> Self {
        if let Some(body) = body {
            self.header_end = self.header_end.min(body.start_byte());
        }
        self
    }

    /// Sets a body in which members are looked for.
    pub fn holds(mut self, body: Option<Node<'t>>) -> Self {
        self.members.extend(body);
        self.body(body)
    }

    /// Sets the value: the header ends there if it is long.
    pub fn value(mut self, value: Option<Node<'t>>) -> Self {
        if let Some(value) = value {
            self.header_end = self.header_end.min(header_end_with_value(self.whole, value));
        }
        self
    }

    /// Sets the name.
    pub fn named(self, text: String) -> Self {
        Self { text: Some(text), ..self }
    }

    /// Says that it is only declared.
    pub fn declared_if(self, declared_only: bool) -> Self {
        Self { declared_only, ..self }
    }

    /// Adds it to the list.
    pub fn add(self, found: &mut Vec<Self>) -> Step {
        found.push(self);
        Step::Found
    }
}
