//! A small window of one colour, for a moment: so that it can be proved that a picture shows what a display shows.
//!
//! It has a connection of its own and asks nothing of the code that captures. It takes no input, and no window
//! manager moves it or frames it.

use std::time::Instant;

use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, CreateWindowAux, ImageFormat, ImageOrder, PropMode, Window as WindowNumber,
    WindowClass,
};
use x11rb::wrapper::ConnectionExt as _;

use super::error::ServerError;
use super::server::{PATIENCE, Server};
use super::servers::Servers;
use crate::screen::{Point, ScreenError, Sources};

/// A small window of one colour. It is gone with its value.
#[derive(Debug)]
pub struct Mark {
    server: Server,
    root: WindowNumber,
    at: (i16, i16),
    masks: [u32; 3],
}

impl Mark {
    /// How wide and how high it is, in pixels.
    pub const SIDE: u32 = 16;
    const SIDE_ON_THE_WIRE: u16 = 16;

    /// Shows it before all other windows of a display (an id of a listing), its upper left corner at a point that
    /// is counted from that of the display.
    ///
    /// # Errors
    ///
    /// [`ScreenError`] has them. `PixelFormat` for a display that has not exactly eight bits for each colour.
    pub fn show(sources: &Sources, display: &str, at: Point, rgb: [u8; 3]) -> Result<Self, ScreenError> {
        let unknown = || ScreenError::UnknownDisplay(display.to_owned());
        let id = display.split_once('/').map_or(display, |(id, _)| id);
        let (address, screen) = Servers::new(sources.clone()).find(id).ok_or_else(unknown)?;
        let corner = |value: i32| i16::try_from(value).map_err(|_| unknown());
        let at = (corner(at.x)?, corner(at.y)?);
        Server::open(&address, sources)
            .and_then(|server| Self::on(server, screen, at, rgb))
            .map_err(|trouble| trouble.told(display))
    }

    fn on(server: Server, screen: usize, at: (i16, i16), rgb: [u8; 3]) -> Result<Self, ServerError> {
        let unknown = || ServerError::Clear(ScreenError::UnknownDisplay(server.id.clone()));
        let facts = server.roots().get(screen).ok_or_else(unknown)?;
        let mut visuals = facts.allowed_depths.iter().flat_map(|depth| &depth.visuals);
        let visual = visuals.find(|visual| visual.visual_id == facts.root_visual).ok_or_else(unknown)?;
        let masks = [visual.red_mask, visual.green_mask, visual.blue_mask];
        if masks.iter().any(|mask| *mask == 0 || mask >> mask.trailing_zeros() != 0xff) {
            return Err(ServerError::Clear(ScreenError::PixelFormat {
                display: server.id.clone(),
                why: "it has not eight bits for each colour".to_owned(),
            }));
        }
        let pixel = rgb
            .iter()
            .zip(masks)
            .fold(0, |pixel, (value, mask)| pixel | u32::from(*value) << mask.trailing_zeros());
        let root = facts.root;
        let (depth, visual) = (x11rb::COPY_DEPTH_FROM_PARENT, x11rb::COPY_FROM_PARENT);
        let look = CreateWindowAux::new().background_pixel(pixel).override_redirect(1);
        let side = Self::SIDE_ON_THE_WIRE;
        let connection = &server.connection;
        let window = connection.generate_id()?;
        let class = WindowClass::INPUT_OUTPUT;
        connection
            .create_window(depth, window, root, at.0, at.1, side, side, 0, class, visual, &look)?
            .check()?;
        // So that nobody's rules take it for the window of a program that they keep from clients.
        let name = AtomEnum::WM_NAME;
        connection.change_property8(PropMode::REPLACE, window, name, AtomEnum::STRING, b"Bailiwick")?;
        connection.map_window(window)?.check()?;
        Ok(Self { root, at, masks, server })
    }

    /// Returns the colour that the display has where the mark is, if it has one there.
    ///
    /// # Errors
    ///
    /// [`ScreenError`] has them.
    pub fn seen(&self) -> Result<Option<[u8; 3]>, ScreenError> {
        self.read().map_err(|trouble| trouble.told(&self.server.id))
    }

    fn read(&self) -> Result<Option<[u8; 3]>, ServerError> {
        let connection = &self.server.connection;
        connection.stream().set_deadline(Instant::now() + PATIENCE);
        let side = Self::SIDE_ON_THE_WIRE;
        let format = ImageFormat::Z_PIXMAP;
        let image = connection.get_image(format, self.root, self.at.0, self.at.1, side, side, !0)?.reply()?;
        let is_little = connection.setup().image_byte_order == ImageOrder::LSB_FIRST;
        let (pixels, rest) = image.data.as_chunks::<4>();
        let colours: Vec<[u8; 3]> = pixels
            .iter()
            .map(|bytes| if is_little { u32::from_le_bytes(*bytes) } else { u32::from_be_bytes(*bytes) })
            .map(|pixel| self.masks.map(|mask| component(pixel, mask)))
            .collect();
        let is_whole = rest.is_empty() && colours.len() == usize::from(side) * usize::from(side);
        let first = colours.first().filter(|_| is_whole).copied();
        Ok(first.filter(|first| colours.iter().all(|colour| colour == first)))
    }
}

/// Returns one colour of a pixel; its mask has eight bits.
fn component(pixel: u32, mask: u32) -> u8 {
    u8::try_from((pixel & mask) >> mask.trailing_zeros()).expect("a mask of eight bits")
}
