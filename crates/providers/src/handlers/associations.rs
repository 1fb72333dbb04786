//! Which application is set for a type.

use std::path::{Path, PathBuf};

use super::desktop_entry::{DesktopEntry, OpenTarget};
use super::mime_type::{FOLDER, of_name, with_parents};

/// The largest file that is read.
const LIMIT_BYTES: u64 = 16 << 20;
/// More files of applications are not looked at.
const MOST_FILES: usize = 5_000;

/// The program that opens something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handler {
    /// The name of its file, such as `org.gnome.Evince.desktop`.
    pub name: String,
    /// The type that it was found by.
    pub mime_type: String,
    /// The words of its command.
    pub command: Vec<String>,
}

/// Why nothing opens it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HandlerError {
    /// The name says no type.
    #[error("the name of the file says no type")]
    UnknownType,
    /// No application is set for the type.
    #[error("no program is set for `{0}`")]
    None(String),
    /// Those that are set need a terminal.
    #[error("what is set for `{0}` needs a terminal")]
    NeedsTerminal(String),
}

/// The applications of a system, and what they are set for.
#[derive(Debug, Clone)]
pub struct Handlers {
    /// The folders of settings, the most important first.
    config: Vec<PathBuf>,
    /// The folders of data, the most important first.
    data: Vec<PathBuf>,
}

impl Handlers {
    /// Those that are set up for all users of this computer. What a user has set for themselves is not read.
    pub fn of_system() -> Self {
        Self {
            config: vec![PathBuf::from("/etc/xdg")],
            data: vec![PathBuf::from("/usr/local/share"), PathBuf::from("/usr/share")],
        }
    }

    /// Finds what opens a file or a folder, by its full path.
    ///
    /// # Errors
    /// [`HandlerError`] has them.
    pub fn for_path(&self, path: &str, is_folder: bool) -> Result<Handler, HandlerError> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let of_globs = |folder: &PathBuf| of_name(&read(&folder.join("mime/globs2"))?, name);
        let mime_type = match is_folder {
            true => Some(FOLDER.to_owned()),
            false => self.data.iter().find_map(of_globs),
        };
        let mime_type = mime_type.ok_or(HandlerError::UnknownType)?;
        let subclasses: String =
            self.data.iter().filter_map(|folder| read(&folder.join("mime/subclasses"))).collect();
        self.find(&with_parents(&subclasses, &mime_type), OpenTarget::Path(path))
    }

    /// Finds what opens an address of a scheme.
    ///
    /// # Errors
    /// [`HandlerError`] has them.
    pub fn for_url(&self, scheme: &str, url: &str) -> Result<Handler, HandlerError> {
        self.find(&[format!("x-scheme-handler/{scheme}")], OpenTarget::Url(url))
    }

    fn find(&self, types: &[String], opened: OpenTarget<'_>) -> Result<Handler, HandlerError> {
        let mut needs_terminal = false;
        for mime_type in types {
            for name in self.set_for(mime_type) {
                let Some(entry) = self.entry(&name) else { continue };
                let Some(command) = entry.command(opened) else { continue };
                if entry.needs_terminal {
                    needs_terminal = true;
                    continue;
                }
                return Ok(Handler { name, mime_type: mime_type.clone(), command });
            }
        }
        let first = types.first().cloned().unwrap_or_default();
        Err(if needs_terminal { HandlerError::NeedsTerminal(first) } else { HandlerError::None(first) })
    }

    /// Lists the applications that are set for a type: defaults first, then those that can.
    fn set_for(&self, mime_type: &str) -> Vec<String> {
        let config = self.config.iter().map(|folder| folder.join("mimeapps.list"));
        let lists = config.chain(self.data.iter().map(|folder| folder.join("applications/mimeapps.list")));
        let lists: Vec<String> = lists.filter_map(|file| read(&file)).collect();
        let of = |texts: &[String], group: &str| -> Vec<String> {
            texts.iter().flat_map(|text| listed(text, group, mime_type)).collect()
        };
        let removed = of(&lists, "[Removed Associations]");
        let mut able = of(&lists, "[Added Associations]");
        able.extend(self.data.iter().flat_map(|folder| able_in(&folder.join("applications"), mime_type)));
        able.retain(|name| !removed.contains(name));
        let mut names = of(&lists, "[Default Applications]");
        names.extend(able);
        names
    }

    /// Reads the file of an application.
    fn entry(&self, name: &str) -> Option<DesktopEntry> {
        let is_name = name.ends_with(".desktop") && !name.contains('/') && !name.starts_with('.');
        let texts = self.data.iter().map(|folder| folder.join("applications").join(name));
        // The first counts, also where it hides that of another folder.
        texts.filter(|_| is_name).find_map(|file| read(&file)).and_then(|text| DesktopEntry::read(&text))
    }
}

