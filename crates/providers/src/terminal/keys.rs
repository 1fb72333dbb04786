//! Names of keys, and the bytes that a terminal sends for them.
//!
//! # Source
//! XTerm Control Sequences, "PC-Style Function Keys" and "VT100-Style Function Keys": what xterm sends with its
//! default settings.

use bailiwick_contract::Failure;

/// The most items that one list of keys may have.
pub const MAX_KEYS: usize = 256;

/// The state of a terminal that decides what keys send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CursorKeys {
    /// As a terminal begins.
    Normal,
    /// A program has switched on application cursor keys (DECCKM).
    Application,
}

/// What one item of a list of keys means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// A named key, or a character with modifiers.
    Named(Stroke),
    /// Text that is typed as it is.
    Text(String),
}

/// A key with what is held down beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stroke {
    base: Base,
    modifiers: Modifiers,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Character(char),
    Enter,
    Tab,
    Escape,
    Backspace,
    /// `ESC [ x`, or `ESC O x` while cursor keys are those of applications.
    Cursor(char),
    /// `ESC O x`: F1 to F4.
    Function(char),
    /// `ESC [ number ~`.
    Numbered(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Modifiers {
    control: bool,
    meta: bool,
    shift: bool,
}

/// Every name, the usual one first where a key has several.
const NAMES: &[(&str, Base)] = &[
    ("Enter", Base::Enter),
    ("Return", Base::Enter),
    ("Tab", Base::Tab),
    ("Escape", Base::Escape),
    ("Esc", Base::Escape),
    ("Backspace", Base::Backspace),
    ("Space", Base::Character(' ')),
    ("Up", Base::Cursor('A')),
    ("Down", Base::Cursor('B')),
    ("Right", Base::Cursor('C')),
    ("Left", Base::Cursor('D')),
    ("Home", Base::Cursor('H')),
    ("End", Base::Cursor('F')),
    ("Insert", Base::Numbered(2)),
    ("Delete", Base::Numbered(3)),
    ("PageUp", Base::Numbered(5)),
    ("PageDown", Base::Numbered(6)),
    ("F1", Base::Function('P')),
    ("F2", Base::Function('Q')),
    ("F3", Base::Function('R')),
    ("F4", Base::Function('S')),
    ("F5", Base::Numbered(15)),
    ("F6", Base::Numbered(17)),
    ("F7", Base::Numbered(18)),
    ("F8", Base::Numbered(19)),
    ("F9", Base::Numbered(20)),
    ("F10", Base::Numbered(21)),
    ("F11", Base::Numbered(23)),
    ("F12", Base::Numbered(24)),
];

/// Words that people write for modifiers and keys, and that are not the names here.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("ctrl", "C"),
    ("control", "C"),
    ("alt", "M"),
    ("meta", "M"),
    ("option", "M"),
    ("shift", "S"),
    ("c", "C"),
    ("m", "M"),
    ("s", "S"),
];

/// Reads one item: a key's name (`Enter`, `C-c`, `M-x`, `S-Tab`, `F5`), a single character, or text.
///
/// What is nearly a name is an error and not text: a misspelt `Enter` that is typed letter by letter does harm.
///
/// # Errors
/// `invalid_request` with the nearest names.
pub fn read(item: &str) -> Result<Key, Failure> {
    if item.is_empty() {
        return Err(Failure::invalid("input.keys", "an item of `keys` is empty"));
    }
    if item.chars().count() == 1 {
        return Ok(Key::Text(item.to_owned()));
    }
    if let Some(base) = named(item) {
        return Ok(Key::Named(Stroke { base, modifiers: Modifiers::default() }));
    }
    if let Some(stroke) = modified(item) {
        return Ok(Key::Named(stroke));
    }
    match nearest(item) {
        Some(nearest) => Err(Failure::invalid("input.keys", format!("`{item}` is not the name of a key"))
            .hint(format!("Write `{nearest}`; to type these characters themselves, use `input.text`."))),
        None => Ok(Key::Text(item.to_owned())),
    }
}

/// Returns the bytes of keys as xterm sends them to a program with a terminal.
///
/// # Errors
/// `invalid_request` for a combination for which a terminal has no bytes.
pub fn for_terminal(keys: &[Key], cursor_keys: CursorKeys) -> Result<Vec<u8>, Failure> {
    collect(keys, |stroke| stroke.bytes(cursor_keys))
}

/// Returns the bytes of keys for a program that reads a pipe: as [`for_terminal`], but that Enter ends a line.
///
/// # Errors
/// As [`for_terminal`].
pub fn for_pipe(keys: &[Key]) -> Result<Vec<u8>, Failure> {
    let enter = Stroke { base: Base::Enter, modifiers: Modifiers::default() };
    collect(keys, |stroke| match stroke {
        stroke if stroke == enter => Some(vec![b'\n']),
        stroke => stroke.bytes(CursorKeys::Normal),
    })
}

