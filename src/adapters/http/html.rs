//! Pages of plain HTML: without scripts, and with nothing from elsewhere.

use std::sync::LazyLock;

use axum::body::Body;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, REFERRER_POLICY, X_FRAME_OPTIONS};
use sha2::{Digest, Sha256};

const STYLE: &str = "\
:root{color-scheme:light dark;--text:#1b1d21;--dim:#565d69;--line:#d5d9e0;--page:#f3f4f7;--card:#fff;--soft:#f6f7f9;--main:#1d5bd0;--on-main:#fff;--warn:#8a4b00;--warn-page:#fff6e6;--warn-line:#f0d5a8;--bad:#b3261e}\
@media(prefers-color-scheme:dark){:root{--text:#e9ebee;--dim:#a6acb7;--line:#3b4049;--page:#131518;--card:#1d2024;--soft:#25292f;--main:#8ab4f8;--on-main:#0d1b33;--warn:#f5c26b;--warn-page:#2d2413;--warn-line:#574521;--bad:#f5938b}}\
*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--text);font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}\
main{max-width:34rem;margin:5vh auto;padding:1.75rem 2rem 2rem;background:var(--card);border:1px solid var(--line);border-radius:14px;box-shadow:0 1px 3px rgb(0 0 0/.06)}\
header{display:flex;justify-content:space-between;gap:1rem;margin-bottom:1.2rem;padding-bottom:.9rem;border-bottom:1px solid var(--line);color:var(--dim);font-size:.875rem}header b{color:var(--text)}\
h1{font-size:1.45rem;line-height:1.25;margin:0 0 .4rem;overflow-wrap:anywhere}h2{font-size:1rem;margin:1.5rem 0 .4rem}p{margin:.5rem 0}small,.dim{color:var(--dim);font-size:.875rem}\
code{font:.95em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}.command{display:block;margin:.4rem 0;padding:.55rem .8rem;background:var(--soft);border:1px solid var(--line);border-radius:8px;user-select:all}\
pre{margin:1rem 0;padding:.8rem 1rem;background:var(--soft);border:1px solid var(--line);border-radius:10px;font:.85rem/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre-wrap;overflow-wrap:anywhere}\
dl{margin:1rem 0;padding:.8rem 1rem;display:grid;grid-template-columns:auto 1fr;gap:.35rem 1.2rem;background:var(--soft);border:1px solid var(--line);border-radius:10px}dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}dd small{display:block}\
.warn{margin:1rem 0;padding:.7rem 1rem;color:var(--warn);background:var(--warn-page);border:1px solid var(--warn-line);border-radius:10px}.notice{color:var(--bad);font-weight:600}\
fieldset{border:0;margin:1.1rem 0 0;padding:0;min-width:0}legend{padding:0;font-weight:600}\
.option{display:grid;grid-template-columns:auto 1fr;gap:0 .7rem;margin:.4rem 0;padding:.55rem .8rem;border:1px solid var(--line);border-radius:10px;cursor:pointer;overflow-wrap:anywhere}.option:has(:checked){border-color:var(--main)}.option:has(:focus-visible){outline:3px solid var(--main);outline-offset:1px}\
.option input{grid-row:1/3;width:1.1rem;height:1.1rem;margin:.25rem 0 0;accent-color:var(--main);outline:0}.option small{grid-column:2}\
.field{display:block;margin-top:1rem;font-weight:600}input[type=text]{display:block;width:100%;margin:.35rem 0 0;padding:.6rem .8rem;font:1.3rem ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;letter-spacing:.12em;border:1px solid var(--dim);border-radius:8px;background:var(--card);color:var(--text)}\
:focus-visible{outline:3px solid var(--main);outline-offset:2px}\
.buttons{display:flex;flex-wrap:wrap;gap:.7rem;margin-top:1.5rem}button{flex:1 1 9rem;font:inherit;font-weight:600;padding:.65rem 1.2rem;border:1px solid var(--dim);border-radius:9px;background:none;color:var(--text);cursor:pointer}button.main{background:var(--main);border-color:var(--main);color:var(--on-main)}\
@media(max-width:36rem){main{margin:0;min-height:100vh;border:0;border-radius:0;padding:1.2rem}dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}}";

/// Creates a page. `form_target` is where its form may lead besides this server.
pub(super) fn page(status: StatusCode, title: &str, body: &str, form_target: &str) -> Response {
    static STYLE_HASH: LazyLock<String> = LazyLock::new(|| STANDARD.encode(Sha256::digest(STYLE)));
    let text = format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width,initial-scale=1\">\
         <title>{title}</title><style>{STYLE}</style><main>{body}</main>"
    );
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; form-action 'self' {form_target}; frame-ancestors 'none'; base-uri 'none'",
        *STYLE_HASH
    );
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_str(&policy).expect("the policy is ASCII"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    // The page's own form names the page as its origin only if a referrer may be sent there.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

/// Returns a text that cannot become markup.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_client_becomes_markup() {
        assert_eq!(escape("<a href=\"x\">'&"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
    }
}
