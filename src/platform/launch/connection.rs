//! The connection to the launcher process: one socket, over which jobs are handed in.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, sendmsg,
    socketpair,
};
use tokio::net::UnixStream;

use super::protect::{Placeholders, protect};
use super::wire::{Order, head};
use super::{LAUNCHER_NAME, LaunchError, LaunchRequest};

/// How long a launcher may take to accept a job before it counts as stuck.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// The descriptors of a request.
#[derive(Debug)]
pub(super) struct Descriptors {
    cwd: OwnedFd,
    stdin: Option<OwnedFd>,
    stdout: OwnedFd,
    stderr: OwnedFd,
}

/// A running launcher. Dropping it ends the launcher, but not its jobs.
#[derive(Debug)]
pub(super) struct Connection {
    socket: OwnedFd,
    process: Child,
}

impl Drop for Connection {
    fn drop(&mut self) {
        // The jobs' supervisors go on; each looks at its own control socket.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Takes a request apart, into what is written and what is handed over.
pub(super) fn split(request: LaunchRequest) -> Result<(Order, Descriptors, Placeholders), LaunchError> {
    let LaunchRequest { plan, environment, cwd, cwd_path, hold, limits, stdin, stdout, stderr } = request;
    let (pins, placeholders) = match hold.level {
        crate::contract::command::Containment::Full => protect(&hold)?,
        _ => (Vec::new(), Placeholders::default()),
    };
    let order = Order { plan, environment, cwd_path, hold, limits, pins };
    Ok((order, Descriptors { cwd, stdin, stdout, stderr }, placeholders))
}

impl Connection {
    /// Hands a job to the launcher, which is started where there is none, or where it is gone.
    pub(super) async fn send(
        slot: &mut Option<Self>,
        program: &Path,
        order: &Order,
        descriptors: &Descriptors,
    ) -> Result<UnixStream, LaunchError> {
        let failed = |error: Errno| LaunchError::Launcher(error.to_string());
        let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
            .map_err(failed)?;
        if let Some(connection) = slot
            && connection.hand_in(&theirs, order, descriptors).await.is_err()
        {
            *slot = None;
        }
        if slot.is_none() {
            let connection = slot.insert(Self::start(program)?);
            connection.hand_in(&theirs, order, descriptors).await.map_err(failed)?;
        }
        let ours = std::os::unix::net::UnixStream::from(ours);
        ours.set_nonblocking(true)
            .and_then(|()| UnixStream::from_std(ours))
            .map_err(|error| LaunchError::Launcher(error.to_string()))
    }

    pub(super) fn process_id(&self) -> u32 {
        self.process.id()
    }

    #[expect(clippy::disallowed_methods, reason = "the launcher is this program itself")]
    fn start(program: &Path) -> Result<Self, LaunchError> {
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .map_err(|error| LaunchError::Launcher(error.to_string()))?;
        let process = Command::new(program)
            .arg0(LAUNCHER_NAME)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| LaunchError::Launcher(format!("it cannot be started: {error}")))?;
        Ok(Self { socket: ours, process })
    }

    async fn hand_in(
        &self,
        control: &OwnedFd,
        order: &Order,
        descriptors: &Descriptors,
    ) -> Result<(), Errno> {
        let head = head(order.hold.level, order.hold.network, descriptors.stdin.is_some());
        let mut handed: Vec<BorrowedFd<'_>> = vec![
            control.as_fd(),
            descriptors.cwd.as_fd(),
            descriptors.stdout.as_fd(),
            descriptors.stderr.as_fd(),
        ];
        handed.extend(descriptors.stdin.as_ref().map(AsFd::as_fd));
        let started = tokio::time::Instant::now();
        loop {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(5))];
            let mut ancillary = SendAncillaryBuffer::new(&mut space);
            ancillary.push(SendAncillaryMessage::ScmRights(&handed));
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            match sendmsg(&self.socket, &[IoSlice::new(&head)], &mut ancillary, flags) {
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if started.elapsed() < MAX_WAIT => {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
                Err(error) => return Err(error),
            }
        }
    }
}
