//! From the input of `file.patch` to what happens to each file, whatever the dialect.

use std::collections::BTreeMap;

use bailiwick_contract::{Access, ErrorCode, Failure, RawPath};
use bailiwick_platform::fs::FileKind;
use bailiwick_policy::{InputPath, Permit, WritablePath};
use bailiwick_providers::edit::{ALL_PLACES, Anchor, FilePatch, Hunk, LineEdit, PatchAction, TextEdit};
use bailiwick_providers::file::{FileLocation, find_place};

use super::patch::{IfVersion, Input};

/// The most files in one call.
const MAX_FILES: usize = 500;

/// What happens to one file.
pub struct FilePlan {
    /// The file.
    pub path: WritablePath,
    /// The path as the request names it.
    pub named: String,
    /// What happens.
    pub change: Change,
    /// The version that it must have.
    pub if_version: Option<String>,
}

/// What happens to a file.
pub enum Change {
    /// Old text is replaced.
    Texts(Vec<TextEdit>),
    /// Anchored lines are replaced.
    Lines(Vec<LineEdit>),
    /// Hunks are applied; the file may get another name or mode.
    Hunks {
        /// The hunks.
        hunks: Vec<Hunk>,
        /// Where it goes.
        to: Option<WritablePath>,
        /// Its new permission bits, of which only those for running count.
        mode: Option<u32>,
    },
    /// It is made.
    Create {
        /// Its content.
        content: String,
        /// Its permission bits.
        mode: Option<u32>,
    },
    /// It is removed.
    Delete {
        /// The content that it must have.
        content: Option<String>,
    },
}

/// Names the paths of the input, in the order in which [`plan`] takes them.
pub fn paths(input: &Input) -> Vec<InputPath> {
    let mut paths = Vec::new();
    let mut push = |field: &'static str, path: &str| {
        paths.push(InputPath { field, path: RawPath(path.to_owned()), access: Access::Write });
    };
    for path in input.edits.iter().flatten().filter_map(|edit| edit.path.as_ref()) {
        push("input.edits", &path.0);
    }
    for path in input.lines.iter().flatten().filter_map(|edit| edit.path.as_ref()) {
        push("input.lines", &path.0);
    }
    // A patch that cannot be read is refused before anything of it is used.
    if let Some(Ok(files)) = input.parsed() {
        for file in files {
            if !file.path.is_empty() {
                push("input.patch", &file.path);
            }
            if let PatchAction::Update { move_to: Some(to), .. } = &file.action {
                push("input.patch", to);
            }
        }
    }
    paths
}

/// Creates the plan: one entry for each file.
///
/// # Errors
/// `invalid_request` for input that contradicts itself.
pub fn plan(
    permit: &Permit,
    input: &Input,
    if_version: Option<&IfVersion>,
) -> Result<Vec<FilePlan>, Failure> {
    let forms = [input.edits.is_some(), input.patch.is_some(), input.lines.is_some()];
    if forms.iter().filter(|given| **given).count() != 1 {
        return Err(Failure::invalid("input", "`input` needs exactly one of `edits`, `patch` and `lines`")
            .hint(
                "Use `edits` for old and new text, `patch` for a diff, `lines` for anchors of file.read.",
            ));
    }
    let mut planner =
        Planner { permit, target: target(permit), paths: permit.writable_paths().iter(), plans: Vec::new() };
    planner.edits(input)?;
    planner.lines(input)?;
    if let Some(parsed) = input.parsed() {
        planner.patch(parsed.as_ref().map_err(Clone::clone)?)?;
    }
    let mut plans = planner.plans;
    if plans.is_empty() {
        return Err(Failure::invalid("input", "`input` names no edit").hint("Give at least one edit."));
    }
    if plans.len() > MAX_FILES {
        return Err(Failure::invalid("input", format!("more than {MAX_FILES} files are named"))
            .hint("Send several calls."));
    }
    give_versions(&mut plans, if_version)?;
    Ok(plans)
}

