//! The names of signals.

/// The names, by number less one.
///
/// # Source
/// signal(7), the numbers of x86 and ARM.
const NAMES: &[&str] = &[
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    "SIGCHLD",
    "SIGCONT",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    "SIGWINCH",
    "SIGIO",
    "SIGPWR",
    "SIGSYS",
];

/// Names a signal, as Linux numbers them.
pub fn name(number: i32) -> String {
    let name = usize::try_from(number).ok().and_then(|number| NAMES.get(number.checked_sub(1)?));
    name.map_or_else(|| format!("signal {number}"), |name| (*name).to_owned())
}

/// Finds the number of a signal by its name, with or without `SIG`, in any case.
pub fn number(name: &str) -> Option<i32> {
    let upper = name.to_ascii_uppercase();
    let short = upper.strip_prefix("SIG").unwrap_or(&upper);
    let at = NAMES.iter().position(|known| known.strip_prefix("SIG") == Some(short))?;
    i32::try_from(at + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_found_from_each_other() {
        assert_eq!((name(15).as_str(), number("TERM"), number("sigkill")), ("SIGTERM", Some(15), Some(9)));
        assert_eq!((name(99).as_str(), number("NOPE"), number("")), ("signal 99", None, None));
        for (at, known) in NAMES.iter().enumerate() {
            assert_eq!(number(known).and_then(|number| usize::try_from(number - 1).ok()), Some(at));
        }
    }
}
