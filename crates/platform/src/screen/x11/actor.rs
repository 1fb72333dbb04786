//! One thread for each X server that is in use. It owns the connection, does one thing after the other, and ends when
//! nothing was asked for a while.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{ConnectionExt as _, Window as WindowNumber};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use super::address::Address;
use super::banner::{self, Banners};
use super::error::ServerError;
use super::input;
use super::selection::{MAX_EVENTS, Selection};
use super::server::{PATIENCE, Server};
use crate::screen::{ClipboardContent, ClipboardUse, ScreenError, Sources};

/// For how long the other clients of a server wait for a picture. Where it takes longer, they continue, and it is tried once
/// more with the second: a computer that is busy takes longer than one that is not.
const ALONE: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];

/// A connection that nobody has used for so long is closed.
const IDLE: Duration = Duration::from_secs(60);

/// A server that was late, and on whose clipboard our content is to be, is tried again after so long.
const RETRY: Duration = Duration::from_secs(1);

/// Anyone who asks waits for so long. What was not begun by then is not done any more.
const LONGEST: Duration = Duration::from_secs(25);

/// The shortest rest.
const SHORTEST: Duration = Duration::from_millis(10);

/// More requests than this do not wait for one display.
const MAX_WAITING: usize = 256;

/// What an actor is asked to do.
type Job = Box<dyn FnOnce(&mut ServerConnection) + Send>;

/// The actors of all servers that are in use.
#[derive(Debug)]
pub(super) struct Actors {
    pub sources: Sources,
    /// Where banners are shown.
    pub banners: Banners,
    running: Mutex<BTreeMap<String, Actor>>,
}

/// The way to one thread.
#[derive(Debug)]
struct Actor {
    /// Nothing once it is to end.
    jobs: Option<SyncSender<Job>>,
    wake: Arc<OwnedFd>,
}

/// What the thread of one server has.
#[derive(Debug)]
pub(super) struct ServerConnection {
    sources: Sources,
    banners: Banners,
    server: Option<Server>,
    /// When a question ended because its time was over.
    late: Option<Instant>,
    /// Where the server was found when it was last asked.
    address: Option<Address>,
    /// What is on its clipboard by us.
    selection: Option<Selection>,
}

impl Actors {
    pub(super) fn new(sources: Sources) -> Self {
        Self { sources, banners: Banners::default(), running: Mutex::default() }
    }

