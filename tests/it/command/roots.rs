//! Roots that a command of another scope exchanges for links while commands start in them.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bailiwick::contract::Containment;
use bailiwick::platform::fs::modes::symlink;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

use crate::needs::available_sandboxes;
use support::scope::TestScope;
use support::service::TestService;

/// How many commands are started at each level.
const ROUNDS: usize = 60;
/// What the file outside holds.
const SECRET: &str = "OUTSIDE-SECRET";

/// Creates the folders of two scopes, `outer` and, in part inside of it, `app`.
fn folders() -> TestScope {
    let scope = TestScope::new();
    for path in ["x/second", "y", "outside"] {
        fs::create_dir_all(scope.beside(path)).expect("a folder");
    }
    fs::write(scope.beside("outside/secret.txt"), SECRET).expect("a file");
    scope
}

fn start(scope: &TestScope, level: Containment, roots: &[&str], readable: &[&str]) -> TestService {
    let readable: Vec<_> = readable.iter().map(|path| scope.beside(path)).collect();
    let policy = json!({"sandbox": level, "allowedCommands": ["make *"], "readPaths": readable});
    let scopes = [
        json!({"id": "outer", "roots": ["x"], "capabilities": ["fs:read"]}),
        json!({"id": "app", "roots": roots, "capabilities": ["fs:read", "fs:write", "command:run"], "policy": policy}),
    ];
    scope.clone().with_scopes(&scopes).host()
}

async fn run(host: &TestService) -> Value {
    host.answer(json!(["make", "-s", "look"]), json!({})).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_root_that_is_exchanged_for_a_link_while_commands_start_opens_nothing_outside() {
    for level in available_sandboxes() {
        // With one root the working folder is in it; with two it can be in the other. What can be read alone is opened
        // in the same way.
        for (roots, readable) in
            [(&["x/second"][..], &[][..]), (&["y", "x/second"], &[]), (&["y"], &["x/second"])]
        {
            let scope = folders();
            let folder = scope.folder();
            let second = folder.join("x/second");
            let makefile = format!(
                "look:\n\t@ls {0}; cat {0}/secret.txt; echo x > {0}/made; echo end\n",
                second.display()
            );
            fs::write(folder.join(roots[0]).join("Makefile"), makefile).expect("a file");
            symlink(folder.join("outside").to_str().expect("text"), folder.join("x/evil")).expect("a link");
            let service = start(&scope, level, roots, readable);
            let stop = Arc::new(AtomicBool::new(false));
            let exchange = {
                let (stop, evil) = (Arc::clone(&stop), folder.join("x/evil"));
                std::thread::spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        renameat_with(CWD, &second, CWD, &evil, RenameFlags::EXCHANGE).expect("exchanged");
                    }
                })
            };
            let mut answers = Vec::new();
            for _ in 0..ROUNDS {
                answers.push(run(&service).await);
            }
            stop.store(true, Ordering::Relaxed);
            exchange.join().expect("it ends");
            for answer in &answers {
                assert!(!answer.to_string().contains(SECRET), "{level} {roots:?} {readable:?}: {answer:#}");
                let listed = answer["data"]["stdout"].as_str().is_some_and(|out| out.contains("secret.txt"));
                assert!(!listed, "{level} {roots:?} {readable:?}: {answer:#}");
            }
            let outside = fs::read_to_string(folder.join("outside/secret.txt")).expect("it is there");
            assert_eq!(outside, SECRET, "{level} {roots:?} {readable:?}");
            assert_eq!(
                fs::read_dir(folder.join("outside")).expect("there").count(),
                1,
                "{level} {roots:?} {readable:?}"
            );
            // Some were started and some refused, or this has tried nothing.
            let ran = answers.iter().filter(|answer| answer["ok"] == true).count();
            assert!(ran > 0 && ran < ROUNDS, "{level} {roots:?} {readable:?}: {ran} of {ROUNDS} ran");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_link_inside_a_root_is_followed_to_what_commands_may_read() {
    for level in available_sandboxes() {
        let scope = folders();
        let folder = scope.folder();
        fs::write(folder.join("x/second/data.txt"), "data").expect("a file");
        let second = folder.join("x/second");
        let makefile = format!("look:\n\t@cat {}/*.txt\n", second.display());
        fs::write(folder.join("y/Makefile"), makefile).expect("a file");
        // The user's own link, above all roots, leads to the file as well.
        symlink("x", folder.join("short")).expect("a link");
        let service = start(&scope, level, &["y"], &["short/second", "x/second", "missing"]);
        let answer = run(&service).await;
        assert_eq!(answer["data"]["stdout"], "data", "{level}: {answer:#}");
        fs::rename(&second, folder.join("x/moved")).expect("renamed");
        symlink("../outside", &second).expect("a link");
        let answer = run(&service).await;
        assert_eq!(answer["error"]["details"]["rule"], "root-link", "{level}: {answer:#}");
    }
}
