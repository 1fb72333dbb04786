//! Source files: what they define, and the index of it.

mod index;
