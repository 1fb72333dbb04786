//! Where the corpus takes its changes from: this repository's history, and sources that are on every
//! machine that could build it. Nothing is picked by hand, and every run takes the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::source::{files, repository};
use crate::system::git_of_the_person;

/// The longest file that is taken whole, in lines.
const MAX_LINES: usize = 20_000;

/// A file before and after a change.
#[derive(Debug, Clone)]
pub struct Pair {
    /// Where it is from.
    pub name: String,
    /// Its ending, which stands for its language.
    pub language: String,
    pub old: String,
    pub new: String,
}

/// Lists the changes: commits, crates of which two versions are used, and changes that repeat, in other
/// files, what people do.
pub fn pairs() -> Vec<Pair> {
    let mut pairs = from_history(120);
    let crates = crates();
    pairs.extend(from_versions(&crates, 120));
    let mut sources: Vec<PathBuf> = Vec::new();
    for versions in crates.values() {
        for version in versions.iter().take(1) {
            sources.extend(listed(version));
        }
    }
    for folder in ["src", "crates", "tests", "docs", "schemas", "examples"] {
        sources.extend(files(folder));
    }
    pairs.extend(from_sources(&sources, 32));
    pairs.retain(|pair| pair.old != pair.new && !pair.old.contains('\0'));
    pairs
}

fn git(arguments: &[&str]) -> Option<Vec<u8>> {
    let output = git_of_the_person().current_dir(repository()).args(arguments).output().ok()?;
    output.status.success().then_some(output.stdout)
}

/// Takes files that commits changed, the newest first; none where there is no history.
fn from_history(most: usize) -> Vec<Pair> {
    let range = ["log", "--no-merges", "--diff-filter=M", "--raw", "--no-abbrev", "--format=", "-n", "80"];
    let Some(log) = git(&range) else { return Vec::new() };
    let log = String::from_utf8_lossy(&log).into_owned();
    let mut pairs = Vec::new();
    for line in log.lines() {
        let Some((facts, path)) = line.split_once('\t') else { continue };
        let [_, _, old, new, _] = facts.split(' ').collect::<Vec<_>>()[..] else { continue };
        let blob = |id: &str| git(&["cat-file", "blob", id]).and_then(|bytes| String::from_utf8(bytes).ok());
        if let (Some(old), Some(new)) = (blob(old), blob(new)) {
            pairs.push(Pair { name: format!("{path} in history"), language: language(path), old, new });
        }
        if pairs.len() == most {
            break;
        }
    }
    pairs
}

/// Finds the sources of the crates that Cargo.lock names, each with its versions.
fn crates() -> BTreeMap<String, Vec<PathBuf>> {
    let lock = fs::read_to_string(repository().join("Cargo.lock")).unwrap_or_default();
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
    let registries = home.map(|home| listed_folders(&home.join("registry/src"))).unwrap_or_default();
    let mut found: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let mut name = "";
    for line in lock.lines() {
        if let Some(rest) = line.strip_prefix("name = \"") {
            name = rest.trim_end_matches('"');
        }
        if let Some(version) = line.strip_prefix("version = \"") {
            let folder = format!("{name}-{}", version.trim_end_matches('"'));
            let path = registries.iter().map(|registry| registry.join(&folder)).find(|path| path.is_dir());
            found.entry(name.to_owned()).or_default().extend(path);
        }
    }
    found
}

fn listed_folders(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Lists the files below a folder, in order.
fn listed(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(folder) = todo.pop() {
        for path in listed_folders(&folder) {
            if path.is_dir() { todo.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// Takes files that differ between two versions of a crate.
fn from_versions(crates: &BTreeMap<String, Vec<PathBuf>>, most: usize) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for versions in crates.values() {
        let [old, new] = &versions[..] else { continue };
        for path in listed(old) {
            let below = path.strip_prefix(old).expect("it was found there");
            let (Ok(before), Ok(after)) = (fs::read_to_string(&path), fs::read_to_string(new.join(below)))
            else {
                continue;
            };
            if before != after && before.lines().count() <= MAX_LINES && pairs.len() < most {
                let name = path.to_string_lossy().into_owned();
                pairs.push(Pair { language: language(&name), name, old: before, new: after });
            }
        }
    }
    pairs
}

/// Changes some files of each language: a name in one place, a line gone, lines moved in from elsewhere.
fn from_sources(sources: &[PathBuf], for_each: usize) -> Vec<Pair> {
    let mut by_language: BTreeMap<String, Vec<&PathBuf>> = BTreeMap::new();
    for path in sources {
        let large = fs::metadata(path).map_or(0, |facts| facts.len());
        let language = language(&path.to_string_lossy());
        let known =
            ["rs", "c", "h", "cpp", "js", "md", "toml", "yml", "yaml", "json", "sh", "s", "txt", "pest"];
        if large > 600 && known.contains(&language.as_str()) {
            by_language.entry(language).or_default().push(path);
        }
    }
    let mut pairs = Vec::new();
    for (language, paths) in by_language {
        // Rust is what there is most of.
        let for_each = if language == "rs" { for_each * 3 } else { for_each };
        let step = (paths.len() / for_each).max(1);
        for (at, path) in paths.iter().step_by(step).take(for_each).enumerate() {
            let Ok(text) = fs::read_to_string(path) else { continue };
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            // Of a very long file, some windows.
            for (window, lines) in lines.chunks(MAX_LINES).take(3).enumerate() {
                if lines.len() >= 24 {
                    pairs.push(Pair {
                        name: format!("{} {window}", path.display()),
                        language: language.clone(),
                        old: lines.concat(),
                        new: changed(lines, at + window),
                    });
                }
            }
        }
    }
    pairs
}

/// Makes some changes, by the number of the file.
fn changed(lines: &[&str], seed: usize) -> String {
    let mut new: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    let spot = |part: usize| (lines.len() * part / 11 + seed) % (lines.len() - 6);
    // From the end, so that the earlier spots stay where they are.
    let mut spots = [spot(2), spot(5), spot(8)];
    spots.sort_unstable();
    if seed.is_multiple_of(3) {
        let moved = lines[spots[0]..spots[0] + 3].concat();
        new.insert(spots[2] + 3, moved);
    }
    if seed.is_multiple_of(2) {
        new.drain(spots[1]..=spots[1] + seed % 4);
    }
    let line = &mut new[spots[0]];
    let word = line.split(|it: char| !it.is_alphanumeric()).max_by_key(|word| word.len()).unwrap_or_default();
    *line = match word {
        "" => format!("added {seed}\n{line}"),
        word => line.replacen(word, &format!("{word}_{seed}"), 1),
    };
    new.concat()
}

fn language(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or_else(String::new, |(_, ending)| ending.to_owned())
}
