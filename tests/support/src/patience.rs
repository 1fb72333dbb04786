//! How long a test waits for what must happen.

use std::env;
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

/// How long anything may take before a test fails: 60 seconds, or `BAILIWICK_TEST_PATIENCE` seconds.
pub static PATIENCE: LazyLock<Duration> = LazyLock::new(|| {
    let seconds = env::var("BAILIWICK_TEST_PATIENCE").map_or(Ok(60), |text| text.parse());
    Duration::from_secs(seconds.expect("BAILIWICK_TEST_PATIENCE is a number of seconds"))
});

/// How long to pause between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// Waits until something holds, and blocks the thread meanwhile.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < *PATIENCE, "not within {:?}: {what}", *PATIENCE);
        thread::sleep(PAUSE);
    }
}

/// Waits until something holds.
pub async fn eventually_async(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < *PATIENCE, "not within {:?}: {what}", *PATIENCE);
        tokio::time::sleep(PAUSE).await;
    }
}

/// Looks until there is something, and returns it.
pub async fn eventually_some<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(began.elapsed() < *PATIENCE, "not within {:?}: {what}", *PATIENCE);
        tokio::time::sleep(PAUSE).await;
    }
}
