//! Content of the clipboard by the types of macOS.
//!
//! # Source
//! The uniform type identifiers of `UTCoreTypes.h`, and nspasteboard.org for what programs say of content.

use std::sync::Arc;

use crate::screen::ClipboardContent;

pub(in crate::screen) const TEXT: &str = "public.utf8-plain-text";
pub(in crate::screen) const PNG: &str = "public.png";
/// The types that are kept beside others.
pub(in crate::screen) const KEPT_TYPES: &[&str] =
    &[TEXT, PNG, "public.html", "public.rtf", "public.tiff", "public.file-url", "public.url"];
/// By which programs say that content is a secret or is there for a moment only, or macOS that it comes from another device.
const SECRET: &[&str] = &[
    "org.nspasteboard.ConcealedType",
    "org.nspasteboard.TransientType",
    "com.agilebits.onepassword",
    "de.petermaurer.TransientPasteboardType",
    "com.apple.is-remote-clipboard",
];

/// Returns whether content with these types is never read.
pub(in crate::screen) fn is_secret(types: &[String]) -> bool {
    types.iter().any(|name| SECRET.iter().any(|secret| name.eq_ignore_ascii_case(secret)))
}

/// Returns content by the types of macOS; what has none is left out.
pub(in crate::screen) fn forms_of(content: &ClipboardContent) -> Vec<(&'static str, Arc<[u8]>)> {
    let forms = content.forms.iter().filter_map(|(name, bytes)| {
        let kept = KEPT_TYPES.iter().copied().find(|it| it == name);
        let name = match name.as_str() {
            "UTF8_STRING" => TEXT,
            "image/png" => PNG,
            _ => kept?,
        };
        Some((name, Arc::clone(bytes)))
    });
    forms.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::ClippingKind;

    #[test]
    fn what_is_said_to_be_secret_is_in_any_spelling_and_beside_any_other_type() {
        let types = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        assert!(is_secret(&types(&[TEXT, "org.nspasteboard.ConcealedType"])));
        assert!(is_secret(&types(&["org.nspasteboard.transienttype", TEXT])));
        assert!(is_secret(&types(&["com.apple.is-remote-clipboard", TEXT])));
        assert!(!is_secret(&types(&[TEXT, "org.nspasteboard.source"])));
    }

    #[test]
    fn content_has_one_form_of_each_kind_and_what_was_saved_its_own() {
        let names = |content: &ClipboardContent| forms_of(content).iter().map(|it| it.0).collect::<Vec<_>>();
        assert_eq!(names(&ClipboardContent::of(ClippingKind::Text, b"x")), [TEXT]);
        assert_eq!(names(&ClipboardContent::of(ClippingKind::Image, b"x")), [PNG]);
        assert!(names(&ClipboardContent::of(ClippingKind::Files, b"file:///x")).is_empty());
        let saved = KEPT_TYPES.iter().map(|name| ((*name).to_owned(), Arc::from(b"x".as_slice())));
        assert_eq!(names(&ClipboardContent { forms: saved.collect() }), KEPT_TYPES);
    }
}
