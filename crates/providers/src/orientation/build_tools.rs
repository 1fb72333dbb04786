//! How projects are built and tested whose build tools have no manifest with scripts: by the files that those tools
//! read, in the target folder itself.

use std::collections::BTreeSet;

use bailiwick_platform::names::OsStrExt;
use bailiwick_policy::PermittedPath;

use super::Purpose;
use super::source::{Source, below};

/// How many names of a folder are checked.
const MAX_ENTRIES: usize = 10_000;
/// How much of a file is read.
const MAX_BYTES: u64 = 256 << 10;
/// Folders that hold a project's own scripts.
const SCRIPT_FOLDERS: &[&str] = &["scripts", "script", "bin"];
/// How many words of a file are checked as names of folders.
const MAX_WORDS: usize = 1_000;
/// How many members of a workspace one command names.
const MAX_MEMBERS: usize = 12;

/// A command, what it is for, and the file that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KnownCommand {
    pub purpose: Purpose,
    pub run: String,
    pub from: String,
    /// Whether a file names it as what it is for: a task, a script.
    pub is_named: bool,
}

/// The names of a tool's files, and the commands for each purpose.
type Tool = (&'static [&'static str], &'static [(Purpose, &'static str)]);

/// Bazel's.
const BAZEL: Tool = (
    &["MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel"],
    &[(Purpose::Build, "bazel build //..."), (Purpose::Test, "bazel test //...")],
);

/// Tools that are known by a file, and what they are asked to do; the first of a tool's files that is there counts.
const TOOLS: &[Tool] = &[
    (
        &["meson.build"],
        &[
            (Purpose::Build, "meson setup build && meson compile -C build"),
            (Purpose::Test, "meson test -C build"),
        ],
    ),
    (&["build.sbt"], &[(Purpose::Build, "sbt compile"), (Purpose::Test, "sbt test")]),
    (&["project.clj"], &[(Purpose::Build, "lein compile"), (Purpose::Test, "lein test")]),
    (&["rebar.config"], &[(Purpose::Build, "rebar3 compile"), (Purpose::Test, "rebar3 eunit")]),
    (&["build.zig"], &[(Purpose::Build, "zig build"), (Purpose::Test, "zig build test")]),
    (&["dune-project"], &[(Purpose::Build, "dune build"), (Purpose::Test, "dune runtest")]),
    (&["shard.yml"], &[(Purpose::Build, "shards build"), (Purpose::Test, "crystal spec")]),
    (
        &["Makefile.PL"],
        &[(Purpose::Build, "perl Makefile.PL && make"), (Purpose::Test, "perl Makefile.PL && make test")],
    ),
    (&["noxfile.py"], &[(Purpose::Test, "nox")]),
    (&["tox.ini"], &[(Purpose::Test, "tox")]),
    (&["pytest.ini", "conftest.py", "tests/conftest.py"], &[(Purpose::Test, "pytest")]),
    (
        &["nx.json"],
        &[(Purpose::Build, "npx nx run-many -t build"), (Purpose::Test, "npx nx run-many -t test")],
    ),
    (&["turbo.json"], &[(Purpose::Build, "npx turbo run build"), (Purpose::Test, "npx turbo run test")]),
    (&["lerna.json"], &[(Purpose::Build, "npx lerna run build"), (Purpose::Test, "npx lerna run test")]),
];

/// The files of a folder.
struct Files<'a> {
    folder: &'a PermittedPath,
    names: BTreeSet<String>,
}

impl Files<'_> {
    fn has(&self, path: &str) -> bool {
        match path.contains('/') {
            true => below(self.folder, path.as_bytes()).is_some_and(|place| place.stat().is_ok()),
            false => self.names.contains(path),
        }
    }

    fn ending(&self, end: &str) -> Option<&String> {
        self.names.iter().find(|name| name.ends_with(end))
    }

    fn read(&self, path: &str) -> Option<String> {
        if !self.has(path) {
            return None;
        }
        Some(Source::read(&below(self.folder, path.as_bytes())?, MAX_BYTES).ok()??.text)
    }
}

