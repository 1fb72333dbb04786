//! Finding the program that a bare name means, on the search path that the user trusts.
//!
//! Never in the working directory, never in a folder that a client can write, never by a path.

#![expect(
    clippy::disallowed_methods,
    reason = "folders of the search path are the user's, and are checked by path and identity"
)]

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use bailiwick_contract::command::is_program_name;
use bailiwick_contract::{ErrorCode, FOR_USER, Failure, SCOPE, StageName, fields};
use bailiwick_platform::fs::{FileId, FileKind, Ownership, ResolvedPath, Stat};
use bailiwick_platform::launch::{LaunchCommand, Step};
use bailiwick_platform::programs::{SEARCH_PATH_SEPARATOR, candidates, may_run, read_by_others};

/// How many names of programs are compared with a misspelt one.
const MAX_NAMES: usize = 20_000;

/// A program that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its path: the folder of the search path and the name.
    pub path: PathBuf,
    /// The folder of the file itself, links followed.
    pub real_folder: PathBuf,
    /// The identity of the file itself. What starts is compared with it.
    pub identity: FileId,
}

impl Program {
    /// Returns the path of the file itself, links followed.
    pub fn real_path(&self) -> Option<PathBuf> {
        self.path.canonicalize().ok()
    }

    /// Returns the step that starts it with these words.
    pub(in super::super) fn step(&self, argv: Vec<OsString>) -> Step {
        Step {
            joiner: None,
            commands: vec![LaunchCommand {
                program: self.path.clone(),
                identity: self.identity,
                argv,
                redirects: Vec::new(),
            }],
        }
    }
}

/// Where programs are looked for, and where none may be.
#[derive(Debug)]
pub struct SearchPath<'a> {
    folders: &'a [PathBuf],
    closed: &'a [FileId],
    judged: RefCell<Vec<(PathBuf, Result<(), &'static str>)>>,
    seen: RefCell<BTreeMap<PathBuf, Option<FileId>>>,
}

impl<'a> SearchPath<'a> {
    /// Looks in these folders, in their order. `closed` are the folders that clients can write: the roots of
    /// scopes, and Bailiwick's own.
    pub fn new(folders: &'a [PathBuf], closed: &'a [FileId]) -> Self {
        Self { folders, closed, judged: RefCell::default(), seen: RefCell::default() }
    }

    /// Finds the program that a bare name means: the first one that can be executed.
    ///
    /// # Errors
    /// `not_found` with the nearest names; `permission_denied` where the only such program is in a place
    /// that others than its owner and root can change.
    pub fn find(&self, name: &str) -> Result<Program, Failure> {
        if !is_program_name(name) {
            return Err(Failure::invalid("input.command", "the program must be a bare name, not a path")
                .hint("Name the program only, such as `git`; it is looked for on the scope's search path."));
        }
        self.look_for(name).map_err(|refused| match refused {
            Some((folder, why)) => Failure::denied(
                "untrusted-program",
                format!("`{name}` was found in {}, but {why}", folder.display()),
            )
            .at_stage(StageName::Command)
            .hint(format!(
                "{FOR_USER}only you and root may be able to change that folder. `bailiwick scope edit {SCOPE} \
                 --search-path FOLDER` has another folder searched before it."
            )),
            None => self.batch_file(name).unwrap_or_else(|| self.not_found(name)),
        })
    }

    /// Returns the program that a bare name means, where it makes no difference why there is none: an error of
    /// [`SearchPath::find`] lists all programs to name the nearest.
    pub fn get(&self, name: &str) -> Option<Program> {
        is_program_name(name).then(|| self.look_for(name).ok()).flatten()
    }

    /// Finds a program. The error is the first folder with such a program, and why it must not be started.
    fn look_for(&self, name: &str) -> Result<Program, Option<(&Path, &'static str)>> {
        let mut refused = None;
        for folder in self.folders.iter().filter(|folder| folder.is_absolute()) {
            for candidate in candidates(name) {
                let path = folder.join(candidate);
                let Some(stat) = Stat::of(&path) else { continue };
                if stat.kind != FileKind::File || !may_run(&stat) {
                    continue;
                }
                match self.judge(folder, &path, &stat) {
                    Ok(program) => return Ok(program),
                    Err(why) => refused = refused.or(Some((folder.as_path(), why))),
                }
            }
        }
        Err(refused)
    }

    /// Returns the folders that exist and that clients and strangers cannot change: those that programs themselves
    /// may look for others in.
    pub fn trusted(&self) -> Vec<PathBuf> {
        let folders = self.folders.iter().filter(|folder| folder.is_absolute());
        folders.filter(|folder| self.judge_folder(folder).is_ok()).cloned().collect()
    }

