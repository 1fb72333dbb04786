//! The system's calls on files by handle that have no safe wrapper. Mechanism only; names are judged by the callers.

#![expect(unsafe_code, reason = "the calls have no safe wrapper; each says what makes it sound")]

use std::io;
use std::mem::{offset_of, size_of};
use std::os::windows::io::{AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle};
use std::path::Path;
use std::ptr::{null, null_mut};

use windows_sys::Wdk::Foundation::OBJECT_ATTRIBUTES;
use windows_sys::Wdk::Storage::FileSystem::{
    FILE_OPEN_REPARSE_POINT, FILE_RENAME_INFORMATION, FILE_SYNCHRONOUS_IO_NONALERT,
    FileDispositionInformation, FileDispositionInformationEx, FileRenameInformation, FileRenameInformationEx,
    NtCreateFile, NtSetInformationFile,
};
use windows_sys::Win32::Foundation::{
    HANDLE, NTSTATUS, OBJ_CASE_INSENSITIVE, RtlNtStatusToDosError, UNICODE_STRING,
};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_ATTRIBUTE_TAG_INFO, FILE_BASIC_INFO, FILE_ID_INFO,
    FILE_INFO_BY_HANDLE_CLASS, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_STANDARD_INFO,
    FileAttributeTagInfo, FileBasicInfo, FileIdBothDirectoryInfo, FileIdBothDirectoryRestartInfo, FileIdInfo,
    FileStandardInfo, GetDiskFreeSpaceExW, GetFileInformationByHandle, GetFileInformationByHandleEx,
    GetFinalPathNameByHandleW, GetVolumeInformationByHandleW,
};
use windows_sys::Win32::System::IO::{DeviceIoControl, IO_STATUS_BLOCK};
use windows_sys::Win32::System::Ioctl::FSCTL_GET_REPARSE_POINT;

/// The longest list of entries that is read at a time, in units of eight bytes.
const ENTRIES_WORDS: usize = 8 << 10;
/// The longest reparse data.
///
/// # Source
/// `MAXIMUM_REPARSE_DATA_BUFFER_SIZE`.
const REPARSE_BYTES: usize = 16 << 10;
/// The system's clock begins in 1601; so many of its ticks of 100 ns pass until 1970.
const TICKS_UNTIL_1970: i128 = 116_444_736_000_000_000;

/// A status of the kernel that is no success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Status(pub(in super::super) NTSTATUS);

impl From<Status> for io::Error {
    fn from(status: Status) -> Self {
        // SAFETY: it takes and gives a number.
        let code = unsafe { RtlNtStatusToDosError(status.0) };
        Self::from_raw_os_error(code.cast_signed())
    }
}

/// How something is opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opening {
    /// The rights that are wanted.
    pub(super) access: u32,
    /// Whether it must be there, or must not.
    pub(super) disposition: u32,
    /// What it must be.
    pub(super) options: u32,
}

/// Opens a single name in an open folder, or, with no name, what is open once more. A reparse point is opened itself.
pub(super) fn open_at(
    parent: BorrowedHandle<'_>,
    name: &[u16],
    opening: Opening,
) -> Result<OwnedHandle, Status> {
    const INVALID_NAME: Status = Status(0xC000_0033_u32.cast_signed());
    let length = u16::try_from(size_of_val(name)).map_err(|_| INVALID_NAME)?;
    let text = UNICODE_STRING { Length: length, MaximumLength: length, Buffer: name.as_ptr().cast_mut() };
    let attributes = OBJECT_ATTRIBUTES {
        Length: u32::try_from(size_of::<OBJECT_ATTRIBUTES>()).unwrap_or(0),
        RootDirectory: parent.as_raw_handle(),
        ObjectName: &raw const text,
        Attributes: OBJ_CASE_INSENSITIVE,
        SecurityDescriptor: null(),
        SecurityQualityOfService: null(),
    };
    let mut handle: HANDLE = null_mut();
    let mut outcome = IO_STATUS_BLOCK::default();
    // SAFETY: all pointers are to values that outlive the call, which is synchronous; the name is only read.
    let status = unsafe {
        NtCreateFile(
            &raw mut handle,
            opening.access,
            &raw const attributes,
            &raw mut outcome,
            null(),
            0,
            FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
            opening.disposition,
            opening.options | FILE_OPEN_REPARSE_POINT | FILE_SYNCHRONOUS_IO_NONALERT,
            null(),
            0,
        )
    };
    if status < 0 {
        return Err(Status(status));
    }
    // SAFETY: the call succeeded, so the handle is open and nobody else has it.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// What the system tells of an open file or folder.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts {
    pub(super) attributes: u32,
    /// None where it is no reparse point.
    pub(super) reparse_tag: Option<u32>,
    pub(super) volume: u64,
    /// Of 128 bits on some file systems.
    pub(super) number: u128,
    pub(super) size: u64,
    pub(super) links: u32,
    pub(super) modified_ns: i128,
    pub(super) changed_ns: i128,
}

