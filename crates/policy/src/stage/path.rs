//! Are all paths in the scope's roots?

use std::sync::Arc;

use bailiwick_contract::{Access, Envelope, Failure, OperationSpec, RawPath, StageName, TargetRule};

use super::super::located_path::LocatedPath;
use super::super::{AFTER_UNTRUSTED, ParsedArguments, PathRules, Scope};
use super::Stage;

pub const STAGE: Stage = Stage { name: StageName::Path, asks: "Are all paths in the scope's folders?" };

/// What a request acts on, as far as it is found and not judged yet.
#[derive(Debug, Default)]
pub struct Targets {
    /// The target where it is an identifier.
    pub id: Option<String>,
    /// The target where it is a path.
    pub path: Option<LocatedPath>,
    /// The paths of `input`.
    pub inputs: Vec<LocatedPath>,
    /// Those that `askFiles` matches.
    pub asked: Vec<AskedPath>,
    /// Sensitive files that the scope opens, as results name them, where those need approval.
    pub credentials: Vec<String>,
}

/// A path that needs approval.
#[derive(Debug)]
pub struct AskedPath {
    /// The path, as results name it.
    pub shown: String,
    /// The patterns that match it.
    pub patterns: Vec<String>,
}

impl Targets {
    /// Returns what was decided, in words.
    pub fn note(&self) -> String {
        let Some(path) = &self.path else { return "the target is no path".to_owned() };
        let paths: Vec<String> = [path].into_iter().chain(&self.inputs).map(LocatedPath::shown).collect();
        format!("`{}`", paths.join("`, `"))
    }
}

pub fn check(
    scope: Option<&Scope>,
    spec: &OperationSpec,
    envelope: &Envelope,
    parsed: &ParsedArguments,
    rules: Option<&Arc<PathRules>>,
) -> Result<Targets, Failure> {
    let id = envelope.target.clone().filter(|_| spec.target.id_of().is_some());
    let mut targets = Targets { id, ..Targets::default() };
    let Some(scope) = scope else { return Ok(targets) };
    if let TargetRule::Path(access) | TargetRule::PathOrRoot(access) = spec.target {
        let text = envelope.target.clone().unwrap_or_default();
        targets.path = Some(locate(scope, &RawPath(text), access, "target")?);
    }
    let inputs = parsed.paths.iter().map(|input| locate(scope, &input.path, input.access, input.field));
    targets.inputs = inputs.collect::<Result<_, _>>()?;
    for path in targets.path.iter_mut().chain(&mut targets.inputs) {
        path.rules = rules.map_or_else(|| Arc::clone(&path.rules), Arc::clone);
        let patterns: Vec<String> = path.rules.asking(&path.rel).into_iter().map(str::to_owned).collect();
        let is_credential = path.rules.rule_for_path(&path.rel, path.access) == Some(AFTER_UNTRUSTED);
        if is_credential {
            targets.credentials.push(path.shown());
        }
        if !patterns.is_empty() || is_credential {
            if !patterns.is_empty() {
                targets.asked.push(AskedPath { shown: path.shown(), patterns });
            }
            path.rules = Arc::new(path.rules.naming(&path.rel));
        }
    }
    Ok(targets)
}

fn locate(scope: &Scope, path: &RawPath, access: Access, field: &str) -> Result<LocatedPath, Failure> {
    let path = scope.locate(path, access).map_err(|failure| failure.detail("field", field))?;
    path.root.problem().cloned().map_or(Ok(path), Err)
}
