//! `code.context`: strange projects, and a budget that holds whatever they hold.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::git::GitScope;

fn ask() -> Value {
    json!({"op": "code.context"})
}

/// Counts the tokens of an answer as a client receives it.
fn tokens(answer: &Value) -> usize {
    answer.to_string().chars().count().div_ceil(4)
}

fn texts<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(|entry| entry[field].as_str()).collect()
}

/// What a file of a random project holds.
fn content() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..400),
        "[a-zA-Z #*`@./\\[\\]()!<>-]{0,80}(\n[ -~]{0,120}){0,30}".prop_map(String::into_bytes),
        "[\u{4e00}-\u{4fff} \n\"\\\\\u{1}\u{7f}]{0,900}".prop_map(String::into_bytes),
        "[a-z]{2000,9000}".prop_map(String::into_bytes),
        Just(br#"{"name":"pack\"age","version":"1","scripts":{"build":"b","test":"t","x:y":"z"},"bin":"./a.js"}"#.to_vec()),
        Just(b"[package]\nname = \"p\"\n[workspace]\nmembers = [\"a\", \"b/*\"]\n".to_vec()),
        Just(b"all:\n\techo\ntest: all ## tests it\n".to_vec()),
    ]
}

/// A path of a random project.
fn path() -> impl Strategy<Value = Vec<u8>> {
    let name = prop_oneof![
        4 => prop::sample::select(vec![
            "README.md", "AGENTS.md", "CLAUDE.md", "Cargo.toml", "package.json", "pyproject.toml", "Makefile",
            "go.mod", "main.go", "main.py", "index.ts", ".cursorrules", "justfile", "pom.xml", ".gitignore",
        ]).prop_map(|name| name.as_bytes().to_vec()),
        2 => "[a-z\"\\\\ ]{1,40}\\.(rs|py|ts|go|md)".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 1..60)
            .prop_filter("a name", |name| !name.contains(&b'/') && !name.contains(&0)),
        1 => "[a-z]{200,240}".prop_map(String::into_bytes),
    ];
    proptest::collection::vec(name, 1..5).prop_map(|names| names.join(&b'/'))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_whole_answer_stays_within_the_budget(
        files in proptest::collection::vec((path(), content()), 0..60),
        budgets in proptest::collection::vec(300_usize..10_000, 3),
        max_output_bytes in prop::option::of(1_000_usize..60_000),
    ) {
        let scope = GitScope::new("app", json!({}));
        for (path, content) in files {
            let path = scope.path("app").join(std::ffi::OsStr::from_bytes(&path));
            // A name can be taken by a folder, or be `..`: then there is one file less.
            if path.components().all(|part| !matches!(part, std::path::Component::ParentDir)) {
                let folder = path.parent().expect("it is in a folder");
                let _ = fs::create_dir_all(folder).and_then(|()| fs::write(&path, content));
            }
        }
        let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
        for budget in budgets.into_iter().chain([300]) {
            let options = json!({"budget": budget, "maxOutputBytes": max_output_bytes});
            let answer = runtime.block_on(scope.send(json!({"op": "code.context", "options": options})));
            prop_assert_eq!(&answer["ok"], true, "{:#}", answer);
            prop_assert!(tokens(&answer) <= budget, "{} of {budget}: {answer:#}", tokens(&answer));
            if let Some(most) = max_output_bytes {
                prop_assert!(answer["data"].to_string().len() <= most, "{answer:#}");
            }
        }
    }
}

#[tokio::test]
async fn an_empty_folder_is_nothing_to_fail_at() {
    let scope = GitScope::new("app", json!({}));
    let data = scope.data(ask()).await;
    assert_eq!(data, json!({"path": ".", "files": 0}));
}

