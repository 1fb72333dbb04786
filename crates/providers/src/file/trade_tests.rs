//! A file that another program changes while it is replaced or removed.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use bailiwick_platform::fs::{RelPath, Root, is_unheld, remove_tree};

use super::*;
use crate::file::temporary::temporary_name;

/// How long a test lets a writer be waited for: longer than it takes.
const LONG: Duration = Duration::from_secs(60);

/// A folder with a file that is to be replaced, and its replacement.
struct Folder {
    path: PathBuf,
    name: String,
    dir: WritableDir,
    temporary: OsString,
    old: Stat,
    new: Stat,
}

impl Folder {
    /// Creates one whose file is `f`.
    fn new() -> Self {
        Self::of("f")
    }

    fn of(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("bailiwick-trade-{}", id::new_id()));
        fs::create_dir_all(&path).expect("made");
        let dir =
            Root::open(&path).and_then(|root| root.open_writable_dir(&RelPath::root())).expect("opened");
        let temporary = temporary_name();
        fs::write(path.join(name), "old").expect("written");
        fs::write(path.join(&temporary), "new").expect("written");
        let stat = |name: &OsStr| dir.stat(name).expect("it is there");
        let (old, new) = (stat(OsStr::new(name)), stat(&temporary));
        Self { path, name: name.to_owned(), dir, temporary, old, new }
    }

    fn trade(&self, writers: Duration) -> Option<Trade> {
        let old = ExpectedFile { stat: &self.old, version: "", content: Some(b"old") };
        let new = ExpectedFile { stat: &self.new, version: "", content: Some(b"new") };
        let patience = Patience { writers, cancel: &Cancel::after(LONG) };
        let name = OsStr::new(&self.name);
        trade(&self.dir, (&self.temporary, new), (name, old), None, patience).expect("traded")
    }

    fn content(&self, name: impl AsRef<std::path::Path>) -> String {
        fs::read_to_string(self.path.join(name)).expect("it is there")
    }

    fn append(&self, text: &str) {
        let mut file = File::options().append(true).open(self.path.join(&self.name)).expect("opened");
        file.write_all(text.as_bytes()).expect("written");
    }

    /// Whether this file system shows who writes.
    fn tells_writers(&self) -> bool {
        let opened = self.dir.open_file(OsStr::new(&self.name)).expect("opened");
        is_open_for_writing(&opened.file).is_some()
    }

    fn trades(&self) -> bool {
        let name = OsStr::new(&self.name);
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
        assert_eq!(folder.trade(LONG), None);
        return;
    }
    assert_eq!(folder.trade(LONG), Some(Trade::Done { has_writer: false }));
    assert_eq!(folder.content("f"), "new");
    assert!(!folder.path.join(&folder.temporary).exists());
}

#[test]
fn what_was_written_since_the_last_look_is_given_back() {
    let folder = Folder::new();
    folder.append(" and more");
    if folder.trades() {
        assert_eq!(folder.trade(LONG), Some(Trade::Changed { kept: None }));
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
            Some(Trade::Changed { kept: None }),
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
        assert_eq!(folder.trade(LONG), Some(Trade::Changed { kept: None }));
    });
    assert_eq!(folder.content("f"), "old and more");
}

#[test]
fn what_was_written_into_both_is_kept() {
    // Beside a long name there is no room for a longer one.
    for name in ["f", &"f".repeat(230)] {
        let folder = Folder::of(name);
        if !folder.trades() || !folder.tells_writers() {
            return;
        }
        let mut writer = File::options().append(true).open(folder.path.join(name)).expect("opened");
        let traded = thread::scope(|scope| {
            scope.spawn(|| {
                while folder.content(name) != "new" {
                    thread::yield_now();
                }
                folder.append(" line");
                writer.write_all(b" and more").expect("written");
                drop(writer);
            });
            folder.trade(LONG)
        });
        let Some(Trade::Changed { kept: Some(kept) }) = traded else { panic!("{traded:?}") };
        assert_eq!(folder.content(name), "old and more");
        assert_eq!(folder.content(&kept), "new line");
        let kept = kept.to_str().expect("it is text").to_owned();
        assert_eq!(kept.starts_with("f.meanwhile-"), name == "f", "{kept}");
        assert!(kept.contains("meanwhile-"), "no sweep takes it: {kept}");
    }
}

#[test]
fn what_can_get_no_other_name_stays_under_the_temporary_one() {
    let folder = Folder::new();
    // Nothing that is there can be renamed.
    let temporary = temporary_name();
    assert_eq!(keep_both(&folder.dir, &temporary, OsStr::new("f")), temporary);
}

#[test]
fn a_file_is_not_swept_while_it_is_compared() {
    let folder = Folder::new();
    let old = ExpectedFile { stat: &folder.old, version: "", content: Some(b"old") };
    let patience = Patience { writers: Duration::ZERO, cancel: &Cancel::after(LONG) };
    let open = || folder.dir.open_file(OsStr::new("f")).expect("opened").file;
    let held = open();
    hold_file(&held);
    // On Windows files are not marked.
    let are_marked = !is_unheld(&open());
    drop(held);
    let look = old.look(&folder.dir, OsStr::new("f"), patience);
    assert!(look.is_same);
    assert_eq!(is_unheld(&open()), !are_marked);
    drop(look);
    assert!(is_unheld(&open()));
}

#[test]
fn what_is_not_compared_in_time_is_known_by_its_facts() {
    let folder = Folder::new();
    let (name, cancel) = (OsStr::new("f"), Cancel::after(LONG));
    cancel.cancel();
    let patience = Patience { writers: Duration::ZERO, cancel: &cancel };
    let old = ExpectedFile { stat: &folder.old, version: "s-", content: None };
    assert!(old.look(&folder.dir, name, patience).is_same);
    let before = Stat { modified_ns: folder.old.modified_ns - 1, ..folder.old };
    let old = ExpectedFile { stat: &before, ..old };
    assert!(!old.look(&folder.dir, name, patience).is_same, "it was written since");
}

#[test]
fn who_keeps_the_old_file_open_is_told_of() {
    let folder = Folder::new();
    if !folder.trades() || !folder.tells_writers() {
        return;
    }
    let writer = File::options().append(true).open(folder.path.join("f")).expect("opened");
    assert_eq!(folder.trade(Duration::ZERO), Some(Trade::Done { has_writer: true }));
    assert_eq!(folder.content("f"), "new");
    drop(writer);
}

#[test]
fn what_is_removed_and_was_written_to_is_given_back() {
    let folder = Folder::new();
    let (name, aside) = (OsStr::new("f"), temporary_name());
    let patience = Patience { writers: PATIENCE, cancel: &Cancel::after(LONG) };
    let old = ExpectedFile { stat: &folder.old, version: "m-", content: None };
    folder.append(" and more");
    assert_eq!(take(&folder.dir, (name, old), &aside, patience).ok(), Some(Trade::Changed { kept: None }));
    assert_eq!(folder.content("f"), "old and more");
    let now = folder.dir.stat(name).expect("it is there");
    let old = ExpectedFile { stat: &now, version: "m-", content: None };
    assert_eq!(
        take(&folder.dir, (name, old), &aside, patience).ok(),
        Some(Trade::Done { has_writer: false })
    );
    assert_eq!(folder.content(&aside), "old and more");
}
