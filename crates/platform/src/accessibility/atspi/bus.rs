//! One connection to an accessibility bus, and calls with a deadline.

use std::collections::HashMap;
use std::io;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::task::{JoinError, JoinSet, spawn_blocking};
use zbus::Connection;
use zbus::zvariant::{DynamicType, OwnedObjectPath, Type};

use crate::accessibility::{AccessibilityError, RuntimeId};
use crate::bus_address;
use crate::screen::own_socket;

/// How long a program may take to answer one call.
pub(super) const CALL: Duration = Duration::from_secs(1);

/// So many calls wait for an answer at a time.
const AT_ONCE: usize = 64;

/// An element, as the bus names it.
pub(super) type Reference = (String, OwnedObjectPath);

/// One connection.
#[derive(Debug)]
pub(super) struct Bus {
    connection: Connection,
    /// The processes of programs. A name is never given to another.
    pids: Mutex<HashMap<String, u32>>,
    /// Which programs are of GTK 4.
    gtk4: Mutex<HashMap<String, bool>>,
    is_lost: AtomicBool,
}

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallError {
    /// The program did not answer in time.
    Timeout,
    /// The bus itself is gone.
    Lost,
    /// The program went while it was asked: it may have done what was asked for.
    NoReply,
    /// The program or the element is gone.
    Gone,
    /// The program knows no such call.
    Unknown,
    /// The program answered with an error, of which this is the name, or with something else than was asked for.
    Refused(String),
}

impl From<CallError> for AccessibilityError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Timeout | CallError::NoReply => Self::Unresponsive,
            CallError::Gone => Self::Gone,
            CallError::Unknown => Self::Unable,
            CallError::Lost => Self::Lost,
            CallError::Refused(name) => Self::Refused(name),
        }
    }
}

impl From<zbus::Error> for CallError {
    fn from(error: zbus::Error) -> Self {
        match error {
            // The text of an error is the program's own, and is left out.
            zbus::Error::MethodError(name, ..) => match name.rsplit('.').next().unwrap_or_default() {
                "UnknownMethod" | "UnknownInterface" | "UnknownProperty" | "NotSupported" => Self::Unknown,
                "ServiceUnknown" | "NameHasNoOwner" | "UnknownObject" => Self::Gone,
                "Disconnected" | "NoReply" => Self::NoReply,
                _ => Self::Refused(name.to_string()),
            },
            zbus::Error::InputOutput(error) if error.kind() == io::ErrorKind::TimedOut => Self::Timeout,
            zbus::Error::InputOutput(_) => Self::Lost,
            _ => Self::Refused(UNREADABLE.to_owned()),
        }
    }
}

/// The name of an answer that is not of the form that was asked for.
const UNREADABLE: &str = "org.freedesktop.DBus.Error.InvalidSignature";

fn shown(text: &str) -> String {
    crate::screen::plain::plain(text)
}

impl Bus {
    /// Connects to the bus at an address.
    pub(super) async fn connect(address: &str) -> Result<Self, String> {
        let socket = bus_address::socket(address).ok_or("its address is no socket of this computer")?;
        // A server that takes no connections would hold up others who ask.
        let connected = spawn_blocking(move || {
            let stream = own_socket::connect(&socket, "that address", Instant::now() + CALL)?;
            stream.set_nonblocking(true)?;
            Ok(stream)
        });
        let stream = connected
            .await
            .map_err(io::Error::from)
            .flatten()
            .and_then(tokio::net::UnixStream::from_std)
            .map_err(|error| error.to_string())?;
        let connecting = zbus::connection::Builder::unix_stream(stream).build();
        let connection = tokio::time::timeout(CALL, connecting).await.map_err(|_| "it does not answer")?;
        let bus = Self {
            connection: connection.map_err(|error| shown(&error.to_string()))?,
            pids: Mutex::default(),
            gtk4: Mutex::default(),
            is_lost: AtomicBool::new(false),
        };
        // Programs list their elements only once something has been registered. No rule asks for the events themselves.
        let event = ("object:children-changed", Vec::<String>::new(), "");
        let registry = "/org/a11y/atspi/registry";
        bus.call::<_, ()>(REGISTRY, registry, REGISTRY, "RegisterEvent", &event)
            .await
            .map_err(|error| format!("its registry does not answer ({error:?})"))?;
        Ok(bus)
    }

