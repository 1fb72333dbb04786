//! Reading the manifests of a folder, through open folders and within a bound.

use std::ffi::OsStr;
use std::io::Read;

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_policy::PermittedPath;

use super::Scripts;

/// The largest manifest that is read.
const MAX_MANIFEST_BYTES: u64 = 2 << 20;
/// How many folders upwards a lock file is looked for.
const MAX_LEVELS: usize = 16;

/// The folder whose manifests are read.
pub struct Folder {
    path: PermittedPath,
}

/// A manifest that was read.
pub struct Manifest {
    /// Its path, as results name it.
    pub source: String,
    /// Its text.
    pub text: String,
}

impl Folder {
    /// Opens a folder; links inside the scope are followed.
    ///
    /// # Errors
    /// Those of a file.
    pub fn open(path: &PermittedPath) -> Result<Self, Failure> {
        let (_, path) = path.open_dir()?;
        Ok(Self { path })
    }

    /// Reads the first of these files that exists. What cannot be read is a warning, and counts as missing.
    pub fn read(&self, names: &[&str], scripts: &mut Scripts) -> Option<Manifest> {
        for name in names {
            let mut path = self.path.clone();
            let opened = name.split('/').try_for_each(|part| {
                path = path.child(OsStr::new(part))?;
                Ok(())
            });
            match opened.and_then(|()| path.open_file()) {
                Ok(mut opened) => {
                    let source = opened.path.shown();
                    let mut text = String::new();
                    let limited = opened.file.by_ref().take(MAX_MANIFEST_BYTES).read_to_string(&mut text);
                    if opened.stat.size > MAX_MANIFEST_BYTES {
                        scripts.warn(format!("`{source}` is too large to be read for scripts"));
                    } else if limited.is_err() {
                        scripts.warn(format!("`{source}` is not UTF-8 text"));
                    } else {
                        return Some(Manifest { source, text });
                    }
                    return None;
                }
                Err(failure) if failure.code == ErrorCode::NotFound => {}
                Err(failure) => scripts.warn(failure.message),
            }
        }
        None
    }

    /// Returns whether a file is in the folder.
    pub fn has(&self, name: &str) -> bool {
        let mut path = Ok(self.path.clone());
        for part in name.split('/') {
            path = path.and_then(|path| path.child(OsStr::new(part)));
        }
        path.is_ok_and(|path| path.stat().is_ok())
    }

    /// Returns what the first of these files stands for that is in the folder, or else in those above it.
    pub fn nearest<T: Copy>(&self, files: &[(&str, T)]) -> Option<T> {
        let mut folder = self.path.clone();
        for _ in 0..MAX_LEVELS {
            let here = Self { path: folder.clone() };
            if let Some((_, meaning)) = files.iter().find(|(name, _)| here.has(name)) {
                return Some(*meaning);
            }
            folder = folder.parent()?;
        }
        None
    }
}
