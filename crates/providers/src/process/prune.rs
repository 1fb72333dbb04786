//! Removing what is kept of processes that are over: what is old, and what is too much.

use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Process, Processes, folders};

/// How long a process that is over can be read.
const MAX_AGE: Duration = Duration::from_hours(24);
/// How much all processes may take on disk; the oldest that are over go first.
const MAX_BYTES: u64 = 512 << 20;
/// How often is looked.
const EVERY: Duration = Duration::from_secs(20);

/// What is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub max_age: Duration,
    pub max_bytes: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { max_age: MAX_AGE, max_bytes: MAX_BYTES }
    }
}

/// What this service knows of how much is on disk. Another service that shares the folder may have added to it since it was last
/// looked.
#[derive(Debug, Default)]
pub(super) struct DiskUse {
    /// What all processes take, or may take while they live; none before it was looked.
    kept: Option<u64>,
    /// What the folders may take that nobody finds yet.
    unfinished: u64,
}

/// Room on the disk for what a command prints, until it is kept or given up.
#[derive(Debug)]
pub(super) struct DiskRoom {
    processes: Arc<Processes>,
    bytes: u64,
}

impl DiskRoom {
    /// Counts what is kept now instead of what could have been.
    pub(super) fn keep(self, bytes: u64) {
        let mut disk = self.processes.disk();
        disk.kept = disk.kept.map(|kept| kept.saturating_add(bytes));
    }
}

impl Drop for DiskRoom {
    fn drop(&mut self) {
        let mut disk = self.processes.disk();
        disk.unfinished = disk.unfinished.saturating_sub(self.bytes);
    }
}

impl Processes {
    /// Returns whether so much more would be more than is kept in all, as far as is known.
    pub(super) fn is_full_for(&self, bytes: u64) -> bool {
        self.disk().is_full_for(bytes, self.bounds)
    }

    /// Makes room for a process that is about to start, by removing the oldest that are over.
    pub(super) fn make_room(&self, bytes: u64) {
        let mut disk = self.disk();
        self.make_room_in(&mut disk, bytes);
        disk.kept = disk.kept.map(|kept| kept.saturating_add(bytes));
    }

    /// Makes room for what a command prints.
    pub(super) fn take_room(self: &Arc<Self>, bytes: u64) -> DiskRoom {
        let mut disk = self.disk();
        self.make_room_in(&mut disk, bytes);
        disk.unfinished = disk.unfinished.saturating_add(bytes);
        drop(disk);
        DiskRoom { processes: Arc::clone(self), bytes }
    }

    /// Nobody else adds anything meanwhile.
    fn make_room_in(&self, disk: &mut DiskUse, bytes: u64) {
        if disk.is_full_for(bytes, self.bounds) {
            // More than is needed, so that not every further one has to look.
            let wanted = disk.unfinished.saturating_add(bytes).saturating_add(self.bounds.max_bytes / 16);
            let max_bytes = self.bounds.max_bytes.saturating_sub(wanted);
            disk.kept = Some(self.prune_to(Bounds { max_bytes, ..self.bounds }));
        }
    }

    fn disk(&self) -> MutexGuard<'_, DiskUse> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether it is time to look what need not be kept any more.
    pub(super) fn is_prune_due(&self) -> bool {
        let pruned = self.pruned.lock().unwrap_or_else(PoisonError::into_inner);
        pruned.is_none_or(|at| at.elapsed() >= EVERY)
    }

    /// Removes what need not be kept any more, unless that was done just now.
    pub fn prune(&self) {
        let mut pruned = self.pruned.lock().unwrap_or_else(PoisonError::into_inner);
        if pruned.is_some_and(|at| at.elapsed() < EVERY) {
            return;
        }
        *pruned = Some(Instant::now());
        drop(pruned);
        let mut disk = self.disk();
        disk.kept = Some(self.prune_to(self.bounds));
    }

