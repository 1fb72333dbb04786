//! Finding the definitions in a tree: one walk, in the order of the text, into nothing but what can hold them.
//!
//! Nothing recurses: a text may be nested as deep as it likes.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use tree_sitter::{Node, Tree, TreeCursor};

use super::definition::{Definition, Definitions, Position};
use super::extent::{Extent, LeadingLines, last_row, narrow};
use super::kinds::{Candidate, NodeContext, Step, look};
use super::masked::{completed, has_within, is_within, masked, without_bodies};
use super::signature::{is_attribute, signature};
use super::source::{self, SourceProblem};
use super::{arrange, recover};
use crate::syntax::Language;

/// How many definitions of one text are told.
const MAX_DEFINITIONS: usize = 50_000;
/// How many nodes of one text are checked.
const MAX_NODES: usize = 2_000_000;
/// How long a name can be, in bytes.
const MAX_NAME_BYTES: usize = 500;
/// After how many nodes the caller is asked whether to stop.
const NODES_BETWEEN_QUESTIONS: usize = 4_096;

/// Finds what a text defines. `stop` is asked often whether to give up.
///
/// # Errors
/// See [`SourceProblem`].
pub fn definitions(
    language: Language,
    source: &[u8],
    stop: &dyn Fn() -> bool,
) -> Result<Definitions, SourceProblem> {
    Ok(with_tree(language, source, stop)?.0)
}

/// Finds what a text defines. Returns also the tree of the text itself, if that was parsed as it is.
///
/// # Errors
/// See [`SourceProblem`].
pub(super) fn with_tree(
    language: Language,
    source: &[u8],
    stop: &dyn Fn() -> bool,
) -> Result<(Definitions, Option<Tree>), SourceProblem> {
    source::worth_parsing(source)?;
    let masked = masked(language, source);
    let (text, tree) = read(language, &masked.text, stop)?;
    let parsed_whole = !tree.root_node().has_error();
    let look = |text: &[u8], tree: &Tree| of_tree(language, tree, (source, text), &masked.bodies, stop);
    // Where something is wrong outside of them, the bodies of functions may hide what is behind them.
    let without = |text: &[u8]| -> Result<(Vec<u8>, Tree), SourceProblem> {
        let outer = without_bodies(text, &masked.bodies);
        let tree = source::parse(language, &outer, stop)?;
        Ok((outer, tree))
    };
    // What is wrong within a body hides nothing that is outside of it; what is around one may.
    let hides = |wrong: &Node<'_>| match is_within(&masked.bodies, &wrong.byte_range()) {
        true => Some(0),
        false if wrong.is_error() && has_within(&masked.bodies, &wrong.byte_range()) => None,
        false => Some(1),
    };
    let (mut found, is_lost) = match wrong(&tree, hides) {
        _ if parsed_whole || masked.bodies.is_empty() => (look(&text, &tree)?, !parsed_whole),
        Some(count) => (look(&text, &tree)?, count > 0),
        None => {
            let (outer, tree) = without(&text)?;
            let mut found = look(&outer, &tree)?;
            if !found.parsed_whole {
                recover::recover(language, &tree, source, &outer, &mut found.list);
            }
            (found, false)
        }
    };
    found.parsed_whole &= parsed_whole;
    if let Some(other) = &masked.other {
        let tree = source::parse(language, other, stop)?;
        let others = of_tree(language, &tree, (source, other), &[], stop)?;
        found.parsed_whole &= others.parsed_whole;
        arrange::add_left_out(&mut found.list, others.list, &text);
    }
    if is_lost {
        recover::recover(language, &tree, source, &text, &mut found.list);
    }
    arrange::add_macros(&mut found.list, &masked.macros, source);
    recover::add_functions(&mut found.list, &masked.functions, source);
    let is_source = text.as_ref() == source;
    Ok((found, is_source.then_some(tree)))
}

