//! Letting go of pictures and facts that are old, or too many.

#![expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own, in its state folder")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use bailiwick_contract::time;
use bailiwick_platform::fs::RetentionClock;

use super::store::{FACTS, PICTURE};

/// How much is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub max_age: Duration,
    pub max_pictures: usize,
    pub max_picture_bytes: u64,
    pub max_facts: usize,
}

impl Bounds {
    /// A day, 100 pictures, 250 MB, and the facts of 1,000 captures.
    pub const USUAL: Self = Self {
        max_age: Duration::from_secs(24 * 3_600),
        max_pictures: 100,
        max_picture_bytes: 250_000_000,
        max_facts: 1_000,
    };
}

struct OwnFile {
    path: PathBuf,
    modified: SystemTime,
    bytes: u64,
}

/// Removes what is too old, then the oldest until the rest is within bounds. What cannot be removed stays.
pub(super) fn prune(folder: &Path, clock: &RetentionClock, bounds: Bounds) {
    let now_ms = clock.now_ms();
    let (mut pictures, mut facts) = (Vec::new(), Vec::new());
    for file in files(folder) {
        let age_ms = now_ms.saturating_sub(time::to_ms(file.modified));
        let old = u64::try_from(age_ms).is_ok_and(|age_ms| Duration::from_millis(age_ms) > bounds.max_age);
        let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if old {
            let _ = fs::remove_file(&file.path);
        } else if name.ends_with(PICTURE) {
            pictures.push(file);
        } else if name.ends_with(FACTS) {
            facts.push(file);
        }
    }
    for list in [&mut pictures, &mut facts] {
        // The newest first; names are ids, which go with time.
        list.sort_by(|one, next| (next.modified, &next.path).cmp(&(one.modified, &one.path)));
    }
    let mut bytes = 0;
    for (at, file) in pictures.iter().enumerate() {
        bytes += file.bytes;
        if at >= bounds.max_pictures || bytes > bounds.max_picture_bytes {
            let _ = fs::remove_file(&file.path);
        }
    }
    for file in facts.iter().skip(bounds.max_facts) {
        let _ = fs::remove_file(&file.path);
        let _ = fs::remove_file(file.path.with_extension(&PICTURE[1..]));
    }
}

fn files(folder: &Path) -> Vec<OwnFile> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let facts = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some(OwnFile { path: entry.path(), modified: facts.modified().ok()?, bytes: facts.len() })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use bailiwick_contract::id;

    use super::super::{Area, CaptureFacts, CaptureKind, CaptureStore};
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

        let (ground, store) = TestFolder::new();
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
        let folder = ground.0.join("captures");
        assert!(Protection::is_private(&folder, true));
        for file in files(&folder) {
            assert!(Protection::is_private(&file.path, false));
        }
        fs::write(folder.join(format!("{}{PICTURE}", kept.capture_id)), b"others").expect("written");
        assert_eq!(store.picture(&kept), None, "a picture that was changed is none");
    }

    #[test]
    fn what_has_expired_is_not_found_even_while_it_lies_there() {
        let (_ground, store) = TestFolder::new();
        let mut old = facts();
        old.expires_at_ms = time::now_ms() - 1;
        store.keep(&mut old, Some(("image/png", b"pixels"))).expect("kept");
        assert_eq!(store.find("screen", &old.capture_id), None);
        assert!(store.kept("screen").is_empty());
    }

    #[test]
    fn age_number_and_size_bound_what_is_kept_and_the_oldest_goes() {
        let (ground, store) = TestFolder::new();
        let folder = ground.0.join("captures");
        let ids: Vec<String> = (0..4_u64)
            .map(|at| {
                let mut one = facts();
                store.keep(&mut one, Some(("image/png", &[0; 100]))).expect("kept");
                let age = Duration::from_secs(100 - at);
                for kind in [FACTS, PICTURE] {
                    let file = fs::File::options()
                        .append(true)
                        .open(folder.join(format!("{}{kind}", one.capture_id)));
                    file.expect("there").set_modified(SystemTime::now() - age).expect("set");
                }
                one.capture_id
            })
            .collect();
        let left = |bounds| -> Vec<usize> {
            prune(&folder, &RetentionClock::below(&ground.0), bounds);
            let kept = store.kept("screen");
            (0..4).filter(|at| kept.iter().any(|facts| facts.capture_id == ids[*at])).collect()
        };
        assert_eq!(left(Bounds::USUAL), [0, 1, 2, 3]);
        assert_eq!(left(Bounds { max_pictures: 3, ..Bounds::USUAL }), [1, 2, 3]);
        assert!(store.find("screen", &ids[0]).is_some(), "its facts are known still");
        assert_eq!(left(Bounds { max_picture_bytes: 250, ..Bounds::USUAL }), [2, 3]);
        assert_eq!(left(Bounds { max_facts: 1, ..Bounds::USUAL }), [3]);
        assert!(store.find("screen", &ids[2]).is_none());
        // A clock that is ahead by 200 days makes none old.
        let (clock, uptime_ms) = (RetentionClock::below(&ground.0), 5_000);
        let jumped_ms = clock.now_at(time::now_ms() + 200 * 24 * 3_600 * 1_000, uptime_ms);
        assert!(jumped_ms < time::now_ms() + 3_600_000, "an hour at most");
        assert!(left(Bounds { max_age: Duration::from_secs(1), ..Bounds::USUAL }).is_empty());
        assert!(files(&folder).is_empty());
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
