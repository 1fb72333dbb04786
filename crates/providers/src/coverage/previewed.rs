//! What a command has changed in its preview, kept so that exactly that can be taken over: the contents of files, what becomes of each
//! path, and how each path was.
//!
//! It is kept whole or not at all. What has changed is a difference whose state before is that of the preview, so that taking it over
//! is what taking back a command is. Its bytes are known by their digest.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use bailiwick_contract::{Access, Cancel, hex};
use bailiwick_platform::fs::modes::FileExt;
use bailiwick_platform::fs::{Attributes, Dir, FileId, FileKind, RelPath, Stat};
use bailiwick_platform::machine::user_id;
use bailiwick_platform::names::OsStrExt;
use bailiwick_policy::{PathRules, PermittedPath};

use super::codec::{Decoder, Encoder};
use super::compare::{Difference, TreeChange};
use super::node::{Content, Node};
use super::record::{TreeRecord, encode};
use super::restore::MAX_REMOVED_BYTES;
use super::rules::{GitPart, git_part_in};
use super::walk::is_fresh;
use crate::overlay::{OverlayChange, OverlayChanges};
use crate::versions::TreeContents;

/// What the end of the bytes is: another form has another number.
const FORM: u64 = 0x6261_696c_0000_0201;
/// How much of new contents is kept.
const MAX_NEW_BYTES: u64 = 64 << 20;
/// How much of contents may be replaced or removed: undo has to keep them.
const MAX_OLD_BYTES: u64 = 256 << 20;
/// How many paths may change.
const MAX_PATHS: usize = 10_000;
/// How much else may belong to it: paths, and what the command printed.
const MAX_LIST_BYTES: u64 = 64 << 20;
/// Bits beyond those for reading, writing and running.
const SPECIAL_BITS: u32 = 0o7000;
/// The attributes by which an overlay marks its files.
const OVERLAY_ATTRIBUTES: &[u8] = b"user.overlay.";

/// The changes of a preview while they are gathered.
#[derive(Debug)]
pub struct PreviewedChangesDraft {
    roots: Vec<FileId>,
    difference: Difference,
    contents: Vec<u8>,
    old_bytes: u64,
    /// When the preview began, by the clock of files.
    began_ns: i128,
    /// Why they are not kept.
    problem: Option<String>,
}

/// The changes of a preview that were kept.
#[derive(Debug)]
pub struct PreviewedChanges {
    /// What becomes of each path: `before` is the state of the preview, and `after` what has to be there now.
    pub record: TreeRecord,
    /// How the command ended, as the caller wrote it.
    pub outcome: Vec<u8>,
}

/// One root of a preview.
#[derive(Clone, Copy)]
struct PreviewedRoot<'a> {
    at: usize,
    place: &'a PermittedPath,
    upper: &'a Dir,
    lower: &'a Dir,
}

