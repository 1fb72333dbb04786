//! Who a client says that it is: one that registered itself, or one whose published id is known.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use bailiwick_contract::time::now_ms;
use bailiwick_platform::dirs::Dirs;

use super::redirect::Redirect;
use super::signer::Signer;

/// How long a registration may be used to begin a login: 30 days, in milliseconds.
const VALID_MS: i64 = 30 * 86_400_000;
/// How many addresses a client may register.
const MAX_REDIRECTS: usize = 8;
/// The longest list of them, in bytes.
const MAX_REDIRECT_BYTES: usize = 1_024;
/// The longest name.
const MAX_NAME_CHARS: usize = 40;
/// The longest id: that of a registration with the most addresses, and some room.
pub const MAX_ID_BYTES: usize = 3_072;
const PURPOSE: &str = "client";

/// A client that wants to log in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// The name that it gave itself, or by which it is known.
    #[serde(rename = "n")]
    pub name: String,
    #[serde(rename = "r")]
    redirects: Vec<String>,
    #[serde(rename = "t")]
    registered_at_ms: i64,
    /// Whether the name was checked: the id is one of a known client.
    #[serde(skip)]
    pub is_known: bool,
}

/// A client that publishes what it is (a client ID metadata document). The documents are not fetched: a service that
/// fetches what a stranger names can be made to knock anywhere.
struct KnownClient {
    name: &'static str,
    /// The id, or what is before and after its one changing part.
    id: (&'static str, Option<&'static str>),
    redirects: &'static [&'static str],
    /// What is before the changing part of a further address.
    redirect_prefix: Option<&'static str>,
}

/// # Source
/// What Claude Code, Codex, claude.ai, ChatGPT and VS Code were seen to send in 2026, and their makers' pages.
const KNOWN: &[KnownClient] = &[
    KnownClient {
        name: "Claude Code",
        id: ("https://claude.ai/oauth/claude-code-client-metadata", None),
        redirects: &["http://localhost/callback", "http://127.0.0.1/callback"],
        redirect_prefix: None,
    },
    KnownClient {
        name: "Claude",
        id: ("https://claude.ai/oauth/mcp-oauth-client-metadata", None),
        redirects: &["https://claude.ai/api/mcp/auth_callback", "https://claude.com/api/mcp/auth_callback"],
        redirect_prefix: None,
    },
    KnownClient {
        name: "Codex",
        id: ("https://chatgpt.com/oauth/codex/client.json", None),
        redirects: &["http://localhost/callback", "http://127.0.0.1/callback"],
        redirect_prefix: None,
    },
    KnownClient {
        name: "ChatGPT",
        id: ("https://chatgpt.com/oauth/", Some("/client.json")),
        redirects: &["https://chatgpt.com/connector_platform_oauth_redirect"],
        redirect_prefix: Some("https://chatgpt.com/connector/oauth/"),
    },
    KnownClient {
        name: "VS Code",
        id: ("https://vscode.dev/oauth/client-metadata.json", None),
        redirects: &["http://127.0.0.1/", "http://localhost/", "https://vscode.dev/redirect"],
        redirect_prefix: None,
    },
];

impl Client {
    /// Finds a client by its id. `None` if it is neither known nor registered, or registered too long ago.
    pub fn find(signer: &Signer, id: &str, now_ms: i64) -> Option<Self> {
        if let Some(known) = KNOWN.iter().find(|known| known.has(id)) {
            let mut redirects: Vec<String> = known.redirects.iter().map(|it| (*it).to_owned()).collect();
            redirects.extend(
                known
                    .redirect_prefix
                    .zip(known.changing_part(id))
                    .map(|(prefix, part)| format!("{prefix}{part}")),
            );
            return Some(Self {
                name: known.name.to_owned(),
                redirects,
                registered_at_ms: 0,
                is_known: true,
            });
        }
        let client: Self = signer.read(PURPOSE, id)?;
        (now_ms < client.registered_at_ms + VALID_MS).then_some(client)
    }