/// Finds the commands of the tools whose files a folder has, the most certain first.
pub(super) fn build_tools(target: &PermittedPath) -> Vec<KnownCommand> {
    let Ok((dir, folder)) = target.open_dir() else { return Vec::new() };
    let entries = dir.entries(MAX_ENTRIES).unwrap_or_default();
    let names =
        entries.iter().filter_map(|entry| Some(str::from_utf8(entry.name.as_bytes()).ok()?.to_owned()));
    let files = Files { folder: &folder, names: names.collect() };
    let mut known = Vec::new();
    own_scripts(&files, &mut known);
    composer(&files, &mut known);
    ruby(&files, &mut known);
    haskell(&files, &mut known);
    go_workspace(&files, &mut known);
    TOOLS.iter().for_each(|tool| by_file(&files, tool, &mut known));
    autotools(&files, &mut known);
    if let Some(name) = ["GNUmakefile", "makefile", "Makefile"].into_iter().find(|name| files.has(name))
        && files.read(name).is_none_or(|text| makes_something(&text))
    {
        add(&mut known, Purpose::Build, "make", name, false);
    }
    workspaces(&files, &mut known);
    by_file(&files, &BAZEL, &mut known);
    let shown = |from: &str| below(&folder, from.as_bytes()).map_or_else(|| from.to_owned(), |it| it.shown());
    known.iter_mut().for_each(|command| command.from = shown(&command.from));
    known
}

/// Adds the commands of a tool that is known by a file.
fn by_file(files: &Files<'_>, (names, commands): &Tool, known: &mut Vec<KnownCommand>) {
    let Some(name) = names.iter().find(|name| files.has(name)) else { return };
    for (purpose, run) in *commands {
        add(known, *purpose, run, name, false);
    }
}

/// Returns whether a manifest is of an ecosystem whose language is another one than most of a project is written in.
pub(super) fn is_of_another_language(from: &str, language: Option<&str>) -> bool {
    let name = from.rsplit('/').next().unwrap_or(from);
    let Some(language) = language else { return false };
    let own: &[&str] = match name {
        "package.json" | "pnpm-workspace.yaml" | "nx.json" | "turbo.json" | "lerna.json" => {
            &["JavaScript", "TypeScript", "Vue", "Svelte", "Astro", "Shell"]
        }
        "Package.swift" => &["Swift", "Objective-C"],
        "CMakeLists.txt" | "meson.build" | "configure.ac" => &["C", "C++", "Assembly", "Objective-C"],
        "mix.exs" => &["Elixir", "Erlang"],
        "go.mod" => &["Go"],
        "composer.json" => &["PHP"],
        "Gemfile" | "Rakefile" => &["Ruby", "Crystal", "Shell"],
        "pom.xml" | "build.gradle" | "build.gradle.kts" => &["Java", "Kotlin", "Scala", "Groovy"],
        _ => return false,
    };
    !own.contains(&language)
}

/// Replaces what Maven and Gradle are called by the wrappers that a folder has, and names the solution for dotnet where
/// a folder has several projects: without that it does nothing.
pub(super) fn with_wrapper(target: &PermittedPath, run: &str) -> String {
    if matches!(run, "dotnet build" | "dotnet test")
        && let Some(solution) = solution(target)
    {
        return format!("{run} {solution}");
    }
    let has = |name: &str| below(target, name.as_bytes()).is_some_and(|place| place.stat().is_ok());
    for (wrapper, plain) in [("./mvnw", "mvn"), ("./gradlew", "gradle")] {
        let rest = run.strip_prefix(wrapper).or_else(|| run.strip_prefix(plain));
        if let Some(rest) = rest.filter(|rest| rest.starts_with(' ')) {
            let program = if has(&wrapper[2..]) { wrapper } else { plain };
            return format!("{program}{rest}");
        }
    }
    run.to_owned()
}

