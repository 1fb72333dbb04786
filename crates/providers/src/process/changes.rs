//! Telling all that listen how a process keeps running, over one connection to its keeper.

use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch::{self, Receiver, Sender};

use bailiwick_platform::launch::kept::{Control, Event};

use super::instance::{Change, Process};

/// How long is waited before a keeper that does not answer is asked again, at first and at most.
const RETRY: [Duration; 2] = [Duration::from_millis(5), Duration::from_secs(1)];

type Slot<'a> = MutexGuard<'a, Option<Arc<Sender<Change>>>>;

/// Joins those who listen; the first begins the connection, which ends with the last, or with the process.
pub(super) fn subscribe(process: &Arc<Process>) -> Receiver<Change> {
    let mut slot = slot(process);
    if let Some(sender) = slot.as_ref() {
        return sender.subscribe();
    }
    let (sender, receiver) = watch::channel(now(process));
    if !receiver.borrow().ended {
        let sender = Arc::new(sender);
        *slot = Some(Arc::clone(&sender));
        tokio::spawn(tell(Arc::clone(process), sender));
    }
    receiver
}

fn slot(process: &Process) -> Slot<'_> {
    process.watched.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Looks how far the process has come. What cannot be read tells nothing more.
fn now(process: &Process) -> Change {
    match process.status() {
        Ok(status) => Change { end: status.end, ended: status.state.is_final() },
        Err(failure) => Change { end: 0, ended: failure.rule() == Some("damaged-process") },
    }
}

fn publish(sender: &Sender<Change>, change: Change) {
    sender.send_if_modified(|last| {
        let new = Change { end: change.end.max(last.end), ended: change.ended || last.ended };
        std::mem::replace(last, new) != new
    });
}

/// Listens to the keeper until the process is over, or nobody listens any more.
async fn tell(process: Arc<Process>, sender: Arc<Sender<Change>>) {
    let mut pause = RETRY[0];
    loop {
        tokio::select! {
            heard = follow(&process, &sender) => {
                let change = now(&process);
                if change.ended {
                    // Anyone who comes from here on finds it over.
                    *slot(&process) = None;
                    publish(&sender, change);
                    return;
                }
                publish(&sender, change);
                pause = if heard { RETRY[0] } else { (pause * 2).min(RETRY[1]) };
                tokio::time::sleep(pause).await;
            }
            () = sender.closed() => {
                let mut slot = slot(&process);
                if sender.receiver_count() == 0 {
                    *slot = None;
                    return;
                }
            }
        }
    }
}

/// Passes on what the keeper tells until it tells no more. Returns whether it was reached.
async fn follow(process: &Process, sender: &Sender<Change>) -> bool {
    let Ok(mut control) = Control::connect(process.folder()).await else { return false };
    if control.watch().await.is_err() {
        return false;
    }
    // What came before the keeper began to tell.
    publish(sender, now(process));
    while let Ok(Event::Output { end }) = control.next_event().await {
        publish(sender, Change { end, ended: false });
    }
    true
}