fn collect(keys: &[Key], mut bytes_of: impl FnMut(Stroke) -> Option<Vec<u8>>) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    for key in keys {
        match key {
            Key::Text(text) => bytes.extend_from_slice(text.as_bytes()),
            Key::Named(stroke) => {
                let sent = bytes_of(*stroke).ok_or_else(|| {
                    Failure::invalid(
                        "input.keys",
                        format!("a terminal sends nothing of its own for `{}`", stroke.name()),
                    )
                    .hint("Leave a modifier out, or send the program's own bytes with `input.base64`.")
                })?;
                bytes.extend_from_slice(&sent);
            }
        }
    }
    Ok(bytes)
}

impl Key {
    /// Returns whether what it sends depends on the terminal's state.
    pub fn depends_on_state(&self) -> bool {
        matches!(self, Self::Named(Stroke { base: Base::Cursor(_), .. }))
    }

    /// Returns whether a terminal makes a signal of it as a rule: C-c, C-z, C-\.
    pub fn is_signal(&self) -> bool {
        matches!(
            self,
            Self::Named(Stroke {
                base: Base::Character('c' | 'C' | 'z' | 'Z' | '\\'),
                modifiers: Modifiers { control: true, .. }
            })
        )
    }
}

impl Stroke {
    fn bytes(self, cursor_keys: CursorKeys) -> Option<Vec<u8>> {
        let Modifiers { control, meta, shift } = self.modifiers;
        // 1, plus 1 for Shift, 2 for Alt, 4 for Control.
        let number = 1 + u8::from(shift) + 2 * u8::from(meta) + 4 * u8::from(control);
        let plain = number == 1;
        let prefixed = |bytes: &[u8]| {
            let mut sent = if meta { vec![0x1b] } else { Vec::new() };
            sent.extend_from_slice(bytes);
            Some(sent)
        };
        match self.base {
            Base::Character(_) | Base::Enter | Base::Escape if shift => None,
            Base::Character(character) if control => prefixed(&[control_byte(character)?]),
            Base::Character(character) => prefixed(character.encode_utf8(&mut [0; 4]).as_bytes()),
            Base::Enter if control => None,
            Base::Enter => prefixed(b"\r"),
            Base::Escape if control => None,
            Base::Escape => prefixed(b"\x1b"),
            Base::Tab if control => None,
            Base::Tab if shift => prefixed(b"\x1b[Z"),
            Base::Tab => prefixed(b"\t"),
            Base::Backspace if shift => None,
            Base::Backspace if control => prefixed(b"\x08"),
            Base::Backspace => prefixed(b"\x7f"),
            Base::Cursor(end) if plain => Some(match cursor_keys {
                CursorKeys::Normal => format!("\x1b[{end}").into_bytes(),
                CursorKeys::Application => format!("\x1bO{end}").into_bytes(),
            }),
            Base::Function(end) if plain => Some(format!("\x1bO{end}").into_bytes()),
            Base::Cursor(end) | Base::Function(end) => Some(format!("\x1b[1;{number}{end}").into_bytes()),
            Base::Numbered(key) if plain => Some(format!("\x1b[{key}~").into_bytes()),
            Base::Numbered(key) => Some(format!("\x1b[{key};{number}~").into_bytes()),
        }
    }

    fn name(self) -> String {
        let Modifiers { control, meta, shift } = self.modifiers;
        let base = match NAMES.iter().find(|(_, base)| *base == self.base) {
            Some((name, _)) => (*name).to_owned(),
            None => match self.base {
                Base::Character(character) => character.to_string(),
                _ => String::new(),
            },
        };
        let held = [(control, "C-"), (meta, "M-"), (shift, "S-")];
        held.iter().filter(|(is_held, _)| *is_held).map(|(_, name)| *name).chain([base.as_str()]).collect()
    }
}

/// Returns what Control makes of a character.
fn control_byte(character: char) -> Option<u8> {
    Some(match character {
        ' ' | '@' | '2' => 0,
        'a'..='z' | 'A'..='Z' => u8::try_from(character.to_ascii_uppercase()).ok()? - b'@',
        '[' | '3' => 0x1b,
        '\\' | '4' => 0x1c,
        ']' | '5' => 0x1d,
        '^' | '~' | '6' => 0x1e,
        '_' | '/' | '-' | '7' => 0x1f,
        '?' | '8' => 0x7f,
        _ => return None,
    })
}

fn named(name: &str) -> Option<Base> {
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, base)| *base)
}

