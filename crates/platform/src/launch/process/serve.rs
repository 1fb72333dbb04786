//! The launcher's loop: takes jobs, forks a supervisor for each, and looks after those that ended badly.

use std::collections::{HashMap, HashSet};
use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit, WaitOptions, wait};

use super::keeper::{KeeperDescriptors, keep};
use super::prepare::failed;
use super::supervisor::{Streams, send_report, supervise};
use super::system::{self, JobContext, JobGroup, Reach, SharedNetwork, Signals, Trace, sys};
use crate::launch::protect::Placeholders;
use crate::launch::wire::{self, Head, Kind, Report};
use crate::launch::{FolderChanges, LAUNCHER_NAME, handing};
use bailiwick_contract::command::{Containment, Network};

/// Becomes the launcher if this process was started as one; `main` asks before anything else.
pub fn serve_if_asked() -> Option<ExitCode> {
    let name = std::env::args_os().next()?;
    if name.as_os_str() == LAUNCHER_NAME { Some(serve()) } else { system::go_within_if_asked() }
}

fn serve() -> ExitCode {
    // Nothing but the three standard streams belongs to this process.
    if sys::close_descriptors(sys::Descriptors::Close).is_err() {
        return ExitCode::from(2);
    }
    sys::reset_signal_handlers();
    // What is opened for all jobs may be more than a program is meant to open. Each job sets its own limit.
    let files = rustix::process::getrlimit(Resource::Nofile);
    let _ = rustix::process::setrlimit(Resource::Nofile, Rlimit { current: files.maximum, ..files });
    // The terminal's signals to the service are not for the launcher: jobs end in an orderly way. It stays in
    // the service's session, as schedulers set sessions against each other; each job has one of its own.
    let _ = rustix::process::setpgid(None, None);
    // What a supervisor that was killed leaves behind comes here.
    system::adopt_orphans();
    match Launcher::new() {
        Ok(mut launcher) => launcher.run(),
        Err(_) => ExitCode::from(2),
    }
}

/// How long what a supervisor has left may take to vanish; what is in an uninterruptible wait does not.
const MAX_KILL_WAIT: Duration = Duration::from_secs(10);
/// How long is waited before it is looked for again.
const KILL_PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

struct Launcher {
    kit: JobContext,
    signals: Signals,
    /// All children, keepers too, each with what its processes are known by.
    supervisors: HashMap<Pid, Trace>,
    /// What supervisors that ended badly have left, and until when it is looked for.
    leftovers: Vec<(Trace, Instant)>,
    /// The loopback interfaces that several jobs have, by their groups; each as long as one of its jobs runs.
    networks: HashMap<String, SharedNetwork>,
    /// The groups of the children that have such an interface.
    groups: HashMap<Pid, String>,
    /// The control groups of the children that have one.
    control_groups: HashMap<Pid, Rc<JobGroup>>,
    /// Those that last, each with the placeholders that are removed after it.
    keepers: HashMap<Pid, Placeholders>,
    /// Whether the service is gone: no more jobs will come.
    is_over: bool,
}

/// A job as it arrives.
struct Arrival {
    head: Head,
    control: OwnedFd,
    parcel: JobDescriptors,
    placeholders: Placeholders,
}

/// The descriptors that come with a job.
enum JobDescriptors {
    /// With the way on which the listener of its proxy, or what it writes, is handed out, if it has one.
    Job(Streams, Option<OwnedFd>),
    Kept(KeeperDescriptors),
}

enum Message {
    Job(Box<Arrival>),
    /// A supervisor is a keeper now.
    Adopted(Option<Pid>, Placeholders),
    Unreadable,
    Over,
}

