//! Build tools, compilers and other tools whose input is code.

use super::{Position, Profile, Row, RowPattern, Starts, ask, ask_always, code, held, refuse, value};

const BUILDS: &str = "runs what the project's build files say, which can be anything";
const COMPILES: &str = "starts programs that its options name";

pub const PROFILES: &[Profile] = &[
    Profile {
        names: &["make", "gmake", "bmake"],
        code: Some(BUILDS),
        options: &[
            value(Position::Any, &["-C", "--directory"]),
            value(Position::Any, &["-f", "--file", "--makefile"]),
            value(Position::Any, &["-I", "--include-dir"]),
            value(Position::Any, &["--eval", "-E"]),
        ],
        rows: MAKE,
        ordinary: &["make -j4 test", "make -C sub all", "make CC=clang"],
        ..Profile::PLAIN
    },
    Profile {
        names: &["just", "task", "rake", "invoke", "mage"],
        code: Some(BUILDS),
        options: &[
            value(Position::Any, &["-f", "--justfile"]),
            value(Position::Any, &["-d", "--working-directory"]),
        ],
        rows: &[
            refuse(
                RowPattern::Option(Position::Any, &["--shell", "--shell-arg", "--command", "-c"]),
                "names a program or hands a text to a shell",
                "just --shell sh x",
            ),
            held(
                RowPattern::OptionOutside(Position::Any, &["-f", "--justfile", "-d", "--working-directory"]),
                "works in another folder",
                "just -f /x a",
            ),
        ],
        ordinary: &["just test", "just --list", "rake test"],
        ..Profile::PLAIN
    },
    Profile {
        names: &[
            "ninja",
            "cmake",
            "ctest",
            "meson",
            "scons",
            "bazel",
            "bazelisk",
            "buck2",
            "gradle",
            "gradlew",
            "mvn",
            "mvnw",
            "ant",
            "sbt",
            "lein",
            "mix",
            "rebar3",
            "stack",
            "cabal",
            "dune",
            "zig",
            "swift",
            "xcodebuild",
            "dotnet",
            "msbuild",
            "flutter",
            "dart",
            "composer",
            "bundle",
            "bundler",
            "gem",
            "configure",
            "autoreconf",
            "autoconf",
            "automake",
            "tsc",
            "protoc",
        ],
        code: Some(BUILDS),
        starts: Starts::Words,
        ordinary: &["cmake --build out", "gradle test", "mvn -q verify", "dotnet test"],
        ..Profile::PLAIN
    },
    Profile {
        names: &[
            "cc", "gcc", "g++", "c++", "clang", "clang++", "ld", "as", "gfortran", "ghc", "javac", "nvcc",
        ],
        code: Some(COMPILES),
        ordinary: &["gcc -O2 -o a a.c"],
        ..Profile::PLAIN
    },
    Profile {
        names: &["go"],
        syntax: super::Syntax::SingleDash,
        options: &[
            value(Position::Any, &["-C"]),
            value(Position::Any, &["-o"]),
            value(Position::Any, &["-run"]),
            value(Position::Any, &["-exec"]),
        ],
        subcommands: &[
            "bug",
            "build",
            "clean",
            "doc",
            "env",
            "fix",
            "fmt",
            "generate",
            "get",
            "help",
            "install",
            "list",
            "mod",
            "work",
            "run",
            "telemetry",
            "test",
            "tool",
            "version",
            "vet",
        ],
        rows: &[
            refuse(
                RowPattern::Option(Position::Any, &["-exec", "-toolexec", "-vettool"]),
                "names a program that Go starts",
                "go test -exec sh ./...",
            ),
            refuse(
                RowPattern::Option(Position::Sub(&["env"]), &["-w", "-u"]),
                "writes configuration, which can name programs",
                "go env -w CC=x",
            ),
            refuse(
                RowPattern::Sub(&["bug", "telemetry"]),
                "sends something out, or opens a browser",
                "go bug",
            ),
            held(
                RowPattern::OptionOutside(Position::Any, &["-C"]),
                "works in another folder",
                "go -C /x build",
            ),
            held(
                RowPattern::Option(Position::Any, &["-overlay", "-modfile", "-pkgdir", "-o"]),
                "works with files of any name",
                "go build -o x",
            ),
            held(RowPattern::Sub(&["get", "install"]), "fetches code and builds it", "go get x"),
            code(
                RowPattern::Sub(&["run", "test", "generate", "build", "vet", "tool"]),
                "runs tests, generators and C compilers as the project says",
                "go test ./...",
            ),
        ],
        ordinary: &[
            "go test ./... -run Name",
            "go build ./...",
            "go vet ./...",
            "go list -m all",
            "go fmt ./...",
            "go mod tidy",
        ],
        ..Profile::PLAIN
    },
    Profile {
        names: &["curl", "wget"],
        rows: &[ask(RowPattern::Program, "sends and fetches over the network", "curl https://example.com")],
        ..Profile::PLAIN
    },
    Profile {
        names: &[
            "gh",
            "glab",
            "hub",
            "aws",
            "gcloud",
            "az",
            "kubectl",
            "helm",
            "terraform",
            "tofu",
            "ansible",
            "ansible-playbook",
            "heroku",
            "fly",
            "flyctl",
            "serverless",
            "railway",
            "doctl",
            "twine",
            "vercel",
            "netlify",
            "wrangler",
            "firebase",
        ],
        starts: Starts::Words,
        rows: &[ask_always(RowPattern::Program, "acts elsewhere in your name", "gh pr list")],
        ..Profile::PLAIN
    },
    Profile {
        names: &[
            "apt",
            "apt-get",
            "dnf",
            "yum",
            "pacman",
            "brew",
            "apk",
            "snap",
            "flatpak",
            "nix",
            "nix-env",
            "nix-shell",
            "port",
            "zypper",
            "dpkg",
            "rpm",
            "conda",
            "mamba",
        ],
        code: Some("installs programs and runs their set-up"),
        starts: Starts::Words,
        rows: &[ask(RowPattern::Program, "changes the computer's software", "apt install x")],
        ..Profile::PLAIN
    },
    Profile {
        names: &[
            "systemctl",
            "service",
            "launchctl",
            "crontab",
            "at",
            "batch",
            "atq",
            "loginctl",
            "journalctl",
            "mount",
            "umount",
            "insmod",
            "modprobe",
            "sysctl",
            "iptables",
            "nft",
            "useradd",
            "usermod",
            "passwd",
            "shutdown",
            "reboot",
            "halt",
            "poweroff",
            "init",
            "mkfs",
            "fdisk",
            "parted",
            "format",
        ],
        starts: Starts::Texts,
        rows: &[refuse(RowPattern::Program, "acts on the computer itself, beyond the folder", "crontab -e")],
        ..Profile::PLAIN
    },
    Profile {
        names: &["hg", "chg"],
        syntax: super::Syntax::Abbreviates,
        options: &[
            value(Position::Any, &["--config"]),
            value(Position::Any, &["-R", "--repository"]),
            value(Position::Any, &["--cwd"]),
        ],
        rows: &[
            refuse(
                RowPattern::Option(Position::Any, &["--config", "--debugger", "--ssh", "--remotecmd"]),
                "sets any configuration, which can name programs",
                "hg --config=alias.x=!id x",
            ),
            held(
                RowPattern::Option(Position::Any, &["-R", "--repository", "--cwd"]),
                "works in another folder",
                "hg -R /x log",
            ),
        ],
        ordinary: &["hg status", "hg log -l5"],
        ..Profile::PLAIN
    },
    Profile {
        names: &["kill", "pkill", "killall"],
        rows: &[held(RowPattern::Program, "ends processes that it did not start", "killall x")],
        ..Profile::PLAIN
    },
];

const MAKE: &[Row] = &[
    refuse(RowPattern::Option(Position::Any, &["--eval", "-E"]), "gives make commands to run", "make --ev x"),
    refuse(
        RowPattern::Word(Position::Any, |word| {
            word.starts_with("SHELL=") || word.starts_with(".SHELLFLAGS=")
        }),
        "names the shell of make",
        "make SHELL=/x all",
    ),
    held(
        RowPattern::OptionOutside(
            Position::Any,
            &["-C", "--directory", "-f", "--file", "--makefile", "-I", "--include-dir"],
        ),
        "works in another folder",
        "make -C /x",
    ),
];
