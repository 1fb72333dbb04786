//! Finding lines in a text, tier by tier: the first tier that fits anywhere counts, no later one is tried.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use bailiwick_contract::{Cancel, Failure};

use super::tabs::Tabs;
use super::text::{Text, body, lines_of};
use super::tier::Tier;

/// How a text's indentation differs from the one that was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shift {
    /// Not at all.
    None,
    /// Every line of the file has this more at its start.
    Deeper(String),
    /// Every line of the file has this less at its start.
    Shallower(String),
    /// With tabs instead of spaces, or the other way round.
    Tabs(Tabs),
}

/// A place that fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The first line, counted from 0.
    pub line: usize,
    /// How it is indented.
    pub shift: Shift,
}

/// The lines of a text by what each tier compares; made once for each tier that is asked.
#[derive(Debug)]
pub struct Index<'a> {
    text: &'a Text,
    cancel: &'a Cancel,
    by_tier: HashMap<Tier, HashMap<u64, Vec<usize>>>,
    /// How many lines were looked for by going through the text.
    searches: usize,
}

/// How many lines are looked for by going through the text, before it is worth an index.
const MAX_SEARCHES: usize = 8;
/// How many places of lines are counted at most.
pub const MAX_PLACES: usize = 100_000;
/// How many bytes may be compared place by place, before all lines are compared in one pass.
const MAX_COMPARED_BYTES: usize = 4 << 20;
/// How many steps are taken between two looks at the clock.
const STEPS: usize = 4_096;

impl<'a> Index<'a> {
    /// Prepares a text. `cancel` ends searches that take too long.
    pub fn new(text: &'a Text, cancel: &'a Cancel) -> Self {
        Self { text, cancel, by_tier: HashMap::new(), searches: 0 }
    }

    /// Returns what ends searches.
    pub fn cancel(&self) -> &'a Cancel {
        self.cancel
    }

    /// Returns the text.
    pub fn text(&self) -> &'a Text {
        self.text
    }

    /// Finds the places where these lines are, by one tier, in order: all, or one more than [`MAX_PLACES`]. Places may
    /// overlap.
    ///
    /// # Errors
    /// `timeout`, `cancelled`.
    pub fn find(&mut self, old: &[&str], tier: Tier) -> Result<Vec<Match>, Failure> {
        let text = self.text;
        if old.is_empty() || old.len() > text.len() {
            return Ok(Vec::new());
        }
        // The line that tells most is looked up, those around it are compared.
        let (probe, line) = old
            .iter()
            .enumerate()
            .max_by_key(|(at, line)| (line.trim().len(), std::cmp::Reverse(*at)))
            .expect("there is a line");
        let found = self.lines_like(line, tier)?;
        let starts = found.into_iter().filter_map(|index| index.checked_sub(probe));
        let mut starts: Vec<usize> = starts.filter(|start| start + old.len() <= text.len()).collect();
        let bytes: usize = old.iter().map(|line| line.len()).sum();
        if starts.len().saturating_mul(bytes) > MAX_COMPARED_BYTES {
            // Lines that are like many others: compared place by place they would take for ever.
            starts = self.in_one_pass(old, tier)?;
        } else {
            starts.retain(|start| same_lines(text, *start, old, tier));
        }
        let mut places = Vec::new();
        for (at, start) in starts.into_iter().enumerate() {
            if at % (STEPS / old.len().min(STEPS)).max(1) == 0 {
                self.cancel.check()?;
            }
            places.extend(shift_at(text, start, old, tier).map(|shift| Match { line: start, shift }));
            if places.len() > MAX_PLACES {
                break;
            }
        }
        Ok(places)
    }

    /// Finds the lines that are like one, by what a tier compares.
    fn lines_like(&mut self, line: &str, tier: Tier) -> Result<Vec<usize>, Failure> {
        let text = self.text;
        if tier == Tier::Exact && self.searches < MAX_SEARCHES {
            self.searches += 1;
            let found = find_text(text.content(), line, self.cancel)?.into_iter().filter_map(|at| {
                let index = text.line_at(at);
                (text.start(index) == at && text.line(index) == line).then_some(index)
            });
            return Ok(found.collect());
        }
        let lines = self.by_tier.entry(tier).or_insert_with(|| {
            let mut lines: HashMap<u64, Vec<usize>> = HashMap::with_capacity(text.len());
            for index in 0..text.len() {
                lines.entry(hash(&key(text.line(index), tier))).or_default().push(index);
            }
            lines
        });
        Ok(lines.get(&hash(&key(line, tier))).cloned().unwrap_or_default())
    }

    /// Finds where these lines begin, each line of the text compared once.
    ///
    /// # Source
    /// Knuth, Morris, Pratt: Fast pattern matching in strings (1977).
    fn in_one_pass(&self, old: &[&str], tier: Tier) -> Result<Vec<usize>, Failure> {
        let mut numbers: HashMap<Cow<'_, str>, u32> = HashMap::new();
        let mut wanted = Vec::with_capacity(old.len());
        for line in old {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            wanted.push(*numbers.entry(key(line, tier)).or_insert(next));
        }
        let borders = borders(&wanted);
        let mut found = Vec::new();
        let mut matched = 0;
        for index in 0..self.text.len() {
            if index % STEPS == 0 {
                self.cancel.check()?;
            }
            let number = numbers.get(&key(self.text.line(index), tier));
            while matched > 0 && (matched == wanted.len() || number != Some(&wanted[matched])) {
                matched = borders[matched - 1];
            }
            if number == Some(&wanted[matched]) {
                matched += 1;
            }
            if matched == wanted.len() {
                found.push(index + 1 - matched);
            }
        }
        Ok(found)
    }
}