#[tokio::test]
async fn a_repository_tells_its_state_and_what_is_worked_on() {
    let scope = GitScope::new("app", json!({}));
    scope.repository("app");
    scope.write("app/.env", "KEY=hunter2\n");
    scope.git("app", &["add", "-f", ".env"]);
    scope.git("app", &["commit", "-q", "-m", "three"]);
    let data = scope.data(ask()).await;
    assert_eq!(data["git"]["branch"], "main");
    assert_eq!((&data["git"]["unstaged"], &data["git"]["untracked"]), (&json!(1), &json!(1)), "{data:#}");
    assert_eq!(data["hotFiles"][0], json!({"path": "a.txt", "changes": 2}));
    assert_eq!(data["hotCommits"], 3);
    assert!(!data.to_string().contains(".env") && !data.to_string().contains("hunter2"), "{data:#}");

    // What was counted is held; a new commit is counted again.
    scope.write("app/b.txt", "again\n");
    scope.git("app", &["commit", "-q", "-a", "-m", "four"]);
    fs::remove_file(scope.path("app/a.txt")).expect("it is removed");
    let data = scope.data(ask()).await;
    assert_eq!(texts(&data["hotFiles"], "path"), ["b.txt"], "what is gone is not named");
    assert_eq!(data["hotCommits"], 4);
}

#[tokio::test]
async fn a_merge_that_is_not_done_and_a_detached_head_are_told() {
    let scope = GitScope::new("app", json!({}));
    scope.repository("app");
    scope.git("app", &["reset", "-q", "--hard"]);
    scope.git("app", &["checkout", "-q", "-b", "other", "HEAD~1"]);
    scope.write("app/a.txt", "otherwise\n");
    scope.git("app", &["commit", "-q", "-a", "-m", "other"]);
    let _ = scope.person_git("app", &["merge", "main"]);
    let data = scope.data(ask()).await;
    assert_eq!(data["git"]["inProgress"], "merge", "{data:#}");
    assert_eq!(data["git"]["conflicted"], 1);
    scope.git("app", &["merge", "--abort"]);
    scope.git("app", &["checkout", "-q", "--detach"]);
    let data = scope.data(json!({"op": "code.context", "options": {"include": ["git"]}})).await;
    assert_eq!(data["git"]["branch"], Value::Null);
    assert_eq!(data.as_object().map(|data| data.len()), Some(2), "only what was asked for: {data:#}");
}

#[tokio::test]
async fn a_scope_that_is_a_part_of_a_repository_sees_its_part() {
    let scope = GitScope::new("app/inner", json!({}));
    scope.write("app/outer.txt", "o\n");
    scope.write("app/AGENTS.md", "Words above the scope.\n");
    scope.git("app", &["init", "-q"]);
    for text in ["fn a() {}\n", "fn b() {}\n"] {
        scope.write("app/inner/a.rs", text);
        scope.write("app/outer.txt", text);
        scope.git("app", &["add", "."]);
        scope.git("app", &["commit", "-q", "-m", "one"]);
    }
    let data = scope.data(ask()).await;
    assert_eq!(texts(&data["hotFiles"], "path"), ["a.rs"]);
    assert!(!data.to_string().contains("above the scope") && !data.to_string().contains("outer"), "{data:#}");
}

#[tokio::test]
async fn without_git_the_rest_is_told() {
    let folder = std::env::temp_dir();
    let scope = GitScope::new("app", json!({"searchPath": [folder.join("bailiwick-no-programs")]}));
    scope.repository("app");
    let data = scope.data(ask()).await;
    assert_eq!(data["files"], 3);
    assert!(data["notes"][0].as_str().is_some_and(|note| note.contains("Git")), "{data:#}");
    assert!(data.get("git").is_none());
}

#[tokio::test]
async fn files_for_agents_are_told_from_the_scopes_folder_down() {
    let scope = GitScope::new("app", json!({}));
    scope.write(
        "app/CLAUDE.md",
        "# Rules\n\nUse tabs. See @docs/style.md and @~/.claude/mine.md.\n`@not/this.md`\n@ada\n",
    );
    scope.write("app/a/b/AGENTS.md", "Near rules.\n");
    scope.write("app/a/.github/copilot-instructions.md", "Middle rules.\n");
    scope.write("app/a/.cursor/rules/one.mdc", "Cursor rules.\n");
    scope.write("app/a/b/c/AGENTS.md", "Too deep.\n");
    scope.write("app/other/AGENTS.md", "Beside.\n");
    scope.write("secrets/AGENTS.md", "Outside.\n");
    symlink("CLAUDE.md", scope.path("app/AGENTS.md")).expect("a link is made");
    symlink("../../../secrets/AGENTS.md", scope.path("app/a/b/GEMINI.md")).expect("a link is made");
    let data = scope.data(json!({"op": "code.context", "target": "a/b"})).await;
    assert_eq!(
        texts(&data["instructions"], "path"),
        [
            "AGENTS.md",
            "CLAUDE.md",
            "a/.github/copilot-instructions.md",
            "a/.cursor/rules/one.mdc",
            "a/b/AGENTS.md"
        ]
    );
    assert_eq!(data["instructions"][0]["imports"], json!(["docs/style.md", "~/.claude/mine.md"]));
    assert_eq!(data["instructions"][1]["sameAs"], "AGENTS.md");
    assert_eq!(data["instructions"][4]["head"], "Near rules.");
    assert_eq!(data["instructionsBelow"], json!(["a/b/c/AGENTS.md"]));
    assert!(!data.to_string().contains("Outside"), "{data:#}");
    assert!(data["notes"][0].as_str().is_some_and(|note| note.contains("leads out")), "{data:#}");
}

