//! Takes pictures of a screen and of a window, each with the windows of that very moment.

use std::time::Duration;

use x11rb::connection::Connection as _;
use x11rb::cookie::Cookie;
use x11rb::protocol::composite::ConnectionExt as _;
use x11rb::protocol::shm::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{
    ConnectionExt as _, Drawable, GetImageReply, ImageFormat, Visualid, Window as WindowNumber,
};
use x11rb::rust_connection::RustConnection;

use super::banner;
use super::error::ServerError;
use super::image::{Image, Layout, Store};
use super::scene::{self, PlacedWindow, Scene};
use super::segment::Lease;
use super::server::{ScreenShape, Server};
use super::stream::TimedStream;
use super::uncover;
use crate::screen::frame::Pixels;
use crate::screen::{Access, Content, Cover, Frame, Point, Rect, ScreenError, WindowState};
use bailiwick_contract::time;

/// More pixels than this are not captured at once: a quarter of a gigabyte.
const MAX_PIXELS: u64 = 1 << 26;

/// How often a picture is started over because the display was arranged otherwise meanwhile.
const ATTEMPTS: usize = 3;

/// How long a program is given to paint what it had no need to paint before, at most; and how long it must have
/// painted nothing new.
const SETTLING: Duration = Duration::from_millis(600);
const SETTLED: Duration = Duration::from_millis(30);

/// Captures a screen, or one of its monitors, or a region of that. The banner is not in it.
pub(super) fn display(
    server: &mut Server,
    screen: usize,
    monitor: Option<&str>,
    region: Option<Rect>,
) -> Result<Frame, ServerError> {
    let frame = uncovered(server, |server| take(server, screen, monitor, region));
    banner::put_back(server)?;
    frame
}

/// Takes pictures until one shows what is below the banner: the first, where the server paints that.
fn uncovered(
    server: &mut Server,
    take: impl Fn(&mut Server) -> Result<(Frame, bool), ServerError>,
) -> Result<Frame, ServerError> {
    let (frame, is_painted) = take(server)?;
    if is_painted {
        return Ok(frame);
    }
    let (mut previous, mut waited) = (None, SETTLED);
    loop {
        std::thread::sleep(SETTLED);
        waited += SETTLED;
        let (frame, _) = take(server)?;
        let pixels = frame.to_rgb()?;
        if previous.as_ref() == Some(&pixels) || waited >= SETTLING {
            return Ok(frame);
        }
        previous = Some(pixels);
    }
}

/// Takes a picture of a screen without the banner. Returns whether what is below that is painted.
fn take(
    server: &mut Server,
    screen: usize,
    monitor: Option<&str>,
    region: Option<Rect>,
) -> Result<(Frame, bool), ServerError> {
    if server.abilities.part_of_wayland {
        return Err(ScreenError::NoAccess(wayland(&server.id)).into());
    }
    let root = &server.roots()[screen];
    let (root, visual) = (root.root, root.root_visual);
    let layout = layout(server, visual)?;
    for _ in 0..ATTEMPTS {
        let known = server.screens[screen].clone();
        let area = display_area(server, screen, &known, monitor, region)?;
        let lease = server.lease(bytes(&layout, area))?;
        let taken = server.alone(|server| {
            banner::take_off(server, screen, area)?;
            let shape = server.ask_shape(root)?;
            let windows = scene::ask(server, root)?;
            let image = ask_image(server, lease, root, area)?;
            let taken_at_ms = time::now_ms();
            let (shape, scene) = (shape.read(server)?, scene::read(server, screen, windows)?);
            let image = image.read();
            if shape != known {
                return Ok(Err(shape));
            }
            Ok(Ok((image?, scene, taken_at_ms)))
        })?;
        let (store, scene, taken_at_ms) = match taken {
            Ok(taken) => taken,
            Err(shape) => {
                server.screens[screen] = shape;
                continue;
            }
        };
        let is_painted = banner::is_painted(server, &scene);
        let frame = Frame {
            width: area.width,
            height: area.height,
            display: server.screen_id(screen),
            origin: area.origin(),
            content: Content::Display,
            covered_by: Vec::new(),
            taken_at_ms,
            windows: scene.windows.into_iter().map(|shown| shown.window).collect(),
            pixels: Pixels::X11(Image { layout, width: area.width, height: area.height, store }),
        };
        return Ok((frame, is_painted));
    }
    Err(unsteady(server))
}

/// Says that the X server of a Wayland session shows no picture of that session.
pub(super) fn wayland(display: &str) -> Access {
    Access::Unsupported {
        why: format!(
            "{display} belongs to a Wayland session and shows only the windows of X11 programs in it; these can be \
             captured one by one. To capture the whole desktop, log in to a session on Xorg, or use a build with the \
             feature `wayland` (`bailiwick help screens`)"
        ),
    }
}

