//! Waiting until the conditions of a round hold, cannot hold any more, or the time is over.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinSet;

use crate::process::Change;
use bailiwick_contract::{Cancel, ErrorCode, Failure, Progress};

use super::condition::{Evidence, Outcome};
use super::probe::Probe;
use super::round::Round;

/// How long the last look may take, when the time is over.
const LAST_LOOK: Duration = Duration::from_secs(1);

/// What a probe found out about the condition of this number.
type ProbeResult = (usize, Result<Evidence, Failure>);

/// Waits. What it has begun ends with it, also when it is dropped.
///
/// # Errors
/// Where the files of a process are damaged, or a file may not be checked.
pub async fn hold(
    mut round: Round,
    cancel: &Cancel,
    progress: &Progress,
    describe: impl Fn(&Round) -> String,
) -> Result<(Round, Outcome), Failure> {
    let mut helpers = JoinSet::new();
    let (sender, mut found) = mpsc::unbounded_channel::<ProbeResult>();
    let changed = Arc::new(Notify::new());
    // Before the first look, so that nothing comes between.
    for process in round.processes() {
        let wants =
            if round.wants_output_of(&process) { ProcessInterest::Output } else { ProcessInterest::End };
        let mut changes = process.changes();
        let last = *changes.borrow_and_update();
        helpers.spawn(listen(changes, last, wants, Arc::clone(&changed)));
    }
    for (at, watched) in round.watched().iter().enumerate().filter(|(_, watched)| watched.is_open()) {
        if let Some(probe) = Probe::of(&watched.condition, watched.version()) {
            let sender = sender.clone();
            // Nobody waits any more where it cannot be sent.
            helpers.spawn(async move { drop(sender.send((at, probe.holds().await))) });
        }
    }
    let mut is_last = false;
    loop {
        let flag = if is_last { Cancel::after(LAST_LOOK) } else { cancel.clone() };
        round = tokio::task::spawn_blocking(move || round.look(&flag).map(|()| round)).await.map_err(
            |error| {
                Failure::new(ErrorCode::ExecutionFailed, format!("the processes could not be read: {error}"))
            },
        )??;
        if let Some(outcome) = round.outcome() {
            return Ok((round, outcome));
        }
        if is_last {
            return Ok((round, Outcome::TimeOver));
        }
        progress.say(describe(&round));
        // Where the computer stood still, more than one of these has come: what came with the end of the time counts.
        tokio::select! {
            biased;
            () = tokio::time::sleep_until(cancel.deadline().into()) => is_last = true,
            () = changed.notified() => {}
            Some((at, evidence)) = found.recv() => round.hold(at, evidence?),
            () = until(round.due_in()) => {}
        }
        while let Ok((at, evidence)) = found.try_recv() {
            round.hold(at, evidence?);
        }
    }
}

/// What is wanted to be told of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProcessInterest {
    /// That it has printed, and that it is over.
    Output,
    /// That it is over.
    End,
}

/// Notifies of each wanted change of a process after `last`, until the process is over.
///
/// `last` is read by the caller, before its first look: this task may begin only when more has come, which would be taken
/// for seen.
async fn listen(
    mut changes: watch::Receiver<Change>,
    mut last: Change,
    wants: ProcessInterest,
    changed: Arc<Notify>,
) {
    while !last.ended {
        let is_wanted =
            |change: &Change| change.ended || (wants == ProcessInterest::Output && change.end > last.end);
        let next = changes.wait_for(is_wanted).await.map(|change| *change);
        changed.notify_one();
        let Ok(next) = next else { return };
        last = next;
    }
}

/// Waits so long, or for ever.
async fn until(due_in: Option<Duration>) {
    match due_in {
        Some(left) => tokio::time::sleep(left).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::super::condition::{Condition, ConditionMode, ConditionStatus};
    use super::*;
    use bailiwick_contract::time;

    #[tokio::test]
    async fn what_is_printed_before_the_listener_begins_is_notified() {
        let (sender, mut changes) = watch::channel(Change { end: 6, ended: false });
        let last = *changes.borrow_and_update();
        let changed = Arc::new(Notify::new());
        let listener = tokio::spawn(listen(changes, last, ProcessInterest::Output, Arc::clone(&changed)));
        // The one thread of this runtime has not begun it yet.
        sender.send_replace(Change { end: 10, ended: false });
        let notified = tokio::time::timeout(Duration::from_secs(60), changed.notified()).await;
        assert!(notified.is_ok(), "a change between the first look and the listener's beginning is lost");
        listener.abort();
    }

    #[tokio::test]
    async fn what_came_together_with_the_end_of_the_time_counts() {
        for _ in 0..10 {
            let conditions = [Duration::from_millis(50), Duration::from_secs(1000)].map(Condition::Time);
            let round =
                Round::begin(ConditionMode::All, conditions.into(), time::now_ms(), &[]).expect("it begins");
            let cancel = Cancel::after(Duration::from_millis(100));
            let waits =
                tokio::spawn(
                    async move { hold(round, &cancel, &Progress::default(), |_| String::new()).await },
                );
            tokio::time::sleep(Duration::from_millis(20)).await;
            // The one thread of this runtime stands still, as a computer under load may.
            std::thread::sleep(Duration::from_millis(120));
            let (round, outcome) = waits.await.expect("no panic").expect("no failure");
            assert_eq!(outcome, Outcome::TimeOver);
            let held = round.watched().iter().map(|it| matches!(it.standing, ConditionStatus::Held(_)));
            assert_eq!(held.collect::<Vec<_>>(), [true, false]);
        }
    }
}