    /// Returns how much is left.
    pub(super) fn prune_to(&self, bounds: Bounds) -> u64 {
        let now_ms = self.clock.now_ms();
        folders::remove_abandoned(&self.folder, now_ms);
        let all = self.all();
        for (id, _) in self.damaged() {
            if folders::age(&self.folder.join(&id), now_ms) > bounds.max_age {
                self.remove(&id);
            }
        }
        // Newest first, so that the oldest are over the bound.
        let mut bytes = 0_u64;
        for process in all {
            let Some(age) = age(&process, now_ms) else {
                bytes = bytes.saturating_add(process.disk_bytes());
                continue;
            };
            if age > bounds.max_age || bytes.saturating_add(process.disk_bytes()) > bounds.max_bytes {
                self.remove(&process.facts.id);
            } else {
                bytes += process.disk_bytes();
            }
        }
        bytes
    }
}

impl DiskUse {
    fn is_full_for(&self, bytes: u64, bounds: Bounds) -> bool {
        let all = |kept: u64| kept.saturating_add(self.unfinished).saturating_add(bytes);
        self.kept.is_none_or(|kept| all(kept) > bounds.max_bytes)
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
    use bailiwick_platform::launch::kept::Stream;
    use bailiwick_platform::launch::{Ended, Held, Launcher};

    const FOR_EVER: Bounds = Bounds { max_age: Duration::MAX, max_bytes: u64::MAX };

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
            let mut recorder = self.processes.keep_run(RunFacts {
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
            let held = Held {
                level: Containment::Full,
                network: Network::None,
                degraded: false,
                layers: Vec::new(),
                open: Vec::new(),
            };
            let ended = Ended { exit_code: Some(3), signal: None, held, left_killed: 0, memory_excess: None };
            recorder.finish(RunEnd { ended: Some(ended), timed_out: false }).expect("it is kept")
        }

        fn ids(&self) -> Vec<String> {
            self.processes.all().iter().map(|process| process.facts.id.clone()).collect()
        }

        fn on_disk(&self) -> usize {
            fs::read_dir(self.processes.folder.clone()).map_or(0, Iterator::count)
        }
    }

    impl Drop for TestFolder {
        fn drop(&mut self) {
            let _ = bailiwick_platform::fs::remove_tree(&self.folder);
        }
    }

    #[test]
    fn the_oldest_go_when_it_is_too_much_and_all_when_they_are_old() {
        let ground = TestFolder::new();
        let ids: Vec<String> = (0..5).map(|_| ground.keep(&[b'x'; 100_000])).collect();
        ground.processes.prune_to(FOR_EVER);
        assert_eq!(ground.ids().len(), 5);
        ground.processes.prune_to(Bounds { max_bytes: 250_000, ..FOR_EVER });
        assert_eq!(ground.ids(), [ids[4].clone(), ids[3].clone()], "the newest two");
        assert!(ground.processes.find("app", &ids[0]).is_err());
        std::thread::sleep(Duration::from_millis(5));
        ground.processes.prune_to(Bounds { max_age: Duration::from_millis(1), ..FOR_EVER });
        assert_eq!((ground.ids().len(), ground.on_disk()), (0, 0));
    }

    #[test]
    fn what_is_kept_never_exceeds_the_bound_whoever_writes_how_fast() {
        let mut ground = TestFolder::new();
        let bound = 40 << 20;
        let processes = Arc::get_mut(&mut ground.processes).expect("nobody else has it");
        processes.bounds = Bounds { max_bytes: bound, ..FOR_EVER };
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..3)
                .map(|_| scope.spawn(|| (0..12).for_each(|_| drop(ground.keep(&vec![b'x'; 6 << 20])))))
                .collect();
            let watch = scope.spawn(|| {
                let mut most = 0;
                let mut is_last = false;
                while !is_last {
                    is_last = stop.load(std::sync::atomic::Ordering::Relaxed);
                    let folders = fs::read_dir(&ground.processes.folder).into_iter().flatten().flatten();
                    most = folders.map(|it| folders::bytes(&it.path())).sum::<u64>().max(most);
                }
                most
            });
            writers.into_iter().for_each(|writer| writer.join().expect("it writes"));
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            let most = watch.join().expect("it watches");
            assert!(most > 12 << 20 && most <= bound, "{most}");
        });
        assert!(!ground.ids().is_empty());
        // One that is given up leaves its room.
        assert_eq!(ground.processes.disk().unfinished, 0);
    }

    #[test]
    fn what_lives_stays_and_counts_with_all_that_it_may_take() {
        let ground = TestFolder::new();
        let id = ground.keep(b"over");
        let live = ground.keep(b"alive");
        let process = ground.processes.find("app", &live).expect("it is there");
        let mut status = process.status().expect("it is readable");
        status.state = bailiwick_platform::launch::kept::State::Running;
        fs::remove_file(process.folder().join("status")).expect("it is there");
        let _keeper = bailiwick_platform::launch::kept::StatusWriter::create(process.folder(), &status);
        // A cache knows it as ended; a new service looks for itself.
        let again = Processes::new(&Dirs::below(ground.folder.clone()), Arc::new(Launcher::new()));
        again.prune_to(Bounds { max_age: Duration::ZERO, max_bytes: 0 });
        assert!(again.find("app", &id).is_err());
        assert!(again.find("app", &live).is_ok());
    }

    #[test]
    fn damaged_folders_and_what_was_never_finished_go_in_time() {
        let ground = TestFolder::new();
        let id = ground.keep(b"text");
        let folder = ground.processes.folder.join(&id);
        fs::write(folder.join("facts.json"), "{").expect("written");
        fs::create_dir(ground.processes.folder.join(format!(".{}", new_id()))).expect("made");
        let again = Processes::new(&Dirs::below(ground.folder.clone()), Arc::new(Launcher::new()));
        again.prune_to(FOR_EVER);
        assert_eq!((again.damaged().len(), ground.on_disk()), (1, 2), "neither is old yet");
        std::thread::sleep(Duration::from_millis(5));
        again.prune_to(Bounds { max_age: Duration::from_millis(1), ..FOR_EVER });
        assert_eq!((again.damaged().len(), ground.on_disk()), (0, 1));
    }

    #[test]
    fn what_a_command_printed_is_read_like_a_process_whether_it_was_much_or_little() {
        let ground = TestFolder::new();
        for size in [0, 5, 300_000, 3_000_000] {
            let text: Vec<u8> = (0..size).map(|at| b'a' + u8::try_from(at % 26).expect("small")).collect();
            let id = ground.keep(&text);
            let process = ground.processes.find("app", &id).expect("it is there");
            let status = process.status().expect("it is readable");
            assert_eq!((status.exit_code, status.end), (Some(3), size + 1));
            assert!(process.facts.is_run && status.state.is_final());
            let read = process.read(0, usize::MAX).expect("it is readable");
            let out = read.frames.iter().filter(|frame| frame.stream == Stream::Stdout);
            assert_eq!(out.flat_map(|frame| frame.bytes.clone()).collect::<Vec<u8>>(), text);
            assert!(ground.processes.find("other", &id).is_err());
        }
        // One that is given up leaves nothing.
        let before = ground.on_disk();
        let mut recorder = ground.processes.keep_run(RunFacts {
            scope: "app".to_owned(),
            caller: "local".to_owned(),
            preview: "make".to_owned(),
            folder: ".".to_owned(),
            is_advisory: false,
        });
        recorder.push(Stream::Stdout, &[b'x'; 1_000_000]);
        assert_eq!(ground.on_disk(), before + 1);
        assert_eq!(ground.ids().len(), before, "nobody finds it before it is finished");
        drop(recorder);
        assert_eq!(ground.on_disk(), before);
    }
}
