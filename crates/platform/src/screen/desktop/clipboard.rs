//! The clipboard of Windows, which all displays share. It is open from when its owner is judged until it was read, so that nobody
//! puts anything else there meanwhile. What nobody owns, or a program whose name is not known, is not read.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::asking::{Asker, PATIENCE, failed, owner, require_display};
use super::data_exchange::{OpenClipboardGuard, format, is_owner_hung};
use super::scene::Scene;
use super::servers::{Servers, granted};
use super::system;
use crate::screen::plain::plain;
use crate::screen::{
    Access, CLIPBOARD_OWNER, ClipboardContent, Clipping, ClippingKind, ClippingLimits, Judge, ScreenError,
};

/// `CF_UNICODETEXT`.
const TEXT: u32 = 13;
/// The formats that are read and kept beside text, by their names: all are kept as memory. Those without a number are registered.
const KEPT: &[(&str, Option<u32>)] = &[
    ("CF_UNICODETEXT", Some(TEXT)),
    ("CF_DIB", Some(8)),
    ("CF_HDROP", Some(15)),
    ("PNG", None),
    ("HTML Format", None),
    ("Rich Text Format", None),
];
/// By which password managers say that content is a secret.
const SECRET: &[&str] = &["ExcludeClipboardContentFromMonitorProcessing", "Clipboard Viewer Ignore"];
/// The same, where its content is the number 0.
const SECRET_IF_ZERO: &str = "CanIncludeInClipboardHistory";
/// By which this process knows content again that it has put there.
const MARK: &str = "Bailiwick Content";

/// Content with the mark by which it is known again.
type MarkedContent = (Arc<ClipboardContent>, [u8; 16]);

/// What this process has put on the clipboard last.
#[derive(Debug, Clone, Default)]
pub(super) struct OwnContent(Arc<Mutex<Option<MarkedContent>>>);

impl OwnContent {
    fn get(&self) -> MutexGuard<'_, Option<MarkedContent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the content that this process has put there, if it is there.
    fn on(&self, clipboard: &OpenClipboardGuard) -> Option<Arc<ClipboardContent>> {
        let (content, mark) = self.get().clone()?;
        let there = clipboard.bytes(format(MARK), 64).ok().flatten()?;
        there.starts_with(&mark).then_some(content)
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
        let read = move |clipboard: &OpenClipboardGuard| read(clipboard, wanted, limits);
        self.read_judged(display, judge, move |asker| judged_read(&own, asker, read))
    }

    pub(in crate::screen) fn save_clipboard(
        &self,
        display: Option<&str>,
        limit: usize,
        judge: &Judge,
    ) -> Result<ClipboardContent, ScreenError> {
        let own = self.clipboard.clone();
        let save = move |clipboard: &OpenClipboardGuard| save(clipboard, limit);
        self.read_judged(display, judge, move |asker| judged_read(&own, asker, save))
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
            let forms = content.as_ref().map(|content| forms_of(content)).transpose()?.unwrap_or_default();
            let mut mark = [0; 16];
            getrandom::fill(&mut mark).map_err(|error| failed(error.to_string()))?;
            let clipboard = OpenClipboardGuard::write().map_err(failed)?;
            let is_other =
                |it: &Arc<ClipboardContent>| own.on(&clipboard).is_none_or(|own| !Arc::ptr_eq(&own, it));
            if instead_of.as_ref().is_some_and(is_other) {
                return Err(ScreenError::ClipboardChanged("the desktop".to_owned()));
            }
            clipboard.clear().map_err(failed)?;
            *own.get() = None;
            let Some(content) = content else { return Ok(()) };
            for (format, bytes) in forms {
                clipboard.put(format, &bytes).map_err(failed)?;
            }
            clipboard.put(format(MARK), &mark).map_err(failed)?;
            *own.get() = Some((content, mark));
            Ok(())
        })
    }
}

