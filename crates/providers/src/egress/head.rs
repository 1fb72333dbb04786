//! Reading heads of HTTP requests and answers, strictly: what two programs could read in two ways is refused.
//!
//! # Source
//! RFC 9112 (HTTP/1.1), sections 2 to 6; RFC 9110, section 7.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};

use super::gate::{Destination, Refusal};

/// The longest head, in bytes.
pub(super) const MAX_HEAD_BYTES: usize = 32 << 10;
/// How much is read at least, if it is there.
const BUFFER_BYTES: usize = 4 << 10;
/// The most header fields.
const MAX_FIELDS: usize = 100;

/// A connection with what was read of it and not used.
#[derive(Debug)]
pub(super) struct BufferedConnection<S> {
    pub(super) stream: S,
    pub(super) bytes: Vec<u8>,
    /// How long a head or a greeting may take to arrive.
    pub(super) patience: Duration,
}

impl<S: AsyncRead + Unpin> BufferedConnection<S> {
    pub(super) const fn new(stream: S, patience: Duration) -> Self {
        Self { stream, bytes: Vec::new(), patience }
    }

    /// Reads more. Returns whether something came. Can be given up at any time.
    pub(super) async fn fill(&mut self) -> std::io::Result<bool> {
        // Otherwise it grows from 64 bytes on, and most heads take several reads.
        self.bytes.reserve(BUFFER_BYTES);
        Ok(self.stream.read_buf(&mut self.bytes).await? > 0)
    }