/// Returns the target, if one was named.
fn target(permit: &Permit) -> Option<&WritablePath> {
    let path = permit.writable_path();
    (path.shown() != ".").then_some(path)
}

struct Planner<'a> {
    permit: &'a Permit,
    target: Option<&'a WritablePath>,
    paths: std::slice::Iter<'a, WritablePath>,
    plans: Vec<FilePlan>,
}

/// The paths of one file of a patch: itself, and where it goes.
type PatchPaths = (WritablePath, Option<WritablePath>);

impl<'a> Planner<'a> {
    /// Returns the next judged path of the input.
    fn next_path(&mut self) -> Result<&'a WritablePath, Failure> {
        self.paths
            .next()
            .ok_or_else(|| Failure::new(ErrorCode::ExecutionFailed, "the paths of the input were not judged"))
    }

    /// Returns the path of an edit: its own, or the target.
    fn path_of(&mut self, own: Option<&RawPath>, field: &str) -> Result<(WritablePath, String), Failure> {
        match (own, self.target) {
            (Some(own), _) => Ok((self.next_path()?.clone(), own.0.clone())),
            (None, Some(target)) if target.rel().is_root() => {
                Err(Failure::invalid("target", format!("`{}` is a folder, not a file", target.shown()))
                    .hint("Name the file as `target`, or leave `target` out and name paths in `input`."))
            }
            (None, Some(target)) => Ok((target.clone(), target.shown())),
            (None, None) => Err(Failure::invalid(field, format!("`{field}` names no file"))
                .hint("Name the file as `target`, or each edit's file as its `path`.")),
        }
    }

    /// Returns the plan of a file, which is made by `empty` if there is none yet.
    fn plan_of(&mut self, (path, named): (WritablePath, String), empty: Change) -> &mut Change {
        let same = |plan: &FilePlan| plan.path.same_root(&path) && plan.path.rel() == path.rel();
        let at = self.plans.iter().position(same).unwrap_or_else(|| {
            self.plans.push(FilePlan { path, named, change: empty, if_version: None });
            self.plans.len() - 1
        });
        &mut self.plans[at].change
    }

    fn edits(&mut self, input: &Input) -> Result<(), Failure> {
        for (at, edit) in input.edits.iter().flatten().enumerate() {
            let path = self.path_of(edit.path.as_ref(), &format!("input.edits[{at}]"))?;
            let expect = match (edit.replace_all, edit.expect) {
                (true, Some(_)) => {
                    let field = format!("input.edits[{at}].replaceAll");
                    return Err(Failure::invalid(
                        &field,
                        "`replaceAll` and `expect` both say how many places change",
                    )
                    .hint("Leave out one of them."));
                }
                (true, None) => ALL_PLACES,
                (false, expect) => usize::try_from(expect.unwrap_or(1)).unwrap_or(ALL_PLACES - 1),
            };
            let text = TextEdit { number: at + 1, old: edit.old.clone(), new: edit.new.clone(), expect };
            if let Change::Texts(edits) = self.plan_of(path, Change::Texts(Vec::new())) {
                edits.push(text);
            }
        }
        Ok(())
    }

    fn lines(&mut self, input: &Input) -> Result<(), Failure> {
        for (at, edit) in input.lines.iter().flatten().enumerate() {
            let field = |name: &str| format!("input.lines[{at}].{name}");
            let read = |name: &str, text: Option<&String>| {
                text.map(|text| {
                    Anchor::parse(text).ok_or_else(|| {
                        Failure::invalid(
                            &field(name),
                            format!("`{}` is not an anchor `LINE:HASH`", field(name)),
                        )
                        .hint("Read the file with `options.anchors`, and copy what is before `|`.")
                    })
                })
                .transpose()
            };
            let start = read("start", edit.start.as_ref())?;
            let end = read("end", edit.end.as_ref())?;
            let after = read("after", edit.after.as_ref())?;
            let (start, insert) = match (start, after) {
                (Some(start), None) => (start, false),
                (None, Some(after)) if end.is_none() => (after, true),
                _ => {
                    return Err(Failure::invalid(
                        &field("start"),
                        format!(
                            "`input.lines[{at}]` needs either `start` (with or without `end`) or `after`"
                        ),
                    ));
                }
            };
            let path = self.path_of(edit.path.as_ref(), &format!("input.lines[{at}]"))?;
            let edit = LineEdit { number: at + 1, start, end, insert, new: edit.new.clone() };
            if let Change::Lines(edits) = self.plan_of(path, Change::Lines(Vec::new())) {
                edits.push(edit);
            }
        }
        Ok(())
    }

    fn patch(&mut self, files: &[FilePatch]) -> Result<(), Failure> {
        let folder = self.target.filter(|target| is_folder(target));
        if self.target.is_some() && folder.is_none() && files.len() != 1 {
            return Err(Failure::invalid(
                "target",
                "the patch names several files, so it takes no file as target",
            )
            .hint("Leave `target` out, or name the folder that the patch is for."));
        }
        let mut named = Vec::with_capacity(files.len());
        for file in files {
            let path = if file.path.is_empty() { None } else { Some(self.next_path()?.clone()) };
            let to = match &file.action {
                PatchAction::Update { move_to: Some(_), .. } => Some(self.next_path()?.clone()),
                _ => None,
            };
            named.push((path, to));
        }
        let below = folder.map(|folder| self.below(folder, files)).transpose()?.flatten();
        for (at, (file, (path, to))) in files.iter().zip(named).enumerate() {
            let name = file.path.as_str();
            let (path, to) = match (path, self.target, &below) {
                (None, Some(target), _) if folder.is_none() => (target.clone(), to),
                (None, ..) => {
                    return Err(Failure::invalid("target", "the patch names no file").hint(
                        "Name the file as `target`, or put `--- a/file` and `+++ b/file` before `@@`.",
                    ));
                }
                (Some(_), _, Some(below)) => below[at].clone(),
                (Some(_), Some(target), None) if folder.is_none() => {
                    if !is_end_of(name, &target.shown()) {
                        return Err(Failure::invalid(
                            "target",
                            format!("the patch is for `{name}`, and the target is `{}`", target.shown()),
                        )
                        .hint("Leave `target` out, or name the same file."));
                    }
                    (target.clone(), to)
                }
                (Some(path), ..) => self.as_it_is((path, to), file)?,
            };
            let named = if name.is_empty() { path.shown() } else { name.to_owned() };
            let change = match &file.action {
                PatchAction::Update { hunks, mode, .. } => {
                    Change::Hunks { hunks: hunks.clone(), to, mode: *mode }
                }
                PatchAction::Create { content, mode } => {
                    Change::Create { content: content.clone(), mode: *mode }
                }
                PatchAction::Delete { content } => Change::Delete { content: content.clone() },
            };
            self.plans.push(FilePlan { path, named, change, if_version: None });
        }
        Ok(())
    }

    /// Finds the files of a patch below the folder that it is for; `None` if the patch names them from the scope's folder.
    ///
    /// # Errors
    /// `conflict` if its names can be read both ways.
    fn below(&self, folder: &WritablePath, files: &[FilePatch]) -> Result<Option<Vec<PatchPaths>>, Failure> {
        let shown = folder.shown();
        let join = |name: &str| {
            let name = name.trim_start_matches("./");
            match shown.strip_suffix(":.") {
                Some(root) => format!("{root}:{name}"),
                None => format!("{shown}/{name}"),
            }
        };
        let resolve = |name: &str| self.permit.resolve_writable(&RawPath(join(name)));
        let mut paths = Vec::with_capacity(files.len());
        for file in files {
            if file.path.is_empty() {
                return Ok(None);
            }
            let to = match &file.action {
                PatchAction::Update { move_to: Some(to), .. } => Some(resolve(to)?),
                _ => None,
            };
            let path = resolve(&file.path)?;
            paths.push(match strip_side(&file.path) {
                Some(name) if needs_file(file) && !exists(&path) && exists(&resolve(name)?) => {
                    (resolve(name)?, to)
                }
                _ => (path, to),
            });
        }
        let from_scope = files.iter().all(|file| {
            let name = file.path.trim_start_matches("./");
            name.strip_prefix(shown.as_str()).is_some_and(|rest| rest.starts_with('/'))
        });
        if !from_scope {
            return Ok(Some(paths));
        }
        let sources = || files.iter().zip(&paths).filter(|(file, _)| needs_file(file));
        let below = sources().count() > 0 && sources().all(|(_, (path, _))| exists(path));
        let scope = |file: &FilePatch| {
            self.permit.resolve_writable(&RawPath(file.path.clone())).is_ok_and(|path| exists(&path))
        };
        if !below {
            return Ok(None);
        }
        if sources().all(|(file, _)| scope(file)) {
            let name = &files[0].path;
            let message =
                format!("both `{name}` and `{}` exist, and the patch can be for either", join(name));
            return Err(Failure::new(ErrorCode::Conflict, message)
                .detail("rule", "ambiguous-path")
                .hint("Leave `target` out, and name the files from the scope's folder."));
        }
        Ok(Some(paths))
    }

    /// Takes `a/` or `b/` off a path that does not exist with it.
    fn as_it_is(&self, (path, to): PatchPaths, file: &FilePatch) -> Result<PatchPaths, Failure> {
        let Some(name) = strip_side(&file.path).filter(|_| needs_file(file) && !exists(&path)) else {
            return Ok((path, to));
        };
        let stripped = self.permit.resolve_writable(&RawPath(name.to_owned()))?;
        Ok(if exists(&stripped) { (stripped, to) } else { (path, to) })
    }
}

