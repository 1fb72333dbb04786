//! Bits of an H.264 stream, and the units that they are put into.

/// Bits that are written one after the other.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    pending: u64,
    count: u32,
}

impl BitWriter {
    /// Writes the lowest bits of a number, at most 32.
    pub(super) fn put(&mut self, value: u32, bits: u32) {
        self.pending = self.pending << bits | u64::from(value);
        self.count += bits;
        while self.count >= 8 {
            self.count -= 8;
            let [byte, ..] = (self.pending >> self.count).to_le_bytes();
            self.bytes.push(byte);
        }
    }

    /// Writes an Exp-Golomb code, `ue(v)`.
    pub(super) fn unsigned(&mut self, value: u32) {
        let value = value + 1;
        let bits = u32::BITS - value.leading_zeros();
        self.put(0, bits - 1);
        self.put(value, bits);
    }

    /// Writes a signed Exp-Golomb code, `se(v)`.
    pub(super) fn signed(&mut self, value: i32) {
        let magnitude = value.unsigned_abs() * 2;
        self.unsigned(if value > 0 { magnitude - 1 } else { magnitude });
    }

    /// Ends the bits, and returns them as a unit of a kind (the first byte of its header), without its length.
    ///
    /// # Source
    /// ITU-T H.264, 7.3.1 and 7.4.1: three bytes that look like a start code are kept apart by a 3.
    pub(super) fn into_unit(mut self, header: u8) -> Vec<u8> {
        self.put(1, 1);
        self.put(0, (8 - self.count) % 8);
        let mut unit = Vec::with_capacity(self.bytes.len() + 16);
        unit.push(header);
        let mut zeros = 0;
        for byte in self.bytes {
            if zeros >= 2 && byte <= 3 {
                unit.push(3);
                zeros = 0;
            }
            unit.push(byte);
            zeros = if byte == 0 { zeros + 1 } else { 0 };
        }
        unit
    }
}

#[cfg(test)]
mod tests {
    use super::BitWriter;

    #[test]
    fn codes_are_those_of_the_standard_and_no_start_code_is_inside() {
        let mut bits = BitWriter::default();
        for value in [0, 1, 2, 3] {
            bits.unsigned(value);
        }
        for value in [0, 1, -1] {
            bits.signed(value);
        }
        // 1 010 011 00100, 1 010 011, then the bit that ends it.
        assert_eq!(bits.into_unit(0x67), [0x67, 0b1010_0110, 0b0100_1010, 0b0111_0000]);
        let mut bits = BitWriter::default();
        bits.put(0, 32);
        bits.put(1, 8);
        assert_eq!(bits.into_unit(0x65), [0x65, 0, 0, 3, 0, 0, 3, 1, 0x80]);
    }
}
