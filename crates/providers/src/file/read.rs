//! Reading the part of a file that was asked for, with what is known about the whole.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use bailiwick_contract::{Cancel, ErrorCode, Failure};
use bailiwick_platform::fs::Stat;
use bailiwick_policy::{OpenedFile, PermittedPath};

use super::image_type;
use super::scan::{ScannedText, scan};
use super::single_byte::{decode_single_byte, single_byte_text};
use super::text::{Encoding, LineEnding, byte_order_mark, decode_utf16, json_len, lines_of};
use super::version::{content_version, facts_version, sha256_hex};
use super::window::{Budget, Marks, take_lines};
use crate::document::{ConvertError, DocumentKind, DocumentText, MAX_DOCUMENT_BYTES};
use crate::parser::ParserPool;

/// Files up to this size are read whole; beyond it only the part that was asked for is.
pub const WHOLE_BYTES: u64 = 64 << 20;
/// Of files from this size on only the part is read that was asked for, once their hash and lines are known.
const LARGE_BYTES: u64 = 1 << 20;
/// The largest file that is read where others wait: hashing more takes longer than handing it to another thread.
const MAX_CACHED_BYTES: u64 = 64 << 10;
/// The room that everything but the content takes in an answer.
const FACTS_BYTES: usize = 640;
const CHUNK_BYTES: usize = 1 << 18;
const DECODED_AS_LATIN: &str = "The file is no UTF-8 and was decoded as Latin-1: letters beyond ASCII are a guess. file.patch keeps the encoding.";
const DECODED_AS_WINDOWS: &str = "The file is no UTF-8 and was decoded as Windows-1252: letters beyond ASCII are a guess. file.patch keeps the encoding.";

/// Which part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Part {
    /// From the beginning to the end.
    #[default]
    Whole,
    /// Lines, counted from 1, the last included.
    Lines(u64, Option<u64>),
    /// Bytes, counted from 0: where to begin, and how many.
    Bytes(u64, Option<u64>),
}

/// What is to be read, and in which form.
#[derive(Debug, Clone, Default)]
pub struct ReadRequest {
    /// Which part.
    pub part: Part,
    /// Give any bytes in base64, instead of text.
    pub base64: bool,
    /// What is put before each line.
    pub marks: Marks,
    /// The most bytes of content.
    pub max_bytes: Option<u64>,
    /// Continue where an earlier answer was cut; the part is then that of the earlier request.
    pub cursor: Option<String>,
}

/// What was read.
#[derive(Debug)]
pub struct Content {
    /// The part as text.
    pub content: String,
    /// The SHA-256 of the whole file, unless it is too large to be read whole.
    pub sha256: Option<String>,
    /// The version token of the whole file.
    pub version: String,
    /// The size of the whole file in bytes.
    pub size: u64,
    /// The number of lines of the whole file.
    pub total_lines: Option<u64>,
    /// How the file stores its text.
    pub encoding: Encoding,
    /// How its lines end.
    pub line_ending: Option<LineEnding>,
    /// Whether it begins with a byte order mark.
    pub bom: bool,
    /// Whether more of what was asked for is left.
    pub truncated: bool,
    /// Where to continue.
    pub next_cursor: Option<String>,
    /// The lines in the content, first and last.
    pub lines: Option<(u64, u64)>,
    /// The bytes in the content: where they begin, and how many.
    pub bytes: Option<(u64, u64)>,
    /// What the client should know.
    pub warning: Option<&'static str>,
    /// The kind of document that was converted to this text.
    pub converted_from: Option<DocumentKind>,
    /// The path that was opened, links on the way resolved.
    pub path: PermittedPath,
    /// All bytes of a file that was read whole.
    pub whole: Option<Vec<u8>>,
}

/// Where an answer was cut: version, offset, line, end of the part.
#[derive(Debug, PartialEq, Eq)]
struct Cursor {
    version: String,
    offset: u64,
    line: u64,
    end: End,
}

/// Where the part ends that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    File,
    Line(u64),
    Byte(u64),
}

