//! Places in text: `FILE:LINE:COLUMN` and its relatives.

/// A place that a text names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextLocation<'a> {
    /// The file, as it is there.
    pub file: &'a str,
    /// The line.
    pub line: u64,
    /// The column.
    pub column: Option<u64>,
    /// What follows the place.
    pub rest: &'a str,
}

/// Reads `FILE:LINE: rest` or `FILE:LINE:COLUMN: rest` from the beginning of a text. The name of the file may hold
/// anything but a colon with a number after it.
pub fn leading(text: &str) -> Option<TextLocation<'_>> {
    if text.starts_with(':') {
        return None;
    }
    let mut from = 0;
    while let Some(found) = memchr::memchr(b':', &text.as_bytes()[from..]) {
        let at = from + found;
        from = at + 1;
        let Some((line, rest)) = number(&text[at + 1..]) else { continue };
        let Some(rest) = rest.strip_prefix(':') else { continue };
        let file = &text[..at];
        if let Some((column, after)) = number(rest)
            && let Some(after) = after.strip_prefix(':').or_else(|| after.starts_with(' ').then_some(after))
        {
            return Some(TextLocation { file, line, column: Some(column), rest: after.trim_start() });
        }
        return Some(TextLocation { file, line, column: None, rest: rest.trim_start() });
    }
    None
}

/// Reads `FILE:LINE:COLUMN` or `FILE:LINE` that is all of a text.
pub fn whole(text: &str) -> Option<TextLocation<'_>> {
    let (before, last) = text.rsplit_once(':')?;
    let last: u64 = plain(last)?;
    if let Some((file, line)) = before.rsplit_once(':')
        && let Some(line) = plain(line)
        && !file.is_empty()
    {
        return Some(TextLocation { file, line, column: Some(last), rest: "" });
    }
    (!before.is_empty()).then_some(TextLocation { file: before, line: last, column: None, rest: "" })
}

/// Reads a frame of a JavaScript stack: `at name (FILE:LINE:COLUMN)` or `at FILE:LINE:COLUMN`.
pub fn of_script_frame(line: &str) -> Option<TextLocation<'_>> {
    let frame = line.trim_start().strip_prefix("at ")?.trim_end();
    let inner = match frame.strip_suffix(')') {
        Some(open) => open.split_once(" (")?.1,
        None => frame.strip_prefix("async ").unwrap_or(frame),
    };
    whole(inner.strip_prefix("file://").unwrap_or(inner))
}

/// Returns whether a file belongs to what a program uses rather than to the program.
pub fn is_foreign(file: &str) -> bool {
    file.contains("node_modules/") || file.starts_with("node:") || file.starts_with("internal/")
}

/// Reads `  File "FILE", line LINE…` of a Python traceback.
pub fn of_python_frame(line: &str) -> Option<TextLocation<'_>> {
    let rest = line.trim_start().strip_prefix("File \"")?;
    let (file, rest) = rest.split_once("\", line ")?;
    let (line, _) = number(rest)?;
    Some(TextLocation { file, line, column: None, rest: "" })
}

/// Returns whether a file belongs to Python or to an installed package.
pub fn is_library(file: &str) -> bool {
    file.contains("/site-packages/") || file.contains("/lib/python") || file.starts_with('<')
}

/// Reads a number from the beginning of a text.
pub fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    Some((plain(&text[..end])?, &text[end..]))
}

/// Reads a text that is a number of at most nine digits.
fn plain(text: &str) -> Option<u64> {
    if text.is_empty() || text.len() > 9 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// Returns the number before a word in a text such as `3 failed, 2 passed`.
pub fn count_of(text: &str, word: &str) -> Option<u64> {
    let parts = text.split([',', '|', ';', '(', ')']);
    parts.map(str::trim).find_map(|part| {
        let (count, rest) = number(part)?;
        (rest.trim().split(' ').next() == Some(word)).then_some(count)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_whatever_the_file_is_called() {
        let read = |text| leading(text).map(|place| (place.file, place.line, place.column, place.rest));
        assert_eq!(read("a b/ö.c:3:5: error: x"), Some(("a b/ö.c", 3, Some(5), "error: x")));
        assert_eq!(read("C:\\a.c:3: warning: y:4:5"), Some(("C:\\a.c", 3, None, "warning: y:4:5")));
        assert_eq!(read("src/a.ts:12:5 - error TS1"), Some(("src/a.ts", 12, Some(5), "- error TS1")));
        assert_eq!(read("at 12:30 it began"), None);
        assert_eq!(read(":3:4: x"), None);
        assert_eq!(whole("a:b.rs:4:5").map(|place| (place.file, place.line)), Some(("a:b.rs", 4)));
        assert_eq!(
            of_script_frame("   at f [as g] (src/a (1).js:4:5)").map(|place| place.file),
            Some("src/a (1).js")
        );
        assert_eq!(of_python_frame("  File \"/a b.py\", line 7, in f").map(|place| place.line), Some(7));
        assert_eq!(count_of("Tests:  1 failed, 3 passed, 4 total", "passed"), Some(3));
    }
}
