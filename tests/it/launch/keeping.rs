//! Processes that last: what they print, how they end, what they are given.

use std::fs;
use std::time::Duration;

use bailiwick::contract::command::{Containment, Joiner};
use bailiwick::platform::launch::LaunchError;
use bailiwick::platform::launch::kept::{Control, ControlError, Event, Input, KeeperRequest, State, Stream};

use super::lasting::{DurableProcess, lives, request, start, try_start};
use super::place::{LaunchFixture, shell, single, step, wait_for};
use crate::needs::{available, lacks_full_sandbox};
use crate::patience::{PATIENCE, eventually};

#[test]
fn what_is_printed_is_kept_by_stream_with_the_exit_code() {
    let place = LaunchFixture::new();
    for level in available() {
        let process = start(&place, request(&place, level, shell("echo out; echo err >&2; exit 7")));
        let status = process.ended();
        assert_eq!((status.state, status.exit_code, status.signal), (State::Ended, Some(7), None), "{level}");
        assert_eq!((process.out().as_str(), process.printed(Stream::Stderr).as_str()), ("out\n", "err\n"));
        assert_eq!((status.stdout_bytes, status.stderr_bytes, status.end), (4, 4, 8), "{level}");
        assert_eq!((status.lost_bytes, status.left_killed, status.timed_out), (0, 0, false), "{level}");
        assert_eq!(status.held, process.held, "{level}");
        assert_eq!(status.held.level, level);
        assert!(status.ended_at_ms >= Some(status.started_at_ms), "{level}: {status:?}");
        eventually("the keeper is gone", || !lives(status.process_id));
        assert_eq!(wait_for(Control::connect(&process.folder)).expect_err("gone"), ControlError::Gone);
    }
}

#[test]
fn a_later_step_runs_after_an_earlier_one_and_with_the_same_input() {
    let place = LaunchFixture::new();
    for level in available() {
        let plan = vec![
            step(None, &[&["head", "-c", "2"]]),
            step(Some(Joiner::And), &[&["cat"], &["tr", "a-z", "A-Z"]]),
            step(Some(Joiner::Or), &[&["echo", "not"]]),
        ];
        let process = start(&place, request(&place, level, plan));
        wait_for(async {
            let mut control = Control::connect(&process.folder).await.expect("connected");
            control.input(b"a\n").await.expect("taken");
            process.shows("a\n");
            control.input(b"more\n").await.expect("taken");
            control.close_input().await.expect("closed");
        });
        assert_eq!(process.ended().exit_code, Some(0), "{level}");
        assert_eq!(process.out(), "a\nMORE\n", "{level}");
    }
}

#[test]
fn an_error_of_the_start_is_told_and_leaves_nothing() {
    let place = LaunchFixture::new();
    let program = place.root().join("program");
    fs::write(&program, "no program").expect("written");
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
    for level in available() {
        let made = request(&place, level, single(&[program.to_str().expect("UTF-8")]));
        let folder = made.folder.clone();
        match try_start(&place, made) {
            Err(LaunchError::Step { step, .. }) => assert_eq!(step, "execute", "{level}"),
            other => panic!("{level}: {:?}", other.map(|process| process.status())),
        }
        let status = DurableProcess::found(&folder).ended();
        assert_eq!(status.state, State::Failed, "{level}");
        assert!(status.failure.is_some_and(|why| why.contains("execute")), "{level}");
    }
}

