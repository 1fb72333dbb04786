//! Notifications of the desktop, by the session's bus.
//!
//! # Source
//! Desktop Notifications Specification 1.2, `org.freedesktop.Notifications`.

use std::collections::HashMap;
use std::io;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use zbus::zvariant::Value;

use super::{Notification, NotificationError, Urgency};
use crate::bus::{BusConnection, session_address};
use crate::program_error::ProgramError;
use crate::screen::plain;

/// How many messages wait to be shown; further ones are dropped.
const QUEUE: usize = 16;
/// How many are shown in a minute: a client that asks without end fills no screen.
const PER_MINUTE: usize = 10;
/// How long the desktop may take for one, in all.
const TIMEOUT: Duration = Duration::from_secs(10);
/// As whose the desktop shows messages; the user can turn off those of clients alone.
const OWN: &str = "Bailiwick";
const OF_CLIENTS: &str = "Bailiwick client";
/// The name, and the interface, of who shows them.
const NOTIFICATIONS: &str = "org.freedesktop.Notifications";

/// Has the desktop show a message, if this process has a session with one. Returns at once.
pub fn show(notification: Notification) {
    static SENDER: OnceLock<Option<SyncSender<Notification>>> = OnceLock::new();
    if let Some(sender) = SENDER.get_or_init(start) {
        // Where many wait already, the user knows.
        let _ = sender.try_send(notification);
    }
}

fn start() -> Option<SyncSender<Notification>> {
    let (sender, queue) = sync_channel(QUEUE);
    thread::Builder::new().name("notifications".to_owned()).spawn(move || deliver_all(&queue)).ok()?;
    Some(sender)
}

fn deliver_all(queue: &Receiver<Notification>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let mut shown: Vec<Instant> = Vec::new();
    while let Ok(notification) = queue.recv() {
        shown.retain(|at| at.elapsed() < Duration::from_secs(60));
        if shown.len() >= PER_MINUTE {
            continue;
        }
        shown.push(Instant::now());
        let Some(address) = session_address() else { continue };
        // What the desktop does not show, `bailiwick approve` does.
        let _ = runtime.block_on(async {
            tokio::time::timeout(TIMEOUT, deliver(&address, &notification, OWN, None)).await
        });
    }
}

/// Has the desktop show a message of a client, and waits until the desktop has taken it.
///
/// # Errors
/// [`NotificationError`].
pub fn send(notification: &Notification, urgency: Urgency) -> Result<(), NotificationError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let (runtime, address) = runtime.ok().zip(session_address()).ok_or(NotificationError::NoDesktop)?;
    let taken = runtime.block_on(async {
        tokio::time::timeout(TIMEOUT, deliver(&address, notification, OF_CLIENTS, Some(urgency))).await
    });
    match taken {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) if error.kind() != io::ErrorKind::TimedOut => Err(NotificationError::NoDesktop),
        Ok(Err(_)) | Err(_) => Err(NotificationError::Silent),
    }
}

async fn deliver(
    address: &str,
    notification: &Notification,
    app: &str,
    urgency: Option<Urgency>,
) -> io::Result<()> {
    let bus = BusConnection::connect(address, TIMEOUT).await.map_err(|_| io::ErrorKind::NotConnected)?;
    let lines: Vec<String> = notification.lines.iter().map(|line| escape(&plain::plain(line))).collect();
    let urgency = urgency.map(|urgency| match urgency {
        Urgency::Low => 0_u8,
        Urgency::Normal => 1,
        Urgency::Critical => 2,
    });
    let hints: HashMap<&str, Value<'_>> = urgency.map(|it| ("urgency", Value::U8(it))).into_iter().collect();
    let no_actions: &[&str] = &[];
    // The name of the program, no earlier message, no icon, title and text, and the desktop's own time.
    let title = plain::plain(&notification.title);
    let body = (app, 0_u32, "", title.as_str(), lines.join("\n"), no_actions, hints, -1_i32);
    let path = "/org/freedesktop/Notifications";
    let shown = bus.call::<_, u32>(NOTIFICATIONS, path, NOTIFICATIONS, "Notify", &body).await;
    match shown {
        Ok(_) => Ok(()),
        Err(ProgramError::Unresponsive) => Err(io::ErrorKind::TimedOut.into()),
        Err(_) => Err(io::ErrorKind::NotConnected.into()),
    }
}

/// Keeps a text from being read as markup.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
