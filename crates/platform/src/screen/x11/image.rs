//! A picture as an X server gives it, and how it becomes red, green and blue.

use std::io;

use x11rb::protocol::xproto::{ImageOrder, Setup, VisualClass, Visualid, Visualtype};

use super::segment::Lease;
use crate::screen::ScreenError;

/// How the pixels of one drawable are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    bits_per_pixel: u8,
    /// Rows begin at a multiple of so many bits.
    row_unit_bits: u8,
    little_endian: bool,
    red: u32,
    green: u32,
    blue: u32,
}

impl Layout {
    /// Finds how pixels of a visual are kept. In words, if it is a way that is not read.
    pub(super) fn of(setup: &Setup, visual: Visualid) -> Result<Self, String> {
        let (depth, visual) = setup
            .roots
            .iter()
            .flat_map(|root| &root.allowed_depths)
            .find_map(|depth| {
                depth.visuals.iter().find(|it| it.visual_id == visual).map(|it| (depth.depth, it))
            })
            .ok_or_else(|| format!("it has no visual {visual:#x}"))?;
        Self::of_visual(setup, depth, visual)
    }

    fn of_visual(setup: &Setup, depth: u8, visual: &Visualtype) -> Result<Self, String> {
        let colours = [visual.red_mask, visual.green_mask, visual.blue_mask];
        let direct = visual.class == VisualClass::TRUE_COLOR || visual.class == VisualClass::DIRECT_COLOR;
        if !direct || colours.contains(&0) {
            return Err(format!("its {depth} bits a pixel are numbers of a table of colours"));
        }
        let format = setup.pixmap_formats.iter().find(|format| format.depth == depth);
        let format = format.ok_or_else(|| format!("it states no form for {depth} bits"))?;
        if ![16, 24, 32].contains(&format.bits_per_pixel) || ![8, 16, 32].contains(&format.scanline_pad) {
            return Err(format!("it keeps a pixel in {} bits", format.bits_per_pixel));
        }
        Ok(Self {
            bits_per_pixel: format.bits_per_pixel,
            row_unit_bits: format.scanline_pad,
            little_endian: setup.image_byte_order == ImageOrder::LSB_FIRST,
            red: visual.red_mask,
            green: visual.green_mask,
            blue: visual.blue_mask,
        })
    }

    /// Returns how many bytes a row takes.
    pub(super) fn row_bytes(&self, width: u32) -> u64 {
        let unit = u64::from(self.row_unit_bits);
        (u64::from(width) * u64::from(self.bits_per_pixel)).div_ceil(unit) * unit / 8
    }

    /// Returns whether a pixel is four bytes: blue, green, red and one without meaning.
    fn is_usual(&self) -> bool {
        self.bits_per_pixel == 32
            && self.little_endian
            && (self.red, self.green, self.blue) == (0xff_0000, 0xff00, 0xff)
    }

    fn convert_row(&self, row: &[u8], rgb: &mut [u8]) {
        if self.is_usual() {
            return convert_usual_row(row, rgb);
        }
        let bytes = usize::from(self.bits_per_pixel / 8);
        for (pixel, out) in row.chunks_exact(bytes).zip(rgb.chunks_exact_mut(3)) {
            let join = |value: u32, byte: &u8| value << 8 | u32::from(*byte);
            let value = if self.little_endian {
                pixel.iter().rev().fold(0, join)
            } else {
                pixel.iter().fold(0, join)
            };
            out.copy_from_slice(&[self.red, self.green, self.blue].map(|mask| component(value, mask)));
        }
    }
}

/// Returns one colour of a pixel in eight bits, whether it has more or fewer.
fn component(pixel: u32, mask: u32) -> u8 {
    let most = u64::from(mask >> mask.trailing_zeros());
    let value = u64::from((pixel & mask) >> mask.trailing_zeros());
    u8::try_from((value * 255 + most / 2) / most).unwrap_or(u8::MAX)
}

/// Four pixels at a time, as three numbers instead of twelve bytes.
fn convert_usual_row(row: &[u8], rgb: &mut [u8]) {
    /// Returns red in the lowest byte, green and blue above it, nothing in the highest.
    fn turned(pixel: &[u8]) -> u32 {
        match pixel {
            [blue, green, red, _] => u32::from_be_bytes([0, *blue, *green, *red]),
            _ => 0,
        }
    }
    let (fours, last) = (row.chunks_exact(16), row.chunks_exact(16).remainder());
    let mut outs = rgb.chunks_exact_mut(12);
    for (four, out) in fours.zip(&mut outs) {
        let [a, b, c, d] = [0, 4, 8, 12].map(|at| turned(&four[at..at + 4]));
        out[0..4].copy_from_slice(&(a | b << 24).to_le_bytes());
        out[4..8].copy_from_slice(&(b >> 8 | c << 16).to_le_bytes());
        out[8..12].copy_from_slice(&(c >> 16 | d << 8).to_le_bytes());
    }
    for (pixel, out) in last.chunks_exact(4).zip(outs.into_remainder().chunks_exact_mut(3)) {
        out.copy_from_slice(&turned(pixel).to_le_bytes()[..3]);
    }
}