fn layout(server: &Server, visual: Visualid) -> Result<Layout, ServerError> {
    Layout::of(server.connection.setup(), visual)
        .map_err(|why| ScreenError::PixelFormat { display: server.id.clone(), why }.into())
}

fn bytes(layout: &Layout, area: Rect) -> u64 {
    layout.row_bytes(area.width) * u64::from(area.height)
}

fn unsteady(server: &Server) -> ServerError {
    let why = "the display or the window changed its size again and again".to_owned();
    ScreenError::Failed { display: server.id.clone(), step: "the capture", why }.into()
}

fn display_area(
    server: &Server,
    screen: usize,
    shape: &ScreenShape,
    monitor: Option<&str>,
    region: Option<Rect>,
) -> Result<Rect, ServerError> {
    let whole = match monitor {
        None => shape.bounds,
        Some(name) => shape
            .monitors
            .iter()
            .find(|known| known.name == name)
            .map(|known| known.place)
            .ok_or_else(|| ScreenError::UnknownDisplay(format!("{}/{name}", server.screen_id(screen))))?,
    };
    area_of(whole, region)
}

/// Returns the place of a region of something, which must hold it.
fn area_of(whole: Rect, region: Option<Rect>) -> Result<Rect, ServerError> {
    let bounds = Rect::new(0, 0, whole.width, whole.height);
    let region = region.unwrap_or(bounds);
    if !bounds.contains(&region) {
        return Err(ScreenError::Outside { region, bounds }.into());
    }
    if region.pixels() > MAX_PIXELS {
        return Err(ScreenError::TooLarge { pixels: region.pixels(), limit: MAX_PIXELS }.into());
    }
    Ok(region.moved(whole.x, whole.y))
}

/// A picture on its way.
enum AskedImage<'a> {
    Shared(Lease, Cookie<'a, RustConnection<TimedStream>, shm::GetImageReply>),
    Answer(Cookie<'a, RustConnection<TimedStream>, GetImageReply>),
}

/// The server's numbers for a rectangle. What does not fit into them is no part of anything it has.
fn numbers(area: Rect) -> (i16, i16, u16, u16) {
    (
        i16::try_from(area.x).unwrap_or(i16::MAX),
        i16::try_from(area.y).unwrap_or(i16::MAX),
        u16::try_from(area.width).unwrap_or(u16::MAX),
        u16::try_from(area.height).unwrap_or(u16::MAX),
    )
}

fn ask_image(
    server: &Server,
    lease: Option<Lease>,
    drawable: Drawable,
    area: Rect,
) -> Result<AskedImage<'_>, ServerError> {
    let (connection, format) = (&server.connection, ImageFormat::Z_PIXMAP);
    let (x, y, width, height) = numbers(area);
    let asked = match lease {
        Some(lease) => {
            let number = lease.number();
            let cookie =
                connection.shm_get_image(drawable, x, y, width, height, !0, format.into(), number, 0)?;
            AskedImage::Shared(lease, cookie)
        }
        None => AskedImage::Answer(connection.get_image(format, drawable, x, y, width, height, !0)?),
    };
    connection.flush()?;
    Ok(asked)
}

impl AskedImage<'_> {
    fn read(self) -> Result<Store, ServerError> {
        Ok(match self {
            Self::Shared(lease, cookie) => {
                cookie.reply()?;
                Store::Shared(lease)
            }
            Self::Answer(cookie) => Store::Answer(cookie.reply()?.data),
        })
    }
}

/// What came of looking at a window.
enum CaptureResult {
    /// A picture.
    Taken(Box<Frame>),
    /// The server keeps no picture of the window yet, and must.
    NotKept(WindowNumber, Scene),
}

/// Captures a window, or a region of it.
///
/// Where the server keeps pictures of windows (there is a compositor, or this connection has asked for it), the
/// window's own is taken. Else what is on the screen, if all of the window does. Else the server is asked to
/// keep a picture of this window from now on, and its program is given time to paint it.
pub(super) fn window(
    server: &mut Server,
    screen: usize,
    number: WindowNumber,
    region: Option<Rect>,
) -> Result<Frame, ServerError> {
    let mut previous: Option<Vec<u8>> = None;
    let mut waited = Duration::ZERO;
    let mut asked_to_keep = false;
    for _ in 0..ATTEMPTS + 64 {
        let look = server.alone(|server| look(server, screen, number, region));
        let frame = match look {
            Ok(CaptureResult::Taken(frame)) => frame,
            Ok(CaptureResult::NotKept(top, scene)) => {
                if asked_to_keep {
                    return Err(unsteady(server));
                }
                asked_to_keep = true;
                server.alone(|server| uncover::keep(server, screen, top, &scene.pile))?;
                std::thread::sleep(SETTLED * 2);
                continue;
            }
            Err(error) => return Err(error),
        };
        if !asked_to_keep || waited >= SETTLING {
            return Ok(*frame);
        }
        // Painted is what does not change any more.
        let pixels = frame.to_rgb()?;
        if previous.as_ref() == Some(&pixels) {
            return Ok(*frame);
        }
        previous = Some(pixels);
        std::thread::sleep(SETTLED);
        waited += SETTLED;
    }
    Err(unsteady(server))
}

