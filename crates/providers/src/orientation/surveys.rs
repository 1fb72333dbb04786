//! Surveys of the folders of scopes, kept while somebody asks: a question after the first looks only at what has changed.
//!
//! A thread walks, and a question waits for it as long as it has patience; then it is answered by what was seen until then,
//! and the thread continues. Where changes cannot be heard of, nothing is kept, and each question is a walk of its own.

use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use bailiwick_contract::{Cancel, ErrorCode, Failure};
use bailiwick_platform::fs::{Dir, FileId};
use bailiwick_policy::PermittedPath;

use crate::code::index::{Depth, RootWatches, below, lock};

use super::survey::{FolderParts, Survey, SurveyWalk};

/// How long a survey is kept that nobody asks for.
const HELD_FOR: Duration = Duration::from_secs(300);
/// How many are kept at a time.
const MAX_KEPT: usize = 8;
/// How long a walk may continue for later questions.
const MAX_WALK: Duration = Duration::from_secs(300);
/// How many folders are checked one by one; where more have changed, all is walked.
const MAX_FOLDERS: usize = 256;
/// How long a question sleeps before it looks at its cancellation flag.
const TURN: Duration = Duration::from_millis(20);

/// The surveys of one service.
#[derive(Default)]
pub struct Surveys {
    kept: Arc<Mutex<Vec<Arc<FolderSurvey>>>>,
}

/// The survey of one folder of a scope, and the questions that its thread answers.
struct FolderSurvey {
    root: FileId,
    rules: [u8; 32],
    parts: Mutex<FolderParts>,
    questions: Mutex<Questions>,
    changed: Condvar,
}

#[derive(Default)]
struct Questions {
    asked: u64,
    /// The last one that has its answer, and whether that is of all files.
    answered: u64,
    is_whole: bool,
    failed: Option<Failure>,
    /// The folder of the last question, and until when it waits.
    last: Option<(PermittedPath, Instant)>,
    used: Option<Instant>,
    /// What runs now.
    cancel: Option<Cancel>,
    has_ended: bool,
}

impl Surveys {
    /// Surveys a permitted folder, for as long as there is time.
    ///
    /// # Errors
    /// As [`PermittedPath::open_dir`] for the folder itself; `cancelled`, `timeout`.
    pub fn survey(
        &self,
        target: &PermittedPath,
        dir: Dir,
        until: Instant,
        cancel: &Cancel,
    ) -> Result<Survey, Failure> {
        // Rules for what is ignored are in the folders above, too, which are not watched for another one.
        if !target.rel().is_root() {
            return walk_once(target, dir, until, cancel);
        }
        let kept = self.kept(target, dir.id())?;
        let mut questions = lock(&kept.questions);
        questions.asked += 1;
        questions.last = Some((target.clone(), until));
        questions.used = Some(Instant::now());
        let number = questions.asked;
        kept.changed.notify_all();
        let is_whole = loop {
            if questions.answered >= number {
                break questions.is_whole;
            }
            if let Some(failure) = questions.failed.clone() {
                return Err(failure);
            }
            let now = Instant::now();
            if questions.has_ended || now >= until {
                break false;
            }
            let woken = kept.changed.wait_timeout(questions, TURN.min(until - now));
            questions = woken.unwrap_or_else(PoisonError::into_inner).0;
            cancel.check()?;
        };
        drop(questions);
        Ok(lock(&kept.parts).survey(target, !is_whole))
    }

    /// Returns the survey of a folder, with its thread.
    fn kept(&self, target: &PermittedPath, root: FileId) -> Result<Arc<FolderSurvey>, Failure> {
        let rules = target.rules().fingerprint();
        let mut kept = lock(&self.kept);
        kept.retain(|it| !lock(&it.questions).has_ended);
        if let Some(at) = kept.iter().position(|it| it.root == root && it.rules == rules) {
            let found = kept.remove(at);
            kept.push(Arc::clone(&found));
            return Ok(found);
        }
        if kept.len() >= MAX_KEPT {
            kept.remove(0).end();
        }
        let new = Arc::new(FolderSurvey {
            root,
            rules,
            parts: Mutex::default(),
            questions: Mutex::default(),
            changed: Condvar::new(),
        });
        let (survey, all) = (Arc::clone(&new), Arc::downgrade(&self.kept));
        let thread = std::thread::Builder::new().name("survey".to_owned());
        thread.spawn(move || SurveyThread { survey, all }.run()).map_err(|error| {
            Failure::new(ErrorCode::ExecutionFailed, format!("no thread can be started: {error}"))
        })?;
        kept.push(Arc::clone(&new));
        Ok(new)
    }
}

