//! Keeping pictures and their facts, and finding them again.

#![expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own, in its state folder")]

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::file::sha256_hex;
use bailiwick_contract::{id, time};
use bailiwick_platform::fs::{RetentionClock, Secrecy, create_private_dir, new_private_file, read_own_file};

use super::prune::{Bounds, prune};
use super::{CaptureFacts, KeptPicture};

/// The largest picture that is kept.
const MAX_PICTURE_BYTES: usize = 64 << 20;
/// The largest file of facts.
const MAX_FACTS_BYTES: u64 = 16 << 10;
/// How the file of facts is named, after the id.
pub(super) const FACTS: &str = ".json";
/// How the file of a picture is named, after the id.
pub(super) const PICTURE: &str = ".picture";

/// The kept pictures of one installation.
#[derive(Debug, Clone)]
pub struct CaptureStore {
    folder: PathBuf,
    clock: RetentionClock,
}

impl CaptureStore {
    /// How long a picture and its facts are known, in milliseconds: a day.
    pub const LIFE_MS: i64 = 24 * 3_600 * 1_000;

    /// Finds the store in Bailiwick's state folder. Nothing is opened or made.
    pub fn below(state: &Path) -> Self {
        Self { folder: state.join("captures"), clock: RetentionClock::below(state) }
    }

    /// Keeps the facts of a picture, and the picture where one is given; what it is like is then added to the facts.
    ///
    /// # Errors
    /// Those of the file system; `FileTooLarge` for a picture over 64 MiB. Nothing is kept then.
    pub fn keep(&self, facts: &mut CaptureFacts, picture: Option<(&str, &[u8])>) -> io::Result<()> {
        if picture.is_some_and(|(_, bytes)| bytes.len() > MAX_PICTURE_BYTES) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        facts.picture = picture.map(|(mime_type, bytes)| KeptPicture {
            mime_type: mime_type.to_owned(),
            size: bytes.len() as u64,
            sha256: sha256_hex(bytes),
        });
        create_private_dir(&self.folder)?;
        let json = serde_json::to_vec(facts).map_err(io::Error::other)?;
        let kept = picture
            .map_or(Ok(()), |(_, bytes)| self.write(&facts.capture_id, PICTURE, bytes))
            .and_then(|()| self.write(&facts.capture_id, FACTS, &json));
        if kept.is_err() {
            self.forget(&facts.capture_id);
        }
        self.prune();
        kept
    }

    /// Finds the facts of a picture that was taken in a scope.
    pub fn find(&self, scope: &str, capture_id: &str) -> Option<CaptureFacts> {
        if !id::is_id(capture_id) {
            return None;
        }
        let (json, _) =
            read_own_file(&self.file(capture_id, FACTS), Secrecy::Secret, MAX_FACTS_BYTES).ok()?;
        let facts: CaptureFacts = serde_json::from_slice(&json).ok()?;
        let is_it = facts.scope == scope && facts.capture_id == capture_id;
        (is_it && facts.expires_at_ms > time::now_ms()).then_some(facts)
    }

    /// Reads a picture that is kept; `None` if it is not, or not any more.
    pub fn picture(&self, facts: &CaptureFacts) -> Option<Vec<u8>> {
        let kept = facts.picture.as_ref()?;
        let file = self.file(&facts.capture_id, PICTURE);
        let (bytes, _) = read_own_file(&file, Secrecy::Secret, MAX_PICTURE_BYTES as u64).ok()?;
        (sha256_hex(&bytes) == kept.sha256).then_some(bytes)
    }

    /// Lists the pictures of a scope that are kept, the newest first.
    pub fn kept(&self, scope: &str) -> Vec<CaptureFacts> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let mut ids: Vec<String> =
            names.filter_map(|name| name.strip_suffix(PICTURE).map(str::to_owned)).collect();
        ids.sort_unstable_by(|one, next| next.cmp(one));
        ids.iter().filter_map(|id| self.find(scope, id)).filter(|facts| facts.picture.is_some()).collect()
    }

    /// Removes what is over its time, or too much.
    pub fn prune(&self) {
        prune(&self.folder, &self.clock, Bounds::USUAL);
    }

    /// Creates a file. One that a crash cut off cannot be read, or has another hash: it counts for none.
    fn write(&self, capture_id: &str, kind: &str, bytes: &[u8]) -> io::Result<()> {
        new_private_file(&self.file(capture_id, kind))?.write_all(bytes)
    }

    fn forget(&self, capture_id: &str) {
        for kind in [FACTS, PICTURE] {
            // What is not there need not go.
            let _ = fs::remove_file(self.file(capture_id, kind));
        }
    }

    fn file(&self, capture_id: &str, kind: &str) -> PathBuf {
        self.folder.join(format!("{capture_id}{kind}"))
    }
}
