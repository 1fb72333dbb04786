//! Hears of what is drawn on a screen, by a connection of its own: anyone who waits holds up nobody else.

use std::time::{Duration, Instant};

use rustix::event::{Timespec, poll};
use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::protocol::Event;
use x11rb::protocol::damage::{self, ConnectionExt as _, Damage, ReportLevel};
use x11rb::protocol::xproto::{ConnectionExt as _, Drawable, Window as WindowNumber};

use super::address::Address;
use super::error::ServerError;
use super::server::{PATIENCE, Server};
use super::window_facts::gone;
use crate::screen::{ScreenError, Sources};

/// The connection, and what is heard of.
#[derive(Debug)]
pub(in crate::screen) struct DrawingWatch {
    server: Server,
    damages: Vec<Damage>,
}

impl DrawingWatch {
    /// Begins to watch what is drawn on a screen, and in a window wherever that is; `None` where the server does not report it.
    pub(super) fn open(
        address: &Address,
        sources: &Sources,
        screen: usize,
        window: Option<WindowNumber>,
    ) -> Result<Option<Self>, ServerError> {
        let mut server = Server::open(address, sources)?;
        server.begin(Instant::now() + PATIENCE, Duration::ZERO);
        if server.connection.extension_information(damage::X11_EXTENSION_NAME)?.is_none() {
            return Ok(None);
        }
        server.connection.damage_query_version(1, 1)?.reply()?;
        let mut watch = Self { server, damages: Vec::new() };
        if let Some(root) = watch.server.roots().get(screen).map(|root| root.root) {
            watch.hear_of(root)?;
        }
        // Of a window that is gone nothing is heard; its picture says so.
        window.map_or(Ok(None), |window| gone(watch.hear_of(window)))?;
        Ok(Some(watch))
    }

    fn hear_of(&mut self, drawable: Drawable) -> Result<(), ServerError> {
        let connection = &self.server.connection;
        let number = connection.generate_id()?;
        connection.damage_create(number, drawable, ReportLevel::NON_EMPTY)?.check()?;
        self.damages.push(number);
        Ok(())
    }

    /// Waits until something was drawn, for so long at most. Returns whether something was.
    pub(in crate::screen) fn wait(&mut self, at_most: Duration) -> Result<bool, ScreenError> {
        self.look(at_most).map_err(|error| error.told(&self.server.id))
    }

    fn look(&mut self, at_most: Duration) -> Result<bool, ServerError> {
        self.server.begin(Instant::now() + PATIENCE, Duration::ZERO);
        if !self.was_drawn()? {
            let Ok(timeout) = Timespec::try_from(at_most) else { return Ok(false) };
            // One that was interrupted counts as over: who waits comes again.
            let _ = poll(&mut [self.server.connection.stream().news()], Some(&timeout));
            if !self.was_drawn()? {
                return Ok(false);
            }
        }
        for number in &self.damages {
            self.server.connection.damage_subtract(*number, x11rb::NONE, x11rb::NONE)?;
        }
        // What is drawn after the answer is reported again.
        self.server.connection.get_input_focus()?.reply()?;
        Ok(true)
    }

    fn was_drawn(&self) -> Result<bool, ServerError> {
        let mut was_drawn = false;
        while let Some(event) = self.server.connection.poll_for_event()? {
            was_drawn |= matches!(event, Event::DamageNotify(_));
        }
        Ok(was_drawn)
    }
}
