//! Stores that were set aside, and anchors that contradicted a store: kept for the user, in a folder that is bounded in number
//! and in bytes. The newest always stays.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bailiwick_platform::fs::{RetainedFolder, RetentionClock, RetentionLimits};

use super::{anchor, database};

/// The folder, in the one of the store.
const FOLDER: &str = "set-aside";
/// How much is kept; nothing goes because it is old.
const LIMITS: RetentionLimits = RetentionLimits {
    max_age: Duration::MAX,
    max_bytes: 1 << 30,
    max_parts: 16,
    part_bytes: 0,
    part_things: 1,
    part_span: Duration::ZERO,
};
/// How the names of stores end that are set aside, before the time.
const DAMAGED: &str = "damaged-";
/// How the names of anchors end that contradicted a store, before an id.
const CONTRADICTED: &str = "contradicted-";
/// What belongs to a store: how its name ends there, and how it ends when it is set aside.
const BESIDE: [(&str, &str); 3] = [("-wal", "-wal"), ("-shm", "-shm"), ("", ".anchor")];

/// One thing that was set aside.
#[derive(Debug, Clone)]
pub struct AsideStore {
    /// Where it is: a folder, or a file where an earlier version left it.
    pub path: PathBuf,
    /// How many bytes it takes.
    pub bytes: u64,
}

/// Sets a store aside with its log and its anchor, and returns its name beneath the folder.
///
/// # Errors
/// Those of the file system; the store is where it was then.
pub fn set_store_aside(folder: &Path, stamp: &str) -> io::Result<String> {
    let store = database::FILE_NAME;
    let name = format!("{store}.{DAMAGED}{stamp}");
    let beside = BESIDE.map(|(end, kept)| {
        let from = if end.is_empty() { anchor::FILE_NAME.to_owned() } else { format!("{store}{end}") };
        (from, format!("{name}{kept}"))
    });
    let files: Vec<_> = [(store.to_owned(), name)].into_iter().chain(beside).collect();
    set_aside(folder, &files)
}

/// Sets an anchor aside that contradicts the store.
///
/// # Errors
/// Those of the file system; the anchor is where it was then.
pub fn set_anchor_aside(folder: &Path, id: &str) -> io::Result<String> {
    let from = anchor::FILE_NAME;
    set_aside(folder, &[(from.to_owned(), format!("{from}.{CONTRADICTED}{id}"))])
}

/// Lists what was set aside, the newest first.
pub fn stores_aside(folder: &Path) -> Vec<AsideStore> {
    let parts = retained(folder).parts().into_iter().map(|path| {
        let files = fs::read_dir(&path).into_iter().flatten().flatten();
        let bytes = files.filter_map(|file| file.metadata().ok()).map(|facts| facts.len()).sum();
        AsideStore { path, bytes }
    });
    let earlier = left_beside(folder).into_iter().rev().map(|names| {
        let bytes = names.iter().map(|name| size_of(&folder.join(name))).sum();
        AsideStore { path: folder.join(&names[0]), bytes }
    });
    parts.chain(earlier).collect()
}

fn retained(folder: &Path) -> RetainedFolder {
    RetainedFolder::new(folder.join(FOLDER), LIMITS)
}

/// Moves files, of which the first has to be there.
fn set_aside(folder: &Path, files: &[(String, String)]) -> io::Result<String> {
    for names in left_beside(folder) {
        let files: Vec<_> = names.iter().map(|name| (name.clone(), name.clone())).collect();
        // What cannot be moved now stays where it is.
        let _ = move_files(folder, &files, true);
    }
    // Where there is no room for a folder, it stays beside the store until the next time.
    move_files(folder, files, true).or_else(|_| move_files(folder, files, false))
}

