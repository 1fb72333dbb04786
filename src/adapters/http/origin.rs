//! Judging where a browser says that a request comes from.

use http::HeaderMap;
use http::header::{HeaderValue, ORIGIN};

use crate::installation::host::Host;

/// The web origins whose pages may send requests. Programs send no `Origin` at all.
#[derive(Debug, Clone)]
pub(super) struct Origins {
    configured: Vec<String>,
    /// The public URL of the service itself, whose page asks for logins.
    own: Option<String>,
}

impl Origins {
    /// Takes the configured origins and the service's own; loopback ones are accepted anyway.
    pub fn new(configured: &[String], own: Option<&str>) -> Self {
        Self {
            configured: configured.iter().map(|it| it.trim_end_matches('/').to_ascii_lowercase()).collect(),
            own: own.map(str::to_owned),
        }
    }

    /// Returns whether a request may come from where it says it comes from.
    ///
    /// # Source
    /// Fetch Metadata (W3C) for `Sec-Fetch-Site`; RFC 6454 §7 for `Origin`, whose value `null` is what
    /// sandboxed frames and files send.
    pub fn accept(&self, headers: &HeaderMap) -> bool {
        let mut origins = headers.get_all(ORIGIN).iter();
        let origin = match (origins.next(), origins.next()) {
            (None, _) => None,
            (Some(value), None) => match value.to_str() {
                Ok(text) => Some(text.to_ascii_lowercase()),
                Err(_) => return false,
            },
            (Some(_), Some(_)) => return false,
        };
        let configured = origin.as_ref().is_some_and(|origin| self.configured.contains(origin));
        let loopback = origin.as_deref().is_some_and(is_loopback);
        let own = origin.is_some() && origin == self.own;
        if origin.is_some() && !configured && !loopback && !own {
            return false;
        }
        headers.get_all("sec-fetch-site").iter().all(|site| match site.as_bytes() {
            b"none" | b"same-origin" => true,
            // A page on another port of this computer; it must have said which.
            b"same-site" => configured || loopback,
            _ => configured,
        })
    }

    /// Returns the origin of an accepted request if it is a configured one.
    pub fn named(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let origin = headers.get(ORIGIN)?;
        let text = origin.to_str().ok()?.to_ascii_lowercase();
        self.configured.contains(&text).then(|| origin.clone())
    }

    /// Returns whether an accepted request comes from no page, or from a configured one.
    pub fn accept_without_token(&self, headers: &HeaderMap) -> bool {
        headers.get_all(ORIGIN).iter().all(|origin| {
            origin.to_str().is_ok_and(|text| self.configured.contains(&text.to_ascii_lowercase()))
        })
    }
}

fn is_loopback(origin: &str) -> bool {
    let rest = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    rest.and_then(Host::parse).is_some_and(|host| host.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(pairs: &[(&'static str, &str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().expect("a header value"));
        }
        Origins::new(&["https://app.example".to_owned()], Some("https://bw.example")).accept(&headers)
    }

    #[test]
    fn programs_loopback_pages_and_configured_pages_are_accepted() {
        for pairs in [
            &[][..],
            &[("origin", "http://localhost:6274")],
            &[("origin", "http://127.0.0.1:80"), ("sec-fetch-site", "same-site")],
            &[("origin", "http://[::1]:5173")],
            &[("origin", "https://app.example"), ("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "none")],
            &[("origin", "https://bw.example"), ("sec-fetch-site", "same-origin")],
        ] {
            assert!(accepts(pairs), "{pairs:?}");
        }
    }

    #[test]
    fn foreign_and_opaque_pages_are_refused() {
        for pairs in [
            &[("origin", "null")][..],
            &[("origin", "https://evil.example")],
            &[("origin", "http://localhost.evil.example")],
            &[("origin", "http://evil.example@localhost")],
            &[("origin", "https://app.example:444")],
            &[("origin", "")],
            &[("origin", "http://localhost"), ("origin", "https://evil.example")],
            &[("sec-fetch-site", "cross-site")],
            &[("origin", "https://bw.example"), ("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site")],
            &[("origin", "http://localhost:1"), ("sec-fetch-site", "cross-site")],
        ] {
            assert!(!accepts(pairs), "{pairs:?}");
        }
    }
}
