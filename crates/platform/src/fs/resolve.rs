//! Resolving the links in a path of the config, one by one, so that each can be judged.

#![expect(
    clippy::disallowed_methods,
    reason = "paths of the config, which are opened without links afterwards"
)]

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use super::FileError;

/// The most links in one path, as the system itself has it.
const MAX_LINKS: usize = 40;

/// An absolute path with all links resolved, and the links that were on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedPath {
    /// The path without links.
    pub path: PathBuf,
    /// The links, in the order in which they were found.
    pub links: Vec<PathLink>,
}

/// A link on the way of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathLink {
    /// The part of the original path that ends where the link was found.
    pub shown: PathBuf,
    /// The folder that holds the link, without links.
    pub folder: PathBuf,
}

/// What is left to resolve of a path.
enum Part {
    /// The top of the file system, or of a drive.
    Top(OsString),
    Up,
    Name(OsString),
}

impl Part {
    fn all(path: &Path) -> impl DoubleEndedIterator<Item = Self> {
        path.components().filter_map(|component| match component {
            Component::Prefix(_) | Component::RootDir => Some(Self::Top(component.as_os_str().to_owned())),
            Component::CurDir => None,
            Component::ParentDir => Some(Self::Up),
            Component::Normal(name) => Some(Self::Name(name.to_owned())),
        })
    }
}

impl ResolvedPath {
    /// Resolves an absolute path. On Windows the links are found, but stay in the path; [`ResolvedPath::real`] has none.
    ///
    /// # Errors
    /// [`FileError::NotFound`], [`FileError::LinkLoop`], and the usual ones.
    pub fn new(path: &Path) -> Result<Self, FileError> {
        let mut resolved = Self { path: PathBuf::new(), links: Vec::new() };
        let mut shown = PathBuf::new();
        // Parts of the path itself, and before them those of the links that are being followed.
        let mut own: VecDeque<Part> = Part::all(path).collect();
        let mut linked: VecDeque<Part> = VecDeque::new();
        loop {
            let part = match linked.pop_front() {
                Some(part) => part,
                None => match own.pop_front() {
                    Some(part) => {
                        part.append_to(&mut shown);
                        part
                    }
                    None => return Ok(resolved),
                },
            };
            if let Part::Name(name) = &part {
                let place = resolved.path.join(name);
                if place.symlink_metadata()?.is_symlink() {
                    if resolved.links.len() == MAX_LINKS {
                        return Err(FileError::LinkLoop);
                    }
                    let folder = resolved.path.clone();
                    resolved.links.push(PathLink { shown: shown.clone(), folder });
                    if cfg!(unix) {
                        for part in Part::all(&place.read_link()?).rev() {
                            linked.push_front(part);
                        }
                        continue;
                    }
                }
            }
            part.append_to(&mut resolved.path);
        }
    }

    /// Returns the path without any link, on Windows too.
    ///
    /// # Errors
    /// [`FileError`], if the path cannot be reached any more.
    pub fn real(self) -> Result<PathBuf, FileError> {
        if cfg!(unix) { Ok(self.path) } else { Ok(self.path.canonicalize()?) }
    }
}

impl Part {
    fn append_to(&self, path: &mut PathBuf) {
        match self {
            Self::Up => {
                path.pop();
            }
            Self::Top(name) | Self::Name(name) => path.push(name),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::fs::{FileId, Root};

    #[test]
    fn a_path_is_resolved_as_the_system_does_it_and_every_link_is_named() {
        let top = std::env::temp_dir().canonicalize().expect("there is one");
        let top = top.join(format!("bailiwick-resolve-{}", bailiwick_contract::id::new_id()));
        fs::create_dir_all(top.join("a/b/c")).expect("made");
        symlink("a/b", top.join("short")).expect("made");
        symlink("../../short", top.join("a/b/again")).expect("made");
        symlink(&top, top.join("a/top")).expect("made");
        symlink("circle", top.join("circle")).expect("made");
        symlink("missing", top.join("nowhere")).expect("made");
        for (path, links) in [
            ("a/b/c", &[][..]),
            ("a/./b/../b/c", &[]),
            ("short/c", &[("short", "")]),
            ("a/b/again/c", &[("a/b/again", "a/b"), ("a/b/again", "")]),
            ("a/top/short", &[("a/top", "a"), ("a/top/short", "")]),
        ] {
            let path = top.join(path);
            let resolved = ResolvedPath::new(&path).expect("it is there");
            assert_eq!(resolved.path, path.canonicalize().expect("it is there"), "{}", path.display());
            let expected: Vec<_> = links
                .iter()
                .map(|(shown, folder)| {
                    let folder = if folder.is_empty() { top.clone() } else { top.join(folder) };
                    PathLink { shown: top.join(shown), folder }
                })
                .collect();
            assert_eq!(resolved.links, expected, "{}", path.display());
            let opened = Root::open_resolved(&resolved.path).expect("it opens");
            assert_eq!(Some(opened.id()), FileId::of(&path));
            if !links.is_empty() {
                assert!(matches!(
                    Root::open_resolved(&path),
                    Err(FileError::Symlink | FileError::NotADirectory)
                ));
            }
        }
        assert!(matches!(ResolvedPath::new(&top.join("circle")), Err(FileError::LinkLoop)));
        for missing in ["nowhere", "nowhere/x", "a/x"] {
            assert!(matches!(ResolvedPath::new(&top.join(missing)), Err(FileError::NotFound)), "{missing}");
        }
        fs::remove_dir_all(top).expect("removed");
    }
}
