//! The plain calls of a conversation over lines.
//!
//! One that waits for nothing is answered where it was read; rmcp would start two tasks for it.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::ServerJsonRpcMessage;
use tokio::io::AsyncWrite;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use bailiwick_contract::Progress;
use bailiwick_contract::json::read_unambiguous;

use super::line_output::LineOutput;
use super::plain_call::PlainCall;
use super::progress::{Notice, told};
use super::request_ids::RequestIds;
use super::{Handler, render};

/// How long the end of a conversation waits for the answers of calls that were cancelled; rmcp waits as long for its own.
const END_PATIENCE: Duration = Duration::from_secs(5);

/// What answers plain calls.
pub(super) struct LineCalls<W> {
    handler: Handler,
    output: Arc<LineOutput<W>>,
    ids: Arc<Mutex<RequestIds>>,
    /// The calls that wait for something.
    tasks: TaskTracker,
}

impl<W: AsyncWrite + Unpin + Send + 'static> LineCalls<W> {
    /// Creates what answers the calls of a conversation.
    pub fn new(handler: Handler, output: Arc<LineOutput<W>>) -> Self {
        Self { handler, output, ids: Arc::default(), tasks: TaskTracker::new() }
    }

    /// Returns the ids of the requests in flight, those of rmcp included.
    pub fn ids(&self) -> MutexGuard<'_, RequestIds> {
        lock(&self.ids)
    }

    /// Reads a line as a plain call. `None` for everything that is for rmcp to judge.
    pub fn read(&self, line: &[u8]) -> Option<PlainCall> {
        PlainCall::read_line(read_unambiguous(line).ok()?, self.handler.has_agreed())
    }

    /// Takes the id of a call. Returns what cancels the call; `None` where the id is taken.
    pub fn take(&self, call: &PlainCall) -> Option<CancellationToken> {
        let gone = self.handler.call_token();
        self.ids().take_with(&call.id, Some(gone.clone())).then_some(gone)
    }

    /// Does something as far as that goes without waiting; the rest is done by a task of its own.
    pub async fn begin(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut work = Box::pin(work);
        // Polled once, so that nothing of it is lost where this future is dropped.
        if poll_fn(|task| Poll::Ready(work.as_mut().poll(task).is_pending())).await {
            self.tasks.spawn(work);
        }
    }

    /// Waits until what was begun is answered, but not for long.
    pub async fn end(&self) {
        self.tasks.close();
        let _ = timeout(END_PATIENCE, self.tasks.wait()).await;
    }

    /// Returns what answers a call, ends its turn, and writes the answer.
    pub fn answer(
        &self,
        call: PlainCall,
        gone: CancellationToken,
        turn: Option<OwnedSemaphorePermit>,
    ) -> impl Future<Output = ()> + Send + use<W> {
        let (handler, output, ids) = (self.handler.clone(), Arc::clone(&self.output), Arc::clone(&self.ids));
        async move {
            let (id, token, board) = (call.id.clone(), call.progress_token.clone(), Progress::default());
            let mut work = std::pin::pin!(handler.answer_line(call, gone, &board));
            // A bug in one call is not the end of the conversation.
            let work = poll_fn(|task| {
                catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(task)))
                    .map_or_else(|_| Poll::Ready(None), |answer| answer.map(Some))
            });
            let answer = match token {
                None => work.await,
                Some(token) => {
                    let tell = async |notice: Notice| {
                        if output.takes_notices() {
                            let _ = output.write(notice.to_message(&token).into_bytes()).await;
                        }
                    };
                    told(work, &board, tell).await
                }
            };
            let is_awaited = lock(&ids).answered(&id);
            drop(turn);
            if is_awaited {
                let answer = answer.unwrap_or_else(|| {
                    let error = ErrorData::internal_error("the call could not be answered", None);
                    render::message(&ServerJsonRpcMessage::error(error, Some(id)))
                });
                // That the client has gone is noticed by its input.
                let _ = output.write(answer).await;
            }
        }
    }
}

fn lock(ids: &Mutex<RequestIds>) -> MutexGuard<'_, RequestIds> {
    ids.lock().unwrap_or_else(PoisonError::into_inner)
}