    /// Reads until there are so many bytes. Returns whether there are.
    pub(super) async fn fill_to(&mut self, length: usize) -> std::io::Result<bool> {
        while self.bytes.len() < length {
            if !self.fill().await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Takes a head with the empty line at its end, if one comes in time.
    pub(super) async fn take_head(&mut self) -> Result<Vec<u8>, Refusal> {
        let patience = self.patience;
        let reading = async {
            let mut looked = 0;
            loop {
                let end = self.bytes[looked..].windows(4).position(|bytes| bytes == b"\r\n\r\n");
                if let Some(end) = end {
                    let rest = self.bytes.split_off(looked + end + 4);
                    return Ok(std::mem::replace(&mut self.bytes, rest));
                }
                if self.bytes.len() > MAX_HEAD_BYTES {
                    return Err(Refusal { status: 431, ..Refusal::malformed("the head is too long") });
                }
                looked = self.bytes.len().saturating_sub(3);
                if !self.fill().await.unwrap_or(false) {
                    return Err(Refusal::malformed("the connection ended within a head"));
                }
            }
        };
        let head = tokio::time::timeout(patience, reading).await;
        let head = head.unwrap_or_else(|_| {
            Err(Refusal { status: 408, ..Refusal::malformed("the head did not come in time") })
        })?;
        match head.len() {
            ..=MAX_HEAD_BYTES => Ok(head),
            _ => Err(Refusal { status: 431, ..Refusal::malformed("the head is too long") }),
        }
    }
}

impl BufferedConnection<TcpStream> {
    /// Splits it for reading and writing at a time. What was read goes with the reader.
    pub(super) fn split(&mut self) -> (BufferedConnection<ReadHalf<'_>>, WriteHalf<'_>) {
        let (bytes, patience) = (std::mem::take(&mut self.bytes), self.patience);
        let (stream, writer) = self.stream.split();
        (BufferedConnection { stream, bytes, patience }, writer)
    }
}

/// The fields of a head, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fields(Vec<(String, Vec<u8>)>);

impl Fields {
    fn parse<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Result<Self, Refusal> {
        let mut fields = Vec::new();
        for line in lines {
            let colon = line.iter().position(|byte| *byte == b':');
            let (name, value) =
                line.split_at(colon.ok_or_else(|| Refusal::malformed("a header field has no colon"))?);
            if name.is_empty() || !name.iter().all(|byte| is_token(*byte)) {
                return Err(Refusal::malformed("a header field has a name that is none"));
            }
            let value = value[1..].trim_ascii();
            if value.iter().any(|byte| (*byte < b' ' && *byte != b'\t') || *byte == 0x7f) {
                return Err(Refusal::malformed("a header field has a control character"));
            }
            if fields.len() >= MAX_FIELDS {
                return Err(Refusal {
                    status: 431,
                    ..Refusal::malformed("there are too many header fields")
                });
            }
            fields.push((String::from_utf8_lossy(name).to_ascii_lowercase(), value.to_owned()));
        }
        Ok(Self(fields))
    }

    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.0.iter().filter(move |(it, _)| it == name).map(|(_, value)| value.as_slice())
    }

    fn one<'a>(&'a self, name: &'a str) -> Result<Option<&'a [u8]>, Refusal> {
        let mut all = self.all(name);
        match (all.next(), all.next()) {
            (one, None) => Ok(one),
            (_, Some(_)) => Err(Refusal::malformed(&format!("the header field `{name}` is there twice"))),
        }
    }

    /// Returns how the body ends.
    fn body(&self) -> Result<Body, Refusal> {
        let length = self.one("content-length")?;
        match (self.one("transfer-encoding")?, length) {
            (Some(_), Some(_)) => {
                Err(Refusal::malformed("a request cannot have both Content-Length and Transfer-Encoding"))
            }
            (Some(coding), None) if coding == b"chunked" => Ok(Body::Chunked),
            (Some(_), None) => Err(Refusal::malformed("its Transfer-Encoding is not `chunked`")),
            (None, Some(length)) => match number(length, 10) {
                Some(length) => Ok(Body::Length(length)),
                None => Err(Refusal::malformed("its Content-Length is no number")),
            },
            (None, None) => Ok(Body::Length(0)),
        }
    }

    /// Returns whether a field asks that the connection ends.
    fn closes(&self) -> bool {
        let named = ["connection", "proxy-connection"].map(|name| self.all(name));
        let mut words = named.into_iter().flatten().flat_map(|value| value.split(|byte| *byte == b','));
        words.any(|word| word.trim_ascii().eq_ignore_ascii_case(b"close"))
    }

    /// Adds the fields that are not about this connection alone.
    fn write_to(&self, out: &mut Vec<u8>, also_without: &[&str]) {
        let named = self.all("connection").flat_map(|value| value.split(|byte| *byte == b','));
        let named: Vec<String> =
            named.map(|name| String::from_utf8_lossy(name.trim_ascii()).to_ascii_lowercase()).collect();
        for (name, value) in &self.0 {
            let kept_anyway = matches!(name.as_str(), "host" | "content-length" | "transfer-encoding");
            let is_left_out = HOP_BY_HOP.contains(&name.as_str())
                || also_without.contains(&name.as_str())
                || (named.contains(name) && !kept_anyway);
            if !is_left_out {
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(b": ");
                out.extend_from_slice(value);
                out.extend_from_slice(b"\r\n");
            }
        }
    }
}

/// Fields that are about one connection.
const HOP_BY_HOP: &[&str] = &[
    "connection",
    "proxy-connection",
    "keep-alive",
    "proxy-authorization",
    "proxy-authenticate",
    "te",
    "upgrade",
    "http2-settings",
];

/// Reads digits, and nothing else.
pub(super) fn number(text: &[u8], radix: u32) -> Option<u64> {
    let is_digit = |byte: &u8| char::from(*byte).is_digit(radix);
    if text.is_empty() || text.len() > 15 || !text.iter().all(is_digit) {
        return None;
    }
    u64::from_str_radix(std::str::from_utf8(text).ok()?, radix).ok()
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Splits a head into lines, each with CR and LF at its end and neither elsewhere.
fn lines(head: &[u8]) -> Result<Vec<&[u8]>, Refusal> {
    let head = head.strip_suffix(b"\r\n\r\n").unwrap_or(head);
    let mut lines = Vec::new();
    let mut rest = head;
    while let Some(end) = rest.windows(2).position(|bytes| bytes == b"\r\n") {
        lines.push(&rest[..end]);
        rest = &rest[end + 2..];
    }
    lines.push(rest);
    if lines.iter().any(|line| line.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0))) {
        return Err(Refusal::malformed("a line of the head ends without CR LF"));
    }
    Ok(lines)
}

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    Length(u64),
    Chunked,
}

/// What a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// `CONNECT host:port`.
    Tunnel(Destination),
    /// `http://host/path`: the host, and what is asked for there.
    Whole(Destination, String),
    /// `/path`.
    Path(String),
}

