//! What Git says of a project, for `code.context`: asked each time, and kept for as long as Git takes to say it again.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::registry::prelude::*;
use bailiwick_contract::{Cancel, ErrorCode};
use bailiwick_platform::fs::FileId;
use bailiwick_providers::git::{Git, UntrackedMode, busy, status};
use bailiwick_providers::orientation::{HotFiles, hot_files};

use super::super::git::{Counts, open_until};
use super::context::{GitState, until};

/// How long Git is waited for where nothing is known of its last answer.
const FIRST: Duration = Duration::from_secs(4);
/// How long it is waited for otherwise.
const AGAIN: Duration = Duration::from_millis(300);
/// From which time on Git takes long, so that its answer is kept: a faster one is always waited for.
const LONG: Duration = Duration::from_secs(2);
/// The same in a large repository, where it takes as long each time, however idle the computer is.
const LONG_IF_LARGE: Duration = Duration::from_millis(400);
/// How long Git may take for later questions.
const LONGEST: Duration = Duration::from_secs(60);
/// How long a question sleeps before it looks at its cancellation flag.
const TURN: Duration = Duration::from_millis(50);
/// How many answers are kept.
const MAX_KEPT: usize = 32;

/// What is asked of Git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GitWants {
    /// The state of the working tree.
    pub state: bool,
    /// What the last commits changed most.
    pub hot_files: bool,
}

/// What Git says.
#[derive(Debug, Clone, Default)]
pub(super) struct WorkTree {
    pub state: Option<GitState>,
    pub hot: HotFiles,
    pub notes: Vec<String>,
}

/// The folder, the rules of the scope, and what is asked.
type Key = (FileId, [u8; 32], String, GitWants);
/// What a call comes to, once it has ended.
type Answer = Option<Result<Arc<WorkTree>, Failure>>;

#[derive(Default)]
struct KnownAnswer {
    last: Option<(Instant, Arc<WorkTree>)>,
    running: Option<watch::Receiver<Answer>>,
}

/// Oldest use first.
static KNOWN: Mutex<Vec<(Key, KnownAnswer)>> = Mutex::new(Vec::new());

/// Asks Git. Where it takes too long, its last answer is given with its age; without one, there is a note instead.
pub(super) async fn work_tree(cx: &Context, permit: &Permit, wants: GitWants) -> Result<WorkTree, Failure> {
    if !wants.state && !wants.hot_files {
        return Ok(WorkTree::default());
    }
    let path = permit.path().clone();
    let rules = path.rules().fingerprint();
    let folder = tokio::task::spawn_blocking(move || path.open_dir().map(|(dir, _)| dir.id())).await;
    let folder = folder.map_err(|error| {
        Failure::new(ErrorCode::ExecutionFailed, format!("the folder could not be read: {error}"))
    })??;
    let key: Key = (folder, rules, permit.needed_scope()?.id().to_owned(), wants);
    let last = with(&key, |known| known.last.clone());
    let patience = if last.is_some() { AGAIN } else { FIRST };
    let wait_until = until(patience, &cx.cancel);
    let answer = loop {
        // What runs already may have begun before a change that this request is to see.
        let running = with(&key, |known| known.running.clone());
        let is_own = running.is_none();
        let mut running = match running {
            Some(running) => running,
            None => start(cx, permit, &key)?,
        };
        let ended = ended_by(&mut running, wait_until, &cx.cancel).await?;
        if is_own || ended.is_none() {
            break ended.filter(|_| is_own);
        }
    };
    match (answer, last) {
        (Some(Ok(found)), _) => Ok((*found).clone()),
        // A folder that is in no repository is nothing to tell.
        (Some(Err(failure)), _) if failure.code == ErrorCode::NotFound => Ok(WorkTree::default()),
        (Some(Err(failure)), _) => {
            Ok(noted(WorkTree::default(), format!("Git tells nothing: {}", failure.message)))
        }
        (None, Some((at, found))) => {
            let seconds = at.elapsed().as_secs().max(1);
            let note =
                format!("Git takes long here: what it says is {seconds} s old; git.status waits for it");
            Ok(noted((*found).clone(), note))
        }
        (None, None) => {
            let note = "Git took too long; git.status and git.log wait for it".to_owned();
            Ok(noted(WorkTree::default(), note))
        }
    }
}

