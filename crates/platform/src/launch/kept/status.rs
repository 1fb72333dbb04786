//! The status block: a small file that is written whole at the start and overwritten in place.
//!
//! It has two slots, which take turns, each with a number and a checksum. So there is a whole one at any time,
//! and no room on the disk is needed to write the next. Anyone who writes it holds a lock on the file: without
//! lock and end, the writer was killed.

use std::fs::File;
use std::io;
use std::path::Path;

use subtle::ConstantTimeEq;

use super::{State, Status, TerminalSize, files};
use crate::checksum::checksum;
use crate::fs::modes::FileExt;
use crate::fs::new_private_file;
use crate::launch::layers::{Names, layer, open};
use crate::launch::wire::{Reader, WireError, Writer, level_code, network_code};
use crate::launch::{ActiveSandbox, SandboxRequest};
use bailiwick_contract::command::{Containment, Network};
use bailiwick_contract::time;

/// The name of the file in the folder of a process.
pub(in super::super) const NAME: &str = "status";

/// The bytes of a slot.
const SLOT_BYTES: usize = 384;
/// The bytes of a checksum, at the end of a slot.
const CHECKSUM_BYTES: usize = 8;
/// What a block begins with; the last digit is the version of the format.
const MAGIC: u64 = u64::from_le_bytes(*b"bwstat 1");
/// The longest text of a failure.
const MAX_FAILURE_BYTES: usize = 160;
/// How often a block is read again that was being written.
const MAX_TRIES: usize = 100;

/// What anyone who connects to the keeper must say first. It can only be read where the status can.
pub(in super::super) type Key = [u8; 16];

/// Compares two keys in the same time, wherever they differ.
pub(in super::super) fn is_same_key(one: &Key, other: &Key) -> bool {
    one.ct_eq(other).into()
}

/// A status with what only its writer and its readers know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Block {
    /// Grows with each writing.
    pub(in super::super) sequence: u64,
    pub(in super::super) key: Key,
    pub(in super::super) status: Status,
}

/// Writes the status of a process.
#[derive(Debug)]
pub struct StatusWriter {
    file: File,
    sequence: u64,
    key: Key,
}

impl StatusWriter {
    /// Creates the status file in the folder of a process, and takes its lock.
    ///
    /// # Errors
    /// Those of the file system; `AlreadyExists` if there is one.
    pub fn create(folder: &Path, status: &Status) -> io::Result<Self> {
        let file = new_private_file(&folder.join(NAME))?;
        files::lock(&file)?;
        let mut key = [0; 16];
        getrandom::fill(&mut key).map_err(io::Error::other)?;
        let mut writer = Self { file, sequence: 0, key };
        // Both slots, so that the file has its full length.
        writer.write(status)?;
        writer.write(status)?;
        Ok(writer)
    }

    /// Continues with a status file that another process made. Returns what it says.
    pub(in super::super) fn resume(file: File) -> io::Result<(Self, Block)> {
        let block = read(&file)?;
        Ok((Self { file, sequence: block.sequence, key: block.key }, block))
    }

    /// Returns whether the file has been removed, so that nobody can find it any more.
    pub(in super::super) fn is_removed(&self) -> bool {
        files::is_removed(&self.file)
    }

    /// Writes how things stand now.
    ///
    /// # Errors
    /// Those of the file system; what was written before can still be read then.
    pub fn write(&mut self, status: &Status) -> io::Result<()> {
        let sequence = self.sequence + 1;
        let slot = encode(&Block { sequence, key: self.key, status: status.clone() });
        let at = (sequence % 2) * SLOT_BYTES as u64;
        self.file.write_all_at(&slot, at)?;
        self.sequence = sequence;
        Ok(())
    }

    /// Returns the file, for another process to continue with.
    pub(in super::super) fn into_file(self) -> File {
        self.file
    }
}

