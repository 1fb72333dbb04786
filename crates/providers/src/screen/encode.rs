//! Turns a picture into the bytes of a file.

use super::Picture;

/// The format of a picture's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Lossless, quick.
    Png,
    /// Lossy, small for photographs.
    Jpeg {
        /// From 1, the smallest file, to 100, the best picture.
        quality: u8,
    },
    /// Lossless, smaller than PNG and a little slower.
    Webp,
}

impl Format {
    /// Returns the media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg { .. } => "image/jpeg",
            Self::Webp => "image/webp",
        }
    }

    /// Returns the usual ending of a file's name.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg { .. } => "jpg",
            Self::Webp => "webp",
        }
    }

    /// Returns the longest side that the format can hold.
    pub fn longest_side(self) -> u32 {
        match self {
            Self::Png => 0x7fff_ffff,
            Self::Jpeg { .. } => 0xffff,
            Self::Webp => 0x4000,
        }
    }
}

/// Encodes a picture.
///
/// # Errors
///
/// In words, if the picture has a side that the format cannot hold.
pub fn encode(picture: &Picture, format: Format) -> Result<Vec<u8>, String> {
    let longest = format.longest_side();
    if picture.width() > longest || picture.height() > longest {
        return Err(format!("{} contains no side of more than {longest} pixels", format.media_type()));
    }
    match format {
        Format::Png => png(picture).map_err(|error| error.to_string()),
        Format::Jpeg { quality } => jpeg(picture, quality),
        Format::Webp => webp(picture).map_err(|error| error.to_string()),
    }
}

fn png(picture: &Picture) -> Result<Vec<u8>, png::EncodingError> {
    let mut file = Vec::with_capacity(picture.rgb().len() / 4);
    let mut encoder = png::Encoder::new(&mut file, picture.width(), picture.height());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(picture.rgb())?;
    writer.finish()?;
    Ok(file)
}

fn jpeg(picture: &Picture, quality: u8) -> Result<Vec<u8>, String> {
    let side = |side: u32| u16::try_from(side).map_err(|error| error.to_string());
    let mut file = Vec::with_capacity(picture.rgb().len() / 8);
    jpeg_encoder::Encoder::new(&mut file, quality.clamp(1, 100))
        .encode(picture.rgb(), side(picture.width())?, side(picture.height())?, jpeg_encoder::ColorType::Rgb)
        .map_err(|error| error.to_string())?;
    Ok(file)
}

fn webp(picture: &Picture) -> Result<Vec<u8>, image_webp::EncodingError> {
    let mut file = Vec::with_capacity(picture.rgb().len() / 4);
    image_webp::WebPEncoder::new(&mut file).encode(
        picture.rgb(),
        picture.width(),
        picture.height(),
        image_webp::ColorType::Rgb8,
    )?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::{Format, encode};
    use crate::screen::Picture;

    fn picture(width: u32, height: u32) -> Picture {
        let rgb = (0..width * height)
            .flat_map(|at| [at % 251, at / 7 % 256, at / width * 3 % 256])
            .map(|value| u8::try_from(value).expect("below 256"))
            .collect();
        Picture::new(width, height, rgb).expect("sizes agree")
    }

    #[test]
    fn a_png_decodes_to_the_same_pixels() {
        let picture = picture(67, 31);
        let file = encode(&picture, Format::Png).expect("it is encoded");
        let mut reader = png::Decoder::new(Cursor::new(file)).read_info().expect("a PNG");
        let mut pixels = vec![0; reader.output_buffer_size().expect("it is known")];
        let info = reader.next_frame(&mut pixels).expect("it decodes");
        assert_eq!((info.width, info.height, info.color_type), (67, 31, png::ColorType::Rgb));
        assert_eq!(pixels, picture.rgb());
    }

    #[test]
    fn a_webp_decodes_to_the_same_pixels() {
        let picture = picture(67, 31);
        let file = encode(&picture, Format::Webp).expect("it is encoded");
        let mut decoder = image_webp::WebPDecoder::new(Cursor::new(file)).expect("a WebP");
        let mut pixels = vec![0; decoder.output_buffer_size().expect("it is known")];
        assert!(!decoder.has_alpha());
        decoder.read_image(&mut pixels).expect("it decodes");
        assert_eq!(pixels, picture.rgb());
    }

    #[test]
    fn a_jpeg_states_its_size_and_gets_smaller_with_its_quality() {
        let picture = picture(640, 480);
        let [good, poor] = [90, 20].map(|quality| {
            let file = encode(&picture, Format::Jpeg { quality }).expect("it is encoded");
            assert_eq!(file.get(..3), Some([0xff, 0xd8, 0xff].as_slice()));
            // The frame header: FF C0, length, precision, height, width.
            let header = file.windows(2).position(|pair| pair == [0xff, 0xc0]).expect("a frame header");
            assert_eq!(file.get(header + 5..header + 9), Some([1, 224, 2, 128].as_slice()));
            file.len()
        });
        assert!(poor < good, "{poor} {good}");
        assert!(encode(&picture, Format::Jpeg { quality: 0 }).is_ok());
    }

    #[test]
    fn a_side_that_the_format_cannot_hold_is_refused() {
        let long = Picture::new(70_000, 1, vec![0; 210_000]).expect("sizes agree");
        assert!(encode(&long, Format::Png).is_ok());
        let error = encode(&long, Format::Jpeg { quality: 80 }).expect_err("too long");
        assert!(error.contains("65535"), "{error}");
        assert!(encode(&long, Format::Webp).expect_err("too long").contains("16384"));
    }
}
