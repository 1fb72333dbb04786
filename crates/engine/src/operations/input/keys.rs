//! Names of keys, and chords such as `ctrl+shift+t`.

use bailiwick_contract::StageName;
use bailiwick_platform::screen::{InputStep, KeySymbol};

use crate::registry::prelude::*;

/// Keys that are held while another is pressed.
const MODIFIERS: &[(&[&str], u32)] = &[
    (&["ctrl", "control"], 0xffe3),
    (&["shift"], 0xffe1),
    (&["alt", "option"], 0xffe9),
    (&["super", "cmd", "meta", "win"], 0xffeb),
    (&["altgr"], 0xfe03),
];

/// Keys without a character.
const NAMED: &[(&[&str], u32)] = &[
    (&["enter", "return"], 0xff0d),
    (&["tab"], 0xff09),
    (&["space"], 0x20),
    (&["backspace"], 0xff08),
    (&["delete", "del"], 0xffff),
    (&["insert"], 0xff63),
    (&["escape", "esc"], 0xff1b),
    (&["up"], 0xff52),
    (&["down"], 0xff54),
    (&["left"], 0xff51),
    (&["right"], 0xff53),
    (&["home"], 0xff50),
    (&["end"], 0xff57),
    (&["pageup"], 0xff55),
    (&["pagedown"], 0xff56),
    (&["menu"], 0xff67),
    (&["print"], 0xff61),
    (&["pause"], 0xff13),
];

/// `F1`; the others follow.
const F1: u32 = 0xffbe;
/// The symbol of F12.
const F12: u32 = F1 + 11;
/// The longest chord, in keys.
const MAX_KEYS: usize = 6;

/// A chord: modifiers, and at most one other key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::operations) struct Chord {
    /// Its name, with the usual names of keys.
    pub name: String,
    modifiers: Vec<KeySymbol>,
    key: Option<KeySymbol>,
}

impl Chord {
    /// Reads `ctrl+shift+t`.
    ///
    /// # Errors
    /// `invalid_request` for keys that nobody knows, `permission_denied` for chords of the session.
    pub fn parse(text: &str, field: &str) -> Result<Self, Failure> {
        let unknown = |word: &str| {
            let word: String = word.chars().take(20).collect();
            Failure::invalid(field, format!("no key is called `{word}`"))
                .hint("Keys are characters and names such as enter, tab, escape, up, f5; modifiers ctrl, shift, alt, altgr, super.")
        };
        let mut words: Vec<&str> = text.split('+').collect();
        // The plus itself, alone or at the end.
        if words.len() >= 2 && words[words.len() - 2..] == ["", ""] {
            words.truncate(words.len() - 2);
            words.push("+");
        }
        if words.len() > MAX_KEYS {
            return Err(Failure::invalid(field, format!("a chord has at most {MAX_KEYS} keys")));
        }
        let mut chord = Self { name: String::new(), modifiers: Vec::new(), key: None };
        let mut names = Vec::new();
        for word in words {
            let lower = word.to_lowercase();
            let find = |list: &'static [(&'static [&'static str], u32)]| {
                list.iter().find(|(names, _)| names.contains(&lower.as_str()))
            };
            if let Some((all, symbol)) = find(MODIFIERS) {
                if !chord.modifiers.contains(&KeySymbol(*symbol)) {
                    chord.modifiers.push(KeySymbol(*symbol));
                    names.push(all[0].to_owned());
                }
                continue;
            }
            let key = match (find(NAMED), function_key(&lower), single(word)) {
                (Some((all, symbol)), ..) => (all[0].to_owned(), KeySymbol(*symbol)),
                (None, Some(symbol), _) => (lower.clone(), symbol),
                (None, None, Some(character)) => (character.to_string(), KeySymbol::of(character)),
                (None, None, None) => return Err(unknown(word)),
            };
            if chord.key.replace(key.1).is_some() {
                return Err(Failure::invalid(field, "a chord has one key beside the modifiers")
                    .hint("Send the keys one after the other."));
            }
            names.push(key.0);
        }
        chord.name = names.join("+");
        chord.judge()?;
        Ok(chord)
    }

    /// Refuses what the system does with keys itself.
    fn judge(&self) -> Result<(), Failure> {
        if self.is_of_session(std::env::consts::OS == "macos") {
            return Err(Failure::denied(
                "session-keys",
                format!("`{}` is of the session: it switches or ends it", self.name),
            )
            .at_stage(StageName::Screen));
        }
        Ok(())
    }

