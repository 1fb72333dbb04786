//! The service's side of a start: another process of this program, which is told what to keep.

use std::fs::OpenOptions;
use std::os::windows::io::{AsHandle, OwnedHandle};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::super::opened::{Folder, step};
use super::super::{role, sys};
use crate::fs::create_private_dir;
use crate::launch::kept::{Input, KeeperRequest, Lifetime};
use crate::launch::wire::{KEEP, KeeperOrder, MAX_MESSAGE_BYTES, Order, Reader, Report, WireError, Writer};
use crate::launch::{ActiveSandbox, LaunchError, pipe};

/// How long a keeper may take to start its program, or to say why not.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// What a keeper is told beside its order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct KeeperSetup {
    /// The folder of the process.
    pub(super) folder: PathBuf,
    /// The number of the service, whose end is the process's; none if it outlives the service.
    pub(super) service: Option<u32>,
}

impl KeeperSetup {
    fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.path(&self.folder);
        out.option(self.service.map(u64::from));
        out.finish()
    }

    /// Decodes the body of such a message.
    pub(super) fn decode(body: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader(body);
        let folder = reader.path()?;
        let service = reader.option()?.map(u32::try_from).transpose().map_err(|_| WireError)?;
        Ok(Self { folder, service })
    }
}

/// Starts a keeper. Its first pipeline runs when this returns. Dropping the future before kills what was started.
pub(in super::super) async fn start(
    program: &Path,
    request: KeeperRequest,
) -> Result<ActiveSandbox, LaunchError> {
    create_private_dir(&request.folder).map_err(|error| step("folder of the process", error))?;
    // Until the keeper has it open itself, nobody can put another in its place.
    let _folder = Folder::hold(&request.cwd_path, &request.cwd)?;
    let is_durable = request.lifetime == Lifetime::Durable;
    let place = KeeperSetup {
        folder: request.folder,
        service: if is_durable { None } else { Some(std::process::id()) },
    };
    let order = Order {
        plan: request.plan,
        environment: request.environment,
        cwd_path: request.cwd_path,
        hold: request.hold,
        limits: request.limits,
        pins: Vec::new(),
        kept: Some(KeeperOrder {
            has_input: request.input == Input::Pipe,
            terminal: request.terminal,
            ring_bytes: request.ring_bytes,
            is_durable,
            max_time_ms: u64::try_from(request.max_time.as_millis()).unwrap_or(u64::MAX),
            temporary: request.temporary,
        }),
    };
    let failed = |error: std::io::Error| LaunchError::Launcher(error.to_string());
    let (orders, mut told) = pipe::to_program().map_err(failed)?;
    let (mut says, reports) = pipe::from_program().map_err(failed)?;
    begin(program, [&orders, &reports]).map_err(failed)?;
    drop((orders, reports));
    let started = async {
        // Where it is gone already, its report says why, or the end of reports does.
        let _ = told.write_all(&[place.encode(), order.encode()].concat()).await;
        let held = match report(&mut says).await? {
            Report::Failed(error) => return Err(error),
            report => report.held().ok_or(LaunchError::Lost)?,
        };
        told.write_all(&[KEEP]).await.map_err(|_| LaunchError::Lost)?;
        Ok(held)
    };
    tokio::time::timeout(MAX_WAIT, started)
        .await
        .unwrap_or_else(|_| Err(LaunchError::Launcher("the keeper does not answer".to_owned())))
}

/// Starts the keeper, which reads orders from one handle and reports to the other.
fn begin(program: &Path, [orders, reports]: [&OwnedHandle; 2]) -> std::io::Result<()> {
    let nothing = OwnedHandle::from(OpenOptions::new().write(true).open(r"\\.\NUL")?);
    let streams = || [orders.as_handle(), nothing.as_handle(), reports.as_handle()];
    let flags = sys::DETACHED_PROCESS;
    // What started the service may have put it into a job that ends with it.
    match role::start(program, role::KEEP, streams(), flags | sys::CREATE_BREAKAWAY_FROM_JOB) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            role::start(program, role::KEEP, streams(), flags).map(drop)
        }
        other => other.map(drop),
    }
}

async fn report(says: &mut pipe::Receiver) -> Result<Report, LaunchError> {
    let lost = |_| LaunchError::Launcher("the keeper ended early".to_owned());
    let mut length = [0; 8];
    says.read_exact(&mut length).await.map_err(lost)?;
    let length =
        usize::try_from(u64::from_le_bytes(length)).ok().filter(|length| *length <= MAX_MESSAGE_BYTES);
    let mut body = vec![0; length.ok_or(LaunchError::Lost)?];
    says.read_exact(&mut body).await.map_err(lost)?;
    Report::decode(&body).map_err(|_| LaunchError::Lost)
}
