//! Names of tokens: visible, and none that could be taken for another.
//!
//! A name is all that the history shows of who asked.

/// Names by which the history calls the user, Bailiwick itself, and those who are refused.
const RESERVED: &[&str] = &["local", "bailiwick", "(unknown)"];
/// The most characters of a name.
const MAX_CHARS: usize = 64;

/// Letters that look like letters of the Latin alphabet, or like each other.
const LOOK_ALIKES: &[(char, char)] = &[
    ('а', 'a'),
    ('ɑ', 'a'),
    ('α', 'a'),
    ('с', 'c'),
    ('ԁ', 'd'),
    ('е', 'e'),
    ('һ', 'h'),
    ('і', 'i'),
    ('ι', 'i'),
    ('ı', 'i'),
    ('ј', 'j'),
    ('κ', 'k'),
    ('к', 'k'),
    ('ӏ', 'l'),
    ('1', 'l'),
    ('|', 'l'),
    ('м', 'm'),
    ('ո', 'n'),
    ('о', 'o'),
    ('ο', 'o'),
    ('օ', 'o'),
    ('0', 'o'),
    ('р', 'p'),
    ('ρ', 'p'),
    ('ѕ', 's'),
    ('т', 't'),
    ('τ', 't'),
    ('ս', 'u'),
    ('υ', 'u'),
    ('ν', 'v'),
    ('ѵ', 'v'),
    ('ѡ', 'w'),
    ('х', 'x'),
    ('χ', 'x'),
    ('у', 'y'),
    ('γ', 'y'),
];

/// Returns what is wrong with a name for a new token.
pub(super) fn problem<'a>(name: &str, others: impl Iterator<Item = &'a str>) -> Option<String> {
    if name.is_empty() || name.chars().count() > MAX_CHARS || !name.chars().all(is_visible) {
        return Some(format!("a token's name has 1 to {MAX_CHARS} visible characters"));
    }
    if name.trim() != name {
        return Some("a token's name begins and ends with no blank".to_owned());
    }
    let folded = fold(name);
    if let Some(reserved) = RESERVED.iter().find(|reserved| fold(reserved) == folded) {
        return Some(format!("the history would take a token `{name}` for `{reserved}`, which is no token"));
    }
    let other = others.into_iter().find(|other| fold(other) == folded)?;
    Some(if other == name {
        format!("a token named `{name}` exists already")
    } else {
        format!("a token named `{other}` exists already, which looks the same")
    })
}

/// Returns a name as it looks: in small letters, alike letters as one, and nothing that is not seen.
fn fold(name: &str) -> String {
    let lower =
        name.chars().filter(|it| is_visible(*it)).flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    // Forms of full width are those of ASCII, in the same order.
    let narrow = lower.map(|it| match it {
        '\u{ff01}'..='\u{ff5e}' => {
            u8::try_from(u32::from(it) - 0xff01 + 0x21).map_or(it, char::from).to_ascii_lowercase()
        }
        _ => it,
    });
    // A large I looks like a small l.
    narrow
        .map(|it| LOOK_ALIKES.iter().find(|(alike, _)| *alike == it).map_or(it, |(_, plain)| *plain))
        .map(|it| if it == 'i' { 'l' } else { it })
        .collect()
}

/// Returns whether a character shows something, or is a plain blank.
///
/// # Source
/// Unicode: the general categories Cc, Cf, Zl, Zp and Zs but for U+0020, and what is ignored by default.
fn is_visible(character: char) -> bool {
    !character.is_control()
        && (character == ' ' || !character.is_whitespace())
        && !matches!(
            u32::from(character),
            0xad | 0x34f
                | 0x61c
                | 0x115f..=0x1160
                | 0x17b4..=0x17b5
                | 0x180b..=0x180f
                | 0x200b..=0x200f
                | 0x202a..=0x202e
                | 0x2060..=0x206f
                | 0x2800
                | 0x3164
                | 0xfe00..=0xfe0f
                | 0xfeff
                | 0xffa0
                | 0xfff0..=0xfffb
                | 0x1bca0..=0x1bca3
                | 0x1d173..=0x1d17a
                | 0xe0000..=0xe0fff
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_the_history_could_take_for_another_are_refused() {
        for name in [
            "local",
            "Local",
            "LOCAL",
            "loca1",
            "lоcal",
            "lo\u{200b}cal",
            "local\u{feff}",
            "ｌｏｃａｌ",
            "Bailiwick",
            "BaiIiwick",
            " local",
            "local ",
            "",
            "a\nb",
            "a\u{202e}b",
            "a\u{3000}b",
            "\u{2800}",
        ] {
            assert!(problem(name, std::iter::empty()).is_some(), "{name:?}");
        }
        for (name, there) in [
            ("laptop", "laptop"),
            ("Laptop", "laptop"),
            ("lарtор", "laptop"),
            ("ci-O", "ci-0"),
            ("STRASSE", "straße"),
        ] {
            assert!(problem(name, [there].into_iter()).is_some(), "{name:?} beside {there:?}");
        }
        let long = "x".repeat(65);
        assert!(problem(&long, std::iter::empty()).is_some());
    }

    #[test]
    fn other_names_are_free() {
        for name in ["laptop", "ci 2", "größe", "ключ", "鍵", "localhost", "local-2", "O’Brien", "🔑"]
        {
            assert_eq!(problem(name, ["laptop 2", "desk"].into_iter()), None, "{name:?}");
        }
    }
}
