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
:root{color-scheme:light dark;--text:#1b1d21;--dim:#565d69;--line:#d5d9e0;--page:#f3f4f7;--card:#fff;--soft:#f6f7f9;--main:#1d5bd0;--on-main:#fff;--warn:#8a4b00;--warn-page:#fff6e6;--warn-line:#f0d5a8;--bad:#b3261e}\
@media(prefers-color-scheme:dark){:root{--text:#e9ebee;--dim:#a6acb7;--line:#3b4049;--page:#131518;--card:#1d2024;--soft:#25292f;--main:#8ab4f8;--on-main:#0d1b33;--warn:#f5c26b;--warn-page:#2d2413;--warn-line:#574521;--bad:#f5938b}}\
*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--text);font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}\
main{max-width:34rem;margin:5vh auto;padding:1.75rem 2rem 2rem;background:var(--card);border:1px solid var(--line);border-radius:14px;box-shadow:0 1px 3px rgb(0 0 0/.06)}\
header{display:flex;justify-content:space-between;gap:1rem;margin-bottom:1.2rem;padding-bottom:.9rem;border-bottom:1px solid var(--line);color:var(--dim);font-size:.875rem}header b{color:var(--text)}\
h1{font-size:1.45rem;line-height:1.25;margin:0 0 .4rem;overflow-wrap:anywhere}h2{font-size:1rem;margin:1.5rem 0 .4rem}p{margin:.5rem 0}small,.dim{color:var(--dim);font-size:.875rem}\
code{font:.95em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}.command{display:block;margin:.4rem 0;padding:.55rem .8rem;background:var(--soft);border:1px solid var(--line);border-radius:8px;user-select:all}\
dl{margin:1rem 0;padding:.8rem 1rem;display:grid;grid-template-columns:auto 1fr;gap:.35rem 1.2rem;background:var(--soft);border:1px solid var(--line);border-radius:10px}dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}dd small{display:block}\
.warn{margin:1rem 0;padding:.7rem 1rem;color:var(--warn);background:var(--warn-page);border:1px solid var(--warn-line);border-radius:10px}.notice{color:var(--bad);font-weight:600}\
fieldset{border:0;margin:1.1rem 0 0;padding:0;min-width:0}legend{padding:0;font-weight:600}\
.option{display:grid;grid-template-columns:auto 1fr;gap:0 .7rem;margin:.4rem 0;padding:.55rem .8rem;border:1px solid var(--line);border-radius:10px;cursor:pointer;overflow-wrap:anywhere}.option:has(:checked){border-color:var(--main)}.option:has(:focus-visible){outline:3px solid var(--main);outline-offset:1px}\
.option input{grid-row:1/3;width:1.1rem;height:1.1rem;margin:.25rem 0 0;accent-color:var(--main);outline:0}.option small{grid-column:2}\
.field{display:block;margin-top:1rem;font-weight:600}input[type=text]{display:block;width:100%;margin:.35rem 0 0;padding:.6rem .8rem;font:1.3rem ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;letter-spacing:.12em;border:1px solid var(--dim);border-radius:8px;background:var(--card);color:var(--text)}\
:focus-visible{outline:3px solid var(--main);outline-offset:2px}\
.buttons{display:flex;flex-wrap:wrap;gap:.7rem;margin-top:1.5rem}button{flex:1 1 9rem;font:inherit;font-weight:600;padding:.65rem 1.2rem;border:1px solid var(--dim);border-radius:9px;background:none;color:var(--text);cursor:pointer}button.main{background:var(--main);border-color:var(--main);color:var(--on-main)}\
@media(max-width:36rem){main{margin:0;min-height:100vh;border:0;border-radius:0;padding:1.2rem}dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}}";

/// What the pages show of a request.
pub struct Request<'a> {
    /// The client's name.
    pub client: &'a str,
    /// Whether the name was checked.
    pub is_known: bool,
    /// The host of this page.
    pub host: &'a str,
    /// Where the browser goes afterwards.
    pub goes_to: String,
    /// The same, for the page's policy.
    pub form_target: String,
    /// What the client asked for, signed.
    pub request: String,
    /// What was wrong with the last answer.
    pub notice: &'a str,
}

