//! The file of an application: whether it can open something, and by which command. Mathematics only.

/// What is said of an application.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DesktopEntry {
    /// Its command line, as it is written.
    exec: String,
    /// Whether it needs a terminal.
    pub needs_terminal: bool,
    /// The types that it opens, as they are written.
    types: String,
}

/// What is opened.
#[derive(Debug, Clone, Copy)]
pub enum OpenTarget<'a> {
    /// A file, by its full path.
    Path(&'a str),
    /// An address.
    Url(&'a str),
}

impl DesktopEntry {
    /// Reads the group of an application. None for one that is hidden, or is none.
    pub fn read(text: &str) -> Option<Self> {
        let lines = text.lines().map(str::trim).skip_while(|line| *line != "[Desktop Entry]").skip(1);
        let pairs = lines.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once('='));
        let (mut exec, mut is_application, mut is_hidden, mut needs_terminal) = (None, false, false, false);
        let mut types = String::new();
        for (key, value) in pairs {
            let value = value.trim();
            match key.trim() {
                "Exec" => exec = Some(unescaped(value)),
                "Type" => is_application = value == "Application",
                "Hidden" => is_hidden = value == "true",
                "Terminal" => needs_terminal = value == "true",
                "MimeType" => types = value.to_owned(),
                _ => {}
            }
        }
        let exec = exec.filter(|_| is_application && !is_hidden)?;
        Some(Self { exec, needs_terminal, types })
    }

    /// Returns whether it says that it opens a type.
    pub fn opens(&self, mime_type: &str) -> bool {
        self.types.split(';').any(|it| it.trim() == mime_type)
    }

    /// Returns the words of the command that opens something. None where the command takes nothing, or cannot be read.
    pub fn command(&self, opened: OpenTarget<'_>) -> Option<Vec<String>> {
        let mut words = Vec::new();
        let mut is_taken = false;
        for (word, is_quoted) in split(&self.exec)? {
            match (word.as_str(), opened) {
                ("%f" | "%F", OpenTarget::Path(path)) if !is_quoted => {
                    words.push(path.to_owned());
                    is_taken = true;
                }
                ("%u" | "%U", OpenTarget::Path(path)) if !is_quoted => {
                    words.push(file_url(path));
                    is_taken = true;
                }
                ("%u" | "%U", OpenTarget::Url(url)) if !is_quoted => {
                    words.push(url.to_owned());
                    is_taken = true;
                }
                ("%i" | "%c" | "%k" | "%d" | "%D" | "%n" | "%N" | "%v" | "%m", _) => {}
                // Codes within words are for nothing that is opened here.
                _ if word.replace("%%", "").contains('%') => return None,
                _ => words.push(word.replace("%%", "%")),
            }
        }
        is_taken.then_some(words)
    }
}

/// Reads the escapes of a value.
fn unescaped(value: &str) -> String {
    let mut read = String::new();
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match (character, characters.clone().next()) {
            ('\\', Some(next @ ('s' | 'n' | 't' | 'r' | '\\'))) => {
                characters.next();
                read.push(match next {
                    's' => ' ',
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    _ => '\\',
                });
            }
            _ => read.push(character),
        }
    }
    read
}

/// Splits a command line into words, with whether any of each was in quotes. None where a quote does not end.
fn split(line: &str) -> Option<Vec<(String, bool)>> {
    let mut words = Vec::new();
    let (mut word, mut is_quoted, mut is_inside) = (String::new(), false, false);
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => {
                is_inside = !is_inside;
                is_quoted = true;
            }
            '\\' if is_inside => word.push(characters.next()?),
            ' ' | '\t' if !is_inside => {
                if !word.is_empty() || is_quoted {
                    words.push((std::mem::take(&mut word), std::mem::take(&mut is_quoted)));
                }
            }
            it => word.push(it),
        }
    }
    if is_inside {
        return None;
    }
    if !word.is_empty() || is_quoted {
        words.push((word, is_quoted));
    }
    Some(words)
}

/// Writes a full path as an address.
fn file_url(path: &str) -> String {
    let mut url = "file://".to_owned();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                url.push(byte.into());
            }
            _ => url.push_str(&format!("%{byte:02X}")),
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_what_is_opened_as_one_word_and_nothing_of_it_is_read() {
        let entry =
            |exec: &str| DesktopEntry { exec: exec.to_owned(), needs_terminal: false, types: String::new() };
        let path = OpenTarget::Path("/a/b c;d\"%f.txt");
        for (exec, opened, expected) in [
            ("view %f", path, Some(vec!["view", "/a/b c;d\"%f.txt"])),
            ("view --new %U", path, Some(vec!["view", "--new", "file:///a/b%20c%3Bd%22%25f.txt"])),
            ("\"my view\" \"a \\\"b\\\"\" %i %F", path, Some(vec!["my view", "a \"b\"", "/a/b c;d\"%f.txt"])),
            ("view 100%% %u", OpenTarget::Url("http://x/"), Some(vec!["view", "100%", "http://x/"])),
            ("view %f", OpenTarget::Url("http://x/"), None),
            ("view", path, None),
            ("view --file=%f", path, None),
            ("view \"%f", path, None),
        ] {
            let expected = expected.map(|words| words.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(entry(exec).command(opened), expected, "{exec}");
        }
    }

    #[test]
    fn an_entry_is_read_of_its_own_group_and_one_that_is_hidden_is_none() {
        let read = |text: &str| DesktopEntry::read(text).map(|it| (it.exec, it.needs_terminal));
        let text = "[Desktop Entry]\nType=Application\nExec=view\\s%f\nTerminal=true\n[Desktop Action New]\nExec=other\n";
        assert_eq!(read(text), Some(("view %f".to_owned(), true)));
        assert_eq!(read(&text.replace("Terminal=true", "Hidden=true")), None);
        assert_eq!(read(&text.replace("Application", "Link")), None);
        assert_eq!(read("Exec=view\n"), None);
    }
}
