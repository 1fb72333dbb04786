//! Replacing a file as a whole: written beside it, synced, renamed over it. Old or new, never a mix.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use bailiwick_contract::{Cancel, ErrorCode, Failure};
use bailiwick_platform::fs::{Attributes, ChangeAttributes, FileError, Stat, hold_file};

use super::aside::{KeepFunction, ReplacedContent, WholeTree, save_aside};
use super::change::{changed_meanwhile, conflict, not_a_file};
use super::temporary::{FolderSize, TemporaryName, sweep, temporary_name};
use super::trade::{ExpectedFile, PATIENCE, Patience, Trade, trade};
use super::version::{content_version, facts_version, sha256_hex};
use crate::versions::FileFacts;

use super::{ExistingFile, FileLocation, KnownContent, LockGuards, existing};

/// How much is written between two looks at the cancellation flag.
const CHUNK_BYTES: usize = 1 << 20;
/// The mode of a new file, less the umask.
const NEW_MODE: u32 = 0o666;

/// What is to be at a place.
#[derive(Debug, Clone, Copy)]
pub struct Replacement<'a> {
    /// The content, byte for byte.
    pub content: &'a [u8],
    /// The version of the content, where it is known already.
    pub version: Option<&'a str>,
    /// The version that must be there now.
    pub if_version: Option<&'a str>,
    /// What was read there a moment ago.
    pub known: Option<KnownContent<'a>>,
    /// The permission bits; left out, those of the file that is replaced.
    pub mode: Option<u32>,
    /// What else belongs to the content, where it is one that was there before.
    pub facts: Option<&'a FileFacts>,
    /// What to do about a file that is there.
    pub if_exists: IfExists,
    /// Find out what would happen, and do nothing.
    pub dry_run: bool,
}

/// What to do where the name is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IfExists {
    /// Refuse with `conflict`.
    #[default]
    Fail,
    /// Replace it.
    Replace,
}

/// What happened.
#[derive(Debug)]
pub struct ReplaceResult {
    /// The version before; `None` if there was no file.
    pub version_before: Option<String>,
    /// The version now.
    pub version: String,
    /// What the client should know.
    pub warnings: Vec<String>,
}

/// Replaces or makes the file at a place whose lock is held already. `keep` is asked right before.
///
/// # Errors
/// `conflict`, `invalid_request` where something else than a file has the name, `cancelled`, `timeout`,
/// `os_permission_required`, `execution_failed` (no space left, among others). Nothing is changed then.
pub fn replace_held(
    place: &FileLocation,
    replacement: &Replacement<'_>,
    keep: &mut KeepFunction<'_>,
    held: &LockGuards,
    cancel: &Cancel,
) -> Result<ReplaceResult, Failure> {
    if replacement.if_exists == IfExists::Fail
        && let Some(stat) = place.stat()?
    {
        return Err(place
            .failure(&FileError::Exists)
            .detail("kind", stat.kind.describe())
            .hint("Use file.write to replace a file, or choose another name."));
    }
    let mut before = existing(place, replacement.if_version, replacement.known, cancel)?;
    let version =
        replacement.version.map_or_else(|| content_version(&sha256_hex(replacement.content)), str::to_owned);
    let mut warnings = Vec::new();
    if let Some(before) = &before
        && before.stat.links > 1
    {
        warnings.push(format!(
            "`{}` had {} names (hard links); the others keep the old content.",
            place.path.shown(),
            before.stat.links
        ));
    }
    if !replacement.dry_run {
        let named = match sweep(&place.dir, held.folder()) {
            FolderSize::Small => None,
            FolderSize::Large => {
                Some(TemporaryName::new(held.folder(), place.dir.id(), &place.path.shown())?)
            }
        };
        let temporary = named.as_ref().map_or_else(temporary_name, |named| named.name.clone());
        let beside = TargetFile { place, replacement, version: &version, cancel };
        beside.write(temporary, before.as_mut(), keep, &mut warnings)?;
    }
    Ok(ReplaceResult { version_before: before.map(|before| before.version), version, warnings })
}

