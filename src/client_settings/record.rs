//! What was changed in settings files, and the files as they were: in Bailiwick's own state folder, for this user
//! alone, since settings of clients hold secrets of other servers.

use std::fs;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use bailiwick_contract::{ErrorCode, Failure, id, time};
use bailiwick_platform::fs::{
    OwnFileError, Secrecy, create_private_dir, read_own_file, replace_private_file,
};
use bailiwick_providers::file::sha256_hex;

use super::kind::ClientKind;
use crate::installation::home::Home;

/// How many changes are kept, with the files as they were.
const MAX_CHANGES: usize = 60;
/// The largest list of changes.
const MAX_LIST_BYTES: u64 = 4 << 20;
/// The largest file as it was.
const MAX_BACKUP_BYTES: u64 = 65 << 20;

/// What was done to a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// An entry was put in or made right.
    Install,
    /// An entry was taken out.
    Remove,
}

impl Action {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Install => "install",
            Self::Remove => "remove",
        }
    }
}

/// A change of a settings file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The change's id.
    pub id: String,
    /// When it was made (RFC 3339).
    pub at: String,
    /// What was done.
    pub action: Action,
    /// The client.
    pub client: ClientKind,
    /// The entry's name.
    pub name: String,
    /// The settings file.
    pub file: PathBuf,
    /// SHA-256 of the file before; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// SHA-256 of the file afterwards; absent if it was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Folders that were made for the file, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<PathBuf>,
    /// The token that was made for the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Whether it was undone.
    #[serde(default)]
    pub undone: bool,
}

/// A change that is about to be written down.
#[derive(Debug)]
pub struct NewChange<'a> {
    /// What is done.
    pub action: Action,
    /// The client.
    pub client: ClientKind,
    /// The entry's name.
    pub name: &'a str,
    /// The settings file.
    pub file: &'a Path,
    /// Its bytes before.
    pub before: Option<&'a [u8]>,
    /// Its bytes afterwards.
    pub after: Option<&'a [u8]>,
    /// The token that was made for it.
    pub token: Option<String>,
}

/// The changes so far, oldest first.
#[derive(Debug)]
pub struct Records {
    folder: PathBuf,
    changes: Vec<Change>,
}

#[derive(Serialize, Deserialize)]
struct StoredRecord {
    changes: Vec<Change>,
}

impl Records {
    /// Reads the changes of an installation.
    ///
    /// # Errors
    /// `provider_unavailable` if the list is there and cannot be read.
    pub fn load(home: &Home) -> Result<Self, Failure> {
        let folder = home.dirs.state.join("clients");
        let list = folder.join("changes.json");
        let broken = |problem: String| {
            Failure::new(ErrorCode::ProviderUnavailable, format!("{}: {problem}", list.display())).hint(
                "Move this file away: only the undoing of earlier changes of clients' settings is lost.",
            )
        };
        let changes = match read_own_file(&list, Secrecy::Secret, MAX_LIST_BYTES) {
            Ok((bytes, _)) => {
                let stored: StoredRecord =
                    serde_json::from_slice(&bytes).map_err(|error| broken(error.to_string()))?;
                stored.changes
            }
            Err(OwnFileError::NotFound) => Vec::new(),
            Err(error) => return Err(broken(error.to_string())),
        };
        Ok(Self { folder, changes })
    }

    /// Returns the changes, oldest first.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Returns the files that hold an entry by what was written down: the last change of each.
    pub fn installed(&self) -> Vec<&Change> {
        let mut last: Vec<&Change> = Vec::new();
        for change in self.changes.iter().filter(|it| !it.undone) {
            last.retain(|it| (&it.file, &it.name) != (&change.file, &change.name));
            last.push(change);
        }
        last.retain(|it| it.action == Action::Install);
        last
    }

    /// Keeps the file as it was and writes the change down, before it is made.
    ///
    /// # Errors
    /// `provider_unavailable`; nothing is to be changed then.
    pub fn begin(&mut self, new: NewChange<'_>) -> Result<String, Failure> {
        let change = Change {
            id: id::new_id(),
            at: time::rfc3339(time::now_ms()),
            action: new.action,
            client: new.client,
            name: new.name.to_owned(),
            file: new.file.to_owned(),
            before: new.before.map(sha256_hex),
            after: new.after.map(sha256_hex),
            folders: Vec::new(),
            token: new.token,
            undone: false,
        };
        let kept = (|| {
            create_private_dir(&self.folder)?;
            new.before.map_or(Ok(()), |bytes| replace_private_file(&self.backup_path(&change.id), bytes))
        })();
        kept.map_err(|error| self.unwritable(&error))?;
        let id = change.id.clone();
        self.changes.push(change);
        while self.changes.len() > MAX_CHANGES {
            let oldest = self.changes.remove(0);
            // It may never have had one.
            let _ = fs::remove_file(self.backup_path(&oldest.id));
        }
        self.save()?;
        Ok(id)
    }

    /// Writes down what became of a change: the folders that were made, or that it was not made.
    ///
    /// # Errors
    /// `provider_unavailable`.
    pub fn finish(&mut self, id: &str, made: Option<Vec<PathBuf>>) -> Result<(), Failure> {
        let Some(at) = self.changes.iter().position(|it| it.id == id) else { return Ok(()) };
        match made {
            Some(folders) => self.changes[at].folders = folders,
            None => drop(self.changes.remove(at)),
        }
        self.save()
    }

    /// Writes down that a change was undone.
    ///
    /// # Errors
    /// `provider_unavailable`.
    pub fn mark_undone(&mut self, id: &str) -> Result<(), Failure> {
        for change in self.changes.iter_mut().filter(|it| it.id == id) {
            change.undone = true;
        }
        self.save()
    }

    /// Returns the file as it was before a change; `None` inside where there was none.
    ///
    /// # Errors
    /// `not_found` where it was not kept, or is not what it was.
    pub fn before(&self, change: &Change) -> Result<Option<Vec<u8>>, Failure> {
        let Some(expected) = &change.before else { return Ok(None) };
        let path = self.backup_path(&change.id);
        match read_own_file(&path, Secrecy::Secret, MAX_BACKUP_BYTES) {
            Ok((bytes, _)) if sha256_hex(&bytes) == *expected => Ok(Some(bytes)),
            Ok(_) => Err(Failure::new(ErrorCode::NotFound, format!("{} was changed", path.display()))),
            Err(error) => Err(Failure::new(ErrorCode::NotFound, format!("{}: {error}", path.display()))),
        }
    }

    /// Returns where the file as it was before a change is kept.
    pub fn backup_path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.before"))
    }

    fn save(&self) -> Result<(), Failure> {
        let stored = StoredRecord { changes: self.changes.clone() };
        let mut text = serde_json::to_vec_pretty(&stored).expect("changes have a JSON form");
        text.push(b'\n');
        replace_private_file(&self.folder.join("changes.json"), &text)
            .map_err(|error| self.unwritable(&error))
    }

    fn unwritable(&self, error: &std::io::Error) -> Failure {
        Failure::new(
            ErrorCode::ProviderUnavailable,
            format!("the file as it was cannot be kept in {}: {error}", self.folder.display()),
        )
        .hint("Check the folder's owner, permissions and free space. No settings were changed.")
    }
}
