//! One request that needs approval, as a page for one browser of the same network: behind a link that nobody can guess, which
//! works once and for a few minutes.
//!
//! It serves nothing else, and knows no token of a client: what has one gets nothing for it. The connection is not encrypted, so the page
//! has nothing that `bailiwick approve` would not show, and no answer but yes and no.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use http::header::{COOKIE, HOST, HeaderMap, HeaderValue, ORIGIN, SET_COOKIE};
use http::{Method, StatusCode};
use subtle::ConstantTimeEq;
use tokio::net::TcpListener;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use bailiwick_contract::{ErrorCode, Failure, hex};

use super::guard::Peer;
use super::host::Hosts;
use super::html::{escape, page};
use super::listener::accept;
use super::login::Form;
use super::reply::harden;
use super::threads::ConnectionHandles;

/// How many requests for something else than the link, or with a wrong proof, close the form.
const MAX_WRONG: u32 = 20;
/// The cookie of the browser that has opened the link.
const COOKIE_NAME: &str = "bailiwick-approval";
const SCHEME: &str = "http://";
const TITLE: &str = "Bailiwick: approval";
/// What browsers ask for on their own.
const ICONS: &[&str] = &["/favicon.ico", "/apple-touch-icon.png", "/apple-touch-icon-precomposed.png"];

/// What is asked, and what becomes of the answer.
pub struct FormQuestion {
    /// Returns what is shown of the request at this moment, and what an approval means, such as `approved once`; `None` as long as it
    /// cannot be approved.
    pub shown: Box<dyn Fn() -> (String, Option<String>) + Send + Sync>,
    /// Approves or refuses for a browser at an address, and returns what was done in words.
    pub decide: Box<dyn Fn(bool, IpAddr) -> Result<String, Failure> + Send + Sync>,
}

/// What happens at the form.
#[derive(Debug)]
pub enum FormEvent {
    /// A browser has opened the link; no other can any more.
    Opened(IpAddr),
    /// It was answered from there.
    Answered(IpAddr, bool, Result<String, Failure>),
    /// Too much was asked for that is not here.
    Closed,
}

/// The form, bound to an address.
pub struct ApprovalForm {
    listener: TcpListener,
    state: Arc<FormState>,
}

/// Closes a form while it is served.
pub struct FormHandle(Arc<FormState>);

impl FormHandle {
    /// Takes no answer any more. Returns whether one was taken before, of which is heard when it is written down.
    pub fn close(&self) -> bool {
        let mut stage = self.0.stage();
        if stage.0 != Stage::Answered {
            stage.0 = Stage::Closed;
        }
        stage.0 == Stage::Answered
    }
}

struct FormState {
    address: SocketAddr,
    /// The path of the link, with the slash.
    path: String,
    question: FormQuestion,
    stage: Mutex<(Stage, u32)>,
    events: UnboundedSender<FormEvent>,
}

/// How far the form is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    /// Nobody has opened it.
    Unopened,
    /// A browser with this cookie has, whose page has this number.
    Opened { cookie: String, number: String },
    /// Its answer was taken.
    Answered,
    /// It was closed without one.
    Closed,
}

impl ApprovalForm {
    /// Checks that an address is of a local network.
    ///
    /// # Errors
    /// `invalid_request` for one that the whole internet could reach, or that is no single address.
    pub fn check(address: SocketAddr) -> Result<(), Failure> {
        if is_local(address.ip()) {
            return Ok(());
        }
        let ip = address.ip();
        let why = format!("`{ip}` is not an address of this computer in a local network");
        Err(Failure::invalid("--phone", why)
            .hint("Use one address, such as 192.168.1.20, by which the phone reaches this computer."))
    }

    /// Binds the form to an address of a local network, and makes its link.
    ///
    /// # Errors
    /// As [`Self::check`]; `provider_unavailable` if it cannot be bound.
    pub async fn bind(
        address: SocketAddr,
        question: FormQuestion,
        events: UnboundedSender<FormEvent>,
    ) -> Result<Self, Failure> {
        Self::check(address)?;
        let unavailable = |error: &dyn std::fmt::Display| {
            Failure::new(ErrorCode::ProviderUnavailable, format!("cannot listen on {address}: {error}"))
        };
        let listener = TcpListener::bind(address).await.map_err(|error| {
            unavailable(&error).hint("Name an address that this computer has, and a port that is free.")
        })?;
        let address = listener.local_addr().map_err(|error| unavailable(&error))?;
        let path = format!("/{}", random().map_err(|error| unavailable(&error))?);
        let stage = Mutex::new((Stage::Unopened, 0));
        Ok(Self { listener, state: Arc::new(FormState { address, path, question, stage, events }) })
    }

    /// Returns what closes the form.
    pub fn handle(&self) -> FormHandle {
        FormHandle(Arc::clone(&self.state))
    }

    /// Returns the link.
    pub fn link(&self) -> String {
        format!("{}{}", self.state.origin(), self.state.path)
    }

