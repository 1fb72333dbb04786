//! Whether a window fills its display.

use crate::screen::Rect;

/// The menu bar is at most so high, also beside a camera housing, in the units of the system.
const MENU_BAR: i32 = 50;

/// Returns whether a window fills its display: from side to side, and from its upper edge or the menu bar to its lower one. One that
/// ends above the Dock does not.
pub(in crate::screen) fn fills(window: Rect, display: Rect) -> bool {
    let end = |at: i32, length: u32| i64::from(at) + i64::from(length);
    window.x == display.x
        && window.width == display.width
        && (display.y..=display.y.saturating_add(MENU_BAR)).contains(&window.y)
        && end(window.y, window.height) >= end(display.y, display.height)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_fills_its_display_beneath_the_menu_bar_and_no_other() {
        let display = Rect::new(-1440, 100, 1440, 900);
        assert!(fills(display, display));
        assert!(fills(Rect::new(-1440, 125, 1440, 875), display));
        // As it is where a program keeps the height that was asked for.
        assert!(fills(Rect::new(-1440, 125, 1440, 900), display));
        for other in [
            Rect::new(-1440, 125, 1440, 800),
            Rect::new(-1440, 175, 1440, 825),
            Rect::new(-1440, 125, 1439, 875),
            Rect::new(-1439, 125, 1440, 875),
            Rect::new(0, 100, 1440, 900),
        ] {
            assert!(!fills(other, display), "{other}");
        }
    }
}
