//! Large contents, cut into chunks by what is in them, so that contents that are alike share most of their chunks.
//!
//! A part of the store has each chunk once: in the *pack* of the change that brought it, `packs/ID`. Changes name the
//! chunks that they need in packs of their own part alone, so a part still goes as a whole, and no chunk goes before the
//! last change that needs it. The *index* of a part, `chunks`, has the names of its chunks. It is only a hint: what it
//! says is read and compared before a change relies on it.

#![expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own, in its state folder")]

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bailiwick_contract::id;
use bailiwick_platform::fs::modes::{OpenOptionsExt, sync_folder};
use bailiwick_platform::fs::{Secrecy, new_private_file, open_own_file};
use sha2::{Digest, Sha256};

use super::pieces::{damaged, read_stored};
use super::store::create_folder;

/// Contents of this size are cut into chunks.
pub(super) const MIN_CUT_BYTES: usize = 64 << 10;
/// The sizes of a chunk; only the last one of a content may be smaller.
const MIN_CHUNK_BYTES: usize = 16 << 10;
const MAX_CHUNK_BYTES: usize = 256 << 10;
/// A chunk ends where these bits of the rolling hash are zero, on average after 64 KiB.
const END_MASK: u64 = 0xffff << 48;
/// How many bytes the rolling hash depends on.
const WINDOW: usize = 64;
/// The size of an id.
const ID_BYTES: usize = 26;
/// The size of a place when it is written.
pub(super) const PLACE_BYTES: usize = ID_BYTES + 12;
/// The size of a row of the index: a name and a place.
const ROW_BYTES: usize = 32 + PLACE_BYTES;

/// The name of a chunk: a hash of its content and its scope, so that no scope shares chunks with another.
type ChunkName = [u8; 32];

/// What the rolling hash adds for each byte.
const GEAR: [u64; 256] = gear();

/// Returns numbers without a pattern (splitmix64).
const fn gear() -> [u64; 256] {
    let (mut gear, mut at, mut state) = ([0; 256], 0, 0_u64);
    while at < 256 {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        gear[at] = number ^ (number >> 31);
        at += 1;
    }
    gear
}

/// Returns the size of the first chunk of a content.
fn first_chunk(content: &[u8]) -> usize {
    let end = content.len().min(MAX_CHUNK_BYTES);
    let mut hash = 0_u64;
    for (at, byte) in content[..end].iter().enumerate().skip(MIN_CHUNK_BYTES - WINDOW) {
        hash = (hash << 1).wrapping_add(GEAR[usize::from(*byte)]);
        if at >= MIN_CHUNK_BYTES && hash & END_MASK == 0 {
            return at;
        }
    }
    end
}

/// Cuts a content into chunks.
pub(super) fn cut(mut content: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (chunk, rest) = content.split_at(first_chunk(content));
        content = rest;
        (!chunk.is_empty()).then_some(chunk)
    })
}

/// Where a chunk is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChunkPlace {
    /// The id of the pack.
    pack: [u8; ID_BYTES],
    /// Where it begins there.
    at: u64,
    /// How many bytes of it are stored.
    stored: u32,
}

impl ChunkPlace {
    /// Writes it down.
    pub(super) fn to_bytes(&self) -> [u8; PLACE_BYTES] {
        let mut bytes = [0; PLACE_BYTES];
        bytes[..ID_BYTES].copy_from_slice(&self.pack);
        bytes[ID_BYTES..ID_BYTES + 8].copy_from_slice(&self.at.to_le_bytes());
        bytes[ID_BYTES + 8..].copy_from_slice(&self.stored.to_le_bytes());
        bytes
    }

    /// Reads what was written.
    pub(super) fn from_bytes(bytes: &[u8; PLACE_BYTES]) -> Option<Self> {
        let (pack, rest) = bytes.split_first_chunk()?;
        let (at, rest) = rest.split_first_chunk()?;
        let (stored, _) = rest.split_first_chunk()?;
        Some(Self { pack: *pack, at: u64::from_le_bytes(*at), stored: u32::from_le_bytes(*stored) })
    }
}

