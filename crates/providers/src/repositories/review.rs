//! What a command has left for Git to run later, as far as it could: a repository where none was, or settings that
//! somebody changed while it ran.

#![expect(
    clippy::disallowed_methods,
    reason = "Git's own files are checked by their real path; of their content only the names of settings are told"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick_platform::fs::Stat;
use bailiwick_platform::launch::PathGrant;
use bailiwick_policy::Scope;

use super::names::SAME_FOLDER;
use super::survey::Repositories;

/// How many repositories are named.
const MAX_NAMED: usize = 5;

/// What is said of a command when it has ended.
#[derive(Debug, Default)]
pub struct Review {
    /// What it has left for Git; none where it is not looked for.
    left: Option<RepositoriesBefore>,
    /// What is said where it has failed.
    of_failure: Vec<String>,
}

impl Review {
    pub(super) fn new(left: RepositoriesBefore) -> Self {
        Self { left: Some(left), of_failure: Vec::new() }
    }

    /// Adds what is said where the command fails.
    pub fn warn_of_failure(&mut self, warning: Option<String>) {
        self.of_failure.extend(warning);
    }

    /// Returns whether the disk is read to finish it.
    pub const fn reads_disk(&self) -> bool {
        self.left.is_some()
    }

    /// Returns what a person should know before Git is used here again, and what may have made the command fail: a
    /// sentence each.
    pub fn finish(self, has_failed: bool) -> Vec<String> {
        let mut warnings = if has_failed { self.of_failure } else { Vec::new() };
        warnings.extend(self.left.map(RepositoriesBefore::finish).unwrap_or_default());
        warnings
    }
}

/// The repositories before a command ran, to be held against those afterwards.
#[derive(Debug)]
pub(super) struct RepositoriesBefore {
    repositories: Arc<Repositories>,
    scope: Arc<Scope>,
    roots: Vec<PathGrant>,
    before: BTreeSet<PathBuf>,
    settings: Vec<(PathBuf, Option<Stat>)>,
}

impl RepositoriesBefore {
    pub fn new(
        repositories: Arc<Repositories>,
        scope: Arc<Scope>,
        roots: &[PathGrant],
        before: BTreeSet<PathBuf>,
        settings: &[PathBuf],
    ) -> Self {
        let settings = settings.iter().map(|path| (path.clone(), Stat::of(path))).collect();
        Self { repositories, scope, roots: roots.to_vec(), before, settings }
    }

    /// Returns what a person should know before Git is used here again: a sentence each.
    fn finish(self) -> Vec<String> {
        let after = self.repositories.find(&self.scope, &self.roots).repositories;
        let mut warnings = Vec::new();
        let new: Vec<&PathBuf> = after.difference(&self.before).collect();
        for folder in new.iter().take(MAX_NAMED) {
            let git = folder.join(".git");
            let is_bare = fs::symlink_metadata(&git).is_err();
            let settings = if is_bare { (*folder).clone() } else { git };
            let programs = programs(&settings);
            let what = if is_bare { "a bare Git repository" } else { "a Git repository" };
            let shown = self.show(folder);
            warnings.push(match programs.is_empty() {
                true => format!("while the command ran, {what} appeared at `{shown}`; nothing in it names a program"),
                false => format!(
                    "while the command ran, {what} appeared at `{shown}` that names programs which Git would run \
                     ({}). For the user: look at them before you use Git there, or in a folder around it",
                    programs.join(", ")
                ),
            });
        }
        if new.len() > MAX_NAMED {
            warnings.push(format!("{} more Git repositories appeared meanwhile", new.len() - MAX_NAMED));
        }
        for (path, before) in &self.settings {
            // A placeholder that came and went is no change.
            let after = Stat::of(path);
            if let (Some(before), Some(after)) = (before, after)
                && (before.id, before.size, before.modified_ns) != (after.id, after.size, after.modified_ns)
            {
                let shown = self.show(path);
                warnings.push(format!(
                    "while the command ran, `{shown}` was changed. For the user: if you did not do that, look at it \
                     before you use Git there"
                ));
            }
        }
        warnings
    }

    /// Returns a path as clients see it.
    fn show(&self, path: &Path) -> String {
        let below = self.roots.iter().find_map(|root| path.strip_prefix(&root.path).ok());
        match below {
            Some(below) if below.as_os_str().is_empty() => ".".to_owned(),
            Some(below) => below.to_string_lossy().into_owned(),
            None => path.to_string_lossy().into_owned(),
        }
    }
}