impl PreviewedChangesDraft {
    /// Begins with none. `roots` are all roots of the scope. What is changed in them from now on is not taken for what the preview has
    /// replaced, provided that it begins a tick of the clock later.
    pub fn new(roots: Vec<FileId>) -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self {
            roots,
            difference: Difference::default(),
            contents: Vec::new(),
            old_bytes: 0,
            began_ns: i128::try_from(now.as_nanos()).unwrap_or(0),
            problem: None,
        }
    }

    /// Gives up, for the first reason that is named.
    pub fn refuse(&mut self, why: impl Into<String>) {
        if self.problem.is_none() {
            self.problem = Some(why.into());
            (self.difference, self.contents) = (Difference::default(), Vec::new());
        }
    }

    /// Adds what was written to a root.
    pub fn add_root(
        &mut self,
        place: &PermittedPath,
        (upper, lower): (&Dir, &Dir),
        found: &OverlayChanges,
        cancel: &Cancel,
    ) {
        if self.problem.is_some() {
            return;
        }
        let Some(at) = self.roots.iter().position(|id| *id == lower.id()) else {
            return self.refuse("a folder of the scope was replaced");
        };
        let root = PreviewedRoot { at, place, upper, lower };
        if let Err(why) = self.try_add_root(root, found, cancel) {
            self.refuse(why);
        }
    }

    fn try_add_root(
        &mut self,
        root: PreviewedRoot<'_>,
        found: &OverlayChanges,
        cancel: &Cancel,
    ) -> Result<(), String> {
        if found.is_incomplete {
            return Err("not all that it changes could be read".to_owned());
        }
        if found.breaks_links {
            return Err("it writes to a file that has several names".to_owned());
        }
        let mode = |folder: &Dir| folder.facts().map(|facts| facts.mode & 0o7777).ok();
        if mode(root.upper) != mode(root.lower) {
            return Err("it changes the permission bits of the scope's folder".to_owned());
        }
        if self.difference.changes.len() + found.changes.len() > MAX_PATHS {
            return Err(format!("it changes more than {MAX_PATHS} paths"));
        }
        let mut names = FileNames::default();
        for change in &found.changes {
            cancel.check().map_err(|_| "reading what it changes took too long".to_owned())?;
            self.add(root, change)?;
            names.add(change);
        }
        names.check()
    }

    fn add(&mut self, root: PreviewedRoot<'_>, change: &OverlayChange) -> Result<(), String> {
        let name = || root.shown(&change.path);
        if closing_rule(root.place.rules(), &change.path).is_some() {
            return Err(format!("it changes {}, which this client may not write", name()));
        }
        for stat in [&change.before, &change.after].into_iter().flatten() {
            match git_part_in(&[root.lower, root.upper], &change.path, stat.kind) {
                GitPart::Protected => return Err(format!("it changes {}, which Git runs", name())),
                GitPart::Objects if change.after.is_none() => {
                    return Err(format!("it removes {}, which commits of Git may need", name()));
                }
                GitPart::Objects | GitPart::Ordinary => {}
            }
        }
        let now = change.before.map(|stat| self.read_old(root, change, stat)).transpose()?;
        let known = now.as_ref().and_then(|now| now.content.as_ref());
        let then = change.after.map(|stat| self.read_new(root, change, stat, known)).transpose()?;
        let path = change.path.clone();
        self.difference.changes.push(TreeChange {
            root: root.at,
            path,
            before: then,
            after: now,
            relinks: false,
        });
        Ok(())
    }

    /// Reads what is replaced or removed: undo has to be able to bring it back.
    fn read_old(
        &mut self,
        root: PreviewedRoot<'_>,
        change: &OverlayChange,
        stat: Stat,
    ) -> Result<Node, String> {
        let name = || root.shown(&change.path);
        let changed = || format!("{} was changed while the preview ran", name());
        if is_fresh(&stat, self.began_ns) {
            return Err(changed());
        }
        if stat.user != user_id() || stat.mode & 0o6000 != 0 {
            return Err(format!("it changes {}, which is of another user or has set-ID bits", name()));
        }
        let mut node = Node::of(Stat { disk_bytes: 0, ..stat });
        match stat.kind {
            FileKind::Dir => {}
            FileKind::Symlink => node.link = Some(read_link(root.lower, &change.path).ok_or_else(changed)?),
            FileKind::File => {
                self.old_bytes += stat.size;
                if stat.size > MAX_REMOVED_BYTES || self.old_bytes > MAX_OLD_BYTES {
                    return Err("it replaces or removes more than undo could bring back".to_owned());
                }
                let opened = open(root.lower, &change.path).ok_or_else(changed)?;
                let found = Stat { disk_bytes: 0, ..opened.stat };
                let (sha256, bytes) = hash(&opened.file, stat.size).map_err(|_| changed())?;
                if found != node.stat || bytes != stat.size {
                    return Err(changed());
                }
                node.content = Some(Content { sha256, bytes: stat.size, at: None });
            }
            FileKind::Fifo | FileKind::Socket | FileKind::Device | FileKind::Other => {
                return Err(format!("it changes {}, which is no file, folder or link", name()));
            }
        }
        Ok(node)
    }

    /// Reads what comes in its place.
    fn read_new(
        &mut self,
        root: PreviewedRoot<'_>,
        change: &OverlayChange,
        stat: Stat,
        known: Option<&Content>,
    ) -> Result<Node, String> {
        let name = || root.shown(&change.path);
        let unread = || format!("{} could not be read", name());
        if stat.kind != FileKind::Symlink && stat.mode & SPECIAL_BITS != 0 {
            return Err(format!("it gives {} set-ID bits or the sticky bit", name()));
        }
        // Its times say nothing of what the file is once it is in the folder.
        let mut node = Node { is_fresh: true, ..Node::of(Stat { disk_bytes: 0, ..stat }) };
        match stat.kind {
            FileKind::Dir => {}
            FileKind::Symlink => {
                let target = read_link(root.upper, &change.path).ok_or_else(unread)?;
                if leads_out(&change.path, &target) {
                    return Err(format!("it makes {} a link that leads out of the scope's folder", name()));
                }
                node.link = Some(target);
            }
            FileKind::File => {
                let at = self.contents.len();
                if at as u64 + stat.size > MAX_NEW_BYTES {
                    return Err(format!("it writes more than {} MiB", MAX_NEW_BYTES >> 20));
                }
                let opened = open(root.upper, &change.path).ok_or_else(unread)?;
                let read = (&opened.file).take(stat.size + 1).read_to_end(&mut self.contents);
                if read.ok() != usize::try_from(stat.size).ok() {
                    return Err(unread());
                }
                let sha256: [u8; 32] = Sha256::digest(&self.contents[at..]).into();
                let is_known = known.is_some_and(|known| known.sha256 == sha256);
                if is_known {
                    self.contents.truncate(at);
                }
                let at = (!is_known).then_some(at as u64);
                node.content = Some(Content { sha256, bytes: stat.size, at });
                node.attributes = opened.file.attributes().map_err(|_| unread())?;
                node.attributes.retain(|(name, _)| !name.starts_with(OVERLAY_ATTRIBUTES));
            }
            FileKind::Fifo | FileKind::Socket | FileKind::Device | FileKind::Other => {
                return Err(format!("it makes {}, which is no file, folder or link", name()));
            }
        }
        Ok(node)
    }

    /// Returns the bytes to keep, with how the command ended.
    ///
    /// # Errors
    /// Why the changes cannot be taken over, in words.
    pub fn finish(mut self, outcome: &[u8]) -> Result<Vec<u8>, String> {
        if let Some(why) = self.problem {
            return Err(why);
        }
        self.difference.changes.sort_by(|one, next| (one.root, &one.path).cmp(&(next.root, &next.path)));
        let mut bytes = self.contents;
        let list_at = bytes.len() as u64;
        bytes.extend(encode(&self.roots, &self.difference));
        let outcome_at = bytes.len() as u64;
        bytes.extend_from_slice(outcome);
        let mut end = Encoder::default();
        [list_at, outcome_at, FORM].into_iter().for_each(|number| end.number(number));
        bytes.extend(end.0);
        Ok(bytes)
    }
}

