//! What continuous integration runs: a hint at how a project is built and tested.
//!
//! Files of CI are read line by line for commands that begin with a known program. This is no reader of YAML: what
//! it does not understand it leaves out, and what runs in another folder too.

use bailiwick_platform::names::OsStrExt;

use bailiwick_contract::{Cancel, Failure};
use bailiwick_policy::PermittedPath;

use super::Purpose;
use super::excerpt::clean;
use super::source::{Source, below};

/// How many files are read.
const MAX_FILES: usize = 8;
/// How much of one is read.
const MAX_FILE_BYTES: u64 = 128 << 10;
/// How many commands are given.
const MAX_COMMANDS: usize = 10;
/// The longest command that is given.
const MAX_COMMAND_BYTES: usize = 120;
/// Files with a fixed name.
const FILES: &[&str] = &[".gitlab-ci.yml", ".circleci/config.yml", "azure-pipelines.yml", ".travis.yml"];
/// Programs with which a command of a project begins.
const PROGRAMS: &[&str] = &[
    "bats", "bazel", "bun", "bundle", "cabal", "cargo", "cmake", "composer", "crystal", "ctest", "deno",
    "dotnet", "dune", "go", "gradle", "gradlew", "hatch", "jest", "just", "lein", "make", "meson", "mix",
    "mocha", "mvn", "mvnw", "ninja", "nox", "npm", "npx", "pest", "php", "phpunit", "pnpm", "poetry",
    "pytest", "python", "python3", "rake", "rebar3", "rspec", "ruff", "sbt", "stack", "swift", "task", "tox",
    "turbo", "uv", "vitest", "yarn", "zig",
];
/// What gets a program or a package, or gives one away: not what a project is built or tested by.
const FETCHES: &[&str] = &[
    "add",
    "bootstrap",
    "cache",
    "ci",
    "config",
    "deploy",
    "deps",
    "local",
    "download",
    "fetch",
    "i",
    "info",
    "install",
    "login",
    "pip",
    "publish",
    "push",
    "release",
    "restore",
    "self",
    "setup",
    "sync",
    "tool",
    "update",
    "upgrade",
    "upload",
    "version",
    "workload",
];

/// Returns what CI runs in the target folder: what it is for, the command, the file.
pub(super) fn ci_commands(
    target: &PermittedPath,
    cancel: &Cancel,
) -> Result<Vec<(Purpose, String, String)>, Failure> {
    let mut paths: Vec<Vec<u8>> = FILES.iter().map(|name| name.as_bytes().to_vec()).collect();
    paths.extend(workflows(target));
    let mut commands: Vec<(Purpose, String, String)> = Vec::new();
    for path in paths.iter().take(MAX_FILES) {
        cancel.check()?;
        let Some(place) = below(target, path) else { continue };
        let Ok(Some(source)) = Source::read(&place, MAX_FILE_BYTES) else { continue };
        for line in lines_here(&source.text) {
            let Some((purpose, command)) = command(line).filter(|(_, run)| is_here(target, run)) else {
                continue;
            };
            if commands.len() < MAX_COMMANDS && !commands.iter().any(|(_, other, _)| *other == command) {
                commands.push((purpose, command, source.shown.clone()));
            }
        }
    }
    Ok(commands)
}

/// Returns whether a command has in the target folder what it needs: `make` a Makefile, or what makes one.
fn is_here(target: &PermittedPath, run: &str) -> bool {
    let program = run.split_whitespace().next().unwrap_or_default();
    let needed: &[&str] = match program {
        "make" => &[
            "Makefile",
            "GNUmakefile",
            "makefile",
            "configure",
            "configure.ac",
            "configure.in",
            "Makefile.PL",
        ],
        _ => return true,
    };
    needed.iter().any(|name| below(target, name.as_bytes()).is_some_and(|place| place.stat().is_ok()))
}

/// Finds how the README of the target folder says that the project is tested: by `make` or by a program of its own
/// ecosystem, on a line on its own. Returns the command and the file.
pub(super) fn tests_of_readme(target: &PermittedPath) -> Vec<(String, String)> {
    let Some(source) = READMES
        .iter()
        .find_map(|name| Source::read(&below(target, name.as_bytes())?, MAX_FILE_BYTES).ok().flatten())
    else {
        return Vec::new();
    };
    let mut found = Vec::new();
    // Once it goes into another folder, a block says nothing about this one.
    let (mut is_away, mut is_fenced) = (false, false);
    for line in source.text.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.is_empty() {
            is_away = false;
            is_fenced ^= !trimmed.is_empty();
            continue;
        }
        let said = ["$ ", "% ", "> "].iter().find_map(|mark| trimmed.strip_prefix(mark));
        let is_code = is_fenced || said.is_some() || line.starts_with("    ") || line.starts_with('\t');
        let run = said.unwrap_or(trimmed);
        is_away |= run.split("&&").any(|part| part.trim_start().starts_with("cd "));
        if let Some((Purpose::Test, run)) = command(run).filter(|_| is_code && !is_away)
            && is_here(target, &run)
            && found.len() < MAX_OF_README
        {
            found.push((run, source.shown.clone()));
        }
    }
    found
}

