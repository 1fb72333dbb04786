//! A scope's folder, of which snapshots are taken.

use std::fs;
use std::ops::Deref;

use bailiwick::contract::{Cancel, RawPath};
use bailiwick::policy::{OwnFolders, PermittedPath, Scopes};
use bailiwick::providers::snapshot::{ChangeKind, Changes, Snapshot, SnapshotLimits};
use serde_json::Value;

use crate::patience::PATIENCE;
use support::scope::TestScope;

/// A folder `app`, and what a scope of it permits.
pub struct SnapshotScope {
    scope: TestScope,
    scopes: Scopes,
}

impl Deref for SnapshotScope {
    type Target = TestScope;

    fn deref(&self) -> &TestScope {
        &self.scope
    }
}

impl SnapshotScope {
    /// Creates the folder, with this policy.
    pub fn new(policy: Value) -> Self {
        let scope = TestScope::new().with_capabilities(&["fs:read"]).with_policy(policy);
        fs::create_dir_all(&scope.dirs.state).expect("a folder is made");
        let scopes = Scopes::compile(&scope.config, &OwnFolders::of(&scope.dirs)).expect("valid scopes");
        Self { scope, scopes }
    }

    /// Returns a folder as the policy permits it.
    pub fn permitted(&self, path: &str) -> PermittedPath {
        let scope = self.scopes.find("app").expect("it is configured");
        scope.readable(&RawPath(path.to_owned())).expect("it is permitted")
    }

    /// Takes a snapshot of the whole.
    pub fn take(&self) -> Snapshot {
        self.take_within(SnapshotLimits::default())
    }

    /// Takes a snapshot within limits.
    pub fn take_within(&self, limits: SnapshotLimits) -> Snapshot {
        Snapshot::take(&self.permitted("."), &self.dirs.state, limits, &soon()).expect("it is taken")
    }

    /// Returns what is in Bailiwick's folder for snapshots.
    pub fn left_over(&self) -> usize {
        fs::read_dir(self.dirs.state.join("snapshots")).expect("the folder is there").count()
    }
}

/// A time limit that is not reached.
pub fn soon() -> Cancel {
    Cancel::after(*PATIENCE)
}

/// Returns what changed, a line for each file: its letter, lines added and removed, its path, and what is to be said.
pub fn lines(changes: &Changes) -> Vec<String> {
    let count = |count: Option<u64>| count.map_or("-".to_owned(), |count| count.to_string());
    let line = |file: &bailiwick::providers::snapshot::FileChange| {
        let letter = match file.change {
            ChangeKind::Added => 'A',
            ChangeKind::Modified => 'M',
            ChangeKind::Deleted => 'D',
            ChangeKind::Renamed => 'R',
        };
        let mut line = format!("{letter} {} {} ", count(file.insertions), count(file.deletions));
        if let Some(from) = &file.from {
            line.push_str(&format!("{from} -> "));
        }
        line.push_str(&file.path);
        for (says, word) in [(file.binary, " binary"), (file.closed, " closed"), (file.mode_changed, " mode")]
        {
            if says {
                line.push_str(word);
            }
        }
        line
    };
    changes.files.iter().map(line).collect()
}
