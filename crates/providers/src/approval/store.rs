//! The tickets and what was decided: a private folder whose file names show how things are.
//!
//! `<key>.open` is a ticket that waits. Anyone who answers takes it by renaming it to `<key>.taken`, and writes `<key>.granted`
//! or `<key>.refused`. The request that comes for a single approval renames `<key>.granted` to `<key>.used`: of two
//! requests one alone can. `<ticket>.preview` is what its command would do, and `<ticket>.running` is locked while that is
//! found out. `<ticket>.changes` holds what the command changed there, where that is taken over once it is approved: it goes with the
//! ticket, and once it is used. `<ticket>.key` holds the key, by which a ticket is found by its id, and `<caller>.keys` those of a caller's tickets, by
//! which they are counted: no request lists the folder. The folder is in Bailiwick's state, outside every scope.

#![expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own, in its state folder")]

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;
use serde::de::DeserializeOwned;

use bailiwick_contract::id;
use bailiwick_platform::fs::modes::sync_folder;
use bailiwick_platform::fs::{
    FileLock, OwnFileError, Secrecy, claim_file, create_private_dir, new_private_file, open_own_file,
    read_own_file, replace_private_file,
};
use bailiwick_platform::notifications::{self, Notification};

use super::preview::{self, EffectPreview, PreviewState};
use super::ticket::{ApprovalTerm, Decision, Moment, Ticket, is_key};
use crate::file::sha256_hex;
use crate::threads::SweepTime;

/// How many tickets of one caller may wait at the same time.
const MAX_OPEN: usize = 128;
/// The largest file that is read or written.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// The ends of the names of tickets and of what was decided.
const STATES: [&str; 5] = ["open", "taken", "granted", "refused", "used"];
/// The end of the name of what holds the key of a ticket.
const KEY: &str = "key";
/// The end of the name of what holds the keys of a caller's tickets.
const KEYS: &str = "keys";
/// The lock under which tickets are opened.
const LOCK: &str = ".lock";

