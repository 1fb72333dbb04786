//! The devices of a Linux computer.
//!
//! # Source
//! UPower's and systemd-logind's interfaces on the system's bus; the kernel's `sysfs-class-power` and
//! `sysfs-class-backlight`.

use std::cell::OnceCell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::runtime::Runtime;
use zbus::zvariant::OwnedValue;

use super::sound::{SoundServer, steps};
use super::{Battery, DeviceError, DeviceSources, PowerState, Volume};
use crate::bus::{BusConnection, unreadable};
use crate::program_error::ProgramError;

/// How long a service of the system may take to answer; the bus may have to start it.
const CALL: Duration = Duration::from_secs(5);

const UPOWER: BusObject = BusObject {
    program: "org.freedesktop.UPower",
    path: "/org/freedesktop/UPower",
    interface: "org.freedesktop.UPower",
};
/// All batteries of the computer, as one.
const BATTERIES: BusObject = BusObject {
    program: "org.freedesktop.UPower",
    path: "/org/freedesktop/UPower/devices/DisplayDevice",
    interface: "org.freedesktop.UPower.Device",
};
/// The session of this process, or else the one that its user has at the screen.
const SESSION: BusObject = BusObject {
    program: "org.freedesktop.login1",
    path: "/org/freedesktop/login1/session/auto",
    interface: "org.freedesktop.login1.Session",
};

/// An object on the bus.
struct BusObject {
    program: &'static str,
    path: &'static str,
    interface: &'static str,
}

/// The devices of this computer. All calls block, for seconds at most.
#[derive(Debug)]
pub struct Devices {
    sources: DeviceSources,
    bus: OnceCell<Result<SystemBus, ProgramError>>,
}

#[derive(Debug)]
struct SystemBus {
    bus: BusConnection,
    // After the connection, which needs it until it is closed.
    runtime: Runtime,
}

impl SystemBus {
    fn connect(address: &str) -> Result<Self, ProgramError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|_| ProgramError::Lost)?;
        let bus = runtime.block_on(BusConnection::connect(address, CALL)).map_err(|_| ProgramError::Lost)?;
        Ok(Self { bus, runtime })
    }
}

/// A screen whose brightness the kernel sets.
#[derive(Debug)]
struct Backlight {
    folder: PathBuf,
    name: String,
    most: u32,
}

impl Devices {
    /// Makes it ready, without asking anything.
    pub fn new(sources: &DeviceSources) -> Self {
        Self { sources: sources.clone(), bus: OnceCell::new() }
    }

    /// Reads where the power comes from: by UPower, or as the kernel lists it.
    pub fn power(&self) -> PowerState {
        self.power_by_service().unwrap_or_else(|_| power_by_files(&self.sources.classes.join("power_supply")))
    }

    /// Returns whether the user's session is locked, as its desktop says.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn locked(&self) -> Result<bool, DeviceError> {
        self.property(&SESSION, "LockedHint").map_err(|error| match error {
            ProgramError::Unresponsive => DeviceError::Unresponsive(LOGIND),
            ProgramError::Lost => DeviceError::Absent("the system has no bus that says it".to_owned()),
            ProgramError::Gone | ProgramError::Unable => {
                DeviceError::Absent("systemd-logind, which knows it, does not run".to_owned())
            }
            _ => DeviceError::Absent("this process belongs to no session of systemd-logind".to_owned()),
        })
    }

    /// Reads how bright the screen of the computer is, from 0 to 1.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn brightness(&self) -> Result<f64, DeviceError> {
        let screen = self.backlight()?;
        let now = number(&screen.folder.join("brightness")).filter(|it| *it <= screen.most);
        now.map(|it| screen.level(it))
            .ok_or_else(|| DeviceError::Refused("the brightness cannot be read".to_owned()))
    }

    /// Sets how bright the screen of the computer is: by systemd-logind, or where there is none by the file of the kernel. Returns
    /// the level that was asked for, in the steps of the screen.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn set_brightness(&self, level: f64) -> Result<f64, DeviceError> {
        let screen = self.backlight()?;
        let wanted = steps(level, screen.most);
        let body = ("backlight", screen.name.as_str(), wanted);
        match self.call::<_, ()>(&SESSION, "SetBrightness", &body) {
            Ok(()) => {}
            Err(ProgramError::Unresponsive | ProgramError::NoReply) => {
                return Err(DeviceError::Unresponsive(LOGIND));
            }
            // Only where it has no say: what it refuses, it refuses.
            Err(error) if knows_no_session(&error) => {
                fs::OpenOptions::new()
                    .write(true)
                    .open(screen.folder.join("brightness"))
                    .and_then(|mut file| io::Write::write_all(&mut file, wanted.to_string().as_bytes()))
                    .map_err(|error| {
                        let why = "systemd-logind knows no session of yours, and the kernel's file";
                        DeviceError::Refused(format!("{why} cannot be written: {error}"))
                    })?;
            }
            Err(_) => {
                return Err(DeviceError::Refused(
                    "systemd-logind refuses it: your session is not the one at the screen".to_owned(),
                ));
            }
        }
        Ok(screen.level(wanted))
    }

    /// Reads the volume of the output that programs use unless told otherwise.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn volume(&self) -> Result<Volume, DeviceError> {
        self.sound()?.volume()
    }

    /// Sets the volume of that output. Returns the level that was asked for, in the steps of the sound server.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn set_volume(&self, level: f64) -> Result<f64, DeviceError> {
        self.sound()?.set_volume(level)
    }

    fn sound(&self) -> Result<SoundServer, DeviceError> {
        let none = || DeviceError::Absent("the session names no sound server of this computer".to_owned());
        SoundServer::connect(self.sources.sound.as_deref().ok_or_else(none)?)
    }

    fn bus(&self) -> Result<&SystemBus, ProgramError> {
        let bus = self.bus.get_or_init(|| SystemBus::connect(&self.sources.system_bus));
        bus.as_ref().map_err(Clone::clone)
    }

    fn call<B, R>(&self, object: &BusObject, method: &str, body: &B) -> Result<R, ProgramError>
    where
        B: serde::Serialize + zbus::zvariant::DynamicType,
        R: serde::de::DeserializeOwned + zbus::zvariant::Type,
    {
        let SystemBus { bus, runtime } = self.bus()?;
        runtime.block_on(bus.call(object.program, object.path, object.interface, method, body))
    }

    fn property<R: TryFrom<OwnedValue>>(&self, object: &BusObject, name: &str) -> Result<R, ProgramError> {
        let SystemBus { bus, runtime } = self.bus()?;
        runtime.block_on(bus.property(object.program, object.path, object.interface, name))
    }

    fn power_by_service(&self) -> Result<PowerState, ProgramError> {
        let on_battery: bool = self.property(&UPOWER, "OnBattery")?;
        let on_mains = Ok(!on_battery);
        if !self.property::<bool>(&BATTERIES, "IsPresent")? {
            return Ok(PowerState { battery: Err(no_battery()), on_mains });
        }
        let percent: f64 = self.property(&BATTERIES, "Percentage")?;
        if !(0.0..=100.0).contains(&percent) {
            return Err(unreadable());
        }
        let state = match self.property::<u32>(&BATTERIES, "State")? {
            1 => "charging",
            2 => "discharging",
            3 => "empty",
            4 => "full",
            5 | 6 => "waiting",
            _ => "unknown",
        };
        Ok(PowerState { battery: Ok(Battery { percent, state }), on_mains })
    }

    /// Finds the screen of the computer: what firmware sets goes before what drivers do, as the kernel advises.
    fn backlight(&self) -> Result<Backlight, DeviceError> {
        let found = devices_of(&self.sources.classes.join("backlight")).into_iter().filter_map(|folder| {
            let kind = text(&folder.join("type"))?;
            let rank = ["firmware", "platform", "raw"].iter().position(|it| *it == kind)?;
            let most = number(&folder.join("max_brightness")).filter(|it| *it > 0)?;
            let name = folder.file_name()?.to_str()?.to_owned();
            Some((rank, Backlight { folder, name, most }))
        });
        let first = found.min_by_key(|(rank, _)| *rank).map(|(_, screen)| screen);
        first.ok_or_else(|| {
            DeviceError::Absent("this computer has no screen whose brightness it sets".to_owned())
        })
    }
}

