//! What a job can take of the machine's memory, and which processes go first when it runs out.

use std::time::Duration;

use bailiwick::contract::command::Containment;
use bailiwick::platform::launch::kept::State;

use super::lasting::{request, start};
use super::place::{LaunchFixture, shell, single, wait_for};
use crate::needs::{available, lacks_full_sandbox};

fn number(text: &str) -> u64 {
    text.trim().parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn the_files_of_a_job_in_memory_are_bounded_in_size_and_number() {
    if lacks_full_sandbox() {
        return;
    }
    let place = LaunchFixture::new();
    let total = std::fs::read_to_string("/proc/meminfo").expect("it can be read");
    let total = total.lines().find_map(|line| line.strip_prefix("MemTotal:")).expect("a line");
    let total = number(total.trim_end_matches("kB")) << 10;
    let script = "for at in /tmp /dev/shm; do stat -f -c '%b %S %c' $at; stat -c %d $at; done";
    let ran = place.run(Containment::Full, shell(script));
    let lines: Vec<&str> = ran.out().lines().collect();
    assert_eq!(lines[..2], lines[2..], "both are one file system: {lines:?}");
    let facts: Vec<u64> = lines[0].split(' ').map(number).collect();
    let size = facts[0] * facts[1];
    assert!(size <= 2 << 30 && size <= total / 8, "{size} of {total}");
    assert!(size >= (total / 8).min(1 << 30), "{size} of {total}: tools need some");
    assert!(facts[2] <= 200_000, "{facts:?}");
    let ran = place.run(Containment::Full, single(&["fallocate", "-l", "3G", "/tmp/large"]));
    assert!(ran.ended.exit_code != Some(0) && ran.err.contains("No space left"), "{ran:?}");
}

#[test]
fn jobs_are_ended_before_others_when_memory_runs_out_and_cannot_take_that_back() {
    let place = LaunchFixture::new();
    for level in available() {
        let ran = place.run(level, shell("cat /proc/self/oom_score_adj; cat /proc/$PPID/oom_score_adj"));
        let scores: Vec<u64> = ran.out().lines().map(number).collect();
        assert_eq!(scores[0], 500, "{level}");
        if level > Containment::None {
            let ran =
                place.run(level, shell("echo 0 > /proc/self/oom_score_adj || cat /proc/self/oom_score_adj"));
            assert_eq!(ran.out(), "500\n", "{level}");
        }
    }
    let own = std::fs::read_to_string("/proc/self/oom_score_adj").expect("it can be read");
    assert!(number(&own) < 500, "the service keeps its own");
}

/// A place whose jobs may take so many megabytes together, and whose processes can do no harm if nothing ends them.
fn limited(megabytes: u64) -> LaunchFixture {
    let mut place = LaunchFixture::new();
    place.limits.job_memory_bytes = Some(megabytes << 20);
    place.limits.memory_bytes = Some(2 << 30);
    place
}

/// Runs a script that takes more memory than it may, and then would wait for ever.
fn is_ended_for_its_memory(place: &LaunchFixture, level: Containment, script: &str) {
    let ended = place.run(level, shell(script)).ended;
    let excess = ended.memory_excess.unwrap_or_else(|| panic!("{level} {script}: {ended:?}"));
    assert_eq!((ended.exit_code, ended.signal), (None, Some(9)), "{level} {script}");
    assert_eq!(Some(excess.limit), place.limits.job_memory_bytes, "{level} {script}");
    assert!(excess.taken > excess.limit, "{level} {script}: {excess:?}");
}

#[test]
fn a_job_that_takes_more_memory_than_it_may_is_ended_however_it_takes_it() {
    let place = limited(96);
    let takes = "b = b'x' * (160 << 20)";
    let scripts = [
        // One process, and what comes after it is not started.
        format!("python3 -c \"{takes}; input()\" < /dev/zero | sleep 1000; sleep 1000"),
        // A process that continues taking.
        "tail /dev/zero".to_owned(),
        // Four that take less than the limit each.
        "for at in 1 2 3 4; do python3 -c \"b = b'x' * (40 << 20); import time; time.sleep(1000)\" & done; wait".to_owned(),
        // Memory that is shared with children, and memory that has only a handle.
        "python3 -c \"import mmap,time; m = mmap.mmap(-1, 160 << 20); m.write(b'x' * (160 << 20)); time.sleep(1000)\"".to_owned(),
        "python3 -c \"import os,time; f = os.memfd_create('m')\nfor _ in range(160): os.write(f, b'x' * (1 << 20))\ntime.sleep(1000)\"".to_owned(),
    ];
    for level in available() {
        for script in &scripts {
            is_ended_for_its_memory(&place, level, script);
        }
    }
}

#[test]
fn files_in_memory_count_for_a_full_sandbox_and_what_uses_them_is_counted_once() {
    if lacks_full_sandbox() {
        return;
    }
    let place = limited(96);
    is_ended_for_its_memory(
        &place,
        Containment::Full,
        "head -c 64M /dev/zero > /tmp/a; head -c 64M /dev/zero > /dev/shm/b; sleep 1000",
    );
    // Counted for each of them, and as a file besides, the block would be too much.
    let place = limited(240);
    let shares = "import mmap,os,time\nf = open('/dev/shm/a', 'w+b'); f.truncate(64 << 20)\n\
                  m = mmap.mmap(f.fileno(), 64 << 20); m.write(b'x' * (64 << 20))\n\
                  for _ in range(3):\n  if os.fork() == 0: break\n\
                  sum(m[at] for at in range(0, 64 << 20, 4096)); time.sleep(0.5)";
    let ran = place.run(Containment::Full, single(&["python3", "-c", shares]));
    assert_eq!((ran.ended.exit_code, ran.ended.memory_excess), (Some(0), None), "{ran:?}");
}

#[test]
fn a_job_below_its_limit_is_left_alone_though_its_processes_share_much() {
    let place = limited(160);
    // Each child sees the whole block, which is there once.
    let script = "import os,time\nb = b'x' * (80 << 20)\n\
                  for _ in range(4):\n  if os.fork() == 0: time.sleep(0.5); os._exit(0)\n\
                  while True:\n  try: os.wait()\n  except ChildProcessError: break";
    for level in available() {
        let ran = place.run(level, single(&["python3", "-c", script]));
        assert_eq!((ran.ended.exit_code, ran.ended.memory_excess), (Some(0), None), "{level}: {ran:?}");
    }
}

#[test]
fn a_process_that_lasts_is_measured_also_while_it_is_asked_to_end() {
    let place = limited(96);
    let script = "trap 'tail /dev/zero' TERM; echo ready; while :; do sleep 0.1; done";
    for level in available() {
        let process = start(&place, request(&place, level, shell(script)));
        process.shows("ready");
        let long = Duration::from_secs(1000);
        wait_for(async { process.control().await.stop(15, long).await.expect("asked") });
        let status = process.ended();
        let excess = status.memory_excess.unwrap_or_else(|| panic!("{level}: {status:?}"));
        assert!(excess.taken > excess.limit && excess.limit == 96 << 20, "{level}: {excess:?}");
        assert_eq!((status.state, status.exit_code, status.signal), (State::Ended, None, Some(9)), "{level}");
    }
}
