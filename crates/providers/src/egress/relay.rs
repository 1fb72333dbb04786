//! Passing bytes on, in both directions, counted, until both ends are done or nothing has come for long.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::gate::HostConnection;
use super::head::BufferedConnection;

/// How long nothing may come from either end.
pub(super) const MAX_IDLE: Duration = Duration::from_secs(600);
/// How much is read after an answer.
const MAX_REST_BYTES: usize = 1 << 20;
/// How long that may take.
const MAX_REST_TIME: Duration = Duration::from_secs(2);
/// The buffer of a direction, at first and once much arrives.
const BUFFER_BYTES: [usize; 2] = [8 << 10, 128 << 10];

/// When something came the last time.
#[derive(Debug)]
struct Activity {
    began: Instant,
    last_ms: AtomicU64,
}

impl Activity {
    fn touch(&self) {
        let elapsed = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_ms.store(elapsed, Ordering::Relaxed);
    }

    /// Waits until nothing has come for long.
    async fn idle(&self) {
        loop {
            let last = self.began + Duration::from_millis(self.last_ms.load(Ordering::Relaxed));
            if last.elapsed() >= MAX_IDLE {
                return;
            }
            tokio::time::sleep_until(last + MAX_IDLE).await;
        }
    }
}

/// Passes bytes on until both ends have closed. What is in the buffers was read before, and goes first.
pub(super) async fn relay(
    client: BufferedConnection<TcpStream>,
    HostConnection { connection: host, counter, .. }: HostConnection,
) -> io::Result<()> {
    let activity = Activity { began: Instant::now(), last_ms: AtomicU64::new(0) };
    let (client_rest, host_rest) = (client.bytes, host.bytes);
    let (mut client, mut host) = (client.stream, host.stream);
    let (client_reader, client_writer) = client.split();
    let (host_reader, host_writer) = host.split();
    let out = pump(client_rest, client_reader, host_writer, &counter.sent, &activity);
    let back = pump(host_rest, host_reader, client_writer, &counter.received, &activity);
    tokio::select! {
        done = async { tokio::try_join!(out, back) } => done.map(|_| ()),
        () = activity.idle() => Err(io::ErrorKind::TimedOut.into()),
    }
}

async fn pump(
    first: Vec<u8>,
    mut reader: impl AsyncRead + Unpin,
    mut writer: impl AsyncWrite + Unpin,
    counter: &AtomicU64,
    activity: &Activity,
) -> io::Result<()> {
    counted(&mut writer, &first, counter).await?;
    drop(first);
    let mut buffer = vec![0; BUFFER_BYTES[0]];
    loop {
        let length = reader.read(&mut buffer).await?;
        if length == 0 {
            return writer.shutdown().await;
        }
        activity.touch();
        counted(&mut writer, &buffer[..length], counter).await?;
        if length == buffer.len() && length < BUFFER_BYTES[1] {
            buffer.resize(BUFFER_BYTES[1], 0);
        }
    }
}

/// Ends a connection after an answer. What the program still sends is read for a moment, or it could not read the answer.
pub(super) async fn end(client: &mut TcpStream) {
    if client.shutdown().await.is_err() {
        return;
    }
    let reading = async {
        let (mut rest, mut buffer) = (0, vec![0; BUFFER_BYTES[0]]);
        while rest < MAX_REST_BYTES {
            match client.read(&mut buffer).await {
                Ok(length) if length > 0 => rest += length,
                Ok(_) | Err(_) => return,
            }
        }
    };
    let _ = tokio::time::timeout(MAX_REST_TIME, reading).await;
}

/// Writes bytes and counts them.
pub(super) async fn counted(
    writer: &mut (impl AsyncWrite + Unpin),
    bytes: &[u8],
    counter: &AtomicU64,
) -> io::Result<()> {
    writer.write_all(bytes).await?;
    counter.fetch_add(bytes.len() as u64, Ordering::Relaxed);
    Ok(())
}

/// Passes so many bytes on. Returns whether they all came.
pub(super) async fn copy_exactly(
    from: &mut BufferedConnection<impl AsyncRead + Unpin>,
    to: &mut (impl AsyncWrite + Unpin),
    mut length: u64,
    counter: &AtomicU64,
) -> io::Result<()> {
    while length > 0 {
        if from.bytes.is_empty() {
            from.bytes.reserve(BUFFER_BYTES[0] * 8);
            let came = tokio::time::timeout(MAX_IDLE, from.fill()).await;
            if !came.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let taken = usize::try_from(length).unwrap_or(usize::MAX).min(from.bytes.len());
        counted(to, &from.bytes[..taken], counter).await?;
        from.bytes.drain(..taken);
        length -= taken as u64;
    }
    Ok(())
}

/// Passes all on that comes until the end of a connection.
pub(super) async fn copy_to_end(
    from: &mut BufferedConnection<impl AsyncRead + Unpin>,
    to: &mut (impl AsyncWrite + Unpin),
    counter: &AtomicU64,
) -> io::Result<()> {
    loop {
        counted(to, &from.bytes, counter).await?;
        from.bytes.clear();
        from.bytes.reserve(BUFFER_BYTES[0] * 8);
        let came = tokio::time::timeout(MAX_IDLE, from.fill()).await;
        if !came.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?? {
            return Ok(());
        }
    }
}
