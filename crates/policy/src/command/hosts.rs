//! The hosts that commands of a scope may reach by the proxy: entries of the config, and what they allow.
//!
//! An entry names a host (`github.com`), all hosts below a domain (`*.example.org`), an address or a network
//! (`10.0.0.5`, `10.0.0.0/8`, `[fd00::1]`); each with `:PORT` for that port alone, and otherwise for 443 and 80. Names
//! allow no address that is not public: those are reached where an entry names the address itself.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The ports of an entry that names none.
const USUAL_PORTS: [u16; 2] = [443, 80];
/// How many entries a scope may have.
const MAX_ENTRIES: usize = 1_000;

/// A host as a program names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HostName {
    /// A name in small letters, without a dot at its end.
    Name(String),
    /// An address. One of IPv4 in the form of IPv6 is the one of IPv4.
    Address(IpAddr),
}

impl HostName {
    /// Reads a host. `None` for what no host can be, and for numbers that some programs read as addresses.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(inner) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            return inner
                .parse::<Ipv6Addr>()
                .ok()
                .map(|address| Self::Address(IpAddr::V6(address).to_canonical()));
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Some(Self::Address(address.to_canonical()));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        is_name(&name).then_some(Self::Name(name))
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

fn is_name(name: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    // `127.1`, `2130706433` and `0x7f.1` are addresses to some resolvers.
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
    name.len() <= 253 && !is_number && name.split('.').all(is_label)
}

/// What an entry names.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Subject {
    Host(String),
    /// All below a domain, but not the domain itself.
    Below(String),
    /// An address, or all that have its first bits.
    Network(IpAddr, u8),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct HostEntry {
    subject: Subject,
    port: Option<u16>,
}

impl HostEntry {
    fn parse(text: &str) -> Result<Self, String> {
        const EXPECTED: &str = "a host (`github.com`), a domain (`*.example.org`) or an address (`10.0.0.5`, \
                                `10.0.0.0/8`, `[fd00::1]`), each with or without `:PORT`";
        let wrong = |why: &str| Err(format!("{why}; expected {EXPECTED}"));
        if text.contains("://") {
            return wrong("it is a URL");
        }
        if !text.is_ascii() {
            return wrong("it has letters outside of ASCII: write the name in its `xn--` form");
        }
        if text == "*" {
            return wrong("`*` is every host: `\"network\": \"full\"` opens the whole network");
        }
        // An address of IPv6 without brackets has no port.
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if host.ends_with(']') || !host.contains(':') => {
                let number = port.parse::<u16>().ok().filter(|number| *number > 0 && !port.starts_with('+'));
                let Some(number) = number else { return wrong("its port is no number from 1 to 65535") };
                (host, Some(number))
            }
            _ => (text, None),
        };
        if let Some(domain) = host.strip_prefix("*.") {
            return match HostName::parse(domain) {
                Some(HostName::Name(name)) if name.contains('.') => {
                    Ok(Self { subject: Subject::Below(name), port })
                }
                Some(HostName::Name(_)) => wrong("it covers a whole top-level domain"),
                Some(HostName::Address(_)) | None => wrong("what follows `*.` is no domain"),
            };
        }
        if host.contains('*') {
            return wrong("`*` stands for whole labels at the front alone");
        }
        let (host, bits) = match host.split_once('/') {
            Some((host, bits)) => (host, Some(bits)),
            None => (host, None),
        };
        let subject = match (HostName::parse(host), bits) {
            (Some(HostName::Name(name)), None) => Subject::Host(name),
            (Some(HostName::Address(address)), bits) => {
                let most = if address.is_ipv4() { 32 } else { 128 };
                let bits = bits.map_or(Some(most), |bits| bits.parse().ok());
                match bits.filter(|bits| (1..=most).contains(bits)) {
                    Some(bits) => Subject::Network(address, bits),
                    None => return wrong("it has no number of bits that its kind of address has"),
                }
            }
            (Some(HostName::Name(_)) | None, _) => return wrong("it is no host"),
        };
        Ok(Self { subject, port })
    }

    fn has_host(&self, host: &HostName) -> bool {
        match (&self.subject, host) {
            (Subject::Host(name), HostName::Name(host)) => name == host,
            (Subject::Below(domain), HostName::Name(host)) => {
                host.strip_suffix(domain.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
            (Subject::Network(network, bits), HostName::Address(address)) => {
                is_within(*address, *network, *bits)
            }
            (_, _) => false,
        }
    }

    fn has_port(&self, port: u16) -> bool {
        self.port.map_or(USUAL_PORTS.contains(&port), |named| named == port)
    }
}

fn is_within(address: IpAddr, network: IpAddr, bits: u8) -> bool {
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            (address.to_bits() ^ network.to_bits()).leading_zeros() >= u32::from(bits)
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => {
            (address.to_bits() ^ network.to_bits()).leading_zeros() >= u32::from(bits)
        }
        (_, _) => false,
    }
}

/// Why a host is not reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostRefusal {
    /// No entry names it.
    Host,
    /// Entries name it, but not at this port.
    Port,
    /// The name leads to this address, which is of that kind and which no entry names.
    Address(IpAddr, &'static str),
}

/// The hosts that commands of a scope may reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRules {
    texts: Vec<String>,
    entries: Vec<HostEntry>,
}

