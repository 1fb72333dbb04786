//! The key of a service, read where the config refers to it.

use std::env;

use bailiwick_config::VisionModel;
use bailiwick_contract::{FOR_USER, Failure};
use bailiwick_platform::fs::{Secrecy, read_own_file};
use bailiwick_policy::AllRoots;

use super::grounder::unavailable;

/// The longest key, in bytes.
const MAX_KEY_BYTES: usize = 8 << 10;

/// A key. It has no form for logs and messages.
pub(super) struct ModelKey(String);

impl ModelKey {
    /// Reads the key of a model, if it has one.
    ///
    /// # Errors
    /// `provider_unavailable` where there is none at the place that the config names, others could read it, or it cannot be a key.
    pub fn read(model: &VisionModel, roots: &AllRoots) -> Result<Option<Self>, Failure> {
        let failed = |field: &str, problem: &str, fix: &str| {
            let message =
                format!("the key of the vision model cannot be read (`visionModel.{field}`): {problem}");
            unavailable(&message).hint(format!("{FOR_USER}{fix}"))
        };
        let (text, field) = if let Some(name) = &model.key_variable {
            let text = env::var(name).map_err(|_| {
                failed(
                    "keyVariable",
                    &format!("the environment variable `{name}` is not set"),
                    "start the service with it, or use `visionModel.keyFile`.",
                )
            })?;
            (text, "keyVariable")
        } else if let Some(path) = &model.key_file {
            // Not which file: that is none of a client's business.
            let failed = |problem: &str| {
                let fix = "`visionModel.keyFile` names a file that only you can read, outside of all scopes.";
                failed("keyFile", problem, fix)
            };
            if roots.reach(path) {
                return Err(failed("it is in the folder of a scope"));
            }
            let (bytes, _) = read_own_file(path, Secrecy::Secret, MAX_KEY_BYTES as u64)
                .map_err(|error| failed(&error.to_string()))?;
            (String::from_utf8(bytes).map_err(|_| failed("it is not text"))?, "keyFile")
        } else {
            return Ok(None);
        };
        let text = text.trim();
        if text.is_empty() || text.len() > MAX_KEY_BYTES || !text.bytes().all(|it| it.is_ascii_graphic()) {
            return Err(failed(field, "it holds no key", "a key is one word of letters, digits and signs."));
        }
        Ok(Some(Self(text.to_owned())))
    }

    /// Returns the key, for the header that it goes in.
    pub fn text(&self) -> &str {
        &self.0
    }
}
