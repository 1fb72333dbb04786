//! Pictures as H.264 of the profile that every player has (Constrained Baseline).
//!
//! Made for screens: what has not changed costs one bit for many blocks and no work, what has is predicted from what was
//! there or from what is beside it. Nothing moves in the predictions, no filter runs over edges, and no picture is kept
//! but the last one. In our own code since encoders that others keep need a compiler for C++ and its library at run time.
//!
//! # Source
//! ITU-T H.264, 7.3, 8.3 to 8.5 and annex A.

use super::super::Picture;
use super::bits::BitWriter;
use super::cavlc::{BlockContext, write_block};
use super::colour::{Plane, Planes, byte, planes};
use super::transform::{Block, Quantizer, ZIGZAG, forward, hadamard, inverse, small_hadamard};

/// The side of a macroblock in pixels.
const SIDE: usize = 16;
/// The sides of the largest picture: a display of 4096 by 2304 pixels, in any proportion.
const MAX_MACROBLOCKS: usize = 36_864;
/// Levels: their number, the macroblocks of a picture, and the longest side of it in macroblocks.
const LEVELS: [(u8, usize, usize); 4] =
    [(31, 3_600, 169), (40, 8_192, 256), (50, 22_080, 420), (51, MAX_MACROBLOCKS, 543)];
/// How much better a prediction from beside has to be than one from what was there, in sums of differences.
const INTRA_BIAS: u32 = 256;
/// The quantizers of chroma, for those of luma from 30.
const CHROMA_QUANTIZERS: [u8; 22] =
    [29, 30, 31, 32, 32, 33, 34, 34, 35, 35, 36, 36, 37, 37, 37, 38, 38, 38, 39, 39, 39, 39];
/// The numbers of patterns of coded blocks in what is predicted from the last picture.
const PATTERNS: [u8; 48] = [
    0, 16, 1, 2, 4, 8, 32, 3, 5, 10, 12, 15, 47, 7, 11, 13, 14, 6, 9, 31, 35, 37, 42, 44, 33, 34, 36, 40, 39,
    43, 45, 46, 17, 18, 20, 24, 19, 21, 26, 28, 23, 27, 29, 30, 22, 25, 38, 41,
];

/// A stream of pictures of one size.
#[derive(Debug)]
pub struct VideoEncoder {
    width: u32,
    height: u32,
    columns: usize,
    rows: usize,
    level: u8,
    /// The last picture as it was given.
    given: Option<Planes>,
    /// The last picture as a decoder has it.
    decoded: Planes,
    /// How many coefficients each block of the picture at hand has, by plane.
    counts: [Plane; 3],
    /// The number of the next picture since the last that needs no other.
    number: u8,
    /// How many need no other.
    keys: u32,
}

/// What all macroblocks of a picture share.
#[derive(Clone, Copy)]
struct Slice {
    is_key: bool,
    luma: [Quantizer; 2],
    chroma: [Quantizer; 2],
}

/// A macroblock that was predicted and quantized.
struct Macroblock {
    /// The mode of its luma if that is predicted from beside.
    intra: Option<u32>,
    chroma_mode: u32,
    luma_first: Block,
    luma: [Block; 16],
    chroma_first: [[i32; 4]; 2],
    chroma: [[Block; 4]; 2],
}

impl VideoEncoder {
    /// Creates an encoder of pictures of a size; `None` if that is too large or has no pixel. An odd side gets one more pixel.
    pub fn new(width: u32, height: u32) -> Option<Self> {
        let side = |length: u32| usize::try_from(length).ok().filter(|length| *length > 0);
        let (columns, rows) = (side(width)?.div_ceil(SIDE), side(height)?.div_ceil(SIDE));
        let fits = |(_, blocks, side): &&(u8, usize, usize)| {
            columns.saturating_mul(rows) <= *blocks && columns.max(rows) <= *side
        };
        let (level, ..) = *LEVELS.iter().find(fits)?;
        let plane = |side: usize| Plane::new(columns * side, rows * side);
        Some(Self {
            width: width.next_multiple_of(2),
            height: height.next_multiple_of(2),
            columns,
            rows,
            level,
            given: None,
            decoded: [plane(16), plane(8), plane(8)],
            counts: [plane(4), plane(2), plane(2)],
            number: 0,
            keys: 0,
        })
    }