/// Returns for every beginning of a pattern how much of it is at its own end, too.
fn borders<T: PartialEq>(pattern: &[T]) -> Vec<usize> {
    let mut borders = vec![0; pattern.len()];
    let mut length = 0;
    for at in 1..pattern.len() {
        while length > 0 && pattern[at] != pattern[length] {
            length = borders[length - 1];
        }
        length += usize::from(pattern[at] == pattern[length]);
        borders[at] = length;
    }
    borders
}

/// Finds every place where an old text begins in another, byte for byte. Places that overlap are places too.
///
/// # Errors
/// `timeout`, `cancelled`.
pub fn find_text(content: &str, old: &str, cancel: &Cancel) -> Result<Vec<usize>, Failure> {
    let (content, old) = (content.as_bytes(), old.as_bytes());
    let mut found = Vec::new();
    if old.is_empty() || old.len() > content.len() {
        return Ok(found);
    }
    let borders = borders(old);
    let period = old.len() - borders[old.len() - 1];
    if period * 2 > old.len() {
        // Places are far enough from each other: what is compared twice is no more than the text.
        let finder = memchr::memmem::Finder::new(old);
        let mut from = 0;
        while let Some(at) = content.get(from..).and_then(|rest| finder.find(rest)) {
            found.push(from + at);
            from += at + period;
            if found.len() % STEPS == 0 {
                cancel.check()?;
            }
        }
        return Ok(found);
    }
    let mut matched = 0;
    for (at, byte) in content.iter().enumerate() {
        if at % (STEPS * 16) == 0 {
            cancel.check()?;
        }
        while matched > 0 && (matched == old.len() || *byte != old[matched]) {
            matched = borders[matched - 1];
        }
        matched += usize::from(*byte == old[matched]);
        if matched == old.len() {
            found.push(at + 1 - matched);
        }
    }
    Ok(found)
}

/// Returns what a tier compares of a line.
fn key(line: &str, tier: Tier) -> Cow<'_, str> {
    match tier {
        Tier::Exact | Tier::Anchor => Cow::Borrowed(line),
        Tier::LineEndings => Cow::Borrowed(bare(line)),
        Tier::TrailingSpace => Cow::Borrowed(trim_end(bare(line))),
        Tier::Indentation => Cow::Borrowed(bare(line).trim_matches(is_blank)),
        Tier::Tabs => {
            let line = bare(line).trim_matches(is_blank);
            match line.contains('\t') || line.contains("  ") {
                true => Cow::Owned(
                    line.split(is_blank).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "),
                ),
                false => Cow::Borrowed(line),
            }
        }
        Tier::Unicode => match plain(bare(line)) {
            Cow::Borrowed(line) => Cow::Borrowed(line.trim_matches(is_blank)),
            Cow::Owned(line) => Cow::Owned(line.trim_matches(is_blank).to_owned()),
        },
    }
}

/// Returns whether lines are at a place, by what a tier compares.
fn same_lines(text: &Text, start: usize, old: &[&str], tier: Tier) -> bool {
    let mut pairs = old.iter().enumerate().map(|(at, line)| (text.line(start + at), *line));
    pairs.all(|(there, line)| key(there, tier) == key(line, tier))
}

