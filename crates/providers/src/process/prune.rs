//! Removing what is kept of processes that are over: what is old, and what is too much.

use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use bailiwick_platform::fs::{RetainedThings, RetentionLimits};

use super::processes::FolderFacts;
use super::{Process, Processes, folders};

/// What is kept of processes, those that live included: 24 hours, and no more on disk than this. The oldest that are over go
/// first.
pub(super) const LIMITS: RetentionLimits = RetentionLimits {
    max_age: Duration::from_hours(24),
    max_bytes: 512 << 20,
    max_parts: 4_096,
    part_bytes: 0,
    part_things: 1,
    part_span: Duration::ZERO,
};
/// The time between two looks for what is old, and between two where there is little room.
const EVERY: Duration = Duration::from_secs(20);
const EVERY_WHEN_FULL: Duration = Duration::from_secs(1);

impl Processes {
    /// Removes what need not be kept any more on a thread of its own, if it is time to: no request waits for it.
    pub fn prune_aside(self: &Arc<Self>) {
        let is_due = self.is_due(*self.pruned.lock().unwrap_or_else(PoisonError::into_inner));
        if is_due {
            let processes = Arc::clone(self);
            // Without a thread the next one does it.
            let _ = std::thread::Builder::new().name("retention".to_owned()).spawn(move || processes.prune());
        }
    }

    fn is_due(&self, pruned: Option<Instant>) -> bool {
        let Some(elapsed) = pruned.map(|at| at.elapsed()) else { return true };
        elapsed >= EVERY || elapsed >= EVERY_WHEN_FULL && self.retained.is_nearly_full()
    }

    /// Removes what need not be kept any more, unless that was done just now.
    fn prune(&self) {
        let mut pruned = self.pruned.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_due(*pruned) {
            return;
        }
        *pruned = Some(Instant::now());
        drop(pruned);
        self.prune_now();
    }

    pub(super) fn prune_now(&self) {
        self.retained.prune_things(self);
    }
}

impl RetainedThings for Processes {
    fn idle_for(&self, name: &str, path: &Path) -> Option<Duration> {
        let now_ms = self.clock.now_ms();
        if path.file_name().is_some_and(|file| file != name) {
            // It is being made, or nobody works on it any more.
            return folders::is_abandoned(path, now_ms).then_some(Duration::MAX);
        }
        match self.look_up(name)? {
            FolderFacts::Whole(process) => {
                let idle = age(&process, now_ms);
                if idle.is_none() {
                    // If it cannot be written down, the next look does it.
                    let _ = folders::note_living(&self.folder, name);
                }
                idle
            }
            FolderFacts::Damaged(_) => Some(folders::age(path, now_ms)),
        }
    }

    fn forget(&self, name: &str) {
        self.remove(name);
    }

    fn steady_ms(&self) -> i64 {
        self.clock.steady_ms()
    }
}

