//! A file of pictures with their times: MP4 with one track of H.264.
//!
//! Pictures are written as they come, what is known of them in the end. Nothing is kept but sizes and times.
//!
//! # Source
//! ISO/IEC 14496-12 (boxes) and 14496-15 (`avc1`, `avcC`).

use std::io::{self, Seek, SeekFrom, Write};

/// How many units of time a second has.
const TIMESCALE: u32 = 1_000;
/// Where the length of all pictures is in the file, after the box of its kind: a length of 64 bits.
const LENGTH_AT: u64 = 32 + 8;
/// Neither turned nor moved nor made larger.
const MATRIX: [u32; 9] = [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000];

/// A file that is being written.
#[derive(Debug)]
pub struct Mp4Writer<W> {
    out: W,
    size: (u32, u32),
    parameters: [Vec<u8>; 2],
    /// Of each picture: its size, whether it needs no other, and when it is shown in milliseconds.
    frames: Vec<(u32, bool, u32)>,
    bytes: u64,
}

impl<W: Write + Seek> Mp4Writer<W> {
    /// Begins a file with the size and the parameters of its pictures.
    ///
    /// # Errors
    /// Those of the file.
    pub fn new(mut out: W, size: (u32, u32), parameters: [Vec<u8>; 2]) -> io::Result<Self> {
        let mut head = BoxWriter::default();
        head.within(b"ftyp", |it| it.raw(b"isom\0\0\x02\0isomiso2avc1mp41"));
        // A box whose length has 64 bits and is not known yet.
        head.number(1);
        head.raw(b"mdat");
        head.raw(&[0; 8]);
        out.write_all(&head.bytes)?;
        Ok(Self { out, size, parameters, frames: Vec::new(), bytes: 0 })
    }

    /// Writes a picture that is shown from a time on, in milliseconds from the beginning.
    ///
    /// # Errors
    /// Those of the file.
    pub fn write(&mut self, unit: &[u8], is_key: bool, at_ms: u32) -> io::Result<()> {
        let length = u32::try_from(unit.len()).map_err(io::Error::other)?;
        self.out.write_all(&length.to_be_bytes())?;
        self.out.write_all(unit)?;
        self.bytes += 4 + u64::from(length);
        self.frames.push((4 + length, is_key, at_ms));
        Ok(())
    }

    /// Returns how many bytes the pictures take.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns how many pictures there are.
    pub fn frames(&self) -> usize {
        self.frames.len()
    }

