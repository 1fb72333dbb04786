//! How a service and a keeper speak over the control socket: requests, each with one answer, and events.
//!
//! A message is its length in four bytes and so many bytes, of which the first shows what it is. Both ends may
//! be different versions of this program, after an update: what is not understood ends the connection.

use super::status::Key;
use super::{MAX_INPUT_BYTES, TerminalSize};
use crate::launch::wire::WireError;

/// The name of the socket in the folder of a process.
pub(in super::super) const SOCKET_NAME: &str = "control";

/// The most connections to a keeper at one time.
pub(in super::super) const MAX_CONNECTIONS: usize = 32;
/// The longest message: a whole input.
pub(in super::super) const MAX_MESSAGE_BYTES: usize = MAX_INPUT_BYTES + 1;

/// The bytes before each message, which tell its length.
pub(in super::super) const LENGTH_BYTES: usize = 4;

/// What a service asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Request {
    /// The first of all; has no answer.
    Hello(Key),
    Input(Vec<u8>),
    CloseInput,
    Secret(Vec<u8>),
    Resize(TerminalSize),
    Signal(i32),
    Stop {
        signal: i32,
        grace_ms: u32,
    },
    IsListening(u16),
    Dial(u16),
    Watch,
}

/// What a keeper says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Answer {
    Done,
    /// The input was not taken: too much waits.
    Full,
    /// There is no input, or none any more.
    NoInput,
    /// There is no terminal.
    NoTerminal,
    /// It cannot be done: the number of the system's error.
    Failed(i32),
    Yes,
    No,
    /// A socket comes with it.
    Socket,
    /// An event: there is more to read.
    Output(u64),
    /// An event: the process has ended.
    Ended,
}

impl Request {
    /// Encodes the message, its length first.
    pub(in super::super) fn encode(&self) -> Vec<u8> {
        let (kind, content): (u8, Vec<u8>) = match self {
            Self::Hello(key) => (0, key.to_vec()),
            Self::Input(bytes) => (1, bytes.clone()),
            Self::CloseInput => (2, Vec::new()),
            Self::Secret(bytes) => (3, bytes.clone()),
            Self::Resize(size) => (4, [size.rows.to_le_bytes(), size.columns.to_le_bytes()].concat()),
            Self::Signal(signal) => (5, signal.to_le_bytes().to_vec()),
            Self::Stop { signal, grace_ms } => (6, [signal.to_le_bytes(), grace_ms.to_le_bytes()].concat()),
            Self::IsListening(port) => (7, port.to_le_bytes().to_vec()),
            Self::Dial(port) => (8, port.to_le_bytes().to_vec()),
            Self::Watch => (9, Vec::new()),
        };
        message(kind, &content)
    }

    /// Decodes a message without its length.
    pub(in super::super) fn decode(message: &[u8]) -> Result<Self, WireError> {
        let (kind, content) = message.split_first().ok_or(WireError)?;
        let pair = |content: &[u8]| -> Result<[i32; 2], WireError> {
            let ([first, second], []) = content.as_chunks::<4>() else { return Err(WireError) };
            Ok([i32::from_le_bytes(*first), i32::from_le_bytes(*second)])
        };
        let port = |content: &[u8]| content.try_into().map(u16::from_le_bytes).map_err(|_| WireError);
        Ok(match (kind, content) {
            (0, key) => Self::Hello(key.try_into().map_err(|_| WireError)?),
            (1, bytes) => Self::Input(bytes.to_vec()),
            (2, []) => Self::CloseInput,
            (3, bytes) => Self::Secret(bytes.to_vec()),
            (4, [a, b, c, d]) => Self::Resize(TerminalSize {
                rows: u16::from_le_bytes([*a, *b]),
                columns: u16::from_le_bytes([*c, *d]),
            }),
            (5, signal) => Self::Signal(signal.try_into().map(i32::from_le_bytes).map_err(|_| WireError)?),
            (6, content) => {
                let [signal, grace_ms] = pair(content)?;
                Self::Stop { signal, grace_ms: grace_ms.cast_unsigned() }
            }
            (7, content) => Self::IsListening(port(content)?),
            (8, content) => Self::Dial(port(content)?),
            (9, []) => Self::Watch,
            _ => return Err(WireError),
        })
    }
}

