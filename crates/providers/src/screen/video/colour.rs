//! Pixels as luma and chroma, in whole blocks of sixteen.
//!
//! # Source
//! ITU-R BT.709, as 8 bits with room below and above (16 to 235).

use super::super::Picture;

/// One plane: rows from the top, a byte each, nothing between rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plane {
    /// How many bytes a row has.
    pub width: usize,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// The planes of a picture: luma, then blue and red in half the size.
pub(super) type Planes = [Plane; 3];

impl Plane {
    /// Creates a grey one.
    pub(super) fn new(width: usize, height: usize) -> Self {
        Self { width, bytes: vec![128; width * height] }
    }
}

/// Converts a picture. What is beyond its right and lower edge repeats the edge.
pub(super) fn planes(picture: &Picture, width: usize, height: usize) -> Planes {
    let mut luma = Plane::new(width, height);
    let mut chroma = [Plane::new(width / 2, height / 2), Plane::new(width / 2, height / 2)];
    let (right, bottom) = (side(picture.width()) - 1, side(picture.height()) - 1);
    let rgb = picture.rgb();
    let pixel = |x: usize, y: usize| -> [i32; 3] {
        let at = (y.min(bottom) * (right + 1) + x.min(right)) * 3;
        [rgb[at], rgb[at + 1], rgb[at + 2]].map(i32::from)
    };
    for (y, row) in luma.bytes.chunks_exact_mut(width).enumerate() {
        for (x, out) in row.iter_mut().enumerate() {
            let [red, green, blue] = pixel(x, y);
            *out = byte(16 + ((47 * red + 157 * green + 16 * blue + 128) >> 8));
        }
    }
    for y in 0..height / 2 {
        for x in 0..width / 2 {
            let four = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(dx, dy)| pixel(2 * x + dx, 2 * y + dy));
            let [red, green, blue] = [0, 1, 2].map(|of| four.iter().map(|pixel| pixel[of]).sum::<i32>());
            let at = y * (width / 2) + x;
            chroma[0].bytes[at] = byte(128 + ((-26 * red - 86 * green + 112 * blue + 512) >> 10));
            chroma[1].bytes[at] = byte(128 + ((112 * red - 102 * green - 10 * blue + 512) >> 10));
        }
    }
    let [blue, red] = chroma;
    [luma, blue, red]
}

fn side(length: u32) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX).max(1)
}

/// Returns a number as a byte, at the nearer end where it is none.
pub(super) fn byte(value: i32) -> u8 {
    u8::try_from(value.clamp(0, 255)).unwrap_or(0)
}
