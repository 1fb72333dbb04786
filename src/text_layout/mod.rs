//! Text for people laid out for the width of their terminal: columns, tables, folded lines. Must not write anything itself.

pub mod columns;
pub mod fold;
pub mod table;
