//! The index of definitions: that it answers, after any change, as one that was just made, and what it never holds.

use std::fs;
use std::ops::Deref;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bailiwick::contract::{Caller, Transport};
use bailiwick::platform::fs::modes::{set_mode, symlink};
use bailiwick::service::Service;
use serde_json::{Value, json};

use tokio_util::sync::CancellationToken;

use crate::installation::Installation;
use crate::patience::PATIENCE;
use crate::system::{Need, assert_private, lacks};
use support::scope::TestScope;
use support::service::{call, data, send, wait_for};

/// A folder of sources, and services that serve it.
struct Sources {
    scope: TestScope,
}

impl Deref for Sources {
    type Target = TestScope;

    fn deref(&self) -> &TestScope {
        &self.scope
    }
}

impl Sources {
    fn new() -> Self {
        Self { scope: TestScope::new().with_capabilities(&["fs:read"]) }
    }

    /// Starts a service of an installation.
    fn service(&self, home: &str, policy: Value) -> Arc<Service> {
        self.scope.clone().with_home(self.beside(home)).with_policy(policy).boot()
    }

    fn ask(&self, service: &Arc<Service>, query: &str, options: Value) -> Value {
        let answer = call(
            service,
            json!({"op": "code.search_symbols", "input": {"query": query}, "options": options}),
        );
        data(&answer).clone()
    }

    /// Returns `path:line name signature` of all that fits, sorted.
    fn hits(&self, service: &Arc<Service>, query: &str) -> Vec<String> {
        let data = self.ask(service, query, json!({"maxResults": 1000}));
        assert_eq!(data["complete"], true, "{data:#}");
        let symbols = data["symbols"].as_array().expect("a list");
        assert_eq!(data["total"], symbols.len(), "what the index holds is so: {data:#}");
        let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        let mut hits: Vec<String> = symbols
            .iter()
            .map(|it| {
                format!(
                    "{}:{} {} {}",
                    text(&it["path"]),
                    it["line"],
                    text(&it["name"]),
                    text(&it["signature"])
                )
            })
            .collect();
        hits.sort_unstable();
        hits
    }

    /// Returns everything that is written in the state folder's indexes.
    fn written(&self, home: &str) -> Vec<u8> {
        let folder = self.beside(home).join("state/code");
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        files.flat_map(|file| fs::read(file.path()).expect("it can be read")).collect()
    }

    /// Waits until an index is written that has this name, the first of those that begin alike.
    fn wait_until_written(&self, home: &str, name: &str) {
        assert!(
            self.is_written_at_last(home, |written| contains(written, name)),
            "no index with {name} was written"
        );
    }

    /// Returns whether what is written comes to be as it should.
    fn is_written_at_last(&self, home: &str, is_so: impl Fn(&[u8]) -> bool) -> bool {
        // Where what is open cannot be replaced, who looks all the time keeps it from being written.
        let pause = Duration::from_millis(if Need::Replacing.is_there() { 10 } else { 500 });
        let began = Instant::now();
        while began.elapsed() < *PATIENCE {
            std::thread::sleep(pause);
            if is_so(&self.written(home)) {
                return true;
            }
        }
        false
    }
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Numbers that look random, the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % sides
    }
}

#[test]
fn an_index_kept_through_changes_answers_as_one_just_made() {
    let world = Sources::new();
    let kept = world.service("home", json!({}));
    let mut dice = Dice(7);
    let (folders, names) = (["", "a/", "a/b/", "c/", "c/d/e/"], ["x.rs", "y.py", "z.rs"]);
    world.write("a/x.rs", "fn item_first() {}\n");
    for step in 0..60 {
        let folder = folders[dice.roll(folders.len())];
        let path = format!("{folder}{}", names[dice.roll(names.len())]);
        let other = format!("{}{}", folders[dice.roll(folders.len())], names[dice.roll(names.len())]);
        let moved_folder = folder.trim_end_matches('/');
        match dice.roll(11) {
            0..=3 => {
                let name = format!("item_{}", step % 9);
                let line = if path.ends_with("py") {
                    format!("def {name}(): pass")
                } else {
                    format!("fn {name}() {{}}")
                };
                world.write(&path, format!("{}{line}\n", "\n".repeat(dice.roll(4))));
            }
            4 => drop(fs::remove_file(world.path(&path))),
            5 => {
                fs::create_dir_all(world.path(&other).parent().expect("a parent")).expect("made");
                drop(fs::rename(world.path(&path), world.path(&other)));
            }
            6 if !moved_folder.is_empty() => drop(fs::remove_dir_all(world.path(moved_folder))),
            7 if !moved_folder.is_empty() => {
                drop(fs::rename(world.path(moved_folder), world.path(format!("moved{}", step % 3))));
            }
            8 => world.write(format!("{folder}.gitignore"), ["x.rs\n", "", "b/\n"][dice.roll(3)]),
            9 => {
                // A folder with something in it comes as a whole.
                let outside = world.beside("new");
                fs::create_dir_all(outside.join("deep")).expect("made");
                fs::write(outside.join("deep/n.rs"), format!("fn item_new{step}() {{}}\n")).expect("written");
                fs::rename(&outside, world.path(format!("new{step}"))).expect("moved");
            }
            _ => {
                fs::create_dir_all(world.path("c/.git/info")).expect("made");
                fs::write(world.path("c/.git/info/exclude"), ["z.rs\n", "d/\n", ""][dice.roll(3)])
                    .expect("written");
            }
        }
        let new = world.service(&format!("home{step}"), json!({}));
        assert_eq!(world.hits(&kept, "item"), world.hits(&new, "item"), "after step {step}");
    }
}

