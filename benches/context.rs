//! Figures of code.context: `cargo bench --bench measure context`. Goal: at most 2,000 tokens and, warm, 150 ms, on this
//! repository and on a generated one of 25,000 files in 300 packages.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bailiwick::contract::{Caller, Envelope, Transport};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::fixture::{Folder, commit, git, median, milliseconds, service};

const FILES: usize = 25_000;
const PACKAGES: usize = 300;
const COMMITS: usize = 60;
const ROUNDS: usize = 40;

/// Measures it.
pub fn run(_: &[String]) -> ExitCode {
    let folder = Folder::make();
    let generated = folder.join("generated");
    make(&generated);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(measure(
        &folder.join("home-1"),
        "this repository",
        Path::new(env!("CARGO_MANIFEST_DIR")),
    ));
    runtime.block_on(measure(&folder.join("home-2"), "25,000 files", &generated));
    ExitCode::SUCCESS
}

fn make(repository: &Path) {
    let write = |path: String, text: String| {
        let path = repository.join(path);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder is made");
        fs::write(path, text).expect("a file is written");
    };
    for package in 0..PACKAGES {
        let manifest =
            json!({"name": format!("@big/p{package}"), "version": "1.0.0", "scripts": {"test": "vitest"}});
        write(format!("packages/p{package}/package.json"), manifest.to_string());
        write(
            format!("packages/p{package}/README.md"),
            format!("# p{package}\n\nThe package number {package}.\n"),
        );
    }
    for file in 0..FILES - 2 * PACKAGES {
        let (package, folder) = (file % PACKAGES, file / PACKAGES % 7);
        write(
            format!("packages/p{package}/src/m{folder}/f{file}.ts"),
            format!("export const f{file} = {file};\n"),
        );
    }
    write("package.json".to_owned(), json!({"name": "big", "workspaces": ["packages/*"], "scripts": {"build": "tsc -b", "test": "vitest run"}}).to_string());
    write(
        "README.md".to_owned(),
        format!("# Big\n\n{}\n", "Everything that there is, in one repository. ".repeat(40)),
    );
    write("AGENTS.md".to_owned(), "Run the tests of the package that you change.\n".repeat(200));
    write(".gitignore".to_owned(), "node_modules\n*.log\n".to_owned());
    git(repository, &["init", "-q"]);
    git(repository, &["add", "-A"]);
    commit(repository);
    for number in 0..COMMITS {
        for file in 0..=number % 9 {
            write(
                format!("packages/p{}/src/hot{file}.ts", number % 3),
                format!("export const a = {number};\n"),
            );
        }
        git(repository, &["add", "packages/p0", "packages/p1", "packages/p2"]);
        commit(repository);
    }
    write("packages/p0/src/hot0.ts".to_owned(), "changed\n".to_owned());
    write("new.ts".to_owned(), "new\n".to_owned());
    // Younger than the index, files would have to be read each time.
    std::thread::sleep(Duration::from_millis(1_100));
    git(repository, &["status"]);
}

async fn measure(home: &Path, name: &str, repository: &Path) {
    let scopes = json!([{"id": "app", "roots": [repository], "capabilities": ["fs:read"]}]);
    let service = service(home.to_path_buf(), scopes);
    let caller = Caller::local(Transport::Stdio);
    let ask = async |include: &[&str]| -> (Duration, usize) {
        let envelope = json!({"op": "code.context", "scope": "app", "options": {"include": include}});
        let began = Instant::now();
        let outcome =
            service.handle(&caller, Envelope::from_value(envelope), &CancellationToken::new()).await;
        let took = began.elapsed();
        let reply = outcome.into_reply();
        assert!(reply.ok, "{}", reply.text);
        (took, reply.text.chars().count().div_ceil(4))
    };
    let (first, _) = ask(&[]).await;
    println!("{name}: the first time {:.1} ms", milliseconds(first));
    let parts: [(&str, &[&str]); 4] = [
        ("all", &[]),
        ("folders", &["languages", "folders"]),
        ("git", &["git"]),
        ("hotFiles", &["hotFiles"]),
    ];
    for (part, include) in parts {
        let (mut times, mut tokens) = (Vec::new(), 0);
        for _ in 0..ROUNDS {
            let (took, size) = ask(include).await;
            times.push(milliseconds(took));
            tokens = size;
        }
        let (median, best) = (median(&mut times), times[0]);
        println!("  {part:<10} median {median:6.1} ms   best {best:6.1} ms   {tokens} tokens");
    }
}
