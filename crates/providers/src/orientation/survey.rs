//! One walk over a project: what it is written in, what its folders hold, where its manifests are.
//!
//! Bounded in time: what was not reached by then is not counted, and the survey says that it is partial.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::time::Instant;

use schemars::JsonSchema;
use serde::Serialize;

use crate::search::{Filter, Skip, Visitor, WalkedFile, walk};
use bailiwick_contract::{Access, Cancel, Failure};
use bailiwick_platform::fs::Dir;
use bailiwick_platform::names::OsStrExt;
use bailiwick_policy::PermittedPath;

use super::entry_points::is_beginning;
use super::languages::Language;
use super::manifest_formats::Format;

/// How many paths of one kind a thread keeps.
const MAX_PATHS: usize = 5_000;
/// How many folders a thread counts apart.
const MAX_FOLDERS: usize = 2_000;
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

/// Walks a permitted folder until all is seen or the time is over.
///
/// # Errors
/// As [`PermittedPath::open_dir`] for the folder itself; `cancelled`, `timeout`.
pub fn survey(path: &PermittedPath, dir: Dir, until: Instant, cancel: &Cancel) -> Result<Survey, Failure> {
    let filter = Filter { access: Access::Read, hidden: false, ignored: false };
    let base = if path.rel().is_root() { 0 } else { path.rel().as_bytes().len() + 1 };
    let workers = walk(path, dir, filter, cancel, || Worker::new(base, until))?;
    let mut all = Worker::new(base, until);
    for worker in workers {
        all.merge(worker);
    }
    Ok(all.finish(path))
}

#[derive(Clone, Copy, Default)]
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

#[derive(Default)]
struct FolderCount {
    files: u64,
    languages: BTreeMap<Language, u64>,
}

/// One thread's part of a survey. Paths are those below the target.
struct Worker {
    /// How many bytes of a path lead to the target.
    base: usize,
    until: Instant,
    partial: bool,
    total: Count,
    languages: [Count; Language::COUNT],
    folders: HashMap<Vec<u8>, FolderCount>,
    manifests: Vec<Vec<u8>>,
    beginnings: Vec<Vec<u8>>,
    instructions: Vec<Vec<u8>>,
}

impl Worker {
    fn new(base: usize, until: Instant) -> Self {
        Self {
            base,
            until,
            partial: false,
            total: Count::default(),
            languages: [Count::default(); Language::COUNT],
            folders: HashMap::new(),
            manifests: Vec::new(),
            beginnings: Vec::new(),
            instructions: Vec::new(),
        }
    }

    /// Counts a file in the folder of the target that holds it, and in the one in that.
    fn count_in_folders(&mut self, below: &[u8], language: Option<Language>) {
        let mut ends = memchr::memchr_iter(b'/', below);
        for end in [ends.next(), ends.next()].into_iter().flatten() {
            let folder = &below[..end];
            if !self.folders.contains_key(folder) {
                if self.folders.len() >= MAX_FOLDERS {
                    return;
                }
                self.folders.insert(folder.to_vec(), FolderCount::default());
            }
            let Some(count) = self.folders.get_mut(folder) else { return };
            count.files += 1;
            if let Some(language) = language {
                *count.languages.entry(language).or_default() += 1;
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.partial |= other.partial;
        self.total.add(other.total);
        for (mine, theirs) in self.languages.iter_mut().zip(other.languages) {
            mine.add(theirs);
        }
        for (folder, theirs) in other.folders {
            let mine = self.folders.entry(folder).or_default();
            mine.files += theirs.files;
            for (language, files) in theirs.languages {
                *mine.languages.entry(language).or_default() += files;
            }
        }
        self.manifests.extend(other.manifests);
        self.beginnings.extend(other.beginnings);
        self.instructions.extend(other.instructions);
    }

    fn finish(self, target: &PermittedPath) -> Survey {
        let show = |below: &[u8]| match target.rel().join(below) {
            Ok(rel) => target.show(&rel),
            Err(_) => String::new(),
        };
        let mut counts = self.languages;
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
        let mut folders: Vec<(Vec<u8>, FolderCount)> = self.folders.into_iter().collect();
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
            files: self.total.files,
            bytes: self.total.bytes,
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
            manifests: nearest_first(self.manifests),
            beginnings: nearest_first(self.beginnings),
            instructions_below: nearest_first(self.instructions).iter().map(|path| show(path)).collect(),
            partial: self.partial,
        }
    }
}

impl Visitor for Worker {
    fn wants(&self, path: &[u8]) -> bool {
        let folder = path.strip_suffix(b"/").map(|path| path.rsplit(|byte| *byte == b'/').next());
        !self.partial && !folder.flatten().is_some_and(|name| INSTALLED.contains(&name))
    }

    fn begin(&mut self, _: &[u8]) {
        self.partial |= Instant::now() >= self.until;
    }

    fn file(&mut self, file: &WalkedFile<'_>) {
        let below = file.path.get(self.base..).unwrap_or_default();
        let name = file.name.as_bytes();
        let bytes = file.dir.stat(file.name).map_or(0, |stat| stat.size);
        let count = Count { files: 1, bytes };
        self.total.add(count);
        let language = Language::of_name(name);
        self.count_in_folders(below, language);
        let vendored = below.split(|byte| *byte == b'/').any(|part| VENDORED.contains(&part));
        if vendored {
            return;
        }
        if let Some(language) = language {
            self.languages[language.place()].add(count);
        }
        let keep = |paths: &mut Vec<Vec<u8>>| {
            if paths.len() < MAX_PATHS {
                paths.push(below.to_vec());
            }
        };
        if Format::of_name(name).is_some() {
            keep(&mut self.manifests);
        }
        if is_beginning(below) {
            keep(&mut self.beginnings);
        }
        if INSTRUCTIONS.contains(&name) && below != name {
            keep(&mut self.instructions);
        }
    }

    fn folder(&mut self, _: &WalkedFile<'_>) {}

    fn skipped(&mut self, _: &[u8], _: Skip) {}
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
        let now = Instant::now();
        let mut late = Worker::new(0, now);
        late.begin(b"a");
        assert!(late.partial && !late.wants(b"a/"));
        let mut early = Worker::new(0, now + Duration::from_secs(3_600));
        early.begin(b"a");
        assert!(!early.partial && early.wants(b"a/") && !early.wants(b"a/node_modules/"));
        early.merge(late);
        assert!(early.partial);
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