/// Creates the first page, which asks for a proof. It says nothing about this computer: strangers can open it.
pub fn proof(request: &Request<'_>, notice: &str) -> Response {
    let body = format!(
        "{header}<h1>{client} wants to use your computer</h1>\
         <p>Bailiwick runs on your computer and decides what it may do there. You choose that on the next page.</p>{facts}{warning}\
         <form method=post action=/oauth/authorize>{hidden}\
         <h2>Show that the computer is yours</h2>\
         <p>In a terminal of the computer that Bailiwick runs on, run:</p><code class=command>bailiwick token code</code>\
         <label class=field>One-time code<input type=text name=code autocomplete=off autocapitalize=characters spellcheck=false autofocus placeholder=K7QP-3MXB-9TWD maxlength=100></label>{notice}\
         <p class=buttons><button class=main name=answer value=prove>Continue</button><button name=answer value=refuse>Refuse</button></p>\
         <p><small>Did you not begin this yourself, just now? Refuse. Type the code on this page alone, and give it to nobody.</small></p></form>",
        header = header(request, "Step 1 of 2"),
        client = escape(request.client),
        facts = facts(request),
        warning = warning(request),
        hidden = hidden(request),
        notice = shown_notice(notice),
    );
    page(StatusCode::OK, &body, &request.form_target)
}

/// Creates the second page, which asks what the client may use.
pub fn choice(request: &Request<'_>, config: &Config) -> Response {
    let only = config.scopes.len() == 1;
    let scopes: String = config.scopes.iter().map(|scope| scope_line(scope, only)).collect();
    let is_granted = |it: &Capability| config.scopes.iter().any(|scope| scope.grants(*it));
    let granted: Vec<Capability> = Capability::ALL.iter().copied().filter(is_granted).collect();
    let capabilities: String = GROUPS.iter().map(|group| capability_group(group, &granted)).collect();
    let body = if scopes.is_empty() {
        "<h1>There is nothing to allow yet</h1><p>Open a folder first:</p><code class=command>bailiwick setup FOLDER</code><p>Then begin again in the client.</p>".to_owned()
    } else {
        // The first button answers the Enter key on a box to tick. This one does nothing, as the form is in no dialog.
        format!(
            "{header}<h1>What may {client} do on {machine}?</h1>{facts}{warning}{notice}\
             <form method=post action=/oauth/authorize>{hidden}<button formmethod=dialog hidden></button>\
             <fieldset><legend>Where: the scopes that it may use</legend>{scopes}</fieldset>\
             <h2>What it may do there</h2><small>Never more than the scope itself allows.</small>{capabilities}\
             <p class=buttons><button class=main name=answer value=allow>Allow</button><button name=answer value=refuse>Refuse</button></p>\
             <p><small>The login ends when it is not used for 30 days. <code>bailiwick token list</code> shows it, <code>bailiwick log</code> what it does, \
             and <code>bailiwick token revoke</code> ends it at once.</small></p></form>",
            header = header(request, "Step 2 of 2"),
            client = escape(request.client),
            machine = escape(&config.machine_name),
            facts = facts(request),
            warning = warning(request),
            notice = shown_notice(request.notice),
            hidden = hidden(request),
        )
    };
    page(StatusCode::OK, &body, &request.form_target)
}

/// Creates a page that says why there is nothing to answer.
pub fn problem(text: &str) -> Response {
    page(StatusCode::BAD_REQUEST, &format!("<h1>This login cannot continue</h1><p>{}</p>", escape(text)), "")
}

/// Returns the line above a page: whose it is, and how far along.
fn header(request: &Request<'_>, step: &str) -> String {
    format!("<header><span><b>Bailiwick</b> at {}</span><span>{step}</span></header>", escape(request.host))
}

fn facts(request: &Request<'_>) -> String {
    let name =
        if request.is_known { "A known client: its address was checked" } else { "It calls itself so" };
    format!(
        "<dl><dt>Client</dt><dd>{}<small>{name}</small></dd><dt>Sends you back to</dt><dd>{}</dd></dl>",
        escape(request.client),
        escape(&request.goes_to)
    )
}

