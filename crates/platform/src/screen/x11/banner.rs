//! A line at the top of a screen while pointer and keyboard are used there: who uses them, before all windows.
//!
//! It gets no input: clicks go to what is below it. It belongs to the connection by which input is made, and so it goes with that,
//! whatever ends this process. Scenes leave it out by its number, which nobody else can have. Pictures show what is below it: the server
//! keeps pictures of the windows there meanwhile, so that it can be taken off and put back within one instant.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::protocol::composite::{ConnectionExt as _, Redirect};
use x11rb::protocol::shape::{self, ConnectionExt as _, SK, SO};
use x11rb::protocol::xproto::{
    AtomEnum, ChangeGCAux, ClipOrdering, ConfigureWindowAux, ConnectionExt as _, CreateGCAux,
    CreateWindowAux, Gcontext, ImageFormat, Pixmap, PropMode, Rectangle, Screen, StackMode,
    Window as WindowNumber, WindowClass,
};
use x11rb::wrapper::ConnectionExt as _;

use super::error::ServerError;
use super::scene::{Layer, Scene};
use super::server::Server;
use super::servers::scale;
use super::uncover;
use super::window_facts::gone;
use crate::screen::{Point, Rect};

/// For how long it stays after the last input.
const SPAN: Duration = Duration::from_secs(3);
/// The font that every X server has, if it finds no other.
const FONT: &[u8] = b"fixed";
/// The size of its letters, as far as is known without it.
const LETTER: [u16; 2] = [6, 13];
/// Around the text, in pixels: left and right, above and below.
const MARGIN: [u16; 2] = [8, 3];
/// The longest text: what one request draws.
const MAX_CHARACTERS: usize = 255;
/// Its colours.
const BACKGROUND: [u8; 3] = [0xff, 0xd7, 0x5f];
const FOREGROUND: [u8; 3] = [0, 0, 0];

/// The line, from its first moment to its last.
#[derive(Debug)]
pub(super) struct Banner {
    window: WindowNumber,
    /// Where it is.
    shown: Arc<BannerPlace>,
    /// The monitor at whose upper edge it is.
    monitor: Rect,
    text: String,
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
        let shown = &self.shown;
        (shown.screen == screen && !self.is_off).then(|| shown.area.intersection(&area)).flatten()
    }
}

/// The place of a banner.
#[derive(Debug)]
struct BannerPlace {
    screen: usize,
    area: Rect,
}

/// Where banners are shown, by the ids of servers: what is drawn there is not what others draw.
#[derive(Debug, Clone, Default)]
pub(super) struct Banners(Arc<Mutex<BTreeMap<String, Weak<BannerPlace>>>>);

