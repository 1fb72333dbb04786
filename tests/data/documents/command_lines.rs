//! Every `bailiwick …` that a document shows is taken by the command line's own definition.

use bailiwick::adapters::cli::check_command_line;

use super::markdown::pages;

/// Words that stand for what a person fills in, and something that fits.
const PLACEHOLDERS: &[(&str, &str)] = &[
    ("COMMAND", "status"),
    ("OPERATION", "file.stat"),
    ("CAPABILITY", "fs:read"),
    ("CLIENT", "codex"),
    ("PRESET", "coding"),
    ("SHELL", "bash"),
];

/// Splits a line for a shell into its commands' words; what a shell would expand stays as it is written.
pub fn commands(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut is_redirection = false;
    let mut characters = line.chars().peekable();
    let end_word = |word: &mut Option<String>, commands: &mut Vec<Vec<String>>, is_redirection: &mut bool| {
        if let Some(word) = word.take()
            && !std::mem::take(is_redirection)
        {
            commands.last_mut().expect("there is one").push(word);
        }
    };
    while let Some(it) = characters.next() {
        match (quote, it) {
            (Some(open), _) if it == open => quote = None,
            (Some('"'), '\\') => word.get_or_insert_default().extend(characters.next()),
            (Some(_), _) => word.get_or_insert_default().push(it),
            (None, '\'' | '"') => {
                quote = Some(it);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().extend(characters.next()),
            (None, '#') if word.is_none() => break,
            (None, ' ' | '\t') => end_word(&mut word, &mut commands, &mut is_redirection),
            (None, '<' | '>') => {
                // The number of what is redirected belongs to the redirection.
                word = word.filter(|word| word.parse::<u8>().is_err());
                end_word(&mut word, &mut commands, &mut is_redirection);
                while characters.next_if(|next| matches!(next, '>' | '&')).is_some() {}
                is_redirection = true;
            }
            (None, '|' | ';' | '&') => {
                end_word(&mut word, &mut commands, &mut is_redirection);
                commands.push(Vec::new());
            }
            (None, _) => word.get_or_insert_default().push(it),
        }
    }
    end_word(&mut word, &mut commands, &mut is_redirection);
    commands.retain(|words| !words.is_empty());
    commands
}

/// Returns the words from `bailiwick` on, if a command starts it: by its name, behind variables, or behind `--`.
fn of_bailiwick(words: &[String]) -> Option<Vec<String>> {
    let first =
        words.iter().position(|word| !word.split_once('=').is_some_and(|(name, _)| is_variable(name)))?;
    let is_it = |word: &String| word == "bailiwick" || word.ends_with("/bailiwick");
    let at = if is_it(&words[first]) {
        first
    } else {
        let at = words.iter().position(|word| word == "--")? + 1;
        if !words.get(at).is_some_and(is_it) {
            return None;
        }
        at
    };
    Some(words[at..].to_vec())
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|it| it.is_ascii_uppercase() || it == '_')
}

/// Fills placeholders in, and leaves out what stands in brackets and dots.
fn filled(words: Vec<String>) -> Vec<String> {
    let mut filled = Vec::new();
    let mut depth = 0_usize;
    for (at, word) in words.into_iter().enumerate() {
        let opens = at > 0 && word.starts_with('[') && !word.starts_with("[\"");
        depth += usize::from(opens);
        let is_left_out = depth > 0 || word == "…" || word == "--FIELD";
        if depth > 0 && word.trim_end_matches('…').ends_with(']') {
            depth -= 1;
        }
        if is_left_out {
            continue;
        }
        // Where there are several, the first one is taken.
        let word = match word.split_once('|') {
            Some((first, _)) if at < 3 && !word.contains(' ') => first.to_owned(),
            _ => word,
        };
        let known = PLACEHOLDERS.iter().find(|(name, _)| *name == word);
        filled.push(known.map_or(word, |(_, value)| (*value).to_owned()));
    }
    filled
}

pub fn every_command_line_of_the_documents_is_understood() {
    let mut problems = Vec::new();
    let mut checked = 0;
    for page in pages() {
        let mut lines: Vec<(usize, String)> = Vec::new();
        for block in page.blocks() {
            let is_session = block.lines.iter().any(|line| line.starts_with("$ "));
            let mut joined: Option<(usize, String)> = None;
            for (at, line) in block.lines.iter().enumerate() {
                let text = match (&joined, line.strip_prefix("$ ")) {
                    (Some(_), _) => line.trim_start(),
                    (None, Some(typed)) => typed,
                    (None, None) if is_session => continue,
                    (None, None) => line,
                };
                let (begin, mut whole) = joined.take().unwrap_or((block.line + at + 1, String::new()));
                whole.push_str(text.trim_end_matches('\\'));
                if text.ends_with('\\') {
                    joined = Some((begin, whole));
                } else {
                    lines.push((begin, whole));
                }
            }
        }
        // In a sentence, a name alone is the program or a folder, and a command may be named without all that it needs.
        let named = page.spans().into_iter().filter(|(_, text)| text.starts_with("bailiwick "));
        let lines = lines.into_iter().map(|line| (line, false)).chain(named.map(|line| (line, true)));
        for ((at, line), is_named) in lines {
            for words in commands(&line).iter().filter_map(|words| of_bailiwick(words)).map(filled) {
                checked += 1;
                if let Err(misuse) = check_command_line(&words)
                    && !(is_named && misuse.is_incomplete)
                {
                    let said = misuse.said.trim().replace('\n', "\n    ");
                    problems.push(format!("{}:{at}: `{line}`\n    {said}", page.path));
                }
            }
        }
    }
    assert!(checked > 150, "the command lines were not found: {checked}");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

pub fn lines_for_a_shell_are_split_into_words() {
    let split = |line| commands(line);
    assert_eq!(split("a 'b c' \"d\" # e"), [["a", "b c", "d"]]);
    assert_eq!(split("a < b | c 2>/dev/null"), [vec!["a"], vec!["c"]]);
    assert_eq!(split("a > b && c\\ d"), [vec!["a"], vec!["c d"]]);
    assert_eq!(
        of_bailiwick(&split("A=b /x/bailiwick mcp")[0]),
        Some(vec!["/x/bailiwick".to_owned(), "mcp".to_owned()])
    );
    assert_eq!(
        of_bailiwick(&split("claude mcp add bailiwick -- bailiwick mcp")[0]).map(|words| words.len()),
        Some(2)
    );
    assert_eq!(of_bailiwick(&split("cargo run -- try")[0]), None);
    let wrong = ["bailiwick", "scope", "lits"].map(str::to_owned);
    assert!(check_command_line(&wrong).is_err());
    let wrong = ["bailiwick", "call", "file.read", "x", "--start-lime", "3"].map(str::to_owned);
    assert!(check_command_line(&wrong).is_err());
}
