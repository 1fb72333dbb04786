//! Walks and searches over hostile trees, and that every run gives the same answer as a plain one.

mod stress;

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use bailiwick::contract::path::encode_name;
use bailiwick::platform::fs::modes::{set_mode, symlink};
use bailiwick::platform::names::OsStrExt;
use serde_json::{Value, json};

use crate::system::{Need, lacks};
use support::scope::TestScope;
use support::service::{TestService, wait_for};

/// Sends an envelope that must succeed, and returns its `data` without what differs from run to run.
fn call(host: &TestService, envelope: Value) -> Value {
    let mut data = wait_for(host.data(envelope));
    data.as_object_mut().expect("data is an object").remove("elapsedMs");
    data
}

fn start(policy: Value) -> TestService {
    TestScope::new().with_capabilities(&["fs:read"]).with_policy(policy).host()
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().map(|text| text.as_str().expect("a text")).collect()
}

/// Several hundred files in many folders, with rules, closed, hidden and binary ones among them.
fn make_tree(host: &TestService) {
    host.write(".gitignore", "*.log\n/build/\n");
    host.write("part1/.ignore", "!kept.log\nsecond*\n");
    for number in 0..600_usize {
        let folder = format!("part{}/unit{}", number % 4, number % 23);
        let name = match number % 10 {
            0 => format!("{number}.log"),
            1 => format!("second{number}.txt"),
            2 => format!(".hidden{number}"),
            3 => format!("{number}.pem"),
            _ => format!("{number}.txt"),
        };
        let mut text = String::new();
        for line in 0..number % 40 {
            let word = if (line * number) % 7 == 3 { "needle" } else { "straw" };
            text.push_str(&format!("{line} {word} in file {number}\n"));
        }
        if number % 50 == 7 {
            text.push('\0');
        }
        host.write(format!("{folder}/{name}"), text);
    }
    host.write("part1/unit1/kept.log", "a needle\n");
    host.write("build/out.txt", "a needle\n");
    // Names around the separator: `a-b` comes before `a/b` by bytes, after it by names.
    for path in ["a-b", "a/b", "a.b", "a0"] {
        host.write(path, "a needle\n");
    }
}

/// Does the same with the simplest means: one thread, paths, lines.
fn reference(host: &TestService, folder: &Path, hits: &mut Vec<(String, u64)>) {
    for entry in fs::read_dir(folder).expect("it can be read") {
        let path = entry.expect("an entry").path();
        let below = path
            .strip_prefix(host.root())
            .expect("beneath the root")
            .to_str()
            .expect("UTF-8")
            .replace(std::path::MAIN_SEPARATOR, "/");
        let name = path.file_name().expect("a name").to_str().expect("UTF-8");
        let second = name.starts_with("second") && below.starts_with("part1/");
        let log = name.ends_with(".log") && !(name == "kept.log" && below.starts_with("part1/"));
        if name.starts_with('.') || second || log || name.ends_with(".pem") || below == "build" {
            continue;
        }
        if path.is_dir() {
            reference(host, &path, hits);
            continue;
        }
        let text = fs::read_to_string(&path).expect("it can be read");
        if !text.contains('\0') {
            let lines = (1..).zip(text.lines()).filter(|(_, line)| line.contains("needle"));
            hits.extend(lines.map(|(number, _)| (below.clone(), number)));
        }
    }
}

fn hits(data: &Value) -> Vec<(String, u64)> {
    let matches = data["matches"].as_array().expect("matches");
    let hit = |hit: &Value| {
        (hit["path"].as_str().expect("a path").to_owned(), hit["line"].as_u64().expect("a number"))
    };
    matches.iter().map(hit).collect()
}

