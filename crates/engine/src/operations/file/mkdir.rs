//! `file.mkdir`: make a folder.

use crate::registry::prelude::*;
use bailiwick_contract::ErrorCode;
use bailiwick_platform::fs::FileError;
use bailiwick_policy::WritablePath;
use bailiwick_providers::file::FileLocation;

/// The operation.
pub struct Op;

/// How to make it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Make the folders above it too, and accept a folder that is there already; default false.
    pub parents: bool,
}

/// What happened.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The path of the folder, links on the way resolved.
    pub path: String,
    /// How many folders were made: 0 if it was there already.
    pub made: usize,
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
        platforms: &[],
        options: &[CommonOption::DryRun],
        timeout_seconds: 30,
        threads: Threads::Blocking,
        audited_fields: &["parents"],
        example: r#"{"op":"file.mkdir","target":"src/new","options":{"parents":true}}"#,
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
        if options.parents {
            let (_, path, made) = path.open_or_make_dir()?;
            cx.summarize(format!("{made} folders made"));
            return Ok(Output { path: path.shown(), made, dry_run: false });
        }
        let place = FileLocation::of(path).map_err(without_parents)?;
        place.dir.make_dir(&place.name).map_err(|error| taken(&place, &error))?;
        place.dir.sync().map_err(|error| place.failure(&error))?;
        cx.summarize("1 folder made");
        Ok(Output { path: place.path.shown(), made: 1, dry_run: false })
    }
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
            Ok(_) => return Ok(Output { path: path.shown(), made, dry_run: true }),
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
