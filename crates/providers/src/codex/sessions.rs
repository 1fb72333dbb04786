//! The sessions of a scope that Codex has kept: those that can be gone on with.

#![expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own, in its state folder")]

use std::path::Path;

use bailiwick_contract::time;
use bailiwick_platform::dirs::Dirs;

use super::home;
use super::ready::is_session_id;

/// How deep the files are below the folder of sessions: year, month, day.
const DEPTH: usize = 3;
/// What the name of a session's file begins with.
const PREFIX: &str = "rollout-";
/// The length of an id.
const ID_CHARS: usize = 36;
/// The most sessions that are listed.
const MAX_SESSIONS: usize = 1_000;

/// One session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// When something was last added to it, in milliseconds since the epoch.
    pub changed_at_ms: i64,
}

/// Returns the sessions of a scope, newest first.
pub fn sessions(dirs: &Dirs, scope: &str) -> Vec<Session> {
    let mut found = Vec::new();
    collect(&home::folder(dirs, scope).join("sessions"), DEPTH, &mut found);
    found.sort_by(|a, b| b.changed_at_ms.cmp(&a.changed_at_ms).then_with(|| b.id.cmp(&a.id)));
    found.truncate(MAX_SESSIONS);
    found
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<Session>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            if depth > 0 {
                collect(&entry.path(), depth - 1, found);
            }
            continue;
        }
        let name = entry.file_name();
        let id = name.to_str().and_then(id_of);
        if let Some(id) = id {
            let changed = entry.metadata().and_then(|facts| facts.modified()).ok();
            let since = changed.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
            let changed_at_ms =
                since.and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or_else(time::now_ms);
            found.push(Session { id: id.to_owned(), changed_at_ms });
        }
    }
}

/// Returns the id in the name of a session's file, `rollout-TIME-ID.jsonl`.
fn id_of(name: &str) -> Option<&str> {
    let stem = name.strip_prefix(PREFIX)?.split('.').next()?;
    let id = stem.get(stem.len().checked_sub(ID_CHARS)?..)?;
    is_session_id(id).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_from_the_name_of_a_file() {
        let id = "01a1ffb7-11ca-7d40-9a2d-bac5d76f6928";
        assert_eq!(id_of(&format!("rollout-2026-11-21T20-05-50-{id}.jsonl")), Some(id));
        assert_eq!(id_of(&format!("rollout-2026-11-21T20-05-50-{id}.jsonl.zst")), Some(id));
        for other in ["rollout-.jsonl", "x.jsonl", "rollout-2026-11-21T20-05-50-nothing.jsonl"] {
            assert_eq!(id_of(other), None, "{other}");
        }
    }
}
