//! The one-time code by which the owner proves, on the page that asks for a login, to be at this computer.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use bailiwick_contract::hex;
use bailiwick_contract::time::{parse_rfc3339, rfc3339};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::{
    OwnFileError, Secrecy, create_private_dir, read_own_file, replace_private_file,
};

use super::{ConfigError, edit_lock};

/// How long a code is valid: ten minutes, in milliseconds.
const VALID_MS: i64 = 600_000;
/// How many wrong codes end the one that is valid.
const MAX_WRONG: u32 = 5;
/// What a code is made of: no two of these look alike.
const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
/// How many of them it has: 40 bits, of which five are guessed.
const LENGTH: usize = 8;
/// The largest file that is read.
const LIMIT_BYTES: u64 = 4_096;

/// What is kept of the code that is valid: never the code itself.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct LoginCode {
    hash: String,
    expires_at: String,
    /// How often it was guessed wrong.
    wrong: u32,
    /// Whether it was used, or guessed wrong too often.
    is_over: bool,
}

impl LoginCode {
    fn path(dirs: &Dirs) -> PathBuf {
        dirs.config.join("login-code.json")
    }

    /// Creates a code, such as `K7QP-3MXB`, in place of any earlier one.
    ///
    /// # Errors
    /// When the system gives no random bytes, or the file cannot be written.
    pub fn create(dirs: &Dirs, now_ms: i64) -> Result<String, ConfigError> {
        let path = Self::path(dirs);
        let mut bytes = [0_u8; LENGTH];
        getrandom::fill(&mut bytes).map_err(|error| {
            ConfigError::new(&path, "", format!("the system gives no random bytes: {error}"), "Try again.")
        })?;
        let letters: String = bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect();
        let _lock = edit_lock(dirs)?;
        let code =
            Self { hash: hash(&letters), expires_at: rfc3339(now_ms + VALID_MS), wrong: 0, is_over: false };
        code.save(dirs)?;
        Ok(format!("{}-{}", &letters[..4], &letters[4..]))
    }

    /// Uses up the code if it is the one that was typed. Small letters, blanks and dashes do not matter.
    ///
    /// # Errors
    /// When the file cannot be read or written: then no code is valid.
    pub fn take(dirs: &Dirs, typed: &str, now_ms: i64) -> Result<bool, ConfigError> {
        let path = Self::path(dirs);
        let _lock = edit_lock(dirs)?;
        let broken = |problem: String| {
            ConfigError::new(&path, "", problem, "Run `bailiwick token code` for a new one.")
        };
        let content = match read_own_file(&path, Secrecy::Secret, LIMIT_BYTES) {
            Ok((content, _)) => content,
            Err(OwnFileError::NotFound) => return Ok(false),
            Err(error) => return Err(broken(error.to_string())),
        };
        let mut code: Self = serde_json::from_slice(&content)
            .map_err(|_| broken("the file is not of the required form".to_owned()))?;
        let typed: String = typed
            .chars()
            .filter(|it| !it.is_whitespace() && *it != '-')
            .flat_map(char::to_uppercase)
            .collect();
        if code.is_over || parse_rfc3339(&code.expires_at).is_none_or(|at| at <= now_ms) {
            return Ok(false);
        }
        let is_right = bool::from(hash(&typed).as_bytes().ct_eq(code.hash.as_bytes()));
        code.wrong += u32::from(!is_right);
        code.is_over = is_right || code.wrong >= MAX_WRONG;
        code.save(dirs)?;
        Ok(is_right)
    }

    fn save(&self, dirs: &Dirs) -> Result<(), ConfigError> {
        let path = Self::path(dirs);
        let text = serde_json::to_vec(self).expect("a code has a JSON form");
        create_private_dir(&dirs.config).and_then(|()| replace_private_file(&path, &text)).map_err(|error| {
            let fix = "Check the folder's owner, permissions and free space.";
            ConfigError::new(&path, "", format!("the file cannot be written: {error}"), fix)
        })
    }
}

fn hash(letters: &str) -> String {
    hex(&Sha256::digest(letters.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_dirs(test: impl FnOnce(&Dirs)) {
        let home =
            std::env::temp_dir().join(format!("bailiwick-login-code-{}", bailiwick_contract::id::new_id()));
        test(&Dirs::below(home.clone()));
        bailiwick_platform::fs::remove_tree(&home).expect("removed");
    }

    #[test]
    fn a_code_is_used_once_and_for_ten_minutes() {
        with_dirs(|dirs| {
            let take = |typed: &str, now| LoginCode::take(dirs, typed, now).expect("judged");
            assert!(!take("", 0), "there is none");
            let code = LoginCode::create(dirs, 0).expect("made");
            assert_eq!(code.len(), LENGTH + 1);
            assert!(take(&format!(" {} ", code.to_lowercase()), VALID_MS - 1));
            assert!(!take(&code, 1), "used");
            let code = LoginCode::create(dirs, 0).expect("made");
            assert!(!take(&code, VALID_MS), "too late");
            let (first, second) =
                (LoginCode::create(dirs, 0).expect("made"), LoginCode::create(dirs, 0).expect("made"));
            assert!(!take(&first, 0) && take(&second, 0), "the last one alone");
        });
    }

    #[test]
    fn five_wrong_guesses_end_a_code() {
        with_dirs(|dirs| {
            let code = LoginCode::create(dirs, 0).expect("made");
            for _ in 0..MAX_WRONG {
                assert!(!LoginCode::take(dirs, "AAAA-AAAA", 0).expect("judged"));
            }
            assert!(!LoginCode::take(dirs, &code, 0).expect("judged"));
        });
    }
}
