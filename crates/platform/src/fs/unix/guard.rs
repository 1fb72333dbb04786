//! Who can get at one of Bailiwick's own files, by owner and permission bits.

use std::fmt;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags, fstat, open};
use rustix::io::Errno;

use super::{FileKind, OwnFileError, Secrecy, Stat};

/// What others can do with a file: its permission bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exposure(pub u32);

impl fmt::Display for Exposure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.0 & 0o022 == 0 { "read" } else { "change" };
        write!(out, "other users can {what} the file (its mode is {:04o})", self.0)
    }
}

/// Opens one of Bailiwick's own files, if nobody else could have got at it.
pub(super) fn open_own(path: &Path, secrecy: Secrecy) -> Result<(File, Stat), OwnFileError> {
    let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    if secrecy == Secrecy::Secret {
        flags |= OFlags::NOFOLLOW;
    }
    let file = File::from(open(path, flags, Mode::empty()).map_err(|error| match error {
        Errno::NOENT | Errno::NOTDIR => OwnFileError::NotFound,
        Errno::LOOP => OwnFileError::Link,
        other => OwnFileError::Io(other.into()),
    })?);
    let stat = Stat::from_system(&fstat(&file).map_err(io::Error::from)?);
    if stat.kind != FileKind::File {
        return Err(OwnFileError::NotRegular(stat.kind));
    }
    let (forbidden_bits, root_may_own) = match secrecy {
        Secrecy::Secret => (0o077, false),
        Secrecy::Guarded => (0o022, true),
    };
    if stat.user != crate::machine::user_id() && !(root_may_own && stat.user == 0) {
        return Err(OwnFileError::OtherOwner);
    }
    if stat.mode & forbidden_bits != 0 {
        return Err(OwnFileError::Exposed(Exposure(stat.mode)));
    }
    Ok((file, stat))
}

/// Creates a folder (and those above it) that only this user can enter; an existing one is narrowed.
///
/// # Errors
/// Those of the file system; `PermissionDenied` if the folder belongs to another user.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    let facts = fs::metadata(path)?;
    if facts.uid() != crate::machine::user_id() {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("{} belongs to another user", path.display()),
        ));
    }
    if facts.mode() & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Does nothing: a new file has its mode from the beginning.
///
/// # Errors
/// None.
pub const fn narrow_new_file(_: &Path) -> io::Result<()> {
    Ok(())
}
