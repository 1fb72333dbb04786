//! A small HTTP client, the only one: for the question whether a URL leads to this computer, and for models that the user
//! configured. Each request has a connection of its own, so that a failure has one place: the name, the connection, its
//! encryption, or the answer.
//!
//! `HTTPS_PROXY` and `NO_PROXY` are honoured, unless the client is made direct. Redirects are not followed: anyone who asks decides.

use std::env;
use std::fmt;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::header::{CONNECTION, HOST};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, lookup_host};
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// The largest answer that is read.
const MAX_ANSWER_BYTES: usize = 4 << 20;
/// The largest answer of a proxy to a request to connect.
const MAX_PROXY_HEAD_BYTES: usize = 8 << 10;

/// Where a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NetworkHop {
    /// The name has no address.
    Dns,
    /// Nothing listens there, or a proxy on the way refuses.
    Connect,
    /// The connection cannot be encrypted, or the certificate is not trusted.
    Tls,
    /// No answer that is HTTP.
    Http,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkError {
    /// Where.
    pub hop: NetworkHop,
    /// What was seen, in words.
    pub problem: String,
}

impl NetworkError {
    fn new(hop: NetworkHop, problem: impl fmt::Display) -> Self {
        Self { hop, problem: problem.to_string() }
    }
}

/// An `http` or `https` URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpUrl {
    /// Whether it is `https`.
    pub is_https: bool,
    /// The host, without the brackets of an IPv6 address.
    pub host: String,
    /// The port, also where it is the usual one.
    pub port: u16,
    /// Path and query.
    pub path: String,
}

impl HttpUrl {
    /// Reads a URL.
    ///
    /// # Errors
    /// Why it is none, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let uri: Uri = text.parse().map_err(|_| "it is not a URL".to_owned())?;
        let is_https = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err("it does not begin with https:// or http://".to_owned()),
        };
        let authority = uri.authority().ok_or("it has no host")?;
        if authority.as_str().contains('@') || authority.host().is_empty() {
            return Err("its host is not a name or an address".to_owned());
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = authority.port_u16().unwrap_or(if is_https { 443 } else { 80 });
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        Ok(Self { is_https, host, port, path })
    }

    /// Returns the same place with another path.
    #[must_use]
    pub fn with_path(&self, path: &str) -> Self {
        Self { path: path.to_owned(), ..self.clone() }
    }

    /// Returns scheme, host and port, without a slash at the end.
    pub fn origin(&self) -> String {
        format!("{}://{}", if self.is_https { "https" } else { "http" }, self.authority())
    }

    /// Returns whether only this computer is meant.
    pub fn is_loopback(&self) -> bool {
        self.host == "localhost"
            || self.host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        let usual = if self.is_https { 443 } else { 80 };
        if self.port == usual { host } else { format!("{host}:{}", self.port) }
    }
}

impl fmt::Display for HttpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin(), self.path)
    }
}

/// An answer.
#[derive(Debug)]
pub struct HttpReply {
    /// The status.
    pub status: u16,
    headers: HeaderMap,
    /// The body, as text.
    pub body: String,
}

impl HttpReply {
    /// Returns a header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// What is sent.
#[derive(Debug, Clone)]
pub struct HttpRequest<'r> {
    /// The method.
    pub method: Method,
    /// Where to.
    pub url: &'r HttpUrl,
    /// Headers; `Host` and `Connection` are added.
    pub headers: Vec<(&'r str, String)>,
    /// The body.
    pub body: String,
}

impl<'r> HttpRequest<'r> {
    /// Creates a `GET`.
    pub fn get(url: &'r HttpUrl) -> Self {
        Self { method: Method::GET, url, headers: Vec::new(), body: String::new() }
    }

