//! Plans as they are written: pipes, joiners, redirections, environment, standard streams.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use bailiwick::contract::command::{Containment, Joiner, Redirect};
use bailiwick::platform::launch::LaunchError;

use super::place::{LaunchFixture, redirected, shell, single, step, wait_for};
use crate::needs::available;

#[test]
fn runs_a_program_with_the_arguments_as_given() {
    let place = LaunchFixture::new();
    for level in available() {
        let ran = place.run(level, single(&["printf", "%s|", "a b", "$(id)", "*", "", "\"'"]));
        assert_eq!(ran.out(), "a b|$(id)|*||\"'|", "{level}");
        assert_eq!(ran.ended.held.level, level);
        assert_eq!(ran.ended.left_killed, 0);
    }
}

#[test]
fn gives_the_exit_code_or_the_signal() {
    let place = LaunchFixture::new();
    for level in available() {
        let ended = place.run(level, shell("exit 7")).ended;
        assert_eq!((ended.exit_code, ended.signal), (Some(7), None), "{level}");
        let ended = place.run(level, shell("kill -TERM $$")).ended;
        assert_eq!((ended.exit_code, ended.signal), (None, Some(15)), "{level}");
    }
}

#[test]
fn joins_pipelines_as_a_shell_does() {
    use Joiner::{And, Or, Then};
    let place = LaunchFixture::new();
    let echo = |joiner, word: &'static str| step(joiner, &[&["echo", word]]);
    let fails = |joiner| step(joiner, &[&["false"]]);
    for level in available() {
        for (plan, out, exit) in [
            (vec![echo(None, "a"), echo(Some(And), "b")], "a\nb\n", 0),
            (vec![fails(None), echo(Some(And), "b")], "", 1),
            (vec![fails(None), echo(Some(Or), "b")], "b\n", 0),
            (vec![echo(None, "a"), echo(Some(Or), "b")], "a\n", 0),
            (vec![fails(None), echo(Some(Then), "b")], "b\n", 0),
            (vec![fails(None), echo(Some(And), "b"), echo(Some(Or), "c")], "c\n", 0),
            (vec![echo(None, "a"), echo(Some(Or), "b"), echo(Some(And), "c")], "a\nc\n", 0),
        ] {
            let ran = place.run(level, plan);
            assert_eq!((ran.out.as_str(), ran.ended.exit_code), (out, Some(exit)), "{level}");
        }
    }
}

#[test]
fn wires_pipes_and_ends_a_writer_whose_reader_is_gone() {
    let place = LaunchFixture::new();
    for level in available() {
        let plan = vec![step(None, &[&["printf", "b\\na\\nc\\n"], &["sort"], &["head", "-n", "1"]])];
        assert_eq!(place.run(level, plan).out(), "a\n", "{level}");
        // `yes` never ends on its own: it needs the default answer to SIGPIPE.
        let plan = vec![step(None, &[&["yes"], &["head", "-n", "2"]])];
        assert_eq!(place.run(level, plan).out(), "y\ny\n", "{level}");
    }
}

#[test]
fn redirects_in_the_written_order() {
    use Redirect::{StderrToNull, StderrToStdout, StdinFromNull, StdoutToNull, StdoutToStderr};
    let place = LaunchFixture::new();
    let script = &["sh", "-c", "echo out; echo err >&2; cat"];
    for level in available() {
        for (redirects, out, err) in [
            (&[][..], "out\n", "err\n"),
            (&[StdoutToNull], "", "err\n"),
            (&[StderrToNull], "out\n", ""),
            (&[StderrToStdout], "out\nerr\n", ""),
            (&[StdoutToStderr], "", "out\nerr\n"),
            (&[StdoutToNull, StderrToStdout], "", ""),
            (&[StderrToStdout, StdoutToNull], "err\n", ""),
            (&[StdinFromNull], "out\n", "err\n"),
        ] {
            let ran = place.run(level, redirected(script, redirects));
            assert_eq!((ran.out.as_str(), ran.err.as_str()), (out, err), "{level} {redirects:?}");
        }
    }
}

