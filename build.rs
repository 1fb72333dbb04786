//! Links debug programs for Linux at a fixed address.
//!
//! A program that can be anywhere writes each of its addresses when it starts: 370,000 without optimization, half of
//! its start. Tests start it 12,000 times. Release builds are placed at random.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name, value| std::env::var(name).is_ok_and(|it| it == value);
    if is("PROFILE", "debug") && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
        println!("cargo::rustc-link-arg-tests=-no-pie");
    }
}