/// The end of the name of a preview.
const PREVIEW: &str = "preview";
/// The end of the name of what is locked while a preview runs.
const RUNNING: &str = "running";
/// The end of the name of what a command changed in its preview.
const CHANGES: &str = "changes";
/// How much the changes of all previews take together.
const MAX_CHANGES_BYTES: u64 = 256 << 20;

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

    /// Returns when a ticket, an answer or a preview last came or went. It costs one system call.
    pub fn changed_at(&self) -> Option<SystemTime> {
        fs::metadata(&self.folder).and_then(|facts| facts.modified()).ok()
    }

    /// Opens a ticket, or returns the one of the same key that waits already.
    ///
    /// # Errors
    /// [`ApprovalError`]; nothing waits then.
    pub fn open(&self, ticket: &Ticket) -> Result<Ticket, ApprovalError> {
        if !ticket.is_sound() {
            return Err(ApprovalError::Gone);
        }
        self.sweep_aside();
        create_private_dir(&self.folder)?;
        let _lock = FileLock::take(&self.folder, LOCK)?;
        let now = Moment::now();
        if let Some(other) = self.waiting_of(&ticket.key, &now) {
            self.write_key(&other)?;
            return Ok(other);
        }
        remove(&self.path(&ticket.key, "open"))?;
        self.count(ticket, &now)?;
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
                self.write_key(ticket)?;
                // Where the client asks, it shows it.
                if self.notifies && !ticket.client_may_answer {
                    notifications::show(notification(ticket));
                }
                Ok(ticket.clone())
            }
        }
    }

    /// Counts one more ticket of a caller.
    fn count(&self, ticket: &Ticket, now: &Moment) -> Result<(), ApprovalError> {
        let path = self.path(&sha256_hex(ticket.caller_id.as_bytes()), KEYS);
        let mut keys: Vec<String> = read(&path).unwrap_or_default();
        if keys.contains(&ticket.key) {
            return Ok(());
        }
        if keys.len() >= MAX_OPEN {
            // Only now, so that no other request looks at more than its own ticket.
            keys.retain(|key| is_key(key) && self.waiting_of(key, now).is_some());
        }
        if keys.len() >= MAX_OPEN {
            return Err(ApprovalError::TooMany);
        }
        keys.push(ticket.key.clone());
        Ok(replace_private_file(&path, &serde_json::to_vec(&keys).map_err(io::Error::from)?)?)
    }

    /// Returns the ticket of a key that waits.
    fn waiting_of(&self, key: &str, now: &Moment) -> Option<Ticket> {
        self.read_ticket(&self.path(key, "open")).filter(|it| it.key == key && !it.is_expired(now))
    }

    /// Notes the key of a ticket that waits; not before it does, as what belongs to no ticket is removed.
    fn write_key(&self, ticket: &Ticket) -> io::Result<()> {
        let path = self.path(&ticket.id, KEY);
        if path.exists() { Ok(()) } else { replace_private_file(&path, &serde_json::to_vec(&ticket.key)?) }
    }

    /// Removes whatever has expired, on a thread of its own: no request waits for it. At most once an hour.
    pub fn sweep_aside(&self) {
        static SWEPT: SweepTime = SweepTime::new();
        let approvals = self.clone();
        SWEPT.sweep_aside(move || drop(approvals.waiting()));
    }

    /// Returns the tickets that wait, oldest first. Whatever has expired is removed.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn waiting(&self) -> io::Result<Vec<Ticket>> {
        let now = Moment::now();
        // Before the tickets: one that is opened meanwhile keeps its preview.
        let previews = self.files(&[PREVIEW, RUNNING])?;
        let changes = self.files(&[CHANGES])?;
        let keys = self.files(&[KEY])?;
        let mut found = Vec::new();
        for (stem, end, path) in self.files(&STATES)? {
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
        for (id, _, path) in previews {
            if !found.iter().any(|ticket| ticket.id == id) {
                remove(&path)?;
            }
        }
        for (id, _, path) in changes {
            if !self.needs_changes(&id)? {
                remove(&path)?;
            }
        }
        for (id, _, path) in keys {
            if self.find(&id)?.is_none() {
                remove(&path)?;
            }
        }
        self.sweep_counts(&now)?;
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
        if decision.changes_sha256.is_none() {
            self.remove_changes(&ticket.id);
        }
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

    /// Removes the counts of callers of whom nothing waits.
    fn sweep_counts(&self, now: &Moment) -> io::Result<()> {
        let counts = self.files(&[KEYS])?;
        // Who opens a ticket meanwhile is counted; the rest is tried again the next time.
        let lock = if counts.is_empty() { None } else { FileLock::try_take(&self.folder, LOCK)? };
        for (_, _, path) in counts.iter().filter(|_| lock.is_some()) {
            let keys: Vec<String> = read(path).unwrap_or_default();
            if !keys.iter().any(|key| is_key(key) && self.waiting_of(key, now).is_some()) {
                remove(path)?;
            }
        }
        Ok(())
    }

    /// Finds a ticket by its id, with how far it is. It is found until it, or what was decided, has expired.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn find(&self, ticket_id: &str) -> io::Result<Option<(Ticket, Progress)>> {
        let key = || read::<String>(&self.path(ticket_id, KEY)).filter(|key| is_key(key));
        let Some(key) = id::is_id(ticket_id).then(key).flatten() else { return Ok(None) };
        let now = Moment::now();
        // It moves on by renaming: a second look finds what moved during the first.
        for end in STATES.iter().chain(&STATES) {
            let path = self.path(&key, end);
            let (ticket, progress, is_over) = match *end {
                "open" | "taken" => {
                    let Some(ticket) = self.read_ticket(&path) else { continue };
                    let is_over = ticket.is_expired(&now);
                    (ticket, Progress::Open, is_over)
                }
                _ => {
                    let Some(decision) = self.read_decision(&path) else { continue };
                    let progress = match (*end, &decision.approved) {
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
        Ok(None)
    }

    /// Begins the preview of a ticket, whose changes may be taken over. Once what it returns is dropped, everyone sees that it does not run any more.
    ///
    /// # Errors
    /// Those of the file system; `WouldBlock` where it runs already.
    pub fn begin_preview(&self, ticket_id: &str, is_commit: bool) -> io::Result<FileLock> {
        let lock = FileLock::try_take(&self.folder, &format!("{ticket_id}.{RUNNING}"))?;
        let running = lock.ok_or(io::ErrorKind::WouldBlock)?;
        self.write_preview(ticket_id, &EffectPreview::running().with_commit(is_commit))?;
        Ok(running)
    }

    /// Keeps what a command changed in the preview of a ticket that waits. It is on disk then.
    ///
    /// # Errors
    /// Those of the file system; `QuotaExceeded` where those of other tickets leave no room.
    pub fn write_changes(&self, ticket: &Ticket, changes: &[u8]) -> io::Result<()> {
        let _lock = FileLock::take(&self.folder, LOCK)?;
        let sizes = self.files(&[CHANGES])?.into_iter().filter_map(|(_, _, path)| fs::metadata(path).ok());
        let kept: u64 = sizes.map(|facts| facts.len()).sum();
        if kept.saturating_add(changes.len() as u64) > MAX_CHANGES_BYTES {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        let path = self.path(&ticket.id, CHANGES);
        // Not under another name first: what is cut off here is known by its digest, and goes with the ticket.
        let written = new_private_file(&path).and_then(|mut file| {
            file.write_all(changes)?;
            file.sync_all()?;
            sync_folder(&self.folder)
        });
        if written.is_err() || !self.is_open(ticket) {
            let _ = fs::remove_file(&path);
        }
        written
    }

    /// Opens what a command changed in the preview of a ticket.
    ///
    /// # Errors
    /// Where it is not kept, or is not a file that Bailiwick wrote.
    pub fn changes(&self, ticket_id: &str) -> Result<File, OwnFileError> {
        Ok(open_own_file(&self.path(ticket_id, CHANGES), Secrecy::Secret)?.0)
    }

    /// Removes what a command changed in the preview of a ticket: it was used, or never will be.
    pub fn remove_changes(&self, ticket_id: &str) {
        // What cannot be removed now goes with the next sweep.
        let _ = fs::remove_file(self.path(ticket_id, CHANGES));
    }

    /// Returns whether the changes of a preview may still be taken over.
    fn needs_changes(&self, ticket_id: &str) -> io::Result<bool> {
        Ok(match self.find(ticket_id)? {
            // Who has taken the approval reads them now, and removes them.
            Some((_, Progress::Approved | Progress::Used)) => true,
            Some((_, Progress::Open)) => self.preview(ticket_id).is_some_and(|preview| {
                preview.state == PreviewState::Running || preview.changes_sha256().is_some()
            }),
            Some((_, Progress::Refused | Progress::Gone)) | None => false,
        })
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
                PreviewState::Running => preview::interrupted(&it),
                PreviewState::Done | PreviewState::Unavailable => it,
            }),
            Ok(None) | Err(_) => Some(found),
        }
    }

    /// Returns whether a ticket waits for an answer.
    pub fn is_open(&self, ticket: &Ticket) -> bool {
        self.read_ticket(&self.path(&ticket.key, "open")).is_some_and(|open| open.id == ticket.id)
    }

    /// Returns the files whose names end in one of some ways: the name before the last dot, what is behind it, and the path.
    fn files(&self, ends: &[&str]) -> io::Result<Vec<(String, String, PathBuf)>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if let Some((stem, end)) = name.rsplit_once('.')
                && ends.contains(&end)
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

#[cfg(test)]
mod tests {
    use super::*;
    use bailiwick_contract::{Caller, Transport};
    use bailiwick_platform::fs::remove_tree;

    fn ticket(caller: &str, number: usize) -> Ticket {
        let key = sha256_hex(format!("{caller} {number}").as_bytes());
        let ticket = Ticket::new(&Caller::local(Transport::Stdio), id::new_id(), key);
        Ticket { caller_id: caller.to_owned(), ..ticket }
    }

    fn refuse(approvals: &Approvals, ticket: &Ticket) {
        let at_ms = bailiwick_contract::time::now_ms();
        let decision = Decision {
            ticket: ticket.clone(),
            approved: None,
            is_of_client: false,
            changes_sha256: None,
            at_ms,
            expires_at_ms: at_ms + Decision::REFUSAL_MS,
            decided: None,
        };
        approvals.decide(&decision).expect("it waits");
    }

    #[test]
    fn changes_stay_while_who_has_taken_the_approval_reads_them() {
        let state = std::env::temp_dir().join(format!("bailiwick-approvals-{}", id::new_id()));
        let approvals = Approvals::below(&state);
        let ticket = approvals.open(&ticket("one", 0)).expect("there is room");
        approvals.write_changes(&ticket, b"changes").expect("written");
        let at_ms = bailiwick_contract::time::now_ms();
        let decision = Decision {
            ticket: ticket.clone(),
            approved: Some(ApprovalTerm::Once),
            is_of_client: false,
            changes_sha256: Some(sha256_hex(b"changes")),
            at_ms,
            expires_at_ms: at_ms + Decision::ONCE_MS,
            decided: None,
        };
        approvals.decide(&decision).expect("it waits");
        assert!(approvals.take(&ticket.key, "one", None).expect("read").is_some());
        approvals.waiting().expect("a sweep at that moment");
        approvals.changes(&ticket.id).expect("they are kept");
        // They go with what is known of the ticket.
        fs::remove_file(approvals.path(&ticket.key, "used")).expect("it is there");
        approvals.waiting().expect("read");
        assert!(approvals.changes(&ticket.id).is_err());
        remove_tree(&state).expect("it was made above");
    }

    #[test]
    fn of_each_caller_so_many_tickets_wait_and_no_more() {
        let state = std::env::temp_dir().join(format!("bailiwick-approvals-{}", id::new_id()));
        let approvals = Approvals::below(&state);
        let mine: Vec<Ticket> = (0..MAX_OPEN).map(|number| ticket("one", number)).collect();
        for ticket in &mine {
            assert_eq!(approvals.open(ticket).expect("there is room").id, ticket.id);
        }
        let again = ticket("one", 7);
        assert_eq!(approvals.open(&again).expect("it waits already").id, mine[7].id);
        let more = ticket("one", MAX_OPEN);
        assert!(matches!(approvals.open(&more), Err(ApprovalError::TooMany)));
        approvals.open(&ticket("other", 0)).expect("it has its own");
        // One that was answered, one whose time is over, and one that is gone leave their room.
        refuse(&approvals, &mine[0]);
        let path = approvals.path(&mine[1].key, "open");
        let over = Ticket { expires_at_ms: mine[1].opened_at_ms, ..mine[1].clone() };
        replace_private_file(&path, &serde_json::to_vec(&over).expect("JSON")).expect("written");
        fs::remove_file(approvals.path(&mine[2].key, "open")).expect("it is there");
        for number in MAX_OPEN..MAX_OPEN + 3 {
            approvals.open(&ticket("one", number)).expect("there is room");
        }
        assert!(matches!(approvals.open(&ticket("one", MAX_OPEN + 3)), Err(ApprovalError::TooMany)));
        assert_eq!(approvals.find(&mine[0].id).expect("read").expect("known").1, Progress::Refused);
        assert_eq!(approvals.find(&mine[3].id).expect("read").expect("known").1, Progress::Open);
        assert_eq!(approvals.find(&mine[2].id).expect("read"), None);
        // What belongs to none of them goes.
        assert_eq!(approvals.waiting().expect("read").len(), MAX_OPEN + 1);
        let count = |end: &str| approvals.files(&[end]).expect("read").len();
        assert_eq!((count(KEY), count(KEYS)), (MAX_OPEN + 2, 2));
        for (_, _, path) in approvals.files(&STATES).expect("read") {
            fs::remove_file(path).expect("it is there");
        }
        approvals.waiting().expect("read");
        assert_eq!((count(KEY), count(KEYS)), (0, 0));
        remove_tree(&state).expect("it was made above");
    }
}