/// The packs of a part, opened as they are needed.
#[derive(Debug, Default)]
pub(super) struct Packs {
    part: PathBuf,
    opened: HashMap<[u8; ID_BYTES], File>,
}

impl Packs {
    /// Names the packs of a part.
    pub(super) fn of(part: &Path) -> Self {
        Self { part: part.to_owned(), opened: HashMap::new() }
    }

    /// Reads a chunk of so many bytes.
    ///
    /// # Errors
    /// Those of the file system; `InvalidData`, `UnexpectedEof`, `NotFound` if it is damaged or missing.
    pub(super) fn read(&mut self, place: &ChunkPlace, bytes: u32) -> io::Result<Vec<u8>> {
        let file = match self.opened.entry(place.pack) {
            Entry::Occupied(opened) => opened.into_mut(),
            Entry::Vacant(free) => {
                let name = std::str::from_utf8(&place.pack).ok().filter(|name| id::is_id(name));
                let path = folder(&self.part).join(name.ok_or_else(damaged)?);
                free.insert(open_own_file(&path, Secrecy::Secret)?.0)
            }
        };
        read_stored(file, place.at, place.stored, bytes)
    }
}

/// The chunks of a change: those that its part has, and those that it brings.
#[derive(Debug)]
pub(super) struct Chunks {
    scope: String,
    pack: [u8; ID_BYTES],
    known: HashMap<ChunkName, ChunkPlace>,
    packs: Packs,
    /// How many bytes are in the change's own pack.
    pack_bytes: u64,
    /// What is to be added to the index.
    rows: Vec<u8>,
    /// How many bytes the part need not store again.
    pub(super) shared_bytes: u64,
}

impl Chunks {
    /// Reads which chunks a part has, if it is known into which part a change goes.
    pub(super) fn new(part: Option<&Path>, scope: &str, undo_id: &str) -> Self {
        let index = part.and_then(|part| fs::read(part.join(INDEX)).ok()).unwrap_or_default();
        let mut pack = [0; ID_BYTES];
        pack.copy_from_slice(&undo_id.as_bytes()[..ID_BYTES]);
        Self {
            scope: scope.to_owned(),
            pack,
            // Of a chunk that was damaged, the newest row has a sound one.
            known: index.as_chunks::<ROW_BYTES>().0.iter().filter_map(read_row).collect(),
            packs: part.map(Packs::of).unwrap_or_default(),
            pack_bytes: 0,
            rows: Vec::new(),
            shared_bytes: 0,
        }
    }

    /// Returns where a chunk is, and what has to be added to the pack if it is not there yet.
    pub(super) fn place<'a>(
        &mut self,
        chunk: &'a [u8],
        compress: impl FnOnce(&'a [u8]) -> Cow<'a, [u8]>,
    ) -> (ChunkPlace, Option<Cow<'a, [u8]>>) {
        let mut name = Sha256::new();
        name.update(self.scope.as_bytes());
        name.update([0]);
        name.update(chunk);
        let name: ChunkName = name.finalize().into();
        let bytes = size(chunk);
        if let Some(place) = self.known.get(&name) {
            let is_own = place.pack == self.pack;
            if is_own || self.packs.read(place, bytes).is_ok_and(|read| read == chunk) {
                self.shared_bytes += if is_own { 0 } else { u64::from(place.stored) };
                return (place.clone(), None);
            }
        }
        let stored = compress(chunk);
        let place = ChunkPlace { pack: self.pack, at: self.pack_bytes, stored: size(&stored) };
        self.pack_bytes += stored.len() as u64;
        self.rows.extend(name);
        self.rows.extend(place.to_bytes());
        self.known.insert(name, place.clone());
        (place, Some(stored))
    }

    /// Returns how much of the disk the pack and its rows take, beside that of a file.
    pub(super) fn bytes(&self) -> u64 {
        self.pack_bytes + self.rows.len() as u64
    }

