//! Keeping contents and records, and finding them again.

#![expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own, in its state folder")]

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::file::{content_version, sha256_hex};
use bailiwick_contract::{id, time};
use bailiwick_platform::fs::{Secrecy, create_private_dir, new_private_file, read_own_file};

use super::prune::prune;
use super::record::{Kept, Record};

/// The largest content that is kept.
const MAX_CONTENT_BYTES: u64 = 16 << 20;
/// The largest record.
const MAX_RECORD_BYTES: u64 = 4 << 20;
/// How many digits of a hash name a path.
const PATH_DIGITS: usize = 32;

/// The kept versions of one installation.
#[derive(Debug, Clone)]
pub struct VersionStore {
    folder: PathBuf,
}

/// A file as it is before a change.
#[derive(Debug, Clone)]
pub struct Before {
    /// Its content.
    pub content: Arc<Vec<u8>>,
    /// The SHA-256 of the content, in hexadecimal.
    pub sha256: String,
    /// Its permission bits.
    pub mode: u32,
}

/// The change of one file.
#[derive(Debug, Clone)]
pub struct FileChange {
    /// The path that it gets, or has.
    pub path: String,
    /// The path that it had, if that was another.
    pub moved_from: Option<String>,
    /// What it was; `None` if there was no file.
    pub before: Option<Before>,
    /// The version that it gets; `None` if it goes.
    pub version_after: Option<String>,
}

impl VersionStore {
    /// Finds the store in Bailiwick's state folder.
    pub fn below(state: &Path) -> Self {
        Self { folder: state.join("versions") }
    }

    /// Keeps files as they are before a change. Gives the id by which the change can be taken back.
    ///
    /// # Errors
    /// Those of the file system; `FileTooLarge` for a content over 16 MiB.
    pub fn keep(&self, scope: &str, op: &str, changes: &[FileChange]) -> io::Result<String> {
        prune(&self.folder);
        let undo_id = id::new_id();
        let mut files = Vec::with_capacity(changes.len());
        for change in changes {
            let (sha256, bytes, mode) = match &change.before {
                None => (None, 0, 0),
                Some(before) => {
                    (Some(self.keep_content(before)?), before.content.len() as u64, before.mode & 0o777)
                }
            };
            files.push(Kept {
                path: change.path.clone(),
                moved_from: change.moved_from.clone(),
                sha256,
                bytes,
                mode,
                version_after: change.version_after.clone(),
            });
        }
        let record = Record {
            undo_id: undo_id.clone(),
            at_ms: time::now_ms(),
            scope: scope.to_owned(),
            op: op.to_owned(),
            files,
        };
        let json = serde_json::to_vec(&record).map_err(io::Error::other)?;
        let log = self.folder.join("log");
        write_record(&log, &undo_id, &json)?;
        for kept in &record.files {
            for path in std::iter::once(&kept.path).chain(&kept.moved_from) {
                link(&log.join(&undo_id), &self.of_path(scope, path), &undo_id)?;
            }
        }
        Ok(undo_id)
    }

    /// Forgets a change that was not made after all. Its contents go when they are old.
    pub fn forget(&self, undo_id: &str) {
        if id::is_id(undo_id) {
            // What stays finds no record any more.
            let _ = fs::remove_file(self.folder.join("log").join(undo_id));
        }
    }

    /// Finds a change of a scope by its id.
    pub fn record(&self, scope: &str, undo_id: &str) -> Option<Record> {
        if !id::is_id(undo_id) {
            return None;
        }
        let file = self.folder.join("log").join(undo_id);
        let (json, _) = read_own_file(&file, Secrecy::Secret, MAX_RECORD_BYTES).ok()?;
        let record: Record = serde_json::from_slice(&json).ok()?;
        (record.scope == scope && record.undo_id == undo_id).then_some(record)
    }

    /// Lists the changes of a path in a scope, the newest first.
    pub fn changes_of(&self, scope: &str, path: &str) -> Vec<Record> {
        let Ok(entries) = fs::read_dir(self.of_path(scope, path)) else { return Vec::new() };
        let mut ids: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        ids.sort_unstable_by(|one, next| next.cmp(one));
        ids.iter().filter_map(|undo_id| self.record(scope, undo_id)).collect()
    }

    /// Gives the content that a path had in a version (`s-` and digits), if it is kept.
    pub fn content_of_version(&self, scope: &str, path: &str, version: &str) -> Option<Vec<u8>> {
        let records = self.changes_of(scope, path);
        let files = records.iter().flat_map(|record| &record.files);
        let sha256 = files
            .filter(|kept| kept.path == path || kept.moved_from.as_deref() == Some(path))
            .filter_map(|kept| kept.sha256.as_deref())
            .find(|sha256| content_version(sha256) == version)?;
        self.content(sha256)
    }

