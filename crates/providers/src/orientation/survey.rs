//! What a project is written in, what its folders hold, where its manifests are: what a walk finds, folder by folder.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use schemars::JsonSchema;
use serde::Serialize;

use crate::code::index::{Depth, RootWatches, lock};
use crate::search::{Filter, Skip, Visitor, WalkedFile, walk};
use bailiwick_contract::{Access, Cancel, Failure};
use bailiwick_platform::fs::Dir;
use bailiwick_platform::names::OsStrExt;
use bailiwick_policy::PermittedPath;

use super::entry_points::is_beginning;
use super::languages::Language;
use super::manifest_formats::Format;

/// How many paths are kept.
const MAX_PATHS: usize = 40_000;
/// How many folders are counted apart in an answer.
const MAX_FOLDERS: usize = 16_000;
/// Folders of what others made: not entered, even where nothing ignores them.
const INSTALLED: &[&[u8]] = &[b"node_modules", b"bower_components", b"__pycache__", b"site-packages"];
/// Folders of what others wrote, which say nothing about what the project is written in.
const VENDORED: &[&[u8]] = &[b"vendor", b"third_party", b"third-party"];
/// The files below a target that speak to agents.
const INSTRUCTIONS: &[&[u8]] = &[b"AGENTS.md", b"CLAUDE.md"];
/// What folders of these names usually hold.
const USUAL: &[(&str, &str)] = &[
    ("src", "source"),
    ("lib", "source"),
    ("app", "application"),
    ("apps", "applications"),
    ("packages", "packages"),
    ("crates", "crates"),
    ("cmd", "programs"),
    ("bin", "programs"),
    ("internal", "source"),
    ("pkg", "packages"),
    ("include", "headers"),
    ("tests", "tests"),
    ("test", "tests"),
    ("spec", "tests"),
    ("__tests__", "tests"),
    ("e2e", "tests"),
    ("benches", "benchmarks"),
    ("benchmarks", "benchmarks"),
    ("fixtures", "test data"),
    ("testdata", "test data"),
    ("docs", "documentation"),
    ("doc", "documentation"),
    ("examples", "examples"),
    ("example", "examples"),
    ("scripts", "scripts"),
    ("tools", "tools"),
    ("schemas", "schemas"),
    ("proto", "schemas"),
    ("migrations", "database migrations"),
    ("config", "configuration"),
    ("public", "static files"),
    ("static", "static files"),
    ("assets", "static files"),
    ("vendor", "vendored code"),
    ("third_party", "vendored code"),
    ("dist", "build output"),
    ("build", "build"),
    ("deploy", "deployment"),
    ("infra", "deployment"),
    ("k8s", "deployment"),
];

/// What a project is written in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LanguageShare {
    /// The language.
    pub name: &'static str,
    /// How many files.
    pub files: u64,
    /// How many bytes they have.
    pub bytes: u64,
}

/// What a folder holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Folder {
    /// Its path, relative to the scope's folder.
    pub path: String,
    /// How many files are in it and below it.
    pub files: u64,
    /// What it seems to hold, by its name and by the language of most of its files.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub holds: String,
}

/// What a walk found.
#[derive(Debug, Default)]
pub struct Survey {
    /// How many files.
    pub files: u64,
    /// How many bytes they have.
    pub bytes: u64,
    /// The languages: those of programs first, the largest first.
    pub languages: Vec<LanguageShare>,
    /// The folders of the target, the fullest first, then those in them.
    pub folders: Vec<Folder>,
    /// Manifests, the nearest first, as paths below the target.
    pub(super) manifests: Vec<Vec<u8>>,
    /// Files by whose names programs begin, the nearest first, as paths below the target.
    pub(super) beginnings: Vec<Vec<u8>>,
    /// Files that speak to agents below the target, the nearest first, as results name them.
    pub instructions_below: Vec<String>,
    /// Whether the time was over before all was seen.
    pub partial: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    files: u64,
    bytes: u64,
}

