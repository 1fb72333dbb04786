//! Lines that are the same but for tabs where there are spaces, or the other way round.

use super::matching::{indentation, is_blank};

/// The widths of a tab, the likeliest first.
const WIDTHS: [usize; 8] = [4, 8, 2, 3, 6, 5, 7, 1];

/// How the file writes what an edit has written with other blanks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tabs {
    /// Indentations as they are written, and as the file has them.
    indentations: Vec<(String, String)>,
    /// How wide a tab is; none if no line is indented otherwise.
    width: Option<usize>,
    /// Whether the file has tabs where the edit has spaces.
    to_tabs: bool,
    /// Whether lines differ behind their first word, too.
    pub inside: bool,
}

impl Tabs {
    /// Compares lines of the file with lines as written, of which only blanks may differ. `None` if one has other blanks
    /// for another reason than tabs, or if tabs of different widths are meant.
    pub fn between<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> Option<Self> {
        let mut found = Self { indentations: Vec::new(), width: None, to_tabs: false, inside: false };
        let mut to_spaces = false;
        for (there, written) in pairs {
            if written.trim_matches(is_blank).is_empty() {
                continue;
            }
            let (file, own) = (indentation(there), indentation(written));
            match found.indentations.iter().find(|(known, _)| known == own) {
                Some((_, known)) if known != file => return None,
                Some(_) => {}
                None => found.indentations.push((own.to_owned(), file.to_owned())),
            }
            let tabs = |text: &str| text.bytes().filter(|byte| *byte == b'\t').count();
            found.to_tabs |= tabs(file) > tabs(own);
            to_spaces |= tabs(file) < tabs(own);
            for (theirs, ours) in runs(there).into_iter().zip(runs(written)) {
                if theirs != ours {
                    found.inside = true;
                    if !theirs.contains('\t') && !ours.contains('\t') {
                        return None;
                    }
                }
            }
        }
        let differ = found.indentations.iter().any(|(own, file)| own != file);
        if differ {
            let fits = |width: &&usize| {
                found.indentations.iter().all(|(own, file)| columns(own, **width) == columns(file, **width))
            };
            found.width = Some(*WIDTHS.iter().find(fits)?);
        }
        ((differ || found.inside) && !(found.to_tabs && to_spaces)).then_some(found)
    }

    /// Indents a new line as the file does.
    pub fn apply(&self, line: &str) -> String {
        let own = indentation(line);
        let rest = &line[own.len()..];
        if let Some((_, file)) = self.indentations.iter().find(|(known, _)| known == own) {
            return format!("{file}{rest}");
        }
        let Some(width) = self.width else { return line.to_owned() };
        let columns = columns(own, width);
        match self.to_tabs {
            true => format!("{}{}{rest}", "\t".repeat(columns / width), " ".repeat(columns % width)),
            false => format!("{}{rest}", " ".repeat(columns)),
        }
    }
}

/// Counts the columns of an indentation.
fn columns(indentation: &str, width: usize) -> usize {
    indentation.bytes().fold(0, |at, byte| if byte == b'\t' { (at / width + 1) * width } else { at + 1 })
}

/// Returns the blanks between the words of a line.
fn runs(line: &str) -> Vec<&str> {
    let line = line.trim_matches(is_blank);
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find(is_blank) {
        let length = rest[at..].find(|it| !is_blank(it)).unwrap_or(rest.len() - at);
        found.push(&rest[at..at + length]);
        rest = &rest[at + length..];
    }
    found
}

/// Returns whether a line has blanks that may stand for a tab between its words.
pub fn has_wide_blanks(line: &str) -> bool {
    runs(line).iter().any(|run| run.len() > 1 || run.contains('\t'))
}

