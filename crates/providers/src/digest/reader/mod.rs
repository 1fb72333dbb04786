//! Readers: one for each format. Each takes line after line of one stream, and says which lines are its own.

mod cargo;
mod compiler;
mod diagnostics;
mod dotnet;
mod eslint;
mod go;
mod gradle;
mod jest;
mod libtest;
mod make;
mod maven;
mod mocha;
mod mypy;
mod phpunit;
mod pytest;
mod router;
mod rspec;
mod ruff;
mod swift;
mod tsc;
mod unittest;
mod vitest;

pub(super) use router::Router;
