//! Reading the `Authorization` header.

use http::HeaderMap;
use http::header::AUTHORIZATION;

/// The longest token that is checked.
const MAX_TOKEN_BYTES: usize = 512;

/// What a request presents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bearer<'a> {
    /// No `Authorization` header.
    Absent,
    /// A bearer token, not yet checked.
    Token(&'a str),
    /// Another scheme, several headers, or something that is no token.
    Malformed,
}

/// Reads the bearer token of a request. Tokens elsewhere (address, cookies) are never looked at.
///
/// # Source
/// RFC 6750 §2.1; the scheme is compared without case (RFC 9110 §11.1).
pub fn bearer(headers: &HeaderMap) -> Bearer<'_> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return if headers.contains_key(AUTHORIZATION) { Bearer::Malformed } else { Bearer::Absent };
    };
    let Some((scheme, token)) = value.to_str().ok().and_then(|text| text.split_once(' ')) else {
        return Bearer::Malformed;
    };
    let token = token.trim_matches(' ');
    let usable = !token.is_empty() && token.len() <= MAX_TOKEN_BYTES && !token.contains([' ', ',']);
    if scheme.eq_ignore_ascii_case("bearer") && usable { Bearer::Token(token) } else { Bearer::Malformed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_bearer_header_with_one_token_counts() {
        let read = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, value.parse().expect("a header value"));
            }
            match bearer(&headers) {
                Bearer::Token(token) => token.to_owned(),
                other => format!("{other:?}"),
            }
        };
        assert_eq!(read(&[]), "Absent");
        assert_eq!(read(&["Bearer bwl_1"]), "bwl_1");
        assert_eq!(read(&["bearer  bwl_1"]), "bwl_1");
        for wrong in
            [&["Basic Ym9i"][..], &["Bearer"], &["Bearer "], &["Bearer a b"], &["Bearer a", "Bearer b"]]
        {
            assert_eq!(read(wrong), "Malformed", "{wrong:?}");
        }
    }
}
