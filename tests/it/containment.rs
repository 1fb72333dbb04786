//! No byte outside a scope's folder is read, described, listed or changed, whatever the folder holds.

mod roots;
mod own_folders;
mod stress;

use std::collections::BTreeMap;
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bailiwick::operations::FAMILIES;
use bailiwick::platform::fs::modes::symlink;
use bailiwick::platform::names::OsStrExt;
use bailiwick::service::Service;
use proptest::prelude::*;
#[cfg(target_os = "linux")]
use rustix::fs::{RenameFlags, renameat_with};
use serde_json::{Value, json};

use crate::patience::{PATIENCE, eventually};
use crate::system::{Need, lacks, tries};
use crate::temporary::TemporaryFolder;
use support::scope::TestScope;
use support::service::call;

/// What the files outside hold; it must never be in an answer.
const SECRET: &str = "OUTSIDE-SECRET";
/// The name of a file outside that no link and no path of these tests names.
const UNNAMED: &str = "nobody-names-this";

/// A scope's folder `app`, and beside it what is not the scope's business.
struct LinkedFolders {
    scope: TestScope,
}

impl Deref for LinkedFolders {
    type Target = TestScope;

    fn deref(&self) -> &TestScope {
        &self.scope
    }
}

impl LinkedFolders {
    fn new() -> Self {
        Self::in_folder(TemporaryFolder::new())
    }

    fn in_folder(folder: TemporaryFolder) -> Self {
        let scope = TestScope::in_folder(folder).with_capabilities(&["fs:read", "search:read", "fs:write"]);
        for beside in ["outside", "app-evil"] {
            let beside = scope.beside(beside);
            fs::create_dir_all(beside.join("deep")).expect("the temporary folder can be written");
            for name in ["secret.txt", "victim.txt", "deep/secret.txt", UNNAMED] {
                fs::write(beside.join(name), SECRET.repeat(9)).expect("the temporary folder can be written");
            }
        }
        Self { scope }
    }

    fn service(&self) -> Arc<Service> {
        self.boot()
    }

    fn service_with(&self, policy: Value) -> Arc<Service> {
        self.scope.clone().with_policy(policy).boot()
    }

    /// Everything beside the scope: names, contents, where links lead.
    fn outside(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut todo = vec![self.beside("outside"), self.beside("app-evil")];
        while let Some(folder) = todo.pop() {
            for entry in fs::read_dir(&folder).expect("what is outside stays there") {
                let path = entry.expect("it can be read").path();
                if path.is_dir() {
                    todo.push(path.clone());
                    found.insert(path, Vec::new());
                } else {
                    found.insert(path.clone(), fs::read(&path).expect("it can be read"));
                }
            }
        }
        found
    }
}

/// Ends a race when its value goes, also when a test fails under way.
#[cfg(target_os = "linux")]
struct Ends<'a>(&'a AtomicBool);

#[cfg(target_os = "linux")]
impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn ok(answer: &Value) -> bool {
    answer["ok"] == true
}

/// Fails if an answer tells anything of what is outside.
fn assert_silent(envelope: &Value, answer: &Value) {
    let text = answer.to_string();
    for told in [SECRET, UNNAMED, &format!("\"size\":{}", SECRET.len() * 9)] {
        assert!(!text.contains(told), "{envelope}\nanswered\n{answer}");
    }
}

/// Creates an envelope for every operation on files, with `path` as target and `other` as second path.
fn envelopes(path: &str, other: &str) -> Vec<Value> {
    let family = FAMILIES.iter().find(|family| family.name == "file").expect("there are file operations");
    let mut all = Vec::new();
    for entry in family.operations {
        let op = entry.spec.name;
        let inputs = match op {
            "file.read" | "file.stat" | "file.tree" | "file.list" | "file.mkdir" | "file.delete" => {
                vec![json!({})]
            }
            "file.read_many" => vec![json!({"paths": [path, other]})],
            "file.write" | "file.create" => vec![json!({"content": "written by the test"})],
            "file.move" | "file.copy" => vec![json!({"to": other})],
            "file.find" => vec![json!({"pattern": "**"}), json!({"pattern": format!("{path}/**")})],
            "file.search" => vec![json!({"query": "SECRET"})],
            "file.patch" => patches(path, other),
            "file.history" => vec![json!({})],
            "file.restore" => vec![json!({"version": "s-2c8b08da5ce60398e1f19af0"})],
            other => panic!("teach this test how to call {other}"),
        };
        let options = match op {
            "file.list" => json!({"depth": 4}),
            "file.stat" => json!({"hash": true}),
            "file.mkdir" => json!({"parents": true}),
            "file.delete" => json!({"recursive": true}),
            "file.write" => json!({"createParents": true}),
            "file.move" | "file.copy" => json!({"ifExists": "replace"}),
            _ => json!({}),
        };
        for input in inputs {
            let named_inside = op == "file.read_many" || input.get("patch").is_some();
            let target = if named_inside { Value::Null } else { json!(path) };
            all.push(json!({"op": op, "target": target, "input": input, "options": options}));
        }
    }
    all
}

