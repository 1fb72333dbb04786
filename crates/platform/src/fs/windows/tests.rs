//! Attacks on paths by the ways in which Windows lets a name mean something else; and what opening them must do.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

use super::{
    Attributes, ChangeAttributes, FileError, FileKind, OtherUsers, PathProblem, Protection, RelPath, Root,
    WritableDir, remove_tree,
};

struct TestFolder {
    top: PathBuf,
    root: Root,
}

impl TestFolder {
    fn new() -> Self {
        let top = std::env::temp_dir().join(format!("bailiwick-door-{}", bailiwick_contract::id::new_id()));
        fs::create_dir_all(top.join("root/folder/deep")).expect("the temporary folder can be written");
        for (name, content) in [
            ("outside.txt", "outside"),
            ("root/plain.txt", "plain"),
            ("root/a long name.text", "long"),
            ("root/folder/deep/file", "deep"),
        ] {
            fs::write(top.join(name), content).expect("the temporary folder can be written");
        }
        let root = Root::open(&top.join("root")).expect("it is there");
        Self { top, root }
    }

    fn dir(&self, path: &str) -> WritableDir {
        self.root.open_writable_dir(&RelPath::parse(path.as_bytes()).expect("a good path")).expect("a folder")
    }

    fn read(&self, path: &str) -> Result<String, FileError> {
        let opened = self.root.open_file(&RelPath::parse(path.as_bytes())?)?;
        Ok(std::io::read_to_string(opened.file).expect("it can be read"))
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = remove_tree(&self.top);
    }
}

fn name(text: &str) -> &OsStr {
    OsStr::new(text)
}

#[test]
fn files_are_read_and_listed_beneath_the_root() {
    let place = TestFolder::new();
    assert_eq!(place.read("plain.txt").expect("it is there"), "plain");
    assert_eq!(place.read("folder/deep/file").expect("it is there"), "deep");
    let mut entries: Vec<_> = place.dir("").entries(usize::MAX).expect("listed").into_iter().collect();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    let shown: Vec<_> = entries.iter().map(|entry| (entry.name.to_str(), entry.kind)).collect();
    assert_eq!(
        shown,
        [
            (Some("a long name.text"), Some(FileKind::File)),
            (Some("folder"), Some(FileKind::Dir)),
            (Some("plain.txt"), Some(FileKind::File)),
        ]
    );
    let stat = place.root.stat(&RelPath::parse(b"plain.txt").expect("good")).expect("there");
    assert_eq!((stat.kind, stat.size, stat.links), (FileKind::File, 5, 1));
    let many = place.dir("folder");
    for number in 0..2_000 {
        drop(many.create_file(name(&format!("file number {number}")), 0o644).expect("made"));
    }
    assert_eq!(many.entries(usize::MAX).expect("listed").len(), 2_001);
    assert_eq!(many.entries(usize::MAX).expect("listed again").len(), 2_001);
}

#[test]
fn names_that_mean_something_else_open_nothing() {
    let place = TestFolder::new();
    for path in [
        "plain.txt:stream",
        "plain.txt::$DATA",
        "plain.txt.",
        "plain.txt ",
        "folder./deep/file",
        "folder\\deep\\file",
        "..\\outside.txt",
        "folder\\..\\..\\outside.txt",
        "CON",
        "nul",
        "folder/COM1.txt",
        "C:",
        "C:/Windows/win.ini",
        "\\\\?\\C:\\Windows\\win.ini",
        "\\\\server\\share\\file",
        "folder::$INDEX_ALLOCATION/deep/file",
    ] {
        let refused = place.read(path);
        assert!(matches!(refused, Err(FileError::Path(PathProblem::Name(_)))), "{path}: {refused:?}");
        let dir = place.dir("");
        if !path.contains('/') {
            for refused in [
                dir.open_file(name(path)).map(drop),
                dir.stat(name(path)).map(drop),
                dir.open_dir(name(path)).map(drop),
                dir.create_file(name(path), 0o644).map(drop),
                dir.make_dir(name(path)),
                dir.rename(name("plain.txt"), &dir, name(path)),
                dir.rename_to_free(name("plain.txt"), &dir, name(path)),
                dir.remove_file(name(path)),
            ] {
                assert!(matches!(refused, Err(FileError::Path(_))), "{path}: {refused:?}");
            }
        }
    }
    assert!(matches!(place.read("../outside.txt"), Err(FileError::Path(PathProblem::Climbs))));
    assert!(matches!(place.dir("").open_file(name("..")), Err(FileError::Outside)));
    assert_eq!(place.read("plain.txt").expect("it is as it was"), "plain");
}

#[test]
fn only_the_very_spelling_leads_to_a_file() {
    let place = TestFolder::new();
    assert_eq!(place.read("a long name.text").expect("it is there"), "long");
    // Where the disk has short names this is one; where it has none, nothing has it.
    for path in ["PLAIN.TXT", "Plain.txt", "FOLDER/deep/file", "folder/DEEP/file", "ALONGN~1.TEX", "ALONGN~1"]
    {
        let refused = place.read(path);
        assert!(matches!(refused, Err(FileError::NotFound)), "{path}: {refused:?}");
    }
    let dir = place.dir("");
    assert!(matches!(dir.stat(name("PLAIN.TXT")), Err(FileError::NotFound)));
    assert!(matches!(dir.remove_file(name("PLAIN.TXT")), Err(FileError::NotFound)));
    assert!(matches!(dir.create_file(name("PLAIN.TXT"), 0o644), Err(FileError::Exists)));
    drop(dir.create_file(name("other"), 0o644).expect("made"));
    let over = dir.rename(name("other"), &dir, name("PLAIN.TXT"));
    assert!(matches!(over, Err(FileError::Exists)), "{over:?}");
    assert_eq!(place.read("plain.txt").expect("it is as it was"), "plain");
    dir.rename(name("other"), &dir, name("OTHER")).expect("it is its own name but for the case");
    // Wine leaves the case as it was.
    assert!(place.read("OTHER").is_ok() != place.read("other").is_ok());
}

