//! What is asked for, judged and connected to: names before addresses, and the address that was judged, no other.

use std::collections::BTreeSet;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use bailiwick_policy::command::{HostName, HostRefusal, HostRules, allowing_word};

use super::head::BufferedConnection;
use super::usage::{HostCounter, Usage};

/// How long resolving a name may take, and connecting to one of its addresses.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// How long a request or a greeting may take to arrive.
const PATIENCE: Duration = Duration::from_secs(30);
/// How many names are resolved at a time for one command.
const MAX_RESOLVING: usize = 8;
/// How many tickets a command may open: one that tries many hosts floods nobody.
const MAX_TICKETS: usize = 8;
/// How many addresses of a name are tried.
const MAX_ADDRESSES: usize = 8;

/// Finds the addresses of names.
pub trait Resolve: fmt::Debug + Send + Sync {
    /// Returns the addresses of a name, each with the port.
    fn resolve<'a>(&'a self, name: &'a str, port: u16) -> ResolveFuture<'a>;
}

/// The addresses, when they are known.
pub type ResolveFuture<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'a>>;

/// The resolver of the computer.
#[derive(Debug)]
pub(super) struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str, port: u16) -> ResolveFuture<'a> {
        Box::pin(async move { Ok(tokio::net::lookup_host((name, port)).await?.collect()) })
    }
}

/// Asks the user about hosts that no entry names. Reads and writes files.
pub trait AskAboutHosts: fmt::Debug + Send + Sync {
    /// Returns what the user has said, and opens a ticket where nothing was said.
    fn ask(&self, host: &HostName, port: u16) -> HostAnswer;
}

/// What the user has said about a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostAnswer {
    /// It may be reached.
    Approved {
        /// Whether that is for this command alone, so that it is not asked again.
        is_for_command: bool,
    },
    /// It may not.
    Refused,
    /// A ticket of this id waits.
    Waiting(String),
    /// Nobody can be asked.
    Unavailable(String),
}

/// What commands of a scope may reach.
#[derive(Debug, Clone)]
pub struct Egress {
    /// The scope, for the command that allows more.
    pub scope: String,
    /// The hosts.
    pub rules: Arc<HostRules>,
    /// Asks about other hosts; without it they are refused.
    pub asks: Option<Arc<dyn AskAboutHosts>>,
    /// Resolves names.
    pub resolver: Arc<dyn Resolve>,
    /// How long a request or a greeting may take to arrive.
    pub patience: Duration,
}

impl Egress {
    /// Creates it with the resolver of the computer.
    pub fn new(scope: &str, rules: Arc<HostRules>, asks: Option<Arc<dyn AskAboutHosts>>) -> Self {
        Self { scope: scope.to_owned(), rules, asks, resolver: Arc::new(SystemResolver), patience: PATIENCE }
    }
}

/// Where a program wants to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Destination {
    pub(super) host: HostName,
    pub(super) port: u16,
}

impl Destination {
    /// Reads `HOST:PORT`; without a port it is the given one.
    pub(super) fn parse(text: &str, default_port: Option<u16>) -> Option<Self> {
        let split = text.rsplit_once(':').filter(|(host, _)| host.ends_with(']') || !host.contains(':'));
        let (host, port) = match split {
            Some((host, port)) => {
                let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
                (host, is_number.then(|| port.parse().ok()).flatten().filter(|port| *port > 0)?)
            }
            None => (text, default_port?),
        };
        // An IPv6 address has brackets here.
        if host.contains(':') && !host.starts_with('[') {
            return None;
        }
        Some(Self { host: HostName::parse(host)?, port })
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// Why something is not passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// The status for HTTP.
    pub(super) status: u16,
    /// A sentence without a dot at its end.
    pub(super) why: String,
    /// The command that allows it, if one does.
    pub(super) allow: Option<String>,
    /// The ticket that waits for an answer about it.
    pub(super) ticket: Option<String>,
}

impl Refusal {
    /// Refuses what cannot be read, or could be read in two ways.
    pub(super) fn malformed(why: &str) -> Self {
        Self { status: 400, why: why.to_owned(), allow: None, ticket: None }
    }

