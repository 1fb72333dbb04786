//! Where a browser may be sent back to.

use crate::installation::host::Host;

/// The longest address.
const MAX_BYTES: usize = 512;
/// Schemes of desktop programs that have no port to listen on.
///
/// # Source
/// The redirect addresses that Cursor and VS Code register (measured 2026).
const PROGRAMS: &[(&str, &str)] =
    &[("cursor", "Cursor"), ("vscode", "VS Code"), ("vscode-insiders", "VS Code Insiders")];

/// An address to which a browser may be sent back: `https`, `http` on this computer, or a known desktop program.
///
/// # Source
/// RFC 8252 §7 for native programs; RFC 9700 §2.1 for exact comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect<'a> {
    text: &'a str,
    scheme: &'a str,
    authority: &'a str,
    rest: &'a str,
}

impl<'a> Redirect<'a> {
    /// Reads an address. `None` for one to which no browser is sent.
    pub fn parse(text: &'a str) -> Option<Self> {
        let is_plain =
            text.bytes().all(|it| it.is_ascii_graphic() && !matches!(it, b'"' | b'<' | b'>' | b'\\'));
        if text.len() > MAX_BYTES || !is_plain || text.contains('#') {
            return None;
        }
        let (scheme, after) = text.split_once("://")?;
        let end = after.find(['/', '?']).unwrap_or(after.len());
        let (authority, rest) = after.split_at(end);
        let redirect = Self { text, scheme, authority, rest };
        let host = Host::parse(authority);
        let is_usable = match scheme {
            "https" => host.is_some(),
            "http" => host.is_some_and(|host| host.is_loopback()),
            _ => PROGRAMS.iter().any(|(known, _)| *known == scheme) && host.is_some(),
        };
        is_usable.then_some(redirect)
    }

    /// Returns whether a registered address allows this one: the same, but for the port on this computer.
    pub fn is_allowed_by(&self, registered: &str) -> bool {
        if self.text == registered {
            return true;
        }
        let Some(registered) = Redirect::parse(registered) else { return false };
        let name = |it: &Redirect<'_>| Host::parse(it.authority).map(|host| host.name);
        self.scheme == "http"
            && registered.scheme == "http"
            && self.rest == registered.rest
            && name(self) == name(&registered)
    }

    /// Returns whether it leads to a program on the computer of the browser.
    pub fn is_of_this_computer(&self) -> bool {
        self.scheme != "https"
    }

    /// Returns what the user is shown of it.
    pub fn shown(&self) -> String {
        match PROGRAMS.iter().find(|(scheme, _)| *scheme == self.scheme) {
            Some((_, program)) => format!("the program {program}"),
            None if self.scheme == "http" => "a program on the computer of your browser".to_owned(),
            None => self.authority.to_owned(),
        }
    }

    /// Returns what a page has to allow in its policy for forms, so that the browser follows.
    pub fn source(&self) -> String {
        match self.scheme {
            "https" | "http" => format!("{}://{}", self.scheme, self.authority),
            scheme => format!("{scheme}:"),
        }
    }

    /// Returns the host, for the record of a login.
    pub fn host(&self) -> &str {
        self.authority
    }

    /// Returns the address with an answer in its query.
    pub fn with(&self, answer: &[(&str, &str)]) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(answer);
        let joint = if self.rest.contains('?') { '&' } else { '?' };
        format!("{}{joint}{}", self.text, query.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_web_of_this_computer_and_of_known_programs_are_taken() {
        for text in [
            "https://chatgpt.com/connector/oauth/abc",
            "https://claude.ai/api/mcp/auth_callback",
            "http://localhost:3118/callback",
            "http://127.0.0.1/callback",
            "http://[::1]:9/callback?x=1",
            "cursor://anysphere.cursor-mcp/oauth/callback",
        ] {
            assert!(Redirect::parse(text).is_some(), "{text}");
        }
        for text in [
            "",
            "javascript:alert(1)",
            "javascript://127.0.0.1/%0aalert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "http://evil.example/callback",
            "http://localhost.evil.example/",
            "http://localhost@evil.example/",
            "https://user@claude.ai/",
            "https://claude.ai/#fragment",
            "https://claude.ai/ x",
            "https://",
            "//claude.ai/x",
            "other://x/y",
        ] {
            assert!(Redirect::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn only_the_port_on_this_computer_may_differ_from_what_was_registered() {
        let is_allowed =
            |text, registered| Redirect::parse(text).expect("an address").is_allowed_by(registered);
        assert!(is_allowed("http://localhost:1234/callback", "http://localhost:1/callback"));
        assert!(is_allowed("http://127.0.0.1:1234/callback", "http://127.0.0.1/callback"));
        assert!(is_allowed("https://claude.ai/a", "https://claude.ai/a"));
        for (text, registered) in [
            ("http://localhost:1234/other", "http://localhost/callback"),
            ("http://localhost:1234/callback?x=1", "http://localhost/callback"),
            ("http://127.0.0.1:1234/callback", "http://localhost/callback"),
            ("https://claude.ai:444/a", "https://claude.ai/a"),
            ("https://claude.ai/a/b", "https://claude.ai/a"),
            ("https://evil.example/a", "https://claude.ai/a"),
            ("https://localhost:1/callback", "http://localhost/callback"),
        ] {
            assert!(!is_allowed(text, registered), "{text} {registered}");
        }
    }

    #[test]
    fn an_answer_is_added_to_the_query() {
        let with = |text| Redirect::parse(text).expect("an address").with(&[("code", "a b"), ("state", "&")]);
        assert_eq!(with("https://x.example/cb"), "https://x.example/cb?code=a+b&state=%26");
        assert_eq!(with("https://x.example/cb?y=1"), "https://x.example/cb?y=1&code=a+b&state=%26");
    }
}
