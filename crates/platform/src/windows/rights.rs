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
use crate::fs::OtherUsers;

/// `NT SERVICE\TrustedInstaller`, to whom the system's own files belong.
const INSTALLER: &str = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464";

/// Accounts that can do everything anyhow, and those that stand for the owner: the system, administrators, the system's
/// installer, the creator of what is made in a folder, the owner.
const TRUSTED: [&str; 5] = ["SY", "BA", INSTALLER, "CO", "OW"];

/// What something open is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Object {
    /// A file or folder.
    File,
    /// A pipe.
    Pipe,
}

/// Owner and list of something open.
#[derive(Debug, Clone, PartialEq, Eq)]
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

    /// Returns whether this user owns it, or the administrators, to whom belongs what an administrator makes.
    pub fn is_ours(&self) -> bool {
        owner(&self.text).is_some_and(|owner| owner == "BA" || own_name() == Some(owner))
    }

    /// Returns whether the system owns it, or its installer.
    pub fn is_the_systems(&self) -> bool {
        owner(&self.text).is_some_and(|owner| owner == "SY" || owner == INSTALLER)
    }

    /// Returns the list alone, as text.
    pub fn list(&self) -> &str {
        self.text.find("D:").map_or("", |at| &self.text[at..])
    }

    /// Returns what of the list is its own, and not what the folder above hands down; none if nothing is.
    pub fn own_part(&self) -> Option<OwnList> {
        let list = self.list().strip_prefix("D:")?;
        let (flags, entries) = list.split_at(list.find('(').unwrap_or(list.len()));
        let is_protected = flags.contains('P');
        // Conditions have brackets of their own. Such a list is taken as a whole.
        let is_parted = !["(X", "(Z"].iter().any(|kind| entries.contains(kind));
        let is_own =
            |entry: &&str| !is_parted || !entry.split(';').nth(1).is_some_and(|flags| flags.contains("ID"));
        let own: String =
            entries.split('(').skip(1).filter(is_own).map(|entry| format!("({entry}")).collect();
        let is_there = is_protected || !own.is_empty();
        (is_there && !flags.contains("NO_ACCESS")).then(|| OwnList { text: format!("D:{own}"), is_protected })
    }

    /// Tells the most that anybody else can do with it. What is not understood counts as a change.
    pub fn others(&self) -> OtherUsers {
        others(&self.text, own_name().unwrap_or_default())
    }
}

/// A list of rights that something has of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnList {
    /// As text: `D:…`.
    text: String,
    /// Whether nothing of the folder above is added.
    is_protected: bool,
}

impl OwnList {
    /// Gives it to a file that is open with the right to change its list.
    ///
    /// # Errors
    /// Those of the system.
    pub fn give(&self, file: BorrowedHandle<'_>) -> io::Result<()> {
        sys::set_list_of(file, &self.text, self.is_protected)
    }
}

fn owner(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("O:")?;
    Some(rest.split_once("D:").map_or(rest, |(owner, _)| owner))
}

fn others(text: &str, own: &str) -> OtherUsers {
    let Some((_, list)) = text.split_once("D:") else { return OtherUsers::Change };
    if list.contains("NO_ACCESS_CONTROL") {
        return OtherUsers::Change;
    }
    let mut most = OtherUsers::Nothing;
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
fn granted(rights: &str) -> OtherUsers {
    /// `FILE_GENERIC_READ`, `FILE_GENERIC_EXECUTE`, `GENERIC_READ` and `GENERIC_EXECUTE`.
    const READING: u32 = 0x0012_0089 | 0x0012_00a0 | 0x8000_0000 | 0x2000_0000;
    if let Some(number) = rights.strip_prefix("0x") {
        return match u32::from_str_radix(number, 16) {
            Ok(0) => OtherUsers::Nothing,
            Ok(bits) if bits & !READING == 0 => OtherUsers::Read,
            _ => OtherUsers::Change,
        };
    }
    let words = rights.as_bytes().as_chunks::<2>();
    let reads = |word: &[u8; 2]| [b"FR", b"FX", b"GR", b"GX", b"RC"].contains(&word);
    match words {
        ([], []) => OtherUsers::Nothing,
        (words, []) if words.iter().all(reads) => OtherUsers::Read,
        _ => OtherUsers::Change,
    }
}

/// Returns this user's name in such texts, which may be a short one.
fn own_name() -> Option<&'static str> {
    static OWN: OnceLock<Option<String>> = OnceLock::new();
    let find = || {
        let text = sys::in_short(&format!("O:{}", sys::own_account().ok()?)).ok()?;
        owner(&text).map(str::to_owned)
    };
    OWN.get_or_init(find).as_deref()
}

/// Returns the owner, this user, and the list that names this user and the system, alone; `inherited` is what shows whether what is made in a
/// folder inherits it.
fn private_list(inherited: &str, rights: &str) -> io::Result<String> {
    let own = sys::own_account()?;
    Ok(format!("O:{own}D:P(A;{inherited};{rights};;;{own})(A;{inherited};{rights};;;SY)"))
}