/// Asks for what is told of something open.
pub(super) fn facts(file: BorrowedHandle<'_>) -> io::Result<Facts> {
    const REPARSE_POINT: u32 = 0x400;
    let mut told = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open, and the structure is the one that the call fills.
    if unsafe { GetFileInformationByHandle(file.as_raw_handle(), &raw mut told) } == 0 {
        return Err(io::Error::last_os_error());
    }
    let basic: FILE_BASIC_INFO = told_ex(file, FileBasicInfo)?;
    let long = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    // File systems that have no long numbers do not answer; all their files are told apart by the short ones.
    let (volume, number) = match told_ex::<FILE_ID_INFO>(file, FileIdInfo) {
        Ok(id) => (id.VolumeSerialNumber, u128::from_le_bytes(id.FileId.Identifier)),
        Err(_) => {
            (u64::from(told.dwVolumeSerialNumber), long(told.nFileIndexHigh, told.nFileIndexLow).into())
        }
    };
    let reparse_tag = if told.dwFileAttributes & REPARSE_POINT == 0 {
        None
    } else {
        Some(told_ex::<FILE_ATTRIBUTE_TAG_INFO>(file, FileAttributeTagInfo)?.ReparseTag)
    };
    let nanoseconds = |ticks: i64| (i128::from(ticks) - TICKS_UNTIL_1970) * 100;
    Ok(Facts {
        attributes: told.dwFileAttributes,
        reparse_tag,
        volume,
        number,
        size: long(told.nFileSizeHigh, told.nFileSizeLow),
        links: told.nNumberOfLinks,
        modified_ns: nanoseconds(basic.LastWriteTime),
        changed_ns: nanoseconds(basic.ChangeTime),
    })
}

/// Returns whether something open has no name any more.
pub(crate) fn is_removed(file: BorrowedHandle<'_>) -> bool {
    told_ex::<FILE_STANDARD_INFO>(file, FileStandardInfo)
        .is_ok_and(|told| told.DeletePending || told.NumberOfLinks == 0)
}

/// Structures of plain numbers, for which all bits are good.
trait PlainData: Default {}
impl PlainData for FILE_BASIC_INFO {}
impl PlainData for FILE_ID_INFO {}
impl PlainData for FILE_ATTRIBUTE_TAG_INFO {}
impl PlainData for FILE_STANDARD_INFO {}

fn told_ex<T: PlainData>(file: BorrowedHandle<'_>, class: FILE_INFO_BY_HANDLE_CLASS) -> io::Result<T> {
    let mut told = T::default();
    let length = u32::try_from(size_of::<T>()).unwrap_or(0);
    // SAFETY: the handle is open, and no more is written than the structure is long.
    let done =
        unsafe { GetFileInformationByHandleEx(file.as_raw_handle(), class, (&raw mut told).cast(), length) };
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(told) }
}

/// An entry of a folder, as the system lists it.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: Vec<u16>,
    pub(super) attributes: u32,
    pub(super) reparse_tag: u32,
}

/// Lists a folder from its beginning, `.` and `..` included.
pub(super) fn entries(folder: BorrowedHandle<'_>) -> io::Result<Vec<Entry>> {
    const NO_MORE_FILES: i32 = 18;
    const FILE_NOT_FOUND: i32 = 2;
    let mut entries = Vec::new();
    let mut buffer = vec![0_u64; ENTRIES_WORDS];
    let mut class = FileIdBothDirectoryRestartInfo;
    loop {
        let length = u32::try_from(size_of_val(&buffer[..])).unwrap_or(0);
        // SAFETY: the handle is open, and no more is written than the buffer is long.
        let done = unsafe {
            GetFileInformationByHandleEx(folder.as_raw_handle(), class, buffer.as_mut_ptr().cast(), length)
        };
        if done == 0 {
            let error = io::Error::last_os_error();
            return match error.raw_os_error() {
                Some(NO_MORE_FILES | FILE_NOT_FOUND) => Ok(entries),
                _ => Err(error),
            };
        }
        class = FileIdBothDirectoryInfo;
        let bytes: Vec<u8> = buffer.iter().flat_map(|word| word.to_ne_bytes()).collect();
        take_entries(&bytes, &mut entries);
    }
}