impl Banners {
    /// Returns whether all of an area of a screen is covered by one, or was until this moment.
    pub(super) fn cover(&self, server: &str, screen: usize, area: Rect) -> bool {
        let shown = lock(&self.0).get(server).and_then(Weak::upgrade);
        shown.is_some_and(|shown| shown.screen == screen && shown.area.contains(&area))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows it before all windows, on the monitor with a point, or has it stay. To be called while the server serves nobody else.
pub(super) fn show(
    server: &mut Server,
    screen: usize,
    text: &str,
    (bounds, at): (Rect, Point),
    pile: &[Layer],
) -> Result<(), ServerError> {
    let area = monitor(server, screen, bounds, at);
    let is_same = |it: &Banner| it.shown.screen == screen && it.text == text && it.monitor == area;
    let mut banner = match server.banner.take() {
        Some(banner) if is_same(&banner) => banner,
        other => {
            other.map_or(Ok(()), |earlier| remove(server, earlier))?;
            let Some(banner) = create(server, screen, text, area)? else { return Ok(()) };
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
        if gone(uncover::keep(server, banner.shown.screen, number, pile))?.is_some() {
            banner.kept.push(number);
        }
    }
    Ok(())
}

impl Banner {
    fn not_kept<'a>(&'a self, pile: &'a [Layer]) -> impl Iterator<Item = &'a Layer> {
        pile.iter()
            .filter(|layer| layer.viewable && layer.outer.intersection(&self.shown.area).is_some())
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
        Some(banner) if banner.due_in(is_held).is_zero() => remove(server, banner),
        other => {
            server.banner = other;
            Ok(())
        }
    }
}

fn remove(server: &Server, banner: Banner) -> Result<(), ServerError> {
    let Banner { window, shown, kept, .. } = banner;
    // What is drawn where it was is news again.
    drop(shown);
    server.connection.destroy_window(window)?;
    for number in kept {
        server.connection.composite_unredirect_window(number, Redirect::AUTOMATIC)?;
    }
    server.connection.flush()?;
    Ok(())
}

/// Creates it, not shown yet; nothing where it would get input, since the server cannot shape windows.
fn create(server: &Server, screen: usize, text: &str, area: Rect) -> Result<Option<Banner>, ServerError> {
    let (connection, facts) = (&server.connection, &server.roots()[screen]);
    if connection.extension_information(shape::X11_EXTENSION_NAME)?.is_none() {
        return Ok(None);
    }
    let compositor = connection.intern_atom(false, format!("_NET_WM_CM_S{screen}").as_bytes())?.reply()?;
    let compositor = connection.get_selection_owner(compositor.atom)?.reply()?.owner;
    let Picture { pixmap, width, height } = draw(server, facts, text, area)?;
    let left = i32::try_from(area.width.saturating_sub(width.into()) / 2).unwrap_or(0);
    let place = Rect::new(area.x + left, area.y, width.into(), height.into());
    let window = connection.generate_id()?;
    let look = CreateWindowAux::new().background_pixmap(pixmap).override_redirect(1);
    let (depth, visual) = (x11rb::COPY_DEPTH_FROM_PARENT, x11rb::COPY_FROM_PARENT);
    let (root, class) = (facts.root, WindowClass::INPUT_OUTPUT);
    let [x, y] = [place.x, place.y].map(|value| i16::try_from(value).unwrap_or(0));
    connection.create_window(depth, window, root, x, y, width, height, 0, class, visual, &look)?;
    connection.free_pixmap(pixmap)?;
    connection.shape_rectangles(SO::SET, SK::INPUT, ClipOrdering::UNSORTED, window, 0, 0, &[])?;
    // So that other programs of Bailiwick do not take it for the window of a program that they keep from clients.
    let (name, kind) = (AtomEnum::WM_NAME, AtomEnum::STRING);
    connection.change_property8(PropMode::REPLACE, window, name, kind, b"Bailiwick")?;
    let shown = Arc::new(BannerPlace { screen, area: place });
    lock(&server.banners.0).insert(server.id.clone(), Arc::downgrade(&shown));
    Ok(Some(Banner {
        window,
        shown,
        monitor: area,
        text: text.to_owned(),
        until: Instant::now(),
        is_off: false,
        is_composited: compositor != x11rb::NONE,
        kept: Vec::new(),
    }))
}

/// What it looks like, and its size.
struct Picture {
    pixmap: Pixmap,
    width: u16,
    height: u16,
}

/// Draws it, as large as programs draw on this display; without letters where the server has no font.
fn draw(server: &Server, facts: &Screen, text: &str, area: Rect) -> Result<Picture, ServerError> {
    let connection = &server.connection;
    let font = connection.generate_id()?;
    let (opened, letters) = (connection.open_font(font, FONT)?, connection.query_font(font)?);
    let opened = gone(opened.check().map_err(ServerError::from))?;
    let letters = gone(letters.reply().map_err(ServerError::from))?.filter(|_| opened.is_some());
    let (letter, ascent) = letters.as_ref().map_or((LETTER, 0), |letters| {
        let height = letters.font_ascent.saturating_add(letters.font_descent);
        let size = [letters.max_bounds.character_width, height].map(|it| u16::try_from(it).unwrap_or(1));
        (size, letters.font_ascent)
    });
    let text = latin(text);
    let formats = &connection.setup().pixmap_formats;
    let is_usual = formats.iter().any(|it| it.depth == facts.root_depth && it.bits_per_pixel == 32);
    let factor = match scale(server)? {
        scale if !is_usual || scale < 1.5 => 1,
        scale if scale < 2.5 => 2,
        _ => 3,
    };
    let most = |length: u32| u16::try_from(length / u32::from(factor)).unwrap_or(u16::MAX).max(1);
    let count = u16::try_from(text.len()).unwrap_or(0);
    let width = letter[0].saturating_mul(count).saturating_add(2 * MARGIN[0]).min(most(area.width));
    let height = letter[1].saturating_add(2 * MARGIN[1]).min(most(area.height));
    let (pixmap, pen, [background, foreground]) =
        (connection.generate_id()?, connection.generate_id()?, colours(facts));
    connection.create_pixmap(facts.root_depth, pixmap, facts.root, width, height)?;
    connection.create_gc(pen, pixmap, &CreateGCAux::new().foreground(background))?;
    connection.poly_fill_rectangle(pixmap, pen, &[Rectangle { x: 0, y: 0, width, height }])?;
    if letters.is_some() {
        let settings = ChangeGCAux::new().font(font).background(background).foreground(foreground);
        connection.change_gc(pen, &settings)?;
        let [x, y] = MARGIN.map(|margin| i16::try_from(margin).unwrap_or(0));
        connection.image_text8(pixmap, pen, x, y.saturating_add(ascent), &text)?;
        connection.close_font(font)?;
    }
    let drawn = Picture { pixmap, width, height };
    let drawn = if factor > 1 { enlarge(server, facts, pen, &drawn, factor)? } else { drawn };
    connection.free_gc(pen)?;
    Ok(drawn)
}

/// Makes a picture larger, of which each pixel has four bytes.
fn enlarge(
    server: &Server,
    facts: &Screen,
    pen: Gcontext,
    small: &Picture,
    factor: u16,
) -> Result<Picture, ServerError> {
    let (connection, format) = (&server.connection, ImageFormat::Z_PIXMAP);
    let image = connection.get_image(format, small.pixmap, 0, 0, small.width, small.height, !0)?.reply()?;
    let large = Picture {
        pixmap: connection.generate_id()?,
        width: small.width.saturating_mul(factor),
        height: small.height.saturating_mul(factor),
    };
    connection.create_pixmap(facts.root_depth, large.pixmap, facts.root, large.width, large.height)?;
    let rows = image.data.chunks_exact(usize::from(small.width) * 4);
    let rows = rows.flat_map(|row| std::iter::repeat_n(row, factor.into()));
    for (y, row) in (0..).zip(rows) {
        let pixels = row.as_chunks::<4>().0.iter();
        let row: Vec<u8> = pixels.flat_map(|pixel| pixel.repeat(factor.into())).collect();
        let (depth, width) = (facts.root_depth, large.width);
        connection.put_image(format, large.pixmap, pen, width, 1, 0, y, 0, depth, &row)?;
    }
    connection.free_pixmap(small.pixmap)?;
    Ok(large)
}

/// Returns the monitor on which a point is, as far as it is on the screen.
fn monitor(server: &Server, screen: usize, bounds: Rect, at: Point) -> Rect {
    let monitors = server.screens.get(screen).map(|shape| shape.monitors.as_slice()).unwrap_or_default();
    let has_point = monitors.iter().find(|monitor| monitor.place.contains(&Rect::new(at.x, at.y, 1, 1)));
    has_point.and_then(|monitor| monitor.place.intersection(&bounds)).unwrap_or(bounds)
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