/// Returns how lines that are at a place are indented there; none if each of them is otherwise.
fn shift_at(text: &Text, start: usize, old: &[&str], tier: Tier) -> Option<Shift> {
    let pairs = || old.iter().enumerate().map(|(at, line)| (text.line(start + at), *line));
    match tier {
        Tier::Exact | Tier::Anchor | Tier::LineEndings | Tier::TrailingSpace => Some(Shift::None),
        Tier::Tabs => {
            Tabs::between(pairs().map(|(there, line)| (trim_end(bare(there)), trim_end(bare(line)))))
                .map(Shift::Tabs)
        }
        Tier::Indentation | Tier::Unicode => {
            let mut shift = None;
            for (there, line) in pairs() {
                let (there, line) = (trim_end(bare(there)), trim_end(bare(line)));
                if line.trim_matches(is_blank).is_empty() {
                    continue;
                }
                let own = shift_of(indentation(there), indentation(line))?;
                if shift.get_or_insert_with(|| own.clone()) != &own {
                    return None;
                }
            }
            // Blank lines alone say nothing about indentation.
            shift
        }
    }
}

fn shift_of(there: &str, line: &str) -> Option<Shift> {
    if there == line {
        return Some(Shift::None);
    }
    match (there.strip_suffix(line), line.strip_suffix(there)) {
        (Some(more), _) => Some(Shift::Deeper(more.to_owned())),
        (None, Some(less)) => Some(Shift::Shallower(less.to_owned())),
        (None, None) => None,
    }
}

impl Shift {
    /// Indents a new line as the old ones are; `None` for one that lacks what the others have too much.
    pub fn apply<'a>(&self, line: &'a str) -> Option<Cow<'a, str>> {
        match self {
            _ if line.is_empty() => Some(Cow::Borrowed(line)),
            Self::None => Some(Cow::Borrowed(line)),
            // A line of blanks alone can have fewer than the others.
            Self::Shallower(less) if line.trim_matches(is_blank).is_empty() => {
                Some(Cow::Borrowed(line.strip_prefix(less.as_str()).unwrap_or(line)))
            }
            Self::Deeper(more) => Some(Cow::Owned(format!("{more}{line}"))),
            Self::Shallower(less) => line.strip_prefix(less.as_str()).map(Cow::Borrowed),
            Self::Tabs(tabs) => Some(Cow::Owned(tabs.apply(line))),
        }
    }
}

/// Keeps the file's own quotes, dashes and spaces at both ends of a line, up to where it changes.
///
/// `there` is the line of the file, `old` the same line as it was written, `new` what shall be there.
pub fn keep_typography(there: &str, old: &str, new: &str) -> String {
    let (there_trimmed, old_trimmed) = (there.trim_matches(is_blank), old.trim_matches(is_blank));
    let new_trimmed = new.trim_matches(is_blank);
    let there_chars: Vec<char> = there_trimmed.chars().collect();
    let old_chars: Vec<char> = old_trimmed.chars().collect();
    let new_chars: Vec<char> = new_trimmed.chars().collect();
    if there_chars.len() != old_chars.len() || new_trimmed.is_empty() {
        return new.to_owned();
    }
    let most = old_chars.len().min(new_chars.len());
    let first = (0..most).take_while(|at| old_chars[*at] == new_chars[*at]).count();
    let last = (0..most - first)
        .take_while(|at| old_chars[old_chars.len() - 1 - at] == new_chars[new_chars.len() - 1 - at])
        .count();
    let mut line: String = new[..indentation(new).len()].to_owned();
    line.extend(&there_chars[..first]);
    line.extend(&new_chars[first..new_chars.len() - last]);
    line.extend(&there_chars[there_chars.len() - last..]);
    line.push_str(&new[trim_end(new).len()..]);
    line
}

fn hash(key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

pub(super) fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t')
}

fn trim_end(line: &str) -> &str {
    line.trim_end_matches(is_blank)
}

/// Returns a line without its end, also where it was cut between the two bytes of one.
fn bare(line: &str) -> &str {
    let line = body(line);
    line.strip_suffix('\r').unwrap_or(line)
}

pub(super) fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches(is_blank).len()]
}

/// Replaces quotes, dashes and spaces by those of ASCII, one for one.
fn plain(line: &str) -> Cow<'_, str> {
    if line.is_ascii() {
        return Cow::Borrowed(line);
    }
    let plain = |character| match character {
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' | '\u{2032}' | '\u{02bc}' | '\u{00b4}' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' | '\u{2033}' | '\u{00ab}' | '\u{00bb}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => '-',
        '\u{00a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    };
    Cow::Owned(line.chars().map(plain).collect())
}

