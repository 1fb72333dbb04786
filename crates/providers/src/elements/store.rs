//! The snapshots that callers have taken, for a while. In memory alone.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::snapshot::Snapshot;

/// A snapshot that nobody has used for so long is gone.
const IDLE: Duration = Duration::from_secs(600);
/// A snapshot is gone after so long.
const LONGEST: Duration = Duration::from_secs(3600);
/// The most of one owner.
const MOST_OF_ONE: usize = 32;
/// The most of all.
const MOST: usize = 256;

/// Whose a snapshot is: a scope, and a caller with its connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner(pub String);

#[derive(Debug)]
struct Row {
    owner: Owner,
    snapshot: Arc<Snapshot>,
    taken: Instant,
    used: Instant,
}

/// The snapshots, the one used last at the end.
#[derive(Debug, Default)]
pub struct Snapshots {
    rows: Mutex<Vec<Row>>,
}

impl Snapshots {
    /// Adds a snapshot. Those that were not used for longest go.
    pub fn add(&self, owner: Owner, snapshot: Snapshot) {
        let now = Instant::now();
        let mut rows = self.rows(now);
        if rows.iter().filter(|row| row.owner == owner).count() >= MOST_OF_ONE
            && let Some(oldest) = rows.iter().position(|row| row.owner == owner)
        {
            rows.remove(oldest);
        }
        if rows.len() >= MOST {
            rows.remove(0);
        }
        rows.push(Row { owner, snapshot: Arc::new(snapshot), taken: now, used: now });
    }

    /// Returns a snapshot of an owner. One of another's is as one that never was.
    pub fn get(&self, owner: &Owner, id: &str) -> Option<Arc<Snapshot>> {
        let now = Instant::now();
        let mut rows = self.rows(now);
        let at = rows.iter().position(|row| row.snapshot.id == id && row.owner == *owner)?;
        let mut row = rows.remove(at);
        row.used = now;
        let snapshot = Arc::clone(&row.snapshot);
        rows.push(row);
        Some(snapshot)
    }

    fn rows(&self, now: Instant) -> MutexGuard<'_, Vec<Row>> {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        rows.retain(|row| now.duration_since(row.used) < IDLE && now.duration_since(row.taken) < LONGEST);
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(id: &str) -> Snapshot {
        Snapshot { id: id.to_owned(), window: ":0/0x1".to_owned(), pid: None, elements: Default::default() }
    }

    #[test]
    fn a_snapshot_is_its_owners_alone_and_the_one_unused_for_longest_goes() {
        let (ada, eve) = (Owner("ada".to_owned()), Owner("eve".to_owned()));
        let snapshots = Snapshots::default();
        for number in 0..MOST_OF_ONE {
            snapshots.add(ada.clone(), snapshot(&format!("s_{number}")));
        }
        assert!(snapshots.get(&eve, "s_0").is_none());
        assert!(snapshots.get(&ada, "s_0").is_some());
        snapshots.add(ada.clone(), snapshot("s_new"));
        // The first was used since, so the second went.
        assert!(snapshots.get(&ada, "s_0").is_some() && snapshots.get(&ada, "s_new").is_some());
        assert!(snapshots.get(&ada, "s_1").is_none());
    }

    #[test]
    fn all_together_have_a_bound() {
        let snapshots = Snapshots::default();
        for number in 0..=MOST {
            snapshots.add(Owner(number.to_string()), snapshot("s"));
        }
        assert!(snapshots.get(&Owner("0".to_owned()), "s").is_none());
        assert_eq!(snapshots.rows(Instant::now()).len(), MOST);
    }
}