impl HostRules {
    /// Reads the entries of a config.
    ///
    /// # Errors
    /// The place of the first wrong one, if it is one of them, and what is wrong.
    pub fn compile(texts: &[String]) -> Result<Self, (Option<usize>, String)> {
        if texts.is_empty() {
            return Err((None, "it names no host: write `\"network\": \"loopback\"` for none".to_owned()));
        }
        Self::compile_any(texts)
    }

    /// Reads the entries of a config that asks about all other hosts: there need not be one.
    ///
    /// # Errors
    /// As [`HostRules::compile`].
    pub fn compile_any(texts: &[String]) -> Result<Self, (Option<usize>, String)> {
        if texts.len() > MAX_ENTRIES {
            return Err((None, format!("it has more than {MAX_ENTRIES} entries")));
        }
        let entries = texts.iter().enumerate().map(|(at, text)| {
            HostEntry::parse(text).map_err(|why| (Some(at), format!("`{}`: {why}", text.escape_debug())))
        });
        Ok(Self { entries: entries.collect::<Result<_, _>>()?, texts: texts.to_vec() })
    }

    /// Returns the entries as they are written.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Judges what a program asks for, before a name is resolved.
    ///
    /// # Errors
    /// Where no entry allows it.
    pub fn judge(&self, host: &HostName, port: u16) -> Result<(), HostRefusal> {
        let mut named = self.entries.iter().filter(|entry| entry.has_host(host)).peekable();
        if named.peek().is_none() {
            return Err(HostRefusal::Host);
        }
        if named.any(|entry| entry.has_port(port)) { Ok(()) } else { Err(HostRefusal::Port) }
    }

    /// Judges an address that a name leads to.
    ///
    /// # Errors
    /// For one that is not public and that no entry names.
    pub fn judge_address(&self, address: IpAddr, port: u16, is_own: bool) -> Result<(), HostRefusal> {
        let address = address.to_canonical();
        let own = is_own.then_some("an address of this computer");
        match special_kind(address).or(own) {
            None => Ok(()),
            Some(_) if self.judge(&HostName::Address(address), port).is_ok() => Ok(()),
            Some(kind) => Err(HostRefusal::Address(address, kind)),
        }
    }
}

/// Returns the word of the command line that allows a host at a port.
pub fn allowing_word(host: &HostName, port: u16) -> String {
    if USUAL_PORTS.contains(&port) { host.to_string() } else { format!("{host}:{port}") }
}

/// Returns whether entries without a port have this one: then what is spoken there is known.
pub fn is_usual_port(port: u16) -> bool {
    USUAL_PORTS.contains(&port)
}

/// Returns of what kind an address is that is not public.
///
/// # Source
/// The IANA registries of special-purpose addresses for IPv4 and IPv6.
fn special_kind(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => special_kind_v4(address),
        IpAddr::V6(address) => special_kind_v6(address),
    }
}

fn special_kind_v4(address: Ipv4Addr) -> Option<&'static str> {
    let within = |network: [u8; 4], bits| is_within(address.into(), IpAddr::from(network), bits);
    let kinds: &[([u8; 4], u8, &str)] = &[
        ([0, 0, 0, 0], 8, "an address of this computer"),
        ([127, 0, 0, 0], 8, "a loopback address"),
        ([10, 0, 0, 0], 8, "a private address"),
        ([172, 16, 0, 0], 12, "a private address"),
        ([192, 168, 0, 0], 16, "a private address"),
        ([100, 64, 0, 0], 10, "a shared address"),
        ([169, 254, 0, 0], 16, "a link-local address"),
        ([192, 0, 0, 0], 24, "a reserved address"),
        ([192, 0, 2, 0], 24, "a reserved address"),
        ([192, 88, 99, 0], 24, "a reserved address"),
        ([198, 18, 0, 0], 15, "a reserved address"),
        ([198, 51, 100, 0], 24, "a reserved address"),
        ([203, 0, 113, 0], 24, "a reserved address"),
        ([224, 0, 0, 0], 4, "a multicast address"),
        ([240, 0, 0, 0], 4, "a reserved address"),
        // A cloud's wire server, with a public number.
        ([168, 63, 129, 16], 32, "a metadata address"),
    ];
    kinds.iter().find(|(network, bits, _)| within(*network, *bits)).map(|(_, _, kind)| *kind)
}