/// Returns how long a process has been over; none for one that lives.
fn age(process: &Arc<Process>, now_ms: i64) -> Option<Duration> {
    let status = match process.status() {
        Ok(status) if !status.state.is_final() => return None,
        Ok(status) => status,
        Err(failure) if failure.rule() == Some("damaged-process") => {
            return Some(folders::age(process.folder(), now_ms));
        }
        Err(_) => return None,
    };
    match status.ended_at_ms {
        Some(at) => Some(Duration::from_millis(u64::try_from(now_ms - at).unwrap_or(0))),
        // Its keeper was killed: nobody wrote down when.
        None => Some(folders::age(process.folder(), now_ms)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::super::{RunEnd, RunFacts};
    use super::*;
    use bailiwick_contract::id::new_id;
    use bailiwick_contract::{Containment, Network};
    use bailiwick_platform::dirs::Dirs;
    use bailiwick_platform::fs::RetainedFolder;
    use bailiwick_platform::launch::kept::Stream;
    use bailiwick_platform::launch::{ActiveSandbox, Launcher, PlanEnd};

    const FOR_EVER: RetentionLimits =
        RetentionLimits { max_age: Duration::MAX, max_bytes: u64::MAX, ..LIMITS };

    impl Processes {
        /// Prunes once as if the limits were others.
        fn prune_to(&self, limits: RetentionLimits) {
            RetainedFolder::new(self.folder.clone(), limits).prune_things(self);
        }
    }

    struct TestFolder {
        folder: PathBuf,
        processes: Arc<Processes>,
    }

    impl TestFolder {
        fn new() -> Self {
            let folder = std::env::temp_dir().join(format!("bailiwick-processes-{}", new_id()));
            let processes = Processes::new(&Dirs::below(folder.clone()), Arc::new(Launcher::new()));
            Self { folder, processes: Arc::new(processes) }
        }

        /// Keeps what a command of scope `app` printed.
        fn keep(&self, bytes: &[u8]) -> String {
            keep_in(&self.processes, bytes)
        }

        fn ids(&self) -> Vec<String> {
            self.processes.all().iter().map(|process| process.facts.id.clone()).collect()
        }

        fn on_disk(&self) -> usize {
            let entries = fs::read_dir(&self.processes.folder).into_iter().flatten().flatten();
            entries.filter(|entry| entry.path().is_dir()).count()
        }
    }

    fn keep_in(processes: &Arc<Processes>, bytes: &[u8]) -> String {
        let mut recorder = processes.keep_run(RunFacts {
            scope: "app".to_owned(),
            caller: "local".to_owned(),
            preview: "make".to_owned(),
            folder: ".".to_owned(),
            is_advisory: false,
        });
        for piece in bytes.chunks(10_000) {
            recorder.push(Stream::Stdout, piece);
        }
        recorder.push(Stream::Stderr, b"!");
        let held = ActiveSandbox {
            level: Containment::Full,
            network: Network::None,
            degraded: false,
            layers: Vec::new(),
            open: Vec::new(),
        };
        let ended = PlanEnd { exit_code: Some(3), signal: None, held, left_killed: 0, memory_excess: None };
        recorder.finish(RunEnd { ended: Some(ended), timed_out: false }).expect("it is kept")
    }

    /// Counts the bytes of the files in a folder.
    fn bytes_in(folder: &Path) -> u64 {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.metadata().ok()).map(|facts| facts.len()).sum()
    }

    impl Drop for TestFolder {
        fn drop(&mut self) {
            let _ = bailiwick_platform::fs::remove_tree(&self.folder);
        }
    }

    #[test]
    fn the_oldest_go_when_it_is_too_much_and_all_when_they_are_old() {
        let temporary = TestFolder::new();
        let ids: Vec<String> = (0..5).map(|_| temporary.keep(&[b'x'; 100_000])).collect();
        temporary.processes.prune_to(FOR_EVER);
        assert_eq!(temporary.ids().len(), 5);
        temporary.processes.prune_to(RetentionLimits { max_bytes: 250_000, ..FOR_EVER });
        assert_eq!(temporary.ids(), [ids[4].clone(), ids[3].clone()], "the newest two");
        assert!(temporary.processes.find("app", &ids[0]).is_err());
        std::thread::sleep(Duration::from_millis(5));
        temporary.processes.prune_to(RetentionLimits { max_age: Duration::from_millis(1), ..FOR_EVER });
        assert_eq!((temporary.ids().len(), temporary.on_disk()), (0, 0));
    }

    #[test]
    fn what_is_kept_never_exceeds_the_bound_whoever_writes_how_fast() {
        let mut temporary = TestFolder::new();
        let bound = 40 << 20;
        let processes = Arc::get_mut(&mut temporary.processes).expect("nobody else has it");
        let limits = RetentionLimits { max_bytes: bound, ..FOR_EVER };
        processes.retained = RetainedFolder::new(processes.folder.clone(), limits);
        // Another service that shares the folder.
        let mut other = Processes::new(&Dirs::below(temporary.folder.clone()), Arc::new(Launcher::new()));
        other.retained = RetainedFolder::new(other.folder.clone(), limits);
        let other = Arc::new(other);
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..3)
                .map(|at| {
                    let processes = if at == 0 { &other } else { &temporary.processes };
                    scope.spawn(|| (0..12).for_each(|_| drop(keep_in(processes, &vec![b'x'; 6 << 20]))))
                })
                .collect();
            let watch = scope.spawn(|| {
                let mut most = 0;
                let mut is_last = false;
                while !is_last {
                    is_last = stop.load(std::sync::atomic::Ordering::Relaxed);
                    let folders = fs::read_dir(&temporary.processes.folder).into_iter().flatten().flatten();
                    most = folders.map(|it| bytes_in(&it.path())).sum::<u64>().max(most);
                }
                most
            });
            writers.into_iter().for_each(|writer| writer.join().expect("it writes"));
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            let most = watch.join().expect("it watches");
            assert!(most > 12 << 20 && most <= bound, "{most}");
        });
        assert!(!temporary.ids().is_empty());
    }

    #[test]
    fn what_lives_stays_and_counts_with_all_that_it_may_take() {
        let temporary = TestFolder::new();
        let id = temporary.keep(b"over");
        let live = temporary.keep(b"alive");
        let process = temporary.processes.find("app", &live).expect("it is there");
        let mut status = process.status().expect("it is readable");
        status.state = bailiwick_platform::launch::kept::State::Running;
        fs::remove_file(process.folder().join("status")).expect("it is there");
        let _keeper = bailiwick_platform::launch::kept::StatusWriter::create(process.folder(), &status);
        // A cache knows it as ended; a new service looks for itself.
        let again = Processes::new(&Dirs::below(temporary.folder.clone()), Arc::new(Launcher::new()));
        again.prune_to(RetentionLimits { max_age: Duration::ZERO, max_bytes: 0, ..LIMITS });
        assert!(again.find("app", &id).is_err());
        assert!(again.find("app", &live).is_ok());
    }

    #[test]
    fn what_lives_is_counted_without_a_look_at_what_is_over() {
        use bailiwick_platform::launch::kept::{State, StatusWriter};

        let temporary = TestFolder::new();
        let ids: Vec<String> = (0..3).map(|_| temporary.keep(b"text")).collect();
        let set_state = |id: &str, state| {
            let folder = temporary.processes.folder.join(id);
            let mut status =
                temporary.processes.find("app", id).and_then(|it| it.status()).expect("readable");
            status.state = state;
            fs::remove_file(folder.join("status")).expect("it is there");
            StatusWriter::create(&folder, &status).expect("written")
        };
        // One was started by an earlier version, which wrote down nothing: all are read once.
        let keeper = set_state(&ids[0], State::Running);
        let again = Processes::new(&Dirs::below(temporary.folder.clone()), Arc::new(Launcher::new()));
        assert!(again.reserve("app", "one", 1).is_err());
        assert!(again.reserve("app", "one", 2).is_ok() && again.reserve("other", "one", 1).is_ok());
        // From then on nobody looks at one that is not written down.
        let other_keeper = set_state(&ids[1], State::Running);
        // Another service, which has not seen it when it was over.
        let again = Processes::new(&Dirs::below(temporary.folder.clone()), Arc::new(Launcher::new()));
        assert!(again.reserve("app", "one", 2).is_ok());
        folders::note_living(&again.folder, &ids[1]).expect("written");
        assert!(again.reserve("app", "one", 2).is_err());
        // Once they are over, they are not looked at again.
        drop((keeper, other_keeper));
        let _ended = (set_state(&ids[0], State::Ended), set_state(&ids[1], State::Ended));
        let again = Processes::new(&Dirs::below(temporary.folder.clone()), Arc::new(Launcher::new()));
        assert!(again.reserve("app", "one", 1).is_ok());
        assert_eq!(folders::living(&again.folder), Some(Vec::new()));
        // What retention finds alive is written down.
        let _keeper = set_state(&ids[2], State::Running);
        let again = Processes::new(&Dirs::below(temporary.folder.clone()), Arc::new(Launcher::new()));
        again.prune_to(FOR_EVER);
        assert_eq!(folders::living(&again.folder), Some(vec![ids[2].clone()]));
    }

    #[test]
    fn damaged_folders_and_what_was_never_finished_go_in_time() {
        let temporary = TestFolder::new();
        let id = temporary.keep(b"text");
        let folder = temporary.processes.folder.join(&id);
        fs::write(folder.join("facts.json"), "{").expect("written");
        fs::create_dir(temporary.processes.folder.join(format!(".{}", new_id()))).expect("made");
        let again = Processes::new(&Dirs::below(temporary.folder.clone()), Arc::new(Launcher::new()));
        again.prune_to(FOR_EVER);
        assert_eq!((again.damaged().len(), temporary.on_disk()), (1, 2), "neither is old yet");
        std::thread::sleep(Duration::from_millis(5));
        again.prune_to(RetentionLimits { max_age: Duration::from_millis(1), ..FOR_EVER });
        assert_eq!((again.damaged().len(), temporary.on_disk()), (0, 1));
    }

    #[test]
    fn what_a_command_printed_is_read_like_a_process_whether_it_was_much_or_little() {
        let temporary = TestFolder::new();
        for size in [0, 5, 300_000, 3_000_000] {
            let text: Vec<u8> = (0..size).map(|at| b'a' + u8::try_from(at % 26).expect("small")).collect();
            let id = temporary.keep(&text);
            let process = temporary.processes.find("app", &id).expect("it is there");
            let status = process.status().expect("it is readable");
            assert_eq!((status.exit_code, status.end), (Some(3), size + 1));
            assert!(process.facts.is_run && status.state.is_final());
            let read = process.read(0, usize::MAX).expect("it is readable");
            let out = read.frames.iter().filter(|frame| frame.stream == Stream::Stdout);
            assert_eq!(out.flat_map(|frame| frame.bytes.clone()).collect::<Vec<u8>>(), text);
            assert!(temporary.processes.find("other", &id).is_err());
        }
        // One that is given up leaves nothing.
        let before = temporary.on_disk();
        let mut recorder = temporary.processes.keep_run(RunFacts {
            scope: "app".to_owned(),
            caller: "local".to_owned(),
            preview: "make".to_owned(),
            folder: ".".to_owned(),
            is_advisory: false,
        });
        recorder.push(Stream::Stdout, &[b'x'; 1_000_000]);
        assert_eq!(temporary.on_disk(), before + 1);
        assert_eq!(temporary.ids().len(), before, "nobody finds it before it is finished");
        drop(recorder);
        assert_eq!(temporary.on_disk(), before);
    }
}
