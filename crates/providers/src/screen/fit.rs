//! Makes a picture's file no larger than it may be: a smaller picture, or a lossy one, never a part of one.

use super::{Format, Picture, encode, scale};

/// The quality of a JPEG that replaces another format.
const STAND_IN_QUALITY: u8 = 80;
/// How much smaller a lossless picture may become before a lossy one of the size asked for is better.
const LEAST_FACTOR: f64 = 0.7;
/// How often a size is tried; each is at most nine tenths of the last.
const MOST_TRIES: usize = 40;

/// A picture's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageFile {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// Its format.
    pub format: Format,
    /// How many pixels wide it is.
    pub width: u32,
    /// How many pixels high it is.
    pub height: u32,
    /// How it differs from what was asked for since that would have been too large, in words.
    pub reduced: Option<String>,
}

/// Encodes a picture of at most a size into at most so many bytes.
///
/// # Errors
/// In words, if the format cannot hold it, or nothing of it fits.
pub fn fit(
    picture: Picture,
    format: Format,
    max_width: u32,
    max_height: u32,
    limit_bytes: usize,
) -> Result<ImageFile, String> {
    let picture = scale(picture, max_width, max_height);
    let bytes = encode(&picture, format)?;
    if bytes.len() <= limit_bytes {
        return Ok(fitted(bytes, format, &picture, None));
    }
    let full = bytes.len();
    let why = format!(
        "as {} of {}x{} pixels its file would have had {full} bytes, more than {limit_bytes}",
        format.media_type(),
        picture.width(),
        picture.height()
    );
    let reduced = |bytes, format, smaller: &Picture| fitted(bytes, format, smaller, Some(why.clone()));
    if !matches!(format, Format::Jpeg { .. }) {
        let mut factor = ratio(limit_bytes, full);
        while factor >= LEAST_FACTOR {
            let smaller = scaled(&picture, factor);
            let bytes = encode(&smaller, format)?;
            if bytes.len() <= limit_bytes {
                return Ok(reduced(bytes, format, &smaller));
            }
            factor *= 0.9;
        }
    }
    let format = match format {
        Format::Jpeg { quality } => Format::Jpeg { quality },
        Format::Png | Format::Webp => Format::Jpeg { quality: STAND_IN_QUALITY },
    };
    let mut factor = 1.0;
    for _ in 0..MOST_TRIES {
        let smaller = scaled(&picture, factor);
        let bytes = encode(&smaller, format)?;
        if bytes.len() <= limit_bytes {
            return Ok(reduced(bytes, format, &smaller));
        }
        factor *= ratio(limit_bytes, bytes.len()).min(0.9);
    }
    Err(format!("no picture of it fits into {limit_bytes} bytes"))
}

fn fitted(bytes: Vec<u8>, format: Format, picture: &Picture, reduced: Option<String>) -> ImageFile {
    ImageFile { bytes, format, width: picture.width(), height: picture.height(), reduced }
}

/// Returns by what a picture's sides are to be multiplied so that its file shrinks to a limit; a little less.
fn ratio(limit_bytes: usize, bytes: usize) -> f64 {
    (limit_bytes as f64 / bytes.max(1) as f64).sqrt() * 0.97
}

fn scaled(picture: &Picture, factor: f64) -> Picture {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 1 to the side, which is a u32"
    )]
    let side = |side: u32| (f64::from(side) * factor).round().clamp(1.0, f64::from(side)) as u32;
    scale(picture.clone(), side(picture.width()), side(picture.height()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture that no encoder makes much smaller.
    fn noise(width: u32, height: u32) -> Picture {
        let mut state = 1_u32;
        let rgb = (0..width * height * 3).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        });
        Picture::new(width, height, rgb.collect()).expect("sizes agree")
    }

    #[test]
    fn what_fits_is_as_asked_and_not_said_to_be_less() {
        let fitted = fit(noise(100, 50), Format::Png, 50, 50, 100_000).expect("it fits");
        assert_eq!((fitted.width, fitted.height, fitted.format), (50, 25, Format::Png));
        assert_eq!(fitted.reduced, None);
    }

    #[test]
    fn what_is_too_large_becomes_smaller_then_lossy_and_says_so() {
        let whole = fit(noise(200, 100), Format::Png, 200, 100, 1_000_000).expect("it fits").bytes.len();
        let smaller = fit(noise(200, 100), Format::Png, 200, 100, whole * 3 / 4).expect("it fits");
        assert_eq!(smaller.format, Format::Png);
        assert!(smaller.width < 200 && smaller.bytes.len() <= whole * 3 / 4, "{} pixels", smaller.width);
        let lossy = fit(noise(200, 100), Format::Png, 200, 100, whole / 3).expect("it fits");
        assert!(matches!(lossy.format, Format::Jpeg { .. }) && lossy.bytes.len() <= whole / 3);
        for fitted in [smaller, lossy] {
            assert!(fitted.reduced.expect("it is said").contains("200x100"));
        }
        let tiny = fit(noise(200, 100), Format::Webp, 200, 100, 1_000).expect("it fits");
        assert!(tiny.bytes.len() <= 1_000);
        assert!(fit(noise(200, 100), Format::Png, 200, 100, 10).is_err(), "not even a pixel fits");
    }
}
