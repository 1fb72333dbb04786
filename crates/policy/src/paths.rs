//! The rules of a scope for paths.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use sha2::{Digest, Sha256};

use bailiwick_config::ScopePolicy;
use bailiwick_contract::path::encode_name;
use bailiwick_contract::{Access, FOR_USER, Failure};
use bailiwick_platform::fs::{FileId, RelPath};
use bailiwick_platform::names::OsStrExt;
use bailiwick_platform::quoting::quote;

use super::sensitive::{NameFolder, fold, is_needed_by_commands, rule_for};
use super::untrusted::AFTER_UNTRUSTED;

/// The rule that closes files of variables, such as `.env`.
pub const ENVIRONMENT_FILE: &str = "environment-file";
/// The rule by which a scope closes further files.
pub const CLOSED_FILES: &str = "closed-files";
/// The rule by which files are closed to all but an approved request that names them.
pub const ASK_FILES: &str = "ask-files";

/// The rules of one scope for the names of files.
#[derive(Debug)]
pub struct PathRules {
    scope: String,
    open_sensitive: GlobSet,
    closed_files: GlobSet,
    closed_patterns: Vec<String>,
    ask_files: GlobSet,
    ask_patterns: Vec<String>,
    /// Whether sensitive files that the scope opens are closed all the same, but for one that is asked about.
    asks_sensitive: bool,
    /// The one path that is asked about in a request: it is not closed by that.
    named: Option<RelPath>,
    own_folders: Vec<FileId>,
    refuse_hard_links: bool,
    fingerprint: [u8; 32],
    judged: JudgedFolders,
}

/// The folders that are none of Bailiwick's own and are in none, for a moment: by root and path.
///
/// Without it each folder on the way to a file would be checked for each file.
#[derive(Debug, Default)]
struct JudgedFolders(Mutex<HashMap<(FileId, Vec<u8>), Instant>>);

/// How long a folder counts as judged: so long one of Bailiwick's own may be open that takes its place.
const JUDGED_FOR: Duration = Duration::from_secs(1);
/// How many folders are kept.
const MAX_JUDGED: usize = 1_024;

impl JudgedFolders {
    fn has(&self, root: FileId, folder: &RelPath) -> bool {
        let judged = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        judged.get(&(root, folder.as_bytes().to_vec())).is_some_and(|at| at.elapsed() < JUDGED_FOR)
    }

    fn add(&self, root: FileId, folder: &RelPath) {
        let mut judged = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if judged.len() >= MAX_JUDGED {
            judged.clear();
        }
        judged.insert((root, folder.as_bytes().to_vec()), Instant::now());
    }
}