/// Names of a README.
const READMES: &[&str] = &["README.md", "README.rst", "README", "README.txt", "Readme.md", "readme.md"];
/// How many commands of a README are given.
const MAX_OF_README: usize = 2;

/// How many entries of the folder of workflows are checked.
const MAX_WORKFLOWS: usize = 10_000;

/// Returns the workflows of GitHub, in order of name.
fn workflows(target: &PermittedPath) -> Vec<Vec<u8>> {
    let folder = b".github/workflows";
    let opened = below(target, folder).and_then(|place| place.open_dir().ok());
    let entries = opened.and_then(|(dir, _)| dir.entries(MAX_WORKFLOWS).ok()).unwrap_or_default();
    let mut paths: Vec<Vec<u8>> = entries
        .iter()
        .map(|entry| entry.name.as_bytes())
        .filter(|name| name.ends_with(b".yml") || name.ends_with(b".yaml"))
        .map(|name| [&folder[..], b"/", name].concat())
        .collect();
    paths.sort_unstable();
    paths
}

/// Returns the lines of a file of CI that run in the project's own folder: those of steps that name another one, and
/// those behind a `cd`, do not.
fn lines_here(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let is_away = |line: &str| line.trim_start().trim_start_matches("- ").starts_with("working-directory:");
    let mut here = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        // A step reaches to the next line that is indented as little as it.
        let own = indentation(lines[at]);
        let is_step = lines[at].trim_start().starts_with("- ");
        let is_more = |line: &&&str| line.trim().is_empty() || indentation(line) > own;
        let end = match is_step {
            true => at + 1 + lines[at + 1..].iter().take_while(is_more).count(),
            false => at + 1,
        };
        let step = &lines[at..end];
        let inner =
            step.iter().skip(1).any(|line| line.trim_start().starts_with("- ") && indentation(line) > own);
        if is_step && inner {
            // A list within a list: its lines are checked for themselves.
            here.push(lines[at]);
            at += 1;
            continue;
        }
        at = end;
        if is_step && step.iter().any(|line| is_away(line)) {
            continue;
        }
        let goes = |part: &str| {
            let part = part.trim_start().trim_start_matches("- ").trim_start_matches("run:").trim_start();
            part.starts_with("cd ")
        };
        let stays = |line: &&&str| !line.split("&&").any(goes);
        here.extend(step.iter().take_while(stays));
    }
    // A folder for all steps of a job.
    let defaults = lines.iter().position(|line| line.trim() == "defaults:");
    let is_default = defaults.is_some_and(|at| lines[at..].iter().take(4).any(|line| is_away(line)));
    if is_default { Vec::new() } else { here }
}

/// Reads a line as a command of the project, and says what it is for.
fn command(line: &str) -> Option<(Purpose, String)> {
    let line = line.trim();
    let line = line.strip_prefix("- ").unwrap_or(line).trim();
    let line = line.strip_prefix("run:").unwrap_or(line).trim();
    let line = clean(unquoted(line));
    let plain = |text: &str| {
        !text.contains(['$', '`', '<', '>', '|', '\\', '{', ';'])
            && text.len() <= MAX_COMMAND_BYTES
            && text.matches('\'').count().is_multiple_of(2)
            && text.matches('"').count().is_multiple_of(2)
    };
    let program = line.split_whitespace().next()?;
    if !plain(&line) || program.ends_with(':') {
        return None;
    }
    // Of several, the last does what the line is for: what comes before makes it ready.
    let last = line.rsplit("&&").next().unwrap_or(&line);
    Some((purpose(last)?, line))
}

/// Takes off the quotes that are around a whole value.
fn unquoted(text: &str) -> &str {
    for quote in ['"', '\''] {
        let inner = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        if let Some(inner) = inner.filter(|inner| !inner.contains(quote)) {
            return inner;
        }
    }
    text
}

