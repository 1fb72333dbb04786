//! Walking a root: the facts of all that is below it, and the contents of files that have changed since the last time.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::{Instant, SystemTime};

use sha2::{Digest, Sha256};

use bailiwick_contract::Cancel;
use bailiwick_platform::fs::{Attributes, Dir, DoorError, FileId, FileKind, RelPath, Stat};
use bailiwick_platform::machine::user_id;

use super::node::{Content, Node, RootState};
use super::rules::{is_git_layout, is_left_out};
use super::store::Pack;
use crate::file::is_temporary;

/// The largest file whose content is kept.
pub(super) const MAX_FILE_BYTES: u64 = 16 << 20;
/// How many entries of a root are covered at most.
const MAX_ENTRIES: usize = 200_000;
/// How far the clock of files may be behind that of programs, in nanoseconds.
const TICK_NS: i128 = 20_000_000;
/// The bits by which a program runs as another user.
const SET_ID_BITS: u32 = 0o6000;

/// What one walk is about.
pub(super) struct Walk<'a> {
    /// What was known of the root before.
    pub known: &'a RootState,
    /// The state before a command, by which what is left out is decided once the command has ended.
    pub before: Option<&'a RootState>,
    /// Paths that commands cannot change, since they are closed to them.
    pub closed: &'a HashSet<RelPath>,
    /// Folders that are not entered: other roots, which are walked on their own, and Bailiwick's own.
    pub not_entered: &'a dyn Fn(FileId) -> bool,
    /// When to stop.
    pub cancel: &'a Cancel,
    /// When to stop at the latest.
    pub until: Instant,
}

/// The end of a walk that was not done.
struct EarlyEnd;

impl Walk<'_> {
    /// Walks a root. What is not complete says so.
    pub fn run(&self, root: Dir, pack: &mut Pack) -> RootState {
        let mut walker = Walker {
            walk: self,
            state: RootState::new(root.id()),
            began_ns: now_ns() - TICK_NS,
            buffer: Vec::new(),
            pack,
        };
        walker.state.nodes.reserve(self.known.nodes.len());
        walker.state.is_complete = walker.all(root).is_ok();
        walker.state
    }
}

struct Walker<'a> {
    walk: &'a Walk<'a>,
    state: RootState,
    began_ns: i128,
    buffer: Vec<u8>,
    pack: &'a mut Pack,
}

/// A folder that is to be entered: the one above it, its name there, its path, and whether it is within one of Git's own.
type Pending = (Rc<Dir>, OsString, RelPath, bool);

