//! What keeps the list of status icons on a bus that no desktop uses: programs show their icons only where there is one.
//!
//! # Source
//! StatusNotifierWatcher of freedesktop.org, with the names of `org.kde` that programs use.

use std::collections::BTreeSet;
use std::time::Duration;

use zbus::fdo::{RequestNameFlags, RequestNameReply};
use zbus::message::Header;
use zbus::object_server::SignalEmitter;
use zbus::{Connection, interface};

use super::TrayError;
use super::dbus::{ITEM_PATH, WATCHER, WATCHER_PATH};
use crate::bus::BusConnection;

/// How long the bus may take to answer.
const CALL: Duration = Duration::from_secs(5);
/// More icons than these are not listed.
const MOST_ITEMS: usize = 64;

/// The list of status icons of a bus. It ends with its value.
#[derive(Debug)]
pub struct Watcher {
    connection: Connection,
}

impl Watcher {
    /// Ends it: the bus has no list of icons any more.
    pub fn stop(self) {
        drop(self.connection);
    }

    /// Starts one on the bus at an address.
    ///
    /// # Errors
    /// [`TrayError::NoBus`], also where another program has the name.
    pub async fn start(address: &str) -> Result<Self, TrayError> {
        let failed = |error: zbus::Error| TrayError::NoBus(error.to_string());
        let bus = BusConnection::connect(address, CALL).await.map_err(TrayError::NoBus)?;
        let connection = bus.connection;
        connection.object_server().at(WATCHER_PATH, ItemList::default()).await.map_err(failed)?;
        let taken = connection.request_name_with_flags(WATCHER, RequestNameFlags::DoNotQueue.into());
        match tokio::time::timeout(CALL, taken).await {
            Ok(Ok(RequestNameReply::PrimaryOwner)) => Ok(Self { connection }),
            Ok(Err(error)) => Err(failed(error)),
            Ok(Ok(_)) => Err(TrayError::NoBus("another program keeps the list".to_owned())),
            Err(_) => Err(TrayError::NoBus("it does not answer".to_owned())),
        }
    }
}

/// The icons that programs have shown, each by the connection that has shown it.
#[derive(Debug, Default)]
struct ItemList {
    items: BTreeSet<String>,
}

#[interface(name = "org.kde.StatusNotifierWatcher")]
impl ItemList {
    async fn register_status_notifier_item(
        &mut self,
        service: &str,
        #[zbus(header)] header: Header<'_>,
        #[zbus(connection)] connection: &Connection,
        #[zbus(signal_emitter)] emitter: SignalEmitter<'_>,
    ) -> zbus::fdo::Result<()> {
        // Whatever a program calls it, it is its own: nobody lists an icon for another.
        let Some(sender) = header.sender() else { return Ok(()) };
        let path = if service.starts_with('/') { service } else { ITEM_PATH };
        let item = format!("{sender}{path}");
        if self.items.len() >= MOST_ITEMS {
            self.forget_gone(connection).await;
        }
        if path.len() > 255 || self.items.len() >= MOST_ITEMS {
            return Err(zbus::fdo::Error::LimitsExceeded("there are too many icons".to_owned()));
        }
        if self.items.insert(item.clone()) {
            Self::status_notifier_item_registered(&emitter, &item).await?;
        }
        Ok(())
    }

    #[expect(clippy::unused_self, reason = "a method of the interface")]
    fn register_status_notifier_host(&self, _service: &str) {}

    /// Returns the icons; those of programs that have ended are still among them.
    #[zbus(property)]
    fn registered_status_notifier_items(&self) -> Vec<String> {
        self.items.iter().cloned().collect()
    }

    #[zbus(property)]
    #[expect(clippy::unused_self, reason = "a property of the interface")]
    fn is_status_notifier_host_registered(&self) -> bool {
        true
    }

    #[zbus(property)]
    #[expect(clippy::unused_self, reason = "a property of the interface")]
    fn protocol_version(&self) -> i32 {
        0
    }

    #[zbus(signal)]
    async fn status_notifier_item_registered(emitter: &SignalEmitter<'_>, item: &str) -> zbus::Result<()>;
}

impl ItemList {
    /// Takes out the icons of programs that have ended.
    async fn forget_gone(&mut self, connection: &Connection) {
        let Ok(bus) = zbus::fdo::DBusProxy::new(connection).await else { return };
        let Ok(names) = bus.list_names().await else { return };
        let names: BTreeSet<&str> = names.iter().map(|name| name.as_str()).collect();
        self.items.retain(|item| item.split('/').next().is_some_and(|owner| names.contains(owner)));
    }
}
