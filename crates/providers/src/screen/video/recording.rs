//! Records what a scope sees of a display or a window: a picture whenever something was drawn, each taken and judged as a
//! single one is.
//!
//! It belongs on a thread of its own. One picture is in memory at a time.

use std::io::{self, Seek, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bailiwick_contract::{Cancel, ErrorCode, Progress};
use bailiwick_platform::screen::{ChangeWatch, Displays, Rect, ScreenError};
use bailiwick_policy::Scope;

use super::super::{Picture, Screenshot, ScreenshotError, fitting, of_display, of_window, scale};
use super::{Mp4Writer, VideoEncoder};

/// About how large a second may be before pictures become coarser.
const BYTES_A_SECOND: u64 = 1 << 20;
/// How coarse pictures are, at first and at most.
const QUANTIZERS: [u8; 2] = [24, 44];
/// There is a picture that needs no other at least so often, where anything changes: players begin there.
const KEY_SPAN: Duration = Duration::from_secs(10);
/// How long it takes to notice that it is to end.
const NOTICE: Duration = Duration::from_millis(100);
/// How long after the last picture one is taken although nothing was reported: drawing in a covered window may not be.
const LONGEST_REST: Duration = Duration::from_secs(10);

/// What is recorded.
#[derive(Debug)]
pub struct RecordingOrder {
    /// The displays.
    pub displays: Arc<Displays>,
    /// The scope, whose rules say which windows are shown.
    pub scope: Arc<Scope>,
    /// The id of the display or the window.
    pub target: RecordingTarget,
    /// The part of it that is recorded.
    pub region: Option<Rect>,
    /// For how long.
    pub duration: Duration,
    /// The shortest time between two pictures.
    pub pause: Duration,
    /// The most pixels across and down.
    pub max_size: (u32, u32),
    /// The most bytes that its pictures take.
    pub max_bytes: u64,
    /// When to stop.
    pub cancel: Cancel,
    /// Where it says how many pictures there are.
    pub progress: Progress,
}

/// What a recording is of.
#[derive(Debug, Clone)]
pub enum RecordingTarget {
    /// A display or a monitor.
    Display(String),
    /// A window.
    Window(String),
}

/// Why a recording ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordingEnd {
    /// Its time was over.
    Time,
    /// It was cancelled.
    Cancelled,
    /// The window was closed.
    WindowClosed,
    /// The window was minimised or hidden.
    WindowHidden,
    /// The scope did not show the window any more.
    WindowWithheld,
    /// The part was not within the display or the window any more.
    RegionOutside,
    /// The display did not answer any more.
    DisplayGone,
    /// It was as large as one may be.
    SizeLimit,
}

/// What was recorded.
#[derive(Debug)]
pub struct Recording {
    /// The display.
    pub display: String,
    /// The window, if it is one's.
    pub window: Option<String>,
    /// The part of the display that the first picture shows.
    pub area: Rect,
    /// How large the pictures are.
    pub size: (u32, u32),
    /// How many pictures there are.
    pub frames: usize,
    /// How long it is, in milliseconds.
    pub duration_ms: u32,
    /// How many windows were black in a picture, at most.
    pub blacked_out: u32,
    /// When it began, in milliseconds since the epoch.
    pub began_at_ms: i64,
    /// Why it ended.
    pub end: RecordingEnd,
}

