//! What every capture has: its options, its answer, and what is kept of it.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::list::area;
use super::refusal::refused;
use crate::registry::Context;
use bailiwick_contract::time::rfc3339;
use bailiwick_contract::{ErrorCode, Failure, Image, StageName, TargetRule, id};
use bailiwick_platform::screen::{Content, Rect};
use bailiwick_policy::Permit;
use bailiwick_providers::artifact::{Area, CaptureFacts, CaptureKind, CaptureStore};
use bailiwick_providers::screen::{
    Coverage, Format, ImageFile, Picture, Screenshot, encode, fit, of_display, of_window, scale,
};

/// The long edge of a picture unless a size is asked for, in pixels: what models look at without making it smaller.
const LONG_EDGE: u32 = 1_568;
/// The most bytes of a whole answer with an image.
const MAX_ANSWER_BYTES: usize = 1_000_000;
/// What of an answer is not the picture.
const ANSWER_TEXT_BYTES: usize = 4_000;
/// The quality of a JPEG unless another is asked for.
const JPEG_QUALITY: u8 = 80;

/// The options of captures that the history may keep.
pub(super) const AUDITED: &[&str] = &["format", "maxWidth", "maxHeight", "quality", "region", "return"];

/// The format of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AskedFormat {
    /// Lossless (default).
    #[default]
    Png,
    /// Lossy and small.
    Jpeg,
    /// Lossless, and smaller than PNG.
    Webp,
}

/// How a picture comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Return {
    /// As an image beside the data (default): what a model looks at.
    #[default]
    Image,
    /// In the data as base64, within `maxOutputBytes`.
    Base64,
    /// Kept for a day, in full size unless another is asked for; screen.read_capture reads it.
    FileRef,
}

/// How a picture is taken and given.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// The format; a kept picture is `png` or `webp`.
    pub format: AskedFormat,
    /// The most pixels across; the picture keeps its proportion. Default 1568.
    pub max_width: Option<u32>,
    /// The most pixels down; the picture keeps its proportion. Default 1568.
    pub max_height: Option<u32>,
    /// The quality of a JPEG, 1 to 100; default 80.
    pub quality: Option<u8>,
    /// Only this part, in pixels from the upper left corner of the display or window.
    pub region: Option<Area>,
    /// How the picture comes: `image` (default), `base64` or `fileRef`.
    #[serde(rename = "return")]
    pub return_as: Return,
}

/// What was taken.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The capture's id, by which points of the picture can be named for a day.
    pub capture_id: String,
    /// The display.
    pub display: String,
    /// The window, of a picture of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// The part of the display that the picture shows, in the display's pixels.
    pub area: Area,
    /// How many pixels of the picture one pixel of the display takes.
    pub scale: f64,
    /// The picture's width in pixels.
    pub width: u32,
    /// The picture's height in pixels.
    pub height: u32,
    /// The picture's type: `image/png`, `image/jpeg` or `image/webp`.
    pub mime_type: &'static str,
    /// The size of its file in bytes.
    pub size: u64,
    /// When it was taken, RFC 3339 in UTC.
    pub taken_at: String,
    /// Of a window: whether others lay before it: `no`, `partly` or `wholly`. The picture shows the window all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covered: Option<&'static str>,
    /// The windows that lay before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub covered_by: Vec<String>,
    /// How many windows are black in it, since this scope does not show them.
    pub blacked_out: u32,
    /// With `return` = `base64`: the picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// With `return` = `fileRef`: the kept picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<KeptFile>,
    /// Of a process with several windows: the others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_windows: Vec<OtherWindow>,
}

/// A window that could have been meant as well.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OtherWindow {
    /// Its id.
    pub window: String,
    /// Its title.
    pub title: String,
    /// Its process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
}

/// A kept picture or recording.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeptFile {
    /// The id by which screen.read_capture reads it.
    pub capture_id: String,
    /// Its name as an MCP resource. A recording is none: screen.read_capture reads it in parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Its type.
    pub mime_type: String,
    /// Its size in bytes.
    pub size: u64,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
    /// Until when it is kept, RFC 3339 in UTC.
    pub expires_at: String,
}

/// What a picture is sent as.
pub(super) struct PictureForm {
    pub format: Format,
    pub max_width: u32,
    pub max_height: u32,
    pub limit_bytes: usize,
}

impl Options {
    /// Reads what is asked for, and refuses what contradicts itself.
    ///
    /// # Errors
    /// `invalid_request` that names the option.
    pub(super) fn check(&self) -> Result<Format, Failure> {
        let format = format(self.format, self.quality)?;
        for (name, side) in [("maxWidth", self.max_width), ("maxHeight", self.max_height)] {
            if side == Some(0) {
                return Err(Failure::invalid(
                    &format!("options.{name}"),
                    format!("`options.{name}` must be 1 or more"),
                ));
            }
        }
        if self.return_as == Return::FileRef && matches!(format, Format::Jpeg { .. }) {
            return Err(Failure::invalid("options.format", "a kept picture is lossless: `png` or `webp`")
                .hint("Leave `format` out; screen.read_capture gives it as a JPEG too."));
        }
        Ok(format)
    }

