//! The open connections: how many there are, what each is doing, and which one is dropped for a new one.
//!
//! A new client never waits for another: where there are too many connections, one that does no work is dropped at once.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

/// How many connections are open at the same time: more than requests are served, so that one can always be dropped.
const MAX_CONNECTIONS: usize = 400;
/// How many of them may come from one address that is not this computer.
const MAX_FROM_ONE: usize = 32;
/// How long a client may take to send the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a connection stays open between requests while there is room. Proxies keep theirs for up to 90 seconds.
const IDLE_TIMEOUT: Duration = Duration::from_secs(120);
/// How long a client may leave an answer unread.
const UNREAD_TIMEOUT: Duration = Duration::from_secs(120);
/// How long a connection does the same before that counts against it.
const SETTLED_AFTER: Duration = Duration::from_secs(1);

/// The open connections of a listener.
#[derive(Debug, Default)]
pub(super) struct Connections {
    open: Mutex<OpenConnections>,
}

#[derive(Debug, Default)]
struct OpenConnections {
    next: u64,
    by_key: HashMap<u64, Arc<Connection>>,
}

/// One connection; dropping its [`ConnectionSlot`] forgets it.
#[derive(Debug)]
pub(super) struct Connection {
    address: IpAddr,
    activity: Mutex<Activity>,
    /// Cancelled when it is dropped for another.
    pub dropped: CancellationToken,
}

#[derive(Debug)]
struct Activity {
    opened: Instant,
    /// Whether it has had a request.
    is_used: bool,
    phase: Phase,
    /// Since when the phase lasts.
    since: Instant,
    /// When the first byte of a head came that is not complete yet.
    head_began: Option<Instant>,
    /// Since when the client takes nothing of what is written.
    unread_since: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Between requests.
    Idle,
    /// A request waits for its body, or for its turn.
    Waiting,
    /// A request is served.
    Working,
}

/// A connection's place among the others.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    connections: Arc<Connections>,
    key: u64,
    /// What it is doing.
    pub connection: Arc<Connection>,
}

impl Connections {
    /// Takes a place for a new connection, for which another that does no work may be dropped. `None` if its address has too
    /// many that work, or if all work.
    pub fn take(self: &Arc<Self>, address: IpAddr) -> Option<ConnectionSlot> {
        let mut open = self.open();
        let own = open.by_key.values().filter(|it| it.address == address).count();
        if !address.is_loopback() && own >= MAX_FROM_ONE && !open.drop_one(|it| it.address == address) {
            return None;
        }
        if open.by_key.len() >= MAX_CONNECTIONS && !open.drop_one(|_| true) {
            return None;
        }
        open.next += 1;
        let key = open.next;
        let now = Instant::now();
        let activity = Activity {
            opened: now,
            is_used: false,
            phase: Phase::Idle,
            since: now,
            head_began: None,
            unread_since: None,
        };
        let connection = Arc::new(Connection {
            address,
            activity: Mutex::new(activity),
            dropped: CancellationToken::new(),
        });
        open.by_key.insert(key, Arc::clone(&connection));
        Some(ConnectionSlot { connections: Arc::clone(self), key, connection })
    }

    /// Drops a connection that does no work, if there is one: the system has no descriptor left for a new one.
    pub fn drop_one(&self) {
        self.open().drop_one(|_| true);
    }

