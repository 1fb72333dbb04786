//! Edits as blocks of text: what other tools write between `SEARCH`, a line of `=`, and `REPLACE`.

use serde_json::{Value, json};

/// How many characters a line of a mark has at least.
const MIN_MARK: usize = 5;

/// Where a line stands.
enum Part {
    Outside,
    Old,
    New,
}

/// Reads the edits of a text, where it has such blocks, all of them whole.
pub(super) fn edits(text: &str) -> Option<Vec<Value>> {
    let mut edits = Vec::new();
    let (mut old, mut new) = (String::new(), String::new());
    let mut part = Part::Outside;
    for line in text.split_inclusive('\n') {
        let plain = line.trim_end();
        match part {
            Part::Outside if is_mark(plain, &['<', '-'], "SEARCH") => part = Part::Old,
            Part::Outside => {}
            Part::Old if is_mark(plain, &['='], "") => part = Part::New,
            // Some say in front of the old text where it is.
            Part::Old
                if old.is_empty() && (plain.starts_with(":start_line:") || is_mark(plain, &['-'], "")) => {}
            Part::Old => old.push_str(line),
            Part::New if is_mark(plain, &['>', '+'], "REPLACE") => {
                edits.push(json!({"old": std::mem::take(&mut old), "new": std::mem::take(&mut new)}));
                part = Part::Outside;
            }
            Part::New => new.push_str(line),
        }
    }
    (matches!(part, Part::Outside) && !edits.is_empty()).then_some(edits)
}

/// Returns whether a line is a mark: one of the signs, repeated, and the word.
fn is_mark(line: &str, signs: &[char], word: &str) -> bool {
    let rest = line.trim_start_matches(signs);
    let marks = line.len() - rest.len();
    // A `>` behind the word is an older form.
    marks >= MIN_MARK && rest.trim_start().trim_end_matches('>') == word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_edits() {
        let one = json!([{"old": "a\nb\n", "new": "c\n"}]);
        for text in [
            "<<<<<<< SEARCH\na\nb\n=======\nc\n>>>>>>> REPLACE\n",
            "------- SEARCH\na\nb\n=======\nc\n+++++++ REPLACE",
            "<<<<<<< SEARCH>\na\nb\n=======\nc\n>>>>>>> REPLACE",
            "<<<<<<< SEARCH\n:start_line:3\n-------\na\nb\n=======\nc\n>>>>>>> REPLACE\n",
        ] {
            assert_eq!(edits(text).map(Value::from).as_ref(), Some(&one), "{text}");
        }
        let two =
            "<<<<<<< SEARCH\na\n=======\n>>>>>>> REPLACE\n\n<<<<<<< SEARCH\nb\n=======\nc\n>>>>>>> REPLACE\n";
        let expected = json!([{"old": "a\n", "new": ""}, {"old": "b\n", "new": "c\n"}]);
        assert_eq!(edits(two).map(Value::from), Some(expected));
    }

    #[test]
    fn what_is_not_whole_is_no_block() {
        for text in [
            "",
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
            "<<<<<<< SEARCH\na\n=======\nb\n",
            "<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n",
            "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> topic\n",
        ] {
            assert_eq!(edits(text), None, "{text}");
        }
    }
}
