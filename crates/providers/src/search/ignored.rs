//! The ignore rules of a folder: which of its entries a walk leaves out.
//!
//! As ripgrep reads them: `.ignore` before `.gitignore` before `.git/info/exclude`, the nearest folder
//! first, and no Git rules from above the repository's own folder. Unlike there, `.gitignore` counts
//! outside a repository too. Rules above the scope's root and a person's global ones are not read.
//! Every file is read by handle; the `ignore` crate only matches.

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use bailiwick_contract::Failure;
use bailiwick_platform::fs::{Dir, DirEntry, FileKind, RelPath};
use bailiwick_platform::names::OsStrExt;
use bailiwick_policy::PermittedPath;

/// How much of one file of rules is read; what comes after it does not count.
const MAX_RULES_BYTES: u64 = 64 * 1024;
/// How many lines of one file of rules count.
const MAX_RULES_LINES: usize = 2_000;
/// How many of its lines may need a regular expression: those take long to compile when there are many.
const MAX_COSTLY_LINES: usize = 250;

/// The rules that hold for the entries of one folder. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct IgnoreRules {
    nearest: Option<Arc<Level>>,
}

/// The rules that one folder adds.
#[derive(Debug)]
struct Level {
    above: Option<Arc<Level>>,
    /// How many bytes of a path beneath the root lead to this folder, with the slash.
    prefix: usize,
    /// By rank: `.ignore`, `.gitignore`, `.git/info/exclude`.
    matchers: [Option<Gitignore>; 3],
    /// Whether it is a repository's own folder, above which no Git rules count.
    repository: bool,
}

impl IgnoreRules {
    /// Reads the rules for the entries of a folder: its own, and those of every folder above it in the scope.
    ///
    /// # Errors
    /// As [`PermittedPath::open_dir`], and what prevents it of reading the folder's entries.
    pub fn for_folder(path: &PermittedPath, dir: &Dir) -> Result<Self, Failure> {
        let mut rules = Self::default();
        let mut above = Vec::new();
        let mut folder = path.parent();
        while let Some(path) = folder {
            folder = path.parent();
            above.push(path);
        }
        for path in above.into_iter().rev() {
            // What cannot be opened adds no rules; the walk itself starts below it.
            if let Ok((dir, real)) = path.open_dir()
                && real.rel() == path.rel()
            {
                rules = rules.enter_unlisted(path.rel(), &dir);
            }
        }
        Ok(rules.enter_unlisted(path.rel(), dir))
    }

    /// Returns the rules for the entries of a folder within the one that these are for.
    ///
    /// `path` is the folder's path beneath the root, `entries` what [`Dir::entries`] gave for it.
    #[must_use]
    pub fn enter(&self, path: &RelPath, dir: &Dir, entries: &[DirEntry]) -> Self {
        let mut names = Names::default();
        for entry in entries {
            match entry.name.as_bytes() {
                b".ignore" => names.ignore = entry.kind != Some(FileKind::Symlink),
                b".gitignore" => names.gitignore = entry.kind != Some(FileKind::Symlink),
                b".git" => names.git = true,
                _ => {}
            }
        }
        self.with_names(path, dir, names)
    }

    /// Returns whether Git ignores an entry beneath a root, by its own name or by that of a folder on the way to it.
    pub fn is_ignored_by_git(root: &Dir, entry: &RelPath) -> bool {
        let (mut rules, mut path) = (Self::default(), RelPath::root());
        for name in entry.components().map(OsStr::from_bytes) {
            let Ok(dir) = root.open_dir_beneath(&path) else { return false };
            let has = |name: &str| dir.stat(OsStr::new(name)).is_ok();
            let names = Names { ignore: false, gitignore: has(".gitignore"), git: has(".git") };
            rules = rules.with_names(&path, &dir, names);
            path = path.child(name);
            if rules.is_ignored(path.as_bytes(), path != *entry) {
                return true;
            }
        }
        false
    }

    /// As [`IgnoreRules::enter`], for a folder whose entries are not all known.
    #[must_use]
    pub fn enter_unlisted(&self, path: &RelPath, dir: &Dir) -> Self {
        let has = |name: &str| dir.stat(OsStr::new(name)).is_ok();
        self.with_names(
            path,
            dir,
            Names { ignore: has(".ignore"), gitignore: has(".gitignore"), git: has(".git") },
        )
    }

    fn with_names(&self, path: &RelPath, dir: &Dir, names: Names) -> Self {
        if !names.ignore && !names.gitignore && !names.git {
            return self.clone();
        }
        let exclude = || {
            let info = dir.open_dir(OsStr::new(".git")).ok()?.open_dir(OsStr::new("info")).ok()?;
            read_rules(&info, "exclude")
        };
        let matchers = [
            names.ignore.then(|| read_rules(dir, ".ignore")).flatten(),
            names.gitignore.then(|| read_rules(dir, ".gitignore")).flatten(),
            names.git.then(exclude).flatten(),
        ];
        if !names.git && matchers.iter().all(Option::is_none) {
            return self.clone();
        }
        let prefix = if path.is_root() { 0 } else { path.as_bytes().len() + 1 };
        let level = Level { above: self.nearest.clone(), prefix, matchers, repository: names.git };
        Self { nearest: Some(Arc::new(level)) }
    }