fn look(
    server: &mut Server,
    screen: usize,
    number: WindowNumber,
    region: Option<Rect>,
) -> Result<CaptureResult, ServerError> {
    let root = server.roots()[screen].root;
    let scene = scene::read(server, screen, scene::ask(server, root)?)?;
    let display = server.screen_id(screen);
    let id = format!("{display}/{number:#x}");
    let Some(shown) = scene.windows.iter().find(|shown| shown.number == number) else {
        return Err(ScreenError::UnknownWindow(id).into());
    };
    match shown.window.state {
        WindowState::Visible => {}
        WindowState::Minimised => return Err(ScreenError::Minimised(id).into()),
        WindowState::Hidden => return Err(ScreenError::Hidden(id).into()),
    }
    let area = area_of(shown.window.bounds, region)?;
    let covered_by = covers(&scene, shown, area);
    let taken_at_ms = time::now_ms();
    let (content, layout, store) = match own_picture(server, &scene, shown, area)? {
        Some((layout, store)) => (Content::Window, layout, store),
        None => {
            let geometry = server.connection.get_geometry(root)?.reply()?;
            let whole = Rect::new(0, 0, geometry.width.into(), geometry.height.into());
            let is_under_banner = server.banner.as_ref().is_some_and(|it| it.over(screen, area).is_some());
            let is_covered = is_under_banner || !covered_by.is_empty();
            if is_covered || !whole.contains(&area) || server.abilities.part_of_wayland {
                return match server.abilities.composite {
                    true => Ok(CaptureResult::NotKept(shown.top, scene)),
                    false => Err(no_composite(server)),
                };
            }
            let layout = layout(server, server.roots()[screen].root_visual)?;
            let lease = server.lease(bytes(&layout, area))?;
            (Content::Display, layout, ask_image(server, lease, root, area)?.read()?)
        }
    };
    Ok(CaptureResult::Taken(Box::new(Frame {
        width: area.width,
        height: area.height,
        display,
        origin: Point { x: area.x, y: area.y },
        content,
        covered_by,
        taken_at_ms,
        windows: scene.windows.into_iter().map(|shown| shown.window).collect(),
        pixels: Pixels::X11(Image { layout, width: area.width, height: area.height, store }),
    })))
}

fn no_composite(server: &Server) -> ServerError {
    let why =
        "its X server lacks the Composite extension, by which a window is captured that is covered or lies \
               partly outside; move it to the front and onto the display"
            .to_owned();
    ScreenError::Failed { display: server.id.clone(), step: "the capture", why }.into()
}

/// Returns which windows are before a part of one.
fn covers(scene: &Scene, shown: &PlacedWindow, area: Rect) -> Vec<Cover> {
    let above = scene.pile.iter().skip_while(|layer| layer.number != shown.top).skip(1);
    above
        .filter(|layer| layer.viewable)
        .filter_map(|layer| {
            let part = layer.outer.intersection(&area)?;
            let owner = scene.windows.iter().find(|other| other.top == layer.number);
            let id = |number: WindowNumber| format!("{}/{number:#x}", shown.window.display);
            let window = owner.map_or_else(|| id(layer.number), |owner| owner.window.id.clone());
            Some(Cover { window, part })
        })
        .collect()
}

/// Takes the picture that the server keeps of the window's frame, if it does.
fn own_picture(
    server: &mut Server,
    scene: &Scene,
    shown: &PlacedWindow,
    area: Rect,
) -> Result<Option<(Layout, Store)>, ServerError> {
    let Some(layer) = scene.pile.iter().find(|layer| layer.number == shown.top) else { return Ok(None) };
    if !server.abilities.composite {
        return Ok(None);
    }
    let pixmap = server.connection.generate_id()?;
    let named = server.connection.composite_name_window_pixmap(shown.top, pixmap)?.check();
    if let Err(error) = named.map_err(ServerError::from) {
        return if error.is_mismatch() { Ok(None) } else { Err(error) };
    }
    let picture = (|| {
        let visual = server.connection.get_window_attributes(shown.top)?.reply()?.visual;
        let layout = layout(server, visual)?;
        let place = area.moved(-layer.outer.x, -layer.outer.y);
        let lease = server.lease(bytes(&layout, place))?;
        let asked = ask_image(server, lease, pixmap, place)?;
        Ok((layout, asked.read()?))
    })();
    server.connection.free_pixmap(pixmap)?;
    picture.map(Some)
}
