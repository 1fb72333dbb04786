//! Starting a process: its place on disk, its keeper, and what it counts for.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use bailiwick_config::ProcessLifetime;
use bailiwick_contract::{ErrorCode, FOR_USER, Failure, StageName, id, time};
use bailiwick_platform::launch::ActiveSandbox;
use bailiwick_platform::launch::kept::{Input, Lifetime, TerminalSize};

use super::super::command::{KeeperSettings, ReadyCommand, not_started};
use super::{Facts, Process, Processes, folders};

/// How much of the output of a process is kept, in bytes.
const RING_BYTES: u64 = 8 << 20;
/// How a process is ended whose starter went away: by SIGTERM, with little time.
const ABANDONED: (i32, Duration) = (15, Duration::from_secs(1));

/// What is started, and what is to be known of it.
#[derive(Debug)]
pub struct Start {
    /// The command, made ready.
    pub prepared: ReadyCommand,
    /// The scope that it belongs to.
    pub scope: String,
    /// The name of the caller.
    pub caller: String,
    /// The beginning of its command, without secrets.
    pub preview: String,
    /// What the caller calls it.
    pub label: Option<String>,
    /// Its working folder, as clients see it.
    pub folder: String,
    /// What standard input is, where there is no terminal.
    pub input: Input,
    /// Its terminal, if it gets one.
    pub terminal: Option<TerminalSize>,
    /// How long it lives.
    pub lifetime: ProcessLifetime,
    /// The connection that it ends with, if its lifetime says so.
    pub connection: Option<String>,
    /// How long it may run.
    pub max_time: Duration,
    /// How many of the scope may live at a time, with this one.
    pub max_live: u32,
}

impl Processes {
    /// Starts a process. It runs when this returns, with what holds it. When this is dropped before, it is ended again.
    ///
    /// # Errors
    /// `permission_denied` where too many of the scope live, `provider_unavailable` where it could not be started as
    /// it must be held. Nothing is left then.
    pub async fn start(self: &Arc<Self>, start: Start) -> Result<(Arc<Process>, ActiveSandbox), Failure> {
        let processes = Arc::clone(self);
        let (told, answer) = oneshot::channel();
        self.prune_aside();
        // A task of its own: a process that runs is either given to the caller, or ended.
        tokio::spawn(async move {
            let started = processes.start_here(start).await;
            if let Err(Ok((process, _))) = told.send(started) {
                let _: Result<_, Failure> = process.stop(ABANDONED.0, ABANDONED.1).await;
            }
        });
        answer.await.unwrap_or_else(|_| {
            Err(Failure::new(
                ErrorCode::ExecutionFailed,
                "the process could not be started (a bug in Bailiwick)",
            ))
        })
    }

    async fn start_here(self: &Arc<Self>, start: Start) -> Result<(Arc<Process>, ActiveSandbox), Failure> {
        let Start { mut prepared, terminal, input, lifetime, connection, max_time, max_live, .. } = start;
        let id = id::new_id();
        let _place = self.reserve(&start.scope, &id, max_live)?;
        let facts = Facts {
            id,
            scope: start.scope,
            caller: start.caller,
            preview: start.preview,
            label: start.label,
            started_at_ms: time::now_ms(),
            folder: start.folder,
            has_terminal: terminal.is_some(),
            lifetime,
            ring_bytes: RING_BYTES,
            is_advisory: prepared.advisory,
            is_run: false,
            temporary: prepared.temporary_folder().map(ToOwned::to_owned),
        };
        let (processes, own) = (Arc::clone(self), facts.clone());
        let make = move || {
            let folder =
                folders::begin(&processes, &own).and_then(|begun| folders::appear(&processes, &begun))?;
            let noted = folders::note_living(&processes.folder, &own.id);
            noted.inspect_err(|_| processes.retained.release(&folder))?;
            Ok(folder)
        };
        let made = tokio::task::spawn_blocking(make).await.unwrap_or_else(|bug| Err(io::Error::other(bug)));
        let folder = made.map_err(|error| no_folder(&error))?;
        prepared.has_process();
        let kept = prepared.into_kept(KeeperSettings {
            folder: folder.clone(),
            input,
            terminal,
            ring_bytes: RING_BYTES,
            lifetime: match lifetime {
                ProcessLifetime::Durable => Lifetime::Durable,
                ProcessLifetime::Service | ProcessLifetime::Client => Lifetime::Service,
            },
            max_time,
        });
        let (request, remains) = kept.inspect_err(|_| self.retained.release(&folder))?;
        let held = self.launcher.start_kept(request).await.map_err(|error| {
            self.retained.release(&folder);
            not_started(&error)
        })?;
        // From here on the launcher removes it, when the process has ended.
        if let Some(temporary) = remains.temporary {
            temporary.hand_over();
        }
        let process = self.add(facts, folder);
        process.set_review(remains.review);
        process.set_proxy(remains.proxy);
        if let Some(connection) = connection
            && !self.ends_with(&connection, &process)
        {
            let _: Result<_, Failure> = process.stop(ABANDONED.0, ABANDONED.1).await;
            return Err(Failure::new(
                ErrorCode::Cancelled,
                "the connection that it was to end with has ended",
            ));
        }
        Ok((process, held))
    }

