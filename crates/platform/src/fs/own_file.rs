//! Reading Bailiwick's own files: only what nobody else could have written or, for secrets, read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::guard::{Exposure, open_own};
use super::{FileId, FileKind, Stat};

/// Who else may have access to one of Bailiwick's own files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrecy {
    /// Nobody may read or write it, and the name may not be a link: tokens.
    Secret,
    /// Others may read it, nobody else may write it: the config.
    Guarded,
}

/// Tells two versions of a file apart without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStamp {
    id: FileId,
    size: u64,
    modified_ns: i128,
    changed_ns: i128,
}

impl FileStamp {
    /// Returns the stamp of the file that a path leads to; `None` where there is none.
    pub fn of(path: &Path) -> Option<Self> {
        Stat::of(path).map(|stat| Self::from_stat(&stat))
    }

    /// Returns when the file was changed, in milliseconds since the epoch.
    pub fn modified_ms(&self) -> i64 {
        i64::try_from(self.modified_ns / 1_000_000).unwrap_or(i64::MAX)
    }

    fn from_stat(stat: &Stat) -> Self {
        Self { id: stat.id, size: stat.size, modified_ns: stat.modified_ns, changed_ns: stat.changed_ns }
    }
}

/// Why one of Bailiwick's own files is not read.
#[derive(Debug, thiserror::Error)]
pub enum OwnFileError {
    /// There is none.
    #[error("the file does not exist")]
    NotFound,
    /// The name is a symbolic link, and the file holds secrets.
    #[error("the file is a symbolic link")]
    Link,
    /// It is not a regular file.
    #[error("it is {}, not a file", .0.describe())]
    NotRegular(FileKind),
    /// Another user owns it.
    #[error("the file belongs to another user")]
    OtherOwner,
    /// Others can read or write it.
    #[error("{0}")]
    Exposed(Exposure),
    /// It is larger than such a file can be.
    #[error("the file is larger than {0} bytes")]
    TooLarge(u64),
    /// The system refuses.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl From<OwnFileError> for io::Error {
    fn from(error: OwnFileError) -> Self {
        match error {
            OwnFileError::NotFound => io::ErrorKind::NotFound.into(),
            OwnFileError::Io(error) => error,
            other => Self::other(other),
        }
    }
}

/// Reads one of Bailiwick's own files whole, after judging the very file that was opened.
///
/// # Errors
/// See [`OwnFileError`].
pub fn read_own_file(
    path: &Path,
    secrecy: Secrecy,
    limit_bytes: u64,
) -> Result<(Vec<u8>, FileStamp), OwnFileError> {
    let (file, stat) = open_own(path, secrecy)?;
    let mut content = Vec::new();
    // One byte more than allowed, so that a file that grows meanwhile is noticed too.
    (&file).take(limit_bytes + 1).read_to_end(&mut content)?;
    if content.len() as u64 > limit_bytes {
        return Err(OwnFileError::TooLarge(limit_bytes));
    }
    Ok((content, FileStamp::from_stat(&stat)))
}

/// Opens one of Bailiwick's own files for reading, after judging the very file that was opened.
///
/// # Errors
/// See [`OwnFileError`].
pub fn open_own_file(path: &Path, secrecy: Secrecy) -> Result<(File, FileStamp), OwnFileError> {
    let (file, stat) = open_own(path, secrecy)?;
    Ok((file, FileStamp::from_stat(&stat)))
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn secrets_are_read_only_where_nobody_else_could_have_been() {
        let folder = std::env::temp_dir().join(format!("bailiwick-own-{}", bailiwick_contract::id::new_id()));
        fs::create_dir(&folder).expect("a temporary folder");
        let file = folder.join("tokens.json");
        fs::write(&file, "{}").expect("written");
        let read = |secrecy| read_own_file(&file, secrecy, 100).map(|(content, _)| content);
        for (mode, secret, guarded) in
            [(0o600, true, true), (0o640, false, true), (0o604, false, true), (0o620, false, false)]
        {
            fs::set_permissions(&file, Permissions::from_mode(mode)).expect("own file");
            assert_eq!(read(Secrecy::Secret).is_ok(), secret, "mode {mode:o}");
            assert_eq!(read(Secrecy::Guarded).is_ok(), guarded, "mode {mode:o}");
        }
        fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("own file");
        let link = folder.join("link");
        symlink(&file, &link).expect("a link");
        assert!(matches!(read_own_file(&link, Secrecy::Secret, 100), Err(OwnFileError::Link)));
        assert!(read_own_file(&link, Secrecy::Guarded, 100).is_ok());
        assert!(matches!(read_own_file(&file, Secrecy::Secret, 1), Err(OwnFileError::TooLarge(1))));
        assert!(matches!(read_own_file(&folder, Secrecy::Secret, 1), Err(OwnFileError::NotRegular(_))));
        fs::remove_dir_all(&folder).expect("removed");
    }
}
