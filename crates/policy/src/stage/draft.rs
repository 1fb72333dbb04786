//! What the stages have found out so far.

use std::sync::Arc;

use bailiwick_contract::{Capability, Limits};

use super::super::command::JudgedCommand;
use super::super::located_path::LocatedPath;
use super::super::{Candidate, Parsed, Permit, PermittedPath, PermittedTarget, Scope, WritablePath};
use super::Stage;

/// A permit in the making; each stage fills in its part.
pub struct Draft<'a> {
    pub scope: Option<Arc<Scope>>,
    pub candidate: Option<&'a dyn Candidate>,
    pub capability: Option<Capability>,
    pub ask: Vec<Capability>,
    pub parsed: Option<Parsed>,
    /// The target as far as it is a path, and the paths of `input`: found, not judged.
    pub located: Option<LocatedPath>,
    pub located_paths: Vec<LocatedPath>,
    pub target: PermittedTarget,
    pub paths: Vec<PermittedPath>,
    pub writable_paths: Vec<WritablePath>,
    pub command: Option<JudgedCommand>,
    pub limits: Option<Limits>,
}

impl Default for Draft<'_> {
    fn default() -> Self {
        Self {
            scope: None,
            candidate: None,
            capability: None,
            ask: Vec::new(),
            parsed: None,
            located: None,
            located_paths: Vec::new(),
            target: PermittedTarget::None,
            paths: Vec::new(),
            writable_paths: Vec::new(),
            command: None,
            limits: None,
        }
    }
}

impl Draft<'_> {
    /// Creates the permit, after every stage has passed.
    pub fn into_permit(self) -> Permit {
        Permit {
            spec: self.candidate.expect("the operation stage passed").spec(),
            scope: self.scope,
            capability: self.capability,
            target: self.target,
            paths: self.paths,
            writable_paths: self.writable_paths,
            command: self.command.map(|judged| judged.permitted),
            limits: self.limits.expect("the limits stage passed"),
            parsed: self.parsed.expect("the input stage passed"),
        }
    }
}

/// Which stages have refused, for `explain`, which continues after a refusal.
#[derive(Default)]
pub struct Verdicts {
    refused: Vec<&'static str>,
}

impl Verdicts {
    /// Returns whether every stage that this one builds on has passed.
    pub fn can_ask(&self, stage: &Stage) -> bool {
        stage.builds_on.iter().all(|name| !self.refused.contains(name))
    }

    /// Notes a refusal, or that a stage could not be asked.
    pub fn refused(&mut self, stage: &Stage) {
        self.refused.push(stage.name);
    }
}
