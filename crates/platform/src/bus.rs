//! One connection to a bus of D-Bus, and calls with a deadline.
//!
//! What programs answer is a stranger's word: texts of their errors are left out.

use std::env;
use std::io;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::task::{JoinError, JoinSet, spawn_blocking};
use zbus::Connection;
use zbus::zvariant::{DynamicType, OwnedValue, Type};

use crate::bus_address;
use crate::program_error::ProgramError;
use crate::screen::{own_socket, plain};

/// So many calls wait for an answer at a time.
const AT_ONCE: usize = 64;
/// The bus itself, as a program on it.
const DAEMON: &str = "org.freedesktop.DBus";
/// The name of an answer that is not of the form that was asked for.
const UNREADABLE: &str = "org.freedesktop.DBus.Error.InvalidSignature";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";

/// Returns the address of the session's bus; `None` where this process belongs to no session.
pub(crate) fn session_address() -> Option<String> {
    if let Some(address) = env::var("DBUS_SESSION_BUS_ADDRESS").ok().filter(|it| !it.is_empty()) {
        return Some(address);
    }
    let socket = Path::new(&env::var_os("XDG_RUNTIME_DIR")?).join("bus");
    Some(format!("unix:path={}", socket.to_str()?))
}

/// One connection.
#[derive(Debug)]
pub(crate) struct BusConnection {
    /// The connection.
    pub connection: Connection,
    /// How long a program may take to answer one call.
    patience: Duration,
    is_lost: AtomicBool,
}

impl From<zbus::Error> for ProgramError {
    fn from(error: zbus::Error) -> Self {
        match error {
            // The text of an error is the program's own, and is left out.
            zbus::Error::MethodError(name, ..) => match name.rsplit('.').next().unwrap_or_default() {
                "UnknownMethod" | "UnknownInterface" | "UnknownProperty" | "NotSupported" => Self::Unable,
                "ServiceUnknown" | "NameHasNoOwner" | "UnknownObject" => Self::Gone,
                "Disconnected" | "NoReply" => Self::NoReply,
                _ => Self::Refused(name.to_string()),
            },
            zbus::Error::InputOutput(error) if error.kind() == io::ErrorKind::TimedOut => Self::Unresponsive,
            zbus::Error::InputOutput(_) => Self::Lost,
            _ => unreadable(),
        }
    }
}

/// Creates the error of an answer that is not of the form that was asked for.
pub(crate) fn unreadable() -> ProgramError {
    ProgramError::Refused(UNREADABLE.to_owned())
}

impl BusConnection {
    /// Connects to the bus at an address. Each call has `patience`, as connecting has.
    pub async fn connect(address: &str, patience: Duration) -> Result<Self, String> {
        let socket = bus_address::socket(address).ok_or("its address is no socket of this computer")?;
        // A server that takes no connections would hold up others who ask.
        let connected = spawn_blocking(move || {
            let stream = own_socket::connect(&socket, "that address", Instant::now() + patience)?;
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
        let connection =
            tokio::time::timeout(patience, connecting).await.map_err(|_| "it does not answer")?;
        let connection = connection.map_err(|error| plain::plain(&error.to_string()))?;
        Ok(Self { connection, patience, is_lost: AtomicBool::new(false) })
    }

    /// Calls a method, and reads the answer.
    pub async fn call<B, R>(
        &self,
        program: &str,
        path: &str,
        interface: &str,
        method: &str,
        body: &B,
    ) -> Result<R, ProgramError>
    where
        B: Serialize + DynamicType,
        R: DeserializeOwned + Type,
    {
        let calling = self.connection.call_method(Some(program), path, Some(interface), method, body);
        let answer =
            tokio::time::timeout(self.patience, calling).await.map_err(|_| ProgramError::Unresponsive)?;
        let answer = answer.map_err(|error| {
            let error = ProgramError::from(error);
            if error == ProgramError::Lost {
                self.is_lost.store(true, Ordering::Relaxed);
            }
            error
        })?;
        answer.body().deserialize().map_err(|_| unreadable())
    }

    /// Reads a property.
    pub async fn property<R>(
        &self,
        program: &str,
        path: &str,
        interface: &str,
        name: &str,
    ) -> Result<R, ProgramError>
    where
        R: TryFrom<OwnedValue>,
    {
        let value: OwnedValue = self.call(program, path, PROPERTIES, "Get", &(interface, name)).await?;
        R::try_from(value).map_err(|_| unreadable())
    }

    /// Asks the bus itself something about a program.
    pub async fn ask_bus<R>(&self, method: &str, program: &str) -> Result<R, ProgramError>
    where
        R: DeserializeOwned + Type,
    {
        self.call(DAEMON, "/org/freedesktop/DBus", DAEMON, method, &program).await
    }

    /// Returns the process of a program, as the bus has it from the kernel.
    pub async fn pid(&self, program: &str) -> Result<u32, ProgramError> {
        self.ask_bus("GetConnectionUnixProcessID", program).await
    }

    /// Returns whether the bus has broken the connection.
    pub fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }
}

/// Asks the same of many, a few dozen at a time, and returns the answers in their order.
pub(crate) async fn of_each<I, T, F>(all: Vec<I>, ask: impl Fn(I) -> F) -> Vec<T>
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
