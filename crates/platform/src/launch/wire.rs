//! How the service and a supervisor speak: one order, then reports, over the job's control socket.
//!
//! Both ends are the same binary, so there is no version. Lengths are checked all the same.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::kept::TerminalSize;
use super::kept::ring::RingPosition;
use super::layers::{Names, layer, open};
use super::{
    ActiveSandbox, FolderChanges, HiddenPath, InnerSandboxes, LaunchCommand, LaunchError, MemoryExcess,
    PathGrant, ProcessLimits, ProtectedPath, SandboxRequest, SetGroupId, StandIn, Step,
};
use crate::fs::FileId;
use crate::names::{OsStrExt, OsStringExt};
use bailiwick_contract::command::{Containment, Joiner, Network, Redirect};

/// The longest message, in bytes: more than any argv and environment that the kernel takes.
pub(super) const MAX_MESSAGE_BYTES: usize = 32 << 20;

/// What the service sends to the supervisor to stop, before the milliseconds of grace.
pub(super) const STOP: u8 = 1;

/// What the service sends to a keeper that has reported that the plan runs: it is to continue on its own.
pub(super) const KEEP: u8 = 2;

/// What the service sends to a supervisor to make a process that lasts of its job, before the length of an [`Adoption`].
pub(super) const ADOPT: u8 = 3;

/// What a supervisor is to do: a request without its descriptors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) plan: Vec<Step>,
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) cwd_path: PathBuf,
    pub(super) hold: SandboxRequest,
    pub(super) limits: ProcessLimits,
    /// What `hold.protected` comes to, in the order of mounting.
    pub(super) pins: Vec<Pin>,
    /// What is to be done for a process that lasts.
    pub(super) kept: Option<KeeperOrder>,
}

/// A path that is mounted over itself, so that it cannot be renamed, removed or replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pin {
    /// The absolute path; no part of it beneath the root is a link.
    pub(super) path: PathBuf,
    /// Whether what is below it cannot be changed either.
    pub(super) read_only: bool,
    /// What is made there before, where what the plan writes is discarded.
    pub(super) stand_in: Option<StandIn>,
}

impl Pin {
    /// Creates one of what is there.
    pub(super) const fn of(path: PathBuf, read_only: bool) -> Self {
        Self { path, read_only, stand_in: None }
    }
}

/// What a supervisor says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Report {
    /// The first pipeline runs; what holds it, as bits of [`super::layers`]'s tables.
    Running { level: Containment, network: Network, degraded: bool, layers: u32, open: u32 },
    /// A step failed; nothing of the plan is left.
    Failed(LaunchError),
    /// The plan ended; nothing of it is left.
    Ended {
        exit_code: Option<i32>,
        signal: Option<i32>,
        left_killed: u32,
        memory_excess: Option<MemoryExcess>,
    },
    /// The supervisor is a keeper now, with this number outside of its namespace.
    Adopted { process_id: u32 },
}

impl Report {
    /// Returns what holds a plan that runs.
    pub(super) fn held(&self) -> Option<ActiveSandbox> {
        let Self::Running { level, network, degraded, layers, open } = *self else { return None };
        let (layers, open) = (Names(layers).show(layer::NAMES), Names(open).show(open::NAMES));
        Some(ActiveSandbox { level, network, degraded, layers, open })
    }
}

/// A message that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WireError;

pub(super) const fn level_code(level: Containment) -> u8 {
    match level {
        Containment::None => 0,
        Containment::Partial => 1,
        Containment::Full => 2,
    }
}

pub(super) const fn network_code(network: Network) -> u8 {
    match network {
        Network::None => 0,
        Network::Loopback => 1,
        Network::Full => 2,
        Network::Hosts => 3,
    }
}

/// What the launcher itself must know of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) level: Containment,
    pub(super) network: Network,
    /// Which loopback interface, if not one of its own.
    pub(super) network_group: Option<String>,
    pub(super) kind: Kind,
    /// What becomes of what it writes. With a port for it, if that is discarded.
    pub(super) changes: FolderChanges,
    /// The names of the placeholders that a keeper leaves to the launcher to remove. Parent and lock of each are
    /// the last of the descriptors.
    pub(super) placeholders: Vec<PathBuf>,
}

