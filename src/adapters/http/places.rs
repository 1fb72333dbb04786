//! How many connections there are at once, in all and from one address, and which one makes room.

use std::collections::HashMap;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// How many connections are open at the same time.
const MAX_CONNECTIONS: usize = 256;
/// How many of them may come from one address that is not this computer.
const MAX_FROM_ONE: usize = 32;

/// The places for connections.
#[derive(Debug)]
pub(super) struct Places {
    free: Arc<Semaphore>,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    next: u64,
    connections: HashMap<u64, Connection>,
}

#[derive(Debug)]
struct Connection {
    address: IpAddr,
    /// Since when no request is in the works; `None` while one is.
    idle_since: Option<Instant>,
    close: CancellationToken,
}

/// One connection's place; dropping it frees it.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    key: u64,
    /// Cancelled when the connection should make room.
    pub close: CancellationToken,
    _permit: OwnedSemaphorePermit,
}

impl Places {
    /// Makes the places.
    pub fn new() -> Arc<Self> {
        Arc::new(Self { free: Arc::new(Semaphore::new(MAX_CONNECTIONS)), taken: Mutex::default() })
    }

    /// Waits for a place. When all are taken, the connection that has been idle longest makes room.
    /// `None` when the address holds too many already.
    pub async fn take(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        {
            let taken = self.taken();
            let held = taken.connections.values().filter(|it| it.address == address).count();
            if !address.is_loopback() && held >= MAX_FROM_ONE {
                return None;
            }
            if self.free.available_permits() == 0
                && let Some(idle) = taken
                    .connections
                    .values()
                    .filter(|it| !it.close.is_cancelled())
                    .filter_map(|it| it.idle_since.map(|since| (since, &it.close)))
                    .min_by_key(|(since, _)| *since)
            {
                idle.1.cancel();
            }
        }
        let permit = Arc::clone(&self.free).acquire_owned().await.expect("never closed");
        let close = CancellationToken::new();
        let mut taken = self.taken();
        taken.next += 1;
        let key = taken.next;
        let connection = Connection { address, idle_since: Some(Instant::now()), close: close.clone() };
        taken.connections.insert(key, connection);
        Some(Place { places: Arc::clone(self), key, close, _permit: permit })
    }

    fn taken(&self) -> std::sync::MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Notes that a request begins, until what this gives is dropped.
    pub fn busy(self: &Arc<Self>) -> Busy {
        self.mark(None);
        Busy(Arc::clone(self))
    }

    fn mark(&self, idle_since: Option<Instant>) {
        if let Some(connection) = self.places.taken().connections.get_mut(&self.key) {
            connection.idle_since = idle_since;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken().connections.remove(&self.key);
    }
}

/// A request is in the works on this connection.
#[derive(Debug)]
pub(super) struct Busy(Arc<Place>);

/// An answer's body, which keeps its connection busy until it is sent or given up.
#[derive(Debug)]
pub(super) struct BusyBody {
    pub body: Body,
    pub _busy: Busy,
}

impl HttpBody for BusyBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.mark(Some(Instant::now()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn the_longest_idle_connection_makes_room_and_busy_ones_stay() {
        let places = Places::new();
        let local: IpAddr = "127.0.0.1".parse().expect("an address");
        let mut held = Vec::new();
        for _ in 0..MAX_CONNECTIONS {
            held.push(Arc::new(places.take(local).await.expect("a place")));
        }
        let _busy = held[0].busy();
        let waiting = tokio::spawn({
            let places = Arc::clone(&places);
            async move { places.take(local).await.is_some() }
        });
        held[1].close.cancelled().await;
        assert!(!held[0].close.is_cancelled() && !held[2].close.is_cancelled());
        held.remove(1);
        assert!(waiting.await.expect("no panic"));
    }

    #[tokio::test(flavor = "current_thread")]
    async fn one_foreign_address_cannot_take_every_place() {
        let places = Places::new();
        let foreign: IpAddr = "192.0.2.1".parse().expect("an address");
        let mut held = Vec::new();
        for _ in 0..MAX_FROM_ONE {
            held.push(places.take(foreign).await.expect("a place"));
        }
        assert!(places.take(foreign).await.is_none());
        assert!(places.take("192.0.2.2".parse().expect("an address")).await.is_some());
    }
}
