//! Paths as Unix has them: `/` alone parts and begins them.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use bailiwick_contract::path::decode_name;

/// How an absolute path begins here, for messages.
pub const EXAMPLE: &str = "from `/`";

/// Whether letters of drives begin paths, so that `//server` leads to another computer.
pub const HAS_DRIVES: bool = false;

/// Returns whether a client's text is an absolute path.
pub fn is_absolute(text: &str) -> bool {
    text.starts_with('/')
}

/// Returns the rest of an absolute text that spells a root and then continues beneath it.
pub fn beneath<'a>(root: &Path, text: &'a str) -> Option<&'a str> {
    let rest = text.strip_prefix(root.to_str()?.trim_end_matches('/'))?;
    (rest.is_empty() || rest.starts_with('/')).then(|| rest.trim_start_matches('/'))
}

/// Returns a path as clients see it.
pub const fn with_slashes(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(text)
}

/// Returns the bytes of the names in a client's relative text, with `/` between them.
pub fn client_bytes(text: &str) -> Vec<u8> {
    decode_name(text)
}

/// Returns the path by which an existing folder or file is found without links, as the user would write it.
///
/// # Errors
/// Those of the file system.
pub fn real(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

/// Returns a path in the form in which programs take it that were made on another system.
pub fn for_programs(path: &Path) -> PathBuf {
    path.to_owned()
}

/// Returns a path that such a program has told in the form in which it is compared with others.
pub fn of_programs(told: &Path) -> PathBuf {
    told.to_owned()
}

/// Returns whether a text, as a path, may lead to another computer.
pub const fn may_be_remote(_: &[u8]) -> bool {
    false
}

/// Returns why a folder at such a path is not served, if it is not: here every path can be.
pub const fn not_served(_: &Path) -> Option<&'static str> {
    None
}

/// Returns whether a folder is one of the system's own: on Windows alone, here everything below `/` can be opened.
pub const fn is_system_folder(_: &Path) -> bool {
    false
}

/// For the tests of the layers above: returns a JSON text in which `"/` begins an absolute path.
pub fn rooted(text: &str) -> String {
    text.to_owned()
}
