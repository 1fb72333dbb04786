//! A URL to check, as the user types it.

use bailiwick_contract::Failure;

use crate::installation::text::one_line;
use bailiwick_providers::http_client::HttpUrl;

/// Returns the command that checks what was meant: the same place by HTTP, if it names one.
fn instead(text: &str) -> String {
    let place = text.split_once("://").map_or(text, |(_, place)| place).split(['/', '?', '#']).next();
    let is_plain = |it: &&str| it.bytes().all(|it| it.is_ascii_alphanumeric() || b".-:[]".contains(&it));
    let url = place
        .filter(|place| !place.starts_with('-'))
        .filter(is_plain)
        .and_then(|place| HttpUrl::parse(&format!("https://{place}/mcp")).ok());
    match url {
        Some(url) => format!("`bailiwick client check {url}` checks that place by HTTPS."),
        None => "`bailiwick client check https://NAME/mcp` checks the URL that clients are given; `bailiwick status` shows yours.".to_owned(),
    }
}

/// Reads the URL of an endpoint; one without a path means `/mcp`.
///
/// # Errors
/// `invalid_request` for what is no URL; `permission_denied` where a token would go there without encryption.
pub fn typed_url(text: &str, has_token: bool) -> Result<HttpUrl, Failure> {
    let url = HttpUrl::parse(text).map_err(|problem| {
        Failure::invalid("URL", format!("`{}` cannot be checked: {problem}", one_line(text)))
            .hint(instead(text))
    })?;
    // Who enters no path means the endpoint.
    let url = if url.path == "/" { url.with_path("/mcp") } else { url };
    if has_token && !url.is_https && !url.is_loopback() {
        return Err(Failure::denied(
            "token-in-the-clear",
            format!("the token would go to {} without encryption", one_line(&url.origin())),
        )
        .hint("Use the https URL, or check without a token."));
    }
    Ok(url)
}
