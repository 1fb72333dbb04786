//! The transports: the same envelopes through each, and what each has to withstand.

// Clients of the Unix socket, spoken to byte by byte.
#[cfg(target_os = "linux")]
mod cancelling;
mod envelopes;
mod http_attacks;
mod http_clients;
mod http_crowds;
mod http_framing;
mod http_limits;
mod http_threads;
// The Unix socket, its file and its mode; the named pipe has tests beside its code.
#[cfg(target_os = "linux")]
mod local_socket;
// Shell scripts replace the programs of tunnels, and processes are checked in /proc.
#[cfg(target_os = "linux")]
mod internet;
mod login;
mod login_page;
mod mcp_stdio;
mod mcp_tools;
mod openapi;
mod plain_calls;
// Signals, and pipes that are polled.
#[cfg(target_os = "linux")]
mod program;
mod refused_logins;
mod same_outcome;
// Only there a process reads what it holds from a file.
#[cfg(target_os = "linux")]
mod stress;
mod tls;
// Shell scripts stand in for the programs of tunnels.
#[cfg(target_os = "linux")]
mod tunnels;