    /// Asks a server something, by a connection that is there or a new one. If a connection that was there turns
    /// out to be lost, the server may have come back: it is asked once more, by a new one. Who waited for their turn
    /// while a question ran out of time gets the same answer: a server that hangs is not asked by one after another.
    pub(super) fn with<T: Send + 'static>(
        self: &Arc<Self>,
        address: &Address,
        ask: impl Fn(&mut Server) -> Result<T, ServerError> + Send + 'static,
    ) -> Result<T, ScreenError> {
        let (owned, began) = (address.clone(), Instant::now());
        self.call(address, move |connected| connected.ask(&owned, began, &ask))
    }

    /// Puts content on the clipboard of a server, where it stays as long as this lives and nobody else takes it; or takes off
    /// what is there. With `instead_of` only while that content of ours is there.
    pub(super) fn set_clipboard(
        self: &Arc<Self>,
        address: &Address,
        content: Option<Arc<ClipboardContent>>,
        instead_of: Option<Arc<ClipboardContent>>,
    ) -> Result<(), ScreenError> {
        let (owned, began) = (address.clone(), Instant::now());
        self.call(address, move |connected| {
            connected.ask(&owned, began, |_: &mut Server| Ok(()))?;
            let Some(mut server) = connected.server.take() else { return Err(ScreenError::Lost(owned.id)) };
            let set = connected.set_clipboard(&mut server, content.as_ref(), instead_of.as_ref());
            if !set.as_ref().is_err_and(ServerError::is_fatal) {
                connected.server = Some(server);
            }
            set.map_err(|error| connected.failed(error, &owned))
        })
    }

    /// Returns what became of content that is on the clipboard of a server by us.
    pub(super) fn clipboard_use(
        self: &Arc<Self>,
        address: &Address,
        content: &Arc<ClipboardContent>,
        window: WindowNumber,
        pids: &[u32],
    ) -> Result<ClipboardUse, ScreenError> {
        let (content, pids) = (Arc::clone(content), pids.to_vec());
        self.call(address, move |connected| {
            let ours = connected.selection.as_ref().filter(|it| Arc::ptr_eq(it.content(), &content));
            let mask = connected.server.as_ref().map_or(0, |it| it.connection.setup().resource_id_mask);
            Ok(ours.map_or(ClipboardUse::Replaced, |it| it.use_by(window & !mask, &pids)))
        })
    }

    /// Has the thread of a server do something, and waits for it.
    fn call<T: Send + 'static>(
        self: &Arc<Self>,
        address: &Address,
        act: impl FnOnce(&mut ServerConnection) -> Result<T, ScreenError> + Send + 'static,
    ) -> Result<T, ScreenError> {
        let (reply, answer) = mpsc::sync_channel(1);
        let until = Instant::now() + LONGEST;
        self.send(
            &address.id,
            Box::new(move |connected| {
                if Instant::now() < until {
                    // Who asked may have stopped waiting.
                    let _ = reply.send(act(connected));
                }
            }),
        )?;
        match answer.recv_timeout(LONGEST) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => Err(ScreenError::Timeout(address.id.clone())),
            // Dropped without an answer: its time was over before its turn, or the thread has ended.
            Err(RecvTimeoutError::Disconnected) if Instant::now() >= until => {
                Err(ScreenError::Timeout(address.id.clone()))
            }
            Err(RecvTimeoutError::Disconnected) => Err(ScreenError::Lost(address.id.clone())),
        }
    }

    fn send(self: &Arc<Self>, id: &str, mut job: Job) -> Result<(), ScreenError> {
        let refused = |why: String| ScreenError::Failed { display: id.to_owned(), step: "a request", why };
        let mut running = lock(&self.running);
        // The second time, if the thread of the first ended in a panic.
        for _ in 0..2 {
            if !running.contains_key(id) {
                let started = Actor::start(self, id).map_err(|error| refused(error.to_string()))?;
                running.insert(id.to_owned(), started);
            }
            job = match running.get(id).map(|actor| actor.send(job)) {
                Some(Err(TrySendError::Full(_))) => {
                    return Err(refused(format!("{MAX_WAITING} others wait already")));
                }
                Some(Err(TrySendError::Disconnected(job))) => job,
                Some(Ok(())) | None => return Ok(()),
            };
            running.remove(id);
        }
        Err(ScreenError::Lost(id.to_owned()))
    }
}

impl Actor {
    fn start(actors: &Arc<Actors>, id: &str) -> std::io::Result<Self> {
        let (jobs, waiting) = mpsc::sync_channel(MAX_WAITING);
        let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let connected = ServerConnection {
            sources: actors.sources.clone(),
            banners: actors.banners.clone(),
            server: None,
            late: None,
            address: None,
            selection: None,
        };
        let (woken, id, actors) = (Arc::clone(&wake), id.to_owned(), Arc::downgrade(actors));
        thread::Builder::new()
            .name("display".to_owned())
            .spawn(move || run(connected, &waiting, &woken, &actors, &id))?;
        Ok(Self { jobs: Some(jobs), wake })
    }

    fn send(&self, job: Job) -> Result<(), TrySendError<Job>> {
        match &self.jobs {
            Some(jobs) => jobs.try_send(job)?,
            None => return Err(TrySendError::Disconnected(job)),
        }
        self.wake();
        Ok(())
    }

    fn wake(&self) {
        // A counter that is full wakes as well.
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        self.jobs = None;
        self.wake();
    }
}

