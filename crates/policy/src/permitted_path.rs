//! The paths that the policy has judged: the only keys to the files of a scope.
//!
//! Nothing else opens a file of a scope, and these are made only here, where each is judged. [`super::open`] has what they open.

use std::ffi::OsStr;
use std::ops::Deref;
use std::sync::Arc;

use bailiwick_contract::{Access, Failure};
use bailiwick_platform::fs::RelPath;

use super::PathRules;
use super::located_path::LocatedPath;

/// A path that may be read.
///
/// `tests/it/permits.rs` shows what does not compile: making one, opening what is not one, and writing through one.
#[derive(Debug, Clone)]
pub struct PermittedPath {
    located: LocatedPath,
}

/// A path that may be written, and so be read as well: what is closed for reading is closed for writing.
#[derive(Debug, Clone)]
pub struct WritablePath(PermittedPath);

/// A judged path, as its access says.
pub(super) enum JudgedPath {
    Permitted(PermittedPath),
    Writable(WritablePath),
}

impl JudgedPath {
    /// Judges a path by the scope's rules for what is to be done with it.
    pub(super) fn judge(located: LocatedPath) -> Result<Self, Failure> {
        located.judge()?;
        let path = PermittedPath { located };
        Ok(match path.located.access {
            Access::Write => Self::Writable(WritablePath(path)),
            Access::Read | Access::Search => Self::Permitted(path),
        })
    }
}

impl PermittedPath {
    /// Judges a path by the scope's rules.
    pub(super) fn judge(located: LocatedPath) -> Result<Self, Failure> {
        located.judge()?;
        Ok(Self { located })
    }

    pub(super) fn located(&self) -> &LocatedPath {
        &self.located
    }

    /// Returns the same place with links resolved to `rel`, judged again.
    pub(super) fn moved_to(&self, rel: RelPath) -> Result<Self, Failure> {
        Self::judge(LocatedPath { rel, ..self.located.clone() })
    }

    /// Returns the root that the path is beneath; nothing closes it.
    pub(super) fn root_folder(&self) -> Self {
        Self { located: LocatedPath { rel: RelPath::root(), ..self.located.clone() } }
    }

    /// Returns the path of an entry of this folder, judged.
    ///
    /// # Errors
    /// `permission_denied` if the name is closed.
    pub fn child(&self, name: &OsStr) -> Result<Self, Failure> {
        let child = LocatedPath { rel: self.located.rel.child(name), ..self.located.clone() };
        match self.located.rules.rule_for_child(&self.located.rel, name, self.located.access) {
            None => Ok(Self { located: child }),
            Some(rule) => Err(child.closed(rule)),
        }
    }

    /// Returns the folder that holds the path; `None` for the root. What holds an open path is open.
    pub fn parent(&self) -> Option<Self> {
        let rel = self.located.rel.parent()?;
        Some(Self { located: LocatedPath { rel, ..self.located.clone() } })
    }

    /// Returns the scope's rules, for walks that judge each name as they meet it.
    pub fn rules(&self) -> &PathRules {
        &self.located.rules
    }

    /// Returns the path beneath the root.
    pub fn rel(&self) -> &RelPath {
        &self.located.rel
    }

    /// Returns what the path may be used for.
    pub fn access(&self) -> Access {
        self.located.access
    }

    /// Shows the path as results and messages name it: relative, with `rootName:` for further roots.
    pub fn shown(&self) -> String {
        self.located.shown()
    }

    /// Shows another path beneath the same root.
    pub fn show(&self, rel: &RelPath) -> String {
        self.located.show(rel)
    }

    /// Returns whether two paths are beneath the same root.
    pub fn same_root(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.located.root, &other.located.root)
    }

    /// Creates the denial of a closed name.
    pub fn closed(&self, rule: &str) -> Failure {
        self.located.closed(rule)
    }
}

impl WritablePath {
    /// Judges a path by the scope's rules for writing.
    pub(super) fn judge(located: LocatedPath) -> Result<Self, Failure> {
        PermittedPath::judge(LocatedPath { access: Access::Write, ..located }).map(Self)
    }

    /// Returns the same place with links resolved, judged again, as [`PermittedPath::moved_to`].
    pub(super) fn moved_to(&self, rel: RelPath) -> Result<Self, Failure> {
        self.0.moved_to(rel).map(Self)
    }

    /// Returns the root that the path is beneath, for making the folders between.
    pub(super) fn root_folder(&self) -> Self {
        Self(self.0.root_folder())
    }

    /// Returns the path of an entry of this folder, judged.
    ///
    /// # Errors
    /// `permission_denied` if the name is closed.
    pub fn child(&self, name: &OsStr) -> Result<Self, Failure> {
        self.0.child(name).map(Self)
    }

    /// Returns the folder that holds the path, as [`PermittedPath::parent`].
    pub fn parent(&self) -> Option<Self> {
        self.0.parent().map(Self)
    }
}

impl Deref for WritablePath {
    type Target = PermittedPath;

    fn deref(&self) -> &PermittedPath {
        &self.0
    }
}