impl Cursor {
    fn parse(text: &str) -> Result<Self, Failure> {
        let wrong = || {
            Failure::invalid("options.cursor", "`options.cursor` is not a cursor of file.read")
                .hint("Send the `nextCursor` of an earlier file.read of the same file.")
        };
        let mut parts = text.split('.');
        let mut next = || parts.next().ok_or_else(wrong);
        if next()? != "r1" {
            return Err(wrong());
        }
        let version = next()?.to_owned();
        let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
        let offset = number(next()?)?;
        let line = number(next()?)?;
        let end = next()?;
        let end = match end.split_at_checked(1) {
            Some(("L", rest)) => End::Line(number(rest)?),
            Some(("B", rest)) => End::Byte(number(rest)?),
            Some(("E", "")) => End::File,
            _ => return Err(wrong()),
        };
        Ok(Self { version, offset, line, end })
    }

    fn show(&self) -> String {
        let end = match self.end {
            End::File => "E".to_owned(),
            End::Line(line) => format!("L{line}"),
            End::Byte(byte) => format!("B{byte}"),
        };
        format!("r1.{}.{}.{}.{end}", self.version, self.offset, self.line)
    }
}

/// Reads a part of an open file so that it fits into `json_bytes` of an answer.
///
/// # Errors
/// `conflict` if the file has changed since the cursor was given, `invalid_request` for binary content
/// that was asked for as text and for a part beyond the end, `cancelled`, `timeout`, `execution_failed`.
pub fn read_content(
    opened: OpenedFile,
    request: &ReadRequest,
    json_bytes: usize,
    cancel: &Cancel,
    parsers: &ParserPool,
) -> Result<Content, Failure> {
    let OpenedFile { mut file, stat, path } = opened;
    let reading = Reading::of(&path, request, json_bytes)?;
    if (LARGE_BYTES..=WHOLE_BYTES).contains(&stat.size) {
        if let Some(content) = reading.large(&mut file, &stat, cancel)? {
            return Ok(content);
        }
        file.rewind().map_err(|error| reading.failed(&error))?;
    }
    if stat.size <= WHOLE_BYTES
        && let Some(bytes) = read_whole(&mut file, &stat, &path)?
    {
        cancel.check()?;
        let content = reading.whole(&bytes, |kind| parsers.document(kind, &bytes, cancel))?;
        return Ok(Content { whole: Some(bytes), ..content });
    }
    reading.stream(&mut file, &stat, cancel)
}

/// Reads a part of a file if nothing has to be waited for. `None` says nothing about the file: then [`read_content`] finds
/// out.
pub fn read_content_cached(
    path: &PermittedPath,
    request: &ReadRequest,
    json_bytes: usize,
) -> Option<Content> {
    let (_, bytes) = path.read_cached(MAX_CACHED_BYTES)?;
    if DocumentKind::of(&path.shown(), &bytes).is_some() {
        // Another process converts it.
        return None;
    }
    let reading = Reading::of(path, request, json_bytes).ok()?;
    let content = reading.whole(&bytes, |_| Err(ConvertError::Unavailable)).ok()?;
    Some(Content { whole: Some(bytes), ..content })
}

/// Reads a file of a known size: one allocation, and one read where nothing else writes to it.
///
/// Returns `None` if it has grown beyond what is read whole.
fn read_whole(file: &mut File, stat: &Stat, path: &PermittedPath) -> Result<Option<Vec<u8>>, Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(ErrorCode::ExecutionFailed, format!("`{}` cannot be read: {error}", path.shown()))
    };
    let size = usize::try_from(stat.size).unwrap_or(usize::MAX);
    // One byte more, so that a full buffer tells of growth.
    let mut bytes = vec![0; size + 1];
    let mut filled = 0;
    loop {
        let read = file.read(&mut bytes[filled..]).map_err(failed)?;
        filled += read;
        if read == 0 || filled == size {
            bytes.truncate(filled);
            return Ok(Some(bytes));
        }
        if filled == bytes.len() {
            if filled as u64 > WHOLE_BYTES {
                return Ok(None);
            }
            bytes.resize(filled * 2, 0);
        }
    }
}

