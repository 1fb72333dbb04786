//! The one-time code by which the owner proves, on the page that asks for a login, to be at this computer.
//!
//! Everybody who reaches the public URL can register clients and type codes, through one tunnel: a bound on wrong codes, of a
//! client, an address or all of them, would let a stranger use up the owner's. So a wrong code changes nothing, and the code
//! is too long to be guessed within its time.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use bailiwick_contract::time::{parse_rfc3339, rfc3339};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::{
    OwnFileError, Secrecy, create_private_dir, read_own_file, replace_private_file,
};

use super::secret_hash::SecretHash;
use super::{ConfigError, edit_lock};

/// How long a code is valid: ten minutes, in milliseconds.
const VALID_MS: i64 = 600_000;
/// What a code is made of: no two of these look alike.
const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
/// How many of them it has: 60 bits. With 100,000 guesses a second, more than any listener takes, one in 19 billion codes would
/// be guessed within its time.
const LENGTH: usize = 12;
/// How many are shown together.
const GROUP: usize = 4;
/// The largest file that is read.
const LIMIT_BYTES: u64 = 4_096;

/// What is kept of the code that is valid: never the code itself.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct LoginCode {
    hash: SecretHash,
    expires_at: String,
    /// Whether it was used.
    is_used: bool,
}

impl LoginCode {
    fn path(dirs: &Dirs) -> PathBuf {
        dirs.config.join("login-code.json")
    }

    /// Creates a code, such as `K7QP-3MXB-9TWD`, in place of any earlier one.
    ///
    /// # Errors
    /// When the system gives no random bytes, or the file cannot be written.
    pub fn create(dirs: &Dirs, now_ms: i64) -> Result<String, ConfigError> {
        let path = Self::path(dirs);
        let mut bytes = [0_u8; LENGTH];
        getrandom::fill(&mut bytes).map_err(|error| {
            ConfigError::new(&path, "", format!("the system gives no random bytes: {error}"), "Try again.")
        })?;
        let letters = bytes.map(|byte| char::from(LETTERS[usize::from(byte % 32)]));
        let _lock = edit_lock(dirs)?;
        let whole: String = letters.iter().collect();
        Self { hash: SecretHash::of(&whole), expires_at: rfc3339(now_ms + VALID_MS), is_used: false }
            .save(dirs)?;
        let groups: Vec<String> = letters.chunks(GROUP).map(|group| group.iter().collect()).collect();
        Ok(groups.join("-"))
    }

    /// Uses up the code if it is the one that was typed. Small letters, blanks and dashes do not matter. A wrong one neither
    /// changes anything nor waits for who changes it.
    ///
    /// # Errors
    /// When the file cannot be read or written: then no code is valid.
    pub fn take(dirs: &Dirs, typed: &str, now_ms: i64) -> Result<bool, ConfigError> {
        if !Self::read(dirs, now_ms)?.is_some_and(|code| code.is(typed)) {
            return Ok(false);
        }
        let _lock = edit_lock(dirs)?;
        // Of two who type it at once, one is the first.
        let Some(code) = Self::read(dirs, now_ms)?.filter(|code| code.is(typed)) else { return Ok(false) };
        Self { is_used: true, ..code }.save(dirs)?;
        Ok(true)
    }

    /// Reads the code that is valid, if there is one.
    fn read(dirs: &Dirs, now_ms: i64) -> Result<Option<Self>, ConfigError> {
        let path = Self::path(dirs);
        let broken = |problem: String| {
            ConfigError::new(&path, "", problem, "Run `bailiwick token code` for a new one.")
        };
        let content = match read_own_file(&path, Secrecy::Secret, LIMIT_BYTES) {
            Ok((content, _)) => content,
            Err(OwnFileError::NotFound) => return Ok(None),
            Err(error) => return Err(broken(error.to_string())),
        };
        let code: Self = serde_json::from_slice(&content)
            .map_err(|_| broken("the file is not of the required form".to_owned()))?;
        let is_valid = !code.is_used && parse_rfc3339(&code.expires_at).is_some_and(|at| at > now_ms);
        Ok(is_valid.then_some(code))
    }

    fn is(&self, typed: &str) -> bool {
        let typed: String = typed
            .chars()
            .filter(|it| !it.is_whitespace() && *it != '-')
            .flat_map(char::to_uppercase)
            .collect();
        SecretHash::of(&typed).ct_eq(&self.hash).into()
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
            assert_eq!(code.len(), LENGTH + 2);
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
    fn no_number_of_wrong_codes_ends_the_right_one_and_it_is_too_long_to_be_guessed() {
        let in_its_time = 100_000_u128 * u128::try_from(VALID_MS / 1_000).expect("a time");
        let all = (LETTERS.len() as u128).pow(u32::try_from(LENGTH).expect("a length"));
        assert!(all / in_its_time > 1_000_000_000, "{all}");
        with_dirs(|dirs| {
            let code = LoginCode::create(dirs, 0).expect("made");
            for number in 0..1_000 {
                let typed = format!("{number:012}");
                assert!(!LoginCode::take(dirs, &typed, 0).expect("judged"));
            }
            assert!(LoginCode::take(dirs, &code, 0).expect("judged"));
        });
    }

    #[test]
    fn who_types_a_code_at_the_same_moment_gets_it_once() {
        with_dirs(|dirs| {
            let code = LoginCode::create(dirs, 0).expect("made");
            let taken = std::thread::scope(|scope| {
                let all: Vec<_> = (0..8)
                    .map(|_| scope.spawn(|| LoginCode::take(dirs, &code, 0).expect("judged")))
                    .collect();
                all.into_iter().map(|one| one.join().expect("it ends")).filter(|it| *it).count()
            });
            assert_eq!(taken, 1);
        });
    }

    #[test]
    fn a_wrong_code_waits_for_nobody_who_changes_the_config() {
        with_dirs(|dirs| {
            LoginCode::create(dirs, 0).expect("made");
            let _lock = edit_lock(dirs).expect("free");
            assert!(!LoginCode::take(dirs, "AAAA", 0).expect("judged"));
        });
    }
}
