//! The port at which a plan reaches its proxy: it listens in the plan's network, and the service answers it.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, IntoRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use rustix::io::Errno;
use rustix::net::{AddressFamily, bind, getsockname, listen};

use super::prepare::failed;
use crate::launch::wire::Order;
use crate::launch::{LaunchError, handing};
use bailiwick_contract::command::Network;

/// How many connections may wait for the proxy.
const BACKLOG: i32 = 128;
/// The byte in the environment that is replaced by the number of the port: no value can have it otherwise.
const PORT: u8 = 0;

/// Opens the port, hands the socket that listens to the service, and writes the number into the environment. This process is
/// in the plan's network by now.
pub(super) fn open_proxy_port(order: &mut Order, service: Option<OwnedFd>) -> Result<(), LaunchError> {
    let failed = failed::<String>("proxy");
    let service = match (order.hold.network, service) {
        (Network::Hosts, Some(service)) => service,
        (Network::Hosts, None) => return Err(failed("nothing answers it".to_owned())),
        (_, _) => return Ok(()),
    };
    let listener = handing::stream(AddressFamily::INET).map_err(|error| failed(error.to_string()))?;
    let port = open(&listener).map_err(|error| failed(error.to_string()))?;
    handing::send(&service, &[1], &[listener.as_fd()]).map_err(|error| failed(error.to_string()))?;
    for (_, value) in &mut order.environment {
        if value.as_bytes().contains(&PORT) {
            *value = with_port(value.as_bytes(), port);
        }
    }
    // The service learns of the end of this process by the end of it.
    let _ = service.into_raw_fd();
    Ok(())
}

fn open(listener: &OwnedFd) -> Result<u16, Errno> {
    bind(listener, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    listen(listener, BACKLOG)?;
    Ok(SocketAddr::try_from(getsockname(listener)?)?.port())
}

fn with_port(value: &[u8], port: u16) -> OsString {
    let parts: Vec<&[u8]> = value.split(|byte| *byte == PORT).collect();
    OsString::from_vec(parts.join(port.to_string().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_stands_where_no_value_could_have_anything() {
        assert_eq!(with_port(b"http://127.0.0.1:\0/ \0", 8080), "http://127.0.0.1:8080/ 8080");
        assert_eq!(with_port(b"\0", 1), "1");
    }
}
