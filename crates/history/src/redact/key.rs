//! The key of this installation, and the mark that stands for a secret.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::super::database::lock;
use bailiwick_contract::hex;
use bailiwick_platform::fs::{Secrecy, create_private_dir, read_own_file, replace_private_file};

const FILE_NAME: &str = "history.key";

/// A key of 32 random bytes.
pub struct Key([u8; 32]);

impl Key {
    /// Reads the key of a folder, or makes it.
    ///
    /// Where that fails the key lasts as long as the process: marks then differ between runs.
    pub fn open(folder: &Path) -> Self {
        if let Some(key) = read(folder) {
            return key;
        }
        let mut bytes = [0; 32];
        // Without randomness the marks say less: all equal. That is safe too.
        if getrandom::fill(&mut bytes).is_err() {
            return Self([0; 32]);
        }
        if create_private_dir(folder).is_ok()
            && let Ok(_lock) = lock(folder)
        {
            // Another process may have made it meanwhile.
            if let Some(key) = read(folder) {
                return key;
            }
            // A key that cannot be kept lasts as long as the process.
            let _ = replace_private_file(&folder.join(FILE_NAME), &bytes);
        }
        Self(bytes)
    }

    /// Returns the first 8 hexadecimal digits of HMAC-SHA-256 over a secret.
    pub fn mark(&self, secret: &[u8]) -> String {
        hex(&hmac_sha256(&self.0, secret)[..4])
    }

    /// Returns HMAC-SHA-256 over a text, in hexadecimal digits.
    pub fn digest(&self, text: &[u8]) -> String {
        hex(&hmac_sha256(&self.0, text))
    }
}

fn read(folder: &Path) -> Option<Key> {
    let (bytes, _) = read_own_file(&folder.join(FILE_NAME), Secrecy::Secret, 32).ok()?;
    Some(Key(bytes.try_into().ok()?))
}

/// Computes HMAC with SHA-256 for a key of at most 64 bytes.
///
/// # Source
/// RFC 2104 §2; the test vectors are those of RFC 4231.
fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(key);
    let pad = |with: u8| block.map(|byte| byte ^ with);
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hmac_agrees_with_the_vectors_of_rfc_4231() {
        for (key, message, expected) in [
            (
                &[0x0b; 20][..],
                &b"Hi There"[..],
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            ),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (&[0xaa; 20], &[0xdd; 50], "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
        ] {
            assert_eq!(hex(&hmac_sha256(key, message)), expected);
        }
    }
}