/// Returns the solution of a folder that has other projects, too.
fn solution(target: &PermittedPath) -> Option<String> {
    let (dir, _) = target.open_dir().ok()?;
    let entries = dir.entries(MAX_ENTRIES).ok()?;
    let names: Vec<&str> =
        entries.iter().filter_map(|entry| str::from_utf8(entry.name.as_bytes()).ok()).collect();
    let ending = |ends: &[&str]| {
        let is_one = |name: &&&str| ends.iter().any(|end| name.ends_with(end)) && !name.contains([' ', '\'']);
        names.iter().filter(is_one).min().copied()
    };
    let all = [".sln", ".slnx", ".csproj", ".fsproj", ".vbproj"];
    let is_one = |name: &&&str| all.iter().any(|end| name.ends_with(end));
    let several = names.iter().filter(is_one).count() > 1;
    several.then(|| ending(&[".slnx"]).or_else(|| ending(&[".sln"])).map(str::to_owned)).flatten()
}

fn add(known: &mut Vec<KnownCommand>, purpose: Purpose, run: &str, from: &str, is_named: bool) {
    let run = run.to_owned();
    known.push(KnownCommand { purpose, run, from: from.to_owned(), is_named });
}

/// Returns whether the first target of a Makefile, which `make` alone makes, is more than a check.
fn makes_something(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    let rules: Vec<(&str, &str, &str)> = (0..lines.len())
        .filter_map(|at| {
            let (name, needs) = lines[at].split_once(':').filter(|(_, rest)| !rest.starts_with('='))?;
            let recipe = lines.get(at + 1).filter(|line| line.starts_with('\t')).copied().unwrap_or_default();
            let name = name.trim_end();
            let is_one = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-' | '/' | '.' | '%');
            let is_target = !name.is_empty() && !name.starts_with('.') && name.chars().all(is_one);
            is_target.then_some((name, needs.trim(), recipe.trim().trim_start_matches(['@', '-'])))
        })
        .collect();
    let Some(first) = rules.first() else { return true };
    // One that stands for another: `default: all`.
    let meant = rules.iter().find(|rule| first.2.is_empty() && rule.0 == first.1).unwrap_or(first);
    let (name, needs, recipe) = meant;
    let is_check = matches!(*name, "test" | "tests" | "check" | "lint" | "fmt" | "format" | "clean" | "help");
    !is_check && !is_no_build(if recipe.is_empty() { needs } else { recipe })
}

/// Returns whether what a target runs or needs says that it is no build: it prints, or tests and checks as well.
pub(super) fn is_no_build(runs: &str) -> bool {
    let words: Vec<&str> = runs.split([' ', '\t', ';', '&', '\n']).filter(|word| !word.is_empty()).collect();
    let checks = |word: &&str| matches!(*word, "test" | "tests" | "check" | "lint" | "vet" | "fmt");
    matches!(words.first(), Some(&("echo" | "printf"))) || words.iter().any(checks)
}

/// Scripts that are named as what they do: `scripts/test`.
fn own_scripts(files: &Files<'_>, known: &mut Vec<KnownCommand>) {
    for folder in SCRIPT_FOLDERS.iter().filter(|folder| files.has(folder)) {
        for (purpose, names) in [
            (Purpose::Test, &["test", "test.sh", "run-tests", "run_tests.sh"][..]),
            (Purpose::Build, &["build", "build.sh"]),
            (Purpose::Lint, &["lint", "lint.sh", "check"]),
        ] {
            if let Some(path) =
                names.iter().map(|name| format!("{folder}/{name}")).find(|path| files.has(path))
            {
                add(known, purpose, &path, &path, true);
            }
        }
    }
}

/// Scripts of Composer, and what its project is tested with.
fn composer(files: &Files<'_>, known: &mut Vec<KnownCommand>) {
    let Some(text) = files.read("composer.json") else { return };
    let package: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let scripts = package["scripts"].as_object();
    let mut names: Vec<&str> = scripts.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    // What is called as what it does goes before its parts.
    names.sort_by_key(|name| !matches!(*name, "test" | "build" | "lint" | "format"));
    for name in names {
        let purpose = match name {
            "test" | "tests" | "phpunit" | "pest" | "test:unit" | "unit" => Purpose::Test,
            "build" | "compile" => Purpose::Build,
            "lint" | "phpstan" | "psalm" | "analyse" | "analyze" | "check-style" | "cs" | "cs-check"
            | "stan" => Purpose::Lint,
            "format" | "cs-fix" | "fix-style" | "fix" | "cs:fix" => Purpose::Format,
            _ => continue,
        };
        add(known, purpose, &format!("composer run {name}"), "composer.json", true);
    }
    if files.has("phpunit.xml") || files.has("phpunit.xml.dist") || files.has("phpunit.dist.xml") {
        add(known, Purpose::Test, "vendor/bin/phpunit", "composer.json", false);
    }
    add(known, Purpose::Build, "composer install", "composer.json", false);
}

