//! Which names files can have: on Unix every one without `/` and NUL.

/// Returns why no file can have this name; nothing if one can.
pub(super) const fn problem(_: &[u8]) -> Option<&'static str> {
    None
}
