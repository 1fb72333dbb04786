//! The asynchronous threads of a command, and what asks it to stop.

use tokio::runtime::{Builder, Runtime};

use bailiwick_contract::{ErrorCode, Failure};

pub use bailiwick_platform::signals::asked_to_stop;

/// Creates a runtime on the calling thread, for one client or one call.
///
/// # Errors
/// `provider_unavailable` when the system gives no event queue.
pub fn small() -> Result<Runtime, Failure> {
    Builder::new_current_thread().enable_all().build().map_err(|error| no_threads(&error))
}

/// Creates a runtime with two worker threads, for many clients.
///
/// # Errors
/// `provider_unavailable` when the system gives no threads.
pub fn large() -> Result<Runtime, Failure> {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(|error| no_threads(&error))
}

/// Returns what is answered when the system gives no threads.
pub fn no_threads(error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::ProviderUnavailable, format!("the system gives no threads: {error}"))
}
