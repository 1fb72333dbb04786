//! `service`: the file that is written, and a service that systemd's user manager really runs.

mod manager;
mod systemd;
mod unit;
