//! Version tokens: what a client hands back as `ifVersion` to say which content it has seen.

use std::fs::File;
use std::io::Read;

use sha2::{Digest, Sha256};

use bailiwick_contract::{Cancel, ErrorCode, Failure, hex};
use bailiwick_platform::fs::Stat;

/// How much of a file is hashed between two looks at the cancellation flag.
const CHUNK_BYTES: usize = 1 << 18;
/// How many hexadecimal digits of a hash a token carries.
const TOKEN_DIGITS: usize = 24;

/// Returns the SHA-256 of bytes, as 64 hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Returns the token of a content from its SHA-256 in hexadecimal: `s-` and 24 digits.
pub fn content_version(sha256: &str) -> String {
    format!("s-{}", &sha256[..TOKEN_DIGITS])
}

/// Returns the token of a file's facts, for where its content is not read: `m-` and 24 digits.
pub fn facts_version(stat: &Stat) -> String {
    let mut hash = Sha256::new();
    hash.update(stat.id.device.to_le_bytes());
    hash.update(stat.id.inode.to_le_bytes());
    hash.update(stat.size.to_le_bytes());
    hash.update(stat.modified_ns.to_le_bytes());
    hash.update(stat.changed_ns.to_le_bytes());
    format!("m-{}", &hex(&hash.finalize())[..TOKEN_DIGITS])
}

/// Returns whether a token that a client sent stands for this state of a file.
pub fn matches_version(token: &str, stat: &Stat, sha256: Option<&str>) -> bool {
    token == facts_version(stat) || sha256.is_some_and(|sha256| token == content_version(sha256))
}

/// Reads a file to its end and gives its SHA-256 in hexadecimal.
///
/// # Errors
/// `cancelled`, `timeout`, `execution_failed`.
pub fn hash_file(file: &mut File, cancel: &Cancel) -> Result<String, Failure> {
    let mut hash = Sha256::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        cancel.check()?;
        let read = file.read(&mut chunk).map_err(|error| {
            Failure::new(ErrorCode::ExecutionFailed, format!("the file cannot be read: {error}"))
        })?;
        if read == 0 {
            return Ok(hex(&hash.finalize()));
        }
        hash.update(&chunk[..read]);
    }
}
