//! Keeping what a finished command printed, so that it can be read like the output of a process.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_config::ProcessLifetime;
use bailiwick_contract::{Containment, ErrorCode, Failure, Network, id, time};
use bailiwick_platform::launch::kept::{
    AdoptRequest, AdoptionOutcome, Lifetime, RingWriter, State, Status, StatusWriter, Stream,
};
use bailiwick_platform::launch::{ActiveSandbox, PlanEnd};

use super::{Facts, Process, Processes, folders};
use crate::command::{CapturedStream, Run};

/// How much of the output of a command is kept, in bytes.
const RING_BYTES: u64 = 8 << 20;
/// How much stays in memory before it goes to the disk: what most commands print.
const MEMORY_BYTES: usize = 256 << 10;

/// What is known of a command that runs to its end.
#[derive(Debug, Clone)]
pub struct RunFacts {
    /// The scope that it belongs to.
    pub scope: String,
    /// The name of the caller.
    pub caller: String,
    /// The beginning of its words, with the secrets taken out.
    pub preview: String,
    /// Its working folder, as clients see it.
    pub folder: String,
    /// Whether a shell reads it.
    pub is_advisory: bool,
}

/// How a command ended.
#[derive(Debug, Clone, Default)]
pub struct RunEnd {
    /// Exit, signal and what held it; none if its end is not known.
    pub ended: Option<PlanEnd>,
    /// Whether its time was over.
    pub timed_out: bool,
}

/// How a command continues that becomes a process.
#[derive(Debug)]
pub struct ContinuationSettings {
    /// How long it lives.
    pub lifetime: ProcessLifetime,
    /// The connection that it ends with, if its lifetime says so.
    pub connection: Option<String>,
    /// How long it may still run.
    pub max_time: Duration,
    /// How many processes of the scope may live at a time, with this one.
    pub max_live: u32,
}

/// What has become of a command that was to be a process.
#[derive(Debug)]
pub enum ContinuationResult {
    /// A process, which runs on; with what was kept of both streams.
    Process(Arc<Process>, [CapturedStream; 2]),
    /// It runs as before, or has ended.
    Command(Box<(RunRecorder, Run)>),
}

/// Takes what a command prints. Dropping it forgets all of it.
#[derive(Debug)]
pub struct RunRecorder {
    processes: Arc<Processes>,
    facts: Facts,
    /// What has arrived, while it is little.
    memory: Vec<(Stream, i64, Vec<u8>)>,
    memory_bytes: usize,
    /// The folder and the ring, once it is much.
    disk: Option<(PathBuf, RingWriter)>,
    is_broken: bool,
}

impl Processes {
    /// Begins to keep what a command prints. Nothing is on disk before it is much, or finished.
    pub fn keep_run(self: &Arc<Self>, run: RunFacts) -> RunRecorder {
        let RunFacts { scope, caller, preview, folder, is_advisory } = run;
        let facts = Facts {
            id: id::new_id(),
            scope,
            caller,
            preview,
            label: None,
            started_at_ms: time::now_ms(),
            folder,
            has_terminal: false,
            lifetime: ProcessLifetime::Durable,
            ring_bytes: RING_BYTES,
            is_advisory,
            is_run: true,
            temporary: None,
        };
        RunRecorder {
            processes: Arc::clone(self),
            facts,
            memory: Vec::new(),
            memory_bytes: 0,
            disk: None,
            is_broken: false,
        }
    }
}

impl RunRecorder {
    /// Takes the next bytes of a stream. Never fails: [`RunRecorder::finish`] tells.
    pub fn push(&mut self, stream: Stream, bytes: &[u8]) {
        let now_ms = time::now_ms();
        if let Some((_, ring)) = &mut self.disk {
            ring.push(stream, now_ms, bytes);
            return;
        }
        match self.memory.last_mut() {
            Some((last, at_ms, kept)) if *last == stream && *at_ms == now_ms => kept.extend_from_slice(bytes),
            _ => self.memory.push((stream, now_ms, bytes.to_vec())),
        }
        self.memory_bytes += bytes.len();
        if self.memory_bytes > MEMORY_BYTES && !self.is_broken {
            // Where it cannot be written, the rest is kept by nobody.
            self.is_broken = self.spill().is_err();
        }
        if self.is_broken {
            self.memory.clear();
        }
    }

    /// Makes it a process that has ended, and gives its id.
    ///
    /// # Errors
    /// `provider_unavailable` where it cannot be written; nothing is kept then.
    pub fn finish(mut self, end: RunEnd) -> Result<String, Failure> {
        let written = if self.is_broken { Err(io::ErrorKind::Other.into()) } else { self.write_end(end) };
        written.map_err(|error| {
            Failure::new(
                ErrorCode::ProviderUnavailable,
                format!("what the command printed could not be kept: {}", error.kind()),
            )
        })?;
        Ok(self.facts.id.clone())
    }