/// Why there is no recording.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// There was no first picture.
    #[error(transparent)]
    Screenshot(#[from] ScreenshotError),
    /// Its pictures would be larger than a player shows.
    #[error("{0}x{1} pixels are more than a recording has")]
    TooLarge(u32, u32),
    /// It could not be written.
    #[error("it cannot be written: {}", .0.kind())]
    File(#[from] io::Error),
}

/// Records into a file, and returns it.
///
/// # Errors
/// See [`RecordingError`]. What ends it after the first picture is an end, not an error.
pub fn record<W: Write + Seek>(order: &RecordingOrder, out: W) -> Result<(Recording, W), RecordingError> {
    let (RecordingTarget::Display(id) | RecordingTarget::Window(id)) = &order.target;
    // Before the first picture, so that nothing is missed.
    let mut watch = order.displays.watch(id).map_err(ScreenshotError::from)?;
    let mut shot = take(order)?;
    let (taken, began) = ((shot.picture.width(), shot.picture.height()), Instant::now());
    let (width, height) = fitting(taken.0, taken.1, order.max_size.0, order.max_size.1);
    let mut encoder = VideoEncoder::new(width, height).ok_or(RecordingError::TooLarge(width, height))?;
    let mut file = Mp4Writer::new(out, encoder.size(), encoder.parameters())?;
    let mut recording = Recording {
        display: shot.display.clone(),
        window: shot.window.as_ref().map(|window| window.id.clone()),
        area: shot.area,
        size: encoder.size(),
        frames: 0,
        duration_ms: 0,
        blacked_out: 0,
        began_at_ms: shot.taken_at_ms,
        end: RecordingEnd::Time,
    };
    let (mut last_key, [mut quantizer, coarsest]) = (began, QUANTIZERS);
    let finest = quantizer;
    recording.end = loop {
        let shown_at = Instant::now();
        recording.blacked_out = recording.blacked_out.max(shot.blacked_out);
        let picture = scale(on_canvas(shot.picture, taken), width, height);
        let is_key = recording.frames == 0 || shown_at.duration_since(last_key) >= KEY_SPAN;
        if let Some(unit) = encoder.encode(&picture, quantizer, is_key) {
            if file.bytes() + unit.len() as u64 > order.max_bytes {
                if recording.frames == 0 {
                    return Err(RecordingError::TooLarge(width, height));
                }
                break RecordingEnd::SizeLimit;
            }
            // The first is shown from the beginning on.
            let at_ms = if recording.frames == 0 { 0 } else { millis(shown_at.duration_since(began)) };
            file.write(&unit, is_key, at_ms)?;
            recording.frames += 1;
            order.progress.say(match recording.frames {
                1 => "1 picture".to_owned(),
                count => format!("{count} pictures"),
            });
            if is_key {
                last_key = shown_at;
            }
        }
        let most = BYTES_A_SECOND * (2 + shown_at.duration_since(began).as_secs());
        quantizer = if file.bytes() > most { quantizer + 2 } else { quantizer.saturating_sub(1) };
        quantizer = quantizer.clamp(finest, coarsest);
        if let Some(end) = rest(order, &mut watch, shown_at, began + order.duration) {
            break end;
        }
        match take(order) {
            Ok(next) => shot = next,
            Err(error) => break end_of(&error),
        }
    };
    let longest = millis(order.duration);
    recording.duration_ms = millis(began.elapsed()).clamp(1, longest.max(1));
    if recording.end == RecordingEnd::Time && !order.cancel.is_raised() {
        recording.duration_ms = longest;
    }
    let out = file.finish(recording.duration_ms)?;
    Ok((recording, out))
}

fn take(order: &RecordingOrder) -> Result<Screenshot, ScreenshotError> {
    let rules = order.scope.screen();
    match &order.target {
        RecordingTarget::Display(id) => of_display(&order.displays, rules, id, order.region),
        RecordingTarget::Window(id) => of_window(&order.displays, rules, id, order.region),
    }
}

/// Waits until the next picture is to be taken. Returns why there is none.
fn rest(
    order: &RecordingOrder,
    watch: &mut ChangeWatch,
    shown_at: Instant,
    until: Instant,
) -> Option<RecordingEnd> {
    loop {
        match order.cancel.check() {
            Ok(()) => {}
            Err(failure) if failure.code == ErrorCode::Cancelled => return Some(RecordingEnd::Cancelled),
            Err(_) => return Some(RecordingEnd::Time),
        }
        let now = Instant::now();
        let left = until.saturating_duration_since(now).min(NOTICE);
        if left.is_zero() {
            return Some(RecordingEnd::Time);
        }
        let early = (shown_at + order.pause).saturating_duration_since(now);
        if !early.is_zero() {
            std::thread::sleep(early.min(left));
            continue;
        }
        match watch.wait(left) {
            Ok(true) => return None,
            Ok(false) if now.duration_since(shown_at) >= LONGEST_REST => return None,
            Ok(false) => {}
            Err(_) => return Some(RecordingEnd::DisplayGone),
        }
    }
}

fn end_of(error: &ScreenshotError) -> RecordingEnd {
    match error {
        ScreenshotError::Withheld(_) => RecordingEnd::WindowWithheld,
        ScreenshotError::Screen(ScreenError::UnknownWindow(_)) => RecordingEnd::WindowClosed,
        ScreenshotError::Screen(ScreenError::Minimised(_) | ScreenError::Hidden(_)) => {
            RecordingEnd::WindowHidden
        }
        ScreenshotError::Screen(ScreenError::Outside { .. }) => RecordingEnd::RegionOutside,
        ScreenshotError::Screen(_) => RecordingEnd::DisplayGone,
    }
}

/// Returns a picture in the size of the first one: black beyond its edges, and cut off at those of the first.
fn on_canvas(picture: Picture, (width, height): (u32, u32)) -> Picture {
    if (picture.width(), picture.height()) == (width, height) {
        return picture;
    }
    let side = |length: u32| usize::try_from(length).unwrap_or(usize::MAX);
    let mut rgb = vec![0; side(width).saturating_mul(side(height)).saturating_mul(3)];
    let row_bytes = side(width.min(picture.width())) * 3;
    let rows =
        rgb.chunks_exact_mut(side(width) * 3).zip(picture.rgb().chunks_exact(side(picture.width()) * 3));
    for (out, row) in rows {
        out[..row_bytes].copy_from_slice(&row[..row_bytes]);
    }
    Picture::new(width, height, rgb).unwrap_or(picture)
}

fn millis(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_of_another_size_is_cut_off_or_has_black_edges() {
        let white = |width, height| {
            let bytes = usize::try_from(width * height * 3).expect("small");
            Picture::new(width, height, vec![255; bytes]).expect("sizes agree")
        };
        let small = on_canvas(white(2, 3), (4, 2));
        assert_eq!((small.width(), small.height()), (4, 2));
        assert_eq!([small.pixel(1, 1), small.pixel(2, 1)], [Some([255; 3]), Some([0; 3])]);
        let large = on_canvas(white(9, 9), (4, 2));
        assert_eq!((large.width(), large.height(), large.pixel(3, 1)), (4, 2, Some([255; 3])));
    }
}