    /// Serves the form until `shutdown` is cancelled.
    pub async fn serve(self, shutdown: CancellationToken) {
        let router = Router::new().fallback(handle).with_state(self.state);
        accept(self.listener, router, None, ConnectionHandles::default(), shutdown).await;
    }
}

async fn handle(State(form): State<Arc<FormState>>, request: Request) -> Response {
    let mut response = form.answer(request).await;
    harden(response.headers_mut());
    response
}

impl FormState {
    async fn answer(self: &Arc<Self>, request: Request) -> Response {
        let from = request.extensions().get::<Peer>().map(|peer| peer.address.to_canonical());
        let Some(from) = from.filter(|from| may_answer(self.address.ip(), *from)) else {
            return problem(StatusCode::FORBIDDEN, "This form is for other devices of the local network.");
        };
        if !self.is_for_this(request.headers()) {
            return problem(
                StatusCode::MISDIRECTED_REQUEST,
                "This form answers under its own address alone.",
            );
        }
        let path = request.uri().path();
        if !bool::from(path.as_bytes().ct_eq(self.path.as_bytes())) || request.uri().query().is_some() {
            if !ICONS.contains(&path) {
                self.count_wrong();
            }
            return problem(StatusCode::NOT_FOUND, "There is nothing here.");
        }
        match *request.method() {
            Method::GET => self.open(from, request.headers()),
            Method::POST => self.decide(from, request).await,
            _ => problem(StatusCode::METHOD_NOT_ALLOWED, "There is nothing here."),
        }
    }

    /// Returns the origin of the page, as browsers write it.
    fn origin(&self) -> String {
        let address = self.address.to_string();
        format!("{SCHEME}{}", address.strip_suffix(":80").unwrap_or(&address))
    }

    /// Returns whether a request names the form by its own address, which no name that is rebound does, and was passed on by nobody.
    fn is_for_this(&self, headers: &HeaderMap) -> bool {
        let origin = self.origin();
        let own = origin.trim_start_matches(SCHEME);
        let mut hosts = headers.get_all(HOST).iter();
        let is_own = |value: &HeaderValue| value.as_bytes() == own.as_bytes();
        hosts.next().is_some_and(is_own) && hosts.next().is_none() && !Hosts::is_passed_on(headers)
    }

    /// Shows the page, to the first browser that opens it.
    fn open(&self, from: IpAddr, headers: &HeaderMap) -> Response {
        let (cookie, number, is_first) = {
            let mut stage = self.stage();
            match stage.0.clone() {
                Stage::Answered | Stage::Closed => return over(),
                Stage::Opened { cookie, number } if has_cookie(headers, &cookie) => (cookie, number, false),
                Stage::Opened { .. } => {
                    return problem(
                        StatusCode::GONE,
                        "This link was opened in another browser already. If that was not you, refuse the request at the computer.",
                    );
                }
                Stage::Unopened => {
                    let (Ok(cookie), Ok(number)) = (random(), random()) else {
                        return problem(StatusCode::SERVICE_UNAVAILABLE, "The system gives no random bytes.");
                    };
                    stage.0 = Stage::Opened { cookie: cookie.clone(), number: number.clone() };
                    (cookie, number, true)
                }
            }
        };
        let (shown, yes) = (self.question.shown)();
        let (button, meaning) = match yes {
            Some(yes) => (
                "<button class=main name=answer value=yes>Approve</button>",
                format!("Approve: it is {}.", escape(&yes)),
            ),
            None => ("", "The preview has not ended. Reload this page to approve it.".to_owned()),
        };
        let body = format!(
            "<header><b>Bailiwick</b><span>at {address}</span></header><h1>A client asks for approval</h1><pre>{shown}</pre>\
             <form method=post><input type=hidden name=number value={number}>\
             <p class=buttons>{button}<button name=answer value=no>Refuse</button></p>\
             <p><small>{meaning} The connection is not encrypted.</small></p></form>",
            address = escape(&self.address.to_string()),
            shown = escape(shown.trim()),
        );
        let mut response = page(StatusCode::OK, TITLE, &body, "");
        if is_first {
            let value = format!("{COOKIE_NAME}={cookie}; Path=/; HttpOnly; SameSite=Strict");
            response
                .headers_mut()
                .insert(SET_COOKIE, HeaderValue::from_str(&value).expect("a cookie is ASCII"));
            self.tell(FormEvent::Opened(from));
        }
        response
    }