/// Where the bytes of a picture are.
#[derive(Debug)]
pub(super) enum Store {
    /// In memory that the server has written.
    Shared(Lease),
    /// In the server's answer.
    Answer(Vec<u8>),
}

/// A picture as an X server gave it.
pub(in crate::screen) struct Image {
    /// How the pixels are kept.
    pub(super) layout: Layout,
    /// How many pixels wide.
    pub(super) width: u32,
    /// How many pixels high.
    pub(super) height: u32,
    /// Where they are.
    pub(super) store: Store,
}

impl std::fmt::Debug for Image {
    /// Pixels are never written down.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Image({}x{})", self.width, self.height)
    }
}

/// About how much is read at once: less than the processor's cache holds.
const CHUNK_BYTES: u64 = 1 << 18;

impl Image {
    /// Reads the pixels as bytes of red, green and blue.
    pub(in crate::screen) fn to_rgb(&self, display: &str) -> Result<Vec<u8>, ScreenError> {
        self.convert().map_err(|error| ScreenError::Failed {
            display: display.to_owned(),
            step: "reading the picture",
            why: error.to_string(),
        })
    }

    fn convert(&self) -> io::Result<Vec<u8>> {
        let size = |value: u64| usize::try_from(value).map_err(io::Error::other);
        let row_bytes = self.layout.row_bytes(self.width);
        let rgb_row_bytes = size(u64::from(self.width) * 3)?;
        let mut rgb = vec![0; size(u64::from(self.width) * u64::from(self.height) * 3)?];
        let rows_at_once = (CHUNK_BYTES / row_bytes.max(1)).max(1);
        let mut buffer = match &self.store {
            Store::Shared(_) => vec![0; size(rows_at_once * row_bytes)?],
            Store::Answer(_) => Vec::new(),
        };
        let mut offset = 0;
        for outs in rgb.chunks_mut(rgb_row_bytes * size(rows_at_once)?) {
            let rows = outs.len() / rgb_row_bytes;
            let bytes = rows * size(row_bytes)?;
            let chunk = match &self.store {
                Store::Shared(lease) => {
                    lease.read(&mut buffer[..bytes], offset)?;
                    &buffer[..bytes]
                }
                Store::Answer(answer) => {
                    let start = size(offset)?;
                    answer.get(start..start + bytes).ok_or(io::ErrorKind::UnexpectedEof)?
                }
            };
            for (row, out) in chunk.chunks_exact(size(row_bytes)?).zip(outs.chunks_exact_mut(rgb_row_bytes)) {
                self.layout.convert_row(row, out);
            }
            offset += u64::try_from(bytes).unwrap_or(u64::MAX);
        }
        Ok(rgb)
    }
}

#[cfg(test)]
mod tests {
    use super::{Image, Layout, Store};

    const USUAL: Layout = Layout {
        bits_per_pixel: 32,
        row_unit_bits: 32,
        little_endian: true,
        red: 0xff_0000,
        green: 0xff00,
        blue: 0xff,
    };

    fn rgb(layout: Layout, width: u32, height: u32, bytes: &[u8]) -> Vec<u8> {
        let image = Image { layout, width, height, store: Store::Answer(bytes.to_vec()) };
        image.convert().expect("there are enough bytes")
    }

    #[test]
    fn the_quick_way_gives_what_the_general_one_gives() {
        for width in 1..=23_u32 {
            let bytes: Vec<u8> =
                (0..width * 3 * 4).map(|at| u8::try_from(at * 37 % 256).expect("below 256")).collect();
            let expected: Vec<u8> =
                bytes.chunks(4).flat_map(|pixel| [pixel[2], pixel[1], pixel[0]]).collect();
            assert_eq!(rgb(USUAL, width, 3, &bytes), expected, "{width}");
        }
        // The other byte order takes the general way.
        assert_eq!(rgb(Layout { little_endian: false, ..USUAL }, 1, 1, &[9, 1, 2, 3]), [1, 2, 3]);
    }

    #[test]
    fn sixteen_and_thirty_bits_become_eight_for_each_colour() {
        let sixteen = Layout { bits_per_pixel: 16, red: 0xf800, green: 0x07e0, blue: 0x1f, ..USUAL };
        // Three pixels and two bytes that fill the row.
        let bytes = [0xff, 0xff, 0x00, 0xf8, 0xe0, 0x07, 0, 0];
        assert_eq!(rgb(sixteen, 3, 1, &bytes), [255, 255, 255, 255, 0, 0, 0, 255, 0]);
        let thirty = Layout { red: 0x3ff0_0000, green: 0xf_fc00, blue: 0x3ff, ..USUAL };
        assert_eq!(rgb(thirty, 1, 1, &0x3ff0_0200_u32.to_le_bytes()), [255, 0, 128]);
    }

    #[test]
    fn bytes_that_are_missing_are_an_error_and_no_picture() {
        let image = Image { layout: USUAL, width: 2, height: 2, store: Store::Answer(vec![0; 15]) };
        assert!(image.convert().is_err());
    }
}