/// Reads a whole small file, such as an image, and its SHA-256; `None` if it is larger than it was.
///
/// # Errors
/// `execution_failed`.
pub fn read_image(opened: OpenedFile) -> Result<Option<(Vec<u8>, String)>, Failure> {
    let OpenedFile { mut file, stat, path } = opened;
    let bytes = read_whole(&mut file, &stat, &path)?;
    Ok(bytes.filter(|bytes| bytes.len() as u64 <= super::MAX_IMAGE_BYTES).map(|bytes| {
        let sha256 = sha256_hex(&bytes);
        (bytes, sha256)
    }))
}

struct Reading<'a> {
    path: &'a PermittedPath,
    request: &'a ReadRequest,
    cursor: Option<Cursor>,
    budget: Budget,
}

/// What was found out about the whole file.
struct Facts {
    version: String,
    sha256: Option<String>,
    size: u64,
    total_lines: Option<u64>,
    line_ending: Option<LineEnding>,
    encoding: Encoding,
    bom_bytes: usize,
    warning: Option<&'static str>,
    converted_from: Option<DocumentKind>,
}

impl<'a> Reading<'a> {
    /// Prepares to read a part of a file so that it fits into `json_bytes` of an answer.
    fn of(path: &'a PermittedPath, request: &'a ReadRequest, json_bytes: usize) -> Result<Self, Failure> {
        let cursor = request.cursor.as_deref().map(Cursor::parse).transpose()?;
        let room = json_bytes.saturating_sub(FACTS_BYTES + json_len(path.shown().as_bytes())).max(64);
        let raw_bytes =
            request.max_bytes.map_or(usize::MAX, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        let budget = Budget { json_bytes: room, raw_bytes: raw_bytes.max(1) };
        Ok(Self { path, request, cursor, budget })
    }
}

impl Reading<'_> {
    fn whole(
        &self,
        bytes: &[u8],
        convert: impl FnOnce(DocumentKind) -> Result<DocumentText, ConvertError>,
    ) -> Result<Content, Failure> {
        let sha256 = sha256_hex(bytes);
        let mut facts = Facts {
            version: content_version(&sha256),
            sha256: Some(sha256),
            size: bytes.len() as u64,
            total_lines: None,
            line_ending: None,
            encoding: Encoding::Base64,
            bom_bytes: 0,
            warning: None,
            converted_from: None,
        };
        self.check_version(&facts.version)?;
        if self.request.base64 {
            let (start, end) = self.byte_range(facts.size)?;
            let (from, to) = (as_index(start), as_index(end));
            return Ok(self.base64(facts, &bytes[from..to.min(from + self.base64_room())], start, end));
        }
        if let Some(kind) = DocumentKind::of(&self.path.shown(), bytes) {
            facts.encoding = Encoding::Utf8;
            facts.converted_from = Some(kind);
            if facts.size > MAX_DOCUMENT_BYTES {
                return Err(self.unconverted(kind, "it is larger than 32 MiB"));
            }
            let document = convert(kind).map_err(|why| self.unconverted(kind, words(why)))?;
            facts.warning = if document.is_cut {
                Some("Only the beginning of the document was converted: it is too long, or took too long.")
            } else if document.unread_pages > 0 {
                Some("Some pages of the document could not be converted, or not as a whole.")
            } else if document.text.trim().is_empty() {
                Some("The document has no text; its pages are perhaps pictures.")
            } else {
                None
            };
            return self.part_of(facts, &document.text);
        }
        let (encoding, bom_bytes) = byte_order_mark(bytes).unwrap_or((Encoding::Utf8, 0));
        (facts.encoding, facts.bom_bytes) = (encoding, bom_bytes);
        let decoded;
        let text = match encoding {
            Encoding::Utf16Le | Encoding::Utf16Be => {
                decoded = decode_utf16(&bytes[bom_bytes..], encoding)
                    .ok_or_else(|| self.binary(bytes, bom_bytes))?;
                &decoded
            }
            _ => match std::str::from_utf8(&bytes[bom_bytes..]) {
                Ok(text) => text,
                Err(error) => {
                    let found = if bom_bytes == 0 { single_byte_text(bytes) } else { None };
                    let Some(found) = found else {
                        return Err(self.binary(bytes, bom_bytes + error.valid_up_to()));
                    };
                    facts.encoding = found;
                    facts.warning = Some(match found {
                        Encoding::Windows1252 => DECODED_AS_WINDOWS,
                        _ => DECODED_AS_LATIN,
                    });
                    decoded = decode_single_byte(bytes);
                    &decoded
                }
            },
        };
        if let Some(at) = memchr::memchr(0, text.as_bytes()) {
            return Err(self.binary(bytes, bom_bytes + at));
        }
        self.part_of(facts, text)
    }

