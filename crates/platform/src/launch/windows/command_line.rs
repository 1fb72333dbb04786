//! Words into the one line that a program gets on this system, and variables into a block.
//!
//! # Source
//! "Parsing C command-line arguments" and "CreateProcessW" of Microsoft's documentation.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::path::Path;

/// The longest line, in units, its end included.
const MAX_LINE_UNITS: usize = 32_767;

const QUOTE: u16 = b'"' as u16;
const BACKSLASH: u16 = b'\\' as u16;

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// Returns a text as the system wants it: with a zero at its end, and none in it.
pub(super) fn zero_ended(text: &OsStr) -> io::Result<Vec<u16>> {
    let units: Vec<u16> = text.encode_wide().chain([0]).collect();
    if units[..units.len() - 1].contains(&0) { Err(invalid("it contains a NUL")) } else { Ok(units) }
}

/// Writes words so that a program that reads its line as the C runtime does gets just these.
pub(super) fn command_line(words: &[OsString]) -> io::Result<Vec<u16>> {
    let (program, arguments) = words.split_first().ok_or_else(|| invalid("there is no word"))?;
    let mut line = Vec::new();
    // The first word is read by other rules: up to the next quote, whatever is before it.
    if program.encode_wide().any(|unit| unit == QUOTE || unit == 0) {
        return Err(invalid("the first word contains a quote or a NUL"));
    }
    line.push(QUOTE);
    line.extend(program.encode_wide());
    line.push(QUOTE);
    for argument in arguments {
        line.push(u16::from(b' '));
        add_argument(&mut line, argument)?;
    }
    line.push(0);
    if line.len() > MAX_LINE_UNITS { Err(invalid("its words are too long together")) } else { Ok(line) }
}

fn add_argument(line: &mut Vec<u16>, argument: &OsStr) -> io::Result<()> {
    let parts = |unit: u16| unit == QUOTE || matches!(unit, 0x09..=0x0d | 0x20);
    let is_quoted = argument.is_empty() || argument.encode_wide().any(parts);
    if is_quoted {
        line.push(QUOTE);
    }
    // Backslashes stand for themselves, but before a quote.
    let mut backslashes = 0;
    for unit in argument.encode_wide() {
        match unit {
            0 => return Err(invalid("a word contains a NUL")),
            QUOTE => line.extend(std::iter::repeat_n(BACKSLASH, backslashes + 1)),
            _ => {}
        }
        backslashes = if unit == BACKSLASH { backslashes + 1 } else { 0 };
        line.push(unit);
    }
    if is_quoted {
        line.extend(std::iter::repeat_n(BACKSLASH, backslashes));
        line.push(QUOTE);
    }
    Ok(())
}

/// Puts variables into a block, in the order that the system keeps them in. Of names that differ only in case, the last
/// holds.
pub(super) fn environment_block(variables: &[(OsString, OsString)]) -> io::Result<Vec<u16>> {
    let mut sorted = std::collections::BTreeMap::new();
    for (name, value) in variables {
        if name.is_empty() || name.encode_wide().any(|unit| unit == 0 || unit == u16::from(b'=')) {
            return Err(invalid("a name of a variable is none"));
        }
        if value.encode_wide().any(|unit| unit == 0) {
            return Err(invalid("the value of a variable contains a NUL"));
        }
        sorted.insert(name.to_string_lossy().to_uppercase(), (name, value));
    }
    let mut block = Vec::new();
    for (name, value) in sorted.into_values() {
        block.extend(name.encode_wide().chain([u16::from(b'=')]).chain(value.encode_wide()).chain([0]));
    }
    if block.is_empty() {
        block.push(0);
    }
    block.push(0);
    Ok(block)
}

/// Returns the path of a folder as programs expect that of their working folder: without the prefix that stands for no
/// limit of length, where it has none of its own meaning.
pub(super) fn plain(path: &Path) -> std::path::PathBuf {
    let text = path.to_string_lossy();
    let rest = text.strip_prefix(r"\\?\");
    match rest.map(str::as_bytes) {
        Some([drive, b':', b'\\', ..]) if drive.is_ascii_alphabetic() && !text.contains('\u{fffd}') => {
            rest.unwrap_or_default().into()
        }
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn line(words: &[&str]) -> String {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let line = command_line(&words).expect("they are good words");
        String::from_utf16(line.strip_suffix(&[0]).expect("it ends")).expect("text")
    }

    #[test]
    fn words_are_quoted_as_the_c_runtime_reads_them() {
        for (words, expected) in [
            (&["a", "b"][..], r#""a" b"#),
            (&["a b", ""], r#""a b" """#),
            (&["a", "b c", r"d\"], r#""a" "b c" d\"#),
            (&["a", r"b c\"], r#""a" "b c\\""#),
            (&["a", r#"say "hi""#], r#""a" "say \"hi\"""#),
            (&["a", r#"\""#], r#""a" "\\\"""#),
            (&["a", "x\ty", "%PATH%", "^&|"], "\"a\" \"x\ty\" %PATH% ^&|"),
        ] {
            assert_eq!(line(words), expected);
        }
        for words in [&[][..], &["a\"b"], &["a", "b\0c"]] {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            assert!(command_line(&words).is_err(), "{words:?}");
        }
        assert!(command_line(&["a".into(), "x".repeat(MAX_LINE_UNITS).into()]).is_err());
    }

    #[test]
    fn variables_are_sorted_and_one_name_has_one_value() {
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let block =
            |pairs: &[(OsString, OsString)]| environment_block(pairs).map(|it| String::from_utf16_lossy(&it));
        let made =
            block(&[pair("b", "1"), pair("Path", "x"), pair("A", ""), pair("PATH", "y")]).expect("good");
        assert_eq!(made, "A=\0b=1\0PATH=y\0\0");
        assert_eq!(block(&[]).expect("good"), "\0\0");
        for bad in [pair("", "x"), pair("a=b", "x"), pair("a", "x\0y")] {
            assert!(block(&[bad]).is_err());
        }
    }

    #[test]
    fn only_the_prefix_of_a_drive_is_taken_off() {
        for (path, expected) in [
            (r"\\?\C:\x", r"C:\x"),
            (r"C:\x", r"C:\x"),
            (r"\\?\UNC\a\b", r"\\?\UNC\a\b"),
            (r"\\?\C:", r"\\?\C:"),
        ] {
            assert_eq!(plain(Path::new(path)), PathBuf::from(expected));
        }
    }
}