/// Parses a text. One with errors is parsed again with what its language lets a writer leave out, if there is less
/// wrong with it then.
fn read<'s>(
    language: Language,
    text: &'s [u8],
    stop: &dyn Fn() -> bool,
) -> Result<(Cow<'s, [u8]>, Tree), SourceProblem> {
    let tree = source::parse(language, text, stop)?;
    if !tree.root_node().has_error() {
        return Ok((Cow::Borrowed(text), tree));
    }
    let Some(other) = completed(language, text) else { return Ok((Cow::Borrowed(text), tree)) };
    let again = source::parse(language, &other, stop)?;
    let count = |tree| wrong(tree, |wrong| Some(1 + wrong.byte_range().len()));
    match count(&again) < count(&tree) {
        true => Ok((Cow::Owned(other), again)),
        false => Ok((Cow::Borrowed(text), tree)),
    }
}

/// Adds up what is wrong with a text by its tree: what it does not understand, and the tokens it lacks. Stops where
/// there is no number.
fn wrong<'t>(tree: &'t Tree, of: impl Fn(&Node<'t>) -> Option<usize>) -> Option<usize> {
    let mut cursor = tree.walk();
    let mut sum = 0;
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            sum += of(&node)?;
        } else if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(sum);
            }
        }
    }
}

/// Finds the definitions of a text in its tree. The second text is what was parsed: the source, perhaps with blanks.
/// Bodies define nothing.
fn of_tree(
    language: Language,
    tree: &Tree,
    (source, text): (&[u8], &[u8]),
    bodies: &[Range<usize>],
    stop: &dyn Fn() -> bool,
) -> Result<Definitions, SourceProblem> {
    let root = tree.root_node();
    let mut walk = Walk {
        language,
        source,
        text,
        bodies,
        list: Vec::new(),
        stack: Vec::new(),
        found: Vec::new(),
        seen: HashSet::new(),
        cursor: root.walk(),
    };
    walk.enter(root, None, None);
    let mut nodes = 0;
    while let Some(pending) = walk.stack.pop() {
        nodes += 1;
        if nodes % NODES_BETWEEN_QUESTIONS == 0 && stop() {
            return Err(SourceProblem::Stopped);
        }
        if nodes > MAX_NODES || walk.list.len() >= MAX_DEFINITIONS {
            return Ok(Definitions { list: walk.list, parsed_whole: false });
        }
        walk.visit(pending);
    }
    Ok(Definitions { list: walk.list, parsed_whole: !root.has_error() })
}

/// A node that is to be checked.
struct PendingNode<'t> {
    node: Node<'t>,
    /// What is above it.
    lead: Option<LeadingLines>,
    container: Option<u32>,
    outer: Option<Wrapper<'t>>,
}

/// What is wrapped around a definition.
#[derive(Clone, Copy)]
struct Wrapper<'t> {
    node: Node<'t>,
    extent: Extent,
}

struct Walk<'t, 's> {
    language: Language,
    source: &'s [u8],
    /// What was parsed: the source, perhaps with blanks.
    text: &'s [u8],
    /// What is not walked.
    bodies: &'s [Range<usize>],
    list: Vec<Definition>,
    /// The next node is the last.
    stack: Vec<PendingNode<'t>>,
    found: Vec<Candidate<'t>>,
    /// Names of which only the first definition counts, by container.
    seen: HashSet<(Option<u32>, String)>,
    cursor: TreeCursor<'t>,
}

