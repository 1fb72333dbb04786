//! Which names files can have on Windows, where many mean something else: a device, a stream, another file.

use std::ffi::OsStr;
use std::os::windows::ffi::OsStrExt;

use super::{FileError, PathProblem};

/// What stands for devices in every folder, with any ending.
///
/// # Source
/// "Naming Files, Paths, and Namespaces" of Microsoft's documentation. `CONIN$` and `CONOUT$` are the console's.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Returns why no file can have this name; nothing if one can.
pub(super) fn problem(name: &[u8]) -> Option<&'static str> {
    let Ok(text) = std::str::from_utf8(name) else { return Some("is not UTF-8 text") };
    for character in text.chars() {
        match character {
            '\\' => return Some("contains a backslash; names are parted by `/`"),
            ':' => return Some("contains a colon, which means a drive or a stream"),
            '<' | '>' | '"' | '|' | '?' | '*' | '\0'..='\x1f' => {
                return Some("contains a character that no name can have on this system");
            }
            _ => {}
        }
    }
    if text.ends_with(['.', ' ']) {
        return Some("ends with a dot or a blank, which this system drops");
    }
    let stem = text.split('.').next().unwrap_or_default().trim_end_matches(' ');
    is_device(stem).then_some("is a device's on this system")
}

fn is_device(stem: &str) -> bool {
    if DEVICES.iter().any(|device| stem.eq_ignore_ascii_case(device)) {
        return true;
    }
    let Some((port, number)) = stem.split_at_checked(3) else { return false };
    (port.eq_ignore_ascii_case("com") || port.eq_ignore_ascii_case("lpt"))
        && matches!(number, "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³")
}

/// Returns a single name as the system has it, if a file can have it.
pub(super) fn wide(name: &OsStr) -> Result<Vec<u16>, FileError> {
    let bytes = name.as_encoded_bytes();
    if bytes.is_empty() || bytes == b"." || bytes == b".." || bytes.contains(&b'/') {
        return Err(FileError::Outside);
    }
    // A name that was listed may hold half of a surrogate pair; all else must be a good name.
    match name.to_str().map_or(problem(name.to_string_lossy().as_bytes()), |text| problem(text.as_bytes())) {
        None => Ok(name.encode_wide().collect()),
        Some(why) => Err(PathProblem::Name(why).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::problem;

    #[test]
    fn what_means_something_else_is_no_name() {
        for name in [
            "con",
            "CON",
            "Nul.txt",
            "nul .txt",
            "aux.tar.gz",
            "com1",
            "LPT9.log",
            "com¹",
            "conin$",
            "CONOUT$",
            "a:b",
            "file:stream",
            "file::$DATA",
            "a\\b",
            "..\\b",
            "a.",
            "a ",
            "a...",
            "a*",
            "a?",
            "\"",
            "<",
            "a|b",
            "a\tb",
            "C:",
        ] {
            assert!(problem(name.as_bytes()).is_some(), "{name:?}");
        }
        assert!(problem(b"\xff").is_some());
        for name in
            ["a", ".git", "console", "com", "com10", "nullable", "lpt", "ä ö", "a.b.c", "~1", "$DATA", "aux2"]
        {
            assert_eq!(problem(name.as_bytes()), None, "{name:?}");
        }
    }
}