/// Which descriptors come with a job, after its control socket and its working folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Standard output and error.
    Job,
    /// These, and standard input.
    JobWithInput,
    /// Status, folder of the process, listener, and what the order says.
    Kept,
    /// None: this supervisor is a keeper now, and only its placeholders come.
    Adopted(u32),
}

/// The longest head, in bytes.
pub(super) const MAX_HEAD_BYTES: usize = 32 << 10;

/// The most descriptors that can come with a job: the most that the system hands over at once.
pub(super) const MAX_HANDED: usize = 253;

impl Head {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.byte(level_code(self.level));
        out.byte(network_code(self.network));
        out.byte(match self.kind {
            Kind::Job => 0,
            Kind::JobWithInput => 1,
            Kind::Kept => 2,
            Kind::Adopted(_) => 3,
        });
        out.option(match self.kind {
            Kind::Adopted(process_id) => Some(u64::from(process_id)),
            Kind::Job | Kind::JobWithInput | Kind::Kept => None,
        });
        out.byte(u8::from(self.changes == FolderChanges::Discarded));
        out.list(self.network_group.as_slice(), |out, group| out.bytes(group.as_bytes()));
        out.list(&self.placeholders, |out, name| out.path(name));
        out.finish()
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader(bytes);
        if usize::try_from(reader.long()?) != Ok(bytes.len() - 8) {
            return Err(WireError);
        }
        Ok(Self {
            level: reader.level()?,
            network: reader.network()?,
            kind: match (reader.byte()?, reader.option()?) {
                (0, None) => Kind::Job,
                (1, None) => Kind::JobWithInput,
                (2, None) => Kind::Kept,
                (3, Some(process_id)) => Kind::Adopted(u32::try_from(process_id).map_err(|_| WireError)?),
                _ => return Err(WireError),
            },
            changes: reader.changes()?,
            network_group: reader.list(Reader::string)?.pop(),
            placeholders: reader.list(Reader::path)?,
        })
    }
}

/// What a keeper is to do beside running the plan.
///
/// Its descriptors come in this order: the pipe that shows the service's end if it is not `is_durable`, the
/// parent of `temporary` if there is one, then those of the placeholders, which are held and not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeeperOrder {
    pub(super) has_input: bool,
    pub(super) terminal: Option<TerminalSize>,
    pub(super) ring_bytes: u64,
    pub(super) is_durable: bool,
    pub(super) max_time_ms: u64,
    /// The name of the folder that is removed at the end.
    pub(super) temporary: Option<PathBuf>,
}

impl KeeperOrder {
    fn encode(&self, out: &mut Writer) {
        out.byte(u8::from(self.has_input));
        out.option(self.terminal.map(|size| u64::from(size.rows) << 16 | u64::from(size.columns)));
        out.long(self.ring_bytes);
        out.byte(u8::from(self.is_durable));
        out.long(self.max_time_ms);
        out.list(self.temporary.as_slice(), |out, name| out.path(name));
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let half = |value: u64| u16::try_from(value).map_err(|_| WireError);
        Ok(Self {
            has_input: reader.flag()?,
            terminal: match reader.option()? {
                None => None,
                Some(size) => Some(TerminalSize { rows: half(size >> 16)?, columns: half(size & 0xffff)? }),
            },
            ring_bytes: reader.long()?,
            is_durable: reader.flag()?,
            max_time_ms: reader.long()?,
            temporary: reader.list(Reader::path)?.pop(),
        })
    }
}

/// What makes a process that lasts of a running job.
///
/// Its descriptors come in this order: the ends of the pipes for standard output and error that are read, status,
/// folder of the process, listener, then those of `kept`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Adoption {
    pub(super) kept: KeeperOrder,
    /// Where the ring is that was begun.
    pub(super) ring: RingPosition,
}

impl Adoption {
    /// Encodes it, its length first.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new();
        self.kept.encode(&mut out);
        let RingPosition { active, offset, generation, stdout_bytes, stderr_bytes, lost_bytes } = self.ring;
        out.option(active.map(|active| active as u64));
        for number in [offset, generation, stdout_bytes, stderr_bytes, lost_bytes] {
            out.long(number);
        }
        out.finish()
    }

    /// Decodes its body.
    pub(super) fn decode(body: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader(body);
        Ok(Self {
            kept: KeeperOrder::decode(&mut reader)?,
            ring: RingPosition {
                active: match reader.option()? {
                    None => None,
                    Some(0) => Some(0),
                    Some(1) => Some(1),
                    Some(_) => return Err(WireError),
                },
                offset: reader.long()?,
                generation: reader.long()?,
                stdout_bytes: reader.long()?,
                stderr_bytes: reader.long()?,
                lost_bytes: reader.long()?,
            },
        })
    }
}

