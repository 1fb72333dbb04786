//! Reading what is in memory already: nothing here waits for a disk or for another computer.

use std::fs::File;
use std::io::IoSliceMut;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags, ResolveFlags, fstat, fstatfs, open, openat2};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

use super::regular::READ;
use super::{FileKind, RelPath, Stat};

/// Returns whether opening a file of a folder's file system asks nobody but this computer.
///
/// # Source
/// statfs(2), the list of `*_MAGIC` numbers. Network file systems, FUSE and what lies on others are none of these.
pub(super) fn is_on_this_computer(folder: impl AsFd) -> bool {
    const EXT4: u64 = 0xef53;
    const XFS: u64 = 0x5846_5342;
    const BTRFS: u64 = 0x9123_683e;
    const F2FS: u64 = 0xf2f5_2010;
    const TMPFS: u64 = 0x0102_1994;
    #[expect(clippy::cast_sign_loss, reason = "the magic numbers are compared as bits")]
    let magic = fstatfs(folder).map(|facts| facts.f_type as u64 & 0xffff_ffff);
    magic.is_ok_and(|magic| [EXT4, XFS, BTRFS, F2FS, TMPFS].contains(&magic))
}

/// Reads the facts of a regular file or folder beneath `dir`, if all names on the way are in memory.
pub(super) fn stat(dir: BorrowedFd<'_>, device: u64, path: &RelPath) -> Option<Stat> {
    let stat = Stat::from_system(&fstat(name(dir, path).ok()?).ok()?);
    (matches!(stat.kind, FileKind::File | FileKind::Dir) && stat.id.device == device).then_some(stat)
}

/// Reads a regular file of at most `most` bytes beneath `dir`, if all names on the way and all of its content are in
/// memory.
///
/// # Source
/// preadv2(2): `RWF_NOWAIT` reads what is in memory, and no more.
pub(super) fn read(dir: BorrowedFd<'_>, device: u64, path: &RelPath, most: u64) -> Option<(Stat, Vec<u8>)> {
    let name = name(dir, path).ok()?;
    let stat = Stat::from_system(&fstat(&name).ok()?);
    if stat.kind != FileKind::File || stat.id.device != device || stat.size > most {
        return None;
    }
    // As in `open_regular`: the very file whose facts were read.
    let itself = format!("/proc/self/fd/{}", name.as_raw_fd());
    let file = File::from(open(itself, READ, Mode::empty()).ok()?);
    let size = usize::try_from(stat.size).ok()?;
    // One byte more, so that a full buffer tells of growth.
    let mut bytes = vec![0; size + 1];
    let read = preadv2(&file, &mut [IoSliceMut::new(&mut bytes)], 0, ReadWriteFlags::NOWAIT).ok()?;
    // Less can mean that the rest is not in memory, more that somebody writes to it.
    if read != size {
        return None;
    }
    bytes.truncate(size);
    Some((stat, bytes))
}

/// Opens a name, and nothing of what has it.
///
/// # Source
/// openat2(2): `RESOLVE_CACHED` fails where a name would have to be read from the disk.
fn name(dir: BorrowedFd<'_>, path: &RelPath) -> Result<OwnedFd, Errno> {
    let resolve =
        ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV | ResolveFlags::CACHED;
    openat2(dir, path.for_system(), OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::super::Root;
    use super::*;

    #[test]
    fn what_is_in_memory_is_read_at_once_and_nothing_else_is_opened() {
        let top = std::env::temp_dir().join(format!("bailiwick-cached-{}", bailiwick_contract::id::new_id()));
        fs::create_dir_all(top.join("root/folder")).expect("the temporary folder can be written");
        fs::write(top.join("outside"), "outside").expect("the temporary folder can be written");
        fs::write(top.join("root/folder/file"), "content").expect("the temporary folder can be written");
        for (link, leads_to) in [("out", "../outside"), ("in", "folder/file"), ("folder/up", "..")] {
            symlink(leads_to, top.join("root").join(link)).expect("the temporary folder can be written");
        }
        let root = Root::open(&top.join("root")).expect("the folder opens");
        let path = |text: &str| RelPath::parse(text.as_bytes()).expect("a good path");
        let read = |text: &str, most: u64| root.read_cached(&path(text), most);
        // Somebody else may take its pages away at any moment; what is read is right.
        for (stat, bytes) in (0..100).filter_map(|_| read("folder/file", 7)) {
            assert_eq!((stat.size, bytes.as_slice()), (7, &b"content"[..]));
            assert_eq!(stat, root.stat(&path("folder/file")).expect("it is there"));
        }
        assert_eq!(read("folder/file", 6), None, "it is larger");
        for other in ["", "folder", "missing", "out", "in", "folder/up/folder/file", "folder/file/x"] {
            assert_eq!(read(other, 100), None, "{other}");
        }
        for other in ["missing", "out", "in", "folder/up"] {
            assert_eq!(root.stat_cached(&path(other)), None, "{other}");
        }
        assert!(root.stat_cached(&path("folder")).is_none_or(|stat| stat.kind == FileKind::Dir));
        fs::remove_dir_all(top).expect("the temporary folder can be removed");
    }
}
