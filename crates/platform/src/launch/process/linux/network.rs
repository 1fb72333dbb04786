//! What listens in the network that the process has.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// What tells that a socket listens: the state `TCP_LISTEN` of the kernel's tables.
const LISTENING: &str = "0A";

/// Returns the local address at which something listens at a port.
pub(in super::super) fn listening(port: u16) -> Option<SocketAddr> {
    let (any, local) = (Ipv4Addr::UNSPECIFIED.octets(), Ipv4Addr::LOCALHOST.octets());
    let four = [any, local].map(|octets| word(&octets));
    let mapped = Ipv4Addr::LOCALHOST.to_ipv6_mapped();
    if is_in("/proc/net/tcp", port, &four) || is_in("/proc/net/tcp6", port, &[words(mapped)]) {
        return Some((Ipv4Addr::LOCALHOST, port).into());
    }
    let six = [Ipv6Addr::UNSPECIFIED, Ipv6Addr::LOCALHOST].map(words);
    is_in("/proc/net/tcp6", port, &six).then(|| (Ipv6Addr::LOCALHOST, port).into())
}

/// Gives an address as the kernel's tables show it: words of 32 bits, each in the order of this machine.
fn word(octets: &[u8; 4]) -> String {
    format!("{:08X}", u32::from_ne_bytes(*octets))
}

fn words(address: Ipv6Addr) -> String {
    address.octets().as_chunks::<4>().0.iter().map(word).collect()
}

fn is_in(table: &str, port: u16, addresses: &[String]) -> bool {
    let wanted: Vec<String> = addresses.iter().map(|address| format!("{address}:{port:04X}")).collect();
    let Ok(file) = rustix::fs::open(table, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) else {
        return false;
    };
    let (mut bytes, mut filled) = (vec![0; 16 << 10], 0);
    loop {
        match rustix::io::read(&file, &mut bytes[filled..]) {
            Ok(0) => return false,
            Ok(length) => filled += length,
            Err(Errno::INTR) => continue,
            Err(_) => return false,
        }
        let whole = bytes[..filled].iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let text = String::from_utf8_lossy(&bytes[..whole]);
        for line in text.lines() {
            // Number, local address, remote address, state.
            let mut columns = line.split_ascii_whitespace().skip(1);
            let (local, state) = (columns.next(), columns.nth(1));
            if state == Some(LISTENING) && local.is_some_and(|local| wanted.iter().any(|one| one == local)) {
                return true;
            }
        }
        bytes.copy_within(whole..filled, 0);
        filled -= whole;
        if filled == bytes.len() {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn finds_what_listens_by_its_address() {
        for address in ["127.0.0.1:0", "0.0.0.0:0", "[::1]:0", "[::]:0"] {
            // A machine may have no IPv6.
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let port = listener.local_addr().expect("bound").port();
            let found = listening(port).expect("it listens");
            assert_eq!(found.is_ipv4(), !address.starts_with('['), "{address}");
            std::net::TcpStream::connect(found).expect("connected");
            drop(listener);
            assert_eq!(listening(port), None, "{address}");
        }
    }
}
