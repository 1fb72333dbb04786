//! Status icons of Linux desktops, by the session's bus.
//!
//! # Source
//! StatusNotifierItem of freedesktop.org, with the names of `org.kde` that programs and desktops use; `com.canonical.dbusmenu`.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;
use zbus::zvariant::{OwnedObjectPath, Value};

use super::layout::{Layout, entries};
use super::{TrayError, TrayItem, TrayMenuEntry};
use crate::bus::{BusConnection, of_each};
use crate::program_error::ProgramError;
use crate::screen::{plain, program_name};

/// How long a program may take to answer one call.
const CALL: Duration = Duration::from_secs(1);
/// More icons than these are not read.
const MOST_ITEMS: usize = 64;
/// So many submenus that are empty are asked to fill themselves.
const MOST_EMPTY: usize = 16;

pub(super) const WATCHER: &str = "org.kde.StatusNotifierWatcher";
pub(super) const WATCHER_PATH: &str = "/StatusNotifierWatcher";
/// Where an icon is unless its program says otherwise.
pub(super) const ITEM_PATH: &str = "/StatusNotifierItem";
const ITEM: &str = "org.kde.StatusNotifierItem";
const MENU: &str = "com.canonical.dbusmenu";

/// A connection to the status icons of a session. All calls block, for seconds at most.
#[derive(Debug)]
pub struct Tray {
    bus: Arc<BusConnection>,
    // After the connection, which needs it until it is closed.
    runtime: Runtime,
}

impl Tray {
    /// Connects to the bus at an address.
    ///
    /// # Errors
    /// [`TrayError::NoBus`].
    pub fn connect(address: &str) -> Result<Self, TrayError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| TrayError::NoBus(error.to_string()))?;
        let bus = runtime.block_on(BusConnection::connect(address, CALL)).map_err(TrayError::NoBus)?;
        Ok(Self { bus: Arc::new(bus), runtime })
    }

    /// Reads the icons that there are, in the order in which they came. One whose program does not answer is left out.
    ///
    /// # Errors
    /// [`TrayError::NoWatcher`], and why the bus or what keeps the list does not answer.
    pub fn items(&self) -> Result<Vec<TrayItem>, TrayError> {
        self.runtime.block_on(async {
            let listed = self.bus.property(WATCHER, WATCHER_PATH, WATCHER, "RegisteredStatusNotifierItems");
            let mut names: Vec<String> = listed.await.map_err(|error| match error {
                ProgramError::Gone => TrayError::NoWatcher,
                error => error.into(),
            })?;
            names.truncate(MOST_ITEMS);
            let items = of_each(names, |name| item(Arc::clone(&self.bus), name)).await;
            Ok(items.into_iter().flatten().collect())
        })
    }

    /// Reads an icon again.
    ///
    /// # Errors
    /// [`ProgramError::Gone`] where it is not there any more.
    pub fn item(&self, of: &TrayItem) -> Result<TrayItem, TrayError> {
        self.runtime
            .block_on(item(Arc::clone(&self.bus), of.id.clone()))
            .ok_or_else(|| ProgramError::Gone.into())
    }

    /// Reads the menu of an icon. Submenus that are filled only when they open are asked to fill themselves; nothing opens.
    ///
    /// # Errors
    /// [`ProgramError::Unable`] for an icon without a menu, and why its program does not answer.
    pub fn menu(&self, item: &TrayItem) -> Result<Vec<TrayMenuEntry>, TrayError> {
        let ((owner, _), menu) = (place(item), item.menu.as_deref().ok_or(ProgramError::Unable)?);
        self.runtime.block_on(async {
            // Programs may have nothing to say to it.
            let _ = self.about_to_show(owner, menu, 0).await;
            let read = self.layout(owner, menu).await?;
            let mut empty = Vec::new();
            add_empty(&read, &mut empty);
            if empty.is_empty() {
                return Ok(read);
            }
            empty.truncate(MOST_EMPTY);
            for number in empty {
                if self.about_to_show(owner, menu, number).await == Err(ProgramError::Unresponsive) {
                    return Err(ProgramError::Unresponsive.into());
                }
            }
            self.layout(owner, menu).await
        })
    }

    /// Reads the menu of an icon as its program has filled it.
    ///
    /// # Errors
    /// As [`Tray::menu`].
    pub fn filled_menu(&self, item: &TrayItem) -> Result<Vec<TrayMenuEntry>, TrayError> {
        let ((owner, _), menu) = (place(item), item.menu.as_deref().ok_or(ProgramError::Unable)?);
        self.runtime.block_on(self.layout(owner, menu))
    }

    /// Does what a click on an icon does. The place is that of no pointer.
    ///
    /// # Errors
    /// [`ProgramError::Unable`] for an icon that has a menu alone. After an error that [`may_be_done`](ProgramError::may_be_done) it may be
    /// done, or still be.
    pub fn activate(&self, item: &TrayItem) -> Result<(), TrayError> {
        let (owner, path) = place(item);
        let calling = self.bus.call::<_, ()>(owner, path, ITEM, "Activate", &(0_i32, 0_i32));
        Ok(self.runtime.block_on(calling)?)
    }

    /// Does what a click on an entry of the menu of an icon does.
    ///
    /// # Errors
    /// As [`Tray::activate`].
    pub fn choose(&self, item: &TrayItem, entry: i32) -> Result<(), TrayError> {
        let ((owner, _), menu) = (place(item), item.menu.as_deref().ok_or(ProgramError::Unable)?);
        let body = (entry, "clicked", Value::from(0_i32), 0_u32);
        Ok(self.runtime.block_on(self.bus.call::<_, ()>(owner, menu, MENU, "Event", &body))?)
    }

    async fn layout(&self, owner: &str, menu: &str) -> Result<Vec<TrayMenuEntry>, TrayError> {
        let body = (0_i32, -1_i32, Vec::<String>::new());
        let (_, layout): (u32, Layout) = self.bus.call(owner, menu, MENU, "GetLayout", &body).await?;
        Ok(entries(&layout))
    }

    async fn about_to_show(&self, owner: &str, menu: &str, number: i32) -> Result<bool, ProgramError> {
        self.bus.call(owner, menu, MENU, "AboutToShow", &number).await
    }
}

