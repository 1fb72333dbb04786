//! Hearing of changes in folders without looking at them again.
//!
//! The system keeps what has happened until [`FolderWatch::drain`] asks; no thread waits for it. Where it cannot
//! be heard of every change, [`FolderWatch::hears`] says so, and callers look for themselves.

use std::ffi::OsStr;
#[cfg(not(windows))]
use std::io;

#[cfg(not(windows))]
use super::Dir;

/// A watched folder, as the system names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatchId(pub(super) i32);

/// A change of an entry of a watched folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FolderEvent<'a> {
    /// The folder.
    pub folder: WatchId,
    /// The entry's name.
    pub name: &'a OsStr,
    /// Whether the entry is a folder.
    pub is_folder: bool,
    /// Whether the name is new, or gone; else the entry itself has changed.
    pub is_name: bool,
}

/// What [`FolderWatch::drain`] has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrainResult {
    /// Every change since the last time was told.
    All,
    /// Changes were lost: there were too many.
    Lost,
}

#[cfg(windows)]
pub use super::watch_windows::FolderWatch;
#[cfg(target_os = "linux")]
pub use linux::FolderWatch;
#[cfg(not(any(target_os = "linux", windows)))]
pub use none::FolderWatch;

#[cfg(target_os = "linux")]
mod linux {
    use std::mem::MaybeUninit;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::os::unix::ffi::OsStrExt;

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
    use rustix::io::Errno;

    use super::{Dir, DrainResult, FolderEvent, OsStr, WatchId, io};

    /// How many bytes of events are read at a time.
    const BUFFER_BYTES: usize = 16 * 1024;

    const NAMES: WatchFlags = WatchFlags::CREATE
        .union(WatchFlags::DELETE)
        .union(WatchFlags::MOVE)
        .union(WatchFlags::ONLYDIR)
        .union(WatchFlags::EXCL_UNLINK);

    /// The watches of one caller; they end with it.
    #[derive(Debug)]
    pub struct FolderWatch {
        fd: OwnedFd,
    }

    impl FolderWatch {
        /// Begins to listen, to nothing yet.
        ///
        /// # Errors
        /// Those of the system, such as too many listeners of this user.
        pub fn new() -> io::Result<Self> {
            let fd = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
            Ok(Self { fd })
        }

        /// Returns whether changes of this folder's entries are heard of, no matter who makes them.
        ///
        /// Not on file systems that other computers or programs change beneath the system.
        ///
        /// # Source
        /// inotify(7), "Limitations and caveats"; statfs(2), the list of `*_MAGIC` numbers.
        pub fn hears(dir: &Dir) -> bool {
            const LOCAL: [u64; 12] = [
                0xef53,      // ext2, ext3, ext4
                0x5846_5342, // XFS
                0x9123_683e, // Btrfs
                0x0102_1994, // tmpfs
                0x8584_58f6, // ramfs
                0xf2f5_2010, // F2FS
                0x2fc1_2fc1, // ZFS
                0xca45_1a4e, // bcachefs
                0x794c_7630, // overlayfs
                0x7371_7368, // squashfs
                0xe0f5_e1e2, // EROFS
                0x4d44,      // FAT
            ];
            #[expect(clippy::cast_sign_loss, reason = "the magic numbers are compared as bits")]
            let magic = rustix::fs::fstatfs(dir.as_fd()).map(|facts| facts.f_type as u64 & 0xffff_ffff);
            magic.is_ok_and(|magic| LOCAL.contains(&magic))
        }

        /// Listens to the entries of a folder. The same folder gives the same id.
        ///
        /// # Errors
        /// Those of the system; `StorageFull` if it has no more watches for this user.
        pub fn add(&self, dir: &Dir) -> io::Result<WatchId> {
            self.add_for(dir, NAMES | WatchFlags::MODIFY | WatchFlags::ATTRIB)
        }

        /// Listens to which names come and go in a folder, and to no change of what they stand for.
        ///
        /// # Errors
        /// As [`FolderWatch::add`].
        pub fn add_names(&self, dir: &Dir) -> io::Result<WatchId> {
            self.add_for(dir, NAMES)
        }

        /// Returns how many folders this user can watch in all; 0 if it is not known.
        ///
        /// # Source
        /// inotify(7), "/proc interfaces".
        pub fn max_folders() -> usize {
            let text = std::fs::read_to_string("/proc/sys/fs/inotify/max_user_watches");
            text.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
        }

        fn add_for(&self, dir: &Dir, flags: WatchFlags) -> io::Result<WatchId> {
            // The call takes a path only; this one is the open folder itself.
            let path = format!("/proc/self/fd/{}", dir.as_fd().as_raw_fd());
            Ok(WatchId(inotify::add_watch(&self.fd, path, flags)?))
        }