    fn open(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenConnections {
    fn drop_one(&mut self, of: impl Fn(&Connection) -> bool) -> bool {
        let now = Instant::now();
        let ours = self.by_key.iter().filter(|(_, it)| of(it));
        let candidates = ours.filter_map(|(key, it)| Some((it.activity().rank(now)?, *key)));
        let Some((_, key)) = candidates.min() else { return false };
        if let Some(connection) = self.by_key.remove(&key) {
            connection.dropped.cancel();
        }
        true
    }
}

impl Activity {
    /// Ranks what may be dropped: the least goes first. `None` while a request is served.
    fn rank(&self, now: Instant) -> Option<(u8, Instant)> {
        let (class, since) = match (self.unread_since, self.phase, self.head_began) {
            (Some(since), _, _) => (0, since),
            (None, Phase::Idle, Some(began)) => (1, began),
            // A client that has asked something may ask again.
            (None, Phase::Idle, None) => (if self.is_used { 2 } else { 1 }, self.since),
            (None, Phase::Waiting, _) => (3, self.since),
            (None, Phase::Working, _) => return None,
        };
        // What has just begun may be about to end; of those, the new clients stay.
        Some(if now.duration_since(since) >= SETTLED_AFTER { (class, since) } else { (4, self.opened) })
    }
}

impl Connection {
    /// Returns whether its time is over, whether or not there is room.
    pub fn is_overdue(&self) -> bool {
        let activity = self.activity();
        let is_idle = activity.phase == Phase::Idle;
        activity.unread_since.is_some_and(|since| since.elapsed() >= UNREAD_TIMEOUT)
            || is_idle && activity.head_began.is_some_and(|began| began.elapsed() >= HEAD_TIMEOUT)
            || is_idle && activity.since.elapsed() >= IDLE_TIMEOUT
    }

    /// Notes that bytes have come.
    pub fn heard(&self) {
        let mut activity = self.activity();
        if activity.phase == Phase::Idle && activity.head_began.is_none() {
            activity.head_began = Some(Instant::now());
        }
    }

    /// Notes that the handshake is over: the first head has not begun.
    pub fn await_requests(&self) {
        self.enter(Phase::Idle);
    }

    /// Notes whether the client takes what is written.
    pub fn is_read(&self, is_read: bool) {
        let mut activity = self.activity();
        if is_read {
            activity.unread_since = None;
        } else if activity.unread_since.is_none() {
            activity.unread_since = Some(Instant::now());
        }
    }

    /// Notes that a request is served, until the result is dropped.
    pub fn work(self: &Arc<Self>) -> ServedRequest {
        self.activity().is_used = true;
        self.enter(Phase::Working);
        ServedRequest(Arc::clone(self))
    }

    /// Notes that the request that is served waits, until the result is dropped.
    pub fn wait(self: &Arc<Self>) -> Wait {
        self.enter(Phase::Waiting);
        Wait(Arc::clone(self))
    }

    fn enter(&self, phase: Phase) {
        let mut activity = self.activity();
        activity.phase = phase;
        activity.since = Instant::now();
        activity.head_began = None;
    }

    fn activity(&self) -> MutexGuard<'_, Activity> {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.connections.open().by_key.remove(&self.key);
    }
}

/// A request is served on a connection.
#[derive(Debug)]
pub(super) struct ServedRequest(Arc<Connection>);

impl Drop for ServedRequest {
    fn drop(&mut self) {
        self.0.enter(Phase::Idle);
    }
}

/// The request on a connection waits.
#[derive(Debug)]
pub(super) struct Wait(Arc<Connection>);

impl Drop for Wait {
    fn drop(&mut self) {
        self.0.enter(Phase::Working);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local() -> IpAddr {
        "127.0.0.1".parse().expect("an address")
    }

    fn full(connections: &Arc<Connections>) -> Vec<ConnectionSlot> {
        (0..MAX_CONNECTIONS).map(|_| connections.take(local()).expect("a place")).collect()
    }

    #[test]
    fn what_does_no_work_makes_room_in_order_and_what_works_stays() {
        let connections = Arc::<Connections>::default();
        let places = full(&connections);
        let work: Vec<ServedRequest> = places[4..].iter().map(|place| place.connection.work()).collect();
        // One waits for its body, one is idle after a request, one sends a head, one leaves its answer unread, all for a while.
        let while_ago = || Instant::now().checked_sub(SETTLED_AFTER).expect("the computer runs longer");
        let waiting = places[0].connection.work();
        let wait = places[0].connection.wait();
        drop(places[1].connection.work());
        places[2].connection.heard();
        places[2].connection.activity().head_began = Some(while_ago());
        let unread = places[3].connection.work();
        places[3].connection.activity().unread_since = Some(while_ago());
        for place in &places[..2] {
            place.connection.activity().since = while_ago();
        }
        let mut newcomers = Vec::new();
        for dropped in [3, 2, 1, 0] {
            let place = connections.take(local()).expect("there is room at once");
            assert!(places[dropped].connection.dropped.is_cancelled(), "{dropped}");
            // The newcomer works, so the next one finds another.
            newcomers.push((place.connection.work(), place));
        }
        assert!(connections.take(local()).is_none(), "all work");
        assert!(places[4..].iter().all(|place| !place.connection.dropped.is_cancelled()));
        drop((work, wait, waiting, unread, newcomers));
    }

    #[test]
    fn of_idle_connections_those_that_never_had_a_request_go_first() {
        let connections = Arc::<Connections>::default();
        let places = full(&connections);
        let before = |time: Duration| Instant::now().checked_sub(time).expect("the computer runs longer");
        // A proxy keeps the oldest between requests; strangers open others and say nothing.
        drop(places[0].connection.work());
        for place in &places {
            place.connection.activity().since = before(2 * SETTLED_AFTER);
        }
        places[0].connection.activity().since = before(90 * SETTLED_AFTER);
        let newcomers: Vec<ConnectionSlot> =
            (1..MAX_CONNECTIONS).map(|_| connections.take(local()).expect("there is room at once")).collect();
        assert!(!places[0].connection.dropped.is_cancelled());
        assert!(places[1..].iter().all(|place| place.connection.dropped.is_cancelled()));
        drop(newcomers);
    }

    #[test]
    fn of_those_that_have_just_begun_the_new_ones_stay() {
        let connections = Arc::<Connections>::default();
        let places = full(&connections);
        // What it did last counts for nothing: it is the oldest.
        drop(places[0].connection.work());
        let _new = connections.take(local()).expect("there is room at once");
        assert!(places[0].connection.dropped.is_cancelled());
        assert!(places[1..].iter().all(|place| !place.connection.dropped.is_cancelled()));
    }

    #[test]
    fn one_foreign_address_cannot_take_every_place() {
        let connections = Arc::<Connections>::default();
        let foreign: IpAddr = "192.0.2.1".parse().expect("an address");
        let places: Vec<ConnectionSlot> =
            (0..MAX_FROM_ONE).filter_map(|_| connections.take(foreign)).collect();
        assert_eq!(places.len(), MAX_FROM_ONE);
        let mut work: Vec<ServedRequest> = places[1..].iter().map(|place| place.connection.work()).collect();
        let new = connections.take(foreign).expect("one is idle");
        assert!(places[0].connection.dropped.is_cancelled());
        work.push(new.connection.work());
        assert!(connections.take(foreign).is_none(), "all of them work");
        assert!(connections.take("192.0.2.2".parse().expect("an address")).is_some());
    }

    #[test]
    fn a_connection_is_kept_between_requests_and_given_up_over_a_head_or_an_unread_answer() {
        let connections = Arc::<Connections>::default();
        let place = connections.take(local()).expect("a place");
        let connection = &place.connection;
        let before = |time: Duration| Instant::now().checked_sub(time).expect("the computer runs longer");
        connection.activity().since = before(Duration::from_secs(90));
        assert!(!connection.is_overdue(), "proxies keep connections for 90 seconds");
        connection.activity().head_began = Some(before(HEAD_TIMEOUT));
        assert!(connection.is_overdue());
        connection.await_requests();
        assert!(!connection.is_overdue(), "bytes of a handshake are no head");
        let work = connection.work();
        connection.activity().since = before(Duration::from_secs(3_600));
        assert!(!connection.is_overdue(), "a request may take its time");
        connection.activity().unread_since = Some(before(UNREAD_TIMEOUT));
        assert!(connection.is_overdue());
        drop(work);
    }
}
