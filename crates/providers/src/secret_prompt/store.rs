//! The prompts that wait: a private folder whose file names tell how things stand.
//!
//! `<processId>.open` is a prompt that waits: at most one for each process. Anyone who answers takes it by renaming it to
//! `<promptId>.taken`, and renames that to `.answered` or `.refused`. Renaming is what keeps two from answering, and
//! an answer from reaching a prompt that was withdrawn. The folder is in Bailiwick's state, outside every scope.

#![expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own, in its state folder")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bailiwick_contract::{id, time};
use bailiwick_platform::fs::{Secrecy, claim_file, create_private_dir, read_own_file, replace_private_file};

use super::Prompt;
use crate::process::{Process, Processes};

/// How many prompts of one scope may wait at the same time.
pub const MAX_OPEN: usize = 8;
/// The largest file that is read.
const MAX_FILE_BYTES: u64 = 16_384;

/// The prompts of one installation.
#[derive(Debug, Clone)]
pub struct Prompts {
    folder: PathBuf,
}

/// Why a prompt is not opened or not taken.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// The process is being asked for already.
    #[error("a prompt for this process waits already")]
    AlreadyOpen,
    /// The scope has as many as it may.
    #[error("{MAX_OPEN} prompts of this scope wait already")]
    TooMany,
    /// It was withdrawn, or somebody else answers it.
    #[error("the prompt does not wait any more")]
    Gone,
    /// Its time is over.
    #[error("the prompt has expired")]
    Expired,
    /// Any other error of the system.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// How far a prompt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It waits for the user.
    Open,
    /// The user has typed, and it is on its way.
    Taken,
    /// The process has what was typed.
    Answered,
    /// The user said no.
    Refused,
    /// It was withdrawn, or has expired.
    Gone,
}

/// A prompt that nobody else can answer any more. Dropping it leaves it taken.
#[derive(Debug)]
pub struct Claim {
    prompt: Prompt,
    folder: PathBuf,
}

impl Prompts {
    /// Names the prompts below a state folder; nothing is made.
    pub fn new(state: &Path) -> Self {
        Self { folder: state.join("prompts") }
    }

    /// Returns when a prompt last came or went. It costs one system call.
    pub fn changed_at(&self) -> Option<SystemTime> {
        fs::metadata(&self.folder).and_then(|facts| facts.modified()).ok()
    }

    /// Opens a prompt.
    ///
    /// # Errors
    /// [`PromptError`]; nothing waits then.
    pub fn open(&self, prompt: &Prompt) -> Result<(), PromptError> {
        if !id::is_id(&prompt.id) || !id::is_id(&prompt.process_id) {
            return Err(PromptError::Gone);
        }
        create_private_dir(&self.folder)?;
        let waiting = self.waiting()?;
        if waiting.iter().any(|other| other.process_id == prompt.process_id)
            || self.taken()?.iter().any(|other| other.process_id == prompt.process_id)
        {
            return Err(PromptError::AlreadyOpen);
        }
        if waiting.iter().filter(|other| other.scope == prompt.scope).count() >= MAX_OPEN {
            return Err(PromptError::TooMany);
        }
        let draft = self.folder.join(format!("{}.draft", prompt.id));
        let text = serde_json::to_vec(prompt).map_err(io::Error::from)?;
        replace_private_file(&draft, &text)?;
        // A link, and not a rename: it fails where another service was faster.
        let linked = fs::hard_link(&draft, self.open_path(&prompt.process_id));
        let _ = fs::remove_file(&draft);
        match linked {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(PromptError::AlreadyOpen),
            other => Ok(other?),
        }
    }

