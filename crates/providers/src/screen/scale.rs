//! Makes a picture smaller, or twice as large.

use fast_image_resize::images::{TypedImage, TypedImageRef};
use fast_image_resize::pixels::U8x3;
use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer};

use super::Picture;

/// Returns the size of a picture that fits into a box, in the same proportion; never a larger one than it is.
/// A side of the box that is 0 counts as 1.
pub fn fitting(width: u32, height: u32, max_width: u32, max_height: u32) -> (u32, u32) {
    let (max_width, max_height) = (max_width.max(1), max_height.max(1));
    if width <= max_width && height <= max_height {
        return (width, height);
    }
    // The side that is further beyond its limit decides: width / max_width against height / max_height.
    let scaled = |side: u32, limit: u32, by: u32| {
        let rounded = (u64::from(side) * u64::from(limit) + u64::from(by) / 2) / u64::from(by.max(1));
        u32::try_from(rounded).unwrap_or(limit).max(1)
    };
    if u64::from(width) * u64::from(max_height) >= u64::from(height) * u64::from(max_width) {
        (max_width, scaled(height, max_width, width).min(max_height))
    } else {
        (scaled(width, max_height, height).min(max_width), max_height)
    }
}

/// Creates a picture fit into a box, in the same proportion. One that fits already comes back as it is.
///
/// Each pixel is made of all that fall into it (bilinear over the whole area), so that text stays readable.
pub fn scale(picture: Picture, max_width: u32, max_height: u32) -> Picture {
    let (width, height) = fitting(picture.width(), picture.height(), max_width, max_height);
    if (width, height) == (picture.width(), picture.height()) {
        return picture;
    }
    resized(&picture, width, height).unwrap_or(picture)
}

/// Creates a picture of twice the size.
pub fn double(picture: Picture) -> Picture {
    let (width, height) = (picture.width().saturating_mul(2), picture.height().saturating_mul(2));
    resized(&picture, width, height).unwrap_or(picture)
}

fn resized(picture: &Picture, width: u32, height: u32) -> Option<Picture> {
    let source = TypedImageRef::<U8x3>::from_buffer(picture.width(), picture.height(), picture.rgb()).ok()?;
    let mut rgb = vec![0; usize::try_from(u64::from(width) * u64::from(height) * 3).ok()?];
    let mut target = TypedImage::<U8x3>::from_buffer(width, height, &mut rgb).ok()?;
    let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Bilinear));
    Resizer::new().resize_typed(&source, &mut target, &options).ok()?;
    Picture::new(width, height, rgb)
}

#[cfg(test)]
mod tests {
    use super::{fitting, scale};
    use crate::screen::Picture;

    #[test]
    fn a_picture_keeps_its_proportion_and_never_grows() {
        assert_eq!(fitting(1920, 1080, 1568, 1568), (1568, 882));
        assert_eq!(fitting(1080, 1920, 1568, 1568), (882, 1568));
        assert_eq!(fitting(800, 600, 1568, 1568), (800, 600));
        assert_eq!(fitting(1920, 1080, u32::MAX, 540), (960, 540));
        assert_eq!(fitting(10_000, 1, 100, 100), (100, 1));
        assert_eq!(fitting(10, 10, 0, 0), (1, 1));
    }

    #[test]
    fn every_pixel_of_the_source_counts_in_the_smaller_picture() {
        // A chequer of single pixels becomes an even grey: nothing is left out, as by picking single pixels.
        let rgb = (0..64 * 64).flat_map(|at| [if (at + at / 64) % 2 == 0 { 0 } else { 200 }; 3]).collect();
        let picture = scale(Picture::new(64, 64, rgb).expect("sizes agree"), 16, 16);
        assert_eq!((picture.width(), picture.height()), (16, 16));
        assert!(picture.rgb().iter().all(|value| (90..=110).contains(value)), "{:?}", picture.rgb());
    }

    #[test]
    fn colours_stay_at_their_place() {
        let rgb = (0..100).flat_map(|at| if at % 10 < 5 { [255, 0, 0] } else { [0, 0, 255] }).collect();
        let picture = scale(Picture::new(10, 10, rgb).expect("sizes agree"), 2, 2);
        assert_eq!((picture.width(), picture.height()), (2, 2));
        let (left, right) = (picture.pixel(0, 1).expect("inside"), picture.pixel(1, 0).expect("inside"));
        assert!(left[0] > 200 && left[2] < 55 && left[1] == 0, "{left:?}");
        assert!(right[2] > 200 && right[0] < 55, "{right:?}");
    }
}
