//! The clipboard of macOS, which all displays share. macOS does not say whose content it has, so that it is nobody's: it is read only
//! while no program runs that the judge closes. None of it has been run.
//!
//! Nothing holds it still: what was read counts only if no other content came meanwhile.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::asking::{Asker, PATIENCE, failed, owner, require_display};
use super::pasteboard;
use super::scene::Scene;
use super::servers::{Servers, granted};
use crate::libproc;
use crate::screen::ancestry::{bundle_name, program_name};
use crate::screen::plain::plain;
use crate::screen::quartz::{KEPT_TYPES, PNG, TEXT, forms_of, is_secret};
use crate::screen::{
    Access, CLIPBOARD_OWNER, ClipboardContent, Clipping, ClippingKind, ClippingLimits, Judge, ScreenError,
    Window,
};

/// Content with the number of the change by which it was put there.
type NumberedContent = (Arc<ClipboardContent>, i64);

/// What this process has put on the clipboard last.
#[derive(Debug, Clone, Default)]
pub(super) struct OwnContent(Arc<Mutex<Option<NumberedContent>>>);

impl OwnContent {
    fn get(&self) -> MutexGuard<'_, Option<NumberedContent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the content that this process has put there, if the clipboard has not changed since.
    fn at(&self, change: i64) -> Option<Arc<ClipboardContent>> {
        self.get().clone().filter(|(_, number)| *number == change).map(|(content, _)| content)
    }
}

impl Servers {
    pub(in crate::screen) fn read_clipboard(
        &self,
        display: Option<&str>,
        wanted: Option<ClippingKind>,
        limits: ClippingLimits,
        judge: &Judge,
    ) -> Result<Clipping, ScreenError> {
        let own = self.clipboard.clone();
        self.read_judged(display, judge, move |asker| judged_read(&own, asker, || read(wanted, limits)))
    }

    pub(in crate::screen) fn save_clipboard(
        &self,
        display: Option<&str>,
        limit: usize,
        judge: &Judge,
    ) -> Result<ClipboardContent, ScreenError> {
        let own = self.clipboard.clone();
        self.read_judged(display, judge, move |asker| judged_read(&own, asker, || save(limit)))
    }

    pub(in crate::screen) fn set_clipboard(
        &self,
        display: Option<&str>,
        content: Option<&Arc<ClipboardContent>>,
        instead_of: Option<&Arc<ClipboardContent>>,
    ) -> Result<(), ScreenError> {
        let (display, own) = (display.map(str::to_owned), self.clipboard.clone());
        let (content, instead_of) = (content.map(Arc::clone), instead_of.map(Arc::clone));
        self.ask(PATIENCE, move || {
            granted()?;
            require_display(&Scene::read()?, display.as_deref())?;
            let forms = content.as_ref().map(|content| forms_of(content)).unwrap_or_default();
            if forms.is_empty() && content.as_ref().is_some_and(|content| !content.forms.is_empty()) {
                let why = "names of files are put on the clipboard on Linux only, so far".to_owned();
                return Err(ScreenError::NoAccess(Access::Unsupported { why }));
            }
            let is_other = |it: &Arc<ClipboardContent>| {
                own.at(pasteboard::change_count()).is_none_or(|own| !Arc::ptr_eq(&own, it))
            };
            if instead_of.as_ref().is_some_and(is_other) {
                return Err(changed());
            }
            let number = pasteboard::clear();
            *own.get() = None;
            let Some(content) = content else { return Ok(()) };
            for (kind, bytes) in forms {
                if !pasteboard::put(kind, &bytes) {
                    return Err(failed(format!("macOS did not take the content as {kind}")));
                }
            }
            if pasteboard::change_count() != number {
                return Err(changed());
            }
            *own.get() = Some((content, number));
            Ok(())
        })
    }
}

fn judged_read<T: Default>(
    own: &OwnContent,
    asker: &Asker,
    read: impl FnOnce() -> Result<T, ScreenError>,
) -> Result<T, ScreenError> {
    let change = pasteboard::change_count();
    let types = pasteboard::types();
    if types.is_empty() {
        return Ok(T::default());
    }
    let mut windows = Scene::read()?.described();
    if own.at(change).is_some() {
        let pid = std::process::id();
        windows.push(owner(Some(pid), program_name(pid)));
    } else {
        // It may be of any program that runs, and of none that anybody knows.
        windows.extend(programs());
        windows.push(owner(None, None));
    }
    if !asker.ask(windows) || is_secret(&types) {
        return Err(ScreenError::Refused(CLIPBOARD_OWNER.to_owned()));
    }
    let content = read();
    if pasteboard::change_count() == change { content } else { Err(changed()) }
}

/// Lists the applications that run, also those without a window, as windows that nobody sees.
fn programs() -> Vec<Window> {
    let pids = libproc::process_ids().into_iter().filter_map(|pid| u32::try_from(pid).ok());
    let programs = pids.filter_map(|pid| {
        let bundle = bundle_name(pid)?;
        let told = Window { instance: bundle, ..owner(Some(pid), program_name(pid)) };
        Some(Window { id: format!("process/{pid}"), ..told })
    });
    programs.collect()
}

fn read(wanted: Option<ClippingKind>, limits: ClippingLimits) -> Result<Clipping, ScreenError> {
    let types = pasteboard::types();
    let mut content = None;
    for (kind, name) in [(ClippingKind::Text, TEXT), (ClippingKind::Image, PNG)] {
        if content.is_some()
            || wanted.is_some_and(|wanted| wanted != kind)
            || !types.iter().any(|it| it == name)
        {
            continue;
        }
        let limit = limits.of(kind);
        let bytes = pasteboard::bytes(name);
        if let Some(bytes) = bytes.as_ref().filter(|bytes| bytes.len() > limit) {
            return Err(ScreenError::ClipboardTooLarge { bytes: bytes.len(), limit });
        }
        content = bytes.map(|bytes| (kind, bytes));
    }
    Ok(Clipping { types: types.iter().map(|name| plain(name)).collect(), content })
}

fn save(limit: usize) -> Result<ClipboardContent, ScreenError> {
    if pasteboard::items() > 1 {
        return Err(failed("it has several things, which could not be put back as they are".to_owned()));
    }
    let types = pasteboard::types();
    let (mut content, mut left) = (ClipboardContent::default(), limit);
    for name in KEPT_TYPES.iter().filter(|name| types.iter().any(|it| it == *name)) {
        let Some(bytes) = pasteboard::bytes(name) else { continue };
        let all = limit - left + bytes.len();
        left = left.checked_sub(bytes.len()).ok_or(ScreenError::ClipboardTooLarge { bytes: all, limit })?;
        content.forms.push(((*name).to_owned(), bytes.into()));
    }
    Ok(content)
}

fn changed() -> ScreenError {
    ScreenError::ClipboardChanged("the desktop".to_owned())
}
