//! The connections that are open, by the addresses of their buses.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::bus::Bus;

/// The connections that are open.
#[derive(Debug, Default)]
pub(super) struct Buses {
    open: Mutex<HashMap<String, Arc<Bus>>>,
}

impl Buses {
    /// Returns the connection to a bus: the one that is there, or a new one.
    pub(super) async fn get(&self, address: &str) -> Result<Arc<Bus>, String> {
        if let Some(bus) = self.open().get(address) {
            return Ok(Arc::clone(bus));
        }
        let bus = Arc::new(Bus::connect(address).await?);
        self.open().insert(address.to_owned(), Arc::clone(&bus));
        Ok(bus)
    }

    /// Forgets a connection that is lost.
    pub(super) fn forget(&self, address: &str) {
        self.open().remove(address);
    }

    /// Closes them all.
    pub(super) fn clear(&self) {
        self.open().clear();
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Arc<Bus>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
