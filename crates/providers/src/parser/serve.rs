//! The parse worker: this program, started again by the pool of a service.
//!
//! Two threads. One reads requests, and ends the process when no more can come, whatever the other does; that one
//! works with a deep stack and writes the answers.

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use bailiwick_platform::launch::worker::{WorkerLimits, enter_sandbox, is_worker, limit, usage};

use super::message::{Next, READY, Request, receive_request, send_answer};
use super::work::work;

/// The word by which this program knows that it is to be a parse worker.
pub(super) const ROLE: &str = "bailiwick-parser";

/// The stack of the thread that parses. Grammars, and the library that runs them, recurse.
const STACK_BYTES: usize = 64 << 20;
const LIMITS: WorkerLimits = WorkerLimits {
    // The stack counts.
    memory_bytes: 320 << 20,
    address_space_bytes: 1 << 30,
    cpu_seconds: 600,
};
/// A worker ends when it has had so much memory at a time, and another one is started when it is needed.
const LARGE_BYTES: u64 = 192 << 20;
/// A worker ends when it has used so much time of a processor.
const OLD_SECONDS: u64 = 300;

/// Becomes a parse worker if this process was started as one; `main` asks before anything else.
pub fn serve_if_asked() -> Option<ExitCode> {
    is_worker(ROLE).then(|| match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

fn serve() -> io::Result<()> {
    limit(&LIMITS)?;
    let (sender, receiver) = channel();
    let (started, has_started) = channel();
    let name = "parser".to_owned();
    thread::Builder::new().name(name).stack_size(STACK_BYTES).spawn(move || {
        let _ = started.send(());
        // A panic is a fault of the text's reading as any other.
        let _ = catch_unwind(AssertUnwindSafe(|| answer(&receiver)));
        end()
    })?;
    // The first steps of a thread need what is taken away here.
    has_started.recv().map_err(io::Error::other)?;
    enter_sandbox()?;
    let mut out = io::stdout();
    out.write_all(READY)?;
    out.flush()?;
    let mut from = io::stdin().lock();
    while let Some(order) = receive_request(&mut from)? {
        if sender.send(order).is_err() {
            break;
        }
    }
    // What is being parsed is for nobody: the process ends when this returns.
    Ok(())
}

/// Answers requests until there are no more, or until this process has used enough.
fn answer(requests: &Receiver<(Request<'static>, [Vec<u8>; 2])>) {
    while let Ok((request, [first, second])) = requests.recv() {
        let until = Instant::now() + Duration::from_millis(request.time_ms);
        let Some(answer) = work(&request.job, [&first, &second], until) else { break };
        let used =
            usage().is_some_and(|it| it.peak_memory_bytes > LARGE_BYTES || it.cpu_seconds > OLD_SECONDS);
        let next = if used { Next::Ends } else { Next::Ready };
        if send_answer(&mut io::stdout(), &answer, next).is_err() {
            break;
        }
    }
}

/// Ends this process, also while the other thread waits for a request.
#[expect(clippy::exit, reason = "the thread that reads requests cannot be woken")]
fn end() -> ! {
    std::process::exit(1)
}
