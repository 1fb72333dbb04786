//! Limits, protected names, and the edges of the tree inside.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use bailiwick::contract::command::{Containment, Network};
use bailiwick::platform::launch::{LaunchError, levels};

use super::place::{LaunchFixture, grant, shell, single, wait_for};
use crate::needs::{available, available_sandboxes, lacks_full_sandbox, report_left_out};
use crate::patience::eventually;

#[test]
fn this_machine_has_every_level() {
    // But for the full sandbox, which needs namespaces: some kernels forbid them.
    let levels = levels();
    assert_eq!(levels.missing(Containment::Partial), None);
    assert!(levels.landlock_abi >= 1);
    let asked = Command::new("unshare").args(["--user", "--map-root-user", "--mount", "true"]).output();
    if !asked.expect("a program of util-linux").status.success() {
        report_left_out("namespaces, which the kernel forbids");
        return;
    }
    assert_eq!((levels.strongest, levels.missing(Containment::Full)), (Containment::Full, None));
}

#[test]
fn a_file_larger_than_the_limit_is_not_written() {
    let mut place = LaunchFixture::new();
    place.limits.file_bytes = Some(4096);
    for level in available() {
        let ended = place.run(level, single(&["dd", "if=/dev/zero", "of=big", "bs=1024", "count=8"])).ended;
        assert_ne!(ended.exit_code, Some(0), "{level}");
        assert_eq!(fs::metadata(place.root().join("big")).expect("made").len(), 4096, "{level}");
    }
}

#[test]
fn a_process_larger_than_the_limit_gets_no_memory() {
    let mut place = LaunchFixture::new();
    let plan = || single(&["dd", "if=/dev/zero", "of=/dev/null", "bs=256M", "count=1"]);
    for level in available() {
        place.limits.memory_bytes = None;
        assert_eq!(place.run(level, plan()).ended.exit_code, Some(0), "{level}");
        place.limits.memory_bytes = Some(128 << 20);
        assert_ne!(place.run(level, plan()).ended.exit_code, Some(0), "{level}");
    }
}

#[test]
fn more_files_than_the_limit_cannot_be_open() {
    let mut place = LaunchFixture::new();
    place.limits.open_files = 32;
    for level in available() {
        assert_eq!(
            place.run(level, shell("ulimit -n; ulimit -Hn; ulimit -c")).out(),
            "32\n32\n0\n",
            "{level}"
        );
    }
}

#[test]
fn more_processes_than_the_limit_are_not_started_or_that_is_said() {
    let mut place = LaunchFixture::new();
    place.limits.processes = Some(310);
    // Each of the shells waits for input that does not come, until the job is over.
    let script = "i=0; while [ $i -lt 400 ]; do sleep 1000 & i=$((i+1)); done; echo all";
    for level in available() {
        let ran = place.run(level, shell(script));
        if ran.ended.held.open.contains(&"processLimit") {
            // Root is bound by a namespace of its own alone.
            assert_ne!(level, Containment::Full);
            continue;
        }
        assert!(!ran.out.contains("all"), "{level}: {ran:?}");
        // At the lower levels it is the user's other processes that are counted too, roughly.
        assert!(ran.ended.left_killed < 400, "{level}: {}", ran.ended.left_killed);
    }
}

#[test]
fn a_few_processes_are_enough_for_a_limit_of_a_few() {
    let mut place = LaunchFixture::new();
    place.limits.processes = Some(16);
    for level in available() {
        assert_eq!(place.run(level, shell("echo a | cat | cat")).out(), "a\n", "{level}");
    }
}

fn repository_in(place: &mut LaunchFixture) {
    let git = place.root().join(".git");
    fs::create_dir_all(git.join("hooks")).expect("made");
    fs::write(git.join("config"), "[core]\n").expect("written");
    fs::write(git.join("hooks/pre-commit"), "#!/bin/sh\n").expect("written");
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").expect("written");
    protect(place);
}

fn protect(place: &mut LaunchFixture) {
    place.protected = vec![place.root().join(".git/hooks"), place.root().join(".git/config")];
}

