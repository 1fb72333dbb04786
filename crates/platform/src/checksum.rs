//! A quick checksum against bytes that were damaged or written in part. It withstands accidents, not attacks.

/// An odd number without a pattern: 2^64 divided by the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the checksum of several pieces, one after the other.
#[must_use]
pub fn checksum(pieces: &[&[u8]]) -> u64 {
    let mut sum = FACTOR;
    for piece in pieces {
        sum = mix(sum, piece.len() as u64);
        let (words, rest) = piece.as_chunks::<8>();
        for word in words {
            sum = mix(sum, u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        sum = mix(sum, u64::from_le_bytes(last));
    }
    sum ^ (sum >> 32)
}

const fn mix(sum: u64, word: u64) -> u64 {
    (sum ^ word).wrapping_mul(FACTOR).rotate_left(29)
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn every_changed_bit_and_every_moved_border_changes_the_checksum() {
        let bytes: Vec<u8> = (0..100).collect();
        let whole = checksum(&[&bytes]);
        for at in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[at / 8] ^= 1 << (at % 8);
            assert_ne!(checksum(&[&changed]), whole, "{at}");
        }
        assert_ne!(checksum(&[&bytes[..50], &bytes[50..]]), whole);
        assert_ne!(checksum(&[&bytes[..99]]), whole);
    }
}