    /// Registers a client: everything about it is in its id, so that nothing has to be kept.
    ///
    /// # Errors
    /// The error code of RFC 7591 §3.2.2 and what is wrong.
    ///
    /// # Source
    /// RFC 7591.
    pub fn register(signer: &Signer, body: &[u8], now_ms: i64) -> Result<Value, (&'static str, String)> {
        let wrong = |text: &str| Err(("invalid_client_metadata", text.to_owned()));
        let Ok(Value::Object(asked)) = serde_json::from_slice(body) else {
            return wrong("the body is not a JSON object");
        };
        let redirects: Option<Vec<String>> = asked
            .get("redirect_uris")
            .and_then(Value::as_array)
            .and_then(|uris| uris.iter().map(|uri| uri.as_str().map(str::to_owned)).collect());
        let Some(redirects) = redirects.filter(|it| (1..=MAX_REDIRECTS).contains(&it.len())) else {
            return Err((
                "invalid_redirect_uri",
                format!("redirect_uris must be a list of 1 to {MAX_REDIRECTS} addresses"),
            ));
        };
        if let Some(refused) = redirects.iter().find(|uri| Redirect::parse(uri).is_none()) {
            let shown: String = refused.chars().filter(|it| !it.is_control()).take(100).collect();
            return Err((
                "invalid_redirect_uri",
                format!("`{shown}` is neither https, nor http on loopback, nor a known program's address"),
            ));
        }
        if redirects.iter().map(String::len).sum::<usize>() > MAX_REDIRECT_BYTES {
            return wrong("redirect_uris are too long");
        }
        if asked.get("response_types").is_some_and(|types| !lists(types, "code")) {
            return wrong("response_types must contain `code`");
        }
        let name = clean_name(asked.get("client_name").and_then(Value::as_str).unwrap_or_default());
        let client = Self { name, redirects, registered_at_ms: now_ms, is_known: false };
        Ok(json!({
            "client_id": signer.sign(PURPOSE, &client),
            "client_id_issued_at": now_ms / 1_000,
            "client_name": client.name,
            "redirect_uris": client.redirects,
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        }))
    }

    /// Returns whether a browser may be sent there for this client.
    pub fn allows(&self, redirect: &Redirect<'_>) -> bool {
        self.redirects.iter().any(|registered| redirect.is_allowed_by(registered))
    }
}

/// Returns whether a registration was made by the installation in these folders: only it has the key.
pub fn is_own_registration(dirs: &Dirs, client_id: &str) -> bool {
    let client = Signer::open(dirs).ok().and_then(|signer| Client::find(&signer, client_id, now_ms()));
    client.is_some_and(|client| !client.is_known)
}

impl KnownClient {
    fn has(&self, id: &str) -> bool {
        match self.id.1 {
            None => id == self.id.0,
            Some(_) => self.changing_part(id).is_some(),
        }
    }

    /// Returns the part of an id that is between the two fixed ones.
    fn changing_part<'a>(&self, id: &'a str) -> Option<&'a str> {
        let part = id.strip_prefix(self.id.0)?.strip_suffix(self.id.1?)?;
        let is_plain = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_');
        (!part.is_empty() && part.len() <= 128 && part.bytes().all(is_plain)).then_some(part)
    }
}

fn lists(value: &Value, wanted: &str) -> bool {
    value.as_array().is_some_and(|items| items.iter().any(|item| item == wanted))
}

