//! `file.read`: the content of one file, or a part of it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::registry::Attempt;
use crate::registry::prelude::*;
use bailiwick_contract::{ErrorCode, Image};
use bailiwick_policy::PermittedPath;
use bailiwick_providers::document::DocumentKind;
use bailiwick_providers::file::{
    Content, Encoding, LineEnding, MAX_IMAGE_BYTES, Marks, Part, ReadRequest, content_version, image_type,
    read_content, read_content_cached, read_image,
};

use crate::changes;

/// The operation.
pub struct Op;

/// Which part to read, and in which form.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// The first line, counted from 1; default 1. Not with `offset` or `length`.
    #[schemars(range(min = 1))]
    pub start_line: Option<u64>,
    /// The last line, itself included; default the last of the file.
    #[schemars(range(min = 1))]
    pub end_line: Option<u64>,
    /// The first byte, counted from 0, in the file as stored. Text begins at the next whole character.
    pub offset: Option<u64>,
    /// How many bytes; default up to the end.
    #[schemars(range(min = 1))]
    pub length: Option<u64>,
    /// The most bytes of content in this answer; it is cut as for `maxOutputBytes`.
    #[schemars(range(min = 1))]
    pub max_bytes: Option<u64>,
    /// `utf8` (default) for text, or `base64` for the bytes of any file.
    pub encoding: AskedEncoding,
    /// Put the line's number and a tab before each line; default false.
    pub line_numbers: bool,
    /// Put `LINE:HASH|` before each line, HASH being 4 digits of its SHA-256; default false.
    pub anchors: bool,
    /// Send a PNG, JPEG, GIF or WebP file of at most 750,000 bytes as an image; default false.
    pub image: bool,
}

/// The form of the content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AskedEncoding {
    /// Text.
    #[default]
    Utf8,
    /// Bytes in base64.
    Base64,
}

/// What was read.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The path, relative to the scope's folder.
    pub path: String,
    /// The content, without a byte order mark; empty for images.
    pub content: String,
    /// The SHA-256 of the whole file; `null` for files over 64 MiB.
    pub sha256: Option<String>,
    /// The version of the whole file, for `ifVersion`.
    pub version: String,
    /// The size of the whole file in bytes.
    pub size: u64,
    /// The number of lines of the whole file; `null` for files over 64 MiB and for base64.
    pub total_lines: Option<u64>,
    /// How the file is stored; `base64` if its bytes were asked for. `null` for images.
    pub encoding: Option<Encoding>,
    /// How its lines end; `null` for base64 and images.
    pub line_ending: Option<LineEnding>,
    /// Whether it begins with a byte order mark, which is not part of `content`.
    pub bom: bool,
    /// Whether more of what was asked for is left; see `nextCursor`.
    pub truncated: bool,
    /// Continues where the content was cut: send it as `options.cursor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The first line in `content`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_line: Option<u64>,
    /// The last line in `content`; it may be cut if `truncated`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u64>,
    /// Where `content` begins in the file, in bytes, for parts by bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// How many bytes of the file `content` holds, for parts by bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// The image's type, where it was sent as an image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<&'static str>,
    /// `pdf`, `docx` or `xlsx` where `content` is the text that such a document was converted to; `totalLines` is that of
    /// the text then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub converted_from: Option<&'static str>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "file.read",
        summary: "Read a file, or a part of it",
        details: "Gives text in UTF-8 (files in UTF-16 are decoded), cut at a line where it does not fit, with a \
                  cursor to continue. A cursor holds for the version it was given for. PDF, DOCX and \
                  XLSX are given as the text that they are converted to. Other binary files need `encoding` \
                  \"base64\" or `image`. Links inside the scope are followed.",
        capabilities: &[&[Capability::FsRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::Path(Access::Read),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::Cursor],
        audited_fields: &[
            "startLine",
            "endLine",
            "offset",
            "length",
            "maxBytes",
            "encoding",
            "lineNumbers",
            "anchors",
            "image",
        ],
        example: r#"{"op":"file.read","target":"README.md","options":{"startLine":1,"endLine":40}}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, options: &Options) -> Result<Output, Failure> {
        let path = permit.path();
        if options.image {
            return read_as_image(cx, path, options);
        }
        let request = options.request(permit.common().cursor.clone())?;
        let output = read_path(cx, permit, path, &request, permit.limits().max_output_bytes)?;
        cx.summarize(output.describe());
        Ok(output)
    }
}

impl Attempt for Op {
    fn attempt(cx: &Context, permit: &Permit, _: &NoFields, options: &Options) -> Option<Output> {
        if options.image {
            return None;
        }
        let request = options.request(permit.common().cursor.clone()).ok()?;
        let read = ReadResult::attempt(permit.path(), &request, permit.limits().max_output_bytes)?;
        let output = read.noted(cx, permit);
        cx.summarize(output.describe());
        Some(output)
    }
}