impl Backlight {
    fn level(&self, steps: u32) -> f64 {
        f64::from(steps) / f64::from(self.most)
    }
}

const LOGIND: &str = "systemd-logind";

fn no_battery() -> DeviceError {
    DeviceError::Absent("this computer has no battery".to_owned())
}

/// Returns whether systemd-logind is not there, or has no session of this user.
fn knows_no_session(error: &ProgramError) -> bool {
    match error {
        ProgramError::Lost | ProgramError::Gone | ProgramError::Unable => true,
        ProgramError::Refused(name) => {
            ["NoSessionForPID", "NoSuchSession"].iter().any(|it| name.ends_with(&format!(".{it}")))
        }
        ProgramError::Unresponsive | ProgramError::NoReply => false,
    }
}

/// Reads batteries and plugs as the kernel lists them. Batteries of mice and the like do not count.
fn power_by_files(folder: &Path) -> PowerState {
    let (mut batteries, mut plugs) = (Vec::new(), Vec::new());
    for device in devices_of(folder) {
        let of = |name: &str| text(&device.join(name)).unwrap_or_default();
        if of("scope") == "Device" {
            continue;
        }
        match of("type").as_str() {
            "Battery" => batteries.extend(battery(&device, &of("status"))),
            "" => {}
            _ => plugs.extend(number(&device.join("online")).map(|online| online > 0)),
        }
    }
    let on_mains = match plugs.as_slice() {
        [] => batteries.first().map(|battery| battery.state != "discharging").ok_or_else(|| {
            DeviceError::Absent("this computer does not say where its power comes from".to_owned())
        }),
        plugs => Ok(plugs.contains(&true)),
    };
    PowerState { battery: all(&batteries).ok_or_else(no_battery), on_mains }
}

fn battery(device: &Path, status: &str) -> Option<Battery> {
    let percent = f64::from(number(&device.join("capacity")).filter(|it| *it <= 100)?);
    let state = match status {
        "Charging" => "charging",
        "Discharging" => "discharging",
        "Full" => "full",
        "Not charging" => "waiting",
        _ => "unknown",
    };
    Some(Battery { percent, state })
}

/// Returns several batteries as one: what any of them does, they do.
fn all(batteries: &[Battery]) -> Option<Battery> {
    let count = f64::from(u32::try_from(batteries.len()).ok()?);
    let percent = batteries.iter().map(|it| it.percent).sum::<f64>() / count;
    let busy = batteries.iter().find(|it| ["charging", "discharging"].contains(&it.state));
    Some(Battery { percent, state: busy.or_else(|| batteries.first())?.state })
}

/// Lists the devices of a class, by name.
fn devices_of(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    found.sort();
    found
}

fn text(file: &Path) -> Option<String> {
    fs::read_to_string(file).ok().map(|text| text.trim().to_owned())
}

fn number(file: &Path) -> Option<u32> {
    text(file)?.parse().ok()
}