    /// Returns the prompts that wait, oldest first. Expired ones are removed.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn waiting(&self) -> io::Result<Vec<Prompt>> {
        let now_ms = time::now_ms();
        let mut found = Vec::new();
        for (name, path) in self.files()? {
            let Some((stem, state)) = name.rsplit_once('.') else { continue };
            let Some(prompt) = read(&path) else {
                // It was just renamed, or is none of ours, or a draft that was left behind by a crash.
                remove_if_old(&path);
                continue;
            };
            if prompt.is_expired(now_ms) {
                let _ = fs::remove_file(&path);
            } else if state == "open" && stem == prompt.process_id {
                found.push(prompt);
            }
        }
        found.sort_by(|one, other| (one.opened_at_ms, &one.id).cmp(&(other.opened_at_ms, &other.id)));
        Ok(found)
    }

    /// Returns the prompts that can be answered, with their processes, oldest first. Withdraws those whose process has
    /// ended or is gone, and those of owners who are not known any more.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn answerable(
        &self,
        processes: &Processes,
        is_known: impl Fn(&str) -> bool,
    ) -> io::Result<Vec<(Prompt, Arc<Process>)>> {
        let mut found = Vec::new();
        for prompt in self.waiting()? {
            let process = processes.find(&prompt.scope, &prompt.process_id).ok().filter(|process| {
                is_known(&prompt.caller_id) && process.status().is_ok_and(|status| !status.state.is_final())
            });
            match process {
                Some(process) => found.push((prompt, process)),
                None => drop(self.withdraw(&prompt)?),
            }
        }
        Ok(found)
    }

    /// Returns the prompt that waits for the input of a process.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn of_process(&self, process_id: &str) -> io::Result<Option<Prompt>> {
        if !id::is_id(process_id) {
            return Ok(None);
        }
        let is_now = |prompt: &Prompt| !prompt.is_expired(time::now_ms()) && prompt.process_id == process_id;
        if let Some(prompt) = read(&self.open_path(process_id)).filter(is_now) {
            return Ok(Some(prompt));
        }
        Ok(self.taken()?.into_iter().find(is_now))
    }

    /// Finds a prompt by its id, whatever has become of it, until it has expired.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn find(&self, prompt_id: &str) -> io::Result<Option<Prompt>> {
        let now_ms = time::now_ms();
        for (_, path) in self.files()? {
            if let Some(prompt) = read(&path)
                && prompt.id == prompt_id
                && !prompt.is_expired(now_ms)
            {
                return Ok(Some(prompt));
            }
        }
        Ok(None)
    }

    /// Returns how far a prompt is.
    pub fn progress(&self, prompt: &Prompt) -> Progress {
        // It moves on by renaming: a second look finds what moved during the first.
        for _ in 0..2 {
            if read(&self.open_path(&prompt.process_id)).is_some_and(|open| open.id == prompt.id) {
                return if prompt.is_expired(time::now_ms()) { Progress::Gone } else { Progress::Open };
            }
            let ends = [
                ("taken", Progress::Taken),
                ("answered", Progress::Answered),
                ("refused", Progress::Refused),
            ];
            let found = ends.iter().find(|(end, _)| read(&self.path(&prompt.id, end)).is_some());
            if let Some((_, progress)) = found {
                return *progress;
            }
        }
        Progress::Gone
    }

    /// Withdraws a prompt that still waits. Returns `false` if it did not wait any more.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn withdraw(&self, prompt: &Prompt) -> io::Result<bool> {
        // Taken first, so that a prompt that was opened after it is not removed in its place.
        match self.take(prompt) {
            Ok(claim) => fs::remove_file(claim.path("taken")).map(|()| true),
            Err(PromptError::Io(error)) => Err(error),
            Err(_) => Ok(false),
        }
    }

    /// Takes a prompt, so that nobody else can answer or withdraw it.
    ///
    /// # Errors
    /// [`PromptError::Gone`] if it does not wait any more, [`PromptError::Expired`] if its time is over.
    pub fn claim(&self, prompt: &Prompt) -> Result<Claim, PromptError> {
        if prompt.is_expired(time::now_ms()) {
            return Err(PromptError::Expired);
        }
        self.take(prompt)
    }

    fn take(&self, prompt: &Prompt) -> Result<Claim, PromptError> {
        let claim = Claim { prompt: prompt.clone(), folder: self.folder.clone() };
        match claim_file(&self.open_path(&prompt.process_id), &claim.path("taken")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(PromptError::Gone),
            other => other?,
        }
        // What was open may have been another prompt of the same process than the one that was read.
        match read(&claim.path("taken")) {
            Some(taken) if taken == *prompt => Ok(claim),
            Some(_) | None => {
                claim.put_back()?;
                Err(PromptError::Gone)
            }
        }
    }

    fn taken(&self) -> io::Result<Vec<Prompt>> {
        let files = self.files()?;
        let taken = files.iter().filter(|(name, _)| name.ends_with(".taken"));
        Ok(taken.filter_map(|(_, path)| read(path)).collect())
    }

    fn files(&self) -> io::Result<Vec<(String, PathBuf)>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry?;
            if let Ok(name) = entry.file_name().into_string() {
                files.push((name, entry.path()));
            }
        }
        Ok(files)
    }

    fn open_path(&self, process_id: &str) -> PathBuf {
        self.path(process_id, "open")
    }

    fn path(&self, stem: &str, end: &str) -> PathBuf {
        self.folder.join(format!("{stem}.{end}"))
    }
}