    fn part_of(&self, mut facts: Facts, text: &str) -> Result<Content, Failure> {
        let (total_lines, line_ending) = lines_of(text.as_bytes());
        (facts.total_lines, facts.line_ending) = (Some(total_lines), Some(line_ending));
        let (start, line, end) = self.text_range(text, total_lines, &facts)?;
        let end_at = match end {
            End::File => text.len(),
            End::Line(last) => start + end_of_lines(&text.as_bytes()[start..], last.saturating_sub(line) + 1),
            End::Byte(byte) => floor_boundary(text, as_index(byte).clamp(start, text.len())),
        };
        Ok(self.text(facts, &text[start..end_at], false, start as u64, line, end))
    }

    /// Finds where the part begins in a text: offset, line number, and where it ends.
    fn text_range(&self, text: &str, total_lines: u64, facts: &Facts) -> Result<(usize, u64, End), Failure> {
        if let Some(cursor) = &self.cursor {
            let start = as_index(cursor.offset);
            if start > text.len() || !text.is_char_boundary(start) {
                return Err(self.stale());
            }
            return Ok((start, cursor.line, cursor.end));
        }
        match self.request.part {
            Part::Whole => Ok((0, 1, End::File)),
            Part::Lines(first, last) => {
                if first > total_lines.max(1) {
                    return Err(self.beyond_last_line(first, total_lines));
                }
                let start = end_of_lines(text.as_bytes(), first - 1);
                Ok((start, first, last.map_or(End::File, End::Line)))
            }
            Part::Bytes(..) => {
                if let Some(kind) = facts.converted_from {
                    let shown = self.path.shown();
                    let message =
                        format!("`{shown}` is a {}, whose bytes are not those of its text", kind.as_str());
                    return Err(Failure::invalid("options.offset", message)
                        .hint("Use `startLine` and `endLine`, or set `options.encoding` to \"base64\"."));
                }
                if facts.encoding != Encoding::Utf8 {
                    return Err(Failure::invalid(
                        "options.offset",
                        format!(
                            "`{}` is {}, whose bytes are not those of its text",
                            self.path.shown(),
                            facts.encoding.describe()
                        ),
                    )
                    .hint("Use `startLine` and `endLine`, or set `options.encoding` to \"base64\"."));
                }
                let (start, end) = self.byte_range(facts.size)?;
                // Offsets are the file's; the text begins after the mark.
                let mark = facts.bom_bytes as u64;
                let start = ceil_boundary(text, as_index(start.saturating_sub(mark)).min(text.len()));
                Ok((start, 1, End::Byte(end.saturating_sub(mark))))
            }
        }
    }

    /// Reads a part of a large file. `None` for what has to be read whole: other text than UTF-8, documents, and files that
    /// change just now.
    fn large(&self, file: &mut File, stat: &Stat, cancel: &Cancel) -> Result<Option<Content>, Failure> {
        let scan = scan(file, stat, cancel)?;
        let mut facts = Facts {
            version: content_version(&scan.sha256),
            sha256: Some(scan.sha256.clone()),
            size: stat.size,
            total_lines: None,
            line_ending: None,
            encoding: Encoding::Base64,
            bom_bytes: 0,
            warning: None,
            converted_from: None,
        };
        let read = if self.request.base64 {
            self.check_version(&facts.version).and_then(|()| self.bytes_of(file, facts))
        } else {
            let Some(text) = &scan.text else { return Ok(None) };
            if DocumentKind::of(&self.path.shown(), &scan.head).is_some() {
                return Ok(None);
            }
            (facts.encoding, facts.bom_bytes) = (Encoding::Utf8, text.bom_bytes);
            (facts.total_lines, facts.line_ending) = (Some(text.total_lines), Some(text.line_ending));
            self.check_version(&facts.version)
                .and_then(|()| self.stream_text(file, facts, Some(text), cancel))
        };
        // What was read is a part of what was hashed.
        let is_same = Stat::of_file(file).is_ok_and(|now| now == *stat);
        if is_same { read.map(Some) } else { Ok(None) }
    }