    /// Creates a process of a running command, in the sandbox that it has. Where it cannot become one, or has ended, it
    /// stays a command. Dropping this kills it.
    ///
    /// # Errors
    /// `execution_failed` where it is lost; it is killed then.
    pub async fn leave(
        mut self,
        mut run: Run,
        leaving: ContinuationSettings,
    ) -> Result<ContinuationResult, Failure> {
        let ContinuationSettings { lifetime, connection, max_time, max_live } = leaving;
        let processes = Arc::clone(&self.processes);
        let place = processes.reserve(&self.facts.scope, &self.facts.id, max_live);
        let command = self.facts.clone();
        self.facts.is_run = false;
        self.facts.lifetime = lifetime;
        self.facts.temporary = run.temporary.as_ref().map(|temporary| temporary.path().to_owned());
        let ready =
            place.is_ok() && !self.is_broken && self.spill().and_then(|()| self.rewrite_facts()).is_ok();
        let adopted = match &self.disk {
            Some((folder, ring)) if ready => {
                let request = AdoptRequest {
                    folder,
                    ring,
                    ring_bytes: RING_BYTES,
                    stdout: &run.stdout.reader,
                    stderr: &run.stderr.reader,
                    started_at_ms: self.facts.started_at_ms,
                    lifetime: match lifetime {
                        ProcessLifetime::Durable => Lifetime::Durable,
                        ProcessLifetime::Service | ProcessLifetime::Client => Lifetime::Service,
                    },
                    max_time,
                    temporary: self.facts.temporary.as_deref(),
                };
                processes.launcher.adopt(&mut run.job, &request).await
            }
            _ => Ok(AdoptionOutcome::Ended),
        };
        if !matches!(adopted, Ok(AdoptionOutcome::Kept)) {
            self.facts = command;
            if self.disk.is_some() && self.rewrite_facts().is_err() {
                self.is_broken = true;
            }
            return Ok(ContinuationResult::Command(Box::new((self, run))));
        }
        let lost = || Failure::new(ErrorCode::ExecutionFailed, "the command could not become a process");
        let Some((folder, ring)) = self.disk.take() else { return Err(lost()) };
        drop(ring);
        // From here on whatever is dropped before the job is kept is killed by that.
        let folder = folders::appear(&processes, &folder).map_err(|_| lost())?;
        folders::note_living(&processes.folder, &self.facts.id).map_err(|_| lost())?;
        if let Some(temporary) = &mut run.temporary {
            temporary.has_process();
        }
        let process = processes.add(self.facts.clone(), folder);
        process.set_review(run.review.take());
        process.set_proxy(run.proxy.take());
        if let Some(connection) = connection
            && !processes.ends_with(&connection, &process)
        {
            return Err(Failure::new(
                ErrorCode::Cancelled,
                "the connection that it was to end with has ended",
            ));
        }
        let kept = run.leave().await.map_err(|_| lost())?;
        Ok(ContinuationResult::Process(process, kept))
    }

    /// Writes the facts again, which have changed. Nobody finds the folder yet.
    fn rewrite_facts(&self) -> io::Result<()> {
        let Some((folder, _)) = &self.disk else { return Err(io::ErrorKind::NotFound.into()) };
        self.facts.rewrite(folder)
    }

    fn write_end(&mut self, end: RunEnd) -> io::Result<()> {
        self.spill()?;
        let Some((folder, ring)) = self.disk.take() else { return Err(io::ErrorKind::NotFound.into()) };
        let unknown = ActiveSandbox {
            level: Containment::None,
            network: Network::Full,
            degraded: true,
            layers: Vec::new(),
            open: Vec::new(),
        };
        let mut status = Status {
            state: State::Ended,
            process_id: 0,
            started_at_ms: self.facts.started_at_ms,
            ended_at_ms: Some(time::now_ms()),
            exit_code: end.ended.as_ref().and_then(|ended| ended.exit_code),
            signal: end.ended.as_ref().and_then(|ended| ended.signal),
            timed_out: end.timed_out,
            left_killed: end.ended.as_ref().map_or(0, |ended| ended.left_killed),
            memory_excess: end.ended.as_ref().and_then(|ended| ended.memory_excess),
            held: end.ended.map_or(unknown, |ended| ended.held),
            stdout_bytes: 0,
            stderr_bytes: 0,
            end: 0,
            lost_bytes: 0,
            terminal: None,
            failure: None,
        };
        ring.count_into(&mut status);
        // Not every system renames a folder in which a file is open.
        drop(ring);
        let appeared = StatusWriter::create(&folder, &status).and_then(|status| {
            drop(status);
            folders::appear(&self.processes, &folder)
        });
        let folder = appeared.inspect_err(|_| self.processes.retained.release(&folder))?;
        self.processes.retained.settle_thing(&folder);
        self.processes.add(self.facts.clone(), folder);
        Ok(())
    }

    fn spill(&mut self) -> io::Result<()> {
        if self.disk.is_some() {
            return Ok(());
        }
        let folder = folders::begin(&self.processes, &self.facts)?;
        let (folder, mut ring) = match RingWriter::create(&folder, RING_BYTES) {
            Ok(ring) => (folder, ring),
            Err(error) => {
                self.processes.retained.release(&folder);
                return Err(error);
            }
        };
        for (stream, at_ms, bytes) in self.memory.drain(..) {
            ring.push(stream, at_ms, &bytes);
        }
        self.disk = Some((folder, ring));
        Ok(())
    }
}

impl Drop for RunRecorder {
    fn drop(&mut self) {
        if let Some((folder, ring)) = self.disk.take() {
            drop(ring);
            self.processes.retained.release(&folder);
        }
    }
}