#[tokio::test]
async fn skills_are_named_with_what_they_are_for() {
    let scope = GitScope::new("app", json!({"closedFiles": ["skills/hidden/**"]}));
    let skill = |name: &str, description: &str| {
        format!("---\nname: {name}\ndescription: {description}\n---\n\n# How\n")
    };
    scope.write("app/.claude/skills/pdf/SKILL.md", &skill("pdf", "\"Reads PDFs.\""));
    scope.write("app/.claude/skills/pdf/REFERENCE.md", "Not a skill.\n");
    scope.write("app/.agents/skills/plain/SKILL.md", "No front matter.\n");
    scope.write("app/skills/hidden/SKILL.md", &skill("hidden", "Closed."));
    scope.write("app/a/.codex/skills/near/SKILL.md", &skill("near", &"long ".repeat(200)));
    scope.write("app/b/skills/beside/SKILL.md", &skill("beside", "In another folder."));
    let data = scope.data(json!({"op": "code.context", "target": "a"})).await;
    assert_eq!(texts(&data["skills"], "name"), ["near", "pdf", "plain"], "{data:#}");
    assert_eq!(data["skills"][1]["description"], "Reads PDFs.");
    assert_eq!(data["skills"][1]["path"], ".claude/skills/pdf/SKILL.md");
    assert_eq!(data["skills"][2].get("description"), None);
    let long = data["skills"][0]["description"].as_str().expect("text").chars().count();
    assert!((100..=241).contains(&long), "{long}");

    for at in 0..300 {
        scope.write(&format!("app/skills/s{at}/SKILL.md"), &skill(&format!("s{at}"), "One of many."));
    }
    let answer = scope.send(json!({"op": "code.context", "options": {"budget": 500}})).await;
    assert!(tokens(&answer) <= 500, "{}", tokens(&answer));
    let left = &answer["data"]["leftOut"];
    assert!(left.as_array().is_some_and(|left| left.iter().any(|it| it["part"] == "skills")), "{left:#}");
}

#[tokio::test]
async fn what_is_closed_is_neither_named_nor_read() {
    let scope = GitScope::new("app", json!({"closedFiles": ["hidden/**", "CLAUDE.md"]}));
    scope.write("app/.env", "KEY=hunter2\n");
    scope.write("app/CLAUDE.md", "hunter2\n");
    scope.write("app/hidden/package.json", "{\"name\":\"hunter2\"}\n");
    scope.write("app/secrets.yaml", "hunter2\n");
    symlink(".env", scope.path("app/README.md")).expect("a link is made");
    symlink("hidden/package.json", scope.path("app/package.json")).expect("a link is made");
    let answer = scope.send(ask()).await;
    assert_eq!(answer["ok"], true);
    assert!(!answer.to_string().contains("hunter2"), "{answer:#}");
}