/// Returns the applications in a folder that say that they open a type: by the folder's index, which not every system makes, or
/// by their own files.
#[expect(clippy::disallowed_methods, reason = "the folder is one of the system's, and no scope's")]
fn able_in(folder: &Path, mime_type: &str) -> Vec<String> {
    if let Some(index) = read(&folder.join("mimeinfo.cache")) {
        return listed(&index, "[MIME Cache]", mime_type);
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_FILES);
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_able = |name: &String| {
        let entry = read(&folder.join(name)).and_then(|text| DesktopEntry::read(&text));
        name.ends_with(".desktop") && entry.is_some_and(|entry| entry.opens(mime_type))
    };
    let mut able: Vec<String> = names.filter(is_able).collect();
    able.sort();
    able
}

/// Returns what a group of a file lists for a key.
fn listed(text: &str, group: &str, key: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim).skip_while(|line| *line != group).skip(1);
    let pairs = lines.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once('='));
    let values = pairs.filter(|(it, _)| it.trim() == key).map(|(_, value)| value);
    values
        .flat_map(|value| value.split(';'))
        .map(str::trim)
        .filter(|it| !it.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Reads a file of the system, if it is there.
#[expect(clippy::disallowed_methods, reason = "the file is one of the system's, and no scope's")]
fn read(file: &Path) -> Option<String> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    std::fs::File::open(file).ok()?.take(LIMIT_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the files are those of the test")]
mod tests {
    use super::*;

    #[test]
    fn a_default_comes_before_what_can_and_what_is_removed_or_needs_a_terminal_is_left_out() {
        let folder =
            std::env::temp_dir().join(format!("bailiwick-handlers-{}", bailiwick_contract::id::new_id()));
        let write = |path: &str, text: &str| {
            let file = folder.join(path);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(file, text).expect("a file");
        };
        let app = |name: &str, more: &str| {
            let text = format!("[Desktop Entry]\nType=Application\nExec=/opt/{name} %f\n{more}");
            write(&format!("data/applications/{name}.desktop"), &text);
        };
        write(
            "data/mime/globs2",
            "50:text/plain:*.txt\n50:text/x-log:*.log\n50:image/png:*.png\n50:text/x-odd:*.odd\n",
        );
        write(
            "data/applications/mimeinfo.cache",
            "[MIME Cache]\ntext/plain=shell.desktop;able.desktop;best.desktop;\nimage/png=gone.desktop;removed.desktop;\ntext/x-odd=../evil.desktop;\n",
        );
        write(
            "config/mimeapps.list",
            "[Default Applications]\ntext/plain=missing.desktop;best.desktop\n[Removed Associations]\nimage/png=removed.desktop;\n",
        );
        app("shell", "Terminal=true\n");
        app("able", "");
        app("best", "");
        app("removed", "");
        write("data/evil.desktop", "[Desktop Entry]\nType=Application\nExec=/opt/evil %f\n");
        let mut handlers = Handlers { config: vec![folder.join("config")], data: vec![folder.join("data")] };
        let opens =
            |handlers: &Handlers, path: &str| handlers.for_path(path, false).map(|it| it.command.join(" "));
        assert_eq!(opens(&handlers, "/a/b.txt"), Ok("/opt/best /a/b.txt".to_owned()));
        // A log is a text, too.
        assert_eq!(opens(&handlers, "/a/b.log"), Ok("/opt/best /a/b.log".to_owned()));
        assert_eq!(opens(&handlers, "/a/b.odd"), Ok("/opt/best /a/b.odd".to_owned()));
        assert_eq!(opens(&handlers, "/a/b.png"), Err(HandlerError::None("image/png".to_owned())));
        assert_eq!(opens(&handlers, "/a/b"), Err(HandlerError::UnknownType));
        handlers.config.clear();
        assert_eq!(opens(&handlers, "/a/b.txt"), Ok("/opt/able /a/b.txt".to_owned()));
        std::fs::remove_file(folder.join("data/applications/mimeinfo.cache")).expect("it was there");
        assert_eq!(opens(&handlers, "/a/b.txt"), Err(HandlerError::None("text/plain".to_owned())));
        app("other", "MimeType=text/x-other;\n");
        app("named", "MimeType=text/html;text/plain;\n");
        assert_eq!(opens(&handlers, "/a/b.txt"), Ok("/opt/named /a/b.txt".to_owned()));
        write("data/applications/mimeinfo.cache", "[MIME Cache]\ntext/plain=shell.desktop;\n");
        assert_eq!(opens(&handlers, "/a/b.txt"), Err(HandlerError::NeedsTerminal("text/plain".to_owned())));
        std::fs::remove_dir_all(&folder).expect("the folder of the test");
    }
}
