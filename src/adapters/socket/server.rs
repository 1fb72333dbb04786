//! The service's side of the local socket.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWriteExt};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use bailiwick_contract::json::check_unambiguous;
use bailiwick_contract::{Caller, Envelope, ErrorCode, Failure, Progress, Transport, id};
use bailiwick_engine::service::Service;
use bailiwick_platform::local_socket::{self, Listener, Stream, WriteHalf};

use super::super::auth::{KeyRing, Refusals};
use super::super::lines::{Line, LineReader, MAX_LINE_BYTES};
use super::frame::{Answer, Hello, PROTOCOL, Request, SocketLine, line};
use crate::scope_setup::offer::Offer;

/// How many connections are served at the same time; further ones wait.
const MAX_CONNECTIONS: usize = 128;
/// How many requests of one connection run at the same time; further lines wait.
const MAX_IN_FLIGHT: usize = 128;
/// How long a connection may take to say who it is.
const HELLO_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a client is told how far its request is, at most.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(500);
/// How long a stopping service waits for what runs.
const STOP_TIMEOUT: Duration = Duration::from_millis(1_500);

/// Serves the socket until `shutdown` is cancelled; requests in flight are cancelled then.
pub async fn serve(
    listener: Listener,
    service: Arc<Service>,
    keys: Arc<KeyRing>,
    shutdown: CancellationToken,
) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let refusals = Arc::<Refusals>::default();
    let mut connections = JoinSet::new();
    loop {
        let place = tokio::select! {
            place = Arc::clone(&places).acquire_owned() => place.expect("the semaphore is never closed"),
            () = shutdown.cancelled() => break,
        };
        let refused = |reason| {
            let (service, refusals) = (Arc::clone(&service), Arc::clone(&refusals));
            tokio::spawn(async move {
                // There is nobody to answer.
                refusals.record(&service, &Caller::unknown(Transport::Socket), None, reason).await
            });
        };
        let stream = tokio::select! {
            stream = listener.accept_or(refused) => stream,
            () = shutdown.cancelled() => break,
        };
        let Ok(stream) = stream else {
            // Out of descriptors, as a rule: wait until some connection has ended.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        let (service, keys, refusals) = (Arc::clone(&service), Arc::clone(&keys), Arc::clone(&refusals));
        let stop = shutdown.child_token();
        connections.spawn(async move {
            // A connection that breaks is over; there is nobody to tell.
            let _ = attend(stream, &service, &keys, &refusals, &stop).await;
            drop(place);
        });
    }
    // Those who take longer are dropped with the set.
    let _ =
        tokio::time::timeout(STOP_TIMEOUT, async { while connections.join_next().await.is_some() {} }).await;
}

/// Serves one connection.
async fn attend(
    stream: Stream,
    service: &Arc<Service>,
    keys: &Arc<KeyRing>,
    refusals: &Refusals,
    stop: &CancellationToken,
) -> io::Result<()> {
    let (input, mut output) = local_socket::split(stream);
    let mut lines = LineReader::new(input, MAX_LINE_BYTES);
    let hello = tokio::select! {
        hello = tokio::time::timeout(HELLO_TIMEOUT, lines.next()) => hello,
        () = stop.cancelled() => return Ok(()),
    };
    let Ok(first) = hello else { return Ok(()) };
    let connection = id::new_id();
    let caller = match admit(first?, keys) {
        Ok(caller) => Caller { connection: Some(connection.clone()), ..caller },
        Err(mut failure) => {
            let caller = Caller::unknown(Transport::Socket);
            let warnings = refusals.record(service, &caller, None, &failure.message).await;
            failure.hints.extend(warnings);
            return output.write_all(&line(&Answer::Refused(failure.into()))).await;
        }
    };
    let version = env!("CARGO_PKG_VERSION").to_owned();
    output.write_all(&line(&Answer::Welcome { protocol: PROTOCOL, version })).await?;
    service.connection_began(&connection);

    let (answers, queue) = mpsc::channel(16);
    let writer = tokio::spawn(write_all(output, queue));
    let gone = stop.child_token();
    let guest = SocketPeer {
        service: Arc::clone(service),
        caller,
        keys: Arc::clone(keys),
        answers,
        gone: gone.clone(),
        running: Arc::default(),
    };
    let result = tokio::select! {
        result = guest.listen(&mut lines) => result,
        // It said goodbye, or nobody reads the answers any more.
        () = stop.cancelled() => Ok(()),
    };
    gone.cancel();
    service.connection_ended(&connection);
    drop(guest);
    // The requests in flight give their answers back, cancelled; then the queue closes. A client that
    // does not read them is not waited for.
    let abort = writer.abort_handle();
    let _ = tokio::time::timeout(STOP_TIMEOUT, writer).await;
    abort.abort();
    result
}