/// Ways to change what is protected, each of which must fail and change nothing.
const ATTACKS: &[&str] = &[
    "echo x >> .git/config",
    "echo x > .git/new && mv .git/new .git/config",
    "rm .git/config",
    "ln -sf /dev/null .git/config",
    "mv .git/config .git/old",
    "chmod 777 .git/config",
    "echo x > .git/hooks/pre-commit",
    "echo x > .git/hooks/post-commit",
    "rm -r .git/hooks",
    "mv .git/hooks .git/away",
    "mv .git/hooks away",
    "mkdir evil && mv -T evil .git/hooks",
    "mv .git away",
    "mkdir evil2 && mv -T evil2 .git",
    "mkdir -p .git/hooks/more",
    "ln -s /tmp .git/hooks/more",
    "chmod 777 .git/hooks",
    "touch -d @1 .git/hooks/pre-commit",
];

#[test]
fn protected_names_stay_as_they_are() {
    if lacks_full_sandbox() {
        return;
    }
    let mut place = LaunchFixture::new();
    repository_in(&mut place);
    for attack in ATTACKS {
        let ended = place.run(Containment::Full, shell(attack)).ended;
        assert_ne!(ended.exit_code, Some(0), "{attack}");
    }
    let read = |path: &str| fs::read_to_string(place.root().join(path)).expect("it is still there");
    assert_eq!(read(".git/config"), "[core]\n");
    assert_eq!(read(".git/hooks/pre-commit"), "#!/bin/sh\n");
    assert_eq!(fs::read_dir(place.root().join(".git/hooks")).expect("a folder").count(), 1);
    assert_eq!(fs::read_dir(place.root().join(".git")).expect("a folder").count(), 4, "and `new`");
    // The rest of the repository is the tools' to write.
    place
        .run(
            Containment::Full,
            shell("echo x > .git/index && mkdir .git/objects && mv .git/index .git/objects"),
        )
        .out();
}

#[test]
fn protected_names_that_are_missing_cannot_be_made() {
    if lacks_full_sandbox() {
        return;
    }
    let mut place = LaunchFixture::new();
    protect(&mut place);
    for (made, attacks) in [
        (
            None,
            ["mkdir .git", "mkdir -p .git/hooks", "mkdir x && mv -T x .git", "ln -s x .git", "rmdir .git"],
        ),
        (
            Some(".git"),
            [
                "echo x > .git/config",
                "mkdir .git/hooks && touch .git/hooks/x",
                "touch .git/hooks/x",
                "mv .git y",
                "rmdir .git/hooks && mkdir .git/hooks",
            ],
        ),
    ] {
        if let Some(folder) = made {
            fs::create_dir(place.root().join(folder)).expect("made");
        }
        for attack in attacks {
            let ended = place.run(Containment::Full, shell(attack)).ended;
            assert_ne!(ended.exit_code, Some(0), "{attack}");
        }
        // What stood in their place is gone with the jobs.
        assert_eq!(place.root().join(".git").exists(), made.is_some());
        if made.is_some() {
            assert_eq!(fs::read_dir(place.root().join(".git")).expect("a folder").count(), 0);
        }
    }
}

#[test]
fn what_stands_for_a_missing_name_is_shared_by_jobs_and_removed_by_the_last() {
    if lacks_full_sandbox() {
        return;
    }
    let mut place = LaunchFixture::new();
    protect(&mut place);
    wait_for(async {
        let long = place
            .start(Containment::Full, shell("read x; mkdir .git || echo refused"))
            .await
            .expect("started");
        drop(place.try_run(Containment::Full, single(&["true"])).await.expect("ran"));
        assert!(place.root().join(".git").exists(), "the other job still needs it");
        // `read` has had its end of input at once.
        assert_eq!(long.end().await.expect("ended").out(), "refused\n");
    });
    assert!(!place.root().join(".git").exists());
}

