//! The proxy by which commands reach the hosts that their scope names, and nothing else.
//!
//! A command with hosts has a network of its own, in which nothing leads outside but one port. What listens there was handed
//! out of that network ([`bailiwick_platform::launch::ProxyPort`]), so that nobody else can connect to it. The proxy speaks
//! HTTP (`CONNECT`, and plain requests with a whole URI) and SOCKS5. It resolves names itself and connects to the very
//! address that it has judged. Before the first byte goes out it reads what the program says inside: a TLS greeting must
//! name the host that was asked for, and so must an HTTP request.
//!
//! What is judged: [`gate`]. What is read, and refused if it could be read in two ways: [`head`], [`hello`], [`socks`]. What
//! is passed on: [`requests`], [`exchange`], [`tunnel`]. It decides nothing else: the entries are the policy's.

mod exchange;
mod gate;
mod head;
mod hello;
mod proxy;
mod relay;
mod requests;
mod socks;
#[cfg(test)]
mod tests;
mod tunnel;
mod usage;
mod variables;

pub use gate::{AskAboutHosts, Egress, HostAnswer, Resolve};
pub use proxy::Proxy;
pub use usage::{HostUse, NetworkUse, RefusedHost};
pub(crate) use variables::set_variables;