#[test]
fn a_second_question_reads_no_file_and_is_told_so() {
    let world = Sources::new();
    for number in 0..50 {
        world.write(format!("d{}/f{number}.rs", number % 7), format!("fn thing{number}() {{}}\n"));
    }
    let service = world.service("home", json!({}));
    let first = world.ask(&service, "thing7", json!({}));
    assert_eq!(first["index"]["checked"], "compared");
    assert_eq!((&first["complete"], &first["total"]), (&json!(true), &json!(1)));
    // The rest is read on after the answer.
    while world.ask(&service, "thing", json!({}))["index"]["files"] != 50 {}
    let second = world.ask(&service, "thing", json!({}));
    assert_eq!((&second["index"]["checked"], &second["total"]), (&json!("watched"), &json!(50)));
    // Access times are not told; the index is.
    world.wait_until_written("home", "thing0");
    drop(service);
    let after = world.service("home", json!({}));
    assert_eq!(world.hits(&after, "thing").len(), 50);
}

#[test]
fn a_hit_is_true_although_the_file_was_changed_by_a_name_elsewhere() {
    let world = Sources::new();
    world.write("a.rs", "fn before_it() {}\n");
    let outside = world.beside("outside.rs");
    fs::hard_link(world.path("a.rs"), &outside).expect("a second name");
    let service = world.service("home", json!({}));
    assert_eq!(world.hits(&service, "before_it").len(), 1);
    fs::write(&outside, "\n\nfn after_it() {}\n").expect("written");
    assert_eq!(world.hits(&service, "after_it"), ["a.rs:3 after_it fn after_it()"]);
    assert_eq!(world.hits(&service, "before_it"), [""; 0]);
}

#[test]
fn a_name_that_becomes_a_link_shows_nothing() {
    if lacks(Need::Links) {
        return;
    }
    let world = Sources::new();
    world.write("a.rs", "fn wanted() {}\n");
    let service = world.service("home", json!({}));
    assert_eq!(world.hits(&service, "wanted").len(), 1);
    let outside = world.beside("outside.rs");
    fs::rename(world.path("a.rs"), &outside).expect("moved");
    symlink(&outside, world.path("a.rs")).expect("a link");
    assert_eq!(world.hits(&service, "wanted"), [""; 0]);
}

#[test]
fn what_is_closed_ignored_or_sensitive_is_never_written_into_an_index() {
    let world = Sources::new();
    world.write("open.rs", "fn seen_open() {}\n");
    world.write("closed/a.rs", "fn unseen_closed() {}\n");
    world.write("out/a.rs", "fn unseen_ignored() {}\n");
    world.write(".gitignore", "out/\n");
    world.write("secrets.py", "def unseen_sensitive(): pass\n");
    world.write(".dot/a.rs", "fn unseen_hidden() {}\n");
    let outside = world.beside("outside.rs");
    fs::write(&outside, "fn unseen_outside() {}\n").expect("written");
    if Need::Links.is_there() {
        symlink(&outside, world.path("link.rs")).expect("a link");
    }
    let service = world.service("home", json!({"closedFiles": ["closed/**"]}));
    assert_eq!(world.hits(&service, "seen").len(), 1);
    world.wait_until_written("home", "open.rs");
    let written = world.written("home");
    assert!(!contains(&written, "unseen"), "only what may be seen is held");
    let folder = world.beside("home/state/code");
    assert_private(&folder, 0o700);
    for file in fs::read_dir(&folder).expect("a folder").flatten() {
        assert_private(&file.path(), 0o600);
    }
}