impl Launcher {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            kit: JobContext::new()?,
            signals: Signals::of_children()?,
            supervisors: HashMap::new(),
            leftovers: Vec::new(),
            networks: HashMap::new(),
            groups: HashMap::new(),
            control_groups: HashMap::new(),
            keepers: HashMap::new(),
            is_over: false,
        })
    }

    fn run(&mut self) -> ExitCode {
        // What a keeper that is killed leaves behind comes here: so this process stays as long as they do.
        while !self.is_over || !self.keepers.is_empty() || !self.leftovers.is_empty() {
            let mut polled = [
                PollFd::from_borrowed_fd(self.signals.as_fd(), PollFlags::IN),
                PollFd::from_borrowed_fd(rustix::stdio::stdin(), PollFlags::IN),
            ];
            let polled_now = if self.is_over { &mut polled[..1] } else { &mut polled[..] };
            // What is killed takes a moment to vanish, in which jobs are still taken.
            let pause = (!self.leftovers.is_empty()).then_some(KILL_PAUSE);
            match poll(polled_now, pause.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return ExitCode::from(2),
            }
            let [signals, socket] = polled.map(|polled| !polled.revents().is_empty());
            if signals {
                self.reap();
            }
            if socket && !self.is_over {
                match receive() {
                    Message::Job(arrival) => self.start(*arrival),
                    Message::Adopted(process, placeholders) => {
                        // One that has ended needs nothing any more.
                        let process = process.filter(|process| self.supervisors.contains_key(process));
                        self.keepers.extend(process.map(|process| (process, placeholders)));
                    }
                    Message::Unreadable => {}
                    Message::Over => self.close(),
                }
            }
            let (supervisors, now) = (&self.supervisors, Instant::now());
            self.leftovers
                .retain(|(trace, end)| trace.kill_what_is_left(supervisors.keys().copied()) && now < *end);
        }
        ExitCode::SUCCESS
    }

    /// Takes no more jobs. Anyone who sends one sees that, and starts another launcher.
    fn close(&mut self) {
        self.is_over = true;
        if rustix::stdio::dup2_stdin(&self.kit.null).is_err() {
            // Only an open socket can be left behind, and at least no job can be lost at it.
            let _ = rustix::net::shutdown(rustix::stdio::stdin(), rustix::net::Shutdown::Both);
        }
    }

    fn start(&mut self, arrival: Arrival) {
        let Head { level, network, kind, ref network_group, .. } = arrival.head;
        let shares = level == Containment::Full && network.has_own_loopback();
        let group = network_group.clone().filter(|_| shares);
        self.kit.refresh(level);
        let trace = match Trace::new() {
            Ok(trace) => trace,
            Err(error) => return send_report(&arrival.control, &Report::Failed(failed("trace")(error))),
        };
        let control_group = self.kit.create_group();
        let forked = match self.fork(level, network, group.as_ref()) {
            Ok(forked) => forked,
            Err(error) => {
                control_group.into_iter().for_each(|group| self.kit.end_group(group));
                self.forget_networks();
                return send_report(&arrival.control, &Report::Failed(failed("fork")(error)));
            }
        };
        match forked {
            sys::ForkSide::Parent(pid) => {
                self.supervisors.extend(Pid::from_raw(pid).map(|pid| (pid, trace)));
                self.groups.extend(Pid::from_raw(pid).zip(group));
                self.control_groups.extend(Pid::from_raw(pid).zip(control_group));
                if kind == Kind::Kept {
                    self.keepers.extend(Pid::from_raw(pid).map(|pid| (pid, arrival.placeholders)));
                }
            }
            sys::ForkSide::Child => {
                let Arrival { control, parcel, placeholders, .. } = arrival;
                // These copies are not for this process.
                self.networks.clear();
                self.control_groups.clear();
                self.kit.set_group(control_group);
                placeholders.hand_over();
                for (_, placeholders) in self.keepers.drain() {
                    placeholders.hand_over();
                }
                // A panic must not unwind into the launcher's loop, of which this process is a copy.
                let code = catch_unwind(AssertUnwindSafe(|| {
                    if self.signals.renew().is_err() {
                        return 3;
                    }
                    let reach = Reach::of(&trace);
                    match parcel {
                        JobDescriptors::Job(streams, port) => {
                            supervise(&self.kit, &self.signals, reach, control, (streams, port))
                        }
                        JobDescriptors::Kept(parcel) => keep(&mut self.kit, reach, control, parcel),
                    }
                }));
                sys::exit_now(code.unwrap_or(3));
            }
        }
    }

    fn fork(
        &mut self,
        level: Containment,
        network: Network,
        group: Option<&String>,
    ) -> std::io::Result<sys::ForkSide> {
        let Some(group) = group else { return system::fork_supervisor(level, network, None) };
        if !self.networks.contains_key(group) {
            self.networks.insert(group.clone(), SharedNetwork::new()?);
        }
        system::fork_supervisor(level, network, self.networks.get(group))
    }

    /// Gives up the interfaces that no job has any more.
    fn forget_networks(&mut self) {
        let groups: HashSet<&String> = self.groups.values().collect();
        self.networks.retain(|group, _| groups.contains(group));
    }

    fn reap(&mut self) {
        self.signals.take();
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            self.keepers.remove(&pid);
            self.groups.remove(&pid);
            self.control_groups.remove(&pid).into_iter().for_each(|group| self.kit.end_group(group));
            let trace = self.supervisors.remove(&pid);
            let trace = trace.filter(|_| status.exit_status() != Some(0));
            self.leftovers.extend(trace.map(|trace| (trace, Instant::now() + MAX_KILL_WAIT)));
        }
        self.forget_networks();
    }
}