impl Claim {
    /// Notes that the process has what was typed.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn answered(self) -> io::Result<()> {
        fs::rename(self.path("taken"), self.path("answered"))
    }

    /// Notes that the user said no.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn refused(self) -> io::Result<()> {
        fs::rename(self.path("taken"), self.path("refused"))
    }

    /// Lets it wait again.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn put_back(self) -> io::Result<()> {
        // Not by renaming: a prompt that was opened meanwhile stays.
        let open = self.folder.join(format!("{}.open", self.prompt.process_id));
        match fs::hard_link(self.path("taken"), open) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            Ok(()) | Err(_) => {}
        }
        fs::remove_file(self.path("taken"))
    }

    fn path(&self, end: &str) -> PathBuf {
        self.folder.join(format!("{}.{end}", self.prompt.id))
    }
}

/// Reads a prompt, if the file is one that Bailiwick wrote.
fn read(path: &Path) -> Option<Prompt> {
    let (text, _) = read_own_file(path, Secrecy::Secret, MAX_FILE_BYTES).ok()?;
    let prompt: Prompt = serde_json::from_slice(&text).ok()?;
    let is_sound =
        prompt.version == Prompt::VERSION && id::is_id(&prompt.id) && id::is_id(&prompt.process_id);
    is_sound.then_some(prompt)
}