/// Returns a name that can be shown and kept: printable ASCII, for no other letters can pass for another name.
fn clean_name(given: &str) -> String {
    let plain: String = given
        .chars()
        .filter(|it| it.is_ascii_graphic() || *it == ' ')
        .filter(|it| !matches!(it, '`' | '<' | '>' | '"' | '\\'))
        .take(MAX_NAME_CHARS)
        .collect();
    let plain = plain.trim();
    let is_reserved = ["", "local", "bailiwick", "(unknown)"].contains(&plain.to_ascii_lowercase().as_str());
    if is_reserved { "unnamed client".to_owned() } else { plain.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_signer(test: impl FnOnce(&Signer)) {
        let home =
            std::env::temp_dir().join(format!("bailiwick-client-{}", bailiwick_contract::id::new_id()));
        test(&Signer::open(&Dirs::below(home.clone())).expect("a key"));
        bailiwick_platform::fs::remove_tree(&home).expect("removed");
    }

    fn register(signer: &Signer, asked: &Value) -> Result<Value, (&'static str, String)> {
        Client::register(signer, asked.to_string().as_bytes(), 0)
    }

    #[test]
    fn a_registration_is_found_by_its_id_alone_for_thirty_days() {
        with_signer(|signer| {
            let asked = json!({"client_name": "  My <b>client\u{202e}`  ", "redirect_uris": ["http://localhost:1/cb"]});
            let made = register(signer, &asked).expect("registered");
            let id = made["client_id"].as_str().expect("an id");
            let client = Client::find(signer, id, VALID_MS - 1).expect("found");
            assert_eq!((client.name.as_str(), client.is_known), ("My bclient", false));
            assert!(client.allows(&Redirect::parse("http://localhost:2/cb").expect("an address")));
            assert!(!client.allows(&Redirect::parse("https://evil.example/cb").expect("an address")));
            assert!(Client::find(signer, id, VALID_MS).is_none());
            assert!(Client::find(signer, &id[1..], 0).is_none());
        });
    }

    #[test]
    fn registrations_that_are_wrong_say_so_and_long_ones_fit_the_bound() {
        with_signer(|signer| {
            for (asked, code) in [
                (json!([]), "invalid_client_metadata"),
                (json!({}), "invalid_redirect_uri"),
                (json!({"redirect_uris": []}), "invalid_redirect_uri"),
                (json!({"redirect_uris": ["http://evil.example/"]}), "invalid_redirect_uri"),
                (json!({"redirect_uris": [1]}), "invalid_redirect_uri"),
                (json!({"redirect_uris": vec!["http://localhost/"; 9]}), "invalid_redirect_uri"),
                (
                    json!({"redirect_uris": ["http://localhost/"], "response_types": ["token"]}),
                    "invalid_client_metadata",
                ),
            ] {
                assert_eq!(register(signer, &asked).expect_err("refused").0, code, "{asked}");
            }
            let long = format!("https://x.example/{}", "a".repeat(490));
            let asked = json!({"client_name": "n".repeat(500), "redirect_uris": [long, long]});
            let made = register(signer, &asked).expect("registered");
            assert!(made["client_id"].as_str().expect("an id").len() <= MAX_ID_BYTES);
        });
    }

    #[test]
    fn known_clients_are_known_by_their_published_ids() {
        with_signer(|signer| {
            let find = |id: &str| Client::find(signer, id, i64::MAX / 2);
            let allows = |client: &Client, to: &str| client.allows(&Redirect::parse(to).expect("an address"));
            let code = find("https://claude.ai/oauth/claude-code-client-metadata").expect("known");
            assert!(code.is_known && allows(&code, "http://localhost:54321/callback"));
            assert!(!allows(&code, "https://claude.ai/api/mcp/auth_callback"));
            let chat = find("https://chatgpt.com/oauth/abc-1/client.json").expect("known");
            assert_eq!(chat.name, "ChatGPT");
            assert!(allows(&chat, "https://chatgpt.com/connector/oauth/abc-1"));
            assert!(!allows(&chat, "https://chatgpt.com/connector/oauth/other"));
            assert_eq!(find("https://chatgpt.com/oauth/codex/client.json").expect("known").name, "Codex");
            for id in [
                "https://chatgpt.com/oauth//client.json",
                "https://chatgpt.com/oauth/a/b/client.json",
                "https://evil.example/client.json",
                "https://claude.ai/oauth/claude-code-client-metadata?x",
            ] {
                assert!(find(id).is_none(), "{id}");
            }
        });
    }
}
