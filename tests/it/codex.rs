//! Codex through the whole service: the real one, against a provider on the loopback that says what each test scripts.

mod fake;
mod scope;
mod real;
