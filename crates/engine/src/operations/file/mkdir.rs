//! `file.mkdir`: make a folder.

use std::ffi::{OsStr, OsString};

use crate::changes::{Undo, whole_file};
use crate::registry::prelude::*;
use bailiwick_contract::ErrorCode;
use bailiwick_platform::fs::{FileError, RelPath};
use bailiwick_platform::names::OsStrExt;
use bailiwick_policy::WritablePath;
use bailiwick_providers::file::{FileLocation, Locks, ReplacedContent, Slot, make_folders};
use bailiwick_providers::versions::{Location, Relocation};

/// How often folders that others make in the same moment are tried again.
const RETRIES: usize = 4;

/// The operation.
pub struct Op;

/// How to make it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Make the folders above it too, and accept a folder that is there already; default false.
    pub parents: bool,
    /// Do it also where it cannot be undone, and keep nothing for undo; default false.
    pub without_undo: bool,
}

/// What happened.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The path of the folder, links on the way resolved.
    pub path: String,
    /// How many folders were made: 0 if it was there already.
    pub made: usize,
    /// Takes this change back: send it as `input.undoId` of file.restore.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo_id: Option<String>,
    /// `true` if nothing was done, since `options.dryRun` was set.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "file.mkdir",
        summary: "Make a folder",
        details: "Fails with `conflict` if anything has the name already, unless `parents` is set and it is a \
                  folder.",
        capabilities: &[&[Capability::FsWrite]],
        effect: Effect::Writes,
        target: TargetRule::Path(Access::Write),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::DryRun],
        audited_fields: &["parents", "withoutUndo"],
        example: r#"{"op":"file.mkdir","target":"src/new","options":{"parents":true}}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, options: &Options) -> Result<Output, Failure> {
        let path = permit.writable_path();
        cx.cancel.check()?;
        if permit.common().dry_run {
            return foresee(path, options);
        }
        if !options.parents {
            let place = FileLocation::of(path).map_err(without_parents)?;
            if place.stat()?.is_some() {
                return Err(taken(&place, &FileError::Exists));
            }
            return make(cx, permit, options, &place, &RelPath::root());
        }
        let mut tries = 0;
        loop {
            let (folder, missing) = existing_folder(path)?;
            let Some((first, below)) = missing.split_first() else {
                cx.summarize("0 folders made");
                return Ok(Output { path: folder.shown(), made: 0, undo_id: None, dry_run: false });
            };
            let place = FileLocation::of(&folder.child(first)?)?;
            let below = below.iter().fold(RelPath::root(), |path, name| path.child(name));
            match make(cx, permit, options, &place, &below) {
                // Someone else made it.
                Err(failure) if failure.code == ErrorCode::Conflict && tries < RETRIES => tries += 1,
                other => return other,
            }
        }
    }
}

/// Returns the lowest folder of a path that is there, and the names that are missing below it.
fn existing_folder(path: &WritablePath) -> Result<(WritablePath, Vec<OsString>), Failure> {
    let (mut folder, mut missing) = (path.clone(), Vec::new());
    loop {
        match folder.open_dir() {
            Ok((_, folder)) => {
                missing.reverse();
                return Ok((folder, missing));
            }
            Err(failure) if failure.code == ErrorCode::NotFound => {
                let Some((above, name)) = folder.parent().zip(folder.rel().file_name()) else {
                    return Err(failure);
                };
                missing.push(name.to_owned());
                folder = above;
            }
            Err(failure) => return Err(failure),
        }
    }
}

fn make(
    cx: &Context,
    permit: &Permit,
    options: &Options,
    place: &FileLocation,
    below: &RelPath,
) -> Result<Output, Failure> {
    let mut undo = Undo::new(cx, permit, options.without_undo);
    let locks = Locks::below(&cx.service.dirs.state);
    let made = make_folders(place, below, &mut |change| keep(&mut undo, place, change), &locks, &cx.cancel);
    let ((), undo_id) = undo.settle(made)?;
    let mut names = below.components().map(OsStr::from_bytes);
    let path = names.try_fold(place.path.clone(), |path, name| path.child(name))?;
    let made = 1 + below.components().count();
    cx.summarize(if made == 1 { "1 folder made".to_owned() } else { format!("{made} folders made") });
    Ok(Output { path: path.shown(), made, undo_id, dry_run: false })
}

/// Writes down that there was nothing.
fn keep(
    undo: &mut Undo<'_>,
    place: &FileLocation,
    change: &ReplacedContent<'_>,
) -> Result<Option<Slot>, Failure> {
    let Some(new) = change.new else { return Ok(None) };
    let path = place.path.shown();
    let from = Location::Path(path.clone());
    let away = Relocation { from, to: Location::Kept(0), version: new.version.clone() };
    undo.moves(vec![whole_file(path, None, Some(new.version.clone()))], vec![away]).map(|()| None)
}

/// Returns what would be made, and makes nothing.
fn foresee(path: &WritablePath, options: &Options) -> Result<Output, Failure> {
    let mut made = 0;
    let mut above = Some(path.clone());
    while let Some(folder) = above {
        match folder.open_dir() {
            Ok(_) if made == 0 && !options.parents => {
                let place = FileLocation::of(path)?;
                return Err(taken(&place, &FileError::Exists));
            }
            Ok(_) if made > 1 && !options.parents => break,
            Ok(_) => return Ok(Output { path: path.shown(), made, undo_id: None, dry_run: true }),
            Err(failure) if failure.code == ErrorCode::NotFound => made += 1,
            Err(failure) => return Err(failure),
        }
        above = folder.parent();
    }
    Err(without_parents(Failure::new(
        ErrorCode::NotFound,
        format!("the folder of `{}` does not exist", path.shown()),
    )))
}

fn without_parents(failure: Failure) -> Failure {
    if failure.code == ErrorCode::NotFound {
        return failure.hint("Set `options.parents` to true to make the folders above it too.");
    }
    failure
}

fn taken(place: &FileLocation, error: &FileError) -> Failure {
    let failure = place.failure(error);
    match error {
        FileError::Exists => failure.hint("Set `options.parents` to true to accept a folder that is there."),
        _ => failure,
    }
}
