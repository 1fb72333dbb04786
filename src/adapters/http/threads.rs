//! The threads on which connections are served. Each connection stays on one thread, which waits for it and answers it: among
//! threads that share all connections, every request wakes a second one that finds nothing to do.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use bailiwick_contract::Failure;

use crate::installation::runtime;

/// How many threads there are at most: each keeps memory for itself.
const MAX_THREADS: usize = 4;
/// How long a thread that ends waits for what has no answer yet.
const END_TIMEOUT: Duration = Duration::from_millis(200);

/// The threads; dropping this ends them.
#[derive(Debug)]
pub struct ConnectionThreads {
    handles: ConnectionHandles,
    threads: Vec<(oneshot::Sender<()>, JoinHandle<()>)>,
}

/// Where connections are served. By default where they are accepted.
#[derive(Debug, Clone, Default)]
pub struct ConnectionHandles(Arc<[ConnectionHandle]>);

#[derive(Debug, Clone)]
struct ConnectionHandle {
    runtime: Handle,
    /// Each open connection of the thread has a clone.
    open: Arc<()>,
}

impl ConnectionThreads {
    /// Starts a thread for each processor, four at most.
    ///
    /// # Errors
    /// `provider_unavailable` when the system gives no threads.
    pub fn start() -> Result<Self, Failure> {
        let count = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        let (mut handles, mut threads) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let runtime = runtime::small()?;
            handles.push(ConnectionHandle { runtime: runtime.handle().clone(), open: Arc::default() });
            let (end, ended) = oneshot::channel();
            let body = move || {
                // Nothing is ever sent: it ends when the other end is dropped.
                let _ = runtime.block_on(ended);
                runtime.shutdown_timeout(END_TIMEOUT);
            };
            let thread = std::thread::Builder::new().name("connections".to_owned()).spawn(body);
            threads.push((end, thread.map_err(|error| runtime::no_threads(&error))?));
        }
        Ok(Self { handles: ConnectionHandles(handles.into()), threads })
    }

    /// Returns where a listener serves its connections.
    pub fn handles(&self) -> ConnectionHandles {
        self.handles.clone()
    }
}

impl Drop for ConnectionThreads {
    fn drop(&mut self) {
        let (ends, threads): (Vec<_>, Vec<_>) = self.threads.drain(..).unzip();
        drop(ends);
        for thread in threads {
            // A panic of the thread was said when it happened.
            let _ = thread.join();
        }
    }
}

impl ConnectionHandles {
    /// Serves a connection, on the thread that has the fewest.
    pub fn spawn<F>(
        &self,
        connections: &mut JoinSet<()>,
        stream: TcpStream,
        serve: impl FnOnce(TcpStream) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let Some(chosen) = self.0.iter().min_by_key(|it| Arc::strong_count(&it.open)).cloned() else {
            connections.spawn(serve(stream));
            return;
        };
        // The thread that accepted it does not wait for it any more.
        let Ok(stream) = stream.into_std() else { return };
        let ConnectionHandle { runtime, open } = chosen;
        let task = async move {
            let _open = open;
            if let Ok(stream) = TcpStream::from_std(stream) {
                serve(stream).await;
            }
        };
        connections.spawn_on(task, &runtime);
    }
}
