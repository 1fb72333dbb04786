//! What would get input: the window at a point as Windows itself finds it, and what has the keyboard.

use std::collections::BTreeSet;

use super::super::control::is_same;
use super::super::system;
use super::super::window::SystemWindow;
use super::sending::{Foreground, windows_around, windows_at};
use crate::screen::plain::plain;
use crate::screen::{InnerProcess, Point, Receiver};

/// What gets input, by the numbers of windows: what it is in the end, and each of those that it is in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Target {
    /// The window of the desktop; 0 where there is none.
    top: u64,
    /// The processes of all of them.
    pids: BTreeSet<u32>,
}

impl Target {
    /// Returns what is at a pixel of all displays.
    pub(super) fn at(point: Point) -> Self {
        Self::of(&windows_at(point))
    }

    /// Returns what has the keyboard.
    pub(super) fn of_keyboard(foreground: Foreground) -> Self {
        let window = if foreground.focus == 0 { foreground.window } else { foreground.focus };
        Self::of(&if window == 0 { Vec::new() } else { windows_around(window) })
    }

    fn of(chain: &[u64]) -> Self {
        let pids = chain.iter().filter_map(|window| system::process_of_window(*window)).collect();
        Self { top: chain.last().copied().unwrap_or(0), pids }
    }

    /// Describes it by the windows of the list. One whose program is not known is none that anybody knows.
    pub(super) fn receiver(&self, windows: &[SystemWindow]) -> Receiver {
        if self.top == 0 {
            return Receiver { is_desktop: true, ..Receiver::default() };
        }
        let at = windows.iter().position(|window| window.number == self.top && window.process.is_some());
        let told = at.map(|at| &windows[at]);
        let own = [told.and_then(|told| told.pid), system::process_of_window(self.top)];
        let others = self.pids.iter().filter(|pid| !own.contains(&Some(**pid)));
        let inner = others.map(|pid| InnerProcess {
            pid: Some(*pid),
            name: system::program(*pid).map(|name| plain(&name)),
            app: None,
        });
        Receiver { window: at, is_desktop: false, inner: inner.collect() }
    }

    /// Returns its processes.
    pub(super) const fn pids(&self) -> &BTreeSet<u32> {
        &self.pids
    }

    /// Returns whether its window is the one that was judged still, by all that a judge goes by.
    pub(super) fn is_as_judged(&self, windows: &[SystemWindow]) -> bool {
        let judged = windows.iter().find(|window| window.number == self.top);
        self.top == 0
            || judged.is_some_and(|judged| system::window(self.top).is_some_and(|now| is_same(&now, judged)))
    }
}
