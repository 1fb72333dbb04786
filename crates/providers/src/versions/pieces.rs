//! Contents as they are stored: in pieces, each compressed where that makes it smaller.
//!
//! A piece has a head with its size and the size of what is stored of it; the content ends where its size is reached.
//! The pieces of large contents are chunks, which are in packs.
//! What is read is no content before it was held against its hash.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use bailiwick_platform::fs::modes::FileExt;

use super::chunks::{ChunkPlace, Chunks, MIN_CUT_BYTES, PLACE_BYTES, Packs, cut};

/// How hard is compressed: the fastest level that looks for text that repeats.
const LEVEL: i32 = 1;
/// What is smaller is stored as it is: on the disk a file takes a whole block.
const MIN_COMPRESSED_BYTES: usize = 256;
/// The size of a head.
const HEAD_BYTES: usize = 8;
/// What stands in a head for a piece that is a chunk of a pack: behind the head is its place there.
const IN_PACK: u32 = u32::MAX;

/// Compresses bytes, if that makes them smaller.
pub(super) fn compress(bytes: &[u8]) -> Cow<'_, [u8]> {
    if bytes.len() < MIN_COMPRESSED_BYTES {
        return Cow::Borrowed(bytes);
    }
    match zstd::bulk::compress(bytes, LEVEL) {
        Ok(compressed) if compressed.len() < bytes.len() => Cow::Owned(compressed),
        // What cannot be compressed is stored as it is.
        Ok(_) | Err(_) => Cow::Borrowed(bytes),
    }
}

/// Returns what was read; `None` where it is damaged or has gone.
///
/// # Errors
/// Those of the file system: what is there could not be read.
pub(super) fn undamaged<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::InvalidData | ErrorKind::UnexpectedEof | ErrorKind::NotFound
            ) =>
        {
            Ok(None)
        }
        other => other.map(Some),
    }
}

/// Creates the error for what is not as it was written.
pub(super) fn damaged() -> io::Error {
    ErrorKind::InvalidData.into()
}

/// Reads what is stored at a place of a file, of so many bytes.
///
/// # Errors
/// Those of the file system; `InvalidData`, `UnexpectedEof` if it is damaged.
pub(super) fn read_stored(file: &File, at: u64, stored: u32, bytes: u32) -> io::Result<Vec<u8>> {
    if stored > bytes || at.saturating_add(u64::from(stored)) > file.metadata()?.len() {
        return Err(damaged());
    }
    let size = |bytes: u32| usize::try_from(bytes).map_err(|_| damaged());
    let (stored, bytes) = (size(stored)?, size(bytes)?);
    let mut read = vec![0; stored];
    file.read_exact_at(&mut read, at)?;
    if stored == bytes {
        return Ok(read);
    }
    zstd::bulk::decompress(&read, bytes).ok().filter(|content| content.len() == bytes).ok_or_else(damaged)
}

/// Returns the head of a piece.
fn head(bytes: usize, stored: u32) -> [u8; HEAD_BYTES] {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    let mut head = [0; HEAD_BYTES];
    head[..4].copy_from_slice(&bytes.to_le_bytes());
    head[4..].copy_from_slice(&stored.to_le_bytes());
    head
}

/// Reads a content of so many bytes from its pieces, which begin at a place of a file in a part of the store.
///
/// # Errors
/// Those of the file system; `InvalidData`, `UnexpectedEof`, `NotFound` if it is damaged, or if a chunk of it is.
pub(super) fn read_pieces(file: &File, part: &Path, mut at: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let (mut content, mut packs) = (Vec::new(), Packs::of(part));
    while (content.len() as u64) < bytes {
        let mut numbers = [[0; 4]; 2];
        file.read_exact_at(numbers.as_flattened_mut(), at)?;
        let [of_piece, stored] = numbers.map(u32::from_le_bytes);
        if of_piece == 0 || u64::from(of_piece) > bytes - content.len() as u64 {
            return Err(damaged());
        }
        at += HEAD_BYTES as u64;
        if stored == IN_PACK {
            let mut place = [0; PLACE_BYTES];
            file.read_exact_at(&mut place, at)?;
            content.extend(packs.read(&ChunkPlace::from_bytes(&place).ok_or_else(damaged)?, of_piece)?);
            at += PLACE_BYTES as u64;
        } else {
            content.extend(read_stored(file, at, stored, of_piece)?);
            at += u64::from(stored);
        }
    }
    Ok(content)
}

/// The contents of a change on their way to the store.
#[derive(Default)]
pub(super) struct StoredContents<'a> {
    /// What is written of them, in this order.
    pub(super) pieces: Vec<Cow<'a, [u8]>>,
    /// How many bytes that is.
    pub(super) bytes: u64,
    /// What is added to the pack.
    pub(super) pack: Vec<Cow<'a, [u8]>>,
}

impl<'a> StoredContents<'a> {
    /// Adds a content of less than 4 GiB, and returns where it begins. A large one is in chunks.
    pub(super) fn add(&mut self, content: &'a [u8], chunks: &mut Chunks) -> u64 {
        let at = self.bytes;
        if content.len() >= MIN_CUT_BYTES {
            for chunk in cut(content) {
                let (place, new) = chunks.place(chunk, compress);
                self.push(Cow::Owned(head(chunk.len(), IN_PACK).to_vec()));
                self.push(Cow::Owned(place.to_bytes().to_vec()));
                self.pack.extend(new);
            }
        } else if !content.is_empty() {
            let stored = compress(content);
            let of_stored = u32::try_from(stored.len()).unwrap_or(u32::MAX);
            self.push(Cow::Owned(head(content.len(), of_stored).to_vec()));
            self.push(stored);
        }
        at
    }

    fn push(&mut self, piece: Cow<'a, [u8]>) {
        self.bytes += piece.len() as u64;
        self.pieces.push(piece);
    }
}
