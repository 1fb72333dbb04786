//! Where the content of a sparse file is.

use std::fs::File;
use std::ops::Range;

/// Returns the next range of a file, from an offset on, that is not a hole; `None` if only a hole is left.
///
/// A system or file system that knows no holes answers with all that is left.
#[cfg(target_os = "linux")]
pub fn next_data(file: &File, from: u64, size: u64) -> Option<Range<u64>> {
    use rustix::fs::{SeekFrom, seek};
    use rustix::io::Errno;

    match seek(file, SeekFrom::Data(from)) {
        Ok(start) => {
            let end = seek(file, SeekFrom::Hole(start)).unwrap_or(size);
            Some(start..end.min(size)).filter(|range| !range.is_empty())
        }
        Err(Errno::NXIO) => None,
        Err(_) => Some(from..size).filter(|range| !range.is_empty()),
    }
}

/// Returns the rest of a file: this system is not asked for holes.
#[cfg(not(target_os = "linux"))]
pub fn next_data(_: &File, from: u64, size: u64) -> Option<Range<u64>> {
    Some(from..size).filter(|range| !range.is_empty())
}
