//! What a request does not wait for: that anything is listed of what Bailiwick keeps.

use std::collections::BTreeSet;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};
use serde_json::{Value, json};

use support::needs::lacks_full_sandbox;
use support::patience::eventually;
use support::scope::TestScope;
use support::service::{call, data};

/// Where only what runs at this moment is: looked at to find what a killed service has left, and as small as that.
const RUNNING: &[&str] = &["batches", "locks"];
/// Listed beside requests by threads that remove what is old; `Processes` has a test of its own.
const ASIDE: &[&str] = &["processes"];

/// Is notified each time that one of the folders is listed, by whatever process.
struct Listings {
    watch: OwnedFd,
    folders: Vec<(i32, PathBuf)>,
}

impl Listings {
    fn below(state: &Path) -> Self {
        let watch = init(CreateFlags::NONBLOCK).expect("a watch can be made");
        let (mut folders, mut todo) = (Vec::new(), vec![state.to_owned()]);
        while let Some(folder) = todo.pop() {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if folder.parent() == Some(state) && RUNNING.iter().chain(ASIDE).any(|it| *it == name) {
                continue;
            }
            let entries = fs::read_dir(&folder).expect("it can be read").flatten();
            todo.extend(
                entries.filter(|it| it.file_type().is_ok_and(|kind| kind.is_dir())).map(|it| it.path()),
            );
            folders.push(folder);
        }
        // Only now, so that this is not heard.
        let flags = WatchFlags::ACCESS | WatchFlags::ONLYDIR;
        let folders = folders.into_iter().map(|it| (add_watch(&watch, &it, flags).expect("watched"), it));
        Self { folders: folders.collect(), watch }
    }

    fn heard(&self) -> BTreeSet<PathBuf> {
        let mut room = [MaybeUninit::uninit(); 1 << 16];
        let mut events = Reader::new(&self.watch, &mut room);
        let mut heard = BTreeSet::new();
        while let Ok(event) = events.next() {
            assert!(!event.events().contains(ReadFlags::QUEUE_OVERFLOW), "too much was heard at once");
            // A folder speaks of itself without a name; of what is in it, with one.
            if event.events().contains(ReadFlags::ISDIR) && event.file_name().is_none() {
                let folder = self.folders.iter().find(|(id, _)| *id == event.wd());
                heard.extend(folder.map(|(_, path)| path.clone()));
            }
        }
        heard
    }
}

#[test]
fn a_folder_that_rests_is_not_read_again() {
    let world = TestScope::new().with_capabilities(&["fs:read"]).host();
    world.write("folder/file", "");
    let ask = || {
        let answer = call(&world.service, json!({"scope": "app", "op": "file.list", "target": "folder"}));
        data(&answer)["entries"].clone()
    };
    let folder = world.root().join("folder");
    let watch = Listings::below(&folder);
    // A change that happened a moment ago is looked at each time.
    eventually("it is not read again", || {
        ask();
        watch.heard().is_empty()
    });
    assert_eq!((ask(), watch.heard()), (json!([{"path": "folder/file", "kind": "file"}]), BTreeSet::new()));
    world.write("folder/other", "");
    assert_eq!(ask().as_array().map(Vec::len), Some(2));
    assert_eq!(watch.heard(), BTreeSet::from([folder]));
}

#[test]
fn no_request_lists_what_is_kept() {
    if lacks_full_sandbox() {
        return;
    }
    let capabilities =
        ["fs:read", "fs:write", "command:run", "process:manage", "history:read", "search:read"];
    let policy = json!({"allowedCommands": ["true", "echo *"], "askCommands": ["echo *"]});
    let world = TestScope::new().with_capabilities(&capabilities).with_policy(policy).host();
    let state = world.dirs.state.clone();
    world.write("whole/inside.txt", "inside");
    let ask = |op: &str, target: &str, input: Value| {
        let answer =
            call(&world.service, json!({"scope": "app", "op": op, "target": target, "input": input}));
        data(&answer).clone()
    };
    let round = |at: u32| {
        ask("file.write", &format!("{at}.txt"), json!({"content": format!("{at}\n")}));
        ask("file.patch", &format!("{at}.txt"), json!({"edits": [{"old": format!("{at}"), "new": "new"}]}));
        ask("file.copy", &format!("{at}.txt"), json!({"to": format!("copy-{at}.txt")}));
        ask("file.move", &format!("copy-{at}.txt"), json!({"to": format!("moved-{at}.txt")}));
        ask("file.copy", "whole", json!({"to": format!("whole-{at}")}));
        let recursive = json!({"scope": "app", "op": "file.delete", "target": format!("whole-{at}"), "options": {"recursive": true}});
        data(&call(&world.service, recursive));
        ask("file.delete", &format!("moved-{at}.txt"), json!({}));
        ask("file.read", &format!("{at}.txt"), json!({}));
        ask("file.list", ".", json!({}));
        ask("file.search", ".", json!({"query": "inside"}));
        let run = call(
            &world.service,
            json!({"scope": "app", "op": "command.run", "input": {"command": ["true"]}}),
        );
        data(&run);
        let words = format!("{at}");
        let asks = json!({"scope": "app", "op": "command.run", "input": {"command": ["echo", words]}});
        let asked = call(&world.service, asks);
        let ticket = asked["error"]["details"]["approvalId"].as_str().expect("it needs approval");
        let condition = json!({"until": "approval", "approval": ticket});
        let any = json!([condition, {"until": "time", "seconds": 0.1}]);
        let wait = json!({"scope": "app", "op": "process.wait", "input": {"any": any}});
        data(&call(&world.service, wait));
    };
    // What is listed once, when a process first needs it.
    (0..3).for_each(round);
    let listings = Listings::below(&state);
    (3..40).for_each(round);
    assert_eq!(listings.heard(), BTreeSet::new());
    // The watch hears of those who do list.
    ask("file.history", "0.txt", json!({}));
    let heard = listings.heard();
    assert!(heard.iter().all(|it| it.starts_with(state.join("versions"))) && !heard.is_empty(), "{heard:?}");
}
