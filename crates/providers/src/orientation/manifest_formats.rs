//! The formats of manifests: which files they are, and what each says of its package.
//!
//! Read as data, never run: what only a build tool could find out is not known here.

use serde_json::Value as Json;
use toml::{Table, Value as Toml};

use super::Purpose;

/// How many members, programs or scripts of one manifest are taken.
const MAX_LISTED: usize = 200;

/// A format of manifests.
#[derive(Debug, Clone, Copy)]
pub(super) struct Format {
    /// The name on the wire.
    pub kind: &'static str,
    read: fn(&str) -> Result<Facts, String>,
    /// What its tool is asked to do where no script says better.
    pub usual: &'static [(Purpose, &'static str)],
}

/// What a manifest says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Facts {
    pub name: Option<String>,
    pub version: Option<String>,
    /// Members of a workspace, as they are stated: paths or globs.
    pub members: Vec<String>,
    /// Where programs and libraries begin: what, by which name, in which file.
    pub begins: Vec<(&'static str, Option<String>, Option<String>)>,
    /// What the tools that it configures are asked to do.
    pub commands: Vec<(Purpose, &'static str)>,
}

const CARGO: Format = Format {
    kind: "cargo",
    read: cargo,
    usual: &[(Purpose::Lint, "cargo clippy"), (Purpose::Format, "cargo fmt")],
};
const NODE: Format = Format { kind: "node", read: node, usual: &[] };
const PYTHON: Format = Format { kind: "python", read: python, usual: &[] };
const GO: Format = Format {
    kind: "go",
    read: go,
    usual: &[
        (Purpose::Build, "go build ./..."),
        (Purpose::Test, "go test ./..."),
        (Purpose::Lint, "go vet ./..."),
        (Purpose::Format, "gofmt -l -w ."),
    ],
};
const MAVEN: Format = Format {
    kind: "maven",
    read: maven,
    usual: &[(Purpose::Build, "mvn -q package"), (Purpose::Test, "mvn -q test")],
};
const GRADLE: Format = Format {
    kind: "gradle",
    read: gradle,
    usual: &[(Purpose::Build, "./gradlew build"), (Purpose::Test, "./gradlew test")],
};
const PNPM: Format = Format { kind: "pnpm workspace", read: pnpm, usual: &[] };
const DENO: Format = Format { kind: "deno", read: node, usual: &[(Purpose::Test, "deno test")] };
const COMPOSER: Format = Format { kind: "composer", read: node, usual: &[] };
const CMAKE: Format = Format {
    kind: "cmake",
    read: cmake,
    usual: &[
        (Purpose::Build, "cmake -B build && cmake --build build"),
        (Purpose::Test, "ctest --test-dir build"),
    ],
};
const SWIFT: Format = Format {
    kind: "swift",
    read: swift,
    usual: &[(Purpose::Build, "swift build"), (Purpose::Test, "swift test")],
};
const MIX: Format = Format {
    kind: "mix",
    read: mix,
    usual: &[(Purpose::Build, "mix compile"), (Purpose::Test, "mix test"), (Purpose::Format, "mix format")],
};
const DART: Format = Format { kind: "dart", read: dart, usual: &[(Purpose::Test, "dart test")] };
const CABAL: Format = Format { kind: "cabal", read: cabal, usual: &[] };
const RUBY: Format = Format { kind: "ruby", read: nothing, usual: &[] };
const DOTNET: Format = Format {
    kind: "dotnet",
    read: nothing,
    usual: &[(Purpose::Build, "dotnet build"), (Purpose::Test, "dotnet test")],
};

/// Which files are of which format.
const NAMES: &[(&str, Format)] = &[
    ("Cargo.toml", CARGO),
    ("package.json", NODE),
    ("pyproject.toml", PYTHON),
    ("setup.cfg", Format { kind: "python", read: setup_cfg, usual: &[] }),
    ("setup.py", Format { kind: "python", read: nothing, usual: &[] }),
    ("requirements.txt", Format { kind: "python", read: nothing, usual: &[] }),
    ("go.mod", GO),
    ("go.work", Format { kind: "go workspace", read: go_work, usual: &[] }),
    ("pom.xml", MAVEN),
    ("build.gradle", GRADLE),
    ("build.gradle.kts", GRADLE),
    ("settings.gradle", Format { kind: "gradle", read: gradle_settings, usual: &[] }),
    ("settings.gradle.kts", Format { kind: "gradle", read: gradle_settings, usual: &[] }),
    ("pnpm-workspace.yaml", PNPM),
    ("deno.json", DENO),
    ("deno.jsonc", Format { kind: "deno", read: nothing, usual: &[(Purpose::Test, "deno test")] }),
    ("composer.json", COMPOSER),
    ("CMakeLists.txt", CMAKE),
    ("Package.swift", SWIFT),
    ("mix.exs", MIX),
    ("pubspec.yaml", DART),
    ("Gemfile", RUBY),
    ("configure.ac", Format { kind: "autotools", read: autotools, usual: &[] }),
    ("MODULE.bazel", Format { kind: "bazel", read: nothing, usual: &[] }),
    ("meson.build", Format { kind: "meson", read: nothing, usual: &[] }),
    ("build.sbt", Format { kind: "sbt", read: nothing, usual: &[] }),
    ("stack.yaml", Format { kind: "stack", read: nothing, usual: &[] }),
    ("cabal.project", Format { kind: "cabal", read: nothing, usual: &[] }),
];
/// Endings of names that are of a format.
const ENDINGS: &[(&str, Format)] = &[
    (".csproj", DOTNET),
    (".fsproj", DOTNET),
    (".sln", DOTNET),
    (".slnx", DOTNET),
    (".gemspec", RUBY),
    (".cabal", CABAL),
];

impl Format {
    /// Finds the format of a file by its name.
    pub fn of_name(name: &[u8]) -> Option<&'static Self> {
        let named = NAMES.iter().find(|(known, _)| known.as_bytes() == name);
        let found = named.or_else(|| ENDINGS.iter().find(|(end, _)| name.ends_with(end.as_bytes())));
        found.map(|(_, format)| format)
    }

    /// Reads a manifest's text.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn read(&self, text: &str) -> Result<Facts, String> {
        (self.read)(text)
    }
}

