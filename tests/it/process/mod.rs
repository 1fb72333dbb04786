//! Processes through the whole service: what continues, what is found again, and that nothing is left in the end.

mod damage;
mod finding;
mod lasting;
mod lifetimes;
mod network;
mod outlasting;
mod reading;
mod starting;
