//! Pictures of displays: a small window of a colour of its own, looked for in a picture that a client would get.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::installation::child::McpChild;
use crate::installation::limit::Limit;
use crate::installation::steps::{StepError, Steps, wrong};
use bailiwick_contract::id;
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::screen::{Access, Displays, Mark, Point, ScreenError, Sources};
use bailiwick_providers::display::without_private;
use bailiwick_providers::screen::access_state;
use bailiwick_providers::screen::{Picture, decode};

/// How much around the mark is in the picture, in pixels.
const AROUND: u32 = 8;
/// How far the mark is from the display's corner, in pixels.
const INWARDS: i32 = 24;
/// How long a desktop may take to show a window.
const SHOWN_TIME: Duration = Duration::from_secs(1);

/// Takes a picture of the primary display, if there is one. The private displays of the installation in `dirs` are none.
pub fn screens(steps: &mut Steps, child: &mut McpChild, dirs: &Dirs) {
    steps.group("Screens");
    let limit = steps.limit().clone();
    steps.step_or_skip("a picture of a display", || picture(child, &limit, dirs));
}

fn picture(child: &mut McpChild, limit: &Limit, dirs: &Dirs) -> Result<((), String), StepError> {
    let sources = without_private(Sources::of_this_process(), dirs);
    let listing =
        Displays::new(sources.clone()).list().map_err(|error| StepError::Skipped(error.to_string()))?;
    if listing.access != Access::Granted {
        let access = access_state(&listing.access);
        return Err(StepError::Skipped(access.why.unwrap_or(access.state)));
    }
    let Some(display) = listing.displays.iter().find(|display| display.primary) else {
        return Err(StepError::Skipped("there is no primary display".to_owned()));
    };
    let side = Mark::SIDE + 2 * AROUND;
    if display.bounds.width < side + INWARDS.unsigned_abs()
        || display.bounds.height < side + INWARDS.unsigned_abs()
    {
        return Err(StepError::Skipped("the display is too small for a mark".to_owned()));
    }
    let colour = colour();
    let corner = display.bounds.origin();
    let at = Point { x: corner.x + INWARDS, y: corner.y + INWARDS };
    let cannot = |error: ScreenError| StepError::Skipped(format!("no window can be shown: {error}"));
    let mark = Mark::show(&sources, &display.id, at, colour).map_err(cannot)?;
    // The server's own word, by a request that the capture does not use.
    let shown = limit.wait_for(SHOWN_TIME, || (mark.seen().ok().flatten()? == colour).then_some(()));
    if shown.is_none() {
        return Err(StepError::Skipped(
            "the display does not show a window that was just made: something covers it".to_owned(),
        ));
    }
    let around = i32::try_from(AROUND).expect("a few pixels");
    let region = json!({"x": INWARDS - around, "y": INWARDS - around, "width": side, "height": side});
    let data = take(child, &region)?;
    let picture = data["base64"].as_str().and_then(|text| STANDARD.decode(text).ok());
    let picture = picture.ok_or_else(|| wrong("there is no picture in the answer"))?;
    let picture = decode(&picture).map_err(|error| wrong(format!("the picture cannot be read: {error}")))?;
    if (picture.width(), picture.height()) != (side, side) {
        return Err(StepError::Wrong(wrong(format!(
            "it is {}x{} pixels",
            picture.width(),
            picture.height()
        ))));
    }
    let (inside, outside) = pixels_of(&picture, colour);
    let [red, green, blue] = colour;
    let whole = usize::try_from(Mark::SIDE * Mark::SIDE).expect("a few pixels");
    if inside == whole {
        return Ok((
            (),
            format!(
                "a window of the colour #{red:02x}{green:02x}{blue:02x} on {}, all {whole} pixels where the display has them",
                display.id
            ),
        ));
    }
    if data["blackedOut"].as_u64().is_some_and(|count| count > 0) {
        return Err(StepError::Skipped(
            "windows that are kept from clients are there, and are black".to_owned(),
        ));
    }
    Err(StepError::Wrong(wrong(format!(
        "the display shows #{red:02x}{green:02x}{blue:02x} there; in the picture {inside} of {whole} pixels have it, and {outside} around"
    ))))
}

/// A colour that hardly anything else has.
fn colour() -> [u8; 3] {
    let id = id::new_id();
    let mut last = id.bytes().rev().map(|byte| byte.wrapping_mul(7) | 1);
    [0xb5, last.next().unwrap_or(1), last.next().unwrap_or(1)]
}

fn take(child: &mut McpChild, region: &Value) -> Result<Value, StepError> {
    let options = json!({"region": region, "return": "base64"});
    let envelope =
        json!({"scope": "screens", "op": "screen.capture", "target": "primary", "options": options});
    let mut outcome = child.call("computer_operation", envelope)?;
    if outcome["ok"] == true {
        Ok(outcome["data"].take())
    } else {
        Err(StepError::Wrong(wrong(format!("screen.capture failed: {}", outcome["error"]["message"]))))
    }
}

/// Counts the pixels of a colour: those where the mark must be, and those around it.
fn pixels_of(picture: &Picture, colour: [u8; 3]) -> (usize, usize) {
    let mark = AROUND..AROUND + Mark::SIDE;
    let (mut inside, mut outside) = (0, 0);
    for y in 0..picture.height() {
        for x in 0..picture.width() {
            if picture.pixel(x, y) == Some(colour) {
                *(if mark.contains(&x) && mark.contains(&y) { &mut inside } else { &mut outside }) += 1;
            }
        }
    }
    (inside, outside)
}