/// Tasks of Rake.
fn ruby(files: &Files<'_>, known: &mut Vec<KnownCommand>) {
    let by_bundler = files.has("Gemfile");
    let program = |run: &str| if by_bundler { format!("bundle exec {run}") } else { run.to_owned() };
    let rakefile = ["Rakefile", "rakefile", "Rakefile.rb"].into_iter().find(|name| files.has(name));
    if let Some((name, text)) = rakefile.and_then(|name| Some((name, files.read(name)?))) {
        let tasks: Vec<String> = text.lines().filter_map(task).collect();
        let has = |name: &str| tasks.iter().any(|task| task == name);
        for name_of_task in ["test", "spec"] {
            if has(name_of_task) {
                add(known, Purpose::Test, &program(&format!("rake {name_of_task}")), name, true);
            }
        }
        if has("default") && !has("test") && !has("spec") {
            add(known, Purpose::Test, &program("rake"), name, false);
        }
        if has("compile") {
            add(known, Purpose::Build, &program("rake compile"), name, true);
        } else if text.contains("bundler/gem_tasks") {
            add(known, Purpose::Build, &program("rake build"), name, true);
        }
        if has("rubocop") {
            add(known, Purpose::Lint, &program("rake rubocop"), name, true);
        }
    } else if files.has("spec") && (by_bundler || files.has(".rspec")) {
        add(known, Purpose::Test, &program("rspec"), if by_bundler { "Gemfile" } else { ".rspec" }, false);
    }
    if by_bundler {
        add(known, Purpose::Build, "bundle install", "Gemfile", false);
    }
}

/// Reads the task that a line of a Rakefile defines.
fn task(line: &str) -> Option<String> {
    let line = line.trim_start();
    let rest = ["task ", "task(", "multitask "].iter().find_map(|word| line.strip_prefix(word));
    let made = [
        ("Rake::TestTask.new", "test"),
        ("Minitest::TestTask.create", "test"),
        ("RSpec::Core::RakeTask.new", "spec"),
        ("RuboCop::RakeTask.new", "rubocop"),
        ("Rake::ExtensionTask.new", "compile"),
    ];
    let made = made.iter().find_map(|(call, usual)| Some((line.strip_prefix(call)?, *usual)));
    let (rest, usual) = rest.map(|rest| (rest, "")).or(made)?;
    if usual == "compile" {
        return Some(usual.to_owned());
    }
    let rest = rest.trim_start_matches(['(', ' ']);
    let name = rest.trim_start_matches([':', '"', '\'']);
    let name: String =
        name.chars().take_while(|it| it.is_alphanumeric() || matches!(it, '_' | '-')).collect();
    let is_name = rest.starts_with([':', '"', '\'']) || rest[name.len().min(rest.len())..].starts_with(':');
    match name.is_empty() || !is_name || name == "do" {
        true => (!usual.is_empty()).then(|| usual.to_owned()),
        false => Some(name),
    }
}

fn haskell(files: &Files<'_>, known: &mut Vec<KnownCommand>) {
    let stack = files.has("stack.yaml").then_some("stack.yaml");
    let cabal =
        files.has("cabal.project").then_some("cabal.project").or(files.ending(".cabal").map(String::as_str));
    // Where both are there, Cabal needs no further file.
    let (program, from) = match (cabal, stack) {
        (Some(cabal), _) => ("cabal", cabal),
        (None, Some(stack)) => ("stack", stack),
        (None, None) => return,
    };
    let all = if program == "cabal" { " all" } else { "" };
    add(known, Purpose::Build, &format!("{program} build{all}"), from, false);
    // A package without a suite has no tests to run.
    let package = files.ending(".cabal").cloned().and_then(|name| files.read(&name));
    if package.is_none_or(|text| text.lines().any(|line| line.trim_start().starts_with("test-suite"))) {
        add(known, Purpose::Test, &format!("{program} test{all}"), from, false);
    }
}

