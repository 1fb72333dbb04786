//! One connection to an accessibility bus, and what is known of the programs there.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use zbus::zvariant::{DynamicType, OwnedObjectPath, OwnedValue, Type, Value};

use super::read::ROOT;
use crate::accessibility::RuntimeId;
use crate::bus::BusConnection;
pub(super) use crate::bus::of_each;
pub(super) use crate::program_error::ProgramError;

/// How long a program may take to answer one call.
pub(super) const CALL: Duration = Duration::from_secs(1);

/// An element, as the bus names it.
pub(super) type Reference = (String, OwnedObjectPath);

/// One connection.
#[derive(Debug)]
pub(super) struct Bus {
    pub(super) connection: BusConnection,
    /// The processes of programs. A name is never given to another.
    pids: Mutex<HashMap<String, u32>>,
    /// Which programs are of GTK 4.
    gtk4: Mutex<HashMap<String, bool>>,
}

impl Bus {
    /// Connects to the bus at an address.
    pub(super) async fn connect(address: &str) -> Result<Self, String> {
        let connection = BusConnection::connect(address, CALL).await?;
        // Programs list their elements only once something has been registered. No rule asks for the events themselves.
        let event = ("object:children-changed", Vec::<String>::new(), "");
        connection
            .call::<_, ()>(REGISTRY, "/org/a11y/atspi/registry", REGISTRY, "RegisterEvent", &event)
            .await
            .map_err(|error| format!("its registry does not answer ({error:?})"))?;
        Ok(Self { connection, pids: Mutex::default(), gtk4: Mutex::default() })
    }

    /// Calls a method of an element.
    pub(super) async fn ask<B, R>(
        &self,
        element: &RuntimeId,
        interface: &str,
        method: &str,
        body: &B,
    ) -> Result<R, ProgramError>
    where
        B: Serialize + DynamicType,
        R: DeserializeOwned + Type,
    {
        let interface = format!("org.a11y.atspi.{interface}");
        self.connection.call(&element.program, &element.path, &interface, method, body).await
    }

    /// Reads a property of an element.
    pub(super) async fn property<R>(
        &self,
        element: &RuntimeId,
        interface: &str,
        name: &str,
    ) -> Result<R, ProgramError>
    where
        R: TryFrom<OwnedValue>,
    {
        let interface = format!("org.a11y.atspi.{interface}");
        self.connection.property(&element.program, &element.path, &interface, name).await
    }

    /// Sets the number of an element.
    pub(super) async fn set_number(&self, element: &RuntimeId, number: f64) -> Result<(), ProgramError> {
        let body = ("org.a11y.atspi.Value", "CurrentValue", Value::from(number));
        self.connection
            .call(&element.program, &element.path, "org.freedesktop.DBus.Properties", "Set", &body)
            .await
    }

    /// Returns the process of a program, as the bus has it from the kernel.
    pub(super) async fn pid(&self, program: &str) -> Result<u32, ProgramError> {
        if let Some(pid) = self.pids().get(program) {
            return Ok(*pid);
        }
        let pid = self.connection.pid(program).await?;
        self.pids().insert(program.to_owned(), pid);
        Ok(pid)
    }

    /// Returns whether a program is of GTK 4. One that does not say so is not.
    pub(super) async fn is_gtk4(&self, program: &RuntimeId) -> bool {
        if let Some(known) = self.toolkits().get(&program.program) {
            return *known;
        }
        let (name, version) = tokio::join!(
            self.property::<String>(program, "Application", "ToolkitName"),
            self.property::<String>(program, "Application", "Version"),
        );
        let (Ok(name), Ok(version)) = (name, version) else { return false };
        let is_gtk4 = name == "GTK" && version.split('.').next() == Some("4");
        self.toolkits().insert(program.program.clone(), is_gtk4);
        is_gtk4
    }

    /// Reads what the toolkit of an element's program calls itself.
    pub(super) async fn toolkit(&self, element: &RuntimeId) -> Result<String, ProgramError> {
        let root = RuntimeId { path: ROOT.to_owned(), ..element.clone() };
        self.property(&root, "Application", "ToolkitName").await
    }

    fn toolkits(&self) -> std::sync::MutexGuard<'_, HashMap<String, bool>> {
        self.gtk4.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pids(&self) -> std::sync::MutexGuard<'_, HashMap<String, u32>> {
        self.pids.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The registry, which is its own interface.
pub(super) const REGISTRY: &str = "org.a11y.atspi.Registry";
