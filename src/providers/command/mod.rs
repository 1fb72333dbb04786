//! Commands: finding the program, its environment, running it held, and what is kept of its output.
//!
//! Runs only what a permit holds. What may run, and how strongly it is held, is the policy's to say.

mod ansi;
mod capture;
mod environment;
mod program;
mod shown;