    /// Refuses what is never permitted.
    pub(super) fn forbidden(why: String) -> Self {
        Self { status: 403, why, allow: None, ticket: None }
    }

    fn unreachable(why: String) -> Self {
        Self { status: 502, why, allow: None, ticket: None }
    }

    /// Returns what a program shows.
    pub(super) fn text(&self) -> String {
        let mut text = format!("Bailiwick: {}.\n", self.why);
        if let Some(ticket) = &self.ticket {
            text.push_str(&format!(
                "For the user: `bailiwick approve {ticket}` answers it; once it is approved, the next try succeeds.\n"
            ));
        }
        text.extend(self.allow.as_ref().map(|command| format!("For the user: `{command}` allows it.\n")));
        text
    }
}

/// A connection to a host that may be reached.
#[derive(Debug)]
pub(super) struct HostConnection {
    pub(super) connection: BufferedConnection<TcpStream>,
    pub(super) counter: Arc<HostCounter>,
    pub(super) destination: Destination,
    /// Whether a request was answered over it, so that the host may end it at any time.
    pub(super) is_used: bool,
}

/// Judges and connects.
#[derive(Debug)]
pub(super) struct Gate {
    egress: Egress,
    pub(super) usage: Arc<Usage>,
    /// The resolver of a computer waits on threads that others need too.
    resolving: Semaphore,
    asked: Mutex<AskedHosts>,
}

/// What was asked about hosts for this command.
#[derive(Debug, Default)]
struct AskedHosts {
    approved: BTreeSet<(HostName, u16)>,
    tickets: BTreeSet<(HostName, u16)>,
}

impl Gate {
    pub(super) fn new(egress: Egress, usage: Arc<Usage>) -> Self {
        Self { egress, usage, resolving: Semaphore::new(MAX_RESOLVING), asked: Mutex::default() }
    }

    pub(super) fn patience(&self) -> Duration {
        self.egress.patience
    }

    /// Judges a destination by its name, and asks the user where the scope asks.
    pub(super) async fn judge(&self, destination: &Destination) -> Result<(), Refusal> {
        match self.egress.rules.judge(&destination.host, destination.port) {
            Ok(()) => Ok(()),
            Err(refused) => self.ask(destination, self.refusal(destination, &refused)).await,
        }
    }

    /// Connects to a destination if it is allowed.
    pub(super) async fn connect(&self, destination: &Destination) -> Result<HostConnection, Refusal> {
        let Destination { host, port } = destination;
        self.judge(destination).await?;
        let addresses = match host {
            HostName::Address(address) => vec![SocketAddr::new(*address, *port)],
            HostName::Name(name) => self.resolve(name, destination).await?,
        };
        let mut last = format!("`{host}` has no address");
        for address in addresses.iter().take(MAX_ADDRESSES) {
            match tokio::time::timeout(MAX_WAIT, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    let _ = stream.set_nodelay(true);
                    return Ok(HostConnection {
                        connection: BufferedConnection::new(stream, self.patience()),
                        counter: self.usage.connect(destination),
                        destination: destination.clone(),
                        is_used: false,
                    });
                }
                Ok(Err(error)) => last = format!("`{destination}` cannot be reached: {error}"),
                Err(_) => last = format!("`{destination}` does not answer"),
            }
        }
        Err(Refusal::unreachable(last))
    }

