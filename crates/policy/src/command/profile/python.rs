//! Python and its package managers.

use super::{At, Profile, What, ask_always, code, held, refuse, value};

const INSTALLS: &str = "fetches packages and runs their set-up";
const PUBLISHES: &str = "publishes, or changes what others get";
const RUNS: &str = "starts a program that its words name, in the project's environment";

pub const PROFILES: &[Profile] = &[
    Profile {
        names: &["python", "python3", "python2", "pypy", "pypy3", "ipython", "ipython3"],
        code: Some("a script for Python can do anything"),
        options: &[
            value(At::Any, &["-c"]),
            value(At::Any, &["-m"]),
            value(At::Any, &["-W"]),
            value(At::Any, &["-X"]),
        ],
        ordinary: &["python3 -m pytest -q", "python3 tool.py", "python -c 'print(1)'"],
        ..Profile::PLAIN
    },
    Profile {
        names: &["pip", "pip3", "pipx"],
        options: &[
            value(At::Any, &["-r", "--requirement"]),
            value(At::Any, &["--python"]),
            value(At::Any, &["-i", "--index-url"]),
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
                What::Option(At::Any, &["--python"]),
                "names the program that runs it",
                "pip --python x list",
            ),
            refuse(
                What::Sub(&["config", "ensurepath"]),
                "writes configuration of the account",
                "pip config set x y",
            ),
            held(
                What::Sub(&["install", "download", "wheel", "uninstall", "upgrade", "inject", "lock"]),
                INSTALLS,
                "pip install x",
            ),
            held(What::Sub(&["run", "runpip"]), RUNS, "pipx run cowsay"),
        ],
        ordinary: &["pip list", "pip3 show x", "pip freeze"],
        ..Profile::PLAIN
    },
    Profile {
        names: &["uv", "poetry", "pipenv", "pdm", "hatch", "rye"],
        options: &[
            value(At::Any, &["--directory", "--project", "-C"]),
            value(At::Any, &["--with"]),
            value(At::Any, &["-p", "--python"]),
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
                What::Sub(&["self", "config", "source"]),
                "changes the tool itself or its configuration",
                "uv self update",
            ),
            refuse(What::Sub(&["shell"]), "starts a shell", "poetry shell"),
            held(What::Sub(&["tool"]), "fetches a program and runs it", "uv tool run cowsay"),
            held(
                What::Sub(&[
                    "pip", "sync", "add", "remove", "lock", "install", "update", "upgrade", "python",
                    "build", "venv",
                ]),
                INSTALLS,
                "uv sync",
            ),
            ask_always(What::Sub(&["publish"]), PUBLISHES, "poetry publish"),
            code(What::Sub(&["run", "test"]), RUNS, "uv run id"),
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
