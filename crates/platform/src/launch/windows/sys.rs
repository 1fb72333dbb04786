//! The system's calls on processes, jobs, consoles and locks that have no safe wrapper. Mechanism only.

#![expect(unsafe_code, reason = "the calls have no safe wrapper; each says what makes it sound")]

use std::ffi::c_void;
use std::io;
use std::mem::size_of;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use windows_sys::Win32::Foundation::{
    DUPLICATE_SAME_ACCESS, DuplicateHandle, ERROR_INSUFFICIENT_BUFFER, ERROR_IO_PENDING,
    ERROR_LOCK_VIOLATION, HANDLE, WAIT_FAILED, WAIT_OBJECT_0, WAIT_TIMEOUT,
};
use windows_sys::Win32::NetworkManagement::IpHelper::{
    GetExtendedTcpTable, MIB_TCP6ROW_OWNER_PID, MIB_TCPROW_OWNER_PID, TCP_TABLE_OWNER_PID_LISTENER,
};
use windows_sys::Win32::Networking::WinSock::{AF_INET, AF_INET6};
use windows_sys::Win32::Storage::FileSystem::{
    LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx, UnlockFileEx,
};
use windows_sys::Win32::System::Console::{
    AttachConsole, CTRL_BREAK_EVENT, CTRL_C_EVENT, FreeConsole, GenerateConsoleCtrlEvent, HPCON,
    SetConsoleCtrlHandler,
};
use windows_sys::Win32::System::IO::{OVERLAPPED, OVERLAPPED_0, OVERLAPPED_0_0};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, IsProcessInJob, JOB_OBJECT_LIMIT_ACTIVE_PROCESS,
    JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION, JOB_OBJECT_LIMIT_JOB_MEMORY,
    JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, JOB_OBJECT_LIMIT_PROCESS_MEMORY,
    JOBOBJECT_BASIC_ACCOUNTING_INFORMATION, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
    JobObjectBasicAccountingInformation, JobObjectExtendedLimitInformation, QueryInformationJobObject,
    SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{
    CREATE_SUSPENDED, CREATE_UNICODE_ENVIRONMENT, CreateEventW, CreateProcessW,
    DeleteProcThreadAttributeList, EXTENDED_STARTUPINFO_PRESENT, GetCurrentProcess, GetExitCodeProcess,
    INFINITE, InitializeProcThreadAttributeList, LPPROC_THREAD_ATTRIBUTE_LIST, OpenProcess,
    PROC_THREAD_ATTRIBUTE_HANDLE_LIST, PROC_THREAD_ATTRIBUTE_JOB_LIST, PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE,
    PROCESS_INFORMATION, PROCESS_SYNCHRONIZE, ResumeThread, STARTF_USESTDHANDLES, STARTUPINFOEXW, SetEvent,
    TerminateProcess, UpdateProcThreadAttribute, WaitForMultipleObjects,
};

use super::pseudo_console::PseudoConsole;

/// How a process may be made.
pub(super) use windows_sys::Win32::System::Threading::{
    CREATE_BREAKAWAY_FROM_JOB, CREATE_NO_WINDOW, DETACHED_PROCESS,
};

/// The exit code of what ends at Ctrl-Break or Ctrl-C: `STATUS_CONTROL_C_EXIT`.
pub(super) const INTERRUPTED: u32 = 0xc000_013a;

/// Where the lock of a file lies: behind all that it will ever hold.
const LOCKED: OVERLAPPED_0_0 = OVERLAPPED_0_0 { Offset: 0, OffsetHigh: 0x4000_0000 };
/// How long what is typed may take to come back to who typed it.
const MAX_HEARING: Duration = Duration::from_millis(200);
/// The exit code of what is killed.
const KILLED: u32 = 1;

fn last() -> io::Error {
    io::Error::last_os_error()
}

fn done(code: i32) -> io::Result<()> {
    if code == 0 { Err(last()) } else { Ok(()) }
}

