//! Displays and pictures by `xcap`.

use xcap::{Monitor, Window, XCapError};

use super::scene::Monitors;
use crate::screen::Rect;

/// Pixels as the system gave them: rows from the top, a byte each of red, green, blue, and one that says nothing.
#[derive(Debug)]
pub(in crate::screen) struct Image {
    /// How many pixels wide.
    pub width: u32,
    /// How many pixels high.
    pub height: u32,
    /// The bytes.
    pub rgba: Vec<u8>,
}

/// A display.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SystemDisplay {
    /// The number that the system gave it.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// Whether it is the first.
    pub primary: bool,
    /// Where it lies, in the system's units.
    pub place: Rect,
    /// How many pixels one unit is.
    pub density: f64,
}

/// Tells the displays.
pub(super) fn monitors() -> Result<Monitors, String> {
    let told = Monitor::all().map_err(|error| plain(&error))?;
    let told: Result<Monitors, XCapError> = told.iter().map(read).collect();
    told.map_err(|error| plain(&error))
}

fn read(monitor: &Monitor) -> Result<SystemDisplay, XCapError> {
    let density = f64::from(monitor.scale_factor().unwrap_or(1.0));
    Ok(SystemDisplay {
        number: monitor.id()?,
        name: monitor.name()?,
        primary: monitor.is_primary().unwrap_or(false),
        place: Rect::new(monitor.x()?, monitor.y()?, monitor.width()?, monitor.height()?),
        density: if (0.1..=16.0).contains(&density) { density } else { 1.0 },
    })
}

/// Takes a picture of a whole display; nothing, if there is none of this number.
pub(super) fn of_monitor(number: u32) -> Result<Option<Image>, String> {
    let all = Monitor::all().map_err(|error| plain(&error))?;
    let monitor = all.iter().find(|monitor| monitor.id().is_ok_and(|id| id == number));
    let image = monitor.map(Monitor::capture_image).transpose().map_err(|error| plain(&error))?;
    Ok(image.map(|image| Image { width: image.width(), height: image.height(), rgba: image.into_raw() }))
}

/// Takes a picture of a window and nothing else; nothing, if there is none of this number that has one.
pub(super) fn of_window(number: u64) -> Result<Option<Image>, String> {
    let all = Window::all().map_err(|error| plain(&error))?;
    let window = all.iter().find(|window| window.id().is_ok_and(|id| u64::from(id) == number));
    let image = window.map(Window::capture_image).transpose().map_err(|error| plain(&error))?;
    Ok(image.map(|image| Image { width: image.width(), height: image.height(), rgba: image.into_raw() }))
}

fn plain(error: &XCapError) -> String {
    crate::screen::plain::plain(&error.to_string())
}

impl Image {
    /// Returns a part, which must be within.
    pub(super) fn part(self, part: Rect) -> Self {
        let whole = Rect::new(0, 0, self.width, self.height);
        if part == whole || !whole.contains(&part) {
            return self;
        }
        let (left, top) = (part.x.unsigned_abs() as usize * 4, part.y.unsigned_abs() as usize);
        let (row, wanted) = (self.width as usize * 4, part.width as usize * 4);
        let rows = self.rgba.chunks_exact(row).skip(top).take(part.height as usize);
        let rgba = rows.flat_map(|row| row[left..left + wanted].iter().copied()).collect();
        Self { width: part.width, height: part.height, rgba }
    }

    /// Returns the pixels without the byte that says nothing.
    pub(in crate::screen) fn rgb(&self) -> Vec<u8> {
        self.rgba.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_what_lies_there() {
        let rgba: Vec<u8> = (0..4 * 3 * 2).collect();
        let image = Image { width: 3, height: 2, rgba };
        let part = image.part(Rect::new(1, 1, 2, 1));
        assert_eq!((part.width, part.height), (2, 1));
        assert_eq!(part.rgb(), [16, 17, 18, 20, 21, 22]);
    }
}
