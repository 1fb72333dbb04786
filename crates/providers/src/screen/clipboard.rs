//! The clipboard, where its owner is a program that the scope shows.
//!
//! The only place that reads the clipboard: `tests/it/architecture.rs` holds it to that. What is saved stays in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use bailiwick_contract::{Cancel, ErrorCode, Failure};
use bailiwick_platform::screen::{
    CLIPBOARD_OWNER, ClipboardContent, ClipboardUse, Clipping, ClippingKind, ClippingLimits, Displays, Judge,
    ScreenError, Window,
};
use bailiwick_policy::Scope;

use super::control::is_shown;
use crate::display::DisplayOwner;

/// How long a program has to fetch what is pasted.
const FETCHED_WITHIN: Duration = Duration::from_secs(3);
/// A program that asked for nothing for so long has fetched all that it wanted: several ask for one form after the other.
const QUIET: Duration = Duration::from_millis(150);
/// How long to wait between two checks of that.
const LOOK: Duration = Duration::from_millis(5);
/// How many times a display that does not answer is asked to take back what was there.
const TRIES: usize = 3;

/// How long content can be restored.
const LIFE: Duration = Duration::from_secs(60 * 60);
/// The most bytes of one content.
const MAX_BYTES: usize = 32 << 20;
/// The most bytes of all.
const MAX_BYTES_OF_ALL: usize = 128 << 20;

/// Reads the clipboard of a display unless its owner is a program that the scope does not show, or says that it is a secret.
///
/// # Errors
/// [`ScreenError`], of which [`ScreenError::Refused`] is for such an owner.
pub fn read_clipboard(
    displays: &Displays,
    scope: &Arc<Scope>,
    display: Option<&str>,
    wanted: Option<ClippingKind>,
    limits: ClippingLimits,
) -> Result<Clipping, ScreenError> {
    displays.read_clipboard(display, wanted, limits, &judge(scope))
}

/// Reads everything that the clipboard of a display has, in every form, unless its owner is one that [`read_clipboard`] does not
/// read.
///
/// # Errors
/// [`ScreenError`].
pub fn save_clipboard(
    displays: &Displays,
    scope: &Arc<Scope>,
    display: Option<&str>,
) -> Result<Arc<ClipboardContent>, ScreenError> {
    displays.save_clipboard(display, MAX_BYTES, &judge(scope)).map(Arc::new)
}

fn judge(scope: &Arc<Scope>) -> Judge {
    let scope = Arc::clone(scope);
    Box::new(move |windows: &[Window]| is_shown(&scope, windows, CLIPBOARD_OWNER))
}

/// Content of clipboards that callers have saved, in memory alone.
#[derive(Debug, Default)]
pub struct ClipboardStore {
    saved: Mutex<HashMap<(DisplayOwner, String), SavedClipboard>>,
}

/// Content that a caller has saved.
#[derive(Debug, Clone)]
pub struct SavedClipboard {
    /// The content; without any form where the clipboard was empty.
    pub content: Arc<ClipboardContent>,
    at: Instant,
}

impl ClipboardStore {
    /// How long content can be restored, in seconds.
    pub const LIFE_SECONDS: u64 = LIFE.as_secs();

    /// Saves content of a display for a caller, in the place of what they saved of it before.
    ///
    /// # Errors
    /// `conflict` where all callers together have saved as much as may be.
    pub fn save(
        &self,
        owner: DisplayOwner,
        display: String,
        content: Arc<ClipboardContent>,
    ) -> Result<(), Failure> {
        let mut saved = self.saved();
        let key = (owner, display);
        let others = saved.iter().filter(|(it, _)| **it != key).map(|(_, it)| it.content.size());
        if others.sum::<usize>() + content.size() > MAX_BYTES_OF_ALL {
            let why = format!(
                "callers have saved as much of clipboards as may be, {} MiB together",
                MAX_BYTES_OF_ALL >> 20
            );
            return Err(Failure::new(ErrorCode::Conflict, why)
                .hint("clipboard.restore frees what you have saved; the rest is forgotten after an hour."));
        }
        saved.insert(key, SavedClipboard { content, at: Instant::now() });
        Ok(())
    }

    /// Returns what a caller has saved of a display.
    pub fn get(&self, owner: &DisplayOwner, display: &str) -> Option<SavedClipboard> {
        self.saved().get(&(owner.clone(), display.to_owned())).cloned()
    }

    /// Forgets what a caller has saved, unless they have saved something else meanwhile.
    pub fn forget(&self, owner: &DisplayOwner, display: &str, restored: &SavedClipboard) {
        let key = (owner.clone(), display.to_owned());
        let mut saved = self.saved();
        if saved.get(&key).is_some_and(|it| Arc::ptr_eq(&it.content, &restored.content)) {
            saved.remove(&key);
        }
    }

