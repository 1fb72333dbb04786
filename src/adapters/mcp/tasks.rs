//! Tasks: what takes long continues after its call was answered, for clients that declare the extension.
//!
//! A task is a thin skin over a request in the works: its end, its bounds and its record are those of the request.
//! It belongs to the caller who began it; to every other there is no such task.
//!
//! # Source
//! SEP-2663, `io.modelcontextprotocol/tasks`.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, CreateTaskResult, DetailedTask};
use rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};
use tokio_util::sync::CancellationToken;

use bailiwick_contract::{Progress, Reply};

use super::render::{self, Form, StructuredContent};

/// How long a call may take before it becomes a task.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many tasks are in the works at the same time; further calls are answered when they end.
const MAX_RUNNING: usize = 64;
/// How many tasks are remembered, those that have ended included.
const MAX_KNOWN: usize = 256;
/// How much longer a task is remembered than its request may take.
const SPARE: Duration = Duration::from_secs(300);
/// How often a client should ask.
const POLL_MS: u64 = 1_000;

/// A request in the works.
pub(super) type ReplyFuture = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// The tasks of one transport. Dropping it cancels what is in the works.
#[derive(Default)]
pub(super) struct Tasks {
    manager: TaskManager,
    /// The caller of each task.
    owners: Mutex<HashMap<String, String>>,
}

/// One request that may become a task.
pub(super) struct LongCall {
    /// What answers it.
    pub work: ReplyFuture,
    /// Cancels it.
    pub gone: CancellationToken,
    /// What it says about itself.
    pub progress: Progress,
    /// Who sent it.
    pub owner: String,
    /// How long it may take.
    pub limit: Duration,
    /// The form of its result.
    pub form: Form,
}

impl Tasks {
    /// Answers a call: with its result if that comes soon, else with a task. `left` is cancelled when the client
    /// gives the call up.
    pub async fn answer(&self, call: LongCall, left: &CancellationToken) -> CallToolResponse {
        let LongCall { mut work, gone, progress, owner, limit, form } = call;
        let reply = tokio::select! {
            reply = &mut work => Some(reply),
            () = left.cancelled() => None,
            () = tokio::time::sleep(PATIENCE) => None,
        };
        if let Some(reply) = reply {
            return render::tool_result(reply, form).into();
        }
        if left.is_cancelled() || !self.has_room() {
            let reply = tokio::select! {
                reply = &mut work => reply,
                () = left.cancelled() => {
                    gone.cancel();
                    work.await
                }
            };
            return render::tool_result(reply, form).into();
        }
        let ttl_ms = u64::try_from((limit + SPARE).as_millis()).unwrap_or(u64::MAX);
        let mut options = TaskOptions::new().with_ttl_ms(ttl_ms).with_poll_interval_ms(POLL_MS);
        if let Some(said) = progress.said() {
            options = options.with_status_message(said);
        }
        // Locked until its owner is noted: nobody else can ask for it before.
        let mut owners = self.owners();
        let task = self.manager.spawn(options, |task| Box::pin(go_on(task, work, gone, progress, form)));
        owners.insert(task.task_id.clone(), owner);
        CallToolResponse::Task(CreateTaskResult::new(task))
    }

    /// Returns how a task stands.
    ///
    /// # Errors
    /// When the caller has no such task.
    pub fn get(&self, id: &str, owner: &str) -> Result<DetailedTask, ErrorData> {
        self.check(id, owner)?;
        self.manager.get_task(id)
    }

    /// Cancels a task; what is in the works ends soon after.
    ///
    /// # Errors
    /// When the caller has no such task.
    pub fn cancel(&self, id: &str, owner: &str) -> Result<(), ErrorData> {
        self.check(id, owner)?;
        self.manager.cancel_task(id)
    }

    /// Refuses those who did not begin the task, in the words for a task that there is not.
    ///
    /// # Errors
    /// When the caller has no such task.
    pub fn check(&self, id: &str, owner: &str) -> Result<(), ErrorData> {
        if self.owners().get(id).is_some_and(|own| own == owner) {
            return Ok(());
        }
        let id: String = id.chars().filter(|it| !it.is_control()).take(64).collect();
        Err(ErrorData::invalid_params(format!("unknown task: {id}"), None))
    }

    fn has_room(&self) -> bool {
        let mut owners = self.owners();
        if owners.len() >= MAX_KNOWN {
            owners.retain(|id, _| self.manager.get_task(id).is_ok());
        }
        owners.len() < MAX_KNOWN && self.manager.running_task_count() < MAX_RUNNING
    }

    fn owners(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        self.manager.shutdown();
    }
}

/// Waits for the answer of a call that has become a task.
async fn go_on(
    task: TaskContext,
    mut work: ReplyFuture,
    gone: CancellationToken,
    progress: Progress,
    form: Form,
) -> Result<rmcp::model::CallToolResult, TaskExit> {
    // Its result is handed out on its own: no transport splices into that.
    let form = match form {
        Form::Whole(_) => Form::Whole(StructuredContent::Held),
        Form::Text => Form::Text,
    };
    loop {
        tokio::select! {
            reply = &mut work => return Ok(render::tool_result(reply, form)),
            () = task.cancelled() => {
                gone.cancel();
                // It ends, and its row is written.
                work.await;
                return Err(TaskExit::Cancelled);
            }
            () = tokio::time::sleep(Duration::from_millis(POLL_MS)) => {
                if let Some(said) = progress.said() {
                    task.set_status_message(said);
                }
            }
        }
    }
}