    /// Notes that a process ends with a connection. Returns whether that is still there.
    pub(super) fn ends_with(&self, connection: &str, process: &Arc<Process>) -> bool {
        let mut connected = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
        match connected.get_mut(connection) {
            Some(list) => {
                list.push(Arc::clone(process));
                true
            }
            None => false,
        }
    }

    /// Takes note of a connection that processes may end with.
    pub fn connection_began(&self, connection: &str) {
        let mut connected = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
        connected.insert(connection.to_owned(), Vec::new());
    }

    /// Counts one more of a scope until the place is dropped, if there may be one more.
    pub(super) fn reserve<'a>(
        &'a self,
        scope: &str,
        id: &str,
        max_live: u32,
    ) -> Result<ProcessSlot<'a>, Failure> {
        // Held over the count, so that of two starts only one gets the last place.
        let mut starting = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
        let under_way = starting.iter().filter(|(_, of)| of.as_str() == scope).count();
        let living = self.living(scope).map_err(|error| no_folder(&error))?;
        let living = living.iter().filter(|process| !starting.contains_key(&process.facts.id)).count();
        if under_way + living >= usize::try_from(max_live).unwrap_or(usize::MAX) {
            return Err(too_many(scope, max_live));
        }
        starting.insert(id.to_owned(), scope.to_owned());
        Ok(ProcessSlot { starting: &self.starting, id: id.to_owned() })
    }

    /// Ends what was to live no longer than a connection.
    pub fn connection_ended(&self, connection: &str) {
        let ended = self.connected.lock().unwrap_or_else(PoisonError::into_inner).remove(connection);
        for process in ended.into_iter().flatten() {
            tokio::spawn(async move {
                // What cannot be ended here ends with the service, as its keeper sees to.
                let _: Result<_, Failure> = process.stop(ABANDONED.0, ABANDONED.1).await;
            });
        }
    }
}

/// One of the places of a scope, while a process is started on it.
pub(super) struct ProcessSlot<'a> {
    starting: &'a Mutex<HashMap<String, String>>,
    id: String,
}

impl Drop for ProcessSlot<'_> {
    fn drop(&mut self) {
        self.starting.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

fn too_many(scope: &str, max_live: u32) -> Failure {
    Failure::denied(
        "max-live-processes",
        format!("scope `{scope}` has as many processes running as it may: {max_live}"),
    )
    .at_stage(StageName::Limits)
    .hint("process.stop ends one; process.list shows them.")
    .hint(format!(
        "{FOR_USER}`bailiwick scope edit {scope} --limit live-processes={}` allows more.",
        max_live.saturating_mul(2)
    ))
}

fn no_folder(error: &io::Error) -> Failure {
    Failure::new(
        ErrorCode::ProviderUnavailable,
        format!("nothing was started: the folder of the process cannot be made: {}", error.kind()),
    )
    .hint("For the user: `bailiwick doctor` checks the owner of Bailiwick's state folder and the space left there.")
}
