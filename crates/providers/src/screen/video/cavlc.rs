//! Writes blocks of coefficients by codes of variable length.
//!
//! # Source
//! ITU-T H.264, 9.2, tables 9-5 and 9-7 to 9-10.

use super::bits::BitWriter;

/// The largest coefficient that has a code in the profile.
pub(super) const MAX_LEVEL: i32 = 2_000;

/// A code: its bits, and how many they are.
type Code = (u16, u8);

/// `coeff_token`, by its table, four times the number of coefficients plus that of trailing ones: the lengths.
const TOKEN_LENGTHS: [[u8; 68]; 4] = [
    [
        1, 0, 0, 0, 6, 2, 0, 0, 8, 6, 3, 0, 9, 8, 7, 5, 10, 9, 8, 6, 11, 10, 9, 7, 13, 11, 10, 8, 13, 13, 11,
        9, 13, 13, 13, 10, 14, 14, 13, 11, 14, 14, 14, 13, 15, 15, 14, 14, 15, 15, 15, 14, 16, 15, 15, 15,
        16, 16, 16, 15, 16, 16, 16, 16, 16, 16, 16, 16,
    ],
    [
        2, 0, 0, 0, 6, 2, 0, 0, 6, 5, 3, 0, 7, 6, 6, 4, 8, 6, 6, 4, 8, 7, 7, 5, 9, 8, 8, 6, 11, 9, 9, 6, 11,
        11, 11, 7, 12, 11, 11, 9, 12, 12, 12, 11, 12, 12, 12, 11, 13, 13, 13, 12, 13, 13, 13, 13, 13, 14, 13,
        13, 14, 14, 14, 13, 14, 14, 14, 14,
    ],
    [
        4, 0, 0, 0, 6, 4, 0, 0, 6, 5, 4, 0, 6, 5, 5, 4, 7, 5, 5, 4, 7, 5, 5, 4, 7, 6, 6, 4, 7, 6, 6, 4, 8, 7,
        7, 5, 8, 8, 7, 6, 9, 8, 8, 7, 9, 9, 8, 8, 9, 9, 9, 8, 10, 9, 9, 9, 10, 10, 10, 10, 10, 10, 10, 10,
        10, 10, 10, 10,
    ],
    [
        6, 0, 0, 0, 6, 6, 0, 0, 6, 6, 6, 0, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
        6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
    ],
];
/// The bits to [`TOKEN_LENGTHS`].
const TOKEN_BITS: [[u16; 68]; 4] = [
    [
        1, 0, 0, 0, 5, 1, 0, 0, 7, 4, 1, 0, 7, 6, 5, 3, 7, 6, 5, 3, 7, 6, 5, 4, 15, 6, 5, 4, 11, 14, 5, 4, 8,
        10, 13, 4, 15, 14, 9, 4, 11, 10, 13, 12, 15, 14, 9, 12, 11, 10, 13, 8, 15, 1, 9, 12, 11, 14, 13, 8,
        7, 10, 9, 12, 4, 6, 5, 8,
    ],
    [
        3, 0, 0, 0, 11, 2, 0, 0, 7, 7, 3, 0, 7, 10, 9, 5, 7, 6, 5, 4, 4, 6, 5, 6, 7, 6, 5, 8, 15, 6, 5, 4,
        11, 14, 13, 4, 15, 10, 9, 4, 11, 14, 13, 12, 8, 10, 9, 8, 15, 14, 13, 12, 11, 10, 9, 12, 7, 11, 6, 8,
        9, 8, 10, 1, 7, 6, 5, 4,
    ],
    [
        15, 0, 0, 0, 15, 14, 0, 0, 11, 15, 13, 0, 8, 12, 14, 12, 15, 10, 11, 11, 11, 8, 9, 10, 9, 14, 13, 9,
        8, 10, 9, 8, 15, 14, 13, 13, 11, 14, 10, 12, 15, 10, 13, 12, 11, 14, 9, 12, 8, 10, 13, 8, 13, 7, 9,
        12, 9, 12, 11, 10, 5, 8, 7, 6, 1, 4, 3, 2,
    ],
    [
        3, 0, 0, 0, 0, 1, 0, 0, 4, 5, 6, 0, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
        25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49,
        50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
    ],
];
/// `coeff_token` of the four coefficients of chroma.
const CHROMA_TOKENS: [[Code; 4]; 5] = [
    [(1, 2), (0, 0), (0, 0), (0, 0)],
    [(7, 6), (1, 1), (0, 0), (0, 0)],
    [(4, 6), (6, 6), (1, 3), (0, 0)],
    [(3, 6), (3, 7), (2, 7), (5, 6)],
    [(2, 6), (3, 8), (2, 8), (0, 7)],
];
/// `total_zeros`, by the number of coefficients less one.
const ZEROS: [&[Code]; 15] = [
    &[
        (1, 1),
        (3, 3),
        (2, 3),
        (3, 4),
        (2, 4),
        (3, 5),
        (2, 5),
        (3, 6),
        (2, 6),
        (3, 7),
        (2, 7),
        (3, 8),
        (2, 8),
        (3, 9),
        (2, 9),
        (1, 9),
    ],
    &[
        (7, 3),
        (6, 3),
        (5, 3),
        (4, 3),
        (3, 3),
        (5, 4),
        (4, 4),
        (3, 4),
        (2, 4),
        (3, 5),
        (2, 5),
        (3, 6),
        (2, 6),
        (1, 6),
        (0, 6),
    ],
    &[
        (5, 4),
        (7, 3),
        (6, 3),
        (5, 3),
        (4, 4),
        (3, 4),
        (4, 3),
        (3, 3),
        (2, 4),
        (3, 5),
        (2, 5),
        (1, 6),
        (1, 5),
        (0, 6),
    ],
    &[(3, 5), (7, 3), (5, 4), (4, 4), (6, 3), (5, 3), (4, 3), (3, 4), (3, 3), (2, 4), (2, 5), (1, 5), (0, 5)],
    &[(5, 4), (4, 4), (3, 4), (7, 3), (6, 3), (5, 3), (4, 3), (3, 3), (2, 4), (1, 5), (1, 4), (0, 5)],
    &[(1, 6), (1, 5), (7, 3), (6, 3), (5, 3), (4, 3), (3, 3), (2, 3), (1, 4), (1, 3), (0, 6)],
    &[(1, 6), (1, 5), (5, 3), (4, 3), (3, 3), (3, 2), (2, 3), (1, 4), (1, 3), (0, 6)],
    &[(1, 6), (1, 4), (1, 5), (3, 3), (3, 2), (2, 2), (2, 3), (1, 3), (0, 6)],
    &[(1, 6), (0, 6), (1, 4), (3, 2), (2, 2), (1, 3), (1, 2), (1, 5)],
    &[(1, 5), (0, 5), (1, 3), (3, 2), (2, 2), (1, 2), (1, 4)],
    &[(0, 4), (1, 4), (1, 3), (2, 3), (1, 1), (3, 3)],
    &[(0, 4), (1, 4), (1, 2), (1, 1), (1, 3)],
    &[(0, 3), (1, 3), (1, 1), (1, 2)],
    &[(0, 2), (1, 2), (1, 1)],
    &[(0, 1), (1, 1)],
];
/// `total_zeros` of the four coefficients of chroma.
const CHROMA_ZEROS: [&[Code]; 3] =
    [&[(1, 1), (1, 2), (1, 3), (0, 3)], &[(1, 1), (1, 2), (0, 2)], &[(1, 1), (0, 1)]];