    /// Returns the part that is asked for.
    pub(super) fn region(&self) -> Option<Rect> {
        self.region.map(|it| Rect::new(it.x, it.y, it.width, it.height))
    }
}

/// Reads a format with its quality.
///
/// # Errors
/// `invalid_request` for a quality out of its range, or of a lossless format.
pub(super) fn format(asked: AskedFormat, quality: Option<u8>) -> Result<Format, Failure> {
    if quality.is_some_and(|quality| !(1..=100).contains(&quality)) {
        return Err(Failure::invalid("options.quality", "`options.quality` must be from 1 to 100"));
    }
    match (asked, quality) {
        (AskedFormat::Jpeg, quality) => Ok(Format::Jpeg { quality: quality.unwrap_or(JPEG_QUALITY) }),
        (_, Some(_)) => Err(Failure::invalid("options.quality", "only a JPEG has a quality")
            .hint("Set `format` to `jpeg`, or leave `quality` out.")),
        (AskedFormat::Png, None) => Ok(Format::Png),
        (AskedFormat::Webp, None) => Ok(Format::Webp),
    }
}

/// Returns the largest picture that an answer can hold, in bytes of its file, and its size in pixels.
pub(super) fn wish(
    permit: &Permit,
    format: Format,
    return_as: Return,
    size: (Option<u32>, Option<u32>),
) -> PictureForm {
    let limits = permit.limits().max_output_bytes;
    let room = match (return_as, permit.common().max_output_bytes) {
        // Beside the data, which the limit is made for; one that the request names holds for all.
        (Return::Image, None) => {
            permit.scope().map_or(MAX_ANSWER_BYTES, |scope| scope.max_output_bytes()).min(MAX_ANSWER_BYTES)
        }
        (Return::Image, Some(_)) => limits.min(MAX_ANSWER_BYTES),
        (Return::Base64 | Return::FileRef, _) => limits,
    };
    // Base64 makes four bytes of three.
    let limit_bytes = room.saturating_sub(ANSWER_TEXT_BYTES).max(500) / 4 * 3;
    let (max_width, max_height) = match size {
        (None, None) => (LONG_EDGE, LONG_EDGE),
        (width, height) => (width.unwrap_or(u32::MAX), height.unwrap_or(u32::MAX)),
    };
    PictureForm { format, max_width, max_height, limit_bytes }
}

/// Creates a picture's file as requested.
///
/// # Errors
/// `invalid_request` where nothing of it fits or the format cannot hold it.
pub(super) fn made(cx: &Context, picture: Picture, wish: &PictureForm) -> Result<ImageFile, Failure> {
    let fitted = fit(picture, wish.format, wish.max_width, wish.max_height, wish.limit_bytes)
        .map_err(|why| Failure::invalid("options.format", format!("the picture cannot be given: {why}")))?;
    if let Some(why) = &fitted.reduced {
        cx.warn(format!(
            "the picture was made smaller, {} of {}x{} pixels: {why}; `region` shows a part in full size",
            fitted.format.media_type(),
            fitted.width,
            fitted.height
        ));
    }
    Ok(fitted)
}

/// Takes the picture that a target means, a window or a display, on a thread that may block.
///
/// # Errors
/// `permission_denied` where the scope takes no such pictures, and those of a capture.
pub(super) async fn taken(
    cx: &Context,
    permit: &Permit,
    region: Option<Rect>,
) -> Result<Screenshot, Failure> {
    let scope = Arc::clone(permit.needed_scope()?);
    let id = permit.id().unwrap_or("primary").to_owned();
    let is_window = id.contains("/0x") || id.starts_with("window/");
    let kind = if is_window { TargetRule::Window } else { TargetRule::Display };
    scope.screen().judge_kind(kind, scope.id()).map_err(|it| it.at_stage(StageName::Screen))?;
    let displays = Arc::clone(&cx.service.displays);
    let taken = tokio::task::spawn_blocking(move || match is_window {
        true => of_window(&displays, scope.screen(), &id, region),
        false => of_display(&displays, scope.screen(), &id, region),
    });
    let taken = taken.await.map_err(|error| {
        Failure::new(ErrorCode::ExecutionFailed, format!("no picture could be taken: {error}"))
    })?;
    taken.map_err(refused)
}