#[test]
fn the_environment_is_exactly_what_was_given() {
    let mut place = LaunchFixture::new();
    place.environment = vec![("A".into(), "1".into()), ("B".into(), "x=y z".into())];
    for level in available() {
        let ran = place.run(level, single(&["env"]));
        let mut lines: Vec<&str> = ran.out().lines().collect();
        if cfg!(feature = "portable-launch") {
            // By this mark the processes of a job are found.
            assert!(lines.pop().is_some_and(|line| line.starts_with("BAILIWICK_JOB=")));
        }
        assert_eq!(lines, ["A=1", "B=x=y z"], "{level}");
    }
}

#[test]
fn a_program_gets_three_streams_no_signal_set_aside_and_the_users_umask() {
    let place = LaunchFixture::new();
    let umask = fs::metadata({
        let path = place.outside().join("made");
        fs::write(&path, "").expect("written");
        path
    })
    .expect("exists")
    .permissions()
    .mode();
    for level in available() {
        let ran = place.run(level, shell("ls /proc/self/fd | tr '\\n' ' '"));
        // The fourth is the folder that `ls` reads.
        assert_eq!(ran.out(), "0 1 2 3 ", "{level}");
        let ran = place.run(level, single(&["grep", "-E", "^Sig(Blk|Ign):", "/proc/self/status"]));
        for line in ran.out().lines() {
            // Two signals belong to the C library of Linux, which the portable form leaves alone.
            let kept =
                if cfg!(feature = "portable-launch") { "\t0000000180000000" } else { "\t0000000000000000" };
            let is_none = line.ends_with("\t0000000000000000");
            assert!(is_none || line.ends_with(kept), "{level}: {line}");
        }
        place.run(level, shell("rm -f made; : > made"));
        let mode = fs::metadata(place.root().join("made")).expect("made").permissions().mode();
        assert_eq!(mode, umask, "{level}");
    }
}

#[test]
fn works_in_the_folder_that_was_opened() {
    let place = LaunchFixture::new();
    for level in available() {
        let ran = place.run(level, shell("pwd; echo hello > file; cat file"));
        assert_eq!(ran.out(), format!("{}\nhello\n", place.root().display()), "{level}");
    }
}

#[test]
fn a_program_that_is_not_the_checked_file_does_not_start() {
    let place = LaunchFixture::new();
    let program = place.root().join("program");
    let write = |text: &str| {
        let _ = fs::remove_file(&program);
        fs::write(&program, text).expect("written");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("set");
    };
    for level in available() {
        write("#!/bin/sh\necho checked\n");
        let plan = single(&[program.to_str().expect("UTF-8")]);
        assert_eq!(place.run(level, plan.clone()).out(), "checked\n", "{level}");
        // The old file is kept, so that the new one cannot have its number.
        fs::rename(&program, place.root().join("old")).expect("renamed");
        write("#!/bin/sh\necho swapped\n");
        let error = wait_for(place.try_run(level, plan)).expect_err("another file");
        assert_eq!(error, LaunchError::ProgramChanged(program.clone()), "{level}");
    }
}

#[test]
fn a_program_that_cannot_be_executed_is_an_error_that_names_the_step() {
    let place = LaunchFixture::new();
    let program = place.root().join("program");
    fs::write(&program, "no program").expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("set");
    for level in available() {
        let plan = single(&[program.to_str().expect("UTF-8")]);
        match wait_for(place.try_run(level, plan)) {
            Err(LaunchError::Step { step, .. }) => assert_eq!(step, "execute", "{level}"),
            other => panic!("{level}: {other:?}"),
        }
    }
}

#[test]
fn a_level_that_is_not_named_by_the_hold_is_never_weakened() {
    let place = LaunchFixture::new();
    for level in available() {
        let held = place.run(level, single(&["true"])).ended.held;
        assert_eq!(held.level, level);
        assert_eq!(held.degraded, level != Containment::Full);
        assert_eq!(held.open.is_empty(), level == Containment::Full, "{level}: {:?}", held.open);
    }
}