    /// Writes the pack, and waits until it is on the disk.
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn write_pack(&self, part: &Path, pieces: &[Cow<'_, [u8]>]) -> io::Result<()> {
        let mut file = self.create_pack(part)?;
        let written = pieces.iter().try_for_each(|piece| file.write_all(piece));
        written.and_then(|()| self.finish_pack(part, &file)).inspect_err(|_| self.discard_pack(part))
    }

    /// Creates the pack in a part.
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn create_pack(&self, part: &Path) -> io::Result<File> {
        let name = std::str::from_utf8(&self.pack).map_err(io::Error::other)?;
        match new_private_file(&folder(part).join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create_folder(&folder(part))?;
                sync_folder(part)?;
                new_private_file(&folder(part).join(name))
            }
            other => other,
        }
    }

    /// Waits until a pack that was written is on the disk. Others may share its chunks then.
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn finish_pack(&self, part: &Path, file: &File) -> io::Result<()> {
        file.sync_all()?;
        sync_folder(&folder(part))?;
        let index = OpenOptions::new().append(true).create(true).mode(0o600).open(part.join(INDEX));
        // Without its rows, nobody shares the chunks.
        let _ = index.and_then(|mut index| index.write_all(&self.rows));
        Ok(())
    }

    /// Removes a pack that is not finished.
    pub(super) fn discard_pack(&self, part: &Path) {
        if let Ok(name) = std::str::from_utf8(&self.pack) {
            let _ = fs::remove_file(folder(part).join(name));
        }
    }
}

/// The index of a part.
const INDEX: &str = "chunks";

/// Returns where the packs of a part are.
fn folder(part: &Path) -> PathBuf {
    part.join("packs")
}

fn read_row(row: &[u8; ROW_BYTES]) -> Option<(ChunkName, ChunkPlace)> {
    let (name, rest) = row.split_first_chunk()?;
    let place = rest.last_chunk().and_then(ChunkPlace::from_bytes)?;
    Some((*name, place))
}

/// Returns the size of a chunk, which is small.
fn size(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(count: usize) -> Vec<u8> {
        let mut state = 88_172_645_463_325_252_u64;
        let next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[3]
        };
        std::iter::repeat_with(next).take(count).collect()
    }

    #[test]
    fn an_edit_changes_few_chunks_wherever_it_is() {
        let content = noise(3 << 20);
        let before: Vec<&[u8]> = cut(&content).collect();
        assert_eq!(before.concat(), content);
        assert!((20..100).contains(&before.len()), "{}", before.len());
        for at in [0, 1, 1_000_000, 3 << 20] {
            for new in [&b""[..], b"x", &[7; 5_000]] {
                let mut edited = content.clone();
                edited.splice(at..(at + 3).min(content.len()), new.iter().copied());
                let after: Vec<&[u8]> = cut(&edited).collect();
                assert_eq!(after.concat(), edited);
                let changed = after.iter().filter(|chunk| !before.contains(chunk)).count();
                assert!(changed <= 3, "{changed} chunks for {} bytes at {at}", new.len());
            }
        }
    }

    #[test]
    fn chunks_keep_their_sizes_whatever_the_content_is() {
        let periodic: Vec<u8> = (0..1_000_003_u32).map(|at| u8::try_from(at % 251).expect("small")).collect();
        for content in [vec![0; 1_000_000], periodic, noise(MIN_CHUNK_BYTES - 1), noise(1), noise(200_000)] {
            let chunks: Vec<&[u8]> = cut(&content).collect();
            assert_eq!(chunks.concat(), content);
            let (last, others) = chunks.split_last().expect("it is not empty");
            assert!(last.len() <= MAX_CHUNK_BYTES);
            assert!(others.iter().all(|it| (MIN_CHUNK_BYTES..=MAX_CHUNK_BYTES).contains(&it.len())));
        }
        assert_eq!(cut(b"").count(), 0);
    }
}
