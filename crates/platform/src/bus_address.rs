//! The address of a D-Bus bus. Only sockets of this computer count: any program of the display can set
//! that of the accessibility bus, and D-Bus knows forms that connect elsewhere or start programs.

use rustix::net::SocketAddrUnix;

/// Reads an address: of several, divided by `;`, the first that is a socket of this computer.
pub(crate) fn socket(address: &str) -> Option<SocketAddrUnix> {
    address.split(';').find_map(|one| {
        let options = one.strip_prefix("unix:")?;
        let value = |name: &str| {
            let mut options = options.split(',').filter_map(|option| option.split_once('='));
            options.find(|(key, _)| *key == name).and_then(|(_, value)| unescape(value))
        };
        match (value("path"), value("abstract")) {
            (Some(path), None) if path.starts_with(b"/") => SocketAddrUnix::new(path).ok(),
            (None, Some(name)) => SocketAddrUnix::new_abstract_name(&name).ok(),
            _ => None,
        }
    })
}

/// Undoes `%20` and the like.
fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    (!bytes.contains(&0)).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sockets_of_this_computer_are_addresses() {
        let path = |text: &str| socket(text).and_then(|it| Some(it.path()?.to_string_lossy().into_owned()));
        assert_eq!(
            path("unix:path=/run/user/1/at-spi/bus,guid=1").as_deref(),
            Some("/run/user/1/at-spi/bus")
        );
        assert_eq!(path("unix:guid=1,path=/a%20b").as_deref(), Some("/a b"));
        assert_eq!(path("tcp:host=example.org,port=1;unix:path=/x").as_deref(), Some("/x"));
        let name = socket("unix:abstract=/tmp/dbus-x,guid=1");
        assert_eq!(
            name.and_then(|it| it.abstract_name().map(<[u8]>::to_vec)).as_deref(),
            Some(&b"/tmp/dbus-x"[..])
        );
        for text in [
            "",
            "tcp:host=127.0.0.1,port=1",
            "unixexec:path=/bin/sh,argv1=-c",
            "unix:dir=/tmp",
            "unix:tmpdir=/tmp",
            "unix:path=relative",
            "unix:path=/a,abstract=b",
            "unix:path=/a%0",
            "unix:path=/a%00b",
            "autolaunch:",
            "/run/bus",
        ] {
            assert!(socket(text).is_none(), "{text}");
        }
    }
}
