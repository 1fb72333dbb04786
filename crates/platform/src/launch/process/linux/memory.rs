//! How much memory the processes of a job take together.
//!
//! First a sum that costs little and is never too small, since it counts what processes share for each of them. Only where
//! that is more than the limit, the kernel is asked for what is shared by how many.

use std::collections::HashSet;

use rustix::fs::{AtFlags, MemfdFlags, Mode, OFlags, fstat, memfd_create, open, statat, statvfs};
use rustix::process::{Pid, getpid};

use super::descendants::{Reach, numbers_in, read_small};

/// The unit of the field `st_blocks`.
const BLOCK_BYTES: u64 = 512;

/// Measures the memory of one job: of its processes, of the files that it has in memory, and what of it was swapped out.
#[derive(Debug, Default)]
pub(in super::super) struct JobMemory {
    /// What all processes of the computer shared when the job began.
    shared_before: u64,
}

/// What one process takes, by kinds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Memory {
    /// Its own, and what was swapped out.
    own: u64,
    /// What can be shared with others: parts of files that are in memory alone.
    shared: u64,
}

impl JobMemory {
    /// Whether this system can tell.
    pub(in super::super) const IS_MEASURED: bool = true;

    /// Begins with a job that has taken nothing so far.
    pub(in super::super) fn start() -> Self {
        Self { shared_before: shared_by_all() }
    }

    /// Returns how much the job takes now, in bytes; where that is no more than the limit, it may be less.
    pub(in super::super) fn measure(&self, reach: &Reach, limit: u64) -> u64 {
        let processes = reach.processes();
        let files = files_of_tree(*reach);
        let grown = shared_by_all().saturating_sub(self.shared_before);
        let read = |process: &Pid| status_of(*process).unwrap_or_default();
        let sum = processes.iter().map(read).fold(Memory::default(), Memory::with);
        let at_most = sum.own.saturating_add(sum.shared).saturating_add(files).saturating_add(grown);
        if at_most <= limit { at_most } else { shared_out(&processes, files, grown) }
    }
}

impl Memory {
    const fn with(self, other: Self) -> Self {
        Self { own: self.own.saturating_add(other.own), shared: self.shared.saturating_add(other.shared) }
    }
}

/// Returns what processes take together, each its part of what it shares.
///
/// A file that is in memory alone may be seen twice: by its name or handle, and as part of a process. How much the shared
/// memory of the computer has grown since says how much of both is the same.
fn shared_out(processes: &[Pid], files: u64, grown: u64) -> u64 {
    let mut mapped = Memory::default();
    let mut handles = HandleFiles::new();
    let mut is_hidden = false;
    for process in processes {
        match parts_of(*process) {
            Some(parts) => mapped = mapped.with(parts),
            None => {
                // It keeps its memory from others, or has ended.
                let own = status_of(*process).map(|sum| Memory { shared: 0, ..sum });
                is_hidden |= own.is_some();
                mapped = mapped.with(own.unwrap_or_default());
            }
        }
        handles.add(*process);
    }
    let stored = files.saturating_add(handles.bytes).saturating_add(unattached());
    let (least, most) = (stored.max(mapped.shared), stored.saturating_add(mapped.shared));
    let shared = grown.clamp(least, if is_hidden { u64::MAX } else { most });
    mapped.own.saturating_add(shared)
}

/// Reads what a process takes from its status.
///
/// # Source
/// proc_pid_status(5): "RssAnon", "RssShmem", "VmSwap", in kB.
fn status_of(process: Pid) -> Option<Memory> {
    let text = read_small(&format!("/proc/{}/status", process.as_raw_nonzero()))?;
    let field = |name| kilobytes(&text, name);
    Some(Memory { own: field("RssAnon:") + field("VmSwap:"), shared: field("RssShmem:") })
}

/// Reads what a process takes, with its part of what it shares.
///
/// # Source
/// Documentation/filesystems/proc.rst: "smaps_rollup"; since Linux 5.3 with "Pss_Anon" and "Pss_Shmem".
fn parts_of(process: Pid) -> Option<Memory> {
    let text = read_small(&format!("/proc/{}/smaps_rollup", process.as_raw_nonzero()))?;
    text.contains("\nPss_Anon:").then_some(())?;
    let field = |name| kilobytes(&text, name);
    Some(Memory { own: field("Pss_Anon:") + field("SwapPss:"), shared: field("Pss_Shmem:") })
}

