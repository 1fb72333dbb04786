//! The trees of the files that were edited last, so that the next edit of one is parsed in no time.
//!
//! They are large, some forty times their text: only a few are held, and none for long.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tree_sitter::Tree;

use super::Language;

/// How long a tree is held that nobody asks for.
const HELD_FOR: Duration = Duration::from_secs(20);
/// How many nodes are held in all; one takes about 130 bytes.
const MAX_NODES: usize = 200_000;
/// How small a tree can be so that it is not worth holding: it is made in less than a millisecond.
const MIN_NODES: usize = 2_000;

struct Held {
    language: Language,
    version: String,
    tree: Tree,
    nodes: usize,
    used: Instant,
}

/// Oldest use first. Whoever fills it starts a thread that empties it.
static TREES: Mutex<(Vec<Held>, bool)> = Mutex::new((Vec::new(), false));

/// Gives the tree of a content, if it is held.
pub(super) fn take(language: Language, version: &str) -> Option<Tree> {
    let mut trees = TREES.lock().unwrap_or_else(PoisonError::into_inner);
    let at = trees.0.iter().position(|held| held.language == language && held.version == version)?;
    let mut held = trees.0.remove(at);
    held.used = Instant::now();
    let tree = held.tree.clone();
    trees.0.push(held);
    Some(tree)
}

/// Holds the tree of a content for a while, if it is not too large.
pub(super) fn hold(language: Language, version: &str, tree: Tree) {
    let nodes = tree.root_node().descendant_count();
    if !(MIN_NODES..=MAX_NODES).contains(&nodes) {
        return;
    }
    let mut trees = TREES.lock().unwrap_or_else(PoisonError::into_inner);
    trees.0.retain(|held| held.language != language || held.version != version);
    let mut sum = nodes + trees.0.iter().map(|held| held.nodes).sum::<usize>();
    while sum > MAX_NODES {
        sum -= trees.0.remove(0).nodes;
    }
    trees.0.push(Held { language, version: version.to_owned(), tree, nodes, used: Instant::now() });
    if !trees.1 {
        let started = std::thread::Builder::new().name("syntax-trees".to_owned()).spawn(let_go);
        trees.1 = started.is_ok();
        if started.is_err() {
            trees.0.clear();
        }
    }
}

/// Lets trees go when their time is over, and ends with the last one.
fn let_go() {
    loop {
        std::thread::sleep(HELD_FOR / 4);
        let mut trees = TREES.lock().unwrap_or_else(PoisonError::into_inner);
        trees.0.retain(|held| held.used.elapsed() < HELD_FOR);
        if trees.0.is_empty() {
            *trees = (Vec::new(), false);
            return;
        }
    }
}
