//! Displays by X11.

mod image;
mod servers;

pub(super) use image::Image;
pub(super) use servers::Servers;