/// Settings that name no program and no other folder: what Git itself writes into a new repository or a clone. In small
/// letters, without the middle part of three.
const PLAIN: &[&str] = &[
    "branch.merge",
    "branch.rebase",
    "branch.remote",
    "core.autocrlf",
    "core.bare",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.logallrefupdates",
    "core.precomposeunicode",
    "core.repositoryformatversion",
    "core.symlinks",
    "extensions.objectformat",
    "extensions.partialclone",
    "extensions.refstorage",
    "init.defaultbranch",
    "lfs.repositoryformatversion",
    "pull.rebase",
    "push.autosetupremote",
    "push.default",
    "remote.fetch",
    "remote.partialclonefilter",
    "remote.promisor",
    "remote.pushurl",
    "remote.tagopt",
    "remote.url",
    "submodule.active",
    "submodule.branch",
    "submodule.url",
    "user.email",
    "user.name",
];
/// How many names are told of one repository.
const MAX_PROGRAMS: usize = 6;
/// The largest settings that are looked through.
const MAX_SETTINGS_BYTES: u64 = 262_144;

/// Returns what in one of Git's own folders may name a program or another folder. No value is among it.
fn programs(git: &Path) -> Vec<String> {
    let Ok(facts) = fs::symlink_metadata(git) else { return Vec::new() };
    if !facts.is_dir() {
        return vec!["its `.git` leads to another folder".to_owned()];
    }
    let mut found = Vec::new();
    for name in ["config", "config.worktree"] {
        let path = git.join(name);
        match fs::symlink_metadata(&path) {
            Err(_) => {}
            Ok(facts) if facts.is_file() && facts.len() <= MAX_SETTINGS_BYTES => match fs::read(&path) {
                Ok(text) => found.extend(unusual(&text)),
                Err(_) => found.push(format!("`{name}`, which cannot be read")),
            },
            Ok(_) => found.push(format!("`{name}`, which cannot be looked through")),
        }
    }
    // A placeholder of another command that runs names no other folder.
    let is_other = |path: &Path| fs::read(path).map_or(true, |text| text != SAME_FOLDER);
    let common = git.join("commondir");
    if fs::symlink_metadata(&common).is_ok_and(|facts| !facts.is_file() || is_other(&common)) {
        found.push("`commondir`".to_owned());
    }
    for entry in fs::read_dir(git.join("hooks")).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.ends_with(".sample") {
            found.push(format!("`hooks/{name}`"));
        }
    }
    found.sort();
    found.dedup();
    let more = found.len().saturating_sub(MAX_PROGRAMS);
    found.truncate(MAX_PROGRAMS);
    found.extend((more > 0).then(|| format!("{more} more")));
    found
}

/// Returns the names of the settings that are not plain. What is no line of settings, such as the rest of a value, may
/// be among them; a setting that Git reads is never left out.
///
/// # Source
/// git-config(1), "Syntax".
fn unusual(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text));
    let mut found = Vec::new();
    let mut section = String::new();
    for line in text.lines() {
        let mut rest = line.trim_start();
        while let Some(header) = rest.strip_prefix('[') {
            let name: String =
                header.chars().take_while(|it| !matches!(it, ']' | '"' | ' ' | '\t')).collect();
            // `[section.name]` is an old form of `[section "name"]`.
            section = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
            rest = after_header(header).trim_start();
        }
        let key: String = rest.chars().take_while(|it| it.is_ascii_alphanumeric() || *it == '-').collect();
        if key.is_empty() {
            continue;
        }
        let name = format!("{section}.{}", key.to_ascii_lowercase());
        if PLAIN.binary_search(&name.as_str()).is_err() {
            found.push(format!("`{name}`"));
        }
    }
    found
}

/// Returns what is behind a header, whose `[` is cut off. A `]` in quotes does not end it.
fn after_header(header: &str) -> &str {
    let (mut quoted, mut escaped) = (false, false);
    for (at, letter) in header.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            ']' if !quoted => return &header[at + 1..],
            _ => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_settings_are_sorted() {
        assert!(PLAIN.is_sorted());
    }

    #[test]
    fn what_git_writes_itself_is_plain() {
        let clone = b"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n[remote \"origin\"]\n\
            \turl = https://example.test/x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n; a comment = 1\n\
            [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";
        assert_eq!(unusual(clone), Vec::<String>::new());
    }

    #[test]
    fn a_setting_that_names_a_program_is_found_however_it_is_written() {
        for (text, name) in [
            ("[core]\nfsmonitor = x", "`core.fsmonitor`"),
            ("[CORE] FSMonitor=x", "`core.fsmonitor`"),
            ("[core]fsmonitor=x", "`core.fsmonitor`"),
            ("\u{feff}[core]\r\n\tsshCommand\t= x", "`core.sshcommand`"),
            ("[user]name=x\n[ core ] pager", "`.pager`"),
            ("[remote \"]\"] uploadpack = x", "`remote.uploadpack`"),
            ("[filter \"a\\\"]\"] clean = x", "`filter.clean`"),
            ("[filter.lfs] process = x", "`filter.process`"),
            ("[a][core] hooksPath = x", "`core.hookspath`"),
            ("[include]\n path = x", "`include.path`"),
            ("[user] name = a\\\n[core]\nfsmonitor=x", "`core.fsmonitor`"),
        ] {
            assert!(
                unusual(text.as_bytes()).iter().any(|it| it == name),
                "{text:?}: {:?}",
                unusual(text.as_bytes())
            );
        }
    }
}