/// Creates the inputs of `file.patch` in every dialect that names files.
fn patches(path: &str, other: &str) -> Vec<Value> {
    let context = |body: String| json!({"patch": format!("*** Begin Patch\n{body}*** End Patch\n")});
    vec![
        json!({"edits": [{"old": "SECRET", "new": "changed"}]}),
        json!({"edits": [{"old": "OUTSIDE", "new": "changed", "expect": 9}]}),
        json!({"edits": [{"old": "nowhere in it", "new": "changed", "path": other}]}),
        json!({"lines": [{"after": "0", "new": "changed"}]}),
        json!({"patch": format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-inside\n+changed\n")}),
        json!({"patch": format!("--- /dev/null\n+++ b/{other}\n@@ -0,0 +1 @@\n+made\n")}),
        context(format!("*** Add File: {path}\n+made\n")),
        context(format!("*** Delete File: {path}\n")),
        context(format!("*** Update File: {path}\n*** Move to: {other}\n@@\n-inside\n+changed\n")),
    ]
}

// Only Linux exchanges two names at once.
#[cfg(target_os = "linux")]
#[test]
fn nothing_outside_is_read_or_changed_while_a_folder_is_exchanged_with_a_link() {
    let world = LinkedFolders::new();
    let root = world.root();
    fs::create_dir(root.join("swap")).expect("a folder");
    fs::write(root.join("swap/victim.txt"), "inside").expect("a file");
    symlink("../outside", root.join("link")).expect("a link");
    let before = world.outside();
    let service = world.service();
    let stop = AtomicBool::new(false);
    let (answered, refused, swaps) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let requests = [
        json!({"op": "file.read", "target": "swap/victim.txt"}),
        json!({"op": "file.stat", "target": "swap/victim.txt", "options": {"hash": true}}),
        json!({"op": "file.list", "target": "swap"}),
        json!({"op": "file.list", "options": {"depth": 3}}),
        json!({"op": "file.find", "target": "swap", "input": {"pattern": "**"}}),
        json!({"op": "file.search", "input": {"query": "SECRET|inside"}}),
        json!({"op": "file.read_many", "input": {"paths": ["swap/victim.txt", "link/victim.txt"]}}),
        json!({"op": "file.write", "target": "swap/victim.txt", "input": {"content": "inside"}}),
        json!({"op": "file.write", "target": "link/new.txt", "input": {"content": "inside"}}),
        json!({"op": "file.create", "target": "swap/made.txt", "input": {"content": "inside"}}),
        json!({"op": "file.mkdir", "target": "swap/a/b", "options": {"parents": true}}),
        json!({"op": "file.copy", "target": "swap", "input": {"to": "copy"}, "options": {"ifExists": "replace"}}),
        json!({"op": "file.move", "target": "swap/made.txt", "input": {"to": "link/moved.txt"}}),
        json!({"op": "file.patch", "target": "swap/victim.txt", "input": {"edits": [{"old": "inside", "new": "inside"}]}}),
        json!({"op": "file.patch", "input": {"patch": "*** Begin Patch\n*** Add File: swap/added.txt\n+inside\n*** End Patch\n"}}),
        json!({"op": "file.delete", "target": "swap/new.txt"}),
        json!({"op": "file.delete", "target": "swap/a", "options": {"recursive": true}}),
    ];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let folder = fs::File::open(&root).expect("the folder opens");
            while !stop.load(Ordering::Relaxed) {
                renameat_with(&folder, "swap", &folder, "link", RenameFlags::EXCHANGE).expect("both exist");
                swaps.fetch_add(1, Ordering::Relaxed);
            }
        });
        for worker in 0..3 {
            let (service, requests, stop) = (&service, &requests, &stop);
            let (answered, refused, swaps) = (&answered, &refused, &swaps);
            scope.spawn(move || {
                let _ends = Ends(stop);
                let began = Instant::now();
                let is_met = || {
                    swaps.load(Ordering::Relaxed) > 100
                        && answered.load(Ordering::Relaxed) > 0
                        && refused.load(Ordering::Relaxed) > 0
                };
                for request in requests.iter().cycle().skip(worker * 5) {
                    // For a while, and until both sides of the race were met.
                    if began.elapsed() > Duration::from_millis(1_500)
                        && (is_met() || began.elapsed() > *PATIENCE)
                    {
                        break;
                    }
                    let answer = call(service, request.clone());
                    let count = if ok(&answer) { answered } else { refused };
                    count.fetch_add(1, Ordering::Relaxed);
                    assert_silent(request, &answer);
                }
            });
        }
    });
    assert_eq!(world.outside(), before);
    assert!(swaps.into_inner() > 100, "the race took place");
    assert!(answered.into_inner() > 0 && refused.into_inner() > 0, "both sides of the race were met");
}

