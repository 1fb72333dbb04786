//! Times as the user at this computer has them, and as they are typed.

use chrono::{Local, NaiveDate, TimeZone, Utc};

use bailiwick_contract::Failure;
use bailiwick_contract::time::parse_rfc3339;

use super::text::one_line;

/// A day in milliseconds.
pub const DAY_MS: i64 = 86_400_000;

/// Lays out a moment in milliseconds since the epoch as day and time, in the time zone of this computer or in UTC.
pub fn day_and_time(ms: i64, utc: bool) -> String {
    const FORM: &str = "%Y-%m-%d %H:%M:%S";
    let shown = if utc {
        Utc.timestamp_millis_opt(ms).single().map(|at| at.format(FORM).to_string())
    } else {
        Local.timestamp_millis_opt(ms).single().map(|at| at.format(FORM).to_string())
    };
    shown.unwrap_or_default()
}

/// Reads `90s`, `30m`, `2h` or `7d`, numbers from 0 to 100,000, as milliseconds.
pub fn span_ms(text: &str) -> Option<i64> {
    let units = [('s', 1_000), ('m', 60_000), ('h', 3_600_000), ('d', DAY_MS)];
    let (number, unit_ms) =
        units.into_iter().find_map(|(suffix, unit_ms)| Some((text.strip_suffix(suffix)?, unit_ms)))?;
    number.parse().ok().filter(|number| (0..=100_000).contains(number)).map(|number: i64| number * unit_ms)
}

/// Returns how long ago something was, in the largest unit that tells; what is to come is `just now`.
pub fn ago(ms: i64) -> String {
    match ms {
        ..60_000 => "just now".to_owned(),
        60_000..3_600_000 => format!("{} min ago", ms / 60_000),
        3_600_000..172_800_000 => format!("{} h ago", ms / 3_600_000),
        _ => format!("{} days ago", ms / DAY_MS),
    }
}

/// Reads `30m`, `2h`, `7d`, a day or a time in RFC 3339 as a moment not later than `now`.
///
/// # Errors
/// `invalid_request` for anything else.
pub fn since(when: &str, now: i64) -> Result<i64, Failure> {
    // A day begins at midnight of this computer.
    let day = || {
        let midnight = NaiveDate::parse_from_str(when, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0)?;
        Some(Local.from_local_datetime(&midnight).earliest()?.timestamp_millis())
    };
    let moment = span_ms(when).map(|ms| now - ms);
    // A day that there is not would be read as the one after it.
    let time = || parse_rfc3339(when).filter(|_| when.len() > 10);
    moment.or_else(day).or_else(time).ok_or_else(|| {
        Failure::invalid("--since", format!("`{}` is not a time", one_line(when)))
            .hint("Use a number of minutes (30m), hours (2h) or days (7d), a date (2027-01-31) or a time.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_reads_spans_days_and_times() {
        let now = 1_800_000_000_000;
        for (when, back) in [("90s", 90_000), ("30m", 1_800_000), ("2h", 7_200_000), ("7d", 604_800_000)] {
            assert_eq!(since(when, now), Ok(now - back), "{when}");
        }
        assert_eq!(since("2026-11-21T10:00:00Z", now), Ok(1_795_255_200_000));
        let midnight = since("2026-11-21", now).expect("a day");
        assert_eq!(day_and_time(midnight, false), "2026-11-21 00:00:00");
        for wrong in ["", "h", "-1h", "2026-02-30", "yesterday"] {
            assert!(since(wrong, now).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_time_since_is_said_in_the_largest_unit_that_tells() {
        for (ms, said) in [
            (0, "just now"),
            (-5, "just now"),
            (61_000, "1 min ago"),
            (3_600_000, "1 h ago"),
            (47 * 3_600_000, "47 h ago"),
            (3 * DAY_MS, "3 days ago"),
        ] {
            assert_eq!(ago(ms), said);
        }
    }

    #[test]
    fn a_moment_is_shown_as_a_day_and_a_time() {
        assert_eq!(day_and_time(1_795_255_200_000, true), "2026-11-21 10:00:00");
        assert_eq!(day_and_time(i64::MAX, true), "");
    }
}
