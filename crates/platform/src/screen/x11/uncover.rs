//! Has the server keep a whole picture of a window that is covered or lies partly outside.
//!
//! The server begins such a picture with a copy of the screen, so that it holds, where the window was covered, what
//! covers it: perhaps a window that must not be seen. Those parts are made black before anybody can look, and the
//! window's program is told to paint them. If it never does, they stay black.

use x11rb::connection::Connection as _;
use x11rb::protocol::composite::{ConnectionExt as _, Redirect};
use x11rb::protocol::xproto::{
    ConnectionExt as _, CreateGCAux, MapState, Rectangle, SubwindowMode, Window as WindowNumber, WindowClass,
};

use super::error::ServerError;
use super::scene::Layer;
use super::server::Server;
use crate::screen::Rect;

/// Windows within a window beyond these numbers are not told to paint.
const MAX_INNER: usize = 4096;
const MAX_DEPTH: usize = 32;

/// Has the server keep a picture of a child of the root, for as long as the connection lives. To be called while
/// the server serves nobody else.
pub(super) fn keep(
    server: &Server,
    screen: usize,
    top: WindowNumber,
    pile: &[Layer],
) -> Result<(), ServerError> {
    let Some(layer) = pile.iter().find(|layer| layer.number == top) else { return Ok(()) };
    let unseen = unseen(server, screen, layer, pile)?;
    server.connection.composite_redirect_window(top, Redirect::AUTOMATIC)?.check()?;
    if unseen.is_empty() {
        return Ok(());
    }
    blacken(server, layer, &unseen)?;
    for (number, place) in inner_windows(server, layer)? {
        for part in unseen.iter().filter_map(|part| part.intersection(&place)) {
            let part = rectangle(part.moved(-place.x, -place.y));
            server.connection.clear_area(true, number, part.x, part.y, part.width, part.height)?;
        }
    }
    // Waits until all that has been done.
    server.connection.get_input_focus()?.reply()?;
    Ok(())
}

/// Returns which parts of a window the screen has no pixels of.
fn unseen(server: &Server, screen: usize, layer: &Layer, pile: &[Layer]) -> Result<Vec<Rect>, ServerError> {
    let geometry = server.connection.get_geometry(server.roots()[screen].root)?.reply()?;
    let mut parts = layer.outer.without(&Rect::new(0, 0, geometry.width.into(), geometry.height.into()));
    let above = pile.iter().skip_while(|other| other.number != layer.number).skip(1);
    parts.extend(
        above.filter(|other| other.viewable).filter_map(|other| other.outer.intersection(&layer.outer)),
    );
    parts.extend(server.banner.as_ref().and_then(|banner| banner.over(screen, layer.outer)));
    Ok(parts)
}

fn blacken(server: &Server, layer: &Layer, parts: &[Rect]) -> Result<(), ServerError> {
    let connection = &server.connection;
    let pen = connection.generate_id()?;
    let settings = CreateGCAux::new().foreground(0).subwindow_mode(SubwindowMode::INCLUDE_INFERIORS);
    connection.create_gc(pen, layer.number, &settings)?;
    // Coordinates of a window begin within its border.
    let border = i32::try_from(layer.border).unwrap_or(0);
    let (x, y) = (-layer.outer.x - border, -layer.outer.y - border);
    let parts: Vec<Rectangle> = parts.iter().map(|part| rectangle(part.moved(x, y))).collect();
    connection.poly_fill_rectangle(layer.number, pen, &parts)?;
    connection.free_gc(pen)?;
    Ok(())
}

fn rectangle(part: Rect) -> Rectangle {
    Rectangle {
        x: i16::try_from(part.x).unwrap_or(i16::MIN),
        y: i16::try_from(part.y).unwrap_or(i16::MIN),
        width: u16::try_from(part.width).unwrap_or(u16::MAX),
        height: u16::try_from(part.height).unwrap_or(u16::MAX),
    }
}

/// Lists a window and all that can be seen within it, each with the place of its inside on the screen.
fn inner_windows(server: &Server, layer: &Layer) -> Result<Vec<(WindowNumber, Rect)>, ServerError> {
    let border = i32::try_from(layer.border).unwrap_or(0);
    let inside = Rect {
        width: layer.outer.width.saturating_sub(layer.border * 2),
        height: layer.outer.height.saturating_sub(layer.border * 2),
        ..layer.outer.moved(border, border)
    };
    let mut found = vec![(layer.number, inside)];
    let mut level = found.clone();
    for _ in 0..MAX_DEPTH {
        let trees: Vec<_> = level
            .iter()
            .map(|(number, _)| server.connection.query_tree(*number))
            .collect::<Result<_, _>>()?;
        let mut children = Vec::new();
        for ((_, place), tree) in level.iter().zip(trees) {
            children.extend(tree.reply()?.children.into_iter().map(|child| (child, *place)));
        }
        children.truncate(MAX_INNER.saturating_sub(found.len()));
        let asked: Vec<_> = children
            .iter()
            .map(|(child, _)| {
                Ok((
                    server.connection.get_window_attributes(*child)?,
                    server.connection.get_geometry(*child)?,
                ))
            })
            .collect::<Result<_, ServerError>>()?;
        level = Vec::new();
        for ((child, parent), (attributes, geometry)) in children.into_iter().zip(asked) {
            let (attributes, geometry) = (attributes.reply()?, geometry.reply()?);
            if attributes.map_state == MapState::VIEWABLE && attributes.class != WindowClass::INPUT_ONLY {
                let border = i32::from(geometry.border_width);
                let (x, y) = (i32::from(geometry.x) + border, i32::from(geometry.y) + border);
                let place =
                    Rect::new(parent.x + x, parent.y + y, geometry.width.into(), geometry.height.into());
                level.push((child, place));
            }
        }
        if level.is_empty() {
            break;
        }
        found.extend_from_slice(&level);
    }
    Ok(found)
}