/// A file that is about to be replaced, or made.
struct TargetFile<'a> {
    place: &'a FileLocation,
    replacement: &'a Replacement<'a>,
    version: &'a str,
    cancel: &'a Cancel,
}

impl TargetFile<'_> {
    fn write(
        &self,
        temporary: OsString,
        before: Option<&mut ExistingFile>,
        keep: &mut KeepFunction<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<(), Failure> {
        let Self { place, replacement, .. } = self;
        // Until it has the mode of the file that it replaces, nobody else may look into it.
        let mode = if before.is_some() || replacement.mode.is_some() { 0o600 } else { NEW_MODE };
        let file = place.dir.create_file(&temporary, mode).map_err(|error| place.failure(&error))?;
        hold_file(&file);
        let mut is_ours = true;
        let written = self.fill(file, &temporary, before, keep, warnings, &mut is_ours);
        if written.is_err() && is_ours {
            // If it cannot be removed, a later sweep does it.
            let _ = place.dir.remove_file(&temporary);
        }
        written
    }

    fn fill(
        &self,
        mut file: File,
        temporary: &OsStr,
        mut before: Option<&mut ExistingFile>,
        keep: &mut KeepFunction<'_>,
        warnings: &mut Vec<String>,
        is_ours: &mut bool,
    ) -> Result<(), Failure> {
        let Self { place, replacement, version, cancel } = self;
        // Before there is anything to read for those who may not.
        let has_all = match (replacement.facts, before.as_ref().and_then(|before| before.file.as_ref())) {
            (Some(facts), _) => file.set_attributes(&facts.attributes),
            (None, Some(old)) => file.copy_attributes(old).map_err(|error| place.failure(&error))?,
            (None, None) => true,
        };
        if !has_all {
            warnings.push(lost_attributes(place));
        }
        if let Some(before) = &before {
            keep_owner(place, &file, before, warnings);
        }
        for chunk in replacement.content.chunks(CHUNK_BYTES) {
            cancel.check()?;
            file.write_all(chunk).map_err(|error| place.failure(&error.into()))?;
        }
        if let Some(before) = &mut before {
            // Where renames are not those of POSIX, nothing replaces a file that is open.
            before.file = None;
        }
        let before = before.as_deref();
        if let Some(mode) = replacement.mode.or(before.map(|before| before.stat.mode)) {
            file.set_mode(mode).map_err(|error| place.failure(&error))?;
        }
        if let Some(modified_ns) = replacement.facts.and_then(|facts| facts.modified_ns) {
            // Not every file system keeps times.
            let _ = file.set_modified_ns(modified_ns.into());
        }
        file.sync_all().map_err(|error| place.failure(&error.into()))?;
        cancel.check()?;
        let look = |name: &OsStr, stat: Stat| {
            WholeTree::of(&place.dir, name, stat, None).map_err(|error| place.failure(&error))
        };
        let stat = place.dir.stat(temporary).map_err(|error| place.failure(&error))?;
        let new = look(temporary, stat)?;
        let old = before.map(|before| look(&place.name, before.stat)).transpose()?;
        let slot = keep(&ReplacedContent {
            old: old.as_ref(),
            new: Some(&new),
            old_version: before.map(|before| &*before.version),
            new_version: Some(version),
        })?;
        check_unchanged(place, replacement, before)?;
        if let (Some(old), Some(slot)) = (&old, slot) {
            save_aside(place, old, &slot, cancel)?;
        }
        let Some(before) = before else { return self.make(temporary) };
        warnings.extend(self.trade(temporary, file, before, &new.stat, is_ours)?);
        Ok(())
    }

    /// Gives the new file a name that must be free.
    fn make(&self, temporary: &OsStr) -> Result<(), Failure> {
        let place = self.place;
        let made = place.dir.rename_to_free(temporary, &place.dir, &place.name);
        let synced = made.and_then(|()| {
            place.dir.sync().inspect_err(|_| {
                // What is not known to be on the disk is not done.
                let _ = place.dir.rename_to_free(&place.name, &place.dir, temporary);
            })
        });
        synced.map_err(|error| match error {
            FileError::Exists => Failure::new(
                ErrorCode::Conflict,
                format!("`{}` came into being meanwhile", place.path.shown()),
            )
            .hint("Look at what is there now, then try again."),
            other => place.failure(&other),
        })
    }

    /// Puts the new file in the place of the old one. Returns what the client should know. `is_ours` becomes `false` if
    /// the temporary name is that of a file of others afterwards.
    fn trade(
        &self,
        temporary: &OsStr,
        file: File,
        before: &ExistingFile,
        new: &Stat,
        is_ours: &mut bool,
    ) -> Result<Option<String>, Failure> {
        let Self { place, replacement, version, cancel } = self;
        let dir = &place.dir;
        let old = ExpectedFile {
            stat: &before.stat,
            version: &before.version,
            content: replacement
                .known
                .filter(|known| known.version == before.version)
                .map(|known| known.content),
        };
        let new = ExpectedFile { stat: new, version, content: Some(replacement.content) };
        let patience = Patience { writers: PATIENCE, cancel };
        match trade(dir, (temporary, new), (&place.name, old), Some(file), patience) {
            Ok(Some(Trade::Done { has_writer: false })) => Ok(None),
            Ok(Some(Trade::Done { has_writer: true })) => Ok(Some(format!(
                "Another program has the old file of `{}` open: what it writes from now on is not in the new one.",
                place.path.shown()
            ))),
            Ok(Some(Trade::Changed { kept })) => {
                *is_ours = kept.as_deref() != Some(temporary);
                Err(changed_meanwhile(place, kept.as_deref()))
            }
            Ok(None) => dir
                .rename(temporary, dir, &place.name)
                .and_then(|()| dir.sync())
                .map(|()| None)
                .map_err(|error| place.failure(&error)),
            Err(FileError::NotFound) if replacement.if_version.is_some() => Err(conflict(place, None)),
            Err(FileError::NotFound) => self.make(temporary).map(|()| None),
            Err(error) => Err(place.failure(&error)),
        }
    }
}

