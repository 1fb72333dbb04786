//! The trees of the files that were edited last, so that the next edit of one is parsed in no time.
//!
//! They are large, some forty times their text: only a few are held, and only as long as the parse worker runs.

use std::sync::{Mutex, PoisonError};

use tree_sitter::Tree;

use super::Language;

/// How many nodes are held in all; one takes about 130 bytes.
const MAX_NODES: usize = 200_000;
/// How small a tree can be so that it is not worth holding: it is made in less than a millisecond.
const MIN_NODES: usize = 2_000;

struct CachedTree {
    language: Language,
    version: String,
    tree: Tree,
    nodes: usize,
}

/// Oldest use first.
static TREES: Mutex<Vec<CachedTree>> = Mutex::new(Vec::new());

/// Returns the tree of a content, if it is held.
pub(super) fn take(language: Language, version: &str) -> Option<Tree> {
    let mut trees = TREES.lock().unwrap_or_else(PoisonError::into_inner);
    let at = trees.iter().position(|held| held.language == language && held.version == version)?;
    let held = trees.remove(at);
    let tree = held.tree.clone();
    trees.push(held);
    Some(tree)
}

/// Holds the tree of a content for a while, if it is not too large.
pub(super) fn hold(language: Language, version: &str, tree: Tree) {
    let nodes = tree.root_node().descendant_count();
    if !(MIN_NODES..=MAX_NODES).contains(&nodes) {
        return;
    }
    let mut trees = TREES.lock().unwrap_or_else(PoisonError::into_inner);
    trees.retain(|held| held.language != language || held.version != version);
    let mut sum = nodes + trees.iter().map(|held| held.nodes).sum::<usize>();
    while sum > MAX_NODES {
        sum -= trees.remove(0).nodes;
    }
    trees.push(CachedTree { language, version: version.to_owned(), tree, nodes });
}