/// Reads a list of `FILE_ID_BOTH_DIR_INFO`.
fn take_entries(bytes: &[u8], entries: &mut Vec<Entry>) {
    use windows_sys::Win32::Storage::FileSystem::FILE_ID_BOTH_DIR_INFO as Info;
    let mut at = 0;
    loop {
        let number = |place: usize| {
            let found = bytes.get(at + place..).and_then(|rest| rest.first_chunk());
            found.map_or(0, |four| u32::from_le_bytes(*four))
        };
        let length = usize::try_from(number(offset_of!(Info, FileNameLength))).unwrap_or(0);
        let begin = at + offset_of!(Info, FileName);
        let Some(name) = bytes.get(begin..begin + length) else { return };
        entries.push(Entry {
            name: name.as_chunks().0.iter().map(|unit| u16::from_le_bytes(*unit)).collect(),
            attributes: number(offset_of!(Info, FileAttributes)),
            // Of a reparse point it is the tag.
            reparse_tag: number(offset_of!(Info, EaSize)),
        });
        match usize::try_from(number(offset_of!(Info, NextEntryOffset))).unwrap_or(0) {
            0 => return,
            next => at += next,
        }
    }
}

/// Returns the whole path of something open, as it is spelt on the disk.
pub(super) fn whole_path(file: BorrowedHandle<'_>) -> io::Result<Vec<u16>> {
    path_in_form(file, 0)
}

/// Returns the name that something open has in its folder, as it is spelt on the disk.
pub(super) fn spelling(file: BorrowedHandle<'_>) -> io::Result<Vec<u16>> {
    const NORMALIZED_WITHOUT_VOLUME: u32 = 4;
    let mut path = path_in_form(file, NORMALIZED_WITHOUT_VOLUME)?;
    let begin = path.iter().rposition(|unit| *unit == u16::from(b'\\')).map_or(0, |at| at + 1);
    path.drain(..begin);
    Ok(path)
}

/// Returns the path of something open in one of the forms that the system has for it.
fn path_in_form(file: BorrowedHandle<'_>, form: u32) -> io::Result<Vec<u16>> {
    let mut buffer = vec![0_u16; 512];
    loop {
        let room = u32::try_from(buffer.len()).unwrap_or(u32::MAX);
        // SAFETY: the handle is open, and no more is written than the buffer is long.
        let length =
            unsafe { GetFinalPathNameByHandleW(file.as_raw_handle(), buffer.as_mut_ptr(), room, form) };
        match usize::try_from(length).unwrap_or(0) {
            0 => return Err(io::Error::last_os_error()),
            length if length < buffer.len() => {
                buffer.truncate(length);
                return Ok(buffer);
            }
            length => buffer.resize(length + 1, 0),
        }
    }
}

/// Whether a rename may take the name of something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RenameMode {
    /// It replaces what has the name.
    Whatever,
    /// The name must be free.
    Nothing,
}

/// Renames something open, in an open folder of the same disk.
pub(super) fn rename(
    file: BorrowedHandle<'_>,
    folder: BorrowedHandle<'_>,
    name: &[u16],
    over: RenameMode,
) -> Result<(), Status> {
    // Replace if it exists, as POSIX has it, also what is read-only.
    let flags: u32 = if over == RenameMode::Whatever { 1 | 2 | 0x40 } else { 2 };
    let name_bytes = size_of_val(name);
    let length = offset_of!(FILE_RENAME_INFORMATION, FileName) + name_bytes;
    let mut bytes = vec![0_u8; length.max(size_of::<FILE_RENAME_INFORMATION>())];
    let mut put = |at: usize, what: &[u8]| bytes[at..at + what.len()].copy_from_slice(what);
    put(0, &flags.to_ne_bytes());
    let root = folder.as_raw_handle() as usize;
    put(offset_of!(FILE_RENAME_INFORMATION, RootDirectory), &root.to_ne_bytes());
    let count = u32::try_from(name_bytes).unwrap_or(0);
    put(offset_of!(FILE_RENAME_INFORMATION, FileNameLength), &count.to_ne_bytes());
    let text: Vec<u8> = name.iter().flat_map(|unit| unit.to_ne_bytes()).collect();
    put(offset_of!(FILE_RENAME_INFORMATION, FileName), &text);
    match set(file, FileRenameInformationEx, &bytes) {
        // Older systems, and file systems that know nothing of POSIX.
        Err(status) if is_unknown(status) => {
            bytes[..4].copy_from_slice(&u32::from(over == RenameMode::Whatever).to_ne_bytes());
            set(file, FileRenameInformation, &bytes)
        }
        other => other,
    }
}