// Only Linux exchanges two names at once.
#[cfg(target_os = "linux")]
#[test]
fn removing_a_tree_never_enters_a_folder_that_was_exchanged_with_a_link() {
    let world = LinkedFolders::new();
    let root = world.root();
    let before = world.outside();
    let service = world.service();
    let began = Instant::now();
    let mut removed = 0;
    // For a while, and until a tree was removed.
    while began.elapsed() < Duration::from_secs(1) || (removed == 0 && began.elapsed() < *PATIENCE) {
        for folder in ["tree/a/deep", "tree/b/deep"] {
            fs::create_dir_all(root.join(folder)).expect("a folder");
            for file in 0..20 {
                fs::write(root.join(folder).join(format!("{file}")), "inside").expect("a file");
            }
        }
        let _ = symlink("../outside", root.join("link"));
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let folder = fs::File::open(&root).expect("the folder opens");
                while !stop.load(Ordering::Relaxed) {
                    // The folder may be gone already.
                    let _ = renameat_with(&folder, "tree/a", &folder, "link", RenameFlags::EXCHANGE);
                }
            });
            let request = json!({"op": "file.delete", "target": "tree", "options": {"recursive": true}});
            let ends = Ends(&stop);
            let answer = call(&service, request.clone());
            drop(ends);
            removed += usize::from(ok(&answer));
            assert_silent(&request, &answer);
        });
        assert_eq!(world.outside(), before);
        for left in ["tree", "link"] {
            let left = root.join(left);
            let _ = fs::remove_file(&left);
            let _ = fs::remove_dir_all(&left);
        }
    }
    assert!(removed > 0, "some trees were removed");
}

/// What a random tree is made of.
#[derive(Debug, Clone)]
enum Node {
    File,
    Folder,
    Link(String),
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![6 => "[abc]", 1 => Just("é".to_owned()), 1 => Just("n\nl".to_owned())]
}

/// Where links lead: up to places outside, from whatever depth, and to each other.
fn leads_to() -> impl Strategy<Value = String> {
    let up = (0_usize..5).prop_map(|steps| "../".repeat(steps));
    let beside = prop_oneof![
        4 => Just("outside"),
        3 => Just("outside/secret.txt"),
        1 => Just("outside/deep/secret.txt"),
        1 => Just("app-evil/secret.txt"),
        1 => Just("app/../outside"),
        1 => Just("outside/not-there"),
    ];
    let inside = proptest::collection::vec(prop_oneof![3 => "[abc]", 1 => Just("..".to_owned())], 1..4);
    prop_oneof![
        6 => (up, beside).prop_map(|(up, beside)| format!("{up}{beside}")),
        4 => inside.prop_map(|steps| steps.join("/")),
        1 => Just("<temporary>/outside/secret.txt".to_owned()),
        1 => Just("<temporary>/outside".to_owned()),
        1 => Just("/proc/self/root".to_owned()),
        1 => Just(".".to_owned()),
    ]
}

