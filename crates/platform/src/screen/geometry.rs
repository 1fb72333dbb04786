//! Points and rectangles in a display's own pixels. Mathematics only.

/// A point, in pixels from the upper left corner of what it is said to be in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Point {
    /// To the right.
    pub x: i32,
    /// Downwards.
    pub y: i32,
}

/// A rectangle of whole pixels. It may lie partly or wholly outside of what it is said to be in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rect {
    /// The left edge.
    pub x: i32,
    /// The upper edge.
    pub y: i32,
    /// How many pixels wide.
    pub width: u32,
    /// How many pixels high.
    pub height: u32,
}

impl Rect {
    /// Creates a rectangle.
    pub fn new(x: i32, y: i32, width: u32, height: u32) -> Self {
        Self { x, y, width, height }
    }

    /// Returns whether it holds no pixel.
    pub fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0
    }

    /// Returns the number of pixels.
    pub fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// Returns the upper left corner.
    pub fn origin(&self) -> Point {
        Point { x: self.x, y: self.y }
    }

    /// Returns the same rectangle, moved.
    #[must_use]
    pub fn moved(&self, x: i32, y: i32) -> Self {
        Self { x: self.x.saturating_add(x), y: self.y.saturating_add(y), ..*self }
    }

    /// Returns what both hold, if that is any pixel.
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        let (left, top) = (self.x.max(other.x), self.y.max(other.y));
        let width = u32::try_from(self.right().min(other.right()) - i64::from(left)).ok()?;
        let height = u32::try_from(self.bottom().min(other.bottom()) - i64::from(top)).ok()?;
        (width > 0 && height > 0).then_some(Self { x: left, y: top, width, height })
    }

    /// Returns whether every pixel of the other is in this one.
    pub fn contains(&self, other: &Self) -> bool {
        !other.is_empty() && self.intersection(other) == Some(*other)
    }

    /// Returns what of this rectangle is outside of the other, as up to four rectangles.
    pub fn without(&self, other: &Self) -> Vec<Self> {
        let Some(inner) = self.intersection(other) else {
            return if self.is_empty() { Vec::new() } else { vec![*self] };
        };
        let span = |from: i64, to: i64| u32::try_from(to - from).unwrap_or(0);
        let start = |at: i64| i32::try_from(at).unwrap_or(i32::MAX);
        let (top, bottom) = (i64::from(inner.y), inner.bottom());
        [
            Self { height: span(self.y.into(), top), ..*self },
            Self { y: start(bottom), height: span(bottom, self.bottom()), ..*self },
            Self { width: span(self.x.into(), inner.x.into()), y: inner.y, height: inner.height, x: self.x },
            Self {
                x: start(inner.right()),
                width: span(inner.right(), self.right()),
                y: inner.y,
                height: inner.height,
            },
        ]
        .into_iter()
        .filter(|rest| !rest.is_empty())
        .collect()
    }

    fn right(&self) -> i64 {
        i64::from(self.x) + i64::from(self.width)
    }

    fn bottom(&self) -> i64 {
        i64::from(self.y) + i64::from(self.height)
    }
}

impl std::fmt::Display for Rect {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}x{} at {},{}", self.width, self.height, self.x, self.y)
    }
}

#[cfg(test)]
mod tests {
    use super::Rect;

    #[test]
    fn what_two_rectangles_share_is_found_at_the_edges_of_numbers_too() {
        let screen = Rect::new(0, 0, 100, 50);
        assert_eq!(screen.intersection(&Rect::new(-10, 40, 20, 20)), Some(Rect::new(0, 40, 10, 10)));
        assert_eq!(screen.intersection(&Rect::new(100, 0, 5, 5)), None);
        assert_eq!(screen.intersection(&Rect::new(5, 5, 0, 5)), None);
        let vast = Rect::new(i32::MIN, i32::MIN, u32::MAX, u32::MAX);
        assert_eq!(vast.intersection(&screen), Some(screen));
        assert!(vast.contains(&screen) && !screen.contains(&vast));
        assert!(!screen.contains(&Rect::new(5, 5, 0, 0)));
    }

    #[test]
    fn a_hole_leaves_the_four_sides_around_it() {
        let whole = Rect::new(0, 0, 10, 10);
        let rest = whole.without(&Rect::new(2, 3, 4, 5));
        assert_eq!(rest.iter().map(Rect::pixels).sum::<u64>(), 100 - 20);
        assert_eq!(rest.len(), 4);
        assert!(rest.iter().all(|part| part.intersection(&Rect::new(2, 3, 4, 5)).is_none()));
        assert_eq!(whole.without(&Rect::new(-5, -5, 50, 50)), []);
        assert_eq!(whole.without(&Rect::new(20, 20, 5, 5)), [whole]);
    }
}
