//! Cargo and the Rust compiler.

use super::super::care::stays_inside;
use super::super::reading::Reading;
use super::{
    KnownOption, Position, Profile, Row, RowPattern, ask, ask_always, code, held, never, refuse, value,
};

const BUILDS: &str = "runs build scripts, macros and tests of the project and of what it depends on";
const CHANGES_CRATES: &str = "publishes, or changes what others get";

pub const PROFILES: &[Profile] = &[
    Profile {
        names: &["cargo"],
        code: Some(
            "the project's configuration names toolchains and compilers, and builds run its scripts and macros",
        ),
        options: OPTIONS,
        subcommands: SUBCOMMANDS,
        aliases: &[
            ("b", "build"),
            ("c", "check"),
            ("d", "doc"),
            ("r", "run"),
            ("t", "test"),
            ("rm", "remove"),
        ],
        rows: ROWS,
        ordinary: &[
            "cargo build --release",
            "cargo test --test it name -- --nocapture",
            "cargo fmt --check",
            "cargo metadata --format-version 1",
            "cargo clippy --all-targets -- -D warnings",
            "cargo t -p a",
            "cargo --color always check",
            "cargo tree -i serde",
        ],
        ..Profile::PLAIN
    },
    Profile {
        names: &["rustc"],
        code: Some("the compiler starts a linker that its options name, and loads macros"),
        ordinary: &["rustc --version"],
        ..Profile::PLAIN
    },
    Profile {
        names: &["rustup"],
        subcommands: &[
            "show",
            "update",
            "check",
            "default",
            "toolchain",
            "target",
            "component",
            "override",
            "run",
            "which",
            "doc",
            "man",
            "self",
            "set",
            "completions",
            "help",
        ],
        rows: &[
            refuse(
                RowPattern::Sub(&["self", "set", "override", "default"]),
                "changes the toolchain of the account",
                "rustup default x",
            ),
            held(
                RowPattern::Sub(&["update", "toolchain", "target", "component"]),
                "fetches toolchains",
                "rustup update",
            ),
            held(RowPattern::Sub(&["run"]), "starts a program that its words name", "rustup run stable id"),
        ],
        ordinary: &["rustup show", "rustup which cargo"],
        ..Profile::PLAIN
    },
];

const OPTIONS: &[KnownOption] = &[
    value(Position::Global, &["--color"]),
    value(Position::Any, &["-C"]),
    value(Position::Any, &["--config"]),
    value(Position::Any, &["-Z"]),
    value(Position::Any, &["--manifest-path"]),
    value(Position::Any, &["--target-dir"]),
    value(Position::Sub(&["install", "uninstall"]), &["--root"]),
    value(Position::Any, &["--lockfile-path"]),
    value(Position::Any, &["-p", "--package"]),
    value(Position::Any, &["-j", "--jobs"]),
    value(Position::Any, &["-F", "--features"]),
    value(Position::Any, &["--target"]),
    value(Position::Any, &["--profile"]),
    value(Position::Any, &["--bin"]),
    value(Position::Any, &["--example"]),
    value(Position::Any, &["--test"]),
    value(Position::Any, &["--bench"]),
    value(Position::Any, &["--exclude"]),
    value(Position::Any, &["--message-format"]),
];

const SUBCOMMANDS: &[&str] = &[
    "add",
    "bench",
    "build",
    "check",
    "clean",
    "clippy",
    "config",
    "doc",
    "fetch",
    "fix",
    "fmt",
    "generate-lockfile",
    "help",
    "info",
    "init",
    "install",
    "locate-project",
    "login",
    "logout",
    "metadata",
    "miri",
    "new",
    "owner",
    "package",
    "pkgid",
    "publish",
    "read-manifest",
    "remove",
    "report",
    "run",
    "rustc",
    "rustdoc",
    "search",
    "test",
    "tree",
    "uninstall",
    "update",
    "vendor",
    "verify-project",
    "version",
    "yank",
];

const ROWS: &[Row] = &[
    refuse(
        RowPattern::Option(Position::Any, &["--config"]),
        "sets any configuration, which can name programs",
        "cargo --config=x build",
    ),
    refuse(RowPattern::Check(other_toolchain), "`+…` names another toolchain", "cargo +nightly build"),
    refuse(
        RowPattern::Check(compiler_options),
        "`cargo rustc --` gives the compiler options that name programs",
        "cargo rustc -- -C linker=x",
    ),
    refuse(RowPattern::Sub(&["login", "logout"]), "works with your account", "cargo login"),
    never(
        RowPattern::Check(cleans_elsewhere),
        "`cargo clean --target-dir` removes a whole folder: one below the working folder only",
        "cargo clean --target-dir /",
    ),
    never(
        RowPattern::Check(installs_elsewhere),
        "`cargo install --root` writes programs there: into a folder below the working folder only",
        "cargo install x --root=/",
    ),
    held(
        RowPattern::Option(Position::Sub(&["doc", "rustdoc"]), &["--open"]),
        "starts a browser",
        "cargo doc --open",
    ),
    held(RowPattern::OptionOutside(Position::Any, &["-C"]), "works in another folder", "cargo -C ../x build"),
    held(
        RowPattern::OptionOutside(
            Position::Any,
            &["--manifest-path", "--target-dir", "--lockfile-path", "--out-dir", "--artifact-dir"],
        ),
        "works in another folder",
        "cargo build --manifest-path /x/Cargo.toml",
    ),
    held(RowPattern::Option(Position::Any, &["-Z"]), "turns on unstable behaviour", "cargo -Zscript x"),
    held(
        RowPattern::Sub(&["install", "uninstall"]),
        "fetches a program and builds it for the account",
        "cargo install x",
    ),
    ask_always(RowPattern::Sub(&["publish", "yank", "owner"]), CHANGES_CRATES, "cargo publish --dry"),
    ask(
        RowPattern::UnknownSub,
        "is none of Cargo's own subcommands: an alias or another program",
        "cargo frobnicate",
    ),
    code(
        RowPattern::Sub(&[
            "build", "check", "run", "test", "bench", "clippy", "doc", "rustc", "rustdoc", "fix", "miri",
            "package",
        ]),
        BUILDS,
        "cargo b",
    ),
];

fn other_toolchain(reading: &Reading<'_>) -> bool {
    reading.words.first().is_some_and(|word| word.text.starts_with('+'))
}

fn compiler_options(reading: &Reading<'_>) -> bool {
    reading.has_sub(&["rustc", "rustdoc"]) && reading.options.iter().any(|option| option.after_dashes)
}

fn cleans_elsewhere(reading: &Reading<'_>) -> bool {
    reading.has_sub(&["clean"]) && leads_elsewhere(reading, "--target-dir")
}

fn installs_elsewhere(reading: &Reading<'_>) -> bool {
    reading.has_sub(&["install", "uninstall"]) && leads_elsewhere(reading, "--root")
}

/// Returns whether an option names a folder that is not below the working folder.
fn leads_elsewhere(reading: &Reading<'_>, option: &str) -> bool {
    let below = |path: &str| {
        stays_inside(path) && path.trim_start_matches('=').split('/').any(|part| !["", "."].contains(&part))
    };
    let mut given = reading.options.iter().filter(|found| !found.after_dashes && found.is(option));
    given.any(|found| !found.value.or(found.next).is_some_and(below))
}