    /// Returns how large the pictures are that a player shows.
    pub fn size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    /// Returns what a player has to know first: the unit of the sequence, and that of pictures.
    pub fn parameters(&self) -> [Vec<u8>; 2] {
        let mut bits = BitWriter::default();
        // The profile, that it is the constrained one, and the level.
        bits.put(66, 8);
        bits.put(0xc0, 8);
        bits.put(self.level.into(), 8);
        // Its number, that numbers of pictures have 8 bits, that pictures come in order, and that one is kept.
        for value in [0, 4, 2, 1] {
            bits.unsigned(value);
        }
        bits.put(0, 1);
        bits.unsigned(number(self.columns) - 1);
        bits.unsigned(number(self.rows) - 1);
        // Whole pictures.
        bits.put(0b11, 2);
        let (beside, below) =
            (number(self.columns * SIDE) - self.width, number(self.rows * SIDE) - self.height);
        bits.put(u32::from(beside + below > 0), 1);
        if beside + below > 0 {
            for value in [0, beside / 2, 0, below / 2] {
                bits.unsigned(value);
            }
        }
        // How it is shown: colours of BT.709 with room below and above.
        bits.put(0b1001, 4);
        bits.put(0b10101, 5);
        for value in [1, 1, 1] {
            bits.put(value, 8);
        }
        bits.put(0, 5);
        // No picture waits for a later one.
        bits.put(0b11, 2);
        for value in [0, 0, 0, 0, 0, 1] {
            bits.unsigned(value);
        }
        let sequence = bits.into_unit(0x67);
        let mut bits = BitWriter::default();
        for value in [0, 0] {
            bits.unsigned(value);
        }
        bits.put(0, 2);
        for value in [0, 0, 0] {
            bits.unsigned(value);
        }
        bits.put(0, 3);
        for value in [0, 0, 0] {
            bits.signed(value);
        }
        // Whether edges are filtered is said by each picture.
        bits.put(0b100, 3);
        [sequence, bits.into_unit(0x68)]
    }

    /// Encodes the next picture, which must have the size of the stream, with a quantizer from 12 (fine) to 51 (coarse). The
    /// first one needs no other, nor does each that `is_key`. `None` if nothing has changed.
    pub fn encode(&mut self, picture: &Picture, quantizer: u8, is_key: bool) -> Option<Vec<u8>> {
        let given = planes(picture, self.columns * SIDE, self.rows * SIDE);
        let last = self.given.take().filter(|_| !is_key);
        let is_key = last.is_none();
        if last.as_ref() == Some(&given) {
            self.given = last;
            return None;
        }
        let quantizer = quantizer.clamp(12, 51);
        let of_chroma = CHROMA_QUANTIZERS.get(usize::from(quantizer.wrapping_sub(30)));
        let of_chroma = *of_chroma.unwrap_or(&quantizer);
        let both = |number: u8| [false, true].map(|is_intra| Quantizer::new(number, is_intra));
        let slice = Slice { is_key, luma: both(quantizer), chroma: both(of_chroma) };
        let mut bits = BitWriter::default();
        self.write_header(&mut bits, quantizer, is_key);
        for counts in &mut self.counts {
            counts.bytes.fill(0);
        }
        let mut skipped = 0;
        for row in 0..self.rows {
            for column in 0..self.columns {
                let is_same = last.as_ref().is_some_and(|last| is_same(last, &given, column, row));
                let coded = if is_same { None } else { self.predict(&given, column, row, slice) };
                match coded {
                    None => skipped += 1,
                    Some(coded) => {
                        if !is_key {
                            bits.unsigned(std::mem::take(&mut skipped));
                        }
                        self.write(&mut bits, &coded, column, row, is_key);
                    }
                }
            }
        }
        if skipped > 0 {
            bits.unsigned(skipped);
        }
        self.given = Some(given);
        self.number = self.number.wrapping_add(1);
        Some(bits.into_unit(if is_key { 0x65 } else { 0x41 }))
    }

    /// Returns the last picture as a decoder has it: luma, then blue and red in half the size.
    pub fn decoded(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (plane, part) in self.decoded.iter().zip([1, 2, 2]) {
            let side = |length: u32| usize::try_from(length / part).unwrap_or(0);
            for row in plane.bytes.chunks_exact(plane.width).take(side(self.height)) {
                bytes.extend_from_slice(&row[..side(self.width)]);
            }
        }
        bytes
    }

