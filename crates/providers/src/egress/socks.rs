//! The opening of SOCKS5: a connection to a host by its name, without a login.
//!
//! # Source
//! RFC 1928.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use bailiwick_policy::command::HostName;

use super::gate::{Destination, Refusal};
use super::head::BufferedConnection;

pub(super) const VERSION: u8 = 5;
const NO_LOGIN: u8 = 0;
const NO_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;

/// What is answered.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reply {
    Connected = 0,
    NotAllowed = 2,
    Unreachable = 4,
    NoCommand = 7,
}

/// Reads where a program wants to go. Nothing has been answered but the method.
pub(super) async fn read<S: AsyncRead + AsyncWrite + Unpin>(
    client: &mut BufferedConnection<S>,
) -> Result<Destination, Refusal> {
    let methods = take_with_length(client, 1).await?;
    if !methods[2..].contains(&NO_LOGIN) {
        let _ = client.stream.write_all(&[VERSION, NO_METHOD]).await;
        return Err(Refusal::malformed("SOCKS5 is taken without a login"));
    }
    client.stream.write_all(&[VERSION, NO_LOGIN]).await.map_err(|_| broken())?;
    let head = take(client, 4).await?;
    if head[0] != VERSION || head[2] != 0 {
        return Err(broken());
    }
    if head[1] != CONNECT {
        answer(client, Reply::NoCommand).await;
        return Err(Refusal::malformed("of SOCKS5 only CONNECT is taken"));
    }
    let host = match head[3] {
        1 => {
            let bytes = take(client, 4).await?;
            let address = <[u8; 4]>::try_from(bytes).map_err(|_| broken())?;
            Some(HostName::Address(IpAddr::V4(Ipv4Addr::from(address))))
        }
        3 => {
            let name = take_with_length(client, 0).await?;
            std::str::from_utf8(&name[1..]).ok().and_then(HostName::parse)
        }
        4 => {
            let bytes = take(client, 16).await?;
            let address = <[u8; 16]>::try_from(bytes).map_err(|_| broken())?;
            Some(HostName::Address(IpAddr::V6(Ipv6Addr::from(address)).to_canonical()))
        }
        _ => None,
    };
    let port = take(client, 2).await?;
    let port = u16::from_be_bytes([port[0], port[1]]);
    match host {
        Some(host) if port > 0 => Ok(Destination { host, port }),
        _ => {
            answer(client, Reply::NotAllowed).await;
            Err(Refusal::malformed("the request names no host that could be one"))
        }
    }
}

/// Answers a request.
pub(super) async fn answer<S: AsyncWrite + Unpin>(client: &mut BufferedConnection<S>, reply: Reply) {
    // From where is nobody's business.
    let _ = client.stream.write_all(&[VERSION, reply as u8, 0, 1, 0, 0, 0, 0, 0, 0]).await;
}

fn broken() -> Refusal {
    Refusal::malformed("the SOCKS5 request cannot be read")
}

async fn take<S: AsyncRead + Unpin>(
    client: &mut BufferedConnection<S>,
    length: usize,
) -> Result<Vec<u8>, Refusal> {
    if !client.fill_to(length).await.unwrap_or(false) {
        return Err(broken());
    }
    Ok(client.bytes.drain(..length).collect())
}

/// Takes bytes of which one says how many follow it.
async fn take_with_length<S: AsyncRead + Unpin>(
    client: &mut BufferedConnection<S>,
    at: usize,
) -> Result<Vec<u8>, Refusal> {
    if !client.fill_to(at + 1).await.unwrap_or(false) {
        return Err(broken());
    }
    let length = usize::from(client.bytes[at]);
    take(client, at + 1 + length).await
}
