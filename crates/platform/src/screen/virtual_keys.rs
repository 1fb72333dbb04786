//! Keys, buttons and places as Windows counts them. Mathematics only.
//!
//! # Source
//!
//! "Virtual-Key Codes", "Keyboard Input Overview" (extended keys) and `MOUSEINPUT` of Microsoft's documentation.

use super::KeySymbol;

/// The numbers of keys that are asked for by name.
pub(super) mod vk {
    pub(in crate::screen) const TAB: u16 = 0x09;
    pub(in crate::screen) const RETURN: u16 = 0x0d;
    pub(in crate::screen) const SHIFT: u16 = 0x10;
    pub(in crate::screen) const CONTROL: u16 = 0x11;
    pub(in crate::screen) const MENU: u16 = 0x12;
    pub(in crate::screen) const ESCAPE: u16 = 0x1b;
    pub(in crate::screen) const SPACE: u16 = 0x20;
    pub(in crate::screen) const SNAPSHOT: u16 = 0x2c;
    pub(in crate::screen) const DELETE: u16 = 0x2e;
    pub(in crate::screen) const LEFT_WINDOWS: u16 = 0x5b;
    pub(in crate::screen) const RIGHT_WINDOWS: u16 = 0x5c;
    pub(in crate::screen) const RIGHT_MENU: u16 = 0xa5;
}

/// Keys without a character: by their symbol, with their number here, and whether they came with later keyboards.
const NAMED: &[(u32, u16, bool)] = &[
    (0xff08, 0x08, false),
    (0xff09, vk::TAB, false),
    (0xff0d, vk::RETURN, false),
    (0xff13, 0x13, false),
    (0xff1b, vk::ESCAPE, false),
    (0xff50, 0x24, true),
    (0xff51, 0x25, true),
    (0xff52, 0x26, true),
    (0xff53, 0x27, true),
    (0xff54, 0x28, true),
    (0xff55, 0x21, true),
    (0xff56, 0x22, true),
    (0xff57, 0x23, true),
    (0xff61, vk::SNAPSHOT, true),
    (0xff63, 0x2d, true),
    (0xff67, 0x5d, true),
    (0xffff, vk::DELETE, true),
    (0xffe1, vk::SHIFT, false),
    (0xffe3, vk::CONTROL, false),
    (0xffe9, vk::MENU, false),
    (0xffeb, vk::LEFT_WINDOWS, true),
    (0xfe03, vk::RIGHT_MENU, true),
    (0x20, vk::SPACE, false),
];

/// `F1`; the others follow.
const F1: u32 = 0xffbe;
const F1_NUMBER: u16 = 0x70;

/// A key by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct VirtualKey {
    pub number: u16,
    /// Whether it came with later keyboards, beside one that has its number.
    pub is_extended: bool,
}

/// Returns the key of a symbol that is not a character's.
pub(super) fn named_key(symbol: KeySymbol) -> Option<VirtualKey> {
    let named = NAMED.iter().find(|(known, ..)| *known == symbol.0);
    let named =
        named.map(|(_, number, is_extended)| VirtualKey { number: *number, is_extended: *is_extended });
    let function = symbol.0.checked_sub(F1).and_then(|at| u16::try_from(at).ok()).filter(|at| *at < 12);
    named.or_else(|| function.map(|at| VirtualKey { number: F1_NUMBER + at, is_extended: false }))
}

/// Returns the character of a symbol, if it is one's.
pub(super) fn character(symbol: KeySymbol) -> Option<char> {
    match symbol.0 {
        0x20..=0x7e | 0xa0..=0xff => char::from_u32(symbol.0),
        0x0100_0100..=0x0110_ffff => char::from_u32(symbol.0 - 0x0100_0000),
        _ => None,
    }
}

/// Returns the key that has a letter or digit on it, whatever the layout says: shortcuts go by these.
pub(super) fn shortcut_key(character: char) -> Option<u16> {
    character.is_ascii_alphanumeric().then_some(character.to_ascii_uppercase() as u16)
}

