//! Signed texts: what the service gives out and takes back, so that it need not remember it.

use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::Sha256;

use bailiwick_config::{ConfigError, edit_lock};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::{OwnFileError, Secrecy, read_own_file, replace_private_file};

const KEY_BYTES: usize = 32;

/// Signs texts with a key that only this installation has.
pub struct Signer {
    key: [u8; KEY_BYTES],
}

impl Signer {
    /// Reads the key, or makes one.
    ///
    /// # Errors
    /// When the file cannot be read or written, or is not a key.
    pub fn open(dirs: &Dirs) -> Result<Self, ConfigError> {
        let path: PathBuf = dirs.config.join("login-key");
        let _lock = edit_lock(dirs)?;
        let broken = |problem: String| {
            let fix =
                "Remove the file: a new key is made, and clients that have not logged in yet begin again.";
            ConfigError::new(&path, "", problem, fix)
        };
        let key = match read_own_file(&path, Secrecy::Secret, KEY_BYTES as u64) {
            Ok((key, _)) => {
                key.try_into().map_err(|_| broken(format!("a key of {KEY_BYTES} bytes was expected")))?
            }
            Err(OwnFileError::NotFound) => {
                let mut key = [0_u8; KEY_BYTES];
                getrandom::fill(&mut key)
                    .map_err(|error| broken(format!("the system gives no random bytes: {error}")))?;
                replace_private_file(&path, &key)
                    .map_err(|error| broken(format!("the file cannot be written: {error}")))?;
                key
            }
            Err(error) => return Err(broken(error.to_string())),
        };
        Ok(Self { key })
    }

    /// Returns a value as a signed text of letters, digits, `-`, `_` and `.`. It can be read by everybody.
    pub fn sign(&self, purpose: &str, value: &impl Serialize) -> String {
        let json = serde_json::to_vec(value).expect("what is signed has a JSON form");
        let payload = URL_SAFE_NO_PAD.encode(json);
        let seal = self.mac(purpose, &payload).finalize().into_bytes();
        format!("{payload}.{}", URL_SAFE_NO_PAD.encode(seal))
    }

    /// Reads a text that was signed for the same purpose. `None` for any other.
    pub fn read<T: DeserializeOwned>(&self, purpose: &str, text: &str) -> Option<T> {
        let (payload, seal) = text.split_once('.')?;
        let seal = URL_SAFE_NO_PAD.decode(seal).ok()?;
        self.mac(purpose, payload).verify_slice(&seal).ok()?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()
    }

    fn mac(&self, purpose: &str, payload: &str) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("a key of any length is taken");
        mac.update(purpose.as_bytes());
        mac.update(b"\0");
        mac.update(payload.as_bytes());
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_signed_with_this_key_for_this_purpose_is_read() {
        let signer = Signer { key: [1; KEY_BYTES] };
        let text = signer.sign("client", &"value");
        assert_eq!(signer.read::<String>("client", &text).as_deref(), Some("value"));
        assert!(signer.read::<String>("owner", &text).is_none());
        assert!(Signer { key: [2; KEY_BYTES] }.read::<String>("client", &text).is_none());
        for at in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).expect("ASCII");
            assert!(signer.read::<String>("client", &changed).is_none(), "{changed}");
            assert!(signer.read::<String>("client", &text[..at]).is_none());
        }
    }
}
