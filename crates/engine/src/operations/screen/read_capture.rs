//! `screen.read_capture`: look again at a picture that is kept, or at what is known of one.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::registry::prelude::*;
use bailiwick_contract::time::rfc3339;
use bailiwick_contract::{ErrorCode, Image, StageName};
use bailiwick_platform::screen::{Rect, ScreenError};
use bailiwick_providers::artifact::{Area, CaptureFacts, CaptureKind, CaptureStore};
use bailiwick_providers::screen::decode;

use super::refusal::unavailable;
use super::taking::{AskedFormat, KeptFile, Return, file_of, format, made, rounded, wish};

/// The operation.
pub struct Op;

/// How a kept picture comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReadAs {
    /// As an image beside the data (default).
    #[default]
    Image,
    /// In the data as base64, within `maxOutputBytes`; the file of a recording in parts.
    Base64,
    /// Not at all: only what is known of it.
    Facts,
}

/// Which part of a picture is given, and how.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// The format of what is given.
    pub format: AskedFormat,
    /// The most pixels across; the picture keeps its proportion. Default 1568.
    pub max_width: Option<u32>,
    /// The most pixels down; the picture keeps its proportion. Default 1568.
    pub max_height: Option<u32>,
    /// The quality of a JPEG, 1 to 100; default 80.
    pub quality: Option<u8>,
    /// Only this part, in pixels of the kept picture.
    pub region: Option<Area>,
    /// Of a recording: the byte from which on its file is read, default 0.
    pub offset: u64,
    /// How it comes: `image` (default), `base64` or `facts`.
    #[serde(rename = "return")]
    pub return_as: ReadAs,
}

/// What is known of a picture, and the part of it that is given.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The capture's id.
    pub capture_id: String,
    /// What it shows: `display`, `window`, or the window of a `process`.
    pub kind: CaptureKind,
    /// The display.
    pub display: String,
    /// The window, of a picture of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// The part of the display that the whole picture shows, in the display's pixels.
    pub area: Area,
    /// The whole picture's width in pixels.
    pub width: u32,
    /// The whole picture's height in pixels.
    pub height: u32,
    /// How many pixels of the whole picture one pixel of the display takes.
    pub scale: f64,
    /// How many windows are black in it.
    pub blacked_out: u32,
    /// When it was taken, RFC 3339 in UTC.
    pub taken_at: String,
    /// Until when it is known, RFC 3339 in UTC.
    pub expires_at: String,
    /// The kept picture, if it is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<KeptFile>,
    /// What is given of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<CaptureReturn>,
    /// Of a recording: how long it is, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u32>,
    /// Of a recording: how many pictures it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<u64>,
    /// Of a recording with `return` = `base64`: a part of its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<FilePart>,
}

/// A part of the file of a recording.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FilePart {
    /// The byte at which it begins.
    pub offset: u64,
    /// How many bytes it has.
    pub size: u64,
    /// The bytes.
    pub base64: String,
    /// The `offset` of the next part, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
}

