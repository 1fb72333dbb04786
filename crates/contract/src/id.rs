//! Identifiers: ULIDs as text, so that they sort by the time they were made.

use std::sync::{Mutex, PoisonError};

use ulid::Generator;

/// Makes the identifiers of one process rise, so that requests of one millisecond keep their order.
static GENERATOR: Mutex<Generator> = Mutex::new(Generator::new());

/// Creates a new identifier: 26 characters of Crockford base 32, unique, and greater than all that this
/// process has made before. Not for secrets: it can be guessed from the one before.
///
/// # Source
/// The ULID specification: 48 bits of Unix time in milliseconds, then 80 random bits, which within one
/// millisecond are counted up.
pub fn new_id() -> String {
    let mut generator = GENERATOR.lock().unwrap_or_else(PoisonError::into_inner);
    let id = generator.generate().unwrap_or_else(|overflow| overflow.commit_overflow_increment());
    id.to_string()
}

/// Returns whether a text has the shape of an identifier made by [`new_id`].
pub fn is_id(text: &str) -> bool {
    ulid::Ulid::from_string(text).is_ok()
}

/// Returns when an identifier was made, in milliseconds since the epoch; `None` for what is no identifier.
pub fn began_ms(text: &str) -> Option<i64> {
    i64::try_from(ulid::Ulid::from_string(text).ok()?.timestamp_ms()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_rise_within_a_millisecond() {
        let ids: Vec<String> = (0..1_000).map(|_| new_id()).collect();
        assert!(ids.is_sorted_by(|one, next| one < next));
        assert!(ids.iter().all(|id| is_id(id)));
        let now_ms = crate::time::now_ms();
        assert!(ids.iter().all(|id| began_ms(id).is_some_and(|ms| (now_ms - 60_000..=now_ms).contains(&ms))));
        assert_eq!(began_ms("no identifier"), None);
    }
}
