//! The file that describes the service to its manager: whose it is, and how its text is written down.

use std::fs::{self, DirBuilder};
use std::io;
use std::path::Path;

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::fs::modes::DirBuilderExt;
use bailiwick_platform::fs::{create_private_dir, replace_private_file};

/// What is in each of them.
pub const WRITTEN_BY: &str = "Written by `bailiwick service install`; `bailiwick service remove` removes it.";
/// By this earlier and later ones are known too.
const BY: &str = "Written by `bailiwick service install`";
/// What a text says of itself that is not UTF-8.
const UTF_16: &str = "encoding=\"UTF-16\"";

/// Reads the text of a file; none where there is none.
pub fn read(path: &Path) -> Option<String> {
    decoded(&fs::read(path).ok()?)
}

/// Returns whether Bailiwick wrote a text.
pub fn is_ours(text: &str) -> bool {
    text.lines().take(12).any(|line| line.contains(BY))
}

/// Writes a file as a whole; its folder is made where it is missing.
///
/// # Errors
/// `provider_unavailable` with the file system's reason.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let folder = path.parent().ok_or_else(|| failed(path, &io::ErrorKind::InvalidInput.into()))?;
    DirBuilder::new().recursive(true).mode(0o755).create(folder).map_err(|error| failed(path, &error))?;
    replace_private_file(path, &encoded(text)).map_err(|error| failed(path, &error))
}

/// Creates the folder of what the service says, where its manager would not.
///
/// # Errors
/// `provider_unavailable` with the file system's reason.
pub fn make_folder_of(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().ok_or_else(|| failed(path, &io::ErrorKind::InvalidInput.into()))?;
    create_private_dir(folder).map_err(|error| failed(folder, &error))
}

/// Removes a file.
///
/// # Errors
/// `provider_unavailable` with the file system's reason.
pub fn remove(path: &Path) -> Result<(), Failure> {
    fs::remove_file(path).map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::new(ErrorCode::ProviderUnavailable, format!("{}: {error}", path.display()))
        .hint("Check the folder's owner, permissions and free space.")
}

/// Returns the bytes of a text, in the encoding that it names: `schtasks` takes XML that says UTF-16 in nothing else.
fn encoded(text: &str) -> Vec<u8> {
    if !text.lines().next().is_some_and(|line| line.contains(UTF_16)) {
        return text.as_bytes().to_vec();
    }
    std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

fn decoded(bytes: &[u8]) -> Option<String> {
    let Some(units) = bytes.strip_prefix(&[0xff, 0xfe]) else {
        return String::from_utf8(bytes.to_vec()).ok();
    };
    let (units, rest) = units.as_chunks::<2>();
    let units: Vec<u16> = units.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
    if rest.is_empty() { String::from_utf16(&units).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_comes_back_in_the_encoding_that_it_names() {
        let task = "<?xml version=\"1.0\" encoding=\"UTF-16\"?>\r\n<a>größe 😀</a>\r\n";
        assert_eq!(&encoded(task)[..4], [0xff, 0xfe, b'<', 0]);
        for text in [task, "[Unit]\nDescription=größe\n", ""] {
            assert_eq!(decoded(&encoded(text)).as_deref(), Some(text));
        }
        assert_eq!(decoded(&[0xff, 0xfe, 0]), None);
        assert_eq!(decoded(&[0xff]), None);
    }
}
