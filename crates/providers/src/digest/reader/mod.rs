//! Readers: one for each format. Each takes line after line of one stream, and says which lines are its own.

mod cargo;
mod compiler;
mod eslint;
mod go;
mod jest;
mod libtest;
mod make;
mod mocha;
mod pytest;
mod router;
mod tsc;
mod unittest;
mod vitest;

pub(super) use router::Router;
