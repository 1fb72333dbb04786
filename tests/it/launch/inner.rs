//! Programs that make sandboxes of their own inside: they can, and it leads nowhere.

use std::fs;

use bailiwick::contract::command::{Containment, Network};
use bailiwick::platform::launch::InnerSandboxes;

use super::place::{LaunchFixture, grant, shell, wait_for};
use crate::needs::{available_sandboxes, lacks_full_sandbox};

/// Makes a namespace of users and mounts inside, becomes root in it, and tries the ways out.
const TRIES: &str = r#"
unshare --user --map-root-user --mount --pid --net --fork sh -c '
    echo inner
    mount -t tmpfs none /dev/shm && echo mounted
    cat OUTSIDE/secret && echo OUT-read
    umount -l /etc && echo OUT-umount
    umount -l /proc/sys && echo OUT-umount-sys
    mount -o remount,rw,bind /usr && echo OUT-remount
    mount -t proc none /proc && echo OUT-proc
    mount -t sysfs none /sys && echo OUT-sysfs
    mkdir /dev/shm/c && mount -t cgroup2 none /dev/shm/c && echo OUT-cgroup
    echo 0 > /proc/sys/kernel/randomize_va_space && echo OUT-sysctl
    echo 1 > ROOT/.git/config && echo OUT-protected
    test -s /etc/shadow && head -c 1 /etc/shadow > /dev/null && echo OUT-shadow
    echo written > ROOT/written && echo wrote
' 2>&1
nsenter --user=/proc/1/ns/user true 2>/dev/null && echo OUT-nsenter
true
"#;

#[test]
fn an_inner_sandbox_can_be_made_and_leads_nowhere() {
    if lacks_full_sandbox() {
        return;
    }
    let mut place = LaunchFixture::new();
    place.inner = InnerSandboxes::Allowed;
    place.network = Network::Full;
    fs::write(place.outside().join("secret"), "OUT").expect("written");
    fs::create_dir(place.root().join(".git")).expect("made");
    fs::write(place.root().join(".git/config"), "mine").expect("written");
    place.protected = vec![place.root().join(".git/config")];
    let text = |path: &std::path::Path| path.to_str().expect("text").to_owned();
    let script = TRIES.replace("OUTSIDE", &text(place.outside())).replace("ROOT", &text(&place.root()));
    let finished = place.run(Containment::Full, shell(&script));
    let held = &finished.ended.held;
    assert!(finished.out.contains("inner\nmounted\n"), "{}", finished.out);
    assert!(finished.out.contains("wrote\n"), "{}", finished.out);
    assert!(!finished.out.contains("OUT"), "{}", finished.out.replace(&text(place.outside()), "…"));
    assert_eq!(fs::read_to_string(place.root().join(".git/config")).expect("read"), "mine");
    assert!(held.open.contains(&"innerSandboxes"), "{held:?}");
    assert!(!held.layers.contains(&"landlock"), "what is not in force is not claimed: {held:?}");
}

#[test]
fn of_a_file_that_is_granted_alone_nothing_beside_it_is_there() {
    if lacks_full_sandbox() {
        return;
    }
    let mut place = LaunchFixture::new();
    place.inner = InnerSandboxes::Allowed;
    place.network = Network::Full;
    let home = place.outside().join("person");
    fs::create_dir(&home).expect("made");
    fs::write(home.join("auth.json"), "old").expect("written");
    fs::write(home.join("config.toml"), "mine").expect("written");
    let script = format!(
        "cd {} && cat auth.json && ls && echo new > auth.json; echo evil > config.toml; mv auth.json away; rm auth.json; true",
        home.display()
    );
    let (mut request, _out, _err) = place.request(Containment::Full, shell(&script));
    request.hold.read_write.push(grant(&home.join("auth.json")));
    let mut job = wait_for(place.launcher.launch(request)).expect("started");
    wait_for(job.ended()).expect("ended");
    assert_eq!(fs::read_to_string(home.join("auth.json")).expect("read"), "new\n");
    assert_eq!(fs::read_to_string(home.join("config.toml")).expect("read"), "mine");
    assert_eq!(fs::read_dir(&home).expect("read").count(), 2);
}

/// Makes a namespace of users and mounts inside, and tries to reach a closed file in it; then leaves everything but the
/// root behind, as `bwrap` does, and tries to move the folder.
const TRIES_ON_CLOSED: &str = r#"
unshare --user --map-root-user --mount --fork sh -c '
    echo inner
    umount -l ROOT/sub/.env; cat ROOT/sub/.env
    umount -l /.bailiwick-closed; cat /.bailiwick-closed/root-0/sub/.env
    mkdir /dev/shm/new; mount --bind ROOT /dev/shm/new; cat /dev/shm/new/sub/.env
    mount --rbind ROOT /dev/shm/new && echo bound; cat /dev/shm/new/sub/.env
    mv ROOT/sub ROOT/moved && echo OUT-moved
    python3 -c "
import ctypes, os
libc = ctypes.CDLL(None)
os.chdir(\"/dev/shm/new\")
left = libc.syscall({\"x86_64\": 155, \"aarch64\": 41}[os.uname().machine], b\".\", b\".\") or libc.umount2(b\".\", 2)
print(\"left\", left, os.listdir(\"/\"))
print(open(\"/sub/.env\", \"rb\").read())
os.rename(\"/sub\", \"/moved\")
print(\"OUT-moved\")
"
' 2>&1
true
"#;

#[test]
fn an_inner_sandbox_reads_no_closed_file_and_moves_no_folder_above_one() {
    if lacks_full_sandbox() {
        return;
    }
    let mut place = LaunchFixture::new();
    place.inner = InnerSandboxes::Allowed;
    place.network = Network::Full;
    let file = place.root().join("sub/.env");
    fs::create_dir(place.root().join("sub")).expect("made");
    fs::write(&file, "OUT-secret").expect("written");
    place.closed = vec![file.clone()];
    let script = TRIES_ON_CLOSED.replace("ROOT", place.root().to_str().expect("text"));
    let finished = place.run(Containment::Full, shell(&script));
    assert!(finished.out.contains("bound\n"), "{}", finished.out);
    assert!(finished.out.contains("left 0 ['sub']"), "{}", finished.out);
    assert!(!finished.out.contains("OUT"), "{}", finished.out);
    assert_eq!(fs::read_to_string(&file).expect("there"), "OUT-secret");
}

#[test]
fn without_the_word_no_inner_sandbox_can_be_made() {
    let place = LaunchFixture::new();
    for level in available_sandboxes() {
        let finished = place.run(level, shell("unshare --user true || echo refused"));
        assert!(finished.out.contains("refused"), "{level}: {}", finished.out);
        assert!(!finished.ended.held.open.contains(&"innerSandboxes"), "{level}");
        assert!(finished.ended.held.layers.contains(&"landlock"), "{level}");
    }
}
