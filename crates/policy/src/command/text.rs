//! Reading texts roughly: the words of a line, and what in a shell's text looks like commands.
//!
//! [`words`] reads what the user writes in rules. [`pieces`] is advice: it finds what it can in a text that
//! a shell would read, so that a rule that denies can say so. Nothing is ever allowed by what it finds.

use super::reading::names_of;

/// How many commands of a text are read.
pub const MAX_PIECES: usize = 512;
/// How deep substitutions and groups are followed.
const MAX_NESTED: usize = 24;
/// Shells, which read commands from their input where they get no script.
const SHELLS: &[&str] =
    &["bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "busybox"];

/// Splits a line into words at blanks; quotes hold a word together. `None` if a quote is not closed.
pub fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in line.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            Some(_) => word.get_or_insert_default().push(letter),
            None if letter == '"' || letter == '\'' => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            None if letter.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// Finds the commands in a text for a shell: each with its words as far as they are literal, a `$` where they are
/// not, and the files of its redirections last. Commands in substitutions, groups, loops and here-documents for a
/// shell are found as well; a text that does not parse is split roughly.
pub fn pieces(text: &str) -> Vec<Vec<String>> {
    pieces_at(text, 0)
}

fn pieces_at(text: &str, depth: usize) -> Vec<Vec<String>> {
    let mut scanner = Scanner::new(text);
    let has_end = scanner.list(None, depth).is_some();
    let mut found = scanner.found;
    // What one command prints can be what a shell reads.
    if !has_end || found.iter().any(|words| reads_its_input(words)) {
        found.extend(rough_pieces(text));
    }
    found.truncate(MAX_PIECES);
    found
}

fn reads_its_input(words: &[String]) -> bool {
    runs_a_shell(words) && words.last().is_some_and(|last| last.starts_with('-') || is_shell(last))
}

fn runs_a_shell(words: &[String]) -> bool {
    words.iter().any(|word| is_shell(word))
}

fn is_shell(word: &str) -> bool {
    names_of(word.rsplit('/').next().unwrap_or(word)).iter().any(|name| SHELLS.contains(&name.as_str()))
}

/// Splits a text at everything that could separate commands.
fn rough_pieces(text: &str) -> Vec<Vec<String>> {
    let parts = text.split(['\n', ';', '&', '|', '(', ')', '{', '}', '<', '>', '`']).take(MAX_PIECES);
    let words = parts.map(|part| {
        let words = part
            .split_whitespace()
            .map(|word| word.chars().filter(|it| !['"', '\'', '\\', '$'].contains(it)).collect());
        words.filter(|word: &String| !word.is_empty()).collect()
    });
    words.map(command_of).filter(|words| !words.is_empty()).collect()
}

/// Takes away what a shell reads before the program.
fn command_of(mut words: Vec<String>) -> Vec<String> {
    const KEYWORDS: &[&str] = &["then", "do", "else", "elif", "if", "while", "until", "!"];
    let skip =
        words.iter().take_while(|word| KEYWORDS.contains(&word.as_str()) || is_assignment(word)).count();
    words.drain(..skip);
    words
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
    })
}

/// The body of a here-document that is still to come.
struct HereDocument {
    delimiter: String,
    has_tabs: bool,
    is_literal: bool,
    is_for_a_shell: bool,
}

/// A command while it is read.
#[derive(Default)]
struct CommandBuilder {
    words: Vec<String>,
    files: Vec<String>,
    word: Option<String>,
    /// The next word is the file of a redirection.
    is_file: bool,
    /// How many here-documents were announced before it.
    documents: usize,
}

impl CommandBuilder {
    fn push(&mut self, letter: char) {
        self.word.get_or_insert_default().push(letter);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if self.is_file {
            self.files.push(word);
        } else {
            self.words.push(word);
        }
        self.is_file = false;
    }
}

struct Scanner {
    letters: Vec<char>,
    at: usize,
    found: Vec<Vec<String>>,
    documents: Vec<HereDocument>,
}