/// Reads `C-`, `M-` and `S-` in front of a name or a character.
fn modified(item: &str) -> Option<Stroke> {
    let mut modifiers = Modifiers::default();
    let mut rest = item;
    while let Some((modifier, after)) = rest.split_once('-') {
        let held = match modifier {
            "C" => &mut modifiers.control,
            "M" => &mut modifiers.meta,
            "S" => &mut modifiers.shift,
            _ => return None,
        };
        if *held || after.is_empty() {
            return None;
        }
        *held = true;
        rest = after;
        if let Some(base) = single(rest).or_else(|| named(rest)) {
            return Some(Stroke { base, modifiers });
        }
    }
    None
}

fn single(text: &str) -> Option<Base> {
    let mut characters = text.chars();
    let first = characters.next()?;
    characters.next().is_none().then_some(Base::Character(first))
}

/// Returns the name that was probably meant, if the item looks like one.
fn nearest(item: &str) -> Option<String> {
    // ^C, <Enter>, {Enter}, [Enter]
    if let Some(after) = item.strip_prefix('^')
        && single(after).is_some()
    {
        return Some(format!("C-{}", after.to_ascii_lowercase()));
    }
    for (open, close) in [('<', '>'), ('{', '}')] {
        if let Some(inner) = item.strip_prefix(open).and_then(|item| item.strip_suffix(close)) {
            return named(inner).map(|_| inner.to_owned()).or_else(|| nearest(inner));
        }
    }
    // Ctrl+C, Alt-x, ctrl-shift-Up
    let parts: Vec<&str> = item.split(['-', '+']).collect();
    if let [words @ .., last] = parts.as_slice()
        && !words.is_empty()
        && !last.is_empty()
    {
        let modifiers = words.iter().map(|word| {
            OTHER_WORDS.iter().find(|(other, _)| word.eq_ignore_ascii_case(other)).map(|(_, name)| *name)
        });
        let modifiers: Option<Vec<&str>> = modifiers.collect();
        let base = if single(last).is_some() { Some(last.to_ascii_lowercase()) } else { near_name(last) };
        return Some(format!("{}-{}", modifiers?.join("-"), base?));
    }
    near_name(item)
}

fn near_name(word: &str) -> Option<String> {
    if !word.chars().all(|character| character.is_ascii_alphanumeric() || character == '_') {
        return None;
    }
    let lower = word.to_ascii_lowercase().replace('_', "");
    let other = [
        ("pgup", "PageUp"),
        ("pgdn", "PageDown"),
        ("pgdown", "PageDown"),
        ("del", "Delete"),
        ("ins", "Insert"),
        ("bspace", "Backspace"),
        ("bs", "Backspace"),
        ("cr", "Enter"),
        ("arrowup", "Up"),
        ("arrowdown", "Down"),
        ("arrowleft", "Left"),
        ("arrowright", "Right"),
        ("ctrlc", "C-c"),
        ("ctrld", "C-d"),
        ("ctrlz", "C-z"),
        ("spacebar", "Space"),
    ];
    if let Some((_, name)) = other.iter().find(|(written, _)| *written == lower) {
        return Some((*name).to_owned());
    }
    let number = lower.strip_prefix('f').filter(|rest| !rest.is_empty() && rest.len() <= 2);
    if number.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit())) {
        return Some("F1` to `F12".to_owned());
    }
    let close = |name: &&str| {
        let name = name.to_ascii_lowercase();
        name == lower || (name.len() >= 5 && lower.len() >= 4 && is_one_off(&name, &lower))
    };
    NAMES.iter().map(|(name, _)| *name).find(close).map(str::to_owned)
}