impl Order {
    /// Encodes the order, its length first.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.list(&self.plan, |out, step| {
            out.byte(match step.joiner {
                None => 0,
                Some(Joiner::And) => 1,
                Some(Joiner::Or) => 2,
                Some(Joiner::Then) => 3,
            });
            out.list(&step.commands, |out, command| {
                out.path(&command.program);
                out.identity(command.identity);
                out.list(&command.argv, |out, word| out.bytes(word.as_bytes()));
                out.list(&command.redirects, |out, redirect| out.byte(redirect_code(*redirect)));
            });
        });
        out.list(&self.environment, |out, (name, value)| {
            out.bytes(name.as_bytes());
            out.bytes(value.as_bytes());
        });
        out.path(&self.cwd_path);
        out.byte(level_code(self.hold.level));
        out.byte(network_code(self.hold.network));
        for grants in [&self.hold.read_only, &self.hold.read_write] {
            out.list(grants, Writer::grant);
        }
        out.list(&self.hold.protected, |out, protected| {
            out.path(&protected.path);
            out.stand_in(&protected.stand_in);
        });
        out.byte(u8::from(self.hold.lacks_protected));
        out.list(&self.hold.closed, |out, closed| {
            out.path(&closed.path);
            out.byte(u8::from(closed.reads_blank));
        });
        out.byte(u8::from(self.hold.lacks_closed));
        out.grant(&self.hold.home);
        out.byte(u8::from(self.hold.inner == InnerSandboxes::Allowed));
        out.byte(u8::from(self.hold.set_group_id == SetGroupId::Allowed));
        out.byte(u8::from(self.hold.changes == FolderChanges::Discarded));
        out.list(self.hold.network_group.as_slice(), |out, group| out.bytes(group.as_bytes()));
        out.option(self.limits.memory_bytes);
        out.option(self.limits.job_memory_bytes);
        out.option(self.limits.processes);
        out.option(self.limits.file_bytes);
        out.long(self.limits.open_files);
        out.list(&self.pins, |out, pin| {
            out.path(&pin.path);
            out.byte(u8::from(pin.read_only));
            out.list(pin.stand_in.as_slice(), Writer::stand_in);
        });
        out.list(self.kept.as_slice(), |out, kept| kept.encode(out));
        out.finish()
    }

    /// Decodes the body of an order.
    pub(super) fn decode(body: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader(body);
        let plan = reader.list(|reader| {
            let joiner = match reader.byte()? {
                0 => None,
                1 => Some(Joiner::And),
                2 => Some(Joiner::Or),
                3 => Some(Joiner::Then),
                _ => return Err(WireError),
            };
            let commands = reader.list(|reader| {
                Ok(LaunchCommand {
                    program: reader.path()?,
                    identity: reader.identity()?,
                    argv: reader.list(Reader::text)?,
                    redirects: reader.list(Reader::redirect)?,
                })
            })?;
            Ok(Step { joiner, commands })
        })?;
        Ok(Self {
            plan,
            environment: reader.list(|reader| Ok((reader.text()?, reader.text()?)))?,
            cwd_path: reader.path()?,
            hold: SandboxRequest {
                level: reader.level()?,
                network: reader.network()?,
                read_only: reader.list(Reader::grant)?,
                read_write: reader.list(Reader::grant)?,
                protected: reader.list(|reader| {
                    Ok(ProtectedPath { path: reader.path()?, stand_in: reader.stand_in()? })
                })?,
                lacks_protected: reader.flag()?,
                closed: reader
                    .list(|reader| Ok(HiddenPath { path: reader.path()?, reads_blank: reader.flag()? }))?,
                lacks_closed: reader.flag()?,
                home: reader.grant()?,
                inner: if reader.flag()? { InnerSandboxes::Allowed } else { InnerSandboxes::Refused },
                set_group_id: if reader.flag()? { SetGroupId::Allowed } else { SetGroupId::Refused },
                changes: reader.changes()?,
                network_group: reader.list(Reader::string)?.pop(),
            },
            limits: ProcessLimits {
                memory_bytes: reader.option()?,
                job_memory_bytes: reader.option()?,
                processes: reader.option()?,
                file_bytes: reader.option()?,
                open_files: reader.long()?,
            },
            pins: reader.list(|reader| {
                let (path, read_only) = (reader.path()?, reader.flag()?);
                Ok(Pin { path, read_only, stand_in: reader.list(Reader::stand_in)?.pop() })
            })?,
            kept: reader.list(KeeperOrder::decode)?.pop(),
        })
    }
}

