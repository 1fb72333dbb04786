//! Names near to one that does not exist: what the caller may list anyway.

use bailiwick_contract::path::encode_name;
use bailiwick_contract::{Access, Capability, ErrorCode, Failure, RawPath, fields};
use bailiwick_platform::names::OsStrExt;
use bailiwick_policy::{Permit, PermittedPath, Scope};

/// How many names of a folder are checked.
const MAX_NAMES: usize = 5_000;
/// How many are named.
const MAX_SHOWN: usize = 3;

/// Adds the names that may have been meant to a failure about a target that does not exist.
///
/// It reads a folder: only for operations on a thread of their own.
pub(super) fn with_names(permit: &Permit, failure: Failure) -> Failure {
    if failure.code != ErrorCode::NotFound || !failure.hints.is_empty() {
        return failure;
    }
    let (Some(scope), Some(path)) = (permit.scope(), permit.target().path()) else {
        return failure;
    };
    let may_list = permit.allows(Capability::FsRead);
    let is_missing = || path.stat().is_err_and(|it| it.code == ErrorCode::NotFound);
    if !may_list || path.rel().is_root() || !is_missing() {
        return failure;
    }
    let mut near: Vec<String> = without_the_scope(permit, scope, path).into_iter().collect();
    near.extend(in_the_folder(path).unwrap_or_default());
    near.truncate(MAX_SHOWN);
    match near.as_slice() {
        [] => failure,
        names => failure.hint(format!("Did you mean `{}`?", names.join("`, `"))),
    }
}

/// Finds the path without its first name, where that is the name of the scope or of its folder.
fn without_the_scope(permit: &Permit, scope: &Scope, path: &PermittedPath) -> Option<String> {
    let mut names = path.rel().components();
    let first = encode_name(names.next()?);
    let own =
        [scope.id(), scope.name()].into_iter().chain(scope.roots().iter().map(|root| root.name.as_str()));
    if !own.into_iter().any(|name| name.eq_ignore_ascii_case(&first)) {
        return None;
    }
    let rest: Vec<String> = names.map(encode_name).collect();
    let shorter = permit.resolve(&RawPath(rest.join("/"))).ok()?;
    (!rest.is_empty() && shorter.stat().is_ok()).then(|| shorter.shown())
}

/// Finds the names of the same folder that are near.
fn in_the_folder(path: &PermittedPath) -> Option<Vec<String>> {
    let wanted = encode_name(path.rel().file_name()?.as_bytes());
    let (dir, folder) = path.parent()?.open_dir().ok()?;
    let names: Vec<(String, String)> = dir
        .entries(MAX_NAMES)
        .ok()?
        .into_iter()
        .filter(|entry| folder.rules().rule_for_child(folder.rel(), &entry.name, Access::Read).is_none())
        .map(|entry| (encode_name(entry.name.as_bytes()), folder.show(&folder.rel().child(&entry.name))))
        .filter(|(name, _)| name.starts_with('.') == wanted.starts_with('.'))
        .collect();
    let near = fields::nearest(&wanted, names.iter().map(|(name, _)| name.as_str()), MAX_SHOWN);
    let shown = |name: &str| names.iter().find(|(it, _)| it == name).map(|(_, shown)| shown.clone());
    Some(near.into_iter().filter_map(shown).collect())
}
