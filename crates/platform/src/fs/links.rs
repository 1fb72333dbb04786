//! Reading symbolic links by hand, so that nobody follows them unjudged.

use std::ffi::OsStr;

use super::{FileError, FileKind, RelPath, Root};
use crate::names::OsStrExt;

/// How many symbolic links one resolution may pass.
///
/// # Source
/// path_resolution(7): the kernel's own limit is 40.
const MAX_LINKS: usize = 40;

impl Root {
    /// Reads the links in a path by hand and gives the path that they lead to, beneath this root.
    ///
    /// The last name is resolved too; it need not exist. Nothing is opened but folders on the way.
    /// The answer can be out of date at once: open it with a call that follows no link.
    ///
    /// # Errors
    /// [`FileError::Outside`] for an absolute link or one that climbs out, [`FileError::LinkLoop`].
    pub fn resolve_links(&self, path: &RelPath) -> Result<RelPath, FileError> {
        let mut done = RelPath::root();
        let mut todo: Vec<Vec<u8>> = path.components().rev().map(<[u8]>::to_vec).collect();
        let mut links = 0;
        while let Some(name) = todo.pop() {
            if name == b".." {
                done = done.parent().ok_or(FileError::Outside)?;
                continue;
            }
            let next = done.child(OsStr::from_bytes(&name));
            let is_link = match self.stat(&next) {
                Ok(stat) => stat.kind == FileKind::Symlink,
                Err(FileError::NotFound) => false,
                Err(error) => return Err(error),
            };
            if !is_link {
                done = next;
                continue;
            }
            links += 1;
            if links > MAX_LINKS {
                return Err(FileError::LinkLoop);
            }
            let leads_to = self.read_link(&next)?;
            if leads_to.first() == Some(&b'/') {
                return Err(FileError::Outside);
            }
            let parts = leads_to.split(|byte| *byte == b'/').filter(|part| !matches!(*part, b"" | b"."));
            todo.extend(parts.rev().map(<[u8]>::to_vec));
        }
        Ok(RelPath::parse(done.as_bytes())?)
    }
}
