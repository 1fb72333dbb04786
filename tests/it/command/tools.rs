//! Real tools on real projects, in a full sandbox without a network of the computer's.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::needs::{lacks_full_sandbox, lacks_program, require_program};
use support::service::TestService;

/// The folder of the toolchain that builds these tests.
fn toolchain() -> PathBuf {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let printed = Command::new(rustc).args(["--print", "sysroot"]).output().expect("rustc runs");
    PathBuf::from(String::from_utf8(printed.stdout).expect("text").trim())
}

fn host() -> TestService {
    let toolchain = toolchain();
    let search: Vec<PathBuf> =
        [toolchain.join("bin"), "/usr/local/bin".into(), "/usr/bin".into(), "/bin".into()].into();
    TestService::for_commands(json!({
        "sandbox": "full",
        "searchPath": search,
        "readPaths": [toolchain],
        "environment": {
            "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.com",
            "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.com",
        },
        "allowedCommands": [
            "git *", "cargo *", "rustc *", "make *", "cc *", "node *", "npm *", "python3 *", "ls *", "cat",
        ],
    }))
}

async fn package(host: &TestService, target: &str, input: Value) -> Value {
    let envelope = json!({"scope": "app", "op": "package.run", "target": target, "input": input,
        "options": {"timeoutSeconds": 600}});
    let answer = host.send(envelope).await;
    assert_eq!(answer["ok"], true, "{answer:#}");
    answer["data"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn git_makes_a_repository_and_commits() {
    if lacks_full_sandbox() {
        return;
    }
    let host = host();
    host.write("README.md", "hello\n");
    host.out(json!(["git", "init", "-q"])).await;
    host.out(json!(["git", "add", "README.md"])).await;
    host.out(json!(["git", "commit", "-q", "-m", "first; and only"])).await;
    host.write("README.md", "hello again\n");
    assert_eq!(host.out(json!("git log --format='%an: %s'")).await, "A: first; and only\n");
    assert_eq!(host.out(json!(["git", "status", "--short"])).await, " M README.md\n");
    assert!(host.out(json!(["git", "diff"])).await.contains("+hello again"));
    host.out(json!("git add README.md && git commit -q -m second && git tag v1")).await;
    assert_eq!(host.out(json!("git log --oneline | cat")).await.lines().count(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cargo_builds_and_tests_offline() {
    if lacks_full_sandbox() {
        return;
    }
    let host = host();
    host.out(json!(["cargo", "new", "--vcs", "none", "--lib", "thing"])).await;
    host.write(
        "thing/src/main.rs",
        "fn main() {\n    println!(\"{} {:?}\", thing::add(20, 22), std::env::args().nth(1));\n}\n",
    );
    let run = |command: Value| {
        let envelope = json!({"scope": "app", "op": "command.run", "target": "thing", "input": {"command": command},
            "options": {"timeoutSeconds": 600}});
        let host = &host;
        async move { host.send(envelope).await }
    };
    let built = run(json!(["cargo", "build", "--offline"])).await;
    assert_eq!(built["data"]["exitCode"], 0, "{built:#}");
    let tested = run(json!(["cargo", "test", "--offline"])).await;
    assert_eq!(tested["data"]["exitCode"], 0, "{tested:#}");
    assert!(tested["data"]["stdout"].as_str().expect("text").contains("1 passed"), "{tested:#}");
    let ran = package(&host, "thing", json!({"script": "run", "args": ["--flag; x"]})).await;
    assert_eq!(ran["stdout"], "42 Some(\"--flag; x\")\n", "{ran:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn make_and_the_c_compiler_build_a_program() {
    if lacks_full_sandbox() {
        return;
    }
    let host = host();
    host.write("main.c", "#include <stdio.h>\nint main(void) { puts(\"built\"); return 3; }\n");
    host.write("Makefile", "run: main\n\t./main\nmain: main.c\n\tcc -O1 -o main main.c\n");
    let data = host.run(json!(["make", "-s", "run"])).await;
    assert_eq!(data["stdout"], "built\n", "{data:#}");
    assert_eq!(data["exitCode"], 2, "make says that the program failed: {data:#}");
    assert!(Path::new(&host.path("main")).exists());
    let data = package(&host, "", json!({"script": "main"})).await;
    assert!(data["stdout"].as_str().expect("text").contains("up to date"), "{data:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn node_and_npm_run_the_scripts_of_a_project() {
    if lacks_full_sandbox() || lacks_program("npm") {
        return;
    }
    let host = host();
    host.write(
        "package.json",
        r#"{"name":"x","version":"1.0.0","scripts":{"test":"node --test","show":"node show.js"}}"#,
    );
    host.write("show.js", "console.log(JSON.stringify(process.argv.slice(2)), require('os').tmpdir());\n");
    host.write(
        "some.test.js",
        "const test = require('node:test');\nconst http = require('node:http');\n\
         test('a server on the loopback', (t, done) => {\n  const server = http.createServer((q, r) => r.end('hi'));\n\
           server.listen(0, '127.0.0.1', () => http.get(server.address(), (r) => { r.resume(); r.on('end', () => { \
         server.close(); done(); }); }));\n});\n",
    );
    assert_eq!(host.out(json!(["node", "show.js", "a b"])).await, "[\"a b\"] /tmp\n");
    let tested = host.out(json!(["npm", "test"])).await;
    assert!(tested.contains("pass 1"), "{tested}");
    let shown = package(&host, "", json!({"script": "show", "args": ["--grep", "a;b"]})).await;
    assert!(shown["stdout"].as_str().expect("text").contains(r#"["--grep","a;b"]"#), "{shown:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn python_runs_a_script_and_its_tests() {
    require_program("python3");
    if lacks_full_sandbox() {
        return;
    }
    let host = host();
    host.write(
        "test_it.py",
        "import multiprocessing, tempfile, unittest\n\nclass It(unittest.TestCase):\n    def test_a_file(self):\n        \
         with tempfile.TemporaryFile() as file:\n            file.write(b'x')\n\n    def test_a_lock(self):\n        \
         multiprocessing.Lock()\n",
    );
    let data = host.run(json!(["python3", "-m", "unittest", "-v"])).await;
    assert_eq!(data["exitCode"], 0, "{data:#}");
    assert!(data["stderr"].as_str().expect("text").contains("Ran 2 tests"), "{data:#}");
}
