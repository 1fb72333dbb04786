//! Opening what is known to be a regular file: opening a pipe wakes and ends programs that wait at it, and opening
//! some devices does what they are for.

use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::fs::{OFlags, fstat};
use rustix::io::Errno;

use super::root::is_system_files;
use super::{FileError, FileKind, ReadableFile, Stat};

/// How a regular file is opened. Where pipes can be opened nothing is waited for.
pub(super) const READ: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Opens a regular file by `open`, which opens one name with the flags that it gets. `device` is the folder's.
///
/// # Source
/// open(2): a handle of `O_PATH` opens nothing but the name. proc(5): opening `/proc/self/fd/N` opens the very file of
/// the handle N, whatever has its name by now.
#[cfg(target_os = "linux")]
pub(super) fn open_regular(
    device: u64,
    open: impl Fn(OFlags) -> Result<OwnedFd, Errno>,
) -> Result<ReadableFile, FileError> {
    use std::os::fd::AsRawFd;

    let name = open(OFlags::PATH | OFlags::CLOEXEC)?;
    let stat = judged(&name, device)?;
    let itself = format!("/proc/self/fd/{}", name.as_raw_fd());
    match rustix::fs::open(itself, READ, rustix::fs::Mode::empty()) {
        Ok(fd) => Ok(ReadableFile { file: File::from(fd), stat }),
        // There is no /proc here.
        Err(Errno::NOENT | Errno::NOTDIR) => open_by_name(device, open),
        Err(errno) => Err(errno.into()),
    }
}

/// Opens a regular file by `open`, which opens one name with the flags that it gets. `device` is the folder's.
#[cfg(not(target_os = "linux"))]
pub(super) fn open_regular(
    device: u64,
    open: impl Fn(OFlags) -> Result<OwnedFd, Errno>,
) -> Result<ReadableFile, FileError> {
    open_by_name(device, open)
}

/// Opens whatever has the name, without waiting, and keeps it only if it is a regular file.
fn open_by_name(
    device: u64,
    open: impl Fn(OFlags) -> Result<OwnedFd, Errno>,
) -> Result<ReadableFile, FileError> {
    let fd = open(READ)?;
    let stat = judged(&fd, device)?;
    Ok(ReadableFile { file: File::from(fd), stat })
}

/// Returns the facts of what was opened, if it is a regular file, and no door of the system's on another device.
fn judged(fd: &OwnedFd, device: u64) -> Result<Stat, FileError> {
    let stat = Stat::from_system(&fstat(fd)?);
    match stat.kind {
        FileKind::File => {}
        FileKind::Dir => return Err(FileError::IsADirectory),
        FileKind::Symlink => return Err(FileError::Symlink),
        other => return Err(FileError::NotRegular(other)),
    }
    if stat.id.device != device && is_system_files(fd)? {
        return Err(FileError::SystemFiles);
    }
    Ok(stat)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::cell::RefCell;
    use std::path::{Path, PathBuf};

    use rustix::fs::Mode;

    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Self {
            let path =
                std::env::temp_dir().join(format!("bailiwick-regular-{}", bailiwick_contract::id::new_id()));
            std::fs::create_dir(&path).expect("the temporary folder can be written");
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn opened(path: &Path, seen: &RefCell<Vec<OFlags>>) -> Result<ReadableFile, FileError> {
        open_regular(0, |flags| {
            seen.borrow_mut().push(flags);
            rustix::fs::open(path, flags | OFlags::NOFOLLOW, Mode::empty())
        })
    }

    #[test]
    fn only_a_regular_file_is_opened() {
        let folder = Folder::new();
        let path = |name: &str| folder.0.join(name);
        std::fs::write(path("file"), "content").expect("it is free");
        std::os::unix::fs::symlink("file", path("link")).expect("it is free");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            path("pipe"),
            rustix::fs::FileType::Fifo,
            Mode::from_raw_mode(0o600),
            0,
        )
        .expect("a pipe can be made");
        let seen = RefCell::default();
        let file = opened(&path("file"), &seen).expect("it is a regular file").file;
        let text = std::io::read_to_string(file).expect("it can be read");
        assert_eq!(text, "content");
        for (name, is_refused) in [
            (
                path("pipe"),
                (|error| matches!(error, FileError::NotRegular(FileKind::Fifo))) as fn(&FileError) -> bool,
            ),
            (PathBuf::from("/dev/null"), |error| matches!(error, FileError::NotRegular(FileKind::Device))),
            (path("link"), |error| matches!(error, FileError::Symlink)),
            (folder.0.clone(), |error| matches!(error, FileError::IsADirectory)),
            (path("missing"), |error| matches!(error, FileError::NotFound)),
        ] {
            let error = opened(&name, &seen).expect_err("it is no regular file");
            assert!(is_refused(&error), "{}: {error:?}", name.display());
        }
        let is_name = |flags: &OFlags| flags.contains(OFlags::PATH);
        assert!(seen.borrow().iter().all(is_name), "nothing but names was opened: {seen:?}");
    }

    #[test]
    fn without_proc_the_name_is_opened_and_judged() {
        let folder = Folder::new();
        std::fs::write(folder.0.join("file"), "content").expect("it is free");
        let open = |name: &str| {
            let path = folder.0.join(name);
            open_by_name(0, move |flags| rustix::fs::open(&path, flags, Mode::empty()))
        };
        assert_eq!(open("file").expect("it is a regular file").stat.size, 7);
        assert!(matches!(open("."), Err(FileError::IsADirectory)));
    }
}