/// Returns what has to be said about a client that could be anybody.
fn warning(request: &Request<'_>) -> &'static str {
    if request.is_known {
        ""
    } else {
        "<p class=warn>Nobody has checked the name of this client. Continue only if you began this in that client yourself, and the place that you are sent back to is its own.</p>"
    }
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
    let folders: Vec<String> = scope.roots.iter().map(|root| root.to_string_lossy().into_owned()).collect();
    let place = if folders.is_empty() { "The whole computer".to_owned() } else { folders.join(", ") };
    option("scope", &scope.id, only, &scope.id, &place)
}

/// The capabilities as people weigh them: the more they can do harm, the later they come.
const GROUPS: &[(&str, &[Capability])] = &[
    ("Look", &[Capability::FsRead, Capability::SearchRead, Capability::GitRead, Capability::HistoryRead]),
    (
        "See the desktop",
        &[Capability::ScreenCapture, Capability::UiRead, Capability::WindowRead, Capability::ClipboardRead],
    ),
    ("Change", &[Capability::FsWrite, Capability::GitWrite]),
    (
        "Act on the desktop",
        &[
            Capability::UiControl,
            Capability::WindowControl,
            Capability::ClipboardWrite,
            Capability::InputControl,
        ],
    ),
    (
        "Run programs on your computer",
        &[
            Capability::CommandRun,
            Capability::ProcessManage,
            Capability::PackageRun,
            Capability::CodexRun,
            Capability::DisplayManage,
            Capability::AppControl,
        ],
    ),
];

/// Returns the boxes of a group, if there are any.
fn capability_group((title, members): &(&str, &[Capability]), granted: &[Capability]) -> String {
    let lines: String =
        members.iter().copied().filter(|it| granted.contains(it)).map(capability_line).collect();
    if lines.is_empty() { lines } else { format!("<fieldset><legend>{title}</legend>{lines}</fieldset>") }
}

fn capability_line(capability: Capability) -> String {
    let (title, meaning) = described(capability);
    option("capability", &capability.to_string(), true, title, meaning)
}

/// Returns a box to tick.
fn option(name: &str, value: &str, is_checked: bool, title: &str, meaning: &str) -> String {
    let checked = if is_checked { " checked" } else { "" };
    format!(
        "<label class=option><input type=checkbox name={name} value=\"{}\"{checked}><span>{}</span><small>{}</small></label>",
        escape(value),
        escape(title),
        escape(meaning),
    )
}

/// Returns a capability's name for people, and what it means.
fn described(capability: Capability) -> (&'static str, &'static str) {
    match capability {
        Capability::FsRead => ("Read files", "What is in them, and the names of files and folders."),
        Capability::SearchRead => ("Search files", "Find files by name, and lines by what they contain."),
        Capability::FsWrite => {
            ("Create, change and delete files", "Only in the scopes that you choose above.")
        }
        Capability::GitRead => ("Read Git", "The state of repositories, their changes and their history."),
        Capability::GitWrite => ("Stage and commit", "Make commits in repositories of these folders."),
        Capability::CommandRun => {
            ("Run commands", "Such as a compiler or Git, within the rules of the scope.")
        }
        Capability::ProcessManage => {
            ("Start and stop processes", "Programs that keep running, such as a web server for development.")
        }
        Capability::PackageRun => ("Run the project's scripts", "Such as its build and its tests."),
        Capability::CodexRun => ("Run Codex", "Give tasks to the Codex agent, with your login."),
        Capability::ScreenCapture => {
            ("Take pictures of the screen", "Of your whole screen, or of single windows.")
        }
        Capability::UiRead => ("Read windows", "The names and values of buttons, fields and texts in them."),
        Capability::UiControl => {
            ("Use windows", "Press buttons and fill in fields, in any program that is shown.")
        }
        Capability::InputControl => {
            ("Use pointer and keyboard", "Click and type in any program that is shown, while you do not.")
        }
        Capability::WindowRead => ("List windows", "Their titles, and where they are."),
        Capability::WindowControl => ("Arrange windows", "Focus, move, resize and close them."),
        Capability::ClipboardRead => ("Read the clipboard", "Whatever you have copied last."),
        Capability::ClipboardWrite => ("Write the clipboard", "Replace what you have copied."),
        Capability::DisplayManage => {
            ("Make private displays", "For programs that nobody but the client sees, apart from your screen.")
        }
        Capability::AppControl => ("Start programs with windows", "On private displays, in a full sandbox."),
        Capability::HistoryRead => ("Read the history", "What was done in the scope, also by other clients."),
    }
}

fn page(status: StatusCode, body: &str, form_target: &str) -> Response {
    static STYLE_HASH: LazyLock<String> = LazyLock::new(|| STANDARD.encode(Sha256::digest(STYLE)));
    let text = format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width,initial-scale=1\">\
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
    fn every_capability_can_be_chosen_once() {
        let mut listed: Vec<Capability> =
            GROUPS.iter().flat_map(|(_, members)| members.iter().copied()).collect();
        let mut all = Capability::ALL.to_vec();
        listed.sort_unstable();
        all.sort_unstable();
        assert_eq!(listed, all);
    }

    #[test]
    fn nothing_of_a_client_becomes_markup() {
        assert_eq!(escape("<a href=\"x\">'&"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
    }
}