#[test]
fn input_is_taken_whole_until_too_much_waits_and_closed_after_it() {
    let place = LaunchFixture::new();
    for level in available() {
        let script = "while [ ! -e go ]; do sleep 0.01; done; rm go; cat | wc -c";
        let process = start(&place, request(&place, level, shell(script)));
        let taken = wait_for(async {
            let mut control = process.control().await;
            let piece = vec![b'x'; 60 << 10];
            let mut taken = 0;
            let refused = loop {
                match control.input(&piece).await {
                    Ok(()) => taken += piece.len(),
                    Err(refused) => break refused,
                }
                assert!(taken < 1 << 20, "{level}");
            };
            assert_eq!(refused, ControlError::Full, "{level}");
            assert_eq!(control.input(&vec![0; 65 << 10]).await, Err(ControlError::TooLong), "{level}");
            control.close_input().await.expect("closed");
            assert_eq!(control.input(b"x").await, Err(ControlError::NoInput), "{level}");
            taken
        });
        fs::write(place.root().join("go"), "").expect("written");
        assert_eq!(process.ended().exit_code, Some(0), "{level}");
        assert_eq!(process.out().trim(), taken.to_string(), "{level}");
    }
}

#[test]
fn without_input_the_program_reads_nothing_and_nothing_is_taken() {
    let place = LaunchFixture::new();
    for level in available() {
        let made = KeeperRequest {
            input: Input::Null,
            ..request(&place, level, shell("cat; echo done; sleep 1000"))
        };
        let process = start(&place, made);
        process.shows("done\n");
        wait_for(async {
            let mut control = Control::connect(&process.folder).await.expect("connected");
            assert_eq!(control.input(b"x").await, Err(ControlError::NoInput), "{level}");
            assert_eq!(control.close_input().await, Err(ControlError::NoInput), "{level}");
            let size = bailiwick::platform::launch::kept::TerminalSize { rows: 1, columns: 1 };
            assert_eq!(control.resize(size).await, Err(ControlError::NoTerminal), "{level}");
            control.stop(15, Duration::ZERO).await.expect("stopped");
        });
        assert_eq!(process.ended().signal, Some(9), "{level}");
    }
}

#[test]
fn a_watcher_is_told_of_output_and_of_the_end() {
    let place = LaunchFixture::new();
    for level in available() {
        let process = start(&place, request(&place, level, shell("read a; echo one; read b; echo two")));
        wait_for(async {
            let mut watcher = Control::connect(&process.folder).await.expect("connected");
            let mut control = Control::connect(&process.folder).await.expect("connected");
            watcher.watch().await.expect("watching");
            assert_eq!(watcher.next_event().await, Ok(Event::Output { end: 0 }), "{level}");
            control.input(b"\n").await.expect("taken");
            assert_eq!(watcher.next_event().await, Ok(Event::Output { end: 4 }), "{level}");
            assert_eq!(process.out(), "one\n", "{level}");
            control.input(b"\n").await.expect("taken");
            assert_eq!(watcher.next_event().await, Ok(Event::Output { end: 8 }), "{level}");
            assert_eq!(watcher.next_event().await, Ok(Event::Ended), "{level}");
            assert_eq!(process.status().exit_code, Some(0), "{level}");
            assert_eq!(watcher.next_event().await, Err(ControlError::Gone), "{level}");
        });
    }
}

#[test]
fn a_stop_asks_first_and_kills_after_the_grace() {
    let place = LaunchFixture::new();
    for level in available() {
        let heeds = start(
            &place,
            request(
                &place,
                level,
                shell("trap 'echo bye; exit 3' USR1; echo on; while :; do sleep 0.01; done"),
            ),
        );
        let ignores = start(
            &place,
            request(&place, level, shell("trap '' TERM; echo on; while :; do sleep 0.01; done")),
        );
        heeds.shows("on");
        ignores.shows("on");
        wait_for(async {
            heeds.control().await.stop(10, *PATIENCE).await.expect("asked");
            ignores.control().await.stop(15, Duration::from_millis(100)).await.expect("asked");
        });
        assert_eq!(heeds.ended().exit_code, Some(3), "{level}");
        assert_eq!(heeds.out(), "on\nbye\n", "{level}");
        assert_eq!(ignores.ended().signal, Some(9), "{level}");
    }
}

#[test]
fn a_plan_whose_time_is_over_is_ended_and_says_so() {
    let place = LaunchFixture::new();
    for level in available() {
        let max_time = Duration::from_millis(200);
        let process =
            start(&place, KeeperRequest { max_time, ..request(&place, level, single(&["sleep", "1000"])) });
        let status = process.ended();
        assert_eq!((status.signal, status.timed_out), (Some(15), true), "{level}");
    }
}

