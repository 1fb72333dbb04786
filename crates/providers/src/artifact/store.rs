//! Keeping pictures and their facts, and finding them again.

#![expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own, in its state folder")]

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::file::sha256_hex;
use bailiwick_contract::{hex, id};
use bailiwick_platform::fs::{
    RetainedFolder, RetentionClock, RetentionLimits, Secrecy, create_private_dir, new_private_file,
    read_own_file,
};

use super::{CaptureFacts, KeptPicture};

/// The largest picture that is kept.
const MAX_PICTURE_BYTES: usize = 64 << 20;
/// The largest file of facts.
const MAX_FACTS_BYTES: u64 = 16 << 10;
/// How much a file takes beside its content.
const FILE_BYTES: u64 = 4_096;
/// How much of a recording is in memory while it is kept.
const BUFFER_BYTES: usize = 64 << 10;
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// The pictures: 100 of them, and 250 MB.
const PICTURES: RetentionLimits = RetentionLimits {
    max_age: DAY,
    max_bytes: 250_000_000,
    max_parts: 100,
    part_bytes: 0,
    part_things: 1,
    part_span: Duration::ZERO,
};
/// The facts of some 1,000 captures, by which their points are found again.
const FACTS: RetentionLimits = RetentionLimits {
    max_age: DAY,
    max_bytes: 20 << 20,
    max_parts: 20,
    part_bytes: 1 << 20,
    part_things: 50,
    part_span: Duration::from_secs(3_600),
};

/// The kept pictures of one installation.
#[derive(Debug, Clone)]
pub struct CaptureStore {
    folder: PathBuf,
    pictures: RetainedFolder,
    facts: RetainedFolder,
    clock: RetentionClock,
}

impl CaptureStore {
    /// How long a picture and its facts are known, in milliseconds: a day.
    pub const LIFE_MS: i64 = 24 * 3_600 * 1_000;

    /// Finds the store in Bailiwick's state folder. Nothing is opened or made.
    pub fn below(state: &Path) -> Self {
        Self::within(state, PICTURES, FACTS)
    }

    fn within(state: &Path, pictures: RetentionLimits, facts: RetentionLimits) -> Self {
        let folder = state.join("captures");
        Self {
            pictures: RetainedFolder::new(folder.join("pictures"), pictures),
            facts: RetainedFolder::new(folder.join("facts"), facts),
            folder,
            clock: RetentionClock::below(state),
        }
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
        let json = serde_json::to_vec(facts).map_err(io::Error::other)?;
        if let Some((_, bytes)) = picture {
            self.write(&self.pictures, &facts.capture_id, bytes)?;
        }
        // A picture without facts is found by nobody, and goes in its time.
        self.write(&self.facts, &facts.capture_id, &json)
            .inspect_err(|_| self.drop_picture(&facts.capture_id))
    }

    /// Removes a picture whose facts cannot be kept.
    fn drop_picture(&self, capture_id: &str) {
        for part in self.pictures.parts() {
            let _ = fs::remove_file(part.join(capture_id));
        }
    }

