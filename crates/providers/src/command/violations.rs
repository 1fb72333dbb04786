//! What a failed command says about the sandbox: which door was shut, and the smallest change that opens it.
//!
//! Guesses from words that programs print. They are hints for a reader, and decide nothing. `SCOPE` stands for the
//! scope's id in them, as [`bailiwick_contract::in_scope`] reads it.

use bailiwick_contract::{Containment, Network};
use bailiwick_platform::launch::MemoryExcess;

/// How much of the end of each stream is looked through.
const LOOKED_AT_BYTES: usize = 16_384;

/// What is known about a command that failed.
#[derive(Debug)]
pub struct FailedCommand<'a> {
    /// What it printed: standard error and standard output.
    pub printed: [&'a [u8]; 2],
    /// The level that held it.
    pub level: Containment,
    /// What it could reach.
    pub network: Network,
    /// Whether it could write in the folders of its scope.
    pub writes: bool,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

/// One thing that programs say, and what it means in a sandbox.
struct Sign {
    /// Any of these, in small letters.
    words: &'static [&'static str],
    /// Where it means something.
    holds: fn(&FailedCommand<'_>) -> bool,
    /// What was shut, and what a person can do.
    hint: &'static str,
}

/// What programs say that find no way to a host.
const UNRESOLVED: &[&str] = &[
    "network is unreachable",
    "temporary failure in name resolution",
    "could not resolve",
    "couldn't resolve",
    "name or service not known",
    "no address associated",
    "enetunreach",
    "enotfound",
    "eai_again",
    "failed to lookup address",
];

const SIGNS: &[Sign] = &[
    Sign {
        words: &[".git/config", ".git/hooks", ".git/commondir", ".git/modules", ".git/worktrees"],
        holds: |_| true,
        hint: "Git's settings and hooks cannot be changed by a command: what is there runs code later. \
               For the user: make that change yourself, in a terminal.",
    },
    Sign {
        words: &[".git/index", ".git/head", ".git/objects", ".git/refs"],
        holds: |failed| failed.level == Containment::Full,
        hint: "Where refs are kept as a reftable, and beyond 24 repositories, Git's own folder is read-only for a \
               command: use git.stage and git.commit, or run the command with that repository as its target.",
    },
    Sign {
        words: &["device or resource busy", "ebusy", "os error 16"],
        holds: |failed| failed.level == Containment::Full,
        hint: "A command cannot rename or remove a closed file, nor a folder with one or with a Git repository in it. For \
               the user: do that yourself, in a terminal.",
    },
    Sign {
        words: &["read-only file system", "erofs", "os error 30"],
        holds: |failed| failed.level == Containment::Full && failed.writes,
        hint: "The sandbox lets a command write only in the scope's folders, in its private HOME and in /tmp. \
               For the user: `bailiwick scope edit SCOPE --add-root FOLDER` opens a further folder, \
               `bailiwick scope edit SCOPE --env NAME=VALUE` points a tool to another one.",
    },
    Sign {
        words: &["permission denied", "eacces", "os error 13"],
        holds: |failed| failed.level == Containment::Partial && failed.writes,
        hint: "The sandbox lets a command read only system folders and the scope's, and write only the scope's \
               and its private HOME. For the user: `bailiwick scope edit SCOPE --read-path FOLDER` opens a \
               folder for reading, `bailiwick scope edit SCOPE --add-root FOLDER` for writing.",
    },
    Sign {
        words: UNRESOLVED,
        holds: |failed| matches!(failed.network, Network::None | Network::Loopback),
        hint: "The sandbox shuts the network out. For the user: `bailiwick scope allow SCOPE --host HOST` opens one \
               host, `bailiwick scope edit SCOPE --network full` all of it.",
    },
    Sign {
        words: UNRESOLVED,
        holds: |failed| failed.network == Network::Hosts,
        hint: "Hosts are reached by a proxy only, which HTTPS_PROXY and HTTP_PROXY name; this program did not use it, or \
               asked for a name itself. Give it the proxy as its own option, if it has one.",
    },
    Sign {
        words: &["connection refused", "econnrefused"],
        holds: |failed| failed.network == Network::Loopback && failed.level == Containment::Full,
        hint: "The sandbox has a loopback of its own: servers that run outside it cannot be reached. For the \
               user: `bailiwick scope edit SCOPE --network full` opens the computer's.",
    },
    Sign {
        words: &[
            "socket: operation not permitted",
            "socket: permission denied",
            "eperm: operation not permitted, socket",
        ],
        holds: |failed| failed.network == Network::None,
        hint: "The scope's commands may open no socket. For the user: `bailiwick scope edit SCOPE --network \
               loopback` gives them a loopback of their own.",
    },
    Sign {
        words: &["operation not permitted", "eperm", "os error 1)"],
        holds: |_| true,
        hint: "The sandbox shuts system calls that manage the machine: mounts, other users' files, tracing, \
               namespaces. What needs them is for the user to run.",
    },
    Sign {
        words: &["file too large", "file size limit exceeded", "efbig", "os error 27"],
        holds: |_| true,
        hint: "The scope bounds the size of a file that a command writes. For the user: \
               `bailiwick scope edit SCOPE --limit file-megabytes=NUMBER` changes that.",
    },
    Sign {
        words: &["resource temporarily unavailable", "cannot fork", "eagain", "os error 11)"],
        holds: |_| true,
        hint: "The scope bounds how many processes a command may have. For the user: \
               `bailiwick scope edit SCOPE --limit processes=NUMBER` changes that.",
    },
    Sign {
        words: &["no such file or directory", "nonexistent", "enoent", "command not found", "not found"],
        holds: |failed| failed.level == Containment::Full,
        hint: "In the sandbox only system folders, the scope's folders and its search path exist. For the user: \
               where something outside them is missing, `bailiwick scope edit SCOPE --search-path FOLDER` (programs) \
               or `bailiwick scope edit SCOPE --read-path FOLDER` (what they read) opens its folder.",
    },
];

/// Signals of Linux that limits and filters send.
const SIGNALS: &[(i32, &str)] = &[
    (31, "A system call that the sandbox shuts ended the program. What needs it is for the user to run."),
    (
        25,
        "The scope bounds the size of a file that a command writes. For the user: \
         `bailiwick scope edit SCOPE --limit file-megabytes=NUMBER` changes that.",
    ),
];

/// Describes why a command or process of a scope was ended, and the command that raises the limit.
pub fn describe_memory_excess(excess: MemoryExcess, scope: &str) -> String {
    let megabytes = |bytes: u64| bytes.div_ceil(1 << 20);
    let (taken, limit) = (megabytes(excess.taken), excess.limit >> 20);
    let more = taken.max(limit).saturating_mul(2).next_power_of_two();
    format!(
        "it was ended because it took {taken} MB of memory with all that it started; the limit is {limit} MB. For the user: \
         `bailiwick scope edit {scope} --limit job-memory-megabytes={more}` raises it."
    )
}

/// Returns hints for a failed command, the most telling first, at most two.
pub fn hints(failed: &FailedCommand<'_>) -> Vec<&'static str> {
    if failed.level == Containment::None {
        return Vec::new();
    }
    let printed = failed.printed.map(|bytes| {
        let end = &bytes[bytes.len().saturating_sub(LOOKED_AT_BYTES)..];
        String::from_utf8_lossy(end).to_ascii_lowercase()
    });
    let says = |sign: &Sign| {
        sign.words.iter().any(|words| printed.iter().any(|text| text.contains(words))) && (sign.holds)(failed)
    };
    let signal = SIGNALS.iter().filter(|(number, _)| failed.signal == Some(*number)).map(|(_, hint)| *hint);
    signal.chain(SIGNS.iter().filter(|sign| says(sign)).map(|sign| sign.hint)).take(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(printed: &str, level: Containment, network: Network) -> Option<&'static str> {
        let failed =
            FailedCommand { printed: [printed.as_bytes(), b""], level, network, writes: true, signal: None };
        hints(&failed).first().copied()
    }

    #[test]
    fn what_programs_say_leads_to_the_key_that_changes_it() {
        let full = Containment::Full;
        for (printed, key) in [
            ("touch: cannot touch '/etc/x': Read-only file system", "--add-root FOLDER"),
            ("error: could not lock config file .git/config: Read-only file system", "settings and hooks"),
            ("error: unable to create '.git/index.lock': Read-only file system", "git.commit"),
            ("mv: cannot move 'a' to 'b': Device or resource busy", "with a Git repository in it"),
            ("curl: (6) Could not resolve host: example.org", "--network full"),
            ("Error: connect ECONNREFUSED 127.0.0.1:5432", "loopback of its own"),
            ("env: 'node': No such file or directory", "--search-path"),
        ] {
            let hint = first(printed, full, Network::Loopback).expect(printed);
            assert!(hint.contains(key), "{printed}: {hint}");
        }
    }

    #[test]
    fn what_was_not_shut_is_not_blamed() {
        assert_eq!(first("Could not resolve host", Containment::Full, Network::Full), None);
        assert_eq!(first("Permission denied", Containment::None, Network::None), None);
        assert_eq!(first("assertion failed: left == right", Containment::Full, Network::None), None);
    }
}