    /// Calls a method, and reads the answer.
    pub(super) async fn call<B, R>(
        &self,
        program: &str,
        path: &str,
        interface: &str,
        method: &str,
        body: &B,
    ) -> Result<R, CallError>
    where
        B: Serialize + DynamicType,
        R: DeserializeOwned + Type,
    {
        let calling = self.connection.call_method(Some(program), path, Some(interface), method, body);
        let answer = tokio::time::timeout(CALL, calling).await.map_err(|_| CallError::Timeout)?;
        let answer = answer.map_err(|error| {
            let error = CallError::from(error);
            if error == CallError::Lost {
                self.is_lost.store(true, Ordering::Relaxed);
            }
            error
        })?;
        answer.body().deserialize().map_err(|_| CallError::Refused(UNREADABLE.to_owned()))
    }

    /// Calls a method of an element.
    pub(super) async fn ask<B, R>(
        &self,
        element: &RuntimeId,
        interface: &str,
        method: &str,
        body: &B,
    ) -> Result<R, CallError>
    where
        B: Serialize + DynamicType,
        R: DeserializeOwned + Type,
    {
        let interface = format!("org.a11y.atspi.{interface}");
        self.call(&element.program, &element.path, &interface, method, body).await
    }

    /// Reads a property of an element.
    pub(super) async fn property<R>(
        &self,
        element: &RuntimeId,
        interface: &str,
        name: &str,
    ) -> Result<R, CallError>
    where
        R: TryFrom<zbus::zvariant::OwnedValue>,
    {
        let body = (format!("org.a11y.atspi.{interface}"), name);
        let value: zbus::zvariant::OwnedValue = self
            .call(&element.program, &element.path, "org.freedesktop.DBus.Properties", "Get", &body)
            .await?;
        R::try_from(value).map_err(|_| CallError::Refused(UNREADABLE.to_owned()))
    }

    /// Sets the number of an element.
    pub(super) async fn set_number(&self, element: &RuntimeId, number: f64) -> Result<(), CallError> {
        let body = ("org.a11y.atspi.Value", "CurrentValue", zbus::zvariant::Value::from(number));
        self.call(&element.program, &element.path, "org.freedesktop.DBus.Properties", "Set", &body).await
    }

    /// Returns whether the bus has broken the connection.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    /// Returns the process of a program, as the bus has it from the kernel.
    pub(super) async fn pid(&self, program: &str) -> Result<u32, CallError> {
        if let Some(pid) = self.pids().get(program) {
            return Ok(*pid);
        }
        let pid = self
            .call(DAEMON, "/org/freedesktop/DBus", DAEMON, "GetConnectionUnixProcessID", &program)
            .await?;
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

    fn toolkits(&self) -> std::sync::MutexGuard<'_, HashMap<String, bool>> {
        self.gtk4.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pids(&self) -> std::sync::MutexGuard<'_, HashMap<String, u32>> {
        self.pids.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const DAEMON: &str = "org.freedesktop.DBus";
/// The registry, which is its own interface.
pub(super) const REGISTRY: &str = "org.a11y.atspi.Registry";

/// Asks the same of many, a few dozen at a time, and returns the answers in their order.
pub(super) async fn of_each<I, T, F>(all: Vec<I>, ask: impl Fn(I) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut answers: Vec<(usize, T)> = Vec::with_capacity(all.len());
    let mut running = JoinSet::new();
    for (at, one) in all.into_iter().enumerate() {
        if running.len() >= AT_ONCE
            && let Some(answer) = running.join_next().await
        {
            answers.push(answer.unwrap_or_else(end));
        }
        let asked = ask(one);
        running.spawn(async move { (at, asked.await) });
    }
    while let Some(answer) = running.join_next().await {
        answers.push(answer.unwrap_or_else(end));
    }
    answers.sort_unstable_by_key(|(at, _)| *at);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

/// Ends the whole question with the panic of one: with an answer missing, each later one would be another's.
fn end<T>(error: JoinError) -> T {
    resume_unwind(error.into_panic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn answers_are_in_order_and_none_is_anothers() {
        let asked: Vec<usize> = (0..3 * AT_ONCE).collect();
        assert_eq!(of_each(asked.clone(), |it| async move { it }).await, asked);
        let broken = tokio::spawn(of_each(asked, |it| async move {
            assert!(it != 5, "a bug");
            it
        }));
        assert!(broken.await.is_err_and(|error| error.is_panic()));
    }
}