impl Count {
    fn add(&mut self, other: Self) {
        self.files += other.files;
        self.bytes += other.bytes;
    }
}

/// What the files of one folder come to, without those in folders below it.
#[derive(Debug, Default)]
pub(super) struct FolderPart {
    total: Count,
    languages: BTreeMap<Language, Count>,
    /// Paths below the target.
    manifests: Vec<Vec<u8>>,
    beginnings: Vec<Vec<u8>>,
    instructions: Vec<Vec<u8>>,
}

impl FolderPart {
    /// Takes a file, by its path below the target.
    fn take(&mut self, below: &[u8], bytes: u64) {
        let name = below.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let count = Count { files: 1, bytes };
        self.total.add(count);
        if let Some(language) = Language::of_name(name) {
            self.languages.entry(language).or_default().add(count);
        }
        if is_vendored(below) {
            return;
        }
        if Format::of_name(name).is_some() {
            self.manifests.push(below.to_vec());
        }
        if is_beginning(below) {
            self.beginnings.push(below.to_vec());
        }
        if INSTRUCTIONS.contains(&name) && below != name {
            self.instructions.push(below.to_vec());
        }
    }

    fn paths(&self) -> usize {
        self.manifests.len() + self.beginnings.len() + self.instructions.len()
    }

    fn merge(&mut self, other: Self) {
        self.total.add(other.total);
        for (language, theirs) in other.languages {
            self.languages.entry(language).or_default().add(theirs);
        }
        self.manifests.extend(other.manifests);
        self.beginnings.extend(other.beginnings);
        self.instructions.extend(other.instructions);
    }
}

/// What a walk has seen until now: a part for each folder, by its path below the target.
#[derive(Debug, Default)]
pub(super) struct FolderParts {
    folders: BTreeMap<Vec<u8>, FolderPart>,
    paths: usize,
}

#[derive(Debug, Default)]
struct FolderCount {
    files: u64,
    languages: BTreeMap<Language, u64>,
}

impl FolderParts {
    /// Forgets a folder's own files, or all beneath it too.
    pub fn forget(&mut self, folder: &[u8], depth: Depth) {
        let mut gone = vec![folder.to_vec()];
        if depth == Depth::All {
            let mut start = folder.to_vec();
            if !start.is_empty() {
                start.push(b'/');
            }
            let beneath = self.folders.range(start.clone()..).map(|(path, _)| path);
            gone.extend(beneath.take_while(|path| path.starts_with(&start)).cloned());
        }
        for path in gone {
            let part = self.folders.remove(&path);
            self.paths -= part.map_or(0, |part| part.paths());
        }
    }

    /// Adds files of a folder. Where not every folder is kept apart, those are that an answer speaks of.
    fn add(&mut self, folder: &[u8], mut part: FolderPart, are_kept: bool) {
        if self.paths + part.paths() > MAX_PATHS {
            (part.manifests, part.beginnings, part.instructions) = Default::default();
        }
        self.paths += part.paths();
        let known = self.folders.contains_key(folder);
        let folder = if known || are_kept { folder.to_vec() } else { self.counted_folder(folder) };
        self.folders.entry(folder).or_default().merge(part);
    }

    /// Returns the folder in which files count whose own folder is not kept.
    fn counted_folder(&self, folder: &[u8]) -> Vec<u8> {
        let end = memchr::memchr_iter(b'/', folder).nth(1).unwrap_or(folder.len());
        let mut counted = folder[..end].to_vec();
        if is_vendored(folder) && !is_vendored(&counted) {
            counted.extend_from_slice(b"/vendor");
        }
        if self.folders.len() < MAX_FOLDERS || self.folders.contains_key(&counted) {
            return counted;
        }
        if is_vendored(folder) { VENDORED[0].to_vec() } else { Vec::new() }
    }