impl Drop for Surveys {
    fn drop(&mut self) {
        lock(&self.kept).iter().for_each(|it| it.end());
    }
}

impl FolderSurvey {
    /// Ends its thread.
    fn end(&self) {
        let mut questions = lock(&self.questions);
        questions.has_ended = true;
        if let Some(cancel) = &questions.cancel {
            cancel.cancel();
        }
        self.changed.notify_all();
    }
}

struct SurveyThread {
    survey: Arc<FolderSurvey>,
    all: Weak<Mutex<Vec<Arc<FolderSurvey>>>>,
}

impl Drop for SurveyThread {
    fn drop(&mut self) {
        self.survey.end();
        if let Some(all) = self.all.upgrade() {
            lock(&all).retain(|it| !Arc::ptr_eq(it, &self.survey));
        }
    }
}

impl SurveyThread {
    /// Answers questions until nobody asks for a while, or changes are not heard of.
    fn run(self) {
        let watched = Mutex::new(RootWatches::default());
        let mut is_whole = false;
        while let Some((number, target, until, cancel)) = self.next_question() {
            let looked = self.look(&target, &watched, is_whole, until, &cancel);
            let mut questions = lock(&self.survey.questions);
            questions.cancel = None;
            match looked {
                Ok(all) => {
                    is_whole = all;
                    (questions.answered, questions.is_whole) = (number, all);
                }
                Err(failure) => questions.failed = Some(failure),
            }
            if questions.failed.is_some() || !lock(&watched).hears() {
                return;
            }
            self.survey.changed.notify_all();
        }
    }