    /// Creates a file for a recording. It has no name: what is not kept by [`CaptureStore::keep_recording`] is gone with its handle.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn new_recording(&self) -> io::Result<File> {
        create_private_dir(&self.folder)?;
        let path = self.folder.join(format!("{}.recording", id::new_id()));
        let file = new_private_file(&path)?;
        // Where it cannot be removed while it is open, [`CaptureStore::expire`] does it.
        let _ = fs::remove_file(&path);
        Ok(file)
    }

    /// Keeps a recording and its facts, to which is added what its file is like.
    ///
    /// # Errors
    /// As for [`CaptureStore::keep`].
    pub fn keep_recording(&self, facts: &mut CaptureFacts, mut file: File) -> io::Result<()> {
        let size = file.metadata()?.len();
        if size > MAX_PICTURE_BYTES as u64 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let (mut hash, mut buffer) = (Sha256::new(), vec![0; BUFFER_BYTES]);
        file.rewind()?;
        self.create(&self.pictures, &facts.capture_id, size, |kept| {
            loop {
                let read = file.read(&mut buffer)?;
                if read == 0 {
                    return Ok(());
                }
                hash.update(&buffer[..read]);
                kept.write_all(&buffer[..read])?;
            }
        })?;
        facts.picture =
            Some(KeptPicture { mime_type: "video/mp4".to_owned(), size, sha256: hex(&hash.finalize()) });
        let json = serde_json::to_vec(facts).map_err(io::Error::other)?;
        self.write(&self.facts, &facts.capture_id, &json)
            .inspect_err(|_| self.drop_picture(&facts.capture_id))
    }

    /// Finds the facts of a picture that was taken in a scope.
    pub fn find(&self, scope: &str, capture_id: &str) -> Option<CaptureFacts> {
        if !id::is_id(capture_id) {
            return None;
        }
        let (part, json) = read(&self.facts, capture_id, MAX_FACTS_BYTES)?;
        let facts: CaptureFacts = serde_json::from_slice(&json).ok()?;
        let is_it = facts.scope == scope && facts.capture_id == capture_id;
        // The stamp is the computer's: while its clock was wrong, that alone does not say that the time is over.
        let is_over =
            facts.expires_at_ms <= self.clock.now_ms() && RetainedFolder::age(&part, &self.clock) >= DAY;
        (is_it && !is_over).then_some(facts)
    }

    /// Reads a picture that is kept; `None` if it is not, or not any more.
    pub fn picture(&self, facts: &CaptureFacts) -> Option<Vec<u8>> {
        let kept = facts.picture.as_ref()?;
        let (_, bytes) = read(&self.pictures, &facts.capture_id, MAX_PICTURE_BYTES as u64)?;
        (sha256_hex(&bytes) == kept.sha256).then_some(bytes)
    }

    /// Lists the pictures of a scope that are kept, the newest first.
    pub fn kept(&self, scope: &str) -> Vec<CaptureFacts> {
        let parts = self.pictures.parts();
        let files = parts.iter().flat_map(|part| fs::read_dir(part).into_iter().flatten().flatten());
        let names = files.filter_map(|entry| entry.file_name().into_string().ok());
        let mut ids: Vec<String> = names.filter(|name| id::is_id(name)).collect();
        ids.sort_unstable_by(|one, next| next.cmp(one));
        ids.iter().filter_map(|id| self.find(scope, id)).filter(|facts| facts.picture.is_some()).collect()
    }

    /// Removes what is over its time.
    pub fn expire(&self) {
        self.pictures.expire(&self.clock);
        self.facts.expire(&self.clock);
        // Earlier versions kept each picture in a file here.
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir())) {
            let _ = fs::remove_file(entry.path());
        }
    }

    fn write(&self, folder: &RetainedFolder, capture_id: &str, bytes: &[u8]) -> io::Result<()> {
        self.create(folder, capture_id, bytes.len() as u64, |file| file.write_all(bytes))
    }

    /// Creates a file. One that a crash cut off cannot be read, or has another hash: it counts for none.
    fn create(
        &self,
        folder: &RetainedFolder,
        capture_id: &str,
        bytes: u64,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        let part = folder.reserve(bytes + FILE_BYTES, &self.clock)?;
        let file = part.join(capture_id);
        let written = new_private_file(&file).and_then(|mut file| write(&mut file));
        written.inspect_err(|_| {
            // It is ours alone, and goes with its part.
            let _ = fs::remove_file(&file);
        })
    }
}

/// Reads a file, and returns it with the part that it is in.
fn read(folder: &RetainedFolder, capture_id: &str, max_bytes: u64) -> Option<(PathBuf, Vec<u8>)> {
    let mut parts = folder.parts().into_iter();
    let part = parts.find(|part| fs::symlink_metadata(part.join(capture_id)).is_ok())?;
    let (bytes, _) = read_own_file(&part.join(capture_id), Secrecy::Secret, max_bytes).ok()?;
    Some((part, bytes))
}

