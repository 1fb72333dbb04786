//! The system's calls on rights that have no safe wrapper. What the texts say is decided by the callers.

#![expect(unsafe_code, reason = "the calls have no safe wrapper; each says what makes it sound")]

use std::io;
use std::mem::size_of;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::io::{AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle};
use std::path::Path;
use std::ptr::{null, null_mut};

use tokio::net::windows::named_pipe::{NamedPipeServer, ServerOptions};
use windows_sys::Win32::Foundation::{HANDLE, LocalFree};
use windows_sys::Win32::Security::Authorization::{
    ConvertSecurityDescriptorToStringSecurityDescriptorW, ConvertSidToStringSidW,
    ConvertStringSecurityDescriptorToSecurityDescriptorW, GetSecurityInfo, SE_FILE_OBJECT, SE_KERNEL_OBJECT,
    SetNamedSecurityInfoW, SetSecurityInfo,
};
use windows_sys::Win32::Security::{
    ACL, DACL_SECURITY_INFORMATION, GetSecurityDescriptorDacl, GetSidSubAuthority, GetSidSubAuthorityCount,
    GetTokenInformation, OWNER_SECURITY_INFORMATION, PROTECTED_DACL_SECURITY_INFORMATION,
    PSECURITY_DESCRIPTOR, SECURITY_ATTRIBUTES, SetFileSecurityW, TOKEN_MANDATORY_LABEL, TOKEN_QUERY,
    TOKEN_USER, TokenIntegrityLevel, TokenUser, UNPROTECTED_DACL_SECURITY_INFORMATION,
};
use windows_sys::Win32::Storage::FileSystem::CreateDirectoryW;
use windows_sys::Win32::System::SystemInformation::OSVERSIONINFOEXW;
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, OpenProcess, OpenProcessToken, PROCESS_QUERY_LIMITED_INFORMATION,
};

/// The version of the texts.
const REVISION: u32 = 1;
/// What is read of rights.
const OWNER_AND_LIST: u32 = OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION;

/// Memory that the system handed out, given back in the end.
struct Local(*mut core::ffi::c_void);

impl Drop for Local {
    fn drop(&mut self) {
        // SAFETY: the system handed it out to be given back so, which happens here alone.
        unsafe { LocalFree(self.0) };
    }
}

fn last() -> io::Error {
    io::Error::last_os_error()
}

fn zero_ended(text: &str) -> Vec<u16> {
    text.encode_utf16().chain([0]).collect()
}

fn path_text(path: &Path) -> Vec<u16> {
    path.as_os_str().encode_wide().chain([0]).collect()
}

/// Reads a text that ends with a zero, and gives its memory back.
///
/// # Safety
/// The system must have handed it out, as such a text.
unsafe fn take_text(text: *mut u16) -> String {
    let _memory = Local(text.cast());
    let mut units = Vec::new();
    let mut at = text;
    // SAFETY: the text ends with a zero, beyond which nothing is read.
    unsafe {
        while *at != 0 {
            units.push(*at);
            at = at.add(1);
        }
    }
    String::from_utf16_lossy(&units)
}

// Windows-sys has it only among the calls for drivers.
#[link(name = "ntdll")]
unsafe extern "system" {
    fn RtlGetVersion(told: *mut OSVERSIONINFOEXW) -> i32;
}

/// Returns the version of the system: not the one that it pretends to have for old programs.
pub(in super::super) fn version() -> Option<OSVERSIONINFOEXW> {
    let size = u32::try_from(size_of::<OSVERSIONINFOEXW>()).ok()?;
    let mut told = OSVERSIONINFOEXW { dwOSVersionInfoSize: size, ..OSVERSIONINFOEXW::default() };
    // SAFETY: the pointer is to the structure that its size says it is.
    let status = unsafe { RtlGetVersion(&raw mut told) };
    (status >= 0).then_some(told)
}