fn noted(mut found: WorkTree, note: String) -> WorkTree {
    found.notes.push(note);
    found
}

/// Waits until a call has ended, or the time is over.
///
/// # Errors
/// `cancelled`, `timeout`.
async fn ended_by(
    running: &mut watch::Receiver<Answer>,
    until: Instant,
    cancel: &Cancel,
) -> Result<Answer, Failure> {
    loop {
        let now = Instant::now();
        let turn = TURN.min(until.saturating_duration_since(now));
        match tokio::time::timeout(turn, running.wait_for(Option::is_some)).await {
            Ok(Ok(answer)) => return Ok(answer.clone()),
            // It ended without an answer.
            Ok(Err(_)) => return Ok(None),
            Err(_) if now >= until => return Ok(None),
            Err(_) => cancel.check()?,
        }
    }
}

/// Starts a call that continues when this request has ended, so that the next one finds its answer.
fn start(cx: &Context, permit: &Permit, key: &Key) -> Result<watch::Receiver<Answer>, Failure> {
    let (sender, receiver) = watch::channel(None);
    let cancel = Cancel::after(LONGEST);
    let git = open_until(cancel, cx, permit, permit.path().clone())?;
    with(key, |known| known.running = Some(receiver.clone()));
    let (guard, began) = (RunningCall(key.clone()), Instant::now());
    tokio::spawn(async move {
        let (answer, long) = match git.await {
            Ok(git) => {
                let long = if git.repository.is_large() { LONG_IF_LARGE } else { LONG };
                (ask(&git, guard.0.3).await.map(Arc::new), long)
            }
            Err(failure) => (Err(failure), LONG),
        };
        if let Ok(found) = &answer {
            let last = (began.elapsed() >= long).then(|| (Instant::now(), Arc::clone(found)));
            with(&guard.0, |known| known.last = last);
        }
        // Before anyone hears of it: who comes now begins another call.
        drop(guard);
        let _ = sender.send(Some(answer));
    });
    Ok(receiver)
}

/// A call that runs.
struct RunningCall(Key);

impl Drop for RunningCall {
    fn drop(&mut self) {
        with(&self.0, |known| known.running = None);
    }
}

fn with<T>(key: &Key, look: impl FnOnce(&mut KnownAnswer) -> T) -> T {
    let mut all = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let at = all.iter().position(|(known, _)| known == key);
    let mut used = match at {
        Some(at) => all.remove(at),
        None => (key.clone(), KnownAnswer::default()),
    };
    let found = look(&mut used.1);
    if all.len() >= MAX_KEPT {
        all.remove(0);
    }
    all.push(used);
    found
}

async fn ask(git: &Git, wants: GitWants) -> Result<WorkTree, Failure> {
    let mut found = WorkTree::default();
    let untracked = if wants.state { UntrackedMode::Normal } else { UntrackedMode::None };
    let paths: Vec<_> = git.repository.pathspec().into_iter().collect();
    let status = status(git, &paths, untracked).await?;
    if wants.state {
        let (counts, branch) = (Counts::of(&status), &status.branch);
        found.state = Some(GitState {
            branch: branch.name.clone(),
            commit: branch.commit.clone(),
            upstream: branch.upstream.clone(),
            ahead: branch.ahead,
            behind: branch.behind,
            counts,
            in_progress: busy(&git.repository)?,
        });
    }
    if let Some(head) = status.branch.commit.as_ref().filter(|_| wants.hot_files) {
        found.hot = hot_files(git, head).await?;
    }
    Ok(found)
}