    fn judge(&self, folder: &Path, path: &Path, stat: &Stat) -> Result<Program, &'static str> {
        let real = path.canonicalize().map_err(|_| "it cannot be reached")?;
        let real_folder = real.parent().ok_or("it has no folder")?;
        self.judge_folder(folder)?;
        self.judge_folder(real_folder)?;
        judge_owner(path, stat, "the file can be changed by others")?;
        if FileId::of(&real) != Some(stat.id) {
            return Err("it changes while it is checked");
        }
        Ok(Program { path: path.to_owned(), real_folder: real_folder.to_owned(), identity: stat.id })
    }

    /// Judges a folder, once for each request.
    fn judge_folder(&self, folder: &Path) -> Result<(), &'static str> {
        if let Some((_, verdict)) = self.judged.borrow().iter().find(|(known, _)| known == folder) {
            return *verdict;
        }
        let verdict = self.look_at_folder(folder);
        self.judged.borrow_mut().push((folder.to_owned(), verdict));
        verdict
    }

    fn look_at_folder(&self, folder: &Path) -> Result<(), &'static str> {
        let resolved = ResolvedPath::new(folder).map_err(|_| "the folder cannot be reached")?;
        if resolved.links.iter().any(|link| self.is_closed(&link.folder)) {
            return Err("a link inside the folder of a scope leads there, where clients write");
        }
        let real = resolved.real().map_err(|_| "the folder cannot be reached")?;
        let stat = Stat::of(&real).ok_or("the folder cannot be reached")?;
        judge_owner(&real, &stat, "the folder can be changed by others")?;
        if self.is_closed(&real) {
            return Err("that is inside the folder of a scope, where clients write");
        }
        Ok(())
    }

    /// Returns whether a folder is one of the closed ones, or inside of one. Each folder on the way is read once for
    /// each request.
    fn is_closed(&self, folder: &Path) -> bool {
        let mut seen = self.seen.borrow_mut();
        folder.ancestors().any(|folder| {
            let id = match seen.get(folder) {
                Some(id) => *id,
                None => *seen.entry(folder.to_owned()).or_insert_with(|| FileId::of(folder)),
            };
            id.is_some_and(|id| self.closed.contains(&id))
        })
    }

    /// Refuses what `cmd` would read: words that were judged once would be read a second time.
    fn batch_file(&self, name: &str) -> Option<Failure> {
        let folders = self.folders.iter().filter(|folder| folder.is_absolute());
        let mut files = folders.flat_map(|folder| read_by_others(name).map(|file| folder.join(file)));
        let found = files.find(|path| Stat::of(path).is_some_and(|stat| stat.kind == FileKind::File))?;
        Some(
            Failure::denied(
                "batch-file",
                format!("`{name}` is the batch file {}, and cmd would read its words again", found.display()),
            )
            .at_stage(StageName::Command)
            .hint("Name the program that it starts, such as `node` with the script for `npm`."),
        )
    }

    fn not_found(&self, name: &str) -> Failure {
        let searched: Vec<String> = self.folders.iter().map(|folder| folder.display().to_string()).collect();
        let failure =
            Failure::new(ErrorCode::NotFound, format!("there is no program `{name}` on the search path"))
                .detail("searched", searched.clone());
        let names = self.names();
        let near = fields::nearest(name, names.iter().map(String::as_str).filter(|it| it.len() > 1), 3);
        let failure = match near.as_slice() {
            [] => failure,
            near => failure.hint(format!("Did you mean {}?", near.join(" or "))),
        };
        failure.hint(format!(
            "{FOR_USER}install it, or name its folder: `bailiwick scope edit {SCOPE} --search-path FOLDER`. Now searched: {}.",
            searched.join(SEARCH_PATH_SEPARATOR)
        ))
    }

    /// Returns the names on the search path that are near enough in length to be compared.
    fn names(&self) -> BTreeSet<String> {
        let folders = self.folders.iter().filter_map(|folder| folder.read_dir().ok());
        let entries = folders.flat_map(|entries| entries.flatten());
        let names = entries.take(MAX_NAMES).filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| is_program_name(name)).collect()
    }
}

