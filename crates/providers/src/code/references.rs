//! Where a text uses a name: every token that is the name, outside comments and strings.
//!
//! It is told by the text alone: two things of one name are not told apart, and a name in what a macro is given
//! counts as well.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use tree_sitter::{Node, Tree};

use super::definition::Position;
use super::definitions::{position, with_tree};
use super::extent::narrow;
use super::kind::Kind;
use super::source::{self, SourceProblem};
use crate::syntax::Language;

/// How many references of one text are told.
const MAX_REFERENCES: usize = 20_000;
/// How far up a token's surroundings are checked.
const LEVELS: usize = 6;
/// After how many nodes the caller is asked whether to stop.
const NODES_BETWEEN_QUESTIONS: usize = 4_096;

/// How a text uses a name, as far as the text tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Role {
    /// It is defined or declared here.
    Definition,
    /// It is called.
    Call,
    /// It is used as a type.
    Type,
    /// It is imported or exported.
    Import,
    /// It is used in another way.
    Other,
}

impl Role {
    /// Returns the name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Definition => "definition",
            Self::Call => "call",
            Self::Type => "type",
            Self::Import => "import",
            Self::Other => "other",
        }
    }
}

/// A place where a text uses a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// Where the name begins.
    pub at: Position,
    /// The bytes of the name.
    pub bytes: Range<u32>,
    /// How it is used.
    pub role: Role,
}

/// Where a text uses a name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct References {
    /// The places, in the order of the text.
    pub list: Vec<Reference>,
    /// False for a text with syntax errors: what a place is used for may be wrong there.
    pub parsed_whole: bool,
}

/// Finds where a text uses a name. `stop` is asked often whether to give up.
///
/// # Errors
/// See [`SourceProblem`].
pub fn references(
    language: Language,
    source: &[u8],
    name: &str,
    stop: &dyn Fn() -> bool,
) -> Result<References, SourceProblem> {
    let hits = occurrences(source, name.as_bytes(), MAX_REFERENCES);
    if hits.is_empty() {
        return Ok(References { list: Vec::new(), parsed_whole: true });
    }
    let (definitions, tree) = with_tree(language, source, stop)?;
    let tree = tree.map_or_else(|| source::parse(language, source, stop), Ok)?;
    let mut defined: Vec<u32> = definitions
        .list
        .iter()
        .filter(|definition| definition.name == name && definition.kind != Kind::Implementation)
        .map(|definition| definition.name_byte)
        .collect();
    defined.sort_unstable();
    let mut found = Search { language, source, hits: &hits, length: name.len(), defined, found: Vec::new() };
    found.go(&tree, stop)?;
    Ok(References { list: found.found, parsed_whole: definitions.parsed_whole })
}

/// Returns whether a text has a name as a whole word, perhaps in a comment.
pub(crate) fn is_used_in(source: &[u8], name: &str) -> bool {
    !occurrences(source, name.as_bytes(), 1).is_empty()
}

/// Finds the bytes at which a name stands as a whole word.
fn occurrences(source: &[u8], name: &[u8], max: usize) -> Vec<usize> {
    if name.is_empty() {
        return Vec::new();
    }
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let is_apart = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| source.get(before));
        let after = source.get(at + name.len());
        let starts = name.first().is_some_and(is_word);
        let ends = name.last().is_some_and(is_word);
        let goes_on = (starts && before.is_some_and(is_word)) || (ends && after.is_some_and(is_word));
        !goes_on
    };
    memchr::memmem::find_iter(source, name).filter(|at| is_apart(*at)).take(max).collect()
}

struct Search<'s> {
    language: Language,
    source: &'s [u8],
    /// Bytes where the name stands, in order.
    hits: &'s [usize],
    length: usize,
    /// Bytes where it is defined, in order.
    defined: Vec<u32>,
    found: Vec<Reference>,
}

