//! Writing states and differences as bytes, and reading them again: numbers in little endian, lists with their lengths.

use std::sync::Arc;

use bailiwick_platform::fs::{FileId, FileKind, Stat};

use super::node::{Content, Entries, FolderState, FolderVersion, Node, RootState};

/// Kinds by their numbers.
const KINDS: [FileKind; 7] = [
    FileKind::File,
    FileKind::Dir,
    FileKind::Symlink,
    FileKind::Fifo,
    FileKind::Socket,
    FileKind::Device,
    FileKind::Other,
];

/// Writes.
#[derive(Debug, Default)]
pub(super) struct Encoder(pub Vec<u8>);

/// Reads. Every reading is `None` where the bytes end too soon, or are none of ours.
#[derive(Debug)]
pub(super) struct Decoder<'a>(pub &'a [u8]);

impl Encoder {
    pub fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub fn count(&mut self, count: usize) {
        self.number(count as u64);
    }

    fn time(&mut self, time: i128) {
        self.0.extend_from_slice(&time.to_le_bytes());
    }

    pub fn flag(&mut self, flag: bool) {
        self.0.push(u8::from(flag));
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    pub fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }

    pub fn id(&mut self, id: FileId) {
        self.number(id.device);
        self.number(id.inode);
    }

    pub fn stat(&mut self, stat: &Stat) {
        let number = KINDS.iter().zip(0..).find(|(kind, _)| **kind == stat.kind);
        self.0.push(number.map_or(0, |(_, number)| number));
        self.id(stat.id);
        self.number(stat.size);
        for number in [stat.mode, stat.user, stat.group] {
            self.0.extend_from_slice(&number.to_le_bytes());
        }
        self.number(stat.links);
        self.time(stat.modified_ns);
        self.time(stat.changed_ns);
    }

    pub fn node(&mut self, node: &Node) {
        self.stat(&node.stat);
        self.option(node.link.as_ref(), |it, link| it.bytes(link));
        self.option(node.content.as_ref(), |it, content| {
            it.0.extend_from_slice(&content.sha256);
            it.number(content.bytes);
            it.option(content.at, Self::number);
        });
        self.count(node.attributes.len());
        for (name, value) in &node.attributes {
            self.bytes(name);
            self.bytes(value);
        }
        self.flag(node.is_fresh);
    }

    pub fn root(&mut self, root: &RootState) {
        self.id(root.id);
        self.flag(root.is_complete);
        self.option(root.top.as_ref(), Self::stat);
        self.count(root.folders.len());
        for (folder, state) in &root.folders {
            self.bytes(folder);
            self.option(state.version, |it, version| {
                it.id(version.id);
                it.time(version.modified_ns);
                it.time(version.changed_ns);
            });
            self.count(state.entries.len());
            for (name, node) in state.entries.iter() {
                self.bytes(name);
                self.node(node);
            }
        }
        self.count(root.left_out.len());
        for (path, stat) in &root.left_out {
            self.bytes(path);
            self.stat(stat);
        }
        for paths in [&root.git_dirs, &root.unread] {
            self.count(paths.len());
            paths.iter().for_each(|path| self.bytes(path));
        }
    }
}

impl<'a> Decoder<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub fn number(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads how many things follow, of which each takes a byte at least.
    pub fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.0.len()).then_some(count)
    }

    fn small(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn time(&mut self) -> Option<i128> {
        self.array().map(i128::from_le_bytes)
    }

    pub fn flag(&mut self) -> Option<bool> {
        match self.take(1)? {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }

    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = self.count()?;
        self.take(count)
    }

    pub fn option<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.flag()? { read(self).map(Some) } else { Some(None) }
    }

    pub fn id(&mut self) -> Option<FileId> {
        Some(FileId { device: self.number()?, inode: self.number()? })
    }

    pub fn stat(&mut self) -> Option<Stat> {
        let kind = *KINDS.get(usize::from(self.array::<1>()?[0]))?;
        let (id, size) = (self.id()?, self.number()?);
        let [mode, user, group] = [self.small()?, self.small()?, self.small()?];
        let (links, modified_ns, changed_ns) = (self.number()?, self.time()?, self.time()?);
        Some(Stat { kind, id, size, disk_bytes: 0, mode, user, group, links, modified_ns, changed_ns })
    }

    pub fn node(&mut self) -> Option<Node> {
        let stat = self.stat()?;
        let link = self.option(|it| it.bytes().map(<[u8]>::to_vec))?;
        let content = self.option(|it| {
            Some(Content { sha256: it.array()?, bytes: it.number()?, at: it.option(Self::number)? })
        })?;
        let count = self.count()?;
        let attributes = (0..count)
            .map(|_| Some((self.bytes()?.to_vec(), self.bytes()?.to_vec())))
            .collect::<Option<_>>()?;
        Some(Node { stat, link, content, attributes, is_fresh: self.flag()? })
    }

    pub fn root(&mut self) -> Option<RootState> {
        let mut root = RootState::new(self.id()?);
        root.is_complete = self.flag()?;
        root.top = self.option(Self::stat)?;
        let count = self.count()?;
        root.folders.reserve(count);
        for _ in 0..count {
            let folder = self.bytes()?.into();
            let version = self.option(|it| {
                let (id, modified_ns, changed_ns) = (it.id()?, it.time()?, it.time()?);
                Some(FolderVersion { id, modified_ns, changed_ns })
            })?;
            let entries = (0..self.count()?).map(|_| Some((self.bytes()?.into(), self.node()?)));
            let entries = Arc::new(entries.collect::<Option<Entries>>()?);
            root.folders.insert(folder, FolderState { entries, version });
        }
        for _ in 0..self.count()? {
            root.left_out.insert(self.bytes()?.into(), self.stat()?);
        }
        for paths in [&mut root.git_dirs, &mut root.unread] {
            for _ in 0..self.count()? {
                paths.insert(self.bytes()?.into());
            }
        }
        Some(root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_as_it_was_written_and_no_part_of_one() {
        let stat = Stat {
            kind: FileKind::File,
            id: FileId { device: 3, inode: 4 },
            size: 5,
            disk_bytes: 0,
            mode: 0o644,
            user: 1,
            group: 2,
            links: 2,
            modified_ns: -7,
            changed_ns: 8,
        };
        let mut root = RootState::new(FileId { device: 1, inode: 2 });
        root.is_complete = true;
        let node = Node {
            content: Some(Content { sha256: [9; 32], bytes: 5, at: Some(77) }),
            attributes: vec![(b"user.a".to_vec(), b"1".to_vec())],
            ..Node::of(stat)
        };
        root.top = Some(stat);
        let version = FolderVersion { id: FileId { device: 3, inode: 5 }, modified_ns: 6, changed_ns: 7 };
        let mut add = |folder: &[u8], name: &[u8], node, version| {
            let entries = Arc::new(vec![(name.into(), node)]);
            root.folders.insert(folder.into(), FolderState { entries, version });
        };
        add(b"a", b"\xff", node, Some(version));
        let link =
            Node { link: Some(b"../x".to_vec()), ..Node::of(Stat { kind: FileKind::Symlink, ..stat }) };
        add(b"", b"l", link, None);
        root.left_out.insert(b"target"[..].into(), stat);
        root.git_dirs.insert(b".git"[..].into());
        root.unread.insert(b"u"[..].into());
        let mut encoder = Encoder::default();
        encoder.root(&root);
        assert_eq!(Decoder(&encoder.0).root().as_ref(), Some(&root));
        for end in 0..encoder.0.len() {
            assert_eq!(Decoder(&encoder.0[..end]).root(), None, "{end}");
        }
    }
}