#[test]
fn every_run_finds_what_a_plain_search_finds_also_when_it_is_cut() {
    let host = start(json!({}));
    make_tree(&host);
    let mut expected = Vec::new();
    reference(&host, &host.root(), &mut expected);
    expected.sort();
    assert!(expected.len() > 500, "the tree has enough to find");

    let call = |max_results: usize, cursor: &str| {
        call(
            &host,
            json!({
                "op": "file.search", "input": {"query": "needle"},
                "options": {"maxResults": max_results, "maxOutputBytes": 1_000_000, "cursor": cursor},
            }),
        )
    };
    let whole = call(10_000, "");
    assert_eq!(hits(&whole), expected);
    assert_eq!(whole["totalMatches"], expected.len());
    for limit in [1, 2, 7, 100, 333] {
        let first = call(limit, "");
        assert_eq!(hits(&first), expected[..limit], "the first {limit}");
        assert_eq!(first["truncated"], true);
        for _ in 0..20 {
            assert_eq!(call(limit, ""), first, "counts are the same too");
        }
    }
    let mut pages = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = call(97, &cursor);
        pages.extend(hits(&page));
        match page["nextCursor"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(pages, expected, "pages put together are the whole");
}

#[test]
fn answers_stay_within_their_bytes_and_pages_lose_nothing() {
    let host = start(json!({}));
    for number in 0..60 {
        host.write(
            format!("{number}.txt"),
            format!("{} needle {}\n", "a".repeat(500), "b".repeat(5_000)).repeat(5),
        );
    }
    let mut cursor = String::new();
    let mut found = 0;
    loop {
        let page = call(
            &host,
            json!({
                "op": "file.search", "input": {"query": "needle"},
                "options": {"maxResults": 10_000, "maxOutputBytes": 10_000, "cursor": cursor},
            }),
        );
        assert!(page.to_string().len() <= 10_000, "{}", page.to_string().len());
        found += hits(&page).len();
        match page["nextCursor"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(found, 300);
}

// Named pipes and sockets are files only there.
#[cfg(unix)]
#[test]
fn walks_follow_no_link_and_wait_for_no_pipe() {
    use std::os::unix::net::UnixListener;

    let host = start(json!({}));
    let root = host.root();
    fs::create_dir(host.beside("outside")).expect("made");
    fs::write(host.beside("outside/secret.txt"), "needle").expect("written");
    host.write("a/open.txt", "needle");
    symlink(host.beside("outside"), root.join("absolute")).expect("linked");
    symlink("../outside", root.join("climbing")).expect("linked");
    symlink("../outside/secret.txt", root.join("secret.txt")).expect("linked");
    symlink("..", root.join("a/up")).expect("linked");
    symlink("b", root.join("c")).expect("linked");
    symlink("c", root.join("b")).expect("linked");
    crate::system::make_pipe(&root.join("pipe.txt")).expect("a pipe can be made");
    let _listener = UnixListener::bind(root.join("socket.txt")).expect("a socket can be made");

    let data = call(&host, json!({"op": "file.search", "input": {"query": "needle"}}));
    assert_eq!(hits(&data), [("a/open.txt".to_owned(), 1)]);
    assert_eq!(data["skipped"], json!({"links": 6, "special": 2}));
    let data = call(&host, json!({"op": "file.find", "input": {"pattern": "*"}, "options": {"kind": "any"}}));
    assert_eq!(texts(&data["paths"]), ["a/", "a/open.txt"]);
}

#[test]
fn odd_names_are_found_and_shown_without_loss() {
    if lacks(Need::Names) {
        return;
    }
    let host = start(json!({}));
    let names: [&[u8]; 4] =
        [b"new\nline.txt", b"\xff\xfe.txt", br"a\xff.txt", "größe\u{200d}.txt".as_bytes()];
    for name in names {
        host.write(Path::new(OsStr::from_bytes(name)), "needle");
    }
    let data = call(&host, json!({"op": "file.find", "input": {"pattern": "*.txt"}}));
    let mut expected: Vec<&[u8]> = names.to_vec();
    expected.sort();
    let expected: Vec<String> = expected.into_iter().map(encode_name).collect();
    assert_eq!(texts(&data["paths"]), expected);
    for name in &expected {
        let data = call(&host, json!({"op": "file.search", "target": name, "input": {"query": "needle"}}));
        assert_eq!(hits(&data), [(name.clone(), 1)], "its shown name opens it");
    }
    let tree = call(&host, json!({"op": "file.tree"}));
    assert_eq!(tree["tree"].as_str().expect("a text").lines().count(), names.len());
}

#[test]
fn a_folder_that_cannot_be_read_is_counted_and_the_rest_found() {
    if lacks(Need::Modes) {
        return;
    }
    let host = start(json!({}));
    host.write("shut/a.txt", "needle");
    host.write("open/a.txt", "needle");
    let shut = host.root().join("shut");
    set_mode(&shut, 0o000).expect("set");
    let is_root = fs::read_dir(&shut).is_ok();
    let data = call(&host, json!({"op": "file.search", "input": {"query": "needle"}}));
    set_mode(&shut, 0o755).expect("set");
    if is_root {
        // Root reads everything; rights cannot be shown here.
        assert_eq!(hits(&data).len(), 2);
        return;
    }
    assert_eq!(hits(&data), [("open/a.txt".to_owned(), 1)]);
    assert_eq!(data["skipped"], json!({"unreadable": 1}));
    assert_eq!(data["skippedExamples"], json!({"unreadable": ["shut"]}));
}

// Made by handles, since its paths are longer than the system takes.
#[cfg(unix)]
#[test]
fn a_tree_of_two_thousand_levels_is_walked_with_few_handles_and_no_deep_stack() {
    use std::os::fd::OwnedFd;

    use rustix::fs::{Mode, OFlags, openat};

    const LEVELS: usize = 2_000;
    let host = start(json!({}));
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder: OwnedFd = fs::File::open(host.root()).expect("it opens").into();
    for _ in 0..LEVELS {
        // A sibling after the folder keeps every level's work waiting.
        let file =
            openat(&folder, "z", OFlags::CREATE | OFlags::WRONLY, Mode::from_raw_mode(0o644)).expect("made");
        rustix::io::write(&file, b"needle\n").expect("written");
        rustix::fs::mkdirat(&folder, "d", Mode::from_raw_mode(0o755)).expect("made");
        folder = openat(&folder, "d", flags, Mode::empty()).expect("it opens");
    }
    let data = call(
        &host,
        json!({
            "op": "file.search", "input": {"query": "needle"}, "options": {"countOnly": true, "timeoutSeconds": 120},
        }),
    );
    assert_eq!(data["totalFiles"], LEVELS);
    assert_eq!(data["filesSearched"], LEVELS);
    let tree = call(&host, json!({"op": "file.tree", "options": {"depth": 64}}));
    assert_eq!(tree["files"], 64);
    remove_deep(&host.root());
}

/// Takes the chain of `d` apart from above, since removing it at once would recurse.
#[cfg(unix)]
fn remove_deep(root: &Path) {
    let pile = root.join("pile");
    fs::create_dir(&pile).expect("made");
    let mut number = 0;
    while root.join("d").exists() {
        let (taken, next) = (pile.join(number.to_string()), root.join("next"));
        fs::rename(root.join("d"), &taken).expect("moved");
        if taken.join("d").exists() {
            fs::rename(taken.join("d"), &next).expect("moved");
            fs::rename(&next, root.join("d")).expect("moved");
        }
        number += 1;
    }
}

#[test]
fn closed_files_are_neither_found_nor_searched_whatever_is_asked() {
    let host = start(json!({"closedFiles": ["private/**"]}));
    host.write(".env", "needle");
    host.write("private/a.txt", "needle");
    host.write("deep/.ssh/config", "needle");
    host.write("SECRETS.yaml", "needle");
    host.write(".bailiwick-01J00000000000000000000000.tmp", "needle");
    host.write(".git/config", "needle");
    let options = json!({"includeHidden": true, "includeIgnored": true});
    let found = call(&host, json!({"op": "file.search", "input": {"query": "needle"}, "options": options}));
    assert_eq!(hits(&found), []);
    assert_eq!(found["skipped"], json!({"closed": 4}));
    assert_eq!(found.get("skippedExamples"), None, "their names stay closed");
    for pattern in ["*", "*.env", "private/*", "**/.ssh/**"] {
        let found =
            call(&host, json!({"op": "file.find", "input": {"pattern": pattern}, "options": options}));
        assert_eq!(texts(&found["paths"]), [] as [&str; 0], "{pattern}");
        assert_eq!(found["skipped"], json!({"closed": 4}), "the count tells nothing about the pattern");
    }
}

// Only Linux exchanges two names at once.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_swapped_for_a_link_during_a_walk_leads_nowhere() {
    let host = start(json!({}));
    let root = host.root();
    let outside = host.beside("outside");
    fs::create_dir_all(outside.join("in")).expect("made");
    fs::write(outside.join("in/a.txt"), "needle outside").expect("written");
    fs::write(outside.join("a.txt"), "needle outside").expect("written");
    for number in 0..20 {
        host.write(format!("d{number}/in/a.txt"), "needle inside");
        host.write(format!("d{number}/a.txt"), "needle inside");
    }
    symlink(&outside, root.join("link")).expect("linked");
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let here = rustix::fs::CWD;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                for number in 0..20 {
                    let (folder, link) = (root.join(format!("d{number}")), root.join("link"));
                    let exchange = rustix::fs::RenameFlags::EXCHANGE;
                    rustix::fs::renameat_with(here, &folder, here, &link, exchange).expect("exchanged");
                    rustix::fs::renameat_with(here, &folder, here, &link, exchange).expect("exchanged");
                }
            }
        });
        for _ in 0..200 {
            let data = call(&host, json!({"op": "file.search", "input": {"query": "needle"}}));
            for found in data["matches"].as_array().expect("matches") {
                assert_eq!(found["preview"], "needle inside", "{found}");
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn an_expression_that_goes_back_over_text_elsewhere_ends_in_linear_time() {
    let host = start(json!({}));
    // An engine that goes back needs longer than there is for a hundredth of it.
    host.write("a.txt", format!("{}\n", "a".repeat(200_000)));
    for pattern in ["(a*)*b", "(a|aa)+$b", "(a|a?)+c", "^(([a-z])+.)+[A-Z]([a-z])+$", "(.*){1,30}x"] {
        let data = call(&host, json!({"op": "file.search", "input": {"query": pattern}}));
        assert_eq!(data["matches"], json!([]), "{pattern}: {data}");
    }
}

#[test]
fn a_file_of_rules_without_end_costs_only_its_beginning() {
    only_the_beginning_of_rules_is_read(60_000);
}

/// Looks for files in a folder with so many rules of what is ignored: those at the end are not read.
fn only_the_beginning_of_rules_is_read(count: u32) {
    let host = start(json!({}));
    let mut rules = "first.txt\n".to_owned();
    for number in 0..count {
        rules.push_str(&format!("*{number}*.x\n"));
    }
    rules.push_str("last.txt\n");
    host.write(".gitignore", rules);
    host.write("first.txt", "");
    host.write("last.txt", "");
    let data = call(&host, json!({"op": "file.find", "input": {"pattern": "*"}}));
    assert_eq!(texts(&data["paths"]), ["last.txt"]);
}