    fn write_header(&mut self, bits: &mut BitWriter, quantizer: u8, is_key: bool) {
        for value in [0, if is_key { 7 } else { 5 }, 0] {
            bits.unsigned(value);
        }
        if is_key {
            self.number = 0;
        }
        bits.put(self.number.into(), 8);
        if is_key {
            // Two that follow one another have other numbers.
            bits.unsigned(self.keys % 2);
            self.keys = self.keys.wrapping_add(1);
        } else {
            // One picture to predict from, in the usual order.
            bits.put(0, 2);
        }
        bits.put(0, if is_key { 2 } else { 1 });
        bits.signed(i32::from(quantizer) - 26);
        // No filter over edges.
        bits.unsigned(1);
    }

    /// Predicts a macroblock, and makes it what a decoder will have. `None` if that is what was there.
    fn predict(&mut self, given: &Planes, column: usize, row: usize, slice: Slice) -> Option<Macroblock> {
        let (x, y) = (column * SIDE, row * SIDE);
        let luma = square::<16, 256>(&given[0], x, y);
        let was = square::<16, 256>(&self.decoded[0], x, y);
        let inter = (!slice.is_key).then(|| difference(&luma, &was));
        let best = luma_predictions(&self.decoded[0], x, y)
            .into_iter()
            .flatten()
            .map(|(mode, prediction)| (difference(&luma, &prediction), mode, prediction))
            .min_by_key(|(difference, mode, _)| (*difference, *mode));
        let intra = best.filter(|(beside, ..)| inter.is_none_or(|inter| beside + INTRA_BIAS < inter));
        let (mode, prediction) = match intra {
            Some((_, mode, prediction)) => (Some(mode), prediction),
            None => (None, was),
        };
        let is_intra = usize::from(mode.is_some());
        let (luma_first, levels) =
            self.code_luma(&luma, &prediction, (x, y), slice.luma[is_intra], mode.is_some());
        let [blue, red] = [1, 2].map(|plane| square::<8, 64>(&given[plane], x / 2, y / 2));
        let (chroma_mode, predictions) = match mode {
            None => (0, [1, 2].map(|plane| square::<8, 64>(&self.decoded[plane], x / 2, y / 2))),
            Some(_) => {
                let [of_blue, of_red] =
                    [1, 2].map(|plane| chroma_predictions(&self.decoded[plane], x / 2, y / 2));
                let pairs = of_blue.into_iter().flatten().zip(of_red.into_iter().flatten());
                let best = pairs.min_by_key(|((mode, of_blue), (_, of_red))| {
                    (difference(&blue, of_blue) + difference(&red, of_red), *mode)
                });
                // The average is always there.
                best.map_or((0, [[128; 64]; 2]), |((mode, blue), (_, red))| (mode, [blue, red]))
            }
        };
        let quantizer = slice.chroma[is_intra];
        let (blue_first, blue) = self.code_chroma(1, &blue, &predictions[0], (x / 2, y / 2), quantizer);
        let (red_first, red) = self.code_chroma(2, &red, &predictions[1], (x / 2, y / 2), quantizer);
        let coded = Macroblock {
            intra: mode,
            chroma_mode,
            luma_first,
            luma: levels,
            chroma_first: [blue_first, red_first],
            chroma: [blue, red],
        };
        (coded.intra.is_some() || coded.pattern() != 0).then_some(coded)
    }

    fn code_luma(
        &mut self,
        given: &[u8; 256],
        prediction: &[u8; 256],
        (x, y): (usize, usize),
        quantizer: Quantizer,
        is_intra: bool,
    ) -> (Block, [Block; 16]) {
        let coefficients: [Block; 16] =
            std::array::from_fn(|at| forward(&differences::<16>(given, prediction, at % 4, at / 4)));
        let mut levels = coefficients.map(|block| quantizer.quantize(&block));
        let mut restored = levels.map(|block| quantizer.restore(&block));
        let mut first = [0; 16];
        if is_intra {
            let sums = hadamard(&coefficients.map(|block| block[0])).map(|value| value / 2);
            first = quantizer.quantize_first(&sums);
            let values = quantizer.restore_luma_first(&first);
            for ((levels, restored), value) in levels.iter_mut().zip(&mut restored).zip(values) {
                levels[0] = 0;
                // What was quantized with the others is not there.
                *restored = quantizer.restore(levels);
                restored[0] = value;
            }
        }
        for (at, block) in restored.iter().enumerate() {
            self.decode::<16>(0, prediction, &inverse(block), (x, y), (at % 4, at / 4));
        }
        (first, levels)
    }