/// Creates a folder that only this user can enter.
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

/// Sets the list of rights of a file or folder, as [`Rights::list`] returns one, as its own.
///
/// # Errors
/// Those of the file system.
pub fn set_rights(path: &Path, list: &str) -> io::Result<()> {
    sys::set_list(path, list)
}

/// Returns the account of this user, as `S-1-…`.
pub(in super::super) fn own_account() -> io::Result<String> {
    sys::own_account()
}

/// Creates an end of a named pipe that only this user can open.
pub(in super::super) fn private_pipe(options: &ServerOptions, name: &str) -> io::Result<NamedPipeServer> {
    sys::pipe(options, name, &private_list("", "GA")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_tells_what_others_can_do_and_what_is_not_understood_is_a_change() {
        for (list, expected) in [
            ("O:LAD:P(A;OICI;FA;;;LA)(A;OICI;FA;;;SY)", OtherUsers::Nothing),
            ("O:LAD:(A;;FA;;;LA)(A;;FR;;;WD)", OtherUsers::Read),
            ("O:LAD:(A;ID;0x1200a9;;;BU)", OtherUsers::Read),
            ("O:LAD:(A;ID;0x1301bf;;;AU)", OtherUsers::Change),
            ("O:LAD:(A;;FRFW;;;WD)", OtherUsers::Change),
            ("O:LAD:(D;;FA;;;WD)", OtherUsers::Nothing),
            ("O:LAD:(A;;strange;;;WD)", OtherUsers::Change),
            ("O:LAD:NO_ACCESS_CONTROL", OtherUsers::Change),
            ("O:LA", OtherUsers::Change),
            ("O:LAD:P(A;;;;;WD)", OtherUsers::Nothing),
            ("O:LAD:(XA;;FX;;;WD;(@User.Title==1))", OtherUsers::Change),
        ] {
            assert_eq!(others(list, "LA"), expected, "{list}");
        }
    }

    #[test]
    fn of_a_list_that_is_what_is_not_handed_down() {
        for (list, own) in [
            ("O:LAD:AI(A;ID;FA;;;LA)(A;ID;0x1200a9;;;BU)", None),
            ("O:LAD:AI(A;;FR;;;WD)(A;ID;FA;;;LA)", Some(("D:(A;;FR;;;WD)", false))),
            ("O:LAD:PAI(A;;FA;;;LA)", Some(("D:(A;;FA;;;LA)", true))),
            ("O:LAD:P", Some(("D:", true))),
            ("O:LAD:", None),
            ("O:LAD:NO_ACCESS_CONTROL", None),
            ("O:LA", None),
            (
                "O:LAD:AI(XA;;FX;;;WD;(@User.Title==1))(A;ID;FA;;;LA)",
                Some(("D:(XA;;FX;;;WD;(@User.Title==1))(A;ID;FA;;;LA)", false)),
            ),
        ] {
            let told = Rights { text: list.to_owned() }.own_part();
            let told = told.as_ref().map(|list| (list.text.as_str(), list.is_protected));
            assert_eq!(told, own, "{list}");
        }
    }

    #[test]
    fn what_the_system_installs_is_the_systems_and_nobody_else_changes_it() {
        // As `C:\Program Files` has it.
        let text = format!(
            "O:{INSTALLER}D:PAI(A;;FA;;;{INSTALLER})(A;CIIO;GA;;;{INSTALLER})(A;;0x1301bf;;;SY)(A;OICIIO;GA;;;SY)\
             (A;;0x1301bf;;;BA)(A;OICIIO;GA;;;BA)(A;;0x1200a9;;;BU)(A;OICIIO;GXGR;;;BU)(A;OICIIO;GA;;;CO)\
             (A;;0x1200a9;;;AC)(A;OICIIO;GXGR;;;AC)"
        );
        let rights = Rights { text };
        assert!(rights.is_the_systems() && !rights.is_ours());
        assert_eq!(rights.others(), OtherUsers::Read);
        assert!(!Rights { text: "O:BUD:".to_owned() }.is_the_systems());
    }

    #[test]
    fn a_private_folder_and_a_narrowed_file_are_this_users_alone() {
        use std::os::windows::fs::OpenOptionsExt;
        use std::os::windows::io::AsHandle;
        let folder = std::env::temp_dir().join(format!("bailiwick-{}", bailiwick_contract::id::new_id()));
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
        assert_eq!(rights.others(), OtherUsers::Nothing, "{}", rights.text);
        std::fs::write(folder.join("file"), "x").expect("written");
        // Wine lets nothing be inherited; files that matter get a list of their own.
        narrow_file(&folder.join("file")).expect("it is ours");
        let narrowed = look(&folder.join("file"));
        assert_eq!(narrowed.others(), OtherUsers::Nothing, "{}", narrowed.text);
        std::fs::remove_file(folder.join("file")).expect("removed");
        std::fs::remove_dir(&folder).expect("removed");
    }
}