    /// Returns whether it ends or switches the session, or leads to another program, whatever window has the keyboard.
    fn is_of_session(&self, is_macos: bool) -> bool {
        const CTRL: u32 = 0xffe3;
        const ALT: u32 = 0xffe9;
        const COMMAND: u32 = 0xffeb;
        const SHIFT: u32 = 0xffe1;
        let has = |symbol: u32| self.modifiers.contains(&KeySymbol(symbol));
        let Some(KeySymbol(key)) = self.key else { return false };
        match key {
            0xff08 | 0xffff => has(CTRL) && has(ALT),
            F1..=F12 => has(CTRL) && has(ALT),
            // macOS: logs out or locks; chooses what to end; switches programs; starts one by its name.
            0x51 | 0x71 => is_macos && has(COMMAND) && (has(CTRL) || has(SHIFT)),
            0xff1b => is_macos && has(COMMAND) && has(ALT),
            0xff09 | 0x20 => is_macos && has(COMMAND),
            _ => false,
        }
    }

    /// Returns the steps that press it.
    pub fn presses(&self) -> Vec<InputStep> {
        self.modifiers.iter().chain(&self.key).copied().map(InputStep::PressKey).collect()
    }

    /// Returns the steps that release it.
    pub fn releases(&self) -> Vec<InputStep> {
        self.key.iter().chain(self.modifiers.iter().rev()).copied().map(InputStep::ReleaseKey).collect()
    }
}

/// Reads modifiers that are held while something else is done.
///
/// # Errors
/// `invalid_request` for other keys.
pub(super) fn modifiers(names: &[String], field: &str) -> Result<Chord, Failure> {
    if names.is_empty() {
        return Ok(Chord { name: String::new(), modifiers: Vec::new(), key: None });
    }
    let chord = Chord::parse(&names.join("+"), field)?;
    match chord.key {
        None => Ok(chord),
        Some(_) => Err(Failure::invalid(field, "modifiers are ctrl, shift, alt, altgr and super")),
    }
}

fn function_key(word: &str) -> Option<KeySymbol> {
    let number: u32 = word.strip_prefix('f')?.parse().ok()?;
    (1..=12).contains(&number).then(|| KeySymbol(F1 + number - 1))
}

fn single(word: &str) -> Option<char> {
    let mut characters = word.chars();
    let first = characters.next().filter(|it| !it.is_control())?;
    characters.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chords_are_read_by_any_of_their_names() {
        for (text, name) in [
            ("ctrl+shift+t", "ctrl+shift+t"),
            ("Control+Return", "ctrl+enter"),
            ("+", "+"),
            ("ctrl++", "ctrl++"),
            ("F5", "f5"),
            ("a", "a"),
            ("é", "é"),
            ("shift", "shift"),
            ("ctrl+control+x", "ctrl+x"),
        ] {
            assert_eq!(Chord::parse(text, "input.keys").map(|it| it.name).as_deref(), Ok(name), "{text}");
        }
        for text in ["", "ctrl+", "nothing", "a+b", "f13", "ctrl+\n", "ctrl+alt+shift+super+altgr+meta+x"] {
            assert!(Chord::parse(text, "input.keys").is_err(), "{text:?}");
        }
    }

    #[test]
    fn chords_that_the_system_takes_are_refused() {
        for text in ["ctrl+alt+f1", "alt+ctrl+delete", "ctrl+alt+shift+backspace"] {
            let failure = Chord::parse(text, "input.keys").expect_err("refused");
            assert_eq!(failure.rule(), Some("session-keys"), "{text}");
        }
        for text in ["cmd+shift+q", "ctrl+cmd+Q", "cmd+alt+escape", "cmd+tab", "cmd+space"] {
            let chord = Chord::parse(text, "input.keys").expect("a chord elsewhere");
            assert!(chord.is_of_session(true), "{text}");
            assert!(!chord.is_of_session(false), "{text}");
        }
        let of_program = Chord::parse("cmd+q", "input.keys").expect("a chord");
        assert!(!of_program.is_of_session(true), "it ends the program that was judged");
    }

    #[test]
    fn keys_are_released_in_the_order_in_which_they_were_not_pressed() {
        let chord = Chord::parse("ctrl+shift+t", "input.keys").expect("a chord");
        let (mut up, down) = (chord.releases(), chord.presses());
        up.reverse();
        let symbols = |steps: &[InputStep]| -> Vec<KeySymbol> {
            steps
                .iter()
                .filter_map(|step| match step {
                    InputStep::PressKey(symbol) | InputStep::ReleaseKey(symbol) => Some(*symbol),
                    _ => None,
                })
                .collect()
        };
        assert_eq!(symbols(&up), symbols(&down));
        assert_eq!(symbols(&down).len(), 3);
    }
}
