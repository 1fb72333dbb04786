//! The service's side of a start: the files of a process, and the handing over to a keeper.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, mkdirat};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, bind, listen};

use super::files::Folder;
use super::line::address;
use super::status::{StatusWriter, running, starting};
use super::{AdoptRequest, KeeperRequest, Lifetime, Status};
use crate::launch::connection::Parcel;
use crate::launch::flags::FOLDER;
use crate::launch::protect::{Placeholders, protect};
use crate::launch::wire::{Adoption, Head, KeeperOrder, Kind, MAX_HANDED, MAX_HEAD_BYTES, Order};
use crate::launch::{ActiveSandbox, FolderChanges, LaunchError, handing};
use bailiwick_contract::command::Containment;

/// How many callers may wait to be heard.
const BACKLOG: i32 = 64;

/// A start, with its files made.
#[derive(Debug)]
pub(in super::super) struct Start {
    pub(in super::super) order: Order,
    pub(in super::super) parcel: Parcel,
    /// What the keeper takes over once it has its descriptors.
    pub(in super::super) placeholders: Placeholders,
}

impl Start {
    /// Creates the files of a process, and takes the request apart.
    pub(in super::super) fn new(request: KeeperRequest, life: BorrowedFd<'_>) -> Result<Self, LaunchError> {
        let status = starting(&request.hold, request.terminal);
        let files = Files::make(&request.folder, &status).map_err(step("folder of the process"))?;
        let KeeperRequest { plan, environment, cwd, cwd_path, hold, proxy, limits, .. } = request;
        let (pins, placeholders) = match hold.level {
            Containment::Full => protect(&hold)?,
            Containment::None | Containment::Partial => (Vec::new(), Placeholders::default()),
        };
        let Files { status, folder, listener } = files;
        let mut descriptors: Vec<OwnedFd> =
            [cwd].into_iter().chain(proxy).chain([status, folder, listener]).collect();
        if request.lifetime == Lifetime::Service {
            descriptors.push(life.try_clone_to_owned().map_err(step("lifetime"))?);
        }
        let temporary = hand_temporary(request.temporary.as_deref(), &mut descriptors)?;
        let head = Head {
            changes: FolderChanges::Lasting,
            level: hold.level,
            network: hold.network,
            network_group: hold.network_group.clone(),
            kind: Kind::Kept,
            placeholders: placeholders.names(),
        };
        let handed = 1 + descriptors.len() + 2 * head.placeholders.len();
        if handed > MAX_HANDED || head.encode().len() > MAX_HEAD_BYTES {
            return Err(step("protect names")("there are too many names to protect that do not exist"));
        }
        let kept = KeeperOrder {
            has_input: request.input == super::Input::Pipe,
            terminal: request.terminal,
            ring_bytes: request.ring_bytes,
            is_durable: request.lifetime == Lifetime::Durable,
            max_time_ms: u64::try_from(request.max_time.as_millis()).unwrap_or(u64::MAX),
            temporary,
        };
        let order = Order { plan, environment, cwd_path, hold, limits, pins, kept: Some(kept) };
        Ok(Self { order, parcel: Parcel { head, descriptors }, placeholders })
    }

    /// Returns the descriptors that are not in the parcel.
    pub(in super::super) fn also(&self) -> Vec<BorrowedFd<'_>> {
        self.placeholders.descriptors().collect()
    }
}

/// What makes a process that lasts of a running job, with its files made.
#[derive(Debug)]
pub(in super::super) struct KeeperStart {
    pub(in super::super) message: Vec<u8>,
    /// Those that come with the message, after the two pipes.
    pub(in super::super) descriptors: Vec<OwnedFd>,
    folder: PathBuf,
}

impl KeeperStart {
    /// Creates the files of a process, beside its ring.
    pub(in super::super) fn new(
        request: &AdoptRequest<'_>,
        held: ActiveSandbox,
        life: BorrowedFd<'_>,
    ) -> Result<Self, LaunchError> {
        let mut status = running(held, request.started_at_ms);
        request.ring.count_into(&mut status);
        let files = Files::make(request.folder, &status).map_err(step("folder of the process"))?;
        let mut adopting =
            Self { message: Vec::new(), descriptors: Vec::new(), folder: request.folder.to_owned() };
        let Files { status, folder, listener } = files;
        adopting.descriptors.extend([status, folder, listener]);
        if request.lifetime == Lifetime::Service {
            adopting.descriptors.push(life.try_clone_to_owned().map_err(step("lifetime"))?);
        }
        let temporary = hand_temporary(request.temporary, &mut adopting.descriptors)
            .inspect_err(|_| adopting.remove())?;
        let kept = KeeperOrder {
            has_input: false,
            terminal: None,
            ring_bytes: request.ring_bytes,
            is_durable: request.lifetime == Lifetime::Durable,
            max_time_ms: u64::try_from(request.max_time.as_millis()).unwrap_or(u64::MAX),
            temporary,
        };
        adopting.message = Adoption { kept, ring: request.ring.position() }.encode();
        Ok(adopting)
    }

    /// Removes the files again, where there is no process.
    pub(in super::super) fn remove(&self) {
        if let Ok(folder) = Folder::open(&self.folder) {
            for name in [super::status::NAME, super::message::SOCKET_NAME] {
                // What is left is removed with the folder.
                let _ = folder.remove(name);
            }
        }
    }
}

/// Opens the folder in which a temporary folder is, for who removes that. Returns its name.
fn hand_temporary(
    temporary: Option<&Path>,
    descriptors: &mut Vec<OwnedFd>,
) -> Result<Option<PathBuf>, LaunchError> {
    let Some(path) = temporary else { return Ok(None) };
    let (parent, name) = parent(path).map_err(step("temporary folder"))?;
    descriptors.push(parent);
    Ok(Some(name))
}

fn step<E: std::fmt::Display>(step: &str) -> impl Fn(E) -> LaunchError {
    move |error| LaunchError::Step { step: step.to_owned(), reason: error.to_string() }
}

/// The folder, the status that the keeper writes, and the socket at which it listens.
struct Files {
    status: OwnedFd,
    folder: OwnedFd,
    listener: OwnedFd,
}

impl Files {
    fn make(folder: &Path, status: &Status) -> io::Result<Self> {
        match mkdirat(CWD, folder, Mode::from_raw_mode(0o700)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let status = StatusWriter::create(folder, status)?.into_file().into();
        let folder = OwnedFd::from(Folder::open(folder)?);
        Ok(Self { status, listener: listener(&folder)?, folder })
    }
}

fn listener(folder: &OwnedFd) -> io::Result<OwnedFd> {
    let socket = handing::stream(AddressFamily::UNIX)?;
    bind(&socket, &SocketAddrUnix::new(address(folder)?)?)?;
    listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// Opens the folder that a path is in. Returns it with the last name.
fn parent(path: &Path) -> io::Result<(OwnedFd, PathBuf)> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
    let (parent, name) = (path.parent().ok_or_else(invalid)?, path.file_name().ok_or_else(invalid)?);
    // Programs of the scope can put a link in its place.
    Ok((rustix::fs::open(parent, FOLDER | OFlags::NOFOLLOW, Mode::empty())?, PathBuf::from(name)))
}