/// What is given of a kept picture.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CaptureReturn {
    /// The part of the kept picture, in its pixels.
    pub region: Area,
    /// How many pixels are given for one of the kept picture.
    pub scale: f64,
    /// The width of what is given.
    pub width: u32,
    /// The height of what is given.
    pub height: u32,
    /// Its type.
    pub mime_type: &'static str,
    /// The size of its file in bytes.
    pub size: u64,
    /// With `return` = `base64`: the picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "screen.read_capture",
        summary: "Look again at a picture that is kept, or at a part of it; read a recording",
        details: "`region` and `maxWidth` choose a part and its size. With `return` \"facts\" it shows what is known of any \
                  capture of the last day, kept or not. The file of a recording comes with `return` \"base64\", from `offset` on, until \
                  there is no `nextOffset`.",
        capabilities: &[&[Capability::ScreenCapture]],
        effect: Effect::ReadOnly,
        target: TargetRule::Id("the captureId"),
        scope: ScopeNeed::DESKTOP,
        audited_fields: &["format", "maxWidth", "maxHeight", "quality", "region", "offset", "return"],
        example: r#"{"op":"screen.read_capture","target":"01JD0000000000000000000000","options":{"region":{"x":0,"y":0,"width":400,"height":300}}}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, options: &Options) -> Result<Output, Failure> {
        let format = format(options.format, options.quality)?;
        let scope = permit.scope().map(|scope| scope.id().to_owned()).unwrap_or_default();
        let asked = permit.id().unwrap_or_default();
        let store = CaptureStore::below(&cx.service.dirs.state);
        let facts = store.find(&scope, asked).ok_or_else(|| unknown(asked))?;
        judge(permit, &facts)?;
        let part = match (&facts.recording, options.return_as) {
            (Some(_), ReadAs::Image) => return Err(no_picture()),
            (Some(_), ReadAs::Base64) => {
                let bytes = store.picture(&facts).ok_or_else(|| not_kept(asked))?;
                Some(part(&bytes, options.offset, permit.limits().max_output_bytes)?)
            }
            (Some(_), ReadAs::Facts) | (None, _) => None,
        };
        let given = match options.return_as {
            ReadAs::Facts => None,
            _ if facts.recording.is_some() => None,
            ReadAs::Image | ReadAs::Base64 => {
                let bytes = store.picture(&facts).ok_or_else(|| not_kept(asked))?;
                let kept = decode(&bytes).map_err(|why| {
                    Failure::new(
                        ErrorCode::ExecutionFailed,
                        format!("the kept picture cannot be read: {why}"),
                    )
                })?;
                let whole = Rect::new(0, 0, kept.width(), kept.height());
                let region = options.region.map_or(whole, |it| Rect::new(it.x, it.y, it.width, it.height));
                let part = kept
                    .part(region)
                    .ok_or_else(|| unavailable(ScreenError::Outside { region, bounds: whole }))?;
                let return_as =
                    if options.return_as == ReadAs::Image { Return::Image } else { Return::Base64 };
                let wish = wish(permit, format, return_as, (options.max_width, options.max_height));
                let fitted = made(cx, part, &wish)?;
                let mime_type = fitted.format.media_type();
                let encoded = STANDARD.encode(&fitted.bytes);
                cx.summarize(format!(
                    "{}x{} {mime_type}, {} bytes",
                    fitted.width,
                    fitted.height,
                    fitted.bytes.len()
                ));
                let base64 = match return_as {
                    Return::Image => {
                        cx.attach(Image { mime_type: mime_type.to_owned(), base64: encoded });
                        None
                    }
                    Return::Base64 | Return::FileRef => Some(encoded),
                };
                Some(CaptureReturn {
                    region: Area { x: region.x, y: region.y, width: region.width, height: region.height },
                    scale: rounded(f64::from(fitted.width) / f64::from(region.width)),
                    width: fitted.width,
                    height: fitted.height,
                    mime_type,
                    size: fitted.bytes.len() as u64,
                    base64,
                })
            }
        };
        Ok(Output {
            file: file_of(&facts),
            scale: rounded(facts.scale().0),
            capture_id: facts.capture_id,
            kind: facts.kind,
            display: facts.display,
            window: facts.window,
            area: facts.area,
            width: facts.width,
            height: facts.height,
            blacked_out: facts.blacked_out,
            taken_at: rfc3339(facts.taken_at_ms),
            expires_at: rfc3339(facts.expires_at_ms),
            duration_ms: facts.recording.as_ref().map(|recording| recording.duration_ms),
            frames: facts.recording.as_ref().map(|recording| recording.frames),
            given,
            part,
        })
    }
}

/// What of an answer is not the part of a file.
const FRAME_BYTES: usize = 2_000;

/// Returns as much of a file as an answer can hold.
///
/// # Errors
/// `invalid_request` where the part is not in the file.
fn part(bytes: &[u8], offset: u64, room: usize) -> Result<FilePart, Failure> {
    let start = usize::try_from(offset).ok().filter(|start| *start < bytes.len()).ok_or_else(|| {
        let message = format!("the file has {} bytes", bytes.len());
        Failure::invalid("options.offset", message)
    })?;
    // Base64 makes four bytes of three.
    let most = room.saturating_sub(FRAME_BYTES).max(400) / 4 * 3;
    let end = start.saturating_add(most).min(bytes.len());
    Ok(FilePart {
        offset,
        size: (end - start) as u64,
        base64: STANDARD.encode(&bytes[start..end]),
        next_offset: (end < bytes.len()).then_some(end as u64),
    })
}

fn no_picture() -> Failure {
    Failure::invalid("options.return", "a recording is no picture")
        .hint("`return` = `base64` reads its file in parts, `return` = `facts` shows what is known of it.")
}

/// Judges a picture that was taken before by the rules of now.
///
/// # Errors
/// `permission_denied` where the scope does not take such pictures any more, or not by the same rules for windows.
pub(in crate::operations) fn judge(permit: &Permit, facts: &CaptureFacts) -> Result<(), Failure> {
    let rules = permit.screen()?;
    let kind = match facts.kind {
        CaptureKind::Display => TargetRule::Display,
        CaptureKind::Window => TargetRule::Window,
        CaptureKind::Process => TargetRule::ProcessWindow,
    };
    rules.judge_kind(kind, &facts.scope).map_err(|failure| failure.at_stage(StageName::Screen))?;
    if rules.fingerprint() == facts.rules {
        return Ok(());
    }
    Err(Failure::denied("rules-changed", "the rules for windows have changed since the picture was taken")
        .at_stage(StageName::Screen)
        .hint("Take the picture again."))
}

fn unknown(asked: &str) -> Failure {
    let asked: String = asked.chars().take(64).collect();
    Failure::new(ErrorCode::NotFound, format!("no capture `{asked}` is known in this scope"))
        .detail("field", "target")
        .hint("Captures are known for a day; screen.captures lists those that are kept.")
}

fn not_kept(asked: &str) -> Failure {
    Failure::new(ErrorCode::NotFound, format!("the picture of capture `{asked}` is not kept"))
        .detail("field", "target")
        .hint("Take it again with `return` = `fileRef`; with `return` = `facts` this operation shows what is known of it.")
}
