//! The archive that a document of an office is: entries by name, read as a stream within a bound.

use std::io::{BufReader, Read, Take};

use flate2::bufread::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchive, ZipSliceArchive};

use super::ConvertError;
use super::markup::Markup;

/// The longest entry that is read, unpacked. A small archive can unpack to any length.
const MAX_ENTRY_BYTES: u64 = 256 << 20;
/// How many entries are checked.
const MAX_ENTRIES: usize = 10_000;

/// An archive.
pub(super) struct Package<'a>(ZipSliceArchive<&'a [u8]>);

/// An entry, unpacked as it is read.
pub(super) type Entry<'a> = BufReader<Take<Box<dyn Read + 'a>>>;

impl<'a> Package<'a> {
    pub(super) fn open(content: &'a [u8]) -> Result<Self, ConvertError> {
        ZipArchive::from_slice(content).map(Self).map_err(|_| ConvertError::Damaged)
    }

    /// Opens the XML of an entry; `None` where there is none.
    pub(super) fn entry(&self, name: &str) -> Result<Option<Markup<Entry<'_>>>, ConvertError> {
        let mut entries = self.0.entries();
        for _ in 0..MAX_ENTRIES {
            let Some(entry) = entries.next_entry().map_err(|_| ConvertError::Damaged)? else { break };
            if entry.file_path().as_ref() != name.as_bytes() {
                continue;
            }
            let method = entry.compression_method();
            let data = self.0.get_entry(entry.wayfinder()).map_err(|_| ConvertError::Damaged)?.data();
            let unpacked: Box<dyn Read> = match method {
                CompressionMethod::STORE => Box::new(data),
                CompressionMethod::DEFLATE => Box::new(DeflateDecoder::new(data)),
                _ => return Err(ConvertError::Damaged),
            };
            return Ok(Some(Markup::new(BufReader::new(unpacked.take(MAX_ENTRY_BYTES)))));
        }
        Ok(None)
    }
}