/// Returns which lines of an old text stay, go and come, as a hunk does.
pub fn as_hunk(old: &str, new: &str) -> super::Hunk {
    use super::hunk::Mark;

    let (mut olds, mut news) = (lines_of(old), lines_of(new));
    if !old.ends_with('\n') && new.ends_with('\n') {
        // What follows the old text on its line comes after the new text's last line end.
        news.push("");
    }
    let same = |a: &str, b: &str| bare(a) == bare(b);
    let first = olds.iter().zip(&news).take_while(|(a, b)| same(a, b)).count();
    let last = olds[first..].iter().rev().zip(news[first..].iter().rev()).take_while(|(a, b)| same(a, b));
    let last = last.count();
    let (tail_old, tail_new) = (olds.split_off(olds.len() - last), news.split_off(news.len() - last));
    let (middle_old, middle_new) = (olds.split_off(first), news.split_off(first));
    debug_assert_eq!(tail_old.len(), tail_new.len());
    let mut lines: Vec<(Mark, String)> = Vec::new();
    let mut push = |mark, line: &str| lines.push((mark, line.to_owned()));
    olds.iter().for_each(|line| push(Mark::Context, line));
    for (mark, line) in middle(&middle_old, &middle_new) {
        push(mark, line);
    }
    tail_old.iter().for_each(|line| push(Mark::Context, line));
    super::Hunk { lines, ..super::Hunk::default() }
}

/// The most pairs of lines that are compared; larger changes are taken as a whole.
const MAX_PAIRS: usize = 4_000_000;