fn judged_read<T: Default>(
    own: &OwnContent,
    asker: &Asker,
    read: impl FnOnce(&OpenClipboardGuard) -> Result<T, ScreenError>,
) -> Result<T, ScreenError> {
    if is_owner_hung() {
        return Err(ScreenError::ClipboardSilent("the desktop".to_owned()));
    }
    let clipboard = OpenClipboardGuard::read().map_err(failed)?;
    let formats = clipboard.formats();
    if formats.is_empty() {
        return Ok(T::default());
    }
    let refused = || ScreenError::Refused(CLIPBOARD_OWNER.to_owned());
    let is_own = own.on(&clipboard).is_some();
    let pid = if is_own { Some(std::process::id()) } else { clipboard.owner() };
    let process = pid.and_then(system::program).ok_or_else(refused)?;
    let mut windows = Scene::read()?.described();
    windows.push(owner(pid, Some(plain(&process))));
    if !asker.ask(windows) || is_secret(&clipboard, &formats) {
        return Err(refused());
    }
    read(&clipboard)
}

/// Returns whether the owner says that the content is a secret.
fn is_secret(clipboard: &OpenClipboardGuard, formats: &[(u32, Option<String>)]) -> bool {
    formats.iter().any(|(format, name)| match name.as_deref() {
        // What is too long for a number, or cannot be read, is none that says that it is no secret.
        Some(name) if name == SECRET_IF_ZERO => {
            let read = clipboard.bytes(*format, 64).ok().flatten().unwrap_or_default();
            read.iter().take(4).all(|byte| *byte == 0)
        }
        Some(name) => SECRET.contains(&name),
        None => false,
    })
}

fn read(
    clipboard: &OpenClipboardGuard,
    wanted: Option<ClippingKind>,
    limits: ClippingLimits,
) -> Result<Clipping, ScreenError> {
    let formats = clipboard.formats();
    let has = |wanted: u32| formats.iter().any(|(format, _)| *format == wanted);
    let mut content = None;
    for (kind, number) in [(ClippingKind::Text, TEXT), (ClippingKind::Image, format("PNG"))] {
        if content.is_some() || wanted.is_some_and(|wanted| wanted != kind) || !has(number) {
            continue;
        }
        let limit = limits.of(kind);
        let too_large = |bytes| ScreenError::ClipboardTooLarge { bytes, limit };
        // A unit of two bytes becomes one byte at least.
        let most = if kind == ClippingKind::Text { limit.saturating_mul(2).saturating_add(2) } else { limit };
        let bytes = clipboard.bytes(number, most).map_err(too_large)?;
        let bytes =
            bytes.map(|bytes| if kind == ClippingKind::Text { text(&bytes).into_bytes() } else { bytes });
        if let Some(bytes) = bytes.as_ref().filter(|bytes| bytes.len() > limit) {
            return Err(too_large(bytes.len()));
        }
        content = bytes.map(|bytes| (kind, bytes));
    }
    Ok(Clipping { types: types(&formats), content })
}

/// Returns what formats are called; those of the system by their numbers.
fn types(formats: &[(u32, Option<String>)]) -> Vec<String> {
    let known = |number: u32| KEPT.iter().find(|(_, it)| *it == Some(number)).map(|(name, _)| *name);
    let named = formats.iter().filter(|(_, name)| name.as_deref() != Some(MARK));
    named
        .map(|(number, name)| match name {
            Some(name) => plain(name),
            None => known(*number).map_or_else(|| format!("format {number}"), str::to_owned),
        })
        .collect()
}

fn save(clipboard: &OpenClipboardGuard, limit: usize) -> Result<ClipboardContent, ScreenError> {
    let there = clipboard.formats();
    let (mut content, mut left) = (ClipboardContent::default(), limit);
    for (name, number) in KEPT {
        let number = number.unwrap_or_else(|| format(name));
        if !there.iter().any(|(it, _)| *it == number) {
            continue;
        }
        let read = clipboard.bytes(number, left);
        let too_large = |bytes| ScreenError::ClipboardTooLarge { bytes: limit - left + bytes, limit };
        if let Some(bytes) = read.map_err(too_large)? {
            left -= bytes.len();
            content.forms.push(((*name).to_owned(), bytes.into()));
        }
    }
    Ok(content)
}

/// Returns content in the formats of Windows.
fn forms_of(content: &ClipboardContent) -> Result<Vec<(u32, Vec<u8>)>, ScreenError> {
    let mut forms: Vec<(u32, Vec<u8>)> = Vec::new();
    for (name, bytes) in &content.forms {
        let kept = KEPT.iter().find(|(it, _)| it == name);
        let form = match (name.as_str(), kept) {
            (_, Some((name, number))) => (number.unwrap_or_else(|| format(name)), bytes.to_vec()),
            ("UTF8_STRING", None) => (TEXT, units(&String::from_utf8_lossy(bytes))),
            ("image/png", None) => (format("PNG"), bytes.to_vec()),
            _ => continue,
        };
        forms.push(form);
    }
    if forms.is_empty() && !content.forms.is_empty() {
        let why = "names of files are put on the clipboard on Linux only, so far".to_owned();
        return Err(ScreenError::NoAccess(Access::Unsupported { why }));
    }
    Ok(forms)
}

