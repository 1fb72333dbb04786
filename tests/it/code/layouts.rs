//! How projects are built and tested: layouts of build tools, each with the first command for each purpose.

use std::fs;

use serde_json::{Value, json};

use crate::git::GitScope;

/// The name of a layout, its files, and what builds and tests it; empty where nothing is known.
pub(super) type Layout = (&'static str, &'static [(&'static str, &'static str)], &'static str, &'static str);

const LAYOUTS: &[Layout] = &[
    (
        "Composer with scripts",
        &[("composer.json", r#"{"name":"a/b","scripts":{"test":"phpunit","phpstan":"phpstan"}}"#)],
        "composer install",
        "composer run test",
    ),
    (
        "PHPUnit alone",
        &[("composer.json", "{}"), ("phpunit.xml.dist", "")],
        "composer install",
        "vendor/bin/phpunit",
    ),
    (
        "Rake with Bundler",
        &[("Gemfile", ""), ("Rakefile", "Rake::TestTask.new do |t|\nend\ntask default: :test\n")],
        "bundle install",
        "bundle exec rake test",
    ),
    ("Rake without Bundler", &[("Rakefile", "RSpec::Core::RakeTask.new(:spec)\n")], "", "rake spec"),
    ("RSpec alone", &[("Gemfile", ""), ("spec/a_spec.rb", "")], "bundle install", "bundle exec rspec"),
    (
        "Cabal",
        &[("frob.cabal", "name: frob\ntest-suite all\n"), ("stack.yaml", "")],
        "cabal build all",
        "cabal test all",
    ),
    ("Stack", &[("stack.yaml", ""), ("package.yaml", "")], "stack build", "stack test"),
    (
        "CMake",
        &[("CMakeLists.txt", "project(a)\n")],
        "cmake -B build && cmake --build build",
        "ctest --test-dir build",
    ),
    (
        "autotools",
        &[("configure.ac", "AC_INIT([a], [1])\n"), ("Makefile.am", "TESTS = a\n")],
        "autoreconf -i && ./configure && make",
        "make check",
    ),
    (
        "autotools with their own script",
        &[("configure.ac", ""), ("autogen.sh", ""), ("Makefile.am", "TESTS = a\n")],
        "./autogen.sh && ./configure && make",
        "make check",
    ),
    ("Gradle's wrapper", &[("build.gradle.kts", ""), ("gradlew", "")], "./gradlew build", "./gradlew test"),
    ("Gradle", &[("build.gradle", "")], "gradle build", "gradle test"),
    (
        "Maven's wrapper",
        &[("pom.xml", "<project></project>"), ("mvnw", "")],
        "./mvnw -q package",
        "./mvnw -q test",
    ),
    ("Maven", &[("pom.xml", "<project></project>")], "mvn -q package", "mvn -q test"),
    (
        "Maven whose CI leaves out the tests in one step",
        &[
            ("pom.xml", "<project></project>"),
            (
                ".github/workflows/a.yml",
                "steps:\n  - run: mvn install -Dmaven.test.skip\n  - run: mvn -B verify\n",
            ),
        ],
        "mvn -q package",
        "mvn -q test",
    ),
    ("Mix", &[("mix.exs", "")], "mix compile", "mix test"),
    ("dotnet", &[("A.slnx", ""), ("src/A/A.csproj", "")], "dotnet build", "dotnet test"),
    ("Bazel", &[("MODULE.bazel", "")], "bazel build //...", "bazel test //..."),
    (
        "npm workspaces",
        &[("package.json", r#"{"workspaces":["a"]}"#), ("a/package.json", r#"{"name":"a"}"#)],
        "npm run build --workspaces --if-present",
        "npm test --workspaces --if-present",
    ),
    (
        "pnpm workspace",
        &[("package.json", "{}"), ("pnpm-workspace.yaml", "packages:\n  - a\n")],
        "pnpm -r run build",
        "pnpm -r run test",
    ),
    (
        "workspace whose root has scripts",
        &[("package.json", r#"{"workspaces":["a"],"scripts":{"build":"b","test":"t"}}"#)],
        "npm run build",
        "npm run test",
    ),
    (
        "Nx",
        &[("package.json", "{}"), ("nx.json", "{}")],
        "npx nx run-many -t build",
        "npx nx run-many -t test",
    ),
    ("Turbo", &[("package.json", "{}"), ("turbo.json", "{}")], "npx turbo run build", "npx turbo run test"),
    ("Lerna", &[("package.json", "{}"), ("lerna.json", "{}")], "npx lerna run build", "npx lerna run test"),
    (
        "Cargo workspace with a root package",
        &[
            ("Cargo.toml", "[package]\nname='a'\nversion='1.0.0'\n[workspace]\nmembers=['b']\n"),
            ("src/lib.rs", ""),
        ],
        "cargo build --workspace",
        "cargo test --workspace",
    ),
    (
        "Go workspace",
        &[
            ("go.work", "go 1.24\nuse (\n\t./a\n\t./b\n)\n"),
            ("a/go.mod", "module a\n"),
            ("b/go.mod", "module b\n"),
        ],
        "go build ./a/... ./b/...",
        "go test ./a/... ./b/...",
    ),
    ("Go", &[("go.mod", "module a\n")], "go build ./...", "go test ./..."),
    ("Meson", &[("meson.build", "")], "meson setup build && meson compile -C build", "meson test -C build"),
    ("sbt", &[("build.sbt", "")], "sbt compile", "sbt test"),
    ("Swift", &[("Package.swift", "")], "swift build", "swift test"),
    (
        "scripts of the project",
        &[("pyproject.toml", ""), ("scripts/test", ""), ("scripts/build", "")],
        "scripts/build",
        "scripts/test",
    ),
    ("tox", &[("setup.py", ""), ("tox.ini", "")], "", "tox"),
    (
        "CI in other folders, with quotes, for other things",
        &[(
            ".github/workflows/a.yml",
            "jobs:\n  a:\n    steps:\n      - run: npm test\n        working-directory: web\n      - run: cargo install cargo-nextest\n      - run: just test -- 'a b'\n",
        )],
        "",
        "just test -- 'a b'",
    ),
    ("nothing", &[("notes.txt", "")], "", ""),
];

/// The first command for a purpose.
fn first<'a>(data: &'a Value, purpose: &str) -> &'a str {
    let commands = data["commands"].as_array().map(Vec::as_slice).unwrap_or_default();
    let found = commands.iter().find(|command| command["for"] == purpose);
    found.and_then(|command| command["run"].as_str()).unwrap_or_default()
}

/// Makes each project, asks for its commands, and says which are others than expected.
pub(super) async fn wrong(scope: &GitScope, layouts: &[Layout]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, files, build, test) in layouts {
        let root = scope.path("app").join("project");
        for (path, text) in *files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder is made");
            fs::write(path, text).expect("a file is written");
        }
        let request =
            json!({"op": "code.context", "target": "project", "options": {"include": ["commands"]}});
        let data = scope.data(request).await;
        let found = (first(&data, "build"), first(&data, "test"));
        if found != (*build, *test) {
            wrong.push(format!("{name}: {found:?} for {:?}", (build, test)));
        }
        fs::remove_dir_all(root).expect("it is removed");
    }
    wrong
}

#[tokio::test]
async fn each_layout_has_its_command_to_build_and_to_test() {
    let scope = GitScope::new("app", json!({}));
    let wrong = wrong(&scope, LAYOUTS).await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_command_that_does_not_run_here_says_what_is_missing() {
    let scope = json!({"allowedCommands": ["there *", "gone *"], "shell": "off"});
    let scope = GitScope::new("app", scope);
    scope.write("app/Makefile", "test:\n\ttrue\n");
    scope.write("app/composer.json", r#"{"scripts":{"test":"a"}}"#);
    let data = scope.data(json!({"op": "code.context", "options": {"include": ["commands"]}})).await;
    let commands = data["commands"].as_array().expect("there are commands");
    assert!(!commands.is_empty());
    for command in commands {
        assert_eq!(command["missing"], "permission", "{command:#}");
    }
}
