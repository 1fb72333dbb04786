//! What a command has written whose changes are discarded, compared with the folders as they are.
//!
//! Reads by handle only, follows no link, and opens nothing but regular files and folders.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Read;
use std::ops::ControlFlow;

use bailiwick_contract::Cancel;
use bailiwick_platform::fs::{Dir, FileKind, RelPath, Stat};
use bailiwick_platform::launch::{is_opaque, is_stand_in};

/// How much of two files is compared at a time, and read of one to be shown.
const BUFFER_BYTES: usize = 64 << 10;
/// How many levels of folders are entered.
const MAX_DEPTH: usize = 256;

/// What would become of a path.
#[derive(Debug)]
pub struct OverlayChange {
    /// The path beneath the root.
    pub path: RelPath,
    /// What is there; `None` for nothing.
    pub before: Option<Stat>,
    /// What would be there; `None` for nothing.
    pub after: Option<Stat>,
    /// The contents before and after, if both sides are nothing or a regular file that is not too large to be shown.
    pub contents: Option<FileContents>,
}

/// The contents of a file; `None` where there is none.
#[derive(Debug)]
pub struct FileContents {
    /// As it is.
    pub before: Option<Vec<u8>>,
    /// As it would be.
    pub after: Option<Vec<u8>>,
}

/// All that would become of one root.
#[derive(Debug, Default)]
pub struct OverlayChanges {
    /// The changes, by their paths.
    pub changes: Vec<OverlayChange>,
    /// Whether a file was opened to write that has other names: these would change too, and do not here.
    pub breaks_links: bool,
    /// Whether something could not be read, or took too long.
    pub is_incomplete: bool,
}

/// Compares what was written to a root with the root. `protected` are paths beneath it that cannot be made: those alone, and the
/// folders above them, have stand-ins where they do not exist.
pub fn overlay_changes(
    (upper, lower): (&Dir, &Dir),
    protected: &[RelPath],
    cancel: &Cancel,
) -> OverlayChanges {
    let mut found = OverlayChanges::default();
    let mut compare = Compare { found: &mut found, protected, cancel };
    compare.folder(upper, Some(lower), &RelPath::root(), 0);
    found.changes.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

struct Compare<'a> {
    found: &'a mut OverlayChanges,
    protected: &'a [RelPath],
    cancel: &'a Cancel,
}