/// Returns a text as the clipboard has it: with a zero at its end.
fn units(text: &str) -> Vec<u8> {
    text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()
}

/// Reads a text up to its first zero.
fn text(bytes: &[u8]) -> String {
    let units = bytes.as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit));
    let units: Vec<u16> = units.take_while(|unit| *unit != 0).collect();
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::screen::{Sources, Window};

    /// The one test that uses the clipboard, which all tests would share.
    #[test]
    fn text_comes_back_and_a_judge_or_an_owner_that_says_no_is_heeded() {
        let servers = Servers::new(Sources::default());
        let access = servers.list().expect("an answer").access;
        if access != Access::Granted {
            writeln!(std::io::stdout(), "left out: it needs a display: {access:?}").expect("it can be said");
            return;
        }
        let limits = ClippingLimits { text: 20, image: 20 };
        let read = |judge: fn(&[Window]) -> bool| {
            let judge: Judge = Box::new(judge);
            servers.read_clipboard(None, None, limits, &judge)
        };
        let set = |text: &str, instead_of: Option<&Arc<ClipboardContent>>| {
            let content = Arc::new(ClipboardContent::of(ClippingKind::Text, text.as_bytes()));
            servers.set_clipboard(None, Some(&content), instead_of).map(|()| content)
        };
        let first = set("grüße 👋", None).expect("it is put there");
        let clipping = read(|windows| {
            let owner = windows.iter().find(|it| it.id == CLIPBOARD_OWNER);
            owner.is_some_and(|it| it.pid == Some(std::process::id()) && it.process.is_some())
        });
        let clipping = clipping.expect("it is read");
        assert_eq!(clipping.content, Some((ClippingKind::Text, "grüße 👋".as_bytes().to_vec())));
        assert!(!clipping.types.iter().any(|it| it == MARK), "{:?}", clipping.types);
        assert_eq!(read(|_| false), Err(ScreenError::Refused(CLIPBOARD_OWNER.to_owned())));

        let saved = servers.save_clipboard(None, 1000, &(Box::new(|_: &[Window]| true) as Judge));
        let saved = Arc::new(saved.expect("it is saved"));
        let second = set("more than twenty bytes of text", Some(&first)).expect("in the place of its own");
        assert!(matches!(read(|_| true), Err(ScreenError::ClipboardTooLarge { limit: 20, .. })));
        assert!(matches!(set("x", Some(&first)), Err(ScreenError::ClipboardChanged(_))), "another is there");
        servers.set_clipboard(None, Some(&saved), Some(&second)).expect("it is put back");
        let again = read(|_| true).expect("it is read").content;
        assert_eq!(again, Some((ClippingKind::Text, "grüße 👋".as_bytes().to_vec())));

        {
            let clipboard = OpenClipboardGuard::write().expect("it is open");
            clipboard.clear().expect("it is empty");
            clipboard.put(TEXT, &units("secret")).expect("it is put there");
        }
        assert_eq!(read(|_| true), Err(ScreenError::Refused(CLIPBOARD_OWNER.to_owned())), "nobody owns it");
        for (name, value, is_refused) in [
            (SECRET[0], &[1][..], true),
            (SECRET_IF_ZERO, &[0; 4], true),
            (SECRET_IF_ZERO, &[1, 0, 0, 0], false),
        ] {
            let clipboard = OpenClipboardGuard::write().expect("it is open");
            clipboard.clear().expect("it is empty");
            clipboard.put(format(name), value).expect("it is put there");
            assert_eq!(is_secret(&clipboard, &clipboard.formats()), is_refused, "{name} {value:?}");
        }
        servers.set_clipboard(None, None, None).expect("it is empty");
        assert_eq!(read(|_| true), Ok(Clipping::default()));
        let elsewhere = servers.set_clipboard(Some("DISPLAY99"), None, None);
        assert_eq!(elsewhere, Err(ScreenError::UnknownDisplay("DISPLAY99".to_owned())));
    }
}
