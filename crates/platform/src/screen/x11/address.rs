//! Which X servers there are, and where. Reads the folder of sockets; connects to nothing.

use std::fs;
use std::path::PathBuf;

use crate::screen::Sources;

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ServerAddress {
    /// At a socket of this computer.
    Socket(PathBuf),
    /// At a TCP port: a forwarded or a remote display.
    Tcp(String, u16),
}

/// One server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// `:0`, or `host:0`.
    pub id: String,
    /// The number of the display, by which its cookie is found.
    pub number: u16,
    /// Where it listens.
    pub place: ServerAddress,
}

/// The first port of displays over TCP.
const FIRST_PORT: u16 = 6000;

/// More sockets than this are not looked at.
const MAX_SERVERS: usize = 64;

/// Lists the servers: what `DISPLAY` names first, the others by number.
pub(super) fn servers(sources: &Sources) -> Vec<Address> {
    let mut numbers: Vec<u16> = fs::read_dir(&sources.sockets)
        .into_iter()
        .flatten()
        .filter_map(|entry| socket_number(entry.ok()?.file_name().to_str()?))
        .collect();
    numbers.retain(|number| sources.selection.includes(*number));
    numbers.sort_unstable();
    numbers.truncate(MAX_SERVERS);
    let mut servers: Vec<Address> = numbers.into_iter().map(|number| local(sources, number)).collect();
    if let Some(named) = sources.display.as_deref().and_then(|name| parse(sources, name)) {
        servers.retain(|server| *server != named);
        if sources.selection.includes(named.number) || !matches!(named.place, ServerAddress::Socket(_)) {
            servers.insert(0, named);
        }
    }
    servers
}

fn local(sources: &Sources, number: u16) -> Address {
    let place = ServerAddress::Socket(sources.sockets.join(format!("X{number}")));
    Address { id: format!(":{number}"), number, place }
}

/// Reads the name of a socket. Only the usual spelling of a number is one: no sign, no leading zero.
fn socket_number(name: &str) -> Option<u16> {
    let digits = name.strip_prefix('X')?;
    digits.parse().ok().filter(|number: &u16| number.to_string() == digits)
}

/// Reads what `DISPLAY` holds: `[HOST]:NUMBER[.SCREEN]`. The screen is left out: all screens are listed.
fn parse(sources: &Sources, name: &str) -> Option<Address> {
    let (host, rest) = name.rsplit_once(':')?;
    let number: u16 = rest.split('.').next()?.parse().ok()?;
    if host.is_empty() || host == "unix" {
        return Some(local(sources, number));
    }
    let fit = |byte: u8| byte.is_ascii_alphanumeric() || b".-_[]:%".contains(&byte);
    if host.len() > 255 || !host.bytes().all(fit) {
        return None;
    }
    let place = ServerAddress::Tcp(host.trim_matches(['[', ']']).to_owned(), FIRST_PORT.checked_add(number)?);
    Some(Address { id: format!("{host}:{number}"), number, place })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Address, ServerAddress, parse, socket_number};
    use crate::screen::Sources;

    #[test]
    fn only_the_usual_names_are_sockets_of_servers() {
        assert_eq!(socket_number("X0"), Some(0));
        assert_eq!(socket_number("X101"), Some(101));
        for name in ["X", "X01", "X+1", "X-1", "Xa", "X70000", "Y1", "X1.lock", ""] {
            assert_eq!(socket_number(name), None, "{name}");
        }
    }

    #[test]
    fn the_variable_is_read_in_all_its_forms() {
        let sources = Sources { sockets: PathBuf::from("/s"), ..Sources::default() };
        let socket = |number| Address {
            id: format!(":{number}"),
            number,
            place: ServerAddress::Socket(PathBuf::from(format!("/s/X{number}"))),
        };
        assert_eq!(parse(&sources, ":0"), Some(socket(0)));
        assert_eq!(parse(&sources, "unix:12.1"), Some(socket(12)));
        let forwarded = parse(&sources, "localhost:10.0").expect("a display over TCP");
        assert_eq!(forwarded.place, ServerAddress::Tcp("localhost".to_owned(), 6010));
        assert_eq!(forwarded.id, "localhost:10");
        assert_eq!(
            parse(&sources, "[::1]:2").map(|it| it.place),
            Some(ServerAddress::Tcp("::1".to_owned(), 6002))
        );
        for name in ["", "0", ":", ":x", "a b:0", "host:60000"] {
            assert_eq!(parse(&sources, name), None, "{name}");
        }
    }
}