    fn next_question(&self) -> Option<(u64, PermittedPath, Instant, Cancel)> {
        let mut questions = lock(&self.survey.questions);
        loop {
            if questions.has_ended {
                return None;
            }
            if questions.asked > questions.answered
                && let Some((target, until)) = questions.last.clone()
            {
                let cancel = Cancel::after(MAX_WALK);
                questions.cancel = Some(cancel.clone());
                return Some((questions.asked, target, until, cancel));
            }
            let idle = questions.used.map_or(Duration::ZERO, |at| at.elapsed());
            let left = HELD_FOR.checked_sub(idle)?;
            let woken = self.survey.changed.wait_timeout(questions, left);
            questions = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Looks at what has changed, or at all. Returns whether all was seen.
    fn look(
        &self,
        target: &PermittedPath,
        watched: &Mutex<RootWatches>,
        is_whole: bool,
        until: Instant,
        cancel: &Cancel,
    ) -> Result<bool, Failure> {
        let dir = target.open_dir_itself()?;
        let parts = &self.survey.parts;
        let mut changes = if is_whole { lock(watched).changes(&dir, |_| true) } else { Default::default() };
        if !is_whole || changes.everything || changes.folders.len() > MAX_FOLDERS {
            *lock(parts) = FolderParts::default();
            lock(watched).renew();
            return SurveyWalk::new(parts, watched, target, until).folder(target, dir, Depth::All, cancel);
        }
        for path in &changes.gone {
            lock(parts).forget(path, Depth::All);
        }
        let mut all = true;
        for (path, depth) in std::mem::take(&mut changes.folders) {
            if depth == Depth::All {
                lock(watched).forget(&path);
            }
            lock(parts).forget(&path, depth);
            let opened = below(target, &path).and_then(|place| Ok((place.open_dir_itself()?, place)));
            match opened {
                Ok((dir, place)) => {
                    all &=
                        SurveyWalk::new(parts, watched, target, until).folder(&place, dir, depth, cancel)?;
                }
                Err(failure) if path.is_empty() => return Err(failure),
                Err(_) => {
                    // Gone, closed, or a link by now.
                    lock(watched).forget(&path);
                    lock(parts).forget(&path, Depth::All);
                }
            }
        }
        Ok(all)
    }
}

/// Walks a folder until all is seen or the time is over.
fn walk_once(target: &PermittedPath, dir: Dir, until: Instant, cancel: &Cancel) -> Result<Survey, Failure> {
    let (parts, watched) = (Mutex::default(), Mutex::default());
    let all = SurveyWalk::new(&parts, &watched, target, until).folder(target, dir, Depth::All, cancel)?;
    Ok(lock(&parts).survey(target, !all))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;
    use bailiwick_contract::{RawPath, id};
    use bailiwick_policy::{OwnFolders, RootPaths, Scope};

    const LONG: Duration = Duration::from_secs(60);

    struct TestFolder {
        root: PathBuf,
        target: PermittedPath,
        surveys: Surveys,
    }

    impl TestFolder {
        fn new() -> Self {
            let root = std::env::temp_dir().join(format!("bailiwick-survey-{}", id::new_id()));
            for path in ["src/main.rs", "src/deep/er/a.py", "web/package.json", "old/b.rs", ".hidden/c.rs"] {
                fs::create_dir_all(root.join(path).parent().expect("below the root")).expect("made");
                fs::write(root.join(path), "text\n").expect("written");
            }
            let config = serde_json::json!({"id": "app", "roots": [root]});
            let config = serde_json::from_value(config).expect("a good scope");
            let scope = Scope::compile(&config, &RootPaths::default(), &OwnFolders::default());
            let target = scope.expect("a good scope").readable(&RawPath(".".to_owned())).expect("the root");
            Self { root, target, surveys: Surveys::default() }
        }

        /// Asks, and compares with a walk.
        fn files(&self) -> u64 {
            let dir = || self.target.open_dir_itself().expect("it is there");
            let (until, cancel) = (Instant::now() + LONG, Cancel::after(LONG));
            let kept = self.surveys.survey(&self.target, dir(), until, &cancel).expect("it can be read");
            let walked = walk_once(&self.target, dir(), until, &cancel).expect("it can be read");
            assert!(!kept.partial && !walked.partial);
            assert_eq!(format!("{kept:?}"), format!("{walked:?}"));
            kept.files
        }

        fn write(&self, path: &str, text: &str) {
            fs::write(self.root.join(path), text).expect("written");
        }
    }

    impl Drop for TestFolder {
        fn drop(&mut self) {
            let _ = bailiwick_platform::fs::remove_tree(&self.root);
        }
    }

    #[test]
    fn a_kept_survey_is_what_a_walk_finds_whatever_changes() {
        let at = TestFolder::new();
        assert_eq!(at.files(), 4);
        assert_eq!(at.files(), 4);
        at.write("src/main.rs", "a longer text\n");
        at.write("src/deep/new.rs", "");
        assert_eq!(at.files(), 5);
        fs::create_dir_all(at.root.join("more/and/more")).expect("made");
        at.write("more/and/more/Cargo.toml", "");
        assert_eq!(at.files(), 6);
        fs::rename(at.root.join("more/and"), at.root.join("src/and")).expect("moved");
        assert_eq!(at.files(), 6);
        fs::rename(at.root.join("old"), at.root.join("node_modules")).expect("moved");
        assert_eq!(at.files(), 5, "what others made is not entered");
        at.write(".gitignore", "deep/\n");
        assert_eq!(at.files(), 3, "what is ignored is not counted");
        at.write("src/deep/er/a.py", "changed");
        at.write("src/.ignore", "and/\n");
        assert_eq!(at.files(), 2);
        at.write(".gitignore", "");
        assert_eq!(at.files(), 4);
        fs::remove_dir_all(at.root.join("src")).expect("removed");
        assert_eq!(at.files(), 1);
        at.write("web/package.json", "{}");
        fs::rename(at.root.join("web"), at.root.join(".web")).expect("moved");
        assert_eq!(at.files(), 0);
    }

    #[test]
    fn many_questions_at_once_are_answered_and_a_survey_that_is_let_go_begins_again() {
        let at = TestFolder::new();
        std::thread::scope(|scope| {
            let ask = || (0..20).for_each(|_| assert_eq!(at.files(), 4));
            (0..4)
                .map(|_| scope.spawn(ask))
                .collect::<Vec<_>>()
                .into_iter()
                .for_each(|it| it.join().expect("answered"));
        });
        assert!(lock(&at.surveys.kept).len() <= 1, "where changes are heard of, all share one");
        let kept = lock(&at.surveys.kept).first().cloned();
        if let Some(kept) = kept {
            kept.end();
        }
        at.write("src/new.rs", "");
        assert_eq!(at.files(), 5);
    }

    #[test]
    fn a_question_that_cannot_wait_gets_what_was_seen_until_then() {
        let at = TestFolder::new();
        let dir = at.target.open_dir_itself().expect("it is there");
        let seen =
            at.surveys.survey(&at.target, dir, Instant::now(), &Cancel::after(LONG)).expect("answered");
        assert!(seen.files <= 4);
        assert_eq!(at.files(), 4);
        let dir = at.target.open_dir_itself().expect("it is there");
        let cancel = Cancel::after(LONG);
        cancel.cancel();
        let until = Instant::now() + LONG;
        // It may be answered before it looks at the flag.
        if let Err(failure) = at.surveys.survey(&at.target, dir, until, &cancel) {
            assert_eq!(failure.code, ErrorCode::Cancelled);
        }
    }
}
