//! Programs that pack and unpack.

use super::{Position, Profile, RowPattern, attached, held, refuse, value};

const NAMES_A_PROGRAM: &str = "names a program that it starts";
const LEADS_OUT: &str = "writes wherever the archive says";

pub const PROFILES: &[Profile] = &[
    Profile {
        names: &["tar", "gtar", "bsdtar"],
        options: &[
            value(Position::Any, &["-f", "--file"]),
            value(Position::Any, &["-C", "--directory"]),
            value(Position::Any, &["-I", "--use-compress-program"]),
            value(Position::Any, &["-F", "--info-script", "--new-volume-script"]),
            value(Position::Any, &["-X", "--exclude-from"]),
            value(Position::Any, &["-T", "--files-from"]),
            value(Position::Any, &["--exclude"]),
        ],
        rows: &[
            refuse(
                RowPattern::Option(
                    Position::Any,
                    &[
                        "-I",
                        "--use-compress-program",
                        "-F",
                        "--info-script",
                        "--new-volume-script",
                        "--to-command",
                        "--checkpoint-action",
                        "--rsh-command",
                        "--rmt-command",
                    ],
                ),
                NAMES_A_PROGRAM,
                "tar --checkpoint-act=exec=id -xf a.tar",
            ),
            refuse(RowPattern::Check(bundle_without_dash), NAMES_A_PROGRAM, "tar xIf sh a.tar"),
            held(
                RowPattern::Option(Position::Any, &["-P", "--absolute-names", "--absolute-paths"]),
                LEADS_OUT,
                "tar -xPf a.tar",
            ),
            held(
                RowPattern::OptionOutside(Position::Any, &["-C", "--directory", "--one-top-level"]),
                LEADS_OUT,
                "tar -xf a.tar -C /",
            ),
            held(
                RowPattern::Option(Position::Any, &["-T", "--files-from"]),
                "takes options from a file",
                "tar -T x -xf a.tar",
            ),
        ],
        ordinary: &["tar -xzf a.tar.gz", "tar czf a.tgz src", "tar -C sub -cf a.tar .", "tar tf a.tar"],
        ..Profile::PLAIN
    },
    Profile {
        names: &["zip", "7z", "7za", "7zz"],
        options: &[attached(Position::Any, &["-b"])],
        rows: &[refuse(
            RowPattern::Option(Position::Any, &["-T", "-TT", "--test", "--unzip-command"]),
            NAMES_A_PROGRAM,
            "zip -r a.zip src -T --unzip-command=id",
        )],
        ordinary: &["zip -r a.zip src"],
        ..Profile::PLAIN
    },
    Profile {
        names: &["unzip"],
        options: &[value(Position::Any, &["-d"])],
        rows: &[held(RowPattern::OptionOutside(Position::Any, &["-d"]), LEADS_OUT, "unzip a.zip -d /x")],
        ordinary: &["unzip -l a.zip", "unzip a.zip -d out"],
        ..Profile::PLAIN
    },
    Profile {
        names: &["cpio", "pax"],
        rows: &[refuse(
            RowPattern::Option(Position::Any, &["--rsh-command"]),
            NAMES_A_PROGRAM,
            "cpio --rsh-command=id",
        )],
        ..Profile::PLAIN
    },
];

/// `tar xIf`: the first word is a bundle although it has no dash.
fn bundle_without_dash(reading: &super::super::reading::Reading<'_>) -> bool {
    reading.words.first().is_some_and(|word| {
        let letters = word.text.chars().all(|it| it.is_ascii_alphabetic());
        let acts = word.text.contains(['x', 'c', 't', 'r', 'u', 'A']);
        letters && acts && word.text.len() < 12 && word.text.contains(['I', 'F'])
    })
}