    fn code_chroma(
        &mut self,
        plane: usize,
        given: &[u8; 64],
        prediction: &[u8; 64],
        place: (usize, usize),
        quantizer: Quantizer,
    ) -> ([i32; 4], [Block; 4]) {
        let coefficients: [Block; 4] =
            std::array::from_fn(|at| forward(&differences::<8>(given, prediction, at % 2, at / 2)));
        let first = quantizer.quantize_first(&small_hadamard(&coefficients.map(|block| block[0])));
        let values = quantizer.restore_chroma_first(&first);
        let levels = coefficients.map(|block| {
            let mut levels = quantizer.quantize(&block);
            levels[0] = 0;
            levels
        });
        for (at, (block, value)) in levels.iter().zip(values).enumerate() {
            let mut restored = quantizer.restore(block);
            restored[0] = value;
            self.decode::<8>(plane, prediction, &inverse(&restored), place, (at % 2, at / 2));
        }
        (first, levels)
    }

    /// Puts a block of a macroblock where a decoder has it.
    fn decode<const SIZE: usize>(
        &mut self,
        plane: usize,
        prediction: &[u8],
        differences: &Block,
        (x, y): (usize, usize),
        (across, down): (usize, usize),
    ) {
        let plane = &mut self.decoded[plane];
        for (at, difference) in differences.iter().enumerate() {
            let (column, row) = (across * 4 + at % 4, down * 4 + at / 4);
            let predicted = i32::from(prediction[row * SIZE + column]);
            plane.bytes[(y + row) * plane.width + x + column] = byte(predicted + difference);
        }
    }

    fn write(&mut self, bits: &mut BitWriter, coded: &Macroblock, column: usize, row: usize, is_key: bool) {
        let pattern = coded.pattern();
        match coded.intra {
            Some(mode) => {
                let kind = 1 + mode + 4 * u32::from(pattern >> 4) + if pattern & 15 == 0 { 0 } else { 12 };
                bits.unsigned(kind + if is_key { 0 } else { 5 });
                bits.unsigned(coded.chroma_mode);
                bits.signed(0);
                let nearby = self.nearby(0, column * 4, row * 4);
                write_block(bits, &ZIGZAG.map(|at| coded.luma_first[at]), nearby);
            }
            None => {
                // From the last picture, and nothing has moved.
                bits.unsigned(0);
                for value in [0, 0] {
                    bits.signed(value);
                }
                let number = PATTERNS.iter().position(|it| *it == pattern).unwrap_or(0);
                bits.unsigned(self::number(number));
                if pattern != 0 {
                    bits.signed(0);
                }
            }
        }
        let from = usize::from(coded.intra.is_some());
        for block in 0..16 {
            let (across, down) = ((block & 1) + (block >> 2 & 1) * 2, (block >> 1 & 1) + (block >> 3) * 2);
            if pattern >> (block / 4) & 1 == 1 {
                let levels = &coded.luma[down * 4 + across];
                let scanned = ZIGZAG.map(|at| levels[at]);
                self.write_counted(bits, 0, &scanned[from..], (column * 4 + across, row * 4 + down));
            }
        }
        if pattern >> 4 > 0 {
            for first in &coded.chroma_first {
                write_block(bits, first, BlockContext::ChromaFirst);
            }
        }
        if pattern >> 4 == 2 {
            for (plane, blocks) in [1, 2].into_iter().zip(&coded.chroma) {
                for (at, levels) in blocks.iter().enumerate() {
                    let scanned = ZIGZAG.map(|at| levels[at]);
                    let place = (column * 2 + at % 2, row * 2 + at / 2);
                    self.write_counted(bits, plane, &scanned[1..], place);
                }
            }
        }
    }

    fn write_counted(&mut self, bits: &mut BitWriter, plane: usize, levels: &[i32], (x, y): (usize, usize)) {
        let count = write_block(bits, levels, self.nearby(plane, x, y));
        let counts = &mut self.counts[plane];
        counts.bytes[y * counts.width + x] = count;
    }

    /// Returns how many coefficients the blocks to the left and above have.
    fn nearby(&self, plane: usize, x: usize, y: usize) -> BlockContext {
        let counts = &self.counts[plane];
        let at = y * counts.width + x;
        BlockContext::Count(match (x > 0, y > 0) {
            (true, true) => (counts.bytes[at - 1] + counts.bytes[at - counts.width]).div_ceil(2),
            (true, false) => counts.bytes[at - 1],
            (false, true) => counts.bytes[at - counts.width],
            (false, false) => 0,
        })
    }
}