impl Compare<'_> {
    fn folder(&mut self, upper: &Dir, lower: Option<&Dir>, path: &RelPath, depth: usize) {
        if self.cancel.is_raised() || depth > MAX_DEPTH {
            self.found.is_incomplete = true;
            return;
        }
        let written = self.names(upper);
        for name in &written {
            let below = lower.and_then(|lower| Some((lower, lower.stat(name).ok()?)));
            match upper.stat(name) {
                Ok(stat) => self.entry((upper, stat), below, name, &path.child(name), depth),
                Err(_) => self.found.is_incomplete = true,
            }
        }
        // What is in the folder below cannot be seen any more.
        if let Some(lower) = lower.filter(|_| is_opaque(upper)) {
            for name in self.names(lower).difference(&written) {
                if let Ok(stat) = lower.stat(name) {
                    self.removed(lower, &stat, name, &path.child(name), depth);
                }
            }
        }
    }

    fn entry(
        &mut self,
        (upper, after): (&Dir, Stat),
        below: Option<(&Dir, Stat)>,
        name: &OsString,
        path: &RelPath,
        depth: usize,
    ) {
        // The mark alone says nothing: a command can give it to whatever it makes.
        let is_protected = || self.protected.iter().any(|it| it.starts_with(path));
        if is_stand_in(&after) && below.is_none() && is_protected() {
            return;
        }
        if after.kind == FileKind::Device {
            if let Some((lower, before)) = below {
                self.removed(lower, &before, name, path, depth);
            }
            return;
        }
        if after.kind != FileKind::Dir {
            if let Some((lower, before)) = &below
                && before.kind == FileKind::Dir
            {
                self.changed(path, Some(*before), Some(after), None);
                return self.removed_below(lower, name, path, depth);
            }
            return self.file((upper, &after), below.as_ref().map(|(lower, it)| (*lower, it)), name, path);
        }
        let inner = match &below {
            Some((lower, before)) if before.kind == FileKind::Dir => {
                if before.mode != after.mode {
                    self.changed(path, Some(*before), Some(after), None);
                }
                lower.open_dir(name).ok()
            }
            Some((_, before)) => {
                self.changed(path, Some(*before), Some(after), None);
                None
            }
            None => {
                self.changed(path, None, Some(after), None);
                None
            }
        };
        match upper.open_dir(name) {
            Ok(upper) => self.folder(&upper, inner.as_ref(), path, depth + 1),
            Err(_) => self.found.is_incomplete = true,
        }
    }

    /// Compares a file or link with what it replaces, which is no folder.
    fn file(
        &mut self,
        (upper, after): (&Dir, &Stat),
        below: Option<(&Dir, &Stat)>,
        name: &OsString,
        path: &RelPath,
    ) {
        self.found.breaks_links |=
            below.is_some_and(|(_, before)| before.kind == FileKind::File && before.links > 1);
        let is_same = match (after.kind, below) {
            (_, None) => false,
            (kind, Some((_, before))) if kind != before.kind => false,
            (FileKind::File, Some((lower, before))) => {
                before.mode == after.mode
                    && before.size == after.size
                    && have_same_content(upper, lower, name).unwrap_or(false)
            }
            (FileKind::Symlink, Some((lower, _))) => upper.read_link(name).ok() == lower.read_link(name).ok(),
            (_, Some((_, before))) => before.mode == after.mode,
        };
        if is_same {
            return;
        }
        let content = |folder: &Dir, stat: &Stat| match stat.kind {
            FileKind::File => read(folder, name).map(Some),
            _ => None,
        };
        let then = content(upper, after);
        let now = below.map_or(Some(None), |(lower, before)| content(lower, before));
        let contents = now.zip(then).map(|(before, after)| FileContents { before, after });
        self.changed(path, below.map(|(_, before)| *before), Some(*after), contents);
    }

    /// Notes that an entry of the root is gone, with all that is below it.
    fn removed(&mut self, lower: &Dir, before: &Stat, name: &OsString, path: &RelPath, depth: usize) {
        let content = (before.kind == FileKind::File).then(|| read(lower, name)).flatten();
        self.changed(
            path,
            Some(*before),
            None,
            content.map(|content| FileContents { before: Some(content), after: None }),
        );
        if before.kind == FileKind::Dir {
            self.removed_below(lower, name, path, depth);
        }
    }

    fn removed_below(&mut self, lower: &Dir, name: &OsString, path: &RelPath, depth: usize) {
        let Ok(folder) = lower.open_dir(name) else {
            self.found.is_incomplete = true;
            return;
        };
        if self.cancel.is_raised() || depth > MAX_DEPTH {
            self.found.is_incomplete = true;
            return;
        }
        for name in self.names(&folder) {
            if let Ok(stat) = folder.stat(&name) {
                self.removed(&folder, &stat, &name, &path.child(&name), depth + 1);
            }
        }
    }

    fn changed(
        &mut self,
        path: &RelPath,
        before: Option<Stat>,
        after: Option<Stat>,
        contents: Option<FileContents>,
    ) {
        // Enough of them are shown by then.
        let has_room = self.found.changes.len() < MAX_WITH_CONTENTS;
        let contents = contents.filter(|_| has_room);
        self.found.changes.push(OverlayChange { path: path.clone(), before, after, contents });
    }

    fn names(&mut self, folder: &Dir) -> BTreeSet<OsString> {
        let mut names = BTreeSet::new();
        let read = folder.for_each_entry(|name, _| {
            names.insert(name.to_owned());
            ControlFlow::Continue(())
        });
        self.found.is_incomplete |= read.is_err();
        names
    }
}

/// How many changes have their contents with them.
const MAX_WITH_CONTENTS: usize = 200;

/// Reads a file that is not too large to be shown.
fn read(folder: &Dir, name: &OsString) -> Option<Vec<u8>> {
    let opened = folder.open_file(name).ok()?;
    let mut bytes = Vec::new();
    opened.file.take(BUFFER_BYTES as u64 + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() <= BUFFER_BYTES).then_some(bytes)
}

fn have_same_content(one: &Dir, other: &Dir, name: &OsString) -> Option<bool> {
    let open = |folder: &Dir| Some(folder.open_file(name).ok()?.file);
    let (mut one, mut other) = (open(one)?, open(other)?);
    let (mut a, mut b) = (vec![0; BUFFER_BYTES], vec![0; BUFFER_BYTES]);
    loop {
        let (one_length, other_length) = (fill(&mut one, &mut a)?, fill(&mut other, &mut b)?);
        if a[..one_length] != b[..other_length] {
            return Some(false);
        }
        if one_length == 0 {
            return Some(true);
        }
    }
}

/// Reads until a buffer is full, or the file is over.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> Option<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match file.read(&mut buffer[length..]).ok()? {
            0 => break,
            read => length += read,
        }
    }
    Some(length)
}
