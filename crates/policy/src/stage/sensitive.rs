//! Do sensitive files and Git's own files stay closed?

use bailiwick_contract::{Failure, StageName};

use super::super::permitted_path::JudgedPath;
use super::super::{PermittedPath, PermittedTarget, WritablePath};
use super::Stage;
use super::path::Targets;

pub const STAGE: Stage =
    Stage { name: StageName::Sensitive, asks: "Do sensitive files, and Git's own files, stay closed?" };

/// What a request may act on.
pub struct JudgedTargets {
    /// The target.
    pub target: PermittedTarget,
    /// The paths of `input` that may be read.
    pub paths: Vec<PermittedPath>,
    /// The paths of `input` that may be written.
    pub writable_paths: Vec<WritablePath>,
}

pub fn check(targets: &Targets) -> Result<JudgedTargets, Failure> {
    let target = match (&targets.path, &targets.id) {
        (Some(path), _) => match JudgedPath::judge(path.clone())? {
            JudgedPath::Permitted(path) => PermittedTarget::Path(path),
            JudgedPath::Writable(path) => PermittedTarget::WritablePath(path),
        },
        (None, Some(id)) => PermittedTarget::Id(id.clone()),
        (None, None) => PermittedTarget::None,
    };
    let mut judged = JudgedTargets { target, paths: Vec::new(), writable_paths: Vec::new() };
    for path in &targets.inputs {
        match JudgedPath::judge(path.clone())? {
            JudgedPath::Permitted(path) => judged.paths.push(path),
            JudgedPath::Writable(path) => judged.writable_paths.push(path),
        }
    }
    Ok(judged)
}
