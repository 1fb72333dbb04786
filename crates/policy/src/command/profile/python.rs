//! Python and its package managers.

use super::{Position, Profile, RowPattern, ask_always, code, held, refuse, value};

const INSTALLS: &str = "fetches packages and runs their set-up";
const PUBLISHES: &str = "publishes, or changes what others get";
const RUNS: &str = "starts a program that its words name, in the project's environment";

pub const PROFILES: &[Profile] = &[
    Profile {
        names: &["python", "python3", "python2", "pypy", "pypy3", "ipython", "ipython3"],
        code: Some("a script for Python can do anything"),
        options: &[
            value(Position::Any, &["-c"]),
            value(Position::Any, &["-m"]),
            value(Position::Any, &["-W"]),
            value(Position::Any, &["-X"]),
        ],
        ordinary: &["python3 -m pytest -q", "python3 tool.py", "python -c 'print(1)'"],
        ..Profile::PLAIN
    },
    Profile {
        names: &["pip", "pip3", "pipx"],
        options: &[
            value(Position::Any, &["-r", "--requirement"]),
            value(Position::Any, &["--python"]),
            value(Position::Any, &["-i", "--index-url"]),
        ],
        subcommands: &[
            "install",
            "download",
            "uninstall",
            "freeze",
            "inspect",
            "list",
            "show",
            "check",
            "config",
            "search",
            "cache",
            "index",
            "wheel",
            "hash",
            "completion",
            "debug",
            "help",
            "run",
            "runpip",
            "ensurepath",
            "upgrade",
            "inject",
            "lock",
        ],
        rows: &[
            refuse(
                RowPattern::Option(Position::Any, &["--python"]),
                "names the program that runs it",
                "pip --python x list",
            ),
            refuse(
                RowPattern::Sub(&["config", "ensurepath"]),
                "writes configuration of the account",
                "pip config set x y",
            ),
            held(
                RowPattern::Sub(&["install", "download", "wheel", "uninstall", "upgrade", "inject", "lock"]),
                INSTALLS,
                "pip install x",
            ),
            held(RowPattern::Sub(&["run", "runpip"]), RUNS, "pipx run cowsay"),
        ],
        ordinary: &["pip list", "pip3 show x", "pip freeze"],
        ..Profile::PLAIN
    },
    Profile {
        names: &["uv", "poetry", "pipenv", "pdm", "hatch", "rye"],
        options: &[
            value(Position::Any, &["--directory", "--project", "-C"]),
            value(Position::Any, &["--with"]),
            value(Position::Any, &["-p", "--python"]),
        ],
        starts: super::Starts::Words,
        subcommands: &[
            "run", "tool", "pip", "sync", "add", "remove", "lock", "install", "update", "publish", "build",
            "venv", "python", "self", "shell", "init", "new", "tree", "export", "version", "show", "check",
            "env", "config", "cache", "list", "search", "test", "fmt", "help", "source", "about", "graph",
            "verify", "clean", "upgrade",
        ],
        rows: &[
            refuse(
                RowPattern::Sub(&["self", "config", "source"]),
                "changes the tool itself or its configuration",
                "uv self update",
            ),
            refuse(RowPattern::Sub(&["shell"]), "starts a shell", "poetry shell"),
            held(RowPattern::Sub(&["tool"]), "fetches a program and runs it", "uv tool run cowsay"),
            held(
                RowPattern::Sub(&[
                    "pip", "sync", "add", "remove", "lock", "install", "update", "upgrade", "python",
                    "build", "venv",
                ]),
                INSTALLS,
                "uv sync",
            ),
            ask_always(RowPattern::Sub(&["publish"]), PUBLISHES, "poetry publish"),
            code(RowPattern::Sub(&["run", "test"]), RUNS, "uv run id"),
        ],
        ordinary: &["uv tree", "poetry show", "uv run pytest"],
        ..Profile::PLAIN
    },
    Profile {
        names: &[
            "pytest",
            "py.test",
            "tox",
            "nox",
            "coverage",
            "mypy",
            "pylint",
            "ipdb",
            "unittest",
            "behave",
            "flask",
            "django-admin",
            "celery",
            "gunicorn",
            "uvicorn",
            "jupyter",
            "black",
            "flake8",
        ],
        code: Some("the tests, plugins and configuration that it loads are code of the project"),
        ordinary: &["pytest -q -k name", "pytest -x tests"],
        ..Profile::PLAIN
    },
];
