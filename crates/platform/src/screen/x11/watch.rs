//! Hears of what is drawn on a screen, by a connection of its own: anyone who waits holds up nobody else.

use std::time::{Duration, Instant};

use rustix::event::{Timespec, poll};
use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::protocol::Event;
use x11rb::protocol::damage::{self, ConnectionExt as _, Damage, ReportLevel};
use x11rb::protocol::xproto::{ConnectionExt as _, Drawable, Window as WindowNumber};

use super::actor::Actors;
use super::address::Address;
use super::banner::Banners;
use super::error::ServerError;
use super::server::{PATIENCE, Server};
use super::window_facts::gone;
use crate::screen::{Rect, ScreenError};

/// The connection, and what is heard of.
#[derive(Debug)]
pub(in crate::screen) struct DrawingWatch {
    server: Server,
    screen: usize,
    damages: Vec<Damage>,
    banners: Banners,
}

impl DrawingWatch {
    /// Begins to watch what is drawn on a screen, and in a window wherever that is; `None` where the server does not report it.
    pub(super) fn open(
        address: &Address,
        actors: &Actors,
        screen: usize,
        window: Option<WindowNumber>,
    ) -> Result<Option<Self>, ServerError> {
        let mut server = Server::open(address, &actors.sources)?;
        server.begin(Instant::now() + PATIENCE, Duration::ZERO);
        if server.connection.extension_information(damage::X11_EXTENSION_NAME)?.is_none() {
            return Ok(None);
        }
        server.connection.damage_query_version(1, 1)?.reply()?;
        let mut watch = Self { server, screen, damages: Vec::new(), banners: actors.banners.clone() };
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
        connection.damage_create(number, drawable, ReportLevel::BOUNDING_BOX)?.check()?;
        self.damages.push(number);
        Ok(())
    }

    /// Waits until something was drawn, for so long at most. Returns whether something was.
    pub(in crate::screen) fn wait(&mut self, at_most: Duration) -> Result<bool, ScreenError> {
        self.look(at_most).map_err(|error| error.told(&self.server.id))
    }

    fn look(&mut self, at_most: Duration) -> Result<bool, ServerError> {
        self.server.begin(Instant::now() + PATIENCE, Duration::ZERO);
        let mut drawn = self.drawn()?;
        if drawn.is_none() {
            let Ok(timeout) = Timespec::try_from(at_most) else { return Ok(false) };
            // One that was interrupted counts as over: who waits comes again.
            let _ = poll(&mut [self.server.connection.stream().news()], Some(&timeout));
            drawn = self.drawn()?;
        }
        let Some(is_of_others) = drawn else { return Ok(false) };
        for number in &self.damages {
            self.server.connection.damage_subtract(*number, x11rb::NONE, x11rb::NONE)?;
        }
        // What is drawn after the answer is reported again.
        self.server.connection.get_input_focus()?.reply()?;
        Ok(is_of_others)
    }

    /// Returns whether more was drawn than a banner, if anything was.
    fn drawn(&self) -> Result<Option<bool>, ServerError> {
        let root = self.server.roots().get(self.screen).map(|root| root.root);
        let mut drawn = None;
        while let Some(event) = self.server.connection.poll_for_event()? {
            let Event::DamageNotify(event) = event else { continue };
            let (area, id) = (event.area, &self.server.id);
            let area = Rect::new(area.x.into(), area.y.into(), area.width.into(), area.height.into());
            let is_banner = Some(event.drawable) == root && self.banners.cover(id, self.screen, area);
            drawn = Some(drawn.unwrap_or(false) || !is_banner);
        }
        Ok(drawn)
    }
}
