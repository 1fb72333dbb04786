//! One connection to the keeper: requests, each with its answer, and events for anyone who watches.
//!
//! Only who says the key is heard; it is in the status file. The pipe's list lets in this user alone.

use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::net::windows::named_pipe::NamedPipeServer;
use tokio::sync::{mpsc, oneshot, watch};

use super::listener::{PendingRequest, Progress};
use crate::launch::kept::message::{Answer, LENGTH_BYTES, MAX_MESSAGE_BYTES, Request, first_length};
use crate::launch::kept::status::{Key, is_same_key};

/// How long anyone who connects may take to say the key.
const MAX_SILENCE: std::time::Duration = std::time::Duration::from_secs(10);

/// Serves a connection until either side ends it.
pub(super) async fn serve(
    pipe: NamedPipeServer,
    key: Key,
    ask: mpsc::Sender<PendingRequest>,
    mut progress: watch::Receiver<Progress>,
) {
    let (reader, mut writer) = tokio::io::split(pipe);
    let mut requests = Requests { reader, received: Vec::new() };
    let hello = tokio::time::timeout(MAX_SILENCE, requests.next(1 + key.len())).await;
    match hello {
        Ok(Some(Request::Hello(said))) if is_same_key(&said, &key) => {}
        _ => return,
    }
    let mut is_watching = false;
    loop {
        tokio::select! {
            request = requests.next(MAX_MESSAGE_BYTES) => {
                let Some(request) = request else { return };
                let told = match request {
                    Request::Hello(_) => return,
                    Request::Watch => {
                        is_watching = true;
                        let now = *progress.borrow_and_update();
                        let both = [Answer::Done.encode(), Answer::Output(now.end).encode()].concat();
                        if now.has_ended { return };
                        writer.write_all(&both).await
                    }
                    request => {
                        let (answer, answered) = oneshot::channel();
                        if ask.send(PendingRequest { request, answer }).await.is_err() {
                            return;
                        }
                        let Ok(answer) = answered.await else { return };
                        writer.write_all(&answer.encode()).await
                    }
                };
                if told.is_err() {
                    return;
                }
            }
            changed = progress.changed() => {
                let now = *progress.borrow_and_update();
                if changed.is_err() || !tell(&mut writer, now, is_watching).await {
                    return;
                }
            }
        }
    }
}

/// Returns what is new to anyone who watches. Returns whether the connection continues.
async fn tell(writer: &mut WriteHalf<NamedPipeServer>, now: Progress, is_watching: bool) -> bool {
    if is_watching {
        let mut events = Answer::Output(now.end).encode();
        if now.has_ended {
            events.extend(Answer::Ended.encode());
        }
        if writer.write_all(&events).await.is_err() {
            return false;
        }
    }
    !now.has_ended
}

/// What arrives, cut into messages. Waiting can be given up at any point.
struct Requests {
    reader: ReadHalf<NamedPipeServer>,
    received: Vec<u8>,
}

impl Requests {
    /// Returns the next request; none when the connection is over, or what is said is not understood.
    async fn next(&mut self, longest: usize) -> Option<Request> {
        loop {
            if let Some(length) = first_length(&self.received, longest).ok()?
                && self.received.len() >= length
            {
                let request = Request::decode(&self.received[LENGTH_BYTES..length]).ok();
                self.received.drain(..length);
                return request;
            }
            let mut chunk = [0; 4 << 10];
            match self.reader.read(&mut chunk).await {
                Ok(length) if length > 0 => self.received.extend_from_slice(&chunk[..length]),
                _ => return None,
            }
        }
    }
}
