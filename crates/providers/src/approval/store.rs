//! The tickets and what was decided: a private folder whose file names show how things are.
//!
//! `<key>.open` is a ticket that waits. Anyone who answers takes it by renaming it to `<key>.taken`, and writes `<key>.granted`
//! or `<key>.refused`. The request that comes for a single approval renames `<key>.granted` to `<key>.used`: of two
//! requests one alone can. `<ticket>.preview` is what its command would do, and `<ticket>.running` is locked while that is
//! found out. The folder is in Bailiwick's state, outside every scope.

#![expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own, in its state folder")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use bailiwick_contract::id;
use bailiwick_platform::fs::{
    FileLock, Secrecy, claim_file, create_private_dir, read_own_file, replace_private_file,
};
use bailiwick_platform::notifications::{self, Notification};

use super::preview::{self, EffectPreview, PreviewState};
use super::ticket::{ApprovalTerm, Decision, Moment, Ticket, is_key};

/// How many tickets of one caller may wait at the same time.
const MAX_OPEN: usize = 128;
/// The largest file that is read or written.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// The end of the name of a preview.
const PREVIEW: &str = "preview";
/// The end of the name of what is locked while a preview runs.
const RUNNING: &str = "running";

/// The approvals of one installation.
#[derive(Debug, Clone)]
pub struct Approvals {
    folder: PathBuf,
    notifies: bool,
}

/// Why a ticket is not opened or not answered.
#[derive(Debug, thiserror::Error)]
pub enum ApprovalError {
    /// The caller has as many as it may.
    #[error("{MAX_OPEN} requests of this caller wait for approval already")]
    TooMany,
    /// The ticket is larger than a file may be.
    #[error("the request is too large to be shown for approval")]
    TooLarge,
    /// It was answered, or its time is over.
    #[error("the ticket does not wait any more")]
    Gone,
    /// Any other error of the system.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// How far a ticket is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It waits for the user.
    Open,
    /// It was approved, and no request has come for it yet.
    Approved,
    /// It was approved, and a request has come for it.
    Used,
    /// It was refused.
    Refused,
    /// Its time is over, or there was none.
    Gone,
}

impl Approvals {
    /// Names the approvals below a state folder; nothing is made.
    pub fn below(state: &Path) -> Self {
        Self { folder: state.join("approvals"), notifies: false }
    }

    /// Sets whether the desktop shows tickets that are opened.
    pub fn with_notifications(self, notifies: bool) -> Self {
        Self { notifies, ..self }
    }

