//! A picture that is sent, and where its places are on the display.

use bailiwick_platform::screen::Rect;

use super::answer::ModelPlace;
use crate::screen::{Format, ImageFile, Picture, fit};

/// The long edge of a picture that is sent, in pixels; what is larger is made smaller.
pub const LONG_EDGE: u32 = 1_568;
/// The largest file of a picture that is sent. As base64 it is 4 MB, which each of the services takes.
const MAX_PICTURE_BYTES: usize = 3_000_000;

/// Makes the file of a picture that is sent: at most 1568 pixels long and 3 MB.
///
/// # Errors
/// In words, if nothing of it fits.
pub fn sendable(picture: Picture) -> Result<ImageFile, String> {
    fit(picture, Format::Png, LONG_EDGE, LONG_EDGE, MAX_PICTURE_BYTES)
}

/// Returns where a place of a picture is on the display: the pixels that it touches.
pub fn on_display(place: &ModelPlace, image: &ImageFile, area: Rect) -> Rect {
    let [left, top, right, bottom] = place.edges;
    let (x, width) = span(left, right, image.width, area.width);
    let (y, height) = span(top, bottom, image.height, area.height);
    Rect::new(area.x.saturating_add_unsigned(x), area.y.saturating_add_unsigned(y), width, height)
}

/// Maps a span of a picture's side to the pixels of the display's that it touches: where it begins, and its length.
fn span(from: f64, to: f64, pixels: u32, length: u32) -> (u32, u32) {
    let scaled = |at: f64| at * f64::from(length) / f64::from(pixels.max(1));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within the side, which is a u32: what is not is refused before"
    )]
    let (first, end) = (scaled(from).floor() as u32, scaled(to).ceil() as u32);
    let first = first.min(length.saturating_sub(1));
    (first, end.min(length).saturating_sub(first).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::fitting;

    #[test]
    fn a_point_of_the_display_comes_back_within_a_pixel() {
        for (width, height) in
            [(1, 1), (64, 48), (1_568, 1_568), (1_920, 1_080), (3_840, 2_160), (7_680, 1_080), (1_081, 1_921)]
        {
            let (small, low) = fitting(width, height, LONG_EDGE, LONG_EDGE);
            for at in [0, 1, width / 3, width / 2, width - 1].into_iter().filter(|at| *at < width) {
                // The pixel of the smaller picture that shows the middle of the display's.
                let middle = (f64::from(at) + 0.5) * f64::from(small) / f64::from(width);
                let (first, length) = span(middle, middle, small, width);
                assert!(first.abs_diff(at) <= 1 && length == 1, "{at} of {width}: {first}+{length}");
            }
            let (first, length) = span(0.0, f64::from(small), small, width);
            assert_eq!((first, length), (0, width), "the whole is the whole");
            let (first, length) = span(0.0, f64::from(low), low, height);
            assert_eq!((first, length), (0, height));
        }
    }

    #[test]
    fn a_box_covers_what_it_touches_and_stays_within_the_area() {
        let image =
            ImageFile { bytes: Vec::new(), format: Format::Png, width: 100, height: 50, reduced: None };
        let area = Rect::new(-50, 10, 200, 100);
        let at = |edges| on_display(&ModelPlace { edges, confidence: None }, &image, area);
        assert_eq!(at([10.0, 10.0, 20.0, 15.0]), Rect::new(-30, 30, 20, 10));
        assert_eq!(at([0.0, 0.0, 100.0, 50.0]), area);
        assert_eq!(at([99.9, 49.9, 99.9, 49.9]), Rect::new(149, 109, 1, 1));
        assert_eq!(at([100.0, 50.0, 100.0, 50.0]), Rect::new(149, 109, 1, 1));
    }
}