fn kilobytes(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|rest| rest.trim().trim_end_matches("kB").trim_end().parse::<u64>().ok());
    number.unwrap_or(0).saturating_mul(1024)
}

/// Returns what the job has in files of its own tree, which is in memory.
fn files_of_tree(reach: Reach) -> u64 {
    if reach != Reach::Namespace {
        return 0;
    }
    statvfs("/")
        .map_or(0, |facts| facts.f_blocks.saturating_sub(facts.f_bfree).saturating_mul(facts.f_frsize))
}

/// Returns how much memory all processes of the computer share.
fn shared_by_all() -> u64 {
    let facts = rustix::system::sysinfo();
    (facts.sharedram as u64).saturating_mul(u64::from(facts.mem_unit))
}

/// Files in memory that have no name, and are there as long as somebody has a handle.
struct HandleFiles {
    /// The file system of all of them.
    device: Option<u64>,
    seen: HashSet<u64>,
    bytes: u64,
}

impl HandleFiles {
    fn new() -> Self {
        let made = memfd_create("bailiwick", MemfdFlags::CLOEXEC).and_then(fstat);
        Self { device: made.ok().map(|facts| facts.st_dev), seen: HashSet::new(), bytes: 0 }
    }

    fn add(&mut self, process: Pid) {
        let folder = format!("/proc/{}/fd", process.as_raw_nonzero());
        let Some(device) = self.device else { return };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(opened) = open(&folder, flags, Mode::empty()) else { return };
        let Ok(entries) = rustix::fs::Dir::read_from(&opened) else { return };
        for entry in entries.flatten() {
            let Ok(facts) = statat(&opened, entry.file_name(), AtFlags::empty()) else { continue };
            if facts.st_dev == device && self.seen.insert(facts.st_ino) {
                let blocks = u64::try_from(facts.st_blocks).unwrap_or(0);
                self.bytes = self.bytes.saturating_add(blocks.saturating_mul(BLOCK_BYTES));
            }
        }
    }
}

/// Returns how much of the job's System V memory no process has attached. At the levels where it is not the job's own, there is
/// nothing to count: it is refused, or the user's.
///
/// # Source
/// ipc/shm.c, `sysvipc_shm_proc_show`: the seventh column is the number of processes, the 15th and 16th what is in memory
/// and what is swapped out.
fn unattached() -> u64 {
    if !getpid().is_init() {
        return 0;
    }
    let text = read_small("/proc/sysvipc/shm").unwrap_or_default();
    let bytes = text.lines().skip(1).map(|line| {
        let columns: Vec<&str> = line.split_ascii_whitespace().collect();
        let number = |at: usize| columns.get(at).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        if number(6) == 0 { number(14).saturating_add(number(15)) } else { 0 }
    });
    bytes.fold(0, u64::saturating_add)
}

impl Reach {
    /// Returns the processes of the job, without this one.
    fn processes(self) -> Vec<Pid> {
        match self {
            Self::Namespace => {
                numbers_in("/proc").into_iter().filter(|process| *process != getpid()).collect()
            }
            Self::Below => self.below(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_process_takes_is_read_in_both_ways() {
        let block = vec![1_u8; 32 << 20];
        let (sum, parts) = (status_of(getpid()).expect("read"), parts_of(getpid()).expect("read"));
        assert!(sum.own >= 32 << 20 && parts.own >= 32 << 20, "{sum:?} {parts:?}");
        drop(block);
    }

    #[test]
    fn a_file_without_a_name_is_counted_once() {
        let file = memfd_create("test", MemfdFlags::CLOEXEC).expect("made");
        let second = rustix::io::fcntl_dupfd_cloexec(&file, 3).expect("made");
        let mut files = HandleFiles::new();
        files.add(getpid());
        let before = files.bytes;
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, 8 << 20).expect("written");
        let mut files = HandleFiles::new();
        files.add(getpid());
        assert_eq!(files.bytes - before, 8 << 20);
        drop(second);
    }
}
