//! The system's calls that tell what has changed beneath a folder. Mechanism only: what it means is told by `watch`.

#![expect(unsafe_code, reason = "the calls have no safe wrapper; each says what makes it sound")]

use std::io;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle};
use std::ptr::{NonNull, null_mut};

use windows_sys::Win32::Foundation::{
    ERROR_NOTIFY_ENUM_DIR, ERROR_OPERATION_ABORTED, INVALID_HANDLE_VALUE, WAIT_TIMEOUT,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OVERLAPPED, FILE_LIST_DIRECTORY, FILE_NOTIFY_CHANGE_ATTRIBUTES,
    FILE_NOTIFY_CHANGE_CREATION, FILE_NOTIFY_CHANGE_DIR_NAME, FILE_NOTIFY_CHANGE_FILE_NAME,
    FILE_NOTIFY_CHANGE_LAST_WRITE, FILE_NOTIFY_CHANGE_SECURITY, FILE_NOTIFY_CHANGE_SIZE, FILE_SHARE_DELETE,
    FILE_SHARE_READ, FILE_SHARE_WRITE, ReOpenFile, ReadDirectoryChangesW,
};
use windows_sys::Win32::System::IO::{
    CancelIoEx, CreateIoCompletionPort, GetQueuedCompletionStatus, OVERLAPPED,
};

/// How many words of changes the system keeps until they are asked for.
const WORDS: usize = 64 << 10;
/// How long it may take the system to give a listener up, in milliseconds.
const GIVING_UP_MS: u32 = 5_000;
/// Every change that can be told of.
const ALL_CHANGES: u32 = FILE_NOTIFY_CHANGE_FILE_NAME
    | FILE_NOTIFY_CHANGE_DIR_NAME
    | FILE_NOTIFY_CHANGE_ATTRIBUTES
    | FILE_NOTIFY_CHANGE_SIZE
    | FILE_NOTIFY_CHANGE_LAST_WRITE
    | FILE_NOTIFY_CHANGE_CREATION
    | FILE_NOTIFY_CHANGE_SECURITY;

/// What the system writes to while it listens.
struct NotifyBuffer {
    overlapped: OVERLAPPED,
    words: Box<[u32]>,
}

/// Listens to everything beneath a folder. The changes are handed over at a port of its own, so that listening does
/// not end with the thread that began it.
pub(super) struct Listener {
    folder: OwnedHandle,
    port: OwnedHandle,
    /// The system's while `is_pending`.
    room: NonNull<NotifyBuffer>,
    is_pending: bool,
}

// SAFETY: the room is owned, and touched only through `&mut` and when the system has handed it back.
unsafe impl Send for Listener {}

impl Listener {
    /// Begins to listen to an open folder.
    pub(super) fn new(folder: BorrowedHandle<'_>) -> io::Result<Self> {
        // SAFETY: the handle is open; what is given back is judged below.
        let again = unsafe {
            ReOpenFile(
                folder.as_raw_handle(),
                FILE_LIST_DIRECTORY,
                FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OVERLAPPED,
            )
        };
        if again == INVALID_HANDLE_VALUE {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call succeeded, so the handle is open and nobody else has it.
        let folder = unsafe { OwnedHandle::from_raw_handle(again) };
        // SAFETY: the handle is open; no other port is named.
        let port = unsafe { CreateIoCompletionPort(folder.as_raw_handle(), null_mut(), 0, 1) };
        if port.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call succeeded, so the handle is open and nobody else has it.
        let port = unsafe { OwnedHandle::from_raw_handle(port) };
        let room =
            NotifyBuffer { overlapped: OVERLAPPED::default(), words: vec![0; WORDS].into_boxed_slice() };
        let mut listener =
            Self { folder, port, room: NonNull::from(Box::leak(Box::new(room))), is_pending: false };
        listener.listen()?;
        Ok(listener)
    }

    /// Returns the folder.
    pub(super) fn folder(&self) -> BorrowedHandle<'_> {
        self.folder.as_handle()
    }

    /// Returns what has changed, as a list of `FILE_NOTIFY_INFORMATION`, and listens on. An empty list means that
    /// changes were lost. `None` if nothing has happened. Does not wait.
    ///
    /// After an error it listens no more.
    pub(super) fn poll(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some(done) = self.dequeue(0)? else { return Ok(None) };
        self.is_pending = false;
        let length = match done {
            Ok(length) => length,
            Err(error) => match error.raw_os_error().map(i32::cast_unsigned) {
                Some(ERROR_NOTIFY_ENUM_DIR | ERROR_OPERATION_ABORTED) => 0,
                _ => return Err(error),
            },
        };
        // SAFETY: nothing is pending, so the room is this listener's alone.
        let words = unsafe { &self.room.as_ref().words };
        let mut bytes: Vec<u8> = words
            .iter()
            .take(length.div_ceil(size_of::<u32>()))
            .flat_map(|word| word.to_ne_bytes())
            .collect();
        bytes.truncate(length);
        self.listen()?;
        Ok(Some(bytes))
    }

    fn listen(&mut self) -> io::Result<()> {
        // SAFETY: nothing is pending, so the room is this listener's alone.
        let room = unsafe { self.room.as_mut() };
        room.overlapped = OVERLAPPED::default();
        let length = u32::try_from(size_of_val(&room.words[..])).unwrap_or(0);
        // SAFETY: the handle is open; the room stays where it is until the system has handed it back, which `drop` and
        // `is_pending` see to; no more is written than it is long.
        let begun = unsafe {
            ReadDirectoryChangesW(
                self.folder.as_raw_handle(),
                room.words.as_mut_ptr().cast(),
                length,
                1,
                ALL_CHANGES,
                null_mut(),
                &raw mut room.overlapped,
                None,
            )
        };
        if begun == 0 {
            return Err(io::Error::last_os_error());
        }
        self.is_pending = true;
        Ok(())
    }

    /// Takes what is at the port: how much was written, or why nothing was.
    fn dequeue(&self, wait_ms: u32) -> io::Result<Option<io::Result<usize>>> {
        let (mut length, mut key, mut which) = (0, 0, null_mut::<OVERLAPPED>());
        // SAFETY: the port is open, the pointers are to values of their types.
        let done = unsafe {
            GetQueuedCompletionStatus(
                self.port.as_raw_handle(),
                &raw mut length,
                &raw mut key,
                &raw mut which,
                wait_ms,
            )
        };
        let error = io::Error::last_os_error();
        match (which.is_null(), done != 0) {
            (false, true) => Ok(Some(Ok(usize::try_from(length).unwrap_or(0)))),
            (false, false) => Ok(Some(Err(error))),
            (true, _) if error.raw_os_error().map(i32::cast_unsigned) == Some(WAIT_TIMEOUT) => Ok(None),
            (true, _) => Err(error),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if self.is_pending {
            // SAFETY: the handle is open; only the address is used.
            unsafe { CancelIoEx(self.folder.as_raw_handle(), &raw const (*self.room.as_ptr()).overlapped) };
            // The system may write until it has handed the room back. If it does not, the room is its own for good.
            if !matches!(self.dequeue(GIVING_UP_MS), Ok(Some(_))) {
                return;
            }
        }
        // SAFETY: it was a box, and the system has handed it back.
        drop(unsafe { Box::from_raw(self.room.as_ptr()) });
    }
}
