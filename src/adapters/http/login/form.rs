//! Reading forms and queries: each name at most once, but for those that are lists.

use axum::body::{Body, to_bytes};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use std::time::Duration;

/// The largest form.
pub const MAX_FORM_BYTES: usize = 16 << 10;
/// How long a form may take to arrive.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// The fields of a form or a query.
#[derive(Debug, Default)]
pub struct Form {
    fields: Vec<(String, String)>,
}

impl Form {
    /// Reads a query or the body of a form.
    pub fn parse(text: &[u8]) -> Self {
        Self { fields: form_urlencoded::parse(text).into_owned().collect() }
    }

    /// Reads a request's body. `None` if it is no form, too large or too slow.
    pub async fn read(headers: &HeaderMap, body: Body) -> Option<Self> {
        let kind = headers.get(CONTENT_TYPE)?.to_str().ok()?;
        let essence = kind.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            return None;
        }
        Some(Self::parse(&read_body(body).await?))
    }

    /// Returns the one value of a field: none if it is missing, empty, or there twice.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut values =
            self.fields.iter().filter(|(field, _)| field == name).map(|(_, value)| value.as_str());
        let value = values.next().filter(|value| !value.is_empty())?;
        values.next().is_none().then_some(value)
    }

    /// Returns all values of a field.
    pub fn all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        self.fields.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// Returns whether one of these is there twice.
    pub fn doubles(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.all(name).nth(1).is_some())
    }
}

/// Reads a small body. `None` if it is too large or too slow.
pub async fn read_body(body: Body) -> Option<Vec<u8>> {
    let read = tokio::time::timeout(READ_TIMEOUT, to_bytes(body, MAX_FORM_BYTES)).await;
    Some(read.ok()?.ok()?.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_comes_twice_has_no_value() {
        let form = Form::parse(b"a=1&b=x+y%26&c=&a=2&d=3");
        assert_eq!(
            (form.get("a"), form.get("b"), form.get("c"), form.get("d")),
            (None, Some("x y&"), None, Some("3"))
        );
        assert_eq!(form.all("a").collect::<Vec<_>>(), ["1", "2"]);
        assert!(form.doubles(&["b", "a"]) && !form.doubles(&["b", "d", "missing"]));
    }
}