/// Returns the connection of an icon's program, and its path there.
fn place(item: &TrayItem) -> (&str, &str) {
    item.id.find('/').map_or((item.id.as_str(), "/"), |at| item.id.split_at(at))
}

fn add_empty(entries: &[TrayMenuEntry], empty: &mut Vec<i32>) {
    for entry in entries.iter().filter(|entry| entry.is_submenu) {
        if entry.entries.is_empty() {
            empty.push(entry.number);
        }
        add_empty(&entry.entries, empty);
    }
}

/// Reads an icon, by what the list calls it: a connection or a name, and a path where it is not at the usual one.
async fn item(bus: Arc<BusConnection>, name: String) -> Option<TrayItem> {
    let (service, path) = name.find('/').map_or((name.as_str(), ITEM_PATH), |at| name.split_at(at));
    // What is judged is what is used: a name can change hands, a connection cannot.
    let owner: String = bus.ask_bus("GetNameOwner", service).await.ok()?;
    let text = async |property| {
        let text: Result<String, ProgramError> = bus.property(&owner, path, ITEM, property).await;
        plain::plain(&text.unwrap_or_default())
    };
    let known: Result<String, ProgramError> = bus.property(&owner, path, ITEM, "Id").await;
    let known = known.ok()?;
    let (title, status, icon, menu, pid) = tokio::join!(
        text("Title"),
        text("Status"),
        text("IconName"),
        bus.property::<OwnedObjectPath>(&owner, path, ITEM, "Menu"),
        bus.pid(&owner),
    );
    // Some name a menu that is not there.
    let menu = menu.ok().map(|menu| menu.to_string()).filter(|menu| menu.len() > 1 && menu != "/NO_DBUSMENU");
    let pid = pid.ok();
    let status = status.to_lowercase();
    Some(TrayItem {
        id: format!("{owner}{path}"),
        name: plain::plain(&known),
        title,
        status: if status == "needsattention" { "attention".to_owned() } else { status },
        icon,
        process: pid.and_then(program_name),
        pid,
        menu,
    })
}
