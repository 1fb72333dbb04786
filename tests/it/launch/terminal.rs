//! Processes that last at a terminal of their own.

use std::time::Duration;

use bailiwick::contract::command::Joiner;
use bailiwick::platform::launch::kept::TerminalSize;

use super::lasting::{at_terminal, start};
use super::place::{LaunchFixture, shell, single, step, wait_for};
use crate::needs::{available, available_sandboxes, require_program};
use crate::patience::{eventually, eventually_some};

#[test]
fn all_streams_are_one_terminal_that_can_be_opened_by_name() {
    let place = LaunchFixture::new();
    for level in available() {
        let script = "test -t 0 && test -t 1 && test -t 2 && echo tty; echo err >&2; stty size; echo dev > /dev/tty; \
                      name=$(tty); echo by name > $name; ls -l /proc/self/fd/0 > /dev/null && exit 3";
        let process = start(&place, at_terminal(&place, level, shell(script)));
        let status = process.ended();
        assert_eq!(process.out(), "tty\r\nerr\r\n24 80\r\ndev\r\nby name\r\n", "{level}");
        assert_eq!(status.exit_code, Some(3), "{level}");
        assert_eq!(status.stderr_bytes, 0, "{level}");
        assert_eq!(status.terminal, Some(TerminalSize { rows: 24, columns: 80 }), "{level}");
    }
}

#[test]
fn a_new_size_reaches_the_program_by_signal() {
    let place = LaunchFixture::new();
    for level in available() {
        let script = "trap 'stty size; exit 0' WINCH; echo on; while :; do sleep 0.01; done";
        let process = start(&place, at_terminal(&place, level, shell(script)));
        process.shows("on");
        let size = TerminalSize { rows: 50, columns: 132 };
        wait_for(async { process.control().await.resize(size).await.expect("resized") });
        let status = process.ended();
        assert_eq!(process.out(), "on\r\n50 132\r\n", "{level}");
        assert_eq!(status.terminal, Some(size), "{level}");
    }
}

#[test]
fn control_c_interrupts_and_control_d_ends_the_input() {
    let place = LaunchFixture::new();
    for level in available() {
        let sleeps = start(&place, at_terminal(&place, level, single(&["sleep", "1000"])));
        let reads = start(&place, at_terminal(&place, level, single(&["cat"])));
        let closed = start(&place, at_terminal(&place, level, single(&["cat"])));
        wait_for(async {
            sleeps.control().await.input(b"\x03").await.expect("typed");
            reads.control().await.input(b"line\n\x04").await.expect("typed");
            closed.control().await.close_input().await.expect("closed");
        });
        assert_eq!(sleeps.ended().signal, Some(2), "{level}");
        assert_eq!(sleeps.out(), "^C", "{level}");
        assert_eq!(reads.ended().exit_code, Some(0), "{level}");
        assert_eq!(reads.out(), "line\r\nline\r\n", "{level}");
        assert_eq!(closed.ended().exit_code, Some(0), "{level}");
    }
}

#[test]
fn the_terminal_outlasts_each_step_and_a_pipeline_is_one_group_in_its_foreground() {
    let place = LaunchFixture::new();
    for level in available() {
        let plan = vec![
            step(None, &[&["echo", "first"]]),
            step(
                Some(Joiner::And),
                &[&["sh", "-c", "echo piped"], &["sh", "-c", "cat; read a < /dev/tty; echo \"<$a>\""]],
            ),
            step(
                Some(Joiner::And),
                &[&["sleep", "1000"], &["sh", "-c", "trap 'echo both; exit 5' INT; echo on; cat; exit 6"]],
            ),
        ];
        let process = start(&place, at_terminal(&place, level, plan));
        wait_for(async {
            let mut control = process.control().await;
            process.shows("piped");
            control.input(b"typed\n").await.expect("typed");
            process.shows("on\r\n");
            control.input(b"\x03").await.expect("typed");
        });
        assert_eq!(process.ended().exit_code, Some(5), "{level}: {}", process.out());
        assert_eq!(process.out(), "first\r\npiped\r\ntyped\r\n<typed>\r\non\r\n^Cboth\r\n", "{level}");
    }
}