/// The head of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RequestHead {
    pub(super) method: String,
    pub(super) target: Target,
    pub(super) body: Body,
    /// Whether another request may follow: it only reads, can be repeated, and nothing behind it can be its body.
    pub(super) keeps_connection: bool,
    fields: Fields,
}

impl RequestHead {
    /// Takes the next head of a connection.
    pub(super) async fn read<S: AsyncRead + Unpin>(
        client: &mut BufferedConnection<S>,
    ) -> Result<Self, Refusal> {
        Self::parse(&client.take_head().await?)
    }

    /// Reads a head.
    pub(super) fn parse(head: &[u8]) -> Result<Self, Refusal> {
        let lines = lines(head)?;
        let line = std::str::from_utf8(lines[0]).ok().filter(|line| line.is_ascii());
        let mut words = line.unwrap_or_default().split(' ');
        let (method, target, version, end) = (words.next(), words.next(), words.next(), words.next());
        let (Some(method), Some(target), Some(version), None) = (method, target, version, end) else {
            return Err(Refusal::malformed("the request line is none"));
        };
        if method.is_empty()
            || !method.bytes().all(is_token)
            || !target.bytes().all(|it| it.is_ascii_graphic())
        {
            return Err(Refusal::malformed("the request line is none"));
        }
        if !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
            return Err(Refusal { status: 505, ..Refusal::malformed("only HTTP/1.1 and HTTP/1.0 are read") });
        }
        let fields = Fields::parse(lines[1..].iter().copied())?;
        let body = fields.body()?;
        if version == "HTTP/1.0" && body == Body::Chunked {
            return Err(Refusal::malformed("HTTP/1.0 has no Transfer-Encoding"));
        }
        let only_reads = matches!(method, "GET" | "HEAD") && body == Body::Length(0);
        // The offer of HTTP/2 that libcurl makes is not passed on: a server may leave it unanswered.
        let offers = || fields.all("upgrade").chain(fields.all("http2-settings"));
        let is_other = fields.all("upgrade").any(|protocol| !protocol.eq_ignore_ascii_case(b"h2c"));
        if is_other || (offers().next().is_some() && !only_reads) {
            return Err(Refusal::malformed("no other protocol can be asked for (Upgrade)"));
        }
        let target = Self::target(method, target)?;
        let keeps_connection = only_reads && version == "HTTP/1.1" && !fields.closes();
        let head = Self { method: method.to_owned(), target, body, keeps_connection, fields };
        match &head.target {
            Target::Tunnel(destination) if body == Body::Length(0) => head.check_host(destination, None)?,
            Target::Tunnel(_) => return Err(Refusal::malformed("CONNECT has no body")),
            Target::Whole(destination, _) => head.check_host(destination, Some(80))?,
            Target::Path(_) => {}
        }
        Ok(head)
    }

    fn target(method: &str, target: &str) -> Result<Target, Refusal> {
        let no_host = || Refusal::malformed("the request names no host that could be one");
        if method == "CONNECT" {
            return Ok(Target::Tunnel(Destination::parse(target, None).ok_or_else(no_host)?));
        }
        if target.starts_with('/') {
            return Ok(Target::Path(target.to_owned()));
        }
        let Some(("http", rest)) = target
            .split_once("://")
            .map(|(scheme, rest)| (if scheme.eq_ignore_ascii_case("http") { "http" } else { "" }, rest))
        else {
            return Err(Refusal::malformed("the request names no `http://` address; use CONNECT for others"));
        };
        let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.contains('@') {
            return Err(Refusal::malformed("an address with a user in it is not passed on"));
        }
        if path.contains(['#', '\\']) {
            return Err(Refusal::malformed("the address of the request can be read in two ways"));
        }
        let destination = Destination::parse(authority, Some(80)).ok_or_else(no_host)?;
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Target::Whole(destination, path))
    }

    /// Checks that the field `Host`, if it is there, names the destination.
    pub(super) fn check_host(
        &self,
        destination: &Destination,
        default_port: Option<u16>,
    ) -> Result<(), Refusal> {
        let Some(host) = self.fields.one("host")? else { return Ok(()) };
        let host = std::str::from_utf8(host).ok();
        // For a tunnel some programs leave the port out.
        let named = host.and_then(|host| Destination::parse(host, default_port.or(Some(destination.port))));
        if named.as_ref() == Some(destination) {
            return Ok(());
        }
        Err(Refusal::forbidden(format!(
            "the header field `Host` names `{}`, and the request `{destination}`",
            host.unwrap_or("?").escape_debug()
        )))
    }

    /// Returns whether the request says which host it is for.
    pub(super) fn has_host(&self) -> bool {
        self.fields.all("host").next().is_some()
    }

    /// Writes the head as it goes to the host.
    pub(super) fn encode(&self, destination: &Destination, path: &str) -> Vec<u8> {
        let Destination { host, port } = destination;
        let host = if *port == 80 { host.to_string() } else { destination.to_string() };
        let mut out = format!("{} {path} HTTP/1.1\r\nhost: {host}\r\n", self.method).into_bytes();
        self.fields.write_to(&mut out, &["host"]);
        if !self.keeps_connection {
            out.extend_from_slice(b"connection: close\r\n");
        }
        out.extend_from_slice(b"\r\n");
        out
    }
}

