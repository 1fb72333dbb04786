//! Battery, brightness, volume, and how the user's session is.
//!
//! Mechanism without opinion: it does not know who may ask. Nothing is opened before it is asked, and every answer has a
//! deadline.

mod clock;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod none;
#[cfg(target_os = "linux")]
mod sound;
mod sources;

pub use clock::LocalTime;
#[cfg(target_os = "linux")]
pub use linux::Devices;
#[cfg(not(target_os = "linux"))]
pub use none::Devices;
pub use sources::DeviceSources;

/// A battery, or several as one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Battery {
    /// How full it is, from 0 to 100.
    pub percent: f64,
    /// `charging`, `discharging`, `full`, `empty`, `waiting` or `unknown`.
    pub state: &'static str,
}

/// Where this computer has its power from.
#[derive(Debug, Clone, PartialEq)]
pub struct PowerState {
    /// Its battery.
    pub battery: Result<Battery, DeviceError>,
    /// Whether it is plugged in.
    pub on_mains: Result<bool, DeviceError>,
}

/// How loud this computer is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Volume {
    /// 1 is the loudest without distortion; the user may have set more.
    pub level: f64,
    /// Whether nothing is heard.
    pub muted: bool,
}

/// Why a device was not read or set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// This system is not asked yet.
    #[error("Bailiwick does not ask this system for it yet")]
    Unsupported,
    /// It is not there.
    #[error("{0}")]
    Absent(String),
    /// What has it does not answer in time.
    #[error("{0} does not answer")]
    Unresponsive(&'static str),
    /// It may not be set, or not by this process.
    #[error("{0}")]
    Refused(String),
}
