//! Roots that are in the roots of other scopes, whose commands put links in their place.

#![cfg(unix)]

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use bailiwick::config::Config;
use bailiwick::platform::fs::modes::symlink;
use bailiwick::service::Service;
use serde_json::{Value, json};

use super::{SECRET, assert_silent, call};
use support::scope::TestScope;

/// A scope `outer`, a scope `inner` whose root `proj` is in its root, and a folder outside both.
struct NestedScopes {
    scope: TestScope,
}

impl NestedScopes {
    fn new() -> Self {
        let scope = TestScope::new().with_scopes(&[]);
        for path in ["x/proj", "outside"] {
            fs::create_dir_all(scope.beside(path)).expect("the temporary folder can be written");
        }
        fs::write(scope.beside("x/proj/mine.txt"), "inside").expect("a file");
        fs::write(scope.beside("outside/secret.txt"), SECRET.repeat(9)).expect("a file");
        Self { scope }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.scope.beside(path)
    }

    fn with(&self, roots: &[(&str, &str)]) -> TestScope {
        let scope = |(id, root): &(&str, &str)| json!({"id": id, "roots": [root], "capabilities": ["fs:read", "search:read", "fs:write"]});
        self.scope.clone().with_scopes(&roots.iter().map(scope).collect::<Vec<_>>())
    }

    fn config(&self, roots: &[(&str, &str)]) -> Config {
        self.with(roots).config.clone()
    }

    fn service(&self, roots: &[(&str, &str)]) -> Arc<Service> {
        self.with(roots).boot()
    }

    /// Does what a command in `outer` can do.
    fn replace_by_link(&self, path: &str, leads_to: &str) {
        fs::rename(self.path(path), self.path(&format!("{path}-moved"))).expect("a folder can be renamed");
        symlink(self.path(leads_to).to_str().expect("text"), self.path(path)).expect("a link");
    }
}

fn read(service: &Arc<Service>, scope: &str, target: &str) -> Value {
    let request = json!({"scope": scope, "op": "file.read", "target": target});
    let answer = call(service, request.clone());
    assert_silent(&request, &answer);
    answer
}

fn assert_replaced_by_a_link(answer: &Value, link: &str) {
    assert_eq!(answer["error"]["code"], "permission_denied", "{answer}");
    assert_eq!(answer["error"]["details"]["rule"], "root-link", "{answer}");
    let message = answer["error"]["message"].as_str().expect("text");
    assert!(message.contains(&format!("{link}` was replaced by a link")), "{answer}");
}

const NESTED: &[(&str, &str)] = &[("outer", "x"), ("inner", "x/proj")];

#[test]
fn a_root_that_became_a_link_is_refused_after_a_reload_and_a_restart() {
    let world = NestedScopes::new();
    let service = world.service(NESTED);
    assert_eq!(read(&service, "inner", "mine.txt")["data"]["content"], "inside");
    world.replace_by_link("x/proj", "outside");
    // The folder that was opened stays the scope until something is opened again.
    assert_eq!(read(&service, "inner", "mine.txt")["data"]["content"], "inside");

    service.reload(world.config(NESTED)).expect("it is taken up");
    assert_replaced_by_a_link(&read(&service, "inner", "secret.txt"), "x/proj");
    let write = json!({"scope": "inner", "op": "file.write", "target": "new.txt", "input": {"content": "x"}});
    assert_replaced_by_a_link(&call(&service, write), "x/proj");
    assert_replaced_by_a_link(&read(&world.service(NESTED), "inner", "secret.txt"), "x/proj");
    assert_eq!(fs::read_dir(world.path("outside")).expect("it is there").count(), 1);

    // The other scope is not concerned, and the folder is served again once it is back.
    assert_eq!(read(&service, "outer", "proj-moved/mine.txt")["data"]["content"], "inside");
    fs::remove_file(world.path("x/proj")).expect("a link can be removed");
    fs::rename(world.path("x/proj-moved"), world.path("x/proj")).expect("a folder can be renamed");
    service.reload(world.config(NESTED)).expect("it is taken up");
    assert_eq!(read(&service, "inner", "mine.txt")["data"]["content"], "inside");
}

// Of Linux.
#[cfg(target_os = "linux")]
#[test]
fn files_of_the_system_are_no_root_and_are_not_served() {
    let world = NestedScopes::new();
    for root in ["/proc", "/proc/self", "/sys", "/sys/kernel"] {
        let service = world.service(&[("outer", "x"), ("system", root)]);
        for (op, target) in [("file.list", "."), ("file.read", "cmdline"), ("file.read", "self/environ")] {
            let answer = call(&service, json!({"scope": "system", "op": op, "target": target}));
            assert_eq!(answer["ok"], false, "{root} {op} {target}: {answer}");
            let message = answer["error"]["message"].as_str().expect("text");
            assert!(message.contains("system file system"), "{root} {op} {target}: {answer}");
        }
        assert_eq!(read(&service, "outer", "proj/mine.txt")["data"]["content"], "inside");
    }
}

