//! What continuous integration runs: a hint at how a project is built and tested.
//!
//! Files of CI are read line by line for commands that begin with a known program. This is no reader of YAML: what
//! it does not understand it leaves out.

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
    "bazel", "bun", "bundle", "cargo", "cmake", "composer", "ctest", "deno", "dotnet", "go", "gradle",
    "gradlew", "hatch", "just", "make", "meson", "mix", "mvn", "mvnw", "ninja", "nox", "npm", "npx", "php",
    "pnpm", "poetry", "pytest", "python", "python3", "rake", "ruff", "swift", "task", "tox", "uv", "yarn",
];

/// Gives what CI runs in the target folder: what it is for, the command, the file.
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
        for line in source.text.lines() {
            let Some((purpose, command)) = command(line) else { continue };
            if commands.len() < MAX_COMMANDS && !commands.iter().any(|(_, other, _)| *other == command) {
                commands.push((purpose, command, source.shown.clone()));
            }
        }
    }
    Ok(commands)
}

/// How many entries of the folder of workflows are looked at.
const MAX_WORKFLOWS: usize = 10_000;

/// Gives the workflows of GitHub, in order of name.
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

/// Reads a line as a command of the project, and says what it is for.
fn command(line: &str) -> Option<(Purpose, String)> {
    let line = line.trim();
    let line = line.strip_prefix("- ").unwrap_or(line).trim();
    let line = line.strip_prefix("run:").unwrap_or(line).trim();
    let line = clean(line.trim_matches(['"', '\'']));
    let plain =
        |text: &str| !text.contains(['$', '`', '<', '>', '|', '\\']) && text.len() <= MAX_COMMAND_BYTES;
    let mut words = line.split_whitespace();
    let program = words.next()?;
    let program = program.strip_prefix("./").unwrap_or(program);
    if !plain(&line) || !PROGRAMS.contains(&program) || program.ends_with(':') {
        return None;
    }
    let has = |known: &[&str]| {
        let parts = line.split([' ', ':', '-', '/', '.', '=']);
        parts.into_iter().any(|word| known.contains(&word))
    };
    let purpose = match () {
        () if has(&[
            "test", "tests", "pytest", "nextest", "ctest", "tox", "nox", "vitest", "jest", "rspec",
        ]) =>
        {
            Purpose::Test
        }
        () if has(&["fmt", "format", "prettier", "rustfmt", "black"]) => Purpose::Format,
        () if has(&["lint", "clippy", "check", "eslint", "ruff", "mypy", "tsc", "vet", "typecheck"]) => {
            Purpose::Lint
        }
        () if has(&["build", "compile", "package", "assemble"]) => Purpose::Build,
        () => return None,
    };
    Some((purpose, line))
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
        ] {
            let found = command(line);
            let found = found.as_ref().map(|(purpose, text)| (*purpose, text.as_str()));
            assert_eq!(found, expected, "{line}");
        }
    }
}