#[cfg(test)]
mod tests {
    use bailiwick_contract::time;

    use super::super::{Area, CaptureKind};
    use super::*;

    fn facts() -> CaptureFacts {
        let now = time::now_ms();
        CaptureFacts {
            capture_id: id::new_id(),
            scope: "screen".to_owned(),
            kind: CaptureKind::Display,
            display: ":0".to_owned(),
            window: None,
            area: Area { x: 10, y: -20, width: 200, height: 100 },
            width: 100,
            height: 50,
            blacked_out: 0,
            taken_at_ms: now,
            expires_at_ms: now + CaptureStore::LIFE_MS,
            rules: String::new(),
            picture: None,
            recording: None,
        }
    }

    struct TestFolder(PathBuf);

    impl TestFolder {
        fn new() -> (Self, CaptureStore) {
            let state = std::env::temp_dir().join(format!("bailiwick-captures-{}", id::new_id()));
            let store = CaptureStore::below(&state);
            (Self(state), store)
        }
    }

    impl Drop for TestFolder {
        fn drop(&mut self) {
            let _ = bailiwick_platform::fs::remove_tree(&self.0);
        }
    }

    #[test]
    fn a_picture_is_found_in_its_scope_only_private_and_unchanged() {
        use bailiwick_platform::fs::Protection;

        let (_ground, store) = TestFolder::new();
        let mut kept = facts();
        store.keep(&mut kept, Some(("image/png", b"pixels"))).expect("kept");
        let mut bare = facts();
        store.keep(&mut bare, None).expect("kept");
        assert_eq!(store.find("screen", &kept.capture_id), Some(kept.clone()));
        assert_eq!(store.find("screen", &bare.capture_id), Some(bare.clone()));
        assert_eq!(store.find("other", &kept.capture_id), None);
        assert_eq!(store.find("screen", &format!("../captures/{}", kept.capture_id)), None);
        assert_eq!(store.kept("screen"), [kept.clone()]);
        assert!(store.kept("other").is_empty());
        assert_eq!(store.picture(&kept).as_deref(), Some(&b"pixels"[..]));
        assert_eq!(store.picture(&bare), None);
        for part in store.pictures.parts().into_iter().chain(store.facts.parts()) {
            assert!(Protection::is_private(&part, true));
            for file in fs::read_dir(&part).expect("it is there").flatten() {
                assert!(Protection::is_private(&file.path(), false));
            }
        }
        let part = &store.pictures.parts()[0];
        fs::write(part.join(&kept.capture_id), b"others").expect("written");
        assert_eq!(store.picture(&kept), None, "a picture that was changed is none");
    }

    #[test]
    fn a_recording_is_kept_as_a_picture_is_and_leaves_nothing_beside() {
        use bailiwick_platform::fs::Protection;

        let (_ground, store) = TestFolder::new();
        let mut kept = facts();
        let mut file = store.new_recording().expect("made");
        file.write_all(&[7; 100_000]).expect("written");
        store.keep_recording(&mut kept, file).expect("kept");
        assert_eq!(store.find("screen", &kept.capture_id), Some(kept.clone()));
        assert_eq!(store.picture(&kept), Some(vec![7; 100_000]));
        let part = &store.pictures.parts()[0];
        assert!(Protection::is_private(&part.join(&kept.capture_id), false));
        let file = store.new_recording().expect("made");
        file.set_len(MAX_PICTURE_BYTES as u64 + 1).expect("a file with a hole");
        let error = store.keep_recording(&mut facts(), file).expect_err("it is too large");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        store.expire();
        let beside = fs::read_dir(&store.folder).expect("there").flatten();
        assert!(beside.map(|entry| entry.path()).all(|path| path.is_dir()));
        assert_eq!(store.kept("screen").len(), 1);
    }