#[tokio::test]
async fn five_hundred_packages_fit_and_the_rest_is_counted() {
    let scope = GitScope::new("app", json!({}));
    for at in 0..500 {
        let name = format!("package-{at:03}");
        scope.write(&format!("app/packages/{name}/package.json"), &format!("{{\"name\":\"@big/{name}\"}}"));
        scope.write(&format!("app/packages/{name}/src/index.ts"), "export {};\n");
    }
    scope.write("app/pnpm-workspace.yaml", "packages:\n  - packages/*\n");
    scope.write(
        "app/package.json",
        "{\"name\":\"big\",\"scripts\":{\"build\":\"tsc -b\",\"test\":\"vitest\"}}",
    );
    let answer = scope.send(ask()).await;
    assert!(tokens(&answer) <= 2_000, "{}", tokens(&answer));
    let data = &answer["data"];
    assert_eq!(texts(&data["manifests"], "kind")[..2], ["node", "pnpm workspace"]);
    let left = data["leftOut"].as_array().expect("a list").iter().find(|left| left["part"] == "manifests");
    let left = left.expect("manifests are left out");
    let shown = data["manifests"].as_array().map_or(0, Vec::len);
    assert_eq!(left["left"], json!(502 - shown));
    assert_eq!(left["call"], json!({"op": "file.find", "input": {"pattern": "**/package.json"}}));
    // The call does what it says.
    let found = scope.data(left["call"].clone()).await;
    assert!(
        found["total"].as_u64().or_else(|| found["paths"].as_array().map(|all| all.len() as u64)).is_some()
    );
    assert_eq!(texts(&data["commands"], "run")[..2], ["npm run build", "npm run test"]);
    assert_eq!(data["folders"][0]["path"], "packages");
}

#[tokio::test]
async fn every_call_that_is_named_works() {
    let scope = GitScope::new("app", json!({}));
    let long = "A line that says something of some length to anyone who reads it.\n".repeat(60);
    for folder in ["app", "app/a", "app/b"] {
        scope.write(&format!("{folder}/AGENTS.md"), &long);
        scope.write(&format!("{folder}/README.md"), &long.replace('\n', "\n\n"));
        scope.write(
            &format!("{folder}/package.json"),
            "{\"name\":\"n\",\"bin\":\"a.js\",\"scripts\":{\"test\":\"t\"}}",
        );
        scope.write(&format!("{folder}/main.py"), "");
    }
    scope.git("app", &["init", "-q"]);
    scope.git("app", &["add", "."]);
    scope.git("app", &["commit", "-q", "-m", "one"]);
    for target in [".", "a"] {
        let request = json!({"op": "code.context", "target": target, "options": {"budget": 310}});
        let data = scope.data(request).await;
        let left = data["leftOut"].as_array().expect("a list");
        assert!(left.len() >= 3, "{data:#}");
        for left in left {
            scope.data(left["call"].clone()).await;
        }
    }
}

#[tokio::test]
async fn broken_manifests_are_told_and_stop_nothing() {
    let scope = GitScope::new("app", json!({}));
    scope.write("app/Cargo.toml", "[package\n");
    scope.write("app/package.json", "{\"name\": }");
    scope.write("app/sub/go.mod", "nothing\n");
    scope.write("app/Makefile", "test:\n\techo\n");
    let data = scope.data(ask()).await;
    let notes = data["notes"].as_array().expect("notes").len();
    assert_eq!(notes, 3, "{data:#}");
    assert_eq!(texts(&data["commands"], "run")[0], "make test");
    assert_eq!(data["manifests"].as_array().map(Vec::len), Some(3));
}

#[tokio::test]
async fn names_that_are_not_utf8_are_shown_so_that_they_can_be_used() {
    let scope = GitScope::new("app", json!({}));
    let folder = scope.path("app").join(std::ffi::OsStr::from_bytes(b"b\xfe"));
    fs::create_dir_all(&folder).expect("a folder is made");
    fs::write(folder.join("package.json"), "{\"name\":\"n\"}").expect("a file is written");
    let data = scope.data(ask()).await;
    assert_eq!(data["folders"][0]["path"], "b\\xfe");
    let path = data["manifests"][0]["path"].clone();
    assert_eq!(path, "b\\xfe/package.json");
    scope.data(json!({"op": "file.read", "target": path})).await;
}

#[tokio::test]
async fn a_budget_out_of_bounds_and_a_file_are_refused() {
    let scope = GitScope::new("app", json!({}));
    scope.write("app/a.txt", "");
    for options in [json!({"budget": 299}), json!({"budget": 10_001}), json!({"include": ["all"]})] {
        assert_eq!(scope.code(json!({"op": "code.context", "options": options})).await, "invalid_request");
    }
    assert_eq!(scope.code(json!({"op": "code.context", "target": "a.txt"})).await, "invalid_request");
}