/// Takes off what `git diff` puts before names.
fn strip_side(name: &str) -> Option<&str> {
    name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).filter(|name| !name.is_empty())
}

/// Returns whether a file has to be there for its change.
fn needs_file(file: &FilePatch) -> bool {
    !matches!(file.action, PatchAction::Create { .. })
}

/// Returns whether there is something at a path. What cannot be opened is not there; the change of it says why.
fn exists(path: &WritablePath) -> bool {
    FileLocation::of(path).and_then(|place| place.stat()).is_ok_and(|stat| stat.is_some())
}

fn is_folder(path: &WritablePath) -> bool {
    let kind = || find_place(path, false)?.stat();
    path.rel().is_root() || kind().is_ok_and(|stat| stat.is_some_and(|stat| stat.kind == FileKind::Dir))
}

/// Returns whether one path is the other's end, by whole names.
fn is_end_of(name: &str, target: &str) -> bool {
    let name = name.trim_start_matches("./");
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', ':']))
    };
    ends(target, name) || ends(name, target)
}

fn give_versions(plans: &mut [FilePlan], if_version: Option<&IfVersion>) -> Result<(), Failure> {
    let wrong = |message: String| Failure::invalid("options.ifVersion", message);
    match (if_version, plans) {
        (None, _) => Ok(()),
        (Some(IfVersion::One(version)), [only]) => {
            only.if_version = Some(version.clone());
            Ok(())
        }
        (Some(IfVersion::One(_)), _) => {
            Err(wrong("`options.ifVersion` contains one version, and several files are named".to_owned())
                .hint("Give an object instead: each path with its version."))
        }
        (Some(IfVersion::Each(versions)), plans) => {
            let mut versions: BTreeMap<&str, &String> =
                versions.iter().map(|(path, version)| (path.as_str(), version)).collect();
            for plan in plans.iter_mut() {
                let shown = plan.path.shown();
                let version =
                    versions.remove(plan.named.as_str()).or_else(|| versions.remove(shown.as_str()));
                plan.if_version = version.cloned();
            }
            match versions.keys().next() {
                None => Ok(()),
                Some(path) => {
                    Err(wrong(format!("`options.ifVersion` names `{path}`, which no edit changes"))
                        .hint("Write each path as the edits do."))
                }
            }
        }
    }
}