/// Compares lines by their longest common subsequence.
fn middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(super::hunk::Mark, &'a str)> {
    use super::hunk::Mark;

    let all = |mark, lines: &[&'a str]| lines.iter().map(move |line| (mark, *line)).collect::<Vec<_>>();
    if old.len().saturating_mul(new.len()) > MAX_PAIRS {
        return [all(Mark::Remove, old), all(Mark::Add, new)].concat();
    }
    let width = new.len() + 1;
    let mut longest = vec![0_u32; (old.len() + 1) * width];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            longest[a * width + b] = if bare(old[a]) == bare(new[b]) {
                longest[(a + 1) * width + b + 1] + 1
            } else {
                longest[(a + 1) * width + b].max(longest[a * width + b + 1])
            };
        }
    }
    let (mut a, mut b, mut lines) = (0, 0, Vec::new());
    while a < old.len() || b < new.len() {
        if a < old.len() && b < new.len() && bare(old[a]) == bare(new[b]) {
            lines.push((Mark::Context, old[a]));
            (a, b) = (a + 1, b + 1);
        } else if b == new.len()
            || (a < old.len() && longest[(a + 1) * width + b] >= longest[a * width + b + 1])
        {
            lines.push((Mark::Remove, old[a]));
            a += 1;
        } else {
            lines.push((Mark::Add, new[b]));
            b += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tier_of(file: &str, old: &str) -> Option<(Tier, usize)> {
        let text = Text::new(file.to_owned());
        let cancel = endless();
        let mut index = Index::new(&text, &cancel);
        Tier::OF_TEXT.into_iter().find_map(|tier| {
            let found = index.find(&lines_of(old), tier).expect("there is time");
            (!found.is_empty()).then_some((tier, found.len()))
        })
    }

    #[test]
    fn the_closest_tier_that_fits_counts() {
        assert_eq!(tier_of("a\nb\n", "a\nb\n"), Some((Tier::Exact, 1)));
        assert_eq!(tier_of("a\r\nb\r\n", "a\nb\n"), Some((Tier::LineEndings, 1)));
        assert_eq!(tier_of("a\nb", "a\nb\n"), Some((Tier::LineEndings, 1)));
        assert_eq!(tier_of("a \t\nb\n", "a\nb\n"), Some((Tier::TrailingSpace, 1)));
        assert_eq!(tier_of("    a\n\n      b\n", "a\n\n  b\n"), Some((Tier::Indentation, 1)));
        assert_eq!(tier_of("a\n  b\n", "  a\n    b\n"), Some((Tier::Indentation, 1)));
        assert_eq!(tier_of("say “x” – y\n", "say \"x\" - y\n"), Some((Tier::Unicode, 1)));
        assert_eq!(tier_of("    a\n      b\n", "a\n b\n"), None);
        assert_eq!(tier_of("  a\n\tb\n", "a\nb\n"), None);
        assert_eq!(tier_of("\ta\n\t\tb\n", "  a\n    b\n"), Some((Tier::Tabs, 1)));
        assert_eq!(tier_of("a\tb\n", "a   b\n"), Some((Tier::Tabs, 1)));
        assert_eq!(tier_of("a\na\na\n", "a\na\n"), Some((Tier::Exact, 2)));
    }

    #[test]
    fn lines_of_blanks_alone_are_indented_as_the_others_are() {
        let deeper = Shift::Deeper("  ".to_owned());
        let shallower = Shift::Shallower("  ".to_owned());
        assert_eq!(deeper.apply("").as_deref(), Some(""));
        assert_eq!(deeper.apply("  ").as_deref(), Some("    "));
        assert_eq!(shallower.apply("").as_deref(), Some(""));
        assert_eq!(shallower.apply(" ").as_deref(), Some(" "));
        assert_eq!(shallower.apply("   ").as_deref(), Some(" "));
        assert_eq!(shallower.apply("a"), None);
    }

    #[test]
    fn typography_stays_outside_the_change() {
        assert_eq!(keep_typography("  “a” – b", "\"a\" - b", "  \"a\" - c"), "  “a” – c");
        assert_eq!(keep_typography("“a”", "\"a\"", "b"), "b");
    }

    fn endless() -> Cancel {
        Cancel::after(std::time::Duration::from_secs(3_600))
    }

    #[test]
    fn overlapping_places_are_places() {
        let find = |content, old| find_text(content, old, &endless()).expect("there is time");
        assert_eq!(find("aaa", "aa"), [0, 1]);
        assert_eq!(find("éé", "é"), [0, 2]);
        assert_eq!(find("ééé", "éé"), [0, 2]);
        assert_eq!(find("abcabcabc", "abcabc"), [0, 3]);
        assert_eq!(find("abab", "ba"), [1]);
        assert!(find("a", "aa").is_empty() && find("", "a").is_empty() && find("a", "").is_empty());
    }

    #[test]
    fn repeated_lines_and_texts_are_found_in_linear_time() {
        // Place by place these are 10^10 and more comparisons, which the runner ends after three minutes. No clock is read
        // here: on a busy computer it says nothing of the search.
        let file = "aaaa\n".repeat(300_000);
        let text = Text::new(file.clone());
        let cancel = endless();
        let mut index = Index::new(&text, &cancel);
        let (same, other) = ("aaaa\n".repeat(20_000), format!("{}b\n", "aaaa\n".repeat(20_000)));
        for tier in Tier::OF_TEXT {
            assert!(index.find(&lines_of(&other), tier).expect("there is time").is_empty(), "{tier:?}");
        }
        let places = index.find(&lines_of(&same), Tier::TrailingSpace).expect("there is time");
        assert_eq!(places.len(), MAX_PLACES + 1);
        assert!(find_text(&file, &other, &cancel).expect("there is time").is_empty());
        assert_eq!(find_text(&file, &same, &cancel).expect("there is time").len(), 280_001);
    }

    #[test]
    fn a_search_ends_with_its_time() {
        let text = Text::new("  a\n".repeat(200_000));
        let cancel = Cancel::after(std::time::Duration::from_secs(3_600));
        cancel.cancel();
        let old = "a\n".repeat(50_000);
        let mut index = Index::new(&text, &cancel);
        assert!(index.find(&lines_of(&old), Tier::Indentation).is_err());
        assert!(find_text(text.content(), &"  a\n".repeat(9), &cancel).is_err());
    }

    proptest::proptest! {
        #[test]
        fn one_pass_finds_what_place_by_place_does(content in "[ab\n]{0,60}", old in "[ab\n]{1,9}") {
            let text = Text::new(content.clone());
            let cancel = endless();
            let index = Index::new(&text, &cancel);
            let lines = lines_of(&old);
            let starts: Vec<usize> = (0..(text.len() + 1).saturating_sub(lines.len()))
                .filter(|start| same_lines(&text, *start, &lines, Tier::Exact))
                .collect();
            proptest::prop_assert_eq!(index.in_one_pass(&lines, Tier::Exact).expect("there is time"), starts);
            let places: Vec<usize> = (0..content.len()).filter(|at| content[*at..].starts_with(&old)).collect();
            proptest::prop_assert_eq!(find_text(&content, &old, &cancel).expect("there is time"), places);
        }
    }
}
