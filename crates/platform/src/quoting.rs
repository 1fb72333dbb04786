//! Words as a person types them in a shell.

use super::dirs::System;

/// Quotes a word for the shell of this system, if it needs it.
pub fn quote(word: &str) -> String {
    quote_for(System::THIS, word)
}

/// Writes a program with its arguments as a line for the shell of this system.
pub fn quote_command<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    quote_command_for(System::THIS, words)
}

fn quote_command_for<'a>(system: System, words: impl IntoIterator<Item = &'a str>) -> String {
    let line = words.into_iter().map(|word| quote_for(system, word)).collect::<Vec<_>>().join(" ");
    // A quoted word at the beginning is a text to PowerShell, unless it is called.
    if system == System::Windows && line.starts_with('\'') { format!("& {line}") } else { line }
}

/// Quotes a word for a POSIX shell, or for PowerShell on Windows.
fn quote_for(system: System, word: &str) -> String {
    let (further, escaped) = if system == System::Windows { ('\\', "''") } else { ('/', r"'\''") };
    let plain = |it: char| it.is_ascii_alphanumeric() || "/._-=:@%+,".contains(it) || it == further;
    // In PowerShell these stand for something at the beginning of a word, and a comma makes a list.
    let is_special = system == System::Windows && (word.starts_with(['@', '%']) || word.contains(','));
    if !word.is_empty() && !is_special && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', escaped))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_the_shell_only_where_needed() {
        let posix = |word| quote_for(System::Linux, word);
        assert_eq!(posix("/usr/bin/bailiwick"), "/usr/bin/bailiwick");
        assert_eq!(posix("/my tools/it's"), r"'/my tools/it'\''s'");
        assert_eq!(posix(""), "''");
        assert_eq!(posix(r"a\b"), r"'a\b'");
        let power = |word| quote_for(System::Windows, word);
        assert_eq!(power(r"C:\bin\bailiwick.exe"), r"C:\bin\bailiwick.exe");
        assert_eq!(power(r"C:\my tools\it's.exe"), r"'C:\my tools\it''s.exe'");
        assert_eq!(power("a,b"), "'a,b'");
        assert_eq!(power("$x"), "'$x'");
    }

    #[test]
    fn a_quoted_program_is_called_in_powershell() {
        for (system, words, line) in [
            (System::Linux, ["/my tools/a", "b c"], "'/my tools/a' 'b c'"),
            (System::Windows, [r"C:\tools\a.exe", "b c"], r"C:\tools\a.exe 'b c'"),
            (System::Windows, [r"C:\my tools\a.exe", "b"], r"& 'C:\my tools\a.exe' b"),
        ] {
            assert_eq!(quote_command_for(system, words), line);
        }
    }
}