    /// Returns what all of it comes to.
    pub fn survey(&self, target: &PermittedPath, partial: bool) -> Survey {
        let mut total = Count::default();
        let mut counts = [Count::default(); Language::COUNT];
        let mut folders: HashMap<&[u8], FolderCount> = HashMap::new();
        let (mut manifests, mut beginnings, mut instructions) = (Vec::new(), Vec::new(), Vec::new());
        for (path, part) in &self.folders {
            total.add(part.total);
            if !is_vendored(path) {
                part.languages.iter().for_each(|(language, count)| counts[language.place()].add(*count));
            }
            let mut ends = memchr::memchr_iter(b'/', path).chain([path.len()]);
            for end in [ends.next(), ends.next()].into_iter().flatten().filter(|end| *end > 0) {
                let folder = &path[..end];
                if folders.len() >= MAX_FOLDERS && !folders.contains_key(folder) {
                    break;
                }
                let count = folders.entry(folder).or_default();
                count.files += part.total.files;
                for (language, of_language) in &part.languages {
                    *count.languages.entry(*language).or_default() += of_language.files;
                }
            }
            manifests.extend(part.manifests.iter().cloned());
            beginnings.extend(part.beginnings.iter().cloned());
            instructions.extend(part.instructions.iter().cloned());
        }
        let show = |below: &[u8]| match target.rel().join(below) {
            Ok(rel) => target.show(&rel),
            Err(_) => String::new(),
        };
        let headers = Language::of_headers(|language| counts[language.place()].bytes);
        let header = Language::of_name(b"a.h");
        if let (Some(header), Some(language)) = (header, headers) {
            let count = std::mem::take(&mut counts[header.place()]);
            counts[language.place()].add(count);
        }
        let mut languages: Vec<(Language, Count)> = counts
            .into_iter()
            .enumerate()
            .filter(|(_, count)| count.files > 0)
            .filter_map(|(place, count)| Some((Language::at(place)?, count)))
            .collect();
        languages.sort_by_key(|(language, count)| (!language.is_program(), Reverse(count.bytes), *language));
        let mut folders: Vec<(&[u8], FolderCount)> =
            folders.into_iter().filter(|(_, count)| count.files > 0).collect();
        for (_, count) in &mut folders {
            let files = header.and_then(|header| count.languages.remove(&header));
            if let (Some(files), Some(language)) = (files, headers) {
                *count.languages.entry(language).or_default() += files;
            }
        }
        folders.sort_by(|(a, left), (b, right)| {
            (depth(a), Reverse(left.files), a).cmp(&(depth(b), Reverse(right.files), b))
        });
        Survey {
            files: total.files,
            bytes: total.bytes,
            languages: languages
                .into_iter()
                .map(|(language, Count { files, bytes })| LanguageShare {
                    name: language.name(),
                    files,
                    bytes,
                })
                .collect(),
            folders: folders
                .iter()
                .map(|(path, count)| Folder {
                    path: show(path),
                    files: count.files,
                    holds: holds(path, count),
                })
                .collect(),
            manifests: nearest_first(manifests),
            beginnings: nearest_first(beginnings),
            instructions_below: nearest_first(instructions).iter().map(|path| show(path)).collect(),
            partial,
        }
    }
}

/// One walk, or one look at a folder that has changed.
pub(super) struct SurveyWalk<'a> {
    parts: &'a Mutex<FolderParts>,
    watched: &'a Mutex<RootWatches>,
    /// How many bytes of a path lead to the target.
    base: usize,
    depth: Depth,
    /// When a walk ends whose folders are not watched: its result is of no use for later.
    until: Instant,
    is_watched: AtomicBool,
    is_late: AtomicBool,
}

impl<'a> SurveyWalk<'a> {
    /// Prepares a walk.
    pub fn new(
        parts: &'a Mutex<FolderParts>,
        watched: &'a Mutex<RootWatches>,
        target: &PermittedPath,
        until: Instant,
    ) -> Self {
        let base = if target.rel().is_root() { 0 } else { target.rel().as_bytes().len() + 1 };
        let is_watched = AtomicBool::new(lock(watched).hears());
        Self { parts, watched, base, depth: Depth::All, until, is_watched, is_late: AtomicBool::new(false) }
    }