/// Keeps the blanks of the file at both ends of a line, up to where it changes.
///
/// `there` is the line of the file, `old` the same line as it was written, `new` what shall be there, indented already.
pub fn keep_blanks(there: &str, old: &str, new: &str) -> String {
    if new.trim_matches(is_blank).is_empty() {
        return new.to_owned();
    }
    let words = |line: &str| -> Vec<String> {
        line.split(is_blank).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let (old_words, new_words) = (words(old), words(new));
    let (file_runs, old_runs, new_runs) = (runs(there), runs(old), runs(new));
    let same = |a: &[String], b: &[String]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let first = same(&old_words, &new_words);
    let reversed = |words: &[String]| words.iter().rev().cloned().collect::<Vec<_>>();
    let last =
        same(&reversed(&old_words), &reversed(&new_words)).min(new_words.len() - first.min(new_words.len()));
    let mut line = indentation(new).to_owned();
    for (at, word) in new_words.iter().enumerate() {
        line.push_str(word);
        let Some(run) = new_runs.get(at) else { continue };
        // The blanks behind a word are between it and the next one.
        let from_end = new_runs.len() - at;
        let same_run = if at < first {
            Some(at)
        } else if from_end <= last {
            old_runs.len().checked_sub(from_end)
        } else {
            None
        };
        let kept = same_run.filter(|at| old_runs.get(*at) == Some(run)).and_then(|at| file_runs.get(at));
        line.push_str(kept.unwrap_or(run));
    }
    let trailing = new.trim_end_matches(is_blank).len();
    line.push_str(&new[trailing..]);
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tabs(pairs: &[(&str, &str)]) -> Option<Tabs> {
        Tabs::between(pairs.iter().copied())
    }

    #[test]
    fn a_width_has_to_fit_all_lines() {
        let found =
            tabs(&[("\ta", "    a"), ("\t\tb", "        b"), ("\t * c", "     * c"), ("d", "d")]).expect("4");
        assert_eq!(
            (found.apply("            e"), found.apply("      e")),
            ("\t\t\te".to_owned(), "\t  e".to_owned())
        );
        assert_eq!(found.apply("d"), "d");
        let found = tabs(&[("  a", "\ta"), ("    b", "\t\tb")]).expect("2");
        assert_eq!(found.apply("\t\t\te"), "      e");
        assert_eq!(tabs(&[("\ta", "    a"), ("\t\tb", "            b")]), None, "of two widths");
        assert_eq!(tabs(&[("\ta", "    a"), ("    b", "\tb")]), None, "both ways");
        assert_eq!(tabs(&[("\ta", "    a"), ("  b", "    b")]), None, "at two depths");
        assert_eq!(tabs(&[("a", "a")]), None, "nothing differs");
        assert_eq!(tabs(&[("a  b", "a b")]), None, "no tab");
        assert!(tabs(&[("a\tb", "a    b")]).is_some_and(|it| it.inside));
    }

    #[test]
    fn blanks_stay_outside_the_change() {
        assert_eq!(
            keep_blanks("\tx\t\t= 1\t// one", "    x       = 1    // one", "\tx       = 2    // one"),
            "\tx\t\t= 2\t// one"
        );
        assert_eq!(keep_blanks("a\tb", "a  b", "a  c  d"), "a\tc  d");
    }

    proptest! {
        /// Whatever the width, new lines are indented as the file would have them.
        #[test]
        fn new_lines_get_the_indentation_of_the_file(
            depths in proptest::collection::vec(0..5_usize, 1..6),
            new in 0..7_usize,
            width in 1..9_usize,
            to_tabs in any::<bool>(),
        ) {
            let line = |depth: usize, tabs: bool| match tabs {
                true => format!("{}x", "\t".repeat(depth)),
                false => format!("{}x", " ".repeat(depth * width)),
            };
            let lines: Vec<(String, String)> =
                depths.iter().map(|depth| (line(*depth, to_tabs), line(*depth, !to_tabs))).collect();
            let found = Tabs::between(lines.iter().map(|(there, written)| (there.as_str(), written.as_str())));
            prop_assert_eq!(found.is_some(), depths.iter().any(|depth| *depth > 0));
            if let Some(found) = found {
                prop_assert_eq!(found.apply(&line(new, !to_tabs)), line(new, to_tabs));
            }
        }
    }
}
