//! Nothing is left: after the end, a stop, a drop, the end of the service, and its sudden death.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::place::{LaunchFixture, level_named, shell, single, wait_for};
use crate::needs::{available, available_sandboxes};
use crate::patience::{PATIENCE, eventually};
use crate::system::tell;
use crate::temporary::TemporaryFolder;

/// Starts processes that leave their parent, their group and their session, and take no notice of SIGTERM.
/// Each carries a mark in its arguments, and makes a file `up.MARK.NUMBER` when it takes no notice any more.
fn detach(mark: &str) -> String {
    format!(
        "for i in 1 2 3; do (setsid sh -c 'trap \"\" TERM HUP INT; (sleep 1000.{mark}; :) & : > up.{mark}.$$; while :; do sleep 1000.{mark}; done' &) & done; "
    )
}

/// Counts the processes that carry a mark.
fn marked(mark: &str) -> usize {
    let mut count = 0;
    for entry in fs::read_dir("/proc").expect("processes").flatten() {
        if entry.file_name().to_string_lossy().parse::<u32>().is_err() {
            continue;
        }
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        count += usize::from(String::from_utf8_lossy(&line).contains(&format!("1000.{mark}")));
    }
    count
}

fn mark() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Of one length, so that no mark is the beginning of another.
    format!("{:07}{:04}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

#[test]
fn detached_processes_are_gone_when_the_plan_has_ended() {
    let place = LaunchFixture::new();
    for level in available() {
        let mark = mark();
        // Ends once all of them run, so that there is something to kill.
        let all_run = format!("until [ $(ls | grep -c up.{mark}) = 3 ]; do sleep 0.01; done");
        let script = format!("{} {all_run}; exit 5", detach(&mark));
        let ended = place.run(level, shell(&script)).ended;
        assert_eq!(marked(&mark), 0, "{level}");
        assert_eq!(ended.exit_code, Some(5), "{level}");
        assert!(ended.left_killed >= 3, "{level}: {}", ended.left_killed);
    }
}

#[test]
fn a_stop_ends_what_listens_and_kills_what_does_not() {
    // What does not listen lives until the grace is over: the levels share that time.
    const GRACE: Duration = Duration::from_secs(5);
    let place = LaunchFixture::new();
    let marks: Vec<_> = available().into_iter().map(|level| (level, mark())).collect();
    wait_for(async {
        let mut running = Vec::new();
        for (level, mark) in &marks {
            // The command itself heeds the signal, in its own way.
            let script = format!("trap 'exit 3' TERM; {} while :; do sleep 0.01; done", detach(mark));
            running.push(place.start(*level, shell(&script)).await.expect("started"));
            eventually("they run", || marked(mark) >= 6);
        }
        for running in &running {
            running.job.stop(GRACE);
        }
        for (running, (level, mark)) in running.into_iter().zip(&marks) {
            let ended = running.end().await.expect("ended").ended;
            assert_eq!(ended.exit_code, Some(3), "{level}");
            assert_eq!(marked(mark), 0, "{level}");
        }
    });
}

#[test]
fn a_stop_without_grace_kills_at_once_and_starts_no_later_step() {
    let place = LaunchFixture::new();
    for level in available() {
        wait_for(async {
            let mut plan = shell("trap '' TERM; echo ready; while :; do sleep 0.01; done");
            plan.push(super::place::step(
                Some(bailiwick::contract::command::Joiner::Then),
                &[&["echo", "later"]],
            ));
            let running = place.start(level, plan).await.expect("started");
            running.job.stop(Duration::ZERO);
            let ran = running.end().await.expect("ended");
            assert_eq!(ran.ended.signal, Some(9), "{level}");
            assert!(!ran.out.contains("later"), "{level}");
        });
    }
}

#[test]
fn a_dropped_job_is_killed_as_a_whole() {
    let place = LaunchFixture::new();
    for level in available() {
        let mark = mark();
        let script = format!("{} sleep 1000.{mark}", detach(&mark));
        let running = wait_for(place.start(level, shell(&script))).expect("started");
        eventually("they run", || marked(&mark) >= 7);
        drop(running);
        eventually("nothing is left", || marked(&mark) == 0);
    }
}

#[test]
fn a_launcher_that_is_killed_is_started_anew_and_its_jobs_go_on() {
    let place = LaunchFixture::new();
    for level in available() {
        wait_for(async {
            let script = "while [ ! -e go ]; do sleep 0.01; done; rm go; echo done";
            let running = place.start(level, shell(script)).await.expect("started");
            let old = place.launcher.process_id().await.expect("it runs");
            assert!(Command::new("kill").args(["-9", &old.to_string()]).status().expect("kill").success());
            eventually("it is gone", || {
                fs::read_to_string(format!("/proc/{old}/stat")).map_or(true, |stat| stat.contains(") Z "))
            });
            assert_eq!(place.try_run(level, single(&["echo", "again"])).await.expect("ran").out(), "again\n");
            assert_ne!(place.launcher.process_id().await, Some(old), "{level}");
            fs::write(place.root().join("go"), "").expect("written");
            assert_eq!(running.end().await.expect("ended").out(), "done\n", "{level}");
        });
    }
}

#[test]
fn what_a_killed_supervisor_leaves_is_killed_by_the_launcher() {
    let place = LaunchFixture::new();
    for level in available() {
        let mark = mark();
        wait_for(async {
            let script = format!("{} sleep 1000.{mark}", detach(&mark));
            let running = place.start(level, shell(&script)).await.expect("started");
            eventually("they run", || marked(&mark) >= 7);
            let launcher = place.launcher.process_id().await.expect("it runs");
            eventually("the supervisor of an earlier level is gone", || children(launcher).len() == 1);
            let supervisor = children(launcher);
            assert!(Command::new("kill").args(["-9", &supervisor[0]]).status().expect("kill").success());
            running.end().await.expect_err("nobody can tell the end");
            eventually("nothing is left", || marked(&mark) == 0);
        });
    }
}

fn children(process: u32) -> Vec<String> {
    let list = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    list.split_ascii_whitespace().map(str::to_owned).collect()
}

/// The environment variable by which a test in another process becomes the service that is killed.
const SERVICE: &str = "BAILIWICK_TEST_SERVICE_LEVEL";

/// Serves until its parent kills it, or ends.
fn serve(level: &str) {
    let level = level_named(level);
    let mark = std::env::var("BAILIWICK_TEST_MARK").expect("a mark");
    let place = LaunchFixture::new();
    let script = format!("{} sleep 1000.{mark}", detach(&mark));
    let _running = wait_for(place.start(level, shell(&script))).expect("started");
    eventually("they run", || marked(&mark) >= 7);
    tell(&format!("root {}", place.outside().display()));
    std::io::stdin().read_to_end(&mut Vec::new()).expect("its parent has ended");
}

#[test]
fn nothing_survives_the_sudden_death_of_the_service() {
    if let Ok(level) = std::env::var(SERVICE) {
        return serve(&level);
    }
    for level in available() {
        let mark = mark();
        let mut service = Command::new(std::env::current_exe().expect("this test"))
            .args([
                "--exact",
                "launch::killing::nothing_survives_the_sudden_death_of_the_service",
                "--nocapture",
            ])
            .env(SERVICE, level.as_str())
            .env("BAILIWICK_TEST_MARK", &mark)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let mut lines = BufReader::new(service.stdout.take().expect("piped")).lines();
        let root =
            lines.find_map(|line| line.ok()?.strip_prefix("root ").map(str::to_owned)).expect("it runs");
        let launcher = children_of_all_threads(service.id());
        service.kill().expect("killed");
        service.wait().expect("waited for");
        eventually("nothing is left", || marked(&mark) == 0);
        eventually("the launcher is gone", || {
            launcher.iter().all(|process| !Path::new("/proc").join(process).exists())
        });
        fs::remove_dir_all(root).expect("removed");
        assert_eq!(launcher.len(), 1, "{level}");
    }
}

fn children_of_all_threads(process: u32) -> Vec<String> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).expect("threads");
    let lists = threads
        .flatten()
        .map(|thread| fs::read_to_string(thread.path().join("children")).unwrap_or_default());
    lists.flat_map(|list| list.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// What of this process and the machine a job could leave behind.
#[derive(Debug, PartialEq, Eq)]
struct Traces {
    own_descriptors: usize,
    launcher_descriptors: usize,
    launcher_children: usize,
    mounts: usize,
    in_root: usize,
    in_home: usize,
    in_temporary: usize,
}

impl Traces {
    fn of(place: &LaunchFixture) -> Self {
        let launcher = wait_for(place.launcher.process_id()).expect("it runs");
        let count = |path: String| fs::read_dir(path).expect("a folder").count();
        Self {
            own_descriptors: count("/proc/self/fd".to_owned()),
            launcher_descriptors: count(format!("/proc/{launcher}/fd")),
            launcher_children: children(launcher).len(),
            mounts: fs::read_to_string("/proc/self/mountinfo").expect("mounts").lines().count(),
            in_root: count(place.root().display().to_string()),
            in_home: count(place.outside().join("home").display().to_string()),
            in_temporary: count(std::env::temp_dir().display().to_string()),
        }
    }
}

/// The environment variable by which a test runs in another process, with a temporary folder of its own.
const ALONE: &str = "BAILIWICK_TEST_ALONE";

/// Runs jobs one after another and some at once, and compares what is there before and after.
///
/// In a process and a temporary folder of its own: tests beside this one leave traces while they run.
pub(super) fn jobs_leave_no_trace(test: &str, jobs: usize, at_once: usize) {
    if std::env::var_os(ALONE).is_none() {
        let folder = TemporaryFolder::new();
        let status = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", test])
            .env(ALONE, "1")
            .env("TMPDIR", folder.path())
            .status();
        assert!(status.expect("started").success());
        return;
    }
    let mut place = LaunchFixture::new();
    place.protected = vec![place.root().join(".git/hooks"), place.root().join(".git/config")];
    for level in available() {
        // The first ones open what stays open: a launcher, a runtime.
        for _ in 0..3 {
            place.run(level, single(&["true"]));
        }
        let launcher = wait_for(place.launcher.process_id()).expect("it runs");
        eventually("the last supervisor is gone", || children(launcher).is_empty());
        let before = Traces::of(&place);
        for _ in 0..jobs {
            place.run(level, single(&["true"]));
        }
        wait_for(async {
            let place = &place;
            let mut running = Vec::new();
            for _ in 0..at_once {
                running.push(place.start(level, shell("sleep 0.05 & echo x")).await.expect("started"));
            }
            for job in running {
                assert_eq!(job.end().await.expect("ended").out, "x\n", "{level}");
            }
        });
        let began = Instant::now();
        while Traces::of(&place) != before && began.elapsed() < *PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(Traces::of(&place), before, "{level}");
    }
}

#[test]
fn jobs_one_after_another_and_at_once_leave_no_trace() {
    jobs_leave_no_trace("launch::killing::jobs_one_after_another_and_at_once_leave_no_trace", 8, 4);
}

#[test]
fn a_writer_ends_when_the_reader_of_its_output_is_gone() {
    let place = LaunchFixture::new();
    for level in available() {
        let (request, out, _err) = place.request(level, single(&["yes"]));
        let mut job = wait_for(place.launcher.launch(request)).expect("started");
        drop(out);
        let ended = wait_for(job.ended()).expect("ended");
        assert_eq!((ended.exit_code, ended.signal), (None, Some(13)), "{level}");
    }
}

#[test]
fn waiting_for_the_end_can_be_given_up_and_begun_again() {
    let place = LaunchFixture::new();
    for level in available() {
        wait_for(async {
            let (request, _out, _err) = place.request(level, shell("sleep 0.2; exit 4"));
            let mut job = place.launcher.launch(request).await.expect("started");
            while tokio::time::timeout(Duration::from_millis(1), job.ended()).await.is_err() {}
            assert_eq!(job.ended().await.expect("the same again").exit_code, Some(4), "{level}");
        });
    }
}

#[test]
fn a_command_that_signals_its_group_ends_itself_alone() {
    let place = LaunchFixture::new();
    for level in available() {
        let plan = vec![
            super::place::step(None, &[&["sh", "-c", "kill -TERM 0"]]),
            super::place::step(Some(bailiwick::contract::command::Joiner::Or), &[&["echo", "on"]]),
        ];
        assert_eq!(place.run(level, plan).out(), "on\n", "{level}");
    }
}

#[cfg(not(feature = "portable-launch"))]
#[test]
fn a_supervisor_cannot_be_killed_or_stopped_from_inside() {
    let place = LaunchFixture::new();
    for level in available_sandboxes() {
        let script = "kill -9 $PPID; kill -STOP $PPID; kill -9 1; echo still here";
        let ran = place.run(level, shell(script));
        assert_eq!(ran.out(), "still here\n", "{level}");
    }
}