impl PreviewedChanges {
    /// Reads the changes of a preview; `None` if their bytes are not those of this digest.
    pub fn read(file: File, sha256: &str) -> Option<Self> {
        let (found, bytes) = hash(&file, MAX_NEW_BYTES + MAX_LIST_BYTES).ok()?;
        if hex(&found) != sha256 {
            return None;
        }
        let rest_at = |at: u64| -> Option<Vec<u8>> {
            let length = usize::try_from(bytes.checked_sub(at)?).ok()?;
            let mut rest = vec![0; length];
            file.read_exact_at(&mut rest, at).ok()?;
            Some(rest)
        };
        let end = rest_at(bytes.checked_sub(24)?)?;
        let mut end = Decoder(&end);
        let (list_at, outcome_at, form) = (end.number()?, end.number()?, end.number()?);
        if form != FORM {
            return None;
        }
        let mut list = rest_at(list_at)?;
        let outcome = usize::try_from(outcome_at.checked_sub(list_at)?).ok()?;
        let mut outcome = (outcome <= list.len()).then(|| list.split_off(outcome))?;
        outcome.truncate(outcome.len().checked_sub(24)?);
        Some(Self { record: TreeRecord::parse(TreeContents::plain(file), &list)?, outcome })
    }
}

impl PreviewedRoot<'_> {
    /// Names a path in words for the user; one that is closed to clients has no name.
    fn shown(&self, path: &RelPath) -> String {
        match self.place.rules().rule_for_path(path, Access::Read) {
            Some(_) => "a closed file".to_owned(),
            None => format!("`{}`", self.place.show(path)),
        }
    }
}