/// Returns what is known of a picture, as if it were given in full size and without its file.
///
/// # Errors
/// Those of [`Permit::screen`].
pub(super) fn facts(permit: &Permit, kind: CaptureKind, shot: &Screenshot) -> Result<CaptureFacts, Failure> {
    Ok(CaptureFacts {
        capture_id: id::new_id(),
        scope: permit.scope().map(|scope| scope.id().to_owned()).unwrap_or_default(),
        kind,
        display: shot.display.clone(),
        window: shot.window.as_ref().map(|window| window.id.clone()),
        area: area(shot.area),
        width: shot.area.width,
        height: shot.area.height,
        blacked_out: shot.blacked_out,
        taken_at_ms: shot.taken_at_ms,
        expires_at_ms: shot.taken_at_ms + CaptureStore::LIFE_MS,
        rules: permit.screen()?.fingerprint(),
        picture: None,
        recording: None,
    })
}

/// Answers with a picture as it was asked for, and keeps its facts.
///
/// # Errors
/// `invalid_request` where it cannot be given so, `execution_failed` where it cannot be kept.
pub(super) fn answer(
    cx: &Context,
    permit: &Permit,
    kind: CaptureKind,
    shot: Screenshot,
    options: &Options,
) -> Result<Output, Failure> {
    cx.cancel.check()?;
    let format = options.check()?;
    let mut facts = facts(permit, kind, &shot)?;
    let Screenshot { picture, content, covered_by, covered, blacked_out, taken_at_ms, .. } = shot;
    let size = (options.max_width, options.max_height);
    let fitted = match options.return_as {
        Return::Image | Return::Base64 => made(cx, picture, &wish(permit, format, options.return_as, size))?,
        Return::FileRef => {
            let (width, height) = (size.0.unwrap_or(u32::MAX), size.1.unwrap_or(u32::MAX));
            let picture = scale(picture, width, height);
            let (width, height) = (picture.width(), picture.height());
            let bytes = encode(&picture, format).map_err(|why| Failure::invalid("options.format", why))?;
            ImageFile { bytes, format, width, height, reduced: None }
        }
    };
    (facts.width, facts.height) = (fitted.width, fitted.height);
    let mime_type = fitted.format.media_type();
    let store = CaptureStore::below(&cx.service.dirs.state);
    let kept = options.return_as == Return::FileRef;
    match store.keep(&mut facts, kept.then_some((mime_type, &fitted.bytes))) {
        Ok(()) => {}
        Err(error) if kept => {
            return Err(Failure::new(
                ErrorCode::ExecutionFailed,
                format!("the picture cannot be kept: {}", error.kind()),
            )
            .hint("Ask for it with `return` = `image`."));
        }
        Err(error) => {
            cx.warn(format!("what is known of the picture cannot be kept: {}", error.kind()));
        }
    }
    cx.summarize(format!(
        "{}x{} {mime_type}, {} bytes, {blacked_out} windows black",
        fitted.width,
        fitted.height,
        fitted.bytes.len()
    ));
    let size = fitted.bytes.len() as u64;
    let file = file_of(&facts);
    let base64 = match options.return_as {
        Return::FileRef => None,
        Return::Base64 => Some(STANDARD.encode(&fitted.bytes)),
        Return::Image => {
            cx.attach(Image { mime_type: mime_type.to_owned(), base64: STANDARD.encode(&fitted.bytes) });
            None
        }
    };
    let is_window = facts.window.is_some();
    if is_window && content == Content::Display && covered != Coverage::Not {
        cx.warn("the display cannot show the window without what covers it");
    }
    Ok(Output {
        scale: rounded(facts.scale().0),
        capture_id: facts.capture_id,
        display: facts.display,
        window: facts.window,
        area: facts.area,
        width: facts.width,
        height: facts.height,
        mime_type,
        size,
        taken_at: rfc3339(taken_at_ms),
        covered: is_window.then_some(match covered {
            Coverage::Not => "no",
            Coverage::Partly => "partly",
            Coverage::Wholly => "wholly",
        }),
        covered_by: covered_by.into_iter().map(|cover| cover.window).collect(),
        blacked_out,
        base64,
        file,
        other_windows: Vec::new(),
    })
}

/// Describes the kept picture or recording of a capture, if there is one.
pub(super) fn file_of(facts: &CaptureFacts) -> Option<KeptFile> {
    let picture = facts.picture.as_ref()?;
    Some(KeptFile {
        capture_id: facts.capture_id.clone(),
        uri: facts.recording.is_none().then(|| facts.uri()),
        mime_type: picture.mime_type.clone(),
        size: picture.size,
        sha256: picture.sha256.clone(),
        expires_at: rfc3339(facts.expires_at_ms),
    })
}

/// Rounds a scale to what is worth saying.
pub(super) fn rounded(scale: f64) -> f64 {
    (scale * 10_000.0).round() / 10_000.0
}
