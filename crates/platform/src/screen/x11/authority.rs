//! Finds the cookie by which an X server lets this user in.
//!
//! # Source
//!
//! The file's form is that of libXau's `AuFileName(3)`: entries of family, address, display number, name of the
//! method and its data, each but the family with its length before it, all numbers big-endian.

use std::fs;
use std::io::Read;
use std::path::Path;

use super::address::{Address, ServerAddress};
use crate::machine;

/// A method and its secret. Never printed.
pub(super) struct Cookie {
    /// The method's name.
    pub method: Vec<u8>,
    /// The secret.
    pub data: Vec<u8>,
}

struct Entry<'a> {
    family: u16,
    address: &'a [u8],
    number: &'a [u8],
    method: &'a [u8],
    data: &'a [u8],
}

const FAMILY_LOCAL: u16 = 256;
const FAMILY_WILD: u16 = 65_535;
const METHOD: &[u8] = b"MIT-MAGIC-COOKIE-1";
const MAX_BYTES: u64 = 1 << 20;

/// Returns the cookie for a server, if the file has one.
pub(super) fn cookie(file: Option<&Path>, address: &Address) -> Option<Cookie> {
    let mut bytes = Vec::new();
    fs::File::open(file?).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let host = match &address.place {
        ServerAddress::Socket(_) => machine::host_name(),
        ServerAddress::Tcp(host, _) if host == "localhost" || host == "127.0.0.1" || host == "::1" => {
            machine::host_name()
        }
        ServerAddress::Tcp(host, _) => host.clone(),
    };
    find(&bytes, host.as_bytes(), address.number)
}

/// Prefers the entry of this very host, then one for any host; then, since a computer's name may have changed after
/// the session began, one of another name: the server at the other end is known to be this user's or root's.
fn find(bytes: &[u8], host: &[u8], number: u16) -> Option<Cookie> {
    let number = number.to_string();
    let fitting = |entry: &Entry<'_>| {
        entry.method == METHOD && (entry.number.is_empty() || entry.number == number.as_bytes())
    };
    let rank = |entry: &Entry<'_>| match entry.family {
        FAMILY_LOCAL if entry.address == host => 0,
        FAMILY_WILD => 1,
        FAMILY_LOCAL => 2,
        _ => 3,
    };
    let best = entries(bytes).filter(fitting).filter(|entry| rank(entry) < 3).min_by_key(rank)?;
    Some(Cookie { method: best.method.to_vec(), data: best.data.to_vec() })
}

fn entries(mut bytes: &[u8]) -> impl Iterator<Item = Entry<'_>> {
    std::iter::from_fn(move || {
        let family = take_number(&mut bytes)?;
        let mut next = || {
            let length = usize::from(take_number(&mut bytes)?);
            let (text, rest) = bytes.split_at_checked(length)?;
            bytes = rest;
            Some(text)
        };
        Some(Entry { family, address: next()?, number: next()?, method: next()?, data: next()? })
    })
}

fn take_number(bytes: &mut &[u8]) -> Option<u16> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u16::from_be_bytes(*number))
}

#[cfg(test)]
mod tests {
    use super::find;

    fn entry(family: u16, fields: [&[u8]; 4]) -> Vec<u8> {
        let mut bytes = family.to_be_bytes().to_vec();
        for field in fields {
            bytes.extend(u16::try_from(field.len()).expect("short").to_be_bytes());
            bytes.extend(field);
        }
        bytes
    }

    #[test]
    fn the_entry_of_this_host_and_display_is_taken() {
        let method: &[u8] = b"MIT-MAGIC-COOKIE-1";
        let file = [
            entry(256, [b"here", b"1", method, b"other display"]),
            entry(256, [b"there", b"7", method, b"other name"]),
            entry(65_535, [b"", b"7", method, b"any host"]),
            entry(0, [b"\x7f\0\0\x01", b"7", method, b"by network"]),
            entry(256, [b"here", b"7", b"XDM-AUTHORIZATION-1", b"other method"]),
            entry(256, [b"here", b"7", method, b"the one"]),
        ]
        .concat();
        let data = |host: &[u8], number| find(&file, host, number).map(|cookie| cookie.data);
        assert_eq!(data(b"here", 7).as_deref(), Some(b"the one".as_slice()));
        assert_eq!(data(b"elsewhere", 7).as_deref(), Some(b"any host".as_slice()));
        assert_eq!(data(b"renamed", 1).as_deref(), Some(b"other display".as_slice()));
        assert_eq!(data(b"here", 8), None);
        // A file that is cut off gives what is whole in it.
        assert!(find(&file[..file.len() - 1], b"here", 7).is_some());
        assert!(find(&[1, 0, 0, 9, 1], b"here", 7).is_none());
    }
}