/// Returns the status of a process that is being started now.
pub(in super::super) fn starting(hold: &SandboxRequest, terminal: Option<TerminalSize>) -> Status {
    let held = ActiveSandbox {
        level: hold.level,
        network: match hold.level {
            Containment::None => Network::Full,
            Containment::Partial | Containment::Full => hold.network,
        },
        degraded: hold.level != Containment::Full,
        layers: Vec::new(),
        open: Vec::new(),
    };
    Status { state: State::Starting, terminal, ..running(held, time::now_ms()) }
}

/// Returns the status of a job that runs already.
pub(in super::super) fn running(held: ActiveSandbox, started_at_ms: i64) -> Status {
    Status {
        state: State::Running,
        process_id: 0,
        started_at_ms,
        ended_at_ms: None,
        exit_code: None,
        signal: None,
        timed_out: false,
        left_killed: 0,
        memory_excess: None,
        held,
        stdout_bytes: 0,
        stderr_bytes: 0,
        end: 0,
        lost_bytes: 0,
        terminal: None,
        failure: None,
    }
}

/// Reads a status block.
pub(in super::super) fn read(file: &File) -> io::Result<Block> {
    for _ in 0..MAX_TRIES {
        let mut bytes = [0; 2 * SLOT_BYTES];
        let length = match file.read_at(&mut bytes, 0) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        let slots = bytes[..length].chunks_exact(SLOT_BYTES).filter_map(|slot| decode(slot).ok());
        if let Some(newest) = slots.max_by_key(|block| block.sequence) {
            return Ok(newest);
        }
        std::thread::yield_now();
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, "the status cannot be read"))
}

fn encode(block: &Block) -> [u8; SLOT_BYTES] {
    let status = &block.status;
    let held = &status.held;
    let mut out = Writer::new();
    out.long(MAGIC);
    out.long(block.sequence);
    out.long(u64::from_le_bytes(*block.key.first_chunk().expect("it has 16 bytes")));
    out.long(u64::from_le_bytes(*block.key.last_chunk().expect("it has 16 bytes")));
    out.byte(state_code(status.state));
    out.long(u64::from(status.process_id));
    out.long(status.started_at_ms.cast_unsigned());
    out.option(status.ended_at_ms.map(i64::cast_unsigned));
    out.option(status.exit_code.map(|code| u64::from(code.cast_unsigned())));
    out.option(status.signal.map(|signal| u64::from(signal.cast_unsigned())));
    out.byte(u8::from(status.timed_out));
    out.long(u64::from(status.left_killed));
    out.byte(level_code(held.level));
    out.byte(network_code(held.network));
    out.byte(u8::from(held.degraded));
    out.long(u64::from(Names::of(layer::NAMES, &held.layers).0));
    out.long(u64::from(Names::of(open::NAMES, &held.open).0));
    for number in [status.stdout_bytes, status.stderr_bytes, status.end, status.lost_bytes] {
        out.long(number);
    }
    let terminal = status.terminal.map(|size| u64::from(size.rows) << 16 | u64::from(size.columns));
    out.option(terminal);
    let failure = status.failure.as_deref().unwrap_or_default();
    out.byte(u8::from(status.failure.is_some()));
    out.bytes(&failure.as_bytes()[..failure.floor_char_boundary(MAX_FAILURE_BYTES)]);
    out.memory_excess(status.memory_excess);
    let bytes = out.finish();
    let mut slot = [0; SLOT_BYTES];
    slot[..bytes.len()].copy_from_slice(&bytes);
    let (content, sum) = slot.split_at_mut(SLOT_BYTES - CHECKSUM_BYTES);
    sum.copy_from_slice(&checksum(&[content]).to_le_bytes());
    slot
}