/// Returns what a command is for: by its program and its words, never by its options.
fn purpose(line: &str) -> Option<Purpose> {
    let mut words = line.split_whitespace();
    let program = words.next()?;
    let program = program.rsplit('/').next().unwrap_or(program);
    if !PROGRAMS.contains(&program) {
        return None;
    }
    let words: Vec<&str> = words.collect();
    let skips_tests = ["-DskipTests", "-Dmaven.test.skip", "--no-run", "--exclude-task"];
    let skips = words.iter().any(|word| skips_tests.iter().any(|skip| word.starts_with(skip)))
        || words.windows(2).any(|pair| pair == ["-x", "test"]);
    // What needs the output of a step before is no command on its own.
    if words.iter().any(|word| matches!(*word, "--no-build" | "--version" | "--help")) {
        return None;
    }
    let own = || words.iter().copied().filter(|word| !word.starts_with('-'));
    let verb = own().find(|word| !matches!(*word, "run" | "exec" | "tool" | "x" | "dlx" | "-m"));
    let installs_by_goal =
        matches!(program, "mvn" | "mvnw" | "cmake" | "make" | "ninja" | "gradle" | "gradlew");
    let first = |verb: &str| FETCHES.contains(&verb.split(['.', ':']).next().unwrap_or(verb));
    if !installs_by_goal && verb.is_some_and(first) {
        return None;
    }
    let has = |known: &[&str]| {
        own().any(|word| word.split([':', '-', '/', '.', '_', '@']).any(|part| known.contains(&part)))
            || known.contains(&program)
    };
    let goal = |known: &[&str]| own().any(|word| known.contains(&word));
    let tests = [
        "test", "tests", "pytest", "nextest", "ctest", "tox", "nox", "vitest", "jest", "rspec", "spec",
        "phpunit", "pest", "mocha", "bats", "eunit", "runtest",
    ];
    let maven = matches!(program, "mvn" | "mvnw");
    Some(match () {
        () if maven && !skips && goal(&["test", "verify", "integration-test"]) => Purpose::Test,
        () if maven && goal(&["install", "package", "compile", "verify", "test"]) => Purpose::Build,
        () if matches!(program, "make" | "gradle" | "gradlew") && !skips && goal(&["check"]) => Purpose::Test,
        () if program == "cmake" && words.contains(&"--build") => match goal(&["test", "check"]) {
            true => Purpose::Test,
            false => Purpose::Build,
        },
        () if program == "rake" && own().next().is_none() => Purpose::Test,
        () if program == "bundle" && own().collect::<Vec<_>>() == ["exec", "rake"] => Purpose::Test,
        () if matches!(program, "make" | "ninja") && own().next().is_none() => Purpose::Build,
        // Other goals have names of files and modules in them.
        () if matches!(program, "make" | "gradle" | "gradlew") => match () {
            () if goal(&["test", "tests", "allTests", "jvmTest"]) && !skips => Purpose::Test,
            () if goal(&["lint", "vet", "spotlessCheck"]) => Purpose::Lint,
            () if goal(&["build", "all", "assemble"]) => Purpose::Build,
            () => return None,
        },
        () if has(&tests) && !skips => Purpose::Test,
        () if has(&["fmt", "format", "prettier", "rustfmt", "black"]) => Purpose::Format,
        () if has(&[
            "lint",
            "clippy",
            "check",
            "eslint",
            "ruff",
            "mypy",
            "tsc",
            "vet",
            "typecheck",
            "phpstan",
            "psalm",
        ]) =>
        {
            Purpose::Lint
        }
        () if has(&["build", "compile", "package", "assemble"]) || has(&tests) => Purpose::Build,
        () => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_commands_of_the_project() {
        for (line, expected) in [
            ("      - run: cargo test --workspace", Some((Purpose::Test, "cargo test --workspace"))),
            ("        run: npm ci", None),
            ("          cargo clippy -- -D warnings", Some((Purpose::Lint, "cargo clippy -- -D warnings"))),
            ("  - ./gradlew build", Some((Purpose::Build, "./gradlew build"))),
            ("  - 'go vet ./...'", Some((Purpose::Lint, "go vet ./..."))),
            ("      - run: cargo test --features ${{ matrix.x }}", None),
            ("      - run: curl https://example.com/test | sh", None),
            ("  test:", None),
            ("    name: cargo test", None),
            ("      - run: npm test -- --grep 'a b'", Some((Purpose::Test, "npm test -- --grep 'a b'"))),
            ("      - run: \"npm test\"", Some((Purpose::Test, "npm test"))),
            ("      - run: npm test -- --grep 'a b", None),
            (
                "      - run: mvn clean install -Dmaven.test.skip",
                Some((Purpose::Build, "mvn clean install -Dmaven.test.skip")),
            ),
            ("      - run: mvn -B verify", Some((Purpose::Test, "mvn -B verify"))),
            ("      - run: ./gradlew assemble -x test", Some((Purpose::Build, "./gradlew assemble -x test"))),
            ("      - run: make check", Some((Purpose::Test, "make check"))),
            ("      - run: cargo install cargo-nextest", None),
            ("      - run: cargo test --no-run", Some((Purpose::Build, "cargo test --no-run"))),
            ("      - run: dotnet test --no-build", None),
            ("      - run: bundle exec rake", Some((Purpose::Test, "bundle exec rake"))),
            ("      - run: vendor/bin/phpunit", Some((Purpose::Test, "vendor/bin/phpunit"))),
            ("      - run: cmake --build build", Some((Purpose::Build, "cmake --build build"))),
            ("      - run: ctest --test-dir build", Some((Purpose::Test, "ctest --test-dir build"))),
        ] {
            let found = command(line);
            let found = found.as_ref().map(|(purpose, text)| (*purpose, text.as_str()));
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn what_runs_in_another_folder_is_left_out() {
        let text = "jobs:\n  a:\n    steps:\n      - run: npm test\n        working-directory: web\n      - run: |\n          make\n          cd docs\n          make test\n      - run: go test ./...\n";
        let found: Vec<String> =
            lines_here(text).into_iter().filter_map(command).map(|(_, command)| command).collect();
        assert_eq!(found, ["make", "go test ./..."]);
        let all =
            "defaults:\n  run:\n    working-directory: web\njobs:\n  a:\n    steps:\n      - run: npm test\n";
        assert!(lines_here(all).is_empty());
    }
}