    /// Ends the file at a time, in milliseconds from the beginning, and returns it.
    ///
    /// # Errors
    /// Those of the file.
    pub fn finish(mut self, ends_ms: u32) -> io::Result<W> {
        let begin = self.out.stream_position()? - self.bytes;
        let movie = self.movie(ends_ms, begin);
        self.out.write_all(&movie)?;
        self.out.seek(SeekFrom::Start(LENGTH_AT))?;
        self.out.write_all(&(16 + self.bytes).to_be_bytes())?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// Returns how long each picture is shown.
    fn durations(&self, ends_ms: u32) -> Vec<u32> {
        let ends = self.frames.iter().skip(1).map(|(_, _, at_ms)| *at_ms).chain([ends_ms]);
        self.frames.iter().zip(ends).map(|((_, _, at_ms), end)| end.saturating_sub(*at_ms)).collect()
    }

    fn movie(&self, ends_ms: u32, begin: u64) -> Vec<u8> {
        let durations = self.durations(ends_ms);
        let duration = durations.iter().sum();
        let (width, height) = self.size;
        let mut all = BoxWriter::default();
        all.within(b"moov", |it| {
            it.within(b"mvhd", |it| {
                it.numbers(&[0, 0, 0, TIMESCALE, duration, 0x1_0000, 0x100_0000, 0, 0]);
                it.numbers(&MATRIX);
                it.numbers(&[0, 0, 0, 0, 0, 0, 2]);
            });
            it.within(b"trak", |it| {
                it.within(b"tkhd", |it| {
                    it.numbers(&[3, 0, 0, 1, 0, duration, 0, 0, 0, 0]);
                    it.numbers(&MATRIX);
                    it.numbers(&[width << 16, height << 16]);
                });
                it.within(b"mdia", |it| {
                    // The language is not said.
                    it.within(b"mdhd", |it| it.numbers(&[0, 0, 0, TIMESCALE, duration, 0x55c4_0000]));
                    it.within(b"hdlr", |it| {
                        it.numbers(&[0, 0]);
                        it.raw(b"vide");
                        it.numbers(&[0, 0, 0]);
                        it.raw(b"Screen\0");
                    });
                    it.within(b"minf", |it| {
                        it.within(b"vmhd", |it| it.numbers(&[1, 0, 0]));
                        it.within(b"dinf", |it| {
                            it.within(b"dref", |it| {
                                it.numbers(&[0, 1]);
                                it.within(b"url ", |it| it.number(1));
                            });
                        });
                        it.within(b"stbl", |it| self.tables(it, &durations, begin));
                    });
                });
            });
        });
        all.bytes
    }

    fn tables(&self, all: &mut BoxWriter, durations: &[u32], begin: u64) {
        let [sequence, picture] = &self.parameters;
        all.within(b"stsd", |it| {
            it.numbers(&[0, 1]);
            it.within(b"avc1", |it| {
                it.numbers(&[0, 1, 0, 0, 0, 0]);
                it.shorts(&[self.size.0, self.size.1]);
                // 72 dots an inch, one picture a sample, no name, 24 bits, no table of colours.
                it.numbers(&[0x48_0000, 0x48_0000, 0]);
                it.shorts(&[1]);
                it.raw(&[0; 32]);
                it.shorts(&[24, 0xffff]);
                it.within(b"avcC", |it| {
                    it.raw(&[1]);
                    it.raw(&sequence[1..4]);
                    // Lengths have four bytes, and there is one unit of each kind.
                    it.shorts(&[0xffe1, count_of(sequence)]);
                    it.raw(sequence);
                    it.raw(&[1]);
                    it.shorts(&[count_of(picture)]);
                    it.raw(picture);
                });
                it.within(b"colr", |it| {
                    it.raw(b"nclx");
                    it.shorts(&[1, 1, 1]);
                    it.raw(&[0]);
                });
            });
        });
        all.within(b"stts", |it| {
            it.numbers(&[0, count_of(durations)]);
            durations.iter().for_each(|duration| it.numbers(&[1, *duration]));
        });
        all.within(b"stss", |it| {
            let keys: Vec<u32> =
                (1..).zip(&self.frames).filter(|(_, frame)| frame.1).map(|(at, _)| at).collect();
            it.numbers(&[0, count_of(&keys)]);
            it.numbers(&keys);
        });
        // All pictures follow one another.
        all.within(b"stsc", |it| it.numbers(&[0, 1, 1, count_of(&self.frames), 1]));
        all.within(b"stsz", |it| {
            it.numbers(&[0, 0, count_of(&self.frames)]);
            self.frames.iter().for_each(|(size, ..)| it.number(*size));
        });
        all.within(b"co64", |it| {
            it.numbers(&[0, 1]);
            it.raw(&begin.to_be_bytes());
        });
    }
}

fn count_of<T>(things: &[T]) -> u32 {
    u32::try_from(things.len()).unwrap_or(u32::MAX)
}

/// Boxes with their lengths.
#[derive(Debug, Default)]
struct BoxWriter {
    bytes: Vec<u8>,
}

impl BoxWriter {
    fn within(&mut self, kind: &[u8; 4], write: impl FnOnce(&mut Self)) {
        let start = self.bytes.len();
        self.number(0);
        self.raw(kind);
        write(self);
        let length = count_of(&self.bytes[start..]);
        self.bytes[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn number(&mut self, value: u32) {
        self.raw(&value.to_be_bytes());
    }

    fn numbers(&mut self, values: &[u32]) {
        values.iter().for_each(|value| self.number(*value));
    }

    /// Writes the lower 16 bits of numbers.
    fn shorts(&mut self, values: &[u32]) {
        values.iter().for_each(|value| self.raw(&value.to_be_bytes()[2..]));
    }
}
