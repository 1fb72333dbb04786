//! A line at the top of a screen while pointer and keyboard are used there: who uses them, before all windows.
//!
//! It gets no input: clicks go to what is below it. It belongs to the connection by which input is made, and so it goes with that,
//! whatever ends this process. Scenes leave it out by its number, which nobody else can have. Pictures show what is below it: the server
//! keeps pictures of the windows there meanwhile, so that it can be taken off and put back within one instant.

use std::time::{Duration, Instant};

use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::protocol::composite::{ConnectionExt as _, Redirect};
use x11rb::protocol::shape::{self, ConnectionExt as _, SK, SO};
use x11rb::protocol::xproto::{
    AtomEnum, ChangeGCAux, ClipOrdering, ConfigureWindowAux, ConnectionExt as _, CreateGCAux,
    CreateWindowAux, Font, PropMode, QueryFontReply, Rectangle, Screen, StackMode, Window as WindowNumber,
    WindowClass,
};
use x11rb::wrapper::ConnectionExt as _;

use super::error::ServerError;
use super::scene::{Layer, Scene};
use super::server::Server;
use super::uncover;
use super::window_facts::gone;
use crate::screen::Rect;

/// For how long it stays after the last input.
const SPAN: Duration = Duration::from_secs(3);
/// The font that every X server has, if it finds no other.
const FONT: &[u8] = b"fixed";
/// Around the text, in pixels: left and right, above and below.
const MARGIN: (u16, u16) = (8, 3);
/// The longest text: what one request draws.
const MAX_CHARACTERS: usize = 255;
/// Where a text begins to be cut, a character is so wide at least.
const SMALLEST_CHARACTER: u16 = 1;
/// Its colours.
const BACKGROUND: [u8; 3] = [0xff, 0xd7, 0x5f];
const FOREGROUND: [u8; 3] = [0, 0, 0];

/// The line, from its first moment to its last.
#[derive(Debug)]
pub(super) struct Banner {
    window: WindowNumber,
    screen: usize,
    text: String,
    place: Rect,
    until: Instant,
    /// Whether it is off the screen while a picture is taken.
    is_off: bool,
    /// Whether a compositor paints the screen: then it keeps pictures of windows, and takes its time to paint.
    is_composited: bool,
    /// The windows of which the server keeps pictures for this.
    kept: Vec<WindowNumber>,
}

impl Banner {
    /// Returns when it is to be looked after; while something is held down it stays.
    pub(super) fn due_in(&self, is_held: bool) -> Duration {
        if is_held { SPAN } else { self.until.saturating_duration_since(Instant::now()) }
    }

    /// Returns whether a window is this.
    pub(super) fn is_window(&self, number: WindowNumber) -> bool {
        self.window == number
    }

    /// Returns which part of an area of a screen it covers.
    pub(super) fn over(&self, screen: usize, area: Rect) -> Option<Rect> {
        (self.screen == screen && !self.is_off).then(|| self.place.intersection(&area)).flatten()
    }
}

/// Shows it before all windows, or has it stay. To be called while the server serves nobody else.
pub(super) fn show(
    server: &mut Server,
    screen: usize,
    text: &str,
    bounds: Rect,
    pile: &[Layer],
) -> Result<(), ServerError> {
    let is_same = |it: &Banner| it.screen == screen && it.text == text && bounds.contains(&it.place);
    let there = server.banner.take();
    let mut banner = match there {
        Some(banner) if is_same(&banner) => banner,
        other => {
            other.map_or(Ok(()), |earlier| remove(server, &earlier))?;
            let Some(banner) = create(server, screen, text, bounds)? else { return Ok(()) };
            banner
        }
    };
    keep_below(server, &mut banner, pile)?;
    let above = ConfigureWindowAux::new().stack_mode(StackMode::ABOVE);
    server.connection.configure_window(banner.window, &above)?;
    server.connection.map_window(banner.window)?;
    (banner.until, banner.is_off) = (Instant::now() + SPAN, false);
    server.banner = Some(banner);
    Ok(())
}

/// Has the server keep pictures of the windows below it that it keeps none of yet.
fn keep_below(server: &Server, banner: &mut Banner, pile: &[Layer]) -> Result<(), ServerError> {
    banner.kept.retain(|number| pile.iter().any(|layer| layer.number == *number));
    let not_kept: Vec<_> = banner.not_kept(pile).map(|layer| layer.number).collect();
    if banner.is_composited || not_kept.is_empty() || !server.abilities.composite {
        return Ok(());
    }
    // A picture begins as the screen is.
    server.connection.unmap_window(banner.window)?;
    for number in not_kept {
        if gone(uncover::keep(server, banner.screen, number, pile))?.is_some() {
            banner.kept.push(number);
        }
    }
    Ok(())
}

