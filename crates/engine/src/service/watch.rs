//! Noticing that the user changed `config.json`, and putting it in force.
//!
//! Fails closed: while the file is broken or gone, every operation is refused with the reason.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bailiwick_config::Config;
use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::fs::FileStamp;

use super::Service;

/// The file that is watched, and what was found at its last change.
pub(super) struct ConfigWatch {
    path: PathBuf,
    seen: Mutex<WatchState>,
    /// Held by who reads a changed file.
    pub(super) reloading: tokio::sync::Mutex<()>,
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
        let _ = self.watch.set(ConfigWatch { path, seen, reloading: tokio::sync::Mutex::default() });
    }

    /// Puts a changed config in force, and shows why nothing may be served, if so. For threads that may block.
    pub(super) fn refresh(&self) -> Option<Failure> {
        let watch = self.watch.get()?;
        watch.unchanged().unwrap_or_else(|stamp| self.reload_changed(watch, stamp))
    }

    /// As [`Service::refresh`], for asynchronous threads: another one reads what has changed, and opens the folders.
    pub(super) async fn refresh_now(self: &Arc<Self>) -> Option<Failure> {
        let watch = self.watch.get()?;
        if let Ok(problem) = watch.unchanged() {
            return problem;
        }
        let _one_at_a_time = watch.reloading.lock().await;
        let stamp = match watch.unchanged() {
            Ok(problem) => return problem,
            Err(stamp) => stamp,
        };
        let service = Arc::clone(self);
        let reloaded = tokio::task::spawn_blocking(move || {
            let watch = service.watch.get()?;
            service.reload_changed(watch, stamp)
        });
        reloaded.await.unwrap_or_else(|_| {
            Some(Failure::new(
                ErrorCode::ProviderUnavailable,
                "the config could not be read (a bug in Bailiwick)",
            ))
        })
    }

    fn reload_changed(&self, watch: &ConfigWatch, stamp: Option<FileStamp>) -> Option<Failure> {
        let (stamp, problem) = match Config::load_stamped(&watch.path) {
            Ok((config, stamp)) => {
                let problem = self.reload(config).err().map(|error| {
                    Failure {
                        code: ErrorCode::ProviderUnavailable,
                        message: format!("nothing is served: the config is broken: {}", error.0.message),
                        ..error.0
                    }
                    .detail("rule", "broken-config")
                });
                (Some(stamp), problem)
            }
            Err(error) => (stamp, Some(error.for_client())),
        };
        *watch.seen() = WatchState { stamp, problem: problem.clone() };
        problem
    }
}

impl ConfigWatch {
    /// Returns what is known of the file.
    ///
    /// # Errors
    /// Its stamp, if it has changed.
    fn unchanged(&self) -> Result<Option<Failure>, Option<FileStamp>> {
        let stamp = FileStamp::of(&self.path);
        let seen = self.seen();
        if stamp == seen.stamp { Ok(seen.problem.clone()) } else { Err(stamp) }
    }

    fn seen(&self) -> MutexGuard<'_, WatchState> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
