//! The calls of macOS for the clipboard. Callers check who may read it.

use objc2::rc::autoreleasepool;
use objc2_app_kit::NSPasteboard;
use objc2_foundation::{NSData, NSString};

/// Returns how often the clipboard has got another owner since the computer was started.
pub(super) fn change_count() -> i64 {
    autoreleasepool(|_| NSPasteboard::generalPasteboard().changeCount()) as i64
}

/// Returns the types of what is there.
pub(super) fn types() -> Vec<String> {
    autoreleasepool(|_| {
        let types = NSPasteboard::generalPasteboard().types();
        types.map(|types| types.to_vec()).unwrap_or_default().iter().map(ToString::to_string).collect()
    })
}

/// Returns how many things are there: several files are.
pub(super) fn items() -> usize {
    autoreleasepool(|_| NSPasteboard::generalPasteboard().pasteboardItems().map_or(0, |items| items.count()))
}

/// Reads the first thing that has a type. Its owner may make it only then.
pub(super) fn bytes(kind: &str) -> Option<Vec<u8>> {
    autoreleasepool(|_| {
        Some(NSPasteboard::generalPasteboard().dataForType(&NSString::from_str(kind))?.to_vec())
    })
}

/// Empties the clipboard and becomes its owner. Returns the number of this change.
pub(super) fn clear() -> i64 {
    autoreleasepool(|_| NSPasteboard::generalPasteboard().clearContents()) as i64
}

/// Puts something there beside what this has put there.
pub(super) fn put(kind: &str, bytes: &[u8]) -> bool {
    autoreleasepool(|_| {
        let data = NSData::with_bytes(bytes);
        NSPasteboard::generalPasteboard().setData_forType(Some(&data), &NSString::from_str(kind))
    })
}
