//! Noticing that the user changed `config.json`, and putting it in force.
//!
//! Fails closed: while the file is broken or gone, every operation is refused with the reason.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use bailiwick_config::Config;
use bailiwick_contract::Failure;
use bailiwick_platform::fs::FileStamp;

use super::Service;

/// The file that is watched, and what was found at its last change.
pub(super) struct ConfigWatch {
    path: PathBuf,
    seen: Mutex<WatchState>,
}

struct WatchState {
    stamp: Option<FileStamp>,
    problem: Option<Failure>,
}

impl Service {
    /// Watches a config file from now on: each request looks whether it has changed, by one `stat`.
    ///
    /// `stamp` is that of the file as it was read for [`Service::boot`]. Only the first call counts.
    pub fn watch_config(&self, path: PathBuf, stamp: FileStamp) {
        let seen = Mutex::new(WatchState { stamp: Some(stamp), problem: None });
        // A second call changes nothing: there is one config for each service.
        let _ = self.watch.set(ConfigWatch { path, seen });
    }

    /// Puts a changed config in force, and shows why nothing may be served, if so.
    pub(super) fn refresh(&self) -> Option<Failure> {
        let watch = self.watch.get()?;
        let mut seen = watch.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = FileStamp::of(&watch.path);
        if stamp == seen.stamp {
            return seen.problem.clone();
        }
        seen.stamp = stamp;
        seen.problem = match Config::load_stamped(&watch.path) {
            Ok((config, stamp)) => {
                seen.stamp = Some(stamp);
                self.reload(config).err().map(|error| {
                    Failure {
                        code: bailiwick_contract::ErrorCode::ProviderUnavailable,
                        message: format!("nothing is served: the config is broken: {}", error.0.message),
                        ..error.0
                    }
                    .detail("rule", "broken-config")
                })
            }
            Err(error) => Some(error.for_client()),
        };
        seen.problem.clone()
    }
}
