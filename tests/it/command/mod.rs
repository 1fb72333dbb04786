//! Commands through the whole service: what runs, what holds it, and that nothing of it is left.

mod closed;
mod digests;
mod ending;
mod git_later;
mod held;
mod hosts;
mod natural;
mod output;
mod read_only;
mod repository;
mod roots;
mod tools;
