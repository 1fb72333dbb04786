//! Paths as Windows has them: a drive's letter begins them, `\` and `/` part them, and case does not tell them apart.

use std::borrow::Cow;
use std::env;
use std::io;
use std::path::{Component, Path, PathBuf, Prefix};

/// How an absolute path begins here, for messages.
pub const EXAMPLE: &str = r"from its drive, such as `C:\Projects\app`";

/// Whether letters of drives begin paths, so that `//server` leads to another computer.
pub const HAS_DRIVES: bool = true;

/// Returns whether a client's text is an absolute path: one with a drive, or from the top of whichever drive.
pub fn is_absolute(text: &str) -> bool {
    let bytes = text.as_bytes();
    matches!(bytes, [b'/' | b'\\', ..])
        || matches!(bytes, [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

/// Returns the rest of an absolute text that spells a root, in whatever case, and then continues beneath it.
///
/// What lies beneath is opened beneath the root's handle and must be spelt as on the disk.
pub fn beneath<'a>(root: &Path, text: &'a str) -> Option<&'a str> {
    let same = |a: char, b: char| {
        a == b || matches!((a, b), ('/' | '\\', '/' | '\\')) || a.to_lowercase().eq(b.to_lowercase())
    };
    let mut rest = text.chars();
    for expected in root.to_str()?.trim_end_matches(['/', '\\']).chars() {
        if !same(rest.next()?, expected) {
            return None;
        }
    }
    let rest = rest.as_str();
    (rest.is_empty() || rest.starts_with(['/', '\\'])).then(|| rest.trim_start_matches(['/', '\\']))
}

/// Returns a path as clients see it: with `/` between the names.
pub fn with_slashes(text: &str) -> Cow<'_, str> {
    if text.contains('\\') { text.replace('\\', "/").into() } else { text.into() }
}

/// Returns the bytes of the names in a client's relative text, with `/` between them. No name holds a backslash here, so
/// it parts names too.
pub fn client_bytes(text: &str) -> Vec<u8> {
    with_slashes(text).into_owned().into_bytes()
}

/// Returns the path by which an existing folder or file is found without links, as the user would write it: without
/// `\\?\`, unless only that form leads there.
///
/// # Errors
/// Those of the file system.
pub fn real(path: &Path) -> io::Result<PathBuf> {
    let found = path.canonicalize()?;
    let plain = found.to_str().and_then(plain_form).map(PathBuf::from);
    // A long path, or a name that means something else without the prefix, keeps it.
    Ok(plain.filter(|plain| plain.canonicalize().is_ok_and(|again| again == found)).unwrap_or(found))
}

/// Returns a path in the form in which programs take it that were made on another system: with `/`, without `\\?\`.
pub fn for_programs(path: &Path) -> PathBuf {
    let text = path.to_string_lossy();
    let plain = plain_form(&text);
    PathBuf::from(with_slashes(plain.as_deref().unwrap_or(&text)).into_owned())
}

/// Returns a path that such a program has told in the form in which it is compared with others: that of
/// [`Path::canonicalize`], also where nothing is there.
pub fn of_programs(told: &Path) -> PathBuf {
    if may_be_remote(told.as_os_str().as_encoded_bytes()) {
        return told.to_owned();
    }
    told.canonicalize().unwrap_or_else(|_| match told.components().next() {
        Some(Component::Prefix(prefix)) if matches!(prefix.kind(), Prefix::Disk(_)) => {
            PathBuf::from(format!(r"\\?\{}", told.to_string_lossy().replace('/', "\\")))
        }
        _ => told.to_owned(),
    })
}

/// Returns whether a text, as a path, may lead to another computer: asking for such a file tells that computer who
/// asks. One with a drive leads at most to a share that the user has connected.
pub fn may_be_remote(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let is_separator = |byte: u8| matches!(byte, b'/' | b'\\');
    match text {
        // `\\server`, `\\?\`, `\\.\`, `\??\`.
        [first, second, ..] if is_separator(*first) => is_separator(*second) || *second == b'?',
        _ => false,
    }
}

fn plain_form(text: &str) -> Option<String> {
    let rest = text.strip_prefix(r"\\?\")?;
    match rest.strip_prefix(r"UNC\") {
        Some(share) => Some(format!(r"\\{share}")),
        None => Some(rest.to_owned()),
    }
}

/// Returns why a folder at such a path is not served, if it is not: neither what it says nor, if it is there, what it leads to
/// may be another computer's. A drive may stand for a share, and a link may lead to one.
pub fn not_served(path: &Path) -> Option<&'static str> {
    match prefix(path) {
        Some(Prefix::Disk(_) | Prefix::VerbatimDisk(_)) => match path.canonicalize() {
            Ok(real) => prefix(&real).filter(is_elsewhere).map(|_| ELSEWHERE),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(_) => Some("the system does not tell what it leads to"),
        },
        Some(other) if is_elsewhere(&other) => Some(ELSEWHERE),
        Some(_) => Some("it is a path of devices, not of a drive"),
        None => Some("it names no drive"),
    }
}

