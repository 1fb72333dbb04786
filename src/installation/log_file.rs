//! A log file, from its newest lines on.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// No more than this of the file's end is checked.
const LOOKED_AT_BYTES: u64 = 1 << 20;
/// A log file that may grow.
pub struct LogFile {
    file: File,
    at: u64,
}

impl LogFile {
    /// Opens a log. Returns its newest lines.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open(path: &Path, lines: usize) -> io::Result<(Self, String)> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let text = read(&mut file, length.saturating_sub(LOOKED_AT_BYTES))?;
        let at = file.stream_position()?;
        Ok((Self { file, at }, last_lines(&text, lines).to_owned()))
    }

    /// Returns what came since.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn more(&mut self) -> io::Result<String> {
        // It may have started over.
        let from = if self.file.metadata()?.len() < self.at { 0 } else { self.at };
        let more = read(&mut self.file, from)?;
        self.at = self.file.stream_position()?;
        Ok(more)
    }
}

fn read(file: &mut File, from: u64) -> io::Result<String> {
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(LOOKED_AT_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the newest lines of a text.
fn last_lines(text: &str, count: usize) -> &str {
    let whole = text.strip_suffix('\n').unwrap_or(text);
    match whole.rmatch_indices('\n').nth(count.saturating_sub(1)) {
        _ if count == 0 => "",
        Some((at, _)) => &text[at + 1..],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_lines_are_the_last() {
        let cases =
            [("a\nb\nc\n", 2, "b\nc\n"), ("a\nb", 1, "b"), ("a\n", 5, "a\n"), ("", 3, ""), ("a\n", 0, "")];
        for (text, count, expected) in cases {
            assert_eq!(last_lines(text, count), expected, "{text:?} {count}");
        }
    }
}