fn bytes_of<T>() -> u32 {
    u32::try_from(size_of::<T>()).unwrap_or(0)
}

fn at_lock() -> OVERLAPPED {
    OVERLAPPED { Anonymous: OVERLAPPED_0 { Anonymous: LOCKED }, ..OVERLAPPED::default() }
}

fn take_lock(file: BorrowedHandle<'_>, flags: u32) -> io::Result<()> {
    let mut place = at_lock();
    // SAFETY: the handle is open and not for overlapped use, so that the place is not needed after the call.
    done(unsafe { LockFileEx(file.as_raw_handle(), flags, 0, 1, 0, &raw mut place) })
}

/// Takes the lock of a file for this process alone. Waits for those that only look whether it is taken.
pub(in super::super) fn lock(file: BorrowedHandle<'_>) -> io::Result<()> {
    take_lock(file, LOCKFILE_EXCLUSIVE_LOCK)
}

/// Returns whether another handle has the lock of a file.
pub(in super::super) fn is_locked(file: BorrowedHandle<'_>) -> io::Result<bool> {
    match take_lock(file, LOCKFILE_FAIL_IMMEDIATELY) {
        Ok(()) => {
            let mut place = at_lock();
            // SAFETY: as above; the lock was taken just now.
            done(unsafe { UnlockFileEx(file.as_raw_handle(), 0, 1, 0, &raw mut place) }).map(|()| false)
        }
        Err(error) => {
            let held = [ERROR_LOCK_VIOLATION, ERROR_IO_PENDING].map(|code| Some(code.cast_signed()));
            if held.contains(&error.raw_os_error()) { Ok(true) } else { Err(error) }
        }
    }
}

/// Something that is set once, and stays so.
#[derive(Debug)]
pub(super) struct Event(OwnedHandle);

impl Event {
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: no attributes and no name are given.
        let event = unsafe { CreateEventW(null(), 1, 0, null()) };
        if event.is_null() {
            return Err(last());
        }
        // SAFETY: the call succeeded, so the handle is open and nobody else has it.
        Ok(Self(unsafe { OwnedHandle::from_raw_handle(event) }))
    }

    pub(super) fn set(&self) {
        // SAFETY: the handle is that of an event, and open.
        unsafe { SetEvent(self.0.as_raw_handle()) };
    }

    pub(super) fn as_handle(&self) -> BorrowedHandle<'_> {
        self.0.as_handle()
    }
}

