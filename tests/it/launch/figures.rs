//! How much processes that last take, and how much they can print.

mod stress;

use std::fs;

use bailiwick::platform::launch::kept::{KeeperRequest, State};
use bailiwick::platform::launch::levels;

use super::lasting::{children, request, start};
use super::place::{LaunchFixture, shell, single, wait_for};
use crate::needs::available;
use crate::patience::eventually;

/// Prints so many bytes, and checks that they are counted and the last of them kept.
fn output_is_counted_and_kept_within_the_budget(out: u64, err: u64) {
    let place = LaunchFixture::new();
    let script = format!("head -c {out} /dev/zero; head -c {err} /dev/zero >&2; echo last");
    let made = KeeperRequest { ring_bytes: 1 << 20, ..request(&place, levels().strongest, shell(&script)) };
    let process = start(&place, made);
    let status = process.ended();
    assert_eq!((status.stdout_bytes, status.stderr_bytes), (out + 5, err));
    assert_eq!((status.end, status.lost_bytes), (out + err + 5, 0));
    let size = |name| fs::metadata(process.folder.join(name)).expect("it exists").len();
    assert!(size("ring-a") <= 512 << 10 && size("ring-b") <= 512 << 10);
    let read = process.kept.read(0, usize::MAX).expect("read");
    let kept: usize = read.frames.iter().map(|frame| frame.bytes.len()).sum();
    assert!(kept >= 400 << 10, "{kept}");
    assert_eq!((read.skipped_bytes + kept as u64, read.next), (status.end, status.end));
    // Of two streams that are read at the same moment, none is the first.
    assert!(read.frames.iter().any(|frame| frame.bytes.ends_with(b"last\n")));
}

#[test]
fn output_is_counted_and_the_last_of_it_kept_within_the_budget() {
    output_is_counted_and_kept_within_the_budget(24 << 20, 8 << 20);
}

/// Starts 16 short processes at once, so many times at every level, and checks what is left.
fn short_processes_leave_nothing_running(rounds: i32) {
    let place = LaunchFixture::new();
    for level in available() {
        let open = |process| fs::read_dir(format!("/proc/{process}/fd")).map_or(0, Iterator::count);
        start(&place, request(&place, level, single(&["true"]))).ended();
        let launcher = wait_for(place.launcher.process_id()).expect("it runs");
        eventually("no keeper is left", || children(launcher).is_empty());
        let before = open(launcher);
        for round in 0..rounds {
            let processes: Vec<_> = (0..16)
                .map(|number| {
                    let code = (round * 16 + number) % 256;
                    (code, start(&place, request(&place, level, shell(&format!("echo {code}; exit {code}")))))
                })
                .collect();
            for (code, process) in processes {
                let status = process.ended();
                assert_eq!((status.state, status.exit_code), (State::Ended, Some(code)), "{level}");
                assert_eq!(process.out(), format!("{code}\n"), "{level}");
                fs::remove_dir_all(&process.folder).expect("removed");
            }
        }
        eventually("no keeper is left", || children(launcher).is_empty());
        eventually("nothing stays open", || open(launcher) == before);
    }
}

#[test]
fn short_processes_end_with_their_own_codes_and_leave_nothing_running() {
    short_processes_leave_nothing_running(1);
}

#[test]
fn a_full_disk_stops_neither_program_nor_keeper_and_writing_goes_on_when_there_is_room() {
    // In a process of its own, as its limit on files counts for all that it starts.
    if std::env::var_os("BAILIWICK_TEST_SMALL_FILES").is_none() {
        let status = std::process::Command::new("sh")
            .args(["-c", "ulimit -S -f 256 && exec \"$@\"", "sh"])
            .arg(std::env::current_exe().expect("this test"))
            .args(["--exact", "launch::figures::a_full_disk_stops_neither_program_nor_keeper_and_writing_goes_on_when_there_is_room"])
            .env("BAILIWICK_TEST_SMALL_FILES", "1")
            .status();
        assert!(status.expect("started").success());
        return;
    }
    let place = LaunchFixture::new();
    for level in available() {
        let script = "head -c 300000 /dev/zero; read a; printf later; read b; exit 4";
        let process = start(&place, request(&place, level, shell(script)));
        eventually("all is read", || process.status().stdout_bytes == 300_000);
        let status = process.status();
        assert_eq!(status.state, State::Running, "{level}");
        assert!((1..300_000).contains(&status.lost_bytes), "{level}: {}", status.lost_bytes);
        let read = process.kept.read(0, usize::MAX).expect("read");
        let kept: usize = read.frames.iter().map(|frame| frame.bytes.len()).sum();
        assert_eq!(kept as u64 + status.lost_bytes, 300_000, "{level}");
        assert_eq!((read.skipped_bytes, read.next), (status.lost_bytes, 300_000), "{level}");
        // As if somebody made room.
        let raised = std::process::Command::new("prlimit")
            .args(["--pid", &status.process_id.to_string(), "--fsize=unlimited:"])
            .status();
        assert!(raised.expect("prlimit").success(), "{level}");
        wait_for(async { process.control().await.input(b"\n").await.expect("taken") });
        process.shows("later");
        let lost = process.status().lost_bytes;
        wait_for(async { process.control().await.input(b"\n").await.expect("taken") });
        let ended = process.ended();
        assert_eq!((ended.exit_code, ended.lost_bytes, ended.end), (Some(4), lost, 300_005), "{level}");
        assert_eq!(lost, status.lost_bytes, "{level}");
        let read = process.kept.read(300_000, 100).expect("read");
        assert_eq!((read.frames[0].bytes.as_slice(), read.skipped_bytes), (&b"later"[..], 0), "{level}");
    }
}