    fn saved(&self) -> MutexGuard<'_, HashMap<(DisplayOwner, String), SavedClipboard>> {
        let mut saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        saved.retain(|_, it| it.at.elapsed() < LIFE);
        saved
    }
}

/// What became of what the user had copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClipboardReturn {
    /// It is on the clipboard again.
    Content,
    /// There was nothing, and there is nothing again.
    Nothing,
    /// Something else has been copied meanwhile, and is there.
    Replaced,
}

/// The use of a clipboard for other content. At its end, what was there before is there again.
#[derive(Debug)]
pub struct TemporaryClipboard<'a> {
    displays: &'a Displays,
    display: &'a str,
    content: Arc<ClipboardContent>,
    /// Nothing once it was put back.
    earlier: Option<Arc<ClipboardContent>>,
}

impl<'a> TemporaryClipboard<'a> {
    /// Puts content on a clipboard that has `earlier`.
    ///
    /// # Errors
    /// [`ScreenError`]; what was there is still there then.
    pub fn begin(
        displays: &'a Displays,
        display: &'a str,
        content: ClipboardContent,
        earlier: Arc<ClipboardContent>,
    ) -> Result<Self, ScreenError> {
        let content = Arc::new(content);
        displays.set_clipboard(Some(display), Some(&content), None)?;
        Ok(Self { displays, display, content, earlier: Some(earlier) })
    }

    /// Waits until the program of a window, or one of some processes, has fetched the content. Returns whether it has.
    ///
    /// # Errors
    /// `cancelled`, `timeout`.
    pub fn wait(&self, window: &str, pids: &[u32], cancel: &Cancel) -> Result<bool, Failure> {
        let until = Instant::now() + FETCHED_WITHIN;
        loop {
            match self.displays.clipboard_use(&self.content, window, pids) {
                Ok(ClipboardUse::Fetched(quiet)) if quiet >= QUIET => return Ok(true),
                Ok(ClipboardUse::Fetched(_)) if Instant::now() >= until => return Ok(true),
                Ok(ClipboardUse::Replaced) => return Ok(false),
                Ok(ClipboardUse::Fetched(_) | ClipboardUse::Waiting) | Err(_) if Instant::now() < until => {}
                Ok(_) | Err(_) => return Ok(false),
            }
            cancel.check()?;
            thread::sleep(LOOK);
        }
    }

    /// Puts back what was there before.
    ///
    /// # Errors
    /// [`ScreenError`] of a display that does not answer.
    pub fn end(mut self) -> Result<ClipboardReturn, ScreenError> {
        self.put_back()
    }

    fn put_back(&mut self) -> Result<ClipboardReturn, ScreenError> {
        let Some(earlier) = self.earlier.take() else { return Ok(ClipboardReturn::Nothing) };
        let content = Some(&earlier).filter(|content| !content.forms.is_empty());
        let mut last = Ok(());
        for _ in 0..TRIES {
            last = self.displays.set_clipboard(Some(self.display), content, Some(&self.content));
            match last {
                Ok(()) if content.is_some() => return Ok(ClipboardReturn::Content),
                Ok(()) => return Ok(ClipboardReturn::Nothing),
                Err(ScreenError::ClipboardChanged(_)) => return Ok(ClipboardReturn::Replaced),
                Err(_) => {}
            }
        }
        last.map(|()| ClipboardReturn::Nothing)
    }
}

impl Drop for TemporaryClipboard<'_> {
    fn drop(&mut self) {
        // A display that does not answer has no clipboard to put it on.
        let _ = self.put_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(caller: &str) -> DisplayOwner {
        DisplayOwner { scope: "s".to_owned(), caller: caller.to_owned() }
    }

    fn text(bytes: usize) -> Arc<ClipboardContent> {
        Arc::new(ClipboardContent::of(ClippingKind::Text, &vec![b'x'; bytes]))
    }

    #[test]
    fn what_is_saved_belongs_to_a_caller_and_has_a_limit_for_all() {
        let store = ClipboardStore::default();
        let save = |caller: &str, bytes| store.save(owner(caller), ":0".to_owned(), text(bytes));
        save("a", 3).expect("room");
        assert!(store.get(&owner("b"), ":0").is_none() && store.get(&owner("a"), ":1").is_none());
        assert_eq!(store.get(&owner("a"), ":0").map(|it| it.content.size()), Some(3), "counted once");
        for caller in ["a", "b", "c", "d"] {
            save(caller, MAX_BYTES).expect("room");
        }
        assert_eq!(save("e", 1).map_err(|failure| failure.code), Err(ErrorCode::Conflict));
        save("a", 5).expect("in the place of the last");
        let saved = store.get(&owner("a"), ":0").expect("saved");
        save("a", 7).expect("room");
        store.forget(&owner("a"), ":0", &saved);
        assert_eq!(store.get(&owner("a"), ":0").map(|it| it.content.size()), Some(7), "another one");
    }
}