fn nothing(_: &str) -> Result<Facts, String> {
    Ok(Facts::default())
}

fn owned(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn texts(value: Option<&Toml>) -> Vec<String> {
    let list = value.and_then(Toml::as_array).into_iter().flatten();
    list.filter_map(Toml::as_str).take(MAX_LISTED).map(str::to_owned).collect()
}

fn toml_of(text: &str) -> Result<Table, String> {
    text.parse::<Table>().map_err(|error| error.message().to_owned())
}

fn at<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Toml> {
    let (last, folders) = path.split_last()?;
    let inner = folders.iter().try_fold(table, |table, key| table.get(*key)?.as_table())?;
    inner.get(*last)
}

fn text_at(table: &Table, path: &[&str]) -> Option<String> {
    owned(at(table, path)?.as_str()?)
}

fn cargo(text: &str) -> Result<Facts, String> {
    let table = toml_of(text)?;
    let mut begins = Vec::new();
    if let Some(path) = text_at(&table, &["lib", "path"]) {
        begins.push(("library", text_at(&table, &["lib", "name"]), Some(path)));
    }
    let programs = table.get("bin").and_then(Toml::as_array).into_iter().flatten();
    for program in programs.filter_map(Toml::as_table).take(MAX_LISTED) {
        begins.push(("program", text_at(program, &["name"]), text_at(program, &["path"])));
    }
    Ok(Facts {
        name: text_at(&table, &["package", "name"]),
        version: text_at(&table, &["package", "version"])
            .or_else(|| text_at(&table, &["workspace", "package", "version"])),
        members: texts(at(&table, &["workspace", "members"])),
        begins,
        commands: Vec::new(),
    })
}

fn python(text: &str) -> Result<Facts, String> {
    let table = toml_of(text)?;
    let mut begins = Vec::new();
    for path in [&["project", "scripts"][..], &["project", "gui-scripts"], &["tool", "poetry", "scripts"]] {
        let scripts = at(&table, path).and_then(Toml::as_table).into_iter().flatten();
        for (name, means) in scripts.take(MAX_LISTED) {
            begins.push(("script", owned(name), means.as_str().and_then(owned)));
        }
    }
    let tools = [
        ("pytest", Purpose::Test, "pytest"),
        ("tox", Purpose::Test, "tox"),
        ("ruff", Purpose::Lint, "ruff check"),
        ("mypy", Purpose::Lint, "mypy ."),
        ("pyright", Purpose::Lint, "pyright"),
        ("black", Purpose::Format, "black ."),
    ];
    let configured = tools.iter().filter(|(name, _, _)| at(&table, &["tool", name]).is_some());
    let either =
        |key: &str| text_at(&table, &["project", key]).or_else(|| text_at(&table, &["tool", "poetry", key]));
    Ok(Facts {
        name: either("name"),
        version: either("version"),
        members: texts(at(&table, &["tool", "uv", "workspace", "members"])),
        begins,
        commands: configured.map(|(_, purpose, command)| (*purpose, *command)).collect(),
    })
}

fn setup_cfg(text: &str) -> Result<Facts, String> {
    let value = |key: &str| {
        let lines = text.lines().filter_map(|line| line.split_once('='));
        lines.filter(|(name, _)| name.trim() == key).find_map(|(_, value)| owned(value.trim()))
    };
    Ok(Facts { name: value("name"), version: value("version"), ..Facts::default() })
}

/// Reads package.json, and what has the same fields.
fn node(text: &str) -> Result<Facts, String> {
    let package: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let Json::Object(_) = package else { return Err("it is not an object".to_owned()) };
    let text_of = |value: &Json| value.as_str().and_then(owned);
    let members = package["workspaces"].as_array().or_else(|| package["workspaces"]["packages"].as_array());
    let members = members.into_iter().flatten().filter_map(text_of).take(MAX_LISTED).collect();
    let mut begins = Vec::new();
    let name = text_of(&package["name"]);
    match &package["bin"] {
        Json::String(path) => begins.push(("program", name.clone(), owned(path))),
        Json::Object(programs) => {
            let programs = programs.iter().take(MAX_LISTED);
            begins.extend(programs.map(|(name, path)| ("program", owned(name), text_of(path))));
        }
        _ => {}
    }
    let exports = &package["exports"];
    let exported =
        [exports, &exports["."], &exports["import"], &exports["."]["import"], &exports["."]["default"]];
    let library = [&package["module"], &package["main"]].into_iter().chain(exported).find_map(text_of);
    if let Some(library) = library {
        begins.push(("library", name.clone(), Some(library)));
    }
    Ok(Facts { name, version: text_of(&package["version"]), members, begins, commands: Vec::new() })
}

fn go(text: &str) -> Result<Facts, String> {
    let named = text.lines().find_map(|line| line.trim().strip_prefix("module "));
    let version = text.lines().find_map(|line| line.trim().strip_prefix("go "));
    let Some(name) = named else { return Err("it names no module".to_owned()) };
    let version = version.map(|version| format!("go {}", version.trim()));
    Ok(Facts { name: owned(name.trim().trim_matches('"')), version, ..Facts::default() })
}

/// Finds the modules that a workspace of Go uses.
pub(super) fn members_of_go_work(text: &str) -> Vec<String> {
    let mut members = Vec::new();
    let mut inside = false;
    for line in text.lines().map(|line| line.split("//").next().unwrap_or_default().trim()) {
        match line {
            "use (" => inside = true,
            ")" => inside = false,
            _ if inside => members.extend(owned(line)),
            _ => members.extend(line.strip_prefix("use ").and_then(|path| owned(path.trim()))),
        }
    }
    members.truncate(MAX_LISTED);
    members
}

fn go_work(text: &str) -> Result<Facts, String> {
    Ok(Facts { members: members_of_go_work(text), ..Facts::default() })
}

/// Returns what is between two texts, after what has been passed.
fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let rest = &text[text.find(open)? + open.len()..];
    Some(rest[..rest.find(close)?].trim())
}

