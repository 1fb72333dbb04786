//! Digests: what a tool's output says, in a fraction of its size.
//!
//! Reads the text that build tools and test runners print: what failed, where, and the counts. Claims nothing that
//! the text does not say: where a tool's own counts and what was read differ, there is no digest, and the output is
//! given as it is. Knows nothing of how the output came to be, and keeps none of it; anyone who gives a digest in place
//! of an output sees to it that the output can still be read.

mod digester;
mod facts;
mod fit;
mod fold;
mod lines;
mod place;
mod reader;
mod shape;

pub use digester::{Digester, WHOLE_BYTES};
pub use facts::Counts;
pub use shape::{Digest, Failure};
