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
        let (text, place) = if let Some(name) = &model.key_variable {
            let place = format!("the environment variable `{name}`");
            let text = env::var(name).map_err(|_| {
                unavailable(&format!("the key of the vision model cannot be read: {place} is not set"))
                    .hint(format!("{FOR_USER}start the service with it, or use `visionModel.keyFile`."))
            })?;
            (text, place)
        } else if let Some(path) = &model.key_file {
            let place = format!("`{}`", path.display());
            let failed = |problem: String| {
                unavailable(&format!("the key of the vision model cannot be read: {place}: {problem}"))
                    .hint(format!("{FOR_USER}`visionModel.keyFile` names a file that only you can read, outside of all scopes."))
            };
            if roots.reach(path) {
                return Err(failed("it is in the folder of a scope".to_owned()));
            }
            let (bytes, _) = read_own_file(path, Secrecy::Secret, MAX_KEY_BYTES as u64)
                .map_err(|error| failed(error.to_string()))?;
            (String::from_utf8(bytes).map_err(|_| failed("it is not text".to_owned()))?, place)
        } else {
            return Ok(None);
        };
        let text = text.trim();
        if text.is_empty() || text.len() > MAX_KEY_BYTES || !text.bytes().all(|it| it.is_ascii_graphic()) {
            return Err(unavailable(&format!("{place} holds no key for the vision model"))
                .hint(format!("{FOR_USER}a key is one word of letters, digits and signs.")));
        }
        Ok(Some(Self(text.to_owned())))
    }

    /// Returns the key, for the header that it goes in.
    pub fn text(&self) -> &str {
        &self.0
    }
}