fn maven(text: &str) -> Result<Facts, String> {
    if !text.contains("<project") {
        return Err("it has no `project`".to_owned());
    }
    // What the parent, dependencies and plugins say is theirs.
    let mut own = text.to_owned();
    for section in ["parent", "dependencies", "dependencyManagement", "build", "profiles"] {
        let (open, close) = (format!("<{section}>"), format!("</{section}>"));
        while let Some(from) = own.find(&open)
            && let Some(length) = own[from..].find(&close)
        {
            own.replace_range(from..from + length + close.len(), "");
        }
    }
    let modules = between(text, "<modules>", "</modules>").unwrap_or_default();
    let members = modules.split("<module>").skip(1).filter_map(|rest| owned(rest.split('<').next()?.trim()));
    Ok(Facts {
        name: between(&own, "<artifactId>", "</artifactId>").and_then(owned),
        version: between(&own, "<version>", "</version>").and_then(owned),
        members: members.take(MAX_LISTED).collect(),
        ..Facts::default()
    })
}

/// Returns the first text in quotes behind a word at the beginning of a line.
fn quoted_after(text: &str, word: &str) -> Option<String> {
    let rest = text.lines().find_map(|line| line.trim_start().strip_prefix(word))?;
    quoted(rest).next().and_then(owned)
}