impl Macroblock {
    /// Returns which parts have coefficients: four bits for quarters of luma, above them 1 for the first of chroma or 2 for all.
    fn pattern(&self) -> u8 {
        let is_coded = |block: &Block| block.iter().any(|level| *level != 0);
        let quarter = |at: usize| 1 << (at / 8 * 2 + at % 4 / 2);
        let coded = self.luma.iter().enumerate().filter(|(_, block)| is_coded(block));
        let mut luma = coded.fold(0, |pattern, (at, _)| pattern | quarter(at));
        if self.intra.is_some() && luma != 0 {
            luma = 15;
        }
        let chroma = if self.chroma.iter().flatten().any(is_coded) {
            2
        } else {
            u8::from(self.chroma_first.iter().flatten().any(|level| *level != 0))
        };
        luma | chroma << 4
    }
}

fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

fn is_same(last: &Planes, given: &Planes, column: usize, row: usize) -> bool {
    last.iter().zip(given).zip([16, 8, 8]).all(|((last, given), side)| {
        (0..side).all(|line| {
            let at = (row * side + line) * given.width + column * side;
            last.bytes[at..at + side] == given.bytes[at..at + side]
        })
    })
}

fn square<const SIZE: usize, const AREA: usize>(plane: &Plane, x: usize, y: usize) -> [u8; AREA] {
    let mut bytes = [0; AREA];
    for (row, out) in bytes.chunks_exact_mut(SIZE).enumerate() {
        let at = (y + row) * plane.width + x;
        out.copy_from_slice(&plane.bytes[at..at + SIZE]);
    }
    bytes
}

/// Returns the sum of the differences.
fn difference(one: &[u8], other: &[u8]) -> u32 {
    one.iter().zip(other).map(|(one, other)| u32::from(one.abs_diff(*other))).sum()
}

/// Returns the differences in one block of a macroblock.
fn differences<const SIZE: usize>(given: &[u8], prediction: &[u8], across: usize, down: usize) -> Block {
    std::array::from_fn(|at| {
        let at = (down * 4 + at / 4) * SIZE + across * 4 + at % 4;
        i32::from(given[at]) - i32::from(prediction[at])
    })
}

/// Returns what is above and to the left of a square, where there is anything.
fn edges<const SIZE: usize>(plane: &Plane, x: usize, y: usize) -> (Option<[u8; SIZE]>, Option<[u8; SIZE]>) {
    let above = (y > 0).then(|| std::array::from_fn(|at| plane.bytes[(y - 1) * plane.width + x + at]));
    let left = (x > 0).then(|| std::array::from_fn(|at| plane.bytes[(y + at) * plane.width + x - 1]));
    (above, left)
}

/// Returns the average of some bytes; grey if there are none.
fn average(bytes: &[u8]) -> u8 {
    let count = number(bytes.len());
    let sum: u32 = bytes.iter().map(|byte| u32::from(*byte)).sum();
    (sum + count / 2).checked_div(count).map_or(128, |average| u8::try_from(average).unwrap_or(255))
}

/// Predicts luma from what is beside it, by mode.
fn luma_predictions(plane: &Plane, x: usize, y: usize) -> [Option<(u32, [u8; 256])>; 3] {
    let (above, left) = edges::<16>(plane, x, y);
    let all: Vec<u8> = above.iter().chain(&left).flatten().copied().collect();
    [
        above.map(|above| (0, std::array::from_fn(|at| above[at % 16]))),
        left.map(|left| (1, std::array::from_fn(|at| left[at / 16]))),
        Some((2, [average(&all); 256])),
    ]
}

/// Predicts chroma from what is beside it, by mode.
fn chroma_predictions(plane: &Plane, x: usize, y: usize) -> [Option<(u32, [u8; 64])>; 3] {
    let (above, left) = edges::<8>(plane, x, y);
    let part = |edge: Option<[u8; 8]>, at: usize| edge.map(|edge| edge[at * 4..at * 4 + 4].to_vec());
    let averages: [u8; 4] = std::array::from_fn(|at| {
        let (across, down) = (at % 2, at / 2);
        let (above, left) = (part(above, across), part(left, down));
        let sources = match (across, down) {
            (1, 0) => [above.or(left), None],
            (0, 1) => [left.or(above), None],
            _ => [above, left],
        };
        average(&sources.into_iter().flatten().flatten().collect::<Vec<_>>())
    });
    [
        Some((0, std::array::from_fn(|at| averages[at / 32 * 2 + at % 8 / 4]))),
        left.map(|left| (1, std::array::from_fn(|at| left[at / 8]))),
        above.map(|above| (2, std::array::from_fn(|at| above[at % 8]))),
    ]
}
