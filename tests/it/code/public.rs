//! How public repositories are built and tested: of each what its README and its CI say, judged by hand, and files like
//! those by which that is known, written for this table.

use serde_json::json;

use super::layouts::{Layout, wrong};
use crate::git::GitScope;

/// The code of a project.
const CODE: &str = "// What most of the project is written in decides between its build tools: this is longer than all others of its\n\
    // files, those of build tools and of continuous integration, even where they are a few lines of each.\n";

/// Each with the commit at which it was judged.
const REPOSITORIES: &[Layout] = &[
    (
        "BurntSushi/ripgrep at 3fce3b5bb0",
        &[
            ("Cargo.toml", "[package]\nname='a'\nversion='1.0.0'\n[workspace]\nmembers=['b']\n"),
            ("src/main.rs", ""),
            ("b/Cargo.toml", "[package]\nname='b'\nversion='1.0.0'\n"),
        ],
        "cargo build --workspace",
        "cargo test --workspace",
    ),
    (
        "tokio-rs/axum at 3d78036dca",
        &[
            ("Cargo.toml", "[workspace]\nmembers=['a']\n"),
            ("a/Cargo.toml", "[package]\nname='a'\nversion='1.0.0'\n"),
            ("a/src/lib.rs", ""),
        ],
        "cargo build --workspace",
        "cargo test --workspace",
    ),
    (
        "sharkdp/bat at 2ba8db9c14",
        &[
            ("Cargo.toml", "[package]\nname='a'\nversion='1.0.0'\n"),
            ("src/main.rs", ""),
            (
                ".github/workflows/a.yml",
                "jobs:\n  a:\n    steps:\n      - run: cargo test --locked --release\n",
            ),
        ],
        "cargo build",
        "cargo test",
    ),
    (
        "expressjs/express at a3714473fe",
        &[("package.json", r#"{"scripts":{"lint":"eslint .","test":"mocha","test-ci":"nyc npm test"}}"#)],
        "",
        "npm run test",
    ),
    (
        "sindresorhus/got at d00d845a0b",
        &[("package.json", r#"{"scripts":{"build":"tsc","test":"xo && ava","test:coverage":"c8 ava"}}"#)],
        "npm run build",
        "npm run test",
    ),
    (
        "honojs/hono at 28a9c12891",
        &[
            (
                "package.json",
                r#"{"packageManager":"bun@1.2.20","scripts":{"build":"bun ./build.ts","test":"vitest","test:all":"bun run test"}}"#,
            ),
            ("bun.lock", ""),
        ],
        "bun run build",
        "bun run test",
    ),
    (
        "vuejs/pinia at 254eec764e",
        &[
            (
                "package.json",
                r#"{"packageManager":"pnpm@9.4.0","scripts":{"build":"pnpm run -C a build","build:dts":"x","test":"pnpm run test:types"}}"#,
            ),
            ("pnpm-workspace.yaml", "packages:\n  - a\n"),
        ],
        "pnpm run build",
        "pnpm run test",
    ),
    (
        "colinhacks/zod at e516c3baf2",
        &[
            (
                "package.json",
                r#"{"packageManager":"pnpm@10.12.1","scripts":{"build":"pnpm run -r build","test":"vitest run"}}"#,
            ),
            ("pnpm-workspace.yaml", "packages:\n  - a\n"),
        ],
        "pnpm run build",
        "pnpm run test",
    ),
    (
        "changesets/changesets at 5322174b27",
        &[
            (
                "package.json",
                r#"{"packageManager":"pnpm@11.13.1","scripts":{"build":"tsdown","test":"vitest"}}"#,
            ),
            ("pnpm-workspace.yaml", "packages:\n  - a\n"),
            (
                ".github/workflows/a.yml",
                "jobs:\n  a:\n    steps:\n      - run: pnpm build\n      - run: pnpm test\n",
            ),
        ],
        "pnpm run build",
        "pnpm run test",
    ),
    (
        "microsoft/vscode-languageserver-node at 0da5527ddf",
        &[
            (
                "package.json",
                r#"{"scripts":{"all":"npm run link && npm run compile && npm run test","compile":"tsc -b","compile:client":"tsc -b client","test":"node all.js test"}}"#,
            ),
            ("package-lock.json", "{}"),
        ],
        "npm run compile",
        "npm run test",
    ),
    (
        "bats-core/bats-core at d22e41faad",
        &[("package.json", r#"{"scripts":{"test":"bin/bats test"}}"#), ("a.sh", CODE)],
        "",
        "npm run test",
    ),
    (
        "encode/httpx at ae1b9f6623",
        &[("pyproject.toml", ""), ("scripts/test", ""), ("scripts/build", "")],
        "scripts/build",
        "scripts/test",
    ),
    (
        "pallets/flask at 2ac89889f4",
        &[
            (
                "pyproject.toml",
                "[project]\nname='a'\n[build-system]\nrequires=['flit_core']\n[tool.tox]\nenv_list=['py']\n",
            ),
            ("tests/conftest.py", ""),
            (
                ".github/workflows/a.yml",
                "jobs:\n  a:\n    steps:\n      - run: uv build\n      - run: uv run tox run\n",
            ),
        ],
        "uv build",
        "pytest",
    ),
    (
        "pallets/click at 2c8cd3ac95",
        &[
            ("pyproject.toml", "[project]\nname='a'\n[tool.tox]\nenv_list=['py']\n"),
            ("tests/conftest.py", ""),
            (".github/workflows/a.yml", "jobs:\n  a:\n    steps:\n      - run: uv build\n"),
        ],
        "uv build",
        "pytest",
    ),
    (
        "spf13/cobra at adbc881390",
        &[
            ("go.mod", "module a\n"),
            (
                "Makefile",
                "default: all\n\nall: fmt test\n\nfmt:\n\tgofmt -l .\n\ntest: deps\n\tgo test ./...\n\ndeps:\n\tgo get ./...\n",
            ),
            ("a.go", CODE),
            (".github/workflows/a.yml", "jobs:\n  a:\n    steps:\n      - run: make\n"),
        ],
        "go build ./...",
        "make test",
    ),
    (
        "urfave/cli at 1305a08200",
        &[
            ("go.mod", "module a\n"),
            ("Makefile", "all: generate vet test size\n\n%:\n\tgo run build.go $*\n"),
            ("a.go", CODE),
            (
                ".github/workflows/a.yml",
                "jobs:\n  a:\n    steps:\n      - run: make vet\n      - run: make test\n",
            ),
        ],
        "go build ./...",
        "go test ./...",
    ),
    (
        "junegunn/fzf at 956562daaa",
        &[
            ("go.mod", "module a\n"),
            (
                "Makefile",
                "all: target/a\n\ntarget/a:\n\tgo build -o $@\n\ntest:\n\tgo test ./src\n\nbuild:\n\tgoreleaser build --snapshot\n",
            ),
            ("a.go", CODE),
        ],
        "make all",
        "make test",
    ),
    (
        "google/gson at 9835b6f901",
        &[
            ("pom.xml", "<project></project>"),
            (
                ".github/workflows/a.yml",
                "jobs:\n  a:\n    steps:\n      - run: mvn clean install -Dmaven.test.skip\n      - run: mvn clean test --projects a\n",
            ),
        ],
        "mvn -q package",
        "mvn -q test",
    ),
    (
        "apache/commons-cli at 0a68ae0e82",
        &[
            ("pom.xml", "<project></project>"),
            (".github/workflows/a.yml", "jobs:\n  a:\n    steps:\n      - run: mvn --errors\n"),
        ],
        "mvn -q package",
        "mvn -q test",
    ),
    (
        "junit-team/junit4 at 71c33ce555",
        &[
            ("pom.xml", "<project></project>"),
            ("mvnw", ""),
            (
                ".github/workflows/a.yml",
                "jobs:\n  a:\n    steps:\n      - run: ./mvnw verify site:site --batch-mode\n",
            ),
        ],
        "./mvnw -q package",
        "./mvnw -q test",
    ),
    (
        "square/retrofit at 0b118105fe",
        &[
            ("build.gradle", ""),
            ("gradlew", ""),
            (
                ".github/workflows/a.yml",
                "jobs:\n  a:\n    steps:\n      - run: ./gradlew build --stacktrace\n",
            ),
        ],
        "./gradlew build",
        "./gradlew test",
    ),
    (
        "square/moshi at 889013ec2e",
        &[("build.gradle.kts", ""), ("gradlew", "")],
        "./gradlew build",
        "./gradlew test",
    ),
    (
        "square/okio at 4164f2976a",
        &[
            ("build.gradle.kts", ""),
            ("gradlew", ""),
            (
                ".github/workflows/a.yml",
                "jobs:\n  a:\n    steps:\n      - run: ./gradlew -DloomEnabled=true build\n      - run: ./gradlew build\n",
            ),
        ],
        "./gradlew build",
        "./gradlew test",
    ),
    (
        "guzzle/guzzle at 2779e868a0",
        &[
            ("composer.json", "{}"),
            (
                "Makefile",
                "help:\n\t@echo use it\n\ntest: start\n\tvendor/bin/phpunit\n\nstart:\n\tnode server.js\n",
            ),
            ("phpunit.xml.dist", ""),
            ("a.php", CODE),
        ],
        "composer install",
        "make test",
    ),
    (
        "slimphp/Slim at 038fd5713d",
        &[
            (
                "composer.json",
                r#"{"scripts":{"phpcs":"phpcs","phpunit":"phpunit","test":["@phpunit","@phpcs"]}}"#,
            ),
            ("phpunit.xml.dist", ""),
            ("a.php", CODE),
            (
                ".github/workflows/a.yml",
                "jobs:\n  a:\n    steps:\n      - run: vendor/bin/phpunit --coverage-clover clover.xml\n",
            ),
        ],
        "composer install",
        "composer run test",
    ),
    (
        "Seldaek/monolog at 57eb102834",
        &[
            ("composer.json", r#"{"scripts":{"phpstan":"phpstan","test":"phpunit"}}"#),
            ("phpunit.xml.dist", ""),
            ("a.php", CODE),
        ],
        "composer install",
        "composer run test",
    ),
    (
        "sinatra/sinatra at cb22afd790",
        &[
            ("Gemfile", ""),
            (
                "Rakefile",
                "task default: :test\nMinitest::TestTask.create # all\nMinitest::TestTask.create(:'test:core') do |t|\nend\n",
            ),
            (".github/workflows/a.yml", "jobs:\n  a:\n    steps:\n      - run: bundle exec rake\n"),
        ],
        "bundle install",
        "bundle exec rake test",
    ),
    (
        "rack/rack at 8bf4eb0784",
        &[
            ("Gemfile", ""),
            (
                "Rakefile",
                "require \"bundler/gem_tasks\"\ntask default: :test\ntask test: \"test:regular\"\nRake::TestTask.new(\"test:regular\") do |t|\nend\n",
            ),
        ],
        "bundle exec rake build",
        "bundle exec rake test",
    ),
    (
        "lostisland/faraday at 59334e0e9b",
        &[
            ("Gemfile", ""),
            ("Rakefile", "RSpec::Core::RakeTask.new(:spec)\n"),
            ("bin/test", ""),
            (".github/workflows/a.yml", "jobs:\n  a:\n    steps:\n      - run: bundle exec rake\n"),
        ],
        "bundle install",
        "bin/test",
    ),
    (
        "koalaman/shellcheck at 764802b7c0",
        &[("a.cabal", "name: a\ntest-suite test\n  type: exitcode-stdio-1.0\n"), ("stack.yaml", "")],
        "cabal build all",
        "cabal test all",
    ),
    (
        "ndmitchell/hlint at 086bf44303",
        &[("a.cabal", "name: a\nexecutable a\n  main-is: Main.hs\n"), ("cabal.project", "packages: .\n")],
        "cabal build all",
        "",
    ),
    (
        "fmtlib/fmt at 60ccad511f",
        &[
            ("CMakeLists.txt", "project(a)\n"),
            ("a.cc", CODE),
            (
                ".github/workflows/a.yml",
                "jobs:\n  a:\n    steps:\n      - run: cmake -B build -DA=OFF\n      - run: cmake --build build --parallel\n",
            ),
        ],
        "cmake -B build && cmake --build build",
        "ctest --test-dir build",
    ),
    (
        "gabime/spdlog at 62302019ba",
        &[
            ("CMakeLists.txt", "project(a)\n"),
            ("a.cpp", CODE),
            (
                ".github/workflows/a.yml",
                "jobs:\n  a:\n    steps:\n      - run: |\n          mkdir -p build && cd build\n          cmake ..\n          make -j2\n          ctest -j2\n",
            ),
        ],
        "cmake -B build && cmake --build build",
        "ctest --test-dir build",
    ),
    (
        "nlohmann/json at 199dea11b1",
        &[
            ("CMakeLists.txt", "project(a)\n"),
            ("a.cpp", CODE),
            ("MODULE.bazel", ""),
            ("meson.build", ""),
            (
                "Makefile",
                "all:\n\t@echo \"pretty - beautify\"\n\ncheck-amalgamation:\n\tdiff a b\n\nBUILD.bazel: a.hpp\n\tcmake -P gen.cmake\n",
            ),
        ],
        "cmake -B build && cmake --build build",
        "ctest --test-dir build",
    ),
    (
        "jqlang/jq at 579e6f76cf",
        &[
            ("configure.ac", "AC_INIT([a], [1])\n"),
            ("Makefile.am", "TESTS = tests/a\n"),
            (".github/workflows/a.yml", "jobs:\n  a:\n    steps:\n      - run: make check VERBOSE=yes\n"),
        ],
        "autoreconf -i && ./configure && make",
        "make check",
    ),
    (
        "fribidi/fribidi at 58895678b7",
        &[
            ("configure.ac", ""),
            ("autogen.sh", ""),
            ("Makefile.am", "SUBDIRS = lib bin test\n"),
            ("test/Makefile.am", "TESTS = run.tests\n"),
            ("meson.build", ""),
            ("a.c", CODE),
        ],
        "./autogen.sh && ./configure && make",
        "make check",
    ),
    (
        "tmux/tmux at c1f947a3c5",
        &[
            ("configure.ac", ""),
            ("autogen.sh", ""),
            (
                "Makefile.am",
                "if FUZZING\ncheck_PROGRAMS = fuzz/a\nendif\ndist_a_SOURCES = a.c compat/test.c\n",
            ),
            ("a.c", CODE),
        ],
        "./autogen.sh && ./configure && make",
        "",
    ),
    (
        "redis/redis at 4f8cdc2a1e",
        &[
            (
                "Makefile",
                "default: all\n\n.DEFAULT:\n\tfor dir in src; do $(MAKE) -C $$dir $@; done\n\ninstall:\n\t$(MAKE) -C src install\n",
            ),
            (
                "README.md",
                "# A\n\nIt builds by:\n\n    % make\n\nand is tested by:\n\n    % make test\n\n    % cd deps; make test-all\n",
            ),
            ("src/a.c", CODE),
        ],
        "make",
        "make test",
    ),
    (
        "elixir-plug/plug at a898c454a0",
        &[("mix.exs", ""), (".github/workflows/a.yml", "jobs:\n  a:\n    steps:\n      - run: mix test\n")],
        "mix compile",
        "mix test",
    ),
    (
        "elixir-ecto/ecto at c624abf429",
        &[
            ("mix.exs", ""),
            (
                ".github/workflows/a.yml",
                "jobs:\n  a:\n    steps:\n      - run: mix compile --warning-as-errors\n      - run: mix test\n",
            ),
        ],
        "mix compile",
        "mix test",
    ),
    (
        "DapperLib/Dapper at 6d48ef664a",
        &[
            ("Dapper.slnx", ""),
            ("Build.csproj", "<Project/>"),
            ("a/a.csproj", "<Project/>"),
            ("a/a.cs", CODE),
            (
                ".github/workflows/a.yml",
                "jobs:\n  a:\n    steps:\n      - run: dotnet build Build.csproj -c Release\n",
            ),
        ],
        "dotnet build Dapper.slnx",
        "dotnet test Dapper.slnx",
    ),
    (
        "serilog/serilog at 60935b4d7a",
        &[("Serilog.sln", ""), ("src/a/a.csproj", "<Project/>"), ("src/a/a.cs", CODE)],
        "dotnet build",
        "dotnet test",
    ),
    (
        "apple/swift-argument-parser at 2f77f2fccb",
        &[("Package.swift", ""), ("CMakeLists.txt", "project(a)\n"), ("a.swift", CODE)],
        "swift build",
        "swift test",
    ),
    (
        "Alamofire/Alamofire at 7595cbcf59",
        &[("Package.swift", ""), ("Gemfile", ""), ("a.swift", CODE)],
        "swift build",
        "swift test",
    ),
    (
        "bazelbuild/bazel-skylib at 72291d1e2a",
        &[("MODULE.bazel", ""), ("WORKSPACE", "")],
        "bazel build //...",
        "bazel test //...",
    ),
    (
        "mojolicious/mojo at b4de430651",
        &[("Makefile.PL", "")],
        "perl Makefile.PL && make",
        "perl Makefile.PL && make test",
    ),
    (
        "scopt/scopt at 75cd14c9e1",
        &[
            ("build.sbt", ""),
            (".github/workflows/a.yml", "jobs:\n  a:\n    steps:\n      - run: sbt +scoptNative/test\n"),
        ],
        "sbt compile",
        "sbt test",
    ),
    (
        "zigtools/zls at 113f79a1d1",
        &[
            ("build.zig", ""),
            (
                ".github/workflows/a.yml",
                "jobs:\n  a:\n    steps:\n      - run: zig build check test --summary all\n",
            ),
        ],
        "zig build",
        "zig build test",
    ),
];

#[tokio::test]
async fn public_repositories_have_their_command_to_build_and_to_test() {
    // No command may be run: which programs this computer has decides nothing then.
    let scope = GitScope::new("app", json!({"allowedCommands": ["gone *"], "shell": "off"}));
    let wrong = wrong(&scope, REPOSITORIES).await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
