//! Which key makes which character, and key codes without a meaning, which are given one.
//!
//! Only key codes that have no meaning at all are taken, and a meaning is added and never replaced while it may still be needed:
//! a program that reads its events late would see another character. They are given back when nothing was typed for a while.

use std::collections::BTreeSet;
use std::time::Instant;

use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{ConnectionExt as _, GetKeyboardMappingReply};

use super::super::error::ServerError;
use super::super::server::Server;
use super::guard::Record;
use super::state::{Binding, SETTLED};
use crate::screen::KeySymbol;

/// `Shift_L`.
const SHIFT: KeySymbol = KeySymbol(0xffe1);

/// A key that makes a symbol, and whether with Shift.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stroke {
    pub code: u8,
    pub is_shifted: bool,
}

/// The keys as they are.
#[derive(Debug)]
pub(super) struct Keymap {
    first: u8,
    width: usize,
    symbols: Vec<u32>,
    /// The columns of the layout that is in use.
    columns: [usize; 2],
    modifiers: BTreeSet<u8>,
    /// The key that shifts.
    pub shift: Option<u8>,
}

impl Keymap {
    /// Reads the keys, for a layout that is in use.
    pub(super) fn read(server: &Server, group: u8) -> Result<Self, ServerError> {
        let setup = server.connection.setup();
        let (first, last) = (setup.min_keycode, setup.max_keycode);
        let count = last.saturating_sub(first).saturating_add(1);
        let mapping = server.connection.get_keyboard_mapping(first, count)?;
        let modifiers = server.connection.get_modifier_mapping()?;
        let GetKeyboardMappingReply { keysyms_per_keycode, keysyms, .. } = mapping.reply()?;
        let modifiers = modifiers.reply()?.keycodes;
        let mut keymap = Self {
            first,
            width: usize::from(keysyms_per_keycode).max(1),
            symbols: keysyms,
            columns: [2 * usize::from(group), 2 * usize::from(group) + 1],
            modifiers: modifiers.iter().copied().filter(|code| *code != 0).collect(),
            shift: None,
        };
        keymap.shift = keymap.find(SHIFT).map(|stroke| stroke.code);
        Ok(keymap)
    }

    fn rows(&self) -> impl Iterator<Item = (u8, &[u32])> {
        (self.first..=u8::MAX).zip(self.symbols.chunks(self.width))
    }

    /// Finds the key that makes a symbol in the layout that is in use.
    pub(super) fn find(&self, wanted: KeySymbol) -> Option<Stroke> {
        let at = |column: usize| {
            let mut rows = self.rows();
            let found = rows.find(|(_, row)| row.get(self.columns[column]) == Some(&wanted.0));
            found.map(|(code, _)| Stroke { code, is_shifted: column == 1 })
        };
        at(0).or_else(|| at(1))
    }

    /// Lists key codes without any meaning.
    fn spare(&self) -> Vec<u8> {
        let is_spare = |(code, row): &(u8, &[u32])| {
            row.iter().all(|symbol| *symbol == 0) && !self.modifiers.contains(code)
        };
        self.rows().filter(is_spare).map(|(code, _)| code).collect()
    }

    /// Sets what a key code means here.
    fn note(&mut self, code: u8, symbols: [u32; 2]) {
        let start = usize::from(code.saturating_sub(self.first)) * self.width;
        if let Some(row) = self.symbols.get_mut(start..start + self.width) {
            for (at, symbol) in row.iter_mut().enumerate() {
                *symbol = symbols[at % 2];
            }
        }
    }
}

/// Gives key codes the meanings that symbols need, as many of them as there is room for, in their order.
pub(super) fn bind(
    server: &mut Server,
    keymap: &mut Keymap,
    wanted: &[KeySymbol],
) -> Result<(), ServerError> {
    let mut spare = keymap.spare().into_iter();
    let mut changed = BTreeSet::new();
    let can_shift = keymap.shift.is_some();
    let mut seen = BTreeSet::new();
    for symbol in wanted {
        if !seen.insert(*symbol) {
            continue;
        }
        let known = server.input.bound.values().any(|it| it.symbols.contains(&Some(*symbol)));
        if known || keymap.find(*symbol).is_some() {
            continue;
        }
        let bound = &mut server.input.bound;
        let half = bound.iter_mut().find(|(_, it)| can_shift && it.symbols[1].is_none());
        if let Some((code, binding)) = half {
            binding.symbols[1] = Some(*symbol);
            changed.insert(*code);
        } else if let Some(code) = spare.next() {
            bound.insert(code, Binding { symbols: [Some(*symbol), None], used: Instant::now() });
            changed.insert(code);
        } else {
            let settled = |it: &Binding| it.used.elapsed() >= SETTLED;
            let old = bound.iter_mut().find(|(code, it)| !changed.contains(*code) && settled(it));
            let Some((code, binding)) = old else { break };
            *binding = Binding { symbols: [Some(*symbol), None], used: Instant::now() };
            changed.insert(*code);
        }
    }
    let codes: Vec<u8> = changed.into_iter().collect();
    if let Some(guard) = &mut server.input.guard {
        guard.note(&codes.iter().map(|code| Record::Bound(*code)).collect::<Vec<_>>())?;
    }
    for run in runs(&codes) {
        let symbols: Vec<u32> = run
            .iter()
            .flat_map(|code| {
                let [plain, shifted] = server.input.bound[code].symbols;
                let plain = plain.map_or(0, |it| it.0);
                let pair = [plain, shifted.map_or(plain, |it| it.0)];
                keymap.note(*code, pair);
                pair
            })
            .collect();
        change(server, run[0], run.len(), 2, &symbols)?;
    }
    Ok(())
}

/// Finds the key of a symbol, also one that was given that meaning.
pub(super) fn stroke(server: &mut Server, keymap: &Keymap, symbol: KeySymbol) -> Option<Stroke> {
    let bound = server.input.bound.iter_mut().find_map(|(code, binding)| {
        let place = binding.symbols.iter().position(|it| *it == Some(symbol))?;
        binding.used = Instant::now();
        Some(Stroke { code: *code, is_shifted: place == 1 })
    });
    bound.or_else(|| keymap.find(symbol))
}

/// Takes the meanings away again.
pub(super) fn unbind(server: &mut Server, codes: &[u8]) -> Result<(), ServerError> {
    let mut codes = codes.to_vec();
    codes.sort_unstable();
    for run in runs(&codes) {
        change(server, run[0], run.len(), 1, &vec![0; run.len()])?;
    }
    Ok(())
}

fn change(server: &Server, first: u8, count: usize, width: u8, symbols: &[u32]) -> Result<(), ServerError> {
    let count = u8::try_from(count).unwrap_or(u8::MAX);
    server.connection.change_keyboard_mapping(count, first, width, symbols)?;
    Ok(())
}

/// Divides sorted key codes into those that follow one another.
fn runs(codes: &[u8]) -> Vec<&[u8]> {
    codes.chunk_by(|one, next| one.checked_add(1) == Some(*next)).collect()
}
