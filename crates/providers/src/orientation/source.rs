//! Reading a file of the project: its beginning, as text, within a bound.

use std::ffi::OsStr;
use std::io::Read;

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::fs::{FileId, RelPath};
use bailiwick_platform::names::OsStrExt;
use bailiwick_policy::PermittedPath;

/// The beginning of a file.
#[derive(Debug)]
pub(super) struct Source {
    /// Its path, as results name it: the one that was asked for, not where a link leads.
    pub shown: String,
    /// Its identity, links followed.
    pub id: FileId,
    /// How large it is.
    pub bytes: u64,
    /// Its text, without a byte order mark; what is not UTF-8 is replaced.
    pub text: String,
    /// Whether that is all of it.
    pub is_whole: bool,
}

impl Source {
    /// Reads the beginning of a file; `None` if there is none, or none that is text.
    ///
    /// # Errors
    /// Those of a file, but `not_found`.
    pub fn read(path: &PermittedPath, most_bytes: u64) -> Result<Option<Self>, Failure> {
        let opened = match path.open_file() {
            Ok(opened) => opened,
            Err(failure) if failure.code == ErrorCode::NotFound => return Ok(None),
            Err(failure) => return Err(failure),
        };
        let mut bytes = Vec::new();
        if opened.file.take(most_bytes).read_to_end(&mut bytes).is_err() || bytes.contains(&0) {
            return Ok(None);
        }
        let is_whole = (bytes.len() as u64) < most_bytes || opened.stat.size <= most_bytes;
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        let text = String::from_utf8_lossy(text).into_owned();
        Ok(Some(Self { shown: path.shown(), id: opened.stat.id, bytes: opened.stat.size, text, is_whole }))
    }
}

/// Returns the place of a path below a folder, each name judged; `None` if one is closed.
pub(super) fn below(folder: &PermittedPath, path: &[u8]) -> Option<PermittedPath> {
    let mut place = folder.clone();
    for name in path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
        place = place.child(OsStr::from_bytes(name)).ok()?;
    }
    Some(place)
}

/// Returns the place of a path beneath the root that a folder lies beneath; `None` if a name is closed.
pub(super) fn beneath(folder: &PermittedPath, rel: &RelPath) -> Option<PermittedPath> {
    let mut root = folder.clone();
    while let Some(parent) = root.parent() {
        root = parent;
    }
    below(&root, rel.as_bytes())
}
