//! The names of an index, each held once.

use std::hash::{BuildHasher, RandomState};

/// How many bytes all names together can have.
const MAX_TEXT_BYTES: usize = 256 << 20;
/// The longest name that is held, in bytes.
pub(super) const MAX_NAME_BYTES: usize = 400;
/// A place of the table that holds no name.
const FREE: u32 = u32::MAX;

/// Names by number. A name that nothing uses any more goes when the index is written and read again.
#[derive(Debug, Default)]
pub(super) struct Names {
    text: String,
    ends: Vec<u32>,
    letters: Vec<u64>,
    /// Numbers of names by their hashes; the length is a power of two.
    table: Vec<u32>,
    hasher: RandomState,
}

impl Names {
    /// Returns the number of a name, which is held from now on; `None` if there is no room for it.
    pub fn intern(&mut self, name: &str) -> Option<u32> {
        if name.is_empty() || name.len() > MAX_NAME_BYTES || self.text.len() + name.len() > MAX_TEXT_BYTES {
            return None;
        }
        if self.table.len() < (self.ends.len() + 1) * 4 / 3 + 1 {
            self.grow();
        }
        let at = self.place_of(name);
        if self.table[at] == FREE {
            self.table[at] = u32::try_from(self.ends.len()).ok()?;
            self.text.push_str(name);
            self.ends.push(u32::try_from(self.text.len()).ok()?);
            self.letters.push(letters_of(name));
        }
        Some(self.table[at])
    }

    /// Returns a name by its number.
    pub fn get(&self, number: u32) -> &str {
        let number = number as usize;
        let start = if number == 0 { 0 } else { self.ends[number - 1] as usize };
        &self.text[start..self.ends[number] as usize]
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Goes through all names and the letters that each has, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        let mut start = 0;
        self.ends.iter().zip(&self.letters).map(move |(end, letters)| {
            let name = &self.text[start..*end as usize];
            start = *end as usize;
            (name, *letters)
        })
    }

    /// Finds the place of a name in the table: the one that holds it, or a free one.
    fn place_of(&self, name: &str) -> usize {
        let mask = self.table.len() - 1;
        #[expect(clippy::cast_possible_truncation, reason = "the mask takes the lowest bits anyway")]
        let mut at = self.hasher.hash_one(name) as usize & mask;
        while self.table[at] != FREE && self.get(self.table[at]) != name {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self) {
        let size = (self.table.len() * 2).max(64);
        self.table = vec![FREE; size];
        for number in 0..self.ends.len() {
            let number = u32::try_from(number).unwrap_or(FREE);
            let at = self.place_of(self.get(number));
            self.table[at] = number;
        }
    }
}

/// Returns which letters and digits a text has, a bit for each, whatever their case. Others share a bit.
///
/// A text that lacks one of another's bits cannot contain it, nor its characters in order.
pub(super) fn letters_of(text: &str) -> u64 {
    text.bytes().fold(0, |bits, byte| {
        bits | 1
            << match byte.to_ascii_lowercase() {
                letter @ b'a'..=b'z' => letter - b'a',
                digit @ b'0'..=b'9' => digit - b'0' + 26,
                b'_' => 36,
                0x80.. => 37,
                _ => 38,
            }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_held_once_and_keeps_its_number() {
        let mut names = Names::default();
        let numbers: Vec<u32> =
            (0..5_000).filter_map(|n| names.intern(&format!("name{}", n % 1_000))).collect();
        assert_eq!((numbers.len(), names.len()), (5_000, 1_000));
        assert!(numbers.iter().enumerate().all(|(n, number)| *number as usize == n % 1_000));
        assert!((0..1_000).all(|n| names.get(n) == format!("name{n}")));
        assert_eq!(names.iter().nth(7).map(|(name, _)| name), Some("name7"));
        assert_eq!((names.intern(""), names.intern(&"n".repeat(MAX_NAME_BYTES + 1))), (None, None));
    }

    #[test]
    fn letters_are_those_of_the_text() {
        let has = |text: &str, part: &str| letters_of(text) & letters_of(part) == letters_of(part);
        assert!(has("getUserById", "user") && has("größe", "ö") && !has("getUser", "z"));
    }
}