/// Returns the account of this process's user, as `S-1-…`.
pub(super) fn own_account() -> io::Result<String> {
    let mut token: HANDLE = null_mut();
    // SAFETY: the process's own handle needs no closing; the pointer is to a handle.
    if unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token) } == 0 {
        return Err(last());
    }
    // SAFETY: the call succeeded, so the handle is open and nobody else has it.
    let token = unsafe { OwnedHandle::from_raw_handle(token) };
    // As long as the longest account, with the alignment of its head.
    let mut buffer = [0_usize; 32];
    let mut length = 0;
    let room = u32::try_from(size_of_val(&buffer)).unwrap_or(0);
    // SAFETY: no more is written than the buffer is long.
    let done = unsafe {
        GetTokenInformation(
            token.as_raw_handle(),
            TokenUser,
            buffer.as_mut_ptr().cast(),
            room,
            &raw mut length,
        )
    };
    if done == 0 {
        return Err(last());
    }
    // SAFETY: the call filled the buffer with this structure, which points into the buffer.
    let account = unsafe { (*buffer.as_ptr().cast::<TOKEN_USER>()).User.Sid };
    let mut text = null_mut();
    // SAFETY: the account is a good one, and lives in the buffer.
    if unsafe { ConvertSidToStringSidW(account, &raw mut text) } == 0 {
        return Err(last());
    }
    // SAFETY: the call handed the text out.
    Ok(unsafe { take_text(text) })
}

/// A list of rights in the system's form.
struct Descriptor(Local);

impl Descriptor {
    fn of(text: &str) -> io::Result<Self> {
        let text = zero_ended(text);
        let mut made: PSECURITY_DESCRIPTOR = null_mut();
        // SAFETY: the text ends with a zero; the system hands memory out through the pointer.
        let done = unsafe {
            ConvertStringSecurityDescriptorToSecurityDescriptorW(
                text.as_ptr(),
                REVISION,
                &raw mut made,
                null_mut(),
            )
        };
        if done == 0 { Err(last()) } else { Ok(Self(Local(made))) }
    }

    /// Returns what new objects are made with. It must not outlive this.
    fn attributes(&self) -> SECURITY_ATTRIBUTES {
        SECURITY_ATTRIBUTES {
            nLength: u32::try_from(size_of::<SECURITY_ATTRIBUTES>()).unwrap_or(0),
            lpSecurityDescriptor: self.0.0,
            bInheritHandle: 0,
        }
    }

    /// Returns the list, which must not outlive this.
    fn list(&self) -> io::Result<*mut ACL> {
        let (mut present, mut defaulted) = (0, 0);
        let mut found: *mut ACL = null_mut();
        // SAFETY: the descriptor is a good one; what is found is within it.
        let done = unsafe {
            GetSecurityDescriptorDacl(self.0.0, &raw mut present, &raw mut found, &raw mut defaulted)
        };
        if done == 0 {
            return Err(last());
        }
        // Without a list everybody would have every right.
        if present == 0 || found.is_null() { Err(io::ErrorKind::InvalidInput.into()) } else { Ok(found) }
    }

    fn text(&self) -> io::Result<String> {
        let mut text = null_mut();
        // SAFETY: the descriptor is a good one; the system hands memory out through the pointer.
        let done = unsafe {
            ConvertSecurityDescriptorToStringSecurityDescriptorW(
                self.0.0,
                REVISION,
                OWNER_AND_LIST,
                &raw mut text,
                null_mut(),
            )
        };
        if done == 0 {
            return Err(last());
        }
        // SAFETY: the call handed the text out.
        Ok(unsafe { take_text(text) })
    }
}

/// Writes a text as the system would write it.
pub(super) fn in_short(text: &str) -> io::Result<String> {
    Descriptor::of(text)?.text()
}

/// Reads owner and list of something open.
pub(super) fn rights(object: BorrowedHandle<'_>, is_pipe: bool) -> io::Result<String> {
    let kind = if is_pipe { SE_KERNEL_OBJECT } else { SE_FILE_OBJECT };
    let mut told: PSECURITY_DESCRIPTOR = null_mut();
    // SAFETY: the handle is open; the system hands memory out through the last pointer, the others are not wanted.
    let code = unsafe {
        GetSecurityInfo(
            object.as_raw_handle(),
            kind,
            OWNER_AND_LIST,
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
            &raw mut told,
        )
    };
    if code != 0 {
        return Err(io::Error::from_raw_os_error(code.cast_signed()));
    }
    Descriptor(Local(told)).text()
}