fn node() -> impl Strategy<Value = Node> {
    prop_oneof![2 => Just(Node::File), 2 => Just(Node::Folder), 4 => leads_to().prop_map(Node::Link)]
}

/// A path that a client asks for: of a node of the tree, and on from there, or any other.
fn asked_path(nodes: &[(Vec<String>, Node)]) -> impl Strategy<Value = String> + use<> {
    let of_nodes: Vec<String> = nodes.iter().map(|(names, _)| names.join("/")).collect();
    let on = prop_oneof![
        4 => Just(""),
        2 => Just("/secret.txt"),
        1 => Just("/deep/secret.txt"),
        1 => Just("/deep"),
        1 => Just("/new.txt"),
        1 => Just("/outside/secret.txt"),
        1 => Just("/../secret.txt"),
        1 => Just("/a/b"),
    ];
    prop_oneof![
        12 => (proptest::sample::select(of_nodes), on).prop_map(|(path, on)| format!("{path}{on}")),
        1 => proptest::collection::vec(name(), 1..4).prop_map(|steps| steps.join("/")),
        1 => Just("../outside/secret.txt".to_owned()),
        1 => Just("<temporary>/outside/secret.txt".to_owned()),
        1 => Just("<temporary>/app-evil/secret.txt".to_owned()),
        1 => Just("a/../../app-evil/secret.txt".to_owned()),
        1 => Just("/proc/self/root/etc/passwd".to_owned()),
        1 => Just(r"..\x5c..\xff".to_owned()),
    ]
}

/// The nodes of a tree, each with the names that lead to it, and pairs of paths to ask for.
type TreeAndPaths = (Vec<(Vec<String>, Node)>, Vec<(String, String)>);

/// A tree, and pairs of paths that are asked for in it.
fn tree_and_paths() -> impl Strategy<Value = TreeAndPaths> {
    proptest::collection::vec((proptest::collection::vec(name(), 1..4), node()), 4..14).prop_flat_map(
        |nodes| {
            let paths = proptest::collection::vec((asked_path(&nodes), asked_path(&nodes)), 4);
            (Just(nodes), paths)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: tries(8), max_shrink_iters: 40, ..ProptestConfig::default() })]

    #[test]
    fn no_operation_reaches_outside_by_any_links_and_any_path(
        (nodes, paths) in tree_and_paths(),
    ) {
        nothing_outside_is_reached(&nodes, &paths)?;
    }
}

/// Asks every operation for the paths in a tree, and checks that nothing outside is shown or changed.
fn nothing_outside_is_reached(
    nodes: &[(Vec<String>, Node)],
    paths: &[(String, String)],
) -> Result<(), TestCaseError> {
    let world = LinkedFolders::new();
    let temporary = world.folder().to_str().expect("temporary paths are UTF-8").to_owned();
    for (names, node) in nodes {
        grow(&world.root(), names, node, &temporary);
    }
    let before = world.outside();
    let service = world.service();
    for (path, other) in paths {
        let (path, other) =
            (path.replace("<temporary>", &temporary), other.replace("<temporary>", &temporary));
        for envelope in envelopes(&path, &other) {
            let answer = call(&service, envelope.clone());
            assert_silent(&envelope, &answer);
        }
        prop_assert_eq!(&world.outside(), &before);
    }
    Ok(())
}

/// Makes a node of a random tree, without going through the links that are there already.
fn grow(root: &Path, names: &[String], node: &Node, temporary: &str) {
    let mut path = root.to_owned();
    for name in &names[..names.len() - 1] {
        path.push(name);
        let _ = fs::create_dir(&path);
        if !fs::symlink_metadata(&path).is_ok_and(|facts| facts.is_dir()) {
            return;
        }
    }
    path.push(&names[names.len() - 1]);
    if names.iter().any(|name| name.contains('\n')) && !Need::Names.is_there() {
        return;
    }
    if fs::symlink_metadata(&path).is_ok() {
        return;
    }
    match node {
        Node::File => fs::write(path, "inside"),
        Node::Folder => fs::create_dir(path),
        Node::Link(_) if !Need::Links.is_there() => return,
        Node::Link(leads_to) => symlink(leads_to.replace("<temporary>", temporary), path),
    }
    .expect("the name is free");
}

