//! The time as the user of this computer has it.

use chrono::{Local, SecondsFormat};

/// A moment in the time zone of this computer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalTime {
    /// Day, time and distance from UTC, as in RFC 3339.
    pub time: String,
    /// The name of the time zone, such as `Europe/Berlin`, or the distance from UTC where the system has no name for it.
    pub zone: String,
}

impl LocalTime {
    /// Returns the present one.
    pub fn now() -> Self {
        // What the environment names goes before the system's setting, for the time itself too.
        let named = std::env::var("TZ").ok().filter(|zone| !zone.is_empty());
        let zone = named.or_else(|| iana_time_zone::get_timezone().ok());
        let is_name =
            |zone: &String| zone.bytes().all(|it| it.is_ascii_alphanumeric() || b"/_+-".contains(&it));
        let now = Local::now();
        let zone = zone.filter(|zone| zone.len() <= 64 && is_name(zone));
        Self {
            time: now.to_rfc3339_opts(SecondsFormat::Secs, false),
            zone: zone.unwrap_or_else(|| now.offset().to_string()),
        }
    }
}
