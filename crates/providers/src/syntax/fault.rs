//! The errors in a tree: where they are, and what to say of them.

use serde::{Deserialize, Serialize};
use tree_sitter::{Node, Tree};

use super::Language;

/// The most errors that are looked for in one text.
pub(super) const MAX_FAULTS: usize = 200;
/// How many tokens of an error are checked for brackets without a partner.
const MAX_TOKENS: usize = 200_000;
/// How much of the text at an error is shown, in characters.
const NEAR_CHARS: usize = 60;

/// An error of syntax.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// What is wrong, without a word of the text but its brackets.
    pub message: String,
    /// The text of the line from there on, cut; empty at the end of a line.
    pub near: String,
    /// The last line of what the grammar could not read; for a bracket or something missing, its own.
    pub(super) last_line: usize,
}

impl Fault {
    /// Says the same of a later line, by which it came. Of a text that falls apart as a whole, the beginning
    /// tells nothing.
    pub(super) fn at_line(&self, line: usize, text: &str) -> Self {
        let start = text.split_inclusive('\n').take(line - 1).map(str::len).sum::<usize>();
        let indentation = text[start..].len() - text[start..].trim_start_matches([' ', '\t']).len();
        let mut moved = fault(start + indentation, &self.message, text);
        moved.last_line = self.last_line;
        moved
    }
}

/// Finds the errors of a text in its tree, in the order of the text.
pub fn faults(language: Language, tree: &Tree, text: &str) -> Vec<Fault> {
    let mut found = Vec::new();
    let root = tree.root_node();
    // A wrong end tag is a node of its own, and no error to the grammar.
    let tags = language == Language::Html;
    if root.is_error() {
        found.push(of_error(root, text));
    }
    let mut cursor = root.walk();
    // The nodes around the cursor's. Asking a node for its parent recurses from the root, once a level.
    let mut above: Vec<Node<'_>> = Vec::new();
    let mut inside = true;
    while inside && found.len() < MAX_FAULTS {
        let node = cursor.node();
        let within = node.id() != root.id() && (node.is_error() || node.is_missing());
        if within {
            let is_missing = node.is_missing();
            found.push(if is_missing { of_missing(node, above.last(), text) } else { of_error(node, text) });
        } else if tags && node.kind() == "erroneous_end_tag" {
            found.push(fault(node.start_byte(), "this end tag closes no element", text));
        }
        let descend = !within && (tags || node.has_error());
        if descend && cursor.goto_first_child() {
            above.push(node);
            continue;
        }
        while !cursor.goto_next_sibling() {
            above.pop();
            if !cursor.goto_parent() {
                inside = false;
                break;
            }
        }
    }
    found.sort_by_key(|fault| (fault.line, fault.column));
    found.dedup();
    found
}

/// Returns whether a tree has any error.
pub(super) fn has_faults(language: Language, tree: &Tree, text: &str) -> bool {
    match language {
        Language::Html => !faults(language, tree, text).is_empty(),
        _ => tree.root_node().has_error(),
    }
}

fn of_missing(node: Node<'_>, parent: Option<&Node<'_>>, text: &str) -> Fault {
    let kind = node.kind();
    let what = if node.is_named() { kind.replace('_', " ") } else { format!("`{kind}`") };
    let opener = match kind {
        ")" => "(",
        "]" => "[",
        "}" => "{",
        _ => "",
    };
    let opened = parent.and_then(|parent| {
        let mut cursor = parent.walk();
        parent.children(&mut cursor).find(|child| child.kind() == opener && !child.is_missing())
    });
    match opened {
        Some(opened) if opened.start_position().row != node.start_position().row => {
            let line = opened.start_position().row + 1;
            fault(node.start_byte(), &format!("missing {what} for the `{opener}` of line {line}"), text)
        }
        _ => fault(node.start_byte(), &format!("missing {what}"), text),
    }
}

/// An error over several lines is often a bracket without a partner, which says more than where it began.
fn of_error(node: Node<'_>, text: &str) -> Fault {
    match lone_bracket(node) {
        Some((at, true)) => fault(at, &format!("`{}` is not closed", &text[at..=at]), text),
        Some((at, false)) => fault(at, &format!("`{}` closes nothing", &text[at..=at]), text),
        None => {
            let mut fault = fault(node.start_byte(), "syntax error", text);
            fault.last_line = fault.last_line.max(node.end_position().row + 1);
            fault
        }
    }
}

/// Finds the first closing bracket without an opening one, else the last opening one that stays open.
fn lone_bracket(node: Node<'_>) -> Option<(usize, bool)> {
    let mut open: Vec<(usize, &'static str)> = Vec::new();
    let mut cursor = node.walk();
    for _ in 0..MAX_TOKENS {
        let token = cursor.node();
        if token.child_count() == 0 && !token.is_missing() && !token.is_named() {
            let closes = match token.kind() {
                "(" | "#(" => {
                    open.push((token.end_byte() - 1, ")"));
                    None
                }
                "[" | "#[" => {
                    open.push((token.end_byte() - 1, "]"));
                    None
                }
                "{" | "${" => {
                    open.push((token.end_byte() - 1, "}"));
                    None
                }
                ")" => Some(")"),
                "]" => Some("]"),
                "}" => Some("}"),
                _ => None,
            };
            if let Some(closes) = closes {
                match open.pop() {
                    Some((_, expected)) if expected == closes => {}
                    Some((at, _)) if open.last().is_some_and(|(_, outer)| *outer == closes) => {
                        return Some((at, true));
                    }
                    Some(_) | None => return Some((token.start_byte(), false)),
                }
            }
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() || cursor.node().id() == node.id() {
                return open.pop().map(|(at, _)| (at, true));
            }
        }
    }
    None
}

fn fault(at: usize, message: &str, text: &str) -> Fault {
    let at = at.min(text.len());
    let start = memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |feed| feed + 1);
    let line = memchr::memchr_iter(b'\n', &text.as_bytes()[..start]).count() + 1;
    let rest = text[at..].lines().next().unwrap_or_default();
    let near = rest.char_indices().nth(NEAR_CHARS).map_or(rest, |(end, _)| &rest[..end]);
    Fault {
        line,
        column: text[start..at].chars().count() + 1,
        message: message.to_owned(),
        near: near.trim_end().to_owned(),
        last_line: line,
    }
}
