//! The one integration binary: `cargo test --test it`. Each module is a kind of test.

mod cases;
mod temporary;
