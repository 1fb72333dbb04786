//! Finding a token as the user names it.

use bailiwick_config::TokenRecord;
use bailiwick_contract::{ErrorCode, Failure};

use super::text::{one_line, with_nearest};

/// Finds a token by name or id.
///
/// # Errors
/// `not_found`, with the nearest name.
pub fn known<'a>(records: &'a [TokenRecord], name: &str) -> Result<&'a TokenRecord, Failure> {
    records.iter().find(|record| record.name == name || record.id == name).ok_or_else(|| {
        let failure =
            Failure::new(ErrorCode::NotFound, format!("there is no token named `{}`", one_line(name)));
        let names = records.iter().map(|record| record.name.as_str());
        with_nearest(failure, name, names, "`bailiwick token list` shows them.")
    })
}