impl Banner {
    fn not_kept<'a>(&'a self, pile: &'a [Layer]) -> impl Iterator<Item = &'a Layer> {
        pile.iter()
            .filter(|layer| layer.viewable && layer.outer.intersection(&self.place).is_some())
            .filter(|layer| !self.kept.contains(&layer.number))
    }
}

/// Takes it off an area for a picture, if it is there. What is below is painted by the server at once, or by programs in their time:
/// [`is_painted`] knows.
pub(super) fn take_off(server: &mut Server, screen: usize, area: Rect) -> Result<(), ServerError> {
    if let Some(banner) = server.banner.as_mut().filter(|it| it.over(screen, area).is_some()) {
        server.connection.unmap_window(banner.window)?;
        banner.is_off = true;
    }
    Ok(())
}

/// Returns whether the screen shows what is below it, after [`take_off`].
pub(super) fn is_painted(server: &Server, scene: &Scene) -> bool {
    let is_kept = |it: &Banner| !it.is_composited && it.not_kept(&scene.pile).next().is_none();
    server.banner.as_ref().filter(|it| it.is_off).is_none_or(is_kept)
}

/// Puts it back where it was.
pub(super) fn put_back(server: &mut Server) -> Result<(), ServerError> {
    if let Some(banner) = server.banner.as_mut().filter(|it| it.is_off) {
        server.connection.map_window(banner.window)?;
        server.connection.flush()?;
        banner.is_off = false;
    }
    Ok(())
}

/// Removes it, once nothing was done for a while.
pub(super) fn tidy(server: &mut Server) -> Result<(), ServerError> {
    let is_held = !server.input.pressed.is_empty();
    match server.banner.take() {
        Some(banner) if banner.due_in(is_held).is_zero() => remove(server, &banner),
        other => {
            server.banner = other;
            Ok(())
        }
    }
}

fn remove(server: &Server, banner: &Banner) -> Result<(), ServerError> {
    server.connection.destroy_window(banner.window)?;
    for number in &banner.kept {
        server.connection.composite_unredirect_window(*number, Redirect::AUTOMATIC)?;
    }
    server.connection.flush()?;
    Ok(())
}

/// Creates it, not shown yet; nothing where it would get input, since the server cannot shape windows.
fn create(server: &Server, screen: usize, text: &str, bounds: Rect) -> Result<Option<Banner>, ServerError> {
    let (connection, facts) = (&server.connection, &server.roots()[screen]);
    if connection.extension_information(shape::X11_EXTENSION_NAME)?.is_none() {
        return Ok(None);
    }
    let font = connection.generate_id()?;
    let compositor = connection.intern_atom(false, format!("_NET_WM_CM_S{screen}").as_bytes())?;
    let opened = connection.open_font(font, FONT)?;
    let letters = connection.query_font(font)?;
    let compositor = connection.get_selection_owner(compositor.reply()?.atom)?;
    let letters = match gone(opened.check().map_err(ServerError::from))? {
        Some(()) => gone(letters.reply().map_err(ServerError::from))?,
        None => None,
    };
    let place = place(server, screen, bounds, text, letters.as_ref());
    let [background, foreground] = colours(facts);
    let (width, height) = (size(place.width), size(place.height));
    let [picture, pen, window] =
        [connection.generate_id()?, connection.generate_id()?, connection.generate_id()?];
    connection.create_pixmap(facts.root_depth, picture, facts.root, width, height)?;
    connection.create_gc(pen, picture, &CreateGCAux::new().foreground(background))?;
    connection.poly_fill_rectangle(picture, pen, &[Rectangle { x: 0, y: 0, width, height }])?;
    if let Some(letters) = &letters {
        draw(server, picture, pen, font, [background, foreground], (text, letters))?;
        connection.close_font(font)?;
    }
    let look = CreateWindowAux::new().background_pixmap(picture).override_redirect(1);
    let (depth, visual) = (x11rb::COPY_DEPTH_FROM_PARENT, x11rb::COPY_FROM_PARENT);
    let at = |value: i32| i16::try_from(value).unwrap_or(0);
    connection.create_window(
        depth,
        window,
        facts.root,
        at(place.x),
        at(place.y),
        width,
        height,
        0,
        WindowClass::INPUT_OUTPUT,
        visual,
        &look,
    )?;
    connection.shape_rectangles(SO::SET, SK::INPUT, ClipOrdering::UNSORTED, window, 0, 0, &[])?;
    // So that other programs of Bailiwick do not take it for the window of a program that they keep from clients.
    connection.change_property8(
        PropMode::REPLACE,
        window,
        AtomEnum::WM_NAME,
        AtomEnum::STRING,
        b"Bailiwick",
    )?;
    connection.free_gc(pen)?;
    connection.free_pixmap(picture)?;
    Ok(Some(Banner {
        window,
        screen,
        text: text.to_owned(),
        place,
        until: Instant::now(),
        is_off: false,
        is_composited: compositor.reply()?.owner != x11rb::NONE,
        kept: Vec::new(),
    }))
}

