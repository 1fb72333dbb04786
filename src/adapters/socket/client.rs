//! The other side of the local socket: one connection, many requests in flight.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use bailiwick_contract::{Envelope, ErrorCode, Failure, Progress, Reply};
use bailiwick_platform::local_socket::{self, ReadHalf, WriteHalf};

use super::super::backend::{Origin, went_away};
use super::super::lines::{Line, LineReader};
use super::frame::{Answer, Hello, PROTOCOL, Request, SocketLine, line};
use crate::scope_setup::offer::Offer;

/// The longest answer that is read: results have images at most, which the service bounds.
const MAX_ANSWER_BYTES: usize = 256 << 20;
/// How long the service may take to say welcome.
const WELCOME_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a cancelled request is waited for.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(2);

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// No service answers.
    #[error("no service answers: {0}")]
    Io(#[from] io::Error),
    /// The service refuses the caller.
    #[error("{0}")]
    Refused(Failure),
}

/// A connection to a running service. Dropping it cancels what is in flight.
#[derive(Debug)]
pub struct Client {
    asks: mpsc::UnboundedSender<Vec<u8>>,
    waiting: Arc<PendingCalls>,
    next_id: AtomicU64,
    stop: CancellationToken,
}

/// The requests in flight; `None` when the connection has ended.
type PendingCalls = Mutex<Option<HashMap<u64, PendingCall>>>;

/// One request in flight.
#[derive(Debug)]
struct PendingCall {
    answer: oneshot::Sender<Answer>,
    progress: Option<Progress>,
}

/// Connects to the service that holds the socket.
///
/// # Errors
/// When no service of this user answers, or it refuses the caller.
pub async fn connect(path: &Path, hello: &Hello) -> Result<Client, ConnectError> {
    let (input, mut output) = local_socket::split(local_socket::connect(path).await?);
    let mut lines = LineReader::new(input, MAX_ANSWER_BYTES);
    let welcome = async {
        output.write_all(&line(&SocketLine::Hello(hello.clone()))).await?;
        match lines.next().await? {
            Line::Text(text) => serde_json::from_slice(text).map_err(io::Error::other),
            Line::TooLong | Line::End => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
        }
    };
    match tokio::time::timeout(WELCOME_TIMEOUT, welcome).await {
        Ok(Ok(Answer::Welcome { protocol: PROTOCOL, .. })) => {}
        Ok(Ok(Answer::Refused(failure))) => return Err(ConnectError::Refused(failure.into())),
        Ok(Ok(_)) => return Err(io::Error::from(io::ErrorKind::InvalidData).into()),
        Ok(Err(error)) => return Err(error.into()),
        Err(_) => return Err(io::Error::from(io::ErrorKind::TimedOut).into()),
    }
    let (asks, queue) = mpsc::unbounded_channel();
    let waiting: Arc<PendingCalls> = Arc::new(Mutex::new(Some(HashMap::new())));
    let stop = CancellationToken::new();
    tokio::spawn(write_asks(output, queue));
    tokio::spawn(read_answers(lines, Arc::clone(&waiting), stop.clone()));
    Ok(Client { asks, waiting, next_id: AtomicU64::new(1), stop })
}

impl Client {
    /// Returns whether the connection still stands, as far as is known.
    pub fn is_alive(&self) -> bool {
        lock(&self.waiting).is_some()
    }

    /// Hands in one request and gives the reply.
    ///
    /// # Errors
    /// `provider_unavailable` when the service went away, `cancelled` when it did not answer a
    /// cancelled request.
    pub async fn submit(
        &self,
        origin: &Origin,
        envelope: &Result<Envelope, Failure>,
        gone: &CancellationToken,
    ) -> Result<Reply, Failure> {
        self.submit_told(origin, envelope, gone, None).await
    }