/// How the body of an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerBody {
    Length(u64),
    Chunked,
    /// With the connection.
    ToEnd,
}

/// The head of an answer.
#[derive(Debug)]
pub(super) struct AnswerHead {
    pub(super) status: u16,
    pub(super) body: AnswerBody,
    /// Whether the host leaves the connection open, and the end of the answer can be read in one way only.
    pub(super) keeps_connection: bool,
    line: Vec<u8>,
    fields: Fields,
}

impl AnswerHead {
    /// Reads the head of an answer to a request with this method.
    pub(super) fn parse(head: &[u8], method: &str) -> Result<Self, Refusal> {
        let broken = |why: &str| Refusal { status: 502, ..Refusal::malformed(why) };
        let lines = lines(head).map_err(|refusal| broken(&refusal.why))?;
        let status = lines[0].get(9..12).filter(|_| lines[0].starts_with(b"HTTP/1."));
        let status =
            status.and_then(|digits| number(digits, 10)).and_then(|status| u16::try_from(status).ok());
        let status = status.ok_or_else(|| broken("the host does not answer in HTTP/1.1"))?;
        if status == 101 {
            return Err(broken("the host changed to another protocol, which nobody asked for"));
        }
        let fields = Fields::parse(lines[1..].iter().copied()).map_err(|refusal| broken(&refusal.why))?;
        let (codings, lengths) =
            (fields.all("transfer-encoding").count(), fields.all("content-length").count());
        let body = if method == "HEAD" || status < 200 || matches!(status, 204 | 304) {
            AnswerBody::Length(0)
        } else if codings > 0 {
            let last = fields
                .all("transfer-encoding")
                .last()
                .and_then(|value| value.rsplit(|byte| *byte == b',').next());
            let is_chunked = last.is_some_and(|last| last.trim_ascii().eq_ignore_ascii_case(b"chunked"));
            if is_chunked { AnswerBody::Chunked } else { AnswerBody::ToEnd }
        } else if lengths > 0 {
            let mut lengths = fields.all("content-length");
            let first = lengths.next().filter(|first| lengths.all(|it| it == *first));
            let length = first.and_then(|length| number(length, 10));
            AnswerBody::Length(length.ok_or_else(|| broken("the answer of the host has no one length"))?)
        } else {
            AnswerBody::ToEnd
        };
        let keeps_connection = lines[0].starts_with(b"HTTP/1.1")
            && body != AnswerBody::ToEnd
            && codings + lengths <= 1
            && !fields.closes();
        Ok(Self { status, body, keeps_connection, line: lines[0].to_vec(), fields })
    }

    /// Writes the head as it goes to the program.
    pub(super) fn encode(&self, keeps_connection: bool) -> Vec<u8> {
        let mut out = self.line.clone();
        out.extend_from_slice(b"\r\n");
        let is_chunked = self.body == AnswerBody::Chunked;
        self.fields.write_to(&mut out, if is_chunked { &["content-length", "trailer"] } else { &[] });
        if self.status >= 200 && !keeps_connection {
            out.extend_from_slice(b"connection: close\r\n");
        }
        out.extend_from_slice(b"\r\n");
        out
    }
}
