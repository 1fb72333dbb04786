//! Which processes a process comes from, and what their programs are called.

/// A process that another comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ancestor {
    /// Its number.
    pub pid: u32,
    /// The name of its program file, if that is known.
    pub name: Option<String>,
}

/// A process is followed to at most so many that it comes from.
const MOST: usize = 32;

/// Returns the processes that a process comes from, its parent first and without the system's first process.
#[cfg(unix)]
pub fn ancestors(pid: u32) -> Vec<Ancestor> {
    let parents = std::iter::successors(parent(pid), |pid| parent(*pid));
    parents.take(MOST).map(|pid| Ancestor { pid, name: program_name(pid) }).collect()
}

/// Returns the processes that a process comes from, its parent first. One that has ended may have left its number to another,
/// which counts then: that closes more to clients, not less.
#[cfg(windows)]
pub fn ancestors(pid: u32) -> Vec<Ancestor> {
    let all = crate::windows::processes();
    let find = |pid: u32| all.iter().find(|it| it.pid == pid && pid != 0);
    let parents = std::iter::successors(find(pid), |it| find(it.parent)).skip(1);
    let name =
        |it: &crate::windows::RunningProcess| Some(super::plain::plain(&it.name)).filter(|it| !it.is_empty());
    parents.take(MOST).map(|it| Ancestor { pid: it.pid, name: name(it) }).collect()
}

/// Returns the processes of this user that run a program, by the name of its file.
#[cfg(target_os = "linux")]
pub fn processes_of(program: &std::path::Path) -> Vec<u32> {
    let Some(name) = program.file_name().map(|name| name.to_string_lossy().into_owned()) else {
        return Vec::new();
    };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| program_name(*pid).as_deref() == Some(&*name)).collect()
}

/// Returns the processes that run a program, by the name of its file.
#[cfg(target_os = "macos")]
pub fn processes_of(program: &std::path::Path) -> Vec<u32> {
    let Some(name) = program.file_name().map(|name| name.to_string_lossy().into_owned()) else {
        return Vec::new();
    };
    let pids = crate::libproc::process_ids().into_iter().filter_map(|pid| u32::try_from(pid).ok());
    pids.filter(|pid| program_name(*pid).as_deref() == Some(&*name)).collect()
}

/// Returns the processes that run a program, by the name of its file, in any case.
#[cfg(windows)]
pub fn processes_of(program: &std::path::Path) -> Vec<u32> {
    let Some(name) = program.file_name().map(|name| name.to_string_lossy().to_lowercase()) else {
        return Vec::new();
    };
    let all = crate::windows::processes().into_iter();
    all.filter(|it| it.name.to_lowercase() == name).map(|it| it.pid).collect()
}

/// Returns the processes of this user that run a program: none that are told.
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
pub fn processes_of(_: &std::path::Path) -> Vec<u32> {
    Vec::new()
}

#[cfg(target_os = "linux")]
fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name before it may hold anything.
    let after_name = stat.rsplit(|byte| *byte == b')').next()?;
    let parent = std::str::from_utf8(after_name).ok()?.split_ascii_whitespace().nth(1)?;
    parent.parse().ok().filter(|pid| *pid > 1)
}

#[cfg(target_os = "macos")]
fn parent(pid: u32) -> Option<u32> {
    let parent = crate::libproc::parent(i32::try_from(pid).ok()?)?;
    u32::try_from(parent).ok().filter(|pid| *pid > 1)
}

/// Returns the name of the bundle that a process's program is in.
#[cfg(target_os = "macos")]
pub(super) fn bundle_name(pid: u32) -> Option<String> {
    bundle_of(&crate::libproc::program(i32::try_from(pid).ok()?)?)
}

/// Returns the name of the outermost bundle on the way to a program, which is its application's.
#[cfg(any(test, target_os = "macos"))]
fn bundle_of(program: &std::path::Path) -> Option<String> {
    let mut names = program.iter().map(|name| name.to_string_lossy());
    let name = names.find_map(|name| Some(super::plain::plain(name.strip_suffix(".app")?)))?;
    (!name.is_empty()).then_some(name)
}

/// Returns the name of a process's program file.
#[cfg(target_os = "macos")]
pub(super) fn program_name(pid: u32) -> Option<String> {
    let program = crate::libproc::program(i32::try_from(pid).ok()?)?;
    let name = super::plain::plain(&program.file_name()?.to_string_lossy());
    (!name.is_empty()).then_some(name)
}

/// Returns the name of a process's program file; its short name where the file may not be seen.
#[cfg(target_os = "linux")]
pub(crate) fn program_name(pid: u32) -> Option<String> {
    let program = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
    let name =
        program.as_deref().and_then(|path| path.file_name()).map(|name| name.to_string_lossy().into_owned());
    let name = name.or_else(|| std::fs::read_to_string(format!("/proc/{pid}/comm")).ok())?;
    let name = super::plain::plain(name.trim_end_matches(" (deleted)"));
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_application_is_called_as_its_outermost_bundle() {
        for (program, name) in [
            ("/Applications/Warp.app/Contents/MacOS/stable", Some("Warp")),
            ("/Applications/A.app/Contents/Frameworks/A Helper.app/Contents/MacOS/A Helper", Some("A")),
            ("/usr/bin/ssh", None),
            ("/.app/x", None),
        ] {
            assert_eq!(bundle_of(program.as_ref()).as_deref(), name, "{program}");
        }
    }

    // Only Linux has processes that a test knows.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_comes_from_the_one_that_started_it() {
        let all = ancestors(std::process::id());
        let parent = std::os::unix::process::parent_id();
        if parent > 1 {
            assert_eq!(all.first().map(|it| it.pid), Some(parent));
            assert!(all.first().is_some_and(|it| it.name.is_some()), "{all:?}");
        }
        assert!(all.iter().all(|it| it.pid > 1) && all.len() <= MOST);
        assert_eq!(ancestors(u32::MAX), []);
    }
}
