//! A bound on bad tokens, per address: small, forgetful, and blind to good ones.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many bad tokens an address may present at once.
const BURST: f64 = 10.0;
/// How many it may present a second after that.
const RATE_PER_SECOND: f64 = 0.5;
/// How many addresses are remembered.
const MAX_ADDRESSES: usize = 1_024;

/// Counts bad tokens. It is asked only after a token proved bad, so it cannot lock a good one out.
#[derive(Debug, Default)]
pub struct Throttle {
    seen: Mutex<HashMap<IpAddr, Bucket>>,
}

/// What may still happen at once, which fills up again with time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bucket {
    left: f64,
    since: Instant,
}

impl Bucket {
    /// Creates a full one.
    pub fn full(burst: f64, now: Instant) -> Self {
        Self { left: burst, since: now }
    }

    /// Takes one out. Returns the time to wait if there is none.
    pub fn take(&mut self, burst: f64, rate_per_second: f64, now: Instant) -> Option<Duration> {
        self.left = self.filled(burst, rate_per_second, now);
        self.since = now;
        if self.left < 1.0 {
            return Some(Duration::from_secs_f64((1.0 - self.left) / rate_per_second));
        }
        self.left -= 1.0;
        None
    }

    fn filled(&self, burst: f64, rate_per_second: f64, now: Instant) -> f64 {
        (self.left + now.saturating_duration_since(self.since).as_secs_f64() * rate_per_second).min(burst)
    }
}

impl Throttle {
    /// Notes a bad token. Returns the time to wait when there were too many.
    pub fn strike(&self, address: IpAddr) -> Option<Duration> {
        self.strike_at(address, Instant::now())
    }

    fn strike_at(&self, address: IpAddr, now: Instant) -> Option<Duration> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let key = network(address);
        if seen.len() >= MAX_ADDRESSES && !seen.contains_key(&key) {
            // Those who have their whole burst again need not be remembered.
            seen.retain(|_, bucket| bucket.filled(BURST, RATE_PER_SECOND, now) < BURST);
            if seen.len() >= MAX_ADDRESSES
                && let Some(oldest) = seen.iter().min_by_key(|(_, bucket)| bucket.since).map(|(key, _)| *key)
            {
                seen.remove(&oldest);
            }
        }
        let bucket = seen.entry(key).or_insert_with(|| Bucket::full(BURST, now));
        bucket.take(BURST, RATE_PER_SECOND, now)
    }
}

/// One address counts for itself, an IPv6 one for its /64, which one host can hold whole.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_let_through_then_slowed_then_forgotten() {
        let throttle = Throttle::default();
        let (address, now) = ("::1".parse().expect("an address"), Instant::now());
        for _ in 0..10 {
            assert_eq!(throttle.strike_at(address, now), None);
        }
        assert!(throttle.strike_at(address, now).is_some());
        assert_eq!(throttle.strike_at("10.0.0.1".parse().expect("an address"), now), None);
        assert_eq!(throttle.strike_at(address, now + Duration::from_secs(60)), None);
    }

    #[test]
    fn remembers_a_bounded_number_of_addresses() {
        let throttle = Throttle::default();
        let now = Instant::now();
        for n in 0..5_000_u32 {
            throttle.strike_at(IpAddr::V4(n.into()), now);
        }
        assert!(throttle.seen.lock().expect("not poisoned").len() <= MAX_ADDRESSES);
    }
}