impl Options {
    /// Turns the options into a request, and refuses those that contradict each other.
    ///
    /// # Errors
    /// `invalid_request` that names the option.
    pub fn request(&self, cursor: Option<String>) -> Result<ReadRequest, Failure> {
        let by_lines = self.start_line.is_some() || self.end_line.is_some();
        let by_bytes = self.offset.is_some() || self.length.is_some();
        let base64 = self.encoding == AskedEncoding::Base64;
        for (name, number) in [
            ("startLine", self.start_line),
            ("endLine", self.end_line),
            ("length", self.length),
            ("maxBytes", self.max_bytes),
        ] {
            if number == Some(0) {
                return Err(Failure::invalid(
                    &format!("options.{name}"),
                    format!("`options.{name}` must be a whole number of 1 or more"),
                ));
            }
        }
        if by_lines && by_bytes {
            return Err(Failure::invalid(
                "options.offset",
                "`startLine`/`endLine` and `offset`/`length` contradict each other",
            )
            .hint("Choose lines or bytes."));
        }
        if base64 && (by_lines || self.line_numbers || self.anchors) {
            return Err(Failure::invalid("options.encoding", "bytes in base64 have no lines")
                .hint("Use `offset` and `length`, without `lineNumbers` and `anchors`."));
        }
        if let (Some(first), Some(last)) = (self.start_line, self.end_line)
            && last < first
        {
            return Err(Failure::invalid("options.endLine", "`options.endLine` is before `startLine`"));
        }
        let part = if by_bytes {
            Part::Bytes(self.offset.unwrap_or(0), self.length)
        } else if by_lines {
            Part::Lines(self.start_line.unwrap_or(1), self.end_line)
        } else {
            Part::Whole
        };
        let marks = match (self.anchors, self.line_numbers) {
            (true, _) => Marks::Anchors,
            (false, true) => Marks::LineNumbers,
            (false, false) => Marks::None,
        };
        Ok(ReadRequest { part, base64, marks, max_bytes: self.max_bytes, cursor })
    }
}

impl Output {
    fn describe(&self) -> String {
        match (self.start_line, self.end_line) {
            (Some(first), Some(last)) => format!("lines {first} to {last}, {} bytes", self.content.len()),
            _ => format!("{} bytes", self.content.len()),
        }
    }
}

/// Reads one judged path into an answer of at most `json_bytes`.
///
/// # Errors
/// Those of `file.read`.
pub fn read_path(
    cx: &Context,
    permit: &Permit,
    path: &PermittedPath,
    request: &ReadRequest,
    json_bytes: usize,
) -> Result<Output, Failure> {
    let content = read_content(path.open_file()?, request, json_bytes, &cx.cancel, &cx.service.parsers)?;
    Ok(ReadResult::new(path, content).noted(cx, permit))
}

/// What was read, and has to be remembered before it is answered.
pub struct ReadResult {
    /// The answer.
    pub output: Output,
    path: PermittedPath,
    whole: Option<Vec<u8>>,
    warning: Option<&'static str>,
}

impl ReadResult {
    fn new(path: &PermittedPath, mut content: Content) -> Self {
        let (whole, warning, read) = (content.whole.take(), content.warning, content.path.clone());
        Self { output: output(path, content), path: read, whole, warning }
    }

    /// Reads one judged path into an answer of at most `json_bytes`, if nothing has to be waited for.
    pub fn attempt(path: &PermittedPath, request: &ReadRequest, json_bytes: usize) -> Option<Self> {
        read_content_cached(path, request, json_bytes).map(|content| Self::new(path, content))
    }

    /// Remembers what was read.
    pub fn noted(self, cx: &Context, permit: &Permit) -> Output {
        let Self { output, path, whole, warning } = self;
        changes::has_read(cx, permit, &path.shown(), &output.version);
        match whole {
            Some(whole) => changes::see(cx, permit, &path, &output.version, whole),
            None if output.sha256.is_some() => changes::note(cx, permit, &path, &output.version),
            None => {}
        }
        if let Some(warning) = warning {
            cx.warn(format!("`{}`: {warning}", output.path));
        }
        output
    }
}

fn output(path: &PermittedPath, content: Content) -> Output {
    Output {
        path: path.shown(),
        content: content.content,
        sha256: content.sha256,
        version: content.version,
        size: content.size,
        total_lines: content.total_lines,
        encoding: Some(content.encoding),
        line_ending: content.line_ending,
        bom: content.bom,
        truncated: content.truncated,
        next_cursor: content.next_cursor,
        start_line: content.lines.map(|lines| lines.0),
        end_line: content.lines.map(|lines| lines.1),
        offset: content.bytes.map(|bytes| bytes.0),
        length: content.bytes.map(|bytes| bytes.1),
        mime_type: None,
        converted_from: content.converted_from.map(DocumentKind::as_str),
    }
}

fn read_as_image(cx: &Context, path: &PermittedPath, options: &Options) -> Result<Output, Failure> {
    let only_image = Options { image: true, ..Options::default() };
    if serde_json::to_value(options).ok() != serde_json::to_value(&only_image).ok() {
        return Err(Failure::invalid(
            "options.image",
            "`options.image` goes with no other option of file.read",
        ));
    }
    let opened = path.open_file()?;
    let size = opened.stat.size;
    let too_large = || {
        Failure::new(
            ErrorCode::InvalidRequest,
            format!("`{}` has more than {MAX_IMAGE_BYTES} bytes, too many for an image", path.shown()),
        )
        .detail("size", size)
        .hint("Make a smaller copy of the image, or read it in parts with `encoding` \"base64\".")
    };
    if size > MAX_IMAGE_BYTES {
        return Err(too_large());
    }
    let (bytes, sha256) = read_image(opened)?.ok_or_else(too_large)?;
    let Some(mime_type) = image_type(&bytes) else {
        return Err(Failure::new(
            ErrorCode::InvalidRequest,
            format!("`{}` is no PNG, JPEG, GIF or WebP image", path.shown()),
        )
        .hint("Leave `options.image` out."));
    };
    cx.attach(Image { mime_type: mime_type.to_owned(), base64: STANDARD.encode(&bytes) });
    cx.summarize(format!("image, {} bytes", bytes.len()));
    Ok(Output {
        path: path.shown(),
        content: String::new(),
        version: content_version(&sha256),
        sha256: Some(sha256),
        size: bytes.len() as u64,
        total_lines: None,
        encoding: None,
        line_ending: None,
        bom: false,
        truncated: false,
        next_cursor: None,
        start_line: None,
        end_line: None,
        offset: None,
        length: None,
        mime_type: Some(mime_type),
        converted_from: None,
    })
}