fn special_kind_v6(address: Ipv6Addr) -> Option<&'static str> {
    let segments = address.segments();
    // What translates addresses of IPv4 leads to them.
    if segments[..6] == [0x64, 0xff9b, 0, 0, 0, 0] {
        return special_kind_v4(Ipv4Addr::from_bits((address.to_bits() & 0xffff_ffff) as u32));
    }
    if address.is_loopback() || address.is_unspecified() {
        return Some("a loopback address");
    }
    match segments[0] {
        0xff00..=0xffff => Some("a multicast address"),
        0xfe80..=0xfebf => Some("a link-local address"),
        0xfc00..=0xfdff => Some("a private address"),
        0x2001 if segments[1] < 0x200 || segments[1] == 0xdb8 => Some("a reserved address"),
        0x2002 => Some("a reserved address"),
        0x3fff if segments[1] < 0x1000 => Some("a reserved address"),
        0x2000..=0x3fff => None,
        _ => Some("a reserved address"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(entries: &[&str]) -> HostRules {
        let texts: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
        HostRules::compile(&texts).expect("entries")
    }

    fn judge(rules: &HostRules, host: &str, port: u16) -> Result<(), HostRefusal> {
        rules.judge(&HostName::parse(host).expect(host), port)
    }

    #[test]
    fn an_entry_allows_its_host_at_its_ports_and_nothing_else() {
        let rules = rules(&["GitHub.com", "*.example.org:8443", "10.0.0.0/8", "[fd00::1]:4873"]);
        for (host, port) in [
            ("github.com", 443),
            ("GITHUB.com.", 80),
            ("a.example.org", 8443),
            ("a.b.example.org", 8443),
            ("10.9.8.7", 443),
            ("[fd00::1]", 4873),
            ("[::ffff:10.9.8.7]", 443),
        ] {
            assert_eq!(judge(&rules, host, port), Ok(()), "{host} {port}");
        }
        for (host, port, refusal) in [
            ("github.com", 22, HostRefusal::Port),
            ("api.github.com", 443, HostRefusal::Host),
            ("notgithub.com", 443, HostRefusal::Host),
            ("github.com.evil.org", 443, HostRefusal::Host),
            ("example.org", 8443, HostRefusal::Host),
            ("notexample.org", 8443, HostRefusal::Host),
            ("a.example.org", 443, HostRefusal::Port),
            ("11.0.0.1", 443, HostRefusal::Host),
            ("[fd00::1]", 443, HostRefusal::Port),
        ] {
            assert_eq!(judge(&rules, host, port), Err(refusal), "{host} {port}");
        }
    }

    #[test]
    fn what_is_no_entry_is_refused_with_its_place() {
        for (entry, word) in [
            ("https://github.com", "URL"),
            ("*", "network"),
            ("*.com", "top-level"),
            ("*.1.2.3.4", "no domain"),
            ("git*.com", "labels"),
            ("a.*.com", "labels"),
            ("github.com:0", "port"),
            ("github.com:99999", "port"),
            ("github.com:+80", "port"),
            ("github.com:", "port"),
            ("10.0.0.0/33", "bits"),
            ("10.0.0.0/0", "bits"),
            ("github.com/path", "no host"),
            ("user@github.com", "no host"),
            ("bücher.example", "xn--"),
            ("127.1", "no host"),
            ("2130706433", "no host"),
            ("0x7f.0x1", "no host"),
            ("", "no host"),
            ("a b", "no host"),
        ] {
            let (at, why) = HostRules::compile(&["ok.org".to_owned(), entry.to_owned()]).expect_err(entry);
            assert!(at == Some(1) && why.contains(word) && why.contains("expected"), "{entry}: {why}");
        }
        assert!(HostRules::compile(&[]).is_err());
    }

    #[test]
    fn an_address_that_is_not_public_is_reached_only_where_it_is_named() {
        let open = rules(&["example.org", "192.168.7.0/24:8080"]);
        for address in [
            "127.0.0.1",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.100.100.200",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "192.0.0.192",
            "198.18.0.1",
            "168.63.129.16",
            "::1",
            "::",
            "fe80::1",
            "fd00:ec2::254",
            "ff02::1",
            "::ffff:127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2001:db8::1",
            "2001::1",
            "::7f00:1",
            "fec0::1",
            "192.168.7.1",
        ] {
            let refused = open.judge_address(address.parse().expect(address), 443, false);
            assert!(matches!(refused, Err(HostRefusal::Address(_, _))), "{address}: {refused:?}");
        }
        for address in ["1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1", "64:ff9b::101:101"] {
            let address: IpAddr = address.parse().expect(address);
            assert_eq!(open.judge_address(address, 443, false), Ok(()), "{address}");
            assert!(open.judge_address(address, 443, true).is_err(), "{address}");
        }
        let named = "192.168.7.1".parse().expect("an address");
        assert_eq!(open.judge_address(named, 8080, false), Ok(()));
    }
}