/// Returns the texts in quotes of a line.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split(['"', '\'']).skip(1).step_by(2)
}

fn gradle(text: &str) -> Result<Facts, String> {
    Ok(Facts { version: quoted_after(text, "version"), ..Facts::default() })
}

fn gradle_settings(text: &str) -> Result<Facts, String> {
    let included = text.lines().map(str::trim).filter(|line| line.starts_with("include"));
    let members = included.flat_map(quoted).take(MAX_LISTED).map(str::to_owned).collect();
    Ok(Facts { name: quoted_after(text, "rootProject.name"), members, ..Facts::default() })
}

fn pnpm(text: &str) -> Result<Facts, String> {
    let below = text.lines().skip_while(|line| !line.starts_with("packages:")).skip(1);
    let items = below.take_while(|line| line.starts_with([' ', '-', '#']) || line.trim().is_empty());
    let members =
        items.filter_map(|line| owned(line.trim().strip_prefix("- ")?.trim().trim_matches(['"', '\''])));
    Ok(Facts { members: members.take(MAX_LISTED).collect(), ..Facts::default() })
}

fn cmake(text: &str) -> Result<Facts, String> {
    let project = text.find("project(").map(|from| &text[from + "project(".len()..]);
    let inner = project.and_then(|rest| rest.split(')').next()).unwrap_or_default();
    let words: Vec<&str> = inner.split_whitespace().collect();
    let version = words.iter().position(|word| *word == "VERSION").and_then(|at| words.get(at + 1));
    Ok(Facts {
        name: words.first().and_then(|name| owned(name.trim_matches('"'))),
        version: version.map(|version| (*version).to_owned()),
        ..Facts::default()
    })
}

fn autotools(text: &str) -> Result<Facts, String> {
    let inner = between(text, "AC_INIT(", ")").unwrap_or_default();
    let mut words = inner.split(',').map(|word| word.trim().trim_matches(['[', ']', ' ']));
    let name = words.next().and_then(owned);
    let version = words.next().filter(|it| it.starts_with(|c: char| c.is_ascii_digit())).and_then(owned);
    Ok(Facts { name, version, ..Facts::default() })
}

fn cabal(text: &str) -> Result<Facts, String> {
    let value = |key: &str| {
        let lines = text.lines().filter_map(|line| line.split_once(':'));
        let found = lines.filter(|(name, _)| name.trim().eq_ignore_ascii_case(key));
        found.filter_map(|(_, value)| owned(value.trim())).next()
    };
    Ok(Facts { name: value("name"), version: value("version"), ..Facts::default() })
}