    fn bytes_of(&self, file: &mut File, facts: Facts) -> Result<Content, Failure> {
        let (start, end) = self.byte_range(facts.size)?;
        let length = as_index(end - start).min(self.base64_room());
        let bytes = self.read_at(file, start, length)?;
        Ok(self.base64(facts, &bytes, start, end))
    }

    fn stream(&self, file: &mut File, stat: &Stat, cancel: &Cancel) -> Result<Content, Failure> {
        let facts = Facts {
            version: facts_version(stat),
            sha256: None,
            size: stat.size,
            total_lines: None,
            line_ending: None,
            encoding: if self.request.base64 { Encoding::Base64 } else { Encoding::Utf8 },
            bom_bytes: 0,
            warning: Some("The file is larger than 64 MiB: sha256 and totalLines are not computed."),
            converted_from: None,
        };
        self.check_version(&facts.version)?;
        if self.request.base64 {
            return self.bytes_of(file, facts);
        }
        self.stream_text(file, facts, None, cancel)
    }

    /// Reads a part of a text of which all is known, or nothing.
    fn stream_text(
        &self,
        file: &mut File,
        mut facts: Facts,
        known: Option<&ScannedText>,
        cancel: &Cancel,
    ) -> Result<Content, Failure> {
        let head = self.read_at(file, 0, 4)?;
        match byte_order_mark(&head) {
            Some((Encoding::Utf8, bom_bytes)) => facts.bom_bytes = bom_bytes,
            Some(_) => return Err(self.binary(&head, 0)),
            None => {}
        }
        let mark = facts.bom_bytes as u64;
        let (start, line, end) = match (&self.cursor, self.request.part) {
            (Some(cursor), _) => (cursor.offset + mark, cursor.line, cursor.end),
            (None, Part::Whole) => (mark, 1, End::File),
            (None, Part::Lines(first, last)) => {
                if let Some(known) = known
                    && first > known.total_lines.max(1)
                {
                    return Err(self.beyond_last_line(first, known.total_lines));
                }
                let from = known.map_or((mark, 1), |known| known.before(first));
                let start = self.find_line(file, first, from, cancel)?;
                (start, first, last.map_or(End::File, End::Line))
            }
            (None, Part::Bytes(..)) => {
                let (start, end) = self.byte_range(facts.size)?;
                (start.max(mark), 1, End::Byte(end.saturating_sub(mark)))
            }
        };
        let stop = match end {
            End::Byte(byte) => (byte + mark).min(facts.size),
            End::File | End::Line(_) => facts.size,
        };
        let room = self.budget.json_bytes.min(self.budget.raw_bytes).saturating_add(4);
        let length = as_index(stop.saturating_sub(start)).min(room);
        let bytes = self.read_at(file, start, length)?;
        if known.is_some()
            && self.cursor.is_some()
            && (start > facts.size || bytes.first().is_some_and(|first| is_continuation(*first)))
        {
            return Err(self.stale());
        }
        let goes_on = start + (bytes.len() as u64) < stop;
        // A chosen offset, and the end of what was read, can be inside a character.
        let skip = match (&self.cursor, self.request.part) {
            (None, Part::Bytes(..)) => {
                bytes.iter().take(3).take_while(|byte| is_continuation(**byte)).count()
            }
            _ => 0,
        };
        let text = match std::str::from_utf8(&bytes[skip..]) {
            Ok(text) => text,
            Err(error) if error.error_len().is_none() && (goes_on || matches!(end, End::Byte(_))) => {
                std::str::from_utf8(&bytes[skip..skip + error.valid_up_to()]).expect("valid up to there")
            }
            Err(error) => return Err(self.binary(&head, as_index(start) + skip + error.valid_up_to())),
        };
        if let Some(at) = memchr::memchr(0, text.as_bytes()) {
            return Err(self.binary(&head, as_index(start) + skip + at));
        }
        facts.line_ending = facts.line_ending.or_else(|| Some(lines_of(text.as_bytes()).1));
        let start = start + skip as u64 - mark;
        let (text, goes_on) = match end {
            End::Line(last) => {
                let wanted = last.saturating_sub(line) + 1;
                let end_at = end_of_lines(text.as_bytes(), wanted);
                let all = memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64 >= wanted;
                (&text[..end_at], goes_on && !all)
            }
            End::File | End::Byte(_) => (text, goes_on),
        };
        Ok(self.text(facts, text, goes_on, start, line, end))
    }

