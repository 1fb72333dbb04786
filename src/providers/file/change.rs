//! What stands at a place before it is changed: its facts and its version.

use crate::contract::{Cancel, ErrorCode, Failure};
use crate::platform::fs::{FileKind, Stat};

use super::Place;
use super::read::WHOLE_BYTES;
use super::version::{content_version, facts_version, hash_file, matches_version};

/// A regular file that is about to be replaced.
#[derive(Debug)]
pub struct Existing {
    /// Its facts.
    pub stat: Stat,
    /// Its version token.
    pub version: String,
    /// The open file, if this user may read it.
    pub file: Option<std::fs::File>,
}

/// Looks at what has the name of a place. `if_version` must then be its version.
///
/// Call it with the place's lock held.
///
/// # Errors
/// `conflict` if it is not in the version that was asked for, `invalid_request` if it is no regular file.
pub fn existing(
    place: &Place,
    if_version: Option<&str>,
    cancel: &Cancel,
) -> Result<Option<Existing>, Failure> {
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
        Ok(mut opened) => {
            let hashed =
                opened.stat.size <= WHOLE_BYTES || if_version.is_some_and(|token| token.starts_with("s-"));
            let sha256 = if hashed { Some(hash_file(&mut opened.file, cancel)?) } else { None };
            (Some(opened.file), opened.stat, sha256)
        }
        // A file that can be replaced but not read, since the folder may be written.
        Err(crate::platform::fs::DoorError::Denied) => (None, stat, None),
        Err(error) => return Err(place.failure(&error)),
    };
    if let Some(token) = if_version
        && !matches_version(token, &stat, sha256.as_deref())
    {
        let version = sha256.as_deref().map_or_else(|| facts_version(&stat), content_version);
        return Err(conflict(place, Some(&version)));
    }
    let version = sha256.as_deref().map_or_else(|| facts_version(&stat), content_version);
    Ok(Some(Existing { stat, version, file }))
}

/// Makes the failure of a change whose `ifVersion` does not hold any more.
pub(super) fn conflict(place: &Place, version: Option<&str>) -> Failure {
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

/// Makes the failure of a change that wants a regular file.
pub(super) fn not_a_file(place: &Place, kind: FileKind) -> Failure {
    let shown = place.path.shown();
    Failure::new(ErrorCode::InvalidRequest, format!("`{shown}` is {}, not a file", kind.describe()))
        .detail("kind", kind.describe())
        .hint("Name a file.")
}
