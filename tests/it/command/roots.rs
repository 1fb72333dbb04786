//! Roots that a command of another scope exchanges for links while commands start in them.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bailiwick::config::Config;
use bailiwick::contract::{Caller, Containment, Envelope, Transport};
use bailiwick::platform::dirs::Dirs;
use bailiwick::platform::fs::modes::symlink;
use bailiwick::platform::launch::Launcher;
use bailiwick::service::{Service, ServiceSettings};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::yard::available;
use crate::temporary::TemporaryFolder;

/// How many commands are started at each level.
const ROUNDS: usize = 60;
/// What the file outside holds.
const SECRET: &str = "OUTSIDE-SECRET";

fn service(folder: &Path, level: Containment, roots: &[&str], readable: &[&str]) -> Arc<Service> {
    let path = |root: &&str| folder.join(root);
    let config: Config = serde_json::from_value(json!({
        "machineId": "01JD0000000000000000000000",
        "machineName": "test",
        "scopes": [
            {"id": "outer", "roots": [folder.join("x")], "capabilities": ["fs:read"]},
            {
                "id": "app",
                "roots": roots.iter().map(path).collect::<Vec<_>>(),
                "capabilities": ["fs:read", "fs:write", "command:run"],
                "policy": {
                    "sandbox": level,
                    "allowedCommands": ["make *"],
                    "readPaths": readable.iter().map(path).collect::<Vec<_>>(),
                },
            },
        ],
    }))
    .expect("a valid config");
    let settings = ServiceSettings { config, dirs: Dirs::below(folder.join("home")) };
    let launcher = Launcher::with_program(env!("CARGO_BIN_EXE_bailiwick").into());
    Service::boot_with(settings, launcher).expect("the service starts")
}

async fn run(service: &Arc<Service>) -> Value {
    let envelope = json!({"scope": "app", "op": "command.run", "input": {"command": ["make", "-s", "look"]}});
    let caller = Caller::local(Transport::Stdio);
    let outcome = service.handle(&caller, Envelope::from_value(envelope), &CancellationToken::new()).await;
    outcome.into_reply().into_value()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_root_that_is_exchanged_for_a_link_while_commands_start_opens_nothing_outside() {
    for level in available().into_iter().filter(|level| *level > Containment::None) {
        // With one root the working folder lies in it; with two it can lie in the other. What can be read alone is opened
        // in the same way.
        for (roots, readable) in
            [(&["x/second"][..], &[][..]), (&["y", "x/second"], &[]), (&["y"], &["x/second"])]
        {
            let temporary = TemporaryFolder::new();
            let folder = temporary.path();
            for path in ["x/second", "y", "outside"] {
                fs::create_dir_all(folder.join(path)).expect("a folder");
            }
            fs::write(folder.join("outside/secret.txt"), SECRET).expect("a file");
            let second = folder.join("x/second");
            let makefile = format!(
                "look:\n\t@ls {0}; cat {0}/secret.txt; echo x > {0}/made; echo end\n",
                second.display()
            );
            fs::write(folder.join(roots[0]).join("Makefile"), makefile).expect("a file");
            symlink(folder.join("outside").to_str().expect("text"), folder.join("x/evil")).expect("a link");
            let service = service(folder, level, roots, readable);
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
    for level in available().into_iter().filter(|level| *level > Containment::None) {
        let temporary = TemporaryFolder::new();
        let folder = temporary.path();
        for path in ["x/second", "y", "outside"] {
            fs::create_dir_all(folder.join(path)).expect("a folder");
        }
        fs::write(folder.join("outside/secret.txt"), SECRET).expect("a file");
        fs::write(folder.join("x/second/data.txt"), "data").expect("a file");
        let second = folder.join("x/second");
        let makefile = format!("look:\n\t@cat {}/*.txt\n", second.display());
        fs::write(folder.join("y/Makefile"), makefile).expect("a file");
        // The user's own link, above all roots, leads to the file as well.
        symlink("x", folder.join("short")).expect("a link");
        let service = service(folder, level, &["y"], &["short/second", "x/second", "missing"]);
        let answer = run(&service).await;
        assert_eq!(answer["data"]["stdout"], "data", "{level}: {answer:#}");
        fs::rename(&second, folder.join("x/moved")).expect("renamed");
        symlink("../outside", &second).expect("a link");
        let answer = run(&service).await;
        assert_eq!(answer["error"]["details"]["rule"], "root-link", "{level}: {answer:#}");
    }
}