impl PathRules {
    pub(super) fn compile(
        scope: &str,
        policy: &ScopePolicy,
        own_folders: Vec<FileId>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            scope: scope.to_owned(),
            open_sensitive: globs("policy.openSensitive", &policy.open_sensitive)?,
            closed_files: globs("policy.closedFiles", &policy.closed_files)?,
            closed_patterns: policy.closed_files.clone(),
            ask_files: globs("policy.askFiles", &policy.ask_files)?,
            ask_patterns: policy.ask_files.clone(),
            asks_sensitive: false,
            named: None,
            own_folders,
            refuse_hard_links: policy.refuse_hard_links,
            fingerprint: fingerprint(policy),
            judged: JudgedFolders::default(),
        })
    }

    /// Returns the patterns of `askFiles` that match a path or a folder on the way to it.
    pub(super) fn asking(&self, path: &RelPath) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        if self.ask_files.is_empty() {
            return found;
        }
        let mut folder = RelPath::root();
        for name in path.components().map(OsStr::from_bytes) {
            folder = folder.child(name);
            for at in self.ask_files.matches(OsStr::from_bytes(folder.as_bytes())) {
                let pattern = self.ask_patterns[at].as_str();
                if !found.contains(&pattern) {
                    found.push(pattern);
                }
            }
        }
        found
    }

    /// Returns the rules under which a request is judged that names this path, and that is asked about because of it.
    pub(super) fn naming(&self, path: &RelPath) -> Self {
        let (ask_files, ask_patterns) = (self.ask_files.clone(), self.ask_patterns.clone());
        self.asking_by(ask_files, ask_patterns, Some(path.clone()))
    }

    /// Returns the rules without those that ask.
    pub(super) fn without_questions(&self) -> Self {
        self.asking_by(GlobSet::empty(), Vec::new(), None)
    }

    /// Returns the rules after untrusted content was read: a sensitive file that the scope opens needs approval by its name.
    pub(super) fn after_untrusted(&self) -> Self {
        let (ask_files, ask_patterns) = (self.ask_files.clone(), self.ask_patterns.clone());
        let mut rules = Self { asks_sensitive: true, ..self.asking_by(ask_files, ask_patterns, None) };
        rules.fingerprint =
            Sha256::new().chain_update(rules.fingerprint).chain_update(AFTER_UNTRUSTED).finalize().into();
        rules
    }

    fn asking_by(&self, ask_files: GlobSet, ask_patterns: Vec<String>, named: Option<RelPath>) -> Self {
        let mut hash = Sha256::new();
        hash.update(self.fingerprint);
        match &named {
            Some(path) => hash.update(path.as_bytes()),
            // No path has such a byte.
            None => hash.update([0]),
        }
        Self {
            scope: self.scope.clone(),
            open_sensitive: self.open_sensitive.clone(),
            closed_files: self.closed_files.clone(),
            closed_patterns: self.closed_patterns.clone(),
            ask_files,
            ask_patterns,
            asks_sensitive: self.asks_sensitive,
            named,
            own_folders: self.own_folders.clone(),
            refuse_hard_links: self.refuse_hard_links,
            fingerprint: hash.finalize().into(),
            judged: JudgedFolders::default(),
        }
    }

    /// Returns whether a path is the one that is asked about, or a folder on the way to it.
    fn is_named(&self, path: &RelPath) -> bool {
        self.named.as_ref().is_some_and(|named| {
            let mut names = named.components();
            path.components().all(|name| names.next() == Some(name))
        })
    }

    /// Tells these rules from others that close or open other files: what was gathered by one set of rules
    /// is judged again under another.
    pub fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }

    /// Returns whether files with several names are refused.
    pub fn refuses_hard_links(&self) -> bool {
        self.refuse_hard_links
    }

    /// Returns whether a folder is one of Bailiwick's own.
    pub fn is_own_folder(&self, id: FileId) -> bool {
        self.own_folders.contains(&id)
    }

    /// Returns whether a folder was found, a moment ago, to be none of Bailiwick's own and in none.
    pub(super) fn has_judged(&self, root: FileId, folder: &RelPath) -> bool {
        self.own_folders.is_empty() || self.judged.has(root, folder)
    }

    /// Remembers for a moment that a folder is none of Bailiwick's own and in none.
    pub(super) fn add_judged(&self, root: FileId, folder: &RelPath) {
        self.judged.add(root, folder);
    }

    /// Finds the rule that closes a whole path, folder by folder.
    pub fn rule_for_path(&self, path: &RelPath, access: Access) -> Option<&'static str> {
        let mut folder = RelPath::root();
        for name in path.components() {
            let name = OsStr::from_bytes(name);
            if let Some(rule) = self.rule_for_child(&folder, name, access) {
                return Some(rule);
            }
            folder = folder.child(name);
        }
        None
    }

    /// Returns whether a path has a sensitive name in it, be it open in this scope or not.
    pub fn is_sensitive(path: &RelPath) -> bool {
        let mut folder = RelPath::root();
        path.components().any(|name| {
            let found = rule_for(&NameFolder::below(&folder), &fold(name), Access::Read).is_some();
            folder = folder.child(OsStr::from_bytes(name));
            found
        })
    }

    /// Finds the rule that closes an entry of a folder which is itself open.
    pub fn rule_for_child(&self, folder: &RelPath, name: &OsStr, access: Access) -> Option<&'static str> {
        let folded = fold(name.as_bytes());
        if access == Access::Write && *folded == *b".git" {
            return Some("git-internals");
        }
        let rule = rule_for(&NameFolder::below(folder), &folded, access);
        if rule.is_none() && self.closed_files.is_empty() && self.ask_files.is_empty() {
            return None;
        }
        let rel = folder.child(name);
        let path = OsStr::from_bytes(rel.as_bytes());
        if rule.is_some() && !self.open_sensitive.is_match(path) {
            return rule;
        }
        if self.closed_files.is_match(path) {
            return Some(CLOSED_FILES);
        }
        if self.asks_sensitive && rule.is_some() && !self.is_named(&rel) {
            return Some(AFTER_UNTRUSTED);
        }
        (self.ask_files.is_match(path) && !self.is_named(&rel)).then_some(ASK_FILES)
    }

    /// Finds the rule that closes an entry of a folder to commands too: as for reading, but for names that commands
    /// cannot do without and that hold no secret of the user as a rule. `policy.closedFiles` closes those too.
    pub fn rule_for_commands(&self, folder: &RelPath, name: &OsStr) -> Option<&'static str> {
        let rule = self.rule_for_child(folder, name, Access::Read)?;
        if [CLOSED_FILES, ASK_FILES, AFTER_UNTRUSTED].contains(&rule)
            || !is_needed_by_commands(&NameFolder::below(folder), &fold(name.as_bytes()))
        {
            return Some(rule);
        }
        let path = folder.child(name);
        let path = OsStr::from_bytes(path.as_bytes());
        if self.closed_files.is_match(path) {
            return Some(CLOSED_FILES);
        }
        self.ask_files.is_match(path).then_some(ASK_FILES)
    }

    /// Returns the command by which the user opens files, as globs.
    pub fn opening_command<'a>(&self, files: impl IntoIterator<Item = &'a str>) -> String {
        let files = files.into_iter().map(|file| format!(" --files {}", quote(file)));
        format!("bailiwick scope allow {}{}", self.scope, files.collect::<String>())
    }

    /// Returns a hint with the commands that open a path: each name on the way can be closed, by more than one rule.
    pub fn opening_hint(&self, path: &RelPath, access: Access) -> String {
        let (mut files, mut patterns) = (String::new(), String::new());
        let mut folder = RelPath::root();
        for name in path.components().map(OsStr::from_bytes) {
            let path = folder.child(name);
            let rule = self.rule_for_child(&folder, name, access);
            if rule.is_some_and(|rule| ![CLOSED_FILES, ASK_FILES].contains(&rule)) {
                files.push_str(&format!(" --files {}", quote(&glob_of(&path))));
            }
            for at in self.ask_files.matches(OsStr::from_bytes(path.as_bytes())) {
                let flag = format!(" --files {}", quote(&self.ask_patterns[at]));
                if !files.contains(&flag) {
                    files.push_str(&flag);
                }
            }
            for at in self.closed_files.matches(OsStr::from_bytes(path.as_bytes())) {
                let flag = format!(" --remove-rule {}", quote(&self.closed_patterns[at]));
                if !patterns.contains(&flag) {
                    patterns.push_str(&flag);
                }
            }
            folder = path;
        }
        let commands: Vec<String> = [("edit", patterns), ("allow", files)]
            .into_iter()
            .filter(|(_, flags)| !flags.is_empty())
            .map(|(verb, flags)| format!("`bailiwick scope {verb} {}{flags}`", self.scope))
            .collect();
        let verb = if commands.len() == 1 { "opens it" } else { "open it together" };
        format!("{FOR_USER}{} {verb}.", commands.join(" and "))
    }

    /// Returns a hint with the command that lets files with several names be read.
    pub(super) fn hard_links_hint(&self) -> String {
        let scope = &self.scope;
        format!("{FOR_USER}`bailiwick scope edit {scope} --refuse-hard-links false` opens such files.")
    }
}

