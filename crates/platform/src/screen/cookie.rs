//! The file by which an X server that this program starts knows who may connect.

use std::io;

/// For any display of any host, as libXau's `AuFileName(3)` has it.
const FAMILY_WILD: u16 = 65_535;
const METHOD: &[u8] = b"MIT-MAGIC-COOKIE-1";

/// Creates the content of a file with a new cookie, for any display.
///
/// # Errors
/// Where the system has no random bytes.
pub fn new_cookie_file() -> io::Result<Vec<u8>> {
    let mut cookie = [0; 16];
    getrandom::fill(&mut cookie).map_err(io::Error::other)?;
    let mut bytes = FAMILY_WILD.to_be_bytes().to_vec();
    for field in [b"".as_slice(), b"", METHOD, &cookie] {
        bytes.extend(u16::try_from(field.len()).unwrap_or(0).to_be_bytes());
        bytes.extend(field);
    }
    Ok(bytes)
}
