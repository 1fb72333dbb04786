//! `screen.ground`: ask the user's vision model where something is on a display or in a window.

use crate::registry::prelude::*;
use bailiwick_contract::{ErrorCode, hex};
use bailiwick_platform::screen::{Point, Rect};
use bailiwick_providers::artifact::{Area, CaptureFacts, CaptureKind, CaptureStore};
use bailiwick_providers::grounding::{Grounder, MAX_DESCRIPTION, ModelPlace, on_display, sendable};
use bailiwick_providers::screen::ImageFile;
use sha2::{Digest, Sha256};

use super::list::area;
use super::place::{PointOutput, of_point};
use super::refusal::unavailable;
use super::taking::{facts, taken};

/// The operation.
pub struct Op;

/// What to find.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// What to find, in words: `the blue Save button`. At most 500 characters.
    pub find: String,
}

/// Where to look.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Only this part, in pixels from the upper left corner of the display or window.
    pub region: Option<Area>,
}

/// What the model answered.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The places that may be meant, the best first; none where it is not there. They are the model's word: look before you click.
    pub places: Vec<GroundedPlace>,
    /// The name of the model.
    pub model: String,
    /// The capture's id, by which points of the picture that was sent can be named for a day.
    pub capture_id: String,
    /// The window, if its picture was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// The part of the display that was sent, in the display's pixels.
    pub area: Area,
    /// How many windows were black in it, since this scope does not show them.
    pub blacked_out: u32,
    /// What was sent.
    pub sent: SentPicture,
}

/// A place.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroundedPlace {
    /// Where it is, in pixels of the display: `x y width height`; a point has 1 pixel.
    pub at: [i64; 4],
    /// Its middle, in every space that applies.
    pub point: PointOutput,
    /// How sure the model says that it is, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
}

/// A picture that was sent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SentPicture {
    /// The host and the port that it was sent to.
    pub host: String,
    /// Its width in pixels.
    pub width: u32,
    /// Its height in pixels.
    pub height: u32,
    /// Its type.
    pub mime_type: &'static str,
    /// The size of its file in bytes.
    pub size: u64,
    /// The SHA-256 of its file, in hexadecimal.
    pub sha256: String,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "screen.ground",
        summary: "Ask the user's vision model where something is on a display or in a window",
        details: "Sends one picture to the model that `visionModel` in the config names; without one it is refused. Judged as \
                  screen.capture and screen.capture_window: windows that the scope does not show are black in it. The picture is made \
                  to fit 1568 pixels and 3 MB. The history has its host, size and SHA-256. screen.ocr and ui.find send nothing.",
        capabilities: &[&[Capability::ScreenGround], &[Capability::ScreenCapture]],
        effect: Effect::Captures,
        target: TargetRule::OptionalId(
            "a window or a display, from screen.list; default the primary display",
        ),
        scope: ScopeNeed::DESKTOP,
        threads: Threads::Async,
        audited_fields: &["region"],
        example: r#"{"op":"screen.ground","target":":0/0x1a00003","input":{"find":"the blue Save button"}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, input: &Input, options: &Options) -> Result<Output, Failure> {
        let find = input.find.trim();
        if !(1..=MAX_DESCRIPTION).contains(&find.chars().count()) {
            let message = format!("the description has 1 to {MAX_DESCRIPTION} characters");
            return Err(Failure::invalid("input.find", message));
        }
        let (model, roots) = (cx.service.config.vision_model.clone(), cx.service.roots.clone());
        let grounder = blocking(move || Grounder::new(model.as_ref(), &roots)).await?;
        let region = options.region.map(|it| Rect::new(it.x, it.y, it.width, it.height));
        let shot = taken(cx, permit, region).await?;
        let kind = if shot.window.is_some() { CaptureKind::Window } else { CaptureKind::Display };
        let mut facts = facts(permit, kind, &shot)?;
        let displays = std::sync::Arc::clone(&cx.service.displays);
        let content = shot.window.as_ref().map(|window| window.bounds);
        let (display, part) = (shot.display, shot.area);
        let (image, screen, bounds) = blocking(move || {
            let image = sendable(shot.picture).map_err(|why| {
                Failure::invalid("options.region", format!("the picture cannot be sent: {why}"))
            })?;
            let screen = displays.screen_of(Some(&display)).map_err(unavailable)?;
            let listing = displays.list().map_err(unavailable)?;
            let bounds = listing.displays.iter().find(|it| it.id == screen).map_or(part, |it| it.bounds);
            Ok((image, screen, bounds))
        })
        .await?;
        (facts.width, facts.height) = (image.width, image.height);
        let sent = SentPicture {
            host: grounder.host(),
            width: image.width,
            height: image.height,
            mime_type: image.format.media_type(),
            size: image.bytes.len() as u64,
            sha256: hex(&Sha256::digest(&image.bytes)),
        };
        // Before it is sent, so that whatever becomes of the request, the history has it.
        cx.summarize(summary(&sent, &facts, "no answer"));
        let found = grounder.ask(&image, find, &cx.cancel).await?;
        cx.summarize(summary(&sent, &facts, &format!("{} places", found.len())));
        let places = found.iter().map(|place| {
            let at = on_display(place, &image, part);
            GroundedPlace {
                at: [at.x.into(), at.y.into(), at.width.into(), at.height.into()],
                point: of_point(middle(place, &image, part), bounds, content, &screen, Some(&facts)),
                confidence: place.confidence,
            }
        });
        let places = places.collect();
        let store = CaptureStore::below(&cx.service.dirs.state);
        let (kept, facts) = blocking(move || Ok((store.keep(&mut facts, None), facts))).await?;
        if let Err(error) = kept {
            cx.warn(format!("what is known of the picture cannot be kept: {}", error.kind()));
        }
        Ok(Output {
            places,
            model: grounder.name().to_owned(),
            capture_id: facts.capture_id,
            window: facts.window,
            area: area(part),
            blacked_out: facts.blacked_out,
            sent,
        })
    }
}

/// Returns the pixel of the display that shows the middle of a place.
fn middle(place: &ModelPlace, image: &ImageFile, part: Rect) -> Point {
    let [left, top, right, bottom] = place.edges;
    let (x, y) = (f64::midpoint(left, right), f64::midpoint(top, bottom));
    let at = on_display(&ModelPlace { edges: [x, y, x, y], confidence: None }, image, part);
    Point { x: at.x, y: at.y }
}

fn summary(sent: &SentPicture, facts: &CaptureFacts, end: &str) -> String {
    let SentPicture { host, width, height, mime_type, size, sha256 } = sent;
    let black = facts.blacked_out;
    format!(
        "sent to {host}: {width}x{height} {mime_type}, {size} bytes, {black} windows black, sha256 {sha256}; {end}"
    )
}

/// Does what may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| Failure::new(ErrorCode::ExecutionFailed, format!("it could not be done: {error}")))?
}
