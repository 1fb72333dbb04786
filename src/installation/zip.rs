//! Writing zip files: deflated entries with a fixed time, so that the same content gives the same bytes.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use rawzip::{CompressionMethod, ZipArchiveWriter};

/// What is put into a zip file.
pub struct ZipEntry<'a> {
    /// Its path there, with `/`.
    pub path: &'a str,
    /// Its permission bits.
    pub mode: u32,
    /// Its content.
    pub content: &'a mut dyn Read,
}

/// Writes a zip file.
///
/// # Errors
/// Those of reading the content and of writing.
pub fn write(out: impl Write, entries: Vec<ZipEntry<'_>>) -> io::Result<()> {
    let mut archive = ZipArchiveWriter::new(out);
    for entry in entries {
        let (mut file, config) = archive
            .new_file(entry.path)
            .compression_method(CompressionMethod::DEFLATE)
            .unix_permissions(0o100_000 | entry.mode)
            .start()
            .map_err(io::Error::other)?;
        let mut writer = config.wrap(DeflateEncoder::new(&mut file, Compression::default()));
        io::copy(entry.content, &mut writer)?;
        let (encoder, descriptor) = writer.finish().map_err(io::Error::other)?;
        encoder.finish()?;
        file.finish(descriptor).map_err(io::Error::other)?;
    }
    archive.finish().map_err(io::Error::other)?.flush()
}