fn move_files(folder: &Path, files: &[(String, String)], into_part: bool) -> io::Result<String> {
    let (first, kept) = &files[0];
    let part = if into_part {
        fs::symlink_metadata(folder.join(first))?;
        let bytes: u64 = files.iter().map(|(from, _)| size_of(&folder.join(from))).sum();
        // One that is larger than all that is kept is kept alone.
        Some(retained(folder).reserve(bytes.min(LIMITS.max_bytes), &RetentionClock::below(folder))?)
    } else {
        None
    };
    let to = part.as_deref().unwrap_or(folder);
    if let Err(error) = fs::rename(folder.join(first), to.join(kept)) {
        if let Some(part) = &part {
            retained(folder).release(part);
        }
        return Err(error);
    }
    for (from, kept) in &files[1..] {
        match fs::rename(folder.join(from), to.join(kept)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    let name = part.as_deref().and_then(Path::file_name).map(|part| part.to_string_lossy().into_owned());
    Ok(name.map_or_else(|| kept.clone(), |part| format!("{FOLDER}/{part}/{kept}")))
}

/// Returns what is beside the store, the oldest first: earlier versions left it there. Each is a file with those that belong to it.
fn left_beside(folder: &Path) -> Vec<Vec<String>> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    let starts =
        [format!("{}.{DAMAGED}", database::FILE_NAME), format!("{}.{CONTRADICTED}", anchor::FILE_NAME)];
    let mut found: Vec<Vec<String>> = Vec::new();
    for name in names.into_iter().filter(|name| starts.iter().any(|start| name.starts_with(start))) {
        match found.last_mut() {
            Some(last) if name.starts_with(&last[0]) => last.push(name),
            _ => found.push(vec![name]),
        }
    }
    found
}

fn size_of(path: &Path) -> u64 {
    fs::symlink_metadata(path).map_or(0, |facts| facts.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("bailiwick-aside-{}", bailiwick_contract::id::new_id()));
        fs::create_dir(&folder).expect("made");
        folder
    }

    fn write(folder: &Path, name: &str, text: &str) {
        fs::write(folder.join(name), text).expect("written");
    }

    #[test]
    fn what_is_set_aside_is_bounded_and_the_newest_stays() {
        let folder = folder();
        for at in 0..LIMITS.max_parts + 4 {
            write(&folder, "history.db", &at.to_string());
            write(&folder, "history.db-wal", "log");
            let name = set_store_aside(&folder, &format!("{at:02}")).expect("set aside");
            assert_eq!(fs::read_to_string(folder.join(&name)).expect("kept"), at.to_string());
            assert_eq!(fs::read_to_string(folder.join(format!("{name}-wal"))).expect("kept"), "log");
            let stores = stores_aside(&folder);
            assert_eq!(stores.len(), (at + 1).min(LIMITS.max_parts));
            assert!(folder.join(name).starts_with(&stores[0].path));
        }
        // One that is larger than all that is kept pushes out the others, and goes for the next.
        let large = fs::File::create(folder.join("history.db")).expect("made");
        large.set_len(2 * LIMITS.max_bytes).expect("a file with a hole");
        let name = set_store_aside(&folder, "large").expect("set aside");
        assert_eq!((stores_aside(&folder).len(), folder.join(&name).exists()), (1, true));
        write(&folder, "history.db", "next");
        set_store_aside(&folder, "next").expect("set aside");
        assert_eq!((stores_aside(&folder).len(), folder.join(&name).exists()), (1, false));
        fs::remove_dir_all(&folder).expect("it was made above");
    }

    #[test]
    fn what_earlier_versions_left_beside_the_store_is_kept_with_the_others() {
        let folder = folder();
        for name in [
            "history.db.damaged-1",
            "history.db.damaged-1-wal",
            "history.db.damaged-1.anchor",
            "history.db.damaged-2",
            "history.anchor.contradicted-1",
            "history.anchor",
            "other",
        ] {
            write(&folder, name, name);
        }
        assert_eq!(stores_aside(&folder).len(), 3);
        let name = set_anchor_aside(&folder, "2").expect("set aside");
        assert_eq!(fs::read_to_string(folder.join(&name)).expect("kept"), "history.anchor");
        let stores = stores_aside(&folder);
        assert_eq!(stores.len(), 4);
        let files = |store: &AsideStore| {
            let mut names: Vec<_> = fs::read_dir(&store.path)
                .expect("a folder")
                .filter_map(|file| file.expect("readable").file_name().into_string().ok())
                .filter(|name| name != "used")
                .collect();
            names.sort();
            names
        };
        assert_eq!(files(&stores[0]), ["history.anchor.contradicted-2"]);
        assert_eq!(
            files(&stores[2]),
            ["history.db.damaged-1", "history.db.damaged-1-wal", "history.db.damaged-1.anchor"]
        );
        let mut left: Vec<_> = fs::read_dir(&folder)
            .expect("there")
            .filter_map(|file| file.expect("readable").file_name().into_string().ok())
            .collect();
        left.retain(|name| name.starts_with("history") || name == "other");
        assert_eq!(left, ["other"]);
        assert!(set_store_aside(&folder, "none").is_err(), "there is none");
        assert_eq!(stores_aside(&folder).len(), 4, "and no room is taken for it");
        fs::remove_dir_all(&folder).expect("it was made above");
    }
}