impl<'t> Walk<'t, '_> {
    /// Puts the children of a node on the stack, each with the comments and attributes above it.
    fn enter(&mut self, node: Node<'t>, container: Option<u32>, outer: Option<Wrapper<'t>>) {
        let (language, source) = (self.language, self.source);
        // A body begins behind its bracket.
        if node.kind() == "compound_statement"
            && self.bodies.binary_search_by_key(&(node.start_byte() + 1), |body| body.start).is_ok()
        {
            return;
        }
        let below = self.stack.len();
        let mut lead: Option<LeadingLines> = None;
        // A comment behind something on its line says nothing of what comes next.
        let mut row_before = container.is_some().then(|| node.start_position().row);
        for child in node.named_children(&mut self.cursor) {
            let kind = child.kind();
            if kind.ends_with("comment") {
                let row = child.start_position().row;
                if row_before != Some(row) && !is_inner(child, language, source) {
                    lead = Some(LeadingLines::with(lead, child));
                }
                row_before = Some(last_row(child));
                continue;
            }
            if is_attribute(kind) {
                lead = Some(LeadingLines::with(lead, child));
                continue;
            }
            let lead = lead.take().and_then(|lead| lead.touching(child));
            row_before = Some(last_row(child));
            self.stack.push(PendingNode { node: child, lead, container, outer });
        }
        self.stack[below..].reverse();
    }

    fn visit(&mut self, pending: PendingNode<'t>) {
        let PendingNode { node, lead, container, outer } = pending;
        if node.is_error() {
            return self.enter(node, container, None);
        }
        let holder = container.and_then(|container| self.list.get(container as usize));
        let around = NodeContext {
            source: self.source,
            inside: holder.map(|holder| holder.kind),
            inside_name: holder.map_or("", |holder| &holder.name),
        };
        match look(self.language, node, &around, &mut self.found) {
            Step::Past => {}
            Step::Into => self.enter(node, container, None),
            Step::Wrap => {
                let mine = Wrapper { node, extent: Extent::of(node, lead) };
                self.enter(node, container, Some(outer.unwrap_or(mine)));
            }
            Step::Found => self.take(lead, container, outer),
        }
    }

    /// Takes what the rules have found at one node into the list.
    fn take(&mut self, lead: Option<LeadingLines>, container: Option<u32>, outer: Option<Wrapper<'t>>) {
        let all = std::mem::take(&mut self.found);
        let outer = outer.filter(|_| all.len() == 1);
        let mut held = Vec::new();
        let first = all.first().map(|first| first.whole.id());
        for found in all {
            let lead = lead.filter(|_| Some(found.whole.id()) == first);
            if let Some(index) = self.add(&found, lead, container, outer) {
                held.extend(found.members.into_iter().map(|members| (members, index)));
            }
        }
        for (members, index) in held.into_iter().rev() {
            self.enter(members, Some(index), None);
        }
    }

    fn add(
        &mut self,
        found: &Candidate<'t>,
        lead: Option<LeadingLines>,
        container: Option<u32>,
        outer: Option<Wrapper<'t>>,
    ) -> Option<u32> {
        let name = match &found.text {
            Some(text) => text.clone(),
            None => String::from_utf8_lossy(self.source.get(found.name.byte_range())?).into_owned(),
        };
        if name.is_empty() || name.len() > MAX_NAME_BYTES {
            return None;
        }
        if found.first_only && !self.seen.insert((container, name.clone())) {
            return None;
        }
        let (head, extent) = match outer {
            Some(outer) => (outer.node, outer.extent),
            None => (found.head, Extent::of(found.whole, lead)),
        };
        let (bytes, first_line, last_line) = extent.behind_blanks(self.source, self.text).reach(self.source);
        let index = narrow(self.list.len());
        self.list.push(Definition {
            name,
            kind: found.kind,
            container,
            owner: found.owner.clone(),
            signature: signature(head, found.header_end, self.source, self.text),
            bytes,
            name_at: position(found.name, self.source),
            name_byte: narrow(found.name.start_byte()),
            first_line,
            last_line,
            declared_only: found.declared_only,
        });
        Some(index)
    }
}

/// Returns whether a comment is about what it is in.
fn is_inner(comment: Node<'_>, language: Language, source: &[u8]) -> bool {
    let text = &source[comment.start_byte()..];
    language == Language::Rust && (text.starts_with(b"//!") || text.starts_with(b"/*!"))
}

/// Returns the place where a node begins.
pub(super) fn position(node: Node<'_>, source: &[u8]) -> Position {
    let at = node.start_position();
    let end = node.start_byte();
    let line = source.get(end.saturating_sub(at.column)..end).unwrap_or_default();
    // Every character has one byte that is not a continuation.
    let characters = line.iter().filter(|byte| (**byte & 0xC0) != 0x80).count();
    Position { line: narrow(at.row + 1), column: narrow(characters + 1) }
}
