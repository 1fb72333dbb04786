//! What a job can take of the machine's memory, and which processes go first when it runs out.

use bailiwick::contract::command::Containment;

use super::place::{LEVELS, Place, shell, single};

fn number(text: &str) -> u64 {
    text.trim().parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn the_files_of_a_job_in_memory_are_bounded_in_size_and_number() {
    let place = Place::new();
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
    let place = Place::new();
    for level in LEVELS {
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