fn fingerprint(policy: &ScopePolicy) -> [u8; 32] {
    let mut hash = Sha256::new();
    for (list, globs) in
        [(b'o', &policy.open_sensitive), (b'c', &policy.closed_files), (b'a', &policy.ask_files)]
    {
        for glob in globs {
            hash.update([list]);
            hash.update((glob.len() as u64).to_le_bytes());
            hash.update(glob);
        }
    }
    hash.update([u8::from(policy.refuse_hard_links)]);
    hash.finalize().into()
}

/// Returns the glob that matches a path and no other.
fn glob_of(path: &RelPath) -> String {
    let mut glob = String::new();
    for it in encode_name(path.as_bytes()).chars() {
        match it {
            '*' | '?' | '[' | ']' | '{' | '}' | '\\' => glob.extend(['[', it, ']']),
            _ => glob.push(it),
        }
    }
    glob
}

/// Compiles globs that match whole paths, whatever their case.
pub(super) fn globs(field: &str, patterns: &[String]) -> Result<GlobSet, Failure> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = GlobBuilder::new(pattern).literal_separator(true).case_insensitive(true).build().map_err(
            |error| Failure::invalid(field, format!("`{pattern}` is not a glob: {}", error.kind())),
        )?;
        set.add(glob);
    }
    set.build().map_err(|error| Failure::invalid(field, format!("the globs are too large: {error}")))
}