    /// Finds the offset of a line by counting line feeds from where an earlier line begins.
    fn find_line(
        &self,
        file: &mut File,
        first: u64,
        (mut offset, mut line): (u64, u64),
        cancel: &Cancel,
    ) -> Result<u64, Failure> {
        if first == line {
            return Ok(offset);
        }
        let mut last_byte = b'\n';
        loop {
            cancel.check()?;
            let chunk = self.read_at(file, offset, CHUNK_BYTES)?;
            let Some(last) = chunk.last() else {
                let total = line - 1 + u64::from(last_byte != b'\n');
                return Err(self.beyond_last_line(first, total));
            };
            last_byte = *last;
            for at in memchr::memchr_iter(b'\n', &chunk) {
                line += 1;
                let start = offset + at as u64 + 1;
                if line == first && start < offset + chunk.len() as u64 {
                    return Ok(start);
                }
                if line == first {
                    // The line begins with the next chunk, if there is one.
                    return match self.read_at(file, start, 1)?.is_empty() {
                        true => Err(self.beyond_last_line(first, first - 1)),
                        false => Ok(start),
                    };
                }
            }
            offset += chunk.len() as u64;
        }
    }

    fn text(&self, facts: Facts, text: &str, goes_on: bool, start: u64, line: u64, end: End) -> Content {
        let window = take_lines(text, goes_on, line, self.request.marks, self.budget);
        let truncated = window.taken < text.len() || goes_on;
        let offset = start + window.taken as u64;
        let by_bytes = matches!(end, End::Byte(_));
        let cursor = Cursor { version: facts.version.clone(), offset, line: window.next_line, end };
        Content {
            content: window.text,
            sha256: facts.sha256,
            version: facts.version,
            size: facts.size,
            total_lines: facts.total_lines,
            encoding: facts.encoding,
            line_ending: facts.line_ending,
            bom: facts.bom_bytes > 0,
            truncated,
            next_cursor: truncated.then(|| cursor.show()),
            lines: (!by_bytes && !text.is_empty()).then_some((line, window.last_line)),
            bytes: by_bytes.then_some((start + facts.bom_bytes as u64, window.taken as u64)),
            warning: facts.warning,
            converted_from: facts.converted_from,
            path: self.path.clone(),
            whole: None,
        }
    }

    fn base64(&self, facts: Facts, bytes: &[u8], start: u64, end: u64) -> Content {
        let offset = start + bytes.len() as u64;
        let truncated = offset < end;
        let cursor = Cursor { version: facts.version.clone(), offset, line: 1, end: End::Byte(end) };
        Content {
            content: STANDARD.encode(bytes),
            sha256: facts.sha256,
            version: facts.version,
            size: facts.size,
            total_lines: None,
            encoding: Encoding::Base64,
            line_ending: None,
            bom: false,
            truncated,
            next_cursor: truncated.then(|| cursor.show()),
            lines: None,
            bytes: Some((start, bytes.len() as u64)),
            warning: facts.warning,
            converted_from: facts.converted_from,
            path: self.path.clone(),
            whole: None,
        }
    }

    /// Returns the number of raw bytes whose base64 fits, a multiple of three.
    fn base64_room(&self) -> usize {
        let fitting = (self.budget.json_bytes / 4 * 3).max(3);
        if self.budget.raw_bytes < fitting { self.budget.raw_bytes } else { fitting }
    }