#[test]
fn an_interactive_shell_has_job_control_and_its_last_words_are_kept() {
    let mut place = LaunchFixture::new();
    place.environment.push(("PS1".into(), "$ ".into()));
    require_program("bash");
    for level in available() {
        let process =
            start(&place, at_terminal(&place, level, single(&["bash", "--norc", "--noediting", "-i"])));
        wait_for(async {
            let mut control = process.control().await;
            process.shows("$ ");
            // It says so once it has the foreground: what is typed before would interrupt the shell itself.
            control.input(b"sh -c 'echo at\"\" work; sleep 1000'\n").await.expect("typed");
            process.shows("at work");
            // The first interrupt may come before the shell and its job heed one.
            eventually_some("the shell asks again", async || {
                control.input(b"\x03").await.expect("typed");
                (process.out().matches("$ ").count() >= 2).then_some(())
            })
            .await;
            // The last one may come after the shell asks again, and takes what is typed next with it. When a whole line
            // was run, no interrupt is on its way any more.
            eventually_some("a whole line is run", async || {
                control.input(b"echo wh\"\"ole\n").await.expect("typed");
                tokio::time::sleep(Duration::from_millis(200)).await;
                process.out().contains("\r\nwhole\r\n").then_some(())
            })
            .await;
            control.input(b"sleep 61 & jobs; exit 9\n").await.expect("typed");
        });
        let status = process.ended();
        assert_eq!(status.exit_code, Some(9), "{level}: {}", process.out());
        assert!(process.out().contains("Running"), "{level}: {}", process.out());
        assert!(!process.out().contains("no job control"), "{level}: {}", process.out());
        assert!(process.out().ends_with("exit\r\n"), "{level}: {:?}", process.out());
    }
}

fn signal(name: &str, process: u32) {
    let status = std::process::Command::new("kill").args([name, &process.to_string()]).status();
    assert!(status.expect("kill").success());
}

#[test]
fn a_secret_that_is_typed_reaches_the_program_and_not_the_ring() {
    let place = LaunchFixture::new();
    for level in available() {
        let script = "read secret; echo \"got $secret.\"; printf %s \"$secret\" | cut -c 1-3; printf %s \"$secret\" | wc -c; \
                      while [ ! -e go ]; do sleep 0.01; done; rm go; \
                      for part in 1 2 3 4 5 6 7; do printf %s \"$(printf %s $secret | cut -c $part)\"; done; echo; : > printed";
        let process = start(&place, at_terminal(&place, level, shell(script)));
        wait_for(async { process.control().await.secret(b"hunter2\n").await.expect("typed") });
        process.shows("7\r\n");
        // The keeper holds the beginning of a secret back for 50 ms only. It stands still while the parts are printed,
        // so that it does not matter how long that takes.
        let keeper = process.status().process_id;
        signal("-STOP", keeper);
        let state = || std::fs::read_to_string(format!("/proc/{keeper}/stat")).unwrap_or_default();
        eventually("the keeper stands still", || state().contains(") T "));
        std::fs::write(place.root().join("go"), "").expect("written");
        eventually("the parts are printed", || place.root().join("printed").exists());
        std::fs::remove_file(place.root().join("printed")).expect("removed");
        signal("-CONT", keeper);
        assert_eq!(process.ended().exit_code, Some(0), "{level}");
        let out = process.out();
        assert!(!out.contains("hunter2"), "{level}: {out}");
        assert!(out.starts_with("[secret]\r\ngot [secret].\r\nhun\r\n7\r\n"), "{level}: {out}");
        for file in std::fs::read_dir(&process.folder).expect("listed").flatten() {
            let bytes = std::fs::read(file.path()).expect("read");
            assert!(!bytes.windows(7).any(|window| window == b"hunter2"), "{level}");
        }
    }
}

#[cfg(not(feature = "portable-launch"))]
#[test]
fn a_process_with_a_terminal_cannot_type_into_it() {
    let place = LaunchFixture::new();
    require_program("python3");
    for level in available_sandboxes() {
        let script = "import fcntl,termios\ntry:\n fcntl.ioctl(0,termios.TIOCSTI,b'x')\nexcept PermissionError: print('refused')";
        let process = start(&place, at_terminal(&place, level, single(&["python3", "-c", script])));
        process.ended();
        assert_eq!(process.out(), "refused\r\n", "{level}");
    }
}
