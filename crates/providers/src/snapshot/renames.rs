//! Finding what was renamed: a path that is gone and one that is new, with equal content.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::file::sha256_hex;
use bailiwick_platform::fs::RelPath;

use super::changes::ChangeKind;
use super::judge::PathChange;
use super::take::Snapshot;

/// Pairs paths. Gives, for the new path of each pair, the old one. `changes` are in the order of paths.
pub(super) fn find(snapshot: &Snapshot, changes: &[(RelPath, PathChange)]) -> HashMap<RelPath, RelPath> {
    let of = |kind| move |(_, judged): &&(RelPath, PathChange)| judged.change == kind;
    let (added, gone): (Vec<_>, Vec<_>) = (
        changes.iter().filter(of(ChangeKind::Added)).collect(),
        changes.iter().filter(of(ChangeKind::Deleted)).collect(),
    );
    let mut pairs: HashMap<RelPath, RelPath> = HashMap::new();
    let mut used: HashSet<&RelPath> = HashSet::new();
    // The very file, with the time of its last change: nothing but its name is another.
    let very =
        |judged: &PathChange| (judged.stat.id, judged.stat.size, judged.stat.modified_ns, judged.stat.kind);
    let by_file: HashMap<_, _> = gone.iter().map(|(path, judged)| (very(judged), path)).collect();
    for (path, judged) in &added {
        if let Some(from) = by_file.get(&very(judged))
            && used.insert(from)
        {
            pairs.insert(path.clone(), (*from).clone());
        }
    }
    // An equal content that is not empty. Only of sizes that both sides have.
    let sizes: HashSet<u64> = added
        .iter()
        .filter(|(path, judged)| judged.sha256.is_some() && judged.stat.size > 0 && !pairs.contains_key(path))
        .map(|(_, judged)| judged.stat.size)
        .collect();
    let mut by_content: HashMap<String, VecDeque<&RelPath>> = HashMap::new();
    for (path, judged) in &gone {
        if !used.contains(path)
            && sizes.contains(&judged.stat.size)
            && let Some(content) = snapshot.content(path.as_bytes())
        {
            by_content.entry(sha256_hex(&content)).or_default().push_back(path);
        }
    }
    for (path, judged) in added {
        if pairs.contains_key(path) {
            continue;
        }
        let candidates = judged.sha256.as_ref().and_then(|sha256| by_content.get_mut(sha256));
        let Some(candidates) = candidates.filter(|candidates| !candidates.is_empty()) else { continue };
        // One that kept its name before any other.
        let same_name = candidates.iter().position(|from| from.file_name() == path.file_name());
        if let Some(from) = candidates.remove(same_name.unwrap_or(0)) {
            pairs.insert(path.clone(), from.clone());
        }
    }
    pairs
}
