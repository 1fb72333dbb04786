//! A scope's folder, of which snapshots are taken.

use std::fs;
use std::path::PathBuf;

use bailiwick::config::Config;
use bailiwick::contract::{Access, Cancel, RawPath};
use bailiwick::platform::dirs::Dirs;
use bailiwick::policy::{OwnFolders, PermittedPath, Scopes};
use bailiwick::providers::snapshot::{ChangeKind, Changes, Snapshot, SnapshotLimits};
use serde_json::{Value, json};

use crate::patience::PATIENCE;
use crate::temporary::TemporaryFolder;

/// A folder `app`, and what a scope of it permits.
pub struct Ground {
    folder: TemporaryFolder,
    scopes: Scopes,
    dirs: Dirs,
}

impl Ground {
    /// Makes the folder, with this policy.
    pub fn new(policy: Value) -> Self {
        let folder = TemporaryFolder::new();
        let root = folder.path().join("app");
        fs::create_dir(&root).expect("a folder is made");
        let config: Config = serde_json::from_value(json!({
            "machineId": "01JD0000000000000000000000",
            "machineName": "test",
            "scopes": [{"id": "app", "roots": [root], "capabilities": ["fs:read"], "policy": policy}],
        }))
        .expect("a valid config");
        let dirs = Dirs::below(folder.path().join("home"));
        fs::create_dir_all(&dirs.state).expect("a folder is made");
        let scopes = Scopes::compile(&config, &OwnFolders::of(&dirs)).expect("valid scopes");
        Self { folder, scopes, dirs }
    }

    /// Gives a path of the scope.
    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("app").join(path)
    }

    /// Writes a file.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder is made");
        fs::write(path, content).expect("a file is written");
    }

    /// Gives a folder as the policy permits it.
    pub fn permitted(&self, path: &str) -> PermittedPath {
        let scope = self.scopes.find("app").expect("it is configured");
        scope.locate(&RawPath(path.to_owned()), Access::Read).expect("it is permitted")
    }

    /// Takes a snapshot of the whole.
    pub fn take(&self) -> Snapshot {
        self.take_within(SnapshotLimits::default())
    }

    /// Takes a snapshot within limits.
    pub fn take_within(&self, limits: SnapshotLimits) -> Snapshot {
        Snapshot::take(&self.permitted("."), &self.dirs.state, limits, &soon()).expect("it is taken")
    }

    /// Gives what is in Bailiwick's folder for snapshots.
    pub fn left_over(&self) -> usize {
        fs::read_dir(self.dirs.state.join("snapshots")).expect("the folder is there").count()
    }
}

/// A time limit that is not reached.
pub fn soon() -> Cancel {
    Cancel::after(*PATIENCE)
}

/// Gives what changed, a line for each file: its letter, lines added and removed, its path, and what is to be said.
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
