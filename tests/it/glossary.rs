//! Words that users and maintainers stumble over: none of them is in the docs, or in a comment or a text of the source.

use std::fs;

use regex::Regex;

use crate::source::{SourceFile, files, repository, rust_files, shown_path};

/// Each with the words to write instead.
const WORDS: &[(&str, &str)] = &[
    (r"mend(s|ed|ing)?", "fix"),
    (r"anew", "again"),
    (r"whoever", "anyone who"),
    (r"the person('s)?", "the user, you"),
    (r"(still )?goes on", "keeps running, continues"),
    (r"(is|are) (not )?let in", "is allowed in, is refused"),
    (r"struck", "removed"),
    (r"(lie|lies) (in|inside|outside|below|above|beside|before|beyond|within|there)", "is"),
    (r"by (itself|themselves)", "automatically, on its own"),
    (r"of mode 0600", "private (0600)"),
    (r"what is clear", "what is safe to fix"),
    (r"(is|are|was|were|be) looked at", "is checked, is read"),
    (r"(your|a) yes", "approval"),
    (r"(is|are) in order", "is valid"),
];

/// Files that quote other programs, or the words themselves.
const EXCEPT: &[&str] = &["docs/reference/"];

/// Returns the text without what is code: its comments and literals, line for line.
fn words_of(file: &SourceFile) -> String {
    let lines = file.text.lines().zip(file.code().lines());
    let blanked = lines.map(|(text, code)| {
        let mut code = code.chars();
        text.chars().map(|letter| if code.next() == Some(letter) { ' ' } else { letter }).collect::<String>()
    });
    blanked.map(|line| line + "\n").collect()
}

#[test]
fn docs_comments_and_texts_use_the_words_of_the_glossary() {
    let mut texts: Vec<(String, String)> = ["src", "crates"]
        .iter()
        .flat_map(|folder| rust_files(folder))
        .filter(|file| !file.path.contains("/tests"))
        .map(|file| (file.path.clone(), words_of(&file)))
        .collect();
    let pages = files("docs").into_iter().chain(["README.md", "SECURITY.md"].map(|it| repository().join(it)));
    let quoted = Regex::new(r"`[^`\n]*`").expect("a pattern");
    for page in pages.filter(|page| page.extension().is_some_and(|it| it == "md")) {
        let text = fs::read_to_string(&page).expect("a page is UTF-8");
        // Names of tests and of fields are quoted as they are.
        texts.push((shown_path(&page), quoted.replace_all(&text, "").into_owned()));
    }
    let mut found = Vec::new();
    for (word, instead) in WORDS {
        let word = Regex::new(&format!(r"(?i)\b{word}\b")).expect("a pattern");
        for (path, text) in &texts {
            if EXCEPT.iter().any(|except| path.starts_with(except)) {
                continue;
            }
            for hit in word.find_iter(text) {
                let line = text[..hit.end()].lines().count();
                found.push(format!("{path}:{line}: `{}`, write {instead}", hit.as_str()));
            }
        }
    }
    assert!(texts.len() > 500, "only {} texts were read", texts.len());
    assert!(found.is_empty(), "{} places:\n{}", found.len(), found.join("\n"));
}

/// Participles, metaphors and words without meaning, none of which is the whole name of a type.
const TYPE_WORDS: &str = "Found Place Places Standing Held Kept Shown Told Seen Asked Wanted Known Given Ready Wide Door Board \
    Guest Room Way House Yard Desk Hall Ground Spot Lasting Taken Made Begun Started Stopped Ended Done Gone Lost Left \
    Opened Closed Read Written Listed Named Chosen Judged Removed Replaced Added Changed Moved Noted Watched Printed \
    Around Surroundings What Then At Takes Whole Care Hold Meant Due Look Rest Ask Thing Work Nothing Fitted Placed \
    Applied Saved Used Checked Planned Failed Refused Received Typed Entered Forked Prepared Adopted Abandoned Attached \
    Counted Needed Shutting Adopting Taking Keeping Leaving Making Holding Climbing Feeding Beginning Finishing \
    Attempting Showing Ran Running Served Protected Incoming How Missing";

#[test]
fn no_type_is_named_by_a_participle_a_metaphor_or_a_word_without_meaning() {
    let words: Vec<&str> = TYPE_WORDS.split_whitespace().collect();
    let declared = Regex::new(r"\b(?:struct|enum|trait|type) (\w+)").expect("a pattern");
    let (mut types, mut found) = (0, Vec::new());
    let files = ["src", "crates", "tests", "benches"].iter().flat_map(|folder| rust_files(folder));
    // What is in `tests/code` is read by tests, not run.
    for file in files.filter(|file| !file.path.starts_with("tests/code/")) {
        for name in declared.captures_iter(file.code()).filter_map(|it| it.get(1)) {
            types += 1;
            if words.contains(&name.as_str()) {
                found.push(format!("{}: `{}`, write a noun of what it is", file.path, name.as_str()));
            }
        }
    }
    assert!(types > 1_500, "only {types} types were read");
    assert!(found.is_empty(), "{} types:\n{}", found.len(), found.join("\n"));
}
