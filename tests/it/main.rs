//! The one integration binary: `cargo test --test it`. Each module is a kind of test.

mod adapters;
mod architecture;
mod cases;
mod known_attacks;
mod policy;
mod reference;
mod source;
mod temporary;