    /// Creates a `POST` of a JSON text.
    pub fn post(url: &'r HttpUrl, body: String) -> Self {
        let headers = vec![("content-type", "application/json".to_owned())];
        Self { method: Method::POST, url, headers, body }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &'r str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// The client.
pub struct HttpClient {
    tls: OnceLock<Result<TlsConnector, String>>,
    proxy: Option<HttpUrl>,
    without_proxy: Vec<String>,
    timeout: Duration,
    max_answer_bytes: usize,
}

impl HttpClient {
    /// Creates a client that goes through the proxy that the environment names, if it names one.
    pub fn new(timeout: Duration) -> Self {
        let set = |name: &str| {
            let value = env::var(name).or_else(|_| env::var(name.to_lowercase()));
            value.ok().filter(|value| !value.is_empty())
        };
        let without = set("NO_PROXY").unwrap_or_default();
        Self {
            tls: OnceLock::new(),
            proxy: set("HTTPS_PROXY").and_then(|url| HttpUrl::parse(&url).ok()).filter(|url| !url.is_https),
            without_proxy: without.split(',').map(|name| name.trim().to_ascii_lowercase()).collect(),
            timeout,
            max_answer_bytes: MAX_ANSWER_BYTES,
        }
    }

    /// Creates a client that goes through no proxy, whatever the environment says, and reads answers up to a size.
    pub fn direct(timeout: Duration, max_answer_bytes: usize) -> Self {
        Self { tls: OnceLock::new(), proxy: None, without_proxy: Vec::new(), timeout, max_answer_bytes }
    }

    /// Returns the proxy by which a URL is reached.
    pub fn proxy_for(&self, url: &HttpUrl) -> Option<&HttpUrl> {
        let is_left_out = |name: &String| {
            let name = name.trim_start_matches('.');
            name == "*" || !name.is_empty() && (url.host == name || url.host.ends_with(&format!(".{name}")))
        };
        let goes_direct = !url.is_https || url.is_loopback() || self.without_proxy.iter().any(is_left_out);
        self.proxy.as_ref().filter(|_| !goes_direct)
    }

    /// Sends a request and reads its answer to the end.
    ///
    /// # Errors
    /// Where there is no answer, and why.
    pub async fn send(&self, request: HttpRequest<'_>) -> Result<HttpReply, NetworkError> {
        let url = request.url;
        let stream = self.within(NetworkHop::Connect, self.connect(url)).await?;
        if !url.is_https {
            return self.within(NetworkHop::Http, exchange(stream, request, self.max_answer_bytes)).await;
        }
        let connector = self.tls.get_or_init(connector).as_ref();
        let connector = connector.map_err(|problem| NetworkError::new(NetworkHop::Tls, problem))?;
        let name = ServerName::try_from(url.host.clone())
            .map_err(|_| NetworkError::new(NetworkHop::Tls, "no certificate can name this host"))?;
        let encrypted = async {
            connector.connect(name, stream).await.map_err(|error| NetworkError::new(NetworkHop::Tls, error))
        };
        let stream = self.within(NetworkHop::Tls, encrypted).await?;
        self.within(NetworkHop::Http, exchange(stream, request, self.max_answer_bytes)).await
    }

    async fn within<T>(
        &self,
        hop: NetworkHop,
        work: impl Future<Output = Result<T, NetworkError>>,
    ) -> Result<T, NetworkError> {
        tokio::time::timeout(self.timeout, work).await.unwrap_or_else(|_| {
            Err(NetworkError::new(hop, format!("nothing came within {} s", self.timeout.as_secs_f32())))
        })
    }

    async fn connect(&self, url: &HttpUrl) -> Result<TcpStream, NetworkError> {
        let Some(proxy) = self.proxy_for(url) else { return connect(url).await };
        let failed = |error: std::io::Error| {
            NetworkError::new(NetworkHop::Connect, format!("the proxy {proxy}: {error}"))
        };
        let mut stream = connect(proxy).await.map_err(|error| {
            NetworkError::new(NetworkHop::Connect, format!("the proxy {proxy}: {}", error.problem))
        })?;
        let place = format!("{}:{}", url.host, url.port);
        let head = format!("CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.map_err(failed)?;
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            let byte = stream.read_u8().await.map_err(failed)?;
            answer.push(byte);
            if answer.len() > MAX_PROXY_HEAD_BYTES {
                return Err(NetworkError::new(NetworkHop::Connect, format!("the proxy {proxy} is none")));
            }
        }
        let answer = String::from_utf8_lossy(&answer);
        let status = answer.lines().next().unwrap_or_default();
        if status.split(' ').nth(1).is_some_and(|code| code.starts_with('2')) {
            return Ok(stream);
        }
        Err(NetworkError::new(NetworkHop::Connect, format!("the proxy {proxy} answers `{status}`")))
    }
}

/// Finds the addresses of a URL's host: for a name of this computer only such as are of it.
async fn addresses(url: &HttpUrl) -> Result<Vec<SocketAddr>, NetworkError> {
    let all = lookup_host((url.host.as_str(), url.port)).await;
    let all = all.map_err(|error| NetworkError::new(NetworkHop::Dns, error))?;
    Ok(all.filter(|it| !url.is_loopback() || it.ip().is_loopback()).collect())
}

async fn connect(url: &HttpUrl) -> Result<TcpStream, NetworkError> {
    let mut problem = NetworkError::new(NetworkHop::Dns, "the name has no address");
    for address in addresses(url).await? {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => problem = NetworkError::new(NetworkHop::Connect, format!("{address}: {error}")),
        }
    }
    Err(problem)
}

/// Makes what encrypts, with the certificates that this computer trusts.
fn connector() -> Result<TlsConnector, String> {
    let mut roots = RootCertStore::empty();
    // Some that cannot be read leave others.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err("this computer has no list of trusted certificates".to_owned());
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: HttpRequest<'_>,
    max_answer_bytes: usize,
) -> Result<HttpReply, NetworkError> {
    let failed = |error: hyper::Error| NetworkError::new(NetworkHop::Http, error);
    let unusable = |_| NetworkError::new(NetworkHop::Http, "a header cannot be sent");
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
    // It ends with the exchange, also with one that is not waited for; the answer says what went wrong.
    let mut running = JoinSet::new();
    running.spawn(async move { drop(connection.await) });
    let mut built = Request::new(request.body);
    *built.method_mut() = request.method;
    *built.uri_mut() = request
        .url
        .path
        .parse()
        .map_err(|_| NetworkError::new(NetworkHop::Http, "the path cannot be sent"))?;
    let headers = built.headers_mut();
    headers.insert(HOST, HeaderValue::from_str(&request.url.authority()).map_err(unusable)?);
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    for (name, value) in request.headers {
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| NetworkError::new(NetworkHop::Http, "a header cannot be sent"))?;
        headers.insert(name, HeaderValue::from_str(&value).map_err(unusable)?);
    }
    let response = sender.send_request(built).await.map_err(failed)?;
    let (head, body) = response.into_parts();
    let body = whole(body, max_answer_bytes).await?;
    Ok(HttpReply {
        status: head.status.as_u16(),
        headers: head.headers,
        body: String::from_utf8_lossy(&body).into_owned(),
    })
}

/// Reads a body to its end.
async fn whole(mut body: Incoming, most: usize) -> Result<Vec<u8>, NetworkError> {
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|task| Pin::new(&mut body).poll_frame(task)).await {
        let frame = frame.map_err(|error| NetworkError::new(NetworkHop::Http, error))?;
        let Ok(data) = frame.into_data() else { continue };
        if data.len() > most - bytes.len() {
            return Err(NetworkError::new(
                NetworkHop::Http,
                format!("the answer is larger than {most} bytes"),
            ));
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_have_scheme_host_and_port_and_nothing_that_hides_them() {
        let url = HttpUrl::parse("https://bw.example/mcp?x=1").expect("a URL");
        assert_eq!((url.is_https, url.host.as_str(), url.port), (true, "bw.example", 443));
        assert_eq!((url.path.as_str(), url.origin().as_str()), ("/mcp?x=1", "https://bw.example"));
        let url = HttpUrl::parse("http://[::1]:3939").expect("a URL");
        assert_eq!((url.host.as_str(), url.origin().as_str()), ("::1", "http://[::1]:3939"));
        assert!(url.is_loopback() && url.path == "/");
        for wrong in ["", "bw.example", "ftp://bw.example", "https://", "https://a@b.example/", "https:// x"]
        {
            assert!(HttpUrl::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[tokio::test]
    async fn a_direct_client_has_no_proxy_and_loopback_is_loopback() {
        let client = HttpClient::direct(Duration::from_secs(60), 1_000);
        assert!(client.proxy.is_none());
        for (url, is_loopback) in [
            ("http://127.0.0.1:1/", true),
            ("http://[::1]:1/", true),
            ("http://localhost:1/", true),
            ("http://localhost.example/", false),
            ("http://127.0.0.1.example/", false),
            ("http://0.0.0.0:1/", false),
        ] {
            assert_eq!(HttpUrl::parse(url).expect("a URL").is_loopback(), is_loopback, "{url}");
        }
        let url = HttpUrl::parse("http://localhost:1/").expect("a URL");
        for address in addresses(&url).await.expect("it has addresses") {
            assert!(address.ip().is_loopback(), "{address}");
        }
    }

    #[test]
    fn a_proxy_is_for_encrypted_connections_beyond_this_computer() {
        let client = HttpClient {
            proxy: Some(HttpUrl::parse("http://proxy.example:8080").expect("a URL")),
            without_proxy: vec!["inside.example".to_owned(), ".lan".to_owned()],
            ..HttpClient::new(Duration::from_secs(1))
        };
        let goes = |url: &str| client.proxy_for(&HttpUrl::parse(url).expect("a URL")).is_some();
        assert!(goes("https://bw.example/") && goes("https://notinside.example/"));
        for direct in [
            "http://bw.example/",
            "https://localhost/",
            "https://127.0.0.1:1/",
            "https://inside.example/",
            "https://a.inside.example/",
            "https://nas.lan/",
        ] {
            assert!(!goes(direct), "{direct}");
        }
    }
}
