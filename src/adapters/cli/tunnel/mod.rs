//! `tunnel …`: the public URL under which clients elsewhere reach this computer, and the programs that forward it.

mod manual;
mod open;
mod run;

use crate::tunnels::{keeper, output, program, supervisor};

pub use keeper::serve_if_asked;
pub use output::{TunnelEvent, TunnelOutput};
pub use run::run;
