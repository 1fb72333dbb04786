//! What listens in the network that the process has.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

/// How long a connection within the computer may take.
const MAX_WAIT: Duration = Duration::from_millis(50);

/// Returns the local address at which something listens at a port. There is no table of sockets that can be read as
/// text, so it is tried: what listens sees a connection that says nothing.
pub(in super::super) fn listening(port: u16) -> Option<SocketAddr> {
    [SocketAddr::from((Ipv4Addr::LOCALHOST, port)), SocketAddr::from((Ipv6Addr::LOCALHOST, port))]
        .into_iter()
        .find(|address| TcpStream::connect_timeout(address, MAX_WAIT).is_ok())
}