#[test]
fn the_temporary_folder_and_placeholders_are_gone_after_the_end() {
    let mut place = LaunchFixture::new();
    place.protected = vec![place.root().join(".git/hooks")];
    for level in available() {
        let temporary = place.outside().join("temporary");
        fs::create_dir(&temporary).expect("made");
        fs::create_dir_all(temporary.join("a/b/c")).expect("made");
        fs::write(temporary.join("a/b/file"), "x").expect("written");
        std::os::unix::fs::symlink(place.root(), temporary.join("a/link")).expect("linked");
        fs::write(place.root().join("stays"), "x").expect("written");
        fs::set_permissions(temporary.join("a/b"), std::os::unix::fs::PermissionsExt::from_mode(0o000))
            .expect("set");
        let made = KeeperRequest {
            temporary: Some(temporary.clone()),
            ..request(&place, level, shell("mkdir -p .git/hooks; read a"))
        };
        let process = start(&place, made);
        if level == Containment::Full {
            eventually("the name is taken", || place.root().join(".git").is_dir());
        }
        assert!(temporary.exists(), "{level}");
        wait_for(async { process.control().await.close_input().await.expect("closed") });
        process.ended();
        eventually("the folder is gone", || !temporary.exists());
        assert!(place.root().join("stays").exists(), "{level}");
        if level == Containment::Full {
            eventually("what meant the name is gone", || !place.root().join(".git").exists());
        } else {
            fs::remove_dir_all(place.root().join(".git")).expect("the program made it");
        }
    }
}

#[cfg(not(feature = "portable-launch"))]
#[test]
fn a_protected_name_stays_protected_when_other_jobs_and_the_service_end() {
    if lacks_full_sandbox() {
        return;
    }
    let mut place = LaunchFixture::new();
    place.protected = vec![place.root().join(".git/hooks")];
    let script = "while [ ! -e go ]; do sleep 0.01; done; mkdir -p .git/hooks 2>/dev/null && echo made || echo refused";
    let process = start(&place, request(&place, Containment::Full, shell(script)));
    let other = start(&place, request(&place, Containment::Full, shell("true")));
    place.run(Containment::Full, single(&["true"]));
    other.ended();
    place.run(Containment::None, shell("true"));
    let launcher = wait_for(place.launcher.process_id()).expect("it runs");
    place.launcher = bailiwick::platform::launch::Launcher::with_program(super::place::bailiwick_program());
    place.run(Containment::Full, single(&["true"]));
    assert!(place.root().join(".git").is_dir(), "something means the name");
    fs::write(place.root().join("go"), "").expect("written");
    process.ended();
    assert_eq!(process.out(), "refused\n");
    eventually("what meant the name is gone", || !place.root().join(".git").exists());
    eventually("the launcher is gone", || !lives(launcher));
}

#[cfg(not(feature = "portable-launch"))]
#[test]
fn many_protected_names_that_do_not_exist_are_held_or_refused_as_a_whole() {
    if lacks_full_sandbox() {
        return;
    }
    let mut place = LaunchFixture::new();
    let names = |count: usize| -> Vec<_> {
        (0..count).map(|number| place.root().join(format!("name-{number}"))).collect()
    };
    let (some, many) = (names(100), names(130));
    place.protected = some;
    let process =
        start(&place, request(&place, Containment::Full, shell("mkdir name-99 2>/dev/null || echo refused")));
    assert_eq!(process.ended().exit_code, Some(0));
    assert_eq!(process.out(), "refused\n");
    place.protected = many;
    match try_start(&place, request(&place, Containment::Full, shell("true"))) {
        Err(LaunchError::Step { step, .. }) => assert_eq!(step, "protect names"),
        other => panic!("{:?}", other.map(|process| process.status())),
    }
    eventually("nothing means the names", || fs::read_dir(place.root()).expect("listed").count() == 0);
}
