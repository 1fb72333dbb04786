//! Reads the lossless files that this build writes: to look again at a picture that was kept.

use std::io::Cursor;

use super::Picture;

/// The most pixels that are read: more than any display has.
const MAX_PIXELS: u64 = 1 << 28;

/// Reads a PNG or a WebP of colours without transparency, as [`super::encode`] writes them.
///
/// # Errors
/// In words, if it is no such file.
pub fn decode(bytes: &[u8]) -> Result<Picture, String> {
    let (width, height, rgb) = if bytes.starts_with(b"RIFF") { webp(bytes)? } else { png(bytes)? };
    Picture::new(width, height, rgb).ok_or_else(|| "its size and its pixels do not agree".to_owned())
}

fn png(bytes: &[u8]) -> Result<(u32, u32, Vec<u8>), String> {
    let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().map_err(|error| error.to_string())?;
    let (width, height) = (reader.info().width, reader.info().height);
    check(width, height)?;
    if reader.output_color_type() != (png::ColorType::Rgb, png::BitDepth::Eight) {
        return Err("its colours are not of the kind that is read".to_owned());
    }
    let mut rgb = vec![0; reader.output_buffer_size().ok_or("its size is unknown")?];
    reader.next_frame(&mut rgb).map_err(|error| error.to_string())?;
    Ok((width, height, rgb))
}

fn webp(bytes: &[u8]) -> Result<(u32, u32, Vec<u8>), String> {
    let mut decoder = image_webp::WebPDecoder::new(Cursor::new(bytes)).map_err(|error| error.to_string())?;
    let (width, height) = decoder.dimensions();
    check(width, height)?;
    if decoder.has_alpha() {
        return Err("its colours are not of the kind that is read".to_owned());
    }
    let mut rgb = vec![0; decoder.output_buffer_size().ok_or("its size is unknown")?];
    decoder.read_image(&mut rgb).map_err(|error| error.to_string())?;
    Ok((width, height, rgb))
}

fn check(width: u32, height: u32) -> Result<(), String> {
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(format!("{width}x{height} pixels are more than are read"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Format, encode};
    use super::*;

    #[test]
    fn what_is_written_lossless_is_read_again() {
        let rgb = (0..=u8::MAX).cycle().take(60 * 40 * 3).collect();
        let picture = Picture::new(60, 40, rgb).expect("sizes agree");
        for format in [Format::Png, Format::Webp] {
            let bytes = encode(&picture, format).expect("it is encoded");
            assert!(decode(&bytes).expect("it is read") == picture, "{format:?}");
        }
        let jpeg = encode(&picture, Format::Jpeg { quality: 80 }).expect("it is encoded");
        assert!(decode(&jpeg).is_err() && decode(b"").is_err() && decode(b"RIFFxxxx").is_err());
    }
}
