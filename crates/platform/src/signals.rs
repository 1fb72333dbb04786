//! Being asked to stop, by the keyboard or by another program.

#[cfg(unix)]
pub use unix::asked_to_stop;
#[cfg(windows)]
pub use windows::asked_to_stop;

#[cfg(unix)]
mod unix {
    use tokio::signal::unix::{SignalKind, signal};

    /// Listens for Ctrl-C and requests to end from now on; what it gives waits for the first. Call it within a
    /// runtime, before anything is announced: what comes earlier has the signal's own effect, or none at all
    /// in a process that was started with the signal ignored.
    ///
    /// A closed terminal has its usual effect, so that `nohup` works. Where the system allows no handler this
    /// waits for ever: the signal's own effect then ends the process.
    pub fn asked_to_stop() -> impl Future<Output = ()> + Send + use<> {
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
}

#[cfg(windows)]
mod windows {
    use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_shutdown};

    /// Listens for Ctrl-C, Ctrl-Break and the computer's going down from now on; what it gives waits for the first.
    /// Call it within a runtime, before anything is announced.
    ///
    /// A closed console ends the process. Where the system allows no handler this waits for ever: the key's own
    /// effect then ends the process.
    pub fn asked_to_stop() -> impl Future<Output = ()> + Send + use<> {
        let handlers = (ctrl_c(), ctrl_break(), ctrl_shutdown());
        async move {
            let (Ok(mut interrupt), Ok(mut stop), Ok(mut shutdown)) = handlers else {
                return std::future::pending().await;
            };
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = stop.recv() => {}
                _ = shutdown.recv() => {}
            }
        }
    }
}
