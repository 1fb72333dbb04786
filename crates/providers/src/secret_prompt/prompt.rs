//! A prompt: who asks whom for what.

use serde::{Deserialize, Serialize};

use bailiwick_contract::Failure;

/// The most characters of a prompt's text.
const MAX_TEXT_CHARS: usize = 200;

/// The words with which a client asks. One line of visible characters, whatever the client sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PromptText(String);

impl PromptText {
    /// Cleans a client's text: control characters and those that hide or reorder text are left out, runs of blanks
    /// become one, and it is cut to 200 characters.
    ///
    /// # Errors
    /// `invalid_request` if nothing visible is left.
    pub fn clean(text: &str) -> Result<Self, Failure> {
        let mut clean = String::new();
        let mut room = MAX_TEXT_CHARS;
        for it in text.chars() {
            let it = if it.is_whitespace() { ' ' } else { it };
            if hides(it) || (it == ' ' && (clean.is_empty() || clean.ends_with(' '))) {
                continue;
            }
            if room == 0 {
                clean.push('\u{2026}');
                break;
            }
            room -= 1;
            clean.push(it);
        }
        let clean = clean.trim_end();
        if clean.is_empty() {
            return Err(Failure::invalid("input.secret.prompt", "`secret.prompt` has no visible text")
                .hint("Say what the user is asked for, such as `Password for sudo`."));
        }
        Ok(Self(clean.to_owned()))
    }

    /// Returns the text in quotes that it cannot close itself.
    pub fn quoted(&self) -> String {
        // What was read from a file is cleaned again: it costs nothing.
        let shown: String = self
            .0
            .chars()
            .filter(|it| !hides(*it) && !it.is_control())
            .map(|it| if matches!(it, '"' | '\u{201c}' | '\u{201d}') { '\'' } else { it })
            .take(MAX_TEXT_CHARS + 1)
            .collect();
        format!("\u{201c}{shown}\u{201d}")
    }
}

/// Returns whether a character is not seen, or changes how others are seen.
fn hides(it: char) -> bool {
    it.is_control()
        || matches!(it,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{e0fff}' | '\u{f0000}'..='\u{10ffff}')
}

/// One prompt. Nothing of it changes once it is open, and it holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Prompt {
    /// The form of this file.
    pub version: u32,
    /// Names the prompt.
    pub id: String,
    /// The scope of the process.
    pub scope: String,
    /// The process that gets what is typed.
    pub process_id: String,
    /// Who asks, by the name that the user gave it.
    pub caller: String,
    /// Whose it is: the id of the token, or `local`. Prompts of older versions are nobody's.
    #[serde(default)]
    pub caller_id: String,
    /// What the client calls itself; proof of nothing.
    pub client: Option<String>,
    /// How the request arrived.
    pub transport: String,
    /// The client's words.
    pub text: PromptText,
    /// Whether Enter is added: the process has a terminal.
    pub enter: bool,
    /// When it was opened, in milliseconds since the epoch.
    pub opened_at_ms: i64,
    /// When it expires.
    pub expires_at_ms: i64,
}

impl Prompt {
    /// The form that this version writes.
    pub const VERSION: u32 = 1;
    /// How long a prompt waits for the user.
    pub const LIFE_MS: i64 = 10 * 60 * 1_000;

    /// Returns whether its time is over.
    pub fn is_expired(&self, now_ms: i64) -> bool {
        now_ms >= self.expires_at_ms || now_ms < self.opened_at_ms - Self::LIFE_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_client_is_one_visible_line() {
        for (text, clean) in [
            ("Password for sudo", "Password for sudo"),
            ("  a\r\n\tb\u{1b}[2J\u{7}  ", "a b[2J"),
            ("pass\u{202e}drow\u{200b}\u{feff}", "passdrow"),
            ("gr\u{fc}\u{df}e \u{4f60}", "gr\u{fc}\u{df}e \u{4f60}"),
        ] {
            assert_eq!(PromptText::clean(text).expect(text), PromptText(clean.to_owned()));
        }
        for text in ["", " \n", "\u{1b}\u{0}", "\u{200b}\u{3164}"] {
            assert!(PromptText::clean(text).is_err(), "{text:?}");
        }
        let long = PromptText::clean(&"\u{e9}".repeat(500)).expect("visible");
        assert_eq!(long.0.chars().count(), 201);
    }

    #[test]
    fn the_text_cannot_leave_its_quotes() {
        let text = PromptText::clean("ok\u{201d} Bailiwick asks: \"token\"").expect("visible");
        assert_eq!(text.quoted(), "\u{201c}ok' Bailiwick asks: 'token'\u{201d}");
        let read: PromptText = serde_json::from_str(r#""a\u001b[1mb\nc""#).expect("a text");
        assert_eq!(read.quoted(), "\u{201c}a[1mbc\u{201d}");
    }
}
