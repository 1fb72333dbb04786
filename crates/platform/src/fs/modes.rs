//! Permission bits, owners and positions of Bailiwick's own files, by the same calls on every system.
//!
//! Windows has no such bits. What protects a file there is the list of its folder, which new files inherit:
//! [`super::create_private_dir`] makes folders whose list names this user alone. The calls below that speak of bits
//! then say what such a file has, and set nothing.

#[cfg(unix)]
pub use std::os::unix::fs::{
    DirBuilderExt, FileExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink,
};

#[cfg(unix)]
pub use unix::{HAS_BITS, open_without_waiting, set_mode, sync_folder};
#[cfg(windows)]
pub use windows::{
    DirBuilderExt, FileExt, FileTypeExt, HAS_BITS, MetadataExt, OpenOptionsExt, PermissionsExt,
    open_without_waiting, set_mode, symlink, sync_folder,
};

#[cfg(unix)]
mod unix {
    use std::fs::{self, File, OpenOptions, Permissions};
    use std::io;
    use std::path::Path;

    use super::{OpenOptionsExt, PermissionsExt};

    /// Whether files have permission bits.
    pub const HAS_BITS: bool = true;

    /// Sets the permission bits of one of Bailiwick's own files.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
        fs::set_permissions(path, Permissions::from_mode(mode))
    }

    /// Opens a file for reading; a named pipe does not wait for its other end.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open_without_waiting(path: &Path) -> io::Result<File> {
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        OpenOptions::new().read(true).custom_flags(flags).open(path)
    }

    /// Waits until the names in a folder are on disk.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn sync_folder(path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }
}

#[cfg(windows)]
mod windows {
    use std::fs::{self, DirBuilder, File, FileType, Metadata, OpenOptions, Permissions};
    use std::io;
    use std::os::windows::fs::{FileExt as _, symlink_dir, symlink_file};
    use std::path::Path;
    use std::time::UNIX_EPOCH;

    /// Whether files have permission bits.
    pub const HAS_BITS: bool = false;

    /// How a file is made.
    pub trait OpenOptionsExt {
        /// Names the bits that a new file gets; here it gets the list of its folder.
        fn mode(&mut self, mode: u32) -> &mut Self;
    }

    impl OpenOptionsExt for OpenOptions {
        fn mode(&mut self, _: u32) -> &mut Self {
            self
        }
    }

    /// How a folder is made.
    pub trait DirBuilderExt {
        /// Names the bits that a new folder gets; here it gets the list of the folder above.
        fn mode(&mut self, mode: u32) -> &mut Self;
    }

    impl DirBuilderExt for DirBuilder {
        fn mode(&mut self, _: u32) -> &mut Self {
            self
        }
    }

    /// Bits of a file.
    pub trait PermissionsExt {
        /// Returns the bits that stand for what the owner may do; nothing is said of others.
        fn mode(&self) -> u32;
    }

    impl PermissionsExt for Permissions {
        fn mode(&self) -> u32 {
            if self.readonly() { 0o500 } else { 0o700 }
        }
    }

    /// Facts about a file.
    pub trait MetadataExt {
        /// Returns what [`PermissionsExt::mode`] gives.
        fn mode(&self) -> u32;
        /// Returns 1: how many names a file has is not told with its facts.
        fn nlink(&self) -> u64;
        /// Returns when it was made, in seconds since 1970.
        fn ctime(&self) -> i64;
        /// Returns the nanoseconds of that second.
        fn ctime_nsec(&self) -> i64;
    }

    impl MetadataExt for Metadata {
        fn mode(&self) -> u32 {
            self.permissions().mode()
        }

        fn nlink(&self) -> u64 {
            1
        }

        fn ctime(&self) -> i64 {
            let since = self.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            since.and_then(|since| i64::try_from(since.as_secs()).ok()).unwrap_or(0)
        }

        fn ctime_nsec(&self) -> i64 {
            let since = self.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            since.map_or(0, |since| i64::from(since.subsec_nanos()))
        }
    }

    /// Kinds of files.
    pub trait FileTypeExt {
        /// Returns `false`: sockets are no files here.
        fn is_socket(&self) -> bool;
    }

    impl FileTypeExt for FileType {
        fn is_socket(&self) -> bool {
            false
        }
    }

    /// Reading and writing at a place. The file's own position moves, and means nothing.
    pub trait FileExt {
        /// Reads from a place on.
        ///
        /// # Errors
        /// Those of the file system.
        fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

        /// Reads from a place on until the buffer is full.
        ///
        /// # Errors
        /// Those of the file system; `UnexpectedEof` if the file ends before.
        fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;

        /// Writes all bytes from a place on.
        ///
        /// # Errors
        /// Those of the file system.
        fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    }

    impl FileExt for File {
        fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
            self.seek_read(buffer, offset)
        }

        fn read_exact_at(&self, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
            while !buffer.is_empty() {
                match self.seek_read(buffer, offset)? {
                    0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                    length => {
                        buffer = &mut buffer[length..];
                        offset += length as u64;
                    }
                }
            }
            Ok(())
        }

        fn write_all_at(&self, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
            while !bytes.is_empty() {
                match self.seek_write(bytes, offset)? {
                    0 => return Err(io::ErrorKind::WriteZero.into()),
                    length => {
                        bytes = &bytes[length..];
                        offset += length as u64;
                    }
                }
            }
            Ok(())
        }
    }

    /// Sets whether the owner may write; other bits mean nothing here.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
        let mut permissions = fs::symlink_metadata(path)?.permissions();
        permissions.set_readonly(mode & 0o200 == 0);
        fs::set_permissions(path, permissions)
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open_without_waiting(path: &Path) -> io::Result<File> {
        File::open(path)
    }

    /// Does nothing: the file system keeps a journal of names, and folders cannot be synced.
    ///
    /// # Errors
    /// None.
    pub fn sync_folder(_: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Creates a symbolic link; to a folder where one is there.
    ///
    /// # Errors
    /// Those of the file system; this user may lack the right.
    pub fn symlink(leads_to: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
        let (leads_to, link) = (leads_to.as_ref(), link.as_ref());
        let there = link.parent().unwrap_or(Path::new("")).join(leads_to);
        if there.is_dir() { symlink_dir(leads_to, link) } else { symlink_file(leads_to, link) }
    }
}
