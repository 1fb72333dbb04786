//! The pages of a login: plain HTML without scripts, and nothing from elsewhere.

use axum::response::Response;
use http::StatusCode;

use bailiwick_config::{Config, ScopeConfig};
use bailiwick_contract::Capability;

use super::super::html::{self, escape};

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
        &[
            Capability::ScreenCapture,
            Capability::UiRead,
            Capability::WindowRead,
            Capability::ClipboardRead,
            Capability::SystemRead,
        ],
    ),
    ("Change", &[Capability::FsWrite, Capability::GitWrite]),
    (
        "Act on the desktop",
        &[
            Capability::UiControl,
            Capability::WindowControl,
            Capability::ClipboardWrite,
            Capability::InputControl,
            Capability::NotifySend,
            Capability::SystemControl,
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
    ("Send to others", &[Capability::ScreenGround]),
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
        Capability::ScreenGround => {
            ("Ask a vision model", "Send pictures of the screen to the service that you configured.")
        }
        Capability::UiRead => ("Read windows", "The names and values of buttons, fields and texts in them."),
        Capability::UiControl => {
            ("Use windows", "Press buttons and fill in fields, in any program that is shown.")
        }
        Capability::InputControl => {
            ("Use pointer and keyboard", "Click and type in any program that is shown, while you do not.")
        }
        Capability::WindowRead => ("List windows", "Their titles, and where they are."),
        Capability::WindowControl => {
            ("Arrange windows", "Focus, move, resize and close them, and switch workspaces.")
        }
        Capability::ClipboardRead => ("Read the clipboard", "Whatever you have copied last."),
        Capability::ClipboardWrite => ("Write the clipboard", "Replace what you have copied."),
        Capability::DisplayManage => {
            ("Make private displays", "For programs that nobody but the client sees, apart from your screen.")
        }
        Capability::AppControl => ("Start programs with windows", "On private displays, in a full sandbox."),
        Capability::NotifySend => ("Show messages", "On your desktop, marked as the client's."),
        Capability::SystemRead => (
            "Read the state of the computer",
            "Battery, time, brightness, volume, and how long you have been away.",
        ),
        Capability::SystemControl => ("Set brightness and volume", "Of your screen and your speakers."),
        Capability::HistoryRead => ("Read the history", "What was done in the scope, also by other clients."),
    }
}

fn page(status: StatusCode, body: &str, form_target: &str) -> Response {
    html::page(status, "Log in to Bailiwick", body, form_target)
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
}
