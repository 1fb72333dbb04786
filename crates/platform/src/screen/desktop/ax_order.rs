//! Changes of windows on macOS, by the accessibility of their programs. None of it has been run.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::control::Order;
use super::window::SystemWindow;
use crate::accessibility::{AccessibilityError, AxWindow};
use crate::screen::Rect;

/// Of so many windows is known where they were before they filled their displays.
const MOST_EARLIER: usize = 256;

/// Where windows were before they filled their displays, by number and process: macOS does not say it.
static EARLIER: Mutex<BTreeMap<(u64, Option<u32>), Rect>> = Mutex::new(BTreeMap::new());

/// Returns whether a window is minimised, as its program says; not where it says nothing.
pub(super) fn is_minimised(told: &SystemWindow, all: &[SystemWindow]) -> bool {
    AxWindow::find(&told.id(), told, all).is_ok_and(|window| window.is_minimised() == Ok(true))
}

/// Has something done to a window that was told, among all.
pub(super) fn order(told: &SystemWindow, all: &[SystemWindow], order: Order) -> Result<(), String> {
    let window = AxWindow::find(&told.id(), told, all).map_err(|error| match error {
        AccessibilityError::NotAllowed { setting } => format!("{error}: {setting}"),
        error => error.to_string(),
    })?;
    let key = (told.number, told.pid);
    let mut earlier = EARLIER.lock().unwrap_or_else(PoisonError::into_inner);
    let done = match order {
        Order::Focus { is_minimised: true } => window.set_minimised(false).and_then(|()| window.focus()),
        Order::Focus { is_minimised: false } => window.focus(),
        Order::Minimise => window.set_minimised(true),
        Order::Maximise { .. } if told.maximised => Ok(()),
        Order::Maximise { display } => window.put(display).map(|()| {
            if earlier.len() >= MOST_EARLIER {
                earlier.pop_first();
            }
            earlier.insert(key, told.bounds);
        }),
        Order::Restore => match window.is_minimised() {
            Ok(true) => window.set_minimised(false).and_then(|()| window.focus()),
            Ok(false) => match window.leave_full_screen() {
                Ok(false) => {
                    let place = earlier.remove(&key).ok_or(
                        "macOS does not say how large it was before; set its bounds with window.set_bounds",
                    )?;
                    window.put(place)
                }
                left => left.map(|_| ()),
            },
            Err(error) => Err(error),
        },
        Order::Close => window.close(),
        Order::Place { place, is_maximised } => {
            if is_maximised {
                earlier.remove(&key);
            }
            window.put(place)
        }
    };
    done.map_err(|error| error.to_string())
}
