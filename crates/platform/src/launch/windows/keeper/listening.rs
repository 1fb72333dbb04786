//! Whether something listens at a port.

use super::super::sys;

/// Returns whether something listens at a port where programs of this computer can reach it.
pub(super) fn is_listening(port: u16) -> bool {
    sys::listening_ports().is_ok_and(|ports| ports.contains(&port))
}
