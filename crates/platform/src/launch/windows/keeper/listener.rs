//! Who speaks to the keeper: the pipe at which it listens, and a task for each connection.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::windows::named_pipe::{NamedPipeServer, ServerOptions};
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::task::JoinSet;

use super::connection::serve;
use crate::launch::kept::line::pipe_name;
use crate::launch::kept::message::{Answer, MAX_CONNECTIONS, Request};
use crate::launch::kept::status::Key;
use crate::windows::private_pipe;

/// How long callers may take to hear that all is over.
const MAX_FAREWELL: Duration = Duration::from_secs(1);

/// A request with the place for its answer.
#[derive(Debug)]
pub(super) struct PendingRequest {
    pub(super) request: Request,
    pub(super) answer: oneshot::Sender<Answer>,
}

/// What watchers are told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// The position after the last byte.
    pub(super) end: u64,
    pub(super) has_ended: bool,
}

/// The door of a keeper.
#[derive(Debug)]
pub(super) struct KeeperListener {
    progress: watch::Sender<Progress>,
    /// Until it is shut: what lets callers in, and how it is told to stop.
    open: Option<(tokio::task::JoinHandle<JoinSet<()>>, oneshot::Sender<()>)>,
    /// The connections that were there when it was shut.
    connections: JoinSet<()>,
}

impl KeeperListener {
    /// Opens it. Requests are heard at the other end.
    pub(super) fn open(key: Key) -> io::Result<(Self, mpsc::Receiver<PendingRequest>)> {
        let first = ServerOptions::new().first_pipe_instance(true).reject_remote_clients(true).to_owned();
        let next = private_pipe(&first, &pipe_name(&key))?;
        let (ask, asked) = mpsc::channel(1);
        let (progress, watched) = watch::channel(Progress::default());
        let (close, closed) = oneshot::channel();
        let tasks = tokio::spawn(accept(next, key, ask, watched, closed));
        Ok((Self { progress, open: Some((tasks, close)), connections: JoinSet::new() }, asked))
    }

    /// Tells watchers how much there is.
    pub(super) fn tell(&self, end: u64) {
        self.progress.send_if_modified(|progress| {
            let is_news = progress.end < end;
            progress.end = end;
            is_news
        });
    }

    /// Lets nobody in any more.
    pub(super) async fn shut(&mut self) {
        if let Some((tasks, close)) = self.open.take() {
            drop(close);
            self.connections = tasks.await.unwrap_or_default();
        }
    }

    /// Tells watchers that all is over, and waits until they have heard it, though not for long.
    pub(super) async fn finish(mut self, end: u64) {
        self.progress.send_replace(Progress { end, has_ended: true });
        let farewell = async { while self.connections.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(MAX_FAREWELL, farewell).await;
    }
}

async fn accept(
    mut next: NamedPipeServer,
    key: Key,
    ask: mpsc::Sender<PendingRequest>,
    watched: watch::Receiver<Progress>,
    mut closed: oneshot::Receiver<()>,
) -> JoinSet<()> {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let called = async {
            let place = Arc::clone(&room).acquire_owned().await;
            (place, next.connect().await)
        };
        let (place, connected) = tokio::select! {
            called = called => called,
            _ = &mut closed => return connections,
        };
        let further = ServerOptions::new().reject_remote_clients(true).to_owned();
        // Anyone who calls while there is no other end waits, and tries again.
        let Ok(another) = private_pipe(&further, &pipe_name(&key)) else { return connections };
        let taken = std::mem::replace(&mut next, another);
        if let (Ok(place), Ok(())) = (place, connected) {
            let (ask, watched) = (ask.clone(), watched.clone());
            connections.spawn(async move {
                serve(taken, key, ask, watched).await;
                drop(place);
            });
        }
        while connections.try_join_next().is_some() {}
    }
}
