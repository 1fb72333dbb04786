//! Reading what Git prints: fields that end in NUL, hashes, numbers.

/// The fields of an output in which a NUL ends each.
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// Begins at the beginning.
    pub fn new(text: &'a [u8]) -> Self {
        Self { rest: text }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end = memchr::memchr(0, self.rest).unwrap_or(self.rest.len());
        let field = &self.rest[..end];
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        Some(field)
    }
}

/// The name of an object.
pub type Hash = String;

/// Shows bytes that need not be UTF-8, for people's names and messages.
pub fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns a time in Git's strict ISO form. Its zone is `Z` for UTC, for which Git before 2.45 writes `+00:00`.
pub fn iso_time(bytes: &[u8]) -> String {
    let text = lossy(bytes);
    match text.strip_suffix("+00:00") {
        Some(time) => format!("{time}Z"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::iso_time;

    #[test]
    fn utc_is_written_in_one_way() {
        for (printed, expected) in [
            ("2026-01-02T03:04:05+00:00", "2026-01-02T03:04:05Z"),
            ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
            ("2026-01-02T03:04:05+01:00", "2026-01-02T03:04:05+01:00"),
            ("2026-01-02T03:04:05-10:00", "2026-01-02T03:04:05-10:00"),
            ("", ""),
        ] {
            assert_eq!(iso_time(printed.as_bytes()), expected);
        }
    }
}
