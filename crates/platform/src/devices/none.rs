//! Systems whose devices are not asked yet.

use super::{DeviceError, DeviceSources, PowerState, Volume};

/// The devices of this system, which are not asked.
#[derive(Debug)]
pub struct Devices(());

impl Devices {
    /// Makes it ready.
    pub const fn new(_: &DeviceSources) -> Self {
        Self(())
    }

    /// Reads nothing.
    pub const fn power(&self) -> PowerState {
        PowerState { battery: Err(DeviceError::Unsupported), on_mains: Err(DeviceError::Unsupported) }
    }

    /// Reads nothing.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`], as all others here.
    pub const fn locked(&self) -> Result<bool, DeviceError> {
        Err(DeviceError::Unsupported)
    }

    /// Reads nothing.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`].
    pub const fn brightness(&self) -> Result<f64, DeviceError> {
        Err(DeviceError::Unsupported)
    }

    /// Sets nothing.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`].
    pub const fn set_brightness(&self, _: f64) -> Result<f64, DeviceError> {
        Err(DeviceError::Unsupported)
    }

    /// Reads nothing.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`].
    pub const fn volume(&self) -> Result<Volume, DeviceError> {
        Err(DeviceError::Unsupported)
    }

    /// Sets nothing.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`].
    pub const fn set_volume(&self, _: f64) -> Result<f64, DeviceError> {
        Err(DeviceError::Unsupported)
    }
}
