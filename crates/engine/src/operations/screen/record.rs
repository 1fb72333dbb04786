//! `screen.record`: record a display or a window as video.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::registry::prelude::*;
use bailiwick_contract::time::rfc3339;
use bailiwick_contract::{ErrorCode, StageName, id};
use bailiwick_platform::screen::Rect;
use bailiwick_providers::artifact::{Area, CaptureFacts, CaptureKind, CaptureStore, RecordingFacts};
use bailiwick_providers::screen::{
    Recording, RecordingEnd, RecordingError, RecordingOrder, RecordingTarget, record,
};

use super::list::area;
use super::refusal::refused;
use super::taking::{KeptFile, file_of};

/// The operation.
pub struct Op;

/// For how long a recording lasts at most, and unless asked otherwise, in seconds.
const SECONDS: [u32; 2] = [60, 10];
/// How many pictures a second it has at most, and unless asked otherwise.
const RATE: [u32; 2] = [15, 5];
/// The long edge of its pictures unless a size is asked for, in pixels.
const LONG_EDGE: u32 = 1_920;
/// The largest file, in bytes.
const MAX_BYTES: u64 = 60 << 20;
/// How many recordings there are at the same time.
const MOST_AT_ONCE: usize = 2;

/// How it is recorded.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// For how long, in seconds: 1 to 60, default 10.
    pub seconds: Option<u32>,
    /// The most pictures a second: 1 to 15, default 5. There are fewer where less changes.
    pub frames_per_second: Option<u32>,
    /// The most pixels across; pictures keep their proportion. Default 1920.
    pub max_width: Option<u32>,
    /// The most pixels down; pictures keep their proportion. Default 1920.
    pub max_height: Option<u32>,
    /// Only this part, in pixels from the upper left corner of the display or window.
    pub region: Option<Area>,
}

/// Why a recording ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum EndReason {
    /// Its time was over.
    Time,
    /// It was cancelled.
    Cancelled,
    /// The window was closed.
    WindowClosed,
    /// The window was minimised or hidden.
    WindowHidden,
    /// The scope does not show the window any more.
    WindowNotShown,
    /// The part is not within the display or the window any more.
    RegionOutside,
    /// The display does not answer any more.
    DisplayGone,
    /// It was as large as a recording may be: 60 MiB.
    SizeLimit,
}

/// What was recorded.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The id of the recording.
    pub capture_id: String,
    /// The display.
    pub display: String,
    /// The window, of a recording of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// The part of the display that the first picture shows, in the display's pixels.
    pub area: Area,
    /// The width of its pictures, an even number.
    pub width: u32,
    /// The height of its pictures, an even number.
    pub height: u32,
    /// When it began, RFC 3339 in UTC.
    pub started_at: String,
    /// How long it is, in milliseconds.
    pub duration_ms: u32,
    /// How many pictures it has.
    pub frames: u64,
    /// Why it ended: `time`, or what came before. What was recorded until then is kept.
    pub ended: EndReason,
    /// How many windows were black in a picture, at most, since this scope does not show them.
    pub blacked_out: u32,
    /// The kept recording, MP4 with H.264.
    pub file: KeptFile,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "screen.record",
        summary: "Record a display or a window as video",
        details: "Each picture is judged as one of screen.capture or screen.capture_window: windows that the scope does not show are \
                  black in all of them, and a window that is not shown any more ends its recording. A picture is taken when \
                  something was drawn, without the pointer. The file is kept for a day, as pictures are; screen.read_capture reads \
                  it. A recording whose request was cancelled is kept too: screen.captures lists it.",
        capabilities: &[&[Capability::ScreenCapture]],
        effect: Effect::Captures,
        target: TargetRule::OptionalId(
            "a window or a display, from screen.list; default the primary display",
        ),
        scope: ScopeNeed::DESKTOP,
        timeout_seconds: 90,
        threads: Threads::Held,
        audited_fields: &["seconds", "framesPerSecond", "maxWidth", "maxHeight", "region"],
        example: r#"{"op":"screen.record","target":":0/0x1a00003","options":{"seconds":20}}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, _: &NoFields, options: &Options) -> Result<Output, Failure> {
        let seconds = within("seconds", options.seconds, SECONDS)?;
        let rate = within("framesPerSecond", options.frames_per_second, RATE)?;
        for (name, side) in [("maxWidth", options.max_width), ("maxHeight", options.max_height)] {
            if side == Some(0) {
                let message = format!("`options.{name}` must be 1 or more");
                return Err(Failure::invalid(&format!("options.{name}"), message));
            }
        }
        let scope = Arc::clone(permit.needed_scope()?);
        let id = permit.id().unwrap_or("primary").to_owned();
        let is_window = id.contains("/0x") || id.starts_with("window/");
        let kind = if is_window { TargetRule::Window } else { TargetRule::Display };
        scope.screen().judge_kind(kind, scope.id()).map_err(|it| it.at_stage(StageName::Screen))?;
        let max_size = match (options.max_width, options.max_height) {
            (None, None) => (LONG_EDGE, LONG_EDGE),
            (width, height) => (width.unwrap_or(u32::MAX), height.unwrap_or(u32::MAX)),
        };
        let order = RecordingOrder {
            displays: Arc::clone(&cx.service.displays),
            target: if is_window { RecordingTarget::Window(id) } else { RecordingTarget::Display(id) },
            region: options.region.map(|it| Rect::new(it.x, it.y, it.width, it.height)),
            duration: Duration::from_secs(seconds.into()),
            pause: Duration::from_secs(1) / rate,
            max_size,
            max_bytes: MAX_BYTES,
            scope,
            cancel: cx.cancel.clone(),
            progress: cx.progress.clone(),
        };
        let store = CaptureStore::below(&cx.service.dirs.state);
        let slot = RecordingSlot::take()?;
        let (done, recorded) = oneshot::channel();
        // Pictures take a processor. The thread keeps what it has also where nobody waits for it any more.
        std::thread::Builder::new()
            .name("recording".to_owned())
            .spawn(move || {
                let _ = done.send(recorded_by(&order, &store));
                drop(slot);
            })
            .map_err(|error| not_kept(&error.to_string()))?;
        let (facts, recording) = recorded.await.map_err(|_| not_kept("its thread has ended"))??;
        let file = file_of(&facts).ok_or_else(|| not_kept("it has no file"))?;
        cx.summarize(format!(
            "{} pictures in {} ms, {} bytes, {} windows black",
            recording.frames, recording.duration_ms, file.size, recording.blacked_out
        ));
        Ok(Output {
            capture_id: facts.capture_id,
            display: facts.display,
            window: facts.window,
            area: facts.area,
            width: facts.width,
            height: facts.height,
            started_at: rfc3339(facts.taken_at_ms),
            duration_ms: recording.duration_ms,
            frames: recording.frames as u64,
            ended: reason(recording.end),
            blacked_out: facts.blacked_out,
            file,
        })
    }
}

