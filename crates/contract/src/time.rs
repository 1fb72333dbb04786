//! Points in time: milliseconds since the Unix epoch, shown as RFC 3339 in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the present time in milliseconds since the Unix epoch; 0 if the clock is before it.
pub fn now_ms() -> i64 {
    to_ms(SystemTime::now())
}

/// Converts a system time to milliseconds since the Unix epoch; earlier times are negative.
pub fn to_ms(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
    }
}

/// Formats milliseconds since the epoch as `2026-11-21T10:26:56.123Z`.
///
/// # Source
/// RFC 3339 §5.6 for the form; days to civil date by the proleptic Gregorian calendar
/// (400-year eras of 146,097 days, years counted from March).
pub fn rfc3339(ms: i64) -> String {
    let (days, in_day) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute) = (in_day / 3_600_000, in_day / 60_000 % 60);
    let (second, milli) = (in_day / 1_000 % 60, in_day % 1_000);
    let mut text = *b"0000-00-00T00:00:00.000Z";
    let fields =
        [(0..4, year), (5..7, month), (8..10, day), (11..13, hour), (14..16, minute), (17..19, second)];
    for (place, number) in fields.into_iter().chain([(20..23, milli)]) {
        let mut rest = number;
        for digit in text[place].iter_mut().rev() {
            *digit = b'0' + u8::try_from(rest.rem_euclid(10)).expect("a digit");
            rest /= 10;
        }
    }
    match (0..=9_999).contains(&year) {
        true => String::from_utf8(text.to_vec()).expect("ASCII"),
        false => format!("{year}{}", std::str::from_utf8(&text[4..]).expect("ASCII")),
    }
}

/// Reads an RFC 3339 time in UTC (`…Z`), or a date (`2026-11-21`, its first moment).
///
/// Returns `None` for anything else; fractions beyond milliseconds are cut.
pub fn parse_rfc3339(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let number = |range: std::ops::Range<usize>| -> Option<i64> {
        let part = bytes.get(range)?;
        if !part.iter().all(u8::is_ascii_digit) {
            return None;
        }
        std::str::from_utf8(part).ok()?.parse().ok()
    };
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    if bytes.get(4) != Some(&b'-') || bytes.get(7) != Some(&b'-') {
        return None;
    }
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let shifted_year = if month <= 2 { year - 1 } else { year };
    let era = shifted_year.div_euclid(400);
    let year_of_era = shifted_year.rem_euclid(400);
    let month_index = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * month_index + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let midnight = (era * 146_097 + day_of_era - 719_468) * 86_400_000;
    if bytes.len() == 10 {
        return Some(midnight);
    }
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    let rest = std::str::from_utf8(bytes.get(19..)?).ok()?.strip_suffix('Z')?;
    let milli = match rest.strip_prefix('.') {
        None if rest.is_empty() => 0,
        Some(digits) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
            format!("{digits:0<3}").get(..3)?.parse().ok()?
        }
        _ => return None,
    };
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some(midnight + ((hour * 60 + minute) * 60 + second) * 1_000 + milli)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_and_reads_known_times() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_795_256_816_123, "2026-11-21T10:26:56.123Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(rfc3339(ms), text);
            assert_eq!(parse_rfc3339(text), Some(ms));
        }
        assert_eq!(rfc3339(253_402_300_800_000), "10000-01-01T00:00:00.000Z");
        assert_eq!(parse_rfc3339("2000-02-29"), Some(951_782_400_000));
        assert_eq!(parse_rfc3339("yesterday"), None);
        assert_eq!(parse_rfc3339("2000-13-01"), None);
    }
}
