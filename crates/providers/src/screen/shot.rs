//! Pictures as a scope may see them: what its rules close is black before anybody else has a pixel.
//!
//! The only place that captures: `tests/it/architecture.rs` holds it to that.

use bailiwick_platform::screen::{Content, Cover, Displays, Frame, Rect, ScreenError, Window};
use bailiwick_policy::{ScreenRules, WindowFacts};

use super::{Picture, black_out};

/// A picture without what may not be seen.
#[derive(Debug)]
pub struct Screenshot {
    /// The picture.
    pub picture: Picture,
    /// The id of the display.
    pub display: String,
    /// The part of the display that it shows.
    pub area: Rect,
    /// The window that it shows, as it was then, if it is one's picture.
    pub window: Option<Window>,
    /// Whether it shows what is on the display, or the window itself.
    pub content: Content,
    /// Which windows lay before the window, but for those that may not be known.
    pub covered_by: Vec<Cover>,
    /// How much of the window others cover.
    pub covered: Coverage,
    /// How many windows were made black.
    pub blacked_out: u32,
    /// When it was taken, in milliseconds since the epoch.
    pub taken_at_ms: i64,
}

/// How much of a window others cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// Nothing of it.
    Not,
    /// A part of it.
    Partly,
    /// All of it.
    Wholly,
}

/// Why there is no picture.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScreenshotError {
    /// The display gave none.
    #[error(transparent)]
    Screen(#[from] ScreenError),
    /// The rules close the window.
    #[error("the window `{0}` is not shown")]
    Withheld(String),
}

/// Takes a picture of a display or a part of it; windows that the rules close are black in it.
///
/// # Errors
/// [`ScreenshotError::Screen`].
pub fn of_display(
    displays: &Displays,
    rules: &ScreenRules,
    id: &str,
    region: Option<Rect>,
) -> Result<Screenshot, ScreenshotError> {
    let frame = match rules.shows_every_window() {
        true => displays.capture_display_unjudged(id, region)?,
        false => displays.capture_display(id, region)?,
    };
    let withheld = withheld(rules, &frame.windows);
    finish(frame, &withheld, None)
}

/// Takes a picture of a window or a part of it, unless the rules close it at that instant.
///
/// # Errors
/// See [`ScreenshotError`].
pub fn of_window(
    displays: &Displays,
    rules: &ScreenRules,
    id: &str,
    region: Option<Rect>,
) -> Result<Screenshot, ScreenshotError> {
    let frame = displays.capture_window(id, region)?;
    let withheld = withheld(rules, &frame.windows);
    // A window that is not among those of the instant cannot be judged.
    let place = frame.windows.iter().position(|window| window.id == id);
    let place = place.ok_or_else(|| ScreenError::UnknownWindow(id.to_owned()))?;
    if withheld[place] {
        return Err(ScreenshotError::Withheld(id.to_owned()));
    }
    let window = frame.windows[place].clone();
    finish(frame, &withheld, Some(window))
}

/// Judges windows: for each whether it must not be shown.
pub fn withheld(rules: &ScreenRules, windows: &[Window]) -> Vec<bool> {
    let facts: Vec<WindowFacts<'_>> = windows
        .iter()
        .map(|window| WindowFacts {
            id: &window.id,
            title: &window.title,
            apps: [window.app.as_str(), &window.instance]
                .into_iter()
                .chain(window.process.as_deref())
                .collect(),
            pid: window.pid,
            owner: window.owner.as_deref(),
            unmanaged: window.unmanaged,
        })
        .collect();
    rules.withheld(&facts)
}

fn finish(frame: Frame, withheld: &[bool], window: Option<Window>) -> Result<Screenshot, ScreenshotError> {
    let area = frame.bounds();
    let hidden = || {
        let all = frame.windows.iter().zip(withheld);
        all.filter(|(_, withheld)| **withheld).map(|(window, _)| window)
    };
    let mut picture = Picture::of(&frame)?;
    let mut blacked_out = 0;
    // A picture of the window itself shows nothing else, whatever covers it.
    if frame.content == Content::Display {
        for other in hidden().filter(|other| other.mapped) {
            let parts: Vec<Rect> = [other.frame, other.bounds]
                .iter()
                .filter_map(|part| part.intersection(&area))
                .map(|part| part.moved(area.x.saturating_neg(), area.y.saturating_neg()))
                .collect();
            black_out(&mut picture, &parts);
            blacked_out += u32::from(!parts.is_empty());
        }
    }
    let covered = window.as_ref().map_or(Coverage::Not, |window| covered(window, &frame.covered_by));
    let covered_by = frame.covered_by.iter().filter(|cover| hidden().all(|window| window.id != cover.window));
    Ok(Screenshot {
        picture,
        area,
        content: frame.content,
        covered_by: covered_by.cloned().collect(),
        covered,
        blacked_out,
        taken_at_ms: frame.taken_at_ms,
        window,
        display: frame.display,
    })
}

fn covered(window: &Window, covers: &[Cover]) -> Coverage {
    if covers.is_empty() {
        return Coverage::Not;
    }
    let left = covers.iter().fold(vec![window.bounds], |left, cover| {
        left.iter().flat_map(|part| part.without(&cover.part)).collect()
    });
    if left.is_empty() { Coverage::Wholly } else { Coverage::Partly }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_windows_together_can_cover_one_wholly() {
        let window = Window::new(":0/0x1", ":0", Rect::new(10, 10, 20, 20));
        let cover =
            |x, y, width, height| Cover { window: "w".to_owned(), part: Rect::new(x, y, width, height) };
        assert_eq!(covered(&window, &[]), Coverage::Not);
        assert_eq!(covered(&window, &[cover(10, 10, 20, 10)]), Coverage::Partly);
        assert_eq!(covered(&window, &[cover(10, 10, 20, 10), cover(10, 20, 20, 10)]), Coverage::Wholly);
    }
}