fn receive() -> Message {
    let mut head = [0; wire::MAX_HEAD_BYTES];
    let (length, handed) = match handing::receive_message(rustix::stdio::stdin().as_fd(), &mut head) {
        Ok((length, handed)) if length > 0 => (length, handed),
        Err(Errno::INTR | Errno::AGAIN) => return Message::Unreadable,
        Ok(_) | Err(_) => return Message::Over,
    };
    let Ok(head) = Head::decode(&head[..length.min(head.len())]) else { return Message::Unreadable };
    if let Kind::Adopted(process_id) = head.kind {
        let process = i32::try_from(process_id).ok().and_then(Pid::from_raw);
        return match Placeholders::take_over(head.placeholders, &mut handed.into_iter()) {
            Some(placeholders) => Message::Adopted(process, placeholders),
            None => Message::Unreadable,
        };
    }
    match unpack(head, handed) {
        Some(arrival) => Message::Job(Box::new(arrival)),
        None => Message::Unreadable,
    }
}

fn unpack(head: Head, mut handed: Vec<OwnedFd>) -> Option<Arrival> {
    let last = handed.len().checked_sub(2 * head.placeholders.len())?;
    let placeholders: Vec<_> =
        handed[last..].iter().map(OwnedFd::try_clone).collect::<Result<_, _>>().ok()?;
    let placeholders = Placeholders::take_over(head.placeholders.clone(), &mut placeholders.into_iter())?;
    let mut handed = handed.drain(..);
    let (control, cwd) = (handed.next()?, handed.next()?);
    let has_port = head.network == Network::Hosts || head.changes == FolderChanges::Discarded;
    let port = if has_port { Some(handed.next()?) } else { None };
    let parcel = match head.kind {
        Kind::Job | Kind::JobWithInput => {
            let (stdout, stderr, stdin) = (handed.next()?, handed.next()?, handed.next());
            if stdin.is_some() != (head.kind == Kind::JobWithInput) {
                return None;
            }
            JobDescriptors::Job(Streams { cwd, stdin, stdout, stderr }, port)
        }
        Kind::Kept => JobDescriptors::Kept(KeeperDescriptors {
            cwd,
            proxy: port,
            status: handed.next()?,
            folder: handed.next()?,
            listener: handed.next()?,
            rest: handed.collect(),
        }),
        Kind::Adopted(_) => return None,
    };
    Some(Arrival { head, control, parcel, placeholders })
}
