//! From differences of pixels to coefficients and back, as every decoder does it.
//!
//! # Source
//! ITU-T H.264, 8.5.

use super::cavlc::MAX_LEVEL;

/// The numbers of four by four pixels or coefficients, row by row.
pub(super) type Block = [i32; 16];

/// In which order coefficients are written.
pub(super) const ZIGZAG: [usize; 16] = [0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15];

/// What a coefficient is multiplied by to be quantized, by the remainder of the quantizer: corners, centres, others.
const QUANTIZE: [[i32; 3]; 6] = [
    [13_107, 5_243, 8_066],
    [11_916, 4_660, 7_490],
    [10_082, 4_194, 6_554],
    [9_362, 3_647, 5_825],
    [8_192, 3_355, 5_243],
    [7_282, 2_893, 4_559],
];
/// What it is multiplied by to be restored.
const RESTORE: [[i32; 3]; 6] =
    [[10, 16, 13], [11, 18, 14], [13, 20, 16], [14, 23, 18], [16, 25, 20], [18, 29, 23]];

/// How coarsely coefficients are kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quantizer {
    remainder: usize,
    shift: u32,
    /// A coefficient is rounded up from one part of so many.
    rounding: i32,
}

fn class(at: usize) -> usize {
    match (at / 4 % 2, at % 2) {
        (0, 0) => 0,
        (1, 1) => 1,
        _ => 2,
    }
}

impl Quantizer {
    /// Creates the quantizer of a number from 12 to 51.
    pub(super) fn new(number: u8, is_intra: bool) -> Self {
        let rounding = if is_intra { 3 } else { 6 };
        Self { remainder: usize::from(number % 6), shift: u32::from(number / 6), rounding }
    }

    fn quantize_one(self, value: i32, class: usize, more: u32) -> i32 {
        let bits = 15 + self.shift + more;
        let level = (i64::from(value.abs()) * i64::from(QUANTIZE[self.remainder][class])
            + (1_i64 << bits) / i64::from(self.rounding))
            >> bits;
        i32::try_from(level).unwrap_or(MAX_LEVEL).min(MAX_LEVEL) * value.signum()
    }

    /// Quantizes coefficients.
    pub(super) fn quantize(self, block: &Block) -> Block {
        std::array::from_fn(|at| self.quantize_one(block[at], class(at), 0))
    }

    /// Quantizes coefficients of coefficients.
    pub(super) fn quantize_first<const N: usize>(self, values: &[i32; N]) -> [i32; N] {
        values.map(|value| self.quantize_one(value, 0, 1))
    }

    /// Restores coefficients.
    pub(super) fn restore(self, levels: &Block) -> Block {
        std::array::from_fn(|at| (levels[at] * RESTORE[self.remainder][class(at)]) << self.shift)
    }

    /// Restores the first coefficients of 16 blocks of luma.
    pub(super) fn restore_luma_first(self, levels: &Block) -> Block {
        hadamard(levels).map(|value| (value * RESTORE[self.remainder][0]) << (self.shift - 2))
    }

    /// Restores the first coefficients of four blocks of chroma.
    pub(super) fn restore_chroma_first(self, levels: &[i32; 4]) -> [i32; 4] {
        small_hadamard(levels).map(|value| ((value * RESTORE[self.remainder][0]) << self.shift) >> 1)
    }
}

fn rows_and_columns(block: &Block, step: impl Fn([i32; 4]) -> [i32; 4]) -> Block {
    let mut result = *block;
    for row in 0..4 {
        let at = row * 4;
        let done = step([result[at], result[at + 1], result[at + 2], result[at + 3]]);
        result[at..at + 4].copy_from_slice(&done);
    }
    for column in 0..4 {
        let done = step([0, 4, 8, 12].map(|at| result[column + at]));
        for (row, value) in done.into_iter().enumerate() {
            result[column + row * 4] = value;
        }
    }
    result
}

/// Returns the coefficients of differences.
pub(super) fn forward(block: &Block) -> Block {
    rows_and_columns(block, |[a, b, c, d]| {
        let (sum, inner_sum, difference, inner_difference) = (a + d, b + c, a - d, b - c);
        [
            sum + inner_sum,
            2 * difference + inner_difference,
            sum - inner_sum,
            difference - 2 * inner_difference,
        ]
    })
}

/// Returns the differences of coefficients.
pub(super) fn inverse(block: &Block) -> Block {
    rows_and_columns(block, |[a, b, c, d]| {
        let (e, f, g, h) = (a + c, a - c, (b >> 1) - d, b + (d >> 1));
        [e + h, f + g, f - g, e - h]
    })
    .map(|value| (value + 32) >> 6)
}

/// Transforms the first coefficients of 16 blocks.
pub(super) fn hadamard(block: &Block) -> Block {
    rows_and_columns(block, |[a, b, c, d]| [a + b + c + d, a + b - c - d, a - b - c + d, a - b + c - d])
}

/// Transforms the first coefficients of four blocks.
pub(super) fn small_hadamard([a, b, c, d]: &[i32; 4]) -> [i32; 4] {
    [a + b + c + d, a - b + c - d, a + b - c - d, a - b - c + d]
}