        /// Listens to a folder no more.
        pub fn remove(&self, folder: WatchId) {
            // It may be gone together with its folder.
            let _ = inotify::remove_watch(&self.fd, folder.0);
        }

        /// Tells every change since the last time, oldest first. Does not wait.
        ///
        /// # Errors
        /// Those of the system.
        pub fn drain(&self, mut take: impl FnMut(FolderEvent<'_>)) -> io::Result<DrainResult> {
            let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
            let mut reader = Reader::new(&self.fd, &mut buffer);
            let mut drained = DrainResult::All;
            loop {
                let event = match reader.next() {
                    Ok(event) => event,
                    Err(Errno::AGAIN) => return Ok(drained),
                    Err(Errno::INTR) => continue,
                    Err(error) => return Err(error.into()),
                };
                let flags = event.events();
                if flags.intersects(ReadFlags::QUEUE_OVERFLOW | ReadFlags::UNMOUNT) {
                    drained = DrainResult::Lost;
                }
                let Some(name) = event.file_name() else { continue };
                let of_names =
                    ReadFlags::CREATE | ReadFlags::DELETE | ReadFlags::MOVED_FROM | ReadFlags::MOVED_TO;
                take(FolderEvent {
                    folder: WatchId(event.wd()),
                    name: OsStr::from_bytes(name.to_bytes()),
                    is_folder: flags.contains(ReadFlags::ISDIR),
                    is_name: flags.intersects(of_names),
                });
            }
        }
    }
}

/// macOS. Its one system that tells changes of whole trees (FSEvents) tells them some time after they were made, and
/// does not say up to when it has told all: an answer could miss the edit just before it. What tells them at once
/// (kqueue) says of a folder neither names nor that a file in it was written.
#[cfg(not(any(target_os = "linux", windows)))]
mod none {
    use super::{Dir, DrainResult, FolderEvent, WatchId, io};

    /// Nothing is heard of on this system.
    #[derive(Debug)]
    pub struct FolderWatch(std::convert::Infallible);

    impl FolderWatch {
        /// Cannot be had.
        ///
        /// # Errors
        /// Always `Unsupported`.
        pub fn new() -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        /// Tells that no changes are heard of.
        pub fn hears(_: &Dir) -> bool {
            false
        }

        /// Cannot be called.
        ///
        /// # Errors
        /// None.
        pub fn add(&self, _: &Dir) -> io::Result<WatchId> {
            match self.0 {}
        }

        /// Cannot be called.
        ///
        /// # Errors
        /// None.
        pub fn add_names(&self, _: &Dir) -> io::Result<WatchId> {
            match self.0 {}
        }

        /// Returns 0.
        pub fn max_folders() -> usize {
            0
        }

        /// Cannot be called.
        pub fn remove(&self, _: WatchId) {
            match self.0 {}
        }

        /// Cannot be called.
        ///
        /// # Errors
        /// None.
        pub fn drain(&self, _: impl FnMut(FolderEvent<'_>)) -> io::Result<DrainResult> {
            match self.0 {}
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;

    use super::super::{RelPath, Root};
    use super::*;

    #[test]
    fn changes_in_a_watched_folder_are_told_once() {
        let folder =
            std::env::temp_dir().join(format!("bailiwick-watch-{}", bailiwick_contract::id::new_id()));
        fs::create_dir_all(folder.join("sub")).expect("a folder can be made");
        let root = Root::open(&folder).expect("it is there");
        let dir = root.open_dir(&RelPath::root()).expect("it is a folder");
        let watch = FolderWatch::new().expect("the system has listeners");
        let id = watch.add(&dir).expect("it can be watched");
        assert_eq!(watch.add(&dir).expect("again"), id);
        let heard = || {
            let mut heard = Vec::new();
            let drained = watch.drain(|event| {
                heard.push((event.folder, event.name.to_owned(), event.is_folder, event.is_name));
            });
            assert_eq!(drained.expect("it can be read"), DrainResult::All);
            heard.dedup();
            heard
        };
        fs::write(folder.join("a"), "one").expect("written");
        fs::write(folder.join("sub/b"), "deeper, not heard of").expect("written");
        assert_eq!(heard(), [(id, "a".into(), false, true), (id, "a".into(), false, false)]);
        fs::rename(folder.join("sub"), folder.join("other")).expect("renamed");
        assert_eq!(heard(), [(id, "sub".into(), true, true), (id, "other".into(), true, true)]);
        assert_eq!(heard(), []);
        watch.remove(id);
        fs::write(folder.join("a"), "two").expect("written");
        assert_eq!(heard(), []);
        crate::fs::remove_tree(&folder).expect("it was made above");
    }
}