/// The modules of a Go workspace: its own folder is none, or only one.
fn go_workspace(files: &Files<'_>, known: &mut Vec<KnownCommand>) {
    let Some(text) = files.read("go.work") else { return };
    let members = super::manifest_formats::members_of_go_work(&text);
    let paths: Vec<String> = members
        .iter()
        .map(|member| member.trim_end_matches('/'))
        .filter(|member| !member.starts_with("..") && !member.contains(' '))
        .map(|member| format!("{member}/..."))
        .collect();
    if paths.is_empty() || paths.len() > MAX_MEMBERS {
        return;
    }
    let all = paths.join(" ");
    add(known, Purpose::Build, &format!("go build {all}"), "go.work", true);
    add(known, Purpose::Test, &format!("go test {all}"), "go.work", true);
}

fn autotools(files: &Files<'_>, known: &mut Vec<KnownCommand>) {
    let Some(from) = ["configure.ac", "configure.in", "configure"].into_iter().find(|name| files.has(name))
    else {
        return;
    };
    // A Makefile that is there builds without `configure`.
    if ["Makefile", "GNUmakefile", "makefile"].into_iter().any(|name| files.has(name)) {
        return;
    }
    let made = match () {
        () if files.has("configure") => "",
        () if files.has("autogen.sh") => "./autogen.sh && ",
        () if files.has("bootstrap") => "./bootstrap && ",
        () => "autoreconf -i && ",
    };
    add(known, Purpose::Build, &format!("{made}./configure && make"), from, false);
    // `make check` is always there; what it runs is in the folder's file or in those below.
    let has_tests = |text: &str| {
        let is_one = |line: &str| {
            line.starts_with("TESTS") || line.starts_with("check-local:") || line.starts_with("check:")
        };
        text.lines().any(is_one)
    };
    let own = files.read("Makefile.am").unwrap_or_default();
    let below = own.split_whitespace().filter(|word| !word.contains(['=', '$', '\\', ':', '#', '.']));
    let mut below = below.take(MAX_WORDS).filter(|word| word.contains("test") || own.contains("SUBDIRS"));
    let is_tested = |folder: &str| {
        files.has(folder) && files.read(&format!("{folder}/Makefile.am")).is_some_and(|text| has_tests(&text))
    };
    if has_tests(&own) || below.any(is_tested) {
        add(known, Purpose::Test, "make check", from, false);
    }
}

/// What runs a script in each package of a workspace of Node.
fn workspaces(files: &Files<'_>, known: &mut Vec<KnownCommand>) {
    let Some(text) = files.read("package.json") else { return };
    let package: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let manager = package["packageManager"].as_str().unwrap_or_default();
    let runs = match () {
        () if files.has("pnpm-workspace.yaml") => ["pnpm -r run build", "pnpm -r run test"],
        () if package["workspaces"].is_null() => return,
        () if files.has(".yarnrc.yml") || manager.starts_with("yarn@") && !manager.starts_with("yarn@1") => {
            ["yarn workspaces foreach -A run build", "yarn workspaces foreach -A run test"]
        }
        () if files.has("yarn.lock") => ["yarn workspaces run build", "yarn workspaces run test"],
        () if files.has("bun.lock") || files.has("bun.lockb") => {
            ["bun run --filter '*' build", "bun run --filter '*' test"]
        }
        () => ["npm run build --workspaces --if-present", "npm test --workspaces --if-present"],
    };
    add(known, Purpose::Build, runs[0], "package.json", false);
    add(known, Purpose::Test, runs[1], "package.json", false);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_rakefile_define_tasks() {
        for (line, name) in [
            ("task :test do", Some("test")),
            ("task default: %i[test rubocop]", Some("default")),
            ("task 'spec' => :compile do", Some("spec")),
            ("Rake::TestTask.new do |t|", Some("test")),
            ("Rake::TestTask.new(:unit) do |t|", Some("unit")),
            ("RSpec::Core::RakeTask.new(:spec)", Some("spec")),
            ("RSpec::Core::RakeTask.new", Some("spec")),
            ("  tasks = 1", None),
        ] {
            assert_eq!(task(line).as_deref(), name, "{line}");
        }
    }
}