/// Reads the first line and finds out on whose behalf the connection speaks.
fn admit(first: Line<'_>, keys: &KeyRing) -> Result<Caller, Failure> {
    let wrong =
        |message: &str| Failure::invalid("hello", message).hint("Use the same version on both sides.");
    let Line::Text(text) = first else { return Err(wrong("the first line is missing or too long")) };
    let Ok(SocketLine::Hello(Hello { protocol, transport, caller })) = serde_json::from_slice(text) else {
        return Err(wrong("the first line must be a hello"));
    };
    if protocol != PROTOCOL {
        return Err(wrong(&format!("protocol {protocol} is not spoken here, only {PROTOCOL}")));
    }
    if !matches!(transport, Transport::Stdio | Transport::Cli | Transport::Socket) {
        return Err(wrong("the transport must be stdio, cli or socket"));
    }
    match caller {
        None => Ok(Caller::local(transport)),
        Some(name) => keys.profile(&name, transport)?.ok_or_else(|| unknown_profile(&name)),
    }
}

/// Creates the failure for a caller name that no token has.
pub(super) fn unknown_profile(name: &str) -> Failure {
    let name: String = name.chars().take(64).collect();
    Failure::new(ErrorCode::PermissionDenied, format!("no token is named `{name}`"))
        .detail("rule", "caller")
        .hint("For the user: `bailiwick token list` shows the names.")
}

struct SocketPeer {
    service: Arc<Service>,
    /// As it was let in. What its token opens is asked for each request.
    caller: Caller,
    keys: Arc<KeyRing>,
    answers: mpsc::Sender<Vec<u8>>,
    gone: CancellationToken,
    running: Arc<Mutex<HashMap<u64, CancellationToken>>>,
}

impl SocketPeer {
    async fn listen<R: AsyncRead + Unpin>(&self, lines: &mut LineReader<R>) -> io::Result<()> {
        let turns = Arc::new(Semaphore::new(MAX_IN_FLIGHT));
        loop {
            let problem = match lines.next().await? {
                Line::End => return Ok(()),
                Line::TooLong => format!("a line has more than {MAX_LINE_BYTES} bytes"),
                Line::Text(text) => match check_unambiguous(text).and_then(|()| serde_json::from_slice(text))
                {
                    Ok(SocketLine::Request(request)) => {
                        let turn = Arc::clone(&turns);
                        let turn = turn.acquire_owned().await.expect("the semaphore is never closed");
                        let work = self.work(request);
                        tokio::spawn(async move {
                            work.await;
                            drop(turn);
                        });
                        continue;
                    }
                    Ok(SocketLine::Cancel { id }) => {
                        if let Some(token) = lock(&self.running).get(&id) {
                            token.cancel();
                        }
                        continue;
                    }
                    Ok(SocketLine::Offer { id }) => {
                        let caller = self.keys.renew(&self.caller);
                        let state = self.service.state_now().await;
                        let offer = caller.map(|caller| Offer::to(&caller, &state));
                        let offer = offer.unwrap_or_default();
                        if self.answers.send(line(&Answer::Offer { id, offer })).await.is_err() {
                            return Ok(());
                        }
                        continue;
                    }
                    Ok(SocketLine::Hello(_)) => "the connection has said hello already".to_owned(),
                    Err(error) => format!("a line is not of the protocol: {error}"),
                },
            };
            if self.answers.send(line(&Answer::Problem { message: problem })).await.is_err() {
                return Ok(());
            }
        }
    }

    /// Creates the work of one request; it ends with the answer in the queue.
    fn work(&self, request: Request) -> impl Future<Output = ()> + Send + 'static {
        let Request { id, envelope, failure, client, session, progress: wanted } = request;
        // Refused as any other request: with a row in the history.
        let (caller, refusal) = match self.keys.renew(&self.caller) {
            Ok(caller) => (caller, None),
            Err(failure) => (self.caller.clone(), Some(failure)),
        };
        let caller = Arc::new(Caller { client, session, ..caller });
        let envelope = match (refusal, envelope, failure) {
            (Some(refusal), _, _) => Err(refusal),
            (None, Some(value), None) => Envelope::from_value(value),
            (None, None, Some(failure)) => Err(failure.into()),
            _ => Err(Failure::invalid("envelope", "a request contains either an envelope or a failure")),
        };
        let token = self.gone.child_token();
        lock(&self.running).insert(id, token.clone());
        let (service, answers, running) =
            (Arc::clone(&self.service), self.answers.clone(), Arc::clone(&self.running));
        async move {
            let progress = Progress::default();
            let work = service.handle_told(caller, envelope, &token, &progress);
            let outcome = if wanted {
                tokio::select! {
                    outcome = work => outcome,
                    never = tell(id, &progress, &answers) => match never {},
                }
            } else {
                work.await
            };
            let reply = outcome.into_reply();
            lock(&running).remove(&id);
            // Nobody waits for the answer if the connection is gone.
            let _ = answers.send(line(&Answer::outcome(id, reply))).await;
        }
    }
}

/// Returns how far a request is, whenever that has changed.
async fn tell(id: u64, progress: &Progress, answers: &mpsc::Sender<Vec<u8>>) -> Infallible {
    let mut told = None;
    loop {
        tokio::time::sleep(PROGRESS_INTERVAL).await;
        let said = progress.said();
        if let Some(said) = said.clone().filter(|_| said != told) {
            // A client that is gone is noticed where its lines are read.
            let _ = answers.send(line(&Answer::Progress { id, said })).await;
        }
        told = said;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn write_all(mut output: WriteHalf, mut queue: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = queue.recv().await {
        if output.write_all(&line).await.is_err() {
            return;
        }
    }
}