    /// Opens a ticket, or returns the one of the same key that waits already.
    ///
    /// # Errors
    /// [`ApprovalError`]; nothing waits then.
    pub fn open(&self, ticket: &Ticket) -> Result<Ticket, ApprovalError> {
        if !ticket.is_sound() {
            return Err(ApprovalError::Gone);
        }
        create_private_dir(&self.folder)?;
        let waiting = self.waiting()?;
        if let Some(other) = waiting.iter().find(|other| other.key == ticket.key) {
            return Ok(other.clone());
        }
        if waiting.iter().filter(|other| other.caller_id == ticket.caller_id).count() >= MAX_OPEN {
            return Err(ApprovalError::TooMany);
        }
        let draft = self.draft(ticket)?;
        // A link, and not a rename: it fails where another service was faster.
        let linked = fs::hard_link(&draft, self.path(&ticket.key, "open"));
        let _ = fs::remove_file(&draft);
        match linked {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.read_ticket(&self.path(&ticket.key, "open")).ok_or(ApprovalError::Gone)
            }
            Err(error) => Err(error.into()),
            Ok(()) => {
                // Where the client asks, it shows it.
                if self.notifies && !ticket.client_may_answer {
                    notifications::show(notification(ticket));
                }
                Ok(ticket.clone())
            }
        }
    }

    /// Returns the tickets that wait, oldest first. Whatever has expired is removed.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn waiting(&self) -> io::Result<Vec<Ticket>> {
        let now = Moment::now();
        // Before the tickets: one that is opened meanwhile keeps its preview.
        let previews = self.previews()?;
        let mut found = Vec::new();
        for (stem, end, path) in self.files()? {
            let is_over = match end.as_str() {
                "open" => match self.read_ticket(&path) {
                    Some(ticket) if ticket.key == stem && !ticket.is_expired(&now) => {
                        found.push(ticket);
                        false
                    }
                    _ => true,
                },
                "taken" => self.read_ticket(&path).is_none_or(|ticket| ticket.is_expired(&now)),
                _ => self.read_decision(&path).is_none_or(|decision| decision.is_expired(&now)),
            };
            if is_over {
                let _ = fs::remove_file(&path);
            }
        }
        for (id, path) in previews {
            if !found.iter().any(|ticket| ticket.id == id) {
                remove(&path)?;
            }
        }
        found.sort_by(|one, other| (one.opened_at_ms, &one.id).cmp(&(other.opened_at_ms, &other.id)));
        Ok(found)
    }

    /// Answers a ticket. Of several answers the first counts.
    ///
    /// # Errors
    /// [`ApprovalError::Gone`] if it does not wait any more.
    pub fn decide(&self, decision: &Decision) -> Result<(), ApprovalError> {
        let ticket = &decision.ticket;
        if !ticket.is_sound() || ticket.is_expired(&Moment::now()) {
            return Err(ApprovalError::Gone);
        }
        let (open, taken) = (self.path(&ticket.key, "open"), self.path(&ticket.key, "taken"));
        match claim_file(&open, &taken) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(ApprovalError::Gone),
            other => other?,
        }
        // What was open may have been another ticket than the one that was shown.
        if self.read_ticket(&taken).as_ref() != Some(ticket) {
            let _ = fs::hard_link(&taken, &open);
            fs::remove_file(&taken)?;
            return Err(ApprovalError::Gone);
        }
        for end in ["granted", "refused", "used"] {
            remove(&self.path(&ticket.key, end))?;
        }
        let draft = self.draft(decision)?;
        let end = if decision.approved.is_some() { "granted" } else { "refused" };
        fs::rename(&draft, self.path(&ticket.key, end))?;
        remove(&taken)?;
        Ok(())
    }

    /// Notes that a ticket was approved by a rule: nothing is left to be taken.
    ///
    /// # Errors
    /// As [`Approvals::decide`].
    pub fn decide_by_rule(&self, decision: &Decision) -> Result<(), ApprovalError> {
        self.decide(decision)?;
        fs::rename(self.path(&decision.ticket.key, "granted"), self.path(&decision.ticket.key, "used"))?;
        Ok(())
    }

    /// Takes what was granted for a key. An approval for one request is taken once, even if another asks at the same moment.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn take(&self, key: &str, caller_id: &str, session: Option<&str>) -> io::Result<Option<Decision>> {
        if !is_key(key) {
            return Ok(None);
        }
        let granted = self.path(key, "granted");
        let Some(decision) = self.read_decision(&granted) else { return Ok(None) };
        if decision.is_expired(&Moment::now())
            || decision.ticket.key != key
            || decision.ticket.caller_id != caller_id
        {
            return Ok(None);
        }
        match &decision.approved {
            None => Ok(None),
            Some(ApprovalTerm::Session { session: of }) if session != Some(of.as_str()) => Ok(None),
            Some(ApprovalTerm::Session { .. } | ApprovalTerm::Time) => Ok(Some(decision)),
            Some(ApprovalTerm::Once) => match claim_file(&granted, &self.path(key, "used")) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(error),
                Ok(()) => Ok(Some(decision)),
            },
        }
    }

    /// Gives back what was taken for a request that did not run.
    pub fn give_back(&self, key: &str) {
        let used = self.path(key, "used");
        // Not by renaming: what was granted meanwhile stays.
        if is_key(key) && fs::hard_link(&used, self.path(key, "granted")).is_ok() {
            let _ = fs::remove_file(&used);
        }
    }

    /// Returns the refusal that still answers a key.
    pub fn refusal(&self, key: &str) -> Option<Decision> {
        let decision = is_key(key).then(|| self.read_decision(&self.path(key, "refused"))).flatten()?;
        (decision.approved.is_none() && !decision.is_expired(&Moment::now())).then_some(decision)
    }

    /// Finds a ticket by its id, with how far it is. It is found until it, or what was decided, has expired.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn find(&self, ticket_id: &str) -> io::Result<Option<(Ticket, Progress)>> {
        let now = Moment::now();
        // It moves on by renaming: a second look finds what moved during the first.
        for _ in 0..2 {
            for (_, end, path) in self.files()? {
                let (ticket, progress, is_over) = match end.as_str() {
                    "open" | "taken" => {
                        let Some(ticket) = self.read_ticket(&path) else { continue };
                        let is_over = ticket.is_expired(&now);
                        (ticket, Progress::Open, is_over)
                    }
                    _ => {
                        let Some(decision) = self.read_decision(&path) else { continue };
                        let progress = match (end.as_str(), &decision.approved) {
                            (_, None) => Progress::Refused,
                            ("used", _) => Progress::Used,
                            _ => Progress::Approved,
                        };
                        let is_over = decision.is_expired(&now);
                        (decision.ticket, progress, is_over)
                    }
                };
                if ticket.id == ticket_id {
                    return Ok(Some((ticket, if is_over { Progress::Gone } else { progress })));
                }
            }
        }
        Ok(None)
    }

    /// Begins the preview of a ticket. Once what it returns is dropped, everyone sees that it does not run any more.
    ///
    /// # Errors
    /// Those of the file system; `WouldBlock` where it runs already.
    pub fn begin_preview(&self, ticket_id: &str) -> io::Result<FileLock> {
        let lock = FileLock::try_take(&self.folder, &format!("{ticket_id}.{RUNNING}"))?;
        let running = lock.ok_or(io::ErrorKind::WouldBlock)?;
        self.write_preview(ticket_id, &EffectPreview::running())?;
        Ok(running)
    }

    /// Notes what a preview has shown.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write_preview(&self, ticket_id: &str, preview: &EffectPreview) -> io::Result<()> {
        let text = serde_json::to_vec(preview)?;
        replace_private_file(&self.folder.join(format!("{ticket_id}.{PREVIEW}")), &text)
    }

    /// Returns what the preview of a ticket has shown; `None` where there is none.
    pub fn preview(&self, ticket_id: &str) -> Option<EffectPreview> {
        if !id::is_id(ticket_id) {
            return None;
        }
        let path = self.folder.join(format!("{ticket_id}.{PREVIEW}"));
        let read = || {
            let (text, _) = read_own_file(&path, Secrecy::Secret, MAX_FILE_BYTES).ok()?;
            preview::parse(&text).ok()
        };
        let found = read()?;
        if found.state != PreviewState::Running {
            return Some(found);
        }
        match FileLock::try_take(&self.folder, &format!("{ticket_id}.{RUNNING}")) {
            // It may have ended in this moment.
            Ok(Some(_lock)) => read().map(|it| match it.state {
                PreviewState::Running => preview::interrupted(),
                PreviewState::Done | PreviewState::Unavailable => it,
            }),
            Ok(None) | Err(_) => Some(found),
        }
    }

    /// Returns whether a ticket waits for an answer.
    pub fn is_open(&self, ticket: &Ticket) -> bool {
        self.read_ticket(&self.path(&ticket.key, "open")).is_some_and(|open| open.id == ticket.id)
    }

    /// Returns the files of previews, with the id of the ticket of each.
    fn previews(&self) -> io::Result<Vec<(String, PathBuf)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.folder).into_iter().flatten() {
            let entry = entry?;
            let name = entry.file_name();
            let Some((id, end)) = name.to_str().and_then(|name| name.rsplit_once('.')) else { continue };
            if [PREVIEW, RUNNING].contains(&end) {
                found.push((id.to_owned(), entry.path()));
            }
        }
        Ok(found)
    }

    /// Returns the files: the name before the last dot, what is behind it, and the path.
    fn files(&self) -> io::Result<Vec<(String, String, PathBuf)>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if let Some((stem, end)) = name.rsplit_once('.')
                && ["open", "taken", "granted", "refused", "used"].contains(&end)
            {
                files.push((stem.to_owned(), end.to_owned(), entry.path()));
            }
        }
        Ok(files)
    }

    fn draft(&self, value: &impl Serialize) -> Result<PathBuf, ApprovalError> {
        let text = serde_json::to_vec(value).map_err(io::Error::from)?;
        if text.len() as u64 > MAX_FILE_BYTES {
            return Err(ApprovalError::TooLarge);
        }
        let draft = self.folder.join(format!("{}.draft", id::new_id()));
        replace_private_file(&draft, &text)?;
        Ok(draft)
    }

    fn read_ticket(&self, path: &Path) -> Option<Ticket> {
        read::<Ticket>(path).filter(Ticket::is_sound)
    }

    fn read_decision(&self, path: &Path) -> Option<Decision> {
        read::<Decision>(path).filter(|decision| decision.ticket.is_sound())
    }

    fn path(&self, key: &str, end: &str) -> PathBuf {
        self.folder.join(format!("{key}.{end}"))
    }
}

/// Returns what the desktop shows of a ticket: nothing of it is a client's own text.
fn notification(ticket: &Ticket) -> Notification {
    Notification {
        title: "Bailiwick: approval needed".to_owned(),
        lines: vec![
            format!("{} in scope {}, asked by {}", ticket.op, ticket.scope, ticket.caller),
            format!("bailiwick approve {}", ticket.id),
        ],
    }
}

/// Reads a file, if it is one that Bailiwick wrote.
fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let (text, _) = read_own_file(path, Secrecy::Secret, MAX_FILE_BYTES).ok()?;
    serde_json::from_slice(&text).ok()
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