/// Does one job after the other, and looks after the connection between them.
fn run(
    mut connected: ServerConnection,
    jobs: &Receiver<Job>,
    wake: &OwnedFd,
    actors: &Weak<Actors>,
    id: &str,
) {
    let mut used = Instant::now();
    loop {
        let is_all = connected.serve();
        match jobs.try_recv() {
            Ok(job) => {
                job(&mut connected);
                used = Instant::now();
                continue;
            }
            Err(TryRecvError::Disconnected) => return,
            // There may be more that was read already, which wakes nobody.
            Err(TryRecvError::Empty) if !is_all => continue,
            Err(TryRecvError::Empty) => {}
        }
        connected.tidy();
        let left = match (&connected.selection, &connected.server) {
            (Some(_), Some(_)) => IDLE,
            (Some(_), None) => RETRY,
            (None, _) => IDLE.saturating_sub(used.elapsed()),
        };
        // What it has done to the keys and the screen is taken back in time.
        let due = connected.server.as_ref().and_then(Server::due_in);
        let left = due.map_or(left, |due| left.min(due.max(SHORTEST)));
        if left.is_zero() {
            match last_job(jobs, actors, id) {
                Some(job) => {
                    job(&mut connected);
                    used = Instant::now();
                    continue;
                }
                None => return,
            }
        }
        connected.rest(wake, left);
    }
}

/// Returns a job that came at the last moment. If none did, the thread has been taken off the list and must end.
fn last_job(jobs: &Receiver<Job>, actors: &Weak<Actors>, id: &str) -> Option<Job> {
    let actors = actors.upgrade()?;
    // Nobody sends while this is locked.
    let mut running = lock(&actors.running);
    let job = jobs.try_recv().ok();
    let ended = if job.is_none() { running.remove(id) } else { None };
    drop(running);
    drop(ended);
    job
}

impl ServerConnection {
    /// Waits until there is something to do, or for so long.
    fn rest(&mut self, wake: &OwnedFd, at_most: Duration) {
        let Ok(timeout) = Timespec::try_from(at_most) else { return };
        let woken = PollFd::new(wake, PollFlags::IN);
        let _ = match &self.server {
            Some(server) => poll(&mut [woken, server.connection.stream().news()], Some(&timeout)),
            None => poll(&mut [woken], Some(&timeout)),
        };
        let mut count = [0; 8];
        let _ = rustix::io::read(wake, &mut count);
    }

    fn ask<T>(
        &mut self,
        address: &Address,
        began: Instant,
        ask: impl Fn(&mut Server) -> Result<T, ServerError>,
    ) -> Result<T, ScreenError> {
        if self.late.is_some_and(|late| late > began) {
            return Err(ScreenError::Timeout(address.id.clone()));
        }
        let (mut was_there, mut alone) = (self.server.is_some(), ALONE.into_iter());
        let mut alone_for = alone.next().unwrap_or_default();
        loop {
            let mut server = match self.server.take() {
                Some(server) => server,
                None => self.open(address)?,
            };
            server.begin(Instant::now() + PATIENCE, alone_for);
            let answer = ask(&mut server);
            match answer {
                Err(error) if error.is_fatal() => {
                    if error.is_loss() {
                        self.selection = None;
                    }
                    if std::mem::take(&mut was_there) && error.is_loss() {
                        continue;
                    }
                    if matches!(error, ServerError::TooLongAlone)
                        && let Some(longer) = alone.next()
                    {
                        alone_for = longer;
                        continue;
                    }
                    return Err(self.failed(error, address));
                }
                answer => {
                    self.server = Some(server);
                    return answer.map_err(|error| error.told(&address.id));
                }
            }
        }
    }

    /// Opens a connection. What was on the clipboard by an earlier one, which was given up, is put there again unless somebody
    /// else has it now.
    fn open(&mut self, address: &Address) -> Result<Server, ScreenError> {
        self.address = Some(address.clone());
        let mut server = Server::open(address, &self.sources).map_err(|error| self.failed(error, address))?;
        server.banners = self.banners.clone();
        if let Some(selection) = self.selection.take() {
            server.begin(Instant::now() + PATIENCE, ALONE[0]);
            let again = || -> Result<Option<Selection>, ServerError> {
                let owner = server.connection.get_selection_owner(server.atoms.CLIPBOARD)?.reply()?.owner;
                let is_free = owner == x11rb::NONE;
                is_free.then(|| Selection::own(&server, Arc::clone(selection.content()), None)).transpose()
            };
            match again() {
                Ok(owned) => self.selection = owned,
                Err(error) if error.is_fatal() => {
                    self.selection = (!error.is_loss()).then_some(selection);
                    return Err(self.failed(error, address));
                }
                Err(_) => {}
            }
        }
        Ok(server)
    }