impl Report {
    /// Encodes the report, its length first.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new();
        match self {
            Self::Running { level, network, degraded, layers, open } => {
                out.byte(0);
                out.byte(level_code(*level));
                out.byte(network_code(*network));
                out.byte(u8::from(*degraded));
                out.long(u64::from(*layers));
                out.long(u64::from(*open));
            }
            Self::Failed(error) => {
                out.byte(1);
                match error {
                    LaunchError::ProgramChanged(path) => {
                        out.byte(0);
                        out.path(path);
                    }
                    LaunchError::Step { step, reason } => {
                        out.byte(1);
                        out.bytes(step.as_bytes());
                        out.bytes(reason.as_bytes());
                    }
                    other => {
                        out.byte(1);
                        out.bytes(b"supervisor");
                        out.bytes(other.to_string().as_bytes());
                    }
                }
            }
            Self::Ended { exit_code, signal, left_killed, memory_excess } => {
                out.byte(2);
                out.option(exit_code.map(|code| u64::from(code.cast_unsigned())));
                out.option(signal.map(|signal| u64::from(signal.cast_unsigned())));
                out.long(u64::from(*left_killed));
                out.memory_excess(*memory_excess);
            }
            Self::Adopted { process_id } => {
                out.byte(3);
                out.long(u64::from(*process_id));
            }
        }
        out.finish()
    }

    /// Decodes the body of a report.
    pub(super) fn decode(body: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader(body);
        Ok(match reader.byte()? {
            0 => Self::Running {
                level: reader.level()?,
                network: reader.network()?,
                degraded: reader.flag()?,
                layers: reader.short()?,
                open: reader.short()?,
            },
            1 => Self::Failed(match reader.byte()? {
                0 => LaunchError::ProgramChanged(reader.path()?),
                1 => LaunchError::Step {
                    step: reader.text()?.to_string_lossy().into_owned(),
                    reason: reader.text()?.to_string_lossy().into_owned(),
                },
                _ => return Err(WireError),
            }),
            2 => {
                let mut number = || reader.option()?.map(u32::try_from).transpose().map_err(|_| WireError);
                let (exit_code, signal) = (number()?, number()?);
                Self::Ended {
                    exit_code: exit_code.map(u32::cast_signed),
                    signal: signal.map(u32::cast_signed),
                    left_killed: reader.short()?,
                    memory_excess: reader.memory_excess()?,
                }
            }
            3 => Self::Adopted { process_id: reader.short()? },
            _ => return Err(WireError),
        })
    }
}

const fn redirect_code(redirect: Redirect) -> u8 {
    match redirect {
        Redirect::StdinFromNull => 0,
        Redirect::StdoutToNull => 1,
        Redirect::StderrToNull => 2,
        Redirect::StderrToStdout => 3,
        Redirect::StdoutToStderr => 4,
    }
}

/// Puts a message together, its length first.
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn new() -> Self {
        Self(vec![0; 8])
    }

    pub(super) fn byte(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(super) fn long(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn memory_excess(&mut self, value: Option<MemoryExcess>) {
        self.option(value.map(|excess| excess.taken));
        self.long(value.map_or(0, |excess| excess.limit));
    }

    pub(super) fn option(&mut self, value: Option<u64>) {
        self.byte(u8::from(value.is_some()));
        self.long(value.unwrap_or(0));
    }

    pub(super) fn bytes(&mut self, value: &[u8]) {
        self.long(value.len() as u64);
        self.0.extend_from_slice(value);
    }

    pub(super) fn path(&mut self, value: &Path) {
        self.bytes(value.as_os_str().as_bytes());
    }

    fn identity(&mut self, value: FileId) {
        self.long(value.device);
        self.long(value.inode);
    }

    fn stand_in(&mut self, value: &StandIn) {
        match value {
            StandIn::Folder => self.byte(0),
            StandIn::File(content) => {
                self.byte(1);
                self.bytes(content);
            }
        }
    }

    fn grant(&mut self, value: &PathGrant) {
        self.path(&value.path);
        self.identity(value.identity);
    }

    pub(super) fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.long(items.len() as u64);
        for item in items {
            each(self, item);
        }
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        let length = (self.0.len() - 8) as u64;
        self.0[..8].copy_from_slice(&length.to_le_bytes());
        self.0
    }
}