#[test]
fn no_link_inside_a_root_is_followed_to_another_root_whatever_it_leads_to() {
    // A folder on the way, a link to a link, one to the folder around, and one to the very folder.
    for (leads_to, way) in [
        ("outside", "x/sub"),
        ("hop", "x/sub"),
        ("", "x/sub"),
        ("x/sub-moved", "x/sub"),
        ("outside", "x/sub/proj"),
    ] {
        let world = NestedScopes::new();
        fs::create_dir_all(world.path("x/sub/proj")).expect("a folder");
        fs::create_dir(world.path("outside/proj")).expect("a folder");
        fs::write(world.path("outside/proj/secret.txt"), SECRET).expect("a file");
        symlink("outside", world.path("hop")).expect("a link");
        let roots = [("outer", "x"), ("inner", "x/sub/proj")];
        world.replace_by_link(way, leads_to);
        let answer = read(&world.service(&roots), "inner", "secret.txt");
        assert_ne!(answer["ok"], true, "{leads_to} {way}: {answer}");
        if world.path("x/sub/proj").exists() {
            assert_replaced_by_a_link(&answer, way);
        }
    }
}

#[test]
fn a_link_above_every_root_is_the_users_own_and_is_followed() {
    let world = NestedScopes::new();
    symlink("x", world.path("short")).expect("a link");
    symlink(world.path("short").to_str().expect("text"), world.path("absolute")).expect("a link");
    for outer in ["x", "short", "absolute"] {
        for inner in ["x/proj", "short/proj", "absolute/proj"] {
            let service = world.service(&[("outer", outer), ("inner", inner)]);
            let answer = read(&service, "inner", "mine.txt");
            assert_eq!(answer["data"]["content"], "inside", "{outer} {inner}: {answer}");
            assert_eq!(read(&service, "outer", "proj/mine.txt")["data"]["content"], "inside");
        }
    }
    // Also where a root within a root is a link: however the two are written, it is not followed.
    world.replace_by_link("x/proj", "outside");
    for outer in ["x", "short", "absolute"] {
        for inner in ["x/proj", "short/proj", "absolute/proj"] {
            let service = world.service(&[("outer", outer), ("inner", inner)]);
            let answer = read(&service, "inner", "secret.txt");
            assert_eq!(answer["error"]["details"]["rule"], "root-link", "{outer} {inner}: {answer}");
        }
    }
    // A root in a place that no command can change may be a link itself.
    symlink("outside", world.path("mine")).expect("a link");
    let service = world.service(&[("outer", "x"), ("mine", "mine")]);
    let listed = call(&service, json!({"scope": "mine", "op": "file.list"}));
    assert_eq!(listed["data"]["total"], 1, "{listed}");
}

#[test]
fn a_link_to_the_top_shuts_no_other_scope() {
    let world = NestedScopes::new();
    symlink("x", world.path("short")).expect("a link");
    world.replace_by_link("x/proj", "");
    let service = world.service(&[("outer", "short"), ("inner", "short/proj")]);
    assert_eq!(read(&service, "outer", "proj-moved/mine.txt")["data"]["content"], "inside");
    assert_replaced_by_a_link(&read(&service, "inner", "outside/secret.txt"), "short/proj");
}

#[test]
fn another_folder_in_the_place_of_a_root_is_opened_by_a_restart_alone() {
    let world = NestedScopes::new();
    let service = world.service(NESTED);
    fs::rename(world.path("x/proj"), world.path("x/old")).expect("a folder can be renamed");
    fs::create_dir(world.path("x/proj")).expect("a folder");
    fs::write(world.path("x/proj/mine.txt"), "another").expect("a file");
    for _ in 0..2 {
        service.reload(world.config(NESTED)).expect("it is taken up");
        let answer = read(&service, "inner", "mine.txt");
        assert_eq!(answer["error"]["code"], "provider_unavailable", "{answer}");
        assert!(answer.to_string().contains("another folder has taken the place"), "{answer}");
    }
    assert_eq!(read(&world.service(NESTED), "inner", "mine.txt")["data"]["content"], "another");
    // Who takes the root out of the config and puts it back means the folder that is there then.
    service.reload(world.config(&NESTED[..1])).expect("it is taken up");
    service.reload(world.config(NESTED)).expect("it is taken up");
    assert_eq!(read(&service, "inner", "mine.txt")["data"]["content"], "another");
}