    /// Walks a folder of the target. Returns whether all of it was seen.
    ///
    /// # Errors
    /// As [`PermittedPath::open_dir`] for the folder itself; `cancelled`, `timeout`.
    pub fn folder(
        &mut self,
        path: &PermittedPath,
        dir: Dir,
        depth: Depth,
        cancel: &Cancel,
    ) -> Result<bool, Failure> {
        self.depth = depth;
        self.enter(path.rel().as_bytes(), &dir);
        let filter = Filter { access: Access::Read, hidden: false, ignored: false };
        drop(walk(path, dir, filter, cancel, || Worker { walk: self, folder: Vec::new(), part: None })?);
        Ok(!self.is_late.load(Ordering::Relaxed))
    }

    /// Watches a folder that is about to be read.
    fn enter(&self, path: &[u8], dir: &Dir) {
        if self.is_watched.load(Ordering::Relaxed) {
            let mut watched = lock(self.watched);
            watched.enter(path, dir);
            self.is_watched.store(watched.hears(), Ordering::Relaxed);
        }
    }
}

/// One thread's part of a walk.
struct Worker<'a> {
    walk: &'a SurveyWalk<'a>,
    /// The folder that files come from now, and what they come to.
    folder: Vec<u8>,
    part: Option<FolderPart>,
}

impl Worker<'_> {
    fn flush(&mut self) {
        if let Some(part) = self.part.take() {
            let are_kept = self.walk.is_watched.load(Ordering::Relaxed);
            lock(self.walk.parts).add(&self.folder, part, are_kept);
        }
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}

impl Visitor for Worker<'_> {
    fn wants(&self, path: &[u8]) -> bool {
        let walk = self.walk;
        if walk.is_late.load(Ordering::Relaxed) {
            return false;
        }
        let Some(folder) = path.strip_suffix(b"/") else { return true };
        let name = folder.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        !INSTALLED.contains(&name) && (walk.depth == Depth::All || !lock(walk.watched).knows(folder))
    }

    fn begin(&mut self, _: &[u8]) {
        self.flush();
        if !self.walk.is_watched.load(Ordering::Relaxed) && Instant::now() >= self.walk.until {
            self.walk.is_late.store(true, Ordering::Relaxed);
        }
    }

    fn file(&mut self, file: &WalkedFile<'_>) {
        let below = file.path.get(self.walk.base..).unwrap_or_default();
        let folder = below.len().saturating_sub(file.name.as_bytes().len() + 1);
        if self.part.is_none() || self.folder != below[..folder] {
            self.flush();
            self.folder = below[..folder].to_vec();
        }
        let bytes = file.dir.stat(file.name).map_or(0, |stat| stat.size);
        self.part.get_or_insert_default().take(below, bytes);
    }

    fn folder(&mut self, _: &WalkedFile<'_>) {}

    fn entered(&mut self, path: &[u8], dir: &Dir) {
        self.walk.enter(path, dir);
    }

    fn skipped(&mut self, _: &[u8], _: Skip) {}
}

fn is_vendored(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|part| VENDORED.contains(&part))
}

fn depth(path: &[u8]) -> usize {
    memchr::memchr_iter(b'/', path).count()
}

fn nearest_first(mut paths: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    paths.sort_unstable_by(|a, b| (depth(a), a).cmp(&(depth(b), b)));
    paths
}