impl Search<'_> {
    /// Goes through a tree once, into nothing but what holds the next place.
    fn go<'t>(&mut self, tree: &'t Tree, stop: &dyn Fn() -> bool) -> Result<(), SourceProblem> {
        let mut cursor = tree.walk();
        let mut above: Vec<NamedNode<'t>> = Vec::new();
        let mut next = 0;
        let mut nodes = 0_usize;
        loop {
            nodes += 1;
            if nodes.is_multiple_of(NODES_BETWEEN_QUESTIONS) && stop() {
                return Err(SourceProblem::Stopped);
            }
            let node = cursor.node();
            while self.hits.get(next).is_some_and(|hit| *hit < node.start_byte()) {
                next += 1;
            }
            let Some(hit) = self.hits.get(next).copied() else { return Ok(()) };
            let is_inside = hit < node.end_byte();
            if is_inside && node.kind() == "preproc_arg" {
                for hit in self.hits[next..].iter().take_while(|hit| **hit < node.end_byte()) {
                    self.add(node, *hit, Role::Other);
                }
            } else if is_inside && is_template(self.language, node.kind(), &above) {
                for hit in self.hits[next..].iter().take_while(|hit| **hit < node.end_byte()) {
                    if self.is_inserted(*hit) {
                        self.add(node, *hit, Role::Other);
                    }
                }
            } else if is_inside && node.child_count() == 0 {
                self.take((node, cursor.field_name()), hit, &above);
            } else if is_inside && !is_text(node.kind()) {
                above.push((node, cursor.field_name()));
                if cursor.goto_first_child() {
                    continue;
                }
                above.pop();
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return Ok(());
                }
                above.pop();
            }
        }
    }

    /// Takes a token if it is the name, or the name behind a sign such as `$`.
    fn take(&mut self, token: NamedNode<'_>, hit: usize, above: &[NamedNode<'_>]) {
        let (node, _) = token;
        let sign = self.source.get(node.start_byte()..hit).unwrap_or_default();
        let is_sign = sign == b"r#" || sign.iter().all(|byte| b":@$&#".contains(byte));
        let is_symbol = above.last().is_some_and(|(outer, _)| outer.kind() == "bare_symbol");
        if node.end_byte() != hit + self.length || !is_sign || !(is_name(node.kind()) || is_symbol) {
            return;
        }
        let first = self.defined.partition_point(|at| *at < narrow(node.start_byte()));
        let is_defined = self.defined.get(first).is_some_and(|at| *at <= narrow(hit));
        let role = if is_defined { Role::Definition } else { role(token, above) };
        self.add(node, hit, role);
    }

    /// Returns whether a text inserts a value at a place that its grammar takes for text: `$name` in Kotlin, `{name}` in
    /// a macro of Rust.
    fn is_inserted(&self, hit: usize) -> bool {
        let (before, behind) = (&self.source[..hit], &self.source[hit + self.length..]);
        match self.language {
            Language::Kotlin => before.ends_with(b"$") && !before.ends_with(b"\\$"),
            _ => {
                before.ends_with(b"{")
                    && !before.ends_with(b"{{")
                    && matches!(behind.first(), Some(b'}' | b':'))
            }
        }
    }

    fn add(&mut self, node: Node<'_>, hit: usize, role: Role) {
        let mut at = position(node, self.source);
        let before = self.source.get(node.start_byte()..hit).unwrap_or_default();
        // What a macro stands for is one token, perhaps of several lines.
        let feeds = memchr::memchr_iter(b'\n', before).count();
        at.line += narrow(feeds);
        let line = memchr::memrchr(b'\n', before).map_or(before, |feed| &before[feed + 1..]);
        let characters = narrow(line.iter().filter(|byte| (**byte & 0xC0) != 0x80).count());
        at.column = if feeds == 0 { at.column + characters } else { characters + 1 };
        self.found.push(Reference { at, bytes: narrow(hit)..narrow(hit + self.length), role });
    }
}

/// A node, and the name that the grammar gives it in the node above.
type NamedNode<'t> = (Node<'t>, Option<&'t str>);

/// Returns whether a token is a text into which values may be inserted by name, without the grammar's knowledge.
fn is_template(language: Language, kind: &str, above: &[NamedNode<'_>]) -> bool {
    kind == "string_content"
        && match language {
            Language::Kotlin => true,
            Language::Rust => above.iter().any(|(node, _)| node.kind() == "token_tree"),
            _ => false,
        }
}

/// Tells comments and the like, in which no name is looked for.
fn is_text(kind: &str) -> bool {
    kind.ends_with("comment") || kind == "string_content"
}

/// Tells tokens that are names by the kinds that the grammars give them.
fn is_name(kind: &str) -> bool {
    kind.ends_with("identifier")
        || matches!(
            kind,
            "name"
                | "constant"
                | "word"
                | "variable_name"
                | "instance_variable"
                | "class_variable"
                | "global_variable"
                | "simple_symbol"
                | "hash_key_symbol"
                | "command_name"
                | "metavariable"
                | "property_identifier"
                | "setter"
                | "operator_name"
                | "init"
        )
}

/// Returns how a name is used by what is around it, the nearest last.
fn role((node, field): NamedNode<'_>, above: &[NamedNode<'_>]) -> Role {
    let around = || above.iter().rev().take(LEVELS);
    let is_import = |kind: &str| {
        kind.contains("import")
            || kind.contains("include")
            || matches!(
                kind,
                "use_declaration"
                    | "namespace_use_declaration"
                    | "using_directive"
                    | "using_declaration"
                    | "export_clause"
                    | "export_specifier"
                    | "extern_crate_declaration"
            )
    };
    if around().any(|(node, _)| is_import(node.kind())) {
        return Role::Import;
    }
    // `a.b.name(…)`: the name is the last of what is called.
    let mut inner = (node, field);
    for (outer, outer_field) in around() {
        let kind = outer.kind();
        let is_call = kind.contains("call") || kind.contains("invocation") || kind == "macro_invocation";
        let named = matches!(inner.1, Some("function" | "method" | "name" | "macro" | "constructor"));
        if is_call || matches!(kind, "new_expression" | "object_creation_expression" | "command") {
            let is_first = outer.start_byte() == inner.0.start_byte() || named;
            let is_argument = inner.0.kind().contains("argument") || inner.0.kind().contains("suffix");
            return if is_first && !is_argument { Role::Call } else { Role::Other };
        }
        let is_path = kind.contains("member")
            || kind.contains("field_expression")
            || kind.contains("scoped")
            || kind.contains("selector")
            || kind.contains("navigation")
            || kind.contains("qualified")
            || kind == "attribute"
            || kind == "command_name"
            || kind == "generic_function"
            || kind == "generic_name"
            || kind == "scope_resolution"
            || kind == "template_function";
        if !is_path || outer.end_byte() != inner.0.end_byte() {
            break;
        }
        inner = (*outer, *outer_field);
    }
    let is_type = |kind: &str| kind.contains("type") && !kind.contains("typed") && !kind.contains("type_def");
    if node.kind() == "type_identifier" || field == Some("type") {
        return Role::Type;
    }
    match around().next() {
        Some((outer, outer_field)) if is_type(outer.kind()) || *outer_field == Some("type") => Role::Type,
        _ => Role::Other,
    }
}