impl Scanner {
    fn new(text: &str) -> Self {
        Self { letters: text.chars().collect(), at: 0, found: Vec::new(), documents: Vec::new() }
    }

    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += 1;
        Some(letter)
    }

    fn take(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        self.at += usize::from(is_there);
        is_there
    }

    /// Reads commands up to a closing letter, or to the end. `None` where the text does not parse.
    fn list(&mut self, close: Option<char>, depth: usize) -> Option<()> {
        if depth > MAX_NESTED {
            return None;
        }
        let mut now = self.start();
        loop {
            let Some(letter) = self.next() else {
                self.end(now, depth);
                return close.is_none().then_some(());
            };
            let is_start = now.word.is_none();
            match letter {
                _ if Some(letter) == close => {
                    self.end(now, depth);
                    return Some(());
                }
                '\n' => {
                    now = self.end(now, depth);
                    self.bodies(depth)?;
                }
                '&' if self.peek() == Some('>') => {}
                ';' | '&' | '|' | ')' => now = self.end(now, depth),
                '(' => {
                    now = self.end(now, depth);
                    self.list(Some(')'), depth + 1)?;
                }
                ' ' | '\t' | '\r' => {
                    now.end_word();
                    // A group is a command of its own.
                    if !now.is_file && now.words.last().is_some_and(|word| word == "{" || word == "}") {
                        now.words.pop();
                        now = self.end(now, depth);
                    }
                }
                '#' if is_start => {
                    while self.peek().is_some_and(|it| it != '\n') {
                        self.at += 1;
                    }
                }
                '<' | '>' => self.redirection(letter, &mut now, depth)?,
                _ => self.part(letter, &mut now, depth)?,
            }
        }
    }

    fn start(&self) -> CommandBuilder {
        CommandBuilder { documents: self.documents.len(), ..CommandBuilder::default() }
    }

    /// Notes a command; returns the next, still empty.
    fn end(&mut self, mut now: CommandBuilder, depth: usize) -> CommandBuilder {
        now.end_word();
        let is_for_a_shell = runs_a_shell(&now.words);
        for document in self.documents.iter_mut().skip(now.documents) {
            document.is_for_a_shell = is_for_a_shell;
        }
        let mut words = command_of(now.words);
        if words.first().is_some_and(|word| word == "{" || word == "}") {
            words.remove(0);
            words = command_of(words);
        }
        if !words.is_empty() || !now.files.is_empty() {
            if words.is_empty() {
                // A redirection alone: no program.
                words.push(String::new());
            }
            words.extend(now.files);
            if self.found.len() < MAX_PIECES {
                self.found.push(words);
            }
        }
        debug_assert!(depth <= MAX_NESTED);
        self.start()
    }

    /// Reads what a letter begins that is within a word.
    fn part(&mut self, letter: char, now: &mut CommandBuilder, depth: usize) -> Option<()> {
        match letter {
            '\'' => loop {
                now.word.get_or_insert_default();
                match self.next()? {
                    '\'' => return Some(()),
                    other => now.push(other),
                }
            },
            '"' => {
                now.word.get_or_insert_default();
                self.quoted(Some('"'), now, depth)
            }
            '\\' => {
                match self.next() {
                    None | Some('\n') => {}
                    Some(other) => now.push(other),
                }
                Some(())
            }
            '`' => self.backquotes(now, depth),
            '$' => self.expansion(now, depth),
            other => {
                now.push(other);
                Some(())
            }
        }
    }

    /// Reads double quotes, or what is expanded as they are, up to a letter or to the end.
    fn quoted(&mut self, close: Option<char>, now: &mut CommandBuilder, depth: usize) -> Option<()> {
        loop {
            match self.next() {
                None => return close.is_none().then_some(()),
                Some(letter) if Some(letter) == close => return Some(()),
                Some('\\') => match self.next() {
                    None | Some('\n') => {}
                    Some(letter) => {
                        if !['"', '\\', '$', '`'].contains(&letter) {
                            now.push('\\');
                        }
                        now.push(letter);
                    }
                },
                Some('`') => self.backquotes(now, depth)?,
                Some('$') if matches!(self.peek(), Some('(' | '{')) => self.expansion(now, depth)?,
                Some(other) => now.push(other),
            }
        }
    }

    fn backquotes(&mut self, now: &mut CommandBuilder, depth: usize) -> Option<()> {
        let mut text = String::new();
        loop {
            match self.next()? {
                '`' => break,
                '\\' => text.push(self.next()?),
                other => text.push(other),
            }
        }
        now.push('$');
        if depth >= MAX_NESTED {
            return None;
        }
        self.found.extend(pieces_at(&text, depth + 1));
        Some(())
    }

    fn expansion(&mut self, now: &mut CommandBuilder, depth: usize) -> Option<()> {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                now.push('$');
                self.list(Some(')'), depth + 1)
            }
            Some('{') => {
                self.at += 1;
                now.push('$');
                if depth >= MAX_NESTED {
                    return None;
                }
                let mut inner = CommandBuilder::default();
                self.braces(&mut inner, depth + 1)
            }
            Some('\'') => {
                self.at += 1;
                now.word.get_or_insert_default();
                loop {
                    match self.next()? {
                        '\'' => return Some(()),
                        '\\' => now.push(self.next()?),
                        other => now.push(other),
                    }
                }
            }
            Some('"') => Some(()),
            _ => {
                now.push('$');
                Some(())
            }
        }
    }

    /// Reads `${…}`, whose value can hold substitutions.
    fn braces(&mut self, inner: &mut CommandBuilder, depth: usize) -> Option<()> {
        loop {
            match self.next()? {
                '}' => return Some(()),
                letter => self.part(letter, inner, depth)?,
            }
        }
    }

    fn redirection(&mut self, letter: char, now: &mut CommandBuilder, depth: usize) -> Option<()> {
        // The number before it is a descriptor.
        if now.word.as_ref().is_some_and(|word| word.bytes().all(|it| it.is_ascii_digit())) {
            now.word = None;
        }
        now.end_word();
        if self.peek() == Some('(') {
            self.at += 1;
            now.push('$');
            return self.list(Some(')'), depth + 1);
        }
        if letter == '<' && self.take('<') {
            if self.take('<') {
                now.is_file = true;
                return Some(());
            }
            return self.document(now);
        }
        while matches!(self.peek(), Some('>' | '|' | '&')) {
            self.at += 1;
        }
        now.is_file = true;
        Some(())
    }

    /// Reads the delimiter of a here-document.
    fn document(&mut self, now: &mut CommandBuilder) -> Option<()> {
        let has_tabs = self.take('-');
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.at += 1;
        }
        let (mut delimiter, mut is_literal, mut quote) = (String::new(), false, None);
        while let Some(letter) = self.peek() {
            match (letter, quote) {
                (it, Some(open)) if it == open => quote = None,
                (it, Some(_)) => delimiter.push(it),
                ('\'' | '"', None) => {
                    quote = Some(letter);
                    is_literal = true;
                }
                ('\\', None) => is_literal = true,
                (' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')', None) => break,
                (it, None) => delimiter.push(it),
            }
            self.at += 1;
        }
        now.word = None;
        (quote.is_none() && !delimiter.is_empty()).then(|| {
            self.documents.push(HereDocument { delimiter, has_tabs, is_literal, is_for_a_shell: false });
        })
    }

    /// Reads the bodies of the here-documents that a line has announced.
    fn bodies(&mut self, depth: usize) -> Option<()> {
        for document in std::mem::take(&mut self.documents) {
            let mut body = String::new();
            loop {
                if self.at >= self.letters.len() {
                    break;
                }
                let rest = &self.letters[self.at..];
                let length = rest.iter().position(|it| *it == '\n').unwrap_or(rest.len());
                let line: String = rest[..length].iter().collect();
                self.at += (length + 1).min(rest.len());
                let shown = if document.has_tabs { line.trim_start_matches('\t') } else { &line };
                if shown == document.delimiter {
                    break;
                }
                body.push_str(shown);
                body.push('\n');
            }
            if depth >= MAX_NESTED {
                return None;
            }
            if document.is_for_a_shell {
                self.found.extend(pieces_at(&body, depth + 1));
            } else if !document.is_literal {
                let mut inner = Scanner::new(&body);
                inner.quoted(None, &mut CommandBuilder::default(), depth + 1)?;
                self.found.extend(inner.found);
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(text: &str) -> Vec<String> {
        pieces(text).into_iter().map(|words| words.join(" ")).collect()
    }

    #[test]
    fn the_commands_of_a_text_are_found_with_their_words() {
        for (text, expected) in [
            (
                "cd x && FOO=1 .venv/bin/pytest -q 2>&1 | tail -20",
                &["cd x", ".venv/bin/pytest -q 1", "tail -20"][..],
            ),
            ("for f in *.c; do wc -l \"$f\"; done", &["for f in *.c", "wc -l $f", "done"]),
            (
                "if git diff --quiet; then echo a; else git push; fi",
                &["git diff --quiet", "echo a", "git push", "fi"],
            ),
            ("x=$(git push) && echo \"`git pull`\"", &["git push", "git pull", "echo $"]),
            ("echo 'a; git push' \"b && c\" # git push", &["echo a; git push b && c"]),
            ("g\"it\" 'pu'sh\\ x", &["git push x"]),
            ("cat > a.txt <<'EOF'\ngit push $(git pull)\nEOF\nls", &["cat a.txt", "ls"]),
            ("cat <<EOF | tee b\n$(git pull)\nEOF", &["cat", "tee b", "git pull"]),
            ("bash -s <<-EOF\n\tgit push\n\tEOF\nls", &["bash -s", "git push", "ls"]),
            ("f() { git push; }; f", &["f", "git push", "f"]),
            ("{ git push; } >log 2>&1", &["git push", " log 1"]),
            ("x=$(<a.txt)", &[" a.txt"]),
            ("(cd a; git push)", &["cd a", "git push"]),
            ("diff <(git show a) <(git show b)", &["git show a", "git show b", "diff $ $"]),
            ("echo ${x:-$(git push)}", &["git push", "echo $"]),
            ("make 2>/dev/null >out", &["make /dev/null out"]),
            ("ls &> log && pwd", &["ls log", "pwd"]),
        ] {
            let mut found = lines(text);
            found.retain(|line| !line.is_empty());
            if text.starts_with("bash -s") {
                // What a shell reads can be anything in the text.
                found.truncate(expected.len());
            }
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn what_does_not_parse_or_is_piped_into_a_shell_is_split_roughly() {
        for text in ["echo 'a; git push", "echo \"git push\" | sh", "printf %s 'x; git push' | /bin/bash -e"]
        {
            assert!(lines(text).iter().any(|line| line == "git push" || line == "echo git push"), "{text}");
        }
        let deep = format!("{}git push{}", "(".repeat(200), ")".repeat(200));
        assert!(lines(&deep).contains(&"git push".to_owned()));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in any::<String>(), shell in "[a-z$(){}<>`'\"\\\\;&|\n #-]{0,60}") {
            pieces(&text);
            pieces(&shell);
        }
    }
}