    /// Takes the one answer of the browser that has the page.
    async fn decide(self: &Arc<Self>, from: IpAddr, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        let form = Form::read(&parts.headers, body).await.unwrap_or_default();
        let answer = match form.get("answer") {
            Some("yes") => Some(true),
            Some("no") => Some(false),
            _ => None,
        };
        let origin = self.origin();
        let is_own = parts.headers.get_all(ORIGIN).iter().all(|it| it.as_bytes() == origin.as_bytes());
        let taken = {
            let mut stage = self.stage();
            match &stage.0 {
                Stage::Answered | Stage::Closed => return over(),
                Stage::Opened { cookie, number } => {
                    let has_number = form.get("number").is_some_and(|it| is_same(it, number));
                    let is_proven = is_own && has_number && has_cookie(&parts.headers, cookie);
                    let answer = answer.filter(|_| is_proven);
                    if answer.is_some() {
                        // Before anything is decided, so that nothing is decided twice.
                        stage.0 = Stage::Answered;
                    }
                    answer
                }
                Stage::Unopened => None,
            }
        };
        let Some(yes) = taken else {
            self.count_wrong();
            return problem(StatusCode::FORBIDDEN, "This is not an answer of the page.");
        };
        let form = Arc::clone(self);
        // It is written down, and heard of, whatever becomes of the connection.
        let done = spawn_blocking(move || {
            let done = (form.question.decide)(yes, from);
            let shown = match &done {
                Ok(words) => (StatusCode::OK, words.trim().to_owned()),
                Err(failure) => (StatusCode::CONFLICT, failure.message.clone()),
            };
            form.tell(FormEvent::Answered(from, yes, done));
            shown
        });
        let (status, words) = done.await.unwrap_or_else(|_| {
            (StatusCode::INTERNAL_SERVER_ERROR, "The answer could not be written down.".to_owned())
        });
        page(status, TITLE, &format!("<h1>{}</h1><p>You can close this page.</p>", escape(&words)), "")
    }

    /// Counts what nobody asks for who has the link. Too much of it closes the form.
    fn count_wrong(&self) {
        let mut stage = self.stage();
        stage.1 += 1;
        if stage.1 >= MAX_WRONG && !matches!(stage.0, Stage::Answered | Stage::Closed) {
            stage.0 = Stage::Closed;
            self.tell(FormEvent::Closed);
        }
    }

    fn tell(&self, event: FormEvent) {
        // Where nobody listens any more, the form ends.
        let _ = self.events.send(event);
    }

    fn stage(&self) -> MutexGuard<'_, (Stage, u32)> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn over() -> Response {
    problem(StatusCode::GONE, "This link was used, or was closed.")
}

fn problem(status: StatusCode, words: &str) -> Response {
    page(status, TITLE, &format!("<h1>{}</h1>", escape(words)), "")
}

/// Returns whether a request has a cookie.
fn has_cookie(headers: &HeaderMap, cookie: &str) -> bool {
    let texts = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = texts.flat_map(|text| text.split(';')).filter_map(|it| it.trim().split_once('='));
    pairs.any(|(name, value)| name == COOKIE_NAME && is_same(value, cookie))
}

fn is_same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

/// Returns 128 random bits in hexadecimal.
fn random() -> Result<String, getrandom::Error> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes)?;
    Ok(hex(&bytes))
}

/// Returns whether another address may answer at one of this computer. This computer itself may by its loopback alone: a client that
/// has seen the link on the screen may be able to send what it likes from here.
fn may_answer(own: IpAddr, from: IpAddr) -> bool {
    is_local(from)
        && from.is_loopback() == own.is_loopback()
        && (from != own.to_canonical() || own.is_loopback())
}

/// Returns whether an address is one of this computer or of a local network.
///
/// # Source
/// RFC 1918, RFC 3927, RFC 6598 (which VPNs between devices use, too), RFC 4193.
fn is_local(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(it) => {
            let [first, second, ..] = it.octets();
            let is_shared = first == 100 && (64..128).contains(&second);
            it.is_loopback() || it.is_private() || it.is_link_local() || is_shared
        }
        IpAddr::V6(it) => it.is_loopback() || it.is_unique_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_local_networks_are_taken() {
        for address in
            ["127.0.0.1", "10.1.2.3", "192.168.1.20", "172.16.0.1", "100.64.0.1", "169.254.1.1", "fd00::1"]
        {
            assert!(is_local(address.parse().expect("an address")), "{address}");
        }
        for address in [
            "0.0.0.0",
            "::",
            "8.8.8.8",
            "172.32.0.1",
            "100.128.0.1",
            "2001:db8::1",
            "224.0.0.1",
            "::ffff:8.8.8.8",
        ] {
            assert!(!is_local(address.parse().expect("an address")), "{address}");
        }
    }

    #[test]
    fn only_other_computers_of_local_networks_are_answered() {
        let may = |own: &str, from: &str| {
            may_answer(own.parse().expect("an address"), from.parse().expect("an address"))
        };
        assert!(may("192.168.1.20", "192.168.1.31") && may("127.0.0.1", "127.0.0.1"));
        for (own, from) in [
            ("192.168.1.20", "192.168.1.20"),
            ("192.168.1.20", "127.0.0.1"),
            ("192.168.1.20", "8.8.8.8"),
            ("127.0.0.1", "192.168.1.31"),
        ] {
            assert!(!may(own, from), "{own} {from}");
        }
    }
}
