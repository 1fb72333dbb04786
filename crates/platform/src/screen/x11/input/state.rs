//! What a connection has done to keyboard and pointer and has to take back.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use x11rb::protocol::sync::Counter;
use x11rb::protocol::xproto::Window as WindowNumber;

use super::guard::Guard;
use crate::screen::KeySymbol;

/// A key code gets another meaning only when it was not used for so long: clients read the keys that there are when they deal
/// with an event, and may do that late.
pub(super) const SETTLED: Duration = Duration::from_millis(250);
/// Key codes that were given a meaning lose it when nothing was typed for so long.
const KEPT: Duration = Duration::from_secs(2);

/// Something that is down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::screen::x11) enum Pressed {
    /// A key, by its code.
    Key(u8),
    /// A button.
    Button(u8),
}

/// A meaning that a key code was given, without Shift and with it.
#[derive(Debug, Clone)]
pub(in crate::screen::x11) struct Binding {
    pub symbols: [Option<KeySymbol>; 2],
    pub used: Instant,
}

/// What a connection knows and has to take back.
#[derive(Debug, Default)]
pub(in crate::screen::x11) struct InputState {
    /// What releases it all where this process cannot.
    pub guard: Option<Guard>,
    /// What is down.
    pub pressed: Vec<Pressed>,
    /// The keys whose repeating was turned off.
    pub quiet: Vec<u8>,
    /// The key codes that were given a meaning.
    pub bound: BTreeMap<u8, Binding>,
    /// A window that is never shown, by which is found out who has pointer and keyboard.
    pub hidden: Option<WindowNumber>,
    /// The clocks of the server: its time, and since when nobody has used pointer and keyboard.
    pub counters: Option<(Counter, Counter)>,
    /// When this was last the one that used them, by the server's clock.
    pub last_ms: Option<i64>,
}

impl InputState {
    /// Returns whether it has a button of the pointer down.
    pub(super) fn holds_button(&self) -> bool {
        self.pressed.iter().any(|it| matches!(it, Pressed::Button(_)))
    }

    /// Returns when key codes lose their meaning again, if there are any.
    pub(in crate::screen::x11) fn due_in(&self) -> Option<Duration> {
        let last = self.bound.values().map(|it| it.used).max()?;
        Some(KEPT.saturating_sub(last.elapsed()))
    }
}
