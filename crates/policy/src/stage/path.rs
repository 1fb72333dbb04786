//! Are all paths in the scope's roots?

use bailiwick_contract::{Access, Envelope, Failure, OperationSpec, RawPath, StageName, TargetRule};

use super::super::located_path::LocatedPath;
use super::super::{Parsed, Scope};
use super::Stage;

pub const STAGE: Stage = Stage { name: StageName::Path, asks: "Are all paths in the scope's folders?" };

/// The paths that a request names: found, not judged.
#[derive(Debug, Default)]
pub struct LocatedPaths {
    /// The target, if it is a path.
    pub target: Option<LocatedPath>,
    /// The paths of `input`.
    pub inputs: Vec<LocatedPath>,
}

impl LocatedPaths {
    /// Returns what was decided, in words.
    pub fn note(&self) -> String {
        match (&self.target, self.inputs.as_slice()) {
            (Some(path), []) => format!("`{}`", path.shown()),
            (Some(path), more) => {
                let more: Vec<String> = more.iter().map(LocatedPath::shown).collect();
                format!("`{}`, `{}`", path.shown(), more.join("`, `"))
            }
            (None, _) => "the target is no path".to_owned(),
        }
    }
}

pub fn check(
    scope: Option<&Scope>,
    spec: &OperationSpec,
    envelope: &Envelope,
    parsed: &Parsed,
) -> Result<LocatedPaths, Failure> {
    let Some(scope) = scope else { return Ok(LocatedPaths::default()) };
    let mut target = None;
    if let TargetRule::Path(access) | TargetRule::PathOrRoot(access) = spec.target {
        let text = envelope.target.clone().unwrap_or_default();
        target = Some(locate(scope, &RawPath(text), access, "target")?);
    }
    let inputs = parsed.paths.iter().map(|input| locate(scope, &input.path, input.access, input.field));
    Ok(LocatedPaths { target, inputs: inputs.collect::<Result<_, _>>()? })
}

fn locate(scope: &Scope, path: &RawPath, access: Access, field: &str) -> Result<LocatedPath, Failure> {
    let path = scope.locate(path, access).map_err(|failure| failure.detail("field", field))?;
    path.root.problem().cloned().map_or(Ok(path), Err)
}
