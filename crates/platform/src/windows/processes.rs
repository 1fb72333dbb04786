//! Which processes there are, and which has started which. The calls for that have no safe wrapper.

#![expect(unsafe_code, reason = "the list of processes has no safe wrapper; nothing else is done here")]

use std::mem::size_of;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};

use windows_sys::Win32::Foundation::{FILETIME, INVALID_HANDLE_VALUE};
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, PROCESSENTRY32W, Process32FirstW, Process32NextW, TH32CS_SNAPPROCESS,
};
use windows_sys::Win32::System::Threading::{
    GetProcessTimes, OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION,
};

/// A process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunningProcess {
    /// Its number.
    pub pid: u32,
    /// The number of the one that has started it, which may have ended: another may have that number now.
    pub parent: u32,
    /// The name of its program file.
    pub name: String,
}

/// Returns when a process was started, in units of 100 ns. None, where it has ended or the system does not say.
pub(crate) fn process_birth(pid: u32) -> Option<u64> {
    // SAFETY: it takes no pointers.
    let process = unsafe { OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, pid) };
    if process.is_null() {
        return None;
    }
    // SAFETY: the call succeeded, so the handle is open and nobody else has it.
    let process = unsafe { OwnedHandle::from_raw_handle(process) };
    let mut times = [FILETIME::default(); 4];
    let [birth, end, system, user] = &mut times;
    // SAFETY: it writes four times, which are there.
    let done = unsafe { GetProcessTimes(process.as_raw_handle(), birth, end, system, user) } != 0;
    let number = |it: &FILETIME| u64::from(it.dwHighDateTime) << 32 | u64::from(it.dwLowDateTime);
    // One that somebody still has open is there after its end.
    (done && number(end) == 0).then(|| number(birth))
}

/// Lists the processes of this computer. None if the system does not say.
pub(crate) fn processes() -> Vec<RunningProcess> {
    // SAFETY: it takes no pointers.
    let list = unsafe { CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0) };
    if list == INVALID_HANDLE_VALUE || list.is_null() {
        return Vec::new();
    }
    // SAFETY: the call succeeded, so the handle is open and nobody else has it.
    let list = unsafe { OwnedHandle::from_raw_handle(list) };
    let size = u32::try_from(size_of::<PROCESSENTRY32W>()).unwrap_or(0);
    let mut entry = PROCESSENTRY32W { dwSize: size, ..PROCESSENTRY32W::default() };
    let mut all = Vec::new();
    // SAFETY: the pointer is to a structure of the size that it says.
    let mut is_there = unsafe { Process32FirstW(list.as_raw_handle(), &raw mut entry) } != 0;
    while is_there {
        let units = entry.szExeFile.iter().copied().take_while(|unit| *unit != 0);
        let name: String =
            char::decode_utf16(units).map(|it| it.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        all.push(RunningProcess { pid: entry.th32ProcessID, parent: entry.th32ParentProcessID, name });
        // SAFETY: as above.
        is_there = unsafe { Process32NextW(list.as_raw_handle(), &raw mut entry) } != 0;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_one_birth_as_long_as_it_lives() {
        let own = process_birth(std::process::id());
        assert!(own.is_some_and(|it| it > 0));
        assert_eq!(process_birth(std::process::id()), own);
        assert_eq!(process_birth(u32::MAX - 3), None);
    }
}