#[test]
fn of_writers_with_the_same_version_one_wins_across_services() {
    if lacks(Need::Replacing) {
        return;
    }
    let world = LinkedFolders::new();
    // Two services on one state folder stand for two processes: their locks are files either way.
    let services = [world.service(), world.service()];
    for round in 0..6 {
        let version = call(
            &services[0],
            json!({"op": "file.write", "target": "shared.txt", "input": {"content": format!("round {round}")}}),
        )["data"]["version"]
            .clone();
        let answers: Vec<Value> = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..6)
                .map(|writer| {
                    let (service, version) = (&services[writer % 2], &version);
                    scope.spawn(move || {
                        call(
                            service,
                            json!({"op": "file.write", "target": "shared.txt",
                                   "input": {"content": format!("{round}, {writer}")},
                                   "options": {"ifVersion": version}}),
                        )
                    })
                })
                .collect();
            writers.into_iter().map(|writer| writer.join().expect("a writer ends")).collect()
        });
        let won: Vec<usize> = (0..6).filter(|writer| ok(&answers[*writer])).collect();
        assert_eq!(won.len(), 1, "{answers:?}");
        assert!(answers.iter().all(|answer| ok(answer) || answer["error"]["code"] == "conflict"));
        let content = fs::read_to_string(world.root().join("shared.txt")).expect("the file is there");
        assert_eq!(content, format!("{round}, {}", won[0]));
    }
}

#[test]
fn odd_names_can_be_listed_read_and_written() {
    if lacks(Need::Names) {
        return;
    }
    let world = LinkedFolders::new();
    let service = world.service();
    let names: [&[u8]; 5] = [b"a\xffb", b"new\nline", br"\xff", b" blank ", "größe".as_bytes()];
    for name in names {
        fs::write(world.root().join(std::ffi::OsStr::from_bytes(name)), name).expect("the name is possible");
    }
    let listed = call(&service, json!({"op": "file.list"}));
    let entries = listed["data"]["entries"].as_array().expect("entries");
    assert_eq!(entries.len(), names.len());
    for entry in entries {
        let path = &entry["path"];
        let read =
            call(&service, json!({"op": "file.read", "target": path, "options": {"encoding": "base64"}}));
        assert!(ok(&read), "{read}");
        let written = call(
            &service,
            json!({"op": "file.write", "target": path, "input": {"content": "new"},
                   "options": {"ifVersion": read["data"]["version"]}}),
        );
        assert!(ok(&written), "{written}");
    }
    for name in names {
        let content = fs::read(world.root().join(std::ffi::OsStr::from_bytes(name))).expect("it is there");
        assert_eq!(content, b"new");
    }
}

#[test]
fn a_tree_as_deep_as_a_path_can_be_is_copied_and_removed() {
    // Each of its folders is synced, which takes a slow disk a minute or two.
    let folder = TemporaryFolder::elsewhere(&std::env::temp_dir()).unwrap_or_else(TemporaryFolder::new);
    let world = LinkedFolders::in_folder(folder);
    let service = world.service();
    // Elsewhere each folder on the way is opened for itself, so that a path costs its length squared. Wine 8 tells no
    // path longer than 260 characters, so that folders are listed for every name of such a one.
    let levels = if cfg!(target_os = "linux") { 1_900 } else { 24 };
    let deep = vec!["d"; levels].join("/");
    let timeout = PATIENCE.as_secs();
    let made = call(
        &service,
        json!({"op": "file.mkdir", "target": deep, "options": {"parents": true, "timeoutSeconds": timeout}}),
    );
    assert!(ok(&made), "{made}");
    let file = format!("{deep}/leaf.txt");
    assert!(ok(&call(&service, json!({"op": "file.write", "target": file, "input": {"content": "leaf"}}))));
    let copied = json!({"op": "file.copy", "target": "d", "input": {"to": "e"}, "options": {"timeoutSeconds": timeout}});
    assert!(ok(&call(&service, copied)));
    let copy = call(&service, json!({"op": "file.read", "target": format!("e{}", &file[1..])}));
    assert_eq!(copy["data"]["content"], "leaf");
    for top in ["d", "e"] {
        let options = json!({"recursive": true, "timeoutSeconds": timeout});
        let gone = call(&service, json!({"op": "file.delete", "target": top, "options": options}));
        assert_eq!(gone["data"]["folders"], levels, "{gone}");
    }
    let too_long = call(&service, json!({"op": "file.read", "target": "d/".repeat(2_100)}));
    assert_eq!(too_long["error"]["code"], "invalid_request");
}

