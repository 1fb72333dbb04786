//! Keys of macOS by their codes, which mean places on a keyboard.
//!
//! # Source
//! `Events.h` of HIToolbox (`kVK_…`), and `CGEventTypes.h` for the modifiers of events.

use crate::screen::KeySymbol;

/// The codes of keys are less than this.
pub(in crate::screen) const CODES: u16 = 128;
/// The code of Shift.
pub(in crate::screen) const SHIFT: u16 = 0x38;

/// Keys that are no characters, by their X11 symbols.
const NAMED: &[(u32, u16)] = &[
    (0xff0d, 0x24),
    (0xff09, 0x30),
    (0x20, 0x31),
    (0xff08, 0x33),
    (0xffff, 0x75),
    (0xff1b, 0x35),
    (0xff52, 0x7e),
    (0xff54, 0x7d),
    (0xff51, 0x7b),
    (0xff53, 0x7c),
    (0xff50, 0x73),
    (0xff57, 0x77),
    (0xff55, 0x74),
    (0xff56, 0x79),
    (0xffbe, 0x7a),
    (0xffbf, 0x78),
    (0xffc0, 0x63),
    (0xffc1, 0x76),
    (0xffc2, 0x60),
    (0xffc3, 0x61),
    (0xffc4, 0x62),
    (0xffc5, 0x64),
    (0xffc6, 0x65),
    (0xffc7, 0x6d),
    (0xffc8, 0x67),
    (0xffc9, 0x6f),
];

/// Modifiers, by their X11 symbols: the code, and what it adds to events.
const MODIFIERS: &[(u32, u16, u64)] = &[
    (0xffe1, SHIFT, 1 << 17),
    (0xffe3, 0x3b, 1 << 18),
    (0xffe9, 0x3a, 1 << 19),
    // The right Option, by which keyboards here have what AltGr has elsewhere.
    (0xfe03, 0x3d, 1 << 19),
    (0xffeb, 0x37, 1 << 20),
];

/// What the arrows and the keys above them add to events: that they are keys of functions.
const FUNCTION: u64 = 1 << 23;
/// What the arrows add beside that.
const PAD: u64 = 1 << 21;

/// How a symbol is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::screen) struct KeyStroke {
    /// The code of the key.
    pub code: u16,
    /// Whether with Shift.
    pub is_shifted: bool,
}

/// Finds how a symbol is made, by what the keys of the keyboard make with Shift and without it.
pub(in crate::screen) fn stroke(
    symbol: KeySymbol,
    character: impl Fn(u16, bool) -> Option<char>,
) -> Option<KeyStroke> {
    let KeySymbol(number) = symbol;
    let modifier = MODIFIERS.iter().find(|it| it.0 == number).map(|it| it.1);
    if let Some(code) = modifier.or_else(|| Some(NAMED.iter().find(|it| it.0 == number)?.1)) {
        return Some(KeyStroke { code, is_shifted: false });
    }
    let wanted = match number {
        0x21..=0x7e | 0xa0..=0xff => char::from_u32(number)?,
        0x0100_0100..=0x0110_ffff => char::from_u32(number - 0x0100_0000)?,
        _ => return None,
    };
    let mut all =
        [false, true].into_iter().flat_map(|is_shifted| (0..CODES).map(move |code| (code, is_shifted)));
    let (code, is_shifted) = all.find(|(code, is_shifted)| character(*code, *is_shifted) == Some(wanted))?;
    Some(KeyStroke { code, is_shifted })
}

/// Returns what an event of a key says of modifiers while these keys are down.
pub(in crate::screen) fn flags(code: u16, down: impl Iterator<Item = u16>) -> u64 {
    let modifiers =
        down.filter_map(|code| MODIFIERS.iter().find(|it| it.1 == code)).fold(0, |all, it| all | it.2);
    modifiers
        | match code {
            0x7b..=0x7e => FUNCTION | PAD,
            0x60..=0x7a => FUNCTION,
            _ => 0,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A keyboard on which Y and Z have changed places.
    fn german(code: u16, is_shifted: bool) -> Option<char> {
        let character = match code {
            0x06 => 'y',
            0x10 => 'z',
            0x1d => return Some(if is_shifted { '=' } else { '0' }),
            _ => return None,
        };
        Some(if is_shifted { character.to_ascii_uppercase() } else { character })
    }

    #[test]
    fn a_character_is_the_key_that_makes_it_on_this_keyboard() {
        let of = |character| stroke(KeySymbol::of(character), german);
        assert_eq!(of('z'), Some(KeyStroke { code: 0x10, is_shifted: false }));
        assert_eq!(of('Y'), Some(KeyStroke { code: 0x06, is_shifted: true }));
        assert_eq!(of('='), Some(KeyStroke { code: 0x1d, is_shifted: true }));
        assert_eq!((of('q'), of('世')), (None, None));
        assert_eq!(of('\n').map(|it| it.code), Some(0x24));
    }

    #[test]
    fn events_say_which_modifiers_are_down_and_which_keys_are_of_functions() {
        let code = |symbol| stroke(KeySymbol(symbol), german).expect("a key").code;
        assert_eq!(flags(0x10, [code(0xffeb), code(0xffe1), 0x10].into_iter()), 1 << 20 | 1 << 17);
        assert_eq!(flags(code(0xff52), std::iter::empty()), FUNCTION | PAD);
        assert_eq!(flags(code(0xffbe), std::iter::empty()), FUNCTION);
        assert_eq!(flags(code(0xff0d), std::iter::empty()), 0);
    }
}