/// `run_before`, by the zeros that are left less one.
const RUNS: [&[Code]; 7] = [
    &[(1, 1), (0, 1)],
    &[(1, 1), (1, 2), (0, 2)],
    &[(3, 2), (2, 2), (1, 2), (0, 2)],
    &[(3, 2), (2, 2), (1, 2), (1, 3), (0, 3)],
    &[(3, 2), (2, 2), (3, 3), (2, 3), (1, 3), (0, 3)],
    &[(3, 2), (0, 3), (1, 3), (3, 3), (2, 3), (5, 3), (4, 3)],
    &[
        (7, 3),
        (6, 3),
        (5, 3),
        (4, 3),
        (3, 3),
        (2, 3),
        (1, 3),
        (1, 4),
        (1, 5),
        (1, 6),
        (1, 7),
        (1, 8),
        (1, 9),
        (1, 10),
        (1, 11),
    ],
];

/// Which codes the number of coefficients has.
#[derive(Debug, Clone, Copy)]
pub(super) enum BlockContext {
    /// Those for the number that the blocks to the left and above have.
    Count(u8),
    /// Those of the four first coefficients of chroma.
    ChromaFirst,
}

/// Writes the coefficients of a block, in the order in which they are scanned. Returns how many are not zero.
pub(super) fn write_block(bits: &mut BitWriter, coefficients: &[i32], nearby: BlockContext) -> u8 {
    // From the last one to the first, each with the zeros before it.
    let mut found = [(0, 0); 16];
    let (mut total, mut zeros) = (0, 0);
    for level in coefficients.iter().rev().copied() {
        match (level, total) {
            (0, 0) => {}
            (0, _) => {
                zeros += 1;
                found[total - 1].1 += 1;
            }
            _ => {
                found[total].0 = level;
                total += 1;
            }
        }
    }
    let found = &found[..total];
    let ones = found.iter().take(3).take_while(|(level, _)| level.abs() == 1).count();
    let (token, length) = match nearby {
        BlockContext::ChromaFirst => CHROMA_TOKENS[total][ones],
        BlockContext::Count(count) => {
            let table = match count {
                0 | 1 => 0,
                2 | 3 => 1,
                4..=7 => 2,
                _ => 3,
            };
            (TOKEN_BITS[table][total * 4 + ones], TOKEN_LENGTHS[table][total * 4 + ones])
        }
    };
    bits.put(token.into(), length.into());
    for (level, _) in &found[..ones] {
        bits.put(u32::from(*level < 0), 1);
    }
    write_levels(bits, &found[ones..], total, ones);
    if total > 0 && total < coefficients.len() {
        let zeros_of = match nearby {
            BlockContext::ChromaFirst => CHROMA_ZEROS[total - 1],
            BlockContext::Count(_) => ZEROS[total - 1],
        };
        put(bits, zeros_of[zeros]);
        let mut left = zeros;
        for (_, run) in &found[..total - 1] {
            if left == 0 {
                break;
            }
            put(bits, RUNS[left.min(RUNS.len()) - 1][*run]);
            left -= run;
        }
    }
    u8::try_from(total).unwrap_or(16)
}

