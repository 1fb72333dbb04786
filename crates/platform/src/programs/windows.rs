//! Programs have an ending. Batch files are none: `cmd` would read their words a second time.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::dirs::absolute;
use crate::fs::Stat;
use crate::machine::user_name;

/// What is between the folders of a search path.
pub const SEARCH_PATH_SEPARATOR: &str = ";";

/// What every program takes for an empty file, where there is such a name: programs that were made on another system
/// look for `/dev/null/x` on the disk, where anybody can make it.
pub const NOTHING: Option<&str> = None;

/// The endings of programs that the system starts itself, in the order in which they are tried. What another program reads is
/// none of them: a batch file would have its words read a second time, by `cmd`.
const ENDINGS: [&str; 2] = [".com", ".exe"];

/// Returns whether a file's name is that of a program that the system starts itself.
pub fn is_program_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Variables that are the same for all programs, and say where the system's own things lie.
const OF_THE_SYSTEM: [&str; 14] = [
    "SystemRoot",
    "SystemDrive",
    "windir",
    "ComSpec",
    "ProgramData",
    "ProgramFiles",
    "ProgramFiles(x86)",
    "ProgramW6432",
    "CommonProgramFiles",
    "CommonProgramFiles(x86)",
    "CommonProgramW6432",
    "NUMBER_OF_PROCESSORS",
    "PROCESSOR_ARCHITECTURE",
    "OS",
];

/// Returns where programs are looked for unless a person says otherwise: the system's folders, and Git's.
pub fn usual_folders() -> Vec<PathBuf> {
    let root = absolute("SystemRoot").unwrap_or_else(|| PathBuf::from(r"C:\Windows"));
    let system = root.join("System32");
    let mut folders =
        vec![system.clone(), root, system.join(r"WindowsPowerShell\v1.0"), system.join("OpenSSH")];
    folders.extend(absolute("ProgramFiles").map(|programs| programs.join(r"Git\cmd")));
    folders
}

/// Returns the folders, in their order, where a program may lie that another one only starts: what Git for Windows has in its folder
/// `cmd` sets variables for a terminal and starts the real one, which takes as long again.
///
/// # Source
/// Git's `compat/mingw.c`: a `git.exe` that is started on its own sets what it lacks of these variables.
pub fn folders_behind(program: &Path) -> Vec<PathBuf> {
    let Some(folder) =
        program.parent().filter(|folder| folder.file_name().is_some_and(|it| it.eq_ignore_ascii_case("cmd")))
    else {
        return Vec::new();
    };
    ["mingw64", "clangarm64", "mingw32"].map(|system| folder.with_file_name(system).join("bin")).to_vec()
}

/// Returns the names of files that a program's name can mean, in their order.
pub fn candidates(name: &str) -> impl Iterator<Item = String> {
    // The system leaves dots at the end away, so that such a name would be another's.
    let endings: &[&str] = if name.ends_with('.') {
        &[]
    } else if is_program_name(name) {
        &[""]
    } else {
        &ENDINGS
    };
    endings.iter().map(move |ending| format!("{name}{ending}")).collect::<Vec<_>>().into_iter()
}

/// Returns the names of files that a program's name can mean, and that `cmd` would read: it would read their words, too.
pub fn read_by_others(name: &str) -> impl Iterator<Item = String> {
    [".cmd", ".bat"].into_iter().map(move |ending| format!("{name}{ending}"))
}

/// Returns whether a file may run as a program: its name says it.
pub fn may_run(_: &Stat) -> bool {
    true
}

/// Returns what any program needs here beside what it is given anyhow.
pub fn environment(home: &Path, temporary: &Path) -> Vec<(&'static str, OsString)> {
    let kept = OF_THE_SYSTEM.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
    let private = [
        ("USERPROFILE", home.as_os_str().to_owned()),
        ("APPDATA", home.join(r"AppData\Roaming").into_os_string()),
        ("LOCALAPPDATA", home.join(r"AppData\Local").into_os_string()),
        ("TEMP", temporary.as_os_str().to_owned()),
        ("TMP", temporary.as_os_str().to_owned()),
        ("USERNAME", user_name().into()),
        ("PATHEXT", ".COM;.EXE;.BAT;.CMD".into()),
        // Programs that look for others do not begin in the working folder, where clients write.
        ("NoDefaultCurrentDirectoryInExePath", "1".into()),
    ];
    kept.chain(private).collect()
}

/// What a program needs beside private folders which does its work for Bailiwick alone.
const BARE: [&str; 7] = [
    "SystemRoot",
    "SystemDrive",
    "windir",
    "USERPROFILE",
    "TEMP",
    "TMP",
    "NoDefaultCurrentDirectoryInExePath",
];

/// Returns what of that a program needs which does its work for Bailiwick alone, with its private folder.
pub fn bare_environment(home: &Path) -> Vec<(&'static str, OsString)> {
    environment(home, home).into_iter().filter(|(name, _)| BARE.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behind_what_only_starts_git_lies_git() {
        let behind = folders_behind(Path::new(r"C:\Program Files\Git\cmd\git.exe"));
        assert_eq!(behind[0], Path::new(r"C:\Program Files\Git\mingw64\bin"));
        assert!(folders_behind(&behind[0].join("git.exe")).is_empty());
    }
}