impl Answer {
    /// Encodes the message, its length first.
    pub(in super::super) fn encode(self) -> Vec<u8> {
        match self {
            Self::Done => message(0, &[]),
            Self::Full => message(1, &[]),
            Self::NoInput => message(2, &[]),
            Self::NoTerminal => message(3, &[]),
            Self::Failed(number) => message(4, &number.to_le_bytes()),
            Self::Yes => message(5, &[]),
            Self::No => message(6, &[]),
            Self::Socket => message(7, &[]),
            Self::Output(end) => message(8, &end.to_le_bytes()),
            Self::Ended => message(9, &[]),
        }
    }

    /// Decodes a message without its length.
    pub(in super::super) fn decode(message: &[u8]) -> Result<Self, WireError> {
        let (kind, content) = message.split_first().ok_or(WireError)?;
        Ok(match (kind, content) {
            (0, []) => Self::Done,
            (1, []) => Self::Full,
            (2, []) => Self::NoInput,
            (3, []) => Self::NoTerminal,
            (4, number) => Self::Failed(number.try_into().map(i32::from_le_bytes).map_err(|_| WireError)?),
            (5, []) => Self::Yes,
            (6, []) => Self::No,
            (7, []) => Self::Socket,
            (8, end) => Self::Output(end.try_into().map(u64::from_le_bytes).map_err(|_| WireError)?),
            (9, []) => Self::Ended,
            _ => return Err(WireError),
        })
    }
}

fn message(kind: u8, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len() + 1).unwrap_or(u32::MAX);
    let mut bytes = Vec::with_capacity(LENGTH_BYTES + 1 + content.len());
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.push(kind);
    bytes.extend_from_slice(content);
    bytes
}

/// Returns how many bytes the first message of some has, its length included; none if that is not there yet.
pub(in super::super) fn first_length(bytes: &[u8], longest: usize) -> Result<Option<usize>, WireError> {
    let Some((length, _)) = bytes.split_first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
    let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| WireError)?;
    if length == 0 || length > longest { Err(WireError) } else { Ok(Some(LENGTH_BYTES + length)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_as_they_were_sent_and_shortened_ones_do_not() {
        let requests = [
            Request::Hello([7; 16]),
            Request::Input(vec![0, 255]),
            Request::CloseInput,
            Request::Secret(b"abc".to_vec()),
            Request::Resize(TerminalSize { rows: 1, columns: u16::MAX }),
            Request::Signal(-1),
            Request::Stop { signal: 15, grace_ms: u32::MAX },
            Request::IsListening(80),
            Request::Dial(u16::MAX),
            Request::Watch,
        ];
        for request in requests {
            let bytes = request.encode();
            assert_eq!(first_length(&bytes, MAX_MESSAGE_BYTES), Ok(Some(bytes.len())));
            assert_eq!(Request::decode(&bytes[LENGTH_BYTES..]), Ok(request));
        }
        let answers = [
            Answer::Done,
            Answer::Full,
            Answer::NoInput,
            Answer::NoTerminal,
            Answer::Failed(-5),
            Answer::Yes,
            Answer::No,
            Answer::Socket,
            Answer::Output(u64::MAX),
            Answer::Ended,
        ];
        for answer in answers {
            let bytes = answer.encode();
            assert_eq!(Answer::decode(&bytes[LENGTH_BYTES..]), Ok(answer));
            if bytes.len() > LENGTH_BYTES + 1 {
                assert_eq!(Answer::decode(&bytes[LENGTH_BYTES..bytes.len() - 1]), Err(WireError));
            }
        }
        assert_eq!(first_length(&u32::MAX.to_le_bytes(), MAX_MESSAGE_BYTES), Err(WireError));
        assert_eq!(first_length(&0_u32.to_le_bytes(), MAX_MESSAGE_BYTES), Err(WireError));
        assert_eq!(first_length(&[1, 0, 0], MAX_MESSAGE_BYTES), Ok(None));
    }
}
