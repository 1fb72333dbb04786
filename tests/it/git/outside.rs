//! Nothing outside the scope is shown, wherever a repository points.

use std::fs;

use bailiwick::platform::fs::modes::symlink;
use bailiwick::platform::fs::remove_tree;
use bailiwick::platform::paths::HAS_DRIVES;
use serde_json::{Value, json};

use super::scope::{GitScope, reads, written};
use crate::system::{Need, lacks};

/// What must never be in an answer: it is the content, the names and the messages of a repository outside.
const SECRET: &str = "hidden";

fn with_hidden() -> GitScope {
    let world = GitScope::new("app", json!({"sandbox": "none"}));
    world.repository("other");
    world.write("other/hidden.txt", "hidden content\n");
    world.git("other", &["add", "."]);
    world.git("other", &["commit", "-q", "-m", "hidden message"]);
    world.write("other/hidden.txt", "hidden change\n");
    world
}

async fn all_refuse(world: &GitScope, what: &str) {
    for read in reads() {
        let answer = world.send(read.clone()).await;
        assert!(!answer.to_string().contains(SECRET), "{what}: {read}: {answer:#}");
        assert_eq!(answer["error"]["code"], "path_out_of_scope", "{what}: {read}: {answer:#}");
        let place = written(&world.path("other"));
        assert!(!answer.to_string().contains(&place), "{what} names the place: {answer:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_git_file_or_link_that_leads_out_is_refused() {
    if lacks(Need::Git) {
        return;
    }
    let world = with_hidden();
    let other = world.path("other/.git");
    world.write("app/.git", &format!("gitdir: {}\n", written(&other)));
    all_refuse(&world, "a gitdir elsewhere").await;
    world.write("app/.git", "gitdir: ../other/.git\n");
    all_refuse(&world, "a relative gitdir elsewhere").await;
    world.write("app/.git", "gitdir: /nowhere/at/all\n");
    all_refuse(&world, "a gitdir that is not there answers the same").await;
    fs::remove_file(world.path("app/.git")).expect("it is there");
    if Need::Links.is_there() {
        symlink(&other, world.path("app/.git")).expect("a link is made");
        all_refuse(&world, "a link elsewhere").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parts_of_gits_own_folder_that_lead_out_are_refused() {
    if lacks(Need::Git) {
        return;
    }
    for part in ["objects", "HEAD", "index", "refs", "config", "objects/info", "packed-refs"] {
        if lacks(Need::Links) {
            break;
        }
        let world = with_hidden();
        world.repository("app");
        let (own, other) = (world.path("app/.git").join(part), world.path("other/.git").join(part));
        if !other.exists() {
            fs::write(&other, "").expect("a file is written");
        }
        let _ = remove_tree(&own);
        let _ = fs::remove_file(&own);
        symlink(&other, &own).expect("a link is made");
        all_refuse(&world, part).await;
    }
    let world = with_hidden();
    world.repository("app");
    let objects = written(&world.path("other/.git/objects"));
    world.write("app/.git/objects/info/alternates", &format!("# more\n{objects}\n"));
    all_refuse(&world, "alternates").await;
    world.write("app/.git/objects/info/alternates", "../../../other/.git/objects\n");
    all_refuse(&world, "relative alternates").await;
    if !lacks(Need::Names) {
        // Git takes the quotes off; as it is there is such a folder inside.
        let decoy = world.path("app/.git/objects").join(format!("\"{objects}\""));
        fs::create_dir_all(&decoy).expect("a folder is made");
        world.write("app/.git/objects/info/alternates", &format!("\"{objects}\"\n"));
        all_refuse(&world, "quoted alternates").await;
    }
    fs::remove_file(world.path("app/.git/objects/info/alternates")).expect("it is there");
    world.write("app/.git/commondir", "../../other/.git\n");
    all_refuse(&world, "a common folder").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repository_that_leads_to_another_computer_is_not_opened_where_paths_can() {
    if lacks(Need::Git) {
        return;
    }
    let remote = "//server/share/x";
    for (file, text) in [
        (".git/config", format!("[core]\n[IncludeIf \"gitdir/i:C:/\"]\n\tpath = {remote}\n")),
        (".git/config.worktree", format!("[include]\n\tpath = {remote}\n")),
        (".git/objects/info/alternates", format!("{remote}\n")),
        (".git/commondir", r"\\server\share\x".to_owned()),
        (".git/worktrees/other/gitdir", format!("{remote}/.git\n")),
    ] {
        let world = GitScope::new("app", json!({"sandbox": "none"}));
        world.repository("app");
        world.write(&format!("app/{file}"), &text);
        if HAS_DRIVES || file.ends_with("alternates") || file.ends_with("commondir") {
            all_refuse(&world, file).await;
        }
    }
    let world = GitScope::new("app", json!({"sandbox": "none"}));
    world.write("app/.git", &format!("gitdir: {remote}\n"));
    all_refuse(&world, "a gitdir").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_that_name_places_outside_show_nothing_of_them() {
    if lacks(Need::Git) {
        return;
    }
    let world = with_hidden();
    world.repository("app");
    let other = written(&world.path("other"));
    for (name, value) in [
        ("core.worktree", other.clone()),
        ("core.excludesFile", format!("{other}/hidden.txt")),
        ("core.attributesFile", format!("{other}/hidden.txt")),
        ("diff.orderFile", format!("{other}/hidden.txt")),
        ("blame.ignoreRevsFile", format!("{other}/hidden.txt")),
        ("mailmap.file", format!("{other}/hidden.txt")),
        ("commit.template", format!("{other}/hidden.txt")),
    ] {
        world.git("app", &["config", name, &value]);
    }
    for read in reads() {
        let answer = world.send(read.clone()).await;
        // Git reads that list before it can be told not to; it cannot be reached, and nothing of it is said.
        let works = read["op"] != "git.blame";
        assert_eq!(answer["ok"], works, "{read}: {answer:#}");
        assert!(!answer.to_string().contains(SECRET), "{read}: {answer:#}");
    }
    let status = world.data(json!({"op": "git.status"})).await;
    assert_eq!(status["entries"][0]["path"], "a.txt", "{status:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bare_repository_in_a_folder_is_not_taken_for_one() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("app", json!({"sandbox": "none"}));
    world.repository("app");
    world.git("app", &["init", "-q", "--bare", "data"]);
    let program = world.program("evil");
    world.git("app/data", &["config", "core.fsmonitor", &program]);
    world.git("app/data", &["config", "alias.log", "!touch canary"]);
    // It is a folder of the repository around it.
    let status = world.data(json!({"op": "git.status", "target": "data"})).await;
    assert_eq!(status["repository"], ".", "{status:#}");
    assert!(!world.ran());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scope_in_a_repository_shows_nothing_of_the_rest() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("whole/part", json!({}));
    world.repository("whole");
    world.write("whole/hidden.txt", "hidden content\n");
    world.write("whole/part/a.txt", "one\n");
    world.write("whole/part/moved.txt", "a line\nand another\nand a third\n");
    world.git("whole", &["add", "."]);
    world.git("whole", &["commit", "-q", "-m", "both"]);
    world.write("whole/part/a.txt", "two\n");
    world.git("whole", &["commit", "-q", "-a", "-m", "part"]);
    world.write("whole/hidden-staged.txt", "hidden staged\n");
    world.git("whole", &["add", "."]);
    world.git("whole", &["mv", "part/moved.txt", "hidden-moved.txt"]);
    world.write("whole/hidden.txt", "hidden change\n");
    world.write("whole/hidden-new.txt", "hidden new\n");
    world.write("whole/part/a.txt", "three\n");
    for read in reads() {
        let answer = world.send(read.clone()).await;
        assert_eq!(answer["ok"], true, "{read}: {answer:#}");
        assert!(!answer.to_string().contains(SECRET), "{read}: {answer:#}");
    }
    // The rest of the index is not swept in, and is not named.
    world.data(json!({"op": "git.stage", "input": {"all": true}})).await;
    let answer = world.send(json!({"op": "git.commit", "input": {"message": "x"}})).await;
    assert_eq!(answer["error"]["details"]["rule"], "staged-outside", "{answer:#}");
    assert!(!answer.to_string().contains(SECRET), "{answer:#}");
    let staged = |world: &GitScope| {
        let output = world.person_git("whole", &["diff", "--cached", "--name-only", "--no-renames"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(staged(&world).contains("hidden-staged.txt"));
    assert!(!staged(&world).contains("hidden-new.txt"), "git.stage took in what is outside");
    world.data(json!({"op": "git.unstage", "input": {"all": true}})).await;
    assert!(staged(&world).contains("hidden-staged.txt"), "git.unstage reached outside");
    assert!(!staged(&world).contains("part/a.txt"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_content_of_a_closed_file_is_in_no_answer() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("app", json!({"closedFiles": ["private/**"]}));
    world.repository("app");
    world.write("app/.env", "TOKEN=hidden-1\nand a line that stays\nand another\n");
    world.write("app/private/x.txt", "hidden-2\n");
    world.git("app", &["add", "-f", "."]);
    world.git("app", &["commit", "-q", "-m", "closed files"]);
    world.write("app/private/x.txt", "hidden-3\n");
    world.write("app/a.txt", "five\n");
    for read in reads() {
        let answer = world.send(read.clone()).await;
        assert_eq!(answer["ok"], true, "{read}: {answer:#}");
        assert!(!answer.to_string().contains(SECRET), "{read}: {answer:#}");
    }
    // Under another name, while Git still shows where it came from.
    world.git("app", &["mv", ".env", "plain.txt"]);
    world.write("app/plain.txt", "TOKEN=hidden-4\nand a line that stays\nand another\n");
    world.git("app", &["add", "plain.txt"]);
    let staged = world.data(json!({"op": "git.diff", "input": {"staged": true}})).await;
    assert!(!staged.to_string().contains(SECRET), "{staged:#}");
    let renamed: Vec<&Value> =
        staged["files"].as_array().expect("a list").iter().filter(|it| it["change"] == "renamed").collect();
    assert_eq!(renamed[0]["closed"], true, "what was a closed file stays closed: {staged:#}");
    let show = json!({"op": "git.show", "target": "private/x.txt", "options": {"content": true}});
    assert_eq!(world.code(show).await, "permission_denied");
}