// Named pipes and sockets are files only there.
#[cfg(unix)]
#[test]
fn pipes_and_sockets_are_refused_without_waiting() {
    let world = LinkedFolders::new();
    let root = world.root();
    crate::system::make_pipe(&root.join("pipe")).expect("a pipe can be made");
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).expect("a socket can be made");
    let service = world.service();
    for target in ["pipe", "socket"] {
        for (op, input) in [
            ("file.read", json!({})),
            ("file.write", json!({"content": "x"})),
            ("file.copy", json!({"to": "copy"})),
            ("file.list", json!({})),
        ] {
            let answer = call(&service, json!({"op": op, "target": target, "input": input}));
            assert_eq!(answer["error"]["code"], "invalid_request", "{op} {target}: {answer}");
        }
        assert!(ok(&call(&service, json!({"op": "file.stat", "target": target}))));
    }
}

#[test]
fn a_file_with_another_name_outside_is_never_written_through() {
    let world = LinkedFolders::new();
    fs::hard_link(world.beside("outside/victim.txt"), world.root().join("inside.txt"))
        .expect("one file system");
    let before = world.outside();
    let service = world.service();
    let written =
        call(&service, json!({"op": "file.write", "target": "inside.txt", "input": {"content": "new"}}));
    assert!(ok(&written), "{written}");
    assert_eq!(written["warnings"].as_array().map(Vec::len), Some(1), "{written}");
    assert_eq!(world.outside(), before);

    fs::hard_link(world.beside("outside/victim.txt"), world.root().join("again.txt"))
        .expect("one file system");
    let strict = world.service_with(json!({"refuseHardLinks": true}));
    for (op, input) in [("file.read", json!({})), ("file.copy", json!({"to": "copied.txt"}))] {
        let request = json!({"op": op, "target": "again.txt", "input": input});
        let answer = call(&strict, request.clone());
        assert_eq!(answer["error"]["details"]["rule"], "hard-links", "{answer}");
        assert_silent(&request, &answer);
    }
}

#[test]
fn a_scope_is_its_folder_and_not_what_takes_its_place() {
    if lacks(Need::Moves) || lacks(Need::Links) {
        return;
    }
    let world = LinkedFolders::new();
    let root = world.root();
    fs::write(root.join("mine.txt"), "inside").expect("a file");
    let service = world.service();
    fs::rename(&root, world.beside("elsewhere")).expect("a folder can be renamed");
    symlink("outside", &root).expect("a link");
    let read = call(&service, json!({"op": "file.read", "target": "mine.txt"}));
    assert_eq!(read["data"]["content"], "inside");
    assert_eq!(
        call(&service, json!({"op": "file.read", "target": "secret.txt"}))["error"]["code"],
        "not_found"
    );
    fs::remove_dir_all(world.beside("elsewhere")).expect("a folder can be removed");
    let gone = call(&service, json!({"op": "file.read", "target": "mine.txt"}));
    assert_eq!(gone["error"]["code"], "provider_unavailable", "{gone}");
    let write = call(&service, json!({"op": "file.write", "target": "new.txt", "input": {"content": "x"}}));
    assert_eq!(write["error"]["code"], "provider_unavailable", "{write}");
}

// Attributes of files and setuid are those of Unix.
#[cfg(unix)]
#[test]
fn a_replaced_file_keeps_its_mode_and_attributes_but_no_setuid() {
    use std::os::unix::fs::PermissionsExt;

    let world = LinkedFolders::new();
    let path = world.root().join("script.sh");
    fs::write(&path, "old").expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4750)).expect("modes can be set");
    let kept = rustix::fs::setxattr(&path, "user.note", b"kept", rustix::fs::XattrFlags::empty());
    let service = world.service();
    let answer =
        call(&service, json!({"op": "file.write", "target": "script.sh", "input": {"content": "new"}}));
    assert!(ok(&answer), "{answer}");
    assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o7777, 0o750);
    if kept.is_ok() {
        let mut value = [0; 16];
        let length = rustix::fs::getxattr(&path, "user.note", &mut value[..]).expect("the attribute stays");
        assert_eq!(&value[..length], b"kept");
    }
}