/// Removes what is open from its folder: its name is free at once where the file system can do so.
pub(super) fn remove(file: BorrowedHandle<'_>) -> Result<(), Status> {
    // Delete, as POSIX has it.
    let flags: u32 = 1 | 2;
    match set(file, FileDispositionInformationEx, &flags.to_ne_bytes()) {
        Err(status) if is_unknown(status) => set(file, FileDispositionInformation, &[1]),
        other => other,
    }
}

/// `STATUS_INVALID_PARAMETER`, `STATUS_INVALID_INFO_CLASS`, `STATUS_NOT_SUPPORTED`, `STATUS_NOT_IMPLEMENTED`.
fn is_unknown(status: Status) -> bool {
    [0xC000_000D_u32, 0xC000_0003, 0xC000_00BB, 0xC000_0002].contains(&status.0.cast_unsigned())
}

fn set(file: BorrowedHandle<'_>, class: i32, value: &[u8]) -> Result<(), Status> {
    // The structures begin with a pointer's alignment.
    let mut words = vec![0_usize; value.len().div_ceil(size_of::<usize>())];
    for (word, part) in words.iter_mut().zip(value.chunks(size_of::<usize>())) {
        let mut whole = [0; size_of::<usize>()];
        whole[..part.len()].copy_from_slice(part);
        *word = usize::from_ne_bytes(whole);
    }
    let mut outcome = IO_STATUS_BLOCK::default();
    let length = u32::try_from(value.len()).unwrap_or(0);
    // SAFETY: the handle is open; no more is read than the buffer holds, which is aligned; the call is synchronous.
    let status = unsafe {
        NtSetInformationFile(file.as_raw_handle(), &raw mut outcome, words.as_ptr().cast(), length, class)
    };
    if status < 0 { Err(Status(status)) } else { Ok(()) }
}

/// Reads the data of a reparse point.
pub(super) fn reparse_data(file: BorrowedHandle<'_>) -> io::Result<Vec<u8>> {
    let mut data = vec![0_u8; REPARSE_BYTES];
    let mut length = 0;
    // SAFETY: the handle is open, no more is written than the buffer is long, and the call is synchronous.
    let done = unsafe {
        DeviceIoControl(
            file.as_raw_handle(),
            FSCTL_GET_REPARSE_POINT,
            null(),
            0,
            data.as_mut_ptr().cast(),
            u32::try_from(REPARSE_BYTES).unwrap_or(0),
            &raw mut length,
            null_mut(),
        )
    };
    if done == 0 {
        return Err(io::Error::last_os_error());
    }
    data.truncate(usize::try_from(length).unwrap_or(0));
    Ok(data)
}

/// Returns how many bytes this user can still write on the disk of a folder.
pub(super) fn free_bytes(folder: &Path) -> io::Result<u64> {
    use std::os::windows::ffi::OsStrExt;
    let name: Vec<u16> = folder.as_os_str().encode_wide().chain([0]).collect();
    let mut free = 0;
    // SAFETY: the name ends with a zero; the other pointers are null, or to a number.
    let done = unsafe { GetDiskFreeSpaceExW(name.as_ptr(), &raw mut free, null_mut(), null_mut()) };
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(free) }
}

/// The disk of something open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Disk {
    /// Whether nothing can be written.
    pub(super) is_read_only: bool,
    /// The name of the file system.
    pub(super) file_system: String,
}

/// Tells of the disk of something open.
pub(super) fn disk(file: BorrowedHandle<'_>) -> io::Result<Disk> {
    const READ_ONLY_VOLUME: u32 = 0x0008_0000;
    let (mut flags, mut name) = (0, [0_u16; 64]);
    let room = u32::try_from(name.len()).unwrap_or(0);
    // SAFETY: the handle is open; buffers of no length are null; of the others one is a number, and no more is
    // written than the name is long.
    let done = unsafe {
        GetVolumeInformationByHandleW(
            file.as_raw_handle(),
            null_mut(),
            0,
            null_mut(),
            null_mut(),
            &raw mut flags,
            name.as_mut_ptr(),
            room,
        )
    };
    if done == 0 {
        return Err(io::Error::last_os_error());
    }
    let name = name.split(|unit| *unit == 0).next().unwrap_or_default();
    Ok(Disk { is_read_only: flags & READ_ONLY_VOLUME != 0, file_system: String::from_utf16_lossy(name) })
}