fn draw(
    server: &Server,
    picture: u32,
    pen: u32,
    font: Font,
    [background, foreground]: [u32; 2],
    (text, letters): (&str, &QueryFontReply),
) -> Result<(), ServerError> {
    let settings = ChangeGCAux::new().font(font).background(background).foreground(foreground);
    server.connection.change_gc(pen, &settings)?;
    let (x, y) = (i16::try_from(MARGIN.0).unwrap_or(0), i16::try_from(MARGIN.1).unwrap_or(0));
    server.connection.image_text8(picture, pen, x, y.saturating_add(letters.font_ascent), &latin(text))?;
    Ok(())
}

/// Returns where it is: in the middle of the upper edge of the first monitor.
fn place(server: &Server, screen: usize, bounds: Rect, text: &str, letters: Option<&QueryFontReply>) -> Rect {
    let monitors = server.screens.get(screen).map(|shape| shape.monitors.as_slice()).unwrap_or_default();
    let monitor = monitors.iter().find(|monitor| monitor.primary).or_else(|| monitors.first());
    let area = monitor.and_then(|monitor| monitor.place.intersection(&bounds)).unwrap_or(bounds);
    let letter = letters.map_or((SMALLEST_CHARACTER, SMALLEST_CHARACTER), |letters| {
        let height = letters.font_ascent.saturating_add(letters.font_descent);
        let positive = |length: i16| u16::try_from(length).unwrap_or(0).max(SMALLEST_CHARACTER);
        (positive(letters.max_bounds.character_width), positive(height))
    });
    let count = u32::try_from(latin(text).len()).unwrap_or(u32::MAX);
    let width = u32::from(letter.0).saturating_mul(count) + 2 * u32::from(MARGIN.0);
    let height = u32::from(letter.1) + 2 * u32::from(MARGIN.1);
    let (width, height) = (width.min(area.width).max(1), height.min(area.height).max(1));
    let left = i32::try_from((area.width - width) / 2).unwrap_or(0);
    Rect::new(area.x + left, area.y, width, height)
}

fn size(length: u32) -> u16 {
    u16::try_from(length).unwrap_or(u16::MAX)
}

/// Returns a text in the characters that the font is sure to have, each a byte: of one line, and no longer than one request draws.
fn latin(text: &str) -> Vec<u8> {
    let byte = |character: char| match character {
        ' '..='~' | '\u{a1}'..='\u{ff}' => u8::try_from(u32::from(character)).unwrap_or(b'?'),
        _ => b'?',
    };
    text.chars().take(MAX_CHARACTERS).map(byte).collect()
}

/// Returns the pixels of its colours; white and black where the screen has not eight bits for each.
fn colours(screen: &Screen) -> [u32; 2] {
    let mut visuals = screen.allowed_depths.iter().flat_map(|depth| &depth.visuals);
    let visual = visuals.find(|visual| visual.visual_id == screen.root_visual);
    let masks = visual.map(|visual| [visual.red_mask, visual.green_mask, visual.blue_mask]);
    let is_usual = |mask: &u32| *mask != 0 && mask >> mask.trailing_zeros() == 0xff;
    match masks.filter(|masks| masks.iter().all(is_usual)) {
        Some(masks) => [BACKGROUND, FOREGROUND].map(|rgb| {
            let parts = rgb.iter().zip(masks);
            parts.fold(0, |pixel, (value, mask)| pixel | u32::from(*value) << mask.trailing_zeros())
        }),
        None => [screen.white_pixel, screen.black_pixel],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_line_of_characters_that_the_font_has() {
        assert_eq!(latin("Hugo \"Bär\"\n\u{7f}\u{85}\u{a0}世界\u{202e}"), b"Hugo \"B\xe4r\"???????");
        assert_eq!(latin(&"x".repeat(300)).len(), 255);
    }
}
