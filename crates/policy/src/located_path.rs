//! A client's path, found in a scope: what the policy judges.

use std::sync::Arc;

use bailiwick_contract::path::encode_name;
use bailiwick_contract::{Access, Failure, StageName};
use bailiwick_platform::fs::RelPath;

use super::paths::{ASK_FILES, CLOSED_FILES};
use super::program_settings;
use super::{AFTER_UNTRUSTED, PathRules, ScopeRoot};

/// A path beneath a root that no rule has judged yet. It opens nothing: see [`super::PermittedPath`].
#[derive(Debug, Clone)]
pub(super) struct LocatedPath {
    pub(super) root: Arc<ScopeRoot>,
    pub(super) rel: RelPath,
    pub(super) access: Access,
    pub(super) rules: Arc<PathRules>,
    pub(super) prefix: Option<Arc<str>>,
}

impl LocatedPath {
    /// Shows the path as results and messages name it: relative, with `rootName:` for further roots.
    pub(super) fn shown(&self) -> String {
        self.show(&self.rel)
    }

    /// Shows another path beneath the same root.
    pub(super) fn show(&self, rel: &RelPath) -> String {
        let path = if rel.is_root() { ".".to_owned() } else { encode_name(rel.as_bytes()) };
        match &self.prefix {
            Some(prefix) => format!("{prefix}:{path}"),
            None => path,
        }
    }

    /// Judges the path by the scope's rules. Touches no disk but for the state of the root itself.
    pub(super) fn judge(&self) -> Result<(), Failure> {
        if let Some(failure) = self.root.problem() {
            return Err(failure.clone().at_stage(StageName::Path));
        }
        match self.rules.rule_for_path(&self.rel, self.access) {
            None => Ok(()),
            Some(rule) => Err(self.closed(rule)),
        }
    }

    /// Creates the denial of a closed name.
    pub(super) fn closed(&self, rule: &str) -> Failure {
        let shown = self.shown();
        let (message, hint) = if rule == "git-internals" {
            (
                format!("`{shown}` belongs to Git's own files, which file operations never change"),
                "Use the git.* operations.".to_owned(),
            )
        } else if rule == CLOSED_FILES {
            (format!("`{shown}` is closed in this scope"), self.rules.opening_hint(&self.rel, self.access))
        } else if rule == AFTER_UNTRUSTED {
            (
                format!("`{shown}` is sensitive, and this client has read untrusted content"),
                "Read it by its name with file.read, which the user can approve.".to_owned(),
            )
        } else if rule == ASK_FILES {
            (
                format!(
                    "`{shown}` needs approval in this scope, which only a request that names it can have"
                ),
                self.rules.opening_hint(&self.rel, self.access),
            )
        } else if rule == program_settings::RULE {
            (
                format!(
                    "`{shown}` can name programs that start outside every sandbox, and is closed for writing"
                ),
                self.rules.opening_hint(&self.rel, self.access),
            )
        } else {
            (
                format!("`{shown}` is a sensitive file ({rule}) and closed in this scope"),
                self.rules.opening_hint(&self.rel, self.access),
            )
        };
        let failure = Failure::denied(rule, message).at_stage(StageName::Sensitive);
        match rule {
            ASK_FILES => failure
                .hint("Read or write it by its own path (file.read, file.write): the user is asked then.")
                .hint(hint),
            _ => failure.hint(hint),
        }
    }
}
