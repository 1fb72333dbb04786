//! Programs in terminals, through the whole service: keys in, screens out, and secrets that only the user knows.

mod scope;
mod programs;
mod prompts;
mod secrets;