/// Returns whether one letter more, less, different, or two exchanged, makes one word of the other.
fn is_one_off(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let start = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[start..], &other[start..]);
    let rest = |word: &[u8], skipped: usize| word.get(skipped..).map(<[u8]>::to_vec);
    rest(one, 1) == Some(other.to_vec())
        || rest(other, 1) == Some(one.to_vec())
        || (rest(one, 1).is_some() && rest(one, 1) == rest(other, 1))
        || (one.len() >= 2
            && other.len() >= 2
            && (one[0], one[1]) == (other[1], other[0])
            && one[2..] == other[2..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(item: &str, cursor_keys: CursorKeys) -> Vec<u8> {
        let key = read(item).unwrap_or_else(|failure| panic!("{item}: {}", failure.message));
        for_terminal(&[key], cursor_keys).unwrap_or_else(|failure| panic!("{item}: {}", failure.message))
    }

    #[test]
    fn keys_send_what_xterm_sends() {
        for (item, bytes) in [
            ("Enter", &b"\r"[..]),
            ("Return", b"\r"),
            ("Tab", b"\t"),
            ("S-Tab", b"\x1b[Z"),
            ("Escape", b"\x1b"),
            ("Backspace", b"\x7f"),
            ("C-Backspace", b"\x08"),
            ("Space", b" "),
            ("C-Space", b"\0"),
            ("C-c", b"\x03"),
            ("C-C", b"\x03"),
            ("C-d", b"\x04"),
            ("C-[", b"\x1b"),
            ("C-\\", b"\x1c"),
            ("C-_", b"\x1f"),
            ("C--", b"\x1f"),
            ("M-x", b"\x1bx"),
            ("M--", b"\x1b-"),
            ("M-\u{e9}", b"\x1b\xc3\xa9"),
            ("C-M-a", b"\x1b\x01"),
            ("M-Enter", b"\x1b\r"),
            ("Up", b"\x1b[A"),
            ("Left", b"\x1b[D"),
            ("Home", b"\x1b[H"),
            ("End", b"\x1b[F"),
            ("C-Up", b"\x1b[1;5A"),
            ("C-S-Right", b"\x1b[1;6C"),
            ("M-Left", b"\x1b[1;3D"),
            ("Insert", b"\x1b[2~"),
            ("Delete", b"\x1b[3~"),
            ("S-Delete", b"\x1b[3;2~"),
            ("PageUp", b"\x1b[5~"),
            ("F1", b"\x1bOP"),
            ("C-F1", b"\x1b[1;5P"),
            ("F5", b"\x1b[15~"),
            ("F12", b"\x1b[24~"),
            ("M-F12", b"\x1b[24;3~"),
            ("y", b"y"),
            ("hello world", b"hello world"),
            ("git-log", b"git-log"),
            ("C-", b"C-"),
            ("gr\u{fc}n", b"gr\xc3\xbcn"),
        ] {
            assert_eq!(sent(item, CursorKeys::Normal), bytes, "{item}");
        }
    }

    #[test]
    fn applications_get_their_own_cursor_keys() {
        for (item, bytes) in
            [("Up", &b"\x1bOA"[..]), ("Home", b"\x1bOH"), ("C-Up", b"\x1b[1;5A"), ("F1", b"\x1bOP")]
        {
            assert_eq!(sent(item, CursorKeys::Application), bytes, "{item}");
        }
        let state =
            ["Up", "End", "F5", "C-c", "text"].map(|item| read(item).map(|key| key.depends_on_state()));
        assert_eq!(state, [Ok(true), Ok(true), Ok(false), Ok(false), Ok(false)]);
    }

    #[test]
    fn a_misspelt_name_is_an_error_that_gives_the_right_one() {
        for (item, meant) in [
            ("enter", "Enter"),
            ("ENTER", "Enter"),
            ("Entr", "Enter"),
            ("Etner", "Enter"),
            ("Ctrl-C", "C-c"),
            ("ctrl+c", "C-c"),
            ("c-c", "C-c"),
            ("^C", "C-c"),
            ("CtrlC", "C-c"),
            ("Alt-x", "M-x"),
            ("Shift-Tab", "S-Tab"),
            ("C-enter", "C-Enter"),
            ("Ctrl-Shift-up", "C-S-Up"),
            ("PgUp", "PageUp"),
            ("page_down", "PageDown"),
            ("Del", "Delete"),
            ("ArrowUp", "Up"),
            ("<Enter>", "Enter"),
            ("<esc>", "Escape"),
            ("{Tab}", "Tab"),
            ("F13", "F1` to `F12"),
            ("end", "End"),
        ] {
            let failure = read(item).expect_err(item);
            let meant = if item == "<esc>" { "Esc" } else { meant };
            assert!(
                failure.hints[0].starts_with(&format!("Write `{meant}`;")),
                "{item}: {:?}",
                failure.hints
            );
        }
    }

    #[test]
    fn what_is_no_name_is_typed() {
        for item in ["ls -la", "print(1)", ":wq", "yes", "inside", "enters the room", "a-b", "x+y", "--help"]
        {
            assert_eq!(read(item), Ok(Key::Text(item.to_owned())), "{item}");
        }
    }

    #[test]
    fn combinations_without_bytes_are_refused_by_name() {
        for item in ["S-a", "C-Enter", "C-Tab", "C-\u{e9}", "S-Enter"] {
            let key = read(item).expect(item);
            let failure = for_terminal(&[key], CursorKeys::Normal).expect_err(item);
            assert!(failure.message.contains(&format!("`{item}`")), "{}", failure.message);
        }
    }

    #[test]
    fn a_pipe_gets_line_feeds() {
        let keys = [read("yes"), read("Enter"), read("C-d")].map(|key| key.expect("good"));
        assert_eq!(for_pipe(&keys).expect("good"), b"yes\n\x04");
        assert!(!keys[2].is_signal());
        assert!(read("C-c").expect("good").is_signal());
    }
}
