//! A picture in memory, which can be blackened, scaled and encoded.

use bailiwick_platform::screen::{Frame, Rect, ScreenError};

/// A picture: rows from the top, pixels from the left, a byte each of red, green and blue, nothing between rows.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    width: u32,
    height: u32,
    rgb: Vec<u8>,
}

impl std::fmt::Debug for Picture {
    /// Pixels are never written down.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Picture({}x{})", self.width, self.height)
    }
}

impl Picture {
    /// Creates a picture of pixels; `None` if their number is not that of the size, or if it has none.
    pub fn new(width: u32, height: u32, rgb: Vec<u8>) -> Option<Self> {
        let bytes = (u64::from(width) * u64::from(height)).checked_mul(3)?;
        let fits = bytes > 0 && u64::try_from(rgb.len()).is_ok_and(|length| length == bytes);
        fits.then_some(Self { width, height, rgb })
    }

    /// Reads the pixels of what was captured.
    ///
    /// # Errors
    ///
    /// [`ScreenError`] if they cannot be read.
    pub fn of(frame: &Frame) -> Result<Self, ScreenError> {
        let rgb = frame.to_rgb()?;
        Self::new(frame.width, frame.height, rgb).ok_or_else(|| ScreenError::Lost(frame.display.clone()))
    }

    /// Returns how many pixels wide it is.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns how many pixels high it is.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Returns the pixels.
    pub fn rgb(&self) -> &[u8] {
        &self.rgb
    }

    /// Returns the colour of one pixel, if it has that pixel.
    pub fn pixel(&self, x: u32, y: u32) -> Option<[u8; 3]> {
        if x >= self.width || y >= self.height {
            return None;
        }
        let at = usize::try_from((u64::from(y) * u64::from(self.width) + u64::from(x)) * 3).ok()?;
        self.rgb.get(at..at + 3).and_then(|pixel| pixel.try_into().ok())
    }

    /// Returns a part of it; `None` unless all of the part is in it.
    pub fn part(&self, part: Rect) -> Option<Self> {
        if !Rect::new(0, 0, self.width, self.height).contains(&part) {
            return None;
        }
        let bytes = usize::try_from(part.pixels() * 3).ok()?;
        let mut rgb = Vec::with_capacity(bytes);
        for row in self.rows(part) {
            rgb.extend_from_slice(self.rgb.get(row)?);
        }
        Self::new(part.width, part.height, rgb)
    }

    /// Returns where in the pixels each row of a rectangle stands, which must be in the picture.
    fn rows(&self, part: Rect) -> impl Iterator<Item = std::ops::Range<usize>> + use<> {
        let number = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        let (x, y) = (u64::from(part.x.unsigned_abs()), u64::from(part.y.unsigned_abs()));
        let width = u64::from(self.width);
        (y..y + u64::from(part.height)).map(move |row| {
            let start = (row * width + x) * 3;
            number(start)..number(start + u64::from(part.width) * 3)
        })
    }
}

/// Makes rectangles black. They are counted from the picture's upper left corner and may reach beyond it.
pub fn black_out(picture: &mut Picture, parts: &[Rect]) {
    let whole = Rect::new(0, 0, picture.width, picture.height);
    for part in parts.iter().filter_map(|part| whole.intersection(part)) {
        for row in picture.rows(part) {
            picture.rgb[row].fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Picture, black_out};
    use bailiwick_platform::screen::Rect;

    fn white(width: u32, height: u32) -> Picture {
        Picture::new(width, height, vec![255; (width * height * 3) as usize]).expect("sizes agree")
    }

    #[test]
    fn the_number_of_pixels_must_be_that_of_the_size() {
        assert!(Picture::new(2, 2, vec![0; 12]).is_some());
        assert!(Picture::new(2, 2, vec![0; 11]).is_none());
        assert!(Picture::new(0, 2, Vec::new()).is_none());
        assert!(Picture::new(u32::MAX, u32::MAX, Vec::new()).is_none());
    }

    #[test]
    fn a_rectangle_is_black_and_all_around_it_is_as_it_was() {
        let mut picture = white(10, 8);
        black_out(&mut picture, &[Rect::new(2, 3, 4, 2), Rect::new(8, -5, 100, 6), Rect::new(50, 50, 9, 9)]);
        for y in 0..8 {
            for x in 0..10 {
                let inside = ((2..6).contains(&x) && (3..5).contains(&y)) || (x >= 8 && y == 0);
                let expected = if inside { [0; 3] } else { [255; 3] };
                assert_eq!(picture.pixel(x, y), Some(expected), "{x},{y}");
            }
        }
        assert_eq!(picture.pixel(10, 0), None);
    }

    #[test]
    fn a_part_has_the_pixels_of_its_place() {
        let rgb: Vec<u8> = (0..6 * 4 * 3).collect();
        let picture = Picture::new(6, 4, rgb).expect("sizes agree");
        let part = picture.part(Rect::new(4, 1, 2, 3)).expect("it is inside");
        assert_eq!((part.width(), part.height()), (2, 3));
        assert_eq!(part.pixel(0, 0), picture.pixel(4, 1));
        assert_eq!(part.pixel(1, 2), picture.pixel(5, 3));
        assert!(picture.part(Rect::new(4, 1, 3, 3)).is_none());
        assert!(picture.part(Rect::new(-1, 1, 3, 3)).is_none());
    }
}