    /// As [`Client::submit`]; what the operation says about itself comes to be on `progress`.
    ///
    /// # Errors
    /// As [`Client::submit`].
    pub async fn submit_told(
        &self,
        origin: &Origin,
        envelope: &Result<Envelope, Failure>,
        gone: &CancellationToken,
        told: Option<&Progress>,
    ) -> Result<Reply, Failure> {
        let progress = told.is_some();
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (client, session) = (origin.client.clone(), origin.session.clone());
        let request = match envelope {
            Ok(envelope) => {
                let envelope = serde_json::to_value(envelope).expect("an envelope has a JSON form");
                Request { id, envelope: Some(envelope), failure: None, client, session, progress }
            }
            Err(failure) => Request {
                id,
                envelope: None,
                failure: Some(failure.clone().into()),
                client,
                session,
                progress,
            },
        };
        let mut answer = self.ask(id, &SocketLine::Request(request), told)?;
        let mut unanswered = CancelOnDrop { asks: Some(&self.asks), id };
        let received = tokio::select! {
            received = &mut answer => received,
            () = gone.cancelled() => {
                self.send(&SocketLine::Cancel { id })?;
                match tokio::time::timeout(CANCEL_TIMEOUT, &mut answer).await {
                    Ok(received) => received,
                    Err(_) => return Err(Failure::new(ErrorCode::Cancelled, "the request was cancelled")),
                }
            }
        };
        unanswered.asks = None;
        match received {
            Ok(Answer::Outcome { ok, outcome, images, .. }) => {
                Ok(Reply { ok, text: String::from(Box::<str>::from(outcome)), images })
            }
            Ok(_) | Err(_) => Err(went_away()),
        }
    }

    /// Asks what is open to the caller.
    ///
    /// # Errors
    /// `provider_unavailable` when the service went away.
    pub async fn offer(&self) -> Result<Offer, Failure> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        match self.ask(id, &SocketLine::Offer { id }, None)?.await {
            Ok(Answer::Offer { offer, .. }) => Ok(offer),
            Ok(_) | Err(_) => Err(went_away()),
        }
    }

    fn ask(
        &self,
        id: u64,
        ask: &SocketLine,
        progress: Option<&Progress>,
    ) -> Result<oneshot::Receiver<Answer>, Failure> {
        let (answer, receiver) = oneshot::channel();
        let awaited = PendingCall { answer, progress: progress.cloned() };
        lock(&self.waiting).as_mut().ok_or_else(went_away)?.insert(id, awaited);
        self.send(ask)?;
        Ok(receiver)
    }

    fn send(&self, ask: &SocketLine) -> Result<(), Failure> {
        self.asks.send(line(ask)).map_err(|_| went_away())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Cancels a request whose answer is no longer awaited.
struct CancelOnDrop<'a> {
    /// `None` once there is nothing to cancel.
    asks: Option<&'a mpsc::UnboundedSender<Vec<u8>>>,
    id: u64,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(asks) = self.asks {
            // If the connection is gone the service has cancelled it already.
            let _ = asks.send(line(&SocketLine::Cancel { id: self.id }));
        }
    }
}

fn lock(waiting: &PendingCalls) -> std::sync::MutexGuard<'_, Option<HashMap<u64, PendingCall>>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn write_asks(mut output: WriteHalf, mut queue: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(line) = queue.recv().await {
        if output.write_all(&line).await.is_err() {
            return;
        }
    }
}

async fn read_answers(mut lines: LineReader<ReadHalf>, waiting: Arc<PendingCalls>, stop: CancellationToken) {
    loop {
        let line = tokio::select! {
            line = lines.next() => line,
            () = stop.cancelled() => break,
        };
        let Ok(Line::Text(text)) = line else { break };
        let Ok(answer) = serde_json::from_slice::<Answer>(text) else { break };
        let id = match &answer {
            Answer::Progress { id, said } => {
                let waiting = lock(&waiting);
                let awaited = waiting.as_ref().and_then(|waiting| waiting.get(id));
                if let Some(progress) = awaited.and_then(|awaited| awaited.progress.as_ref()) {
                    progress.say(said.as_str());
                }
                continue;
            }
            Answer::Outcome { id, .. } | Answer::Offer { id, .. } => *id,
            Answer::Welcome { .. } | Answer::Refused(_) | Answer::Problem { .. } => continue,
        };
        let awaited = lock(&waiting).as_mut().and_then(|waiting| waiting.remove(&id));
        if let Some(awaited) = awaited {
            // Anyone who asked may have stopped waiting.
            let _ = awaited.answer.send(answer);
        }
    }
    // Dropping the senders tells those who wait.
    *lock(&waiting) = None;
}