#[test]
fn rules_that_change_take_what_they_close_out_of_the_index() {
    let world = Sources::new();
    world.write("a.rs", "fn item_open() {}\n");
    world.write("b/c.rs", "fn item_closed_later() {}\n");
    let first = world.service("home", json!({}));
    assert_eq!(world.hits(&first, "item").len(), 2);
    world.wait_until_written("home", "closed_later");
    drop(first);
    let second = world.service("home", json!({"closedFiles": ["b/**"]}));
    assert_eq!(world.hits(&second, "item"), ["a.rs:1 item_open fn item_open()"]);
    assert!(world.is_written_at_last("home", |written| !contains(written, "closed_later")));
    drop(second);
    let third = world.service("home", json!({"refuseHardLinks": true}));
    assert_eq!(world.hits(&third, "item").len(), 2);
}

#[test]
fn an_index_that_is_broken_or_of_another_folder_is_made_anew() {
    let world = Sources::new();
    for number in 0..20 {
        world.write(format!("f{number}.rs"), format!("fn item{number}() {{}}\n"));
    }
    let first = world.service("home", json!({}));
    let expected = world.hits(&first, "item");
    assert_eq!(expected.len(), 20);
    world.wait_until_written("home", "item0");
    drop(first);
    let folder = world.beside("home/state/code");
    let file = fs::read_dir(&folder).expect("a folder").flatten().next().expect("an index").path();
    let content = fs::read(&file).expect("it can be read");
    let mut changed = content.clone();
    changed[content.len() / 2] ^= 1;
    for bad in [&content[..content.len() / 2], &changed, b"", &b"\xff".repeat(500)] {
        fs::write(&file, bad).expect("written");
        let service = world.service("home", json!({}));
        assert_eq!(world.hits(&service, "item"), expected);
    }
    // A file that others could have written is not read. Without bits others cannot be let in so: then it is.
    fs::write(&file, &content).expect("written");
    set_mode(&file, 0o666).expect("own file");
    let service = world.service("home", json!({}));
    assert_eq!(world.hits(&service, "item"), expected);
}

#[test]
fn two_services_keep_one_index_and_both_answer_true() {
    let world = Sources::new();
    world.write("a.rs", "fn item_a() {}\n");
    let (one, other) = (world.service("home", json!({})), world.service("home", json!({})));
    for step in 0..10 {
        world.write(format!("s{step}.rs"), format!("fn item_{step}() {{}}\n"));
        let (first, second) = if step % 2 == 0 { (&one, &other) } else { (&other, &one) };
        let hits = world.hits(first, "item");
        assert_eq!(hits.len(), step + 2);
        assert_eq!(world.hits(second, "item"), hits);
    }
    drop((one, other));
    let after = world.service("home", json!({}));
    assert_eq!(world.hits(&after, "item").len(), 11);
}

#[test]
fn a_service_that_is_killed_while_it_reads_or_writes_leaves_nothing_that_is_believed() {
    let place = Installation::set_up();
    let project = place.project();
    for number in 0..300 {
        let text = format!("fn item{number}() {{}}\n").repeat(20);
        fs::write(project.join(format!("f{number}.rs")), text).expect("written");
    }
    let words = ["call", "code.search_symbols", "--query", "item", "--json"];
    for round in 0..8_u64 {
        fs::write(project.join("f0.rs"), format!("fn round{round}() {{}}\n")).expect("written");
        let mut child =
            place.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(15 * round));
        child.kill().expect("it is killed, or has ended");
        child.wait().expect("it has ended");
    }
    let ran = place.run(&words);
    assert_eq!(ran.exit, 0, "{}", ran.err);
    assert_eq!(ran.json()["data"]["total"], 299 * 20);
    let last = place.run(&["call", "code.search_symbols", "--query", "round", "--json"]).json();
    assert_eq!(last["data"]["symbols"][0]["name"], "round7");
    assert_eq!(last["data"]["total"], 1);
}

#[test]
fn a_question_that_is_given_up_ends_at_once_and_the_next_one_is_answered() {
    let world = Sources::new();
    for number in 0..400 {
        let text: String = (0..40).map(|n| format!("pub fn item_{number}_{n}() {{}}\n")).collect();
        world.write(format!("d{}/f{number}.rs", number % 20), &text);
    }
    let service = world.service("home", json!({}));
    let caller = Caller::local(Transport::Cli);
    let envelope =
        json!({"op": "code.search_symbols", "input": {"query": "item"}, "options": {"match": "fuzzy"}});
    let gone = CancellationToken::new();
    gone.cancel();
    let outcome = wait_for(send(&service, &caller, envelope, &gone));
    assert_eq!(outcome["error"]["code"], "cancelled", "{outcome:#}");
    let data = world.ask(&service, "item", json!({}));
    assert_eq!((&data["complete"], &data["total"]), (&json!(true), &json!(16_000)));
}