    /// Puts content on the clipboard, or takes what is there off it.
    fn set_clipboard(
        &mut self,
        server: &mut Server,
        content: Option<&Arc<ClipboardContent>>,
        instead_of: Option<&Arc<ClipboardContent>>,
    ) -> Result<(), ServerError> {
        let Some(instead_of) = instead_of else { return self.replace_clipboard(server, content) };
        let ours = self.selection.as_ref().filter(|it| Arc::ptr_eq(it.content(), instead_of));
        let window = ours.ok_or_else(|| ScreenError::ClipboardChanged(server.id.clone()))?.window();
        server.begin(Instant::now() + PATIENCE, ALONE[1]);
        // Nobody copies anything between the look and the change.
        server.alone(|server| {
            if server.connection.get_selection_owner(server.atoms.CLIPBOARD)?.reply()?.owner != window {
                return Err(ScreenError::ClipboardChanged(server.id.clone()).into());
            }
            self.replace_clipboard(server, content)
        })
    }

    fn replace_clipboard(
        &mut self,
        server: &Server,
        content: Option<&Arc<ClipboardContent>>,
    ) -> Result<(), ServerError> {
        let mut earlier = self.selection.take();
        if let Some(content) = content {
            match Selection::own(server, Arc::clone(content), earlier.as_mut()) {
                Ok(owned) => self.selection = Some(owned),
                // Another program's content has replaced it.
                Err(error @ ServerError::Clear(ScreenError::ClipboardChanged(_))) => {
                    earlier.map_or(Ok(()), |earlier| earlier.release(server))?;
                    return Err(error);
                }
                Err(error) => {
                    self.selection = earlier.filter(|_| !error.is_loss());
                    return Err(error);
                }
            }
        } else {
            let (connection, clipboard) = (&server.connection, server.atoms.CLIPBOARD);
            connection.set_selection_owner(x11rb::NONE, clipboard, x11rb::CURRENT_TIME)?;
            if connection.get_selection_owner(clipboard)?.reply()?.owner != x11rb::NONE {
                return Err(ScreenError::ClipboardChanged(server.id.clone()).into());
            }
        }
        earlier.map_or(Ok(()), |earlier| earlier.release(server))
    }

    /// Answers what other programs ask of the clipboard, a while at most. Returns whether that is all for now.
    fn serve(&mut self) -> bool {
        if self.server.is_none()
            && self.selection.is_some()
            && self.late.is_none_or(|late| late.elapsed() >= RETRY)
            && let Some(address) = self.address.clone()
        {
            match self.open(&address) {
                Ok(server) => self.server = Some(server),
                // A server that hangs may go on.
                Err(ScreenError::Timeout(_)) => {}
                Err(_) => self.selection = None,
            }
        }
        let Some(server) = &mut self.server else { return true };
        server.begin(Instant::now() + PATIENCE, ALONE[0]);
        for _ in 0..MAX_EVENTS {
            let served = match server.connection.poll_for_event() {
                Ok(None) => return true,
                Ok(Some(event)) => match &mut self.selection {
                    Some(selection) => selection.serve(server, &event),
                    None => Ok(true),
                },
                Err(error) => Err(error.into()),
            };
            let served = match (served, &mut self.selection) {
                // Somebody else has the clipboard now.
                (Ok(false), selection) => selection.take().map_or(Ok(()), |lost| lost.release(server)),
                (served, _) => served.map(|_| ()),
            };
            if let Err(error) = served
                && error.is_fatal()
            {
                self.server = None;
                // What is only late is put there again by the next connection.
                if error.is_loss() {
                    self.selection = None;
                }
                return true;
            }
        }
        false
    }

    /// Takes back what was done to the keys and the screen, once it is not needed any more.
    fn tidy(&mut self) {
        let Some(server) = &mut self.server else { return };
        if server.due_in().is_none() {
            return;
        }
        server.begin(Instant::now() + PATIENCE, ALONE[0]);
        if input::tidy(server).and_then(|()| banner::tidy(server)).is_err() {
            // Its guard does it, and the server.
            self.server = None;
        }
    }

    /// Returns what a failure is to the outside.
    fn failed(&mut self, error: ServerError, address: &Address) -> ScreenError {
        if error.is_timeout() {
            self.late = Some(Instant::now());
        }
        error.told(&address.id)
    }
}

/// What panicked while it held a lock has left nothing half done that matters: a connection was taken out before.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
