//! What is at a place before it is changed: its facts and its version.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Seek};

use bailiwick_contract::{Cancel, ErrorCode, Failure};
use bailiwick_platform::fs::modes::FileExt;
use bailiwick_platform::fs::{Attributes, FileKind, Stat};

use super::FileLocation;
use super::read::WHOLE_BYTES;
use super::version::{content_version, facts_version, hash_file, matches_version, sha256_hex};
use crate::versions::FileFacts;

/// How much of a file is compared at once.
const CHUNK_BYTES: usize = 1 << 17;

/// A regular file that is about to be replaced.
#[derive(Debug)]
pub struct ExistingFile {
    /// Its facts.
    pub stat: Stat,
    /// Its version token.
    pub version: String,
    /// The open file, if this user may read it.
    pub file: Option<File>,
}

/// A content that was read a moment ago, and its version token.
#[derive(Debug, Clone, Copy)]
pub struct KnownContent<'a> {
    /// The version.
    pub version: &'a str,
    /// The content.
    pub content: &'a [u8],
}

/// Looks at what has the name of a place. `if_version` must then be its version.
///
/// What is still the `known` content is compared with it, which takes less time than a hash.
///
/// Call it with the place's lock held.
///
/// # Errors
/// `conflict` if it is not in the version that was asked for, `invalid_request` if it is no regular file.
pub fn existing(
    place: &FileLocation,
    if_version: Option<&str>,
    known: Option<KnownContent<'_>>,
    cancel: &Cancel,
) -> Result<Option<ExistingFile>, Failure> {
    let Some(stat) = place.stat()? else {
        return match if_version {
            None => Ok(None),
            Some(_) => Err(conflict(place, None)),
        };
    };
    if stat.kind != FileKind::File {
        return Err(not_a_file(place, stat.kind));
    }
    let (file, stat, sha256) = match place.dir.open_file(&place.name) {
        Ok(opened)
            if let Some(known) = known
                && holds(&opened.file, &opened.stat, known.content)
                && if_version.is_none_or(|it| it == known.version || it == facts_version(&opened.stat)) =>
        {
            let version = known.version.to_owned();
            return Ok(Some(ExistingFile { stat: opened.stat, version, file: Some(opened.file) }));
        }
        Ok(mut opened) => {
            if known.is_some() {
                // Where reading at a place moves the file's own position.
                opened.file.rewind().map_err(|error| place.failure(&error.into()))?;
            }
            let hashed =
                opened.stat.size <= WHOLE_BYTES || if_version.is_some_and(|token| token.starts_with("s-"));
            let sha256 = if hashed { Some(hash_file(&mut opened.file, cancel)?) } else { None };
            (Some(opened.file), opened.stat, sha256)
        }
        // A file that can be replaced but not read, since the folder may be written.
        Err(bailiwick_platform::fs::FileError::Denied) => (None, stat, None),
        Err(error) => return Err(place.failure(&error)),
    };
    if let Some(token) = if_version
        && !matches_version(token, &stat, sha256.as_deref())
    {
        let version = sha256.as_deref().map_or_else(|| facts_version(&stat), content_version);
        return Err(conflict(place, Some(&version)));
    }
    let version = sha256.as_deref().map_or_else(|| facts_version(&stat), content_version);
    Ok(Some(ExistingFile { stat, version, file }))
}

/// Returns whether a file holds just this content.
pub(super) fn holds(file: &File, stat: &Stat, content: &[u8]) -> bool {
    if stat.size != content.len() as u64 {
        return false;
    }
    let mut chunk = vec![0; CHUNK_BYTES.min(content.len() + 1)];
    let mut at = 0;
    loop {
        match file.read_at(&mut chunk, at as u64) {
            Ok(0) => return at == content.len(),
            Ok(read) if content.get(at..at + read) == Some(&chunk[..read]) => at += read,
            Ok(_) | Err(_) => return false,
        }
    }
}

