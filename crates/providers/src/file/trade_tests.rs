//! A file that another program changes while it is replaced or removed.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use bailiwick_platform::fs::{RelPath, Root, remove_tree};

use super::*;
use crate::file::temporary::temporary_name;

/// How long a test lets a writer be waited for: longer than it takes.
const LONG: Duration = Duration::from_secs(60);

/// A folder with a file `f` that is to be replaced, and its replacement.
struct Folder {
    path: PathBuf,
    dir: WritableDir,
    temporary: OsString,
    old: Stat,
    new: Stat,
}

impl Folder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("bailiwick-trade-{}", id::new_id()));
        fs::create_dir_all(&path).expect("made");
        let dir =
            Root::open(&path).and_then(|root| root.open_writable_dir(&RelPath::root())).expect("opened");
        let temporary = temporary_name();
        fs::write(path.join("f"), "old").expect("written");
        fs::write(path.join(&temporary), "new").expect("written");
        let stat = |name: &OsStr| dir.stat(name).expect("it is there");
        let (old, new) = (stat(OsStr::new("f")), stat(&temporary));
        Self { path, dir, temporary, old, new }
    }

    fn trade(&self, patience: Duration) -> Trade {
        let old = Expected { stat: &self.old, version: "", content: Some(b"old") };
        let new = Expected { stat: &self.new, version: "", content: Some(b"new") };
        trade(&self.dir, (&self.temporary, new), (OsStr::new("f"), old), None, patience).expect("traded")
    }

    fn content(&self, name: impl AsRef<std::path::Path>) -> String {
        fs::read_to_string(self.path.join(name)).expect("it is there")
    }

    fn append(&self, text: &str) {
        let mut file = File::options().append(true).open(self.path.join("f")).expect("opened");
        file.write_all(text.as_bytes()).expect("written");
    }

    /// Whether this file system tells who writes.
    fn tells_writers(&self) -> bool {
        let opened = self.dir.open_file(OsStr::new("f")).expect("opened");
        is_open_for_writing(&opened.file).is_some()
    }

    fn trades(&self) -> bool {
        let name = OsStr::new("f");
        let can = self.dir.exchange_at_once(name, &self.dir, &self.temporary).expect("tried");
        can && self.dir.exchange_at_once(name, &self.dir, &self.temporary).expect("tried")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        remove_tree(&self.path).expect("it was made above");
    }
}

#[test]
fn a_file_that_nobody_has_touched_is_replaced() {
    let folder = Folder::new();
    if !folder.trades() {
        assert_eq!(folder.trade(LONG), Trade::Impossible);
        return;
    }
    assert_eq!(folder.trade(LONG), Trade::Done { is_written: false });
    assert_eq!(folder.content("f"), "new");
    assert!(!folder.path.join(&folder.temporary).exists());
}

#[test]
fn what_was_written_since_the_last_look_is_given_back() {
    let folder = Folder::new();
    folder.append(" and more");
    if folder.trades() {
        assert_eq!(folder.trade(LONG), Trade::Changed { kept: None });
    }
    assert_eq!(folder.content("f"), "old and more");
    assert_eq!(folder.content(&folder.temporary), "new", "which the caller removes");
}

#[test]
fn a_file_that_was_put_in_its_place_is_given_back() {
    let folder = Folder::new();
    fs::write(folder.path.join("other"), "old").expect("written");
    fs::rename(folder.path.join("other"), folder.path.join("f")).expect("renamed");
    let other = folder.dir.stat(OsStr::new("f")).expect("it is there");
    if folder.trades() {
        assert_eq!(
            folder.trade(LONG),
            Trade::Changed { kept: None },
            "the content is the same, the file is not"
        );
    }
    assert_eq!(folder.dir.stat(OsStr::new("f")).expect("it is there").id, other.id);
}

#[test]
fn who_has_the_old_file_open_may_end_what_it_writes() {
    let folder = Folder::new();
    if !folder.trades() || !folder.tells_writers() {
        return;
    }
    let mut writer = File::options().append(true).open(folder.path.join("f")).expect("opened");
    thread::scope(|scope| {
        scope.spawn(|| {
            // It writes once the new file has the name, into the old one.
            while folder.content("f") != "new" {
                thread::yield_now();
            }
            writer.write_all(b" and more").expect("written");
            drop(writer);
        });
        assert_eq!(folder.trade(LONG), Trade::Changed { kept: None });
    });
    assert_eq!(folder.content("f"), "old and more");
}

#[test]
fn what_was_written_into_both_is_kept() {
    let folder = Folder::new();
    if !folder.trades() || !folder.tells_writers() {
        return;
    }
    let mut writer = File::options().append(true).open(folder.path.join("f")).expect("opened");
    let traded = thread::scope(|scope| {
        scope.spawn(|| {
            while folder.content("f") != "new" {
                thread::yield_now();
            }
            folder.append(" line");
            writer.write_all(b" and more").expect("written");
            drop(writer);
        });
        folder.trade(LONG)
    });
    let Trade::Changed { kept: Some(kept) } = traded else { panic!("{traded:?}") };
    assert_eq!(folder.content("f"), "old and more");
    assert_eq!(folder.content(kept), "new line");
}

#[test]
fn who_keeps_the_old_file_open_is_told_of() {
    let folder = Folder::new();
    if !folder.trades() || !folder.tells_writers() {
        return;
    }
    let writer = File::options().append(true).open(folder.path.join("f")).expect("opened");
    assert_eq!(folder.trade(Duration::ZERO), Trade::Done { is_written: true });
    assert_eq!(folder.content("f"), "new");
    drop(writer);
}

#[test]
fn what_is_removed_and_was_written_to_is_given_back() {
    let folder = Folder::new();
    let (name, aside) = (OsStr::new("f"), temporary_name());
    let old = Expected { stat: &folder.old, version: "m-", content: None };
    folder.append(" and more");
    assert_eq!(take(&folder.dir, (name, old), &aside).ok(), Some(Trade::Changed { kept: None }));
    assert_eq!(folder.content("f"), "old and more");
    let now = folder.dir.stat(name).expect("it is there");
    let old = Expected { stat: &now, version: "m-", content: None };
    assert_eq!(take(&folder.dir, (name, old), &aside).ok(), Some(Trade::Done { is_written: false }));
    assert_eq!(folder.content(&aside), "old and more");
}