impl Walker<'_> {
    fn all(&mut self, root: Dir) -> Result<(), EarlyEnd> {
        let root = Rc::new(root);
        let mut pending: Vec<Pending> = Vec::new();
        if let Ok(stat) = root.facts() {
            self.state.nodes.insert(Box::default(), Node::of(stat));
        }
        self.folder(&root, &root, &RelPath::root(), false, &mut pending)?;
        while let Some((above, name, path, is_in_git_dir)) = pending.pop() {
            match above.open_dir(&name) {
                Ok(dir) => self.folder(&root, &Rc::new(dir), &path, is_in_git_dir, &mut pending)?,
                // Gone, or something else by now.
                Err(DoorError::NotFound | DoorError::NotADirectory | DoorError::Symlink) => {
                    self.state.nodes.remove(path.as_bytes());
                }
                Err(_) => self.unread(&path),
            }
        }
        Ok(())
    }

    /// Takes what was known of a folder that cannot be read.
    fn unread(&mut self, path: &RelPath) {
        let is_below =
            |it: &[u8]| it.strip_prefix(path.as_bytes()).is_some_and(|rest| rest.first() == Some(&b'/'));
        let below = self.walk.before.unwrap_or(self.walk.known).nodes.iter();
        let below = below.filter(|(it, _)| is_below(it)).map(|(it, node)| (it.clone(), node.clone()));
        self.state.nodes.extend(below);
        self.state.unread.insert(path.as_bytes().into());
    }

    fn folder(
        &mut self,
        root: &Dir,
        dir: &Rc<Dir>,
        path: &RelPath,
        is_in_git_dir: bool,
        pending: &mut Vec<Pending>,
    ) -> Result<(), EarlyEnd> {
        if self.walk.cancel.is_raised() || Instant::now() >= self.walk.until {
            return Err(EarlyEnd);
        }
        let mut names: Vec<OsString> = Vec::new();
        let room = MAX_ENTRIES.saturating_sub(self.state.nodes.len());
        let read = dir.for_each_entry(|name, _| {
            names.push(name.to_owned());
            if names.len() > room { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if names.len() > room {
            return Err(EarlyEnd);
        }
        if read.is_err() {
            self.unread(path);
            return Ok(());
        }
        let is_git_dir = path.file_name() == Some(OsStr::new(".git"))
            || is_git_layout(|name| names.iter().any(|it| it == name));
        if is_git_dir {
            self.state.git_dirs.insert(path.as_bytes().into());
        }
        for name in names {
            let Ok(stat) = dir.stat(&name) else { continue };
            if stat.kind == FileKind::File && is_temporary(&name) {
                continue;
            }
            let child = path.child(&name);
            if self.walk.closed.contains(&child) {
                continue;
            }
            let key: Box<[u8]> = child.as_bytes().into();
            let mut node = Node::of(stat);
            match stat.kind {
                FileKind::Dir => {
                    if (self.walk.not_entered)(stat.id) {
                        continue;
                    }
                    if stat.id.device != dir.id().device
                        || self.leaves_out(root, &child, is_in_git_dir || is_git_dir)
                    {
                        self.state.left_out.insert(key, stat);
                        continue;
                    }
                    pending.push((Rc::clone(dir), name, child, is_in_git_dir || is_git_dir));
                }
                FileKind::Symlink => node.link = dir.read_link(&name).ok(),
                FileKind::File => node = self.file(dir, &name, &key, stat),
                FileKind::Fifo | FileKind::Socket | FileKind::Device | FileKind::Other => {}
            }
            self.state.nodes.insert(key, node);
        }
        Ok(())
    }

    /// Returns whether a folder is left out. After a command, what was covered before it is covered still.
    fn leaves_out(&self, root: &Dir, folder: &RelPath, is_in_git_dir: bool) -> bool {
        match self.walk.before {
            Some(before) if before.nodes.contains_key(folder.as_bytes()) => false,
            Some(before) if before.left_out.contains_key(folder.as_bytes()) => true,
            _ => is_left_out(root, folder, is_in_git_dir),
        }
    }

    /// Looks at a file, and keeps its content if it is not kept yet.
    fn file(&mut self, dir: &Dir, name: &OsStr, path: &[u8], stat: Stat) -> Node {
        let known = self.walk.known.nodes.get(path).filter(|known| known.stat.kind == FileKind::File);
        if let Some(known) = known
            && !known.is_fresh
            && is_same(&known.stat, &stat)
            && known.content.is_some()
            && self.pack.take_room(stat.size)
        {
            return Node { stat, ..known.clone() };
        }
        let mut node = Node::of(stat);
        if stat.size > MAX_FILE_BYTES || stat.mode & SET_ID_BITS != 0 || stat.user != user_id() {
            return node;
        }
        if !self.pack.take_room(stat.size) {
            return node;
        }
        let Ok(opened) = dir.open_file(name) else { return node };
        node.stat = opened.stat;
        node.is_fresh = opened.stat.changed_ns >= self.began_ns;
        let (Some(bytes), Ok(attributes)) =
            (read(&opened.file, opened.stat.size, &mut self.buffer), opened.file.attributes())
        else {
            return node;
        };
        let sha256: [u8; 32] = Sha256::digest(bytes).into();
        let kept = known.and_then(|known| known.content.as_ref()).filter(|kept| kept.sha256 == sha256);
        node.content = match kept {
            Some(kept) => Some(kept.clone()),
            None => {
                self.pack.add(bytes).map(|at| Content { sha256, bytes: bytes.len() as u64, at: Some(at) })
            }
        };
        node.attributes = attributes;
        node
    }
}

/// Returns whether facts say that nothing was done to a file.
pub(super) fn is_same(one: &Stat, other: &Stat) -> bool {
    let facts = |it: &Stat| (it.kind, it.id, it.size, it.mode, it.modified_ns, it.changed_ns);
    facts(one) == facts(other)
}

/// Reads a file whole; `None` if it has another size by now.
fn read(mut file: impl Read, size: u64, buffer: &mut Vec<u8>) -> Option<&[u8]> {
    buffer.clear();
    file.by_ref().take(size + 1).read_to_end(buffer).ok()?;
    (buffer.len() as u64 == size).then_some(&buffer[..])
}

fn now_ns() -> i128 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i128::try_from(since.as_nanos()).unwrap_or(0)
}
