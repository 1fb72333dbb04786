//! The pages of a login: plain HTML without scripts, and nothing from elsewhere.

use std::sync::LazyLock;

use axum::body::Body;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, REFERRER_POLICY, X_FRAME_OPTIONS};
use sha2::{Digest, Sha256};

use bailiwick_config::{Config, ScopeConfig};
use bailiwick_contract::Capability;

const STYLE: &str = "\
:root{color-scheme:light dark;--text:#1c1e21;--dim:#5c6370;--line:#d9dce1;--page:#f5f6f8;--card:#fff;--main:#1f5fd1;--bad:#b3261e}\
@media(prefers-color-scheme:dark){:root{--text:#e8eaed;--dim:#a0a6b0;--line:#3a3f47;--page:#15171a;--card:#1f2226;--main:#5b93f5;--bad:#f2877f}}\
*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--text);font:16px/1.5 system-ui,sans-serif}\
main{max-width:30rem;margin:6vh auto;padding:2rem;background:var(--card);border:1px solid var(--line);border-radius:12px}\
h1{font-size:1.3rem;line-height:1.3;margin:0 0 1rem}p{margin:.6rem 0}small,.dim{color:var(--dim)}\
code{font:.95em ui-monospace,monospace;background:var(--page);padding:.1em .35em;border-radius:4px}\
dl{margin:1rem 0;display:grid;grid-template-columns:auto 1fr;gap:.3rem 1rem}dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}\
fieldset{border:1px solid var(--line);border-radius:8px;margin:1rem 0;padding:.6rem 1rem}legend{padding:0 .4rem;color:var(--dim)}\
label{display:block;padding:.25rem 0;overflow-wrap:anywhere}input[type=text]{width:100%;font:1.2rem ui-monospace,monospace;letter-spacing:.1em;padding:.5rem;margin:.3rem 0;border:1px solid var(--line);border-radius:8px;background:var(--page);color:var(--text)}\
button{font:inherit;padding:.5rem 1.2rem;margin:.6rem .6rem 0 0;border:1px solid var(--line);border-radius:8px;background:none;color:var(--text);cursor:pointer}\
button.main{background:var(--main);border-color:var(--main);color:#fff}.notice{color:var(--bad)}";

/// What the pages show of a request.
pub struct Request<'a> {
    /// The client's name.
    pub client: &'a str,
    /// Whether the name was checked.
    pub is_known: bool,
    /// Where the browser goes afterwards.
    pub goes_to: String,
    /// The same, for the page's policy.
    pub form_target: String,
    /// What the client asked for, signed.
    pub request: String,
    /// What was wrong with the last answer.
    pub notice: &'a str,
}

/// Makes the first page, which asks for a proof. It says nothing about this computer: strangers can open it.
pub fn proof(request: &Request<'_>, notice: &str) -> Response {
    let body = format!(
        "<h1>{client} wants to use your computer through Bailiwick</h1>{facts}\
         <p>If you have not just begun this yourself, refuse.</p>\
         <form method=post action=/oauth/authorize>{hidden}\
         <p>To go on, run this on the computer that Bailiwick runs on, and type what it prints:</p>\
         <p><code>bailiwick token code</code></p>{notice}\
         <label>One-time code<input type=text name=code autocomplete=off autocapitalize=characters spellcheck=false autofocus placeholder=K7QP-3MXB maxlength=100></label>\
         <button class=main name=answer value=prove>Continue</button><button name=answer value=refuse>Refuse</button></form>",
        client = escape(request.client),
        facts = facts(request),
        hidden = hidden(request),
        notice = shown_notice(notice),
    );
    page(StatusCode::OK, &body, &request.form_target)
}

/// Makes the second page, which asks what the client may use.
pub fn choice(request: &Request<'_>, config: &Config) -> Response {
    let only = config.scopes.len() == 1;
    let scopes: String = config.scopes.iter().map(|scope| scope_line(scope, only)).collect();
    let granted = Capability::ALL
        .iter()
        .filter(|capability| config.scopes.iter().any(|scope| scope.grants(**capability)));
    let capabilities: String = granted
        .map(|it| {
            format!(
                "<label><input type=checkbox name=capability value=\"{it}\" checked> {}</label>",
                label(*it)
            )
        })
        .collect();
    let body = if scopes.is_empty() {
        "<h1>There is nothing to allow yet</h1><p>Open a folder first: <code>bailiwick setup FOLDER</code>. Then begin again in the client.</p>".to_owned()
    } else {
        format!(
            "<h1>What may {client} use on {machine}?</h1>{facts}{notice}\
             <form method=post action=/oauth/authorize>{hidden}\
             <fieldset><legend>Scopes</legend>{scopes}</fieldset>\
             <fieldset><legend>In these it may, where the scope allows it</legend>{capabilities}</fieldset>\
             <p><small>It stays logged in while it is used at least every 30 days. <code>bailiwick token list</code> shows it, <code>bailiwick token revoke</code> ends it at once.</small></p>\
             <button class=main name=answer value=allow>Allow</button><button name=answer value=refuse>Refuse</button></form>",
            client = escape(request.client),
            machine = escape(&config.machine_name),
            facts = facts(request),
            notice = shown_notice(request.notice),
            hidden = hidden(request),
        )
    };
    page(StatusCode::OK, &body, &request.form_target)
}

/// Makes a page that says why there is nothing to answer.
pub fn problem(text: &str) -> Response {
    page(StatusCode::BAD_REQUEST, &format!("<h1>This login cannot go on</h1><p>{}</p>", escape(text)), "")
}

fn facts(request: &Request<'_>) -> String {
    let name = if request.is_known { "checked by its address" } else { "its own words, not checked" };
    format!(
        "<dl><dt>Client</dt><dd>{} <small>({name})</small></dd><dt>Goes back to</dt><dd>{}</dd></dl>",
        escape(request.client),
        escape(&request.goes_to)
    )
}

fn hidden(request: &Request<'_>) -> String {
    format!("<input type=hidden name=request value=\"{}\">", escape(&request.request))
}

fn shown_notice(notice: &str) -> String {
    if notice.is_empty() {
        String::new()
    } else {
        format!("<p class=notice role=alert>{}</p>", escape(notice))
    }
}

fn scope_line(scope: &ScopeConfig, only: bool) -> String {
    let checked = if only { " checked" } else { "" };
    let folders: Vec<String> = scope.roots.iter().map(|root| escape(&root.to_string_lossy())).collect();
    let id = escape(&scope.id);
    format!(
        "<label><input type=checkbox name=scope value=\"{id}\"{checked}> {id} <small>{}</small></label>",
        folders.join(", ")
    )
}

fn label(capability: Capability) -> &'static str {
    match capability {
        Capability::FsRead => "read files",
        Capability::SearchRead => "search in files",
        Capability::FsWrite => "create, change and delete files",
        Capability::GitRead => "read Git's state and history",
        Capability::GitWrite => "stage and commit",
        Capability::CommandRun => "run commands",
        Capability::ProcessManage => "start and stop processes",
        Capability::PackageRun => "run the project's scripts",
        Capability::CodexRun => "run Codex",
        Capability::ScreenCapture => "take pictures of the screen",
        Capability::HistoryRead => "read the history of the scope",
    }
}

fn page(status: StatusCode, body: &str, form_target: &str) -> Response {
    static STYLE_HASH: LazyLock<String> = LazyLock::new(|| STANDARD.encode(Sha256::digest(STYLE)));
    let text = format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <title>Log in to Bailiwick</title><style>{STYLE}</style><main>{body}</main>"
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

fn escape(text: &str) -> String {
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
