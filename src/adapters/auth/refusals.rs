//! Which refused logins are recorded one by one: so many that each is seen, and so few that a flood fills no store.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use bailiwick_contract::{Caller, ErrorCode, Failure};
use bailiwick_engine::service::Service;

use super::Throttle;
use super::throttle::Bucket;

/// How many refused logins are recorded at once, of all addresses.
const BURST: f64 = 100.0;
/// How many are recorded a second after that.
const RATE_PER_SECOND: f64 = 1.0;

/// Records refused logins.
#[derive(Debug)]
pub struct Refusals {
    of_address: Throttle,
    all: Mutex<All>,
}

#[derive(Debug)]
struct All {
    bucket: Bucket,
    /// How many were not recorded since the last that was.
    left_out: u64,
}

impl Default for Refusals {
    fn default() -> Self {
        let all = All { bucket: Bucket::full(BURST, Instant::now()), left_out: 0 };
        Self { of_address: Throttle::default(), all: Mutex::new(all) }
    }
}

impl Refusals {
    /// Records that somebody at an address was not let in. Returns what the answer should say of the record.
    pub async fn record(
        &self,
        service: &Service,
        caller: &Caller,
        address: Option<IpAddr>,
        reason: &str,
    ) -> Vec<String> {
        let Some(left_out) = self.is_due(address) else {
            return vec![
                "there are too many of these requests: the history counts this one, and has no row of it"
                    .to_owned(),
            ];
        };
        let before = match left_out {
            0 => String::new(),
            1 => "; 1 more before it has no row".to_owned(),
            many => format!("; {many} more before it have no row"),
        };
        let failure =
            Failure::new(ErrorCode::PermissionDenied, format!("{reason}{before}")).detail("rule", "login");
        let source = address.map_or_else(|| "local socket".to_owned(), |address| address.to_string());
        service.refuse_login(caller, &source, failure).await
    }

    /// Returns how many were left out before the one that is recorded now; `None` if it is left out, too.
    fn is_due(&self, address: Option<IpAddr>) -> Option<u64> {
        let is_slowed = address.is_some_and(|address| self.of_address.strike(address).is_some());
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if is_slowed || all.bucket.take(BURST, RATE_PER_SECOND, Instant::now()).is_some() {
            all.left_out += 1;
            return None;
        }
        Some(std::mem::take(&mut all.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_leaves_few_rows_and_the_next_one_counts_the_others() {
        let refusals = Refusals::default();
        let one: IpAddr = "192.0.2.1".parse().expect("an address");
        let due = (0..1_000).filter(|_| refusals.is_due(Some(one)).is_some()).count();
        assert!((10..20).contains(&due), "{due}");
        let other: IpAddr = "192.0.2.2".parse().expect("an address");
        assert_eq!(refusals.is_due(Some(other)), Some(1_000 - due as u64));
        let due =
            (0..10_000_u32).filter(|n| refusals.is_due(Some(IpAddr::V4((*n).into()))).is_some()).count();
        assert!(due < 150, "{due}");
    }
}