/// Waits until one of a few things is set or has ended. Returns which; none when the time was over.
pub(super) fn wait(things: &[BorrowedHandle<'_>], time: Option<Duration>) -> io::Result<Option<usize>> {
    let handles: Vec<HANDLE> = things.iter().map(AsRawHandle::as_raw_handle).collect();
    let count = u32::try_from(handles.len()).unwrap_or(u32::MAX);
    // A part of a millisecond counts as one, so that nobody asks again and again.
    let milliseconds = time.map_or(INFINITE, |time| {
        u32::try_from(time.as_micros().div_ceil(1000)).map_or(INFINITE - 1, |time| time.min(INFINITE - 1))
    });
    // SAFETY: all handles are open, and as many are given as are told.
    let told = unsafe { WaitForMultipleObjects(count, handles.as_ptr(), 0, milliseconds) };
    match told {
        WAIT_TIMEOUT => Ok(None),
        WAIT_FAILED => Err(last()),
        other => Ok(Some(usize::try_from(other - WAIT_OBJECT_0).unwrap_or(0))),
    }
}

/// Reads the table of what listens, of one family, as numbers of 32 bits: how many rows, then the rows.
fn table_of_listeners(family: u16) -> io::Result<Vec<u32>> {
    let mut table = vec![0_u32; 1 << 10];
    // It may grow between two calls.
    for _ in 0..8 {
        let mut bytes = u32::try_from(table.len() * size_of::<u32>()).unwrap_or(u32::MAX);
        // SAFETY: no more is written than the buffer is long, which the call is told.
        let code = unsafe {
            GetExtendedTcpTable(
                table.as_mut_ptr().cast(),
                &raw mut bytes,
                0,
                u32::from(family),
                TCP_TABLE_OWNER_PID_LISTENER,
                0,
            )
        };
        match code {
            0 => return Ok(table),
            ERROR_INSUFFICIENT_BUFFER => {
                table.resize(usize::try_from(bytes).unwrap_or(0) / size_of::<u32>() + 256, 0);
            }
            other => return Err(io::Error::from_raw_os_error(other.cast_signed())),
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// Returns the TCP ports at which something of this computer listens.
pub(super) fn listening_ports() -> io::Result<Vec<u16>> {
    /// Numbers of 32 bits in a row, and which of them is the local port.
    const FOUR: (usize, usize) = (size_of::<MIB_TCPROW_OWNER_PID>() / 4, 2);
    const SIX: (usize, usize) = (size_of::<MIB_TCP6ROW_OWNER_PID>() / 4, 5);
    let mut ports = Vec::new();
    for (family, (words, place)) in [(AF_INET, FOUR), (AF_INET6, SIX)] {
        let table = match table_of_listeners(family) {
            Ok(table) => table,
            // A computer may have no IPv6.
            Err(_) if family == AF_INET6 => break,
            Err(error) => return Err(error),
        };
        let (count, rows) = table.split_first().unwrap_or((&0, &[]));
        let rows = rows.chunks_exact(words).take(usize::try_from(*count).unwrap_or(0));
        // The lower half has the port, with its bytes in the order of the network.
        ports.extend(
            rows.map(|row| u16::from_be_bytes([row[place].to_le_bytes()[0], row[place].to_le_bytes()[1]])),
        );
    }
    Ok(ports)
}

/// What a job and each of its processes may use up.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct JobLimits {
    pub(super) memory_bytes: Option<u64>,
    pub(super) job_memory_bytes: Option<u64>,
    pub(super) processes: Option<u64>,
}

/// A job of the system: whatever its processes start belongs to it too. When the last handle closes, all are killed.
#[derive(Debug)]
pub(super) struct JobObject(OwnedHandle);

impl JobObject {
    pub(super) fn new(limits: JobLimits) -> io::Result<Self> {
        // SAFETY: no attributes and no name are given.
        let made = unsafe { CreateJobObjectW(null(), null()) };
        if made.is_null() {
            return Err(last());
        }
        // SAFETY: the call succeeded, so the handle is open and nobody else has it.
        let job = Self(unsafe { OwnedHandle::from_raw_handle(made) });
        let mut told = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        let basic = &mut told.BasicLimitInformation;
        basic.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
        if let Some(processes) = limits.processes {
            basic.LimitFlags |= JOB_OBJECT_LIMIT_ACTIVE_PROCESS;
            basic.ActiveProcessLimit = u32::try_from(processes).unwrap_or(u32::MAX);
        }
        if let Some(bytes) = limits.memory_bytes {
            basic.LimitFlags |= JOB_OBJECT_LIMIT_PROCESS_MEMORY;
            told.ProcessMemoryLimit = usize::try_from(bytes).unwrap_or(usize::MAX);
        }
        if let Some(bytes) = limits.job_memory_bytes {
            basic.LimitFlags |= JOB_OBJECT_LIMIT_JOB_MEMORY;
            told.JobMemoryLimit = usize::try_from(bytes).unwrap_or(usize::MAX);
        }
        // SAFETY: the structure is the one that the class asks for, and lives until the call is over.
        done(unsafe {
            SetInformationJobObject(
                job.0.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                (&raw const told).cast(),
                bytes_of::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>(),
            )
        })?;
        Ok(job)
    }

    /// Kills all processes of the job.
    pub(super) fn terminate(&self) {
        // SAFETY: the handle is that of a job, and open.
        unsafe { TerminateJobObject(self.0.as_raw_handle(), KILLED) };
    }

    /// Counts the processes that the job has now.
    pub(super) fn active(&self) -> io::Result<u32> {
        let mut told = JOBOBJECT_BASIC_ACCOUNTING_INFORMATION::default();
        // SAFETY: the structure is the one that the class asks for, and no more is written than it is long.
        done(unsafe {
            QueryInformationJobObject(
                self.0.as_raw_handle(),
                JobObjectBasicAccountingInformation,
                (&raw mut told).cast(),
                bytes_of::<JOBOBJECT_BASIC_ACCOUNTING_INFORMATION>(),
                null_mut(),
            )
        })?;
        Ok(told.ActiveProcesses)
    }

    /// Puts a process into the job that does not run yet, unless it was made in it.
    fn take_in(&self, process: &OwnedHandle) -> io::Result<()> {
        let mut is_in = 0;
        // SAFETY: both handles are open; the pointer is to a flag.
        let told = unsafe { IsProcessInJob(process.as_raw_handle(), self.0.as_raw_handle(), &raw mut is_in) };
        if told != 0 && is_in != 0 {
            return Ok(());
        }
        // SAFETY: both handles are open.
        done(unsafe { AssignProcessToJobObject(self.0.as_raw_handle(), process.as_raw_handle()) })
    }
}

/// What is to be known of a process that is made. All texts end with a zero.
#[derive(Debug)]
pub(super) struct ProcessSpec<'a> {
    pub(super) program: &'a [u16],
    pub(super) command_line: Vec<u16>,
    pub(super) environment: &'a [u16],
    pub(super) folder: &'a [u16],
    /// Standard input, output and error. Of all handles of this process it gets copies of these alone. What is none is its
    /// console's.
    pub(super) streams: [Option<BorrowedHandle<'a>>; 3],
    /// The console that it is started in, instead of this process's.
    pub(super) console: Option<&'a PseudoConsole>,
    /// The job that it belongs to from its first instruction on.
    pub(super) job: Option<&'a JobObject>,
    /// Further flags.
    pub(super) flags: u32,
}

/// A process that was made.
#[derive(Debug)]
pub(super) struct NewProcess {
    pub(super) process: OwnedHandle,
    pub(super) id: u32,
}

/// The list of attributes that a process is made with. What it points to must live as long as it.
struct Attributes {
    room: Vec<usize>,
}

impl Attributes {
    fn new(count: u32) -> io::Result<Self> {
        let mut bytes = 0;
        // SAFETY: without a list the call only shows how long one is.
        unsafe { InitializeProcThreadAttributeList(null_mut(), count, 0, &raw mut bytes) };
        let mut room = vec![0_usize; bytes.div_ceil(size_of::<usize>()).max(1)];
        // SAFETY: the list has as many bytes as were asked for, with the alignment of pointers.
        done(unsafe {
            InitializeProcThreadAttributeList(room.as_mut_ptr().cast(), count, 0, &raw mut bytes)
        })?;
        Ok(Self { room })
    }

    fn list(&mut self) -> LPPROC_THREAD_ATTRIBUTE_LIST {
        self.room.as_mut_ptr().cast()
    }

    /// # Safety
    /// The handles must be where they are until the list is dropped.
    unsafe fn set(&mut self, attribute: u32, handles: &[HANDLE]) -> io::Result<()> {
        // SAFETY: what it is to point to stays, as the caller sees to.
        unsafe { self.set_value(attribute, handles.as_ptr().cast(), size_of_val(handles)) }
    }

    /// # Safety
    /// The console must not be closed until the list is dropped.
    unsafe fn set_console(&mut self, console: HPCON) -> io::Result<()> {
        // The value is the handle itself, not a place that has it.
        let value = std::ptr::without_provenance(console.cast_unsigned());
        // SAFETY: it stays open, as the caller sees to.
        unsafe { self.set_value(PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE, value, size_of::<HPCON>()) }
    }

    /// # Safety
    /// The value must be of the attribute's kind, and good until the list is dropped.
    unsafe fn set_value(&mut self, attribute: u32, value: *const c_void, bytes: usize) -> io::Result<()> {
        let list = self.list();
        // SAFETY: the list is a good one; what it is to point to stays, as the caller sees to.
        done(unsafe {
            UpdateProcThreadAttribute(list, 0, attribute as usize, value, bytes, null_mut(), null())
        })
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        let list = self.list();
        // SAFETY: the list was made by the call that belongs to this one.
        unsafe { DeleteProcThreadAttributeList(list) };
    }
}

/// Creates a copy of a handle that a new process can be given.
fn inheritable(handle: BorrowedHandle<'_>) -> io::Result<OwnedHandle> {
    let mut copy: HANDLE = null_mut();
    // SAFETY: the handle is open, both processes are this one, and the pointer is to a handle.
    done(unsafe {
        let this = GetCurrentProcess();
        DuplicateHandle(this, handle.as_raw_handle(), this, &raw mut copy, 0, 1, DUPLICATE_SAME_ACCESS)
    })?;
    // SAFETY: the call succeeded, so the handle is open and nobody else has it.
    Ok(unsafe { OwnedHandle::from_raw_handle(copy) })
}

/// Creates a process, which runs when this returns.
pub(super) fn make(making: ProcessSpec<'_>) -> io::Result<NewProcess> {
    let ProcessSpec { program, mut command_line, environment, folder, streams, console, job, flags } = making;
    let all_end = [program, &command_line, environment, folder].iter().all(|text| text.last() == Some(&0));
    // The block of variables ends with an empty one.
    if !all_end || !environment.ends_with(&[0, 0]) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let [first, second, third] = streams.map(|stream| stream.map(inheritable).transpose());
    let copies = [first?, second?, third?];
    let given: Vec<HANDLE> = copies.iter().flatten().map(AsRawHandle::as_raw_handle).collect();
    let jobs = job.map(|job| [job.0.as_raw_handle()]);
    let console = console.map(PseudoConsole::open);
    let mut attributes = Attributes::new(3)?;
    // SAFETY: both lists of handles are where they are until after the attributes are dropped, and the console is kept open
    // as long.
    unsafe {
        if !given.is_empty() {
            attributes.set(PROC_THREAD_ATTRIBUTE_HANDLE_LIST, &given)?;
        }
        if let Some(console) = &console {
            attributes.set_console(console.number()?)?;
        }
        if let Some(jobs) = &jobs {
            // Where the system does not know it, it is put into the job before it runs.
            let _: io::Result<()> = attributes.set(PROC_THREAD_ATTRIBUTE_JOB_LIST, jobs);
        }
    }
    let mut start = STARTUPINFOEXW::default();
    start.StartupInfo.cb = bytes_of::<STARTUPINFOEXW>();
    start.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
    // Without that flag it would get copies of this process's, console or not. Those of its console stand for nulls.
    let handle = |at: usize| copies[at].as_ref().map_or(null_mut(), AsRawHandle::as_raw_handle);
    [start.StartupInfo.hStdInput, start.StartupInfo.hStdOutput, start.StartupInfo.hStdError] =
        [0, 1, 2].map(handle);
    start.lpAttributeList = attributes.list();
    let mut told = PROCESS_INFORMATION::default();
    let flags = flags | CREATE_SUSPENDED | CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT;
    // SAFETY: all texts end with a zero and live until the call is over, as the attributes do; the command line may be
    // written to.
    done(unsafe {
        CreateProcessW(
            program.as_ptr(),
            command_line.as_mut_ptr(),
            null(),
            null(),
            i32::from(!given.is_empty()),
            flags,
            environment.as_ptr().cast(),
            folder.as_ptr(),
            (&raw const start).cast(),
            &raw mut told,
        )
    })?;
    // SAFETY: the call succeeded, so both handles are open and nobody else has them.
    let (process, thread) =
        unsafe { (OwnedHandle::from_raw_handle(told.hProcess), OwnedHandle::from_raw_handle(told.hThread)) };
    let running = job.map_or(Ok(()), |job| job.take_in(&process)).and_then(|()| {
        // SAFETY: the handle is that of the new process's thread.
        match unsafe { ResumeThread(thread.as_raw_handle()) } {
            u32::MAX => Err(last()),
            _ => Ok(()),
        }
    });
    if let Err(error) = running {
        // SAFETY: the handle is that of the new process, which has not run.
        unsafe { TerminateProcess(process.as_raw_handle(), KILLED) };
        return Err(error);
    }
    Ok(NewProcess { process, id: told.dwProcessId })
}

/// Returns the exit code of a process that has ended.
pub(super) fn exit_code(process: BorrowedHandle<'_>) -> io::Result<u32> {
    let mut code = 0;
    // SAFETY: the handle is that of a process; the pointer is to a number.
    done(unsafe { GetExitCodeProcess(process.as_raw_handle(), &raw mut code) })?;
    Ok(code)
}

/// Opens a process to wait for its end.
pub(super) fn open_process(id: u32) -> io::Result<OwnedHandle> {
    // SAFETY: the call takes numbers only.
    let opened = unsafe { OpenProcess(PROCESS_SYNCHRONIZE, 0, id) };
    if opened.is_null() {
        return Err(last());
    }
    // SAFETY: the call succeeded, so the handle is open and nobody else has it.
    Ok(unsafe { OwnedHandle::from_raw_handle(opened) })
}

/// Whether the console has told this process to end.
static HAS_HEARD: AtomicBool = AtomicBool::new(false);

/// Stays as it is whatever the console says.
unsafe extern "system" fn stay(_: u32) -> i32 {
    HAS_HEARD.store(true, Ordering::Release);
    1
}

/// What can be typed at a console to ask its programs to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConsoleKey {
    /// Ctrl-C, which programs may be deaf to.
    Interrupt,
    /// Ctrl-Break.
    Break,
}

/// Has the programs that this process starts hear Ctrl-C, whatever it was started with: what they do is handed down.
pub(super) fn hear_ctrl_c() {
    // SAFETY: the call takes no function.
    unsafe { SetConsoleCtrlHandler(None, 0) };
}

/// Types something at the console of a process, which all that share the console get, this process too. It loses the console
/// that it has, and ends with what comes before it has a handler there: for a process that does nothing else.
///
/// # Source
/// learn.microsoft.com/windows/console/setconsolectrlhandler: attaching and leaving take away all handlers, and these
/// are called on a thread of their own.
pub(super) fn type_at(process_id: u32, typed: ConsoleKey) -> io::Result<()> {
    HAS_HEARD.store(false, Ordering::Release);
    let event = match typed {
        ConsoleKey::Interrupt => CTRL_C_EVENT,
        ConsoleKey::Break => CTRL_BREAK_EVENT,
    };
    // SAFETY: the calls take numbers, and a function that lives as long as the program.
    let typed = unsafe {
        FreeConsole();
        done(AttachConsole(process_id))?;
        done(SetConsoleCtrlHandler(Some(stay), 1)).and_then(|()| done(GenerateConsoleCtrlEvent(event, 0)))
    };
    let began = Instant::now();
    while typed.is_ok() && !HAS_HEARD.load(Ordering::Acquire) && began.elapsed() < MAX_HEARING {
        std::thread::sleep(Duration::from_millis(1));
    }
    // SAFETY: the call takes nothing.
    unsafe { FreeConsole() };
    typed
}