/// Why no folder of another computer is served.
const ELSEWHERE: &str = "it is on another computer, whose rights and locks this one cannot vouch for";

fn prefix(path: &Path) -> Option<Prefix<'_>> {
    match path.components().next() {
        Some(Component::Prefix(prefix)) => Some(prefix.kind()),
        _ => None,
    }
}

fn is_elsewhere(prefix: &Prefix<'_>) -> bool {
    matches!(prefix, Prefix::UNC(..) | Prefix::VerbatimUNC(..))
}

/// Returns whether a folder is that of the system or is in it, or holds it or the folders of all programs.
pub fn is_system_folder(folder: &Path) -> bool {
    let named = |name: &str| real(Path::new(&env::var_os(name)?)).ok();
    let holds = ["SystemRoot", "ProgramFiles", "ProgramFiles(x86)", "ProgramW6432", "ProgramData"];
    named("SystemRoot").is_some_and(|system| folder.starts_with(system))
        || holds.into_iter().filter_map(named).any(|place| place.starts_with(folder))
}

/// For the tests of the layers above: returns a JSON text in which `"/` begins an absolute path, in this system's form.
pub fn rooted(text: &str) -> String {
    text.replace("\"/", "\"C:/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_parted_whatever_their_case_and_slashes() {
        let root = Path::new(r"C:\Code\Größe");
        for (text, rest) in [
            (r"C:\Code\Größe\src\main.rs", Some(r"src\main.rs")),
            ("c:/code/GRÖßE/src", Some("src")),
            (r"C:\Code\Größe", Some("")),
            (r"C:\Code\Größe2\a", None),
            (r"C:\Code", None),
            (r"D:\Code\Größe\a", None),
            (r"\\?\C:\Code\Größe\a", None),
            (r"\Code\Größe\a", None),
        ] {
            assert_eq!(beneath(root, text), rest, "{text}");
        }
        assert_eq!(beneath(Path::new(r"C:\"), "c:/a"), Some("a"));
        for (text, absolute) in [
            (r"C:\a", true),
            ("c:/a", true),
            ("/a", true),
            (r"\\server\a", true),
            ("C:a", false),
            ("a", false),
        ] {
            assert_eq!(is_absolute(text), absolute, "{text}");
        }
        assert_eq!(client_bytes(r"src\..\a/b"), b"src/../a/b");
    }

    #[test]
    fn programs_get_plain_paths_and_tell_them_so() {
        for (path, plain) in [
            (r"\\?\C:\Code\a b\x", "C:/Code/a b/x"),
            (r"C:\Code", "C:/Code"),
            (r"\\?\UNC\server\share\a", "//server/share/a"),
        ] {
            assert_eq!(for_programs(Path::new(path)).to_str(), Some(plain));
        }
        let folder = env::temp_dir().canonicalize().expect("there");
        assert_eq!(of_programs(&for_programs(&folder)), folder);
        let gone = folder.join("gone").join("x");
        assert_eq!(of_programs(&for_programs(&gone)), gone);
        let told = Path::new("//server/share/a");
        assert_eq!(of_programs(told).as_os_str(), told.as_os_str());
    }

    #[test]
    fn what_may_lead_to_another_computer_is_told_by_its_text() {
        for text in [
            "//server/a",
            r"\\server\a",
            r"/\server\a",
            r"\??\UNC\server\a",
            r"\\?\UNC\server\a",
            r"\\.\pipe\a",
            "  //server/a",
            "/?/a",
        ] {
            assert!(may_be_remote(text.as_bytes()), "{text}");
        }
        for text in ["", "a", "../a", "/a", "C:/a", r"C:\a", "C://a", "a//b", "~/a"] {
            assert!(!may_be_remote(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn folders_are_written_as_people_write_them_and_only_those_of_drives_are_served() {
        let folder = real(&env::temp_dir()).expect("there");
        assert!(!folder.to_string_lossy().starts_with(r"\\"), "{}", folder.display());
        assert_eq!(not_served(&folder), None);
        assert_eq!(not_served(Path::new(r"\\?\C:\a")), None);
        for path in
            [r"\\server\share\a", r"\\?\UNC\server\share", r"\\.\C:\a", r"\\?\Volume{1}\a", r"\a", "a"]
        {
            assert!(not_served(Path::new(path)).is_some(), "{path}");
        }
        let system = env::var_os("SystemRoot").map(PathBuf::from).expect("every process has it");
        assert!(is_system_folder(&real(&system).expect("there")));
        assert!(is_system_folder(&real(&system.join("system32")).expect("there")));
        assert!(!is_system_folder(&folder), "{}", folder.display());
    }
}