fn swift(text: &str) -> Result<Facts, String> {
    let name = between(text, "name: \"", "\"").or_else(|| between(text, "name:\"", "\""));
    Ok(Facts { name: name.and_then(owned), ..Facts::default() })
}

fn mix(text: &str) -> Result<Facts, String> {
    let name = between(text, "app: :", ",").and_then(owned);
    Ok(Facts { name, version: between(text, "version: \"", "\"").and_then(owned), ..Facts::default() })
}

fn dart(text: &str) -> Result<Facts, String> {
    let value = |key: &str| {
        let found = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        found.and_then(|value| owned(value.trim().trim_matches(['"', '\''])))
    };
    Ok(Facts { name: value("name"), version: value("version"), ..Facts::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(name: &str, text: &str) -> Facts {
        Format::of_name(name.as_bytes()).expect("a manifest").read(text).expect("it can be read")
    }

    #[test]
    fn manifests_tell_name_version_and_members() {
        for (file, text, name, version, members) in [
            (
                "Cargo.toml",
                "[workspace]\nmembers=['a','b/*']\n[workspace.package]\nversion='2.0.0'\n[package]\nname='x'\nversion.workspace=true",
                "x",
                "2.0.0",
                vec!["a", "b/*"],
            ),
            (
                "package.json",
                r#"{"name":"x","version":"1.2.3","workspaces":{"packages":["p/*"]}}"#,
                "x",
                "1.2.3",
                vec!["p/*"],
            ),
            ("pyproject.toml", "[tool.poetry]\nname='x'\nversion='1'", "x", "1", vec![]),
            ("go.mod", "module example.com/x // c\n\ngo 1.24\n", "example.com/x // c", "go 1.24", vec![]),
            (
                "pom.xml",
                "<project><parent><artifactId>p</artifactId><version>9</version></parent><artifactId>x</artifactId><version>1</version><modules><module>a</module>\n<module>b</module></modules></project>",
                "x",
                "1",
                vec!["a", "b"],
            ),
            (
                "CMakeLists.txt",
                "cmake_minimum_required(VERSION 3.20)\nproject(x VERSION 1.2 LANGUAGES CXX)",
                "x",
                "1.2",
                vec![],
            ),
            ("mix.exs", "[app: :x,\n version: \"0.1.0\"]", "x", "0.1.0", vec![]),
            ("pubspec.yaml", "name: x\nversion: 1.0.0+1\n", "x", "1.0.0+1", vec![]),
        ] {
            let facts = facts(file, text);
            assert_eq!(facts.name.as_deref(), Some(name), "{file}");
            assert_eq!(facts.version.as_deref(), Some(version), "{file}");
            assert_eq!(facts.members, members, "{file}");
        }
        assert_eq!(
            facts("pnpm-workspace.yaml", "packages:\n  - 'a/*'\n  - b\nother: 1").members,
            ["a/*", "b"]
        );
        assert_eq!(facts("go.work", "go 1.24\nuse (\n ./a\n ./b // c\n)\n").members, ["./a", "./b"]);
        let settings = facts("settings.gradle.kts", "rootProject.name = \"x\"\ninclude(\"a\", \"b\")\n");
        assert_eq!((settings.name.as_deref(), settings.members.len()), (Some("x"), 2));
    }

    #[test]
    fn manifests_tell_where_programs_begin() {
        let facts = facts(
            "package.json",
            r#"{"name":"x","bin":{"a":"./a.js"},"exports":{".":{"import":"./i.mjs"}}}"#,
        );
        assert_eq!(
            facts.begins,
            [
                ("program", Some("a".into()), Some("./a.js".into())),
                ("library", Some("x".into()), Some("./i.mjs".into()))
            ]
        );
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        for (name, text) in
            [("Cargo.toml", "[package"), ("package.json", "[1]"), ("package.json", "{"), ("pom.xml", "no")]
        {
            let format = Format::of_name(name.as_bytes()).expect("a manifest");
            assert!(format.read(text).is_err(), "{name}: {text}");
        }
    }
}