fn keep_owner(place: &FileLocation, file: &File, before: &ExistingFile, warnings: &mut Vec<String>) {
    let Ok(new) = file.facts() else { return };
    let user_kept = new.user == before.stat.user || file.set_user(before.stat.user).is_ok();
    let group_kept = new.group == before.stat.group || file.set_group(before.stat.group).is_ok();
    if !user_kept || !group_kept {
        warnings.push(format!("`{}` has another owner or group now.", place.path.shown()));
    }
}

/// Returns what is said of attributes that were not carried over.
pub(super) fn lost_attributes(place: &FileLocation) -> String {
    format!("`{}` has lost extended attributes that the file system refuses.", place.path.shown())
}

/// Looks once more, right before the rename, whether the file is still the one that was judged.
fn check_unchanged(
    place: &FileLocation,
    replacement: &Replacement<'_>,
    before: Option<&ExistingFile>,
) -> Result<(), Failure> {
    let Some(before) = before else { return Ok(()) };
    match place.stat()? {
        Some(stat) if stat.kind != bailiwick_platform::fs::FileKind::File => {
            Err(not_a_file(place, stat.kind))
        }
        Some(stat)
            if replacement.if_version.is_some() && facts_version(&stat) != facts_version(&before.stat) =>
        {
            Err(conflict(place, Some(&facts_version(&stat))))
        }
        None if replacement.if_version.is_some() => Err(conflict(place, None)),
        Some(_) | None => Ok(()),
    }
}