fn decode(slot: &[u8]) -> Result<Block, WireError> {
    let (content, sum) = slot.split_last_chunk::<CHECKSUM_BYTES>().ok_or(WireError)?;
    if checksum(&[content]).to_le_bytes() != *sum {
        return Err(WireError);
    }
    let (length, body) = content.split_first_chunk().ok_or(WireError)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| WireError)?;
    let mut reader = Reader(body.get(..length).ok_or(WireError)?);
    if reader.long()? != MAGIC {
        return Err(WireError);
    }
    let sequence = reader.long()?;
    let mut key = [0; 16];
    for half in key.as_chunks_mut::<8>().0 {
        *half = reader.long()?.to_le_bytes();
    }
    let state = state_of(reader.byte()?)?;
    let process_id = reader.short()?;
    let started_at_ms = reader.long()?.cast_signed();
    let ended_at_ms = reader.option()?.map(u64::cast_signed);
    let mut number = || -> Result<Option<i32>, WireError> {
        let number = reader.option()?.map(u32::try_from).transpose().map_err(|_| WireError)?;
        Ok(number.map(u32::cast_signed))
    };
    let (exit_code, signal) = (number()?, number()?);
    let timed_out = reader.flag()?;
    let left_killed = reader.short()?;
    let held = ActiveSandbox {
        level: reader.level()?,
        network: reader.network()?,
        degraded: reader.flag()?,
        layers: Names(reader.short()?).show(layer::NAMES),
        open: Names(reader.short()?).show(open::NAMES),
    };
    let [stdout_bytes, stderr_bytes, end, lost_bytes] =
        [reader.long()?, reader.long()?, reader.long()?, reader.long()?];
    let terminal = match reader.option()? {
        None => None,
        Some(size) => Some(TerminalSize {
            rows: u16::try_from(size >> 16).map_err(|_| WireError)?,
            columns: u16::try_from(size & 0xffff).map_err(|_| WireError)?,
        }),
    };
    let has_failed = reader.flag()?;
    let failure = reader.text()?.to_string_lossy().into_owned();
    // Keepers of earlier versions wrote nothing more.
    let memory_excess = if reader.is_empty() { None } else { reader.memory_excess()? };
    let status = Status {
        state,
        process_id,
        started_at_ms,
        ended_at_ms,
        exit_code,
        signal,
        timed_out,
        left_killed,
        memory_excess,
        held,
        stdout_bytes,
        stderr_bytes,
        end,
        lost_bytes,
        terminal,
        failure: has_failed.then_some(failure),
    };
    Ok(Block { sequence, key, status })
}

const fn state_code(state: State) -> u8 {
    match state {
        State::Starting => 0,
        State::Running => 1,
        State::Ended => 2,
        State::Failed => 3,
        // It is seen, never written.
        State::Lost => 4,
    }
}

const fn state_of(code: u8) -> Result<State, WireError> {
    Ok(match code {
        0 => State::Starting,
        1 => State::Running,
        2 => State::Ended,
        3 => State::Failed,
        4 => State::Lost,
        _ => return Err(WireError),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::MemoryExcess;

    fn status() -> Status {
        Status {
            state: State::Failed,
            process_id: u32::MAX,
            started_at_ms: -1,
            ended_at_ms: Some(i64::MAX),
            exit_code: Some(-1),
            signal: Some(9),
            timed_out: true,
            left_killed: u32::MAX,
            memory_excess: Some(MemoryExcess { limit: u64::MAX, taken: 1 }),
            held: ActiveSandbox {
                level: Containment::Full,
                network: Network::Loopback,
                degraded: true,
                layers: Names(u32::MAX).show(layer::NAMES),
                open: Names(u32::MAX).show(open::NAMES),
            },
            stdout_bytes: u64::MAX,
            stderr_bytes: 1,
            end: 2,
            lost_bytes: 3,
            terminal: Some(TerminalSize { rows: u16::MAX, columns: 80 }),
            failure: Some("ä".repeat(1000)),
        }
    }

    #[test]
    fn a_status_is_read_as_it_was_written_with_a_long_failure_cut() {
        let mut expected = status();
        expected.failure = Some("ä".repeat(MAX_FAILURE_BYTES / 2));
        let block = Block { sequence: 7, key: [9; 16], status: status() };
        assert_eq!(decode(&encode(&block)), Ok(Block { status: expected, ..block }));
    }

    #[test]
    fn a_slot_with_any_changed_byte_is_not_read() {
        let slot = encode(&Block { sequence: 7, key: [9; 16], status: status() });
        for at in 0..slot.len() {
            let mut changed = slot;
            changed[at] ^= 0x10;
            assert_eq!(decode(&changed), Err(WireError), "{at}");
        }
    }
}