    /// Asks the user about a host that no entry names.
    async fn ask(&self, destination: &Destination, refusal: Refusal) -> Result<(), Refusal> {
        let Some(asks) = &self.egress.asks else { return Err(refusal) };
        let place = (destination.host.clone(), destination.port);
        // An approval opens no address that is not public: entries do.
        if let HostName::Address(address) = place.0 {
            let own = is_own(address);
            self.egress
                .rules
                .judge_address(address, place.1, own)
                .map_err(|it| self.refusal(destination, &it))?;
        }
        {
            let mut asked = self.asked();
            if asked.approved.contains(&place) {
                return Ok(());
            }
            // It has its place before anyone is asked: others may ask at the same time.
            if !asked.tickets.contains(&place) && asked.tickets.len() >= MAX_TICKETS {
                return Err(refusal);
            }
            asked.tickets.insert(place.clone());
        }
        let (asks, (host, port)) = (Arc::clone(asks), place.clone());
        let answer = tokio::task::spawn_blocking(move || asks.ask(&host, port)).await;
        let answer = answer.unwrap_or_else(|error| HostAnswer::Unavailable(error.to_string()));
        if !matches!(answer, HostAnswer::Waiting(_)) {
            self.asked().tickets.remove(&place);
        }
        match answer {
            HostAnswer::Approved { is_for_command } => {
                if is_for_command {
                    self.asked().approved.insert(place);
                }
                Ok(())
            }
            HostAnswer::Refused => Err(Refusal {
                allow: None,
                ..Refusal::forbidden(format!("the user has refused `{destination}`"))
            }),
            HostAnswer::Waiting(ticket) => {
                let why = format!("{}, and needs approval", refusal.why);
                Err(Refusal { why, ticket: Some(ticket), ..refusal })
            }
            HostAnswer::Unavailable(why) => {
                Err(Refusal { why: format!("{}; nobody can be asked: {why}", refusal.why), ..refusal })
            }
        }
    }

    fn asked(&self) -> MutexGuard<'_, AskedHosts> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the addresses of a name that may be connected to.
    async fn resolve(&self, name: &str, destination: &Destination) -> Result<Vec<SocketAddr>, Refusal> {
        let _turn = self.resolving.acquire().await;
        let resolving = self.egress.resolver.resolve(name, destination.port);
        let found = match tokio::time::timeout(MAX_WAIT, resolving).await {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => {
                return Err(Refusal::unreachable(format!("`{name}` cannot be resolved: {error}")));
            }
            Err(_) => return Err(Refusal::unreachable(format!("`{name}` is not resolved in time"))),
        };
        let (mut allowed, mut refused) = (Vec::new(), None);
        for found in found {
            // The port is the one that was judged, whatever a resolver says.
            let address = SocketAddr::new(found.ip().to_canonical(), destination.port);
            match self.egress.rules.judge_address(address.ip(), address.port(), is_own(address.ip())) {
                Ok(()) => allowed.push(address),
                Err(refusal) => refused = Some(refusal),
            }
        }
        match refused {
            Some(refusal) if allowed.is_empty() => Err(self.refusal(destination, &refusal)),
            Some(_) | None => Ok(allowed),
        }
    }

    fn refusal(&self, destination: &Destination, refused: &HostRefusal) -> Refusal {
        let (Egress { scope, .. }, Destination { host, port }) = (&self.egress, destination);
        let (why, word) = match refused {
            HostRefusal::Host => (
                format!("`{destination}` is not among the hosts that scope `{scope}` allows"),
                allowing_word(host, *port),
            ),
            HostRefusal::Port => (
                format!("scope `{scope}` allows `{host}`, but not its port {port}"),
                allowing_word(host, *port),
            ),
            HostRefusal::Address(address, kind) => (
                format!("`{host}` leads to {address}, {kind}, which scope `{scope}` does not name"),
                allowing_word(&HostName::Address(*address), *port),
            ),
        };
        let allow = format!("bailiwick scope allow {scope} --host '{word}'");
        Refusal { allow: Some(allow), ..Refusal::forbidden(why) }
    }
}

/// Returns whether an address is one of this computer: only on those can a socket be opened.
fn is_own(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}