#[test]
fn what_a_killed_service_left_in_the_place_of_a_name_is_removed_by_the_next_job() {
    if lacks_full_sandbox() {
        return;
    }
    let mut place = LaunchFixture::new();
    protect(&mut place);
    let git = place.root().join(".git");
    fs::create_dir(&git).expect("made");
    let mark = std::time::UNIX_EPOCH + std::time::Duration::from_secs(946_684_806);
    fs::File::open(&git).and_then(|it| it.set_modified(mark)).expect("marked");
    assert_ne!(place.run(Containment::Full, shell("mkdir .git/hooks")).ended.exit_code, Some(0));
    assert!(!git.exists());
    // A folder that is somebody's own stays, though it is empty; one that somebody has used is theirs.
    fs::create_dir_all(git.join("hooks")).expect("made");
    place.run(Containment::Full, single(&["true"]));
    assert!(git.join("hooks").exists());
    fs::remove_dir(git.join("hooks")).expect("removed");
    let job = wait_for(place.start(Containment::Full, shell("read x"))).expect("started");
    fs::write(git.join("hooks/pre-commit"), "").expect("the user writes a hook");
    wait_for(job.end()).expect("ended");
    assert!(git.join("hooks/pre-commit").exists());
}

#[test]
fn a_dropped_job_cannot_make_a_missing_name_before_it_dies() {
    if lacks_full_sandbox() {
        return;
    }
    let mut place = LaunchFixture::new();
    protect(&mut place);
    for _ in 0..10 {
        let script = "while :; do mkdir .git/hooks; mkdir .git; echo x > .git/config; done 2> /dev/null";
        let running = wait_for(place.start(Containment::Full, shell(script))).expect("started");
        drop(running);
        eventually("what meant it is gone", || !place.root().join(".git").exists());
    }
}

#[test]
fn a_protected_name_that_is_a_link_closes_the_folder_that_holds_it() {
    if lacks_full_sandbox() {
        return;
    }
    let mut place = LaunchFixture::new();
    repository_in(&mut place);
    let git = place.root().join(".git");
    fs::rename(git.join("hooks"), git.join("other")).expect("renamed");
    symlink("other", git.join("hooks")).expect("made");
    for attack in ["rm .git/hooks", "touch .git/other/x", "touch .git/x", "mv .git y"] {
        assert_ne!(place.run(Containment::Full, shell(attack)).ended.exit_code, Some(0), "{attack}");
    }
    // In the root itself there is no such folder that could be closed: nothing starts.
    fs::rename(&git, place.root().join("git")).expect("renamed");
    symlink("git", &git).expect("made");
    let error = wait_for(place.try_run(Containment::Full, single(&["true"]))).expect_err("refused");
    assert!(matches!(&error, LaunchError::Step { step, .. } if step == "protect names"), "{error}");
    // A `.git` that is a file stays that file.
    fs::remove_file(&git).expect("removed");
    fs::write(&git, "gitdir: elsewhere\n").expect("written");
    for attack in ["rm .git", "echo x > .git", "mv .git y", "mkdir z && mv -T z .git"] {
        assert_ne!(place.run(Containment::Full, shell(attack)).ended.exit_code, Some(0), "{attack}");
    }
    assert_eq!(fs::read_to_string(&git).expect("still there"), "gitdir: elsewhere\n");
}

