//! From the system's units of length to a display's own pixels. Mathematics only.

use crate::screen::Rect;

/// How a display's place, in the system's units, becomes its pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mapping {
    /// Where the display lies, in units.
    pub place: Rect,
    /// How many pixels wide it is.
    pub width: u32,
    /// How many pixels high it is.
    pub height: u32,
}

impl Mapping {
    /// Returns the pixels of a rectangle, counted from the display's upper left corner. A pixel that the rectangle
    /// holds in part is in it.
    pub(super) fn pixels(&self, of: Rect) -> Rect {
        let (left, width) = span(of.x, of.width, self.place.x, self.place.width, self.width);
        let (top, height) = span(of.y, of.height, self.place.y, self.place.height, self.height);
        Rect::new(left, top, width, height)
    }
}

#[cfg(any(windows, target_os = "macos"))]
impl Mapping {
    /// Returns the rectangle, in the system's units, whose pixels these are.
    pub(super) fn units(&self, of: Rect) -> Rect {
        let place = Self { place: Rect::new(0, 0, self.width, self.height), ..*self };
        let units = Self { width: self.place.width, height: self.place.height, ..place };
        let found = units.pixels(of);
        Rect { x: found.x.saturating_add(self.place.x), y: found.y.saturating_add(self.place.y), ..found }
    }
}

/// Maps what begins at `at` and is `length` long from a line of `units` that begins at `from` to one of `pixels`.
fn span(at: i32, length: u32, from: i32, units: u32, pixels: u32) -> (i32, u32) {
    let (pixels, units) = (i128::from(pixels), i128::from(units.max(1)));
    let begin = i128::from(at) - i128::from(from);
    let first = (begin * pixels).div_euclid(units);
    let end = -(-(begin + i128::from(length)) * pixels).div_euclid(units);
    let limit = |value: i128| value.clamp(i32::MIN.into(), i32::MAX.into());
    let (first, end) = (limit(first), limit(end));
    (i32::try_from(first).unwrap_or(i32::MIN), u32::try_from(end - first).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_of_a_display_with_fine_pixels_covers_every_pixel_that_it_touches() {
        let fine = Mapping { place: Rect::new(-1000, 20, 1000, 500), width: 2000, height: 1000 };
        assert_eq!(fine.pixels(Rect::new(-1000, 20, 1000, 500)), Rect::new(0, 0, 2000, 1000));
        assert_eq!(fine.pixels(Rect::new(-990, 30, 7, 3)), Rect::new(20, 20, 14, 6));
        assert_eq!(fine.pixels(Rect::new(-1010, 10, 5, 5)), Rect::new(-20, -20, 10, 10));
        let odd = Mapping { place: Rect::new(0, 0, 3, 3), width: 4, height: 5 };
        assert_eq!(odd.pixels(Rect::new(1, 1, 1, 1)), Rect::new(1, 1, 2, 3));
        assert_eq!(odd.pixels(Rect::new(0, 0, 0, 0)), Rect::new(0, 0, 0, 0));
        let same = Mapping { place: Rect::new(5, 5, 10, 10), width: 10, height: 10 };
        let vast = Rect::new(i32::MIN, i32::MIN, u32::MAX, u32::MAX);
        assert!(same.pixels(vast).contains(&Rect::new(0, 0, 10, 10)));
    }
}