    /// Gives a content that is kept; `None` if it is not, or not any more.
    pub fn content(&self, sha256: &str) -> Option<Vec<u8>> {
        let good = sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
        let file = self.folder.join("contents").join(good.then_some(&sha256[..2])?).join(sha256);
        let (content, _) = read_own_file(&file, Secrecy::Secret, MAX_CONTENT_BYTES).ok()?;
        (sha256_hex(&content) == sha256).then_some(content)
    }

    fn keep_content(&self, before: &Before) -> io::Result<String> {
        let (content, sha256) = (&before.content, before.sha256.clone());
        if content.len() as u64 > MAX_CONTENT_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let folder = self.folder.join("contents").join(&sha256[..2]);
        match OpenOptions::new().append(true).open(folder.join(&sha256)) {
            // It is there: its age begins anew.
            Ok(file) if file.metadata()?.len() == content.len() as u64 => {
                file.set_modified(SystemTime::now())?;
            }
            Ok(_) | Err(_) => write_new(&folder, &sha256, content)?,
        }
        Ok(sha256)
    }

    fn of_path(&self, scope: &str, path: &str) -> PathBuf {
        let mut key = sha256_hex(format!("{scope}\0{path}").as_bytes());
        key.truncate(PATH_DIGITS);
        self.folder.join("paths").join(key)
    }
}

/// Makes a record. One that a crash cut off cannot be read, and so is none.
fn write_record(folder: &Path, name: &str, json: &[u8]) -> io::Result<()> {
    in_folder(folder, || {
        let path = folder.join(name);
        let mut file = new_private_file(&path)?;
        file.write_all(json).inspect_err(|_| drop(fs::remove_file(&path)))
    })
}

/// Gives a record a second name, below that of a path: which takes no file of its own.
fn link(record: &Path, folder: &Path, name: &str) -> io::Result<()> {
    match in_folder(folder, || fs::hard_link(record, folder.join(name))) {
        // A file of two names, both of this path.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        // A file system without second names.
        Err(_) => write_new(folder, name, b""),
        Ok(()) => Ok(()),
    }
}

/// Does something in a folder, which is made if it is missing.
fn in_folder(folder: &Path, act: impl Fn() -> io::Result<()>) -> io::Result<()> {
    match act() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create_private_dir(folder)?;
            act()
        }
        other => other,
    }
}

/// Makes a file of mode 0600 as a whole. A crash leaves it, or a rest that no name leads to.
fn write_new(folder: &Path, name: &str, content: &[u8]) -> io::Result<()> {
    in_folder(folder, || {
        let temporary = folder.join(format!(".{}", id::new_id()));
        let mut file = new_private_file(&temporary)?;
        let written = file.write_all(content).and_then(|()| fs::rename(&temporary, folder.join(name)));
        if written.is_err() {
            // It is ours alone, and pruning finds it later.
            let _ = fs::remove_file(&temporary);
        }
        written
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &str, content: &[u8]) -> FileChange {
        FileChange {
            path: path.to_owned(),
            moved_from: None,
            before: Some(Before {
                content: Arc::new(content.to_vec()),
                sha256: sha256_hex(content),
                mode: 0o100_644,
            }),
            version_after: Some("s-x".to_owned()),
        }
    }

    #[test]
    fn what_was_kept_is_found_in_its_scope_only() {
        use bailiwick_platform::fs::Protection;

        let state = std::env::temp_dir().join(format!("bailiwick-versions-{}", id::new_id()));
        let store = VersionStore::below(&state);
        let first = store.keep("app", "file.write", &[change("a", b"one")]).expect("it is kept");
        let second = store.keep("app", "file.patch", &[change("a", b"two"), change("b", b"")]);
        let second = second.expect("it is kept");
        let ids: Vec<String> = store.changes_of("app", "a").into_iter().map(|it| it.undo_id).collect();
        assert_eq!(ids, [second.clone(), first.clone()]);
        let kept = &store.record("app", &first).expect("it is there").files[0];
        let sha256 = kept.sha256.clone().expect("there was a file");
        assert_eq!(store.content(&sha256).as_deref(), Some(&b"one"[..]));
        assert_eq!((store.record("other", &first), store.changes_of("other", "a").len()), (None, 0));
        let file = state.join("versions/contents").join(&sha256[..2]).join(&sha256);
        assert!(Protection::is_private(&file, false));
        // A content that was changed is no content.
        fs::write(&file, b"eno").expect("it can be written");
        assert_eq!(store.content(&sha256), None);
        store.forget(&second);
        assert_eq!(store.record("app", &second), None);
        assert_eq!(store.record("app", "../log/x"), None);
        bailiwick_platform::fs::remove_tree(&state).expect("it was made above");
    }
}
