//! Owners and lists of rights, read and written as the system's own text for them.
//!
//! # Source
//! "Security Descriptor Definition Language" of Microsoft's documentation.

use std::io;
use std::os::windows::io::BorrowedHandle;
use std::path::Path;
use std::sync::OnceLock;

use tokio::net::windows::named_pipe::{NamedPipeServer, ServerOptions};

use super::sys;

/// Accounts that can do everything anyhow, and those that stand for the owner: the system, administrators, the creator
/// of what is made in a folder, the owner.
const TRUSTED: [&str; 4] = ["SY", "BA", "CO", "OW"];

/// What others can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Others {
    /// Nothing.
    Nothing,
    /// Read it.
    Read,
    /// Change it, or who may change it.
    Change,
}

/// What something open is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Object {
    /// A file or folder.
    File,
    /// A pipe.
    Pipe,
}

/// Owner and list of something open.
#[derive(Debug)]
pub struct Rights {
    /// As text: `O:…D:…`.
    text: String,
}

impl Rights {
    /// Reads the rights to something open.
    ///
    /// # Errors
    /// Those of the system.
    pub fn of(object: BorrowedHandle<'_>, kind: Object) -> io::Result<Self> {
        Ok(Self { text: sys::rights(object, kind == Object::Pipe)? })
    }

    /// Tells whether this user owns it, or the administrators, to whom belongs what an administrator makes.
    pub fn is_ours(&self) -> bool {
        owner(&self.text).is_some_and(|owner| owner == "BA" || own_name() == Some(owner))
    }

    /// Tells the most that anybody else can do with it. What is not understood counts as a change.
    pub fn others(&self) -> Others {
        others(&self.text, own_name().unwrap_or_default())
    }
}

fn owner(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("O:")?;
    Some(rest.split_once("D:").map_or(rest, |(owner, _)| owner))
}

fn others(text: &str, own: &str) -> Others {
    let Some((_, list)) = text.split_once("D:") else { return Others::Change };
    if list.contains("NO_ACCESS_CONTROL") {
        return Others::Change;
    }
    let mut most = Others::Nothing;
    for entry in list.split('(').skip(1) {
        let entry = entry.split(')').next().unwrap_or_default();
        let mut fields = entry.split(';');
        let (kind, rights, who) = (fields.next(), fields.nth(1), fields.nth(2));
        // Entries that deny take nothing from the care of this.
        if matches!(kind, Some("D" | "OD" | "XD")) {
            continue;
        }
        let who = who.unwrap_or_default();
        if who != own && !TRUSTED.contains(&who) {
            most = most.max(granted(rights.unwrap_or("?")));
        }
    }
    most
}

/// Reads the rights of one entry.
fn granted(rights: &str) -> Others {
    /// `FILE_GENERIC_READ`, `FILE_GENERIC_EXECUTE`, `GENERIC_READ` and `GENERIC_EXECUTE`.
    const READING: u32 = 0x0012_0089 | 0x0012_00a0 | 0x8000_0000 | 0x2000_0000;
    if let Some(number) = rights.strip_prefix("0x") {
        return match u32::from_str_radix(number, 16) {
            Ok(0) => Others::Nothing,
            Ok(bits) if bits & !READING == 0 => Others::Read,
            _ => Others::Change,
        };
    }
    let words = rights.as_bytes().as_chunks::<2>();
    let reads = |word: &[u8; 2]| [b"FR", b"FX", b"GR", b"GX", b"RC"].contains(&word);
    match words {
        ([], []) => Others::Nothing,
        (words, []) if words.iter().all(reads) => Others::Read,
        _ => Others::Change,
    }
}

/// Gives this user's name in such texts, which may be a short one.
fn own_name() -> Option<&'static str> {
    static OWN: OnceLock<Option<String>> = OnceLock::new();
    let find = || {
        let text = sys::in_short(&format!("O:{}", sys::own_account().ok()?)).ok()?;
        owner(&text).map(str::to_owned)
    };
    OWN.get_or_init(find).as_deref()
}

/// Gives the owner, this user, and the list that names this user and the system, alone; `inherited` is what tells whether what is made in a
/// folder inherits it.
fn private_list(inherited: &str, rights: &str) -> io::Result<String> {
    let own = sys::own_account()?;
    Ok(format!("O:{own}D:P(A;{inherited};{rights};;;{own})(A;{inherited};{rights};;;SY)"))
}

/// Makes a folder that only this user can enter.
///
/// # Errors
/// Those of the file system; `AlreadyExists`.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    sys::make_folder(path, &private_list("OICI", "FA")?)
}

/// Takes the rights of all others to a folder of this user.
///
/// # Errors
/// Those of the file system.
pub fn narrow_folder(path: &Path) -> io::Result<()> {
    sys::set_list(path, &private_list("OICI", "FA")?)
}

/// Takes the rights of all others to a file of this user.
///
/// # Errors
/// Those of the file system.
pub fn narrow_file(path: &Path) -> io::Result<()> {
    sys::set_list(path, &private_list("", "FA")?)
}

/// Makes an end of a named pipe that only this user can open.
pub(in super::super) fn private_pipe(options: &ServerOptions, name: &str) -> io::Result<NamedPipeServer> {
    sys::pipe(options, name, &private_list("", "GA")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_tells_what_others_can_do_and_what_is_not_understood_is_a_change() {
        for (list, expected) in [
            ("O:LAD:P(A;OICI;FA;;;LA)(A;OICI;FA;;;SY)", Others::Nothing),
            ("O:LAD:(A;;FA;;;LA)(A;;FR;;;WD)", Others::Read),
            ("O:LAD:(A;ID;0x1200a9;;;BU)", Others::Read),
            ("O:LAD:(A;ID;0x1301bf;;;AU)", Others::Change),
            ("O:LAD:(A;;FRFW;;;WD)", Others::Change),
            ("O:LAD:(D;;FA;;;WD)", Others::Nothing),
            ("O:LAD:(A;;strange;;;WD)", Others::Change),
            ("O:LAD:NO_ACCESS_CONTROL", Others::Change),
            ("O:LA", Others::Change),
            ("O:LAD:P(A;;;;;WD)", Others::Nothing),
        ] {
            assert_eq!(others(list, "LA"), expected, "{list}");
        }
    }

    #[test]
    fn a_private_folder_and_a_narrowed_file_are_this_users_alone() {
        use std::os::windows::fs::OpenOptionsExt;
        use std::os::windows::io::AsHandle;
        let folder = std::env::temp_dir().join(format!("bailiwick-{}", crate::contract::id::new_id()));
        make_private_folder(&folder).expect("made");
        let look = |path: &Path| {
            let opened = std::fs::OpenOptions::new()
                .access_mode(0x0002_0080)
                .custom_flags(0x0200_0000)
                .open(path)
                .expect("it opens");
            Rights::of(opened.as_handle(), Object::File).expect("it tells")
        };
        let rights = look(&folder);
        assert!(rights.is_ours(), "{}", rights.text);
        assert_eq!(rights.others(), Others::Nothing, "{}", rights.text);
        std::fs::write(folder.join("file"), "x").expect("written");
        // Wine lets nothing be inherited; files that matter get a list of their own.
        narrow_file(&folder.join("file")).expect("it is ours");
        let narrowed = look(&folder.join("file"));
        assert_eq!(narrowed.others(), Others::Nothing, "{}", narrowed.text);
        std::fs::remove_file(folder.join("file")).expect("removed");
        std::fs::remove_dir(&folder).expect("removed");
    }
}