/// Returns the rule by which a client may not have a path written by a command: as for its own writing, but for Git's own folders,
/// which commands need.
pub fn closing_rule(rules: &PathRules, path: &RelPath) -> Option<&'static str> {
    let mut folder = RelPath::root();
    path.components().map(std::ffi::OsStr::from_bytes).find_map(|name| {
        let access = if name.eq_ignore_ascii_case(".git") { Access::Read } else { Access::Write };
        let rule = rules.rule_for_child(&folder, name, access);
        folder = folder.child(name);
        rule
    })
}

/// The names of files that have several: what shares a content is taken over only if all its names are.
#[derive(Debug, Default)]
struct FileNames {
    /// How many were met, and how many there are.
    removed: HashMap<FileId, (u64, u64)>,
    created: HashMap<FileId, (u64, u64)>,
}

impl FileNames {
    fn add(&mut self, change: &OverlayChange) {
        let sides = [(&change.before, &mut self.removed), (&change.after, &mut self.created)];
        for (stat, names) in sides {
            if let Some(stat) = stat.filter(|it| it.kind == FileKind::File && it.links > 1) {
                let count = names.entry(stat.id).or_insert((0, stat.links));
                // A name that is replaced leaves the others.
                count.0 += 1;
            }
        }
    }

    fn check(&self) -> Result<(), String> {
        let are_all = |names: &HashMap<FileId, (u64, u64)>| names.values().all(|(met, all)| met == all);
        match are_all(&self.removed) && are_all(&self.created) {
            true => Ok(()),
            false => Err("it adds or removes a further name of a file".to_owned()),
        }
    }
}

/// Returns whether a link at a path leads out of the root, by its text.
fn leads_out(path: &RelPath, target: &[u8]) -> bool {
    let mut depth = path.components().count().saturating_sub(1);
    let mut parts = target.split(|byte| *byte == b'/');
    target.starts_with(b"/")
        || parts.any(|part| match part {
            b"" | b"." => false,
            b".." if depth == 0 => true,
            b".." => {
                depth -= 1;
                false
            }
            _ => {
                depth += 1;
                false
            }
        })
}

/// Returns the SHA-256 of a file, and how many bytes it has: one more than `most` at the most.
fn hash(file: impl Read, most: u64) -> io::Result<([u8; 32], u64)> {
    let (mut hash, mut bytes, mut chunk) = (Sha256::new(), 0, vec![0; 1 << 17]);
    let mut file = file.take(most + 1);
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok((hash.finalize().into(), bytes)),
            read => {
                hash.update(&chunk[..read]);
                bytes += read as u64;
            }
        }
    }
}

fn open(root: &Dir, path: &RelPath) -> Option<bailiwick_platform::fs::ReadableFile> {
    root.open_dir_beneath(&path.parent()?).ok()?.open_file(path.file_name()?).ok()
}

fn read_link(root: &Dir, path: &RelPath) -> Option<Vec<u8>> {
    root.open_dir_beneath(&path.parent()?).ok()?.read_link(path.file_name()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_out_by_its_text_alone() {
        let out = |path: &[u8], target: &[u8]| leads_out(&RelPath::parse(path).expect("a path"), target);
        for (path, target) in [
            (&b"a"[..], &b"/etc/passwd"[..]),
            (b"a", b".."),
            (b"a", b"../b"),
            (b"a/b", b"../../c"),
            (b"a/b/c", b"x/../../../.."),
        ] {
            assert!(out(path, target), "{}", String::from_utf8_lossy(target));
        }
        for (path, target) in [
            (&b"a"[..], &b"b"[..]),
            (b"a", b"./b/../c"),
            (b"a/b", b".."),
            (b"a/b", b"../c"),
            (b"a/b/c", b"../../c//d"),
        ] {
            assert!(!out(path, target), "{}", String::from_utf8_lossy(target));
        }
    }
}
