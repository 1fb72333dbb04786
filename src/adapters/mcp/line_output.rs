//! Writing messages to a client, one to a line: whole ones, as long as it is there. What waits to be read is counted.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, Notify};

/// How many bytes of answers may wait to be read before no further request is read.
const MAX_QUEUED_BYTES: usize = 4 << 20;

/// Where the lines of a conversation are written.
pub(super) struct LineOutput<W> {
    writer: Mutex<Option<W>>,
    queued_bytes: AtomicUsize,
    written: Notify,
    /// The client has closed its side: it gets answers, and nothing that it did not ask for.
    input_ended: AtomicBool,
    /// What is left was cancelled because the client has gone: it gets nothing any more.
    gone: AtomicBool,
}

impl<W: AsyncWrite + Unpin + Send> LineOutput<W> {
    /// Creates the output over a stream.
    pub fn new(writer: W) -> Self {
        Self {
            writer: Mutex::new(Some(writer)),
            queued_bytes: AtomicUsize::new(0),
            written: Notify::new(),
            input_ended: AtomicBool::new(false),
            gone: AtomicBool::new(false),
        }
    }

    /// Queues a message now; what this gives writes it, as a line.
    pub fn write(
        self: &Arc<Self>,
        mut message: Vec<u8>,
    ) -> impl Future<Output = io::Result<()>> + Send + use<W> {
        message.push(b'\n');
        let queued = QueuedBytes::new(Arc::clone(self), message.len());
        async move { queued.output.write_now(&message).await }
    }

    /// Returns whether the client takes what it did not ask for: until it closes its side.
    pub fn takes_notices(&self) -> bool {
        !self.input_ended.load(Ordering::Acquire)
    }

    /// Waits until the client has read most of what was written.
    pub async fn wait_for_room(&self) {
        while self.queued_bytes.load(Ordering::Acquire) > MAX_QUEUED_BYTES {
            self.written.notified().await;
        }
    }

    /// Notes that the client has closed its side.
    pub fn input_ended(&self) {
        self.input_ended.store(true, Ordering::Release);
    }

    /// Notes that the client has gone.
    pub fn client_gone(&self) {
        self.gone.store(true, Ordering::Release);
    }

    /// Closes the stream, after the line that is being written.
    ///
    /// # Errors
    /// Those of the stream.
    pub async fn close(&self) -> io::Result<()> {
        match self.writer.lock().await.take() {
            Some(mut writer) => writer.shutdown().await,
            None => Ok(()),
        }
    }

    async fn write_now(&self, line: &[u8]) -> io::Result<()> {
        let mut writer = self.writer.lock().await;
        if self.gone.load(Ordering::Acquire) {
            return Ok(());
        }
        let writer = writer.as_mut().ok_or_else(|| io::Error::from(io::ErrorKind::NotConnected))?;
        writer.write_all(line).await?;
        writer.flush().await
    }
}

/// Counts the bytes of a line until it is written or given up.
struct QueuedBytes<W> {
    output: Arc<LineOutput<W>>,
    bytes: usize,
}

impl<W> QueuedBytes<W> {
    fn new(output: Arc<LineOutput<W>>, bytes: usize) -> Self {
        output.queued_bytes.fetch_add(bytes, Ordering::AcqRel);
        Self { output, bytes }
    }
}

impl<W> Drop for QueuedBytes<W> {
    fn drop(&mut self) {
        self.output.queued_bytes.fetch_sub(self.bytes, Ordering::AcqRel);
        self.output.written.notify_one();
    }
}
