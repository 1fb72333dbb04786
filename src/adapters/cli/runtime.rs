//! The asynchronous threads of a command, and the signals that end it.

use tokio::runtime::{Builder, Runtime};

use crate::contract::{ErrorCode, Failure};

/// Makes a runtime on the calling thread, for one client or one call.
///
/// # Errors
/// `provider_unavailable` when the system gives no event queue.
pub fn small() -> Result<Runtime, Failure> {
    Builder::new_current_thread().enable_all().build().map_err(|error| unavailable(&error))
}

/// Makes a runtime with two worker threads, for many clients.
///
/// # Errors
/// `provider_unavailable` when the system gives no threads.
pub fn large() -> Result<Runtime, Failure> {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(|error| unavailable(&error))
}

fn unavailable(error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::ProviderUnavailable, format!("the system gives no threads: {error}"))
}

/// Listens for Ctrl-C and requests to end from now on; what it gives waits for the first. Call it within a
/// runtime, before anything is announced: what comes earlier has the signal's own effect, or none at all
/// in a process that was started with the signal ignored.
///
/// A closed terminal has its usual effect, so that `nohup` works. Where the system allows no handler this
/// waits for ever: the signal's own effect then ends the process.
pub fn asked_to_stop() -> impl Future<Output = ()> + Send + use<> {
    use tokio::signal::unix::{SignalKind, signal};

    let handlers = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    async move {
        let (Ok(mut interrupt), Ok(mut terminate)) = handlers else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
}
