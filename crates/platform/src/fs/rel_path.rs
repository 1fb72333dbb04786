//! A path beneath a root, in normal form.

use std::ffi::OsStr;

use super::naming::problem;
use crate::names::OsStrExt;

/// The longest path, in bytes.
pub const MAX_PATH_BYTES: usize = 4_096;
/// The longest single name, in bytes.
pub const MAX_NAME_BYTES: usize = 255;

/// A relative path without `.`, `..`, empty or over-long parts and without NUL. Empty means the root.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct RelPath {
    bytes: Vec<u8>,
}

/// Why a text is not a path beneath a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathProblem {
    /// It climbs above the root.
    #[error("the path climbs out of the scope with `..`")]
    Climbs,
    /// It starts at the file system's root.
    #[error("the path is absolute")]
    Absolute,
    /// It contains a NUL byte.
    #[error("the path contains a NUL character")]
    Nul,
    /// One of its names means something else to this system than a file, or cannot be a file's.
    #[error("a name in the path {0}")]
    Name(&'static str),
    /// It or one of its names is too long.
    #[error("the path is too long (4096 bytes, 255 for one name)")]
    TooLong,
}

impl RelPath {
    /// The root itself.
    pub const fn root() -> Self {
        Self { bytes: Vec::new() }
    }

    /// Reads a path. `.` and doubled slashes vanish; `a/../b` means `b`, whatever `a` is.
    ///
    /// # Errors
    /// A [`PathProblem`].
    pub fn parse(text: &[u8]) -> Result<Self, PathProblem> {
        if text.first() == Some(&b'/') {
            return Err(PathProblem::Absolute);
        }
        Self::root().join(text)
    }

    /// Appends a relative text by the same rules, such as the target of a symbolic link.
    ///
    /// # Errors
    /// A [`PathProblem`].
    pub fn join(&self, text: &[u8]) -> Result<Self, PathProblem> {
        if text.contains(&0) {
            return Err(PathProblem::Nul);
        }
        let mut joined = self.clone();
        for name in text.split(|byte| *byte == b'/') {
            match name {
                b"" | b"." => {}
                b".." => joined = joined.parent().ok_or(PathProblem::Climbs)?,
                _ if name.len() > MAX_NAME_BYTES => return Err(PathProblem::TooLong),
                _ => match problem(name) {
                    None => joined.push(name),
                    Some(why) => return Err(PathProblem::Name(why)),
                },
            }
        }
        if joined.bytes.len() > MAX_PATH_BYTES {
            return Err(PathProblem::TooLong);
        }
        Ok(joined)
    }

    /// Returns the path of an entry of this folder. The name comes from the file system.
    pub fn child(&self, name: &OsStr) -> Self {
        let mut child = Self { bytes: Vec::with_capacity(self.bytes.len() + name.len() + 1) };
        child.bytes.extend_from_slice(&self.bytes);
        child.push(name.as_bytes());
        child
    }

    /// Returns the folder that holds this path; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        let end = self.bytes.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        Some(Self { bytes: self.bytes[..end].to_vec() })
    }

    /// Returns the last name; `None` for the root.
    pub fn file_name(&self) -> Option<&OsStr> {
        if self.is_root() {
            return None;
        }
        let start = self.bytes.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        Some(OsStr::from_bytes(&self.bytes[start..]))
    }

    /// Returns the names from the root down.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.bytes.split(|byte| *byte == b'/').filter(|name| !name.is_empty())
    }

    /// Returns whether this is the root itself.
    pub fn is_root(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns whether this path is `other` or lies beneath it.
    pub fn starts_with(&self, other: &Self) -> bool {
        other.is_root()
            || (self.bytes.starts_with(&other.bytes)
                && matches!(self.bytes.get(other.bytes.len()), None | Some(b'/')))
    }

    /// Returns the bytes, with `/` between the names.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the path for system calls; `.` for the root.
    #[cfg(target_os = "linux")]
    pub(super) fn for_system(&self) -> &OsStr {
        if self.is_root() { OsStr::new(".") } else { OsStr::from_bytes(&self.bytes) }
    }

    fn push(&mut self, name: &[u8]) {
        if !self.bytes.is_empty() {
            self.bytes.push(b'/');
        }
        self.bytes.extend_from_slice(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_brought_to_normal_form() {
        for (text, normal) in
            [("", ""), (".", ""), ("a//b/", "a/b"), ("a/../b/./c", "b/c"), ("a/b/../..", "")]
        {
            assert_eq!(RelPath::parse(text.as_bytes()).expect(text).as_bytes(), normal.as_bytes());
        }
    }

    #[test]
    fn paths_that_leave_the_root_are_refused() {
        for (text, problem) in [
            ("..", PathProblem::Climbs),
            ("a/../../b", PathProblem::Climbs),
            ("/etc/passwd", PathProblem::Absolute),
            ("a\0b", PathProblem::Nul),
        ] {
            assert_eq!(RelPath::parse(text.as_bytes()), Err(problem), "{text:?}");
        }
        assert_eq!(RelPath::parse(&[b'a'; 256]), Err(PathProblem::TooLong));
    }

    #[test]
    fn a_sibling_with_a_longer_name_is_not_beneath() {
        let path = |text: &str| RelPath::parse(text.as_bytes()).expect("a good path");
        assert!(path("a/b").starts_with(&path("a")));
        assert!(!path("ab").starts_with(&path("a")));
    }
}