    /// Finds the bytes that were asked for: where they begin and end in the file.
    fn byte_range(&self, size: u64) -> Result<(u64, u64), Failure> {
        if let Some(cursor) = &self.cursor {
            let end = match cursor.end {
                End::Byte(end) => end.min(size),
                End::File | End::Line(_) => size,
            };
            if cursor.offset > end {
                return Err(self.stale());
            }
            return Ok((cursor.offset, end));
        }
        let (start, length) = match self.request.part {
            Part::Bytes(start, length) => (start, length),
            Part::Whole | Part::Lines(..) => (0, None),
        };
        if start > size {
            return Err(Failure::invalid(
                "options.offset",
                format!("`{}` has {size} bytes, offset {start} is beyond its end", self.path.shown()),
            )
            .detail("size", size)
            .hint("Choose an offset within the file."));
        }
        Ok((start, length.map_or(size, |length| start.saturating_add(length).min(size))))
    }

    fn failed(&self, error: &std::io::Error) -> Failure {
        Failure::new(ErrorCode::ExecutionFailed, format!("`{}` cannot be read: {error}", self.path.shown()))
    }

    fn read_at(&self, file: &mut File, offset: u64, length: usize) -> Result<Vec<u8>, Failure> {
        let failed = |error: std::io::Error| self.failed(&error);
        file.seek(SeekFrom::Start(offset)).map_err(failed)?;
        let mut bytes = Vec::with_capacity(length);
        file.by_ref().take(length as u64).read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    fn check_version(&self, version: &str) -> Result<(), Failure> {
        match &self.cursor {
            Some(cursor) if cursor.version != version => Err(Failure::new(
                ErrorCode::Conflict,
                format!("`{}` has changed since the cursor was given", self.path.shown()),
            )
            .detail("version", version)
            .hint("Read the file again from the start.")),
            _ => Ok(()),
        }
    }

    fn stale(&self) -> Failure {
        Failure::invalid(
            "options.cursor",
            format!("the cursor does not belong to `{}` read in this form", self.path.shown()),
        )
        .hint("Send the cursor with the options of the request that gave it.")
    }

    fn beyond_last_line(&self, first: u64, total: u64) -> Failure {
        Failure::invalid(
            "options.startLine",
            format!("`{}` ends with line {total}, before line {first}", self.path.shown()),
        )
        .detail("totalLines", total)
        .hint("Choose a line within the file.")
    }

    fn unconverted(&self, kind: DocumentKind, why: &str) -> Failure {
        let message =
            format!("`{}` cannot be converted from {} to text: {why}", self.path.shown(), kind.as_str());
        Failure::new(ErrorCode::InvalidRequest, message)
            .detail("binary", true)
            .hint("Set `options.encoding` to \"base64\" to get its bytes.")
    }

    fn binary(&self, head: &[u8], at: usize) -> Failure {
        let failure = Failure::new(
            ErrorCode::InvalidRequest,
            format!("`{}` is binary: byte {at} is not text in UTF-8", self.path.shown()),
        )
        .detail("binary", true)
        .detail("offset", at as u64)
        .hint("Set `options.encoding` to \"base64\" to get its bytes.");
        match image_type(head) {
            Some(mime) => {
                failure.detail("mimeType", mime).hint("Set `options.image` to true to see it as an image.")
            }
            None => failure,
        }
    }
}

/// Returns why a document has no text.
const fn words(why: ConvertError) -> &'static str {
    match why {
        ConvertError::Damaged => "it is damaged",
        ConvertError::Encrypted => "it is encrypted, and opens with a password only",
        ConvertError::Stopped => "it takes too long",
        ConvertError::Failed => "the converter failed on it",
        ConvertError::Unavailable => "no converter could be started",
    }
}

/// Finds the offset after `lines` line feeds; the end of the text if there are fewer.
fn end_of_lines(text: &[u8], lines: u64) -> usize {
    let Some(index) = usize::try_from(lines).ok().and_then(|lines| lines.checked_sub(1)) else { return 0 };
    memchr::memchr_iter(b'\n', text).nth(index).map_or(text.len(), |at| at + 1)
}

fn as_index(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

fn floor_boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn ceil_boundary(text: &str, at: usize) -> usize {
    (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}