/// Takes a message apart.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn memory_excess(&mut self) -> Result<Option<MemoryExcess>, WireError> {
        let (taken, limit) = (self.option()?, self.long()?);
        Ok(taken.map(|taken| MemoryExcess { limit, taken }))
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], WireError> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(WireError)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8, WireError> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn flag(&mut self) -> Result<bool, WireError> {
        Ok(self.byte()? != 0)
    }

    pub(super) fn long(&mut self) -> Result<u64, WireError> {
        Ok(u64::from_le_bytes(self.take(8)?.try_into().map_err(|_| WireError)?))
    }

    pub(super) fn short(&mut self) -> Result<u32, WireError> {
        u32::try_from(self.long()?).map_err(|_| WireError)
    }

    pub(super) fn length(&mut self) -> Result<usize, WireError> {
        // Every item takes at least a byte, so that no length can ask for more memory than was sent.
        usize::try_from(self.long()?).ok().filter(|length| *length <= self.0.len()).ok_or(WireError)
    }

    pub(super) fn option(&mut self) -> Result<Option<u64>, WireError> {
        let some = self.flag()?;
        let value = self.long()?;
        Ok(some.then_some(value))
    }

    pub(super) fn text(&mut self) -> Result<OsString, WireError> {
        let length = self.length()?;
        Ok(OsString::from_vec(self.take(length)?.to_vec()))
    }

    fn string(&mut self) -> Result<String, WireError> {
        self.text()?.into_string().map_err(|_| WireError)
    }

    pub(super) fn path(&mut self) -> Result<PathBuf, WireError> {
        let length = self.length()?;
        Ok(PathBuf::from(OsStr::from_bytes(self.take(length)?)))
    }

    fn changes(&mut self) -> Result<FolderChanges, WireError> {
        Ok(if self.flag()? { FolderChanges::Discarded } else { FolderChanges::Lasting })
    }

    fn identity(&mut self) -> Result<FileId, WireError> {
        Ok(FileId { device: self.long()?, inode: self.long()? })
    }

    fn stand_in(&mut self) -> Result<StandIn, WireError> {
        match self.byte()? {
            0 => Ok(StandIn::Folder),
            1 => Ok(StandIn::File(self.text()?.into_vec().into())),
            _ => Err(WireError),
        }
    }

    fn grant(&mut self) -> Result<PathGrant, WireError> {
        Ok(PathGrant { path: self.path()?, identity: self.identity()? })
    }

    pub(super) fn list<T>(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<T, WireError>,
    ) -> Result<Vec<T>, WireError> {
        let length = self.length()?;
        (0..length).map(|_| each(self)).collect()
    }

    pub(super) fn level(&mut self) -> Result<Containment, WireError> {
        match self.byte()? {
            0 => Ok(Containment::None),
            1 => Ok(Containment::Partial),
            2 => Ok(Containment::Full),
            _ => Err(WireError),
        }
    }

    pub(super) fn network(&mut self) -> Result<Network, WireError> {
        match self.byte()? {
            0 => Ok(Network::None),
            1 => Ok(Network::Loopback),
            2 => Ok(Network::Full),
            3 => Ok(Network::Hosts),
            _ => Err(WireError),
        }
    }

    pub(super) fn redirect(&mut self) -> Result<Redirect, WireError> {
        Ok(match self.byte()? {
            0 => Redirect::StdinFromNull,
            1 => Redirect::StdoutToNull,
            2 => Redirect::StderrToNull,
            3 => Redirect::StderrToStdout,
            4 => Redirect::StdoutToStderr,
            _ => return Err(WireError),
        })
    }
}

#[cfg(test)]
mod tests;