/// Returns what a folder seems to hold.
fn holds(path: &[u8], count: &FolderCount) -> String {
    let name = path.rsplit(|byte| *byte == b'/').next().map(OsStr::from_bytes).and_then(OsStr::to_str);
    let usual = USUAL.iter().find(|(known, _)| name == Some(*known)).map(|(_, what)| *what);
    let most = count.languages.iter().max_by_key(|(language, files)| (**files, Reverse(**language)));
    let language = most.filter(|(_, files)| **files * 2 > count.files).map(|(language, _)| language.name());
    match (usual, language) {
        (Some(usual), Some(language)) => format!("{usual}, {language}"),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_walk_whose_time_is_over_wants_nothing_more_and_says_so() {
        let (parts, watched) = (Mutex::default(), Mutex::default());
        let worker = |until| SurveyWalk {
            parts: &parts,
            watched: &watched,
            base: 0,
            depth: Depth::All,
            until,
            is_watched: AtomicBool::new(false),
            is_late: AtomicBool::new(false),
        };
        let (late, early) = (worker(Instant::now()), worker(Instant::now() + Duration::from_secs(3_600)));
        let mut worker = Worker { walk: &late, folder: Vec::new(), part: None };
        worker.begin(b"a");
        assert!(late.is_late.load(Ordering::Relaxed) && !worker.wants(b"a/"));
        let mut worker = Worker { walk: &early, folder: Vec::new(), part: None };
        worker.begin(b"a");
        assert!(worker.wants(b"a/") && worker.wants(b"a/b") && !worker.wants(b"a/node_modules/"));
    }

    #[test]
    fn folders_that_are_not_kept_apart_count_as_those_that_are() {
        let files: [(&str, &str, u64); 6] = [
            ("", "Cargo.toml", 10),
            ("a/b", "x.rs", 20),
            ("a/b/c/d", "y.rs", 30),
            ("a/b/vendor/z", "z.py", 40),
            ("vendor", "w.py", 50),
            ("a/q", "AGENTS.md", 60),
        ];
        let root = std::env::temp_dir();
        let config = serde_json::json!({"id": "app", "roots": [root]});
        let config = serde_json::from_value(config).expect("a good scope");
        let scope = bailiwick_policy::Scope::compile(
            &config,
            &bailiwick_policy::RootPaths::default(),
            &bailiwick_policy::OwnFolders::default(),
        );
        let scope = scope.expect("a good scope");
        let target = scope.readable(&bailiwick_contract::RawPath(".".to_owned())).expect("the root");
        let of = |are_kept| {
            let mut parts = FolderParts::default();
            for (folder, name, bytes) in files {
                let below = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
                let mut part = FolderPart::default();
                part.take(below.as_bytes(), bytes);
                parts.add(folder.as_bytes(), part, are_kept);
            }
            parts
        };
        let (mut kept, counted) = (of(true), of(false));
        assert!(counted.folders.len() < kept.folders.len());
        let described = |parts: &FolderParts| format!("{:?}", parts.survey(&target, false));
        // Of vendored files below two folders it is not kept where they are, but nothing speaks of that.
        assert_eq!(described(&kept), described(&counted));
        let survey = kept.survey(&target, false);
        assert_eq!((survey.files, survey.bytes, survey.manifests.len()), (6, 210, 1));
        let languages: Vec<_> = survey.languages.iter().map(|it| (it.name, it.files)).collect();
        assert_eq!(languages[0], ("Rust", 2), "{languages:?}");
        assert!(languages.iter().all(|(name, _)| *name != "Python"), "{languages:?}");
        kept.forget(b"a/b", Depth::Entries);
        assert_eq!(kept.survey(&target, false).files, 5);
        kept.forget(b"a", Depth::All);
        assert_eq!((kept.survey(&target, false).files, kept.paths), (2, 1));
        kept.forget(b"", Depth::All);
        assert_eq!((kept.survey(&target, false).files, kept.paths), (0, 0));
    }

    #[test]
    fn names_and_languages_say_what_a_folder_holds() {
        let mut count = FolderCount { files: 3, languages: BTreeMap::new() };
        assert_eq!(holds(b"tests", &count), "tests");
        count.languages.extend(Language::of_name(b"a.rs").map(|language| (language, 2)));
        assert_eq!(holds(b"a/tests", &count), "tests, Rust");
        assert_eq!(holds(b"inner\xff", &count), "Rust");
    }
}
