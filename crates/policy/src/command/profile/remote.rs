//! Programs that work on other computers.

use super::{At, Known, Profile, Row, Starts, What, ask, refuse, value};

const NAMES_A_PROGRAM: &str = "names a program that it starts";

pub const PROFILES: &[Profile] = &[
    Profile {
        names: &["ssh", "mosh", "autossh", "sshpass", "ssh-copy-id", "ssh-add", "ssh-agent", "telnet"],
        code: Some("starts programs on another computer, and helpers on this one"),
        options: SSH_OPTIONS,
        starts: Starts::Texts,
        rows: SSH_ROWS,
        ..Profile::PLAIN
    },
    Profile {
        names: &["scp", "sftp"],
        options: SSH_OPTIONS,
        starts: Starts::Words,
        rows: SSH_ROWS,
        ..Profile::PLAIN
    },
    Profile {
        names: &["rsync", "rclone"],
        options: &[
            value(At::Any, &["-e", "--rsh"]),
            value(At::Any, &["--rsync-path"]),
            value(At::Any, &["-M", "--remote-option"]),
        ],
        rows: &[
            refuse(
                What::Option(
                    At::Any,
                    &["-e", "--rsh", "--rsync-path", "--early-input", "--password-command"],
                ),
                NAMES_A_PROGRAM,
                "rsync -ae sh a b",
            ),
            refuse(
                What::Option(At::Any, &["--config", "--daemon", "-M", "--remote-option"]),
                "loads another configuration",
                "rsync --daemon",
            ),
            ask(
                What::Word(At::Any, |word| word.contains(':')),
                "sends to or fetches from another computer",
                "rsync -a . host:/x",
            ),
        ],
        ordinary: &["rsync -a src/ copy/"],
        ..Profile::PLAIN
    },
    Profile {
        names: &["nc", "ncat", "netcat", "socat", "openssl"],
        rows: &[
            refuse(
                What::Option(At::Any, &["-e", "--exec", "-c", "--sh-exec", "--lua-exec"]),
                NAMES_A_PROGRAM,
                "nc -le sh 80",
            ),
            ask(What::Program, "talks to other computers", "nc localhost 80"),
        ],
        ..Profile::PLAIN
    },
];

const SSH_OPTIONS: &[Known] = &[
    value(At::Any, &["-o"]),
    value(At::Any, &["-F"]),
    value(At::Any, &["-J"]),
    value(At::Any, &["-S"]),
    value(At::Any, &["-i"]),
    value(At::Any, &["-p"]),
    value(At::Any, &["-P"]),
    value(At::Any, &["-l"]),
];

const SSH_ROWS: &[Row] = &[
    refuse(
        What::Option(At::Any, &["-o", "-F", "-J", "-S", "-I", "-D", "-E"]),
        "names a program or a configuration that names one",
        "ssh -oProxyCommand=id host",
    ),
    refuse(
        What::Option(At::Any, &["-L", "-R", "-w", "-A", "-X", "-Y"]),
        "opens a way between the computers",
        "ssh -R 1:x:1 host",
    ),
    ask(What::Program, "acts on another computer in your name", "ssh host id"),
];