fn judge_owner(path: &Path, stat: &Stat, otherwise: &'static str) -> Result<(), &'static str> {
    if Ownership::of_known(path, stat).is_trusted() { Ok(()) } else { Err(otherwise) }
}

#[cfg(test)]
mod tests {
    use bailiwick_platform::fs::modes::{HAS_BITS, set_mode, symlink};
    use std::fs;

    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Self {
            let path = std::env::temp_dir().join(format!("bailiwick-{}", bailiwick_contract::id::new_id()));
            fs::create_dir_all(path.join("bin")).expect("a folder can be made");
            Self(path.canonicalize().expect("it exists"))
        }

        fn program(&self, path: &str) -> PathBuf {
            let path = self.0.join(path);
            fs::write(&path, "").expect("a file can be written");
            set_mode(&path, 0o755).expect("it is ours");
            path
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = bailiwick_platform::fs::remove_tree(&self.0);
        }
    }

    /// Returns the name of the file that a program has on this system.
    fn file(name: &str) -> String {
        candidates(name).last().expect("any name has one")
    }

    /// Creates a link. Returns whether there is one then: not every system makes them for everybody.
    fn linked(to: &str, at: &Path) -> bool {
        let is_there = symlink(to, at).is_ok() && at.symlink_metadata().is_ok_and(|facts| facts.is_symlink());
        assert!(is_there || !HAS_BITS, "a link can be made");
        is_there
    }

    fn find(folders: &[PathBuf], closed: &[FileId], name: &str) -> Result<Program, Failure> {
        SearchPath::new(folders, closed).find(name)
    }

    #[test]
    fn a_link_is_followed_for_identity_and_keeps_its_name() {
        let folder = Folder::new();
        let real = folder.program(&format!("bin/{}", file("tool-3.1")));
        let link = folder.0.join("bin").join(file("tool"));
        if !linked(&file("tool-3.1"), &link) {
            return;
        }
        let found = find(&[folder.0.join("bin")], &[], "tool").expect("it is there");
        assert_eq!(found.path, link);
        assert_eq!(Some(found.identity), FileId::of(&real));
    }

    #[test]
    fn nothing_in_a_root_is_found_not_even_by_a_link_to_it() {
        let folder = Folder::new();
        fs::create_dir_all(folder.0.join("root/bin")).expect("a folder can be made");
        folder.program(&format!("root/bin/{}", file("tool")));
        let has_link =
            linked(&format!("../root/bin/{}", file("tool")), &folder.0.join("bin").join(file("tool")));
        let closed = [FileId::of(&folder.0.join("root")).expect("it exists")];
        for place in if has_link { &["root/bin", "bin"][..] } else { &["root/bin"] } {
            let failure = find(&[folder.0.join(place)], &closed, "tool").expect_err(place);
            assert_eq!(failure.rule(), Some("untrusted-program"), "{place}");
        }
        assert!(!has_link || find(&[folder.0.join("bin")], &[], "tool").is_ok());
    }

    #[test]
    fn nothing_that_others_can_change_is_found() {
        // Elsewhere lists of rights say it, which `platform::fs` tests.
        if !HAS_BITS {
            return;
        }
        let folder = Folder::new();
        let program = folder.program(&format!("bin/{}", file("tool")));
        let bin = folder.0.join("bin");
        set_mode(&program, 0o757).expect("it is ours");
        assert!(find(std::slice::from_ref(&bin), &[], "tool").is_err(), "the file");
        set_mode(&program, 0o755).expect("it is ours");
        set_mode(&bin, 0o777).expect("it is ours");
        assert!(find(std::slice::from_ref(&bin), &[], "tool").is_err(), "the folder");
    }

    #[test]
    fn the_first_that_can_be_executed_wins_and_a_misspelt_name_finds_its_neighbour() {
        let folder = Folder::new();
        fs::create_dir_all(folder.0.join("first")).expect("a folder can be made");
        // What may not be executed: by its bits, or by its ending.
        fs::write(folder.0.join("first/tool"), "").expect("a file can be written");
        let program = folder.program(&format!("bin/{}", file("tool")));
        let folders = [folder.0.join("first"), folder.0.join("bin"), PathBuf::from("relative")];
        assert_eq!(find(&folders, &[], "tool").expect("it is there").path, program);
        let search = SearchPath::new(&folders, &[]);
        assert_eq!(search.get("tool").map(|it| it.path), Some(program));
        assert_eq!((search.get(&file("tolo")), search.get("bin/tool")), (None, None));
        let failure = find(&folders, &[], &file("tolo")).expect_err("there is none");
        assert_eq!(failure.code, ErrorCode::NotFound);
        assert_eq!(failure.hints[0], format!("Did you mean {}?", file("tool")));
        for path in ["bin/tool", "./tool", "..", "", "a b"] {
            assert_eq!(find(&folders, &[], path).expect_err(path).code, ErrorCode::InvalidRequest);
        }
    }
}