/// A regular file that is about to be changed, as it is.
#[derive(Debug)]
pub struct CurrentFile {
    /// Its facts.
    pub stat: Stat,
    /// Its version token.
    pub version: String,
    /// The SHA-256 of its content, in hexadecimal.
    pub sha256: String,
    /// Its content.
    pub bytes: Vec<u8>,
    /// What else belongs to it.
    pub facts: FileFacts,
}

/// Reads the file at a place, whole; `None` if nothing has the name. `if_version` must be its version.
///
/// Call it with the place's lock held.
///
/// # Errors
/// As [`existing`]; `invalid_request` for files over 64 MiB; `os_permission_required` for a file that
/// may be replaced but not read; `permission_denied` for hard links where the scope refuses them.
pub fn current(
    place: &FileLocation,
    if_version: Option<&str>,
    cancel: &Cancel,
) -> Result<Option<CurrentFile>, Failure> {
    let Some(stat) = place.stat()? else {
        return match if_version {
            None => Ok(None),
            Some(_) => Err(conflict(place, None)),
        };
    };
    if stat.kind != FileKind::File {
        return Err(not_a_file(place, stat.kind));
    }
    let opened = place.dir.open_file(&place.name).map_err(|error| place.failure(&error))?;
    place.path.judge_names_of(&opened.stat)?;
    let too_large = || {
        Failure::new(
            ErrorCode::InvalidRequest,
            format!("`{}` is larger than 64 MiB, which is the most that is edited", place.path.shown()),
        )
        .hint("Use a command, or write the file as a whole.")
    };
    if opened.stat.size > WHOLE_BYTES {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(opened.stat.size).unwrap_or(0) + 1);
    (&opened.file)
        .take(WHOLE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| place.failure(&error.into()))?;
    cancel.check()?;
    if bytes.len() as u64 > WHOLE_BYTES {
        return Err(too_large());
    }
    let sha256 = sha256_hex(&bytes);
    let version = content_version(&sha256);
    match if_version {
        Some(token) if !matches_version(token, &opened.stat, Some(&sha256)) => {
            Err(conflict(place, Some(&version)))
        }
        Some(_) | None => {
            let facts = FileFacts {
                modified_ns: i64::try_from(opened.stat.modified_ns).ok(),
                attributes: opened.file.attributes().map_err(|error| place.failure(&error))?,
            };
            Ok(Some(CurrentFile { stat: opened.stat, version, sha256, bytes, facts }))
        }
    }
}

/// Creates the failure of a change whose `ifVersion` does not hold any more.
pub(super) fn conflict(place: &FileLocation, version: Option<&str>) -> Failure {
    let shown = place.path.shown();
    let message = match version {
        Some(_) => format!("`{shown}` is not in the version of `ifVersion`: it was changed meanwhile"),
        None => format!("`{shown}` is not in the version of `ifVersion`: it does not exist"),
    };
    Failure::new(ErrorCode::Conflict, message)
        .detail("rule", "if-version")
        .detail("version", version)
        .hint("Read the file again and repeat the change on what is there now.")
}

/// Creates the failure of a change in whose moment another program has changed the file, too, which is as that left it.
/// `kept` is the name beside it of what that program wrote into the new file before it went.
pub(super) fn changed_meanwhile(place: &FileLocation, kept: Option<&OsStr>) -> Failure {
    let message = format!("`{}` was changed by another program in the same moment", place.path.shown());
    let failure = Failure::new(ErrorCode::Conflict, message).detail("rule", "changed-meanwhile");
    let kept = kept.and_then(|kept| Some(place.path.parent()?.child(kept).ok()?.shown()));
    match kept {
        Some(kept) => failure
            .hint(format!("Both programs changed it. `{kept}` has the other version: merge the two."))
            .detail("kept", kept),
        None => failure.hint("Read the file again and repeat the change on what is there now."),
    }
}

/// Creates the failure of a change that wants a regular file.
pub(super) fn not_a_file(place: &FileLocation, kind: FileKind) -> Failure {
    let shown = place.path.shown();
    Failure::new(ErrorCode::InvalidRequest, format!("`{shown}` is {}, not a file", kind.describe()))
        .detail("kind", kind.describe())
        .hint("Name a file.")
}