#[test]
fn only_what_was_named_exists_inside() {
    if lacks_full_sandbox() {
        return;
    }
    let place = LaunchFixture::new();
    fs::write(place.outside().join("secret"), "x").expect("written");
    let around = |path: &Path| {
        let ran = place.run(Containment::Full, single(&["ls", "-A", path.to_str().expect("UTF-8")]));
        ran.out().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(around(place.outside()), ["home", "root"]);
    let top = around(Path::new("/"));
    for hidden in ["root", "home", "mnt", "run", "srv", "boot", "media"] {
        let is_on_the_way = place.outside().starts_with(Path::new("/").join(hidden));
        assert!(is_on_the_way || !top.iter().any(|name| name == hidden), "{top:?}");
    }
    let ran = place.run(Containment::Full, shell("ls /proc | grep -c '^[0-9]'; cat /proc/1/environ"));
    assert!(
        ran.out.lines().next().is_some_and(|count| count.parse::<u32>().is_ok_and(|count| count < 6)),
        "{ran:?}"
    );
    // Not the descriptors either: nothing leads back to the old tree.
    let script =
        "for fd in /proc/self/fd/*; do [ -e $fd/.. ] && echo $fd leads out; done; ls -l /proc/self/cwd";
    assert!(!place.run(Containment::Full, shell(script)).out.contains("leads out"));
    let script = "cd /; cd ..; cd ..; pwd; ls ../../../../../../root 2>/dev/null";
    assert_eq!(place.run(Containment::Full, shell(script)).out, "/\n");
}

#[test]
fn the_font_cache_is_read_and_not_written() {
    let list = ["ls", "/var/cache/fontconfig"];
    let outside = Command::new(list[0]).arg(list[1]).output().expect("it ran").stdout;
    let outside = String::from_utf8(outside).expect("UTF-8");
    assert!(outside.contains(".cache-"), "no font cache, on Debian: apt-get install fontconfig: {outside}");
    let place = LaunchFixture::new();
    for level in available_sandboxes() {
        assert_eq!(place.run(level, single(&list)).out(), outside, "{level}");
        let ran = place.run(level, single(&["touch", "/var/cache/fontconfig/x"]));
        assert_ne!(ran.ended.exit_code, Some(0), "{level}");
    }
    if !lacks_full_sandbox() {
        let ran = place.run(Containment::Full, single(&["ls", "-A", "/var/cache"]));
        assert_eq!(ran.out(), "fontconfig\n");
    }
}

#[test]
fn the_network_is_never_more_than_was_asked_for() {
    if lacks_full_sandbox() {
        return;
    }
    let mut place = LaunchFixture::new();
    for (level, asked, given) in [
        (Containment::Full, Network::None, Network::None),
        (Containment::Full, Network::Loopback, Network::Loopback),
        (Containment::Full, Network::Full, Network::Full),
        (Containment::Partial, Network::None, Network::None),
        // Without a namespace there is no loopback of its own.
        (Containment::Partial, Network::Loopback, Network::None),
        (Containment::Partial, Network::Full, Network::Full),
    ] {
        place.network = asked;
        let held = place.run(level, single(&["true"])).ended.held;
        assert_eq!(held.network, given, "{level} {asked}");
    }
    place.network = Network::None;
    let held = place.run(Containment::None, single(&["true"])).ended.held;
    assert_eq!(held.network, Network::Full);
    assert!(held.open.contains(&"network"), "{:?}", held.open);
}

#[test]
fn a_working_folder_that_was_replaced_is_refused() {
    if lacks_full_sandbox() {
        return;
    }
    let place = LaunchFixture::new();
    fs::create_dir(place.root().join("work")).expect("made");
    let (mut request, _out, _err) = place.request(Containment::Full, single(&["true"]));
    request.cwd = fs::File::open(place.root().join("work")).expect("opened").into();
    request.cwd_path = place.root().join("work");
    fs::rename(place.root().join("work"), place.root().join("old")).expect("renamed");
    fs::create_dir(place.root().join("work")).expect("made");
    let error = wait_for(place.launcher.launch(request)).expect_err("refused");
    assert!(matches!(&error, LaunchError::Step { step, .. } if step == "working folder"), "{error}");
}

#[test]
fn a_root_that_a_job_replaced_by_a_link_opens_nothing() {
    // Two roots, one within the other: an earlier job may have put a link in the place of the inner one.
    let place = LaunchFixture::new();
    let outside = place.outside().join("outside");
    fs::create_dir(&outside).expect("made");
    fs::write(outside.join("file"), "secret\n").expect("written");
    symlink(&outside, place.root().join("inner")).expect("made");
    for level in available_sandboxes() {
        let (mut request, _out, _err) = place.request(level, shell("cat inner/file; echo x > inner/file"));
        request.hold.read_write.push(grant(&place.root().join("inner")));
        let mut job = wait_for(place.launcher.launch(request)).expect("started");
        assert_ne!(wait_for(job.ended()).expect("ended").exit_code, Some(0), "{level}");
        assert_eq!(fs::read_to_string(outside.join("file")).expect("there"), "secret\n", "{level}");
    }
}

#[test]
fn a_folder_that_was_replaced_since_it_was_checked_is_not_opened() {
    let place = LaunchFixture::new();
    let outside = place.outside().join("outside");
    fs::create_dir(&outside).expect("made");
    fs::write(outside.join("file"), "secret\n").expect("written");
    let other = place.outside().join("other");
    fs::create_dir(&other).expect("made");
    let granted = grant(&other);
    fs::rename(&other, place.outside().join("moved")).expect("renamed");
    let script = format!("cat {0}/file; echo x > {0}/file; echo x > {0}/new", other.display());
    for replaced_by_link in [true, false] {
        if replaced_by_link {
            symlink(&outside, &other).expect("made");
        } else {
            fs::remove_file(&other).expect("removed");
            fs::rename(&outside, &other).expect("renamed");
        }
        for level in available_sandboxes() {
            for (field, step) in [("roots", ["landlock", "folders"]), ("readable", ["landlock", "folders"])] {
                let (mut request, _out, _err) = place.request(level, shell(&script));
                match field {
                    "roots" => request.hold.read_write.push(granted.clone()),
                    _ => request.hold.read_only.push(granted.clone()),
                }
                let error = wait_for(place.launcher.launch(request)).expect_err("refused");
                let expected = step[usize::from(level == Containment::Full)];
                assert!(
                    matches!(&error, LaunchError::Step { step, reason } if step == expected && reason.contains("taken its place")),
                    "{level} {field}: {error}"
                );
            }
            let (mut request, _out, _err) = place.request(level, shell(&script));
            request.hold.home = granted.clone();
            wait_for(place.launcher.launch(request)).expect_err("refused");
        }
    }
    assert_eq!(fs::read_to_string(other.join("file")).expect("there"), "secret\n");
    assert_eq!(fs::read_dir(&other).expect("there").count(), 1);
}

#[test]
fn memory_that_programs_share_by_number_is_shut_or_the_jobs_own() {
    if lacks_full_sandbox() {
        return;
    }
    let made = Command::new("ipcmk").args(["-M", "4096"]).output().expect("ipcmk starts");
    let made = String::from_utf8_lossy(&made.stdout).into_owned();
    let id = made.rsplit(' ').next().expect("a number").trim();
    let remove = || Command::new("ipcrm").args(["-m", id]).output().expect("ipcrm starts");
    let place = LaunchFixture::new();
    let script = format!(
        "ipcrm -m {id} 2>/dev/null && echo removed; for kind in '-M 4096' '-S 1' -Q; do ipcmk $kind >/dev/null 2>&1 && echo made; done; true"
    );
    let partial = place.run(Containment::Partial, shell(&script));
    let full = place.run(Containment::Full, shell(&script));
    let removed = remove();
    assert_eq!(partial.out(), "");
    assert_eq!(full.out(), "made\nmade\nmade\n");
    assert!(removed.status.success(), "it was there to the end: {removed:?}");
}

#[test]
fn a_set_user_id_program_gains_nothing() {
    let place = LaunchFixture::new();
    let copy = place.root().join("id");
    fs::copy(super::place::program("id"), &copy).expect("copied");
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o6755)).expect("set");
    for level in available_sandboxes() {
        let script =
            "./id -u; grep -h -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t'";
        let ran = place.run(level, shell(script));
        let user = bailiwick::platform::machine::user_id().to_string();
        let lines: Vec<_> = ran.out().lines().collect();
        assert_eq!(lines[0], user, "{level}");
        assert!(lines.contains(&"CapEff:0000000000000000"), "{level}: {lines:?}");
        assert!(lines.contains(&"NoNewPrivs:1"), "{level}: {lines:?}");
        assert!(lines.contains(&"Seccomp:2"), "{level}: {lines:?}");
    }
}
