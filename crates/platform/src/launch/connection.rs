//! The connection to the launcher process: one socket, over which jobs are handed in.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use tokio::net::UnixStream;

use super::protect::{Placeholders, protect};
use super::wire::{Head, Kind, Order};
use super::{FolderChanges, LAUNCHER_NAME, LaunchError, LaunchRequest, handing};
use bailiwick_contract::command::{Containment, Network};

/// How long a launcher may take to accept a job before it counts as stuck.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// How many files the launcher has to be able to open: it keeps those of the system open that every sandbox has, and would end
/// at its start with fewer, or lack some of them without a word.
const NEEDED_OPEN_FILES: u64 = 256;

/// What the launcher is handed for a job, beside its control socket.
#[derive(Debug)]
pub(super) struct Parcel {
    pub(super) head: Head,
    pub(super) descriptors: Vec<OwnedFd>,
}

/// A running launcher. Dropping it ends the launcher as soon as it has no keeper to look after, but neither
/// jobs nor keepers.
#[derive(Debug)]
pub(super) struct Connection {
    /// None once it is dropped.
    socket: Option<OwnedFd>,
    process: Option<Child>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        // By this it learns that nothing will come any more. The jobs' supervisors continue; each looks at its own
        // control socket.
        drop(self.socket.take());
        if let Some(mut process) = self.process.take()
            && !matches!(process.try_wait(), Ok(Some(_)))
        {
            // It stays as long as its keepers do.
            std::thread::spawn(move || process.wait());
        }
    }
}

/// Takes a request apart, into what is written and what is handed over.
pub(super) fn split(request: LaunchRequest) -> Result<(Order, Parcel, Placeholders), LaunchError> {
    let LaunchRequest { plan, environment, cwd, cwd_path, hold, port, limits, stdin, stdout, stderr } =
        request;
    let (pins, placeholders) = match hold.level {
        Containment::Full => protect(&hold)?,
        _ => (Vec::new(), Placeholders::default()),
    };
    let kind = if stdin.is_some() { Kind::JobWithInput } else { Kind::Job };
    let head = Head {
        level: hold.level,
        network: hold.network,
        network_group: hold.network_group.clone(),
        kind,
        changes: hold.changes,
        placeholders: Vec::new(),
    };
    let order = Order { plan, environment, cwd_path, hold, limits, pins, kept: None };
    let descriptors = [cwd].into_iter().chain(port).chain([stdout, stderr]).chain(stdin).collect();
    Ok((order, Parcel { head, descriptors }, placeholders))
}

impl Connection {
    /// Hands a job to the launcher, which is started where there is none, or where it is gone.
    pub(super) async fn send(
        slot: &mut Option<Self>,
        program: &Path,
        parcel: &Parcel,
        also: &[BorrowedFd<'_>],
    ) -> Result<UnixStream, LaunchError> {
        let failed = |error: Errno| LaunchError::Launcher(error.to_string());
        let (ours, theirs) = handing::pair().map_err(failed)?;
        if let Some(connection) = slot
            && connection.hand_in(&theirs, parcel, also).await.is_err()
        {
            *slot = None;
        }
        if slot.is_none() {
            let connection = slot.insert(Self::start(program)?);
            connection.hand_in(&theirs, parcel, also).await.map_err(failed)?;
        }
        let ours = std::os::unix::net::UnixStream::from(ours);
        ours.set_nonblocking(true)
            .and_then(|()| UnixStream::from_std(ours))
            .map_err(|error| LaunchError::Launcher(error.to_string()))
    }

    pub(super) fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(Child::id)
    }

    #[expect(clippy::disallowed_methods, reason = "the launcher is this program itself")]
    fn start(program: &Path) -> Result<Self, LaunchError> {
        let limit = getrlimit(Resource::Nofile).maximum;
        if let Some(limit) = limit.filter(|limit| *limit < NEEDED_OPEN_FILES) {
            return Err(LaunchError::Step {
                step: "open-files".to_owned(),
                reason: format!(
                    "a process may open {limit} files here, and a sandbox needs {NEEDED_OPEN_FILES}"
                ),
            });
        }
        let (ours, theirs) =
            handing::launcher_pair().map_err(|error| LaunchError::Launcher(error.to_string()))?;
        let process = Command::new(program)
            .arg0(LAUNCHER_NAME)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| LaunchError::Launcher(format!("it cannot be started: {error}")))?;
        Ok(Self { socket: Some(ours), process: Some(process) })
    }

    async fn hand_in(
        &self,
        control: &OwnedFd,
        parcel: &Parcel,
        also: &[BorrowedFd<'_>],
    ) -> Result<(), Errno> {
        let handed: Vec<BorrowedFd<'_>> = [control]
            .into_iter()
            .chain(&parcel.descriptors)
            .map(AsFd::as_fd)
            .chain(also.iter().copied())
            .collect();
        self.say(&parcel.head, &handed).await
    }

    /// Leaves to the launcher what a supervisor needs that is a keeper now.
    pub(super) async fn adopt(&self, process_id: u32, placeholders: &Placeholders) -> Result<(), Errno> {
        let head = Head {
            level: Containment::None,
            network: Network::None,
            network_group: None,
            kind: Kind::Adopted(process_id),
            changes: FolderChanges::Lasting,
            placeholders: placeholders.names(),
        };
        self.say(&head, &placeholders.descriptors().collect::<Vec<_>>()).await
    }

    /// Sends a head with descriptors.
    async fn say(&self, head: &Head, handed: &[BorrowedFd<'_>]) -> Result<(), Errno> {
        let socket = self.socket.as_ref().ok_or(Errno::NOTCONN)?;
        let head = head.encode();
        let started = tokio::time::Instant::now();
        let mut sent = 0;
        while sent < head.len() {
            // What is handed over goes with the first bytes.
            let handed = if sent == 0 { handed } else { &[] };
            match handing::send(socket, &head[sent..], handed) {
                Ok(length) => sent += length,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN | Errno::NOBUFS) if started.elapsed() < MAX_WAIT => {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