    /// Returns whether an entry is ignored. `path` is its path beneath the root.
    ///
    /// A folder that is ignored is not entered; nothing here asks about the folders above an entry.
    pub fn is_ignored(&self, path: &[u8], is_folder: bool) -> bool {
        let mut ranks: [Option<bool>; 3] = [None; 3];
        let mut level = self.nearest.as_ref();
        let mut in_repository = true;
        while let Some(here) = level {
            let below = Path::new(OsStr::from_bytes(path.get(here.prefix..).unwrap_or(path)));
            for (rank, matcher) in here.matchers.iter().enumerate() {
                let Some(matcher) = matcher else { continue };
                if ranks[rank].is_none() && (rank == 0 || in_repository) {
                    ranks[rank] = match matcher.matched(below, is_folder) {
                        Match::None => None,
                        Match::Ignore(_) => Some(true),
                        Match::Whitelist(_) => Some(false),
                    };
                }
            }
            in_repository &= !here.repository;
            level = here.above.as_ref();
        }
        ranks.into_iter().flatten().next().unwrap_or(false)
    }
}

/// Which files of rules a folder has.
#[derive(Clone, Copy, Default)]
struct Names {
    ignore: bool,
    gitignore: bool,
    git: bool,
}

/// Reads one file of rules; what is missing, closed or unreadable has none.
fn read_rules(dir: &Dir, name: &str) -> Option<Gitignore> {
    let opened = dir.open_file(OsStr::new(name)).ok()?;
    let mut bytes = Vec::new();
    opened.file.take(MAX_RULES_BYTES).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 == MAX_RULES_BYTES {
        // Half a line would be another rule.
        bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n')?);
    }
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let mut builder = GitignoreBuilder::new("");
    let mut costly = 0;
    for line in text.split(|byte| *byte == b'\n').take(MAX_RULES_LINES) {
        costly += usize::from(is_costly(line));
        if costly > MAX_COSTLY_LINES {
            break;
        }
        // Git and ripgrep pass over a line that is no glob, too.
        let _ = builder.add_line(None, &String::from_utf8_lossy(line));
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}

/// Returns whether a rule is more than a name, or `*` and the end of one.
fn is_costly(line: &[u8]) -> bool {
    let rule = line.strip_prefix(b"!").unwrap_or(line);
    let rule = rule.strip_prefix(b"*").unwrap_or(rule);
    !line.starts_with(b"#") && rule.iter().any(|byte| matches!(byte, b'*' | b'?' | b'[' | b'{'))
}

#[cfg(test)]
mod tests {
    use bailiwick_platform::names::ARE_BYTES;

    use super::*;

    fn rules(levels: &[(&str, [&str; 3], bool)]) -> IgnoreRules {
        let mut rules = IgnoreRules::default();
        for (folder, texts, repository) in levels {
            let matchers = texts.map(|text| {
                let mut builder = GitignoreBuilder::new("");
                for line in text.lines() {
                    builder.add_line(None, line).expect("a good line");
                }
                builder.build().ok().filter(|rules| !rules.is_empty())
            });
            let prefix = if folder.is_empty() { 0 } else { folder.len() + 1 };
            let level = Level { above: rules.nearest, prefix, matchers, repository: *repository };
            rules = IgnoreRules { nearest: Some(Arc::new(level)) };
        }
        rules
    }

    #[test]
    fn the_nearest_rule_wins_and_ignore_files_beat_git_ones() {
        let rules = rules(&[
            ("", ["", "*.log\n/target/\n", "*.bak"], true),
            ("sub", ["", "!keep.log", ""], false),
            ("sub/deep", ["!*.bak", "", ""], false),
        ]);
        for (path, is_folder, ignored) in [
            ("sub/deep/a.log", false, true),
            ("sub/deep/keep.log", false, false),
            ("sub/deep/a.bak", false, false),
            ("sub/deep/target", true, false),
            ("sub/deep/a.rs", false, false),
        ] {
            assert_eq!(rules.is_ignored(path.as_bytes(), is_folder), ignored, "{path}");
        }
    }

    #[test]
    fn anchored_rules_hold_in_their_own_folder_only() {
        let rules = rules(&[("", ["", "/target/\nbuild/out", ""], true)]);
        assert!(rules.is_ignored(b"target", true));
        assert!(!rules.is_ignored(b"target", false));
        assert!(!rules.is_ignored(b"sub/target", true));
        assert!(rules.is_ignored(b"build/out", false));
    }

    #[test]
    fn rules_above_an_inner_repository_do_not_reach_into_it() {
        let rules = rules(&[("", ["*.tmp", "*.log", ""], true), ("inner", ["", "*.o", ""], true)]);
        assert!(!rules.is_ignored(b"inner/a.log", false));
        assert!(rules.is_ignored(b"inner/a.o", false));
        assert!(rules.is_ignored(b"inner/a.tmp", false), "`.ignore` has nothing to do with repositories");
    }

    #[test]
    fn rules_match_names_that_are_not_utf8() {
        let rules = rules(&[("", ["", "*.log", ""], true)]);
        // Where names are texts there is none such.
        assert_eq!(rules.is_ignored(b"a\xff.log", false), ARE_BYTES);
        assert!(rules.is_ignored(b"new\nline.log", false));
    }
}
