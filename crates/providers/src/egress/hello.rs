//! Reading the greeting of TLS, which names the host in the open.
//!
//! # Source
//! RFC 8446, sections 4.1.2, 4.1.3, 4.2 and 5.1; RFC 6066, section 3.

use tokio::io::AsyncRead;

use super::gate::Refusal;
use super::head::BufferedConnection;

/// The longest greeting with its records, in bytes.
const MAX_BYTES: usize = 64 << 10;
/// The longest record.
const MAX_RECORD: usize = (1 << 14) + 256;
/// The head of a record, and that of a message in it.
const HEAD: usize = 5;
const MESSAGE_HEAD: usize = 4;

const CHANGE_CIPHER_SPEC: u8 = 20;
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
const DATA: u8 = 23;
const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 2;
const SERVER_NAME: u16 = 0;
const ENCRYPTED_HELLO: u16 = 0xfe0d;

/// What a server's greeting has in place of random bytes that asks for another greeting.
const RETRY: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2,
    0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];
/// Where those are in a message, after its kind, length and version.
const RANDOM_AT: usize = MESSAGE_HEAD + 2;

/// What a greeting says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ClientHello {
    pub(super) server_name: Option<String>,
    /// Whether a part of it is encrypted, with a name of its own.
    pub(super) is_encrypted: bool,
    /// How many bytes it takes, with its records and what came before it.
    pub(super) length: usize,
}

/// Returns whether the first byte of a connection begins a greeting.
pub(super) const fn is_hello(first: u8) -> bool {
    first == HANDSHAKE
}

/// Returns whether a server asks for another greeting, which may name another host; `None` while that is open.
pub(super) fn asks_again(answer: &[u8]) -> Option<bool> {
    let mut at = 0;
    loop {
        let (head, record) = answer.get(at..)?.split_first_chunk::<HEAD>()?;
        let length = usize::from(u16::from_be_bytes([head[3], head[4]]));
        match head[0] {
            // A warning may come first.
            ALERT => at += HEAD + length,
            HANDSHAKE if length >= RANDOM_AT + RETRY.len() => {
                let message = record.get(..RANDOM_AT + RETRY.len())?;
                return Some(message[0] == SERVER_HELLO && message[RANDOM_AT..] == RETRY);
            }
            _ => return Some(false),
        }
    }
}

fn broken() -> Refusal {
    Refusal::forbidden("the TLS greeting cannot be read".to_owned())
}

/// Reads until a greeting is there as a whole. Nothing is taken out of the buffer.
pub(super) async fn read<S: AsyncRead + Unpin>(
    client: &mut BufferedConnection<S>,
) -> Result<ClientHello, Refusal> {
    let patience = client.patience;
    let reading = async {
        loop {
            if let Some(hello) = find(&client.bytes)? {
                return Ok(hello);
            }
            if client.bytes.len() > MAX_BYTES {
                return Err(Refusal::forbidden("the TLS greeting is too long".to_owned()));
            }
            if !client.fill().await.unwrap_or(false) {
                return Err(Refusal::forbidden("the connection ended within the TLS greeting".to_owned()));
            }
        }
    };
    let late = || Refusal::forbidden("the TLS greeting did not come in time".to_owned());
    tokio::time::timeout(patience, reading).await.unwrap_or_else(|_| Err(late()))
}

/// Finds a greeting in the records of a connection: `None` while a part is missing.
fn find(bytes: &[u8]) -> Result<Option<ClientHello>, Refusal> {
    let (mut at, mut message) = (0, Vec::new());
    while let Some((head, rest)) = bytes[at..].split_first_chunk::<HEAD>() {
        let length = usize::from(u16::from_be_bytes([head[3], head[4]]));
        if head[1] != 3 || length == 0 || length > MAX_RECORD {
            return Err(broken());
        }
        let Some(record) = rest.get(..length) else { return Ok(None) };
        at += HEAD + length;
        match head[0] {
            // Early data of a first greeting that the server did not take.
            CHANGE_CIPHER_SPEC | DATA if message.is_empty() => continue,
            HANDSHAKE => message.extend_from_slice(record),
            _ => return Err(broken()),
        }
        let Some((head, body)) = message.split_first_chunk::<MESSAGE_HEAD>() else { continue };
        let length =
            usize::try_from(u32::from_be_bytes([0, head[1], head[2], head[3]])).unwrap_or(usize::MAX);
        if head[0] != CLIENT_HELLO || length > MAX_BYTES || body.len() > length {
            return Err(broken());
        }
        if body.len() == length {
            return parse(body, at).map(Some);
        }
    }
    Ok(None)
}

fn parse(body: &[u8], length: usize) -> Result<ClientHello, Refusal> {
    let mut reader = Reader(body);
    // Version and random.
    reader.take(2 + 32)?;
    reader.short_list()?;
    let suites = reader.long_list()?;
    let compression = reader.short_list()?;
    if suites.is_empty() || !suites.len().is_multiple_of(2) || compression.is_empty() {
        return Err(broken());
    }
    let mut extensions = Reader(if reader.0.is_empty() { &[] } else { reader.long_list()? });
    if !reader.0.is_empty() {
        return Err(broken());
    }
    let (mut server_name, mut is_encrypted) = (None, false);
    while !extensions.0.is_empty() {
        let kind = extensions.short()?;
        let content = extensions.long_list()?;
        match kind {
            SERVER_NAME if server_name.is_some() => return Err(broken()),
            SERVER_NAME => server_name = Some(name(content)?),
            ENCRYPTED_HELLO => is_encrypted = true,
            _ => {}
        }
    }
    Ok(ClientHello { server_name, is_encrypted, length })
}

/// Reads the one name of a list of names.
fn name(content: &[u8]) -> Result<String, Refusal> {
    let mut reader = Reader(content);
    let mut list = Reader(reader.long_list()?);
    let kind = list.take(1)?;
    let name = list.long_list()?;
    if !reader.0.is_empty() || !list.0.is_empty() || kind != [0] || !name.is_ascii() {
        return Err(broken());
    }
    String::from_utf8(name.to_vec()).map_err(|_| broken())
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Refusal> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(broken)?;
        self.0 = rest;
        Ok(taken)
    }

    fn short(&mut self) -> Result<u16, Refusal> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    fn short_list(&mut self) -> Result<&'a [u8], Refusal> {
        let length = self.take(1)?[0];
        self.take(length.into())
    }

    fn long_list(&mut self) -> Result<&'a [u8], Refusal> {
        let length = self.short()?;
        self.take(length.into())
    }
}
