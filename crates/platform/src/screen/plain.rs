//! Text that programs tell of themselves, fit to be shown. Mathematics only.

/// The longest title or name, in characters.
const MAX_CHARACTERS: usize = 300;

/// Makes every control or direction character a blank, and cuts.
pub(crate) fn plain(text: &str) -> String {
    let unwanted = |character: char| {
        character.is_control()
            || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let plain: String =
        text.chars().take(MAX_CHARACTERS).map(|it| if unwanted(it) { ' ' } else { it }).collect();
    plain.trim().to_owned()
}