// That a reader keeps the old file needs renames as POSIX has them, which wine 8 does not know.
#[test]
fn a_file_is_replaced_as_a_whole_with_the_time_that_it_had() {
    let place = TestFolder::new();
    let dir = place.dir("");
    let before = dir.stat(name("plain.txt")).expect("there");
    let mut file = dir.create_file(name(".new"), 0o600).expect("made");
    file.write_all(b"new content").expect("written");
    file.set_modified_as(&before).expect("its time is set");
    file.sync_all().expect("synced");
    drop(file);
    dir.rename(name(".new"), &dir, name("plain.txt")).expect("replaced");
    assert_eq!(place.read("plain.txt").expect("there"), "new content");
    let after = dir.stat(name("plain.txt")).expect("there");
    assert_ne!(after.id, before.id);
    assert_eq!(after.modified_ns, before.modified_ns);
    assert!(matches!(dir.stat(name(".new")), Err(FileError::NotFound)));
}

#[test]
fn what_replaces_a_file_has_the_rights_that_this_had_of_its_own() {
    let place = TestFolder::new();
    let dir = place.dir("");
    let (old, new) = (place.top.join("root/plain.txt"), place.top.join("root/new"));
    for is_narrow in [true, false] {
        Protection::narrow(&old, false).expect("it is ours");
        if !is_narrow {
            Protection::expose(&old).expect("it is ours");
        }
        let rights = Protection::of_name(&old).expect("there");
        assert_eq!(rights.others(), if is_narrow { OtherUsers::Nothing } else { OtherUsers::Read });
        let opened = place.root.open_file(&RelPath::parse(b"plain.txt").expect("good")).expect("there");
        let file = dir.create_file(name("new"), 0o600).expect("made");
        file.copy_attributes(&opened.file).expect("they are ours");
        drop(file);
        // Wine forgets that a list is to be alone, and adds to it what the folder hands down.
        if !is_narrow || rights.kept().starts_with("D:P") {
            assert_eq!(Protection::of_name(&new).expect("there").others(), rights.others(), "{rights}");
        }
        fs::remove_file(&new).expect("removed");
    }
}

#[test]
fn folders_and_files_are_moved_exchanged_and_removed() {
    let place = TestFolder::new();
    let dir = place.dir("");
    let folder = place.dir("folder");
    assert!(matches!(dir.rename_to_free(name("plain.txt"), &folder, name("deep")), Err(FileError::Exists)));
    assert!(matches!(dir.rename(name("plain.txt"), &folder, name("deep")), Err(FileError::IsADirectory)));
    dir.rename_to_free(name("plain.txt"), &folder, name("moved")).expect("moved");
    assert_eq!(place.read("folder/moved").expect("there"), "plain");
    dir.exchange(name("a long name.text"), &folder, name("moved"), name(".aside")).expect("exchanged");
    assert_eq!(place.read("folder/moved").expect("there"), "long");
    assert_eq!(place.read("a long name.text").expect("there"), "plain");
    assert!(matches!(dir.remove_dir(name("folder")), Err(FileError::NotEmpty)));
    assert!(matches!(dir.remove_file(name("folder")), Err(FileError::IsADirectory)));
    assert!(matches!(dir.remove_dir(name("a long name.text")), Err(FileError::NotADirectory)));
    dir.make_dir(name("empty")).expect("made");
    assert!(matches!(dir.make_dir(name("empty")), Err(FileError::Exists)));
    dir.rename(name("folder"), &dir, name("empty")).expect("it takes the place of an empty one");
    assert_eq!(place.read("empty/deep/file").expect("there"), "deep");
    place.dir("empty/deep").remove_file(name("file")).expect("removed");
    place.dir("empty").remove_dir(name("deep")).expect("removed");
    assert!(matches!(place.dir("empty").stat(name("deep")), Err(FileError::NotFound)));
}

#[test]
fn a_read_only_file_says_so_and_can_be_made_writable() {
    let place = TestFolder::new();
    let dir = place.dir("");
    let file = dir.create_file(name("locked"), 0o444).expect("made");
    assert_eq!(file.facts().expect("told").mode, 0o444);
    file.set_mode(0o644).expect("set");
    assert_eq!(dir.stat(name("locked")).expect("there").mode, 0o644);
}

#[test]
fn a_root_whose_place_is_taken_by_another_folder_is_found_no_more() {
    let place = TestFolder::new();
    let folder = place.top.join("place");
    fs::create_dir(&folder).expect("made");
    let root = Root::open(&folder).expect("there");
    assert!(!root.is_removed());
    assert_eq!(root.current_path(), folder.canonicalize().ok());
    fs::rename(&folder, place.top.join("moved")).expect("moved");
    assert_eq!(root.current_path(), None);
    fs::create_dir(&folder).expect("made");
    assert_eq!(root.current_path(), None);
}