/// Creates a folder with a list of rights.
pub(super) fn make_folder(path: &Path, list: &str) -> io::Result<()> {
    let descriptor = Descriptor::of(list)?;
    let attributes = descriptor.attributes();
    let path = path_text(path);
    // SAFETY: the path ends with a zero; the attributes live until the call is over.
    if unsafe { CreateDirectoryW(path.as_ptr(), &raw const attributes) } == 0 { Err(last()) } else { Ok(()) }
}

/// Sets the list of rights of a file or folder, and nothing of the lists above it.
pub(super) fn set_list(path: &Path, list: &str) -> io::Result<()> {
    let descriptor = Descriptor::of(list)?;
    let found = descriptor.list()?;
    let path = path_text(path);
    let which = DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION;
    // SAFETY: the path ends with a zero, the list lives within the descriptor until the call is over.
    let code = unsafe {
        SetNamedSecurityInfoW(path.as_ptr(), SE_FILE_OBJECT, which, null_mut(), null_mut(), found, null())
    };
    if code != 0 {
        return Err(io::Error::from_raw_os_error(code.cast_signed()));
    }
    // Wine adds the list of the folder above all the same; this call takes the list as it is.
    // SAFETY: the path ends with a zero, the descriptor is a good one, and both live until the call is over.
    if unsafe { SetFileSecurityW(path.as_ptr(), which, descriptor.0.0) } == 0 { Err(last()) } else { Ok(()) }
}

/// Sets the list of rights of an open file. What the folder above hands down is added, unless it is protected.
pub(super) fn set_list_of(file: BorrowedHandle<'_>, list: &str, is_protected: bool) -> io::Result<()> {
    let descriptor = Descriptor::of(list)?;
    let found = descriptor.list()?;
    let protected = match is_protected {
        true => PROTECTED_DACL_SECURITY_INFORMATION,
        false => UNPROTECTED_DACL_SECURITY_INFORMATION,
    };
    // SAFETY: the handle is open, the list lives within the descriptor until the call is over.
    let code = unsafe {
        SetSecurityInfo(
            file.as_raw_handle(),
            SE_FILE_OBJECT,
            DACL_SECURITY_INFORMATION | protected,
            null_mut(),
            null_mut(),
            found,
            null(),
        )
    };
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code.cast_signed())) }
}

/// Creates an end of a named pipe with a list of rights.
pub(super) fn pipe(options: &ServerOptions, name: &str, list: &str) -> io::Result<NamedPipeServer> {
    let descriptor = Descriptor::of(list)?;
    let mut attributes = descriptor.attributes();
    // SAFETY: the attributes are of the structure that is asked for, and live until the call is over.
    unsafe { options.create_with_security_attributes_raw(name, (&raw mut attributes).cast()) }
}

/// Returns how much a process may do, by its level of integrity: a program gets no input from one of a lower level. None where it
/// has ended, or does not let this one know.
pub(crate) fn integrity(pid: u32) -> Option<u32> {
    // SAFETY: it takes no pointers.
    let process = unsafe { OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, pid) };
    if process.is_null() {
        return None;
    }
    // SAFETY: the call succeeded, so the handle is open and nobody else has it.
    let process = unsafe { OwnedHandle::from_raw_handle(process) };
    let mut token: HANDLE = null_mut();
    // SAFETY: the pointer is to a handle.
    if unsafe { OpenProcessToken(process.as_raw_handle(), TOKEN_QUERY, &raw mut token) } == 0 {
        return None;
    }
    // SAFETY: the call succeeded, so the handle is open and nobody else has it.
    let token = unsafe { OwnedHandle::from_raw_handle(token) };
    let mut buffer = [0_usize; 32];
    let mut length = 0;
    let room = u32::try_from(size_of_val(&buffer)).unwrap_or(0);
    let place = buffer.as_mut_ptr().cast();
    // SAFETY: no more is written than the buffer is long.
    let done = unsafe {
        GetTokenInformation(token.as_raw_handle(), TokenIntegrityLevel, place, room, &raw mut length)
    };
    if done == 0 {
        return None;
    }
    // SAFETY: the call filled the buffer with this structure, which points to a good account in the buffer; its last part is there.
    unsafe {
        let label = (*buffer.as_ptr().cast::<TOKEN_MANDATORY_LABEL>()).Label.Sid;
        let parts = *GetSidSubAuthorityCount(label);
        let last = parts.checked_sub(1)?;
        Some(*GetSidSubAuthority(label, last.into()))
    }
}
