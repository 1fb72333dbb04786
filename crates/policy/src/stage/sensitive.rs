//! Do sensitive files and Git's own files stay closed?

use bailiwick_contract::{Failure, StageName};

use super::super::permitted_path::JudgedPath;
use super::super::{PermittedPath, PermittedTarget, WritablePath};
use super::Stage;
use super::path::LocatedPaths;

pub const STAGE: Stage =
    Stage { name: StageName::Sensitive, asks: "Do sensitive files, and Git's own files, stay closed?" };

/// The paths that a request may use.
#[derive(Debug)]
pub struct Targets {
    /// The target, as far as it is a path.
    pub target: PermittedTarget,
    /// The paths of `input` that may be read.
    pub paths: Vec<PermittedPath>,
    /// The paths of `input` that may be written.
    pub writable_paths: Vec<WritablePath>,
}

/// Judges the paths that were found.
pub fn check(located: &LocatedPaths) -> Result<Targets, Failure> {
    let mut targets =
        Targets { target: PermittedTarget::None, paths: Vec::new(), writable_paths: Vec::new() };
    if let Some(path) = &located.target {
        targets.target = match JudgedPath::judge(path.clone())? {
            JudgedPath::Permitted(path) => PermittedTarget::Path(path),
            JudgedPath::Writable(path) => PermittedTarget::WritablePath(path),
        };
    }
    for path in &located.inputs {
        match JudgedPath::judge(path.clone())? {
            JudgedPath::Permitted(path) => targets.paths.push(path),
            JudgedPath::Writable(path) => targets.writable_paths.push(path),
        }
    }
    Ok(targets)
}
