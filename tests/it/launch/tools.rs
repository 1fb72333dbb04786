//! Ordinary tools do their work inside a sandbox.

use std::path::{Path, PathBuf};

use bailiwick::contract::command::Containment;

use super::place::{LaunchFixture, shell};
use crate::needs::lacks_full_sandbox;

/// A tool, and a script that uses it in an empty root. Where the tool is not installed, that row says nothing.
const SCRIPTS: &[(&str, &str)] = &[
    (
        "git",
        "git init -q -b main repo && cd repo && echo a > a && git add a && git commit -qm one && git branch b \
         && git checkout -q b && echo b >> a && git commit -qam two && git checkout -q main && git merge -q b \
         && git gc -q && git status --short && cd .. && git clone -q repo copy && git -C copy log --oneline \
         && git -C copy worktree add -q ../tree && test \"$(cat tree/a)\" = \"$(printf 'a\\nb')\"",
    ),
    ("make", "printf 'all: a.txt\\na.txt:\\n\\techo made > a.txt\\n' > Makefile && make -s -j4 && cat a.txt"),
    (
        "cc",
        "printf '#include <stdio.h>\\n#include <pthread.h>\\nstatic void *f(void *p){return p;}\\nint main(void)\
         {pthread_t t;int e=pthread_create(&t,0,f,0);pthread_join(t,0);puts(\"built\");return e;}' > a.c \
         && cc -o a a.c -lpthread && ./a",
    ),
    (
        "python3",
        "python3 -c 'import sqlite3,subprocess,socket,tempfile,multiprocessing as m\n\
         c=sqlite3.connect(\"x.db\");c.execute(\"create table t(a)\");c.commit()\n\
         assert subprocess.check_output([\"echo\",\"x\"])==b\"x\\n\"\n\
         s=socket.create_server((\"127.0.0.1\",0));socket.create_connection(s.getsockname())\n\
         p=m.get_context(\"fork\").Pool(2);assert p.map(abs,[-1,-2])==[1,2];p.terminate()\n\
         tempfile.TemporaryFile().write(b\"x\");import pty,os;pty.openpty()'",
    ),
    (
        "node",
        "node -e 'const fs=require(\"fs\"),os=require(\"os\"),http=require(\"http\"),c=require(\"child_process\");\
         fs.writeFileSync(\"a\",\"b\");os.networkInterfaces();c.execFileSync(\"echo\",[\"x\"]);\
         new (require(\"worker_threads\").Worker)(\"1\",{eval:true});\
         const s=http.createServer((q,r)=>r.end(\"ok\")).listen(0,\"127.0.0.1\",()=>\
         http.get({port:s.address().port},r=>r.on(\"data\",d=>{process.exitCode=String(d)===\"ok\"?0:1;s.close()})))'",
    ),
    ("perl", "perl -e 'fork or exit 0; wait; open(F,\">x\"); print F 1; close F; print -s \"x\"'"),
    ("tar", "mkdir d && echo x > d/x && tar czf d.tar.gz d && rm -r d && tar xzf d.tar.gz && cat d/x"),
    ("rg", "echo hello > f && rg hello"),
    ("find", "mkdir -p d/e && touch d/e/f && find . -name f | xargs ls -l"),
    (
        "sh",
        "mkfifo p && (echo x > p &) && cat p && exec 3<>p && echo y >&3 && (: & wait) && ulimit -a > /dev/null",
    ),
];

fn place() -> LaunchFixture {
    let mut place = LaunchFixture::new();
    let home = place.outside().join("home");
    place.environment = [
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("LANG", "C.UTF-8"),
        ("GIT_AUTHOR_NAME", "a"),
        ("GIT_AUTHOR_EMAIL", "a@example.org"),
        ("GIT_COMMITTER_NAME", "a"),
        ("GIT_COMMITTER_EMAIL", "a@example.org"),
    ]
    .map(|(name, value)| (name.into(), value.into()))
    .to_vec();
    place.environment.push(("HOME".into(), home.into()));
    place.limits.processes = Some(512);
    // As the policy asks for; the root itself is no repository.
    place.protected = vec![place.root().join(".git/hooks"), place.root().join(".git/config")];
    place
}

fn is_installed(tool: &str) -> bool {
    ["/usr/local/bin", "/usr/bin", "/bin"].iter().any(|folder| Path::new(folder).join(tool).exists())
}

#[test]
fn tools_that_are_installed_work_in_a_sandbox() {
    if lacks_full_sandbox() {
        return;
    }
    let mut tried = 0;
    for (tool, script) in SCRIPTS {
        if is_installed(tool) {
            let ran = place().run(Containment::Full, shell(script));
            assert_eq!(ran.ended.exit_code, Some(0), "{tool}: {ran:?}");
            assert_eq!(ran.ended.left_killed, 0, "{tool}: {ran:?}");
            tried += 1;
        }
    }
    assert!(tried >= 3, "{tried} tools are installed");
}

#[test]
fn cargo_builds_and_tests_in_a_sandbox_offline() {
    if lacks_full_sandbox() {
        return;
    }
    let cargo = PathBuf::from(env!("CARGO"));
    let Some(toolchain) = cargo.parent().and_then(Path::parent) else { return };
    let mut place = place();
    place.read_only = vec![toolchain.to_owned()];
    let path = format!("{}:/usr/bin:/bin", toolchain.join("bin").display());
    place.environment[0] = ("PATH".into(), path.into());
    let script = "cargo new --quiet --lib made && cd made && cargo test --quiet --offline";
    let ran = place.run(Containment::Full, shell(script));
    assert!(ran.out().contains("1 passed"), "{ran:?}");
}
