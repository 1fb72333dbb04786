//! The one thread that speaks to accessibility buses. Anyone who asks waits with a deadline, so that nothing
//! that a program does to its bus can hold up the service.

use std::pin::Pin;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::buses::Buses;
use crate::accessibility::AccessibilityError;
use crate::program_error::ProgramError;

/// Connections that nobody has used for so long are closed.
const IDLE: Duration = Duration::from_secs(60);

/// What is waited longer than the work may take by its own deadlines.
const GRACE: Duration = Duration::from_millis(500);

type JobFuture = Pin<Box<dyn Future<Output = ()> + Send>>;
type Job = Box<dyn FnOnce(Arc<Buses>) -> JobFuture + Send>;

/// The thread, once it was needed.
#[derive(Debug, Default)]
pub(super) struct Worker {
    jobs: Mutex<Option<UnboundedSender<Job>>>,
}

impl Worker {
    /// Has work done, and waits for it.
    pub(super) fn run<T, W, F>(&self, limit: Duration, work: W) -> Result<T, AccessibilityError>
    where
        T: Send + 'static,
        W: FnOnce(Arc<Buses>) -> F + Send + 'static,
        F: Future<Output = Result<T, AccessibilityError>> + Send + 'static,
    {
        let (sender, receiver) = sync_channel(1);
        let job: Job = Box::new(move |buses| {
            Box::pin(async move {
                let done = tokio::time::timeout(limit, work(buses)).await;
                // Anyone who has stopped waiting wants no answer.
                let _ = sender
                    .try_send(done.unwrap_or(Err(AccessibilityError::Program(ProgramError::Unresponsive))));
            })
        });
        self.send(job)?;
        match receiver.recv_timeout(limit + GRACE) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => Err(AccessibilityError::Program(ProgramError::Unresponsive)),
            Err(RecvTimeoutError::Disconnected) => Err(AccessibilityError::Program(ProgramError::Lost)),
        }
    }

    fn send(&self, job: Job) -> Result<(), AccessibilityError> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        if jobs.is_none() {
            let (sender, receiver) = unbounded_channel();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|_| AccessibilityError::Program(ProgramError::Lost))?;
            let thread = thread::Builder::new().name("accessibility".to_owned());
            thread
                .spawn(move || runtime.block_on(serve(receiver)))
                .map_err(|_| AccessibilityError::Program(ProgramError::Lost))?;
            *jobs = Some(sender);
        }
        jobs.as_ref()
            .and_then(|jobs| jobs.send(job).ok())
            .ok_or(AccessibilityError::Program(ProgramError::Lost))
    }
}

async fn serve(mut jobs: UnboundedReceiver<Job>) {
    let buses = Arc::new(Buses::default());
    loop {
        match tokio::time::timeout(IDLE, jobs.recv()).await {
            Ok(Some(job)) => {
                tokio::spawn(job(Arc::clone(&buses)));
            }
            Ok(None) => return,
            Err(_) => buses.clear(),
        }
    }
}