fn remove_if_old(path: &Path) {
    let Ok(facts) = fs::symlink_metadata(path) else { return };
    let age = facts.modified().ok().and_then(|at| at.elapsed().ok());
    if !facts.file_type().is_dir() && age.is_some_and(|age| age > Duration::from_secs(600)) {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use bailiwick_platform::fs::modes::{set_mode, symlink};

    use super::super::PromptText;
    use super::*;

    struct PromptSlot {
        state: PathBuf,
        prompts: Prompts,
    }

    impl PromptSlot {
        fn new() -> Self {
            let state = std::env::temp_dir().join(format!("bailiwick-prompts-{}", id::new_id()));
            fs::create_dir(&state).expect("a temporary folder");
            Self { prompts: Prompts::new(&state), state }
        }
    }

    impl Drop for PromptSlot {
        fn drop(&mut self) {
            let _ = bailiwick_platform::fs::remove_tree(&self.state);
        }
    }

    fn prompt(scope: &str, process_id: &str) -> Prompt {
        let now_ms = time::now_ms();
        Prompt {
            version: Prompt::VERSION,
            id: id::new_id(),
            scope: scope.to_owned(),
            process_id: process_id.to_owned(),
            caller: "local".to_owned(),
            caller_id: "local".to_owned(),
            client: None,
            transport: "cli".to_owned(),
            text: PromptText::clean("Password").expect("visible"),
            enter: true,
            opened_at_ms: now_ms,
            expires_at_ms: now_ms + Prompt::LIFE_MS,
        }
    }

    #[test]
    fn a_prompt_waits_is_taken_and_ends_in_one_way() {
        let place = PromptSlot::new();
        let prompts = &place.prompts;
        assert_eq!(prompts.waiting().expect("read"), []);
        let asked = prompt("app", &id::new_id());
        prompts.open(&asked).expect("opened");
        assert_eq!(prompts.waiting().expect("read"), std::slice::from_ref(&asked));
        assert_eq!(prompts.progress(&asked), Progress::Open);
        assert_eq!(prompts.of_process(&asked.process_id).expect("read"), Some(asked.clone()));

        let claim = prompts.claim(&asked).expect("taken");
        assert_eq!(prompts.progress(&asked), Progress::Taken);
        assert!(matches!(prompts.claim(&asked), Err(PromptError::Gone)), "nobody else takes it");
        assert!(!prompts.withdraw(&asked).expect("tried"), "and nobody withdraws it");
        assert!(matches!(prompts.open(&prompt("app", &asked.process_id)), Err(PromptError::AlreadyOpen)));
        claim.put_back().expect("put back");
        assert_eq!(prompts.progress(&asked), Progress::Open);
        prompts.claim(&asked).expect("taken").answered().expect("answered");
        assert_eq!(prompts.progress(&asked), Progress::Answered);
        assert_eq!(prompts.find(&asked.id).expect("read"), Some(asked.clone()));
        assert_eq!(prompts.of_process(&asked.process_id).expect("read"), None);

        let second = prompt("app", &asked.process_id);
        prompts.open(&second).expect("opened");
        assert_eq!(prompts.progress(&asked), Progress::Answered, "an earlier one keeps its end");
        prompts.claim(&second).expect("taken").refused().expect("refused");
        assert_eq!(prompts.progress(&second), Progress::Refused);

        let third = prompt("app", &asked.process_id);
        prompts.open(&third).expect("opened");
        assert!(prompts.withdraw(&third).expect("withdrawn"));
        assert_eq!(prompts.progress(&third), Progress::Gone);
        assert!(matches!(prompts.claim(&third), Err(PromptError::Gone)));
    }

    #[test]
    fn an_answer_does_not_reach_the_next_prompt_of_the_process() {
        let place = PromptSlot::new();
        let old = prompt("app", &id::new_id());
        place.prompts.open(&old).expect("opened");
        assert!(place.prompts.withdraw(&old).expect("withdrawn"));
        let new = prompt("app", &old.process_id);
        place.prompts.open(&new).expect("opened");
        assert!(matches!(place.prompts.claim(&old), Err(PromptError::Gone)));
        assert!(!place.prompts.withdraw(&old).expect("tried"));
        assert_eq!(place.prompts.waiting().expect("read"), [new]);
    }

    #[test]
    fn of_many_at_once_one_answers() {
        let place = PromptSlot::new();
        let asked = prompt("app", &id::new_id());
        place.prompts.open(&asked).expect("opened");
        let takers: Vec<_> = (0..16)
            .map(|_| {
                let (prompts, asked) = (place.prompts.clone(), asked.clone());
                std::thread::spawn(move || prompts.claim(&asked).is_ok())
            })
            .collect();
        let taken = takers.into_iter().map(|taker| taker.join().expect("no panic"));
        assert_eq!(taken.filter(|taken| *taken).count(), 1);
    }

    #[test]
    fn a_scope_has_few_prompts_and_they_expire() {
        let place = PromptSlot::new();
        for _ in 0..MAX_OPEN {
            place.prompts.open(&prompt("app", &id::new_id())).expect("opened");
        }
        let more = prompt("app", &id::new_id());
        assert!(matches!(place.prompts.open(&more), Err(PromptError::TooMany)));
        place.prompts.open(&prompt("web", &id::new_id())).expect("another scope has its own");

        let old = Prompt { expires_at_ms: time::now_ms(), ..prompt("old", &id::new_id()) };
        place.prompts.open(&old).expect("opened");
        assert!(matches!(place.prompts.claim(&old), Err(PromptError::Expired)));
        assert_eq!(place.prompts.progress(&old), Progress::Gone);
        assert!(place.prompts.waiting().expect("read").iter().all(|waits| waits.scope != "old"));
        assert!(!place.prompts.open_path(&old.process_id).exists(), "and is removed");
    }

    #[test]
    fn files_that_are_not_ours_are_no_prompts() {
        let place = PromptSlot::new();
        let asked = prompt("app", &id::new_id());
        place.prompts.open(&asked).expect("opened");
        let folder = &place.prompts.folder;
        let outside = place.state.join("outside");
        let other = prompt("app", &id::new_id());
        fs::write(&outside, serde_json::to_vec(&other).expect("JSON")).expect("written");
        set_mode(&outside, 0o600).expect("own file");
        symlink(&outside, folder.join(format!("{}.open", other.process_id))).expect("a link");
        let shared = prompt("app", &id::new_id());
        let path = folder.join(format!("{}.open", shared.process_id));
        fs::write(&path, serde_json::to_vec(&shared).expect("JSON")).expect("written");
        set_mode(&path, 0o644).expect("own file");
        fs::write(folder.join("notes.txt"), "x").expect("written");
        fs::copy(place.prompts.open_path(&asked.process_id), folder.join(format!("{}.open", id::new_id())))
            .expect("a prompt under the name of another process");
        assert_eq!(place.prompts.waiting().expect("read"), [asked]);
        assert!(matches!(place.prompts.claim(&other), Err(PromptError::Gone)), "a link is not taken");
    }

    #[test]
    fn a_process_is_named_by_an_id_and_nothing_else() {
        let place = PromptSlot::new();
        for name in ["", "..", "../../config", "a/b"] {
            assert_eq!(place.prompts.of_process(name).expect("looked"), None, "{name}");
        }
        let odd = prompt("app", "../../planted");
        assert!(matches!(place.prompts.open(&odd), Err(PromptError::Gone)));
    }
}
