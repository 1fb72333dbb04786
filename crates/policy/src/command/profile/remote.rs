//! Programs that work on other computers.

use super::{KnownOption, Position, Profile, Row, RowPattern, Starts, ask, refuse, value};

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
            value(Position::Any, &["-e", "--rsh"]),
            value(Position::Any, &["--rsync-path"]),
            value(Position::Any, &["-M", "--remote-option"]),
        ],
        rows: &[
            refuse(
                RowPattern::Option(
                    Position::Any,
                    &["-e", "--rsh", "--rsync-path", "--early-input", "--password-command"],
                ),
                NAMES_A_PROGRAM,
                "rsync -ae sh a b",
            ),
            refuse(
                RowPattern::Option(Position::Any, &["--config", "--daemon", "-M", "--remote-option"]),
                "loads another configuration",
                "rsync --daemon",
            ),
            ask(
                RowPattern::Word(Position::Any, |word| word.contains(':')),
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
                RowPattern::Option(Position::Any, &["-e", "--exec", "-c", "--sh-exec", "--lua-exec"]),
                NAMES_A_PROGRAM,
                "nc -le sh 80",
            ),
            ask(RowPattern::Program, "talks to other computers", "nc localhost 80"),
        ],
        ..Profile::PLAIN
    },
];

const SSH_OPTIONS: &[KnownOption] = &[
    value(Position::Any, &["-o"]),
    value(Position::Any, &["-F"]),
    value(Position::Any, &["-J"]),
    value(Position::Any, &["-S"]),
    value(Position::Any, &["-i"]),
    value(Position::Any, &["-p"]),
    value(Position::Any, &["-P"]),
    value(Position::Any, &["-l"]),
];

const SSH_ROWS: &[Row] = &[
    refuse(
        RowPattern::Option(Position::Any, &["-o", "-F", "-J", "-S", "-I", "-D", "-E"]),
        "names a program or a configuration that names one",
        "ssh -oProxyCommand=id host",
    ),
    refuse(
        RowPattern::Option(Position::Any, &["-L", "-R", "-w", "-A", "-X", "-Y"]),
        "opens a way between the computers",
        "ssh -R 1:x:1 host",
    ),
    ask(RowPattern::Program, "acts on another computer in your name", "ssh host id"),
];