/// One of the recordings that there may be at the same time.
struct RecordingSlot;

static RUNNING: AtomicUsize = AtomicUsize::new(0);

impl RecordingSlot {
    fn take() -> Result<Self, Failure> {
        let more = |running| (running < MOST_AT_ONCE).then_some(running + 1);
        let taken = RUNNING.fetch_update(Ordering::AcqRel, Ordering::Acquire, more);
        taken.map(|_| Self).map_err(|_| {
            Failure::new(ErrorCode::Conflict, format!("{MOST_AT_ONCE} recordings are being made"))
                .detail("state", "busy")
                .hint("Ask again once one of them has ended.")
        })
    }
}

impl Drop for RecordingSlot {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::AcqRel);
    }
}

fn within(name: &str, asked: Option<u32>, [most, usual]: [u32; 2]) -> Result<u32, Failure> {
    match asked {
        None => Ok(usual),
        Some(number) if (1..=most).contains(&number) => Ok(number),
        Some(_) => {
            let field = format!("options.{name}");
            Err(Failure::invalid(&field, format!("`{field}` must be from 1 to {most}")))
        }
    }
}

fn recorded_by(order: &RecordingOrder, store: &CaptureStore) -> Result<(CaptureFacts, Recording), Failure> {
    store.expire();
    let file = store.new_recording().map_err(|error| not_kept(&error.kind().to_string()))?;
    let (recording, file) = record(order, file).map_err(|error| match error {
        RecordingError::Screenshot(error) => refused(error),
        RecordingError::TooLarge(..) => Failure::invalid("options.maxWidth", error.to_string())
            .hint("Ask for smaller pictures, or a part."),
        RecordingError::File(error) => not_kept(&error.kind().to_string()),
    })?;
    let (width, height) = recording.size;
    let mut facts = CaptureFacts {
        capture_id: id::new_id(),
        scope: order.scope.id().to_owned(),
        kind: if recording.window.is_some() { CaptureKind::Window } else { CaptureKind::Display },
        display: recording.display.clone(),
        window: recording.window.clone(),
        area: area(recording.area),
        width,
        height,
        blacked_out: recording.blacked_out,
        taken_at_ms: recording.began_at_ms,
        expires_at_ms: recording.began_at_ms + CaptureStore::LIFE_MS,
        rules: order.scope.screen().fingerprint(),
        picture: None,
        recording: Some(RecordingFacts {
            duration_ms: recording.duration_ms,
            frames: recording.frames as u64,
        }),
    };
    store.keep_recording(&mut facts, file).map_err(|error| not_kept(&error.kind().to_string()))?;
    Ok((facts, recording))
}

fn not_kept(why: &str) -> Failure {
    Failure::new(ErrorCode::ExecutionFailed, format!("the recording cannot be kept: {why}"))
}

fn reason(end: RecordingEnd) -> EndReason {
    match end {
        RecordingEnd::Time => EndReason::Time,
        RecordingEnd::Cancelled => EndReason::Cancelled,
        RecordingEnd::WindowClosed => EndReason::WindowClosed,
        RecordingEnd::WindowHidden => EndReason::WindowHidden,
        RecordingEnd::WindowWithheld => EndReason::WindowNotShown,
        RecordingEnd::RegionOutside => EndReason::RegionOutside,
        RecordingEnd::DisplayGone => EndReason::DisplayGone,
        RecordingEnd::SizeLimit => EndReason::SizeLimit,
    }
}