/// Returns why Windows itself takes a key, while others are down: what it does then is done in no window that was judged.
pub(super) fn taken_by_system(down: &[u16], key: u16) -> Option<&'static str> {
    let is_down = |wanted: u16| down.contains(&wanted) || key == wanted;
    let all = |keys: &[u16]| keys.iter().all(|it| is_down(*it));
    if [vk::LEFT_WINDOWS, vk::RIGHT_WINDOWS].into_iter().any(is_down) {
        return Some("the key `super` is the system's own: it opens its menus and starts programs");
    }
    if is_down(vk::SNAPSHOT) {
        return Some("the key `print` is the system's own: it takes a picture of the screen");
    }
    let has_menu = is_down(vk::MENU) || is_down(vk::RIGHT_MENU);
    if has_menu && (is_down(vk::TAB) || is_down(vk::ESCAPE)) {
        return Some(
            "with `alt` the keys `tab` and `escape` are the system's own: they lead to another window",
        );
    }
    if all(&[vk::CONTROL, vk::ESCAPE]) {
        return Some(
            "`ctrl+escape` is the system's own: it opens the start menu, and with `shift` the task manager",
        );
    }
    if has_menu && all(&[vk::CONTROL, vk::DELETE]) {
        return Some("`ctrl+alt+delete` is the system's own");
    }
    None
}

/// Returns the place of a pixel among 65,536 parts of all displays, so that it leads back to this pixel.
pub(super) fn part_of_all(pixel: i32, first: i32, length: u32) -> i32 {
    let at = (i64::from(pixel) - i64::from(first)).max(0);
    let length = i64::from(length.max(1));
    i32::try_from((at * 65_536 + length - 1) / length).unwrap_or(i32::MAX).min(65_535)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_that_have_the_symbol() {
        let of = |symbol| named_key(KeySymbol(symbol)).map(|it| (it.number, it.is_extended));
        assert_eq!(of(0xff0d), Some((vk::RETURN, false)));
        assert_eq!(of(0xff51), Some((0x25, true)));
        assert_eq!((of(F1), of(F1 + 11), of(F1 + 12)), (Some((0x70, false)), Some((0x7b, false)), None));
        assert_eq!(of(0x61), None);
        for letter in ['a', 'é', 'ж', '界', '😀'] {
            assert_eq!(character(KeySymbol::of(letter)), Some(letter));
        }
        assert_eq!(character(KeySymbol(0xff0d)), None);
        assert_eq!((shortcut_key('c'), shortcut_key('7'), shortcut_key('ж')), (Some(0x43), Some(0x37), None));
    }

    #[test]
    fn keys_that_the_system_takes_are_known_in_any_order_and_others_are_not() {
        for (down, key) in [
            (&[][..], vk::LEFT_WINDOWS),
            (&[vk::LEFT_WINDOWS], 0x52),
            (&[vk::MENU], vk::TAB),
            (&[vk::TAB], vk::MENU),
            (&[vk::MENU, vk::SHIFT], vk::ESCAPE),
            (&[vk::RIGHT_MENU], vk::TAB),
            (&[vk::CONTROL], vk::ESCAPE),
            (&[vk::CONTROL, vk::SHIFT], vk::ESCAPE),
            (&[vk::CONTROL, vk::MENU], vk::DELETE),
            (&[], vk::SNAPSHOT),
        ] {
            assert!(taken_by_system(down, key).is_some(), "{down:x?} {key:x}");
        }
        for (down, key) in [
            (&[vk::CONTROL][..], 0x43),
            (&[vk::MENU], 0x73),
            (&[vk::CONTROL], vk::TAB),
            (&[], vk::ESCAPE),
            (&[vk::SHIFT], vk::TAB),
            (&[vk::SHIFT], vk::DELETE),
        ] {
            assert_eq!(taken_by_system(down, key), None, "{down:x?} {key:x}");
        }
    }

    #[test]
    fn every_pixel_leads_back_to_itself() {
        for (first, length) in [(0, 1920_u32), (-1920, 5760), (0, 1366), (-7, 3001), (0, 15_360)] {
            for pixel in 0..length {
                let pixel = i32::try_from(pixel).expect("a small number") + first;
                let part = i64::from(part_of_all(pixel, first, length));
                let back = (part * i64::from(length)) / 65_536 + i64::from(first);
                assert_eq!(back, i64::from(pixel), "{first} {length}");
            }
        }
        assert_eq!(part_of_all(-5, 0, 100), 0);
    }
}