    #[test]
    fn what_has_expired_is_not_found_even_while_it_lies_there() {
        let (temporary, store) = TestFolder::new();
        create_private_dir(&temporary.0).expect("made");
        let mut old = facts();
        old.expires_at_ms = time::now_ms() - 3_600_000;
        store.keep(&mut old, Some(("image/png", b"pixels"))).expect("kept");
        assert_eq!(store.find("screen", &old.capture_id), Some(old.clone()), "only its stamp is old");
        let uptime_ms = bailiwick_platform::machine::uptime().as_millis();
        let later = format!("{} {uptime_ms}\n", time::now_ms() + 25 * 3_600_000);
        fs::write(temporary.0.join("clock"), later).expect("written");
        assert_eq!(store.find("screen", &old.capture_id), None);
        assert!(store.kept("screen").is_empty());
    }

    #[test]
    fn age_number_and_size_bound_what_is_kept_and_the_oldest_goes() {
        for (pictures, facts, left, known) in [
            (PICTURES, FACTS, 6, 6),
            (RetentionLimits { max_parts: 3, ..PICTURES }, FACTS, 3, 6),
            (RetentionLimits { max_bytes: 2 * (FILE_BYTES + 100), ..PICTURES }, FACTS, 2, 6),
            (PICTURES, RetentionLimits { max_parts: 2, part_things: 2, ..FACTS }, 4, 4),
        ] {
            let (temporary, _) = TestFolder::new();
            let store = CaptureStore::within(&temporary.0, pictures, facts);
            let ids: Vec<String> = (1..=6)
                .map(|at| {
                    let mut one = self::facts();
                    store.keep(&mut one, Some(("image/png", &[0; 100]))).expect("kept");
                    assert!(store.pictures.parts().len() <= at.min(pictures.max_parts));
                    one.capture_id
                })
                .collect();
            let kept: Vec<String> = store.kept("screen").into_iter().map(|it| it.capture_id).collect();
            assert!(kept.iter().eq(ids.iter().rev().take(left)), "{kept:?}");
            assert_eq!(ids.iter().filter(|id| store.find("screen", id).is_some()).count(), known);
        }
    }

    #[test]
    fn what_is_over_its_time_goes_without_another_capture_and_a_clock_that_is_ahead_removes_nothing() {
        let (temporary, store) = TestFolder::new();
        store.expire();
        assert!(!temporary.0.exists(), "where none were kept nothing is made");
        create_private_dir(&temporary.0).expect("made");
        let uptime = i64::try_from(bailiwick_platform::machine::uptime().as_millis()).expect("a time");
        // The clock has been behind for long: all that is kept was kept 25 hours ago.
        store.clock.steady_at(time::now_ms() - 26 * 3_600_000, uptime);
        let ahead = store.clock.steady_at(time::now_ms() + 200 * 24 * 3_600_000, uptime + 1_000);
        assert!(ahead < time::now_ms());
        store.keep(&mut facts(), Some(("image/png", b"pixels"))).expect("kept");
        let earlier = temporary.0.join("captures").join(format!("{}.picture", id::new_id()));
        fs::write(&earlier, b"pixels").expect("written");
        store.expire();
        assert_eq!((store.kept("screen").len(), earlier.exists()), (1, false));
        fs::remove_file(temporary.0.join("clock")).expect("there");
        store.expire();
        assert!(store.kept("screen").is_empty() && store.facts.parts().is_empty());
        store.pictures.wait_for_removals();
    }

    #[test]
    fn a_point_of_a_picture_and_its_name_lead_back_to_it() {
        let facts = facts();
        assert_eq!(facts.scale(), (0.5, 0.5));
        assert_eq!(facts.to_display(0, 0), Some((11, -19)));
        assert_eq!(facts.to_display(99, 49), Some((209, 79)));
        assert_eq!(CaptureFacts::from_uri(&facts.uri()), Some(("screen", facts.capture_id.as_str())));
        for other in ["", "bailiwick://captures/x", "bailiwick://captures/../x", "file:///etc/passwd"] {
            assert_eq!(CaptureFacts::from_uri(other), None);
        }
        assert_eq!((facts.to_display(100, 0), facts.to_display(0, 50)), (None, None));
    }
}