fn put(bits: &mut BitWriter, (code, length): Code) {
    bits.put(code.into(), length.into());
}

/// # Source
/// ITU-T H.264, 9.2.2.1.
fn write_levels(bits: &mut BitWriter, levels: &[(i32, usize)], total: usize, ones: usize) {
    let mut suffix = if total > 10 && ones < 3 { 1 } else { 0 };
    for (at, (level, _)) in levels.iter().enumerate() {
        let magnitude = level.unsigned_abs();
        let mut code = magnitude * 2 - if *level > 0 { 2 } else { 1 };
        if at == 0 && ones < 3 {
            // It is no trailing one, or it would have been counted.
            code -= 2;
        }
        match suffix {
            0 if code < 14 => bits.put(1, code + 1),
            0 if code < 30 => {
                bits.put(1, 15);
                bits.put(code - 14, 4);
            }
            0 => {
                bits.put(1, 16);
                bits.put(code - 30, 12);
            }
            _ if code < 15 << suffix => {
                bits.put(1, (code >> suffix) + 1);
                bits.put(code & ((1 << suffix) - 1), suffix);
            }
            _ => {
                bits.put(1, 16);
                bits.put(code - (15 << suffix), 12);
            }
        }
        suffix = suffix.max(1);
        if magnitude > 3 << (suffix - 1) && suffix < 6 {
            suffix += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Claims that no code begins with another.
    fn assert_apart(codes: &[Code]) {
        for (at, (one, length)) in codes.iter().enumerate() {
            assert!(u32::from(*one) < 1 << length, "{one} has {length} bits");
            for (other, longer) in codes.iter().enumerate().filter(|(other, _)| *other != at).map(|it| it.1) {
                let begins = longer >= length && other >> (longer - length) == *one;
                assert!(!begins, "{one}/{length} begins {other}/{longer}");
            }
        }
    }

    #[test]
    fn codes_of_each_table_can_be_told_apart() {
        for (lengths, bits) in TOKEN_LENGTHS.iter().zip(TOKEN_BITS) {
            let codes = bits.into_iter().zip(*lengths).filter(|(_, length)| *length > 0);
            assert_apart(&codes.collect::<Vec<_>>());
        }
        let tokens: Vec<Code> =
            CHROMA_TOKENS.concat().into_iter().filter(|(_, length)| *length > 0).collect();
        assert_apart(&tokens);
        for codes in ZEROS.iter().chain(&CHROMA_ZEROS).chain(&RUNS) {
            assert_apart(codes);
        }
    }
}