#[test]
fn any_line_of_a_long_file_can_be_reached() {
    let world = LinkedFolders::new();
    let line = "0123456789ab\n";
    fs::write(world.root().join("long.txt"), line.repeat(5_200_000)).expect("a long file");
    let service = world.service();
    let read =
        |options: Value| call(&service, json!({"op": "file.read", "target": "long.txt", "options": options}));
    let last = read(json!({"startLine": 5_000_000, "endLine": 5_000_001, "lineNumbers": true}));
    assert_eq!(last["data"]["content"], "5000000\t0123456789ab\n5000001\t0123456789ab\n", "{last}");
    assert_eq!(last["data"]["sha256"], Value::Null);
    assert_eq!(last["data"]["truncated"], false);
    let beyond = read(json!({"startLine": 5_200_001}));
    assert_eq!(beyond["error"]["details"]["totalLines"], 5_200_000, "{beyond}");
    let first = read(json!({"maxBytes": 30}));
    assert_eq!(first["data"]["content"], line.repeat(2));
    let next = read(json!({"maxBytes": 30, "cursor": first["data"]["nextCursor"]}));
    assert_eq!((&next["data"]["startLine"], &next["data"]["endLine"]), (&json!(3), &json!(4)), "{next}");
}

#[test]
fn what_bailiwick_writes_for_a_moment_is_neither_shown_nor_a_target() {
    let world = LinkedFolders::new();
    let name = ".bailiwick-01J00000000000000000000000.tmp";
    fs::write(world.root().join(name), "left by a crash").expect("a file");
    let service = world.service();
    let listed = call(&service, json!({"op": "file.list"}));
    assert_eq!(listed["data"]["total"], 0, "{listed}");
    let written = call(&service, json!({"op": "file.write", "target": name, "input": {"content": "x"}}));
    assert_eq!(written["error"]["code"], "invalid_request", "{written}");
}

#[test]
fn what_a_crash_left_behind_is_removed_once_it_is_old() {
    let world = LinkedFolders::new();
    let left = world.root().join(".bailiwick-01J00000000000000000000000.tmp");
    // Made and not locked yet: as long as this takes it is not old.
    fs::write(&left, "left by a crash").expect("a file");
    let service = world.service();
    // A folder is swept once in a while only; where tests share a process, that of another may have had its number.
    eventually("it is removed", || {
        let write = json!({"op": "file.write", "target": "a.txt", "input": {"content": "x"}});
        assert!(ok(&call(&service, write)));
        !left.exists()
    });
    let names = fs::read_dir(world.root()).expect("it opens");
    let names: Vec<_> = names.map(|entry| entry.expect("it can be read").file_name()).collect();
    assert_eq!(names, ["a.txt"]);
}

#[test]
fn a_write_that_is_killed_leaves_the_old_or_the_new_content() {
    kill_writes(8);
}

/// Writes one content over another, kills so many of the writes, and checks that one of both is there each time.
fn kill_writes(count: u32) {
    const BYTES: usize = 1_500_000;
    let world = LinkedFolders::new();
    world.save_config();
    let contents = [b'a', b'b'].map(|letter| vec![letter; BYTES]);
    for (name, content) in ["a", "b"].iter().zip(&contents) {
        fs::write(world.beside(name), content).expect("the temporary folder can be written");
    }
    let target = world.root().join("big.txt");
    fs::write(&target, &contents[0]).expect("the scope can be written");
    let write = |name: &str| {
        world
            .command(&["call", "file.write", "big.txt", "--content-file"])
            .arg(world.beside(name))
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("the program starts")
    };
    let began = Instant::now();
    assert!(write("b").wait().expect("it ends").success());
    let mut whole_run = began.elapsed();
    let (mut killed, mut names) = (0, ["b", "a"].into_iter().cycle());
    while killed < count {
        let mut child = write(names.next().expect("there is no end of them"));
        // From its start to about its end.
        std::thread::sleep(whole_run * killed / count);
        child.kill().expect("it can be killed");
        if child.wait().expect("it ends").success() {
            whole_run = whole_run * 9 / 10;
        } else {
            killed += 1;
        }
        let content = fs::read(&target).expect("the file is always there");
        assert!(contents.contains(&content), "{} bytes, no whole content", content.len());
    }
    assert!(write("a").wait().expect("it ends").success());
    assert!(fs::read(&target).expect("the file is there") == contents[0]);
}
